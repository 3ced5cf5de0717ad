/* dump.h - the rows of all projections in the order of their keys, and where two copies differ.
 *
 * verify compares the stored rows of a user with rows replayed into another database, rebuild
 * compares them with their shadows in the same one. Both copies are read side by side, in steps, so
 * that no snapshot is long; the caller makes sure that neither changes between the steps of one
 * comparison.
 *
 * The statements are made from the catalogue at run time, here and nowhere else. Drivers keep a
 * prepared statement for every lc_sql by its address, so a plan must outlive every connection that
 * it was used on: make it before the connection is opened and free it after it was closed.
 */
#ifndef LC_STORE_DUMP_H
#define LC_STORE_DUMP_H

#include "base/arena.h"
#include "store/db.h"

#define LC_DUMP_KEY_MAX 6 /* Columns of a key behind tenant_id and user_id. */

typedef struct lc_dump_table {
    const lc_table *table;
    lc_sql first;  /* First rows of a user: tenant, user, limit. */
    lc_sql after;  /* Rows after a key: tenant, user, key, limit. No text: the key is the user. */
    lc_sql insert; /* One row: all columns, tenant and user first. */
    lc_sql remove; /* All rows of a user: tenant, user. */
    lc_sql next_user;                 /* The next (tenant, user) that has rows. */
    int key_columns[LC_DUMP_KEY_MAX]; /* Places of the key's columns behind the user. */
    int key_count;
} lc_dump_table;

typedef struct lc_dump_plan {
    lc_arena arena;
    lc_dump_table *tables; /* All projections, in the catalogue's order. */
    size_t table_count;
} lc_dump_plan;

loci_status lc_dump_plan_init(lc_dump_plan *plan, lc_heap *heap, const lc_catalogue *catalogue,
                              loci_error *err);
void lc_dump_plan_clear(lc_dump_plan *plan);

/* A position in the order of one user's rows; zeroed, it is before the first row. */
typedef struct lc_dump_key {
    bool is_set;
    lc_arg args[LC_DUMP_KEY_MAX];
    lc_buf text; /* Storage of the arguments' text. */
} lc_dump_key;

#define LC_DIFFERENCE_BYTES 100

/* `what` says which row and how: "facts id=fact_01K…: value differs". No text of users. */
typedef void lc_difference(void *ctx, const lc_table *table, const char *what);

typedef struct lc_compare {
    const lc_dump_plan *plan;
    loci_str tenant_id; /* Borrowed until it is done. */
    loci_str user_id;
    lc_difference *differs;
    void *ctx;
    /* The current position. */
    size_t table_index;
    lc_dump_key after; /* Bound to the answers being read, so it must not change meanwhile. */
    lc_dump_key next;  /* The last row that was compared. */
    bool is_done;
} lc_compare;

/* The caller sets plan, tenant_id, user_id, differs and ctx afterwards. */
void lc_compare_init(lc_compare *compare, lc_heap *heap);
void lc_compare_clear(lc_compare *compare);
/* Back to the first row. */
void lc_compare_restart(lc_compare *compare);

/* Compares some rows. `replayed` is a transaction of another database; if it is the same as
 * `stored`, its shadow tables are compared. */
loci_status lc_compare_step(lc_compare *compare, lc_tx *stored, lc_tx *replayed, loci_error *err);

#endif /* LC_STORE_DUMP_H */
