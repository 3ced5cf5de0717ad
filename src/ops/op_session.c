/* op_session.c - the operations on sessions, their messages and the identity of their user. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/meaning.h"
#include "ops/call_scope.h"
#include "ops/check.h"
#include "ops/op.h"
#include "ops/page.h"
#include "session/message_corpus.h"

static const lc_record identity_record = {.name = "Identity", .row = &lc_identity_row};

static const lc_record session_record = {
    .name = "Session",
    .row = &lc_session_row,
    .members =
        (const lc_result[]){
            {"identity", 0, "Identity of the user, if it was set", LC_RESULT_OPTIONAL,
             .record = &identity_record},
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
    .example = "{\"session_id\":\"chat-42\"}",
    .run = run_get,
};

/* ---- session.list ---------------------------------------------------------------------------- */

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
    const lc_page_args *in = call->input;
    lc_session_ref ref = lc_call_session_ref(call);
    listing l = {.page = {call, &lc_position_by_seq, &l.last}, .last = {INT64_MAX}};
    lc_session_page page = {
        .persona_id = ref.persona_id, .limit = in->limit + 1, .idle_us = ref.idle_us};
    loci_status status = lc_page_begin(&l.page, in, err);

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
    .params = lc_page_params,
    .input_bytes = sizeof(lc_page_args),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions",
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
    {LC_ARG_STR("text", append_input, text),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID, .alias = "content", .min = 1,
     .max = LC_EVENT_BYTES_MAX / 2, .help = "Text of the message"},
    LC_NAME_PARAM("speaker", append_input, speaker, LC_PARAM_SAID,
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
            LC_WARNINGS_RESULT,
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
    .example = "{\"role\":\"user\",\"text\":\"Good morning.\"}",
    .run = run_append,
};

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
    const lc_page_args *in = call->input;
    listing l = {.page = {call, &lc_position_by_seq, &l.last}};
    lc_message_page page = {.persona_id = call->persona_id, .limit = in->limit + 1};
    lc_session session = {0};
    bool found;
    loci_status status = lc_page_begin(&l.page, in, err);

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
    .params = lc_page_params,
    .input_bytes = sizeof(lc_page_args),
    .answer = &messages_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions/{session_id}/messages",
    .example = "{\"limit\":10}",
    .run = run_messages,
};

/* ---- session.search -------------------------------------------------------------------------- */

#define QUERY_BYTES_MAX (64 * 1024)

typedef struct search_input {
    loci_str text;
    int64_t limit;
    int64_t from;
    int64_t to;
    bool explain;
    lc_message_query query; /* Made by prepare and compute, as `meaning`. */
    lc_meaning meaning;
} search_input;

static const lc_param search_params[] = {
    {LC_ARG_STR("query", search_input, text), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .min = 1, .max = QUERY_BYTES_MAX,
     .help = "Text to search for, by its words and by its meaning"},
    {LC_ARG_INT("limit", search_input, limit), .default_text = "10", .min = 1,
     .max = LC_MESSAGE_SEARCH_MAX, .help = "Maximum number of results"},
    LC_NAME_PARAM("session", search_input, query.session, 0,
                  "Only messages of this session: a ses_…, or an external_id (all sessions of that "
                  "name)"),
    {LC_ARG_STR("role", search_input, query.role), .choices = LC_MESSAGE_ROLES,
     .help = "Only messages of this role"},
    {LC_ARG_TIME("from", search_input, from), .help = "Only messages said at or after this time"},
    {LC_ARG_TIME("to", search_input, to), .help = "Only messages said before this time"},
    {LC_ARG_BOOL("explain", search_input, explain, "false"),
     .help = "Whether to add the parts of each score"},
    {.name = NULL},
};

static const lc_record parts_record = {
    .name = "ScoreParts",
    .members =
        (const lc_result[]){
            {"cosine", LC_PARAM_REAL, "Cosine of the vectors", LC_RESULT_OPTIONAL},
            {"meaning", LC_PARAM_REAL, "Part of the score from meaning", LC_RESULT_OPTIONAL},
            {"bm25", LC_PARAM_REAL, "BM25 score of the words", LC_RESULT_OPTIONAL},
            {"words", LC_PARAM_REAL, "Part of the score from words", LC_RESULT_OPTIONAL},
            {NULL},
        },
};

static const lc_record hit_record = {
    .name = "MessageHit",
    .members =
        (const lc_result[]){
            {"message_id", LC_PARAM_STRING, "Id of the message (msg_...)"},
            {"session_id", LC_PARAM_STRING, "Id of its session (ses_...)"},
            {"external_id", LC_PARAM_STRING, "Name of the session given by the caller",
             LC_RESULT_OPTIONAL},
            {"role", LC_PARAM_STRING, "Role of the speaker", .choices = LC_MESSAGE_ROLES},
            {"speaker", LC_PARAM_STRING, "Name of the speaker, if given", LC_RESULT_OPTIONAL},
            {"at", LC_PARAM_TIME, "Time at which it was said"},
            {"text", LC_PARAM_STRING, "Text of the message"},
            {"score", LC_PARAM_REAL, "Score from 0 to 1"},
            {"parts", 0, "Parts of the score, with explain", LC_RESULT_OPTIONAL,
             .record = &parts_record},
            {NULL},
        },
};

