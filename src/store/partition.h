/* partition.h - divides the large tables of a store on PostgreSQL into hash partitions by tenant
 * and user, or joins them again, while the store is in use.
 *
 *     begin -------------> copy … copy -----------> swap
 *     `x__copy`, trigger   slices, each a commit    one commit: `x__copy` takes the name of `x`
 *
 * For tables outside the projections: they cannot be made again from the log. (The projections are
 * divided by a rebuild, whose new tables have as many partitions as the store wants.) From the
 * begin on a trigger repeats every change of `x` in `x__copy`, for all processes and without their
 * knowledge; so the slices copy older rows only, and the swap has nothing left to copy. A slice
 * locks the rows that it copies: a row that another transaction changes or deletes at the same time
 * is copied in its new state. Appending waits for no slice.
 *
 * A follower of the log (store/grown.h) recognises new events by the transaction that inserted
 * them, which for copied rows is that of the slice. So the swap makes their places invalid, and
 * streams of all users get a `reset`.
 */
#ifndef LC_STORE_PARTITION_H
#define LC_STORE_PARTITION_H

#include "store/catalogue.h"
#include "store/db.h"

#define LC_PARTITIONS_MAX 256

/* Number of partitions that large tables are to have; 1 = they are not divided. A file wants 1. */
loci_status lc_partition_wanted(lc_tx *tx, int64_t *out, loci_error *err);
loci_status lc_partition_want(lc_tx *tx, int64_t partitions, loci_error *err);
/* Number of large tables that have another number of partitions than the store wants. */
typedef struct lc_partition_state {
    int64_t projections; /* A rebuild mends them. */
    int64_t others;
} lc_partition_state;
loci_status lc_partition_look(lc_tx *tx, lc_partition_state *out, loci_error *err);
/* The next of the others; NULL = there is none. */
loci_status lc_partition_find(lc_tx *tx, const lc_table **out, loci_error *err);

#define LC_PARTITION_KEY_MAX 5
#define LC_PARTITION_SQL_BYTES 1024

/* The division of one table, on one connection of its own. */
typedef struct lc_partition {
    const lc_table *table;
    int64_t wanted;
    int64_t copy_id; /* Of `x__copy`, from the begin on. A later copy has another one. */
    size_t key_count;
    lc_arena arena[2];                    /* For the position, and for the one before. */
    loci_str after[LC_PARTITION_KEY_MAX]; /* Key of the last row that was copied, as texts. */
    int64_t rows;                         /* Copied, since init. */
    bool is_over;                         /* No rows are left to copy. */
    lc_sql copy_sql;                      /* For the key of the table; private, as the rest is. */
    char text[LC_PARTITION_SQL_BYTES];
    char params[LC_PARTITION_KEY_MAX + 2];
    char columns[LC_PARTITION_KEY_MAX + 2];
    int64_t limit;
    int arena_in_use;
} lc_partition;

void lc_partition_init(lc_partition *partition, lc_heap *heap, const lc_table *table);
void lc_partition_clear(lc_partition *partition);
/* Continues behind a row: its key, as `after` had it. */
loci_status lc_partition_continue(lc_partition *partition, const loci_str *after, size_t count,
                                  loci_error *err);

/* Makes the copy and the trigger, unless they are there. `*out_is_new`: it begins empty. */
loci_status lc_partition_begin(lc_partition *partition, lc_db *db, bool *out_is_new,
                               loci_error *err);
loci_status lc_partition_copy(lc_partition *partition, lc_db *db, loci_error *err);
/* LOCI_EFENCED if the copy is not the one of the begin: another process has given that one up. */
loci_status lc_partition_swap(lc_partition *partition, lc_db *db, loci_error *err);

/* In a write: ends a division that was begun for another number of partitions. */
loci_status lc_partition_drop_copies(lc_tx *tx, loci_error *err);

#endif /* LC_STORE_PARTITION_H */
