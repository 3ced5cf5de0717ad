/* args.c - what a handler asks of its call: checked arguments, and whether to go on.
 *
 * Names are looked up one after the other. A handler asks for each argument once, in `prepare`, so
 * a table of places would cost more than it saves. A default of a scalar kind has no lc_value.json.
 */
#include "ops/op.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "ops/check.h"

#define CHUNK_BYTES_MAX (LC_ANSWER_BYTES_MAX + 64u)

static const lc_value *find_value(const lc_call *call, const char *name, lc_param_kind *out_kind)
{
    size_t index;
    const lc_param *param = lc_op_find_param(call->op, loci_str_of(name), &index);

    LC_ASSERT(param != NULL);
    *out_kind = param->kind;
    return &call->values[index];
}

const lc_value *lc_call_value(const lc_call *call, const char *name)
{
    lc_param_kind kind;

    return find_value(call, name, &kind);
}

bool lc_call_has(const lc_call *call, const char *name)
{
    return lc_call_value(call, name)->is_set;
}

loci_str lc_call_str(const lc_call *call, const char *name)
{
    lc_param_kind kind;
    const lc_value *value = find_value(call, name, &kind);

    LC_ASSERT(kind == LC_PARAM_STRING);
    return value->is_set ? value->as.str : LC_STR_NONE;
}

int64_t lc_call_i64(const lc_call *call, const char *name, int64_t absent)
{
    lc_param_kind kind;
    const lc_value *value = find_value(call, name, &kind);

    LC_ASSERT(kind == LC_PARAM_INT || kind == LC_PARAM_TIME);
    return value->is_set ? value->as.i64 : absent;
}

bool lc_call_bool(const lc_call *call, const char *name)
{
    lc_param_kind kind;
    const lc_value *value = find_value(call, name, &kind);

    LC_ASSERT(kind == LC_PARAM_BOOL);
    return value->is_set && value->as.boolean;
}

/* ---- On the way ------------------------------------------------------------------------------ */

bool lc_call_is_given_up(const lc_call *call)
{
    /* Set by another thread, perhaps of a host that knows no C11 atomics. */
    return call->cancel != NULL && __atomic_load_n(call->cancel, __ATOMIC_RELAXED) != 0;
}

static loci_status fail_given_up(const lc_call *call, loci_error *err)
{
    return lc_fail(err, LOCI_ECANCELLED, "%s was cancelled by its caller", call->op->name);
}

/* Hands `chunk` to the listener and frees it. */
static loci_status send_chunk(lc_call *call, lc_buf *chunk, loci_error *err)
{
    loci_status status = lc_buf_status(chunk, err);

    if (status == LOCI_OK && call->sink(call->sink_ctx, lc_buf_str(chunk)) != 0)
        status = fail_given_up(call, err);
    lc_buf_clear(chunk);
    return status;
}

loci_status lc_call_progress(lc_call *call, const char *what, int64_t done, int64_t total,
                             loci_error *err)
{
    lc_json_writer writer;
    lc_buf chunk;

    if (lc_call_is_given_up(call))
        return fail_given_up(call, err);
    if (call->sink == NULL)
        return LOCI_OK;

    lc_buf_init(&chunk, call->arena->heap, LOCI_MEM_REQUESTS, CHUNK_BYTES_MAX);
    lc_jw_init(&writer, &chunk);
    lc_jw_object(&writer);
    lc_jw_name(&writer, "progress");
    lc_jw_object(&writer);
    lc_jw_member_int(&writer, "done", done);
    lc_jw_member_int(&writer, "total", total);
    lc_jw_member_text(&writer, "what", what);
    lc_jw_end(&writer);
    lc_jw_end(&writer);
    return send_chunk(call, &chunk, err);
}

loci_status lc_call_line(lc_call *call, loci_str json, loci_error *err)
{
    lc_json_writer writer;
    lc_buf chunk;

    if (lc_call_is_given_up(call))
        return fail_given_up(call, err);
    if (call->sink == NULL)
        return LOCI_OK;

    lc_buf_init(&chunk, call->arena->heap, LOCI_MEM_REQUESTS, CHUNK_BYTES_MAX);
    lc_jw_init(&writer, &chunk);
    lc_jw_object(&writer);
    lc_jw_member_raw(&writer, "line", json);
    lc_jw_end(&writer);
    return send_chunk(call, &chunk, err);
}

loci_status lc_call_pause_point(const lc_call *call, loci_error *err)
{
    if (lc_call_is_given_up(call))
        return fail_given_up(call, err);
    /* 0 is before any process started: a call without a deadline. */
    if (call->deadline_us > 0 && lc_clock_monotonic_us() >= call->deadline_us)
        return lc_fail(err, LOCI_EDEADLINE, "%s did not end in the time it was given",
                       call->op->name);
    return LOCI_OK;
}
