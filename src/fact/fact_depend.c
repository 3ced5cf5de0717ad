/* fact_depend.c - which facts were derived from which.
 *
 * Edges lead from valid facts to the facts they depend on. The search for facts that need a review
 * follows the edges backwards, level by level; every fact is visited once, so cycles end, and
 * LC_FACT_REVIEW_MAX bounds the work of one write. The search also passes through facts that are
 * marked already, because facts derived from them later are not marked.
 *
 * A fact with more dependents than that could never be replaced or retracted, so the write that
 * would add one too many is refused. A new fact is one more dependent of everything that it is
 * derived from, directly or through others.
 */
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "fact/fact_row.h"

static const lc_sql dependents_sql = {
    "select c.id, c.has_derived, c.needs_review, c.persona_id, c.min_read_rank,"
    " c.required_permission, c.hidden_from from fact_edges e join fact_current c"
    " on c.tenant_id = e.tenant_id and c.user_id = e.user_id and c.seq = e.seq"
    " where e.tenant_id = $1 and e.user_id = $2 and e.on_id = $3 order by e.id",
    "ttt", "tiititt"};

/* A fact that was reached. */
typedef struct reached {
    loci_str id;
    bool has_derived;
    bool is_marked; /* Needs a review already, or ends itself. */
    bool is_seen;   /* The view shows it. */
    struct reached *next;
} reached;

typedef struct search {
    lc_arena *arena;
    const lc_fact_view *view; /* NULL = none sees anything. */
    lc_map seen;
    size_t seen_max;
    const char *too_many; /* Text of the error if more are reached. */
    reached *first;
    reached **end;
    size_t mark_count;
} search;

static void search_init(search *s, lc_tx *tx, lc_arena *arena, const char *too_many)
{
    *s = (search){.arena = arena, .seen_max = LC_FACT_REVIEW_MAX, .too_many = too_many};
    lc_map_init(&s->seen, &tx->db->env->heap, LOCI_MEM_REQUESTS);
    s->end = &s->first;
}

