/* window_row.c - the tables of the room, and how its events become rows.
 *
 * A resource has one row, and its inline text a row of its own, so that lists do not read it. The
 * indexes have the order of each policy over the active resources that are not protected, and the
 * order of importance for maps; their columns are made from the others in every write.
 *
 * Invariants, checked by verify: the sums in the row of a window are those of its resources; only
 * active resources have tokens in the window.
 */
#include "window/window_row.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

/* ---- Windows --------------------------------------------------------------------------------- */

#define WINDOW_STATE                                                                               \
    LC_STRING_COLUMN(lc_window, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,            \
                     .help = "Id of the window (win_...)"),                                        \
        LC_INTEGER_COLUMN(lc_window, resource_count, "resource_count",                             \
                          LC_COL_REFS | LC_COL_REQUIRED, .help = "Number of its resources"),       \
        LC_INTEGER_COLUMN(lc_window, active_count, "active_count", LC_COL_REFS | LC_COL_REQUIRED,  \
                          .help = "Number of resources that are loaded or hot"),                   \
        LC_INTEGER_COLUMN(lc_window, active_tokens, "active_tokens",                               \
                          LC_COL_REFS | LC_COL_REQUIRED, .help = "Number of tokens of these"),     \
        LC_ENUM_COLUMN(lc_window, level, "level", LC_COL_REFS,                                     \
                       .choices = "low|medium|high|critical"),                                     \
        LC_TIME_COLUMN(lc_window, critical_since, "critical_since", LC_COL_NULL | LC_COL_REFS)

static const lc_column window_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    WINDOW_STATE,
    LC_STRING_COLUMN(lc_window, persona_id, "persona_id", LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .absent = "", .help = "Persona that it belongs to; absent if none"),
    LC_INTEGER_COLUMN(lc_window, context_max, "context_max", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                      .help = "Number of tokens of the model's context"),
    LC_INTEGER_COLUMN(lc_window, reserve_output, "reserve_output", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                      .help = "Number of tokens of it that are kept free for the answer"),
    LC_ENUM_COLUMN(lc_window, policy, "policy", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                   .choices = LC_POLICY_CHOICES, .help = "Policy of eviction"),
    LC_TIME_COLUMN(lc_window, opened_at, "opened_at",
                   LC_COL_SINCE | LC_COL_PAYLOAD | LC_COL_REQUIRED,
                   .help = "Time at which it was opened"),
    {0},
};

const lc_row_type lc_window_row = {window_columns, 0, sizeof(lc_window)};

static const lc_column window_state_columns[] = {WINDOW_STATE, {0}};

const lc_row_type lc_window_state_row = {window_state_columns, 0, sizeof(lc_window)};

