/* op_review.c - the review inbox: what waits for a person's decision, of all rooms. */
#include <math.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/review.h"
#include "engine/engine.h"
#include "ops/call_scope.h"
#include "ops/op_memory.h"
#include "ops/page.h"

/* ---- review.list ----------------------------------------------------------------------------- */

typedef struct list_input {
    loci_str kind;
    lc_page_args page;
} list_input;

static const lc_param list_params[] = {
    {LC_ARG_STR("kind", list_input, kind), .flags = LC_PARAM_POSITIONAL, .choices = LC_REVIEW_KINDS,
     .help = "Only things of this kind"},
    LC_PAGE_PARAMS(list_input, page),
    {.name = NULL},
};

static const lc_record item_record = {
    .name = "ReviewItem",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id for review.accept, correct and dismiss"},
            {"kind", LC_PARAM_STRING, "What it is", .choices = LC_REVIEW_KINDS},
            {"about", LC_PARAM_STRING, "Key, person or entity that it is about; user otherwise"},
            {"text", LC_PARAM_STRING, "One line for people"},
            {"proposed", LC_PARAM_STRING, "Value or text that accepting it makes current"},
            {"current", LC_PARAM_STRING, "Value or text that is current, if there is one",
             LC_RESULT_OPTIONAL},
            {"reason", LC_PARAM_STRING, "Why it waits for a decision"},
            {"quote", LC_PARAM_STRING, "Sentence that it came from", LC_RESULT_OPTIONAL},
            {"source", LC_PARAM_STRING, "For a fact: who or what said it", LC_RESULT_OPTIONAL},
            {"authority", LC_PARAM_STRING, "For a fact: authority of the speaker",
             LC_RESULT_OPTIONAL},
            {"trust", LC_PARAM_STRING, "For a fact: trust in the channel that it came through",
             LC_RESULT_OPTIONAL},
            {"at", LC_PARAM_TIME, "Time at which it was said"},
            {"confidence", LC_PARAM_REAL, "Confidence from 0 to 1", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"items", 0, "Things that wait for a decision, kind by kind", LC_RESULT_LIST,
             .record = &item_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct position {
    int64_t kind, after;
} position;

static const lc_position by_kind = {"ii", {offsetof(position, kind), offsetof(position, after)}};

typedef struct listing {
    lc_page page;
    position last;
} listing;

static loci_status put_item(void *ctx, const lc_review_item *item, loci_error *err)
{
    listing *l = ctx;
    lc_json_writer *out = &l->page.call->out;

    (void)err; /* Writing to a buffer fails later. */
    if (!lc_page_takes(&l->page))
        return LOCI_OK;
    l->last = (position){(int64_t)item->kind, item->position};
    lc_jw_object(out);
    lc_jw_member_str(out, "id", item->id);
    lc_jw_member_text(out, "kind", lc_review_kind_name(item->kind));
    lc_jw_member_str(out, "about", item->about);
    lc_jw_member_str(out, "text", item->text);
    lc_jw_member_str(out, "proposed", item->proposed);
    if (item->current.ptr != NULL)
        lc_jw_member_str(out, "current", item->current);
    lc_jw_member_text(out, "reason", item->reason);
    if (item->quote.len > 0)
        lc_jw_member_str(out, "quote", item->quote);
    if (item->source.len > 0)
        lc_jw_member_str(out, "source", item->source);
    if (item->authority.len > 0)
        lc_jw_member_str(out, "authority", item->authority);
    if (item->trust.len > 0)
        lc_jw_member_str(out, "trust", item->trust);
    lc_jw_member_time(out, "at", item->at_us);
    if (!isnan(item->confidence))
        lc_jw_member_real(out, "confidence", item->confidence);
    lc_jw_end(out);
    return LOCI_OK;
}

static int kind_of(loci_str name)
{
    for (int kind = 0; kind < LC_REVIEW_KIND_COUNT; kind++)
        if (lc_str_is(name, lc_review_kind_name((lc_review_kind)kind)))
            return kind;
    return -1;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    listing l = {.page = {call, &by_kind, &l.last}};
    lc_review_query query = {.kind = kind_of(in->kind), .limit = in->page.limit + 1};
    loci_status status = lc_page_begin(&l.page, &in->page, err);

    if (status == LOCI_OK)
        status = lc_fact_read_view(call, tx, NULL, &query.view, err);
    if (status != LOCI_OK)
        return status;
    query.first = l.last.kind >= 0 && l.last.kind < LC_REVIEW_KIND_COUNT
                      ? (lc_review_kind)l.last.kind
                      : LC_REVIEW_PROPOSAL;
    query.after = l.last.after;
    lc_page_open(&l.page, "items");
    status = lc_review_each_item(tx, &query, call->arena, put_item, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op review_list = {
    .name = "review.list",
    .help = "List proposals, claims, facts in doubt and merges that await a decision",
    .params = list_params,
    .input_bytes = sizeof(list_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/review",
    .look = {.columns = "text kind reason at id", .is_of_texts = true},
    .example = "{\"limit\":10}",
    .run = run_list,
};

/* ---- review.accept, correct, dismiss --------------------------------------------------------- */

typedef struct decide_input {
    loci_str id;
    loci_str value; /* Canonical JSON. */
    loci_str reason;
    lc_claim_args claim;
    lc_review_decision decision; /* Set by prepare, except for members that need the session. */
    lc_fact_caller caller;
} decide_input;

#define ID_PARAM LC_ID_PARAM(decide_input, id, "Id of the thing, as review.list has it")

static const lc_param accept_params[] = {
    ID_PARAM,
    LC_CLAIM_PARAMS(decide_input, claim),
    {.name = NULL},
};

static const lc_param correct_params[] = {
    ID_PARAM,
    {LC_ARG_JSON("value", decide_input, value),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID, .max = LC_VALUE_BYTES_MAX,
     .help = "What is right: a text, or for a fact any JSON value"},
    LC_CLAIM_PARAMS(decide_input, claim),
    {.name = NULL},
};

static const lc_param dismiss_params[] = {
    ID_PARAM,
    {LC_ARG_STR("reason", decide_input, reason), .flags = LC_PARAM_SAID, .max = 4096,
     .help = "Reason, kept with a fact that is retracted"},
    LC_CLAIM_PARAMS(decide_input, claim),
    {.name = NULL},
};

static const lc_record decide_answer = {
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the thing"},
            {"kind", LC_PARAM_STRING, "What it was", .choices = LC_REVIEW_KINDS},
            {"outcome", LC_PARAM_STRING, "What was done",
             .choices = "accepted|corrected|dismissed"},
            {"result", LC_PARAM_STRING,
             "Id of the fact, memory, todo or entity that is current now", LC_RESULT_OPTIONAL},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status prepare_decide(lc_call *call, loci_error *err)
{
    decide_input *in = call->input;
    const lc_json *value;
    loci_status status = lc_fact_caller_init(&in->caller, call, &in->claim, err);

    in->decision = (lc_review_decision){
        .id = in->id,
        .action = in->value.ptr != NULL                                      ? LC_REVIEW_CORRECT
                  : lc_str_is(loci_str_of(call->op->name), "review.dismiss") ? LC_REVIEW_DISMISS
                                                                             : LC_REVIEW_ACCEPT,
        .value = in->value,
        .text = in->value,
        .reason = in->reason,
        .trust = in->caller.trust};
    if (status != LOCI_OK || in->value.ptr == NULL)
        return status;
    status = lc_json_parse(call->arena, in->value, 0, &value, err);
    if (status == LOCI_OK && lc_json_kind_of(value) == LC_JSON_STRING)
        in->decision.text = lc_json_str(value);
    if (status == LOCI_OK && !lc_id_is(in->id, "fact"))
        status = lc_memory_check_text(in->decision.text, "value", err);
    return status;
}

static loci_status run_decide(lc_call *call, lc_tx *tx, loci_error *err)
{
    const decide_input *in = call->input;
    lc_review_decision decision = in->decision;
    lc_review_result result;
    loci_status status = lc_fact_read_view(call, tx, NULL, &decision.view, err);
    lc_session session = {0};
    bool found = false;

    if (status == LOCI_OK)
        status = lc_call_find_session(call, tx, &session, &found, err);
    if (status != LOCI_OK)
        return status;
    if (!found)
        session = (lc_session){0};
    decision.authority = lc_fact_caller_authority(&in->caller, &session.identity);
    decision.view.access = lc_fact_caller_access(&in->caller, &session.identity);
    status = lc_review_decide(tx, &decision, call->arena, &result, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "id", in->id);
    lc_jw_member_text(&call->out, "kind", lc_review_kind_name(result.kind));
    lc_jw_member_text(&call->out, "outcome", result.outcome);
    if (result.result_id.len > 0)
        lc_jw_member_str(&call->out, "result", result.result_id);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

#define DECIDE_OP(of_name, of_help, of_params, of_http, of_example, of_flags)                      \
    {                                                                                              \
        .name = (of_name), .help = (of_help), .params = (of_params),                               \
        .input_bytes = sizeof(decide_input), .answer = &decide_answer, .cost = LC_COST_WRITE,      \
        .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION | (of_flags), .http = (of_http),       \
        .example = (of_example), .prepare = prepare_decide, .run = run_decide,                     \
    }

static const lc_op review_accept = DECIDE_OP(
    "review.accept", "Accept a thing in review: it becomes current, with the caller's rights",
    accept_params, "POST /v1/review/{id}/accept", "{\"id\":\"prop_00000000000000000000000000\"}",
    0);
static const lc_op review_correct = DECIDE_OP(
    "review.correct", "Replace a thing in review with what is right", correct_params,
    "POST /v1/review/{id}/correct",
    "{\"id\":\"prop_00000000000000000000000000\",\"value\":\"Lives in Leeds\"}", 0);
static const lc_op review_dismiss = DECIDE_OP(
    "review.dismiss", "Dismiss a thing in review; the same content is not listed again",
    dismiss_params, "POST /v1/review/{id}/dismiss", "{\"id\":\"prop_00000000000000000000000000\"}",
    LC_OP_DESTROYS);

extern const lc_op *const lc_ops_review[];
const lc_op *const lc_ops_review[] = {&review_list, &review_accept, &review_correct,
                                      &review_dismiss, NULL};
