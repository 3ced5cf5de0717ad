/* op_fact_write.c - the operations that change facts. Decide, then the session, then the event: so
 * that an error leaves no trace. */
#include "base/error.h"
#include "base/str.h"
#include "fact/fact.h"
#include "ops/fact_caller.h"
#include "ops/fact_params.h"
#include "ops/op_fact.h"
#include "ops/session_arg.h"

/* ---- fact.write ------------------------------------------------------------------------------ */

static const lc_param write_params[] = {
    LC_FACT_KEY_PARAM,
    {.name = "value",
     .kind = LC_PARAM_ANY,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .help = "What is known, any JSON"},
    {.name = "supersedes",
     .kind = LC_PARAM_ANY,
     .help = "A key, an id or a list of them, in the same scope, whose place it takes"},
    LC_FACT_WORD_PARAM("source", "Where it comes from, such as user or hr_system"),
    LC_FACT_AUTHORITY_PARAM,
    LC_FACT_TRUST_PARAM,
    {.name = "observed_at",
     .kind = LC_PARAM_TIME,
     .help = "When it was true; the time of the call if absent"},
    {.name = "valid_until", .kind = LC_PARAM_TIME, .help = "When it stops being true"},
    {.name = "memory_type",
     .kind = LC_PARAM_STRING,
     .choices = "user|capability|organizational",
     .help = "What kind of knowledge it is; by its source if absent"},
    LC_FACT_SCOPE_PARAM,
    LC_FACT_SCOPE_ID_PARAM,
    {.name = "depends_on",
     .kind = LC_PARAM_STRINGS,
     .max = LC_FACT_TARGETS_MAX,
     .help = "Keys or ids of facts it was derived from: when one ends, it needs a review"},
    {.name = "is_constraint",
     .kind = LC_PARAM_BOOL,
     .help = "A rule that must be kept; as the key's fact was if absent"},
    LC_FACT_WORD_PARAM("constraint_type", "budget, deadline, capacity, policy …"),
    LC_FACT_WORD_PARAM("min_read_authority", "Who is below this does not see it"),
    LC_FACT_WORD_PARAM("min_write_authority",
                       "Who is below this can only claim; at most the writer's own"),
    {.name = "required_permission",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_ID,
     .max = LC_ID_BYTES_MAX,
     .help = "Who does not have this permission does not see it; empty takes it away"},
    {.name = "multi",
     .kind = LC_PARAM_BOOL,
     .help = "The key holds several facts; counts in its first write"},
    {.name = NULL},
};

static const lc_result write_results[] = {
    {"id", LC_PARAM_STRING, "The version that was written or repeated, fact_…"},
    {"outcome", LC_PARAM_STRING,
     "created, superseded, repeated (the same value), late (older than what stands: history only),"
     " claimed (too little authority or trust: kept, changes nothing) or shadowed (hides the"
     " global one in its scope)"},
    {"superseded", LC_PARAM_STRING, "The version whose place it took, if any"},
    {"contests", LC_PARAM_STRING, "Of a claim: the version it is against, if any"},
    {"needs_review", LC_PARAM_INT, "How many facts derived from what ended need a review, if any"},
    {"seq", LC_PARAM_INT, "The event that wrote it"},
    {NULL, 0, NULL},
};

typedef struct write_input {
    lc_fact_caller caller;
    lc_fact_input fact; /* Without what depends on the session. */
} write_input;

