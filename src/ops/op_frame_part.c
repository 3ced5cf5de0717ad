/* op_frame_part.c - the operations on the parts of a frame: handles, results, tokens, tool calls.
 */
#include "base/error.h"
#include "base/str.h"
#include "ops/op_frame.h"

typedef struct part_input {
    loci_str id, frame_id, type, text, ref, title, priority, purpose;
    loci_str call_id, name, arguments, output, error;
    int64_t tokens;
    lc_content *content; /* Made by prepare. */
} part_input;

/* ---- Handles and results --------------------------------------------------------------------- */

#define HANDLE_PARAMS(default_type)                                                                \
    LC_FRAME_PARAM(part_input, frame_id),                                                          \
        {LC_ARG_STR("text", part_input, text),                                                     \
         .flags = LC_PARAM_POSITIONAL | LC_PARAM_SAID,                                             \
         .alias = "content",                                                                       \
         .min = 1,                                                                                 \
         .max = LC_CONTENT_BYTES_MAX,                                                              \
         .help = "Its text; the same text is stored once"},                                        \
        {LC_ARG_STR("ref", part_input, ref), .flags = LC_PARAM_ID | LC_PARAM_SAID, .min = 1,       \
         .max = LC_FRAME_REF_BYTES_MAX,                                                            \
         .help = "Instead of a text: id of a message, memory, fact or other loci object, or a "    \
                 "URL"},                                                                           \
        {LC_ARG_STR("type", part_input, type), .default_text = default_type,                       \
         .choices = LC_HANDLE_TYPES, .help = "Kind of content"},                                   \
        {LC_ARG_STR("priority", part_input, priority), .default_text = "\"medium\"",               \
         .choices = LC_HANDLE_PRIORITIES,                                                          \
         .help = "Importance for packs; critical ones are always in"},                             \
    {                                                                                              \
        LC_ARG_STR("title", part_input, title), .flags = LC_PARAM_SAID, .min = 1,                  \
                                                .max = LC_FRAME_GOAL_BYTES_MAX,                    \
                                                .help = "Short description"                        \
    }

static const lc_param handle_params[] = {HANDLE_PARAMS("\"document\""), {.name = NULL}};
static const lc_param result_params[] = {HANDLE_PARAMS("\"worker_finding\""), {.name = NULL}};

static const lc_param_rule handle_rules[] = {
    {LC_RULE_EXACTLY_ONE, "text|ref"},
    {LC_RULE_END, NULL},
};

