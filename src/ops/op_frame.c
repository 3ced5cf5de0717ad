/* op_frame.c - the operations on whole frames: push, get, list, update, pop. */
#include "ops/op_frame.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "ops/message_input.h"
#include "ops/metadata.h"
#include "ops/page.h"

/* ---- Answers --------------------------------------------------------------------------------- */

const lc_record lc_frame_budget_record = {
    .name = "FrameBudget",
    .members =
        (const lc_result[]){
            {"total", LC_PARAM_INT, "Tokens given to the frame"},
            {"used", LC_PARAM_INT, "Tokens used by the frame and by its children that have ended"},
            {"reserved", LC_PARAM_INT, "Tokens set aside by reservations"},
            {"subcall_allocation", LC_PARAM_INT, "Tokens handed on to its open children"},
            {"available", LC_PARAM_INT, "Tokens that can still be reserved or handed on"},
            {"over", LC_PARAM_INT, "Tokens used above the budget"},
            {NULL},
        },
};

static const lc_record scope_record = {.row = &lc_frame_row, .group = "scope"};
static const lc_record limits_record = {.row = &lc_frame_row, .group = "limits"};

const lc_record lc_frame_record = {
    .name = "Frame",
    .row = &lc_frame_row,
    .members =
        (const lc_result[]){
            {"scope", 0, "Agent, session and thread that it belongs to", .record = &scope_record},
            {"limits", 0, "Limits of the frame, at most those of its parent",
             .record = &limits_record},
            {"budget", 0, "Tokens of the frame", .record = &lc_frame_budget_record},
            {NULL},
        },
};

const lc_record lc_frame_handle_record = {.name = "FrameHandle", .row = &lc_frame_handle_row};

void lc_call_put_budget(lc_call *call, const lc_ledger *ledger)
{
    lc_json_writer *out = &call->out;

    lc_jw_name(out, "budget");
    lc_jw_object(out);
    lc_jw_member_int(out, "total", ledger->total);
    lc_jw_member_int(out, "used", ledger->used);
    lc_jw_member_int(out, "reserved", ledger->reserved);
    lc_jw_member_int(out, "subcall_allocation", ledger->allocated);
    lc_jw_member_int(out, "available", lc_ledger_available(ledger));
    lc_jw_member_int(out, "over", lc_ledger_overdraft(ledger));
    lc_jw_end(out);
}

void lc_call_put_outcome(lc_call *call, const lc_ledger *ledger)
{
    int64_t over = lc_ledger_overdraft(ledger);

    lc_jw_member_text(&call->out, "outcome", over > 0 ? "over_budget" : "ok");
    lc_jw_member_int(&call->out, "over", over);
}

void lc_call_put_frame(lc_call *call, const lc_frame *frame)
{
    lc_row_put(&lc_frame_row, frame, &call->out);
    lc_call_put_budget(call, &frame->ledger);
}

static void put_frame(lc_call *call, const lc_frame *frame)
{
    lc_jw_object(&call->out);
    lc_call_put_frame(call, frame);
    lc_jw_end(&call->out);
}

