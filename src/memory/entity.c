/* entity.c - see entity.h.
 *
 * Merging is flat: an alias leads to an entity that is not an alias. entity.merged also moves the
 * aliases of the merged entity.
 */
#include "memory/entity.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "memory/memory.h"
#include "memory/slug.h"
#include "store/event.h"

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_STRING_COLUMN(lc_entity, id, "id", LC_COL_REFS | LC_COL_CODED | LC_COL_REQUIRED,
                     .help = "Id of the entity (ent_...)"),
    LC_INTEGER_COLUMN(lc_entity, seq, "seq", LC_COL_EVENT),
    LC_STRING_COLUMN(lc_entity, ref, "ref", LC_COL_PAYLOAD | LC_COL_CODED | LC_COL_REQUIRED,
                     .absent = "", .help = "Type and slug, such as person:john_doe"),
    LC_STRING_COLUMN(lc_entity, label, "label", LC_COL_NULL | LC_COL_PAYLOAD | LC_COL_SHOWN,
                     .help = "Name for people"),
    LC_STRING_COLUMN(lc_entity, persona_id, "persona_id",
                     LC_COL_PAYLOAD | LC_COL_SHOWN | LC_COL_LAST, .absent = "",
                     .help = "Persona it belongs to; absent if it belongs to all"),
    LC_STRING_COLUMN(lc_entity, merged_into, "merged_into",
                     LC_COL_NULL | LC_COL_REFS | LC_COL_SHOWN | LC_COL_LAST,
                     .help = "Id of the entity that it is an alias of"),
    LC_TIME_COLUMN(lc_entity, created_at, "created_at",
                   LC_COL_EVENT | LC_COL_REQUIRED | LC_COL_LAST,
                   .help = "Time at which it was first named"),
    LC_COMPUTED(LC_TYPE_STRINGS, lc_entity, aliases, "aliases", LC_COL_REQUIRED,
                .help = "Other refs that lead to it"),
    LC_COMPUTED(LC_TYPE_INTEGER, lc_entity, memories, "memories", LC_COL_REQUIRED,
                .help = "Number of memories that name it, former ones included"),
    {0},
};

const lc_row_type lc_entity_row = {columns, 0, sizeof(lc_entity)};

static const lc_index indexes[] = {
    {"id", "tenant_id, user_id, id", NULL, false},
    {"alias", "tenant_id, user_id, merged_into", "merged_into is not null", false},
    {"seq", "tenant_id, user_id, seq", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_sql = {"delete from entities where tenant_id = $1 and user_id = $2",
                                  "tt", NULL};

const lc_table lc_entities_table = {
    .name = "entities",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, persona_id, ref",
    .forget = &forget_sql,
    .indexes = indexes,
};

static const lc_sql insert_sql = {
    "insert into entities (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &lc_entity_row};

const lc_event_type lc_entity_added_event = {
    .name = "entity.added", .version = 1, .insert = &insert_sql};

static const lc_sql merge_sql = {
    "update entities set merged_into = $4 where tenant_id = $1 and user_id = $2"
    " and (id = $3 or merged_into = $3)",
    "tttt", NULL};

static const lc_sql split_sql = {
    "update entities set merged_into = null where tenant_id = $1 and user_id = $2 and id = $3",
    "ttt", NULL};

/* {id} {into?} */
static loci_status apply_merged(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK) {
        loci_str id = lc_event_str(json.refs, "id"), into = lc_event_str(json.refs, "into");
        const lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_T(id),
                               LC_T_OR_EMPTY(into)};

        if (id.len == 0)
            status = lc_event_fail(event, err);
        else
            status = lc_tx_exec(tx, into.len > 0 ? &merge_sql : &split_sql, args, err);
    }
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_entity_merged_event = {
    .name = "entity.merged", .version = 1, .apply = apply_merged};

/* ---- Finding --------------------------------------------------------------------------------- */

#define SELECT "select {row} from entities where tenant_id = $1 and user_id = $2"

static const lc_sql by_ref_sql = {SELECT " and persona_id in ('', $3) and ref = $4"
                                         " order by persona_id desc limit 1",
                                  "tttt", "", &lc_entity_row};
static const lc_sql by_id_sql = {SELECT " and persona_id in ('', $3) and id = $4", "tttt", "",
                                 &lc_entity_row};
static const lc_sql own_sql = {SELECT " and persona_id = $3 and ref = $4", "tttt", "",
                               &lc_entity_row};
static const lc_sql refs_sql = {
    "select ref from entities where tenant_id = $1 and user_id = $2 and merged_into = $3"
    " order by ref limit 1000",
    "ttt", "t"};

static loci_status find(lc_tx *tx, const lc_query *query, lc_arena *arena, lc_entity *out,
                        loci_error *err)
{
    bool found;
    loci_status status = lc_row_find(tx, query, arena, out, &found, err);

    if (status == LOCI_OK && !found)
        *out = (lc_entity){0};
    return status;
}

loci_status lc_entity_find(lc_tx *tx, loci_str persona_id, loci_str name, lc_arena *arena,
                           lc_entity *out, loci_error *err)
{
    const lc_sql *sql = lc_id_is(name, "ent") ? &by_id_sql : &by_ref_sql;
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id),
                           LC_T(name)};

    return find(tx, &(lc_query){sql, args}, arena, out, err);
}

