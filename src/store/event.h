/* event.h - the log: every event of each user, in order, kept for ever.
 *
 * lc_event_append() is the only way to change the projections: it writes the event and applies it
 * to the projections in the same transaction. An event records an outcome, never an input that a
 * replay would have to judge again. `refs` holds ids and links and survives erasure; `payload`
 * holds everything that a person may ask to be forgotten. Both are JSON objects.
 */
#ifndef LC_STORE_EVENT_H
#define LC_STORE_EVENT_H

#include "base/id.h"
#include "base/json.h"
#include "store/db.h"

struct lc_event {
    loci_str tenant_id;
    loci_str user_id;
    int64_t seq; /* 1, 2, 3 … without gaps, per (tenant, user). */
    const lc_event_type *type;
    int version;         /* Of the payload as it was written; `apply` gets the type's version. */
    int64_t recorded_at; /* Domain time, never earlier than that of the user's previous event. */
    loci_str refs;
    loci_str payload;
    bool is_erased; /* The payload was erased and is empty; only refs are applied. */
    /* The struct that refs and payload were made from, in the room's own type, while the event is
     * being appended; NULL in a replay. Both must give the same rows: verify compares them. */
    const void *decoded;
};

typedef struct lc_append {
    const lc_event_type *type;
    loci_str refs;       /* "" counts as {}. */
    loci_str payload;    /* "" counts as {}. */
    const void *decoded; /* Lets `apply` skip decoding the event; may be NULL. */
} lc_append;

/* The head of the current user, which the current write has locked. */
loci_status lc_tx_head(lc_tx *tx, lc_head *out, loci_error *err);
/* LOCI_ECONFLICT {head_seq} if the user's last seq is not `expected_seq`. */
loci_status lc_tx_expect_seq(lc_tx *tx, int64_t expected_seq, loci_error *err);
/* A new id for the event that will be appended next. */
loci_status lc_tx_make_id(lc_tx *tx, const char *prefix, lc_id *out, loci_error *err);
/* A new id for something outside the log, such as a job. */
loci_status lc_tx_make_object_id(lc_tx *tx, const char *prefix, lc_id *out, loci_error *err);
/* The recorded_at that the next appended event will get. */
loci_status lc_tx_recorded_at(lc_tx *tx, int64_t *out, loci_error *err);

/* Appends and applies. `out_seq` may be NULL. */
loci_status lc_event_append(lc_tx *tx, const lc_append *append, int64_t *out_seq, loci_error *err);

/* An event while its refs and payload are written: both are open objects. */
typedef struct lc_event_draft {
    lc_buf refs_text, payload_text;
    lc_json_writer refs, payload;
} lc_event_draft;
void lc_event_draft_begin(lc_event_draft *draft, lc_tx *tx);
/* Appends it and frees the draft, also on failure. `what` has no refs and no payload. */
loci_status lc_event_draft_append(lc_event_draft *draft, lc_tx *tx, const lc_append *what,
                                  int64_t *out_seq, loci_error *err);

/* ---- Forgetting ------------------------------------------------------------------------------ */

/* Empties the payload of an event of the current user, or of all its events: a tombstone with seq,
 * type, time and refs stays. This is the only overwrite of the log; see recall/forget.h. */
loci_status lc_event_erase(lc_tx *tx, int64_t seq, loci_error *err);
loci_status lc_event_erase_all(lc_tx *tx, loci_error *err);
/* The seq of the user's last event that forgot something (lc_event_type.forgets) or took something
 * back in `scope` (revives; none = nowhere); 0 = none. Data derived from rows before this seq is
 * outdated, although no later row shows it. */
loci_status lc_tx_forgotten_seq(lc_tx *tx, loci_str tenant_id, loci_str user_id, loci_str scope,
                                int64_t *out, loci_error *err);

/* Writes the head of the current user if it moved. Drivers call it before they commit and before a
 * body of another user. */
