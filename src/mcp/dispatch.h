/* dispatch.h - the dispatcher as transports see it.
 *
 *     lc_mcp_server_new(&options, &server, err);            once per process
 *     lc_mcp_receive(server, &incoming);                    for every message of a client
 *       -> transport.run()      an operation is needed: call lc_mcp_resume() with its answer
 *       -> transport.send()     a message that belongs to the request goes out before the answer
 *       -> transport.answer()   once per message: the answer, or nothing
 *
 * Two generations of the protocol are served side by side, decided for each message. A request
 * whose `_meta` names a protocol version is of the newer one (2026-07-28): it is complete in
 * itself. All others are of the older one (2024-11-05 to 2025-11-25) and belong to a session that
 * `initialize` began: on stdio the only one, over HTTP the one of the header Mcp-Session-Id.
 *
 * No function here waits, reads or writes anything. Functions may be called from several threads if
 * the server has a lock; one exchange is used by one thread at a time.
 */
#ifndef LC_MCP_DISPATCH_H
#define LC_MCP_DISPATCH_H

#include "base/limits.h"
#include "mcp/mcp.h"

#define LC_MCP_MESSAGE_BYTES_MAX (LC_ARGS_BYTES_MAX + 64u * 1024) /* One message of a client. */
#define LC_MCP_URIS_MAX 256 /* Resources that one listener subscribes to. */
#define LC_MCP_URI_BYTES_MAX 2048
#define LC_MCP_LISTENERS_MAX 64    /* Listeners of one session. */
#define LC_MCP_SESSIONS_MAX 1024   /* Sessions of the older generation over HTTP. */
#define LC_MCP_SESSION_IDLE_S 1800 /* A session that was not used for so long may be ended. */
#define LC_MCP_SESSION_ID_BYTES 33 /* 32 hexadecimal digits and a NUL. */

typedef struct lc_mcp_server lc_mcp_server;     /* A provider and all its connections. */
typedef struct lc_mcp_session lc_mcp_session;   /* State of the older generation. */
typedef struct lc_mcp_listener lc_mcp_listener; /* A client's subscriptions. */

/* A lock for transports with several threads; both NULL = there is one thread. */
typedef struct lc_mcp_lock {
    void (*enter)(void *ctx);
    void (*leave)(void *ctx);
    void *ctx;
} lc_mcp_lock;

/* `provider` must outlive the server; its lists are checked and copied. */
loci_status lc_mcp_server_new(lc_heap *heap, const lc_mcp_provider *provider, lc_mcp_lock lock,
                              lc_mcp_server **out, loci_error *err);
/* Every exchange has been answered, and every listener freed. NULL is fine. */
void lc_mcp_server_free(lc_mcp_server *server);

/* ---- Messages -------------------------------------------------------------------------------- */

typedef struct lc_mcp_answer {
    loci_str message;     /* One JSON object; none = nothing is to be sent (HTTP: 202). Borrowed. */
    int http_status;      /* For HTTP. */
    int code;             /* Of a JSON-RPC error, or 0. */
    bool is_tool_error;   /* A result with `isError`. */
    const char *session;  /* A session that was begun, for the header Mcp-Session-Id; or NULL. */
    const char *method;   /* Of the request: a known one, "other", or NULL; static. */
    loci_str tool;        /* The known tool that was called; lives as long as the server. */
    loci_str traceparent; /* Of the request; borrowed. */
} lc_mcp_answer;

#define LC_MCP_CLIENT_BYTES 224
/* Writes "name/version" of the client, for loci_call_options.client and the header Loci-Client:
 * printable ASCII, cut to the length that both accept. False, writing "", if the client did not say
 * its name. */
bool lc_mcp_write_client(const lc_mcp_exchange *exchange, char out[LC_MCP_CLIENT_BYTES]);

typedef struct lc_mcp_transport {
    /* Runs an operation, and calls lc_mcp_resume() once: before it returns or later, in any thread.
     * `args` is borrowed for the call. */
    void (*run)(void *ctx, lc_mcp_exchange *exchange, const char *operation, loci_str args);
    /* Sends one message, which is borrowed for the call. */
    void (*send)(void *ctx, const lc_mcp_exchange *exchange, loci_str message);
    /* Sends the last message of the exchange; `ctx` is not used after it. */
    void (*answer)(void *ctx, const lc_mcp_answer *answer);
    /* Instead of `answer`: the request becomes a stream, whose first message is `first`. The
     * listener is the transport's to free. NULL: the session keeps listeners, and all messages go
     * through `send`. */
    void (*listen)(void *ctx, lc_mcp_listener *listener, const lc_mcp_answer *first);
} lc_mcp_transport;

