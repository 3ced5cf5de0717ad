/* events.h - the text format of server-sent events, for the stream of events.c and its tests.
 *
 * Pure formatting: the appended text can be sent unchanged. The content of a field cannot begin
 * another field: a line break in data becomes another data line, elsewhere it is dropped.
 */
#ifndef LC_SERVER_EVENTS_H
#define LC_SERVER_EVENTS_H

#include "base/buf.h"

#include <stdbool.h>

typedef struct lc_sse_message {
    int64_t id;    /* The client sends the last one back when it reconnects; 0 = no id. */
    loci_str type; /* The event name that listeners register for. */
    loci_str data;
} lc_sse_message;

void lc_sse_message_add(lc_buf *out, const lc_sse_message *message);

/* Reads `seq` and `type` from the head of an event's JSON, without parsing its payload. False when
 * they are missing. `out_type` is borrowed from `event`. */
bool lc_sse_peek(loci_str event, int64_t *out_seq, loci_str *out_type);

/* Whether it is a comma-separated list of possible event types: lower-case letters, digits, '.',
 * '_' and '-'. */
bool lc_sse_is_type_list(loci_str text);

#endif /* LC_SERVER_EVENTS_H */