loci_status lc_call_make_content(lc_call *call, loci_str text, lc_content **out, loci_error *err)
{
    lc_message counted = {.text = text};
    loci_status status;

    *out = NULL;
    if (text.ptr == NULL)
        return LOCI_OK;
    *out = lc_arena_alloc(call->arena, sizeof **out);
    if (*out == NULL)
        return lc_fail_memory(err);
    status = lc_message_count_tokens(call, false, &counted, err);
    return status == LOCI_OK ? lc_content_init(*out, text, counted.tokens, call->arena, err)
                             : status;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

typedef struct frame_input {
    loci_str id, goal, parent_id, status, waiting_for, error, result, title, priority, root_id;
    const lc_json *scope;
    lc_frame_scope flat;
    loci_str inputs;
    const lc_json *metadata;
    int64_t budget;
    lc_frame_limits limits;
    bool cascade;
    lc_page_args page;
    /* Made by prepare. */
    loci_str kept_metadata;
    lc_content *content;
} frame_input;

#define SCOPE_PARAMS LC_FRAME_SCOPE_PARAMS(frame_input, scope, flat)

#define FIELD_PARAMS                                                                               \
    {LC_ARG_JSON("inputs", frame_input, inputs), .flags = LC_PARAM_SAID,                           \
     .max = LC_FRAME_INPUTS_BYTES_MAX, .help = "Inputs of the task, any JSON"},                    \
        LC_METADATA_PARAM(frame_input, metadata)

const lc_param_rule lc_frame_scope_rules[] = {
    {LC_RULE_AT_MOST_ONE, "scope|actor_id"},
    {LC_RULE_AT_MOST_ONE, "scope|session_id"},
    {LC_RULE_AT_MOST_ONE, "scope|thread_id"},
    {LC_RULE_END, NULL},
};

loci_status lc_frame_scope_read(const lc_json *scope, lc_frame_scope *out, loci_error *err)
{
    static const char *const names[] = {"actor_id", "session_id", "thread_id"};
    loci_str *const to[] = {&out->actor_id, &out->session_id, &out->thread_id};

    if (scope == NULL)
        return LOCI_OK;
    for (const lc_json *member = lc_json_first(scope); member != NULL;
         member = lc_json_next(member)) {
        size_t i = 0;

        while (i < 3 && !lc_str_is(lc_json_name(member), names[i]))
            i++;
        if (i == 3)
            return lc_fail(err, LOCI_EINVAL,
                           "scope: unknown member; expected actor_id, session_id, thread_id");
        if (lc_json_kind_of(member) != LC_JSON_STRING || lc_json_str(member).len == 0 ||
            lc_json_str(member).len > LC_ID_BYTES_MAX)
            return lc_fail(err, LOCI_EINVAL, "scope.%s: expected a string of 1 to %d bytes",
                           names[i], LC_ID_BYTES_MAX);
        *to[i] = lc_json_str(member);
    }
    return LOCI_OK;
}

static loci_status prepare_frame(lc_call *call, loci_error *err)
{
    frame_input *in = call->input;
    loci_status status = lc_frame_scope_read(in->scope, &in->flat, err);

    if (status == LOCI_OK && in->goal.ptr != NULL && lc_str_trim(in->goal).len == 0)
        status = lc_fail(err, LOCI_EINVAL, "goal: only white space; say what the task is");
    if (status == LOCI_OK)
        status = lc_call_keep_metadata(call, in->metadata, &in->kept_metadata, err);
    return status == LOCI_OK ? lc_call_make_content(call, in->result, &in->content, err) : status;
}

static const lc_record stated_answer = {
    .base = &lc_frame_record,
    .members = (const lc_result[]){LC_WARNINGS_RESULT, {NULL}},
};

/* ---- frame.push ------------------------------------------------------------------------------ */

#define LIMIT(name_, min_, max_, help_)                                                            \
    {                                                                                              \
        LC_ARG_INT(#name_, frame_input, limits.name_), .min = min_, .max = max_,                   \
                                                       .help = help_ " (default: the parent's)"    \
    }

static const lc_param push_params[] = {
    {LC_ARG_STR("goal", frame_input, goal),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID, .min = 1,
     .max = LC_FRAME_GOAL_BYTES_MAX, .help = "Task of the frame"},
    LC_NAME_PARAM("parent_id", frame_input, parent_id, 0,
                  "Frame that it is part of (default: it is a root)"),
    {LC_ARG_INT("budget", frame_input, budget), .min = 0, .max = LC_LEDGER_TOKENS_MAX,
     .help = "Tokens of the frame, taken from the parent (default: half of the parent's "
             "available tokens; for a root the setting frame.budget_tokens)"},
    SCOPE_PARAMS,
    FIELD_PARAMS,
    LIMIT(max_context_tokens, 1, LC_LEDGER_TOKENS_MAX, "Maximum number of tokens of a pack"),
    LIMIT(max_tool_calls, 0, LC_FRAME_TOOL_CALLS_MAX, "Maximum number of tool calls"),
    LIMIT(max_subframe_depth, 0, LC_FRAME_DEPTH_MAX,
          "Depth of the deepest frame allowed below it; a root has depth 0"),
    LIMIT(timeout_ms, 1, LC_FRAME_TIMEOUT_MS_MAX, "Milliseconds after which it is given up"),
    {.name = NULL},
};

static int64_t or_none(int64_t value)
{
    return value != LC_ABSENT ? value : LC_FRAME_NO_LIMIT;
}

static loci_status run_push(lc_call *call, lc_tx *tx, loci_error *err)
{
    const frame_input *in = call->input;
    lc_settings *settings = lc_engine_settings(call->engine);
    lc_frame frame = {
        .parent_id = in->parent_id,
        .persona_id = call->persona_id.ptr != NULL ? call->persona_id : LC_STR(""),
        .scope = in->flat,
        .goal = in->goal,
        .inputs = in->inputs,
        .metadata = in->kept_metadata,
        .limits = {or_none(in->limits.max_subframe_depth), or_none(in->limits.max_context_tokens),
                   or_none(in->limits.max_tool_calls), or_none(in->limits.timeout_ms)},
    };
    lc_frame_push push = {
        .frame = &frame,
        .budget = or_none(in->budget),
        .root_budget = lc_settings_i64(settings, &lc_setting_frame_budget_tokens, call->tenant_id),
        .depth_max = lc_settings_i64(settings, &lc_setting_frame_depth_max, call->tenant_id)};
    lc_id id;
    loci_status status;

    if (frame.parent_id.ptr == NULL && frame.scope.actor_id.ptr == NULL)
        frame.scope.actor_id = LC_STR("default");
    status = lc_frame_push_one(tx, &push, call->arena, &id, err);
    if (status == LOCI_OK)
        put_frame(call, &frame);
    return status;
}

static const lc_op frame_push = {
    .name = "frame.push",
    .help = "Push a frame: one task on the agent's stack, with its own budget",
    .params = push_params,
    .rules = lc_frame_scope_rules,
    .input_bytes = sizeof(frame_input),
    .answer = &stated_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/frames",
    .mcp = "frame push",
    .mcp_takes = "goal parent_id budget",
    .mcp_shows = "id ~goal ~status ~budget(total available)",
    .look = {.sentence = "pushed: {goal}  ({id})"},
    .example = "{\"goal\":\"Find the cause of the timeout\",\"budget\":8000}",
    .prepare = prepare_frame,
    .run = run_push,
};

/* ---- frame.get ------------------------------------------------------------------------------- */

static const lc_param get_params[] = {
    LC_ID_PARAM(frame_input, id, "Id of the frame, frm_…"),
    {.name = NULL},
};

static const lc_record tool_record = {.name = "FrameToolCall", .row = &lc_frame_tool_row};
static const lc_record reservation_record = {.name = "FrameReservation",
                                             .row = &lc_frame_reservation_row};

static const lc_record get_answer = {
    .base = &lc_frame_record,
    .members =
        (const lc_result[]){
            {"handles", 0, "Handles in use, oldest first", LC_RESULT_LIST,
             .record = &lc_frame_handle_record},
            {"results", 0, "Results, oldest first", LC_RESULT_LIST,
             .record = &lc_frame_handle_record},
            {"running_tools", 0, "Tool calls that have not ended", LC_RESULT_LIST,
             .record = &tool_record},
            {"reservations", 0, "Reservations with tokens left", LC_RESULT_LIST,
             .record = &reservation_record},
            {NULL},
        },
};

typedef struct putting {
    lc_call *call;
    bool results;
} putting;

static loci_status put_handle(void *ctx, const lc_frame_handle *handle, loci_error *err)
{
    const putting *p = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (handle->is_result != p->results)
        return LOCI_OK;
    lc_jw_object(&p->call->out);
    lc_row_put(&lc_frame_handle_row, handle, &p->call->out);
    lc_jw_end(&p->call->out);
    return LOCI_OK;
}

static loci_status put_tool(void *ctx, const lc_frame_tool *tool, loci_error *err)
{
    const putting *p = ctx;

    (void)err; /* As above. */
    lc_jw_object(&p->call->out);
    lc_row_put(&lc_frame_tool_row, tool, &p->call->out);
    lc_jw_end(&p->call->out);
    return LOCI_OK;
}

static loci_status put_reservation(void *ctx, const lc_frame_reservation *reservation,
                                   loci_error *err)
{
    const putting *p = ctx;

    (void)err; /* As above. */
    lc_jw_object(&p->call->out);
    lc_row_put(&lc_frame_reservation_row, reservation, &p->call->out);
    lc_jw_end(&p->call->out);
    return LOCI_OK;
}

static loci_status put_parts(lc_call *call, lc_tx *tx, loci_str id, loci_error *err)
{
    putting p = {.call = call};
    loci_status status = LOCI_OK;

    for (int i = 0; i < 2 && status == LOCI_OK; i++) {
        p.results = i == 1;
        lc_jw_name(&call->out, p.results ? "results" : "handles");
        lc_jw_array(&call->out);
        status = lc_frame_each_handle(tx, id, put_handle, &p, err);
        lc_jw_end(&call->out);
    }
    lc_jw_name(&call->out, "running_tools");
    lc_jw_array(&call->out);
    if (status == LOCI_OK)
        status = lc_frame_each_tool(tx, id, true, put_tool, &p, err);
    lc_jw_end(&call->out);
    lc_jw_name(&call->out, "reservations");
    lc_jw_array(&call->out);
    if (status == LOCI_OK)
        status = lc_frame_each_reservation(tx, id, put_reservation, &p, err);
    lc_jw_end(&call->out);
    return status;
}

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    const frame_input *in = call->input;
    lc_frame frame;
    loci_status status = lc_frame_load(tx, call->persona_id, in->id, call->arena, &frame, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_call_put_frame(call, &frame);
    status = put_parts(call, tx, frame.id, err);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op frame_get = {
    .name = "frame.get",
    .help = "Return a frame with its budget, handles, results and running tool calls",
    .params = get_params,
    .input_bytes = sizeof(frame_input),
    .answer = &get_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/frames/{id}",
    .example = "{\"id\":\"" LC_FRAME_EXAMPLE "\"}",
    .run = run_get,
};

/* ---- frame.list ------------------------------------------------------------------------------ */

static const lc_param list_params[] = {
    {LC_ARG_STR("status", frame_input, status), .default_text = "\"open\"",
     .choices = LC_FRAME_STATUSES "|open|any",
     .help = "Only frames with this status; open: active, waiting or suspended"},
    SCOPE_PARAMS,
    LC_NAME_PARAM("parent_id", frame_input, parent_id, 0, "Only children of this frame"),
    LC_NAME_PARAM("root_id", frame_input, root_id, 0, "Only frames of the tree with this root"),
    {LC_ARG_OBJECT("metadata", frame_input, metadata),
     .help = "Only frames with these members in their metadata"},
    LC_PAGE_PARAMS(frame_input, page),
    {.name = NULL},
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"frames", 0, "Frames, newest first", LC_RESULT_LIST, .record = &lc_frame_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct listing {
    lc_page page;
    lc_seq_position last;
} listing;

static loci_status put_listed(void *ctx, const lc_frame *frame, loci_error *err)
{
    listing *l = ctx;
    const frame_input *in = l->page.call->input;
    bool matches = true;
    loci_status status = LOCI_OK;

    if (in->metadata != NULL)
        status = lc_metadata_matches(l->page.call->arena->heap, frame->metadata, in->metadata,
                                     &matches, err);
    if (status != LOCI_OK || !matches || !lc_page_takes(&l->page))
        return status;
    l->last.seq = frame->seq;
    put_frame(l->page.call, frame);
    return LOCI_OK;
}

static loci_status prepare_list(lc_call *call, loci_error *err)
{
    frame_input *in = call->input;

    return lc_frame_scope_read(in->scope, &in->flat, err);
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const frame_input *in = call->input;
    listing l = {.page = {call, &lc_position_by_seq, &l.last}, .last = {INT64_MAX}};
    lc_frame_page page = {.persona_id = call->persona_id,
                          .scope = in->flat,
                          .status = lc_str_is(in->status, "any") ? LC_STR_NONE : in->status,
                          .parent_id = in->parent_id,
                          /* Rows that the metadata rejects do not fill the page. */
                          .limit = in->metadata != NULL ? INT64_MAX : in->page.limit + 1};
    lc_id_parts root = {0};
    loci_status status = lc_page_begin(&l.page, &in->page, err);

    if (status != LOCI_OK)
        return status;
    page.before_seq = l.last.seq;
    lc_page_open(&l.page, "frames");
    if (in->root_id.ptr == NULL || lc_id_parse(in->root_id, "frm", &root)) {
        page.root_seq = root.seq;
        status = lc_frame_each(tx, &page, put_listed, &l, err);
    }
    lc_page_close(&l.page);
    return status;
}

static const lc_op frame_list = {
    .name = "frame.list",
    .help = "List frames, newest first (default: open ones)",
    .params = list_params,
    .rules = lc_frame_scope_rules,
    .input_bytes = sizeof(frame_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/frames",
    .look = {.columns = "goal status depth updated_at id"},
    .example = "{\"status\":\"any\"}",
    .prepare = prepare_list,
    .run = run_list,
};

/* ---- frame.update ---------------------------------------------------------------------------- */

static const lc_param update_params[] = {
    LC_ID_PARAM(frame_input, id, "Id of the frame, frm_…"),
    {LC_ARG_STR("goal", frame_input, goal), .flags = LC_PARAM_SAID, .min = 1,
     .max = LC_FRAME_GOAL_BYTES_MAX, .help = "Task of the frame"},
    {LC_ARG_STR("status", frame_input, status), .choices = "active|waiting",
     .help = "Whether it works or waits; frame.pop ends it, frame.suspend suspends it"},
    {LC_ARG_STR("waiting_for", frame_input, waiting_for), .choices = LC_FRAME_WAITS,
     .help = "Kind of event that it waits for"},
    {LC_ARG_STR("error", frame_input, error), .flags = LC_PARAM_SAID,
     .max = LC_FRAME_GOAL_BYTES_MAX, .help = "Failure that is not handled yet; \"\" clears it"},
    FIELD_PARAMS,
    {.name = NULL},
};

static loci_status set_status(lc_frame *frame, const frame_input *in, loci_error *err)
{
    lc_frame_status to = LC_FRAME_ACTIVE;
    loci_status status = LOCI_OK;

    if (in->status.ptr == NULL && in->waiting_for.ptr == NULL)
        return LOCI_OK;
    (void)lc_frame_status_find(in->status, &to); /* The parameter's choices are statuses. */
    if (to != LC_FRAME_WAITING && in->waiting_for.ptr != NULL)
        return lc_fail(err, LOCI_EINVAL, "waiting_for: only with the status waiting");
    if (to != frame->status)
        status = lc_frame_move(&frame->status, to, frame->id, err);
    if (status == LOCI_OK)
        frame->waiting_for = in->waiting_for;
    return status;
}

static loci_status run_update(lc_call *call, lc_tx *tx, loci_error *err)
{
    const frame_input *in = call->input;
    bool has_fields = in->goal.ptr != NULL || in->inputs.ptr != NULL || in->metadata != NULL;
    lc_frame frame;
    loci_status status = lc_frame_load(tx, call->persona_id, in->id, call->arena, &frame, err);

    if (status == LOCI_OK && !lc_frame_status_is_open(frame.status))
        status = lc_fail(err, LOCI_ECONFLICT, "frame %.*s has ended: it is %s",
                         LC_STR_ARG(frame.id), lc_frame_status_name(frame.status));
    if (status == LOCI_OK)
        status = set_status(&frame, in, err);
    if (status != LOCI_OK)
        return status;
    if (in->goal.ptr != NULL)
        frame.goal = in->goal;
    if (in->inputs.ptr != NULL)
        frame.inputs = in->inputs;
    if (in->metadata != NULL)
        frame.metadata = in->kept_metadata;
    frame.error = in->error.len > 0 ? in->error : LC_STR_NONE;
    status = lc_frame_update(tx, &frame, has_fields, err);
    if (status == LOCI_OK)
        put_frame(call, &frame);
    return status;
}

static const lc_op frame_update = {
    .name = "frame.update",
    .help = "Change the goal, inputs or status of a frame; also clears an unhandled error",
    .params = update_params,
    .input_bytes = sizeof(frame_input),
    .answer = &stated_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "PATCH /v1/frames/{id}",
    .mcp = "frame update",
    .mcp_takes = "id goal status",
    .mcp_shows = "id ~goal ~status ~budget(total available)",
    .look = {.sentence = "{status}: {goal}  ({id})"},
    .example = "{\"id\":\"" LC_FRAME_EXAMPLE "\",\"status\":\"waiting\",\"waiting_for\":\"user\"}",
    .prepare = prepare_frame,
    .run = run_update,
};

/* ---- frame.pop ------------------------------------------------------------------------------- */

static const lc_param pop_params[] = {
    LC_ID_PARAM(frame_input, id, "Id of the frame, frm_…"),
    {LC_ARG_STR("status", frame_input, status), .default_text = "\"completed\"",
     .choices = "completed|failed|cancelled", .help = "How it ended"},
    {LC_ARG_STR("result", frame_input, result), .flags = LC_PARAM_SAID, .min = 1,
     .max = LC_CONTENT_BYTES_MAX,
     .help = "Text of its result: a result of the frame, and a handle of its parent"},
    {LC_ARG_STR("title", frame_input, title), .flags = LC_PARAM_SAID, .min = 1,
     .max = LC_FRAME_GOAL_BYTES_MAX, .help = "Short description of the result"},
    {LC_ARG_STR("priority", frame_input, priority), .default_text = "\"medium\"",
     .choices = LC_HANDLE_PRIORITIES, .help = "Importance of the result for the parent"},
    {LC_ARG_STR("error", frame_input, error), .flags = LC_PARAM_SAID, .min = 1,
     .max = LC_FRAME_GOAL_BYTES_MAX, .help = "Reason for which it failed"},
    {LC_ARG_BOOL("cascade", frame_input, cascade, "false"),
     .help = "Whether open frames below it are cancelled first; otherwise they are a conflict"},
    {.name = NULL},
};

static const lc_record pop_answer = {
    .base = &stated_answer,
    .members =
        (const lc_result[]){
            {"popped", LC_PARAM_INT, "Number of frames that ended"},
            LC_FRAME_OUTCOME_RESULTS,
            {NULL},
        },
};

static loci_status run_pop(lc_call *call, lc_tx *tx, loci_error *err)
{
    const frame_input *in = call->input;
    lc_frame_end end = {
        .error = in->error, .result = in->content, .title = in->title, .cascades = in->cascade};
    int64_t count = 0;
    lc_frame frame;
    loci_status status = lc_frame_load(tx, call->persona_id, in->id, call->arena, &frame, err);

    (void)lc_frame_status_find(in->status, &end.status); /* The choices are statuses. */
    end.priority = lc_priority_of(in->priority);
    if (status == LOCI_OK)
        status = lc_frame_pop(tx, &frame, &end, call->arena, &count, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_call_put_frame(call, &frame);
    lc_jw_member_int(&call->out, "popped", count);
    lc_call_put_outcome(call, &frame.ledger);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op frame_pop = {
    .name = "frame.pop",
    .help = "End a frame; what it did not use goes back to its parent",
    .params = pop_params,
    .input_bytes = sizeof(frame_input),
    .answer = &pop_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/frames/{id}/pop",
    .mcp = "frame pop",
    .mcp_takes = "id result status error",
    .mcp_shows = "id ~goal ~status ~outcome ~over ~budget(total available)",
    .look = {.sentence = "{status}: {goal}[, {over} tokens over its budget]  ({id})"},
    .example = "{\"id\":\"" LC_FRAME_EXAMPLE "\",\"result\":\"The pool was exhausted\"}",
    .prepare = prepare_frame,
    .run = run_pop,
};

extern const lc_op lc_op_frame_handle_add, lc_op_frame_handle_remove, lc_op_frame_result_add,
    lc_op_frame_reserve, lc_op_frame_consume, lc_op_frame_release, lc_op_frame_use,
    lc_op_frame_tool_begin, lc_op_frame_tool_end; /* op_frame_part.c */
extern const lc_op lc_op_frame_pack;              /* op_frame_pack.c */
extern const lc_op lc_op_frame_compact;           /* op_frame_compact.c */
extern const lc_op lc_op_frame_suspend, lc_op_frame_resume, lc_op_actor_resume;
extern const lc_op lc_op_frame_forget; /* op_forget.c */

extern const lc_op *const lc_ops_frame[];
const lc_op *const lc_ops_frame[] = {
    &frame_push,
    &frame_get,
    &frame_list,
    &frame_update,
    &frame_pop,
    &lc_op_frame_handle_add,
    &lc_op_frame_handle_remove,
    &lc_op_frame_result_add,
    &lc_op_frame_reserve,
    &lc_op_frame_consume,
    &lc_op_frame_release,
    &lc_op_frame_use,
    &lc_op_frame_tool_begin,
    &lc_op_frame_tool_end,
    &lc_op_frame_pack,
    &lc_op_frame_compact,
    &lc_op_frame_suspend,
    &lc_op_frame_resume,
    &lc_op_actor_resume,
    &lc_op_frame_forget,
    NULL,
};
