/* http.h - requests and replies; libmicrohttpd is hidden in http.c.
 *
 * The server runs one event loop. It reads the head of a request, asks `admit` whether to read the
 * body, reads it (everything is bounded in size and time), calls the handler, and sends its answer.
 * Neither may block. Both answer at once; or later, from any thread, while the connection is
 * suspended until the request's deadline; or they turn the connection into a stream that is pulled
 * whenever its descriptor becomes readable.
 *
 * Malformed requests, unknown Hosts, exceeded limits and slow clients never reach the handler: they
 * are answered here (400, 403, 408, 413, 414, 421, 431, 503) as problem+json, or disconnected.
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

/* Zero means the default: 16 KiB, 4 MiB, 4096, no separate limit, 256 MiB, no separate limit, 5 s,
 * 30 s, 60 s, 30 s. A peer is a remote address, or a user id on the Unix socket. */
typedef struct lc_http_limits {
    size_t header_bytes_max; /* Request line and headers. */
    size_t body_bytes_max;
    int64_t connections_max;
    int64_t connections_of_peer;
    int64_t inflight_bytes_max; /* Bodies being received, and answers and streams being sent. */
    int64_t inflight_bytes_of_peer;
    int64_t header_timeout_ms; /* From the first byte to the end of the headers. */
    int64_t body_timeout_ms;   /* From the end of the headers to the end of the body. */
    int64_t idle_timeout_ms;   /* Between requests, and for a client that does not read. */
    int64_t answer_timeout_ms; /* From the whole request to its answer. */
} lc_http_limits;

typedef struct lc_http_options {
    const char *listen;       /* "127.0.0.1:7077", "[::1]:0" or "unix:/path"; port 0 = any. */
    const char *socket_path;  /* A Unix socket beside it, mode 0600; NULL = none. */
    const char *const *hosts; /* Accepted Host names beside the address; ends with NULL. */
    lc_http_limits limits;
    /* Called on the loop's thread for every well-formed request; if it has a body, before any byte
     * of that is read and before "100 Continue". It calls lc_http_admit(); or answers, and the body
     * is never read; or calls lc_http_defer(), and does one of the two later. NULL = every request
     * is admitted. */
    void (*admit)(void *ctx, lc_http_request *request);
    /* Called on the loop's thread for every complete request that was admitted. */
    void (*handle)(void *ctx, lc_http_request *request);
    /* Called once per request when its answer is known, on the thread that answers, while the
     * request is still valid. `bytes` is the size of the body, 0 for a stream. May be NULL. */
    void (*answered)(void *ctx, const lc_http_request *request, int status, size_t bytes);
    void *ctx;
    /* Answers of deferred requests wait for lc_http_flush() instead of waking the loop one by one.
     */
    bool wakes_on_flush;
} lc_http_options;

/* Whether only this machine can reach "127.0.0.1:7077", "[::1]:0", "localhost:80" or "unix:/path".
 * Any other text is treated as public. */
bool lc_http_address_is_local(loci_str listen);
/* LOCI_EINVAL unless `listen` is written like an address to listen on. */
loci_status lc_http_check_address(const char *listen, loci_error *err);

#define LC_HTTP_ADDRESS_BYTES 320
/* Writes "http://127.0.0.1:7077", with the port that was bound; "unix:/path" without TCP. */
void lc_http_address_format(const char *listen, int port, const char *socket_path,
                            char out[LC_HTTP_ADDRESS_BYTES]);

loci_status lc_http_start(lc_env *env, const lc_http_options *options, lc_http **out,
                          loci_error *err);
/* The port it listens on; 0 without TCP. */
int lc_http_port(const lc_http *http);
/* Accepts no new connections, and closes open ones after their next reply. */
void lc_http_drain(lc_http *http);
/* Ends streams and waits until every accepted request was answered; false on timeout. A request
 * that arrives after that is not answered: its connection is closed. */
bool lc_http_wait_idle(lc_http *http, int64_t timeout_ms);
/* Wakes the loop once for all deferred requests that were answered since it was woken last. Any
 * thread; it must have returned before lc_http_stop() is called. */
void lc_http_flush(lc_http *http);
/* Closes all connections, stops the loop, waits until other threads have answered the deferred
 * requests that they still have, and frees everything. No callback runs afterwards. */
void lc_http_stop(lc_http *http);

/* ---- The request: borrowed until it is answered ------------------------------------------- */

loci_str lc_http_method(const lc_http_request *request); /* "GET" */
loci_str lc_http_path(const lc_http_request *request);   /* "/v1/facts", still percent-encoded. */
/* Decoded value of a query parameter; ptr NULL when absent. */
loci_str lc_http_query(const lc_http_request *request, const char *name);
/* All query parameters, by index from 0; false behind the last. */
bool lc_http_query_at(const lc_http_request *request, size_t index, loci_str *name,
                      loci_str *value);
loci_str lc_http_header(const lc_http_request *request,
                        const char *name); /* ptr NULL when absent. */
