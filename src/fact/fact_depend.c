/* fact_depend.c - what was derived from what.
 *
 * Edges lead from valid facts to what they depend on. Looking for what must be reviewed goes
 * against them, level by level; every fact is visited once, so circles end, and LC_FACT_REVIEW_MAX
 * bounds the work of one write. It goes through facts that are marked already: what was derived
 * from them since is not.
 */
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "fact/fact_row.h"

static const lc_sql dependents_sql = {
    "select c.id, c.has_derived, c.needs_review from fact_edges e join fact_current c"
    " on c.tenant_id = e.tenant_id and c.user_id = e.user_id and c.seq = e.seq"
    " where e.tenant_id = $1 and e.user_id = $2 and e.on_id = $3 order by e.id",
    "ttt", "tii"};

/* A fact that was reached. */
typedef struct reached {
    loci_str id;
    bool has_derived;
    bool is_marked; /* Needs a review already, or ends itself. */
    struct reached *next;
} reached;

typedef struct search {
    lc_arena *arena;
    lc_map seen;
    reached *first;
    reached **end;
    size_t mark_count;
} search;

static loci_status add(search *s, const reached *fact, loci_error *err)
{
    reached *own;

    if (lc_map_find(&s->seen, fact->id) != NULL)
        return LOCI_OK;
    if (s->seen.entry_count >= LC_FACT_REVIEW_MAX)
        return lc_fail(err, LOCI_ELIMIT, "more than %d facts depend on it", LC_FACT_REVIEW_MAX);
    own = lc_arena_alloc(s->arena, sizeof *own);
    if (own == NULL)
        return lc_fail_memory(err);
    *own = *fact;
    own->next = NULL;
    own->id = lc_arena_copy(s->arena, fact->id);
    if (own->id.ptr == NULL || !lc_map_put(&s->seen, own->id, own))
        return lc_fail_memory(err);
    *s->end = own;
    s->end = &own->next;
    s->mark_count += !own->is_marked;
    return LOCI_OK;
}

static loci_status add_dependents(lc_tx *tx, search *s, loci_str on_id, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &dependents_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(on_id)}, &rows,
        err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        status = add(s,
                     &(reached){.id = lc_rows_str(&rows, 0),
                                .has_derived = lc_rows_i64(&rows, 1) == 1,
                                .is_marked = lc_rows_i64(&rows, 2) == 1},
                     err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

static loci_status list_marked(const search *s, lc_str_list *out, loci_error *err)
{
    loci_str *items = lc_arena_zalloc_array(s->arena, s->mark_count + 1, sizeof *items);
    size_t count = 0;

    if (items == NULL)
        return lc_fail_memory(err);
    for (const reached *fact = s->first; fact != NULL; fact = fact->next) {
        if (!fact->is_marked)
            items[count++] = fact->id;
    }
    *out = (lc_str_list){items, count};
    return LOCI_OK;
}

loci_status lc_fact_load_dependents(lc_tx *tx, lc_str_list ended, lc_arena *arena, lc_str_list *out,
                                    loci_error *err)
{
    search s = {.arena = arena};
    loci_status status = LOCI_OK;

    *out = (lc_str_list){0};
    if (ended.count == 0)
        return LOCI_OK;
    lc_map_init(&s.seen, &tx->db->env->heap, LOCI_MEM_REQUESTS);
    s.end = &s.first;
    for (size_t i = 0; status == LOCI_OK && i < ended.count; i++)
        status = add(&s, &(reached){.id = ended.items[i], .has_derived = true, .is_marked = true},
                     err);
    for (const reached *fact = s.first; status == LOCI_OK && fact != NULL; fact = fact->next) {
        if (fact->has_derived)
            status = add_dependents(tx, &s, fact->id, err);
    }
    if (status == LOCI_OK)
        status = list_marked(&s, out, err);
    lc_map_clear(&s.seen);
    return status;
}

/* ---- For reading ----------------------------------------------------------------------------- */

loci_status lc_fact_load_derived(lc_tx *tx, const lc_fact *fact, lc_arena *arena, loci_str *out,
                                 loci_error *err)
{
    search s = {.arena = arena};
    lc_str_list ids = {0};
    loci_str *items;
    size_t count = 0;
    loci_status status;

    *out = LC_STR_NONE;
    if (!fact->has_derived)
        return LOCI_OK;
    lc_map_init(&s.seen, &tx->db->env->heap, LOCI_MEM_REQUESTS);
    s.end = &s.first;
    status = add_dependents(tx, &s, fact->id, err);
    items = lc_arena_zalloc_array(arena, s.seen.entry_count + 1, sizeof *items);
    lc_map_clear(&s.seen);
    if (status == LOCI_OK && items == NULL)
        status = lc_fail_memory(err);
    if (status != LOCI_OK)
        return status;
    for (const reached *each = s.first; each != NULL; each = each->next)
        items[count++] = each->id;
    ids = (lc_str_list){items, count};
    *out = lc_fact_list_text(arena, LC_STR_NONE, ids);
    return out->ptr == NULL && count > 0 ? lc_fail_memory(err) : LOCI_OK;
}