static const lc_index window_indexes[] = {
    {"persona", "tenant_id, user_id, persona_id", NULL, true},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_windows_sql = {
    "delete from windows where tenant_id = $1 and user_id = $2", "tt", NULL};

const lc_table lc_windows_table = {
    .name = "windows",
    .table_class = LC_TABLE_PROJECTION,
    .columns = window_columns,
    .key = "tenant_id, user_id, id",
    .indexes = window_indexes,
    .forget = &forget_windows_sql,
};

/* ---- Resources ------------------------------------------------------------------------------- */

#define ID                                                                                         \
    LC_STRING_COLUMN(lc_resource, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,          \
                     .help = "Id of the resource (res_...)")

#define STATE_COLUMNS                                                                              \
    LC_ENUM_COLUMN(lc_resource, state, "state", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,   \
                   .choices = LC_RESOURCE_STATE_CHOICES, .help = "State of its life cycle"),       \
        LC_STRING_COLUMN(lc_resource, mode, "mode", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,   \
                         .choices = LC_RESOURCE_MODES,                                             \
                         .help = "Part of it that is in the window; absent if it is not active"),  \
        LC_INTEGER_COLUMN(lc_resource, size_tokens, "size_tokens",                                 \
                          LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_OR_NULL,                           \
                          .help = "Number of tokens of its content; null until it is read"),       \
        LC_BOOLEAN_COLUMN(lc_resource, is_estimated, "is_estimated",                               \
                          LC_COL_PAYLOAD | LC_COL_SHOWN, .json = "estimated",                      \
                          .help = "True if its numbers of tokens are estimates"),                  \
        LC_INTEGER_COLUMN(lc_resource, window_tokens, "window_tokens",                             \
                          LC_COL_PAYLOAD | LC_COL_REQUIRED,                                        \
                          .help = "Number of tokens that it takes in the window now"),             \
        LC_NUMBER_COLUMN(lc_resource, attention, "attention",                                      \
                         LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,                          \
                         .help = "Attention, from 0 to 10; more than 1 is hot"),                   \
        LC_TIME_COLUMN(lc_resource, last_accessed, "last_accessed",                                \
                       LC_COL_PAYLOAD | LC_COL_REQUIRED, .help = "Time of the last use"),          \
        LC_STRING_COLUMN(lc_resource, summary, "summary",                                          \
                         LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,                              \
                         .help = "Summary; absent if there is none"),                              \
        LC_INTEGER_COLUMN(lc_resource, summary_tokens, "summary_tokens",                           \
                          LC_COL_PAYLOAD | LC_COL_SHOWN,                                           \
                          .help = "Number of tokens of the summary"),                              \
        LC_STRING_COLUMN(lc_resource, hash, "content_hash",                                        \
                         LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN, .json = "hash",              \
                         .help = "Hash of the content that was read"),                             \
        LC_TIME_COLUMN(lc_resource, modified_at, "modified_at",                                    \
                       LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,                                \
                       .help = "Time at which its file was changed, when it was read"),            \
        LC_INTEGER_COLUMN(lc_resource, size_bytes, "size_bytes",                                   \
                          LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,                             \
                          .help = "Number of bytes of its content"),                               \
        LC_TIME_COLUMN(lc_resource, read_at, "read_at",                                            \
                       LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,                                \
                       .help = "Time at which its content was read"),                              \
        LC_BOOLEAN_COLUMN(lc_resource, is_stale, "is_stale", LC_COL_PAYLOAD | LC_COL_SHOWN,        \
                          .json = "stale",                                                         \
                          .help = "True if its content has changed since it was read"),            \
        LC_STRING_COLUMN(lc_resource, problem, "problem",                                          \
                         LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,                              \
                         .help = "Reason why it is offline"),                                      \
        LC_INTEGER_COLUMN(lc_resource, is_active, "is_active", 0),                                 \
        LC_INTEGER_COLUMN(lc_resource, place, "place", 0),                                         \
        LC_INTEGER_COLUMN(lc_resource, bucket, "bucket", 0)

#define NOTE_COLUMNS                                                                               \
    LC_ANY_COLUMN(lc_resource, annotations, "annotations",                                         \
                  LC_COL_PAYLOAD | LC_COL_REQUIRED | LC_COL_LAST, .absent = "[]",                  \
                  .help = "Annotations, oldest first: objects with `at` and `text`"),              \
        LC_STRINGS_COLUMN(lc_resource, tags, "tags",                                               \
                          LC_COL_PAYLOAD | LC_COL_REQUIRED | LC_COL_LAST, .absent = "[]",          \
                          .help = "Tags; `protected` keeps it from being evicted"),                \
        LC_INTEGER_COLUMN(lc_resource, is_protected, "is_protected", 0)

#define LINK_COLUMNS                                                                               \
    LC_ANY_COLUMN(lc_resource, links, "links", LC_COL_PAYLOAD | LC_COL_REQUIRED | LC_COL_LAST,     \
                  .absent = "[]",                                                                  \
                  .help = "Links to other resources: objects with `to` and perhaps `label`")

static const lc_column resource_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(lc_resource, seq, "seq", LC_COL_EVENT),
    ID,
    LC_STRING_COLUMN(lc_resource, window_id, "window_id", LC_COL_REFS | LC_COL_CODED),
    LC_STRING_COLUMN(lc_resource, uri, "uri", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                     .absent = "", .help = "file:///PATH, text:NAME or loci:ID"),
    LC_STRING_COLUMN(lc_resource, source, "source", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                     .absent = "", .choices = LC_RESOURCE_SOURCES,
                     .help = "Where its content comes from"),
    LC_ENUM_COLUMN(lc_resource, kind, "kind", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                   .choices = LC_KIND_CHOICES, .help = "Kind of resource"),
    STATE_COLUMNS,
    LC_INTEGER_COLUMN(lc_resource, ttl_s, "ttl_s", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                      .help = "Seconds after which its content has to be read again"),
    NOTE_COLUMNS,
    LINK_COLUMNS,
    LC_TIME_COLUMN(lc_resource, created_at, "created_at",
                   LC_COL_EVENT | LC_COL_REQUIRED | LC_COL_LAST,
                   .help = "Time at which it was discovered"),
    LC_INTEGER_COLUMN(lc_resource, relational, "relational", 0),
    LC_INTEGER_COLUMN(lc_resource, technical, "technical", 0),
    LC_COMPUTED(LC_TYPE_STRING, lc_resource, region, "region", LC_COL_REQUIRED,
                .choices = LC_REGION_CHOICES,
                .help = "Latency class: active 0 ms, indexed below 100 ms, cold below 5 s"),
    {0},
};

