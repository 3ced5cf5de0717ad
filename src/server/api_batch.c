/* api_batch.c - POST /v1/batch: {"calls":[{"op":…,"args":{…},"at"?:…}]}, all or nothing. */
#include "server/api.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time.h"
#include "ops/many.h"
#include "server/served.h"

typedef struct batch {
    const lc_api_context *context;
    lc_arena *arena;
    loci_request *requests;
    size_t count;
} batch;

static loci_status read_args(batch *b, const lc_json *value, loci_str *out, loci_error *err)
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

/* Whoever may set the clock can write history: only an admin, as on the command line. */
static loci_status read_at(batch *b, const lc_json *value, int64_t *out_us, loci_error *err)
{
    loci_status status = lc_auth_need(b->context->who, LC_SCOPE_ADMIN, err);

    if (status != LOCI_OK)
        return status;
    if (lc_json_kind_of(value) != LC_JSON_STRING || !lc_time_parse(lc_json_str(value), out_us))
        return lc_fail(err, LOCI_EINVAL, "at: expected a time such as 2026-01-31T12:00:00Z");
    return LOCI_OK;
}

static loci_status read_op(batch *b, const lc_json *value, loci_request *out, loci_error *err)
{
    const lc_op *op;
    loci_status status;

    if (lc_json_kind_of(value) != LC_JSON_STRING)
        return lc_fail(err, LOCI_EINVAL, "op: expected a string such as \"fact.write\"");
    status = lc_op_load(lc_json_str(value), &op, err);
    if (status == LOCI_OK)
        status = lc_api_check_scope(b->context->who, op, err);
    if (status == LOCI_OK)
        out->operation = op->name;
    return status;
}

static loci_status read_member(batch *b, const lc_json *member, loci_request *out, loci_error *err)
{
    loci_str name = lc_json_name(member);

    if (lc_str_is(name, "op"))
        return read_op(b, member, out, err);
    if (lc_str_is(name, "args"))
        return read_args(b, member, &out->args, err);
    if (lc_str_is(name, "at"))
        return read_at(b, member, &out->at_us, err);
    return lc_fail(err, LOCI_EINVAL, "a call has op, args and at, and nothing else");
}

static loci_status read_call(batch *b, const lc_json *call, loci_request *out, loci_error *err)
{
    loci_status status = LOCI_OK;

    *out = (loci_request){.at_us = LOCI_AT_CLOCK};
    if (lc_json_kind_of(call) != LC_JSON_OBJECT)
        return lc_fail(err, LOCI_EINVAL, "a call is an object {\"op\":…,\"args\":{…}}");
    for (const lc_json *member = lc_json_first(call); status == LOCI_OK && member != NULL;
         member = lc_json_next(member))
        status = read_member(b, member, out, err);
    if (status == LOCI_OK && out->operation == NULL)
        status = lc_fail(err, LOCI_EINVAL, "a call needs \"op\"");
    return status;
}

static loci_status read_calls(batch *b, const lc_json *calls, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (lc_json_count(calls) > LC_CALLS_PER_BATCH_MAX)
        return lc_fail(err, LOCI_ELIMIT, "a batch of %zu calls; at most %d are allowed",
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

static loci_status read_batch(batch *b, loci_error *err)
{
    loci_str text = lc_str_trim(lc_http_body(b->context->request));
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
    return read_calls(b, calls, err);
}

/* {"answers":[…]} around the array of answers. */
static void finish(void *ctx, loci_status status, loci_answer *answer, const loci_error *err)
{
    lc_http_request *request = ctx;
    loci_error failure;
    lc_json_writer w;
    lc_buf body;

    if (status != LOCI_OK) {
        lc_served_fail(request, err);
        return;
    }
    lc_buf_init(&body, lc_http_arena(request)->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX + 64u);
    lc_jw_init(&w, &body);
    lc_jw_object(&w);
    lc_jw_member_raw(&w, "answers", loci_answer_json(answer));
    lc_jw_end(&w);
    if (lc_buf_status(&body, &failure) == LOCI_OK)
        lc_served_json(request, lc_buf_str(&body));
    else
        lc_served_fail(request, &failure);
    lc_buf_clear(&body);
    loci_answer_free(answer);
}

void lc_api_call_batch(const lc_api_context *context)
{
    batch b = {.context = context, .arena = lc_http_arena(context->request)};
    loci_call_options options;
    loci_error err;
    loci_status status = read_batch(&b, &err);

    if (status == LOCI_OK)
        status = lc_api_call_options(context, &options, &err);
    if (status == LOCI_OK) {
        lc_http_defer(context->request);
        status = lc_many_submit(context->server->engine,
                                &(lc_many){.requests = b.requests, .count = b.count}, &options,
                                finish, context->request, &err);
    }
    if (status != LOCI_OK)
        lc_served_fail(context->request, &err);
}
