/* events.h - the text format of server-sent events, for the streams of events.c and signals.c, and
 * for tests.
 *
 * Pure formatting: the appended text can be sent unchanged. The content of a field cannot begin
 * another field: a line break in data becomes another data line, elsewhere it is dropped.
 */
#ifndef LC_SERVER_EVENTS_H
#define LC_SERVER_EVENTS_H

#include "base/buf.h"
#include "server/store_thread.h"

#include <stdbool.h>

typedef struct lc_sse_message {
    int64_t id;    /* The client sends the last one back when it reconnects; 0 = no id. */
    loci_str type; /* The event name that listeners register for. */
    loci_str data;
} lc_sse_message;

void lc_sse_message_add(lc_buf *out, const lc_sse_message *message);

#define LC_SSE_HEARTBEAT_MS 15000
/* The time after which a client should reconnect; the first message of a stream. */
extern const loci_str lc_sse_retry;
/* A comment, which clients ignore: a sign of life. */
extern const loci_str lc_sse_heartbeat;
/* The last message of a stream whose token has ended. */
loci_str lc_sse_token_end(lc_token_end end);
/* The query parameter heartbeat_ms; ptr NULL = the default. */
loci_status lc_sse_parse_heartbeat(loci_str text, int64_t *out_ms, loci_error *err);

/* Reads `seq` and `type` from the head of an event's JSON, without parsing its payload. False when
 * they are missing. `out_type` is borrowed from `event`. */
bool lc_sse_peek(loci_str event, int64_t *out_seq, loci_str *out_type);

/* Whether it is a comma-separated list of possible event types: lower-case letters, digits, '.',
 * '_' and '-'. */
bool lc_sse_is_type_list(loci_str text);

#endif /* LC_SERVER_EVENTS_H */
