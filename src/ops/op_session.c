/* op_session.c - the operations on sessions and their messages. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/meaning.h"
#include "memory/curate.h"
#include "ops/call_scope.h"
#include "ops/check.h"
#include "ops/judge.h"
#include "ops/message_input.h"
#include "ops/metadata.h"
#include "ops/op.h"
#include "ops/page.h"
#include "ops/window_call.h"
#include "session/message_corpus.h"
#include "session/summary.h"
#include "window/window_map.h"

#define MINUTE_US INT64_C(60000000)

extern const lc_record lc_identity_record; /* op_identity.c */
extern const lc_record lc_summary_record;  /* op_summary.c */

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

static const lc_record message_record = {
    .name = "Message",
    .row = &lc_message_row,
    .members = (const lc_result[]){LC_CLIENT_RESULT, {NULL}},
};

/* ---- session.open, close, get ---------------------------------------------------------------- */

static const lc_record curator_record = {
    .members =
        (const lc_result[]){
            {"last_run_at", LC_PARAM_TIME, "Time of the run"},
            {"last_memory_count_at_run", LC_PARAM_INT, "Number of memories that it read"},
            {NULL},
        },
};

static const lc_record state_record = {
    .name = "SessionState",
    .members =
        (const lc_result[]){
            {"message_count", LC_PARAM_INT,
             "Number of user messages of the user and persona, in all sessions"},
            {"last_interaction", LC_PARAM_TIME, "Time of the last of them", LC_RESULT_NULLABLE},
            {"last_user_message", LC_PARAM_STRING, "Its beginning, at most 200 bytes",
             LC_RESULT_NULLABLE},
            {"last_rolling_attempt_at", LC_PARAM_TIME,
             "Time at which a rolling summary was last tried", LC_RESULT_NULLABLE},
            {"last_rolling_success_at", LC_PARAM_TIME,
             "Time at which a rolling summary was last made", LC_RESULT_NULLABLE},
            {"last_rolling_error", LC_PARAM_STRING,
             "Code of the error because of which the last one was made without the model",
             LC_RESULT_NULLABLE},
            {"curator", 0, "Last run of memory.curate for the user, of all personas",
             LC_RESULT_NULLABLE, .record = &curator_record},
            {NULL},
        },
};

/* A session, and the state of its user and persona over all sessions. */
static const lc_record kept_record = {
    .name = "SessionWithState",
    .base = &session_record,
    .members =
        (const lc_result[]){
            {"session_state", 0, "State of the user and persona over all sessions",
             .record = &state_record},
            {NULL},
        },
};

static void put_time_or_null(lc_json_writer *out, const char *name, int64_t at)
{
    if (at != 0)
        lc_jw_member_time(out, name, at);
    else
        lc_jw_member_raw(out, name, LC_STR("null"));
}

/* Writes the members of kept_record into the open object. */
static loci_status put_session_with_state(lc_call *call, lc_tx *tx, const lc_session *session,
                                          loci_error *err)
{
    lc_json_writer *out = &call->out;
    const lc_summary_ref ref = {.kind = LC_STR("rolling"), .persona_id = session->persona_id};
    lc_session_record kept;
    lc_curation_run curation = {0};
    lc_summary rolling = {0};
    bool found = false;
    loci_status status = lc_session_read_record(tx, session->persona_id, call->arena, &kept, err);

    if (status == LOCI_OK)
        status = lc_curation_find_last(tx, &curation, err);
    if (status == LOCI_OK)
        status = lc_summary_find_last(tx, &ref, call->arena, &rolling, &found, err);
    if (status != LOCI_OK)
        return status;
    lc_row_put(&lc_session_row, session, out);
    lc_jw_name(out, "session_state");
    lc_jw_object(out);
    lc_jw_member_int(out, "message_count", kept.message_count);
    put_time_or_null(out, "last_interaction", kept.last_at);
    if (kept.last_message.ptr != NULL)
        lc_jw_member_str(out, "last_user_message", kept.last_message);
    else
        lc_jw_member_raw(out, "last_user_message", LC_STR("null"));
    /* An attempt that fails with the model ends with an extract, so each one succeeds. */
    put_time_or_null(out, "last_rolling_attempt_at", found ? rolling.recorded_at : 0);
    put_time_or_null(out, "last_rolling_success_at", found ? rolling.recorded_at : 0);
    if (found && rolling.error.len > 0)
        lc_jw_member_str(out, "last_rolling_error", rolling.error);
    else
        lc_jw_member_null(out, "last_rolling_error");
    if (curation.at == 0) {
        lc_jw_member_raw(out, "curator", LC_STR("null"));
    } else {
        lc_jw_name(out, "curator");
        lc_jw_object(out);
        lc_jw_member_time(out, "last_run_at", curation.at);
        lc_jw_member_int(out, "last_memory_count_at_run", curation.memories);
        lc_jw_end(out);
    }
    lc_jw_end(out);
    return LOCI_OK;
}

