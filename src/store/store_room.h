/* store_room.h - small tables of the store itself: answers of requests, and stored settings. */
#ifndef LC_STORE_STORE_ROOM_H
#define LC_STORE_STORE_ROOM_H

#include "base/arena.h"
#include "base/hash.h"
#include "store/row.h"

/* ---- Requests -------------------------------------------------------------------------------- */

/* Answers are stored so that a call can be repeated safely: a caller that did not receive the
 * answer sends the call again with the same request_id and gets the answer that was stored in the
 * transaction of the first. The same id with other arguments is a conflict. A caller with other
 * rights has another `key`: to it, an id that the first one used is unused.
 *
 * The answers of a user have a quota. A call that comes when it is used up is refused: dropping the
 * oldest answers instead would let a repeat of theirs run a second time, which is what they are
 * stored against. What they take is counted in time slices, which end to count when their answers
 * are too old. */
typedef struct lc_request {
    loci_str request_id;  /* As the caller gave it. */
    loci_str key;         /* What it is stored under: the id and a digest of the caller's rights. */
    lc_hash128 args_hash; /* Of the operation and its arguments in canonical form. */
    int64_t keep_us;      /* Older answers are ignored. */
    int64_t bytes_max;    /* The quota. */
} lc_request;

#define LC_REQUEST_SLICES 24         /* Of the time that answers are kept. */
#define LC_REQUEST_OVERHEAD_BYTES 64 /* Of a row, beside its key and its answer. */

/* The stored answer of the current user's request, copied into `arena`; `*found` false when it is
 * new. A new one is LOCI_ELIMIT when the quota is used up. */
loci_status lc_request_find(lc_tx *tx, const lc_request *request, lc_arena *arena, loci_str *out,
                            bool *found, loci_error *err);
/* Keeps `answer` (JSON) as the answer of the current user's request. */
loci_status lc_request_store(lc_tx *tx, const lc_request *request, loci_str answer,
                             loci_error *err);

/* ---- Settings -------------------------------------------------------------------------------- */

/* Rows only: engine/settings knows the names and the values that they can have. A row that a newer
 * loci wrote is returned like any other. */
typedef struct lc_setting_row {
    loci_str tenant_id; /* "" = for the whole store. */
    loci_str name;
    loci_str value; /* JSON text. */
} lc_setting_row;

/* Gets every row, those of the whole store first; `row` is borrowed for the call. Non-OK stops. */
typedef loci_status lc_setting_row_visit(void *ctx, const lc_setting_row *row, loci_error *err);
loci_status lc_setting_row_each(lc_tx *tx, lc_setting_row_visit *visit, void *ctx, loci_error *err);

extern const lc_row_type lc_stored_setting_row; /* lc_setting_row */

/* Sets or replaces. */
loci_status lc_setting_row_put(lc_tx *tx, const lc_setting_row *row, loci_error *err);
/* A row that is not there is fine. */
loci_status lc_setting_row_remove(lc_tx *tx, loci_str tenant_id, loci_str name, loci_error *err);

#endif /* LC_STORE_STORE_ROOM_H */
