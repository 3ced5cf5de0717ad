/* frame_row.c - the tables and events of frames.
 *
 * Refs of an event: frame_id (id in frame.pushed), parent_id if the parent changed too, and ids of
 * the record. Payload: `frame` and `parent`, the states afterwards, and the members of the record.
 * An erased event applies to nothing: all events of its tree are erased, and frame.forgotten
 * removes the rows of the tree.
 */
#include "frame/frame_row.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "store/verify.h"

#define OF_USER " where tenant_id = $1 and user_id = $2"

/* ---- Frames ---------------------------------------------------------------------------------- */

#define F lc_frame

#define FIELD_COLUMNS                                                                              \
    LC_STRING_COLUMN(F, goal, "goal", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,             \
                     .absent = "", .help = "Task of the frame"),                                   \
        LC_ANY_COLUMN(F, inputs, "inputs", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,            \
                      .help = "Inputs of the task"),                                               \
        LC_OBJECT_COLUMN(F, metadata, "metadata", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,     \
                         .help = "Metadata as given by the caller")

#define STATE_COLUMNS                                                                              \
    LC_ENUM_COLUMN(F, status, "status", LC_COL_PAYLOAD | LC_COL_REQUIRED,                          \
                   .choices = LC_FRAME_STATUSES, .help = "Whether it works, waits or has ended"),  \
        LC_STRING_COLUMN(F, waiting_for, "waiting_for",                                            \
                         LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN, .choices = LC_FRAME_WAITS,   \
                         .help = "Kind of event that it waits for"),                               \
        LC_INTEGER_COLUMN(F, ledger.used, "used_tokens", LC_COL_PAYLOAD),                          \
        LC_INTEGER_COLUMN(F, ledger.reserved, "reserved_tokens", LC_COL_PAYLOAD),                  \
        LC_INTEGER_COLUMN(F, ledger.allocated, "allocated_tokens", LC_COL_PAYLOAD),                \
        LC_INTEGER_COLUMN(F, tool_calls, "tool_calls", LC_COL_PAYLOAD | LC_COL_REQUIRED,           \
                          .help = "Number of tool calls begun"),                                   \
        LC_INTEGER_COLUMN(F, children, "open_children", LC_COL_PAYLOAD | LC_COL_REQUIRED,          \
                          .help = "Number of its children that have not ended"),                   \
        LC_INTEGER_COLUMN(F, handles, "handle_count", LC_COL_PAYLOAD | LC_COL_REQUIRED,            \
                          .help = "Number of handles and results in use"),                         \
        LC_INTEGER_COLUMN(F, context_tokens, "context_tokens", LC_COL_PAYLOAD | LC_COL_REQUIRED,   \
                          .help = "Tokens of the texts of its handles"),                           \
        LC_STRING_COLUMN(F, context_hash, "context_hash",                                          \
                         LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,                              \
                         .help = "Hash of its handles; changes whenever they do"),                 \
        LC_STRING_COLUMN(F, error, "error", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,           \
                         .help = "Failure of a tool or child that is not handled yet, or its own"  \
                                 " if it failed"),                                                 \
        LC_INTEGER_COLUMN(F, touched_seq, "touched_seq", LC_COL_EVENT),                            \
        LC_TIME_COLUMN(F, updated_at, "updated_at", LC_COL_EVENT | LC_COL_REQUIRED,                \
                       .help = "Time of its last change"),                                         \
        LC_TIME_COLUMN(F, completed_at, "completed_at",                                            \
                       LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,                                \
                       .help = "Time at which it ended")

