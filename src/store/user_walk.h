/* user_walk.h - goes through the users of a table in the order of the key, one seek a user.
 *
 *     lc_user_walk_init(&walk, heap);
 *     while ((status = lc_user_walk_next(tx, &walk, &lc_user_heads_sql, err)) == LOCI_OK &&
 * walk.found) …lc_user_walk_tenant(&walk)…
 *
 * Each step may be in another transaction: nothing is held between them.
 */
#ifndef LC_STORE_USER_WALK_H
#define LC_STORE_USER_WALK_H

#include "store/db.h"

typedef struct lc_user_walk {
    lc_buf tenant_id; /* Of the user at hand. */
    lc_buf user_id;
    lc_buf spare_tenant_id; /* The one before, bound to the statement while the next is read. */
    lc_buf spare_user_id;
    lc_head head; /* When the statement answers it. */
    bool found;   /* False before the first and behind the last. */
} lc_user_walk;

/* Every user that has a head, with it. Rows of the store itself, whose names are empty, are left
 * out. */
extern const lc_sql lc_user_heads_sql;

void lc_user_walk_init(lc_user_walk *walk, lc_heap *heap);
void lc_user_walk_clear(lc_user_walk *walk);
/* Back to before the first. */
void lc_user_walk_restart(lc_user_walk *walk);

/* Moves on. `next_sql` takes the (tenant_id, user_id) to go on behind, "tt", and answers one row:
 * "tt", or "ttiii" with seq, recorded_at and objects. */
loci_status lc_user_walk_next(lc_tx *tx, lc_user_walk *walk, const lc_sql *next_sql,
                              loci_error *err);

static inline loci_str lc_user_walk_tenant(const lc_user_walk *walk)
{
    return (loci_str){walk->tenant_id.ptr != NULL ? walk->tenant_id.ptr : "", walk->tenant_id.len};
}

static inline loci_str lc_user_walk_user(const lc_user_walk *walk)
{
    return (loci_str){walk->user_id.ptr != NULL ? walk->user_id.ptr : "", walk->user_id.len};
}

#endif /* LC_STORE_USER_WALK_H */