static loci_status add(search *s, const reached *fact, loci_error *err)
{
    reached *own;

    if (lc_map_find(&s->seen, fact->id) != NULL)
        return LOCI_OK;
    if (s->seen.entry_count >= s->seen_max)
        return lc_fail(err, LOCI_ELIMIT, "%s; the maximum is %d", s->too_many,
                       LC_FACT_REVIEW_MAX - 1);
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

static bool is_seen(const lc_fact_view *view, const lc_rows *rows)
{
    const lc_fact fact = {.persona_id = lc_rows_str(rows, 3),
                          .min_read = {.rank = (int)lc_rows_i64(rows, 4)},
                          .required_permission = lc_rows_str(rows, 5),
                          .hidden_from = lc_rows_str(rows, 6)};

    return view != NULL &&
           (fact.persona_id.len == 0 || lc_str_eq(fact.persona_id, view->persona_id)) &&
           lc_fact_may_read(&fact, &view->access);
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
                                .is_marked = lc_rows_i64(&rows, 2) == 1,
                                .is_seen = is_seen(s->view, &rows)},
                     err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

/* Continues from the facts reached so far to all facts that depend on them. */
static loci_status add_all(lc_tx *tx, search *s, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (const reached *fact = s->first; status == LOCI_OK && fact != NULL; fact = fact->next) {
        if (fact->has_derived)
            status = add_dependents(tx, s, fact->id, err);
    }
    return status;
}

static loci_status list_marked(const search *s, lc_fact_doubts *out, loci_error *err)
{
    loci_str *items = lc_arena_zalloc_array(s->arena, s->mark_count + 1, sizeof *items);
    size_t count = 0;

    if (items == NULL)
        return lc_fail_memory(err);
    for (const reached *fact = s->first; fact != NULL; fact = fact->next) {
        if (fact->is_marked)
            continue;
        items[count++] = fact->id;
        out->seen_count += fact->is_seen;
    }
    out->ids = (lc_str_list){items, count};
    return LOCI_OK;
}

loci_status lc_fact_load_dependents(lc_tx *tx, lc_str_list ended, const lc_fact_view *view,
                                    lc_arena *arena, lc_fact_doubts *out, loci_error *err)
{
    search s;
    loci_status status = LOCI_OK;

    *out = (lc_fact_doubts){.seen_count = 0};
    if (ended.count == 0)
        return LOCI_OK;
    search_init(&s, tx, arena, "too many facts depend on those that end; end fewer facts at once");
    s.view = view;
    for (size_t i = 0; status == LOCI_OK && i < ended.count; i++)
        status = add(&s, &(reached){.id = ended.items[i], .has_derived = true, .is_marked = true},
                     err);
    if (status == LOCI_OK)
        status = add_all(tx, &s, err);
    if (status == LOCI_OK)
        status = list_marked(&s, out, err);
    lc_map_clear(&s.seen);
    return status;
}

/* ---- Room for one dependent more ------------------------------------------------------------- */

#define VISITS_MAX (10 * LC_FACT_REVIEW_MAX) /* Facts that one write may visit while counting. */

static const lc_sql edge_count_sql = {
    "select count(*) from (select 1 as one from fact_edges where tenant_id = $1 and user_id = $2"
    " limit $3) counted",
    "tti", "i"};

static const lc_sql bases_sql = {
    "select on_id from fact_edges where tenant_id = $1 and user_id = $2 and id = $3", "ttt", "t"};

static const lc_sql valid_count_sql = {"select count(*) from fact_current where tenant_id = $1"
                                       " and user_id = $2 and seq = $3 and id = $4",
                                       "ttit", "i"};

/* Adds the facts that `fact` depends on. A fact that has ended has no edges any more and is marked:
 * it cannot end again, so the number of its dependents does not matter. */
static loci_status add_bases(lc_tx *tx, search *up, reached *fact, loci_error *err)
{
    int64_t valid = 0;
    lc_rows rows;
    loci_status status = lc_tx_find_numbers(tx, &valid_count_sql,
                                            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                       LC_I(lc_fact_seq_of(fact->id)),
                                                       LC_T(fact->id)},
                                            &valid, err);

    fact->is_marked = valid == 0;
    if (status != LOCI_OK || fact->is_marked)
        return status;
    status = lc_tx_query(tx, &bases_sql,
                         (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(fact->id)}, &rows,
                         err);
    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        status = add(up, &(reached){.id = lc_rows_str(&rows, 0)}, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

/* Counts the dependents of `root` without those that end with the write. The facts among them that
 * are in `up` need no count of their own and are marked there. */
static loci_status check_root(lc_tx *tx, const search *up, const reached *root, lc_str_list ended,
                              size_t *visits, loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(up->arena);
    loci_status status = LOCI_OK;
    search down;

    search_init(&down, tx, up->arena, "depends_on: too many facts depend on it already");
    for (size_t i = 0; status == LOCI_OK && i < ended.count; i++) {
        if (!lc_map_put(&down.seen, ended.items[i], &down))
            status = lc_fail_memory(err);
    }
    down.seen_max = down.seen.entry_count + LC_FACT_REVIEW_MAX - 1;
    if (status == LOCI_OK)
        status = add(&down, &(reached){.id = root->id, .has_derived = true}, err);
    if (status == LOCI_OK)
        status = add_all(tx, &down, err);
    *visits += down.seen.entry_count;
    if (status == LOCI_OK && *visits > VISITS_MAX)
        status = lc_fail(err, LOCI_ELIMIT, "%s", down.too_many);
    for (reached *each = up->first; status == LOCI_OK && each != NULL; each = each->next)
        each->is_marked = each->is_marked || lc_map_find(&down.seen, each->id) != NULL;
    lc_map_clear(&down.seen);
    lc_arena_rewind(up->arena, mark);
    return status;
}

loci_status lc_fact_check_dependents(lc_tx *tx, lc_str_list depends_on, lc_str_list ended,
                                     lc_arena *arena, loci_error *err)
{
    size_t visits = 0, count = 0;
    int64_t edges = 0;
    reached **facts;
    search up;
    loci_status status = LOCI_OK;

    if (depends_on.count > 0)
        status = lc_tx_find_numbers(
            tx, &edge_count_sql,
            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(LC_FACT_REVIEW_MAX - 1)},
            &edges, err);
    if (status != LOCI_OK || edges < LC_FACT_REVIEW_MAX - 1)
        return status; /* Each dependent has an edge: no fact of this user has too many. */
    search_init(&up, tx, arena, "depends_on: it would be derived from too many facts");
    for (size_t i = 0; status == LOCI_OK && i < depends_on.count; i++)
        status = add(&up, &(reached){.id = depends_on.items[i]}, err);
    for (reached *fact = up.first; status == LOCI_OK && fact != NULL; fact = fact->next)
        status = add_bases(tx, &up, fact, err);
    facts = lc_arena_zalloc_array(arena, up.seen.entry_count + 1, sizeof(reached *));
    if (status == LOCI_OK && facts == NULL)
        status = lc_fail_memory(err);
    for (reached *fact = up.first; status == LOCI_OK && fact != NULL; fact = fact->next)
        facts[count++] = fact;
    /* The farthest first: their dependents include those of most others. */
    while (status == LOCI_OK && count-- > 0) {
        if (!facts[count]->is_marked)
            status = check_root(tx, &up, facts[count], ended, &visits, err);
    }
    lc_map_clear(&up.seen);
    return status;
}

/* ---- For reading ----------------------------------------------------------------------------- */

loci_status lc_fact_load_derived(lc_tx *tx, const lc_fact *fact, const lc_fact_view *view,
                                 lc_arena *arena, loci_str *out, loci_error *err)
{
    search s;
    lc_str_list ids = {0};
    loci_str *items;
    size_t count = 0;
    loci_status status;

    *out = LC_STR_NONE;
    if (!fact->has_derived)
        return LOCI_OK;
    search_init(&s, tx, arena, "too many facts depend on it");
    s.view = view;
    status = add_dependents(tx, &s, fact->id, err);
    items = lc_arena_zalloc_array(arena, s.seen.entry_count + 1, sizeof *items);
    lc_map_clear(&s.seen);
    if (status == LOCI_OK && items == NULL)
        status = lc_fail_memory(err);
    if (status != LOCI_OK)
        return status;
    for (const reached *each = s.first; each != NULL; each = each->next) {
        if (each->is_seen)
            items[count++] = each->id;
    }
    ids = (lc_str_list){items, count};
    *out = lc_fact_list_text(arena, LC_STR_NONE, ids);
    return out->ptr == NULL && count > 0 ? lc_fail_memory(err) : LOCI_OK;
}
