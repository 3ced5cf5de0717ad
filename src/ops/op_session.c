/* op_session.c - the operations on sessions and on what was said in them. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "ops/check.h"
#include "ops/op.h"
#include "ops/session_arg.h"

#define LIMIT_PARAM                                                                                \
    {                                                                                              \
        .name = "limit", .kind = LC_PARAM_INT, .default_text = "100", .min = 1,                    \
        .max = LC_PAGE_ROWS_MAX, .help = "How many at most"                                        \
    }

static const lc_result session_results[] = {
    {"id", LC_PARAM_STRING, "The session, ses_…"},
    {"external_id", LC_PARAM_STRING, "The caller's own name for it, if any"},
    {"persona_id", LC_PARAM_STRING, "Whose it is, if not everybody's"},
    {"state", LC_PARAM_STRING, "active or ended"},
    {"opened_at", LC_PARAM_TIME, "When it began"},
    {"last_activity", LC_PARAM_TIME, "When something was last written in it, to the second"},
    {"ended_at", LC_PARAM_TIME, "When it ended, if it did"},
    {"end_reason", LC_PARAM_STRING, "closed or idle, if it ended"},
    {"identity", LC_PARAM_OBJECT, "Who the user is, if that was said"},
    {NULL, 0, NULL},
};

/* ---- session.open, close, get ---------------------------------------------------------------- */

static const lc_param open_params[] = {
    {.name = "external_id",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_POSITIONAL | LC_PARAM_ID,
     .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "A name of your own for it; one that is open under that name is used"},
    {.name = NULL},
};

static loci_status run_open(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    loci_str external_id = lc_call_str(call, "external_id");
    lc_session_use use;
    loci_status status;

    if (lc_id_is(ref.session_id, "ses"))
        return lc_fail(err, LOCI_EINVAL, "session_id: a session to be opened has no ses_… yet");
    if (external_id.len > 0)
        ref.session_id = external_id;
    if (lc_id_is(ref.session_id, "ses"))
        return lc_fail(err, LOCI_EINVAL, "external_id: names like ses_… are given by loci");
    status = lc_session_choose_new(tx, &ref, call->arena, &use, err);
    if (status == LOCI_OK)
        status = lc_session_begin(tx, &use, false, err);
    if (status == LOCI_OK)
        lc_session_put(&call->out, &use.session);
    return status;
}

static const lc_op session_open = {
    .name = "session.open",
    .help = "Begin a session",
    .params = open_params,
    .results = session_results,
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
    loci_str given = lc_call_str(call, "session_id");

    if (given.len == 0)
        return lc_fail(err, LOCI_ENOTFOUND, "no session is open; session.open begins one");
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
    session.is_open = false;
    session.ended_at = tx->now_us;
    session.end_reason = LC_STR("closed");
    lc_session_put(&call->out, &session);
    return LOCI_OK;
}

static const lc_op session_close = {
    .name = "session.close",
    .help = "End a session; its working set is gone",
    .params = no_params,
    .results = session_results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/sessions/close",
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
    .help = "One session; without session_id the open one",
    .params = no_params,
    .results = session_results,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions/current",
    .mcp = "session get",
    .example = "{\"session_id\":\"chat-42\"}",
    .run = run_get,
};

/* ---- session.list ---------------------------------------------------------------------------- */

static const lc_param list_params[] = {
    {.name = "before",
     .kind = LC_PARAM_INT,
     .min = 0,
     .max = INT64_MAX,
     .help = "Only sessions opened before this seq: `next` of the page before"},
    LIMIT_PARAM,
    {.name = NULL},
};

static const lc_result list_results[] = {
    {"sessions", LC_PARAM_ANY, "As session.get answers them, the newest first"},
    {"next", LC_PARAM_INT, "`before` of the next page; absent on the last"},
    {NULL, 0, NULL},
};

/* One more than the page shows that there is a next one. */
typedef struct listing {
    lc_json_writer *out;
    int64_t left;
    int64_t last_seq;
    bool has_more;
} listing;

