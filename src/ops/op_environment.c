/* op_environment.c - what connectors say about the world around a user.
 *
 * Written by connectors, not by conversation: environment.set is not offered to models, and a token
 * whose statements are a model's or the web's may not call it. A signal is no activity in a
 * session: a sensor must not keep one open. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/check.h"
#include "ops/op.h"
#include "ops/session_arg.h"
#include "session/environment.h"

#define KEY_PARAM                                                                                  \
    {                                                                                              \
        .name = "key", .kind = LC_PARAM_STRING,                                                    \
        .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,                  \
        .max = LC_KEY_BYTES_MAX,                                                                   \
        .help = "Which signal: current_time, current_date, timezone, location, or any other"       \
    }

static const lc_result signal_results[] = {
    {"key", LC_PARAM_STRING, "Which signal"},
    {"value", LC_PARAM_ANY, "What it says"},
    {"persona_id", LC_PARAM_STRING, "Whose it is, if not everybody's"},
    {"observed_at", LC_PARAM_TIME, "When it was so"},
    {"recorded_at", LC_PARAM_TIME, "When loci learnt it"},
    {NULL, 0, NULL},
};

static void put_signal(lc_json_writer *out, const lc_signal *signal)
{
    lc_jw_object(out);
    lc_jw_member_str(out, "key", signal->key);
    lc_jw_member_raw(out, "value", signal->value);
    if (signal->persona_id.len > 0)
        lc_jw_member_str(out, "persona_id", signal->persona_id);
    lc_jw_member_time(out, "observed_at", signal->observed_at);
    lc_jw_member_time(out, "recorded_at", signal->recorded_at);
    lc_jw_end(out);
}

/* ---- environment.set ------------------------------------------------------------------------- */

static const lc_param set_params[] = {
    KEY_PARAM,
    {.name = "value",
     .kind = LC_PARAM_ANY,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .help = "What it says, any JSON"},
    {.name = "observed_at",
     .kind = LC_PARAM_TIME,
     .help = "When it was so; the time of the call if absent"},
    {.name = NULL},
};

static const lc_result set_results[] = {
    {"key", LC_PARAM_STRING, "Which signal"},
    {"outcome", LC_PARAM_STRING, "set, or late: a newer signal stands and nothing changed"},
    {NULL, 0, NULL},
};

static loci_status prepare_set(lc_call *call, loci_error *err)
{
    lc_signal *signal = lc_arena_zalloc_array(call->arena, 1, sizeof *signal);

    if (lc_str_is(call->trust_max, "model") || lc_str_is(call->trust_max, "web"))
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "environment.set is for connectors; this caller speaks as \"%.*s\"",
                       LC_STR_ARG(call->trust_max));
    if (signal == NULL)
        return lc_fail_memory(err);
    signal->key = lc_call_str(call, "key");
    signal->persona_id = call->persona_id;
    signal->observed_at = lc_call_i64(call, "observed_at", LOCI_AT_CLOCK);
    call->input = signal;
    return lc_call_canonical(call, "value", &signal->value, err);
}

static loci_status run_set(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_signal *signal = call->input;
    lc_session_use use;
    bool is_named = lc_call_has(call, "session_id");
    bool is_late = false;
    loci_status status = LOCI_OK;

    if (is_named)
        status = lc_call_choose_session(call, tx, &use, err);
    if (status == LOCI_OK && is_named)
        status = lc_session_begin(tx, &use, false, err);
    if (status == LOCI_OK)
        status = lc_environment_set(tx, signal, &is_late, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "key", signal->key);
    lc_jw_member_text(&call->out, "outcome", is_late ? "late" : "set");
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op environment_set = {
    .name = "environment.set",
    .help = "Tell what a connector sees; a newer signal replaces the older one of its key",
    .params = set_params,
    .results = set_results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "PUT /v1/environment/{key}",
    .example = "{\"key\":\"location\",\"value\":\"Oslo\"}",
    .prepare = prepare_set,
    .run = run_set,
};

/* ---- environment.get and list ---------------------------------------------------------------- */

static const lc_param get_params[] = {KEY_PARAM, {.name = NULL}};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_signal signal;
    loci_status status = lc_environment_load(tx, call->persona_id, lc_call_str(call, "key"),
                                             call->arena, &signal, err);

    if (status == LOCI_OK)
        put_signal(&call->out, &signal);
    return status;
}

static const lc_op environment_get = {
    .name = "environment.get",
    .help = "One signal; current_time and current_date are the clock's unless set",
    .params = get_params,
    .results = signal_results,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/environment/{key}",
    .mcp = "environment get",
    .example = "{\"key\":\"current_time\"}",
    .run = run_get,
};

static const lc_param list_params[] = {{.name = NULL}};

static const lc_result list_results[] = {
    {"signals", LC_PARAM_ANY, "As environment.get answers them, by key; current_time among them"},
    {NULL, 0, NULL},
};

typedef struct listing {
    lc_json_writer *out;
    bool has_time;
    lc_buf key; /* The last one: own signals come first and hide everybody's of the same key. */
} listing;

static loci_status list_signal(void *ctx, const lc_signal *signal, loci_error *err)
{
    listing *l = ctx;

    if (l->key.len > 0 && lc_str_eq(lc_buf_str(&l->key), signal->key))
        return LOCI_OK;
    lc_buf_reset(&l->key);
    lc_buf_append(&l->key, signal->key);
    l->has_time = l->has_time || lc_str_is(signal->key, "current_time");
    put_signal(l->out, signal);
    return lc_buf_status(&l->key, err);
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    listing l = {.out = &call->out};
    lc_signal now;
    loci_status status;

    lc_buf_init(&l.key, call->arena->heap, LOCI_MEM_REQUESTS, LC_KEY_BYTES_MAX);
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "signals");
    lc_jw_array(&call->out);
    status = lc_environment_each(tx, call->persona_id, list_signal, &l, err);
    if (status == LOCI_OK && !l.has_time) {
        status = lc_environment_load(tx, call->persona_id, LC_STR("current_time"), call->arena,
                                     &now, err);
        if (status == LOCI_OK)
            put_signal(&call->out, &now);
    }
    lc_jw_end(&call->out);
    lc_jw_end(&call->out);
    lc_buf_clear(&l.key);
    return status;
}

static const lc_op environment_list = {
    .name = "environment.list",
    .help = "Every signal about the world around the user",
    .params = list_params,
    .results = list_results,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/environment",
    .mcp = "environment list",
    .example = "{}",
    .run = run_list,
};

extern const lc_op *const lc_ops_environment[];
const lc_op *const lc_ops_environment[] = {
    &environment_set,
    &environment_get,
    &environment_list,
    NULL,
};
