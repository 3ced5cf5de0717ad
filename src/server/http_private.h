/* http_private.h - shared by the files of http.h; no other file includes it.
 *
 * There are two threads: libmicrohttpd's loop, which runs every callback, and the monitor, which
 * watches timeouts, suspended streams and the Unix socket. All other threads enter through
 * lc_http_answer() only.
 *
 * A connection is in one phase, with a deadline. Both are one atomic number, which the loop sets
 * and the monitor replaces when the deadline has passed. Requests that are answered inside the
 * handler never take a lock. A connection that waits (for a deferred answer, or as a stream with
 * nothing to send) is suspended in libmicrohttpd and has `suspended` set. The thread that wakes it
 * clears that under the lock, so it is resumed exactly once.
 */
#ifndef LC_SERVER_HTTP_PRIVATE_H
#define LC_SERVER_HTTP_PRIVATE_H

#include "base/clock.h"
#include "server/http.h"
#include "server/http_guard.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

/* libmicrohttpd is loaded when a server is started, because it brings GnuTLS and eight more shared
 * libraries, whose loading every command of the program would otherwise pay for. Its functions are
 * called through this table, which each server has. */
#define LC_MHD_FUNCTIONS(X)                                                                        \
    X(start_daemon)                                                                                \
    X(quiesce_daemon)                                                                              \
    X(stop_daemon)                                                                                 \
    X(add_connection)                                                                              \
    X(suspend_connection)                                                                          \
    X(resume_connection)                                                                           \
    X(get_connection_info)                                                                         \
    X(get_connection_values_n)                                                                     \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_callback)                                                               \
    X(add_response_header)                                                                         \
    X(queue_response)                                                                              \
    X(destroy_response)

typedef struct lc_mhd {
#define LC_MHD_MEMBER(name) __typeof__(MHD_##name) *name;
    LC_MHD_FUNCTIONS(LC_MHD_MEMBER)
#undef LC_MHD_MEMBER
} lc_mhd;

typedef enum lc_http_phase {
    LC_HTTP_IDLE,   /* No byte of the next request was received. */
    LC_HTTP_HEAD,   /* Its first bytes were. */
    LC_HTTP_BODY,   /* Its body is being read. */
    LC_HTTP_WORK,   /* The handler works on it. */
    LC_HTTP_REPLY,  /* The answer is being sent. */
    LC_HTTP_STREAM, /* A stream is being sent. */
    LC_HTTP_CUT,    /* The monitor has shut down the socket. */
    LC_HTTP_LINGER  /* The loop is done with it; the monitor discards the rest of a body. */
} lc_http_phase;

#define LC_HTTP_PHASES 8 /* A watch is a deadline in ms, times this, plus a phase. */
#define LC_HTTP_NEVER_MS (INT64_MAX / LC_HTTP_PHASES - 1)

/* The remote end of a connection; compared as bytes. */
typedef struct lc_http_peer {
    int family;
    unsigned char bytes[8]; /* IPv4 address, IPv6 network or user id. */
} lc_http_peer;

typedef struct lc_http_client lc_http_client; /* The account of a peer. */
#define LC_HTTP_CLIENT_BUCKETS 256u

typedef struct lc_http_connection {
    struct lc_http_connection *previous, *next; /* All open ones; under the lock. */
    lc_http *http;
    lc_http_client *client;
    int fd;
    bool is_unix;
    uid_t uid; /* Of the client on a Unix socket. */
    _Atomic int64_t watch;
    bool must_linger;           /* Its last answer was sent before the whole request was read. */
    int64_t linger_bytes;       /* That may still be discarded; the monitor's, like the next. */
    int64_t linger_end_ms;      /* However much the client sends. */
    lc_http_request *suspended; /* Or NULL. Under the lock. */
    /* The list of suspended connections with an answer: the next one, and the pointer to this one
     * (NULL = not in the list). Under the lock. */
    struct lc_http_connection *next_answered, **answered_by;
    /* Of the request line that was read last. */
    const char *target;
    size_t target_bytes;
    bool has_bad_target, has_bad_escape;
} lc_http_connection;

struct lc_http_request {
    lc_http *http;
    lc_http_connection *connection;
    struct MHD_Connection *mhd;
    lc_http_request *next_ended;
    lc_http_client *client;
    int64_t charged_bytes, stream_bytes; /* In flight; `stream_bytes` of these for a stream. */
    size_t block_bytes; /* Of this struct, and the fields and the head behind it. */
    lc_arena arena;
    loci_str method, path;
    const lc_http_field *fields, *queries;
    size_t field_count, query_count;
    lc_buf body;
    size_t body_bytes; /* As announced. */
    char trace_id[LC_HTTP_TRACE_ID_BYTES_MAX + 1];
    loci_str traceparent; /* Valid and terminated, or empty. */
    bool is_unix;
    uid_t peer_uid;
    void *state;
    int64_t deadline_us;
    volatile int cancel;

