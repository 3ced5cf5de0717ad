/* http.h - requests and replies, with libmicrohttpd hidden in http.c.
 *
 * The server runs one event loop. It reads a whole request (bounded in headers, body and time),
 * asks the one handler, and sends what it answers. A handler must not block: it answers at once, or
 * later from any thread (the connection sleeps meanwhile, under the request's deadline), or turns
 * the connection into a stream that is pulled whenever its descriptor says that there may be
 * something.
 *
 * Framing attacks, wrong Hosts, too much of anything and too slow clients never reach the handler:
 * they are answered here (400, 408, 413, 421, 431, 503) as problem+json, or cut.
 */
#ifndef LC_SERVER_HTTP_H
#define LC_SERVER_HTTP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/env.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct lc_http lc_http;                 /* A running server. */
typedef struct lc_http_request lc_http_request; /* One request, until it is answered. */

/* Zero is the usual: 16 KiB, 4 MiB, 4096, no own limit, 5 s, 30 s, 60 s, 1 MiB, 30 s. */
typedef struct lc_http_limits {
    size_t header_bytes_max; /* Request line and headers. */
    size_t body_bytes_max;
    int64_t connections_max;     /* In all, and */
    int64_t connections_of_peer; /* from one address. */
    int64_t header_timeout_ms;   /* From the first byte to the end of the headers, */
    int64_t body_timeout_ms;     /* and to the end of the body. */
    int64_t idle_timeout_ms;     /* Between requests, and for a reader that does not read. */
    size_t stream_buffer_bytes;  /* A stream that says more than this in one pull is cut. */
    int64_t answer_timeout_ms;   /* From the whole request to its answer. */
} lc_http_limits;

typedef struct lc_http_options {
    const char *listen;      /* "127.0.0.1:7077", "[::1]:0" or "unix:/path"; port 0 = any. */
    const char *socket_path; /* A Unix socket beside it, mode 0600; NULL = none. */
    const char *const
        *hosts; /* Host names a request may be for beside the address; ends with NULL. */
    lc_http_limits limits;
    /* Called on the loop's thread for every request that is whole and well-formed. */
    void (*handle)(void *ctx, lc_http_request *request);
    /* Called for each of them when its answer is known, before the request is gone, in whichever
     * thread answers; `bytes` are those of the body, 0 for a stream. NULL = nobody wants to know.
     */
    void (*answered)(void *ctx, const lc_http_request *request, int status, size_t bytes);
    void *ctx;
} lc_http_options;

/* Whether only this machine can reach "127.0.0.1:7077", "[::1]:0", "localhost:80" or "unix:/path".
 * Any text that is no such address counts as public. */
bool lc_http_address_is_local(loci_str listen);

#define LC_HTTP_ADDRESS_BYTES 320
/* Writes "http://127.0.0.1:7077", with the port that was bound; "unix:/path" without TCP. */
void lc_http_address_format(const char *listen, int port, const char *socket_path,
                            char out[LC_HTTP_ADDRESS_BYTES]);

loci_status lc_http_start(lc_env *env, const lc_http_options *options, lc_http **out,
                          loci_error *err);
/* The port it listens on; 0 without TCP. */
int lc_http_port(const lc_http *http);
/* Takes no new connections and lets keep-alive ones end with their next reply. */
void lc_http_drain(lc_http *http);
/* Waits until every accepted request was answered, at most so long; streams are ended. */
bool lc_http_wait_idle(lc_http *http, int64_t timeout_ms);
/* Cuts what is left, stops the loop and frees everything. */
void lc_http_stop(lc_http *http);

/* ---- The request: borrowed, until it is answered ------------------------------------------- */