/* Follows an alias. */
static loci_status find_main(lc_tx *tx, loci_str persona_id, loci_str name, lc_arena *arena,
                             lc_entity *out, loci_error *err)
{
    loci_status status = lc_entity_find(tx, persona_id, name, arena, out, err);

    return status == LOCI_OK && out->merged_into.len > 0
               ? lc_entity_find(tx, persona_id, out->merged_into, arena, out, err)
               : status;
}

loci_status lc_entity_load(lc_tx *tx, loci_str persona_id, loci_str name, lc_arena *arena,
                           lc_entity *out, loci_error *err)
{
    loci_status status = find_main(tx, persona_id, name, arena, out, err);

    if (status == LOCI_OK && out->id.len == 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "no entity %.*s", LC_STR_ARG(name));
    return status;
}

loci_status lc_entity_resolve(lc_tx *tx, loci_str persona_id, loci_str ref, lc_arena *arena,
                              loci_str *out, loci_error *err)
{
    lc_entity entity;
    loci_status status = find_main(tx, persona_id, ref, arena, &entity, err);

    *out = status == LOCI_OK && entity.id.len > 0 ? entity.ref : ref;
    return status;
}

loci_status lc_entity_ensure(lc_tx *tx, loci_str persona_id, loci_str ref, loci_str label,
                             loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id),
                           LC_T(ref)};
    lc_entity entity;
    lc_id id;
    loci_status status = find(tx, &(lc_query){&own_sql, args}, arena, &entity, err);

    if (status == LOCI_OK && entity.id.len == 0) {
        status = lc_tx_make_id(tx, "ent", &id, err);
        entity = (lc_entity){
            .id = lc_id_str(&id), .ref = ref, .label = label, .persona_id = persona_id};
        if (status == LOCI_OK)
            status = lc_row_append(tx, &lc_entity_added_event, &lc_entity_row, &entity, NULL, err);
    }
    lc_arena_rewind(arena, mark);
    return status;
}