    struct MHD_Response *response; /* Once answered. */
    int status;
    size_t reply_bytes;
    const char *problem_code; /* Of an answer that this server made itself, or NULL. */
    bool is_promised;         /* The answer is sent even if a ceiling is exceeded. */
    bool is_asked;            /* options.admit was called. */
    bool is_admitted;         /* The body may be read; under the lock while deferred. */
    bool is_whole;            /* All of it was received. */
    bool has_turned;          /* libmicrohttpd knows that it need not read on. */
    bool has_read_first;      /* The body is read before the admission was decided. */
    bool is_handled;          /* The handler was called. */
    bool is_deferred;         /* If so, the following are under the lock. */
    bool is_answered;
    bool is_claimed; /* A thread is answering it: it cannot expire any more. */
    bool is_expired; /* An answer comes too late. */
    bool is_queued;  /* libmicrohttpd has the answer. */
    bool is_over;    /* libmicrohttpd is done with the request. */

    bool is_stream;
    lc_http_stream stream;
    lc_buf problem;         /* A problem document of this server. */
    loci_str pending;       /* Lent by the stream, and not yet sent. */
    bool is_last;           /* The stream ends after `pending`. */
    bool is_heartbeat;      /* Woken for a heartbeat; under the lock, like the rest. */
    bool is_gone;           /* The client hung up. */
    bool is_wake_watched;   /* The monitor's epoll set has wake_fd, */
    bool is_hangup_watched; /* and the connection. */
    int64_t heartbeat_us;   /* Time of the next one. */
};

typedef struct lc_http_listener {
    int fd; /* -1 = none. */
    int port;
    char address[64]; /* "127.0.0.1" or "::1", without brackets. */
} lc_http_listener;

typedef struct lc_http_unix {
    int fd; /* -1 = none. */
    char path[108];
    dev_t device; /* Of the file we made, so that only that one is removed. */
    ino_t inode;
} lc_http_unix;

struct lc_http {
    lc_env *env;
    void (*admit)(void *ctx, lc_http_request *request);
    void (*handle)(void *ctx, lc_http_request *request);
    void (*answered)(void *ctx, const lc_http_request *request, int status, size_t bytes);
    void *ctx;
    bool wakes_on_flush;
    lc_http_limits limits;
    lc_http_rules rules;
    lc_mhd mhd;
    struct MHD_Daemon *daemon;
    lc_http_listener tcp;
    lc_http_unix unix_socket;
    uint32_t mark; /* Part of the trace ids we make. */
    int64_t started_ms;
    _Atomic bool is_draining, are_streams_ended, refuses_requests, is_stopping;

    /* Written by the loop's thread only. */
    _Atomic int64_t requests; /* Begun, those that are refused included. */
    _Atomic int64_t ended, streams, bytes_in, bytes_out;
    /* By any thread. */
    _Atomic int64_t refused, cut;

    pthread_mutex_t lock;
    lc_http_connection *connections;
    int64_t connection_count;
    lc_http_connection *answered_connections; /* Linked by `next_answered`. */
    lc_http_request *ended_streams;           /* To be freed by the monitor. */
    int64_t deferred_count;                   /* Requests that another thread still has. */
    pthread_cond_t none_deferred;             /* For lc_http_stop(). */

    pthread_mutex_t clients_lock; /* Taken last. */
    lc_http_client *clients[LC_HTTP_CLIENT_BUCKETS];
    int64_t inflight_bytes;

    pthread_t monitor;
    bool has_monitor;
    bool is_monitor_idle; /* It waits without a timeout: there is no connection. */
    int epoll_fd, kick_fd;
    int64_t tick_ms;
};

/* Whether a deferred request needs nothing more from the thread that has it. Under the lock. */
static inline bool lc_http_is_given(const lc_http_request *request)
{
    return request->is_answered || (request->is_admitted && !request->is_handled);
}

/* For counters that only the loop's thread writes: no locked instruction is needed. */
static inline void lc_http_add(_Atomic int64_t *counter, int64_t delta)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + delta,
                          memory_order_relaxed);
}