static loci_status put_session(void *ctx, const lc_session *session, loci_error *err)
{
    listing *l = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (l->left == 0) {
        l->has_more = true;
        return LOCI_OK;
    }
    l->left--;
    l->last_seq = session->seq;
    lc_session_put(l->out, session);
    return LOCI_OK;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    listing l = {.out = &call->out, .left = lc_call_i64(call, "limit", 100)};
    lc_session_page page = {.persona_id = ref.persona_id,
                            .before_seq = lc_call_i64(call, "before", INT64_MAX),
                            .limit = l.left + 1,
                            .idle_us = ref.idle_us};
    loci_status status;

    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "sessions");
    lc_jw_array(&call->out);
    status = lc_session_each(tx, &page, put_session, &l, err);
    lc_jw_end(&call->out);
    if (l.has_more)
        lc_jw_member_int(&call->out, "next", l.last_seq);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op session_list = {
    .name = "session.list",
    .help = "Sessions, the newest first",
    .params = list_params,
    .results = list_results,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions",
    .mcp = "session list",
    .example = "{\"limit\":10}",
    .run = run_list,
};

/* ---- session.append and messages ------------------------------------------------------------- */

static const lc_param append_params[] = {
    {.name = "role",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .choices = "user|assistant|tool|system",
     .help = "Who speaks"},
    {.name = "text",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .min = 1,
     .max = LC_EVENT_BYTES_MAX / 2,
     .help = "What was said"},
    {.name = "speaker",
     .kind = LC_PARAM_STRING,
     .flags = LC_PARAM_ID,
     .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "The name of who speaks, if the role does not say enough"},
    {.name = "at", .kind = LC_PARAM_TIME, .help = "When; the time of the call if absent"},
    {.name = NULL},
};

static const lc_result append_results[] = {
    {"message_id", LC_PARAM_STRING, "The message, msg_…"},
    {"session_id", LC_PARAM_STRING, "The session it is in, ses_…"},
    {"seq", LC_PARAM_INT, "The event that wrote it"},
    {NULL, 0, NULL},
};

static loci_status run_append(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session_use use;
    lc_id id;
    int64_t seq = 0;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_session_begin(tx, &use, true, err);
    if (status == LOCI_OK)
        status = lc_session_append_message(
            tx,
            &(lc_message){.session_id = use.session.id,
                          .role = lc_call_str(call, "role"),
                          .speaker = lc_call_str(call, "speaker"),
                          .text = lc_call_str(call, "text"),
                          .persona_id = call->persona_id,
                          .observed_at = lc_call_i64(call, "at", LOCI_AT_CLOCK)},
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
    .help = "Keep what was said",
    .params = append_params,
    .results = append_results,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/messages",
    .mcp = "session append",
    .example = "{\"role\":\"user\",\"text\":\"Good morning.\"}",
    .run = run_append,
};

static const lc_param messages_params[] = {
    {.name = "after",
     .kind = LC_PARAM_INT,
     .default_text = "0",
     .min = 0,
     .max = INT64_MAX,
     .help = "Only messages after this seq: `next` of the page before"},
    LIMIT_PARAM,
    {.name = NULL},
};

static const lc_result messages_results[] = {
    {"session_id", LC_PARAM_STRING, "The session; absent when there was never one"},
    {"messages", LC_PARAM_ANY, "Each with id, session_id, role, text, at, recorded_at, seq"},
    {"next", LC_PARAM_INT, "`after` of the next page; absent on the last"},
    {NULL, 0, NULL},
};

static loci_status put_message(void *ctx, const lc_message *message, loci_error *err)
{
    listing *l = ctx;

    (void)err; /* Writing to a buffer fails later. */
    if (l->left == 0) {
        l->has_more = true;
        return LOCI_OK;
    }
    l->left--;
    l->last_seq = message->seq;
    lc_message_put(l->out, message);
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
    listing l = {.out = &call->out, .left = lc_call_i64(call, "limit", 100)};
    lc_message_page page = {.persona_id = call->persona_id,
                            .after_seq = lc_call_i64(call, "after", 0),
                            .limit = l.left + 1};
    lc_session session = {0};
    bool found;
    loci_status status = find_conversation(call, tx, &session, &found, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    if (found)
        lc_jw_member_str(&call->out, "session_id", session.id);
    lc_jw_name(&call->out, "messages");
    lc_jw_array(&call->out);
    page.session_id = session.id;
    if (found)
        status = lc_session_each_message(tx, &page, put_message, &l, err);
    lc_jw_end(&call->out);
    if (l.has_more)
        lc_jw_member_int(&call->out, "next", l.last_seq);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op session_messages = {
    .name = "session.messages",
    .help = "What was said in a session; without session_id in the last one",
    .params = messages_params,
    .results = messages_results,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/messages",
    .mcp = "session messages",
    .example = "{\"limit\":10}",
    .run = run_messages,
};

extern const lc_op *const lc_ops_session[];
const lc_op *const lc_ops_session[] = {
    &session_open,   &session_close,    &session_get, &session_list,
    &session_append, &session_messages, NULL,
};
