/* mcp_private.h - shared by the files of dispatch.h; no other file includes it.
 *
 * The server's lock protects the data that several threads use: the sessions with their lists of
 * exchanges, and the listeners. An exchange itself belongs to the thread that works on it; only
 * `is_cancelled` is set by others.
 */
#ifndef LC_MCP_MCP_PRIVATE_H
#define LC_MCP_MCP_PRIVATE_H

#include "base/id.h"
#include "mcp/dispatch.h"

#define LC_MCP_PARSE_ERROR (-32700)
#define LC_MCP_INVALID_REQUEST (-32600)
#define LC_MCP_METHOD_NOT_FOUND (-32601)
#define LC_MCP_HEADER_MISMATCH (-32020)
#define LC_MCP_UNSUPPORTED_VERSION (-32022)

#define LC_MCP_META "io.modelcontextprotocol/"
#define LC_MCP_ERROR_BYTES_MAX (64u * 1024)

/* An argument of a tool that clients repeat as a header of the HTTP request. */
typedef struct lc_mcp_param_header {
    loci_str argument;
    const char *header; /* "Mcp-Param-Region" */
} lc_mcp_param_header;

/* A tool or a prompt of the provider's lists. */
typedef struct lc_mcp_entry {
    loci_str name;
    const lc_mcp_param_header *headers; /* Of a tool. */
    size_t header_count;
    const loci_str *required; /* Arguments of a prompt. */
    size_t required_count;
} lc_mcp_entry;

typedef struct lc_mcp_entries {
    const lc_mcp_entry *items;
    size_t count;
    loci_str result; /* {"tools":[…]}, ready to be sent; none = not offered. */
} lc_mcp_entries;

struct lc_mcp_server {
    lc_heap *heap;
    const lc_mcp_provider *provider;
    lc_mcp_lock lock;
    lc_arena arena; /* Of data that is made once. */
    lc_mcp_entries tools, prompts, templates;
    loci_str info;            /* {"name":…,"title":…,"version":…} */
    loci_str capabilities;    /* Members, without the braces. */
    lc_mcp_session *sessions; /* Over HTTP, the one that was used last first. */
    lc_mcp_session *oldest;
    size_t session_count;
    lc_mcp_listener *listeners;
};

static inline void lc_mcp_enter(const lc_mcp_server *server)
{
    if (server->lock.enter != NULL)
        server->lock.enter(server->lock.ctx);
}

static inline void lc_mcp_leave(const lc_mcp_server *server)
{
    if (server->lock.leave != NULL)
        server->lock.leave(server->lock.ctx);
}

/* ---- session.c ------------------------------------------------------------------------------- */

typedef struct lc_mcp_watched {
    loci_str uri;
    bool is_changed;
} lc_mcp_watched;

struct lc_mcp_listener {
    lc_mcp_server *server;
    lc_mcp_listener *previous, *next; /* All of the server. */
    lc_mcp_listener *sibling;         /* The next one of the session, on stdio. */
    loci_str id;                      /* Of the request, as JSON; none = of the older generation. */
    unsigned lists, changed_lists;    /* LC_MCP_... */
    lc_mcp_watched *watched;
    size_t watched_count, watched_room;
    void (*wake)(void *ctx);
    void *wake_ctx;
};

struct lc_mcp_session {
    lc_mcp_server *server;
    lc_mcp_session *newer, *older;    /* In the server's list. */
    char id[LC_MCP_SESSION_ID_BYTES]; /* "" on stdio. */
    lc_id owner;
    int64_t users; /* The server's list, the transport, exchanges and streams. */
    bool is_listed, has_ended;
    int64_t used_us;     /* Monotonic. */
    lc_arena arena;      /* Of the data from `initialize`. */
    const char *version; /* NULL before `initialize`. */
    loci_str client_name, client_version;
    const lc_json *capabilities; /* NULL before. */
    int level;                   /* Lowest level of messages that the client wants. */
    int64_t last_ask;
    lc_mcp_exchange *exchanges; /* Not answered yet. */
    lc_mcp_listener notices;    /* Of the older generation. */
    lc_mcp_listener *listeners; /* Of the newer one, on stdio. */
    size_t listener_count;
};