/* A string or an array of strings. */
static loci_status read_list(lc_call *call, const char *name, lc_str_list *out, loci_error *err)
{
    const lc_json *given = lc_call_value(call, name)->json;
    bool is_array;
    loci_str *items;
    size_t count = 0;

    if (given == NULL || lc_json_kind_of(given) == LC_JSON_NULL)
        return LOCI_OK;
    is_array = lc_json_kind_of(given) == LC_JSON_ARRAY;
    if (is_array && lc_json_count(given) > LC_FACT_TARGETS_MAX)
        return lc_fail(err, LOCI_EINVAL, "%s: at most %d", name, LC_FACT_TARGETS_MAX);
    items = lc_arena_zalloc_array(call->arena, is_array ? lc_json_count(given) + 1 : 1,
                                  sizeof *items);
    if (items == NULL)
        return lc_fail_memory(err);
    for (const lc_json *each = is_array ? lc_json_first(given) : given; each != NULL;
         each = is_array ? lc_json_next(each) : NULL) {
        if (lc_json_kind_of(each) != LC_JSON_STRING || lc_json_str(each).len == 0)
            return lc_fail(err, LOCI_EINVAL, "%s: expected a key, an id or a list of them", name);
        items[count++] = lc_json_str(each);
    }
    *out = (lc_str_list){items, count};
    return LOCI_OK;
}

static loci_status check_permission(loci_str permission, loci_error *err)
{
    for (size_t i = 0; i < permission.len; i++) {
        if (permission.ptr[i] == '"' || permission.ptr[i] == '\\')
            return lc_fail(err, LOCI_EINVAL,
                           "required_permission: expected a name without quotes and backslashes");
    }
    return LOCI_OK;
}

static void fill_input(lc_call *call, write_input *in)
{
    const lc_value *is_constraint = lc_call_value(call, "is_constraint");

    in->fact.key = lc_call_str(call, "key");
    in->fact.source = lc_call_str(call, "source");
    in->fact.memory_type = lc_call_str(call, "memory_type");
    in->fact.trust = in->caller.trust;
    in->fact.observed_at = lc_call_i64(call, "observed_at", LOCI_AT_CLOCK);
    in->fact.valid_until = lc_call_i64(call, "valid_until", LC_FACT_NO_TIME);
    in->fact.has_constraint = is_constraint->is_set;
    in->fact.is_constraint = is_constraint->is_set && is_constraint->as.boolean;
    in->fact.is_multi = lc_call_bool(call, "multi");
    in->fact.constraint_type = lc_call_str(call, "constraint_type");
    in->fact.min_read = lc_authority_of(lc_call_str(call, "min_read_authority"), in->caller.titles);
    in->fact.min_write = lc_authority_of(lc_call_str(call, "min_write_authority"),
                                         in->caller.titles);
    in->fact.required_permission = lc_call_str(call, "required_permission");
    in->fact.view.persona_id = call->persona_id;
}

static loci_status prepare_write(lc_call *call, loci_error *err)
{
    write_input *in = lc_arena_zalloc_array(call->arena, 1, sizeof *in);
    loci_status status;

    if (in == NULL)
        return lc_fail_memory(err);
    call->input = in;
    status = lc_fact_caller_init(&in->caller, call, lc_call_str(call, "authority"),
                                 lc_call_str(call, "trust"), err);
    if (status != LOCI_OK)
        return status;
    fill_input(call, in);
    status = check_permission(in->fact.required_permission, err);
    if (status == LOCI_OK)
        status = lc_fact_scope_of(call, NULL, &in->fact.view, err);
    if (status == LOCI_OK)
        status = read_list(call, "supersedes", &in->fact.supersedes, err);
    if (status == LOCI_OK)
        status = read_list(call, "depends_on", &in->fact.depends_on, err);
    if (status == LOCI_OK)
        status = lc_call_canonical(call, "value", &in->fact.value, err);
    return status;
}

static void put_id(lc_json_writer *out, const char *name, const lc_id *id)
{
    if (id->text[0] != '\0')
        lc_jw_member_text(out, name, id->text);
}

