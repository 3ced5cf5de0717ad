/* op_frame_resume.c - frame.suspend, frame.resume and actor.resume.
 *
 * The token is made before the transaction, so that a repeated body stores the same hash. It is in
 * the first answer only: a repeat of the request gets the answer without it.
 */
#include "base/error.h"
#include "base/str.h"
#include "ops/op_frame.h"
#include "store/event.h"

#define SECOND_US INT64_C(1000000)

typedef struct resume_input {
    loci_str id, reason, token;
    int64_t ttl;
    const lc_json *scope;
    lc_frame_scope flat;
    /* Made by prepare. */
    char made[LC_FRAME_TOKEN_BYTES];
    loci_str hash;
} resume_input;

static loci_status set_hash(lc_call *call, loci_str token, loci_error *err)
{
    resume_input *in = call->input;

    in->hash = lc_frame_token_hash(call->arena, token);
    return in->hash.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* ---- frame.suspend --------------------------------------------------------------------------- */

static const lc_param suspend_params[] = {
    LC_ID_PARAM(resume_input, id, "Id of the frame, frm_…"),
    {LC_ARG_STR("reason", resume_input, reason), .flags = LC_PARAM_SAID, .min = 1,
     .max = LC_FRAME_GOAL_BYTES_MAX, .help = "Reason, shown by actor.resume"},
    {LC_ARG_INT("ttl", resume_input, ttl), .default_text = "604800", .min = 1,
     .max = LC_FRAME_TTL_S_MAX, .help = "Seconds until the token expires and the frame fails"},
    {.name = NULL},
};

static const lc_record suspend_answer = {
    .base = &lc_frame_record,
    .members =
        (const lc_result[]){
            {"token", LC_PARAM_STRING,
             "Token for frame.resume, which works once; null in the answer to a repeated request",
             LC_RESULT_NULLABLE},
            {"expires_at", LC_PARAM_TIME, "Time at which the token expires"},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status prepare_suspend(lc_call *call, loci_error *err)
{
    resume_input *in = call->input;

    if (!lc_frame_token_make(in->made))
        return lc_fail(err, LOCI_ERESOURCE, "the system's random number generator failed");
    return set_hash(call, loci_str_of(in->made), err);
}

static void put_suspended(lc_call *call, const lc_frame *frame, const char *token,
                          int64_t expires_at)
{
    lc_jw_object(&call->out);
    lc_jw_member_text(&call->out, "token", token);
    lc_jw_member_time(&call->out, "expires_at", expires_at);
    lc_call_put_frame(call, frame);
    lc_jw_end(&call->out);
}

/* The answer without the token, which is stored for a repeat. */
static loci_status keep_repeat(lc_call *call, const lc_frame *frame, int64_t expires_at,
                               loci_error *err)
{
    lc_call copy = *call;
    lc_buf repeat;
    loci_status status;

    lc_buf_init(&repeat, call->arena->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&copy.out, &repeat);
    put_suspended(&copy, frame, NULL, expires_at);
    status = lc_buf_status(&repeat, err);
    if (status == LOCI_OK) {
        call->repeat_answer = lc_arena_copy(call->arena, lc_buf_str(&repeat));
        if (call->repeat_answer.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&repeat);
    return status;
}

static loci_status run_suspend(lc_call *call, lc_tx *tx, loci_error *err)
{
    const resume_input *in = call->input;
    lc_frame_suspension suspension = {.token_hash = in->hash,
                                      .reason = in->reason,
                                      .expires_at = tx->now_us + in->ttl * SECOND_US};
    lc_frame frame;
    loci_status status = lc_frame_load(tx, call->persona_id, in->id, call->arena, &frame, err);

    if (status == LOCI_OK)
        status = lc_frame_suspend(tx, &frame, &suspension, err);
    if (status == LOCI_OK)
        status = keep_repeat(call, &frame, suspension.expires_at, err);
    if (status == LOCI_OK)
        put_suspended(call, &frame, in->made, suspension.expires_at);
    return status;
}

extern const lc_op lc_op_frame_suspend;
const lc_op lc_op_frame_suspend = {
    .name = "frame.suspend",
    .help = "Suspend a frame and return a token that resumes it, once",
    .params = suspend_params,
    .input_bytes = sizeof(resume_input),
    .answer = &suspend_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SECRET,
    .http = "POST /v1/frames/{id}/suspend",
    .mcp = "frame suspend",
    .mcp_takes = "id reason",
    .mcp_shows = "id ~goal ~status ~token ~expires_at",
    .look = {.sentence = "suspended until {expires_at}; resume it with the token {token}"},
    .example = "{\"id\":\"" LC_FRAME_EXAMPLE "\",\"reason\":\"waits for approval\"}",
    .prepare = prepare_suspend,
    .run = run_suspend,
};

/* ---- frame.resume ---------------------------------------------------------------------------- */

static const lc_param resume_params[] = {
    LC_NAME_PARAM("token", resume_input, token, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
                  "Token that frame.suspend returned"),
    {.name = NULL},
};

static loci_status prepare_resume(lc_call *call, loci_error *err)
{
    const resume_input *in = call->input;

    return set_hash(call, in->token, err);
}

static loci_status run_resume(lc_call *call, lc_tx *tx, loci_error *err)
{
    const resume_input *in = call->input;
    lc_frame frame;
    loci_status status = lc_frame_resume(tx, call->persona_id, in->hash, call->arena, &frame, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_call_put_frame(call, &frame);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

extern const lc_op lc_op_frame_resume;
const lc_op lc_op_frame_resume = {
    .name = "frame.resume",
    .help = "Resume a suspended frame with its token, which works once",
    .params = resume_params,
    .input_bytes = sizeof(resume_input),
    .answer = &lc_frame_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES,
    .http = "POST /v1/frame-tokens/resume",
    .mcp = "frame resume",
    .mcp_takes = "token",
    .mcp_shows = "id ~goal ~status ~budget(total available)",
    .look = {.sentence = "resumed: {goal}  ({id})"},
    .example = "{\"token\":\"frt_00000000000000000000000000000000\"}",
    .prepare = prepare_resume,
    .run = run_resume,
};

/* ---- actor.resume ---------------------------------------------------------------------------- */

static const lc_param actor_params[] = {
    LC_FRAME_SCOPE_PARAMS(resume_input, scope, flat),
    {.name = NULL},
};

static const lc_record pending_record = {
    .name = "PendingWork",
    .members =
        (const lc_result[]){
            {"type", LC_PARAM_STRING, "Kind of work", .choices = LC_PENDING_TYPES},
            {"frame_id", LC_PARAM_STRING, "Frame that it belongs to"},
            {"goal", LC_PARAM_STRING, "Task of the frame"},
            {"detail", LC_PARAM_STRING, "Name of the tool, reason, error, or what it waits for",
             LC_RESULT_OPTIONAL},
            {"call_id", LC_PARAM_STRING, "Id of the tool call", LC_RESULT_OPTIONAL},
            {"since", LC_PARAM_TIME, "Time at which it began"},
            {"age_ms", LC_PARAM_INT, "Milliseconds since then"},
            {"expires_at", LC_PARAM_TIME, "Time at which its token expires", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record summary_record = {
    .members =
        (const lc_result[]){
            {"frames_recovered", LC_PARAM_INT, "Number of frames on the stack"},
            {"pending_work_items", LC_PARAM_INT, "Number of entries of pending_work"},
            {"last_event_seq", LC_PARAM_INT, "Number of the last event before this call"},
            {NULL},
        },
};

static const lc_record actor_answer = {
    .members =
        (const lc_result[]){
            {"current_frame", 0, "Frame on top of the stack; null if there is none",
             LC_RESULT_NULLABLE, .record = &lc_frame_record},
            {"frame_stack", 0, "Frames from the root to the current one", LC_RESULT_LIST,
             .record = &lc_frame_record},
            {"pending_work", 0, "Work to take up again, of all open frames of the scope",
             LC_RESULT_LIST, .record = &pending_record},
            {"recovery_summary", 0, "Number of things recovered", .record = &summary_record},
            {NULL},
        },
};

static loci_status prepare_actor(lc_call *call, loci_error *err)
{
    resume_input *in = call->input;
    loci_status status = lc_frame_scope_read(in->scope, &in->flat, err);

    if (in->flat.actor_id.ptr == NULL)
        in->flat.actor_id = LC_STR("default");
    return status;
}

typedef struct pending_list {
    lc_call *call;
    int64_t count;
} pending_list;

static loci_status put_pending(void *ctx, const lc_frame_pending *pending, loci_error *err)
{
    pending_list *l = ctx;
    lc_json_writer *out = &l->call->out;

    (void)err; /* Writing to a buffer fails later. */
    l->count++;
    lc_jw_object(out);
    lc_jw_member_text(out, "type", pending->type);
    lc_jw_member_str(out, "frame_id", pending->frame_id);
    lc_jw_member_str(out, "goal", pending->goal);
    if (pending->detail.ptr != NULL)
        lc_jw_member_str(out, "detail", pending->detail);
    if (pending->call_id.ptr != NULL)
        lc_jw_member_str(out, "call_id", pending->call_id);
    lc_jw_member_time(out, "since", pending->since);
    lc_jw_member_int(out, "age_ms",
                     l->call->now_us > pending->since ? (l->call->now_us - pending->since) / 1000
                                                      : 0);
    if (pending->expires_at != 0)
        lc_jw_member_time(out, "expires_at", pending->expires_at);
    lc_jw_end(out);
    return LOCI_OK;
}

static void put_stack(lc_call *call, const lc_frame_list *stack)
{
    lc_json_writer *out = &call->out;

    lc_jw_name(out, "current_frame");
    if (stack->count > 0) {
        lc_jw_object(out);
        lc_call_put_frame(call, &stack->items[stack->count - 1]);
        lc_jw_end(out);
    } else {
        lc_jw_null(out);
    }
    lc_jw_name(out, "frame_stack");
    lc_jw_array(out);
    for (size_t i = 0; i < stack->count; i++) {
        lc_jw_object(out);
        lc_call_put_frame(call, &stack->items[i]);
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

static loci_status run_actor(lc_call *call, lc_tx *tx, loci_error *err)
{
    const resume_input *in = call->input;
    const lc_actor actor = {call->persona_id, in->flat};
    pending_list pending = {.call = call};
    lc_frame_list stack = {0};
    lc_frame top;
    lc_head head;
    bool found = false;
    loci_status status = lc_tx_head(tx, &head, err);

    if (status == LOCI_OK)
        status = lc_frame_find_top(tx, &actor, call->arena, &top, &found, err);
    if (status == LOCI_OK && found)
        status = lc_frame_load_stack(tx, &top, call->arena, &stack, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    put_stack(call, &stack);
    lc_jw_name(&call->out, "pending_work");
    lc_jw_array(&call->out);
    status = lc_frame_each_pending(tx, &actor, put_pending, &pending, err);
    lc_jw_end(&call->out);
    lc_jw_name(&call->out, "recovery_summary");
    lc_jw_object(&call->out);
    lc_jw_member_int(&call->out, "frames_recovered", (int64_t)stack.count);
    lc_jw_member_int(&call->out, "pending_work_items", pending.count);
    lc_jw_member_int(&call->out, "last_event_seq", head.seq);
    lc_jw_end(&call->out);
    lc_jw_end(&call->out);
    if (status == LOCI_OK && found)
        status = lc_actor_note_resumed(tx, &in->flat, (int64_t)stack.count, pending.count, err);
    return status;
}

extern const lc_op lc_op_actor_resume;
const lc_op lc_op_actor_resume = {
    .name = "actor.resume",
    .help = "Return the stack of an agent after a restart, and the work that was in progress",
    .params = actor_params,
    .rules = lc_frame_scope_rules,
    .input_bytes = sizeof(resume_input),
    .answer = &actor_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/actors/resume",
    .example = "{\"actor_id\":\"planner\"}",
    .prepare = prepare_actor,
    .run = run_actor,
};
