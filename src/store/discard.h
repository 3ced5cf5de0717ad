/* discard.h - gets rid of the tables that a rebuild or a division (store/partition.h) has replaced,
 * without a long transaction.
 *
 *     swap ----------------> delete rows … delete rows ------> drop
 *     `x` becomes `x__old`   slices, each a commit           when empty
 *
 * SQLite overwrites deleted rows with zeros (secure_delete), so dropping a large table would write
 * all of it in one transaction. PostgreSQL removes the files of a table, whatever their size.
 * `meta.discarding` names the tables that are left, so an interrupted discard continues where it
 * was. Nothing else reads them; but they may contain what was forgotten since the swap, so a scrub
 * discards them first.
 */
#ifndef LC_STORE_DISCARD_H
#define LC_STORE_DISCARD_H

#include "store/db.h"

#define LC_DISCARD_JOB "store.discard"

/* In the transaction of the swap: renames all projections, or one table, and notes them. No
 * table of the same name may be left from an earlier swap. */
loci_status lc_discard_put_aside(lc_tx *tx, loci_error *err);
loci_status lc_discard_put_table_aside(lc_tx *tx, const lc_table *table, loci_error *err);

/* Number of tables that are left. */
loci_status lc_discard_count(lc_tx *tx, int64_t *out, loci_error *err);

/* One process's part. None of it has to survive a crash. */
typedef struct lc_discard {
    bool is_done;     /* After a slice that was committed: no tables are left. */
    int64_t rows;     /* Deleted by that slice. */
    int64_t slice_us; /* How long a slice may take; 0 = a default. */
} lc_discard;

/* One slice: a lc_tx_body whose ctx is the lc_discard, for a write of the store itself. */
loci_status lc_discard_slice(lc_tx *tx, void *ctx, loci_error *err);

/* All slices, on a connection without a queue. */
loci_status lc_discard_run(lc_db *db, loci_error *err);

/* Adds the job to the store, unless it has one already. */
loci_status lc_discard_enqueue(lc_tx *tx, loci_error *err);

#endif /* LC_STORE_DISCARD_H */
