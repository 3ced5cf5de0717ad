/* op_environment.c - signals from connectors about the world around a user.
 *
 * Written by connectors, not by conversation: environment.set is not offered to models, and a token
 * whose trust is capped at model or web may not call it. A signal is not activity in a session: a
 * sensor must not keep a session open. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/call_scope.h"
#include "ops/check.h"
#include "ops/op.h"
#include "ops/page.h"
#include "session/environment.h"

#define KEY_HELP "Signal: current_time, current_date, timezone, location, or any other name"

static const lc_record signal_record = {.name = "Signal", .row = &lc_signal_row};

static void put_signal(lc_json_writer *out, const lc_signal *signal)
{
    lc_jw_object(out);
    lc_row_put(&lc_signal_row, signal, out);
    lc_jw_end(out);
}

/* ---- environment.set ------------------------------------------------------------------------- */

typedef struct set_input {
    lc_signal signal;
} set_input;

static const lc_param set_params[] = {
    LC_KEY_PARAM(set_input, signal.key, LC_PARAM_REQUIRED | LC_PARAM_SAID, KEY_HELP),
    {LC_ARG_JSON("value", set_input, signal.value),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID, .max = LC_VALUE_BYTES_MAX,
     .help = "Value of the signal, any JSON"},
    {LC_ARG_TIME("observed_at", set_input, signal.observed_at),
     .help = "Time of the observation (default: the time of the call)"},
    {.name = NULL},
};

static const lc_record set_answer = {
    .members =
        (const lc_result[]){
            {"key", LC_PARAM_STRING, "Name of the signal"},
            {"outcome", LC_PARAM_STRING,
             "Effect of the call; late: a newer signal exists, nothing changed",
             .choices = "set|late"},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status prepare_set(lc_call *call, loci_error *err)
{
    if (lc_str_is(call->trust_max, "model") || lc_str_is(call->trust_max, "web"))
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "environment.set is for connectors; the caller's trust is \"%.*s\"",
                       LC_STR_ARG(call->trust_max));
    ((set_input *)call->input)->signal.persona_id = call->persona_id;
    return LOCI_OK;
}

static loci_status run_set(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_signal *signal = &((const set_input *)call->input)->signal;
    lc_session_use use;
    bool is_named = call->implied.session_id.ptr != NULL;
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
    .help = "Record a signal of a connector; it replaces an older signal of its key",
    .params = set_params,
    .input_bytes = sizeof(set_input),
    .answer = &set_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "PUT /v1/environment/{key}",
    .look = {.sentence = "{outcome late=kept the newer value of} {key}[ = {value}]"},
    .example = "{\"key\":\"location\",\"value\":\"Oslo\"}",
    .prepare = prepare_set,
    .run = run_set,
};

/* ---- environment.get and list ---------------------------------------------------------------- */

typedef struct get_input {
    loci_str key;
} get_input;

static const lc_param get_params[] = {
    LC_KEY_PARAM(get_input, key, LC_PARAM_REQUIRED, KEY_HELP),
    {.name = NULL},
};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    const get_input *in = call->input;
    lc_signal signal;
    loci_status status = lc_environment_load(tx, call->persona_id, in->key, call->arena, &signal,
                                             err);

    if (status == LOCI_OK)
        put_signal(&call->out, &signal);
    return status;
}

static const lc_op environment_get = {
    .name = "environment.get",
    .help = "Return one signal; current_time and current_date default to the clock",
    .params = get_params,
    .input_bytes = sizeof(get_input),
    .answer = &signal_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/environment/{key}",
    .example = "{\"key\":\"current_time\"}",
    .run = run_get,
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"signals", 0, "Signals by key; current_time, if not set, is the last one",
             LC_RESULT_LIST, .record = &signal_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

/* A user has few signals, so the pages before are read again and skipped. */
typedef struct listing {
    lc_page page;
    lc_name_position at;
    bool has_time;
} listing;

static loci_status list_signal(void *ctx, const lc_signal *signal, loci_error *err)
{
    listing *l = ctx;

    l->has_time = l->has_time || lc_str_is(signal->key, "current_time");
    /* A persona's own signals come first and hide those without a persona. */
    if (lc_str_compare(signal->key, l->at.name) <= 0 || !lc_page_takes(&l->page))
        return LOCI_OK;
    put_signal(&l->page.call->out, signal);
    l->at.name = lc_arena_copy(l->page.call->arena, signal->key);
    return l->at.name.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_page_args *in = call->input;
    listing l = {.page = {call, &lc_position_by_name, &l.at}, .at = {LC_STR("")}};
    lc_signal now;
    loci_status status = lc_page_begin(&l.page, in, err);

    if (status != LOCI_OK)
        return status;
    lc_page_open(&l.page, "signals");
    status = lc_environment_each(tx, call->persona_id, list_signal, &l, err);
    if (status == LOCI_OK && !l.has_time && lc_page_takes(&l.page)) {
        status = lc_environment_load(tx, call->persona_id, LC_STR("current_time"), call->arena,
                                     &now, err);
        if (status == LOCI_OK)
            put_signal(&call->out, &now);
    }
    lc_page_close(&l.page);
    return status;
}

static const lc_op environment_list = {
    .name = "environment.list",
    .help = "List the signals about the world around the user",
    .params = lc_page_params,
    .input_bytes = sizeof(lc_page_args),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/environment",
    .look = {.columns = "key value observed_at"},
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