typedef struct open_input {
    loci_str external_id;
    const lc_json *metadata;
    loci_str kept_metadata; /* Made by prepare. */
    const lc_tokenizer *tokenizer;
} open_input;

static const lc_param open_params[] = {
    LC_NAME_PARAM("external_id", open_input, external_id, LC_PARAM_POSITIONAL,
                  "Name of your own for the session; an open session of that name is reused"),
    {LC_ARG_OBJECT("metadata", open_input, metadata), .flags = LC_PARAM_SAID,
     .help = "JSON object of your own, at most 16 KB; that of an open session stays as it is"},
    {.name = NULL},
};

static loci_status prepare_open(lc_call *call, loci_error *err)
{
    open_input *in = call->input;
    loci_status status = lc_call_tokenizer(call, &in->tokenizer, err);

    return status == LOCI_OK ? lc_call_keep_metadata(call, in->metadata, &in->kept_metadata, err)
                             : status;
}

static loci_status put_last(lc_call *call, lc_tx *tx, const char *name, const lc_summary_ref *ref,
                            loci_error *err)
{
    lc_summary summary;
    bool found = false;
    loci_status status = lc_summary_find_last(tx, ref, call->arena, &summary, &found, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_name(&call->out, name);
    if (found)
        lc_summary_put(&call->out, &summary);
    else
        lc_jw_null(&call->out);
    return LOCI_OK;
}

/* An open session is under pressure while the window of its persona is. */
static loci_status judge_session(lc_call *call, lc_tx *tx, lc_session *session, loci_error *err)
{
    lc_window window;
    bool found = false;
    loci_status status = LOCI_OK;

    if (session->state == LC_SESSION_ACTIVE)
        status = lc_window_find(tx, session->persona_id, call->arena, &window, &found, err);
    if (status == LOCI_OK && found && window.level == LC_PRESSURE_CRITICAL)
        status = lc_session_make_move(&session->state, LC_SESSION_FILLED, session->id, err);
    return status;
}

/* Writes the ultra-dense map of the persona's window, and its pressure; null without a window. */
static loci_status put_map(lc_call *call, lc_tx *tx, const lc_session *session, loci_error *err)
{
    const open_input *in = call->input;
    lc_window_use use = {.evicted = {NULL, 0}};
    lc_window_map_text map;
    bool found = false;
    loci_status status = lc_window_find(tx, session->persona_id, call->arena, &use.window, &found,
                                        err);

    if (status == LOCI_OK && !found)
        lc_jw_member_null(&call->out, "map");
    if (status != LOCI_OK || !found)
        return status;
    status = lc_window_write_map(
        tx, &(lc_window_map_order){&use.window, 3, in->tokenizer, call->arena}, &map, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_member_str(&call->out, "map", map.text);
    return lc_call_put_pressure(call, tx, &use, err);
}

/* Writes the summaries that an agent gets when a session begins: that of the last session, the
 * rolling summary and the spine; and the map of its window. */
static loci_status put_bootstrap(lc_call *call, lc_tx *tx, const lc_session *session,
                                 loci_error *err)
{
    lc_summary_ref ref = {.kind = LC_STR("session"), .persona_id = session->persona_id};
    bool is_pending = false;
    loci_status status = lc_summary_is_pending(tx, session->persona_id, &is_pending, err);

    if (status == LOCI_OK && is_pending)
        lc_jw_member_text(&call->out, "session_summary", "pending");
    else if (status == LOCI_OK)
        status = put_last(call, tx, "session_summary", &ref, err);
    ref.kind = LC_STR("rolling");
    if (status == LOCI_OK)
        status = put_last(call, tx, "rolling_summary", &ref, err);
    ref.kind = LC_STR("spine");
    if (status == LOCI_OK)
        status = put_last(call, tx, "spine", &ref, err);
    return status == LOCI_OK ? put_map(call, tx, session, err) : status;
}

static loci_status run_open(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    const open_input *in = call->input;
    loci_str external_id = in->external_id;
    int64_t ended;
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
    if (status == LOCI_OK && use.is_new)
        use.session.metadata = in->kept_metadata;
    if (status == LOCI_OK)
        status = lc_session_begin(tx, &use, false, err);
    if (status == LOCI_OK) /* The summary of an idle session must not wait for the sweep. */
        status = lc_session_sweep.run(tx, ref.idle_us / MINUTE_US, &ended, err);
    if (status == LOCI_OK)
        status = judge_session(call, tx, &use.session, err);
    lc_jw_object(&call->out);
    if (status == LOCI_OK)
        status = put_session_with_state(call, tx, &use.session, err);
    if (status == LOCI_OK)
        status = put_bootstrap(call, tx, &use.session, err);
    lc_jw_end(&call->out);
    return status;
}

static const lc_record open_answer = {
    .base = &kept_record,
    .members =
        (const lc_result[]){
            {"session_summary", LC_PARAM_ANY,
             "Summary of the last session; \"pending\" while it is being made", LC_RESULT_NULLABLE},
            {"rolling_summary", 0, "Newest rolling summary of the persona", LC_RESULT_NULLABLE,
             .record = &lc_summary_record},
            {"spine", 0, "Newest spine: what is known about the user", LC_RESULT_NULLABLE,
             .record = &lc_summary_record},
            {"map", LC_PARAM_STRING, "Ultra-dense map of the window; null without one",
             LC_RESULT_NULLABLE},
            {"pressure", 0, "Pressure of the window; absent without one", LC_RESULT_OPTIONAL,
             .record = &lc_pressure_record},
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static const lc_op session_open = {
    .name = "session.open",
    .help = "Open a session and return what it begins with",
    .params = open_params,
    .input_bytes = sizeof(open_input),
    .answer = &open_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION | LC_OP_STARTS,
    .http = "POST /v1/sessions",
    .look = {.sentence = "opened {id}"},
    .example = "{\"external_id\":\"chat-42\"}",
    .prepare = prepare_open,
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
        status = lc_session_end(tx, &session, LC_SESSION_CLOSED, tx->now_us, err);
    if (status == LOCI_OK)
        lc_session_put(&call->out, &session);
    return status;
}

static const lc_op session_close = {
    .name = "session.close",
    .help = "End a session and delete its working set",
    .params = no_params,
    .answer = &session_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/sessions/{session_id}/close",
    .look = {.sentence = "ended {id}"},
    .example = "{\"session_id\":\"chat-42\"}",
    .run = run_close,
};

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    lc_session session;
    bool found;
    loci_status status = ref.session_id.len > 0
                             ? lc_session_find_past(tx, &ref, call->arena, &session, &found, err)
                             : lc_session_find(tx, &ref, call->arena, &session, &found, err);

    if (status == LOCI_OK && !found)
        status = fail_absent(call, err);
    if (status == LOCI_OK)
        status = judge_session(call, tx, &session, err);
    lc_jw_object(&call->out);
    if (status == LOCI_OK)
        status = put_session_with_state(call, tx, &session, err);
    lc_jw_end(&call->out);
    return status;
}

static const lc_op session_get = {
    .name = "session.get",
    .help = "Return one session (default: the open one; of a name, the last one)",
    .params = no_params,
    .answer = &kept_record,
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

/* Rows that do not pass the filter are skipped, at most SCAN_ROWS_MAX of them per call: a page may
 * then be short, and its cursor goes on behind them. */
#define SCAN_ROWS_MAX 5000

typedef struct list_input {
    lc_page_args page;
    loci_str state;
    loci_str external_id;
    int64_t from, to;
    const lc_json *metadata;
} list_input;

static const lc_param list_params[] = {
    LC_PAGE_PARAMS(list_input, page),
    {LC_ARG_STR("state", list_input, state), .choices = LC_SESSION_STATES,
     .help = "Only sessions in this state"},
    LC_NAME_PARAM("external_id", list_input, external_id, 0, "Only sessions with this name"),
    {LC_ARG_TIME("from", list_input, from), .help = "Only sessions opened at or after this time"},
    {LC_ARG_TIME("to", list_input, to), .help = "Only sessions opened before this time"},
    {LC_ARG_OBJECT("metadata", list_input, metadata),
     .help = "Only sessions with these members in their metadata"},
    {.name = NULL},
};

typedef struct listing {
    lc_page page;
    lc_seq_position last;
    const list_input *in; /* Of session.list. */
    int64_t rows;         /* Read by this run, and by all runs. */
    int64_t scanned;
} listing;

static loci_status put_session(void *ctx, const lc_session *session, loci_error *err)
{
    listing *l = ctx;
    const list_input *in = l->in;
    bool is_wanted = (in->state.len == 0 ||
                      lc_str_is(in->state, lc_session_state_name(session->state))) &&
                     (in->from == LC_ABSENT || session->opened_at >= in->from) &&
                     (in->to == LC_ABSENT || session->opened_at < in->to);
    loci_status status = LOCI_OK;

    l->rows++;
    if (is_wanted)
        status = lc_metadata_matches(l->page.call->arena->heap, session->metadata, in->metadata,
                                     &is_wanted, err);
    if (status != LOCI_OK || (is_wanted && !lc_page_takes(&l->page)))
        return status;
    l->last.seq = session->seq;
    if (is_wanted)
        lc_session_put(&l->page.call->out, session);
    return LOCI_OK;
}

/* Whether another run has to follow one that asked for `limit` rows. */
static bool goes_on(listing *l, int64_t limit)
{
    bool has_more = l->rows == limit && !l->page.has_more;

    l->scanned += l->rows;
    l->rows = 0;
    if (has_more && l->scanned >= SCAN_ROWS_MAX)
        l->page.has_more = true; /* The cursor goes on here. */
    return has_more && l->scanned < SCAN_ROWS_MAX;
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    lc_session_ref ref = lc_call_session_ref(call);
    listing l = {
        .page = {call, &lc_position_by_seq, &l.last}, .last = {INT64_MAX}, .in = call->input};
    lc_session_page page = {.persona_id = ref.persona_id,
                            .external_id = in->external_id,
                            .limit = in->page.limit + 1,
                            .idle_us = ref.idle_us};
    loci_status status = lc_page_begin(&l.page, &in->page, err);

    if (status != LOCI_OK)
        return status;
    lc_page_open(&l.page, "sessions");
    do {
        page.before_seq = l.last.seq;
        status = lc_session_each(tx, &page, put_session, &l, err);
    } while (status == LOCI_OK && goes_on(&l, page.limit));
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
    .look = {.columns = "id state external_id last_activity"},
    .example = "{\"limit\":10}",
    .run = run_list,
};

/* ---- session.append and messages ------------------------------------------------------------- */

#define MESSAGES_MAX 100 /* Of one call. */

/* One message of its own, or several. */
typedef struct append_input {
    lc_message_input message;
    const lc_json *messages;
    bool estimate;
    lc_message *items; /* Made by prepare, as are the judgements. */
    lc_message_judgement *judgements;
    size_t count;
} append_input;

static const lc_param append_params[] = {
    LC_MESSAGE_PARAMS(append_input, message, LC_PARAM_POSITIONAL),
    {LC_ARG_ANY("messages", append_input, messages), .flags = LC_PARAM_SAID,
     .help = "Instead of role and text: array of up to 100 objects {role, text, speaker?, at?, "
             "external_id?, metadata?}, appended together or not at all"},
    {LC_ARG_BOOL("estimate", append_input, estimate, "false"),
     .help = "Whether to save time in a new process: estimate tokens instead of loading the table "
             "that counts them"},
    {.name = NULL},
};

static const lc_param_rule append_rules[] = {
    {LC_RULE_EXACTLY_ONE, "text|messages"},
    {LC_RULE_NEEDS, "text|role"},
    {LC_RULE_NEEDS, "role|text"},
    {LC_RULE_NEEDS, "speaker|text"},
    {LC_RULE_NEEDS, "at|text"},
    {LC_RULE_NEEDS, "external_id|text"},
    {LC_RULE_NEEDS, "metadata|text"},
    {LC_RULE_END, NULL},
};

#define APPENDED_RESULTS                                                                           \
    {"message_id", LC_PARAM_STRING, "Id of the message (msg_...); of several, the last one"},      \
        {"session_id", LC_PARAM_STRING, "Id of its session (ses_...)"},                            \
        {"seq", LC_PARAM_INT, "Number of the event that wrote it"},                                \
    {                                                                                              \
        "repeated", LC_PARAM_BOOL,                                                                 \
            "True if its external_id was used before: nothing was stored, and the ids are those "  \
            "of the first message, which may be forgotten since",                                  \
            LC_RESULT_OPTIONAL                                                                     \
    }

static const lc_record appended_record = {
    .name = "AppendedMessage",
    .members = (const lc_result[]){APPENDED_RESULTS, LC_LEARNED_RESULT, {NULL}},
};

static const lc_record append_answer = {
    .members =
        (const lc_result[]){
            APPENDED_RESULTS,
            {"messages", 0, "One per message of `messages`, in their order",
             LC_RESULT_LIST | LC_RESULT_OPTIONAL, .record = &appended_record},
            LC_LEARNED_RESULT,
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status prepare_append(lc_call *call, loci_error *err)
{
    append_input *in = call->input;
    bool is_list = in->messages != NULL && lc_json_kind_of(in->messages) == LC_JSON_ARRAY;
    size_t count = is_list ? lc_json_count(in->messages) : 0;
    const lc_json *item = is_list ? lc_json_first(in->messages) : NULL;
    loci_status status = LOCI_OK;

    if (in->messages != NULL && (count == 0 || count > MESSAGES_MAX))
        return lc_fail(err, LOCI_EINVAL, "messages: expected an array of 1 to %d objects",
                       MESSAGES_MAX);
    in->count = in->messages != NULL ? count : 1;
    in->items = lc_arena_zalloc_array(call->arena, in->count, sizeof *in->items);
    in->judgements = lc_arena_zalloc_array(call->arena, in->count, sizeof *in->judgements);
    if (in->items == NULL || in->judgements == NULL)
        return lc_fail_memory(err);
    if (in->messages == NULL)
        status = lc_message_from_input(call, &in->message, in->estimate, in->items, err);
    for (size_t i = 0; i < count && status == LOCI_OK; i++, item = lc_json_next(item))
        status = lc_message_from_json(call, item, (lc_message_place){i, in->estimate},
                                      &in->items[i], err);
    for (size_t i = 0; i < in->count && status == LOCI_OK; i++)
        status = lc_call_read_message(call, in->items[i].role, in->items[i].text,
                                      &in->judgements[i], err);
    return status;
}

typedef struct appended {
    lc_message_use use;
    lc_id id;
    bool is_repeated;
} appended;

static loci_status append_one(lc_call *call, lc_tx *tx, lc_message *message, appended *out,
                              loci_error *err)
{
    loci_status status = LOCI_OK;

    if (message->external_id.len > 0)
        status = lc_session_find_message_use(tx, message, call->arena, &out->use, &out->is_repeated,
                                             err);
    if (status != LOCI_OK || out->is_repeated)
        return status;
    if (message->observed_at == LOCI_AT_CLOCK)
        status = lc_tx_recorded_at(tx, &message->observed_at, err);
    if (status == LOCI_OK)
        status = lc_session_append_message(tx, message, &out->id, &out->use.seq, err);
    message->id = lc_id_str(&out->id);
    message->seq = out->use.seq;
    out->use.message_id = message->id;
    out->use.session_id = message->session_id;
    return status;
}

/* Whether all messages were stored before: then nothing is, and no session is needed. */
static loci_status find_repeated(lc_call *call, lc_tx *tx, bool *out, loci_error *err)
{
    const append_input *in = call->input;
    loci_status status = LOCI_OK;
    lc_message_use use;

    *out = true;
    for (size_t i = 0; i < in->count && *out && status == LOCI_OK; i++) {
        *out = in->items[i].external_id.len > 0;
        if (*out)
            status = lc_session_find_message_use(tx, &in->items[i], call->arena, &use, out, err);
    }
    return status;
}

static void put_appended(lc_call *call, const appended *message,
                         const lc_message_judgement *judgement)
{
    lc_json_writer *out = &call->out;

    lc_jw_member_str(out, "message_id", message->use.message_id);
    lc_jw_member_str(out, "session_id", message->use.session_id);
    lc_jw_member_int(out, "seq", message->use.seq);
    if (message->is_repeated)
        lc_jw_member_bool(out, "repeated", true);
    else
        lc_call_put_learned(call, judgement->learned);
}

static void put_all_appended(lc_call *call, const appended *messages)
{
    const append_input *in = call->input;

    lc_jw_object(&call->out);
    put_appended(call, &messages[in->count - 1], &in->judgements[in->count - 1]);
    if (in->messages != NULL) {
        lc_jw_name(&call->out, "messages");
        lc_jw_array(&call->out);
        for (size_t i = 0; i < in->count; i++) {
            lc_jw_object(&call->out);
            put_appended(call, &messages[i], &in->judgements[i]);
            lc_jw_end(&call->out);
        }
        lc_jw_end(&call->out);
    }
    lc_jw_end(&call->out);
}

static loci_status run_append(lc_call *call, lc_tx *tx, loci_error *err)
{
    append_input *in = call->input;
    appended *messages = lc_arena_zalloc_array(call->arena, in->count, sizeof *messages);
    bool is_repeated = false;
    int64_t turns = 0;
    lc_session_use use = {0};
    loci_status status = messages != NULL ? find_repeated(call, tx, &is_repeated, err)
                                          : lc_fail_memory(err);

    if (status == LOCI_OK && !is_repeated)
        status = lc_call_choose_session(call, tx, &use, err);
    if (status == LOCI_OK && !is_repeated)
        status = lc_session_begin(tx, &use, true, err);
    for (size_t i = 0; i < in->count && status == LOCI_OK; i++) {
        in->items[i].session_id = use.session.id;
        status = append_one(call, tx, &in->items[i], &messages[i], err);
        if (messages[i].is_repeated)
            continue;
        turns += lc_str_is(in->items[i].role, "user");
        if (status == LOCI_OK)
            status = lc_call_judge_message(call, tx, &use, &in->items[i], &in->judgements[i], err);
    }
    if (status == LOCI_OK)
        status = lc_call_note_turns(call, tx, &use.session, turns, err);
    if (status == LOCI_OK)
        put_all_appended(call, messages);
    return status;
}

static const lc_op session_append = {
    .name = "session.append",
    .help = "Append a message, or several, to a session",
    .params = append_params,
    .rules = append_rules,
    .input_bytes = sizeof(append_input),
    .answer = &append_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/sessions/{session_id}/messages",
    .look = {.sentence = "{repeated yes=known already:,no=appended} {message_id}"},
    .example = "{\"messages\":[{\"role\":\"user\",\"text\":\"Good morning.\"}]}",
    .prepare = prepare_append,
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

typedef struct messages_input {
    lc_page_args page;
    loci_str role;
    const lc_json *metadata;
} messages_input;

static const lc_param messages_params[] = {
    LC_PAGE_PARAMS(messages_input, page),
    {LC_ARG_STR("role", messages_input, role), .choices = LC_MESSAGE_ROLES,
     .help = "Only messages of this role"},
    {LC_ARG_OBJECT("metadata", messages_input, metadata),
     .help = "Only messages with these members in their metadata"},
    {.name = NULL},
};

static loci_status put_message(void *ctx, const lc_message *message, loci_error *err)
{
    listing *l = ctx;
    const messages_input *in = l->page.call->input;
    bool is_wanted = in->role.len == 0 || lc_str_eq(in->role, message->role);
    loci_status status = LOCI_OK;

    l->rows++;
    if (is_wanted)
        status = lc_metadata_matches(l->page.call->arena->heap, message->metadata, in->metadata,
                                     &is_wanted, err);
    if (status != LOCI_OK || (is_wanted && !lc_page_takes(&l->page)))
        return status;
    l->last.seq = message->seq;
    if (is_wanted)
        lc_message_put(&l->page.call->out, message);
    return LOCI_OK;
}

/* The session named, also after its end; without a name the open one, else the last. */
static loci_status find_conversation(lc_call *call, lc_tx *tx, lc_session *out, bool *found,
                                     loci_error *err)
{
    lc_session_ref ref = lc_call_session_ref(call);
    loci_status status = lc_session_find_past(tx, &ref, call->arena, out, found, err);

    if (status == LOCI_OK && !*found && ref.session_id.len > 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "no session %.*s", LC_STR_ARG(ref.session_id));
    return status;
}

static loci_status run_messages(lc_call *call, lc_tx *tx, loci_error *err)
{
    const messages_input *in = call->input;
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
    do {
        page.after_seq = l.last.seq;
        if (found)
            status = lc_session_each_message(tx, &page, put_message, &l, err);
    } while (status == LOCI_OK && goes_on(&l, page.limit));
    lc_page_close(&l.page);
    return status;
}

static const lc_op session_messages = {
    .name = "session.messages",
    .help = "List the messages of a session, oldest first (default: the last session)",
    .params = messages_params,
    .input_bytes = sizeof(messages_input),
    .answer = &messages_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "GET /v1/sessions/{session_id}/messages",
    .look = {.columns = "role text at id", .hidden = "session_id"},
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
            LC_SEARCH_WARNINGS_RESULT,
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
    loci_str warning;
    loci_status status;

    tx->embedding = in->query.vector != NULL ? &in->meaning.embedding : NULL;
    status = lc_message_search(tx, &in->query, call->arena, &hits, err);
    tx->embedding = NULL;
    if (status == LOCI_OK)
        status = lc_meaning_warn(&in->meaning, tx, call->arena, &warning, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "results");
    lc_jw_array(&call->out);
    for (size_t i = 0; i < hits.count; i++)
        put_hit(&call->out, &hits.items[i], in->explain);
    lc_jw_end(&call->out);
    lc_jw_member_bool(&call->out, "complete", hits.is_complete);
    lc_call_put_warning(call, warning);
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
    .mcp_shows = "results(text at speaker role message_id session_id)",
    .look = {.columns = "score text role at session_id parts",
             .id = "message_id",
             .hidden = "complete warnings",
             .bar = "score",
             .is_of_texts = true},
    .example = "{\"query\":\"What did we say about the harbour?\",\"limit\":5}",
    .prepare = prepare_search,
    .compute = compute_search,
    .run = run_search,
};

extern const lc_op lc_op_session_forget; /* op_forget.c */
extern const lc_op lc_op_session_rewind; /* op_rewind.c */
extern const lc_op lc_op_identity_set;   /* op_identity.c */
extern const lc_op lc_op_identity_get;
extern const lc_op *const lc_ops_session[];
const lc_op *const lc_ops_session[] = {
    &session_open,         &session_close,      &session_get,        &session_list,
    &session_append,       &session_messages,   &session_search,     &lc_op_session_rewind,
    &lc_op_session_forget, &lc_op_identity_set, &lc_op_identity_get, NULL,
};
