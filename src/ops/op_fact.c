/* op_fact.c - the operations on facts. Those that change one decide first, then begin the session,
 * then append the event, so that an error leaves no trace. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "fact/fact_heads.h"
#include "ops/call_scope.h"
#include "ops/page.h"
#include "store/event.h"

#define KEY_HELP "Key of the fact: the name of its slot"

static const lc_param_rule scope_rules[] = {LC_SCOPE_RULE, {LC_RULE_END, NULL}};

static const lc_record fact_record = {
    .name = "Fact",
    .row = &lc_fact_row,
    .members = (const lc_result[]){LC_CLIENT_RESULT, {NULL}},
};

/* The members of a fact that models see. */
#define SHOWN_OF_FACT                                                                              \
    "(key value observed_at id status trust is_constraint needs_review superseded_by ended_at "    \
    "whose:persona_id)"

/* `view` NULL: made when it is needed. `names_client`: with the program that wrote it. */
static loci_status put_fact(lc_call *call, lc_tx *tx, const lc_fact *fact, const lc_fact_view *view,
                            bool names_client, loci_error *err)
{
    lc_fact_view own;
    lc_fact_about about = {0};
    loci_status status = LOCI_OK;

    if (names_client)
        status = lc_event_find_client(tx, fact->seq, call->arena, &about.client, err);
    if (status == LOCI_OK && fact->has_derived && view == NULL) {
        status = lc_fact_read_view(call, tx, NULL, &own, err);
        view = &own;
    }
    if (status == LOCI_OK && fact->has_derived)
        status = lc_fact_load_derived(tx, fact, view, call->arena, &about.derived, err);

    if (status == LOCI_OK)
        lc_fact_put(&call->out, fact, &about, tx->now_us);
    return status;
}

/* ---- fact.current ---------------------------------------------------------------------------- */

typedef struct current_input {
    loci_str key;
    lc_scope_args scope;
} current_input;

static const lc_param current_params[] = {
    LC_KEY_PARAM(current_input, key, LC_PARAM_REQUIRED, KEY_HELP),
    LC_SCOPE_PARAMS(current_input, scope),
    {.name = NULL},
};

/* Without a scope and a session the facts of the key alone usually decide (fact/fact_heads.h). */
static bool names_no_scope(const lc_call *call)
{
    const current_input *in = call->input;

    return call->implied.session_id.ptr == NULL && in->scope.scope.ptr == NULL;
}

static bool peek_current(lc_call *call, const void *state)
{
    const current_input *in = call->input;
    const lc_fact *fact = NULL;

    if (names_no_scope(call))
        fact = lc_fact_heads_peek(state, call->persona_id, in->key, call->now_us);
    if (fact != NULL)
        lc_fact_put(&call->out, fact, &(lc_fact_about){0}, call->now_us);
    return fact != NULL;
}

static loci_status run_current(lc_call *call, lc_tx *tx, loci_error *err)
{
    const current_input *in = call->input;
    lc_fact_view view;
    lc_fact fact = {0};
    loci_status status = LOCI_OK;

    if (names_no_scope(call))
        status = lc_fact_heads_find(tx, call->persona_id, in->key, call->arena, &fact, err);
    if (status == LOCI_OK && fact.id.ptr == NULL) {
        status = lc_fact_read_view(call, tx, &in->scope, &view, err);
        if (status == LOCI_OK)
            status = lc_fact_load_current(tx, &view, in->key, call->arena, &fact, err);
    }
    if (status == LOCI_OK && strcmp(lc_fact_status(&fact, tx->now_us), "valid") != 0) {
        lc_fact_put_ended(&call->out, &fact, tx->now_us);
        return LOCI_OK;
    }
    return status == LOCI_OK ? put_fact(call, tx, &fact, NULL, false, err) : status;
}

/* Without a valid fact there is no value: an outdated value is never returned. */
static const lc_record current_record = {
    .name = "CurrentFact", .row = &lc_fact_row, .required = "key|status|is_valid"};

static const lc_op fact_current = {
    .name = "fact.current",
    .help = "Return the current fact of a key, or only its status if none is valid",
    .params = current_params,
    .rules = scope_rules,
    .input_bytes = sizeof(current_input),
    .answer = &current_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/facts/current/{key}",
    .mcp = "read_facts current",
    .mcp_takes = "key",
    .mcp_shows = "facts:*" SHOWN_OF_FACT,
    .example = "{\"key\":\"city\"}",
    .run = run_current,
    .peek = peek_current,
    .peek_kind = &lc_fact_heads_kind,
};

