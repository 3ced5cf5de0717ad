/* op_fact.c - the operations that read facts, and the list of all of them. */
#include "ops/op_fact.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "fact/fact_heads.h"
#include "ops/fact_caller.h"
#include "ops/page.h"

#define KEY_HELP "Key of the fact: the name of its slot"

static const lc_param_rule scope_rules[] = {LC_SCOPE_RULE, {LC_RULE_END, NULL}};

static const lc_record fact_record = {.name = "Fact", .row = &lc_fact_row};

static loci_status put_fact(lc_call *call, lc_tx *tx, const lc_fact *fact, loci_error *err)
{
    loci_str derived;
    loci_status status = lc_fact_load_derived(tx, fact, call->arena, &derived, err);

    if (status == LOCI_OK)
        lc_fact_put(&call->out, fact, derived, tx->now_us);
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
        lc_fact_put(&call->out, fact, LC_STR_NONE, call->now_us);
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
    return status == LOCI_OK ? put_fact(call, tx, &fact, err) : status;
}

static const lc_op fact_current = {
    .name = "fact.current",
    .help = "Return the current fact of a key (the newest if the key has several)",
    .params = current_params,
    .rules = scope_rules,
    .input_bytes = sizeof(current_input),
    .answer = &fact_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/facts/current/{key}",
    .mcp = "fact current",
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
        if (status == LOCI_OK && !lc_fact_may_read(&fact, &view.access))
            status = lc_fail(err, LOCI_ENOTFOUND, "no fact %.*s", LC_STR_ARG(id));
    }
    return status == LOCI_OK ? put_fact(call, tx, &fact, err) : status;
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
    .mcp = "fact get",
    .example = "{\"id\":\"fact_00000000000000000000000000\"}",
    .run = run_get,
};

/* ---- fact.history, fact.claims and fact.list ------------------------------------------------- */

/* A page of facts. They are collected first: what was derived from them is asked for when the walk
 * is over. One more than the page shows that there is a next one. */
typedef struct page {
    lc_arena *arena;
    lc_fact *facts;
    size_t count;
    size_t limit;
    bool has_more;
} page;

