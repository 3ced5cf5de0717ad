/* api.c - one operation per request, by route or by name, or a batch of them.
 *
 * An in-memory operation runs at once on the loop's thread, and so does a read of a few rows
 * (ops/submit.h): handing it to another thread would cost more than the call. Everything else is
 * submitted, and the connection is suspended until it is done. So writes share their commits, and
 * no connection waits for another.
 */
#include "server/parts.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "ops/surface.h"
#include "server/api_args.h"
#include "server/lines.h"

#define LONG_US INT64_C(3600000000) /* For operations that cannot be jobs. */

/* The data that all calls of a request share. The request id, deadline and cancel flag are those of
 * the request; texts live in its arena. */
typedef struct api_caller {
    lc_server *server;
    lc_http_request *request;
    const lc_identity *who;
} api_caller;

/* A header as a C string of the request's arena; NULL if it is not there. */
static loci_status read_header(const api_caller *caller, const char *name, const char **out,
                               loci_error *err)
{
    loci_str value = lc_http_header(caller->request, name);

    *out = NULL;
    if (value.ptr == NULL)
        return LOCI_OK;
    /* As a C string it would end there, and be equal to others. */
    if (memchr(value.ptr, '\0', value.len) != NULL)
        return lc_fail(err, LOCI_EINVAL, "%s contains a NUL byte", name);
    *out = lc_arena_copy(lc_http_arena(caller->request), value).ptr;
    return *out != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status make_options(const api_caller *caller, loci_call_options *out, loci_error *err)
{
    lc_http_request *request = caller->request;
    int64_t left_us = lc_http_deadline_us(request) - lc_clock_monotonic_us();
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_status status = read_header(caller, "Idempotency-Key", &options.request_id, err);

    if (status == LOCI_OK)
        status = read_header(caller, "Loci-Client", &options.client, err);
    options.flags = LOCI_CALL_REMOTE;
    options.principal = &caller->who->principal;
    options.timeout_ms = left_us > 1000 ? left_us / 1000 : 1;
    options.cancel = lc_http_cancel(request);
    if (status == LOCI_OK)
        *out = options;
    return status;
}

/* ---- One call -------------------------------------------------------------------------------- */

static void finish_call(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    lc_http_request *request = ctx;

    if (status == LOCI_OK)
        lc_reply_json(request, loci_answer_json(answer), lc_answer_is_replayed(answer));
    else
        lc_reply_error(request, err);
    loci_answer_free(answer);
}

static void run(const api_caller *caller, const lc_op *op, loci_str args)
{
    loci_engine *engine = caller->server->engine;
    lc_http_request *request = caller->request;
    loci_call_options options;
    loci_error err;
    loci_status status = lc_auth_need(caller->who, lc_op_scopes(op), &err);

    if (status == LOCI_OK && (op->flags & LC_OP_LONG) != 0)
        lc_http_set_deadline_us(request, lc_clock_monotonic_us() + LONG_US);
    if (status == LOCI_OK)
        status = make_options(caller, &options, &err);
    if (status == LOCI_OK && (op->flags & LC_OP_MUTATES) != 0)
        status = lc_http_promise(request, &err); /* A commit is never answered with 503. */
    if (status == LOCI_OK && (op->flags & LC_OP_LINES) != 0) {
        lc_lines_run(caller->server, request, op, args, &options);
        return;
    }
    if (status == LOCI_OK) {
        lc_http_defer(request);
        status = lc_submit_or_finish(engine, op->name, args, &options, finish_call, request, &err);
    }
    if (status != LOCI_OK)
        lc_reply_error(request, &err);
}

/* POST /v1/call/{operation} */
static void call_named(const api_caller *caller, loci_str operation)
{
    lc_access_record *record = lc_http_state(caller->request);
    loci_str name, value;
    const lc_op *op;
    loci_error err;
    loci_status status = lc_op_load(operation, &op, &err);

    if (status == LOCI_OK)
        record->operation = op->name;
    if (status == LOCI_OK && lc_http_query_at(caller->request, 0, &name, &value))
        status = lc_fail(&err, LOCI_EINVAL,
                         "a call takes its arguments as the JSON body, not in the query");
    if (status == LOCI_OK)
        run(caller, op, lc_http_body(caller->request));
    else
        lc_reply_error(caller->request, &err);
}

static void call_route(const api_caller *caller, const lc_route_match *match)
{
    lc_access_record *record = lc_http_state(caller->request);
    lc_path_param query[LC_QUERY_PARAMS_MAX];
    lc_api_given given = {
        .op = match->route->op,
        .path = match->params,
        .path_count = match->param_count,
        .query = query,
        .body = lc_http_body(caller->request),
    };
    loci_str args = LC_STR_NONE;
    loci_status status = LOCI_OK;
    loci_str name, value;
    loci_error err;

    record->operation = given.op->name;
    while (status == LOCI_OK &&
           lc_http_query_at(caller->request, given.query_count, &name, &value)) {
        if (given.query_count == LC_QUERY_PARAMS_MAX)
            status = lc_fail(&err, LOCI_ELIMIT, "the query has more than %d parameters",
                             LC_QUERY_PARAMS_MAX);
        else
            query[given.query_count++] = (lc_path_param){.name = name, .value = value};
    }
    if (status == LOCI_OK && given.body.len > 0 && lc_str_is(match->route->method, "GET"))
        status = lc_fail(&err, LOCI_EINVAL,
                         "GET takes no body; pass parameters as ?name=value, or use "
                         "POST /v1/call/%s",
                         given.op->name);
    if (status == LOCI_OK)
        status = lc_api_args(lc_http_arena(caller->request), &given, &args, &err);
    if (status == LOCI_OK)
        run(caller, given.op, args);
    else
        lc_reply_error(caller->request, &err);
}

/* ---- POST /v1/batch: {"calls":[{"op":…,"args":{…},"at"?:…}]}, all or nothing ----------------- */

typedef struct batch {
    const api_caller *caller;
    lc_arena *arena;
    loci_request *requests;
    size_t count;
    bool has_write;
} batch;

/* The arguments as text, which loci_call() takes. */
static loci_status read_args(const batch *b, const lc_json *value, loci_str *out, loci_error *err)
{
    lc_json_writer w;
    loci_status status;
    lc_buf text;

    lc_buf_init(&text, b->arena->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_value(&w, value);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(b->arena, lc_buf_str(&text));
        status = out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

/* A caller that sets the time can rewrite history: this needs the scope admin, as on the command
 * line. */
static loci_status read_at(const batch *b, const lc_json *value, int64_t *out_us, loci_error *err)
{
    loci_status status = lc_auth_need(b->caller->who, LC_SCOPE_ADMIN, err);

    if (status == LOCI_OK &&
        (lc_json_kind_of(value) != LC_JSON_STRING || !lc_time_parse(lc_json_str(value), out_us)))
        status = lc_fail(err, LOCI_EINVAL, "at: expected a time such as 2026-01-31T12:00:00Z");
    return status;
}

static loci_status read_call(batch *b, const lc_json *call, loci_request *out, loci_error *err)
{
    loci_status status = LOCI_OK;
    const lc_op *op;

    *out = (loci_request){.at_us = LOCI_AT_CLOCK};
    if (lc_json_kind_of(call) != LC_JSON_OBJECT)
        return lc_fail(err, LOCI_EINVAL, "a call is an object {\"op\":…,\"args\":{…}}");
    for (const lc_json *member = lc_json_first(call); status == LOCI_OK && member != NULL;
         member = lc_json_next(member)) {
        loci_str name = lc_json_name(member);

        if (lc_str_is(name, "args")) {
            status = read_args(b, member, &out->args, err);
        } else if (lc_str_is(name, "at")) {
            status = read_at(b, member, &out->at_us, err);
        } else if (!lc_str_is(name, "op")) {
            status = lc_fail(err, LOCI_EINVAL, "a call has op, args and at, and nothing else");
        } else if (lc_json_kind_of(member) != LC_JSON_STRING) {
            status = lc_fail(err, LOCI_EINVAL, "op: expected a string such as \"fact.write\"");
        } else {
            status = lc_op_load(lc_json_str(member), &op, err);
            if (status == LOCI_OK)
                status = lc_auth_need(b->caller->who, lc_op_scopes(op), err);
            if (status == LOCI_OK) {
                out->operation = op->name;
                b->has_write |= (op->flags & LC_OP_MUTATES) != 0;
            }
        }
    }
    if (status == LOCI_OK && out->operation == NULL)
        status = lc_fail(err, LOCI_EINVAL, "a call needs \"op\"");
    return status;
}

static loci_status read_batch(batch *b, loci_error *err)
{
    loci_str text = lc_str_trim(lc_http_body(b->caller->request));
    const lc_json *body;
    const lc_json *calls = NULL;
    loci_status status = lc_json_parse(b->arena, text.len > 0 ? text : LC_STR("{}"), 0, &body, err);

    if (status != LOCI_OK)
        return status;
    if (lc_json_kind_of(body) == LC_JSON_OBJECT)
        calls = lc_json_member(body, LC_STR("calls"));
    if (calls == NULL || lc_json_kind_of(calls) != LC_JSON_ARRAY || lc_json_count(body) != 1)
        return lc_fail(
            err, LOCI_EINVAL,
            "the body must be {\"calls\":[{\"op\":…,\"args\":{…}}, …]} and nothing else");
    if (lc_json_count(calls) > LC_CALLS_PER_BATCH_MAX)
        return lc_fail(err, LOCI_ELIMIT, "the batch has %zu calls, the maximum is %d",
                       lc_json_count(calls), LC_CALLS_PER_BATCH_MAX);
    b->requests = lc_arena_zalloc_array(b->arena, lc_json_count(calls), sizeof *b->requests);
    if (b->requests == NULL)
        return lc_fail_memory(err);
    for (const lc_json *call = lc_json_first(calls); status == LOCI_OK && call != NULL;
         call = lc_json_next(call)) {
        status = read_call(b, call, &b->requests[b->count], err);
        status = lc_many_blame(status, b->count++, err);
    }
    return status;
}

/* Wraps the array of answers as {"answers":[…]}. */
static void finish_batch(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    lc_http_request *request = ctx;
    loci_error failure;
    lc_json_writer w;
    lc_buf body;

    if (status != LOCI_OK) {
        lc_reply_error(request, err);
        return;
    }
    lc_buf_init(&body, lc_http_arena(request)->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX + 64u);
    lc_jw_init(&w, &body);
    lc_jw_object(&w);
    lc_jw_member_raw(&w, "answers", loci_answer_json(answer));
    if (lc_answer_is_replayed(answer))
        lc_jw_member_bool(&w, "replayed", true);
    lc_jw_end(&w);
    if (lc_buf_status(&body, &failure) == LOCI_OK)
        lc_reply_json(request, lc_buf_str(&body), lc_answer_is_replayed(answer));
    else
        lc_reply_error(request, &failure);
    lc_buf_clear(&body);
    loci_answer_free(answer);
}

static void call_batch(const api_caller *caller)
{
    batch b = {.caller = caller, .arena = lc_http_arena(caller->request)};
    loci_call_options options;
    loci_error err;
    loci_status status = read_batch(&b, &err);

    if (status == LOCI_OK)
        status = make_options(caller, &options, &err);
    if (status == LOCI_OK && b.has_write)
        status = lc_http_promise(caller->request, &err);
    if (status == LOCI_OK) {
        lc_http_defer(caller->request);
        status = lc_many_submit(caller->server->engine,
                                &(lc_many){.requests = b.requests, .count = b.count}, &options,
                                finish_batch, caller->request, &err);
    }
    if (status != LOCI_OK)
        lc_reply_error(caller->request, &err);
}

loci_status lc_api_admit(const lc_route_match *match, const lc_identity *who, loci_error *err)
{
    const lc_op *op = match->route->op;
    loci_status status = LOCI_OK;

    if (match->route->kind == LC_ROUTE_BATCH)
        return LOCI_OK; /* Its calls are in the body. */
    if (match->route->kind == LC_ROUTE_CALL)
        status = lc_op_load(match->params[0].value, &op, err);
    return status == LOCI_OK ? lc_auth_need(who, lc_op_scopes(op), err) : status;
}

void lc_api_handle(lc_server *server, lc_http_request *request, const lc_identity *who)
{
    api_caller caller = {.server = server, .request = request, .who = who};
    const lc_access_record *record = lc_http_state(request);
    const lc_route_match *match = &record->match;

    if (match->route->kind == LC_ROUTE_CALL)
        call_named(&caller, match->params[0].value);
    else if (match->route->kind == LC_ROUTE_BATCH)
        call_batch(&caller);
    else
        call_route(&caller, match);
}