loci_status lc_entity_refs(lc_tx *tx, const lc_entity *entity, lc_arena *arena, lc_str_list *out,
                           loci_error *err)
{
    size_t room = 8, count = 1;
    loci_str *items = lc_arena_zalloc_array(arena, room, sizeof *items);
    lc_rows rows;
    loci_status status;

    if (items == NULL)
        return lc_fail_memory(err);
    items[0] = entity->ref;
    status = lc_tx_query(tx, &refs_sql,
                         (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(entity->id)},
                         &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        if (count == room) {
            loci_str *more = lc_arena_zalloc_array(arena, 2 * room, sizeof *items);

            if (more != NULL)
                memcpy(more, items, count * sizeof *items);
            items = more;
            room *= 2;
        }
        if (items != NULL)
            items[count] = lc_arena_copy(arena, lc_rows_str(&rows, 0));
        if (items == NULL || items[count++].ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    *out = (lc_str_list){items, count};
    return status;
}

/* ---- Describing ------------------------------------------------------------------------------ */

static const lc_sql count_sql = {
    "select count(*) from memory_tags where tenant_id = $1 and user_id = $2 and tag = $3"
    " and persona_id in ('', $4)",
    "tttt", "i"};

loci_status lc_entity_describe(lc_tx *tx, loci_str persona_id, lc_entity *entity, lc_arena *arena,
                               loci_error *err)
{
    lc_str_list refs;
    lc_json_writer list;
    lc_buf json;
    loci_status status = lc_entity_refs(tx, entity, arena, &refs, err);

    if (status != LOCI_OK)
        return status;
    lc_buf_init(&json, arena->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    lc_jw_init(&list, &json);
    lc_jw_array(&list);
    entity->memories = 0;
    for (size_t i = 0; i < refs.count && status == LOCI_OK; i++) {
        loci_str tag = lc_memory_entity_tag(arena, refs.items[i]);
        int64_t count = 0;

        if (i > 0)
            lc_jw_str(&list, refs.items[i]);
        status = tag.ptr != NULL
                     ? lc_tx_find_numbers(tx, &count_sql,
                                          (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                     LC_T(tag), LC_T_OR_EMPTY(persona_id)},
                                          &count, err)
                     : lc_fail_memory(err);
        entity->memories += count;
    }
    lc_jw_end(&list);
    if (status == LOCI_OK)
        status = lc_buf_status(&json, err);
    if (status == LOCI_OK) {
        entity->aliases = lc_arena_copy(arena, lc_buf_str(&json));
        if (entity->aliases.ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&json);
    return status;
}

/* ---- Merging --------------------------------------------------------------------------------- */

loci_status lc_entity_merge(lc_tx *tx, const lc_entity *from, const lc_entity *into,
                            loci_error *err)
{
    lc_event_draft draft;

    if (into->id.len > 0 && !lc_str_eq(from->persona_id, into->persona_id))
        return lc_fail(err, LOCI_EINVAL, "%.*s and %.*s belong to different personas",
                       LC_STR_ARG(from->id), LC_STR_ARG(into->id));
    if (lc_str_eq(from->id, into->id))
        return lc_fail(err, LOCI_EINVAL, "%.*s cannot be merged into itself", LC_STR_ARG(from->id));
    lc_event_draft_begin(&draft, tx);
    lc_jw_member_str(&draft.refs, "id", from->id);
    if (into->id.len > 0)
        lc_jw_member_str(&draft.refs, "into", into->id);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_entity_merged_event}, NULL,
                                 err);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static const lc_sql each_sql = {SELECT " and persona_id in ('', $3) and seq > $4"
                                       " and merged_into is null and ref >= $5 and ref < $6"
                                       " order by seq limit $7",
                                "tttitti", "", &lc_entity_row};

loci_status lc_entity_each(lc_tx *tx, const lc_entity_page *page, lc_entity_visit *visit, void *ctx,
                           loci_error *err)
{
    char first[LC_REF_TYPE_BYTES_MAX + 2] = "", end[LC_REF_TYPE_BYTES_MAX + 2] = "\x7F";
    size_t len = page->type.len;
    lc_entity entity = {0};
    lc_rows rows;
    loci_status status;

    if (len > 0 && len <= LC_REF_TYPE_BYTES_MAX) { /* From "person:" up to "person;". */
        memcpy(first, page->type.ptr, len);
        memcpy(end, page->type.ptr, len);
        memcpy(first + len, ":", 2);
        memcpy(end + len, ";", 2);
    }
    status = lc_tx_query(tx, &each_sql,
                         (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                    LC_T_OR_EMPTY(page->persona_id), LC_I(page->after_seq),
                                    LC_T(loci_str_of(first)), LC_T(loci_str_of(end)),
                                    LC_I(page->limit)},
                         &rows, err);
    while (lc_row_next(&rows, &entity, &status, err))
        status = visit(ctx, &entity, err);
    lc_rows_end(&rows);
    return status;
}

bool lc_entity_is_near(loci_str a, loci_str b)
{
    loci_str a_slug, b_slug;
    loci_str a_type = lc_str_split(a, ':', &a_slug), b_type = lc_str_split(b, ':', &b_slug);
    size_t shorter = a_slug.len < b_slug.len ? a_slug.len : b_slug.len;
    size_t max = shorter >= 9 ? 2 : 1;

    /* Short names differ by one letter too often: Jon and Jan, Anna and Anne. */
    return lc_str_eq(a_type, b_type) && shorter >= 5 && a_slug.ptr[0] == b_slug.ptr[0] &&
           !lc_str_eq(a_slug, b_slug) && lc_str_distance(a_slug, b_slug, max) <= max;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

#define COMPARED_MAX 1000 /* Entities, the first that were named. */

typedef struct comparing {
    lc_arena *arena;
    lc_entity *items;
    size_t count;
} comparing;

static loci_status keep(void *ctx, const lc_entity *entity, loci_error *err)
{
    comparing *c = ctx;

    c->items[c->count] = *entity;
    return lc_row_keep(&lc_entity_row, c->arena, &c->items[c->count++]) ? LOCI_OK
                                                                        : lc_fail_memory(err);
}

loci_status lc_entity_each_near(lc_tx *tx, loci_str persona_id, lc_arena *arena,
                                lc_entity_pair_visit *visit, void *ctx, loci_error *err)
{
    comparing c = {.arena = arena,
                   .items = lc_arena_zalloc_array(arena, COMPARED_MAX, sizeof *c.items)};
    lc_entity_page page = {.persona_id = persona_id, .limit = COMPARED_MAX};
    loci_status status = c.items != NULL ? lc_entity_each(tx, &page, keep, &c, err)
                                         : lc_fail_memory(err);

    for (size_t i = 1; i < c.count && status == LOCI_OK; i++)
        for (size_t k = 0; k < i && status == LOCI_OK; k++)
            if (lc_str_eq(c.items[i].persona_id, c.items[k].persona_id) &&
                lc_entity_is_near(c.items[i].ref, c.items[k].ref))
                status = visit(
                    ctx,
                    &(lc_entity_pair){&c.items[i], &c.items[k], (int64_t)(i * COMPARED_MAX + k)},
                    err);
    return status;
}