const lc_row_type lc_resource_row = {resource_columns, 0, sizeof(lc_resource)};

static const lc_column state_columns[] = {ID, STATE_COLUMNS, {0}};
static const lc_column notes_columns[] = {ID, NOTE_COLUMNS, {0}};
static const lc_column links_columns[] = {ID, LINK_COLUMNS, {0}};

const lc_row_type lc_resource_state_row = {state_columns, 0, sizeof(lc_resource)};
const lc_row_type lc_resource_notes_row = {notes_columns, 0, sizeof(lc_resource)};
const lc_row_type lc_resource_links_row = {links_columns, 0, sizeof(lc_resource)};

#define OF_WINDOW "tenant_id, user_id, window_id, "
#define EVICTABLE "is_active = 1 and is_protected = 0"

static const lc_index resource_indexes[] = {
    {"uri", OF_WINDOW "uri", NULL, true},
    {"window", OF_WINDOW "seq", NULL, false},
    {"groups", OF_WINDOW "place, kind, size_tokens", NULL, false},
    {"important", OF_WINDOW "attention desc, place, last_accessed desc, id", NULL, false},
    {"lru", OF_WINDOW "bucket, last_accessed, id", EVICTABLE, false},
    {"size", OF_WINDOW "bucket, window_tokens desc, last_accessed, id", EVICTABLE, false},
    {"relational", OF_WINDOW "bucket, relational, last_accessed, id",
     EVICTABLE " and relational < 2", false},
    {"technical", OF_WINDOW "bucket, technical, last_accessed, id", EVICTABLE " and technical < 2",
     false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_resources_sql = {
    "delete from resources where tenant_id = $1 and user_id = $2", "tt", NULL};

const lc_table lc_resources_table = {
    .name = "resources",
    .table_class = LC_TABLE_PROJECTION,
    .columns = resource_columns,
    .key = "tenant_id, user_id, seq",
    .is_large = true,
    .indexes = resource_indexes,
    .forget = &forget_resources_sql,
};

static const lc_column text_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),
    LC_COLUMN("body", 't'),
    {0},
};

static const lc_sql forget_texts_sql = {
    "delete from resource_texts where tenant_id = $1 and user_id = $2", "tt", NULL};

const lc_table lc_resource_texts_table = {
    .name = "resource_texts",
    .table_class = LC_TABLE_PROJECTION,
    .columns = text_columns,
    .key = "tenant_id, user_id, seq",
    .forget = &forget_texts_sql,
};