/* Over HTTP: begins a session, for one user beside the list. NULL when out of memory. */
lc_mcp_session *lc_mcp_session_begin(lc_mcp_server *server, const char *owner);
/* Under the lock. */
void lc_mcp_session_hold(lc_mcp_session *session);
/* Makes an exchange one of the session's; and not any more. */
void lc_mcp_session_add(lc_mcp_session *session, lc_mcp_exchange *exchange);
void lc_mcp_session_remove(lc_mcp_exchange *exchange);
/* Cancels the exchange, or ends the listener, of the request `id`. */
void lc_mcp_session_cancel(lc_mcp_session *session, loci_str id);
/* The exchange that waits for the answer `id`, which is taken from it; or NULL. */
lc_mcp_exchange *lc_mcp_session_take_ask(lc_mcp_session *session, loci_str id);

/* A listener for the request `id`. NULL when out of memory. */
lc_mcp_listener *lc_mcp_listener_new(lc_mcp_server *server, loci_str id, unsigned lists);
typedef enum lc_mcp_watch_result {
    LC_MCP_WATCHED,
    LC_MCP_TOO_MANY,
    LC_MCP_NO_MEMORY
} lc_mcp_watch_result;
lc_mcp_watch_result lc_mcp_listener_watch(lc_mcp_listener *listener, loci_str uri);
void lc_mcp_listener_unwatch(lc_mcp_listener *listener, loci_str uri);
void lc_mcp_listener_add_lists(lc_mcp_listener *listener, unsigned lists);

/* ---- exchange.c ------------------------------------------------------------------------------ */

typedef struct lc_mcp_method lc_mcp_method;

struct lc_mcp_exchange {
    lc_mcp_server *server;
    lc_mcp_session *session;          /* Or NULL. */
    lc_mcp_exchange *previous, *next; /* In the session. */
    bool is_listed;
    lc_arena arena;
    const lc_mcp_head *head; /* Only while the message is received. */
    const lc_mcp_transport *transport;
    void *transport_ctx;
    const lc_json *message;
    const lc_json *params; /* An object. */
    const lc_json *empty_object;
    loci_str id;                 /* As JSON; none = not a request. */
    const lc_mcp_method *method; /* NULL before it is known. */
    const char *method_name;     /* For the log. */
    loci_str tool;
    bool is_modern;
    lc_mcp_client client;
    loci_str progress_token;   /* As JSON; none = no progress is sent. */
    int level;                 /* Lowest level of messages that are sent; LC_MCP_SILENT = none. */
    const char *begun_session; /* For the answer. */
    volatile int is_cancelled;
    const volatile int *cancel; /* Of the transport, or `is_cancelled`. */
    lc_mcp_then_fn *then;       /* Of the operation in progress. */
    void *then_ctx;
    int64_t ask; /* Of a question to the client; 0 = none. Under the lock. */
    lc_mcp_reply_fn *reply;
    void *reply_ctx;
};

struct lc_mcp_method {
    const char *name;
    unsigned flags;
    int64_t ttl_ms; /* For clients that cache results. */
    void (*run)(lc_mcp_exchange *exchange);
};

#define LC_MCP_IS_LEGACY 1u
#define LC_MCP_IS_MODERN 2u
#define LC_MCP_IS_CACHEABLE 4u
#define LC_MCP_IS_RESOURCE_READ 8u

/* Levels of messages: 0 "debug" to 7 "emergency". */
#define LC_MCP_SILENT 8
#define LC_MCP_LEVEL_DEFAULT 1 /* "info" */
/* -1 when there is no such level. */
int lc_mcp_level_find(loci_str name);

/* Answers with an error of the protocol itself: `http_status` 0 = the usual one of `code`. */
void lc_mcp_refuse(lc_mcp_exchange *exchange, int http_status, int code, const char *message,
                   loci_str data);
/* Ends an exchange that is not answered, such as a notification: HTTP 202. */
void lc_mcp_end(lc_mcp_exchange *exchange);
/* Frees it without an answer. */
void lc_mcp_drop(lc_mcp_exchange *exchange);
/* JSON of an id or a token in the arena: a string or an integer; none for another kind. False when
 * out of memory. */
bool lc_mcp_scalar(lc_mcp_exchange *exchange, const lc_json *value, loci_str *out);

/* ---- lists.c --------------------------------------------------------------------------------- */

const lc_mcp_entry *lc_mcp_entry_find(const lc_mcp_entries *entries, loci_str name);

#endif /* LC_MCP_MCP_PRIVATE_H */