loci_status lc_tx_flush_head(lc_tx *tx, loci_error *err);

typedef struct lc_event_range {
    loci_str tenant_id;
    loci_str user_id;
    int64_t after_seq;
    int64_t limit; /* 1 .. LC_PAGE_ROWS_MAX, or more for upkeep. */
} lc_event_range;

/* Gets each event of the range in order; `event` is borrowed for the call. Non-OK stops. */
typedef loci_status lc_event_visit(void *ctx, const lc_event *event, loci_error *err);
/* Events as they are stored: not upcast. An unknown type or a newer version is LOCI_EUNSUPPORTED.
 */
loci_status lc_event_each(lc_tx *tx, const lc_event_range *range, lc_event_visit *visit, void *ctx,
                          loci_error *err);
/* Brings the payload to the type's version (using `scratch`) and runs its apply. */
loci_status lc_event_apply(lc_tx *tx, const lc_event *event, lc_buf *scratch, loci_error *err);

/* The seq of the user's last event until a time; 0 = none. LOCI_EINVAL for a time before that of a
 * snapshot (store/snapshot.h). Costs as many look-ups as the number of
 * events has bits. */
loci_status lc_event_find_seq(lc_tx *tx, int64_t until_us, int64_t *out, loci_error *err);

/* The program that wrote the event with this seq of the current user: the member `client` of its
 * refs, a JSON object {name, version?, model?, session_id?} in `arena`; none if it is unknown. */
loci_status lc_event_find_client(lc_tx *tx, int64_t seq, lc_arena *arena, loci_str *out,
                                 loci_error *err);
/* The same from refs that were read. */
loci_status lc_event_client_of(loci_str refs, lc_arena *arena, loci_str *out, loci_error *err);

/* Whether the refs name this id, as the object, its session or the session of its writer. */
bool lc_event_names(const lc_event *event, loci_str id);

/* {user_id, seq, type, v, recorded_at, refs, payload, erased?}, for event.list and subscriptions; a
 * restricted one has `restricted` in place of its payload, that of an erased one is null. */
void lc_event_write(lc_json_writer *out, const lc_event *event);

/* The users that have a head, in key order after (tenant, user): pages for upkeep. */
typedef struct lc_user_head {
    loci_str tenant_id;
    loci_str user_id;
    lc_head head;
} lc_user_head;
typedef loci_status lc_user_visit(void *ctx, const lc_user_head *user, loci_error *err);
loci_status lc_user_each(lc_tx *tx, loci_str after_tenant, loci_str after_user, int64_t limit,
                         lc_user_visit *visit, void *ctx, loci_error *err);

/* ---- The JSON of events ---------------------------------------------------------------------- */

/* For a room's `apply`. A room can read every event that it wrote; anything else is LOCI_ECORRUPT.
 * An erased event has refs and no payload: readers of absent members then get their default. */

typedef struct lc_event_json {
    const lc_json *refs;    /* An object. */
    const lc_json *payload; /* An object; empty when the event was erased. */
} lc_event_json;

/* Parses both; trees live in `arena`, text in the event. */
loci_status lc_event_parse(const lc_event *event, lc_arena *arena, lc_event_json *out,
                           loci_error *err);
/* LOCI_ECORRUPT naming the event. */
loci_status lc_event_fail(const lc_event *event, loci_error *err);

/* A member; no text, or `absent`, if there is no member of that type. */
loci_str lc_event_str(const lc_json *object, const char *name);
int64_t lc_event_int(const lc_json *object, const char *name, int64_t absent);
bool lc_event_bool(const lc_json *object, const char *name);
int64_t lc_event_time(const lc_json *object, const char *name, int64_t absent);
/* Any member as JSON text; no text if there is no such member. Written canonically, it is read back
 * canonically. */
loci_status lc_event_raw(const lc_json *object, const char *name, lc_arena *arena, loci_str *out,
                         loci_error *err);

#endif /* LC_STORE_EVENT_H */
