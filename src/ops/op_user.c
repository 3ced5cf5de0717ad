/* op_user.c - user.list: the users of a tenant, for its administrators. */
#include "base/error.h"
#include "base/str.h"
#include "ops/page.h"
#include "store/event.h"

static const lc_record user_record = {
    .name = "User",
    .members =
        (const lc_result[]){
            {"user_id", LC_PARAM_STRING, "Id of the user"},
            {"seq", LC_PARAM_INT, "Number of events in the log of the user"},
            {"last_event_at", LC_PARAM_TIME, "Time of the last event"},
            {NULL},
        },
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"users", 0, "Users of the tenant, in the order of their ids", LC_RESULT_LIST,
             .record = &user_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct listing {
    lc_page page;
    lc_name_position last;
} listing;

/* Users of the tenants behind the caller's end the walk. */
static loci_status put_user(void *ctx, const lc_user_head *user, loci_error *err)
{
    listing *l = ctx;
    lc_call *call = l->page.call;

    if (!lc_str_eq(user->tenant_id, call->tenant_id) || user->user_id.len == 0 ||
        !lc_page_takes(&l->page))
        return LOCI_OK;
    l->last.name = lc_arena_copy(call->arena, user->user_id);
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "user_id", user->user_id);
    lc_jw_member_int(&call->out, "seq", user->head.seq);
    lc_jw_member_time(&call->out, "last_event_at", user->head.recorded_at);
    lc_jw_end(&call->out);
    return l->last.name.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const lc_page_args *in = call->input;
    listing l = {.page = {call, &lc_position_by_name, &l.last}, .last = {LC_STR("")}};
    loci_status status = lc_page_begin(&l.page, in, err);

    if (status != LOCI_OK)
        return status;
    lc_page_open(&l.page, "users");
    status = lc_user_each(tx, call->tenant_id, l.last.name, in->limit + 1, put_user, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op user_list = {
    .name = "user.list",
    .help = "List the users of the tenant",
    .params = lc_page_params,
    .input_bytes = sizeof(lc_page_args),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_IDEMPOTENT | LC_OP_TENANT_ADMIN,
    .http = "GET /v1/users",
    .example = "{\"limit\":10}",
    .run = run_list,
};

extern const lc_op *const lc_ops_user[];
const lc_op *const lc_ops_user[] = {&user_list, NULL};
