/* dump.h - the projections as bytes, in one order, the same on every database.
 *
 * Two copies of a projection are equal when their rows are, read in the order of the key. A row is
 * written column by column: a byte for the kind ('i' 'f' 't' 'b', or 'n' for NULL), then eight
 * bytes little-endian (the value, the bits of a double, or a length) and, for text and bytes, the
 * content. Never SQL's text of a value, never a rowid: those differ where the content does not.
 *
 * The statements are made from the catalogue at run time, here and nowhere else. Drivers keep a
 * prepared statement for every lc_sql by its address, so a plan must outlive every connection that
 * it was used on: make it before the connection is opened and free it after the connection was
 * closed.
 */
#ifndef LC_STORE_DUMP_H
#define LC_STORE_DUMP_H

#include "base/arena.h"
#include "base/hash.h"
#include "store/db.h"

#define LC_DUMP_KEY_MAX 6 /* Columns of a key behind tenant_id and user_id. */

typedef struct lc_dump_table {
    const lc_table *table;
    lc_sql first; /* The first rows of a user: tenant, user, limit. */
    lc_sql after; /* Those behind a key: tenant, user, key, limit. No text: the key is the user. */
    lc_sql next_user;                 /* The first (tenant, user) behind one that has rows. */
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

/* A place in the order of one user's rows; initialised, it is before the first. */
typedef struct lc_dump_key {
    bool is_set;
    lc_arg args[LC_DUMP_KEY_MAX];
    lc_buf text; /* What the arguments point to. */
} lc_dump_key;

void lc_dump_key_init(lc_dump_key *key, lc_heap *heap);
void lc_dump_key_clear(lc_dump_key *key);
/* Moves to the current row of `rows`, an answer of lc_dump_query() on `table`. */
loci_status lc_dump_key_move(lc_dump_key *key, const lc_dump_table *table, const lc_rows *rows,
                             loci_error *err);
/* <0, 0, >0 as the current row of `a` comes before, with or after that of `b`. */
int lc_dump_compare_keys(const lc_dump_table *table, const lc_rows *a, const lc_rows *b);

typedef struct lc_dump_range {
    const lc_dump_table *table;
    loci_str tenant_id;
    loci_str user_id;
    const lc_dump_key *after;
    int64_t limit;
} lc_dump_range;

/* Rows of one user in the order of the key. */
loci_status lc_dump_query(lc_tx *tx, const lc_dump_range *range, lc_rows *out, loci_error *err);
/* Appends the current row. */
void lc_dump_row(lc_buf *out, const lc_rows *rows);

/* The hash of every row of every projection. In pages: exact when nobody writes meanwhile. */
loci_status lc_dump_hash(lc_db *db, const lc_dump_plan *plan, lc_hash128 *out, loci_error *err);

#endif /* LC_STORE_DUMP_H */