void lc_resource_derive(lc_resource *resource)
{
    lc_resource_region region = lc_resource_region_of(resource->state);

    resource->is_active = lc_resource_is_active(resource->state);
    resource->place = (int64_t)region;
    resource->bucket = lc_attention_bucket(resource->attention);
    resource->relational = lc_kind_rank(LC_POLICY_KEEP_RELATIONAL, resource->kind);
    resource->technical = lc_kind_rank(LC_POLICY_KEEP_TECHNICAL, resource->kind);
    resource->is_protected = resource->tags.len > 0 &&
                             memmem(resource->tags.ptr, resource->tags.len, "\"protected\"",
                                    strlen("\"protected\"")) != NULL;
    resource->region = loci_str_of(lc_resource_region_name(region));
}

/* ---- Appending ------------------------------------------------------------------------------- */

void lc_window_put_state(const lc_window *window, lc_json_writer *refs)
{
    lc_jw_name(refs, "window");
    lc_jw_object(refs);
    lc_row_encode(&lc_window_state_row, window, LC_COL_REFS, refs);
    lc_jw_end(refs);
}

loci_status lc_resource_append(lc_tx *tx, const lc_resource_event *event,
                               const lc_resource *resource, loci_error *err)
{
    const lc_resource_note *note = event->note;
    lc_event_draft draft;

    lc_event_draft_begin(&draft, tx);
    lc_row_encode(event->row, resource, LC_COL_REFS, &draft.refs);
    if (note != NULL) {
        lc_jw_member_text(&draft.refs, "move", note->move);
        lc_jw_member_text(&draft.refs, "by", note->by);
        if (note->why.len > 0)
            lc_jw_member_str(&draft.refs, "why", note->why);
    }
    if (event->window != NULL)
        lc_window_put_state(event->window, &draft.refs);
    lc_row_encode(event->row, resource, LC_COL_PAYLOAD, &draft.payload);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = event->type}, NULL, err);
}

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql set_window_sql = {
    "insert into windows (tenant_id, user_id, {row}) values ($1, $2, {values})"
    " on conflict (tenant_id, user_id, id) do update set {excluded}",
    "tt", NULL, &lc_window_row};

static const lc_sql window_state_sql = {
    "update windows set {set} where tenant_id = $1 and user_id = $2 and id = $3", "ttt", NULL,
    &lc_window_state_row};

/* The member `window` of the refs, if the event has one. */
static loci_status apply_window(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                                loci_error *err)
{
    const lc_json *state = lc_json_find(json->refs, "window", LC_JSON_OBJECT);
    lc_arg args[3 + LC_ROW_COLUMNS_MAX] = {LC_T(event->tenant_id), LC_T(event->user_id)};
    lc_event_json part = {state, json->payload};
    lc_window window = {0};
    loci_status status;

    if (state == NULL)
        return LOCI_OK;
    status = lc_row_decode_json(&lc_window_state_row, event, &part, &tx->db->scratch, &window, err);
    if (status != LOCI_OK)
        return status;
    args[2] = LC_T(window.id);
    lc_row_bind(&lc_window_state_row, &window, args + 3);
    return lc_tx_exec(tx, &window_state_sql, args, err);
}

static loci_status apply_set(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                             loci_error *err)
{
    lc_window window = {0};
    loci_status status = lc_row_decode_json(&lc_window_row, event, json, &tx->db->scratch, &window,
                                            err);

    return status == LOCI_OK ? lc_row_insert(tx, event, &set_window_sql, &window, err) : status;
}