loci_str lc_http_body(const lc_http_request *request);
bool lc_http_accepts_gzip(const lc_http_request *request);
/* The user id of the client on a Unix socket; false for TCP. */
bool lc_http_peer_uid(const lc_http_request *request, uid_t *out);
/* In options.answered: the code of an error that the server found itself, or NULL. */
const char *lc_http_problem_code(const lc_http_request *request);
/* The id of this request in the log, error bodies and the header Trace-Id; terminated. It is the
 * trace id of the header `traceparent`, else the client's Trace-Id or X-Request-Id if it is valid,
 * else 32 hexadecimal digits that are unique. */
const char *lc_http_trace_id(const lc_http_request *request);
/* The header `traceparent` if it is valid, else empty. The reply repeats it. */
loci_str lc_http_traceparent(const lc_http_request *request);
lc_arena *lc_http_arena(lc_http_request *request); /* Freed with the request. */
/* A pointer for the handler's own use. */
void lc_http_set_state(lc_http_request *request, void *state);
void *lc_http_state(const lc_http_request *request);
/* Monotonic µs. */
int64_t lc_http_deadline_us(const lc_http_request *request);
/* Before the request is deferred: the answer may take until then. */
void lc_http_set_deadline_us(lc_http_request *request, int64_t deadline_us);
/* Becomes non-zero when the client has disconnected; for loci_call_options.cancel. */
const volatile int *lc_http_cancel(const lc_http_request *request);

/* ---- Answering: exactly once per request ----------------------------------------------------- */

/* Lets the body be read: from options.admit or, after lc_http_defer(), from any thread. The handler
 * is called next, and the request may be deferred again. */
void lc_http_admit(lc_http_request *request);

typedef struct lc_http_reply {
    int status;
    const char *content_type; /* "application/json" */
    loci_str body;            /* Copied. */
    bool is_gzip;             /* The body is compressed, and the client accepts that. */
    const char *location;     /* Further headers, or NULL each. */
    const char *etag;
    const char *content_security_policy;
    const char *allow;
    const char *authenticate;
    const char *mcp_session_id;
    const char *cache_control; /* NULL = no-store. */
    int64_t retry_after_s;     /* 0 = none. */
    bool is_replayed;          /* Idempotency-Replayed: true. */
} lc_http_reply;

/* Before something is done that cannot be undone: the answer will be sent even if it exceeds the
 * limit of bytes in flight. LOCI_EUNAVAILABLE when that is exceeded already: do nothing, and answer
 * the error. Without a promise an answer of more than 64 KiB can become that error. From the
 * handler only. */
loci_status lc_http_promise(lc_http_request *request, loci_error *err);
/* From the callbacks or, after lc_http_defer(), from any thread. The body is sent as gzip if that
 * is smaller and the client accepts it. The request is invalid afterwards. */
void lc_http_answer(lc_http_request *request, const lc_http_reply *reply);
/* Lets the callback return without an answer; another thread will give it. Twice is fine. If the
 * deadline passes or the server stops before, the client gets 504. The late answer must be given
 * nevertheless: it is discarded and frees the request. lc_http_stop() waits for it. */
void lc_http_defer(lc_http_request *request);
/* Answers an error as problem+json: {type, title, status, detail, code, trace_id, …data}. */
void lc_http_answer_error(lc_http_request *request, const loci_error *err);
/* 405 in the same form, with the methods that the path has. */
void lc_http_answer_not_allowed(lc_http_request *request, const char *allow);

/* ---- Streams ------------------------------------------------------------------------------- */

typedef struct lc_http_stream {
    const char *content_type; /* "text/event-stream" */
    /* Lends data in `out`, until the next call, on the loop's thread. After data it is called again
     * once the client has read it, so one call need not lend everything. Without data the stream
     * sleeps until wake_fd is readable, or until `heartbeat_ms` have passed: then is_heartbeat is
     * true. False ends the stream, after the data. */
    bool (*pull)(void *ctx, loci_str *out, bool is_heartbeat);
    /* Whether all that the client must get was lent; asked when the stream ends, also because the
     * server stops. If not, the connection is cut instead of ended, so that the client does not
     * take a part for the whole. NULL = a stream may end anywhere. */
    bool (*is_whole)(void *ctx);
    void (*close)(void *ctx); /* Called once, whatever ended the stream. */
    void *ctx;
    int64_t heartbeat_ms; /* 0 = none. */
    int wake_fd;          /* Readable = pull; not shared between streams. -1 = heartbeats only. */
} lc_http_stream;

/* Turns the request into a stream. The request is invalid afterwards; `stream` is copied. */
void lc_http_answer_stream(lc_http_request *request, const lc_http_stream *stream);

/* ---- Figures ------------------------------------------------------------------------------- */

typedef struct lc_http_counters {
    int64_t connections; /* Open now. */
    int64_t streams;     /* Open now. */
    int64_t requests;    /* Since the start. */
    int64_t refused;     /* Malformed requests, unknown Hosts, exceeded limits. */
    int64_t cut;         /* Connections closed because the client was too slow. */
    int64_t bytes_in, bytes_out;
    int64_t inflight_bytes; /* Now. */
} lc_http_counters;
lc_http_counters lc_http_get_counters(const lc_http *http);

#endif /* LC_SERVER_HTTP_H */
