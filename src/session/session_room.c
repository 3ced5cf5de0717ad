/* session_room.c - the tables of sessions, and how events become rows.
 *
 * A turn is a user message. sessions.turn_count counts those of the session, message_counts those
 * of the user and persona. Both equal a count of the matching rows of messages, so a forgotten
 * message is not counted any more, and a replay of its tombstone gives the same numbers.
 *
 * Invariants, checked by verify: messages belong to a session of their user; items of the working
 * set and times of activity belong to a session, items to one that is active.
 */
#include "session/session.h"

#include "base/error.h"
#include "base/str.h"
#include "session/environment.h"
#include "session/message_corpus.h"
#include "session/session_event.h"
#include "session/summary.h"
#include "session/working.h"
#include "store/event.h"
#include "store/upkeep.h"

/* Columns of sessions, and the members of an identity in the answers of identity.get. */
#define IDENTITY_COLUMNS(record, of, in_group)                                                     \
    LC_STRING_COLUMN(record, of user_name, "user_name", LC_COL_NULL | OPTIONAL | LC_COL_REQUIRED,  \
                     .group = (in_group), .help = "Name of the user"),                             \
        LC_STRING_COLUMN(record, of authority, "authority",                                        \
                         LC_COL_NULL | OPTIONAL | LC_COL_REQUIRED, .group = (in_group),            \
                         .help = "Authority of the user, or a title"),                             \
        LC_STRING_COLUMN(record, of department, "department", LC_COL_NULL | OPTIONAL,              \
                         .group = (in_group), .help = "Department of the user"),                   \
        LC_STRING_COLUMN(record, of organization, "organization", LC_COL_NULL | OPTIONAL,          \
                         .group = (in_group), .help = "Organization of the user"),                 \
        LC_STRINGS_COLUMN(record, of permissions, "permissions",                                   \
                          LC_COL_NULL | OPTIONAL | LC_COL_REQUIRED, .group = (in_group),           \
                          .help = "Permissions of the user"),                                      \
        LC_STRING_COLUMN(record, of authority_max, "identity_authority_max",                       \
                         LC_COL_NULL | LC_COL_PAYLOAD, .group = (in_group),                        \
                         .json = "authority_max"),                                                 \
        LC_STRING_COLUMN(record, of trust_max, "identity_trust_max", LC_COL_NULL | LC_COL_PAYLOAD, \
                         .group = (in_group), .json = "trust_max")

#define OPTIONAL (LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST)