loci_str lc_http_method(const lc_http_request *request); /* "GET" */
loci_str lc_http_path(const lc_http_request *request); /* "/v1/facts", decoded per segment later. */
/* Decoded value of a query parameter; ptr NULL when absent. Walk all with index from 0. */
loci_str lc_http_query(const lc_http_request *request, const char *name);
bool lc_http_query_at(const lc_http_request *request, size_t index, loci_str *name,
                      loci_str *value);
loci_str lc_http_header(const lc_http_request *request,
                        const char *name); /* ptr NULL when absent. */
loci_str lc_http_body(const lc_http_request *request);
/* The user on the other end of a Unix socket; false for TCP. */
bool lc_http_peer_uid(const lc_http_request *request, uid_t *out);
/* "req_…", unique in this process, or the caller's X-Request-Id when it is decent; terminated. */
const char *lc_http_request_id(const lc_http_request *request);
lc_arena *lc_http_arena(lc_http_request *request); /* Dies with the request. */
/* For the handler's own use, such as who is calling. */
void lc_http_set_state(lc_http_request *request, void *state);
void *lc_http_state(const lc_http_request *request);
/* When it should be answered at the latest, monotonic µs. */
int64_t lc_http_deadline_us(const lc_http_request *request);
/* Becomes non-zero when the client has gone; for loci_call_options.cancel. */
const volatile int *lc_http_cancel(const lc_http_request *request);

/* ---- Answering: exactly once a request ----------------------------------------------------- */

typedef struct lc_http_reply {
    int status;
    const char *content_type; /* "application/json" */
    loci_str body;            /* Copied. */
    const char *location;     /* Further headers, or NULL each. */
    const char *allow;
    const char *authenticate;
    const char *cache_control; /* NULL = no-store. */
    int64_t retry_after_s;     /* 0 = none. */
} lc_http_reply;

/* From the handler or, after lc_http_defer(), from any thread. A body that shrinks is gzipped when
 * the client takes it. The request is gone afterwards. */
void lc_http_answer(lc_http_request *request, const lc_http_reply *reply);
/* The answer will come from another thread: the handler returns without it. When it does not come
 * by the deadline, or the server is stopped, the client gets another; the late one must be given
 * all the same, goes nowhere and frees the request. The server's `env` must live until then. */
void lc_http_defer(lc_http_request *request);
/* An error of loci's as problem+json: {type, title, status, detail, code, request_id, …data}. */
void lc_http_answer_error(lc_http_request *request, const loci_error *err);
/* 405 in the same form, with the methods that the path has. */
void lc_http_answer_not_allowed(lc_http_request *request, const char *allow);

/* ---- Streams ------------------------------------------------------------------------------- */

typedef struct lc_http_stream {
    const char *content_type; /* "text/event-stream" */
    /* Appends what there is to say to `out`, on the loop's thread; nothing = sleep until woken or
     * until `heartbeat_ms` have passed (then called with is_heartbeat). When something was said, it
     * is called again once the client has taken it, so it need not say all at once. False ends the
     * stream. */
    bool (*pull)(void *ctx, lc_buf *out, bool is_heartbeat);
    void (*close)(void *ctx); /* Once, whatever ended it. */
    void *ctx;
    int64_t heartbeat_ms; /* 0 = none. */
    int wake_fd;          /* Readable = pull; this stream's own. -1 = only heartbeats. */
} lc_http_stream;

/* Turns the request into a stream; the request is gone, `stream` is copied. */
void lc_http_answer_stream(lc_http_request *request, const lc_http_stream *stream);

/* ---- Figures ------------------------------------------------------------------------------- */

typedef struct lc_http_counters {
    int64_t connections; /* Open now. */
    int64_t streams;     /* Open now. */
    int64_t requests;    /* Since the start. */
    int64_t refused;     /* Bad framing, hosts, limits. */
    int64_t cut;         /* Slow or never-reading clients. */
    int64_t bytes_in, bytes_out;
} lc_http_counters;
lc_http_counters lc_http_get_counters(const lc_http *http);

#endif /* LC_SERVER_HTTP_H */
