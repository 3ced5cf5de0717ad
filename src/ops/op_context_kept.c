/* op_context_kept.c - kept contexts: why a line is there, what is no longer true, what changed. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/since.h"
#include "ops/call_scope.h"
#include "ops/op_context.h"
#include "store/event.h"

#define LIMIT_MAX 200

typedef struct kept_input {
    loci_str context_id;
    loci_str a, b;
    loci_str since; /* Canonical JSON. */
    int64_t limit;
    /* Made by prepare. */
    int64_t since_seq; /* -1 = since_id is given. */
    loci_str since_id;
} kept_input;

#define CONTEXT_PARAM(name_, member_, help_)                                                       \
    LC_NAME_PARAM(name_, kept_input, member_, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, help_)

static const lc_param context_params[] = {
    CONTEXT_PARAM("context_id", context_id, "Id of a kept context (ctx_...)"),
    {.name = NULL},
};

static const lc_record context_record = {.name = "KeptContext", .row = &lc_kept_context_row};
static const lc_record line_record = {.name = "KeptLine", .row = &lc_kept_line_row};

static loci_status load(lc_call *call, lc_tx *tx, loci_str id, lc_kept *out, loci_error *err)
{
    return lc_kept_load(tx, call->persona_id, id, call->arena, out, err);
}

static int64_t count_forgotten(const lc_kept *k)
{
    return k->context.line_count - (int64_t)k->count;
}

static bool is_in_text(const lc_kept_line *line)
{
    return line->reason.len == 0;
}

/* ---- context.explain ------------------------------------------------------------------------- */

static const lc_record explain_answer = {
    .base = &context_record,
    .members =
        (const lc_result[]){
            {"included", 0, "Lines of the text, in the order of choosing", LC_RESULT_LIST,
             .record = &line_record},
            {"excluded", 0, "Best lines that lost their place", LC_RESULT_LIST,
             .record = &line_record},
            {"forgotten", LC_PARAM_INT, "Number of lines that were forgotten since"},
            {NULL},
        },
};

