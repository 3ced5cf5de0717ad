/* event_json.h - reading the JSON of an event in a room's `apply`.
 *
 * What a room wrote it can read; anything else is LOCI_ECORRUPT. An erased event has refs and no
 * payload: readers of absent members then get what they say is meant by absence.
 */
#ifndef LC_STORE_EVENT_JSON_H
#define LC_STORE_EVENT_JSON_H

#include "base/json.h"
#include "store/event.h"

typedef struct lc_event_json {
    const lc_json *refs;    /* An object. */
    const lc_json *payload; /* An object; empty when the event was erased. */
} lc_event_json;

/* Parses both; trees live in `arena`, text in the event. */
loci_status lc_event_parse(const lc_event *event, lc_arena *arena, lc_event_json *out,
                           loci_error *err);
/* LOCI_ECORRUPT naming the event. */
loci_status lc_event_fail(const lc_event *event, loci_error *err);

/* A member; none, or `absent`, when there is none of that kind. */
loci_str lc_event_str(const lc_json *object, const char *name);
int64_t lc_event_int(const lc_json *object, const char *name, int64_t absent);
bool lc_event_bool(const lc_json *object, const char *name);
int64_t lc_event_time(const lc_json *object, const char *name, int64_t absent);
/* Any member as the text it was written as; none when there is none. Written canonically, it is
 * read back canonically. */
loci_status lc_event_raw(const lc_json *object, const char *name, lc_arena *arena, loci_str *out,
                         loci_error *err);

#endif /* LC_STORE_EVENT_JSON_H */