static const lc_record handle_answer = {
    .base = &lc_frame_handle_record,
    .members =
        (const lc_result[]){
            {"context_tokens", LC_PARAM_INT, "Tokens of the texts of all handles of the frame"},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status prepare_text(lc_call *call, loci_error *err)
{
    part_input *in = call->input;

    return lc_call_make_content(call, in->text, &in->content, err);
}

static loci_status put_handle(lc_call *call, const lc_frame *frame, const lc_frame_handle *handle)
{
    lc_jw_object(&call->out);
    lc_row_put(&lc_frame_handle_row, handle, &call->out);
    lc_jw_member_int(&call->out, "context_tokens", frame->context_tokens);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static loci_status add(lc_call *call, lc_tx *tx, bool is_result, loci_error *err)
{
    const part_input *in = call->input;
    lc_frame_handle handle = {.is_result = is_result,
                              .type = in->type,
                              .priority = lc_priority_of(in->priority),
                              .title = in->title,
                              .ref = in->ref};
    lc_frame frame;
    loci_status status = lc_frame_load(tx, call->persona_id, in->frame_id, call->arena, &frame,
                                       err);

    if (status == LOCI_OK)
        status = lc_frame_add_handle(tx, &frame, &handle, in->content, call->arena, err);
    return status == LOCI_OK ? put_handle(call, &frame, &handle) : status;
}

static loci_status run_handle_add(lc_call *call, lc_tx *tx, loci_error *err)
{
    return add(call, tx, false, err);
}

static loci_status run_result_add(lc_call *call, lc_tx *tx, loci_error *err)
{
    return add(call, tx, true, err);
}

extern const lc_op lc_op_frame_handle_add;
const lc_op lc_op_frame_handle_add = {
    .name = "frame.handle_add",
    .help = "Add a handle to something that a frame needs: a text or a reference",
    .params = handle_params,
    .rules = handle_rules,
    .input_bytes = sizeof(part_input),
    .answer = &handle_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/frames/{frame_id}/handles",
    .look = {.sentence = "added {type}, {tokens} tokens  ({id})"},
    .example = "{\"frame_id\":\"" LC_FRAME_EXAMPLE "\",\"text\":\"The pool has 10 connections\"}",
    .prepare = prepare_text,
    .run = run_handle_add,
};

extern const lc_op lc_op_frame_result_add;
const lc_op lc_op_frame_result_add = {
    .name = "frame.result_add",
    .help = "Add a result to a frame: a text or a reference",
    .params = result_params,
    .rules = handle_rules,
    .input_bytes = sizeof(part_input),
    .answer = &handle_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/frames/{frame_id}/results",
    .look = {.sentence = "added {type}, {tokens} tokens  ({id})"},
    .example = "{\"frame_id\":\"" LC_FRAME_EXAMPLE "\",\"text\":\"The pool was exhausted\"}",
    .prepare = prepare_text,
    .run = run_result_add,
};

static const lc_param handle_remove_params[] = {
    LC_ID_PARAM(part_input, id, "Id of the handle, hdl_…"),
    {.name = NULL},
};

/* The frame of a part that was found by its own id: a part of a frame that the caller does not see
 * is not found. */
static loci_status load_frame_of(lc_call *call, lc_tx *tx, const char *what, loci_str frame_id,
                                 lc_frame *out, loci_error *err)
{
    const part_input *in = call->input;
    loci_status status = lc_frame_load(tx, call->persona_id, frame_id, call->arena, out, err);

    return status == LOCI_ENOTFOUND
               ? lc_fail(err, LOCI_ENOTFOUND, "no %s %.*s", what, LC_STR_ARG(in->id))
               : status;
}

static loci_status run_handle_remove(lc_call *call, lc_tx *tx, loci_error *err)
{
    const part_input *in = call->input;
    lc_frame_handle handle;
    lc_frame frame;
    loci_status status = lc_frame_load_handle(tx, in->id, call->arena, &handle, err);

    if (status == LOCI_OK)
        status = load_frame_of(call, tx, "handle", handle.frame_id, &frame, err);
    if (status == LOCI_OK)
        status = lc_frame_remove_handle(tx, &frame, &handle, call->arena, err);
    handle.removed_at = frame.updated_at;
    return status == LOCI_OK ? put_handle(call, &frame, &handle) : status;
}

static const lc_record removed_answer = {
    .base = &lc_frame_handle_record,
    .members =
        (const lc_result[]){
            {"context_tokens", LC_PARAM_INT, "Tokens of the texts of all handles of the frame"},
            {NULL},
        },
};

extern const lc_op lc_op_frame_handle_remove;
const lc_op lc_op_frame_handle_remove = {
    .name = "frame.handle_remove",
    .help = "Remove a handle or result from its frame",
    .params = handle_remove_params,
    .input_bytes = sizeof(part_input),
    .answer = &removed_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_DESTROYS,
    .http = "DELETE /v1/frame-handles/{id}",
    .look = {.sentence = "removed {type}, {tokens} tokens  ({id})"},
    .example = "{\"id\":\"hdl_00000000000000000000000000\"}",
    .run = run_handle_remove,
};

/* ---- Tokens ---------------------------------------------------------------------------------- */

#define TOKENS_PARAM(help_)                                                                        \
    {                                                                                              \
        LC_ARG_INT("tokens", part_input, tokens),                                                  \
            .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, .min = 0,                            \
            .max = LC_LEDGER_TOKENS_MAX, .help = help_                                             \
    }

static const lc_param reserve_params[] = {
    LC_FRAME_PARAM(part_input, frame_id),
    TOKENS_PARAM("Tokens to set aside"),
    {LC_ARG_STR("purpose", part_input, purpose), .flags = LC_PARAM_SAID, .min = 1,
     .max = LC_FRAME_GOAL_BYTES_MAX, .help = "Purpose of the tokens"},
    {.name = NULL},
};

static const lc_param consume_params[] = {
    LC_ID_PARAM(part_input, id, "Id of the reservation, rsv_…"),
    TOKENS_PARAM("Tokens that were used"),
    {.name = NULL},
};

static const lc_param release_params[] = {
    LC_ID_PARAM(part_input, id, "Id of the reservation, rsv_…"),
    {.name = NULL},
};

static const lc_param use_params[] = {
    LC_FRAME_PARAM(part_input, frame_id),
    TOKENS_PARAM("Tokens that were used"),
    {.name = NULL},
};

#define BUDGET_RESULT                                                                              \
    {                                                                                              \
        "budget", 0, "Tokens of the frame", .record = &lc_frame_budget_record                      \
    }

static const lc_record reservation_answer = {
    .row = &lc_frame_reservation_row,
    .members =
        (const lc_result[]){
            LC_FRAME_OUTCOME_RESULTS,
            BUDGET_RESULT,
            {NULL},
        },
};

static const lc_record reserve_answer = {
    .base = &reservation_answer,
    .members = (const lc_result[]){LC_WARNINGS_RESULT, {NULL}},
};

static const lc_record use_answer = {
    .members =
        (const lc_result[]){
            {"frame_id", LC_PARAM_STRING, "Id of the frame"},
            LC_FRAME_OUTCOME_RESULTS,
            BUDGET_RESULT,
            {NULL},
        },
};

extern const lc_op lc_op_frame_consume; /* Below. */

static void put_reservation(lc_call *call, const lc_frame *frame,
                            const lc_frame_reservation *reservation)
{
    lc_jw_object(&call->out);
    lc_row_put(&lc_frame_reservation_row, reservation, &call->out);
    lc_call_put_outcome(call, &frame->ledger);
    lc_call_put_budget(call, &frame->ledger);
    lc_jw_end(&call->out);
}

static loci_status run_reserve(lc_call *call, lc_tx *tx, loci_error *err)
{
    const part_input *in = call->input;
    lc_frame_reservation reservation = {.purpose = in->purpose, .tokens = in->tokens};
    lc_frame frame;
    loci_status status = lc_frame_load(tx, call->persona_id, in->frame_id, call->arena, &frame,
                                       err);

    if (status == LOCI_OK)
        status = lc_frame_reserve(tx, &frame, &reservation, call->arena, err);
    if (status == LOCI_OK)
        put_reservation(call, &frame, &reservation);
    return status;
}

/* consume and release. */
static loci_status run_reservation(lc_call *call, lc_tx *tx, loci_error *err)
{
    const part_input *in = call->input;
    lc_frame_reservation reservation;
    lc_frame frame;
    loci_status status = lc_frame_load_reservation(tx, in->id, call->arena, &reservation, err);

    if (status == LOCI_OK)
        status = load_frame_of(call, tx, "reservation", reservation.frame_id, &frame, err);
    if (status == LOCI_OK)
        status = call->op == &lc_op_frame_consume
                     ? lc_frame_consume(tx, &frame, &reservation, in->tokens, err)
                     : lc_frame_release(tx, &frame, &reservation, err);
    if (status == LOCI_OK)
        put_reservation(call, &frame, &reservation);
    return status;
}

static loci_status run_use(lc_call *call, lc_tx *tx, loci_error *err)
{
    const part_input *in = call->input;
    lc_frame frame;
    loci_status status = lc_frame_load(tx, call->persona_id, in->frame_id, call->arena, &frame,
                                       err);

    if (status == LOCI_OK)
        status = lc_frame_use(tx, &frame, in->tokens, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "frame_id", frame.id);
    lc_call_put_outcome(call, &frame.ledger);
    lc_call_put_budget(call, &frame.ledger);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

extern const lc_op lc_op_frame_reserve;
const lc_op lc_op_frame_reserve = {
    .name = "frame.reserve",
    .help = "Set tokens of a frame aside for a purpose",
    .params = reserve_params,
    .input_bytes = sizeof(part_input),
    .answer = &reserve_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/frames/{frame_id}/reserve",
    .look = {.sentence = "reserved {tokens} tokens  ({id})"},
    .example = "{\"frame_id\":\"" LC_FRAME_EXAMPLE "\",\"tokens\":500}",
    .run = run_reserve,
};

const lc_op lc_op_frame_consume = {
    .name = "frame.consume",
    .help = "Record tokens that were used from a reservation",
    .params = consume_params,
    .input_bytes = sizeof(part_input),
    .answer = &reservation_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/frame-reservations/{id}/consume",
    .look = {.sentence = "used, {left} of {tokens} tokens left[, {over} over the budget]  ({id})"},
    .example = "{\"id\":\"rsv_00000000000000000000000000\",\"tokens\":300}",
    .run = run_reservation,
};

extern const lc_op lc_op_frame_release;
const lc_op lc_op_frame_release = {
    .name = "frame.release",
    .help = "Give back what is left of a reservation",
    .params = release_params,
    .input_bytes = sizeof(part_input),
    .answer = &reservation_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/frame-reservations/{id}/release",
    .look = {.sentence = "released  ({id})"},
    .example = "{\"id\":\"rsv_00000000000000000000000000\"}",
    .run = run_reservation,
};

extern const lc_op lc_op_frame_use;
const lc_op lc_op_frame_use = {
    .name = "frame.use",
    .help = "Record tokens that a frame has used",
    .params = use_params,
    .input_bytes = sizeof(part_input),
    .answer = &use_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/frames/{frame_id}/use",
    .look = {.sentence = "{outcome ok=recorded}[, {over} tokens over the budget]  ({frame_id})"},
    .example = "{\"frame_id\":\"" LC_FRAME_EXAMPLE "\",\"tokens\":1200}",
    .run = run_use,
};

/* ---- Tool calls ------------------------------------------------------------------------------ */

#define CALL_ID_PARAM                                                                              \
    LC_NAME_PARAM("call_id", part_input, call_id,                                                  \
                  LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID,                         \
                  "Id of the call, your own or the model's; unique in the frame")

static const lc_param begin_params[] = {
    LC_FRAME_PARAM(part_input, frame_id),
    CALL_ID_PARAM,
    LC_NAME_PARAM("name", part_input, name, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID,
                  "Name of the tool"),
    {LC_ARG_JSON("arguments", part_input, arguments), .flags = LC_PARAM_SAID,
     .max = LC_FRAME_INPUTS_BYTES_MAX, .help = "Arguments of the call, any JSON"},
    {.name = NULL},
};

static const lc_param end_params[] = {
    LC_FRAME_PARAM(part_input, frame_id),
    CALL_ID_PARAM,
    {LC_ARG_STR("output", part_input, output), .flags = LC_PARAM_SAID, .min = 1,
     .max = LC_CONTENT_BYTES_MAX, .help = "Output of the tool; becomes a handle of the frame"},
    {LC_ARG_STR("error", part_input, error), .flags = LC_PARAM_SAID, .min = 1,
     .max = LC_FRAME_GOAL_BYTES_MAX, .help = "Reason for which it failed"},
    {.name = NULL},
};

static const lc_record tool_answer = {
    .row = &lc_frame_tool_row,
    .members =
        (const lc_result[]){
            {"existing", LC_PARAM_BOOL,
             "True if this was recorded before: the call changed nothing"},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static void put_tool(lc_call *call, const lc_frame_tool *tool, bool existing)
{
    lc_jw_object(&call->out);
    lc_row_put(&lc_frame_tool_row, tool, &call->out);
    lc_jw_member_bool(&call->out, "existing", existing);
    lc_jw_end(&call->out);
}

static loci_status run_begin(lc_call *call, lc_tx *tx, loci_error *err)
{
    const part_input *in = call->input;
    lc_frame_tool tool = {.frame_id = in->frame_id, .call_id = in->call_id};
    lc_frame frame;
    bool found = false;
    loci_status status = lc_frame_load(tx, call->persona_id, in->frame_id, call->arena, &frame,
                                       err);

    if (status == LOCI_OK)
        status = lc_frame_find_tool(tx, call->arena, &tool, &found, err);
    if (status != LOCI_OK)
        return status;
    if (found && !lc_str_eq(tool.name, in->name))
        return lc_fail(err, LOCI_ECONFLICT,
                       "call_id: a call of another tool has this id in frame %.*s; use a new id",
                       LC_STR_ARG(frame.id));
    if (!found) {
        tool = (lc_frame_tool){
            .call_id = in->call_id, .name = in->name, .arguments = in->arguments};
        status = lc_frame_begin_tool(tx, &frame, &tool, err);
    }
    if (status == LOCI_OK)
        put_tool(call, &tool, found);
    return status;
}

static loci_status prepare_end(lc_call *call, loci_error *err)
{
    part_input *in = call->input;

    return lc_call_make_content(call, in->output, &in->content, err);
}

static loci_status run_end(lc_call *call, lc_tx *tx, loci_error *err)
{
    const part_input *in = call->input;
    lc_frame_tool tool = {.frame_id = in->frame_id, .call_id = in->call_id};
    lc_frame frame;
    bool found = false, has_ended = false;
    loci_status status = lc_frame_load(tx, call->persona_id, in->frame_id, call->arena, &frame,
                                       err);

    if (status == LOCI_OK)
        status = lc_frame_find_tool(tx, call->arena, &tool, &found, err);
    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND,
                         "frame %.*s has no tool call with this call_id; begin it first",
                         LC_STR_ARG(frame.id));
    if (status != LOCI_OK)
        return status;
    has_ended = tool.status != LC_TOOL_RUNNING;
    if (!has_ended) {
        tool.error = in->error;
        status = lc_frame_end_tool(tx, &frame, &tool, in->content, call->arena, err);
    }
    if (status == LOCI_OK)
        put_tool(call, &tool, has_ended);
    return status;
}

extern const lc_op lc_op_frame_tool_begin;
const lc_op lc_op_frame_tool_begin = {
    .name = "frame.tool_begin",
    .help = "Record that a tool call begins, so that it is found after a crash",
    .params = begin_params,
    .input_bytes = sizeof(part_input),
    .answer = &tool_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/frames/{frame_id}/tools",
    .mcp = "frame tool_begin",
    .mcp_takes = "id call_id name",
    .mcp_shows = "call_id ~name ~status ~existing",
    .look = {.sentence = "{existing yes=already begun,no=begun}: {name}  ({call_id})"},
    .example = "{\"frame_id\":\"" LC_FRAME_EXAMPLE "\",\"call_id\":\"call_1\",\"name\":\"grep\"}",
    .run = run_begin,
};

extern const lc_op lc_op_frame_tool_end;
const lc_op lc_op_frame_tool_end = {
    .name = "frame.tool_end",
    .help = "Record that a tool call has ended, with its output or error",
    .params = end_params,
    .input_bytes = sizeof(part_input),
    .answer = &tool_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/frames/{frame_id}/tools/{call_id}/end",
    .mcp = "frame tool_end",
    .mcp_takes = "id call_id output error",
    .mcp_shows = "call_id ~name ~status ~existing",
    .look = {.sentence = "{status}: {name}  ({call_id})"},
    .example = "{\"frame_id\":\"" LC_FRAME_EXAMPLE "\",\"call_id\":\"call_1\",\"output\":\"12\"}",
    .prepare = prepare_end,
    .run = run_end,
};
