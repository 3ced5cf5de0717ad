/* mcp.h - the Model Context Protocol: how its three parts work together.
 *
 *     transport                     dispatcher                   provider
 *     cli/mcp.c    (stdio)   --->   mcp/dispatch.c       --->    mcp/provider.c (loci itself)
 *     server/mcp.c (HTTP)           JSON-RPC, both protocol      tests/programs/mcp_fixture.c
 *            <--- messages ---      generations, sessions        (conformance fixtures)
 *
 * A transport hands in one message after the other and sends the messages of the dispatcher. The
 * dispatcher knows the protocol: versions, `_meta`, result types, error codes, subscriptions. A
 * provider knows the content: tools, resources and prompts; it sees no difference between the
 * generations. Nothing here blocks or starts threads. A provider reaches the engine only through
 * lc_mcp_run(), so that the same provider works inside a daemon (loci_submit), in a process that
 * opened the store (loci_call) and in one that forwards to a daemon.
 */
#ifndef LC_MCP_MCP_H
#define LC_MCP_MCP_H

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"

/* One request of a client, until it is answered exactly once: by lc_mcp_finish() or
 * lc_mcp_fail(). */
typedef struct lc_mcp_exchange lc_mcp_exchange;

/* The sender of a request, as far as the request names it; texts live as long as the exchange. */
typedef struct lc_mcp_client {
    loci_str name;        /* clientInfo.name, such as "claude-code"; may be empty. */
    loci_str version;     /* clientInfo.version; may be empty. */
    loci_str traceparent; /* W3C trace context from `_meta` or the HTTP header; may be empty. */
    const lc_json *capabilities; /* As declared, such as {"sampling":{}}; an object. */
    bool can_be_asked;           /* lc_mcp_ask() reaches it. */
} lc_mcp_client;

/* ---- Tools, resources and prompts of a provider ---------------------------------------------- */

typedef struct lc_mcp_provider {
    const char *name;      /* serverInfo: "loci" */
    const char *title;     /* "loci" */
    const char *version;   /* "0.1.0" */
    loci_str instructions; /* For the model: at most 2,000 bytes, the most important first. */
    /* JSON arrays that never change; made once. An empty text means that the provider has none. */
    loci_str tools;
    loci_str prompts;
    loci_str templates; /* Resource templates. */
    /* Each answers the exchange, at once or later. Names are known to be in the lists above;
     * `arguments` is an object, empty if the request had none. NULL = not offered. */
    void (*call_tool)(void *ctx, lc_mcp_exchange *exchange, loci_str name,
                      const lc_json *arguments);
    void (*list_resources)(void *ctx, lc_mcp_exchange *exchange, loci_str cursor);
    void (*read_resource)(void *ctx, lc_mcp_exchange *exchange, loci_str uri);
    void (*get_prompt)(void *ctx, lc_mcp_exchange *exchange, loci_str name,
                       const lc_json *arguments);
    /* `ref` and `argument` as in completion/complete. */
    void (*complete)(void *ctx, lc_mcp_exchange *exchange, const lc_json *ref,
                     const lc_json *argument);
    /* Whether an event of the log changes the content of the resource; with an empty `uri`: whether
     * it changes the list of resources. Any thread, at any time; must not wait. NULL = clients
     * cannot subscribe. */
    bool (*is_changed_by)(void *ctx, loci_str uri, loci_str event_type);
    void *ctx;
    /* The lists may change, and clients can ask to be told: by lc_mcp_announce(), and for resources
     * also by is_changed_by. */
    bool lists_change;
} lc_mcp_provider;

/* ---- Functions of an exchange that a provider may call --------------------------------------- */

lc_arena *lc_mcp_arena(lc_mcp_exchange *exchange); /* Freed with the exchange. */
const lc_mcp_client *lc_mcp_get_client(const lc_mcp_exchange *exchange);
/* The request's `params`; an object. */
const lc_json *lc_mcp_params(const lc_mcp_exchange *exchange);

