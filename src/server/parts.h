/* parts.h - the parts of the daemon as they see each other. Only server/ includes this.
 *
 *     http.c --request--> server.c --route--> pages.c     /, /start, /docs, /openapi.json, probes
 *                             |
 *                          auth.c: caller --> metrics.c   /metrics
 *                                             events.c    /v1/events as a stream
 *                                             signals.c   /v1/signals as a stream
 *                                             mcp.c       /mcp
 *                                             api.c       calls, batches, REST routes
 *
 * Each part gets the request and answers it exactly once, at once or later. No part knows an
 * operation by name: names, parameters and paths come from the table of operations (ops/op.h).
 */
#ifndef LC_SERVER_PARTS_H
#define LC_SERVER_PARTS_H

#include "ops/surface.h"
#include "server/http.h"
#include "server/metrics.h"
#include "server/route.h"
#include "server/store_thread.h"

#include <stdatomic.h>

typedef struct lc_server {
    lc_env *env;         /* Memory, log, clock and randomness of the daemon. */
    loci_engine *engine; /* Used through loci.h and ops/ only. */
    lc_http *http;
    lc_metrics *metrics;
    lc_store_thread *token_thread; /* Looks up tokens, and probes the store. */
    lc_store_thread *event_thread; /* Opens streams, and reads their events. */
    struct lc_event_pages *event_pages;
    struct lc_mcp_http *mcp;
    struct lc_log_queue *log_queue; /* Or NULL. */
    const lc_routes *routes;
    bool has_peer_access; /* Our own uid on the Unix socket needs no token. */
    _Atomic bool is_draining;
    int64_t started_us; /* Domain time. */
} lc_server;

/* The caller. Texts live in the request's arena; token_id is "peer" for a caller without a token on
 * the Unix socket. */
typedef struct lc_token_identity lc_identity;

/* The record of a request in the access log; lives in the request's arena and is its state. It
 * names the route ("/v1/facts/{id}"), never the path, the query or the body: users' texts are not
 * logged.
 */
typedef struct lc_access_record {
    int64_t started_us;     /* Monotonic. */
    loci_str route;         /* A path of the route table, or a page; "-" before one is found. */
    lc_route_match match;   /* Set once the route is found. */
    const char *operation;  /* Or NULL. */
    lc_identity who;        /* Set, with the next, once the caller is identified. */
    const char *token_id;   /* NULL before. */
    const char *code;       /* Of the error in the reply, or NULL. */
    loci_str traceparent;   /* Of `_meta`, which precedes that of the header; may be empty. */
    const char *mcp_method; /* NULL unless it is a message of MCP. */
    loci_str mcp_tool;      /* The tool that was called; may be empty. */
    int mcp_code;           /* Of the JSON-RPC error in the reply, or 0. */
} lc_access_record;

/* server.c: each answers the request; the first two note the error's code for the log. */
void lc_reply_error(lc_http_request *request, const loci_error *err);
/* 405 with the allowed methods. */
void lc_reply_method_not_allowed(lc_http_request *request, const char *allow);
void lc_reply_json(lc_http_request *request, loci_str json, bool is_replayed);

/* auth.c: identifies the caller by bearer token or peer credentials, without waiting. LOCI_EAUTH
 * when there are none or they are invalid; the message does not say which. LOCI_OK with a text in
 * `*out_bearer`: only lc_token_authenticate() can tell. */
loci_status lc_auth_check(lc_server *server, lc_http_request *request, lc_identity *out,
                          loci_str *out_bearer, loci_error *err);
/* LOCI_EFORBIDDEN unless `who` has every scope of the mask. */
loci_status lc_auth_need(const lc_identity *who, unsigned scopes, loci_error *err);

/* Each answers `request`. */
void lc_api_handle(lc_server *server, lc_http_request *request, const lc_identity *who);
/* Whether the caller may run the operation of the route, as far as that is known without the body.
 */
loci_status lc_api_admit(const lc_route_match *match, const lc_identity *who, loci_error *err);
void lc_events_handle(lc_server *server, lc_http_request *request, const lc_identity *who);
void lc_signals_handle(lc_server *server, lc_http_request *request, const lc_identity *who);
void lc_metrics_handle(lc_server *server, lc_http_request *request, const lc_identity *who);
/* False when the path is not a page. */
bool lc_pages_handle(lc_http_request *request);
/* /livez: 200 as long as the process answers at all. */
void lc_pages_live(lc_http_request *request);
/* /readyz: 200 when the store answers and the daemon is not draining, else 503. Asks the store, on
 * the token thread, unless `failure` is given; returns its status. */
loci_status lc_pages_ready(lc_server *server, lc_http_request *request, const loci_error *failure,
                           loci_error *err);

#endif /* LC_SERVER_PARTS_H */
