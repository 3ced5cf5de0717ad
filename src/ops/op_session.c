/* op_session.c - the operations on sessions and on what was said in them. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/check.h"
#include "ops/op.h"
#include "ops/page.h"
#include "ops/session_arg.h"

extern const lc_record lc_identity_record;

static const lc_record session_record = {
    .name = "Session",
    .row = &lc_session_row,
    .members =
        (const lc_result[]){
            {"identity", 0, "Identity of the user, if it was set", LC_RESULT_OPTIONAL,
             .record = &lc_identity_record},
            {NULL},
        },
};

static const lc_record message_record = {.name = "Message", .row = &lc_message_row};

/* ---- session.open, close, get ---------------------------------------------------------------- */

typedef struct open_input {
    loci_str external_id;
} open_input;

static const lc_param open_params[] = {
    LC_NAME_PARAM("external_id", open_input, external_id, LC_PARAM_POSITIONAL,
                  "Name of your own for the session; an open session of that name is reused"),
    {.name = NULL},
};

static loci_status run_open(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    loci_str external_id = ((const open_input *)call->input)->external_id;
    lc_session_use use;
    loci_status status;

    if (lc_id_is(ref.session_id, "ses"))
        return lc_fail(err, LOCI_EINVAL,
                       "session_id: loci assigns ids like ses_…; pass a name of your own");
    if (external_id.len > 0)
        ref.session_id = external_id;
    if (lc_id_is(ref.session_id, "ses") || lc_str_is(external_id, "current"))
        return lc_fail(err, LOCI_EINVAL,
                       "external_id: ids like ses_… and the word current are reserved; pass a name "
                       "of your own");
    status = lc_session_choose_new(tx, &ref, call->arena, &use, err);
    if (status == LOCI_OK)
        status = lc_session_begin(tx, &use, false, err);
    if (status == LOCI_OK)
        lc_session_put(&call->out, &use.session);
    return status;
}

static const lc_op session_open = {
    .name = "session.open",
    .help = "Open a session",
    .params = open_params,
    .input_bytes = sizeof(open_input),
    .answer = &session_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/sessions",
    .mcp = "session open",
    .example = "{\"external_id\":\"chat-42\"}",
    .run = run_open,
};

static const lc_param no_params[] = {{.name = NULL}};

static loci_status fail_absent(const lc_call *call, loci_error *err)
{
    loci_str given = call->implied.session_id;

    if (given.len == 0)
        return lc_fail(err, LOCI_ENOTFOUND, "no session is open; session.open opens one");
    return lc_fail(err, LOCI_ENOTFOUND, "no session %.*s is open", LC_STR_ARG(given));
}

static loci_status run_close(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session session;
    bool found;
    loci_status status = lc_call_find_session(call, tx, &session, &found, err);

    if (status == LOCI_OK && !found)
        status = fail_absent(call, err);
    if (status == LOCI_OK)
        status = lc_session_end(tx, session.id, "closed", tx->now_us, err);
    if (status != LOCI_OK)
        return status;
    session.state = LC_SESSION_ENDED;
    session.ended_at = tx->now_us;
    session.end_reason = LC_STR("closed");
    lc_session_put(&call->out, &session);
    return LOCI_OK;
}

static const lc_op session_close = {
    .name = "session.close",
    .help = "End a session and delete its working set",
    .params = no_params,
    .answer = &session_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/sessions/{session_id}/close",
    .mcp = "session close",
    .example = "{\"session_id\":\"chat-42\"}",
    .run = run_close,
};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    lc_session session;
    bool found;
    loci_status status = lc_session_find(tx, &ref, call->arena, &session, &found, err);

    if (status == LOCI_OK && !found)
        status = fail_absent(call, err);
    if (status == LOCI_OK)
        lc_session_put(&call->out, &session);
    return status;
}

static const lc_op session_get = {
    .name = "session.get",
    .help = "Return one session (default: the open one)",
    .params = no_params,
    .answer = &session_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions/{session_id}",
    .mcp = "session get",
    .example = "{\"session_id\":\"chat-42\"}",
    .run = run_get,
};

/* ---- session.list ---------------------------------------------------------------------------- */

typedef struct list_input {
    lc_page_args page;
} list_input;

static const lc_param list_params[] = {LC_PAGE_PARAMS(list_input, page), {.name = NULL}};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"sessions", 0, "Sessions, newest first", LC_RESULT_LIST, .record = &session_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct listing {
    lc_page page;
    lc_seq_position last;
} listing;

