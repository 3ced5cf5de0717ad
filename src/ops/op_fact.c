/* op_fact.c - the operations on facts: JSON on one side, fact/ on the other. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "fact/fact.h"
#include "ops/check.h"
#include "ops/op.h"

#define KEY_PARAM                                                                                  \
    {                                                                                              \
        .name = "key", .kind = LC_PARAM_STRING,                                                    \
        .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID, .min = 1,                  \
        .max = LC_KEY_BYTES_MAX, .help = "What the fact is about: the name of its slot"            \
    }

static const lc_result fact_results[] = {
    {"id", LC_PARAM_STRING, "This version, fact_…"},
    {"key", LC_PARAM_STRING, "The slot"},
    {"value", LC_PARAM_ANY, "What is known"},
    {"status", LC_PARAM_STRING, "valid or superseded"},
    {"is_valid", LC_PARAM_BOOL, "Whether it still stands"},
    {"source", LC_PARAM_STRING, "Where it came from, if given"},
    {"persona_id", LC_PARAM_STRING, "Whose it is, if not everybody's"},
    {"observed_at", LC_PARAM_TIME, "When it was true"},
    {"recorded_at", LC_PARAM_TIME, "When loci learnt it"},
    {"supersedes", LC_PARAM_STRINGS, "The versions whose place it took"},
    {"superseded_by", LC_PARAM_STRING, "The version that took its place, if any"},
    {"seq", LC_PARAM_INT, "The event that wrote it"},
    {NULL, 0, NULL},
};

static lc_fact_view view_of(const lc_call *call)
{
    return (lc_fact_view){
        .tenant_id = call->tenant_id, .user_id = call->user_id, .persona_id = call->persona_id};
}

/* ---- fact.write
 * ---------------------------------------------------------------------------------- */

static const lc_param write_params[] = {
    KEY_PARAM,
    {.name = "value",
     .kind = LC_PARAM_ANY,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .help = "What is known, any JSON"},
    {.name = "source",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_ID,
     .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "Where it comes from, such as user or hr_system"},
    {.name = "observed_at",
     .kind = LC_PARAM_TIME,
     .help = "When it was true; the time of the call if absent"},
    {.name = NULL},
};

static const lc_result write_results[] = {
    {"id", LC_PARAM_STRING, "The version that now stands, fact_…"},
    {"outcome", LC_PARAM_STRING,
     "created, superseded (another value) or repeated (the same value)"},
    {"superseded", LC_PARAM_STRING, "The version whose place it took, if any"},
    {"seq", LC_PARAM_INT, "The event that wrote it"},
    {NULL, 0, NULL},
};