/* ---- fact.get -------------------------------------------------------------------------------- */

typedef struct get_input {
    loci_str id;
} get_input;

static const lc_param get_params[] = {
    LC_ID_PARAM(get_input, id, "Id of the version, fact_…"),
    {.name = NULL},
};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    loci_str id = ((const get_input *)call->input)->id;
    lc_fact_view view;
    lc_fact fact;
    loci_status status = lc_fact_load(tx, call->persona_id, id, call->arena, &fact, err);

    if (status == LOCI_OK &&
        (lc_fact_is_restricted(&fact) || call->implied.session_id.ptr != NULL)) {
        status = lc_fact_read_view(call, tx, NULL, &view, err);
        if (status == LOCI_OK && !lc_fact_may_review(&fact, &view.access))
            status = lc_fail(err, LOCI_ENOTFOUND, "there is no fact \"%.*s\"", LC_STR_ARG(id));
    }
    return status == LOCI_OK ? put_fact(call, tx, &fact, NULL, true, err) : status;
}

static const lc_op fact_get = {
    .name = "fact.get",
    .help = "Return one version of a fact, or a claim, by its id",
    .params = get_params,
    .input_bytes = sizeof(get_input),
    .answer = &fact_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/facts/{id}",
    .example = "{\"id\":\"fact_00000000000000000000000000\"}",
    .run = run_get,
};

/* ---- fact.history, fact.claims and fact.list ------------------------------------------------- */

/* The facts are collected first: facts derived from them are read after the walk. */
typedef struct collection {
    lc_page page;
    lc_fact *facts;
    size_t count;
    bool names_clients; /* In the answer. */
} collection;

static loci_status begin_facts(collection *c, const lc_page_args *args, loci_error *err)
{
    loci_status status = lc_page_begin(&c->page, args, err);

    c->facts = lc_arena_zalloc_array(c->page.call->arena, (size_t)args->limit, sizeof *c->facts);
    return status == LOCI_OK && c->facts == NULL ? lc_fail_memory(err) : status;
}

static loci_status collect(void *ctx, const lc_fact *fact, loci_error *err)
{
    collection *c = ctx;

    if (!lc_page_takes(&c->page))
        return LOCI_ECANCELLED; /* Enough. */
    c->facts[c->count] = *fact;
    if (!lc_fact_keep(c->page.call->arena, &c->facts[c->count]))
        return lc_fail_memory(err);
    c->count++;
    return LOCI_OK;
}

static loci_status put_facts(collection *c, const char *name, const lc_fact_view *view, lc_tx *tx,
                             loci_error *err)
{
    loci_status status = LOCI_OK;

    lc_page_open(&c->page, name);
    for (size_t i = 0; status == LOCI_OK && i < c->count; i++)
        status = put_fact(c->page.call, tx, &c->facts[i], view, c->names_clients, err);
    lc_page_close(&c->page);
    return status;
}

typedef struct history_input {
    loci_str key;
    lc_scope_args scope;
    lc_page_args page;
} history_input;

static const lc_param history_params[] = {
    LC_KEY_PARAM(history_input, key, LC_PARAM_REQUIRED, KEY_HELP),
    LC_SCOPE_PARAMS(history_input, scope),
    LC_PAGE_PARAMS(history_input, page),
    {.name = NULL},
};

