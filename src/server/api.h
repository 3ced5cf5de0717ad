/* api.h - how the parts of the API run what a route means. Only server/ includes this. */
#ifndef LC_SERVER_API_H
#define LC_SERVER_API_H

#include "server/parts.h"
#include "server/route.h"

/* What all calls of a request have in common. The request id, deadline and cancel flag are those of
 * the request; texts live in its arena. */
typedef struct lc_api_context {
    lc_server *server;
    lc_http_request *request;
    const lc_identity *who;
} lc_api_context;

/* LOCI_EFORBIDDEN unless the caller has the scope that `op` needs. */
loci_status lc_api_check_scope(const lc_identity *who, const lc_op *op, loci_error *err);
/* Options for a call of this request: who, until when, which Idempotency-Key. */
loci_status lc_api_call_options(const lc_api_context *context, loci_call_options *out,
                                loci_error *err);
/* Answers a request that was deferred; a loci_done_fn, `ctx` is the request. */
void lc_api_done(void *ctx, loci_status status, loci_answer *answer, const loci_error *err);

/* Each answers the request, now or later. */
void lc_api_call_named(const lc_api_context *context, loci_str operation);
void lc_api_call_route(const lc_api_context *context, const lc_route_match *match);
void lc_api_call_batch(const lc_api_context *context);

#endif /* LC_SERVER_API_H */
