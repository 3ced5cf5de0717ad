/* op_summary.c - the operations on summaries. */
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "ops/call_scope.h"
#include "ops/page.h"
#include "session/session.h"
#include "session/summary.h"

extern const lc_record lc_summary_record;
const lc_record lc_summary_record = {.name = "Summary", .row = &lc_summary_row};

typedef struct summary_input {
    loci_str id, kind;
    lc_page_args page;
} summary_input;

#define KIND_HELP                                                                                  \
    "Kind: rolling (a session so far), session (one that ended) or spine (what is known about "    \
    "the user)"

/* The id of the session that the call names; none = it names none. One that is unknown is
 * LOCI_ENOTFOUND. */
static loci_status find_session(lc_call *call, lc_tx *tx, loci_str *out, loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    lc_session session;
    bool found = false;
    loci_status status;

    *out = LC_STR_NONE;
    if (call->implied.session_id.len == 0)
        return LOCI_OK;
    status = lc_session_find_past(tx, &ref, call->arena, &session, &found, err);
    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND, "no session %.*s",
                         LC_STR_ARG(call->implied.session_id));
    if (status == LOCI_OK)
        *out = session.id;
    return status;
}

/* ---- summary.get ----------------------------------------------------------------------------- */

static const lc_param get_params[] = {
    LC_NAME_PARAM("id", summary_input, id, LC_PARAM_POSITIONAL, "Id of the summary, sum_…"),
    {LC_ARG_STR("kind", summary_input, kind), .choices = LC_SUMMARY_KINDS,
     .help = "Instead of an id: the newest summary of this kind"},
    {.name = NULL},
};

static const lc_param_rule get_rules[] = {
    {LC_RULE_EXACTLY_ONE, "id|kind"},
    {LC_RULE_END, NULL},
};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    const summary_input *in = call->input;
    lc_summary_ref ref = {.kind = in->kind, .persona_id = call->persona_id};
    lc_summary summary;
    bool found = true;
    loci_status status = find_session(call, tx, &ref.session_id, err);

    if (status == LOCI_OK && in->id.ptr != NULL)
        status = lc_summary_load(tx, call->persona_id, in->id, call->arena, &summary, err);
    else if (status == LOCI_OK)
        status = lc_summary_find_last(tx, &ref, call->arena, &summary, &found, err);
    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND,
                         "there is no %.*s summary yet; summary.make makes one now",
                         LC_STR_ARG(in->kind));
    if (status == LOCI_OK)
        lc_summary_put(&call->out, &summary);
    return status;
}

static const lc_op summary_get = {
    .name = "summary.get",
    .help = "Return one summary, by its id or the newest of a kind",
    .params = get_params,
    .rules = get_rules,
    .input_bytes = sizeof(summary_input),
    .answer = &lc_summary_record,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_SESSION | LC_OP_IDEMPOTENT,
    .http = "GET /v1/summaries/{id}",
    .example = "{\"id\":\"sum_00000000000000000000000000\"}",
    .run = run_get,
};

/* ---- summary.list ---------------------------------------------------------------------------- */

static const lc_param list_params[] = {
    {LC_ARG_STR("kind", summary_input, kind), .flags = LC_PARAM_POSITIONAL,
     .choices = LC_SUMMARY_KINDS, .help = "Only summaries of this kind"},
    LC_PAGE_PARAMS(summary_input, page),
    {.name = NULL},
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"summaries", 0, "Summaries, newest first", LC_RESULT_LIST,
             .record = &lc_summary_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct listing {
    lc_page page;
    lc_seq_position last;
} listing;

static loci_status put_listed(void *ctx, const lc_summary *summary, loci_error *err)
{
    listing *l = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (!lc_page_takes(&l->page))
        return LOCI_OK;
    l->last.seq = summary->seq;
    lc_summary_put(&l->page.call->out, summary);
    return LOCI_OK;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const summary_input *in = call->input;
    listing l = {.page = {call, &lc_position_by_seq, &l.last}, .last = {INT64_MAX}};
    lc_summary_ref ref = {.kind = in->kind, .persona_id = call->persona_id};
    loci_status status = find_session(call, tx, &ref.session_id, err);

    if (status == LOCI_OK)
        status = lc_page_begin(&l.page, &in->page, err);
    if (status != LOCI_OK)
        return status;
    lc_page_open(&l.page, "summaries");
    status = lc_summary_each(tx, &ref, l.last.seq, in->page.limit + 1, put_listed, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op summary_list = {
    .name = "summary.list",
    .help = "List summaries, newest first",
    .params = list_params,
    .input_bytes = sizeof(summary_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_SESSION | LC_OP_IDEMPOTENT,
    .http = "GET /v1/summaries",
    .look = {.columns = "text kind recorded_at id", .is_of_texts = true},
    .example = "{\"kind\":\"session\"}",
    .run = run_list,
};

/* ---- summary.make ---------------------------------------------------------------------------- */

static const lc_param make_params[] = {
    {LC_ARG_STR("kind", summary_input, kind), .flags = LC_PARAM_POSITIONAL,
     .default_text = "\"rolling\"", .choices = LC_SUMMARY_KINDS, .help = KIND_HELP},
    {.name = NULL},
};

static const lc_record make_answer = {
    .members =
        (const lc_result[]){
            {"job_id", LC_PARAM_STRING, "Id of the job that makes it; see job.get"},
            {NULL},
        },
};

static loci_status run_make(lc_call *call, lc_tx *tx, loci_error *err)
{
    const summary_input *in = call->input;
    lc_session_ref ref = lc_call_session_ref(call);
    lc_summary_request request = {.persona_id = call->persona_id, .is_forced = true};
    lc_session session;
    bool found = false;
    lc_id job;
    loci_status status = LOCI_OK;

    request.kind = lc_str_is(in->kind, "spine")     ? "spine"
                   : lc_str_is(in->kind, "rolling") ? "rolling"
                                                    : "session";
    if (!lc_str_is(in->kind, "spine")) {
        status = lc_session_find_past(tx, &ref, call->arena, &session, &found, err);
        if (status == LOCI_OK && !found)
            status = lc_fail(err, LOCI_ENOTFOUND, "there is no session to summarise");
        if (status == LOCI_OK) {
            request.session_id = session.id;
            request.persona_id = session.persona_id;
        }
    }
    if (status == LOCI_OK)
        status = lc_summary_enqueue(tx, &request, &job, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_text(&call->out, "job_id", job.text);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op summary_make = {
    .name = "summary.make",
    .help = "Make a summary now; loci makes them by itself as a conversation goes on",
    .params = make_params,
    .input_bytes = sizeof(summary_input),
    .answer = &make_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_SESSION | LC_OP_MUTATES,
    .http = "POST /v1/summaries",
    .look = {.sentence = "started {job_id}"},
    .example = "{\"kind\":\"rolling\"}",
    .run = run_make,
};

extern const lc_op *const lc_ops_summary[];
const lc_op *const lc_ops_summary[] = {
    &summary_get,
    &summary_list,
    &summary_make,
    NULL,
};