static const lc_record search_answer = {
    .members =
        (const lc_result[]){
            {"results", 0, "Messages, best first", LC_RESULT_LIST, .record = &hit_record},
            {"complete", LC_PARAM_BOOL,
             "False if older messages were not searched because the index is still being built"},
            {NULL},
        },
};

static loci_status prepare_search(lc_call *call, loci_error *err)
{
    search_input *in = call->input;

    if (lc_str_trim(in->text).len == 0)
        return lc_fail(err, LOCI_EINVAL, "query: only white space; pass words to search for");
    in->query.persona_id = call->persona_id;
    in->query.from_us = in->from != LC_ABSENT ? in->from : INT64_MIN;
    in->query.to_us = in->to != LC_ABSENT ? in->to : INT64_MAX;
    in->query.limit = (size_t)in->limit;
    if (in->query.from_us > in->query.to_us)
        return lc_fail(err, LOCI_EINVAL, "from: later than `to`");
    return LOCI_OK;
}

static loci_status compute_search(lc_call *call, loci_error *err)
{
    search_input *in = call->input;
    loci_status status = lc_corpus_split(call->arena, in->text, &in->query.terms, err);

    if (status == LOCI_OK)
        status = lc_meaning_find(&in->meaning, call->engine, call->tenant_id, in->text, call->arena,
                                 err);
    in->query.vector = in->meaning.vector;
    return status;
}

/* A part that the hit does not have is left out: it was found by words alone, or by meaning alone.
 */
static void put_parts(lc_json_writer *out, const lc_fused *score)
{
    lc_jw_name(out, "parts");
    lc_jw_object(out);
    if (score->has_cosine) {
        lc_jw_member_real(out, "cosine", score->cosine);
        lc_jw_member_real(out, "meaning", score->vector);
    }
    if (score->has_bm25) {
        lc_jw_member_real(out, "bm25", score->bm25);
        lc_jw_member_real(out, "words", score->lexical);
    }
    lc_jw_end(out);
}

static void put_hit(lc_json_writer *out, const lc_message_hit *hit, bool is_explained)
{
    const lc_message *message = &hit->message;

    lc_jw_object(out);
    lc_jw_member_str(out, "message_id", message->id);
    lc_jw_member_str(out, "session_id", message->session_id);
    if (hit->external_id.len > 0)
        lc_jw_member_str(out, "external_id", hit->external_id);
    lc_jw_member_str(out, "role", message->role);
    if (message->speaker.len > 0)
        lc_jw_member_str(out, "speaker", message->speaker);
    lc_jw_member_time(out, "at", message->observed_at);
    lc_jw_member_str(out, "text", message->text);
    lc_jw_member_real(out, "score", hit->score.score);
    if (is_explained)
        put_parts(out, &hit->score);
    lc_jw_end(out);
}

static loci_status run_search(lc_call *call, lc_tx *tx, loci_error *err)
{
    search_input *in = call->input;
    lc_message_hits hits;
    loci_status status;

    tx->embedding = in->query.vector != NULL ? &in->meaning.embedding : NULL;
    status = lc_message_search(tx, &in->query, call->arena, &hits, err);
    tx->embedding = NULL;
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "results");
    lc_jw_array(&call->out);
    for (size_t i = 0; i < hits.count; i++)
        put_hit(&call->out, &hits.items[i], in->explain);
    lc_jw_end(&call->out);
    lc_jw_member_bool(&call->out, "complete", hits.is_complete);
    lc_jw_end(&call->out);
    call->wants_vectors = lc_meaning_queue_job(&in->meaning, tx);
    return LOCI_OK;
}

static const lc_op session_search = {
    .name = "session.search",
    .help = "Search all messages of a user by words and by meaning",
    .params = search_params,
    .input_bytes = sizeof(search_input),
    .answer = &search_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT,
    .http = "GET /v1/messages/search",
    .mcp = "search_sessions",
    .mcp_takes = "query limit=10 from to",
    .mcp_shows = "results(text ~at speaker ~role message_id ~session_id)",
    .example = "{\"query\":\"What did we say about the harbour?\",\"limit\":5}",
    .prepare = prepare_search,
    .compute = compute_search,
    .run = run_search,
};

/* ---- identity.set and get --------------------------------------------------------------------
 *
 * identity.set is not offered to models, and an identity never raises anybody's rights: a caller
 * has the lowest of its token's ceiling, this identity and the authority it claims with each call,
 * and a permission only if both its token and the identity have it. An identity cannot claim more
 * than its setter's token allows, and binds callers with the same or lower ceilings only. A caller
 * with a higher ceiling can set it again.
 */

#define PERMISSIONS_MAX 256

typedef struct identity_input {
    lc_identity identity; /* `permissions` is made by prepare. */
    lc_str_list permissions;
    lc_fact_caller caller; /* Made by prepare. */
} identity_input;