static const lc_sql insert_sql = {
    "insert into resources (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_resource_row};

static const lc_sql insert_text_sql = {
    "insert into resource_texts (tenant_id, user_id, seq, body) values ($1, $2, $3, $4)", "ttit",
    NULL};

static loci_status apply_discovered(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                                    loci_error *err)
{
    const lc_json *text = lc_json_find(json->payload, "text", LC_JSON_STRING);
    lc_resource resource = {0};
    loci_status status = lc_row_decode_json(&lc_resource_row, event, json, &tx->db->scratch,
                                            &resource, err);

    if (status != LOCI_OK)
        return status;
    lc_resource_derive(&resource);
    status = lc_row_insert(tx, event, &insert_sql, &resource, err);
    if (status != LOCI_OK || text == NULL)
        return status;
    return lc_tx_exec(tx, &insert_text_sql,
                      (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_I(event->seq),
                                 LC_T(lc_json_str(text))},
                      err);
}

#define CHANGE "update resources set {set} where tenant_id = $1 and user_id = $2 and seq = $3"
static const lc_sql state_sql = {CHANGE, "tti", NULL, &lc_resource_state_row};
static const lc_sql notes_sql = {CHANGE, "tti", NULL, &lc_resource_notes_row};
static const lc_sql links_sql = {CHANGE, "tti", NULL, &lc_resource_links_row};

static loci_status apply_columns(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                                 const lc_sql *sql, loci_error *err)
{
    lc_arg args[3 + LC_ROW_COLUMNS_MAX] = {LC_T(event->tenant_id), LC_T(event->user_id)};
    lc_resource resource = {0};
    lc_id_parts parts;
    loci_status status = lc_row_decode_json(sql->row, event, json, &tx->db->scratch, &resource,
                                            err);

    if (status == LOCI_OK && !lc_id_parse(resource.id, "res", &parts))
        status = lc_event_fail(event, err);
    if (status != LOCI_OK)
        return status;
    lc_resource_derive(&resource);
    args[2] = LC_I(parts.seq);
    lc_row_bind(sql->row, &resource, args + 3);
    return lc_tx_exec(tx, sql, args, err);
}

static loci_status apply_changed(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                                 loci_error *err)
{
    return apply_columns(tx, event, json, &state_sql, err);
}

static loci_status apply_noted(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                               loci_error *err)
{
    return apply_columns(tx, event, json, &notes_sql, err);
}

static loci_status apply_linked(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                                loci_error *err)
{
    return apply_columns(tx, event, json, &links_sql, err);
}

static const lc_sql delete_sql = {
    "delete from resources where tenant_id = $1 and user_id = $2 and seq = $3", "tti", NULL};
static const lc_sql delete_text_sql = {
    "delete from resource_texts where tenant_id = $1 and user_id = $2 and seq = $3", "tti", NULL};

static loci_status apply_forgotten(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                                   loci_error *err)
{
    lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_I(0)};
    lc_id_parts parts;
    loci_status status;

    if (!lc_id_parse(lc_event_str(json->refs, "id"), "res", &parts))
        return lc_event_fail(event, err);
    args[2] = LC_I(parts.seq);
    status = lc_tx_exec(tx, &delete_sql, args, err);
    return status == LOCI_OK ? lc_tx_exec(tx, &delete_text_sql, args, err) : status;
}

typedef loci_status apply_json(lc_tx *tx, const lc_event *event, const lc_event_json *json,
                               loci_error *err);

/* The window's state is in the refs and is applied even if the payload was erased. */
static loci_status apply_with(lc_tx *tx, const lc_event *event, apply_json *apply, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK && (!event->is_erased || event->type->forgets))
        status = apply(tx, event, &json, err);
    if (status == LOCI_OK)
        status = apply_window(tx, event, &json, err);
    lc_arena_rewind(arena, mark);
    return status;
}

#define EVENT(variable, event_name, function, is_forgetting)                                       \
    static loci_status function##_event(lc_tx *tx, const lc_event *event, loci_error *err)         \
    {                                                                                              \
        return apply_with(tx, event, function, err);                                               \
    }                                                                                              \
    const lc_event_type variable = {                                                               \
        .name = (event_name), .version = 1, .apply = function##_event, .forgets = (is_forgetting)}

EVENT(lc_window_set_event, "window.set", apply_set, false);
EVENT(lc_resource_discovered_event, "resource.discovered", apply_discovered, false);
EVENT(lc_resource_changed_event, "resource.changed", apply_changed, false);
EVENT(lc_resource_noted_event, "resource.noted", apply_noted, false);
EVENT(lc_resource_linked_event, "resource.linked", apply_linked, false);
EVENT(lc_resource_forgotten_event, "resource.forgotten", apply_forgotten, true);
