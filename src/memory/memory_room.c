/* memory_room.c - the room: its tables, and how events of memories become rows.
 *
 * The state of a memory is stored whole with each memory.changed, so applying one needs no earlier
 * state. The ids that a memory supersedes are in the refs of its event: when its payload is erased,
 * they stay superseded.
 *
 * Invariants, checked by verify: a tag belongs to a memory; one that is superseded says by which; a
 * version belongs to a file, which has its last one.
 */
#include "memory/memory.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "memory/curate.h"
#include "memory/entity.h"
#include "memory/file.h"
#include "memory/memory_recall.h"
#include "memory/todo.h"
#include "memory/withdraw.h"
#include "store/event.h"
#include "store/upkeep.h"

#define STATE (LC_COL_PAYLOAD | LC_COL_CODED)

/* The columns that memory.changed sets. */
#define STATE_COLUMNS                                                                              \
    LC_ENUM_COLUMN(lc_memory, status, "status", STATE | LC_COL_REQUIRED,                           \
                   .choices = LC_MEMORY_STATUSES,                                                  \
                   .help = "Whether it is found; superseded and archived ones are history"),       \
        LC_INTEGER_COLUMN(lc_memory, importance, "importance", STATE | LC_COL_REQUIRED,            \
                          .help = "Importance from 0 to 3; a pinned memory has 3"),                \
        LC_BOOLEAN_COLUMN(lc_memory, pinned, "pinned", STATE | LC_COL_REQUIRED,                    \
                          .help = "Whether it is always part of a context"),                       \
        LC_INTEGER_COLUMN(lc_memory, mentions, "mentions", STATE | LC_COL_REQUIRED,                \
                          .help = "Number of times it was stored"),                                \
        LC_STRINGS_COLUMN(lc_memory, sessions, "mentioned_in", LC_COL_PAYLOAD, .absent = "[]"),    \
        LC_STRING_COLUMN(lc_memory, entity_label, "entity_label",                                  \
                         LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,                              \
                         .help = "Name of the main entity, for people"),                           \
        LC_OBJECT_COLUMN(lc_memory, metadata, "metadata",                                          \
                         LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST,                \
                         .help = "Metadata as given by the caller"),                               \
        LC_TIME_COLUMN(lc_memory, confirmed_at, "confirmed_at",                                    \
                       LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST,                  \
                       .help = "Time at which the user confirmed it"),                             \
        LC_TIME_COLUMN(lc_memory, ended_at, "ended_at",                                            \
                       LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST,                  \
                       .help = "Time at which it was archived or superseded"),                     \
        LC_BOOLEAN_COLUMN(lc_memory, raised, "raised", LC_COL_PAYLOAD),                            \
        LC_INTEGER_COLUMN(lc_memory, changed_seq, "changed_seq", LC_COL_EVENT)

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_INTEGER_COLUMN(lc_memory, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(lc_memory, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Id of the memory (mem_...)"),
    LC_STRING_COLUMN(lc_memory, text, "body", STATE | LC_COL_REQUIRED, .absent = "", .json = "text",
                     .help = "Text of the memory"),
    LC_ENUM_COLUMN(lc_memory, type, "type", STATE | LC_COL_REQUIRED, .choices = LC_MEMORY_TYPES,
                   .help = "Kind of memory"),
    LC_STRINGS_COLUMN(lc_memory, entity_refs, "entity_refs", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                      .absent = "[]", .help = "Entities it is about, its subject first"),
    LC_STRING_COLUMN(lc_memory, entity_type, "entity_type", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                     .absent = "", .group = "subtype", .help = "Type of its subject"),
    LC_STRING_COLUMN(lc_memory, fact_type, "fact_type", LC_COL_PAYLOAD | LC_COL_REQUIRED,
                     .absent = "fact", .group = "subtype", .choices = LC_FACT_TYPES,
                     .help = "Kind of fact"),
    LC_STRING_COLUMN(lc_memory, memory_key, "memory_key", STATE | LC_COL_REQUIRED, .absent = "",
                     .help = "Key that decides which statements replace each other"),
    LC_STRING_COLUMN(lc_memory, attribute, "attribute", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Attribute of which its subject has one value"),
    LC_STRING_COLUMN(lc_memory, value, "value", LC_COL_NULL | LC_COL_PAYLOAD),
    LC_STRING_COLUMN(lc_memory, source, "source", LC_COL_PAYLOAD | LC_COL_REQUIRED, .absent = "api",
                     .choices = LC_MEMORY_SOURCES, .help = "Origin of the memory"),
    LC_NUMBER_COLUMN(lc_memory, confidence, "confidence", STATE | LC_COL_REQUIRED,
                     .help = "Confidence from 0 to 1"),
    LC_STRING_COLUMN(lc_memory, trust, "trust", LC_COL_PAYLOAD | LC_COL_REQUIRED, .absent = "user",
                     .help = "Origin of the statement: user, system, tool, web or model"),
    STATE_COLUMNS,
    LC_TIME_COLUMN(lc_memory, observed_at, "observed_at",
                   STATE | LC_COL_SINCE | LC_COL_REQUIRED | LC_COL_LAST,
                   .help = "Time at which it was true"),
    LC_TIME_COLUMN(lc_memory, recorded_at, "recorded_at",
                   LC_COL_EVENT | LC_COL_REQUIRED | LC_COL_LAST,
                   .help = "Time at which loci recorded it"),
    LC_STRING_COLUMN(lc_memory, persona_id, "persona_id",
                     LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST, .absent = "",
                     .help = "Persona it belongs to; absent if it belongs to all"),
    LC_STRINGS_COLUMN(lc_memory, supersedes, "supersedes", LC_COL_REFS | LC_COL_SHOWN | LC_COL_LAST,
                      .absent = "[]", .help = "Ids of the memories it replaced"),
    LC_STRING_COLUMN(lc_memory, superseded_by, "superseded_by",
                     LC_COL_NULL | LC_COL_REFS | LC_COL_SHOWN | LC_COL_LAST,
                     .help = "Id of the memory that replaced it"),
    LC_STRING_COLUMN(lc_memory, contests, "contests",
                     LC_COL_NULL | LC_COL_REFS | LC_COL_SHOWN | LC_COL_LAST,
                     .help = "For a claim: id of the memory it contradicts"),
    LC_STRING_COLUMN(lc_memory, statement, "statement", STATE, .absent = ""),
    {0},
};

const lc_row_type lc_memory_row = {columns, 0, sizeof(lc_memory)};

static const lc_column state_columns[] = {
    LC_STRING_COLUMN(lc_memory, id, "id", LC_COL_REFS | LC_COL_CODED),
    STATE_COLUMNS,
    {0},
};

const lc_row_type lc_memory_state_row = {state_columns, 0, sizeof(lc_memory)};

static const lc_index memory_indexes[] = {
    {"key", "tenant_id, user_id, persona_id, memory_key, statement", NULL, false},
    {"changed", "tenant_id, user_id, changed_seq", "status <> 'active'", false},
    {"pinned", "tenant_id, user_id, persona_id", "pinned = 1", false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_memories_sql = {
    "delete from memories where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table memories_table = {
    .name = "memories",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, seq",
    .is_large = true,
    .forget = &forget_memories_sql,
    .indexes = memory_indexes,
};

static const lc_column tag_columns[] = {
    LC_COLUMN("tenant_id", 't'),  LC_COLUMN("user_id", 't'), LC_COLUMN("tag", 't'),
    LC_COLUMN("persona_id", 't'), LC_COLUMN("seq", 'i'),     {0},
};

static const lc_index tag_indexes[] = {
    {"seq", "tenant_id, user_id, seq", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_tags_sql = {
    "delete from memory_tags where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table tags_table = {
    .name = "memory_tags",
    .table_class = LC_TABLE_PROJECTION,
    .columns = tag_columns,
    .key = "tenant_id, user_id, tag, persona_id, seq",
    .forget = &forget_tags_sql,
    .indexes = tag_indexes,
};

void lc_memory_put(lc_json_writer *out, const lc_memory *memory, loci_str client)
{
    lc_memory shown = *memory;

    shown.importance = lc_memory_importance(memory);
    lc_jw_object(out);
    lc_row_put(&lc_memory_row, &shown, out);
    if (client.len > 0)
        lc_jw_member_raw(out, "client", client);
    lc_jw_end(out);
}

/* ---- Tags ------------------------------------------------------------------------------------ */

#define TAG_BYTES_MAX 256 /* A longer one is stored as its hash. */

static loci_str make_tag(lc_arena *arena, const loci_str *parts, size_t count)
{
    size_t bytes = 0;
    char *text, *to;

    for (size_t i = 0; i < count; i++)
        bytes += parts[i].len;
    text = to = lc_arena_alloc(arena,
                               (bytes < LC_HASH_TEXT_BYTES ? LC_HASH_TEXT_BYTES : bytes) + 3);
    if (text == NULL)
        return LC_STR_NONE;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(to, parts[i].ptr, parts[i].len);
        to += parts[i].len;
    }
    if (bytes > TAG_BYTES_MAX) { /* The kind stays in front. */
        lc_hash128 hash = lc_hash128_of((loci_str){text, bytes});

        lc_hash128_format(hash, text + 2);
        bytes = 2 + LC_HASH_TEXT_BYTES - 1;
    }
    text[bytes] = '\0';
    return (loci_str){text, bytes};
}

loci_str lc_memory_entity_tag(lc_arena *arena, loci_str ref)
{
    return make_tag(arena, (loci_str[]){LC_STR("e:"), ref}, 2);
}

loci_str lc_memory_card_tag(lc_arena *arena, loci_str ref)
{
    return make_tag(arena, (loci_str[]){LC_STR("c:"), ref}, 2);
}

loci_str lc_memory_metadata_tag(lc_arena *arena, loci_str name, loci_str json)
{
    return make_tag(arena, (loci_str[]){LC_STR("m:"), name, LC_STR("="), json}, 4);
}

static const lc_sql add_tag_sql = {
    "insert into memory_tags (tenant_id, user_id, tag, persona_id, seq) values ($1, $2, $3, $4, $5)"
    " on conflict (tenant_id, user_id, tag, persona_id, seq) do nothing",
    "tttti", NULL};

/* All tags that depend on the state of a memory. */
static const lc_sql drop_state_tags_sql = {
    "delete from memory_tags where tenant_id = $1 and user_id = $2 and seq = $3"
    " and (tag < 'e:' or tag >= 'e;')",
    "tti", NULL};

typedef struct tagging {
    lc_tx *tx;
    const lc_event *event;
    loci_str persona_id;
    int64_t seq;
} tagging;

static loci_status add_tag(const tagging *t, loci_str tag, loci_error *err)
{
    if (tag.ptr == NULL)
        return lc_fail_memory(err);
    return lc_tx_exec(t->tx, &add_tag_sql,
                      (lc_arg[]){LC_T(t->event->tenant_id), LC_T(t->event->user_id), LC_T(tag),
                                 LC_T_OR_EMPTY(t->persona_id), LC_I(t->seq)},
                      err);
}

typedef loci_str make_ref_tag(lc_arena *arena, loci_str ref);

static loci_status add_entity_tags(const tagging *t, loci_str refs, make_ref_tag *make,
                                   loci_error *err)
{
    lc_arena *arena = &t->tx->db->scratch;
    const lc_json *list;
    loci_status status = lc_json_parse(arena, refs, 0, &list, err);

    if (status != LOCI_OK)
        return status;
    for (const lc_json *ref = lc_json_first(list); ref != NULL && status == LOCI_OK;
         ref = lc_json_next(ref))
        status = add_tag(t, make(arena, lc_json_str(ref)), err);
    return status;
}

static loci_status add_metadata_tag(void *ctx, loci_str tag, loci_error *err)
{
    return add_tag(ctx, tag, err);
}

loci_status lc_memory_each_metadata_tag(lc_arena *arena, loci_str metadata,
                                        lc_memory_tag_visit *visit, void *ctx, loci_error *err)
{
    const lc_json *object;
    lc_buf json;
    loci_status status = LOCI_OK;

    if (metadata.len == 0)
        return LOCI_OK;
    lc_buf_init(&json, arena->heap, LOCI_MEM_REQUESTS, LC_METADATA_BYTES_MAX * 2);
    status = lc_json_parse(arena, metadata, 0, &object, err);
    for (const lc_json *member = status == LOCI_OK ? lc_json_first(object) : NULL;
         member != NULL && status == LOCI_OK; member = lc_json_next(member)) {
        lc_json_kind kind = lc_json_kind_of(member);

        if (kind == LC_JSON_ARRAY || kind == LC_JSON_OBJECT || kind == LC_JSON_NULL)
            continue;
        lc_buf_reset(&json);
        status = lc_json_canonical(arena, member, &json, err);
        if (status == LOCI_OK)
            status = lc_buf_status(&json, err);
        if (status == LOCI_OK) {
            loci_str tag = lc_memory_metadata_tag(arena, lc_json_name(member), lc_buf_str(&json));

            status = tag.ptr != NULL ? visit(ctx, tag, err) : lc_fail_memory(err);
        }
    }
    lc_buf_clear(&json);
    return status;
}

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql insert_sql = {
    "insert into memories (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_memory_row};

static const lc_sql end_sql = {
    "update memories set status = 'superseded', superseded_by = $4, ended_at = $5, changed_seq = $6"
    " where tenant_id = $1 and user_id = $2 and seq = $3",
    "ttitii", NULL};

static const lc_sql change_sql = {
    "update memories set {set} where tenant_id = $1 and user_id = $2 and seq = $3", "tti", NULL,
    &lc_memory_state_row};

static const lc_sql owner_sql = {
    "select persona_id, entity_refs from memories where tenant_id = $1 and user_id = $2"
    " and seq = $3",
    "tti", "tt"};

/* Ends the memories that the event's one supersedes; also when its payload was erased. */
static loci_status end_superseded(lc_tx *tx, const lc_event *event, const lc_memory *memory,
                                  loci_error *err)
{
    const lc_json *ids;
    loci_status status = lc_json_parse(&tx->db->scratch, memory->supersedes, 0, &ids, err);

    if (status != LOCI_OK)
        return status;
    for (const lc_json *id = lc_json_first(ids); id != NULL && status == LOCI_OK;
         id = lc_json_next(id)) {
        lc_id_parts parts;

        if (!lc_id_parse(lc_json_str(id), "mem", &parts))
            return lc_event_fail(event, err);
        status = lc_tx_exec(tx, &end_sql,
                            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                       LC_I(parts.seq), LC_T(memory->id), LC_I(event->recorded_at),
                                       LC_I(event->seq)},
                            err);
    }
    return status;
}

/* Those of its metadata, and of the cards that it may be on. */
static loci_status add_state_tags(tagging *t, const lc_memory *memory, loci_error *err)
{
    loci_status status = lc_memory_each_metadata_tag(&t->tx->db->scratch, memory->metadata,
                                                     add_metadata_tag, t, err);

    if (status != LOCI_OK || memory->status != LC_MEMORY_ACTIVE ||
        lc_memory_importance(memory) < LC_CARD_IMPORTANCE_MIN)
        return status;
    return add_entity_tags(t, memory->entity_refs, lc_memory_card_tag, err);
}

static loci_status apply_stored(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_memory memory;
    tagging t = {tx, event, LC_STR_NONE, event->seq};
    loci_status status = lc_row_decode(&lc_memory_row, event, arena, &memory, err);

    t.persona_id = memory.persona_id;
    if (status == LOCI_OK)
        status = end_superseded(tx, event, &memory, err);
    if (status == LOCI_OK && !event->is_erased)
        status = lc_row_insert(tx, event, &insert_sql, &memory, err);
    if (status == LOCI_OK && !event->is_erased)
        status = add_entity_tags(&t, memory.entity_refs, lc_memory_entity_tag, err);
    if (status == LOCI_OK && !event->is_erased)
        status = add_state_tags(&t, &memory, err);
    lc_arena_rewind(arena, mark);
    return status;
}

/* The event does not repeat the persona and the entities of the memory. One that is not there any
 * more has no tags. */
static loci_status set_state_tags(lc_tx *tx, const lc_event *event, int64_t seq, lc_memory *memory,
                                  loci_error *err)
{
    const lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_I(seq)};
    tagging t = {tx, event, LC_STR_NONE, seq};
    lc_rows rows;
    bool found;
    loci_status status = lc_tx_exec(tx, &drop_state_tags_sql, args, err);

    if (status != LOCI_OK)
        return status;
    status = lc_tx_find(tx, &owner_sql, args, &rows, &found, err);
    if (status == LOCI_OK && found) {
        t.persona_id = lc_arena_copy(&tx->db->scratch, lc_rows_str(&rows, 0));
        memory->entity_refs = lc_arena_copy(&tx->db->scratch, lc_rows_str(&rows, 1));
        if (t.persona_id.ptr == NULL || memory->entity_refs.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status == LOCI_OK && found ? add_state_tags(&t, memory, err) : status;
}

static loci_status apply_changed(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_arg args[3 + LC_ROW_COLUMNS_MAX] = {LC_T(event->tenant_id), LC_T(event->user_id)};
    lc_memory memory = {0};
    lc_id_parts parts;
    loci_status status = lc_row_decode(&lc_memory_state_row, event, arena, &memory, err);

    if (status == LOCI_OK && !lc_id_parse(memory.id, "mem", &parts))
        status = lc_event_fail(event, err);
    if (status == LOCI_OK && !event->is_erased) {
        args[2] = LC_I(parts.seq);
        lc_row_bind(&lc_memory_state_row, &memory, args + 3);
        status = lc_tx_exec(tx, &change_sql, args, err);
        if (status == LOCI_OK)
            status = set_state_tags(tx, event, parts.seq, &memory, err);
    }
    lc_arena_rewind(arena, mark);
    return status;
}

static loci_status embedded_text(const lc_event *event, lc_arena *arena, loci_str *out,
                                 loci_error *err)
{
    lc_memory memory;
    loci_status status = lc_row_decode(&lc_memory_row, event, arena, &memory, err);

    if (status == LOCI_OK)
        *out = memory.text;
    return status;
}

const lc_event_type lc_memory_stored_event = {
    .name = "memory.stored", .version = 1, .apply = apply_stored, .embedded = embedded_text};
const lc_event_type lc_memory_changed_event = {
    .name = "memory.changed", .version = 1, .apply = apply_changed};

/* ---- Checking -------------------------------------------------------------------------------- */

static const lc_sql lost_tags_sql = {
    "select t.seq from memory_tags t left join memories m on m.tenant_id = t.tenant_id"
    " and m.user_id = t.user_id and m.seq = t.seq"
    " where t.tenant_id = $1 and t.user_id = $2 and m.seq is null order by t.seq limit 20",
    "tt", "i"};

static const lc_sql lost_successors_sql = {
    "select id from memories where tenant_id = $1 and user_id = $2 and status = 'superseded'"
    " and superseded_by is null order by seq limit 20",
    "tt", "t"};

static const lc_sql lost_versions_sql = {
    "select v.seq from file_versions v left join files f on f.tenant_id = v.tenant_id"
    " and f.user_id = v.user_id and f.seq = v.file_seq and f.version >= v.version"
    " where v.tenant_id = $1 and v.user_id = $2 and f.seq is null order by v.seq limit 20",
    "tt", "i"};

static loci_status check(lc_tx *tx, loci_str tenant_id, loci_str user_id, lc_problems *problems,
                         loci_error *err)
{
    const lc_arg args[] = {LC_T(tenant_id), LC_T(user_id)};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &lost_tags_sql, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        lc_problems_add(problems, "a tag belongs to seq %" PRId64 ", which is no memory",
                        lc_rows_i64(&rows, 0));
    lc_rows_end(&rows);
    if (status == LOCI_OK)
        status = lc_tx_query(tx, &lost_successors_sql, args, &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        lc_problems_add(problems, "%.*s is superseded by no memory",
                        LC_STR_ARG(lc_rows_str(&rows, 0)));
    lc_rows_end(&rows);
    if (status == LOCI_OK)
        status = lc_tx_query(tx, &lost_versions_sql, args, &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        lc_problems_add(problems, "the version of a file at seq %" PRId64 " belongs to no file",
                        lc_rows_i64(&rows, 0));
    lc_rows_end(&rows);
    return status;
}

static const lc_table *const tables[] = {
    &memories_table,     &tags_table,
    &lc_entities_table,  &lc_todos_table,
    &lc_files_table,     &lc_file_versions_table,
    &lc_curations_table, NULL,
};

static const lc_event_type *const events[] = {
    &lc_memory_stored_event,
    &lc_memory_changed_event,
    &lc_memory_forgotten_event,
    &lc_entity_added_event,
    &lc_entity_merged_event,
    &lc_todo_added_event,
    &lc_todo_changed_event,
    &lc_todo_forgotten_event,
    &lc_file_changed_event,
    &lc_file_forgotten_event,
    &lc_memory_withdrawn_event,
    &lc_memory_curated_event,
    NULL,
};

static const lc_setting *const settings[] = {&lc_setting_memory_stale_days, NULL};

const lc_room lc_memory_room = {.name = "memory",
                                .settings = settings,
                                .tables = tables,
                                .events = events,
                                .check = check,
                                .texts = &lc_memory_source};
