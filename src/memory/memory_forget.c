/* memory_forget.c - memories, todos and files that are forgotten (recall/forget.h).
 *
 * A forgotten memory has no row and no tags. Nothing that it superseded becomes active again: those
 * rows still say that it superseded them, and the tombstone of its event says so in a replay.
 *
 * The same words must not stay under another id. So a memory goes together with
 *
 *     the same statement   other memories of its persona, key and statement, whatever their status
 *     its fold             the curator's memory that took its place, and all sources of that fold
 *
 * Its entities go, with their aliases, when no memory is left that names one of them: entities are
 * learned from memories, and an alias exists only for its entity.
 *
 * A memory that a rewind took back has no row, but its events still have the text. Such a memory
 * goes if the call asks for it or if it says the same as one of those above, and its entity if the
 * call asks for that.
 *
 * Metadata, labels and the texts of todos are also in the events that changed them. No table says
 * which those are: the log is read from the first to the last change. Those of a file are its
 * versions.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "memory/entity.h"
#include "memory/file.h"
#include "memory/memory.h"
#include "memory/todo.h"
#include "recall/forget.h"
#include "store/event.h"

#define IDS_PER_EVENT 10000

/* ---- Choosing -------------------------------------------------------------------------------- */

typedef struct chosen {
    lc_memory memory;
    struct chosen *next;
} chosen;

struct lc_memory_oblivion {
    loci_str *ids; /* Of memories, then of entities. */
    size_t count, room;
};

typedef struct choosing {
    lc_tx *tx;
    lc_arena *arena;
    lc_forgetting *f;
    chosen *first, **end;
    lc_memory_oblivion *oblivion;
    int64_t *seqs; /* Of the memories, ascending: made when all are chosen. */
    size_t count;
    lc_map seen; /* Entities that were checked. */
    const lc_memory_target *target;
    lc_map refs;        /* Of the entity that is asked for, with its aliases. */
    bool has_withdrawn; /* Something that a rewind took back was chosen. */
} choosing;

static loci_status add_id(choosing *c, loci_str id, loci_error *err)
{
    lc_memory_oblivion *o = c->oblivion;

    if (o->count == o->room) {
        size_t room = o->room > 0 ? 2 * o->room : 64;
        loci_str *ids = lc_arena_zalloc_array(c->arena, room, sizeof *ids);

        if (ids == NULL)
            return lc_fail_memory(err);
        for (size_t i = 0; i < o->count; i++)
            ids[i] = o->ids[i];
        o->ids = ids;
        o->room = room;
    }
    o->ids[o->count++] = id;
    return LOCI_OK;
}

static loci_status choose(void *ctx, const lc_memory *memory, loci_error *err)
{
    choosing *c = ctx;
    chosen *node;
    loci_status status;

    if (lc_map_find(&c->f->ids, memory->id) != NULL)
        return LOCI_OK;
    if (++c->count > LC_MEMORY_FORGET_MAX)
        return lc_fail(err, LOCI_ELIMIT, "more than %d memories; forget them in parts, by id",
                       LC_MEMORY_FORGET_MAX);
    node = lc_arena_zalloc_array(c->arena, 1, sizeof *node);
    if (node == NULL)
        return lc_fail_memory(err);
    node->memory = *memory;
    if (!lc_row_keep(&lc_memory_row, c->arena, &node->memory))
        return lc_fail_memory(err);
    *c->end = node;
    c->end = &node->next;
    status = lc_forget_add(c->f, &(lc_forget_item){"memory", memory->id, memory->seq, memory->text},
                           err);
    return status == LOCI_OK ? add_id(c, node->memory.id, err) : status;
}

/* ---- Duplicates of a memory ------------------------------------------------------------------ */

static const lc_sql same_sql = {"select {row} from memories where tenant_id = $1 and user_id = $2"
                                " and persona_id = $3 and memory_key = $4 and statement = $5",
                                "ttttt", "", &lc_memory_row};