static loci_status start_page(page *p, lc_call *call, int64_t limit, loci_error *err)
{
    *p = (page){.arena = call->arena, .limit = (size_t)limit};
    p->facts = lc_arena_zalloc_array(call->arena, p->limit, sizeof *p->facts);
    return p->facts != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status add_to_page(void *ctx, const lc_fact *fact, loci_error *err)
{
    page *p = ctx;

    if (p->count == p->limit) {
        p->has_more = true;
        return LOCI_ECANCELLED; /* Enough. */
    }
    p->facts[p->count] = *fact;
    if (!lc_fact_keep(p->arena, &p->facts[p->count]))
        return lc_fail_memory(err);
    p->count++;
    return LOCI_OK;
}

static loci_status put_page(const page *p, const char *name, lc_call *call, lc_tx *tx,
                            loci_error *err)
{
    loci_status status = LOCI_OK;

    lc_jw_object(&call->out);
    lc_jw_name(&call->out, name);
    lc_jw_array(&call->out);
    for (size_t i = 0; status == LOCI_OK && i < p->count; i++)
        status = put_fact(call, tx, &p->facts[i], err);
    lc_jw_end(&call->out);
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

static void end_seq_page(const page *p, lc_call *call)
{
    lc_seq_position last = {p->has_more ? p->facts[p->count - 1].seq : 0};

    lc_page_end(call, &lc_position_by_seq, p->has_more ? &last : NULL);
    lc_jw_end(&call->out);
}

static loci_status run_history(lc_call *call, lc_tx *tx, loci_error *err)
{
    const history_input *in = call->input;
    lc_fact_history history = {.key = in->key, .limit = in->page.limit + 1};
    lc_seq_position at = {0};
    lc_fact_view view;
    page p;
    loci_status status = start_page(&p, call, in->page.limit, err);

    if (status == LOCI_OK)
        status = lc_page_begin(call, &in->page, &lc_position_by_seq, &at, err);
    history.after_seq = at.seq;
    if (status == LOCI_OK)
        status = lc_fact_read_view(call, tx, &in->scope, &view, err);
    if (status == LOCI_OK)
        status = lc_fact_each_version(tx, &view, &history, add_to_page, &p, err);
    if (status == LOCI_OK && p.count == 0 && history.after_seq == 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "no fact %.*s", LC_STR_ARG(history.key));
    if (status == LOCI_OK)
        status = put_page(&p, "facts", call, tx, err);
    if (status == LOCI_OK)
        end_seq_page(&p, call);
    return status;
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
    .mcp = "fact history",
    .example = "{\"key\":\"city\"}",
    .run = run_history,
};

typedef struct claims_input {
    loci_str key;
    lc_page_args page;
} claims_input;

static const lc_param claims_params[] = {
    LC_KEY_PARAM(claims_input, key, 0, "Only claims about this key"),
    LC_PAGE_PARAMS(claims_input, page),
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
    const claims_input *in = call->input;
    lc_fact_history history = {.key = in->key, .limit = in->page.limit + 1};
    lc_seq_position at = {0};
    lc_fact_view view;
    page p;
    loci_status status = start_page(&p, call, in->page.limit, err);

    if (status == LOCI_OK)
        status = lc_page_begin(call, &in->page, &lc_position_by_seq, &at, err);
    history.after_seq = at.seq;
    if (status == LOCI_OK)
        status = lc_fact_read_view(call, tx, NULL, &view, err);
    if (status == LOCI_OK)
        status = lc_fact_each_claim(tx, &view, &history, add_to_page, &p, err);
    if (status == LOCI_OK)
        status = put_page(&p, "claims", call, tx, err);
    if (status == LOCI_OK)
        end_seq_page(&p, call);
    return status;
}

static const lc_op fact_claims = {
    .name = "fact.claims",
    .help = "List claims: statements with too little authority or trust, oldest first",
    .params = claims_params,
    .input_bytes = sizeof(claims_input),
    .answer = &claims_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/claims",
    .mcp = "fact claims",
    .example = "{\"key\":\"city\"}",
    .run = run_claims,
};

typedef struct list_input {
    lc_scope_args scope;
    int64_t as_of;
    lc_page_args page;
} list_input;

static const lc_param list_params[] = {
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
    lc_fact_page range = {.as_of = in->as_of != LC_ABSENT ? in->as_of : LC_FACT_NO_TIME,
                          .limit = in->page.limit + 1};
    list_position at = {LC_STR(""), LC_STR_NONE};
    int64_t now_us = tx->now_us;
    lc_fact_view view;
    page p;
    loci_status status = start_page(&p, call, in->page.limit, err);

    if (status == LOCI_OK)
        status = lc_page_begin(call, &in->page, &by_key, &at, err);
    range.after_key = at.key;
    range.after_id = at.id;
    if (status == LOCI_OK)
        status = lc_fact_read_view(call, tx, &in->scope, &view, err);
    if (status == LOCI_OK)
        status = lc_fact_each_valid(tx, &view, &range, add_to_page, &p, err);
    if (status != LOCI_OK)
        return status;
    if (range.as_of != LC_FACT_NO_TIME)
        tx->now_us = range.as_of; /* Whether something was expired is judged then. */
    status = put_page(&p, "facts", call, tx, err);
    tx->now_us = now_us;
    if (p.has_more)
        at = (list_position){p.facts[p.count - 1].key, p.facts[p.count - 1].id};
    lc_page_end(call, &by_key, p.has_more ? &at : NULL);
    lc_jw_end(&call->out);
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
    .mcp = "fact list",
    .example = "{\"limit\":10}",
    .run = run_list,
};

extern const lc_op *const lc_ops_fact[];
const lc_op *const lc_ops_fact[] = {
    &lc_op_fact_write, &fact_current,       &fact_get,          &fact_history, &fact_list,
    &fact_claims,      &lc_op_fact_retract, &lc_op_fact_review, NULL,
};
