/* store_room.h - small tables of the store itself: stored answers of requests, stored settings, and
 * records of forgettings. */
#ifndef LC_STORE_STORE_ROOM_H
#define LC_STORE_STORE_ROOM_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "store/row.h"

/* ---- Requests -------------------------------------------------------------------------------- */

/* Answers are stored so that a call can be repeated safely: a caller that did not receive the
 * answer sends the call again with the same request_id and gets the answer that was stored in the
 * transaction of the first. The same id with other arguments is a conflict. A caller with other
 * rights has another `key`, so that its request_ids are separate.
 *
 * The answers of a user have a quota. A call is refused when the quota is used up: if the oldest
 * answers were dropped instead, a repeat of their calls would run a second time. The bytes are
 * counted per time slice; a slice no longer counts towards the quota when its answers have
 * expired. */
typedef struct lc_request {
    loci_str request_id;  /* As the caller gave it. */
    loci_str key;         /* Key of the row: the id and a digest of the caller's rights. */
    lc_hash128 args_hash; /* Of the operation and its arguments in canonical form. */
    int64_t keep_us;      /* Older answers are ignored. */
    int64_t bytes_max;    /* The quota. */
} lc_request;

#define LC_REQUEST_SLICES 24         /* Of the time that answers are kept. */
#define LC_REQUEST_OVERHEAD_BYTES 64 /* Of a row, beside its key and its answer. */

/* The stored answer of the current user's request, copied into `arena`; `*found` is false for a new
 * request. A new request is LOCI_ELIMIT if the quota is used up. */
loci_status lc_request_find(lc_tx *tx, const lc_request *request, lc_arena *arena, loci_str *out,
                            bool *found, loci_error *err);
/* Keeps `answer` (JSON) as the answer of the current user's request. */
loci_status lc_request_store(lc_tx *tx, const lc_request *request, loci_str answer,
                             loci_error *err);

/* Empties the stored answers of the current user that name one of `ids` (all of them: NULL), since
 * they repeat forgotten content; the number in `out`. The request stays known: a repeat of it is
 * LOCI_ECONFLICT instead of a second run. */
loci_status lc_request_forget(lc_tx *tx, const lc_map *ids, int64_t *out, loci_error *err);

/* ---- Forgetting ------------------------------------------------------------------------------ */

/* A whole user was forgotten: `apply` deletes its rows in every projection that has
 * lc_table.forget. */
extern const lc_event_type lc_user_forgotten_event;

/* Deletes the rows of the current user in all operational tables that have lc_table.forget. */
loci_status lc_forget_operational(lc_tx *tx, loci_error *err);
/* Deletes the rows of the current user that name the thing `id`, by lc_table.forget_id. */
loci_status lc_forget_named(lc_tx *tx, loci_str id, loci_error *err);

/* Whether the store's files still contain bytes of forgotten rows, which are gone from every
 * table. */
typedef struct lc_scrub_state {
    int64_t wanted; /* Identifies the last forgetting; 0 = there was none. */
    int64_t done;   /* The last one whose bytes are gone from the files. */
} lc_scrub_state;
#define LC_SCRUB_JOB "store.scrub"
/* Notes that the files have to be scrubbed, and adds the job of the current user that does so. */
loci_status lc_scrub_request(lc_tx *tx, lc_id *out_job, loci_error *err);
loci_status lc_scrub_get(lc_tx *tx, lc_scrub_state *out, loci_error *err);
loci_status lc_scrub_set_done(lc_tx *tx, int64_t done, loci_error *err);
loci_status lc_scrub_enqueue(lc_tx *tx, lc_id *out, loci_error *err);
/* Why the last attempt of a scrub job that will run again failed, in the arena; none = it has not
 * failed. */
loci_status lc_scrub_obstacle(lc_tx *tx, lc_arena *arena, loci_str *out, loci_error *err);

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