static loci_status put_session(void *ctx, const lc_session *session, loci_error *err)
{
    listing *l = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (!lc_page_takes(&l->page))
        return LOCI_OK;
    l->last.seq = session->seq;
    lc_session_put(&l->page.call->out, session);
    return LOCI_OK;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    lc_session_ref ref = lc_call_session_ref(call);
    listing l = {.page = {call, &lc_position_by_seq, &l.last}, .last = {INT64_MAX}};
    lc_session_page page = {
        .persona_id = ref.persona_id, .limit = in->page.limit + 1, .idle_us = ref.idle_us};
    loci_status status = lc_page_begin(&l.page, &in->page, err);

    if (status != LOCI_OK)
        return status;
    page.before_seq = l.last.seq;
    lc_page_open(&l.page, "sessions");
    status = lc_session_each(tx, &page, put_session, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op session_list = {
    .name = "session.list",
    .help = "List sessions, newest first",
    .params = list_params,
    .input_bytes = sizeof(list_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions",
    .mcp = "session list",
    .example = "{\"limit\":10}",
    .run = run_list,
};

/* ---- session.append and messages ------------------------------------------------------------- */

typedef struct append_input {
    loci_str role;
    loci_str text;
    loci_str speaker;
    int64_t at;
} append_input;

static const lc_param append_params[] = {
    {LC_ARG_STR("role", append_input, role), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .choices = LC_MESSAGE_ROLES, .help = "Role of the speaker"},
    {LC_ARG_STR("text", append_input, text), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .alias = "content", .min = 1, .max = LC_EVENT_BYTES_MAX / 2, .help = "Text of the message"},
    LC_NAME_PARAM("speaker", append_input, speaker, 0,
                  "Name of the speaker, if the role does not say enough"),
    {LC_ARG_TIME("at", append_input, at),
     .help = "Time of the message (default: the time of the call)"},
    {.name = NULL},
};

static const lc_record append_answer = {
    .members =
        (const lc_result[]){
            {"message_id", LC_PARAM_STRING, "Id of the message (msg_...)"},
            {"session_id", LC_PARAM_STRING, "Id of its session (ses_...)"},
            {"seq", LC_PARAM_INT, "Number of the event that wrote it"},
            {NULL},
        },
};

static loci_status run_append(lc_call *call, lc_tx *tx, loci_error *err)
{
    const append_input *in = call->input;
    lc_session_use use;
    lc_id id;
    int64_t seq = 0;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_session_begin(tx, &use, true, err);
    if (status == LOCI_OK)
        status = lc_session_append_message(tx,
                                           &(lc_message){.session_id = use.session.id,
                                                         .role = in->role,
                                                         .speaker = in->speaker,
                                                         .text = in->text,
                                                         .persona_id = call->persona_id,
                                                         .observed_at = in->at},
                                           &id, &seq, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_text(&call->out, "message_id", id.text);
    lc_jw_member_str(&call->out, "session_id", use.session.id);
    lc_jw_member_int(&call->out, "seq", seq);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op session_append = {
    .name = "session.append",
    .help = "Append a message to a session",
    .params = append_params,
    .input_bytes = sizeof(append_input),
    .answer = &append_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/sessions/{session_id}/messages",
    .mcp = "session append",
    .example = "{\"role\":\"user\",\"text\":\"Good morning.\"}",
    .run = run_append,
};

static const lc_param messages_params[] = {LC_PAGE_PARAMS(list_input, page), {.name = NULL}};

static const lc_record messages_answer = {
    .members =
        (const lc_result[]){
            {"session_id", LC_PARAM_STRING, "Id of the session; absent if the user never had one",
             LC_RESULT_OPTIONAL},
            {"messages", 0, "Messages, oldest first", LC_RESULT_LIST, .record = &message_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

static loci_status put_message(void *ctx, const lc_message *message, loci_error *err)
{
    listing *l = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (!lc_page_takes(&l->page))
        return LOCI_OK;
    l->last.seq = message->seq;
    lc_message_put(&l->page.call->out, message);
    return LOCI_OK;
}

/* The session named; without a name the open one, else the last. */
static loci_status find_conversation(lc_call *call, lc_tx *tx, lc_session *out, bool *found,
                                     loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    loci_status status = lc_session_find(tx, &ref, call->arena, out, found, err);

    if (status != LOCI_OK || *found)
        return status;
    if (ref.session_id.len > 0)
        return fail_absent(call, err);
    return lc_session_find_last(tx, &ref, call->arena, out, found, err);
}

static loci_status run_messages(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    listing l = {.page = {call, &lc_position_by_seq, &l.last}};
    lc_message_page page = {.persona_id = call->persona_id, .limit = in->page.limit + 1};
    lc_session session = {0};
    bool found;
    loci_status status = lc_page_begin(&l.page, &in->page, err);

    if (status == LOCI_OK)
        status = find_conversation(call, tx, &session, &found, err);
    if (status != LOCI_OK)
        return status;
    if (found)
        lc_jw_member_str(&call->out, "session_id", session.id);
    lc_page_open(&l.page, "messages");
    page.session_id = session.id;
    page.after_seq = l.last.seq;
    if (found)
        status = lc_session_each_message(tx, &page, put_message, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op session_messages = {
    .name = "session.messages",
    .help = "List the messages of a session, oldest first (default: the last session)",
    .params = messages_params,
    .input_bytes = sizeof(list_input),
    .answer = &messages_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions/{session_id}/messages",
    .mcp = "session messages",
    .example = "{\"limit\":10}",
    .run = run_messages,
};

extern const lc_op *const lc_ops_session[];
const lc_op *const lc_ops_session[] = {
    &session_open,   &session_close,    &session_get, &session_list,
    &session_append, &session_messages, NULL,
};
