/* parts.h - the parts of the daemon as they see each other. Only server/ includes this.
 *
 *     http.c --whole request--> server.c --path--> pages.c      /, /docs, /openapi.json
 *                                   |              health        /livez, /readyz
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

#include <stdatomic.h>

typedef struct lc_server {
    lc_env *env;         /* The daemon's own: its memory, log and randomness. */
    loci_engine *engine; /* Used through loci.h and ops/ only. */
    lc_http *http;
    lc_metrics *metrics;
    struct lc_log_queue *log_queue; /* Or NULL. */
    const struct lc_routes *routes; /* What the paths mean: server/route.h. */
    bool has_peer_access;           /* Our own uid on the Unix socket needs no token. */
    _Atomic bool is_draining;
    int64_t started_us; /* Domain time. */
} lc_server;

/* Who is calling. Texts live in the request's arena; the token_id of a caller on the Unix socket is
 * "peer". */
typedef struct lc_token_identity lc_identity;

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
/* False when the path is none of its pages; they need no credentials and hold no data. */
bool lc_pages_handle(lc_server *server, lc_http_request *request);

#endif /* LC_SERVER_PARTS_H */