static const lc_column frame_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(F, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(F, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Id of the frame (frm_...)"),
    LC_STRING_COLUMN(F, parent_id, "parent_id", LC_COL_REFS | LC_COL_SHOWN, .absent = "",
                     .help = "Frame that it is part of; absent for a root"),
    LC_INTEGER_COLUMN(F, parent_seq, "parent_seq", LC_COL_REFS),
    LC_INTEGER_COLUMN(F, root_seq, "root_seq", LC_COL_REFS | LC_COL_CODED),
    LC_STRING_COLUMN(F, persona_id, "persona_id", LC_COL_PAYLOAD | LC_COL_SHOWN, .absent = "",
                     .help = "Persona it belongs to; absent if it belongs to all"),
    LC_STRING_COLUMN(F, scope.actor_id, "actor_id", LC_COL_PAYLOAD | LC_COL_REQUIRED, .absent = "",
                     .group = "scope", .help = "Agent that works on it"),
    LC_STRING_COLUMN(F, scope.session_id, "session_id", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .json = "in_session", .shown = "session_id", .group = "scope",
                     .help = "Session in which it is done"),
    LC_STRING_COLUMN(F, scope.thread_id, "thread_id", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .group = "scope", .help = "Thread of work inside the session"),
    FIELD_COLUMNS,
    LC_INTEGER_COLUMN(F, depth, "depth", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                      .help = "Number of frames above it"),
    LC_INTEGER_COLUMN(F, limits.max_subframe_depth, "max_subframe_depth",
                      LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED, .group = "limits",
                      .help = "Depth of the deepest frame allowed below it"),
    LC_INTEGER_COLUMN(F, limits.max_context_tokens, "max_context_tokens",
                      LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN, .none = LC_FRAME_NO_LIMIT,
                      .group = "limits", .help = "Maximum number of tokens of a pack"),
    LC_INTEGER_COLUMN(F, limits.max_tool_calls, "max_tool_calls",
                      LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN, .none = LC_FRAME_NO_LIMIT,
                      .group = "limits", .help = "Maximum number of tool calls"),
    LC_INTEGER_COLUMN(F, limits.timeout_ms, "timeout_ms",
                      LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN, .none = LC_FRAME_NO_LIMIT,
                      .group = "limits", .help = "Milliseconds after which it is given up"),
    LC_TIME_COLUMN(F, deadline_at, "deadline_at", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                   .help = "Time at which it is given up"),
    LC_INTEGER_COLUMN(F, ledger.total, "total_tokens", LC_COL_PAYLOAD | LC_COL_CODED),
    STATE_COLUMNS,
    LC_TIME_COLUMN(F, created_at, "created_at", LC_COL_EVENT | LC_COL_REQUIRED,
                   .help = "Time at which it was pushed"),
    {0},
};

const lc_row_type lc_frame_row = {frame_columns, 0, sizeof(F)};

static const lc_column state_columns[] = {STATE_COLUMNS, {0}};
static const lc_column field_columns[] = {FIELD_COLUMNS, {0}};

const lc_row_type lc_frame_state_row = {state_columns, 0, sizeof(F)};
const lc_row_type lc_frame_fields_row = {field_columns, 0, sizeof(F)};

#undef F

static const lc_index frame_indexes[] = {
    {"open", "tenant_id, user_id, actor_id, touched_seq",
     "status in ('active', 'waiting', 'suspended')", false},
    {"due", "tenant_id, user_id, deadline_at",
     "deadline_at is not null and status in ('active', 'waiting', 'suspended')", false},
    {"parent", "tenant_id, user_id, parent_seq, seq", NULL, false},
    {"root", "tenant_id, user_id, root_seq, seq", NULL, false},
    {"session", "tenant_id, user_id, session_id", "session_id is not null", false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_frames_sql = {"delete from frames" OF_USER, "tt", NULL};

static const lc_table frames_table = {
    .name = "frames",
    .table_class = LC_TABLE_PROJECTION,
    .columns = frame_columns,
    .key = "tenant_id, user_id, seq",
    .indexes = frame_indexes,
    .forget = &forget_frames_sql,
};

/* ---- Handles, tool calls, reservations ------------------------------------------------------- */

#define H lc_frame_handle

static const lc_column handle_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(H, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(H, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Id of the handle (hdl_...)"),
    LC_STRING_COLUMN(H, frame_id, "frame_id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Frame that it belongs to"),
    LC_INTEGER_COLUMN(H, root_seq, "root_seq", LC_COL_REFS | LC_COL_CODED),
    LC_BOOLEAN_COLUMN(H, is_result, "is_result", LC_COL_PAYLOAD),
    LC_STRING_COLUMN(H, type, "type", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED, .absent = "",
                     .choices = LC_HANDLE_TYPES, .help = "Kind of content"),
    LC_ENUM_COLUMN(H, priority, "priority", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                   .choices = LC_HANDLE_PRIORITIES, .help = "Importance for packs"),
    LC_STRING_COLUMN(H, title, "title", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Short description"),
    LC_STRING_COLUMN(H, ref, "ref", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Id of a loci object, or URL; absent if it has a text"),
    LC_STRING_COLUMN(H, hash, "content_hash", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Hash of its text"),
    LC_INTEGER_COLUMN(H, tokens, "tokens", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                      .help = "Tokens of its text; 0 for a ref"),
    LC_INTEGER_COLUMN(H, call_seq, "call_seq", LC_COL_REFS),
    LC_TIME_COLUMN(H, created_at, "created_at", LC_COL_EVENT | LC_COL_REQUIRED,
                   .help = "Time at which it was added"),
    LC_TIME_COLUMN(H, removed_at, "removed_at", LC_COL_NULL | LC_COL_SHOWN,
                   .help = "Time at which it was removed"),
    {0},
};

const lc_row_type lc_frame_handle_row = {handle_columns, 0, sizeof(H)};

#undef H

static const lc_index handle_indexes[] = {
    {"frame", "tenant_id, user_id, frame_id, seq", "removed_at is null", false},
    {"root", "tenant_id, user_id, root_seq", NULL, false},
    {"hash", "tenant_id, user_id, content_hash", "content_hash is not null", false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_handles_sql = {"delete from frame_handles" OF_USER, "tt", NULL};

static const lc_table handles_table = {
    .name = "frame_handles",
    .table_class = LC_TABLE_PROJECTION,
    .columns = handle_columns,
    .key = "tenant_id, user_id, seq",
    .indexes = handle_indexes,
    .forget = &forget_handles_sql,
};

#define T lc_frame_tool

#define TOOL_STATE_COLUMNS                                                                         \
    LC_ENUM_COLUMN(T, status, "status", LC_COL_PAYLOAD | LC_COL_REQUIRED,                          \
                   .choices = LC_TOOL_STATUSES, .help = "Whether it runs or has ended"),           \
        LC_STRING_COLUMN(T, handle_id, "handle_id", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,   \
                         .help = "Handle of its output"),                                          \
        LC_STRING_COLUMN(T, error, "error", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,           \
                         .help = "Reason for which it failed"),                                    \
        LC_TIME_COLUMN(T, ended_at, "ended_at", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,       \
                       .help = "Time at which it ended")

static const lc_column tool_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(T, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(T, call_id, "call_id", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                     .absent = "", .help = "Id of the call, given by the caller"),
    LC_STRING_COLUMN(T, frame_id, "frame_id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Frame that it belongs to"),
    LC_INTEGER_COLUMN(T, root_seq, "root_seq", LC_COL_REFS | LC_COL_CODED),
    LC_STRING_COLUMN(T, name, "name", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED, .absent = "",
                     .help = "Name of the tool"),
    LC_ANY_COLUMN(T, arguments, "arguments", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                  .help = "Arguments of the call"),
    TOOL_STATE_COLUMNS,
    LC_TIME_COLUMN(T, started_at, "started_at", LC_COL_EVENT | LC_COL_REQUIRED,
                   .help = "Time at which it began"),
    {0},
};

const lc_row_type lc_frame_tool_row = {tool_columns, 0, sizeof(T)};

static const lc_column tool_state_columns[] = {TOOL_STATE_COLUMNS, {0}};

const lc_row_type lc_frame_tool_state_row = {tool_state_columns, 0, sizeof(T)};

#undef T

static const lc_index tool_indexes[] = {
    {"call", "tenant_id, user_id, frame_id, call_id", NULL, true},
    {"running", "tenant_id, user_id, frame_id, seq", "status = 'running'", false},
    {"root", "tenant_id, user_id, root_seq", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_tools_sql = {"delete from frame_tools" OF_USER, "tt", NULL};

static const lc_table tools_table = {
    .name = "frame_tools",
    .table_class = LC_TABLE_PROJECTION,
    .columns = tool_columns,
    .key = "tenant_id, user_id, seq",
    .indexes = tool_indexes,
    .forget = &forget_tools_sql,
};

#define R lc_frame_reservation

static const lc_column reservation_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(R, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(R, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Id of the reservation (rsv_...)"),
    LC_STRING_COLUMN(R, frame_id, "frame_id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Frame that it belongs to"),
    LC_INTEGER_COLUMN(R, root_seq, "root_seq", LC_COL_REFS | LC_COL_CODED),
    LC_STRING_COLUMN(R, purpose, "purpose", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Purpose of the tokens"),
    LC_INTEGER_COLUMN(R, tokens, "tokens", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                      .help = "Tokens that were reserved"),
    LC_INTEGER_COLUMN(R, left, "left_tokens", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                      .json = "left", .help = "Tokens that are still set aside"),
    LC_TIME_COLUMN(R, created_at, "created_at", LC_COL_EVENT | LC_COL_REQUIRED,
                   .help = "Time at which it was made"),
    {0},
};

const lc_row_type lc_frame_reservation_row = {reservation_columns, 0, sizeof(R)};

static const lc_column left_columns[] = {
    LC_INTEGER_COLUMN(R, left, "left_tokens", LC_COL_PAYLOAD | LC_COL_CODED, .json = "left"),
    {0},
};

const lc_row_type lc_frame_left_row = {left_columns, 0, sizeof(R)};

#undef R

static const lc_index reservation_indexes[] = {
    {"held", "tenant_id, user_id, frame_id, seq", "left_tokens > 0", false},
    {"root", "tenant_id, user_id, root_seq", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_reservations_sql = {"delete from frame_reservations" OF_USER, "tt",
                                               NULL};

static const lc_table reservations_table = {
    .name = "frame_reservations",
    .table_class = LC_TABLE_PROJECTION,
    .columns = reservation_columns,
    .key = "tenant_id, user_id, seq",
    .indexes = reservation_indexes,
    .forget = &forget_reservations_sql,
};

#define S lc_frame_suspension

static const lc_column suspension_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(S, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(S, frame_id, "frame_id", LC_COL_REFS | LC_COL_CODED),
    LC_INTEGER_COLUMN(S, root_seq, "root_seq", LC_COL_REFS | LC_COL_CODED),
    LC_STRING_COLUMN(S, token_hash, "token_hash", LC_COL_PAYLOAD | LC_COL_CODED, .absent = ""),
    LC_STRING_COLUMN(S, reason, "reason", LC_COL_NULL | LC_COL_PAYLOAD),
    LC_TIME_COLUMN(S, suspended_at, "suspended_at", LC_COL_EVENT),
    LC_TIME_COLUMN(S, expires_at, "expires_at", LC_COL_PAYLOAD | LC_COL_CODED),
    LC_TIME_COLUMN(S, resumed_at, "resumed_at", LC_COL_NULL),
    {0},
};

const lc_row_type lc_frame_suspension_row = {suspension_columns, 0, sizeof(S)};

#undef S

static const lc_index suspension_indexes[] = {
    {"token", "tenant_id, user_id, token_hash", NULL, true},
    {"frame", "tenant_id, user_id, frame_id, seq", NULL, false},
    {"root", "tenant_id, user_id, root_seq", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_suspensions_sql = {"delete from frame_suspensions" OF_USER, "tt", NULL};

static const lc_table suspensions_table = {
    .name = "frame_suspensions",
    .table_class = LC_TABLE_PROJECTION,
    .columns = suspension_columns,
    .key = "tenant_id, user_id, seq",
    .indexes = suspension_indexes,
    .forget = &forget_suspensions_sql,
};

/* ---- Appending ------------------------------------------------------------------------------- */

static void put_state(lc_json_writer *w, const char *name, const lc_frame *frame)
{
    lc_jw_name(w, name);
    lc_jw_object(w);
    lc_row_encode(&lc_frame_state_row, frame, LC_COL_PAYLOAD, w);
    lc_jw_end(w);
}

static void touch(lc_frame *frame, int64_t seq, int64_t at_us)
{
    frame->touched_seq = seq;
    frame->updated_at = at_us;
}

static void put_refs(lc_json_writer *w, const lc_frame_change *change)
{
    if (change->id.len > 0)
        lc_jw_member_str(w, "id", change->id);
    lc_jw_member_str(w, "frame_id", change->frame->id);
    lc_jw_member_int(w, "root_seq", change->frame->root_seq);
    if (change->parent != NULL)
        lc_jw_member_str(w, "parent_id", change->parent->id);
    if (change->call_seq > 0)
        lc_jw_member_int(w, "call_seq", change->call_seq);
    if (change->suspension_seq > 0)
        lc_jw_member_int(w, "suspension_seq", change->suspension_seq);
    if (change->removed == NULL)
        return;
    lc_jw_name(w, "removed");
    lc_jw_array(w);
    for (size_t i = 0; i < change->removed_count; i++)
        lc_jw_int(w, change->removed[i].seq);
    lc_jw_end(w);
}

loci_status lc_frame_append(lc_tx *tx, const lc_frame_change *change, int64_t *out_seq,
                            loci_error *err)
{
    int64_t seq = 0, at_us = 0;
    lc_event_draft draft;
    loci_status status = lc_tx_recorded_at(tx, &at_us, err);

    if (status != LOCI_OK)
        return status;
    LC_ASSERT(lc_ledger_is_sound(&change->frame->ledger));
    LC_ASSERT(change->parent == NULL || lc_ledger_is_sound(&change->parent->ledger));
    lc_event_draft_begin(&draft, tx);
    if (change->row != NULL)
        lc_row_encode(change->type_of_row, change->row, LC_COL_PAYLOAD, &draft.payload);
    if (change->removed != NULL)
        lc_jw_member_str(&draft.payload, "strategy", change->strategy);
    if (change->is_new)
        lc_row_encode(change->type_of_row, change->row, LC_COL_REFS, &draft.refs);
    else
        put_refs(&draft.refs, change);
    if (change->row != change->frame || !change->is_new)
        put_state(&draft.payload, "frame", change->frame);
    if (change->parent != NULL)
        put_state(&draft.payload, "parent", change->parent);
    status = lc_event_draft_append(&draft, tx, &(lc_append){.type = change->type}, &seq, err);
    if (status != LOCI_OK)
        return status;
    touch(change->frame, seq, at_us);
    if (change->parent != NULL)
        touch(change->parent, seq, at_us);
    if (out_seq != NULL)
        *out_seq = seq;
    return LOCI_OK;
}

/* ---- Applying -------------------------------------------------------------------------------- */

typedef struct applying {
    lc_tx *tx;
    const lc_event *event;
    lc_event_json json;
    lc_arena *arena;
} applying;

/* The seq in an id of refs. */
static loci_status seq_of(const applying *a, const char *name, const char *prefix, int64_t *out,
                          loci_error *err)
{
    lc_id_parts parts;

    if (!lc_id_parse(lc_event_str(a->json.refs, name), prefix, &parts))
        return lc_event_fail(a->event, err);
    *out = parts.seq;
    return LOCI_OK;
}

/* Updates the row with `seq` by the members that `payload` has of `sql->row`. */
static loci_status set_row(const applying *a, const lc_json *payload, const lc_sql *sql,
                           int64_t seq, loci_error *err)
{
    lc_arg args[3 + LC_ROW_COLUMNS_MAX] = {LC_T(a->event->tenant_id), LC_T(a->event->user_id),
                                           LC_I(seq)};
    const lc_event_json json = {a->json.refs, payload};
    void *row = lc_arena_zalloc_array(a->arena, 1, sql->row->bytes);
    loci_status status;

    if (row == NULL)
        return lc_fail_memory(err);
    status = lc_row_decode_json(sql->row, a->event, &json, a->arena, row, err);
    if (status != LOCI_OK)
        return status;
    lc_row_bind(sql->row, row, args + 3);
    return lc_tx_exec(a->tx, sql, args, err);
}

static const lc_sql set_state_sql = {"update frames set {set}" OF_USER " and seq = $3", "tti", NULL,
                                     &lc_frame_state_row};

/* Sets the state of the frame that the ref `name`_id names, if the payload has one. */
static loci_status set_state(const applying *a, const char *name, const char *ref, loci_error *err)
{
    const lc_json *state = lc_json_find(a->json.payload, name, LC_JSON_OBJECT);
    int64_t seq = 0;
    loci_status status;

    if (state == NULL)
        return LOCI_OK;
    status = seq_of(a, ref, "frm", &seq, err);
    return status == LOCI_OK ? set_row(a, state, &set_state_sql, seq, err) : status;
}

static loci_status insert_row(const applying *a, const lc_sql *sql, loci_error *err)
{
    void *row = lc_arena_zalloc_array(a->arena, 1, sql->row->bytes);
    loci_status status;

    if (row == NULL)
        return lc_fail_memory(err);
    status = lc_row_decode_json(sql->row, a->event, &a->json, a->arena, row, err);
    return status == LOCI_OK ? lc_row_insert(a->tx, a->event, sql, row, err) : status;
}

typedef loci_status apply_record(const applying *a, loci_error *err);

/* The states of the frames, then the record of the event; `record` NULL = it has none. */
static loci_status apply_change(lc_tx *tx, const lc_event *event, apply_record *record,
                                loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(&tx->db->scratch);
    applying a = {.tx = tx, .event = event, .arena = &tx->db->scratch};
    loci_status status = lc_event_parse(event, a.arena, &a.json, err);

    if (status == LOCI_OK && !event->is_erased) {
        status = set_state(&a, "frame", "frame_id", err);
        if (status == LOCI_OK)
            status = set_state(&a, "parent", "parent_id", err);
        if (status == LOCI_OK && record != NULL)
            status = record(&a, err);
    }
    lc_arena_rewind(a.arena, mark);
    return status;
}

#define VALUES " (tenant_id, user_id, {row}) values ($1, $2, {values})"

static const lc_sql insert_frame_sql = {"insert into frames" VALUES, "tt", NULL, &lc_frame_row};
static const lc_sql insert_handle_sql = {"insert into frame_handles" VALUES, "tt", NULL,
                                         &lc_frame_handle_row};
static const lc_sql insert_tool_sql = {"insert into frame_tools" VALUES, "tt", NULL,
                                       &lc_frame_tool_row};
static const lc_sql insert_reservation_sql = {"insert into frame_reservations" VALUES, "tt", NULL,
                                              &lc_frame_reservation_row};
static const lc_sql insert_suspension_sql = {"insert into frame_suspensions" VALUES, "tt", NULL,
                                             &lc_frame_suspension_row};
static const lc_sql end_suspension_sql = {
    "update frame_suspensions set resumed_at = $4" OF_USER " and seq = $3", "ttii", NULL};
static const lc_sql set_fields_sql = {"update frames set {set}" OF_USER " and seq = $3", "tti",
                                      NULL, &lc_frame_fields_row};
static const lc_sql set_tool_sql = {"update frame_tools set {set}" OF_USER " and seq = $3", "tti",
                                    NULL, &lc_frame_tool_state_row};
static const lc_sql set_left_sql = {"update frame_reservations set {set}" OF_USER " and seq = $3",
                                    "tti", NULL, &lc_frame_left_row};
static const lc_sql release_all_sql = {
    "update frame_reservations set left_tokens = 0" OF_USER " and frame_id = $3", "ttt", NULL};
static const lc_sql fail_tools_sql = {
    "update frame_tools set status = 'failed', error = 'the frame ended', ended_at = $4" OF_USER
    " and frame_id = $3 and status = 'running'",
    "ttti", NULL};
static const lc_sql remove_handle_sql = {
    "update frame_handles set removed_at = $4" OF_USER " and seq = $3", "ttii", NULL};

static loci_status insert_frame(const applying *a, loci_error *err)
{
    return insert_row(a, &insert_frame_sql, err);
}

static loci_status insert_handle(const applying *a, loci_error *err)
{
    return insert_row(a, &insert_handle_sql, err);
}

static loci_status insert_tool(const applying *a, loci_error *err)
{
    return insert_row(a, &insert_tool_sql, err);
}

static loci_status insert_reservation(const applying *a, loci_error *err)
{
    return insert_row(a, &insert_reservation_sql, err);
}

static loci_status set_fields(const applying *a, loci_error *err)
{
    int64_t seq = 0;
    loci_status status;

    if (lc_json_member(a->json.payload, LC_STR("goal")) == NULL)
        return LOCI_OK;
    status = seq_of(a, "frame_id", "frm", &seq, err);
    return status == LOCI_OK ? set_row(a, a->json.payload, &set_fields_sql, seq, err) : status;
}

/* A frame that ends holds nothing back and has nothing in progress. */
static loci_status close_frame(const applying *a, loci_error *err)
{
    const lc_arg args[] = {LC_T(a->event->tenant_id), LC_T(a->event->user_id),
                           LC_T_OR_EMPTY(lc_event_str(a->json.refs, "frame_id")),
                           LC_I(a->event->recorded_at)};
    loci_status status = lc_tx_exec(a->tx, &release_all_sql, args, err);

    return status == LOCI_OK ? lc_tx_exec(a->tx, &fail_tools_sql, args, err) : status;
}

static loci_status end_tool(const applying *a, loci_error *err)
{
    return set_row(a, a->json.payload, &set_tool_sql, lc_event_int(a->json.refs, "call_seq", 0),
                   err);
}

static loci_status set_left(const applying *a, loci_error *err)
{
    int64_t seq = 0;
    loci_status status = seq_of(a, "id", "rsv", &seq, err);

    return status == LOCI_OK ? set_row(a, a->json.payload, &set_left_sql, seq, err) : status;
}

static loci_status remove_handle(const applying *a, loci_error *err)
{
    int64_t seq = 0;
    loci_status status = seq_of(a, "id", "hdl", &seq, err);

    if (status != LOCI_OK)
        return status;
    return lc_tx_exec(a->tx, &remove_handle_sql,
                      (lc_arg[]){LC_T(a->event->tenant_id), LC_T(a->event->user_id), LC_I(seq),
                                 LC_I(a->event->recorded_at)},
                      err);
}

static loci_status remove_handles(const applying *a, loci_error *err)
{
    const lc_json *removed = lc_json_find(a->json.refs, "removed", LC_JSON_ARRAY);
    loci_status status = removed != NULL ? LOCI_OK : lc_event_fail(a->event, err);

    for (const lc_json *at = removed != NULL ? lc_json_first(removed) : NULL;
         at != NULL && status == LOCI_OK; at = lc_json_next(at)) {
        if (lc_json_kind_of(at) != LC_JSON_INT)
            return lc_event_fail(a->event, err);
        status = lc_tx_exec(a->tx, &remove_handle_sql,
                            (lc_arg[]){LC_T(a->event->tenant_id), LC_T(a->event->user_id),
                                       LC_I(lc_json_int(at)), LC_I(a->event->recorded_at)},
                            err);
    }
    return status;
}

static loci_status insert_suspension(const applying *a, loci_error *err)
{
    return insert_row(a, &insert_suspension_sql, err);
}

static loci_status end_suspension(const applying *a, loci_error *err)
{
    return lc_tx_exec(a->tx, &end_suspension_sql,
                      (lc_arg[]){LC_T(a->event->tenant_id), LC_T(a->event->user_id),
                                 LC_I(lc_event_int(a->json.refs, "suspension_seq", 0)),
                                 LC_I(a->event->recorded_at)},
                      err);
}

#define APPLY(name, record)                                                                        \
    static loci_status apply_##name(lc_tx *tx, const lc_event *event, loci_error *err)             \
    {                                                                                              \
        return apply_change(tx, event, record, err);                                               \
    }
#define EVENT(id, name_, apply_)                                                                   \
    const lc_event_type id = {.name = name_, .version = 1, .apply = apply_}

APPLY(pushed, insert_frame)
APPLY(updated, set_fields)
APPLY(popped, close_frame)
APPLY(handle_added, insert_handle)
APPLY(handle_removed, remove_handle)
APPLY(compacted, remove_handles)
APPLY(tool_begun, insert_tool)
APPLY(tool_ended, end_tool)
APPLY(reserved, insert_reservation)
APPLY(left, set_left)
APPLY(used, NULL)
APPLY(suspended, insert_suspension)
APPLY(resumed, end_suspension)

EVENT(lc_frame_pushed_event, "frame.pushed", apply_pushed);
EVENT(lc_frame_updated_event, "frame.updated", apply_updated);
EVENT(lc_frame_popped_event, "frame.popped", apply_popped);
EVENT(lc_frame_handle_added_event, "frame.handle_added", apply_handle_added);
EVENT(lc_frame_handle_removed_event, "frame.handle_removed", apply_handle_removed);
EVENT(lc_frame_result_added_event, "frame.result_added", apply_handle_added);
EVENT(lc_frame_compacted_event, "frame.compacted", apply_compacted);
EVENT(lc_frame_tool_begun_event, "frame.tool_begun", apply_tool_begun);
EVENT(lc_frame_tool_ended_event, "frame.tool_ended", apply_tool_ended);
EVENT(lc_frame_budget_reserved_event, "frame.budget_reserved", apply_reserved);
EVENT(lc_frame_budget_consumed_event, "frame.budget_consumed", apply_left);
EVENT(lc_frame_budget_released_event, "frame.budget_released", apply_left);
EVENT(lc_frame_budget_used_event, "frame.budget_used", apply_used);
EVENT(lc_frame_suspended_event, "frame.suspended", apply_suspended);
EVENT(lc_frame_resumed_event, "frame.resumed", apply_resumed);

/* ---- Checking -------------------------------------------------------------------------------- */

static const lc_sql lost_children_sql = {
    "select c.id from frames c left join frames p on p.tenant_id = c.tenant_id"
    " and p.user_id = c.user_id and p.seq = c.parent_seq"
    " where c.tenant_id = $1 and c.user_id = $2 and c.parent_seq > 0 and p.id is null"
    " order by c.seq limit 20",
    "tt", "t"};

/* Tokens that are neither made nor lost: what a frame has handed on is what its children have. */
static const lc_sql unbalanced_sql = {
    "select p.id from frames p where p.tenant_id = $1 and p.user_id = $2"
    " and p.status in ('active', 'waiting', 'suspended') and (p.allocated_tokens <>"
    " (select coalesce(cast(sum(c.total_tokens) as bigint), 0) from frames c"
    " where c.tenant_id = p.tenant_id and c.user_id = p.user_id and c.parent_seq = p.seq"
    " and c.status in ('active', 'waiting', 'suspended')) or p.reserved_tokens <>"
    " (select coalesce(cast(sum(r.left_tokens) as bigint), 0) from frame_reservations r"
    " where r.tenant_id = p.tenant_id and r.user_id = p.user_id and r.frame_id = p.id"
    " and r.left_tokens > 0)) order by p.seq limit 20",
    "tt", "t"};

static const lc_sql lost_contents_sql = {
    "select h.id from frame_handles h left join frame_contents c on c.tenant_id = h.tenant_id"
    " and c.user_id = h.user_id and c.hash = h.content_hash where h.tenant_id = $1"
    " and h.user_id = $2 and h.content_hash is not null and c.hash is null"
    " order by h.seq limit 20",
    "tt", "t"};

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
    loci_status status = report(tx, &lost_children_sql, args, "has a parent that does not exist",
                                problems, err);

    if (status == LOCI_OK)
        status = report(tx, &unbalanced_sql, args,
                        "has handed on or reserved other amounts than its children and "
                        "reservations have",
                        problems, err);
    if (status == LOCI_OK)
        status = report(tx, &lost_contents_sql, args, "has a text that is not stored", problems,
                        err);
    return status;
}

/* ---- The room -------------------------------------------------------------------------------- */

const lc_setting lc_setting_frame_budget_tokens = {
    .name = "frame.budget_tokens",
    .kind = LC_SETTING_INT,
    .default_text = "100000",
    .min = 1,
    .max = LC_LEDGER_TOKENS_MAX,
    .help = "Budget in tokens of a root frame that is pushed without one",
    .is_live = true,
    .is_per_tenant = true,
};

const lc_setting lc_setting_frame_depth_max = {
    .name = "frame.depth_max",
    .kind = LC_SETTING_INT,
    .default_text = "64",
    .min = 0,
    .max = LC_FRAME_DEPTH_MAX,
    .help = "Maximum depth of frames; a root has depth 0",
    .is_live = true,
    .is_per_tenant = true,
};

static const lc_setting *const settings[] = {&lc_setting_frame_budget_tokens,
                                             &lc_setting_frame_depth_max,
                                             &lc_setting_frame_orphan_grace_s, NULL};

static const lc_table *const tables[] = {
    &frames_table,      &handles_table,           &tools_table, &reservations_table,
    &suspensions_table, &lc_frame_contents_table, NULL,
};

static const lc_event_type *const events[] = {
    &lc_frame_pushed_event,
    &lc_frame_updated_event,
    &lc_frame_popped_event,
    &lc_frame_handle_added_event,
    &lc_frame_handle_removed_event,
    &lc_frame_result_added_event,
    &lc_frame_compacted_event,
    &lc_frame_tool_begun_event,
    &lc_frame_tool_ended_event,
    &lc_frame_budget_reserved_event,
    &lc_frame_budget_consumed_event,
    &lc_frame_budget_released_event,
    &lc_frame_budget_used_event,
    &lc_frame_content_stored_event,
    &lc_frame_suspended_event,
    &lc_frame_resumed_event,
    &lc_frame_forgotten_event,
    &lc_actor_resumed_event,
    NULL,
};

const lc_room lc_frame_room = {.name = "frame",
                               .settings = settings,
                               .tables = tables,
                               .events = events,
                               .check = check,
                               .sweep = &lc_frame_sweep};