/* The head of an HTTP request. */
typedef struct lc_mcp_head {
    loci_str (*header)(const void *ctx, const char *name); /* ptr NULL when absent. */
    const void *ctx;
    const char *owner; /* Id of the caller's token. A session has one owner. */
} lc_mcp_head;

typedef struct lc_mcp_incoming {
    loci_str text;           /* Copied. */
    const lc_mcp_head *head; /* NULL = stdio. */
    lc_mcp_session *session; /* Of stdio; NULL for HTTP. */
    const lc_mcp_transport *transport;
    void *ctx;                  /* Of the transport, for this message. */
    const volatile int *cancel; /* Becomes non-zero when the client has gone; or NULL. */
} lc_mcp_incoming;

/* Takes one message of a client. `transport.answer` (or `listen`) is called exactly once, before
 * this returns or later. */
void lc_mcp_receive(lc_mcp_server *server, const lc_mcp_incoming *incoming);
/* The same for a message that was not read because it is too large. */
void lc_mcp_refuse_large(lc_mcp_server *server, const lc_mcp_incoming *incoming, size_t bytes_max);

/* Goes on with an exchange whose operation has ended. `answer` and `err` are borrowed. */
void lc_mcp_resume(lc_mcp_exchange *exchange, loci_status status, loci_str answer,
                   const loci_error *err);
void *lc_mcp_transport_ctx(const lc_mcp_exchange *exchange);
/* The properties of a request that are known before it is answered; without a message. */
lc_mcp_answer lc_mcp_describe(const lc_mcp_exchange *exchange);
/* For loci_call_options.cancel; lives until the exchange is answered. */
const volatile int *lc_mcp_cancel(const lc_mcp_exchange *exchange);

/* ---- Sessions -------------------------------------------------------------------------------- */

/* The one session of stdio. NULL when out of memory. */
lc_mcp_session *lc_mcp_session_new(lc_mcp_server *server);
/* Gives a session back; the last user frees it. NULL is fine. */
void lc_mcp_session_release(lc_mcp_session *session);

/* HTTP: the session of this id and owner for one more user, or NULL. */
lc_mcp_session *lc_mcp_session_find(lc_mcp_server *server, loci_str id, const char *owner);
/* Ends it: later requests do not find it. */
void lc_mcp_session_end(lc_mcp_session *session);
bool lc_mcp_session_has_ended(const lc_mcp_session *session);
/* The listener for notices of the older generation; lives as long as the session. */
lc_mcp_listener *lc_mcp_session_listener(lc_mcp_session *session);

/* stdio: whether any listener of the session waits for events of the log. */
bool lc_mcp_session_wants_events(lc_mcp_session *session);
/* As lc_mcp_listener_note() and _next(), for all listeners of the session. */
void lc_mcp_session_note(lc_mcp_session *session, loci_str event_type);
bool lc_mcp_session_next(lc_mcp_session *session, lc_buf *out);
/* Ends the listeners of the newer generation, one per call: appends the message that says so. False
 * when there are no more. */
bool lc_mcp_session_close_next(lc_mcp_session *session, lc_buf *out);

/* ---- Listeners ------------------------------------------------------------------------------- */

void lc_mcp_listener_free(lc_mcp_listener *listener); /* NULL is fine. */
/* `wake` is called, in any thread and under the lock, when there is something to send. It replaces
 * the one before: notices go to one stream only. */
void lc_mcp_listener_on_change(lc_mcp_listener *listener, void (*wake)(void *ctx), void *ctx);
/* Whether `ctx` was the last one given. */
bool lc_mcp_listener_tells(const lc_mcp_listener *listener, const void *ctx);
/* Undoes it, if so. */
void lc_mcp_listener_forget(lc_mcp_listener *listener, const void *ctx);
bool lc_mcp_listener_wants_events(lc_mcp_listener *listener);
/* An event of this type was written; none = events were missed, anything may have changed. */
void lc_mcp_listener_note(lc_mcp_listener *listener, loci_str event_type);
/* Appends the next notification to `out`; false when there is none. A resource that changes more
 * than once before the notification is sent is reported once, so a slow client costs no memory. */
bool lc_mcp_listener_next(lc_mcp_listener *listener, lc_buf *out);
/* Appends the message that ends a stream of the newer generation. */
void lc_mcp_listener_write_end(const lc_mcp_listener *listener, lc_buf *out);

#endif /* LC_MCP_DISPATCH_H */