static void put_written(lc_call *call, const lc_fact_result *result)
{
    lc_jw_object(&call->out);
    lc_jw_member_text(&call->out, "id", result->id.text);
    lc_jw_member_text(&call->out, "outcome", lc_fact_outcome_name(result->outcome));
    put_id(&call->out, "superseded", &result->superseded);
    put_id(&call->out, "contests", &result->contests);
    if (result->review_count > 0)
        lc_jw_member_int(&call->out, "needs_review", (int64_t)result->review_count);
    lc_jw_member_int(&call->out, "seq", result->seq);
    lc_jw_end(&call->out);
}

static loci_status run_write(lc_call *call, lc_tx *tx, loci_error *err)
{
    const write_input *in = call->input;
    lc_fact_input fact = in->fact;
    lc_session_use use;
    lc_fact_plan *plan;
    lc_fact_result result;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_fact_scope_of(call, &use.session, &fact.view, err);
    if (status != LOCI_OK)
        return status;
    fact.authority = lc_fact_caller_authority(&in->caller, &use.session.identity);
    fact.view.access = lc_fact_caller_access(&in->caller, &use.session.identity);
    fact.view.session_id = use.session.id;
    status = lc_fact_decide(tx, &fact, call->arena, &plan, err);
    if (status == LOCI_OK)
        status = lc_call_begin_session(tx, &use, lc_fact_plan_writes(plan), err);
    if (status == LOCI_OK)
        status = lc_fact_commit(tx, plan, call->arena, &result, err);
    if (status == LOCI_OK)
        put_written(call, &result);
    return status;
}

const lc_op lc_op_fact_write = {
    .name = "fact.write",
    .help = "Record what is true now; another value of the same key supersedes it",
    .params = write_params,
    .results = write_results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_SESSION | LC_OP_READS_OWN,
    .http = "POST /v1/facts",
    .mcp = "fact write",
    .example = "{\"key\":\"city\",\"value\":\"Oslo\",\"source\":\"user\"}",
    .prepare = prepare_write,
    .run = run_write,
};

/* ---- fact.retract and fact.review ------------------------------------------------------------ */

static const lc_param retract_params[] = {
    {.name = "key",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_POSITIONAL | LC_PARAM_ID,
     .min = 1,
     .max = LC_KEY_BYTES_MAX,
     .help = "Whose fact is taken back, all of them if it holds several"},
    LC_FACT_WORD_PARAM("id", "The version that is taken back, instead of a key"),
    {.name = "reason", .kind = LC_PARAM_STRING, .max = 4096, .help = "Why"},
    LC_FACT_SCOPE_PARAM,
    LC_FACT_SCOPE_ID_PARAM,
    LC_FACT_AUTHORITY_PARAM,
    LC_FACT_TRUST_PARAM,
    {.name = NULL},
};

static const lc_param review_params[] = {
    {.name = "id",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID,
     .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "The version, fact_…"},
    {.name = "action",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .choices = "confirm|retract",
     .help = "It is still true, or it is taken back"},
    {.name = "reason", .kind = LC_PARAM_STRING, .max = 4096, .help = "Why"},
    LC_FACT_AUTHORITY_PARAM,
    LC_FACT_TRUST_PARAM,
    {.name = NULL},
};

static const lc_result change_results[] = {
    {"id", LC_PARAM_STRING, "The version it is about"},
    {"outcome", LC_PARAM_STRING, "retracted, confirmed, or unchanged: it needed no review"},
    {"count", LC_PARAM_INT, "How many facts changed"},
    {"needs_review", LC_PARAM_INT, "How many facts derived from them need a review now, if any"},
    {"seq", LC_PARAM_INT, "The event, or of what is unchanged the one that wrote it"},
    {NULL, 0, NULL},
};

typedef struct change_input {
    lc_fact_caller caller;
    bool confirms;
} change_input;

static loci_status prepare_change(lc_call *call, loci_error *err)
{
    change_input *in = lc_arena_zalloc_array(call->arena, 1, sizeof *in);

    if (in == NULL)
        return lc_fail_memory(err);
    call->input = in;
    return lc_fact_caller_init(&in->caller, call, lc_call_str(call, "authority"),
                               lc_call_str(call, "trust"), err);
}

