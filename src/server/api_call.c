/* api_call.c - one operation a request.
 *
 * A look-up runs at once, on the loop, and so does a read of a few rows (ops/submit.h): handing it
 * to a thread would cost more than it. Everything else is submitted, and the connection sleeps
 * until it is done; so writes share their commits, and no connection waits for another's.
 */
#include "server/api.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "ops/submit.h"
#include "ops/token_auth.h"
#include "server/api_args.h"
#include "server/served.h"

loci_status lc_api_check_scope(const lc_identity *who, const lc_op *op, loci_error *err)
{
    return lc_auth_need(who, lc_op_scopes(op), err);
}

loci_status lc_api_call_options(const lc_api_context *context, loci_call_options *out,
                                loci_error *err)
{
    lc_http_request *request = context->request;
    loci_str key = lc_http_header(request, "Idempotency-Key");
    int64_t left_us = lc_http_deadline_us(request) - lc_clock_monotonic_us();
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;

    options.principal = &context->who->principal;
    options.timeout_ms = left_us > 1000 ? left_us / 1000 : 1;
    options.cancel = lc_http_cancel(request);
    if (key.ptr != NULL) {
        if (memchr(key.ptr, '\0', key.len) != NULL) /* Would be cut, and be another key. */
            return lc_fail(err, LOCI_EINVAL, "Idempotency-Key holds a NUL");
        options.request_id = lc_arena_copy(lc_http_arena(request), key).ptr;
        if (options.request_id == NULL)
            return lc_fail_memory(err);
    }
    *out = options;
    return LOCI_OK;
}

void lc_api_done(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    lc_http_request *request = ctx;

    if (status == LOCI_OK)
        lc_served_json(request, loci_answer_json(answer));
    else
        lc_served_fail(request, err);
    loci_answer_free(answer);
}

static void run(const lc_api_context *context, const lc_op *op, loci_str args)
{
    loci_engine *engine = context->server->engine;
    lc_http_request *request = context->request;
    loci_answer *answer = NULL;
    loci_call_options options;
    loci_error err;
    loci_status status = lc_api_check_scope(context->who, op, &err);

    if (status == LOCI_OK)
        status = lc_api_call_options(context, &options, &err);
    if (status == LOCI_OK && lc_op_is_lookup(op, engine)) {
        status = loci_call(engine, op->name, args, &options, &answer, &err);
        lc_api_done(request, status, answer, &err);
        return;
    }
    if (status == LOCI_OK) {
        lc_http_defer(request);
        status = lc_submit_or_finish(engine, op->name, args, &options, lc_api_done, request, &err);
    }
    if (status != LOCI_OK)
        lc_served_fail(request, &err);
}

static void note_operation(const lc_api_context *context, const lc_op *op)
{
    lc_served *served = lc_http_state(context->request);

    if (served != NULL)
        served->operation = op->name;
}

void lc_api_call_named(const lc_api_context *context, loci_str operation)
{
    loci_str name, value;
    const lc_op *op;
    loci_error err;

    if (lc_op_load(operation, &op, &err) != LOCI_OK) {
        lc_served_fail(context->request, &err);
        return;
    }
    if (lc_http_query_at(context->request, 0, &name, &value)) {
        (void)lc_fail(&err, LOCI_EINVAL, "a call takes its arguments as the body, not as a query");
        lc_served_fail(context->request, &err);
        return;
    }
    note_operation(context, op);
    run(context, op, lc_http_body(context->request));
}

/* The query, as far as there may be one. */
static loci_status read_query(const lc_http_request *request,
                              lc_path_param out[LC_QUERY_PARAMS_MAX], size_t *out_count,
                              loci_error *err)
{
    loci_str name, value;

    *out_count = 0;
    while (lc_http_query_at(request, *out_count, &name, &value)) {
        if (*out_count == LC_QUERY_PARAMS_MAX)
            return lc_fail(err, LOCI_ELIMIT, "the query has more than %d parameters",
                           LC_QUERY_PARAMS_MAX);
        out[(*out_count)++] = (lc_path_param){.name = name, .value = value};
    }
    return LOCI_OK;
}

void lc_api_call_route(const lc_api_context *context, const lc_route_match *match)
{
    lc_path_param query[LC_QUERY_PARAMS_MAX];
    lc_api_given given = {
        .op = match->route->op,
        .path = match->params,
        .path_count = match->param_count,
        .query = query,
        .body = lc_http_body(context->request),
    };
    loci_str args = LC_STR_NONE;
    loci_error err;
    loci_status status = read_query(context->request, query, &given.query_count, &err);

    note_operation(context, given.op);
    if (status == LOCI_OK && given.body.len > 0 && lc_str_is(match->route->method, "GET"))
        status = lc_fail(&err, LOCI_EINVAL,
                         "GET takes no body; write parameters as ?name=value, or use "
                         "POST /v1/call/%s",
                         given.op->name);
    if (status == LOCI_OK)
        status = lc_api_args(lc_http_arena(context->request), &given, &args, &err);
    if (status == LOCI_OK)
        run(context, given.op, args);
    else
        lc_served_fail(context->request, &err);
}
