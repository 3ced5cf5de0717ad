/* op_event.c - reading the log. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/op.h"
#include "ops/page.h"
#include "session/session.h"
#include "store/event.h"

typedef struct list_input {
    int64_t after_seq;
    loci_str type;
    loci_str session_id;
    lc_page_args page;
} list_input;

static const lc_param list_params[] = {
    {LC_ARG_INT("after_seq", list_input, after_seq), .min = 0, .max = INT64_MAX,
     .help = "Only events with a greater seq, to resume where a reader stopped (default 0)"},
    LC_NAME_PARAM("type", list_input, type, 0, "Only events of this type, such as fact.written"),
    LC_NAME_PARAM("session_id", list_input, session_id, 0,
                  "Only events of this session, named by its id or external_id: its beginning and "
                  "end, messages and summaries, and what clients wrote in it"),
    LC_PAGE_PARAMS(list_input, page),
    {.name = NULL},
};

const lc_record lc_event_record = {
    .name = "Event",
    .members =
        (const lc_result[]){
            {"user_id", LC_PARAM_STRING, "User of the log"},
            {"seq", LC_PARAM_INT, "Number of the event in the log of its user"},
            {"type", LC_PARAM_STRING, "Type, such as fact.written"},
            {"v", LC_PARAM_INT, "Version of the payload format"},
            {"recorded_at", LC_PARAM_TIME, "Time at which it was recorded"},
            {"refs", LC_PARAM_OBJECT,
             "Ids that it refers to, and `client`: the program that wrote it, if it is known"},
            {"payload", LC_PARAM_OBJECT, "Content; absent if restricted, null if erased",
             LC_RESULT_OPTIONAL | LC_RESULT_NULLABLE},
            {"restricted", LC_PARAM_BOOL,
             "True if reading the payload needs rights: read the object itself",
             LC_RESULT_OPTIONAL},
            {"erased", LC_PARAM_BOOL, "True if the payload was erased", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"events", 0, "Events, oldest first", LC_RESULT_LIST, .record = &lc_event_record},
            {"head_seq", LC_PARAM_INT, "Number of the last event of the user"},
            LC_PAGE_RESULT,
            {NULL},
        },
};

/* With a filter, a page reads on until it is full, in slices of SLICE_ROWS, and ends after
 * SCAN_ROWS_MAX events that it read, or one slice more: a rare type in a long log costs several
 * calls instead of one that has no bound. Without a filter, one slice is the page. */
#define SLICE_ROWS 256
#define SCAN_ROWS_MAX 10000

typedef struct listing {
    lc_page page;
    loci_str type;
    loci_str session_id; /* ses_…; none = all. */
    int64_t seen;        /* Events of the slice. */
    bool has_next;       /* The slice has an event for the next page. */
    lc_seq_position last;
} listing;

static bool is_wanted(const listing *l, const lc_event *event)
{
    return (l->type.ptr == NULL || lc_str_is(l->type, event->type->name)) &&
           (l->session_id.ptr == NULL || lc_event_names(event, l->session_id));
}

static loci_status put_event(void *ctx, const lc_event *event, loci_error *err)
{
    listing *l = ctx;

    (void)err;
    l->seen++;
    if (l->page.left == 0) {
        l->has_next = l->has_next || is_wanted(l, event);
        return LOCI_OK;
    }
    l->last.seq = event->seq;
    if (is_wanted(l, event) && lc_page_takes(&l->page))
        lc_event_write(&l->page.call->out, event);
    return LOCI_OK;
}

/* Puts the events behind l->last into the page, up to its limit. */
static loci_status put_page(listing *l, lc_tx *tx, int64_t head_seq, loci_error *err)
{
    const lc_call *call = l->page.call;
    bool is_filtered = l->type.ptr != NULL || l->session_id.ptr != NULL;
    lc_event_range range = {.tenant_id = call->tenant_id,
                            .user_id = call->user_id,
                            .limit = is_filtered ? SLICE_ROWS : l->page.left};
    int64_t scanned = 0;
    loci_status status;

    do {
        range.after_seq = l->last.seq;
        l->seen = 0;
        status = lc_event_each(tx, &range, put_event, l, err);
        scanned += l->seen;
        if (status == LOCI_OK)
            status = lc_call_pause_point(call, err);
    } while (status == LOCI_OK && l->page.left > 0 && l->seen == range.limit &&
             scanned < SCAN_ROWS_MAX);
    /* Behind the last slice, other events may follow that were not read. */
    l->page.has_more = l->has_next || (l->seen == range.limit && l->last.seq < head_seq);
    return status;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    listing l = {.page = {call, &lc_position_by_seq, &l.last},
                 .type = in->type,
                 .last = {in->after_seq != LC_ABSENT ? in->after_seq : 0}};
    lc_head head = {0};
    lc_id session_id;
    loci_status status = LOCI_OK;

    if (in->session_id.ptr != NULL) {
        status = lc_session_find_id(tx, in->session_id, &session_id, err);
        l.session_id = lc_id_str(&session_id);
    }
    if (status == LOCI_OK)
        status = lc_page_begin(&l.page, &in->page, err);
    if (status == LOCI_OK)
        status = lc_tx_head(tx, &head, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_member_int(&call->out, "head_seq", head.seq);
    lc_page_open(&l.page, "events");
    status = put_page(&l, tx, head.seq, err);
    if (status == LOCI_OK)
        lc_page_close(&l.page);
    return status;
}

static const lc_op event_list = {
    .name = "event.list",
    .help = "List the events of a user's log, oldest first",
    .params = list_params,
    .rules = (const lc_param_rule[]){{LC_RULE_AT_MOST_ONE, "after_seq|cursor"},
                                     {LC_RULE_END, NULL}},
    .input_bytes = sizeof(list_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_WHOLE_USER,
    .http = "GET /v1/events",
    .look = {.columns = "seq recorded_at type payload", .id = "seq", .hidden = "head_seq"},
    .example = "{\"after_seq\":0,\"limit\":10}",
    .run = run_list,
};

extern const lc_op *const lc_ops_event[];
const lc_op *const lc_ops_event[] = {&event_list, NULL};