static const lc_param identity_params[] = {
    LC_NAME_PARAM("user_name", identity_input, identity.user_name,
                  LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, "Name of the user"),
    LC_NAME_PARAM(
        "authority", identity_input, identity.authority, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
        "Authority: policy, executive, admin, manager, employee, intern, guest, or a title"),
    LC_NAME_PARAM("department", identity_input, identity.department, 0, "Department of the user"),
    LC_NAME_PARAM("organization", identity_input, identity.organization, 0,
                  "Organization of the user"),
    {LC_ARG_STRINGS("permissions", identity_input, permissions), .max = PERMISSIONS_MAX,
     .item_max = LC_ID_BYTES_MAX,
     .help = "Permissions of the user; restricted facts need one of them"},
    {.name = NULL},
};

static const lc_record identity_answer = {
    .members =
        (const lc_result[]){
            {"session_id", LC_PARAM_STRING, "Id of the session (ses_...)"},
            {"identity", 0, "Identity of the user", .record = &identity_record},
            {NULL},
        },
};

static void put_identity(lc_call *call, loci_str session_id, const lc_identity *identity)
{
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "session_id", session_id);
    lc_jw_name(&call->out, "identity");
    lc_identity_put(&call->out, identity);
    lc_jw_end(&call->out);
}

/* LOCI_EFORBIDDEN when the identity claims more than the caller's token allows. */
static loci_status check_claim(const lc_call *call, const identity_input *in, loci_error *err)
{
    lc_authority claimed = lc_authority_of(in->identity.authority, in->caller.titles);

    if (in->caller.ceiling.rank > 0 && claimed.rank > in->caller.ceiling.rank)
        return lc_fail(err, LOCI_EFORBIDDEN, "authority: the maximum is the caller's own, \"%.*s\"",
                       LC_STR_ARG(call->authority_max));
    for (size_t i = 0; call->permissions_max.ptr != NULL && i < in->permissions.count; i++) {
        if (!lc_permissions_have(call->permissions_max, in->permissions.items[i]))
            return lc_fail(err, LOCI_EFORBIDDEN,
                           "permissions: the caller's token does not have \"%.*s\"; create one "
                           "with it (token.create, permissions)",
                           LC_STR_ARG(in->permissions.items[i]));
    }
    return LOCI_OK;
}

/* Permissions are stored as canonical JSON, in the order given. */
static loci_status prepare_identity(lc_call *call, loci_error *err)
{
    identity_input *in = call->input;
    lc_json_writer w;
    lc_buf text;
    loci_status status = lc_fact_caller_init(&in->caller, call, NULL, err);

    if (status == LOCI_OK)
        status = check_claim(call, in, err);
    if (status != LOCI_OK)
        return status;
    in->identity.authority_max = call->authority_max;
    in->identity.trust_max = call->trust_max;
    if (in->permissions.items == NULL)
        return LOCI_OK;
    lc_buf_init(&text, call->arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_array(&w);
    for (size_t i = 0; i < in->permissions.count; i++)
        lc_jw_str(&w, in->permissions.items[i]);
    lc_jw_end(&w);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        in->identity.permissions = lc_arena_copy(call->arena, lc_buf_str(&text));
        if (in->identity.permissions.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

static loci_status run_identity(lc_call *call, lc_tx *tx, loci_error *err)
{
    const identity_input *in = call->input;
    lc_session_use use;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK)
        status = lc_session_identify(tx, &use, &in->identity,
                                     !lc_fact_caller_is_bound(&in->caller, &use.session.identity),
                                     err);
    if (status == LOCI_OK)
        put_identity(call, use.session.id, &in->identity);
    return status;
}

static const lc_op identity_set = {
    .name = "identity.set",
    .help = "Set the identity of a session's user, once per session and ceiling",
    .params = identity_params,
    .input_bytes = sizeof(identity_input),
    .answer = &identity_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "PUT /v1/sessions/{session_id}/identity",
    .example = "{\"user_name\":\"Anna\",\"authority\":\"manager\"}",
    .prepare = prepare_identity,
    .run = run_identity,
};

static loci_status run_get_identity(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session session;
    bool found;
    loci_status status = lc_call_find_session(call, tx, &session, &found, err);

    if (status != LOCI_OK)
        return status;
    if (!found || session.identity.user_name.ptr == NULL)
        return lc_fail(err, LOCI_ENOTFOUND, "no identity was set in an open session");
    put_identity(call, session.id, &session.identity);
    return LOCI_OK;
}

static const lc_op identity_get = {
    .name = "identity.get",
    .help = "Return the identity of a session's user",
    .params = no_params,
    .answer = &identity_answer,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions/{session_id}/identity",
    .example = "{}",
    .run = run_get_identity,
};

extern const lc_op lc_op_session_forget; /* op_forget.c */
extern const lc_op *const lc_ops_session[];
const lc_op *const lc_ops_session[] = {
    &session_open,
    &session_close,
    &session_get,
    &session_list,
    &session_append,
    &session_messages,
    &session_search,
    &lc_op_session_forget,
    &identity_set,
    &identity_get,
    NULL,
};