static inline void lc_http_count(_Atomic int64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static inline int64_t lc_http_now_ms(void)
{
    return lc_clock_monotonic_us() / 1000;
}

static inline lc_http_phase lc_http_phase_of(int64_t watch)
{
    return (lc_http_phase)(watch % LC_HTTP_PHASES);
}

static inline int64_t lc_http_watch_of(lc_http_phase phase, int64_t deadline_ms)
{
    return deadline_ms * LC_HTTP_PHASES + phase;
}

static inline void lc_http_set_phase(lc_http_connection *connection, lc_http_phase phase,
                                     int64_t deadline_ms)
{
    atomic_store_explicit(&connection->watch, lc_http_watch_of(phase, deadline_ms),
                          memory_order_release);
}

/* ---- http_connection.c ----------------------------------------------------------------------- */

/* Registers an accepted connection; NULL when it was refused, with 503 where possible. */
lc_http_connection *lc_http_connection_open(lc_http *http, int fd);
/* The loop closes its socket next. Frees the connection, or leaves it to the monitor to linger. */
void lc_http_connection_close(lc_http_connection *connection);
/* Leaves a phase in which the monitor may send 408. False when it has: nothing more is sent. */
bool lc_http_leave_reading(lc_http_connection *connection, lc_http_phase phase,
                           int64_t deadline_ms);
/* Makes close() discard unsent data: the client did not read it for too long. */
void lc_http_drop_unsent(const lc_http_connection *connection);
/* Sends a last answer (408 or 503) on a connection that will be closed; errors are ignored. */
void lc_http_send_final(int fd, int http_status);

/* The monitor thread. Before the loop starts: its descriptors; after: the thread. */
loci_status lc_http_monitor_open(lc_http *http, loci_error *err);
loci_status lc_http_monitor_start(lc_http *http, loci_error *err);
/* Before the loop stops; and after. */
void lc_http_monitor_stop(lc_http *http);
void lc_http_monitor_close(lc_http *http);
/* Starts, and ends, the watch for a stream's wake-ups and hang-up. Both under the lock. */
void lc_http_monitor_watch(lc_http *http, lc_http_request *request);
void lc_http_monitor_forget(lc_http *http, lc_http_request *request);

/* ---- http_client.c --------------------------------------------------------------------------- */

void lc_http_peer_read(lc_http_connection *connection, lc_http_peer *out);
/* The account for one more connection of the peer; NULL when it has as many as it may, or out of
 * memory. */
lc_http_client *lc_http_client_enter(lc_http *http, const lc_http_peer *peer);
void lc_http_client_leave(lc_http *http, lc_http_client *client);
/* Takes the account of the request's connection; and gives it back, with all that was charged. */
void lc_http_account_open(lc_http_request *request);
void lc_http_account_close(lc_http_request *request);
/* Charges the memory of a request, or credits it if `bytes` is negative. Returns false and charges
 * nothing if a ceiling would be exceeded, unless forced. */
bool lc_http_charge(lc_http_request *request, int64_t bytes, bool is_forced);

/* ---- http_request.c -------------------------------------------------------------------------- */

typedef struct lc_http_fields {
    size_t count;
    lc_http_field list[LC_HTTP_FIELDS_MAX + 1];
} lc_http_fields;

/* The head of a request, in libmicrohttpd's own memory. */
typedef struct lc_http_incoming {
    lc_http_head head;
    const char *version;
    loci_str path;
    lc_http_fields headers;
    lc_http_fields queries;
} lc_http_incoming;

lc_http_verdict lc_http_check_head(const lc_http_connection *connection,
                                   const lc_http_incoming *in);
/* Copies the head. Without `in` the request has only an id: enough to refuse it. NULL when out of
 * memory. */
lc_http_request *lc_http_new_request(lc_http_connection *connection, const lc_http_incoming *in);
void lc_http_free_request(lc_http_request *request);

/* ---- http.c ---------------------------------------------------------------------------------- */

/* Suspends the connection of `request`, on the loop's thread, under the lock. */
void lc_http_suspend(lc_http_request *request);
/* Resumes `connection`, under the lock. */
void lc_http_wake(lc_http_connection *connection);
/* Hands a connected socket to the loop. */
void lc_http_adopt(lc_http *http, int fd);
loci_status lc_http_loop_start(lc_http *http, loci_error *err);
/* Stops accepting TCP connections. */
void lc_http_loop_quiesce(lc_http *http);
/* No connection may be suspended any more. */
void lc_http_loop_stop(lc_http *http);

#endif /* LC_SERVER_HTTP_PRIVATE_H */
