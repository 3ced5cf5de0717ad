/* op_event.c - reading the log. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/op.h"
#include "store/event.h"

static const lc_param list_params[] = {
    {.name = "after",
     .kind = LC_PARAM_INT,
     .default_text = "0",
     .min = 0,
     .max = INT64_MAX,
     .help = "Only events after this seq: `next` of the page before"},
    {.name = "limit",
     .kind = LC_PARAM_INT,
     .default_text = "100",
     .min = 1,
     .max = LC_PAGE_ROWS_MAX,
     .help = "How many at most"},
    {.name = "type",
     .kind = LC_PARAM_STRING,
     .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "Only events of this type, such as fact.written"},
    {.name = NULL},
};

static const lc_result list_results[] = {
    {"events", LC_PARAM_ANY,
     "Each with user_id, seq, type, v, recorded_at, refs and payload (or restricted)"},
    {"next", LC_PARAM_INT, "`after` of the next page; absent when the end was reached"},
    {"head_seq", LC_PARAM_INT, "The user's last seq"},
    {NULL, 0, NULL},
};

typedef struct listing {
    lc_json_writer *out;
    loci_str type;
    int64_t seen;
    int64_t last_seq;
} listing;

static loci_status put_event(void *ctx, const lc_event *event, loci_error *err)
{
    listing *l = ctx;

    (void)err;
    l->seen++;
    l->last_seq = event->seq;
    if (l->type.ptr == NULL || lc_str_is(l->type, event->type->name))
        lc_event_write(l->out, event);
    return LOCI_OK;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    listing l = {.out = &call->out, .type = lc_call_str(call, "type")};
    lc_event_range range = {.tenant_id = call->tenant_id,
                            .user_id = call->user_id,
                            .after_seq = lc_call_i64(call, "after", 0),
                            .limit = lc_call_i64(call, "limit", 100)};
    lc_head head = {0};
    loci_status status;

    if (call->is_of_persona)
        return lc_fail(err, LOCI_EFORBIDDEN,
                       "the log holds what every persona did; this caller is narrowed to one");

    status = lc_tx_head(tx, &head, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "events");
    lc_jw_array(&call->out);
    status = lc_event_each(tx, &range, put_event, &l, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_end(&call->out);
    if (l.seen == range.limit && l.last_seq < head.seq)
        lc_jw_member_int(&call->out, "next", l.last_seq);
    lc_jw_member_int(&call->out, "head_seq", head.seq);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op event_list = {
    .name = "event.list",
    .help = "What happened to one user's knowledge, in order",
    .params = list_params,
    .results = list_results,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/events",
    .mcp = NULL,
    .example = "{\"after\":0,\"limit\":10}",
    .run = run_list,
};

extern const lc_op *const lc_ops_event[];
const lc_op *const lc_ops_event[] = {&event_list, NULL};