static loci_status choose_statement(choosing *c, const lc_memory *of, loci_error *err)
{
    const lc_arg args[] = {LC_T(c->tx->tenant_id), LC_T(c->tx->user_id),
                           LC_T_OR_EMPTY(of->persona_id), LC_T(of->memory_key),
                           LC_T(of->statement)};
    lc_memory memory = {0};
    lc_rows rows;
    loci_status status = lc_tx_query(c->tx, &same_sql, args, &rows, err);

    while (lc_row_next(&rows, &memory, &status, err))
        status = choose(c, &memory, err);
    lc_rows_end(&rows);
    return status;
}

/* Only a fold supersedes several memories. */
static loci_status read_sources(choosing *c, const lc_memory *memory, const lc_json **out,
                                loci_error *err)
{
    loci_status status = lc_json_parse(c->arena, memory->supersedes, 0, out, err);

    if (status == LOCI_OK && lc_json_count(*out) < 2)
        *out = NULL;
    return status;
}

static loci_status choose_fold(choosing *c, const lc_memory *of, loci_error *err)
{
    const lc_json *sources;
    lc_memory memory;
    loci_status status = read_sources(c, of, &sources, err);

    for (const lc_json *id = status == LOCI_OK && sources != NULL ? lc_json_first(sources) : NULL;
         id != NULL && status == LOCI_OK; id = lc_json_next(id)) {
        status = lc_memory_load(c->tx, of->persona_id, lc_json_str(id), c->arena, &memory, err);
        if (status == LOCI_OK)
            status = choose(c, &memory, err);
        else if (status == LOCI_ENOTFOUND) /* Forgotten before. */
            status = LOCI_OK;
    }
    if (status != LOCI_OK || of->superseded_by.len == 0)
        return status;
    status = lc_memory_load(c->tx, of->persona_id, of->superseded_by, c->arena, &memory, err);
    if (status == LOCI_ENOTFOUND)
        return LOCI_OK;
    if (status == LOCI_OK)
        status = read_sources(c, &memory, &sources, err);
    return status == LOCI_OK && sources != NULL ? choose(c, &memory, err) : status;
}

/* ---- Entities -------------------------------------------------------------------------------- */

#define OF_USER " where tenant_id = $1 and user_id = $2"

static const lc_sql group_sql = {"select {row} from entities" OF_USER
                                 " and (id = $3 or merged_into = $3) order by seq",
                                 "ttt", "", &lc_entity_row};
static const lc_sql naming_sql = {
    "select seq from memory_tags" OF_USER " and tag = $3 and persona_id = $4", "tttt", "i"};

