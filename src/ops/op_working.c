/* op_working.c - the working set of a session. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/check.h"
#include "ops/op.h"
#include "ops/session_arg.h"
#include "session/working.h"

#define KEY_PARAM                                                                                  \
    {                                                                                              \
        .name = "key", .kind = LC_PARAM_STRING,                                                    \
        .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,                  \
        .max = LC_KEY_BYTES_MAX, .help = "The name of the item"                                    \
    }

static const lc_result item_results[] = {
    {"key", LC_PARAM_STRING, "The name of the item"},
    {"value", LC_PARAM_ANY, "What it holds"},
    {"created_at", LC_PARAM_TIME, "When it was set"},
    {"expires_at", LC_PARAM_TIME, "When it will be gone, if before its session"},
    {NULL, 0, NULL},
};

static loci_status put_item(void *ctx, const lc_working_item *item, loci_error *err)
{
    lc_json_writer *out = ctx;

    (void)err; /* Writing to a buffer fails later. */
    lc_jw_object(out);
    lc_jw_member_str(out, "key", item->key);
    lc_jw_member_raw(out, "value", item->value);
    lc_jw_member_time(out, "created_at", item->created_at);
    if (item->expires_at != INT64_MAX)
        lc_jw_member_time(out, "expires_at", item->expires_at);
    lc_jw_end(out);
    return LOCI_OK;
}

/* ---- working.set ----------------------------------------------------------------------------- */

static const lc_param set_params[] = {
    KEY_PARAM,
    {.name = "value",
     .kind = LC_PARAM_ANY,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .help = "What it holds, any JSON"},
    {.name = "expires_at",
     .kind = LC_PARAM_TIME,
     .help = "When it will be gone; at the end of the session if absent"},
    {.name = NULL},
};

static loci_status prepare_set(lc_call *call, loci_error *err)
{
    lc_working_item *item = lc_arena_zalloc_array(call->arena, 1, sizeof *item);

    if (item == NULL)
        return lc_fail_memory(err);
    item->key = lc_call_str(call, "key");
    item->expires_at = lc_call_i64(call, "expires_at", INT64_MAX);
    call->input = item;
    return lc_call_canonical(call, "value", &item->value, err);
}

static loci_status run_set(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_working_item item = *(const lc_working_item *)call->input;
    lc_session_use use;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_working_check_room(tx, use.session.id, item.key, err);
    if (status == LOCI_OK)
        status = lc_session_begin(tx, &use, false, err);
    if (status == LOCI_OK)
        status = lc_working_set(tx, use.session.id, &item, err);
    item.created_at = tx->now_us;
    return status == LOCI_OK ? put_item(&call->out, &item, err) : status;
}

static const lc_op working_set = {
    .name = "working.set",
    .help = "Keep a value until the session ends",
    .params = set_params,
    .results = item_results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "PUT /v1/working/{key}",
    .mcp = "working set",
    .example = "{\"key\":\"draft\",\"value\":\"Dear Anna\"}",
    .prepare = prepare_set,
    .run = run_set,
};

/* ---- working.get, delete, list --------------------------------------------------------------- */

static const lc_param key_params[] = {KEY_PARAM, {.name = NULL}};

static loci_status load_item(lc_call *call, lc_tx *tx, lc_session *session, lc_working_item *out,
                             loci_error *err)
{
    loci_str key = lc_call_str(call, "key");
    bool found;
    loci_status status = lc_call_find_session(call, tx, session, &found, err);

    if (status != LOCI_OK)
        return status;
    if (!found)
        return lc_fail(err, LOCI_ENOTFOUND, "no item %.*s: no session is open", LC_STR_ARG(key));
    return lc_working_load(tx, session->id, key, call->arena, out, err);
}

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session session;
    lc_working_item item;
    loci_status status = load_item(call, tx, &session, &item, err);

    return status == LOCI_OK ? put_item(&call->out, &item, err) : status;
}

static const lc_op working_get = {
    .name = "working.get",
    .help = "One item of the working set",
    .params = key_params,
    .results = item_results,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/working/{key}",
    .mcp = "working get",
    .example = "{\"key\":\"draft\"}",
    .run = run_get,
};

static loci_status run_delete(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session session;
    lc_working_item item;
    loci_status status = load_item(call, tx, &session, &item, err);

    if (status == LOCI_OK)
        status = lc_working_delete(tx, session.id, item.key, err);
    return status == LOCI_OK ? put_item(&call->out, &item, err) : status;
}

static const lc_op working_delete = {
    .name = "working.delete",
    .help = "Take an item out of the working set",
    .params = key_params,
    .results = item_results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "DELETE /v1/working/{key}",
    .mcp = "working delete",
    .example = "{\"key\":\"draft\"}",
    .run = run_delete,
};

static const lc_param list_params[] = {{.name = NULL}};

static const lc_result list_results[] = {
    {"items", LC_PARAM_ANY, "As working.get answers them, the newest first"},
    {NULL, 0, NULL},
};

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session session;
    bool found;
    loci_status status = lc_call_find_session(call, tx, &session, &found, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "items");
    lc_jw_array(&call->out);
    if (found)
        status = lc_working_each(tx, session.id, put_item, &call->out, err);
    lc_jw_end(&call->out);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op working_list = {
    .name = "working.list",
    .help = "The working set of a session, the newest item first",
    .params = list_params,
    .results = list_results,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/working",
    .mcp = "working list",
    .example = "{}",
    .run = run_list,
};

extern const lc_op *const lc_ops_working[];
const lc_op *const lc_ops_working[] = {
    &working_set, &working_get, &working_delete, &working_list, NULL,
};
