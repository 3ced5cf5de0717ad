/* memory_read.c - reading memories: one, lists, versions, pins. */
#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "memory/memory.h"

#define SELECT "select {row} from memories where tenant_id = $1 and user_id = $2"

static const lc_sql load_sql = {SELECT " and persona_id in ('', $3) and seq = $4", "ttti", "",
                                &lc_memory_row};

loci_status lc_memory_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                           lc_memory *out, loci_error *err)
{
    lc_id_parts parts = {0};
    bool found = false;
    loci_status status = LOCI_OK;

    if (lc_id_parse(id, "mem", &parts)) {
        const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id),
                               LC_I(parts.seq)};

        status = lc_row_find(tx, &(lc_query){&load_sql, args}, arena, out, &found, err);
    }
    if (status == LOCI_OK && (!found || !lc_str_eq(out->id, id)))
        status = lc_fail(err, LOCI_ENOTFOUND, "no memory %.*s", LC_STR_ARG(id));
    return status;
}

static loci_status walk(lc_tx *tx, const lc_query *query, lc_memory_visit *visit, void *ctx,
                        loci_error *err)
{
    lc_memory memory = {0};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, query->sql, query->args, &rows, err);

    while (lc_row_next(&rows, &memory, &status, err))
        status = visit(ctx, &memory, err);
    lc_rows_end(&rows);
    return status;
}

static const lc_sql list_sql = {
    SELECT " and persona_id in ('', $3) and seq < $4 and ($5 = '' or status = $5)"
           " and ($6 = '' or type = $6)"
           " and ($8 = '' or seq in (select seq from memory_tags where tenant_id = $1"
           " and user_id = $2 and tag in (select 'e:' || ref from entities where tenant_id = $1"
           " and user_id = $2 and id = $8 union all select 'e:' || ref from entities"
           " where tenant_id = $1 and user_id = $2 and merged_into = $8)))"
           " and ($9 = '' or seq in (select seq from memory_tags where tenant_id = $1"
           " and user_id = $2 and tag = $9))"
           " and ($10 = '' or seq in (select seq from memory_tags where tenant_id = $1"
           " and user_id = $2 and tag = $10))"
           " and ($11 = '' or seq in (select seq from memory_tags where tenant_id = $1"
           " and user_id = $2 and tag = $11))"
           " order by seq desc limit $7",
    "tttittitttt", "", &lc_memory_row};

loci_status lc_memory_each(lc_tx *tx, const lc_memory_page *page, lc_memory_visit *visit, void *ctx,
                           loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id),
                           LC_T(tx->user_id),
                           LC_T_OR_EMPTY(page->persona_id),
                           LC_I(page->before_seq),
                           LC_T_OR_EMPTY(page->status),
                           LC_T_OR_EMPTY(page->type),
                           LC_I(page->limit),
                           LC_T_OR_EMPTY(page->entity_id),
                           LC_T_OR_EMPTY(page->tags[0]),
                           LC_T_OR_EMPTY(page->tags[1]),
                           LC_T_OR_EMPTY(page->tags[2])};

    return walk(tx, &(lc_query){&list_sql, args}, visit, ctx, err);
}

/* ---- Versions -------------------------------------------------------------------------------- */

/* Of one attribute; also claims. Without an attribute a key holds memories that have nothing to do
 * with each other: then only the links between them count. */
static const lc_sql of_key_sql = {SELECT " and persona_id = $3 and memory_key = $4"
                                         " and attribute is not null order by seq desc limit $5",
                                  "tttti", "", &lc_memory_row};

typedef struct chain {
    lc_arena *arena;
    lc_memory *items;
    size_t count;
} chain;

static bool has_id(const chain *c, loci_str id)
{
    for (size_t i = 0; i < c->count; i++)
        if (lc_str_eq(c->items[i].id, id))
            return true;
    return false;
}

static loci_status add_version(void *ctx, const lc_memory *memory, loci_error *err)
{
    chain *c = ctx;

    if (c->count == LC_MEMORY_VERSIONS_MAX || has_id(c, memory->id))
        return LOCI_OK;
    c->items[c->count] = *memory;
    return lc_row_keep(&lc_memory_row, c->arena, &c->items[c->count++]) ? LOCI_OK
                                                                        : lc_fail_memory(err);
}

/* One that another version names; it may have been forgotten. */
static loci_status add_linked(chain *c, lc_tx *tx, loci_str persona_id, loci_str id,
                              loci_error *err)
{
    lc_memory memory;
    loci_status status;

    if (id.len == 0 || has_id(c, id))
        return LOCI_OK;
    status = lc_memory_load(tx, persona_id, id, c->arena, &memory, err);
    if (status == LOCI_ENOTFOUND)
        return LOCI_OK;
    return status == LOCI_OK ? add_version(c, &memory, err) : status;
}

static loci_status add_links(chain *c, lc_tx *tx, const lc_memory *of, loci_error *err)
{
    const lc_json *ids;
    loci_status status = lc_json_parse(c->arena, of->supersedes, 0, &ids, err);

    for (const lc_json *id = status == LOCI_OK ? lc_json_first(ids) : NULL;
         id != NULL && status == LOCI_OK; id = lc_json_next(id))
        status = add_linked(c, tx, of->persona_id, lc_json_str(id), err);
    if (status == LOCI_OK)
        status = add_linked(c, tx, of->persona_id, of->superseded_by, err);
    return status == LOCI_OK ? add_linked(c, tx, of->persona_id, of->contests, err) : status;
}

/* By the time they tell about: an import may bring the older one later. */
static int compare_versions(const void *a, const void *b)
{
    const lc_memory *x = a, *y = b;

    if (x->observed_at != y->observed_at)
        return x->observed_at < y->observed_at ? -1 : 1;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

loci_status lc_memory_find_versions(lc_tx *tx, const lc_memory *memory, lc_arena *arena,
                                    lc_memory **out, size_t *out_count, loci_error *err)
{
    chain c = {.arena = arena,
               .items = lc_arena_zalloc_array(arena, LC_MEMORY_VERSIONS_MAX, sizeof *c.items)};
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id),
                           LC_T_OR_EMPTY(memory->persona_id), LC_T(memory->memory_key),
                           LC_I(LC_MEMORY_VERSIONS_MAX / 2)};
    loci_status status = c.items != NULL ? add_version(&c, memory, err) : lc_fail_memory(err);

    if (status == LOCI_OK)
        status = walk(tx, &(lc_query){&of_key_sql, args}, add_version, &c, err);
    for (size_t i = 0; i < c.count && status == LOCI_OK; i++)
        status = add_links(&c, tx, &c.items[i], err);
    if (status == LOCI_OK)
        qsort(c.items, c.count, sizeof *c.items, compare_versions);
    *out = c.items;
    *out_count = c.count;
    return status;
}

static const lc_sql pinned_sql = {SELECT " and persona_id in ('', $3) and pinned = 1"
                                         " and status = 'active'"
                                         " order by importance desc, observed_at desc, seq desc"
                                         " limit $4",
                                  "ttti", "", &lc_memory_row};

loci_status lc_memory_each_pinned(lc_tx *tx, loci_str persona_id, lc_memory_visit *visit, void *ctx,
                                  loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(persona_id),
                           LC_I(LC_MEMORY_PINS_MAX)};

    return walk(tx, &(lc_query){&pinned_sql, args}, visit, ctx, err);
}