static const lc_column session_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_STRING_COLUMN(lc_session, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Id of the session (ses_...)"),
    LC_INTEGER_COLUMN(lc_session, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(lc_session, external_id, "external_id",
                     LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Name that the caller gave it"),
    LC_STRING_COLUMN(lc_session, persona_id, "persona_id", LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .absent = "", .help = "Persona it belongs to; absent if it belongs to all"),
    LC_ENUM_COLUMN(lc_session, state, "state", LC_COL_REQUIRED, .choices = LC_SESSION_STATES,
                   .help = "State of its life cycle; messages are appended while it is active"),
    LC_TIME_COLUMN(lc_session, opened_at, "opened_at", LC_COL_EVENT | LC_COL_REQUIRED,
                   .help = "Time at which it was opened"),
    LC_TIME_COLUMN(lc_session, ended_at, "ended_at", LC_COL_NULL | LC_COL_SHOWN | LC_COL_LAST,
                   .help = "Time at which it ended"),
    LC_STRING_COLUMN(lc_session, end_reason, "end_reason", LC_COL_NULL | LC_COL_SHOWN | LC_COL_LAST,
                     .choices = "closed|idle|shutdown", .help = "Reason for which it ended"),
    LC_INTEGER_COLUMN(lc_session, turn_count, "turn_count", LC_COL_REQUIRED,
                      .help = "Number of user messages in it"),
    LC_OBJECT_COLUMN(lc_session, metadata, "metadata",
                     LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST,
                     .help = "Metadata as given by the caller"),
    IDENTITY_COLUMNS(lc_session, identity., "identity"),
    LC_COMPUTED(LC_TYPE_TIME, lc_session, last_activity, "last_activity", LC_COL_REQUIRED,
                .help = "Time of the last write in it"),
    {0},
};

const lc_row_type lc_session_row = {session_columns, 0, sizeof(lc_session)};

static const lc_column identity_columns[] = {IDENTITY_COLUMNS(lc_identity, , NULL), {0}};

const lc_row_type lc_identity_row = {identity_columns, 0, sizeof(lc_identity)};

static const lc_index session_indexes[] = {
    {"seq", "tenant_id, user_id, persona_id, seq", NULL, false},
    {"open", "tenant_id, user_id, persona_id, seq", "state = 'active'", false},
    {"external", "tenant_id, user_id, external_id, persona_id, seq", "state = 'active'", false},
    {"name", "tenant_id, user_id, external_id, persona_id, seq", "external_id is not null", false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_sessions_sql = {
    "delete from sessions where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table sessions_table = {
    .name = "sessions",
    .table_class = LC_TABLE_PROJECTION,
    .columns = session_columns,
    .key = "tenant_id, user_id, id",
    .indexes = session_indexes,
    .forget = &forget_sessions_sql,
};

static const lc_column message_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_STRING_COLUMN(lc_message, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Id of the message (msg_...)"),
    LC_INTEGER_COLUMN(lc_message, seq, "seq", LC_COL_EVENT | LC_COL_REQUIRED | LC_COL_LAST,
                      .help = "Number of the event that recorded it"),
    LC_STRING_COLUMN(lc_message, session_id, "session_id",
                     LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED, .help = "Id of its session"),
    LC_STRING_COLUMN(lc_message, role, "role", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                     .absent = "", .choices = LC_MESSAGE_ROLES, .help = "Role of the speaker"),
    LC_STRING_COLUMN(lc_message, speaker, "speaker", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Name of the speaker"),
    LC_STRING_COLUMN(lc_message, text, "body", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                     .absent = "", .json = "text", .help = "Text of the message"),
    LC_STRING_COLUMN(lc_message, persona_id, "persona_id", LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .absent = "", .help = "Persona it belongs to; absent if it belongs to all"),
    LC_STRING_COLUMN(lc_message, external_id, "external_id",
                     LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Id that the caller gave it"),
    LC_OBJECT_COLUMN(lc_message, metadata, "metadata", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Metadata as given by the caller"),
    LC_INTEGER_COLUMN(lc_message, tokens, "tokens", LC_COL_PAYLOAD | LC_COL_SHOWN,
                      .help = "Tokens of the text in o200k_base; absent if they were not counted"),
    LC_BOOLEAN_COLUMN(lc_message, is_estimated, "is_estimated", LC_COL_PAYLOAD | LC_COL_SHOWN,
                      .json = "estimated", .help = "True if the tokens are estimated"),
    LC_TIME_COLUMN(lc_message, observed_at, "observed_at",
                   LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_SINCE | LC_COL_REQUIRED, .shown = "at",
                   .help = "Time at which it was said"),
    LC_TIME_COLUMN(lc_message, recorded_at, "recorded_at", LC_COL_EVENT | LC_COL_REQUIRED,
                   .help = "Time at which loci recorded it"),
    {0},
};

const lc_row_type lc_message_row = {message_columns, 0, sizeof(lc_message)};

static const lc_index message_indexes[] = {
    {"session", "tenant_id, user_id, session_id, seq", NULL, false},
    {"seq", "tenant_id, user_id, seq", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_messages_sql = {
    "delete from messages where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table messages_table = {
    .name = "messages",
    .table_class = LC_TABLE_PROJECTION,
    .columns = message_columns,
    .key = "tenant_id, user_id, id",
    .is_large = true,
    .indexes = message_indexes,
    .forget = &forget_messages_sql,
};

/* External ids of messages that were used. Rows outlive their messages: a forgotten message
 * must not come back when its source is imported again. `name` is a hash, see lc_message_name(). */
static const lc_column name_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("name", 't'),
    LC_COLUMN("message_id", 't'),
    LC_COLUMN("session_id", 't'),
    LC_COLUMN("seq", 'i'),
    {0},
};

static const lc_sql forget_names_sql = {
    "delete from message_names where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_index name_indexes[] = {
    {"session", "tenant_id, user_id, session_id, seq", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_table names_table = {
    .name = "message_names",
    .table_class = LC_TABLE_PROJECTION,
    .columns = name_columns,
    .key = "tenant_id, user_id, name",
    .indexes = name_indexes,
    .forget = &forget_names_sql,
};

/* For each persona ("" = no persona): its number of user messages, and the last of them. */
static const lc_column count_columns[] = {
    LC_COLUMN("tenant_id", 't'),     LC_COLUMN("user_id", 't'),  LC_COLUMN("persona_id", 't'),
    LC_COLUMN("message_count", 'i'), LC_COLUMN("last_seq", 'i'), {0},
};

static const lc_sql forget_counts_sql = {
    "delete from message_counts where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table counts_table = {
    .name = "message_counts",
    .table_class = LC_TABLE_PROJECTION,
    .columns = count_columns,
    .key = "tenant_id, user_id, persona_id",
    .forget = &forget_counts_sql,
};

static const lc_column activity_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("session_id", 't'),
    LC_COLUMN("last_at", 'i'),
    {0},
};

static const lc_sql forget_activity_sql = {
    "delete from session_activity where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table activity_table = {
    .name = "session_activity",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = activity_columns,
    .key = "tenant_id, user_id, session_id",
    .forget = &forget_activity_sql,
};

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql open_sql = {
    "insert into sessions (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_session_row};

static const lc_sql end_sql = {
    "update sessions set state = 'ended', ended_at = $4, end_reason = $5"
    " where tenant_id = $1 and user_id = $2 and id = $3 and state = 'active'",
    "tttit", NULL};

static const lc_sql identify_sql = {
    "update sessions set {set} where tenant_id = $1 and user_id = $2 and id = $3", "ttt", NULL,
    &lc_identity_row};

static const lc_sql message_sql = {
    "insert into messages (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_message_row};

static const lc_sql turn_sql = {
    "update sessions set turn_count = turn_count + 1 where tenant_id = $1 and user_id = $2"
    " and id = $3",
    "ttt", NULL};

static const lc_sql count_sql = {
    "insert into message_counts (tenant_id, user_id, persona_id, message_count, last_seq)"
    " values ($1, $2, $3, 1, $4) on conflict (tenant_id, user_id, persona_id)"
    " do update set message_count = message_counts.message_count + 1,"
    " last_seq = excluded.last_seq",
    "ttti", NULL};

static loci_status apply_message(lc_tx *tx, const lc_event *event, lc_arena *arena, loci_error *err)
{
    lc_message message;
    loci_status status = lc_row_decode(&lc_message_row, event, arena, &message, err);

    if (status != LOCI_OK || event->is_erased)
        return status;
    status = lc_row_insert(tx, event, &message_sql, &message, err);
    if (status != LOCI_OK || !lc_str_is(message.role, "user"))
        return status;
    status = lc_tx_exec(
        tx, &turn_sql,
        (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_T(message.session_id)}, err);
    return status == LOCI_OK
               ? lc_tx_exec(tx, &count_sql,
                            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                       LC_T_OR_EMPTY(message.persona_id), LC_I(event->seq)},
                            err)
               : status;
}

static loci_status apply_message_event(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    loci_status status = apply_message(tx, event, arena, err);

    lc_arena_rewind(arena, mark);
    return status;
}

/* `about` has ended_at and reason. */
static loci_status end_session(lc_tx *tx, const lc_event *event, loci_str id, const lc_json *about,
                               loci_error *err)
{
    loci_str reason = lc_event_str(about, "reason");

    lc_session_drop_cached(tx);
    return lc_tx_exec(tx, &end_sql,
                      (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_T(id),
                                 LC_I(lc_event_time(about, "ended_at", event->recorded_at)),
                                 LC_T(reason.len > 0 ? reason : LC_STR("idle"))},
                      err);
}

static loci_status apply_opened(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                                loci_error *err)
{
    lc_session session;
    loci_status status = lc_row_decode_json(&lc_session_row, event, json, &tx->db->scratch,
                                            &session, err);

    session.state = LC_SESSION_ACTIVE;
    lc_session_drop_cached(tx);
    return status == LOCI_OK ? lc_row_insert(tx, event, &open_sql, &session, err) : status;
}

static loci_status apply_ended(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                               loci_error *err)
{
    loci_str id = lc_event_str(json->refs, "id");

    return id.len > 0 ? end_session(tx, event, id, json->payload, err) : lc_event_fail(event, err);
}

/* Applies the member `session` that the refs of an event of any room may have: a session that ended
 * because it was idle, and a session that was opened. */
static loci_status apply_carried(lc_tx *tx, const lc_event *event, lc_arena *arena, loci_error *err)
{
    const lc_json *refs, *carried;
    lc_session session = {
        .state = LC_SESSION_ACTIVE, .seq = event->seq, .opened_at = event->recorded_at};
    loci_str ended;
    loci_status status = lc_json_parse(arena, event->refs, 0, &refs, err);

    if (status == LOCI_ERESOURCE)
        return status;
    if (status != LOCI_OK || lc_json_kind_of(refs) != LC_JSON_OBJECT)
        return lc_event_fail(event, err);
    carried = lc_json_member(refs, LC_STR("session"));
    if (carried == NULL || lc_json_kind_of(carried) != LC_JSON_OBJECT)
        return LOCI_OK;
    ended = lc_event_str(carried, "ended");
    session.id = lc_event_str(carried, "opened");
    session.persona_id = lc_event_str(carried, "persona_id");
    status = LOCI_OK;
    if (ended.len > 0)
        status = end_session(tx, event, ended, carried, err);
    if (status == LOCI_OK && session.id.len > 0) {
        lc_session_drop_cached(tx);
        status = lc_row_insert(tx, event, &open_sql, &session, err);
    }
    return status;
}

#define CARRIED "\"session\":{"

static const lc_sql name_sql = {
    "insert into message_names (tenant_id, user_id, name, message_id, session_id, seq)"
    " values ($1, $2, $3, $4, $5, $6)",
    "ttttti", NULL};

/* For a message with an external id: its name is in the refs, which stay when it is forgotten. */
static loci_status apply_name(lc_tx *tx, const lc_event *event, lc_arena *arena, loci_error *err)
{
    const lc_json *refs;
    loci_status status = lc_json_parse(arena, event->refs, 0, &refs, err);

    if (status == LOCI_ERESOURCE)
        return status;
    if (status != LOCI_OK || lc_json_kind_of(refs) != LC_JSON_OBJECT)
        return lc_event_fail(event, err);
    return lc_tx_exec(tx, &name_sql,
                      (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                 LC_T(lc_event_str(refs, LC_MESSAGE_NAME)),
                                 LC_T(lc_event_str(refs, "id")),
                                 LC_T(lc_event_str(refs, "session_id")), LC_I(event->seq)},
                      err);
}

static loci_status follow(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark before = lc_arena_get_mark(arena);
    loci_status status = LOCI_OK;

    /* Avoids parsing the refs of nearly all events. */
    if (memmem(event->refs.ptr, event->refs.len, CARRIED, sizeof CARRIED - 1) != NULL)
        status = apply_carried(tx, event, arena, err);
    if (status == LOCI_OK && event->type == &lc_session_message_event &&
        memmem(event->refs.ptr, event->refs.len,
               "\"" LC_MESSAGE_NAME "\":", sizeof LC_MESSAGE_NAME + 2) != NULL)
        status = apply_name(tx, event, arena, err);
    lc_arena_rewind(arena, before);
    return status;
}

static loci_status apply_identity(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                                  loci_error *err)
{
    loci_str id = lc_event_str(json->refs, "session_id");
    lc_arg args[3 + LC_ROW_COLUMNS_MAX] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_T(id)};
    lc_identity identity;
    loci_status status;

    if (id.len == 0)
        return lc_event_fail(event, err);
    if (event->is_erased)
        return LOCI_OK;
    status = lc_row_decode_json(&lc_identity_row, event, json, &tx->db->scratch, &identity, err);
    lc_session_drop_cached(tx);
    lc_row_bind(&lc_identity_row, &identity, args + 3);
    return status == LOCI_OK ? lc_tx_exec(tx, &identify_sql, args, err) : status;
}

typedef loci_status apply_json(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                               loci_error *err);

static loci_status apply_with(lc_tx *tx, const lc_event *event, apply_json *apply, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK)
        status = apply(tx, event, &json, err);
    lc_arena_rewind(arena, mark);
    return status;
}

#define APPLY(name)                                                                                \
    static loci_status name##_event(lc_tx *tx, const lc_event *event, loci_error *err)             \
    {                                                                                              \
        return apply_with(tx, event, name, err);                                                   \
    }

APPLY(apply_opened)
APPLY(apply_ended)
APPLY(apply_identity)

static loci_status embedded_text(const lc_event *event, lc_arena *arena, loci_str *out,
                                 loci_error *err)
{
    lc_message message;
    loci_status status = lc_row_decode(&lc_message_row, event, arena, &message, err);

    if (status == LOCI_OK)
        *out = message.text;
    return status;
}

const lc_event_type lc_session_opened_event = {"session.opened", 1, NULL, apply_opened_event, NULL};
const lc_event_type lc_session_ended_event = {"session.ended", 1, NULL, apply_ended_event, NULL};
const lc_event_type lc_session_message_event = {.name = "session.message",
                                                .version = 1,
                                                .apply = apply_message_event,
                                                .embedded = embedded_text};
const lc_event_type lc_identity_set_event = {"identity.set", 1, NULL, apply_identity_event, NULL};

/* ---- Checking -------------------------------------------------------------------------------- */

static const lc_sql lost_messages_sql = {
    "select m.id from messages m left join sessions s on s.tenant_id = m.tenant_id"
    " and s.user_id = m.user_id and s.id = m.session_id"
    " where m.tenant_id = $1 and m.user_id = $2 and s.id is null order by m.id limit 20",
    "tt", "t"};

static const lc_sql lost_activity_sql = {
    "select a.session_id from session_activity a left join sessions s"
    " on s.tenant_id = a.tenant_id and s.user_id = a.user_id and s.id = a.session_id"
    " where a.tenant_id = $1 and a.user_id = $2 and s.id is null order by a.session_id limit 20",
    "tt", "t"};

static const lc_sql lost_items_sql = {
    "select distinct w.session_id from working_items w left join sessions s"
    " on s.tenant_id = w.tenant_id and s.user_id = w.user_id and s.id = w.session_id"
    " and s.state = 'active' where w.tenant_id = $1 and w.user_id = $2 and s.id is null"
    " order by w.session_id limit 20",
    "tt", "t"};

/* `what` describes the problem with the session or message that a row names. */
static loci_status report(lc_tx *tx, const lc_sql *sql, const lc_arg *args, const char *what,
                          lc_problems *problems, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, sql, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        lc_problems_add(problems, "%.*s %s", LC_STR_ARG(lc_rows_str(&rows, 0)), what);
    lc_rows_end(&rows);
    return status;
}

static loci_status check(lc_tx *tx, loci_str tenant_id, loci_str user_id, lc_problems *problems,
                         loci_error *err)
{
    const lc_arg args[] = {LC_T(tenant_id), LC_T(user_id)};
    loci_status status = report(tx, &lost_messages_sql, args, "is a message of no session",
                                problems, err);

    if (status == LOCI_OK)
        status = report(tx, &lost_activity_sql, args, "has activity and is no session", problems,
                        err);
    if (status == LOCI_OK)
        status = report(tx, &lost_items_sql, args, "has a working set and is no active session",
                        problems, err);
    return status;
}

static const lc_table *const tables[] = {
    &sessions_table,   &messages_table,       &names_table,        &counts_table, &activity_table,
    &lc_working_table, &lc_environment_table, &lc_summaries_table, NULL,
};

static const lc_event_type *const events[] = {
    &lc_session_opened_event,
    &lc_session_ended_event,
    &lc_session_message_event,
    &lc_identity_set_event,
    &lc_environment_event,
    &lc_session_forgotten_event,
    &lc_message_forgotten_event,
    &lc_session_rewound_event,
    &lc_summary_made_event,
    &lc_summary_forgotten_event,
    NULL,
};

const lc_setting lc_setting_session_idle_minutes = {
    .name = "session.idle_minutes",
    .kind = LC_SETTING_INT,
    .default_text = "30",
    .min = 1,
    .max = 525600,
    .help = "Minutes without a write after which a session ends",
    .is_live = true,
    .is_per_tenant = true,
};

const lc_setting lc_setting_session_close_on_shutdown = {
    .name = "session.close_on_shutdown",
    .kind = LC_SETTING_BOOL,
    .default_text = "false",
    .help =
        "Whether `loci serve` ends all open sessions of its store when it stops; otherwise they "
        "go on after a restart",
    .is_live = true,
};

static const lc_setting *const settings[] = {
    &lc_setting_session_idle_minutes, &lc_setting_session_close_on_shutdown,
    &lc_setting_summary_rolling_turns, &lc_setting_summary_spine_messages, NULL};

const lc_room lc_session_room = {.name = "session",
                                 .settings = settings,
                                 .tables = tables,
                                 .events = events,
                                 .follow = follow,
                                 .check = check,
                                 .sweep = &lc_session_sweep,
                                 .texts = &lc_message_source};
