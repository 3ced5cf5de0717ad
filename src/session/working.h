/* working.h - the working set: scratch values of one session. Operational: durable, but no event
 * tells of it. An item is gone when its time is over or its session has ended. */
#ifndef LC_SESSION_WORKING_H
#define LC_SESSION_WORKING_H

#include "base/arena.h"
#include "store/db.h"

#define LC_WORKING_ITEMS_MAX 1000 /* Of one session. */

extern const lc_table lc_working_table;

typedef struct lc_working_item {
    loci_str key;
    loci_str value; /* Canonical JSON. */
    int64_t created_at;
    int64_t expires_at; /* INT64_MAX = with its session. */
} lc_working_item;

/* Sets or replaces; created_at is now. A new key beyond LC_WORKING_ITEMS_MAX is LOCI_ELIMIT. */
loci_status lc_working_check_room(lc_tx *tx, loci_str session_id, loci_str key, loci_error *err);
loci_status lc_working_set(lc_tx *tx, loci_str session_id, const lc_working_item *item,
                           loci_error *err);
/* LOCI_ENOTFOUND when there is none that counts now. Text lives in `arena`. */
loci_status lc_working_load(lc_tx *tx, loci_str session_id, loci_str key, lc_arena *arena,
                            lc_working_item *out, loci_error *err);
loci_status lc_working_delete(lc_tx *tx, loci_str session_id, loci_str key, loci_error *err);
/* All items of a session that has ended. */
loci_status lc_working_clear(lc_tx *tx, loci_str session_id, loci_error *err);

typedef loci_status lc_working_visit(void *ctx, const lc_working_item *item, loci_error *err);
/* What counts now, newest first, then by key. */
loci_status lc_working_each(lc_tx *tx, loci_str session_id, lc_working_visit *visit, void *ctx,
                            loci_error *err);

#endif /* LC_SESSION_WORKING_H */
