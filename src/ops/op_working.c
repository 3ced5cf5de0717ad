/* op_working.c - the working set of a session. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/call_scope.h"
#include "ops/check.h"
#include "ops/op.h"
#include "ops/page.h"
#include "session/working.h"

typedef struct key_input {
    loci_str key;
} key_input;

static const lc_record item_record = {.name = "WorkingItem", .row = &lc_working_row};

static loci_status put_item(void *ctx, const lc_working_item *item, loci_error *err)
{
    lc_json_writer *out = ctx;

    (void)err; /* Writing to a buffer fails later. */
    lc_jw_object(out);
    lc_row_put(&lc_working_row, item, out);
    lc_jw_end(out);
    return LOCI_OK;
}

/* The answer of a change names its session: forgetting the session empties the stored answer. */
#define SESSION_RESULT                                                                             \
    {                                                                                              \
        "session_id", LC_PARAM_STRING, "Id of the session (ses_...)"                               \
    }

static const lc_record set_answer = {
    .base = &item_record,
    .members = (const lc_result[]){SESSION_RESULT, LC_WARNINGS_RESULT, {NULL}},
};

static const lc_record delete_answer = {
    .base = &item_record,
    .members = (const lc_result[]){SESSION_RESULT, {NULL}},
};

static void put_changed(lc_json_writer *out, const lc_working_item *item, loci_str session_id)
{
    lc_jw_object(out);
    lc_row_put(&lc_working_row, item, out);
    lc_jw_member_str(out, "session_id", session_id);
    lc_jw_end(out);
}

/* ---- working.set ----------------------------------------------------------------------------- */

typedef struct set_input {
    lc_working_item item;
} set_input;

static const lc_param set_params[] = {
    LC_KEY_PARAM(set_input, item.key, LC_PARAM_REQUIRED | LC_PARAM_SAID, "Name of the item"),
    {LC_ARG_JSON("value", set_input, item.value),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID, .max = LC_VALUE_BYTES_MAX,
     .help = "Value of the item, any JSON"},
    {LC_ARG_TIME("expires_at", set_input, item.expires_at),
     .help = "Time at which the item expires (default: the end of the session)"},
    {.name = NULL},
};

static loci_status run_set(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_working_item item = ((const set_input *)call->input)->item;
    lc_session_use use;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (item.expires_at == LC_ABSENT)
        item.expires_at = INT64_MAX;
    if (status == LOCI_OK)
        status = lc_working_check_room(tx, use.session.id, item.key, err);
    if (status == LOCI_OK)
        status = lc_session_begin(tx, &use, false, err);
    if (status == LOCI_OK)
        status = lc_working_set(tx, use.session.id, &item, err);
    item.created_at = tx->now_us;
    if (status == LOCI_OK)
        put_changed(&call->out, &item, use.session.id);
    return status;
}

static const lc_op working_set = {
    .name = "working.set",
    .help = "Store a value in the working set until the session ends",
    .params = set_params,
    .input_bytes = sizeof(set_input),
    .answer = &set_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "PUT /v1/sessions/{session_id}/working/{key}",
    .look = {.sentence = "set {key} = {value}[, expires {expires_at}]"},
    .example = "{\"key\":\"draft\",\"value\":\"Dear Anna\"}",
    .run = run_set,
};

/* ---- working.get, delete, list --------------------------------------------------------------- */

static const lc_param key_params[] = {
    LC_KEY_PARAM(key_input, key, LC_PARAM_REQUIRED, "Name of the item"),
    {.name = NULL},
};

static loci_status load_item(lc_call *call, lc_tx *tx, lc_session *session, lc_working_item *out,
                             loci_error *err)
{
    loci_str key = ((const key_input *)call->input)->key;
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
    .help = "Return one item of the working set",
    .params = key_params,
    .input_bytes = sizeof(key_input),
    .answer = &item_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions/{session_id}/working/{key}",
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
    if (status == LOCI_OK)
        put_changed(&call->out, &item, session.id);
    return status;
}

static const lc_op working_delete = {
    .name = "working.delete",
    .help = "Delete an item of the working set",
    .params = key_params,
    .input_bytes = sizeof(key_input),
    .answer = &delete_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION | LC_OP_DESTROYS,
    .http = "DELETE /v1/sessions/{session_id}/working/{key}",
    .look = {.sentence = "deleted {key}"},
    .example = "{\"key\":\"draft\"}",
    .run = run_delete,
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"items", 0, "Items, newest first", LC_RESULT_LIST, .record = &item_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

/* Newest first, then by key; a session has at most LC_WORKING_ITEMS_MAX items, so the pages before
 * are read again and skipped. */
typedef struct item_position {
    int64_t created_at;
    loci_str key;
} item_position;

static const lc_position by_age = {
    "is", {offsetof(item_position, created_at), offsetof(item_position, key)}};

typedef struct listing {
    lc_page page;
    item_position at;
} listing;

static loci_status list_item(void *ctx, const lc_working_item *item, loci_error *err)
{
    listing *l = ctx;
    bool is_before = item->created_at > l->at.created_at ||
                     (item->created_at == l->at.created_at &&
                      lc_str_compare(item->key, l->at.key) <= 0);

    if (is_before || !lc_page_takes(&l->page))
        return LOCI_OK;
    l->at = (item_position){item->created_at, lc_arena_copy(l->page.call->arena, item->key)};
    return l->at.key.ptr != NULL ? put_item(&l->page.call->out, item, err) : lc_fail_memory(err);
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_page_args *in = call->input;
    listing l = {.page = {call, &by_age, &l.at}, .at = {INT64_MAX, LC_STR("")}};
    lc_session session;
    bool found;
    loci_status status = lc_page_begin(&l.page, in, err);

    if (status == LOCI_OK)
        status = lc_call_find_session(call, tx, &session, &found, err);
    if (status != LOCI_OK)
        return status;
    lc_page_open(&l.page, "items");
    if (found)
        status = lc_working_each(tx, session.id, list_item, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op working_list = {
    .name = "working.list",
    .help = "List the working set of a session, newest item first",
    .params = lc_page_params,
    .input_bytes = sizeof(lc_page_args),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions/{session_id}/working",
    .look = {.columns = "key value created_at expires_at", .id = "key"},
    .example = "{}",
    .run = run_list,
};

extern const lc_op *const lc_ops_working[];
const lc_op *const lc_ops_working[] = {
    &working_set, &working_get, &working_delete, &working_list, NULL,
};