static int compare_seqs(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Whether a memory stays that names the entity by its own ref. */
static loci_status is_named(const choosing *c, const lc_entity *entity, bool *out, loci_error *err)
{
    loci_str tag = lc_memory_entity_tag(c->arena, entity->ref);
    const lc_arg args[] = {LC_T(c->tx->tenant_id), LC_T(c->tx->user_id), LC_T(tag),
                           LC_T_OR_EMPTY(entity->persona_id)};
    lc_rows rows;
    loci_status status;

    if (tag.ptr == NULL)
        return lc_fail_memory(err);
    status = lc_tx_query(c->tx, &naming_sql, args, &rows, err);
    while (!*out && status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        int64_t seq = lc_rows_i64(&rows, 0);

        *out = c->count == 0 || bsearch(&seq, c->seqs, c->count, sizeof seq, compare_seqs) == NULL;
    }
    lc_rows_end(&rows);
    return status;
}

typedef struct entity_node {
    lc_entity entity;
    struct entity_node *next;
} entity_node;

/* An entity that is not an alias, and its aliases. */
static loci_status load_group(const choosing *c, loci_str id, entity_node **out, loci_error *err)
{
    const lc_arg args[] = {LC_T(c->tx->tenant_id), LC_T(c->tx->user_id), LC_T(id)};
    lc_entity entity = {0};
    lc_rows rows;
    loci_status status = lc_tx_query(c->tx, &group_sql, args, &rows, err);

    *out = NULL;
    while (lc_row_next(&rows, &entity, &status, err)) {
        entity_node *node = lc_arena_zalloc_array(c->arena, 1, sizeof *node);

        if (node != NULL)
            *node = (entity_node){entity, *out};
        if (node == NULL || !lc_row_keep(&lc_entity_row, c->arena, &node->entity))
            status = lc_fail_memory(err);
        else
            *out = node;
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status choose_entity(choosing *c, const lc_entity *entity, loci_error *err)
{
    loci_str id = entity->merged_into.len > 0 ? entity->merged_into : entity->id;
    entity_node *group = NULL;
    bool stays = lc_map_find(&c->seen, id) != NULL;
    loci_status status = LOCI_OK;

    if (!stays && !lc_map_put(&c->seen, id, c))
        return lc_fail_memory(err);
    if (!stays)
        status = load_group(c, id, &group, err);
    for (const entity_node *at = group; at != NULL && status == LOCI_OK; at = at->next)
        status = is_named(c, &at->entity, &stays, err);
    for (const entity_node *at = group; at != NULL && !stays && status == LOCI_OK; at = at->next) {
        status = lc_forget_add(
            c->f, &(lc_forget_item){.kind = "entity", .id = at->entity.id, .seq = at->entity.seq},
            err);
        if (status == LOCI_OK)
            status = add_id(c, at->entity.id, err);
    }
    return status;
}

/* The entities of one memory, in its persona. */
static loci_status choose_entities_of(choosing *c, const lc_memory *memory, loci_error *err)
{
    const lc_json *refs;
    loci_status status = lc_json_parse(c->arena, memory->entity_refs, 0, &refs, err);

    for (const lc_json *ref = status == LOCI_OK ? lc_json_first(refs) : NULL;
         ref != NULL && status == LOCI_OK; ref = lc_json_next(ref)) {
        lc_entity entity;

        status = lc_entity_find(c->tx, memory->persona_id, lc_json_str(ref), c->arena, &entity,
                                err);
        if (status == LOCI_OK && entity.id.len > 0)
            status = choose_entity(c, &entity, err);
    }
    return status;
}

static loci_status choose_entities(choosing *c, loci_str entity_id, loci_error *err)
{
    size_t count = 0;
    loci_status status = LOCI_OK;

    c->seqs = lc_arena_zalloc_array(c->arena, c->count + 1, sizeof *c->seqs);
    if (c->seqs == NULL)
        return lc_fail_memory(err);
    for (const chosen *at = c->first; at != NULL; at = at->next)
        c->seqs[count++] = at->memory.seq;
    if (count > 0)
        qsort(c->seqs, count, sizeof *c->seqs, compare_seqs);
    for (const chosen *at = c->first; at != NULL && status == LOCI_OK; at = at->next)
        status = choose_entities_of(c, &at->memory, err);
    if (status == LOCI_OK && entity_id.len > 0) /* It may have had no memories. */
        status = choose_entity(c, &(lc_entity){.id = entity_id}, err);
    return status;
}

/* ---- Events that changed them ---------------------------------------------------------------- */

static const lc_sql changes_sql = {"select seq, refs from events" OF_USER
                                   " and seq > $3 and seq <= $4 and type = $5 and is_erased = 0"
                                   " order by seq",
                                   "ttiit", "it"};

/* Adds the events of `type` after `from`, up to `to`, whose id is one of the things to forget. */
static loci_status add_changes(lc_forgetting *f, const lc_event_type *type, int64_t from,
                               int64_t to, loci_error *err)
{
    lc_arena *scratch = &f->tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(scratch);
    const lc_arg args[] = {LC_T(f->tx->tenant_id), LC_T(f->tx->user_id), LC_I(from), LC_I(to),
                           LC_T(loci_str_of(type->name))};
    lc_rows rows;
    loci_status status = lc_tx_query(f->tx, &changes_sql, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        const lc_json *refs;

        status = lc_json_parse(scratch, lc_rows_str(&rows, 1), 0, &refs, err);
        if (status == LOCI_OK && lc_map_find(&f->ids, lc_event_str(refs, "id")) != NULL)
            status = lc_forget_add_event(f, lc_rows_i64(&rows, 0), err);
        lc_arena_rewind(scratch, mark);
    }
    lc_rows_end(&rows);
    return status;
}

/* Most memories never change: then nothing is read. */
static loci_status add_memory_changes(const choosing *c, loci_error *err)
{
    int64_t from = INT64_MAX, to = 0;

    for (const chosen *at = c->first; at != NULL; at = at->next) {
        if (at->memory.changed_seq <= at->memory.seq)
            continue;
        if (at->memory.seq < from)
            from = at->memory.seq;
        if (at->memory.changed_seq > to)
            to = at->memory.changed_seq;
    }
    return to > 0 ? add_changes(c->f, &lc_memory_changed_event, from, to, err) : LOCI_OK;
}

/* ---- Memories that a rewind took back -------------------------------------------------------- */

static bool is_visible(const choosing *c, loci_str persona_id)
{
    return persona_id.len == 0 || lc_str_eq(persona_id, c->target->which.persona_id);
}

static bool is_of_entity(const lc_memory_target *target)
{
    return target->which.entity_id.len > 0 || target->gone_entity.len > 0;
}

static loci_status take_withdrawn(choosing *c, loci_str id, loci_error *err)
{
    c->has_withdrawn = true;
    return add_id(c, id, err);
}

/* The entity that is asked for: its ref and those of its aliases. */
static loci_status find_refs(choosing *c, loci_error *err)
{
    const lc_memory_target *target = c->target;
    entity_node *group = NULL;
    loci_status status = LOCI_OK;

    if (target->gone_entity.len > 0 && !lc_map_put(&c->refs, target->gone_entity, c))
        return lc_fail_memory(err);
    if (target->which.entity_id.len > 0)
        status = load_group(c, target->which.entity_id, &group, err);
    for (; group != NULL && status == LOCI_OK; group = group->next)
        if (!lc_map_put(&c->refs, group->entity.ref, c))
            status = lc_fail_memory(err);
    return status;
}

/* The entity itself. Its events come before those of the memories about it. */
static loci_status match_entity(void *ctx, const lc_event *event, lc_forget_item *item, bool *out,
                                loci_error *err)
{
    choosing *c = ctx;
    lc_entity entity = {0};
    loci_status status;

    if (event->type != &lc_entity_added_event)
        return LOCI_OK;
    status = lc_row_decode(&lc_entity_row, event, c->arena, &entity, err);
    if (status != LOCI_OK || !is_visible(c, entity.persona_id) ||
        (lc_map_find(&c->refs, entity.ref) == NULL && lc_map_find(&c->refs, entity.id) == NULL))
        return status;
    if (!lc_map_put(&c->refs, entity.ref, c))
        return lc_fail_memory(err);
    *out = true;
    *item = (lc_forget_item){.kind = "entity", .id = entity.id};
    return take_withdrawn(c, entity.id, err);
}

static bool says_the_same(const choosing *c, const lc_memory *memory)
{
    for (const chosen *at = c->first; at != NULL; at = at->next)
        if (lc_str_eq(at->memory.persona_id, memory->persona_id) &&
            lc_str_eq(at->memory.memory_key, memory->memory_key) &&
            lc_str_eq(at->memory.statement, memory->statement))
            return true;
    return false;
}

typedef struct tag_search {
    const loci_str *tags; /* Of lc_memory_page. */
    size_t found;
} tag_search;

static loci_status find_tag(void *ctx, loci_str tag, loci_error *err)
{
    tag_search *s = ctx;

    (void)err;
    for (size_t i = 0; i < LC_MEMORY_TAGS_MAX; i++)
        s->found += s->tags[i].len > 0 && lc_str_eq(s->tags[i], tag);
    return LOCI_OK;
}

/* Whether it is about the entity and has the metadata that are asked for. */
static loci_status is_asked_for(const choosing *c, const lc_memory *memory, bool *out,
                                loci_error *err)
{
    const lc_memory_page *which = &c->target->which;
    tag_search search = {.tags = which->tags};
    bool has_entity = is_of_entity(c->target);
    const lc_json *refs = NULL;
    size_t tag_count = 0;
    loci_status status = LOCI_OK;

    *out = !has_entity;
    if (has_entity)
        status = lc_json_parse(c->arena, memory->entity_refs, 0, &refs, err);
    for (const lc_json *ref = status == LOCI_OK && refs != NULL ? lc_json_first(refs) : NULL;
         ref != NULL && !*out; ref = lc_json_next(ref))
        *out = lc_map_find(&c->refs, lc_json_str(ref)) != NULL;
    for (size_t i = 0; i < LC_MEMORY_TAGS_MAX; i++)
        tag_count += which->tags[i].len > 0;
    if (status == LOCI_OK && *out && tag_count > 0)
        status = lc_memory_each_metadata_tag(c->arena, memory->metadata, find_tag, &search, err);
    *out = *out && search.found == tag_count && (has_entity || tag_count > 0);
    return status;
}

/* A memory that is asked for or says the same as one of those chosen, and its changes. */
static loci_status match_memory(void *ctx, const lc_event *event, lc_forget_item *item, bool *out,
                                loci_error *err)
{
    choosing *c = ctx;
    lc_memory memory = {0};
    lc_event_json json;
    loci_status status = lc_event_parse(event, c->arena, &json, err);

    if (status != LOCI_OK)
        return status;
    if (event->type == &lc_memory_changed_event)
        *out = lc_map_find(&c->f->ids, lc_event_str(json.refs, "id")) != NULL;
    if (event->type != &lc_memory_stored_event)
        return LOCI_OK;
    status = lc_row_decode(&lc_memory_row, event, c->arena, &memory, err);
    if (status != LOCI_OK)
        return status;
    *out = says_the_same(c, &memory);
    if (!*out && is_visible(c, memory.persona_id)) {
        if (c->target->id.ptr != NULL)
            *out = lc_str_eq(c->target->id, memory.id);
        else
            status = is_asked_for(c, &memory, out, err);
    }
    *item = (lc_forget_item){.kind = "memory", .id = memory.id};
    return status == LOCI_OK && *out ? take_withdrawn(c, memory.id, err) : status;
}

static loci_status choose_withdrawn(choosing *c, loci_error *err)
{
    loci_status status = find_refs(c, err);

    if (status == LOCI_OK && is_of_entity(c->target))
        status = lc_forget_withdrawn(c->f, &(lc_withdrawal_filter){.kind = LC_STR("entity")},
                                     match_entity, c, err);
    return status == LOCI_OK
               ? lc_forget_withdrawn(c->f, &(lc_withdrawal_filter){.kind = LC_STR("memory")},
                                     match_memory, c, err)
               : status;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static loci_status choose_first(choosing *c, const lc_memory_target *target, loci_error *err)
{
    lc_memory_page page = target->which;
    lc_memory memory;
    loci_status status;

    if (target->gone_entity.len > 0)
        return LOCI_OK;
    if (target->id.ptr != NULL) {
        status = lc_memory_load(c->tx, page.persona_id, target->id, c->arena, &memory, err);
        return status == LOCI_OK ? choose(c, &memory, err) : status;
    }
    page.before_seq = INT64_MAX;
    page.limit = LC_MEMORY_FORGET_MAX + 1;
    return lc_memory_each(c->tx, &page, choose, c, err);
}

/* Nothing is there and nothing was taken back. */
static loci_status fail_missing(const lc_memory_target *target, loci_error *err)
{
    if (target->id.ptr != NULL)
        return lc_fail(err, LOCI_ENOTFOUND, "no memory %.*s", LC_STR_ARG(target->id));
    if (target->gone_entity.len > 0)
        return lc_fail(err, LOCI_ENOTFOUND, "no entity %.*s", LC_STR_ARG(target->gone_entity));
    return lc_fail(err, LOCI_ENOTFOUND, "no memory with this metadata");
}

loci_status lc_memory_decide_forget(lc_tx *tx, const lc_memory_target *target, lc_forgetting *f,
                                    lc_memory_oblivion **out, loci_error *err)
{
    choosing c = {.tx = tx, .arena = f->arena, .f = f, .target = target};
    loci_status status;

    c.end = &c.first;
    c.oblivion = *out = lc_arena_zalloc_array(f->arena, 1, sizeof **out);
    if (c.oblivion == NULL)
        return lc_fail_memory(err);
    lc_map_init(&c.seen, f->arena->heap, LOCI_MEM_REQUESTS);
    lc_map_init(&c.refs, f->arena->heap, LOCI_MEM_REQUESTS);
    status = choose_first(&c, target, err);
    if (status == LOCI_ENOTFOUND) /* A rewind may have taken it back. */
        status = LOCI_OK;
    /* The list grows while it is walked. */
    for (const chosen *at = c.first; at != NULL && status == LOCI_OK; at = at->next) {
        status = choose_statement(&c, &at->memory, err);
        if (status == LOCI_OK)
            status = choose_fold(&c, &at->memory, err);
    }
    if (status == LOCI_OK)
        status = add_memory_changes(&c, err);
    if (status == LOCI_OK)
        status = choose_withdrawn(&c, err);
    if (status == LOCI_OK && c.count == 0 && !c.has_withdrawn && target->which.entity_id.len == 0)
        status = fail_missing(target, err);
    if (status == LOCI_OK)
        status = choose_entities(&c, target->which.entity_id, err);
    lc_map_clear(&c.refs);
    lc_map_clear(&c.seen);
    return status;
}

loci_status lc_todo_decide_forget(lc_tx *tx, loci_str persona_id, loci_str id, lc_forgetting *f,
                                  loci_error *err)
{
    lc_todo todo;
    loci_status status = lc_todo_load(tx, persona_id, id, f->arena, &todo, err);

    if (status == LOCI_OK)
        status = lc_forget_add(f, &(lc_forget_item){.kind = "todo", .id = id, .seq = todo.seq},
                               err);
    return status == LOCI_OK ? add_changes(f, &lc_todo_changed_event, todo.seq, INT64_MAX, err)
                             : status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct file_choice {
    lc_forgetting *f;
    loci_str *ids;
    size_t count, room;
} file_choice;

static loci_status choose_file(void *ctx, const lc_file *file, loci_error *err)
{
    file_choice *c = ctx;

    if (c->count == c->room) {
        size_t room = c->room > 0 ? 2 * c->room : 16;
        loci_str *ids = lc_arena_zalloc_array(c->f->arena, room, sizeof *ids);

        if (ids == NULL)
            return lc_fail_memory(err);
        for (size_t i = 0; i < c->count; i++)
            ids[i] = c->ids[i];
        c->ids = ids;
        c->room = room;
    }
    c->ids[c->count] = lc_arena_copy(c->f->arena, file->id);
    if (c->ids[c->count].ptr == NULL)
        return lc_fail_memory(err);
    return lc_forget_add(
        c->f, &(lc_forget_item){.kind = "file", .id = c->ids[c->count++], .seq = file->seq}, err);
}

static loci_status choose_version(void *ctx, const lc_file_version *version, loci_error *err)
{
    return version->seq != version->file_seq ? lc_forget_add_event(ctx, version->seq, err)
                                             : LOCI_OK;
}

loci_status lc_file_decide_forget(const lc_file_call *call, const lc_file_target *target,
                                  lc_forgetting *f, lc_str_list *out_ids, loci_error *err)
{
    const lc_file_version_page all = {*target, INT64_MAX, INT64_MAX};
    file_choice c = {.f = f};
    loci_status status = lc_file_each_of(call, target, choose_file, &c, err);

    if (status == LOCI_OK && c.count == 0)
        status = lc_fail(err, LOCI_ENOTFOUND, "no file is or was at or below %.*s",
                         LC_STR_ARG(target->path.ptr != NULL ? target->path : target->id));
    if (status == LOCI_OK)
        status = lc_file_version_each(call, &all, choose_version, f, err);
    *out_ids = (lc_str_list){c.ids, c.count};
    return status;
}

/* ---- Recording ------------------------------------------------------------------------------- */

static loci_status append(lc_tx *tx, const lc_event_type *type, lc_str_list ids, loci_error *err)
{
    lc_event_draft draft;

    lc_event_draft_begin(&draft, tx);
    lc_jw_name(&draft.refs, "ids");
    lc_jw_array(&draft.refs);
    for (size_t i = 0; i < ids.count; i++)
        lc_jw_str(&draft.refs, ids.items[i]);
    lc_jw_end(&draft.refs);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = type}, NULL, err);
}

static loci_status append_all(lc_tx *tx, const lc_event_type *type, lc_str_list ids,
                              loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t at = 0; at < ids.count && status == LOCI_OK; at += IDS_PER_EVENT) {
        size_t left = ids.count - at;
        lc_str_list part = {ids.items + at, left < IDS_PER_EVENT ? left : IDS_PER_EVENT};

        status = append(tx, type, part, err);
    }
    return status;
}

loci_status lc_memory_commit_forget(lc_tx *tx, const lc_memory_oblivion *oblivion, loci_error *err)
{
    return append_all(tx, &lc_memory_forgotten_event, (lc_str_list){oblivion->ids, oblivion->count},
                      err);
}

loci_status lc_file_commit_forget(lc_tx *tx, lc_str_list ids, loci_error *err)
{
    return append_all(tx, &lc_file_forgotten_event, ids, err);
}

loci_status lc_todo_commit_forget(lc_tx *tx, loci_str id, loci_error *err)
{
    return append(tx, &lc_todo_forgotten_event, (lc_str_list){&id, 1}, err);
}

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql delete_memory_sql = {"delete from memories" OF_USER " and seq = $3", "tti",
                                         NULL};
static const lc_sql delete_tags_sql = {"delete from memory_tags" OF_USER " and seq = $3", "tti",
                                       NULL};
static const lc_sql delete_todo_sql = {"delete from todos" OF_USER " and seq = $3", "tti", NULL};
static const lc_sql delete_file_sql = {"delete from files" OF_USER " and seq = $3", "tti", NULL};
static const lc_sql delete_versions_sql = {"delete from file_versions" OF_USER " and file_seq = $3",
                                           "tti", NULL};
static const lc_sql delete_entity_sql = {"delete from entities" OF_USER " and id = $3", "ttt",
                                         NULL};

static loci_status delete_rows(lc_tx *tx, const lc_event *event, loci_str id, loci_error *err)
{
    lc_arg args[] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_T(id)};
    lc_id_parts parts;
    loci_status status;

    if (lc_id_is(id, "ent"))
        return lc_tx_exec(tx, &delete_entity_sql, args, err);
    if (lc_id_parse(id, "todo", &parts)) {
        args[2] = LC_I(parts.seq);
        return lc_tx_exec(tx, &delete_todo_sql, args, err);
    }
    if (lc_id_parse(id, "file", &parts)) {
        args[2] = LC_I(parts.seq);
        status = lc_tx_exec(tx, &delete_file_sql, args, err);
        return status == LOCI_OK ? lc_tx_exec(tx, &delete_versions_sql, args, err) : status;
    }
    if (!lc_id_parse(id, "mem", &parts))
        return lc_event_fail(event, err);
    args[2] = LC_I(parts.seq);
    status = lc_tx_exec(tx, &delete_memory_sql, args, err);
    return status == LOCI_OK ? lc_tx_exec(tx, &delete_tags_sql, args, err) : status;
}

static loci_status apply_forgotten(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_json *ids = NULL;
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK) {
        ids = lc_json_find(json.refs, "ids", LC_JSON_ARRAY);
        if (ids == NULL)
            status = lc_event_fail(event, err);
    }
    for (const lc_json *id = status == LOCI_OK ? lc_json_first(ids) : NULL;
         id != NULL && status == LOCI_OK; id = lc_json_next(id))
        status = lc_json_kind_of(id) == LC_JSON_STRING
                     ? delete_rows(tx, event, lc_json_str(id), err)
                     : lc_event_fail(event, err);
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_memory_forgotten_event = {
    .name = "memory.forgotten", .version = 1, .apply = apply_forgotten, .forgets = true};
const lc_event_type lc_todo_forgotten_event = {
    .name = "todo.forgotten", .version = 1, .apply = apply_forgotten, .forgets = true};
const lc_event_type lc_file_forgotten_event = {
    .name = "file.forgotten", .version = 1, .apply = apply_forgotten, .forgets = true};
