/* parts.h - the parts of the daemon as they see each other. Only server/ includes this.
 *
 *     http.c --whole request--> server.c --path--> pages.c      /, /docs, /openapi.json, /livez,
 * /readyz
 *                                   |--auth.c----> metrics.c     /metrics
 *                                   (who calls)    events.c      /v1/events as a stream
 *                                                  api.c         calls, batches, REST routes
 *
 * Every part gets the request and answers it, once, now or later. None of them knows an operation
 * by name: what can be called, with which parameters, under which path, comes from ops/op.h.
 */
#ifndef LC_SERVER_PARTS_H
#define LC_SERVER_PARTS_H

#include "ops/token_auth.h"
#include "server/http.h"
#include "server/metrics.h"
#include "server/route.h"

#include <stdatomic.h>

typedef struct lc_server {
    lc_env *env;         /* The daemon's own: its memory, log and randomness. */
    loci_engine *engine; /* Used through loci.h and ops/ only. */
    lc_http *http;
    lc_metrics *metrics;
    struct lc_log_queue *log_queue; /* Or NULL. */
    const lc_routes *routes;
    bool has_peer_access; /* Our own uid on the Unix socket needs no token. */
    _Atomic bool is_draining;
    int64_t started_us; /* Domain time. */
} lc_server;

/* Who is calling. Texts live in the request's arena; the token_id of a caller on the Unix socket is
 * "peer". */
typedef struct lc_token_identity lc_identity;

/* What the log says about a request; in the request's arena, and its state. It names the route
 * ("/v1/facts/{id}"), never the path, the query or the body: users' texts stay out of logs. */
typedef struct lc_served {
    int64_t started_us;    /* Monotonic. */
    loci_str route;        /* A path of the route table, or a page; "-" before one is found. */
    lc_route_match match;  /* Set once the route is found. */
    const char *operation; /* Or NULL. */
    const char *token_id;  /* Or NULL before the caller is known. */
    const char *code;      /* Of the error it is answered with, or NULL. */
} lc_served;

/* server.c: answer the request; the first two note the error's code for the log. */
void lc_served_fail(lc_http_request *request, const loci_error *err);
/* 405 with the allowed methods. */
void lc_served_refuse_method(lc_http_request *request, const char *allow);
void lc_served_json(lc_http_request *request, loci_str json);

/* auth.c: bearer token or peer credentials. LOCI_EAUTH when there is none, or none that is good;
 * the message does not say which. */
loci_status lc_auth_check(lc_server *server, lc_http_request *request, lc_identity *out,
                          loci_error *err);
/* LOCI_EFORBIDDEN unless `who` has every scope of the mask. */
loci_status lc_auth_need(const lc_identity *who, unsigned scopes, loci_error *err);

/* Each answers `request`. */
void lc_api_handle(lc_server *server, lc_http_request *request, const lc_identity *who);
void lc_events_handle(lc_server *server, lc_http_request *request, const lc_identity *who);
void lc_metrics_handle(lc_server *server, lc_http_request *request, const lc_identity *who);
/* False when the path is not a page. */
bool lc_pages_handle(lc_http_request *request);
/* /livez: 200 as long as the process answers at all. */
void lc_pages_live(lc_http_request *request);
/* /readyz: 200 when the store answers and the daemon is not draining, else 503. */
void lc_pages_ready(lc_server *server, lc_http_request *request);

#endif /* LC_SERVER_PARTS_H */