static const lc_record history_answer = {
    .members =
        (const lc_result[]){
            {"facts", 0, "Versions of the fact, oldest first; claims are not versions",
             LC_RESULT_LIST, NULL, &fact_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef loci_status walk(lc_tx *tx, const lc_fact_view *view, const lc_fact_history *history,
                         lc_fact_visit *visit, void *ctx, loci_error *err);

/* The versions or the claims, in the order of their events. */
static loci_status list_by_seq(lc_call *call, lc_tx *tx, const char *name, walk *each,
                               loci_error *err)
{
    const history_input *in = call->input;
    lc_fact_history history = {.key = in->key, .limit = in->page.limit + 1};
    lc_seq_position last = {0};
    collection c = {.page = {call, &lc_position_by_seq, &last}, .names_clients = true};
    lc_fact_view view;
    loci_status status = begin_facts(&c, &in->page, err);

    history.after_seq = last.seq;
    if (status == LOCI_OK)
        status = lc_fact_read_view(call, tx, &in->scope, &view, err);
    if (status == LOCI_OK)
        status = each(tx, &view, &history, collect, &c, err);
    if (status == LOCI_OK && each == lc_fact_each_version && c.count == 0 && last.seq == 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "there is no fact \"%.*s\"", LC_STR_ARG(in->key));
    if (status != LOCI_OK)
        return status;
    if (c.count > 0)
        last.seq = c.facts[c.count - 1].seq;
    return put_facts(&c, name, &view, tx, err);
}

static loci_status run_history(lc_call *call, lc_tx *tx, loci_error *err)
{
    return list_by_seq(call, tx, "facts", lc_fact_each_version, err);
}

static const lc_op fact_history = {
    .name = "fact.history",
    .help = "List every version of a fact, oldest first",
    .params = history_params,
    .rules = scope_rules,
    .input_bytes = sizeof(history_input),
    .answer = &history_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/facts/history/{key}",
    .mcp = "read_facts history",
    .mcp_takes = "key limit=20 cursor",
    .mcp_shows = "facts" SHOWN_OF_FACT " next_cursor",
    .look = {.columns = "value status source observed_at ended_at id"},
    .example = "{\"key\":\"city\"}",
    .run = run_history,
};

static const lc_param claims_params[] = {
    LC_KEY_PARAM(history_input, key, 0, "Only claims about this key"),
    LC_PAGE_PARAMS(history_input, page),
    {.name = NULL},
};

static const lc_record claims_answer = {
    .members =
        (const lc_result[]){
            {"claims", 0, "Claims, oldest first", LC_RESULT_LIST, NULL, &fact_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

static loci_status run_claims(lc_call *call, lc_tx *tx, loci_error *err)
{
    return list_by_seq(call, tx, "claims", lc_fact_each_claim, err);
}

static const lc_op fact_claims = {
    .name = "fact.claims",
    .help = "List claims: statements with too little authority or trust, oldest first",
    .params = claims_params,
    .input_bytes = sizeof(history_input),
    .answer = &claims_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/claims",
    .mcp = "read_facts claims",
    .mcp_takes = "key limit=20 cursor",
    .mcp_shows = "facts:claims" SHOWN_OF_FACT " next_cursor",
    .look = {.columns = "key value source authority observed_at id"},
    .example = "{\"key\":\"city\"}",
    .run = run_claims,
};

typedef struct list_input {
    loci_str prefix;
    lc_scope_args scope;
    int64_t as_of;
    lc_page_args page;
} list_input;

static const lc_param list_params[] = {
    {LC_ARG_STR("prefix", list_input, prefix), .flags = LC_PARAM_ID, .min = 1,
     .max = LC_KEY_BYTES_MAX,
     .help = "Only facts whose keys begin with this text, such as user. (default: all facts)"},
    LC_SCOPE_PARAMS(list_input, scope),
    {LC_ARG_TIME("as_of", list_input, as_of),
     .help = "Time of the view: all events recorded until then (default: now)"},
    LC_PAGE_PARAMS(list_input, page),
    {.name = NULL},
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"facts", 0, "Valid facts of the scope, by key; they hide global facts with their keys",
             LC_RESULT_LIST, NULL, &fact_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct list_position {
    loci_str key;
    loci_str id; /* A key may have several facts. */
} list_position;

static const lc_position by_key = {"ss",
                                   {offsetof(list_position, key), offsetof(list_position, id)}};

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    lc_fact_page range = {.prefix = in->prefix,
                          .as_of = in->as_of != LC_ABSENT ? in->as_of : LC_FACT_NO_TIME,
                          .limit = in->page.limit + 1};
    list_position at = {LC_STR(""), LC_STR_NONE};
    collection c = {.page = {call, &by_key, &at}};
    int64_t now_us = tx->now_us;
    lc_fact_view view;
    loci_status status = begin_facts(&c, &in->page, err);

    range.after_key = at.key;
    range.after_id = at.id;
    if (status == LOCI_OK)
        status = lc_fact_read_view(call, tx, &in->scope, &view, err);
    if (status == LOCI_OK)
        status = lc_fact_each_valid(tx, &view, &range, collect, &c, err);
    if (status != LOCI_OK)
        return status;
    if (c.count > 0)
        at = (list_position){c.facts[c.count - 1].key, c.facts[c.count - 1].id};
    if (range.as_of != LC_FACT_NO_TIME)
        tx->now_us = range.as_of; /* Whether something was expired is judged then. */
    status = put_facts(&c, "facts", &view, tx, err);
    tx->now_us = now_us;
    return status;
}

static const lc_op fact_list = {
    .name = "fact.list",
    .help = "List the valid facts, now or as of a time, in the order of their keys",
    .params = list_params,
    .rules = scope_rules,
    .input_bytes = sizeof(list_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/facts",
    .mcp = "read_facts list",
    .mcp_takes = "limit=20 cursor",
    .mcp_shows = "facts" SHOWN_OF_FACT " next_cursor",
    .look = {.columns = "key value source observed_at id"},
    .example = "{\"limit\":10}",
    .run = run_list,
};

/* ---- fact.write ------------------------------------------------------------------------------ */

typedef struct write_input {
    lc_fact_input fact; /* Without the members that depend on the session. */
    lc_claim_args claim;
    lc_scope_args scope;
    loci_str min_read_authority;
    loci_str min_write_authority;
    loci_str message_id;
    lc_tristate is_constraint;
    lc_fact_caller caller; /* Made by prepare. */
} write_input;

static const lc_param write_params[] = {
    LC_KEY_PARAM(write_input, fact.key, LC_PARAM_REQUIRED | LC_PARAM_SAID,
                 "Key of the fact: the name of its slot"),
    {LC_ARG_JSON("value", write_input, fact.value),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID, .max = LC_VALUE_BYTES_MAX,
     .help = "Value of the fact, any JSON"},
    {LC_ARG_STRINGS("supersedes", write_input, fact.supersedes), .flags = LC_PARAM_ONE_OR_MANY,
     .max = LC_FACT_TARGETS_MAX, .item_max = LC_KEY_BYTES_MAX,
     .help = "Keys or ids of other facts in the same scope that this fact replaces"},
    LC_NAME_PARAM("source", write_input, fact.source, LC_PARAM_SAID,
                  "Source, such as user or hr_system"),
    LC_CLAIM_PARAMS(write_input, claim),
    {LC_ARG_TIME("observed_at", write_input, fact.observed_at),
     .help = "Time at which the value was true (default: the time of the call)"},
    {LC_ARG_TIME("valid_until", write_input, fact.valid_until),
     .help = "Time at which the fact expires (default: never)"},
    {LC_ARG_STR("memory_type", write_input, fact.memory_type),
     .choices = "user|capability|organizational",
     .help = "Kind of knowledge (default: derived from the source)"},
    LC_SCOPE_PARAMS(write_input, scope),
    {LC_ARG_STRINGS("depends_on", write_input, fact.depends_on), .flags = LC_PARAM_ONE_OR_MANY,
     .max = LC_FACT_TARGETS_MAX, .item_max = LC_KEY_BYTES_MAX,
     .help = "Keys or ids of facts that this one is derived from; when one ends, it needs review"},
    {LC_ARG_TRISTATE("is_constraint", write_input, is_constraint),
     .help = "Whether it is a rule that must be kept (default: as the key's current fact)"},
    LC_NAME_PARAM("constraint_type", write_input, fact.constraint_type, 0,
                  "Kind of rule: budget, deadline, capacity, policy …"),
    LC_NAME_PARAM("min_read_authority", write_input, min_read_authority, 0,
                  "Minimum authority to read the fact"),
    LC_NAME_PARAM("min_write_authority", write_input, min_write_authority, 0,
                  "Minimum authority to change the fact, at most the writer's own"),
    {LC_ARG_STR("required_permission", write_input, fact.required_permission), .flags = LC_PARAM_ID,
     .max = LC_ID_BYTES_MAX,
     .help = "Permission required to read the fact; \"\" removes the requirement"},
    {LC_ARG_BOOL("multi", write_input, fact.is_multi, "false"),
     .help = "Allow several values under this key; only the first write can set it"},
    LC_SOURCE_PARAM(write_input, message_id),
    {.name = NULL},
};

static const lc_record write_answer = {
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the version that was written, or of the one repeated"},
            {"outcome", LC_PARAM_STRING,
             "Effect of the write; repeated: same value as before; late: older than the current "
             "fact, stored as history; claimed: too little authority or trust, stored as a claim; "
             "shadowed: hides the global fact in its scope",
             .choices = LC_FACT_OUTCOMES},
            {"superseded", LC_PARAM_STRING, "Id of the version that it replaced",
             LC_RESULT_OPTIONAL},
            {"contests", LC_PARAM_STRING, "For a claim: id of the fact it contradicts",
             LC_RESULT_OPTIONAL},
            {"needs_review", LC_PARAM_INT,
             "Number of facts that need review since a fact they depend on ended",
             LC_RESULT_OPTIONAL},
            {"seq", LC_PARAM_INT, "Number of the event that wrote it"},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status check_permission(loci_str permission, loci_error *err)
{
    for (size_t i = 0; i < permission.len; i++) {
        if (permission.ptr[i] == '"' || permission.ptr[i] == '\\')
            return lc_fail(err, LOCI_EINVAL,
                           "required_permission: expected a name without quotes and backslashes");
    }
    return LOCI_OK;
}

static loci_status prepare_write(lc_call *call, loci_error *err)
{
    write_input *in = call->input;
    lc_fact_input *fact = &in->fact;
    loci_status status = lc_fact_caller_init(&in->caller, call, &in->claim, err);

    if (status == LOCI_OK)
        status = check_permission(fact->required_permission, err);
    if (status == LOCI_OK)
        status = lc_fact_set_scope(&in->scope, NULL, &fact->view, err);
    if (status != LOCI_OK)
        return status;
    fact->trust = in->caller.trust;
    if (fact->valid_until == LC_ABSENT)
        fact->valid_until = LC_FACT_NO_TIME;
    fact->has_constraint = in->is_constraint != LC_UNSET;
    fact->is_constraint = in->is_constraint == LC_TRUE;
    fact->min_read = lc_authority_of(in->min_read_authority, in->caller.titles);
    fact->min_write = lc_authority_of(in->min_write_authority, in->caller.titles);
    fact->view.persona_id = call->persona_id;
    return LOCI_OK;
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
        status = lc_fact_set_scope(&in->scope, &use.session, &fact.view, err);
    if (status != LOCI_OK)
        return status;
    fact.authority = lc_fact_caller_authority(&in->caller, &use.session.identity);
    fact.view.access = lc_fact_caller_access(&in->caller, &use.session.identity);
    fact.view.session_id = use.session.id;
    status = lc_fact_decide(tx, &fact, call->arena, &plan, err);
    if (status == LOCI_OK)
        status = lc_call_set_source(call, tx, in->message_id, err);
    if (status == LOCI_OK)
        status = lc_session_begin_lazily(tx, &use, lc_fact_plan_writes(plan), err);
    if (status == LOCI_OK)
        status = lc_fact_commit(tx, plan, call->arena, &result, err);
    if (status == LOCI_OK)
        put_written(call, &result);
    return status;
}

static const lc_op fact_write = {
    .name = "fact.write",
    .help = "Record a fact; another value of the same key supersedes it",
    .params = write_params,
    .rules = scope_rules,
    .input_bytes = sizeof(write_input),
    .answer = &write_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT | LC_OP_SESSION | LC_OP_READS_OWN,
    .http = "POST /v1/facts",
    .mcp = "set_fact",
    .mcp_takes = "key value valid_until is_constraint trust",
    .mcp_shows = "outcome id superseded contests needs_review",
    .look = {.sentence = "{outcome superseded=changed,repeated=unchanged:,late=kept as history:,"
                         "claimed=kept as a claim:,shadowed=created in its scope:} "
                         "{key} = {value}  ({id})"
                         "[; facts to review, as they depended on it: {needs_review}]"},
    .example = "{\"key\":\"city\",\"value\":\"Oslo\",\"source\":\"user\"}",
    .prepare = prepare_write,
    .run = run_write,
};

/* ---- fact.retract and fact.review ------------------------------------------------------------ */

/* Of fact.retract and fact.review. */
typedef struct change_input {
    loci_str key;
    loci_str id;
    loci_str action;
    loci_str reason;
    lc_scope_args scope;
    lc_claim_args claim;
    lc_fact_caller caller; /* Made by prepare. */
} change_input;

#define REASON_PARAM                                                                               \
    {                                                                                              \
        LC_ARG_STR("reason", change_input, reason), .flags = LC_PARAM_SAID, .max = 4096,           \
                                                    .help = "Reason of the change"                 \
    }

static const lc_param retract_params[] = {
    LC_KEY_PARAM(change_input, key, 0, "Key whose facts are retracted, all if it has several"),
    LC_NAME_PARAM("id", change_input, id, 0, "Id of the version to retract, instead of a key"),
    REASON_PARAM,
    LC_SCOPE_PARAMS(change_input, scope),
    LC_CLAIM_PARAMS(change_input, claim),
    {.name = NULL},
};

static const lc_param_rule retract_rules[] = {
    {LC_RULE_EXACTLY_ONE, "key|id"},
    LC_SCOPE_RULE,
    {LC_RULE_END, NULL},
};

static const lc_param review_params[] = {
    LC_ID_PARAM(change_input, id, "Id of the version, fact_…"),
    {LC_ARG_STR("action", change_input, action), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .choices = "confirm|retract",
     .help = "Result of the review: the fact is still true, or it is retracted"},
    REASON_PARAM,
    LC_CLAIM_PARAMS(change_input, claim),
    {.name = NULL},
};

static const lc_record change_answer = {
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the version"},
            {"outcome", LC_PARAM_STRING, "Effect of the call; unchanged: it needed no review",
             .choices = "retracted|confirmed|unchanged"},
            {"count", LC_PARAM_INT, "Number of facts that changed"},
            {"needs_review", LC_PARAM_INT,
             "Number of facts that need review since a fact they depend on ended",
             LC_RESULT_OPTIONAL},
            {"seq", LC_PARAM_INT, "Number of the event; if unchanged, of the one that wrote it"},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status prepare_change(lc_call *call, loci_error *err)
{
    change_input *in = call->input;
    lc_fact_view view;
    loci_status status = lc_fact_set_scope(&in->scope, NULL, &view, err);

    return status == LOCI_OK ? lc_fact_caller_init(&in->caller, call, &in->claim, err) : status;
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

static loci_status run_change(lc_call *call, lc_tx *tx, loci_error *err)
{
    const change_input *in = call->input;
    lc_fact_target target = {.key = in->key, .id = in->id, .reason = in->reason};
    bool confirms = lc_str_is(in->action, "confirm");
    lc_session_use use;
    lc_fact_ending *ending;
    lc_fact_change done;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_fact_set_scope(&in->scope, &use.session, &target.view, err);
    if (status != LOCI_OK)
        return status;
    target.authority = lc_fact_caller_authority(&in->caller, &use.session.identity);
    target.trust = in->caller.trust;
    target.view.persona_id = call->persona_id;
    target.view.access = lc_fact_caller_access(&in->caller, &use.session.identity);
    status = lc_fact_decide_retract(tx, &target, call->arena, &ending, err);
    if (status == LOCI_OK)
        status = lc_session_begin_lazily(tx, &use, !confirms || lc_fact_ending_needs_review(ending),
                                         err);
    if (status == LOCI_OK)
        status = confirms ? lc_fact_commit_confirm(tx, ending, &done, err)
                          : lc_fact_commit_retract(tx, ending, &done, err);
    if (status == LOCI_OK)
        put_change(call, &done, confirms ? "confirmed" : "retracted");
    return status;
}

static const lc_op fact_retract = {
    .name = "fact.retract",
    .help = "Retract a fact; no other value takes its place",
    .params = retract_params,
    .rules = retract_rules,
    .input_bytes = sizeof(change_input),
    .answer = &change_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION | LC_OP_DESTROYS,
    .http = "POST /v1/facts/retract",
    .mcp = "retract_fact",
    .mcp_takes = "key reason",
    .mcp_shows = "outcome id ~count needs_review",
    .look = {.sentence = "{outcome}[ {key}]  ({id})"
                         "[; facts to review, as they depended on it: {needs_review}]"},
    .example = "{\"key\":\"city\",\"reason\":\"was a joke\"}",
    .prepare = prepare_change,
    .run = run_change,
};

static const lc_op fact_review = {
    .name = "fact.review",
    .help = "Confirm or retract a fact that needs review since a fact it depends on ended",
    .params = review_params,
    .input_bytes = sizeof(change_input),
    .answer = &change_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION | LC_OP_DESTROYS,
    .http = "POST /v1/facts/review/{id}",
    .look = {.sentence = "{outcome}  ({id})"
                         "[; facts to review, as they depended on it: {needs_review}]"},
    .example = "{\"id\":\"fact_00000000000000000000000000\",\"action\":\"confirm\"}",
    .prepare = prepare_change,
    .run = run_change,
};

extern const lc_op lc_op_fact_forget; /* op_forget.c */
extern const lc_op *const lc_ops_fact[];
const lc_op *const lc_ops_fact[] = {
    &fact_write,  &fact_current, &fact_get,    &fact_history,      &fact_list,
    &fact_claims, &fact_retract, &fact_review, &lc_op_fact_forget, NULL,
};
