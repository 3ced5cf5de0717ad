/* working.h - the working set: scratch values of one session. The table is operational: items are
 * durable, but there are no events for them. An item ends when it expires or its session ends. */
#ifndef LC_SESSION_WORKING_H
#define LC_SESSION_WORKING_H

#include "base/arena.h"
#include "store/row.h"

#define LC_WORKING_ITEMS_MAX 1000 /* Maximum per session. */

extern const lc_table lc_working_table;
extern const lc_row_type lc_working_row; /* lc_working_item */

typedef struct lc_working_item {
    loci_str key;
    loci_str value; /* Canonical JSON. */
    int64_t created_at;
    int64_t expires_at; /* INT64_MAX = when its session ends. */
} lc_working_item;

/* LOCI_ELIMIT if the session has LC_WORKING_ITEMS_MAX items other than `key`. */
loci_status lc_working_check_room(lc_tx *tx, loci_str session_id, loci_str key, loci_error *err);
/* Sets or replaces an item; created_at becomes the time of the transaction. */
loci_status lc_working_set(lc_tx *tx, loci_str session_id, const lc_working_item *item,
                           loci_error *err);
/* LOCI_ENOTFOUND if there is none, or it has expired. Text lives in `arena`. */
loci_status lc_working_load(lc_tx *tx, loci_str session_id, loci_str key, lc_arena *arena,
                            lc_working_item *out, loci_error *err);
loci_status lc_working_delete(lc_tx *tx, loci_str session_id, loci_str key, loci_error *err);
/* Deletes all items of a session that has ended. */
loci_status lc_working_clear(lc_tx *tx, loci_str session_id, loci_error *err);

typedef loci_status lc_working_visit(void *ctx, const lc_working_item *item, loci_error *err);
/* Items that have not expired, newest first, then by key. */
loci_status lc_working_each(lc_tx *tx, loci_str session_id, lc_working_visit *visit, void *ctx,
                            loci_error *err);

#endif /* LC_SESSION_WORKING_H */