static loci_status prepare_retract(lc_call *call, loci_error *err)
{
    lc_fact_view view;

    if (lc_call_has(call, "key") == lc_call_has(call, "id"))
        return lc_fail(err, LOCI_EINVAL, "fact.retract needs key or id, and not both");
    loci_status status = lc_fact_scope_of(call, NULL, &view, err);

    return status == LOCI_OK ? prepare_change(call, err) : status;
}

static loci_status prepare_review(lc_call *call, loci_error *err)
{
    loci_status status = prepare_change(call, err);

    if (status == LOCI_OK)
        ((change_input *)call->input)->confirms = lc_str_is(lc_call_str(call, "action"), "confirm");
    return status;
}

static void put_change(lc_call *call, const lc_fact_change *change, const char *outcome)
{
    lc_jw_object(&call->out);
    lc_jw_member_text(&call->out, "id", change->id.text);
    lc_jw_member_text(&call->out, "outcome", change->count == 0 ? "unchanged" : outcome);
    lc_jw_member_int(&call->out, "count", (int64_t)change->count);
    if (change->review_count > 0)
        lc_jw_member_int(&call->out, "needs_review", (int64_t)change->review_count);
    lc_jw_member_int(&call->out, "seq", change->seq);
    lc_jw_end(&call->out);
}

/* `target` lacks what depends on the session. */
static loci_status change(lc_call *call, lc_tx *tx, lc_fact_target *target, lc_session_use *use,
                          loci_error *err)
{
    const change_input *in = call->input;
    lc_fact_ending *ending;
    lc_fact_change done;
    loci_status status;

    target->authority = lc_fact_caller_authority(&in->caller, &use->session.identity);
    target->trust = in->caller.trust;
    target->view.persona_id = call->persona_id;
    target->view.access = lc_fact_caller_access(&in->caller, &use->session.identity);
    status = lc_fact_decide_retract(tx, target, call->arena, &ending, err);
    if (status == LOCI_OK)
        status = lc_call_begin_session(tx, use,
                                       !in->confirms || lc_fact_ending_needs_review(ending), err);
    if (status == LOCI_OK)
        status = in->confirms ? lc_fact_commit_confirm(tx, ending, &done, err)
                              : lc_fact_commit_retract(tx, ending, &done, err);
    if (status == LOCI_OK)
        put_change(call, &done, in->confirms ? "confirmed" : "retracted");
    return status;
}

static loci_status run_retract(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_fact_target target = {.key = lc_call_str(call, "key"),
                             .id = lc_call_str(call, "id"),
                             .reason = lc_call_str(call, "reason")};
    lc_session_use use;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_fact_scope_of(call, &use.session, &target.view, err);
    return status == LOCI_OK ? change(call, tx, &target, &use, err) : status;
}

static loci_status run_review(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_fact_target target = {.id = lc_call_str(call, "id"), .reason = lc_call_str(call, "reason")};
    lc_session_use use;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    return status == LOCI_OK ? change(call, tx, &target, &use, err) : status;
}

const lc_op lc_op_fact_retract = {
    .name = "fact.retract",
    .help = "Take back a fact; nothing takes its place",
    .params = retract_params,
    .results = change_results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/facts/retract",
    .mcp = "fact retract",
    .example = "{\"key\":\"city\",\"reason\":\"was a joke\"}",
    .prepare = prepare_retract,
    .run = run_retract,
};

const lc_op lc_op_fact_review = {
    .name = "fact.review",
    .help = "Say whether a fact still holds although what it depended on does not",
    .params = review_params,
    .results = change_results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/facts/review/{id}",
    .mcp = "fact review",
    .example = "{\"id\":\"fact_00000000000000000000000000\",\"action\":\"confirm\"}",
    .prepare = prepare_review,
    .run = run_review,
};