static loci_status prepare_write(lc_call *call, loci_error *err)
{
    lc_fact_new *fact = lc_arena_zalloc_array(call->arena, 1, sizeof *fact);
    lc_buf text;
    loci_status status;

    if (fact == NULL)
        return lc_fail_memory(err);
    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    status = lc_json_canonical(call->arena, lc_call_value(call, "value")->json, &text, err);
    if (status == LOCI_OK && text.len > LC_EVENT_BYTES_MAX - 4096)
        status = lc_fail(err, LOCI_ELIMIT, "value: %zu bytes; a fact holds at most %u", text.len,
                         LC_EVENT_BYTES_MAX - 4096);
    if (status == LOCI_OK) {
        *fact = (lc_fact_new){
            .key = lc_call_str(call, "key"),
            .value = lc_arena_copy(call->arena, lc_buf_str(&text)),
            .source = lc_call_str(call, "source"),
            .persona_id = call->persona_id,
            .observed_at = lc_call_i64(call, "observed_at", LOCI_AT_CLOCK),
        };
        if (fact->value.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    call->input = fact;
    return status;
}

static loci_status run_write(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_fact_written written;
    loci_status status = lc_fact_write(tx, call->input, &written, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_text(&call->out, "id", written.id.text);
    lc_jw_member_text(&call->out, "outcome", lc_fact_outcome_name(written.outcome));
    if (written.superseded.text[0] != '\0')
        lc_jw_member_text(&call->out, "superseded", written.superseded.text);
    lc_jw_member_int(&call->out, "seq", written.seq);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op fact_write = {
    .name = "fact.write",
    .help = "Record what is true now; another value of the same key supersedes it",
    .params = write_params,
    .results = write_results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/facts",
    .mcp = "fact write",
    .example = "{\"key\":\"city\",\"value\":\"Oslo\",\"source\":\"user\"}",
    .prepare = prepare_write,
    .run = run_write,
};

/* ---- fact.current
 * -------------------------------------------------------------------------------- */

static const lc_param current_params[] = {KEY_PARAM, {.name = NULL}};

static loci_status run_current(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_fact_view view = view_of(call);
    lc_fact fact;
    loci_status status = lc_fact_load_current(tx, &view, lc_call_str(call, "key"), call->arena,
                                              &fact, err);

    if (status == LOCI_OK)
        lc_fact_put(&call->out, &fact);
    return status;
}

static const lc_op fact_current = {
    .name = "fact.current",
    .help = "What is known under a key now",
    .params = current_params,
    .results = fact_results,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_ONE_STATEMENT,
    .http = "GET /v1/facts/current/{key}",
    .mcp = "fact current",
    .example = "{\"key\":\"city\"}",
    .run = run_current,
};

/* ---- fact.get
 * ------------------------------------------------------------------------------------ */

static const lc_param get_params[] = {
    {.name = "id",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID,
     .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "The version, fact_…"},
    {.name = NULL},
};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_fact_view view = view_of(call);
    lc_fact fact;
    loci_status status = lc_fact_load(tx, &view, lc_call_str(call, "id"), call->arena, &fact, err);

    if (status == LOCI_OK)
        lc_fact_put(&call->out, &fact);
    return status;
}

static const lc_op fact_get = {
    .name = "fact.get",
    .help = "One version of a fact by its id",
    .params = get_params,
    .results = fact_results,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_ONE_STATEMENT,
    .http = "GET /v1/facts/{id}",
    .mcp = "fact get",
    .example = "{\"id\":\"fact_00000000000000000000000000\"}",
    .run = run_get,
};

/* ---- fact.history and fact.list
 * ------------------------------------------------------------------ */

/* Writes facts until the page is full; one more than the page shows that there is a next one. */
typedef struct page {
    lc_json_writer *out;
    int64_t left;
    bool has_more;
    int64_t last_seq;
    lc_buf *cursor; /* Of the last fact of a full page: key, line feed, id. NULL = not wanted. */
} page;

static loci_status put_in_page(void *ctx, const lc_fact *fact, loci_error *err)
{
    page *p = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (p->left == 0) {
        p->has_more = true;
        return LOCI_OK;
    }
    p->left--;
    p->last_seq = fact->seq;
    if (p->left == 0 && p->cursor != NULL) {
        lc_buf_append(p->cursor, fact->key);
        lc_buf_append_byte(p->cursor, '\n'); /* A key has no control characters. */
        lc_buf_append(p->cursor, fact->id);
    }
    lc_fact_put(p->out, fact);
    return LOCI_OK;
}

#define LIMIT_PARAM                                                                                \
    {                                                                                              \
        .name = "limit", .kind = LC_PARAM_INT, .default_text = "100", .min = 1,                    \
        .max = LC_PAGE_ROWS_MAX, .help = "How many at most"                                        \
    }

static const lc_param history_params[] = {
    KEY_PARAM,
    {.name = "after",
     .kind = LC_PARAM_INT,
     .default_text = "0",
     .min = 0,
     .max = INT64_MAX,
     .help = "Only versions after this seq: `next` of the page before"},
    LIMIT_PARAM,
    {.name = NULL},
};

static const lc_result history_results[] = {
    {"facts", LC_PARAM_ANY, "Every version of the slot, oldest first"},
    {"next", LC_PARAM_INT, "`after` of the next page; absent on the last"},
    {NULL, 0, NULL},
};

static loci_status run_history(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_fact_view view = view_of(call);
    page p = {.out = &call->out, .left = lc_call_i64(call, "limit", 100)};
    lc_fact_history history = {.key = lc_call_str(call, "key"),
                               .after_seq = lc_call_i64(call, "after", 0),
                               .limit = p.left + 1};
    int64_t limit = p.left;
    loci_status status;

    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "facts");
    lc_jw_array(&call->out);
    status = lc_fact_each_version(tx, &view, &history, put_in_page, &p, err);
    if (status != LOCI_OK)
        return status;
    if (p.left == limit && history.after_seq == 0)
        return lc_fail(err, LOCI_ENOTFOUND, "no fact %.*s", LC_STR_ARG(history.key));
    lc_jw_end(&call->out);
    if (p.has_more)
        lc_jw_member_int(&call->out, "next", p.last_seq);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op fact_history = {
    .name = "fact.history",
    .help = "Every version of a fact, oldest first",
    .params = history_params,
    .results = history_results,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_ONE_STATEMENT,
    .http = "GET /v1/facts/history/{key}",
    .mcp = "fact history",
    .example = "{\"key\":\"city\"}",
    .run = run_history,
};

#define CURSOR_BYTES_MAX (LC_KEY_BYTES_MAX + 1 + LC_ID_TEXT_BYTES)

static const lc_param list_params[] = {
    {.name = "after",
     .kind = LC_PARAM_STRING,
     .default_text = "\"\"",
     .max = CURSOR_BYTES_MAX,
     .help = "Only what is behind this key, or behind `next` of the page before"},
    LIMIT_PARAM,
    {.name = NULL},
};

static const lc_result list_results[] = {
    {"facts", LC_PARAM_ANY, "Valid facts in the order of their keys"},
    {"next", LC_PARAM_STRING, "`after` of the next page; absent on the last"},
    {NULL, 0, NULL},
};

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_fact_view view = view_of(call);
    lc_buf cursor;
    page p = {.out = &call->out, .left = lc_call_i64(call, "limit", 100), .cursor = &cursor};
    lc_fact_page range = {.limit = p.left + 1};
    loci_status status;

    range.after_key = lc_str_split(lc_call_str(call, "after"), '\n', &range.after_id);
    lc_buf_init(&cursor, call->arena->heap, LOCI_MEM_REQUESTS, CURSOR_BYTES_MAX);

    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "facts");
    lc_jw_array(&call->out);
    status = lc_fact_each_valid(tx, &view, &range, put_in_page, &p, err);
    lc_jw_end(&call->out);
    if (p.has_more)
        lc_jw_member_str(&call->out, "next", lc_buf_str(&cursor));
    lc_jw_end(&call->out);
    if (status == LOCI_OK)
        status = lc_buf_status(&cursor, err);
    lc_buf_clear(&cursor);
    return status;
}

static const lc_op fact_list = {
    .name = "fact.list",
    .help = "What is known now, in the order of the keys",
    .params = list_params,
    .results = list_results,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_ONE_STATEMENT,
    .http = "GET /v1/facts",
    .mcp = "fact list",
    .example = "{\"limit\":10}",
    .run = run_list,
};

extern const lc_op *const lc_ops_fact[];
const lc_op *const lc_ops_fact[] = {
    &fact_write, &fact_current, &fact_get, &fact_history, &fact_list, NULL,
};