static void put_lines(const lc_kept *k, bool in_text, const char *name, lc_json_writer *out)
{
    lc_jw_name(out, name);
    lc_jw_array(out);
    for (size_t i = 0; i < k->count; i++) {
        if (is_in_text(&k->lines[i]) != in_text)
            continue;
        lc_jw_object(out);
        lc_row_put(&lc_kept_line_row, &k->lines[i], out);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

static loci_status run_explain(lc_call *call, lc_tx *tx, loci_error *err)
{
    const kept_input *in = call->input;
    lc_kept k;
    loci_status status = load(call, tx, in->context_id, &k, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_row_put(&lc_kept_context_row, &k.context, &call->out);
    put_lines(&k, true, "included", &call->out);
    put_lines(&k, false, "excluded", &call->out);
    lc_jw_member_int(&call->out, "forgotten", count_forgotten(&k));
    lc_jw_end(&call->out);
    return LOCI_OK;
}

const lc_op lc_context_explain = {
    .name = "context.explain",
    .help = "Explain the lines of a kept context: the reason and the score of each",
    .params = context_params,
    .input_bytes = sizeof(kept_input),
    .answer = &explain_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/contexts/{context_id}",
    .look = {.columns = "section why score words meaning tokens id"},
    .example = "{\"context_id\":\"" LC_EXAMPLE_CONTEXT_ID "\"}",
    .run = run_explain,
};

/* ---- context.check --------------------------------------------------------------------------- */

static const lc_record stale_record = {
    .name = "StaleLine",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the fact, message, item or signal"},
            {"section", LC_PARAM_STRING, "Section of the text that it is in"},
            {"reason", LC_PARAM_STRING, "Reason for no longer using it",
             .choices = LC_STALE_REASONS},
            {"now_id", LC_PARAM_STRING, "Id of the version that is true now", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record check_answer = {
    .base = &context_record,
    .members =
        (const lc_result[]){
            {"is_current", LC_PARAM_BOOL, "True if every line of the text is still true"},
            {"stale", 0, "Lines of the text that are no longer true", LC_RESULT_LIST,
             .record = &stale_record},
            {"forgotten", LC_PARAM_INT,
             "Number of lines that were forgotten since: delete the whole text"},
            {NULL},
        },
};

static loci_status put_stale(lc_call *call, lc_tx *tx, const lc_kept *k, const lc_fact_view *view,
                             bool *is_any, loci_error *err)
{
    lc_json_writer *out = &call->out;
    loci_status status = LOCI_OK;

    lc_jw_name(out, "stale");
    lc_jw_array(out);
    for (size_t i = 0; i < k->count && status == LOCI_OK; i++) {
        const lc_kept_line *line = &k->lines[i];
        lc_stale stale;

        if (!is_in_text(line))
            continue;
        status = lc_call_pause_point(call, err);
        if (status == LOCI_OK)
            status = lc_context_check_line(
                tx, &(lc_line_check){view, &k->context, line, call->arena}, &stale, err);
        if (status != LOCI_OK || stale.reason == NULL)
            continue;
        *is_any = true;
        lc_jw_object(out);
        lc_jw_member_str(out, "id", line->id);
        lc_jw_member_str(out, "section", line->section);
        lc_jw_member_text(out, "reason", stale.reason);
        if (stale.now_id.len > 0)
            lc_jw_member_str(out, "now_id", stale.now_id);
        lc_jw_end(out);
    }
    lc_jw_end(out);
    return status;
}

static loci_status run_check(lc_call *call, lc_tx *tx, loci_error *err)
{
    const kept_input *in = call->input;
    lc_fact_view view;
    bool is_stale = false;
    int64_t forgotten;
    lc_kept k;
    loci_status status = load(call, tx, in->context_id, &k, err);

    if (status == LOCI_OK)
        status = lc_fact_read_view(call, tx, NULL, &view, err);
    if (status != LOCI_OK)
        return status;
    forgotten = count_forgotten(&k);
    lc_jw_object(&call->out);
    lc_row_put(&lc_kept_context_row, &k.context, &call->out);
    status = put_stale(call, tx, &k, &view, &is_stale, err);
    lc_jw_member_int(&call->out, "forgotten", forgotten);
    lc_jw_member_bool(&call->out, "is_current", !is_stale && forgotten == 0);
    lc_jw_end(&call->out);
    return status;
}

const lc_op lc_context_check = {
    .name = "context.check",
    .help = "Check a kept context: list its lines that are no longer true",
    .params = context_params,
    .input_bytes = sizeof(kept_input),
    .answer = &check_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/contexts/{context_id}/check",
    .look = {.columns = "section reason id now_id"},
    .example = "{\"context_id\":\"" LC_EXAMPLE_CONTEXT_ID "\"}",
    .run = run_check,
};

/* ---- context.diff ---------------------------------------------------------------------------- */

static const lc_param diff_params[] = {
    CONTEXT_PARAM("a", a, "Id of a kept context (ctx_...)"),
    CONTEXT_PARAM("b", b, "Id of another one"),
    {.name = NULL},
};

static const lc_record diff_record = {
    .name = "ContextDifference",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the fact, message, item or signal"},
            {"section", LC_PARAM_STRING, "Section of the text that it is in"},
            {"in", LC_PARAM_STRING, "Context that has it", .choices = "a|b"},
            {"reason", LC_PARAM_STRING,
             "Reason for not being in the other one; absent if the other one has no line of it",
             LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record diff_answer = {
    .members =
        (const lc_result[]){
            {"lines", 0, "Lines that only one of them has", LC_RESULT_LIST, .record = &diff_record},
            {"same", LC_PARAM_INT, "Number of lines that both have"},
            {NULL},
        },
};

static const lc_kept_line *find_line(const lc_kept *k, const lc_kept_line *like)
{
    for (size_t i = 0; i < k->count; i++)
        if (lc_str_eq(k->lines[i].id, like->id) && lc_str_eq(k->lines[i].section, like->section))
            return &k->lines[i];
    return NULL;
}

/* The lines of `of` that the other one does not have in its text; returns how many both have. */
static int64_t put_only(const lc_kept *of, const lc_kept *other, const char *name,
                        lc_json_writer *out)
{
    int64_t same = 0;

    for (size_t i = 0; i < of->count; i++) {
        const lc_kept_line *line = &of->lines[i], *found;

        if (!is_in_text(line))
            continue;
        found = find_line(other, line);
        if (found != NULL && is_in_text(found)) {
            same++;
            continue;
        }
        lc_jw_object(out);
        lc_jw_member_str(out, "id", line->id);
        lc_jw_member_str(out, "section", line->section);
        lc_jw_member_text(out, "in", name);
        if (found != NULL)
            lc_jw_member_str(out, "reason", found->reason);
        lc_jw_end(out);
    }
    return same;
}

static loci_status run_diff(lc_call *call, lc_tx *tx, loci_error *err)
{
    const kept_input *in = call->input;
    lc_kept a, b;
    int64_t same;
    loci_status status = load(call, tx, in->a, &a, err);

    if (status == LOCI_OK)
        status = load(call, tx, in->b, &b, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "lines");
    lc_jw_array(&call->out);
    same = put_only(&a, &b, "a", &call->out);
    (void)put_only(&b, &a, "b", &call->out);
    lc_jw_end(&call->out);
    lc_jw_member_int(&call->out, "same", same);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

const lc_op lc_context_diff = {
    .name = "context.diff",
    .help = "Compare two kept contexts: list the lines that only one of them has",
    .params = diff_params,
    .input_bytes = sizeof(kept_input),
    .answer = &diff_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/contexts/{a}/diff/{b}",
    .look = {.columns = "in section reason id"},
    .example = "{\"a\":\"" LC_EXAMPLE_CONTEXT_ID "\",\"b\":\"" LC_EXAMPLE_CONTEXT_ID "\"}",
    .run = run_diff,
};

/* ---- context.delta --------------------------------------------------------------------------- */

static const lc_param delta_params[] = {
    {LC_ARG_JSON("since", kept_input, since), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .max = LC_ID_BYTES_MAX, .help = "Number of an event (seq), or id of a kept context (ctx_...)"},
    {LC_ARG_INT("limit", kept_input, limit), .default_text = "50", .min = 1, .max = LIMIT_MAX,
     .help = "Maximum number of changes of each kind"},
    {.name = NULL},
};

static const lc_record change_record = {
    .name = "ContextChange",
    .members =
        (const lc_result[]){
            {"kind", LC_PARAM_STRING,
             "Kind: a fact with a new value, a fact that ended, a new memory or todo",
             .choices = LC_CHANGE_KINDS},
            {"line", LC_PARAM_STRING, "The thing in one line"},
            {"id", LC_PARAM_STRING, "Id of the fact, memory or todo"},
            {"seq", LC_PARAM_INT, "Number of the event that wrote it"},
            {NULL},
        },
};

static const lc_record delta_answer = {
    .members =
        (const lc_result[]){
            {"text", LC_PARAM_STRING, "Text for the model; empty if nothing changed"},
            {"changes", 0, "Changes, newest first within a kind", LC_RESULT_LIST,
             .record = &change_record},
            {"is_complete", LC_PARAM_BOOL, "False if there are more changes of a kind than limit"},
            {"since", LC_PARAM_INT, "Number of the event after which changes are listed"},
            {"seq", LC_PARAM_INT, "Number of the last event, for the next call"},
            {NULL},
        },
};

static loci_status fail_since(loci_error *err)
{
    return lc_fail(
        err, LOCI_EINVAL,
        "since: expected the number of an event (0 or more), or the id of a kept context "
        "(ctx_…)");
}

static loci_status prepare_delta(lc_call *call, loci_error *err)
{
    kept_input *in = call->input;
    const lc_json *since = NULL;
    loci_str text;
    loci_status status = lc_json_parse(call->arena, in->since, 0, &since, err);

    if (status != LOCI_OK)
        return status;
    in->since_seq = -1;
    if (lc_json_kind_of(since) == LC_JSON_INT) {
        in->since_seq = lc_json_int(since);
        return in->since_seq >= 0 ? LOCI_OK : fail_since(err);
    }
    text = lc_json_kind_of(since) == LC_JSON_STRING ? lc_json_str(since) : LC_STR_NONE;
    if (!lc_id_is(text, "ctx"))
        return fail_since(err);
    in->since_id = text;
    return LOCI_OK;
}

static const struct {
    const char *kind, *heading;
} headings[] = {
    {"fact", "Changed since then:"},
    {"ended", "No longer true:"},
    {"memory", "Remembered since then:"},
    {"todo", "New todos:"},
};

static loci_status put_text(lc_call *call, const lc_changes *changes, loci_error *err)
{
    loci_status status;
    lc_buf text;

    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    for (size_t h = 0; h < sizeof headings / sizeof *headings; h++) {
        bool is_open = false;

        for (size_t i = 0; i < changes->count; i++) {
            if (!lc_str_is(loci_str_of(changes->items[i].kind), headings[h].kind))
                continue;
            if (!is_open)
                lc_buf_append_format(&text, "%s%s\n", text.len > 0 ? "\n" : "",
                                     headings[h].heading);
            is_open = true;
            lc_buf_append(&text, LC_STR("- "));
            lc_buf_append(&text, changes->items[i].line);
            lc_buf_append_byte(&text, '\n');
        }
    }
    status = lc_buf_status(&text, err);
    lc_jw_member_str(&call->out, "text", status == LOCI_OK ? lc_buf_str(&text) : LC_STR(""));
    lc_buf_clear(&text);
    return status;
}

static void put_changes(lc_call *call, const lc_changes *changes)
{
    lc_json_writer *out = &call->out;

    lc_jw_name(out, "changes");
    lc_jw_array(out);
    for (size_t i = 0; i < changes->count; i++) {
        lc_jw_object(out);
        lc_jw_member_text(out, "kind", changes->items[i].kind);
        lc_jw_member_str(out, "line", changes->items[i].line);
        lc_jw_member_str(out, "id", changes->items[i].id);
        lc_jw_member_int(out, "seq", changes->items[i].seq);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

static loci_status run_delta(lc_call *call, lc_tx *tx, loci_error *err)
{
    const kept_input *in = call->input;
    int64_t since = in->since_seq;
    lc_changes changes;
    lc_fact_view view;
    lc_head head;
    lc_kept k;
    loci_status status = lc_tx_head(tx, &head, err);

    if (status == LOCI_OK && since < 0) {
        status = load(call, tx, in->since_id, &k, err);
        since = status == LOCI_OK ? k.context.seq : 0;
    }
    if (status == LOCI_OK)
        status = lc_fact_read_view(call, tx, NULL, &view, err);
    if (status == LOCI_OK)
        status = lc_context_list_changes(tx, &(lc_change_query){&view, since, in->limit},
                                         call->arena, &changes, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    status = put_text(call, &changes, err);
    put_changes(call, &changes);
    lc_jw_member_bool(&call->out, "is_complete", changes.is_complete);
    lc_jw_member_int(&call->out, "since", since);
    lc_jw_member_int(&call->out, "seq", head.seq);
    lc_jw_end(&call->out);
    return status;
}

const lc_op lc_context_delta = {
    .name = "context.delta",
    .help = "List the changes since a kept context or an event, in as few lines as possible",
    .params = delta_params,
    .input_bytes = sizeof(kept_input),
    .answer = &delta_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "POST /v1/context/delta",
    .look = {.text = "text", .hidden = "changes since seq"},
    .example = "{\"since\":0}",
    .prepare = prepare_delta,
    .run = run_delta,
};