/* Called with the answer of an operation (a JSON object) or, if `status` is not LOCI_OK, with its
 * error. Must answer the exchange or run another operation. */
typedef void lc_mcp_then_fn(void *ctx, lc_mcp_exchange *exchange, loci_status status,
                            loci_str answer, const loci_error *err);
/* Runs an operation of the table as the caller of the exchange. `args` is a JSON object, borrowed
 * for the call. `then` may be called before this returns, or later from another thread. */
void lc_mcp_run(lc_mcp_exchange *exchange, const char *operation, loci_str args,
                lc_mcp_then_fn *then, void *ctx);

/* Answers with a result: a JSON object with the members of the method, copied. The dispatcher adds
 * the members that the client's generation requires (resultType, ttlMs, cacheScope, serverInfo); a
 * result with a `resultType` of its own, such as "input_required", keeps it. */
void lc_mcp_finish(lc_mcp_exchange *exchange, loci_str result);
/* Answers with a protocol error; `data` is JSON or empty. Errors that the model can correct are
 * results with `isError` instead. */
void lc_mcp_fail(lc_mcp_exchange *exchange, int code, const char *message, loci_str data);
/* Sends a notification that belongs to this request; `params` is a JSON object. */
void lc_mcp_notify(lc_mcp_exchange *exchange, const char *method, loci_str params);
/* Sends notifications/progress if the client asked for it. `done` must grow from call to call. */
void lc_mcp_progress(lc_mcp_exchange *exchange, int64_t done, int64_t total);
/* Sends notifications/message if the client wants messages of this level ("info"). `data` is JSON.
 */
void lc_mcp_log(lc_mcp_exchange *exchange, const char *level, loci_str data);
/* Whether the client has cancelled the request: its answer will not be sent. */
bool lc_mcp_is_cancelled(const lc_mcp_exchange *exchange);

/* Called with the client's answer, borrowed for the call; NULL if it refused or has gone. */
typedef void lc_mcp_reply_fn(void *ctx, lc_mcp_exchange *exchange, const lc_json *result);
/* Sends a request of the server to the client, such as elicitation/create. Only clients of the
 * older generation can be asked (lc_mcp_client.can_be_asked); for the others, finish with
 * `resultType` "input_required" and `inputRequests`. */
void lc_mcp_ask(lc_mcp_exchange *exchange, const char *method, loci_str params,
                lc_mcp_reply_fn *then, void *ctx);

#define LC_MCP_TOOLS 1u
#define LC_MCP_PROMPTS 2u
#define LC_MCP_RESOURCES 4u
/* Notifies all clients that listen for it that these lists have changed (LC_MCP_...). */
void lc_mcp_announce(lc_mcp_exchange *exchange, unsigned lists);

#define LC_MCP_INVALID_PARAMS (-32602)
#define LC_MCP_INTERNAL_ERROR (-32603)
#define LC_MCP_RESOURCE_NOT_FOUND (-32002) /* Sent as the code of the client's generation. */
#define LC_MCP_MISSING_CAPABILITY (-32021) /* `data`: {"requiredCapabilities":{…}}. */

/* ---- loci as a provider (provider.c) --------------------------------------------------------- */

/* Defaults for arguments that a tool call leaves out. Texts are copied. */
typedef struct lc_mcp_defaults {
    loci_str user_id;    /* Empty = the operation's own default. */
    loci_str persona_id; /* The project that the client works in, see `loci where`; empty = none. */
} lc_mcp_defaults;

/* Made once, used by any number of exchanges at a time. `heap` owns the texts. */
loci_status lc_mcp_provider_new(lc_heap *heap, const lc_mcp_defaults *defaults,
                                lc_mcp_provider **out, loci_error *err);
void lc_mcp_provider_free(lc_mcp_provider *provider);

#endif /* LC_MCP_MCP_H */
