/* fact_past.c - the facts that were valid at a time.
 *
 * A fact was valid from the event that wrote it to the event that ended it. `recorded_at` never
 * falls, so the state at a time is the state after one event: S. The walk goes key by key and seeks
 * in each slot the version that was valid after S, so neither the versions that came later nor
 * those that had ended cost anything:
 *
 *   - the valid fact of now, if S had happened when it was written; else
 *   - the last version that was written until S, if it ended after S. Versions of a slot follow
 *     each other, so none before that one was valid. Facts apart, which share their slot with
 *     others (is_multi, hidden_from), are all read; they have an index of their own.
 *
 * Keys come from the key order of both tables, one seek each. After an early S, most of these keys
 * did not exist yet: if S is small, the keys come from the facts of the first S events instead.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "fact/fact_row.h"
#include "store/event.h"

/* Keys come from the first events if these are few, and so few of all events that most keys are
 * newer: reading one costs as much as seeking one key. */
#define EARLY_EVENTS 20000
#define EARLY_PART 64

#define OF_USER " where tenant_id = $1 and user_id = $2"
#define PAST_KEYS "select min(key) from fact_past" OF_USER " and standing <> 'claim'"
#define CURRENT_KEYS "select min(key) as key from fact_current" OF_USER

/* $3 the first key, $4 the last. Each row of `k` is the first key behind the one before. */
static const lc_sql keys_sql = {"with recursive k (key) as (select min(key) from (" CURRENT_KEYS
                                " and key >= $3 union all " PAST_KEYS " and key >= $3) a"
                                " union all select (select min(key) from (" CURRENT_KEYS
                                " and key > k.key union all " PAST_KEYS " and key > k.key) b)"
                                " from k where k.key is not null and k.key <= $4)"
                                " select key from k where key is not null and key <= $4 limit $5",
                                "tttti", "t"};

/* The same from the events until $6. The empty text keeps the databases from reading in the order
 * of the key. */
#define IN_RANGE " and seq <= $6 and key || '' >= $3 and key || '' <= $4"
static const lc_sql early_keys_sql = {
    "select key from (select key from fact_current" OF_USER IN_RANGE
    " union select key from fact_past" OF_USER IN_RANGE
    " and standing in ('superseded', 'retracted')) f order by key limit $5",
    "ttttii", "t"};

/* $7: S. */
#define PAST                                                                                       \
    "select {row} from fact_past" LC_FACT_IN_KEY " and seq <= $7"                                  \
    " and standing in ('superseded', 'retracted') and standing <> 'claim'"
#define LAST " and hidden_from is null order by seq desc limit 1"

/* $8: the time. The last column: whether it needed a review then. */
static const lc_sql slot_sql = {
    "select {row}, case when exists (select 1 from fact_flags g where g.tenant_id = $1"
    " and g.user_id = $2 and g.id = f.id and g.flagged_at <= $8"
    " and (g.cleared_at is null or g.cleared_at > $8)) then 1 else 0 end from"
    " (select {row} from fact_current" LC_FACT_IN_KEY " and persona_id in ('', $6) and seq <= $7"
    " union all select {row} from (" PAST " and persona_id = ''" LAST ") a"
    " union all select {row} from (" PAST " and persona_id = $6" LAST ") b"
    " union all " PAST " and persona_id in ('', $6)" LC_FACT_APART ") f"
    " where f.ended_at is null or f.ended_at > $8",
    "ttttttii", "i", &lc_fact_row};

/* ---- One key --------------------------------------------------------------------------------- */

typedef struct then {
    lc_tx *tx;
    const lc_fact_view *view;
    const lc_fact_page *page;
    loci_str last_key;
    int64_t seq;   /* S */
    bool is_early; /* The keys come from the events until S. */
    lc_fact_place_of places[LC_FACT_PLACES_MAX];
    size_t place_count;
    lc_fact_visit *visit;
    void *ctx;
    lc_arena arena; /* Of the current key. */
} then;

typedef struct version {
    lc_fact fact;
    size_t place; /* The innermost is 0. */
} version;

typedef struct versions {
    version *items;
    size_t count, room;
} versions;

static loci_status add_version(then *t, versions *list, const version *v, loci_error *err)
{
    if (list->count == list->room) {
        size_t room = list->room > 0 ? 2 * list->room : 8;
        version *items = lc_arena_zalloc_array(&t->arena, room, sizeof *items);

        if (items == NULL)
            return lc_fail_memory(err);
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->room = room;
    }
    list->items[list->count] = *v;
    return lc_fact_keep(&t->arena, &list->items[list->count++].fact) ? LOCI_OK
                                                                     : lc_fail_memory(err);
}

static loci_status read_slot(then *t, loci_str key, size_t place, versions *list, loci_error *err)
{
    const lc_fact_place_of *at = &t->places[place];
    const lc_arg args[] = {LC_T(t->tx->tenant_id),
                           LC_T(t->tx->user_id),
                           LC_T(at->scope),
                           LC_T(at->scope_id),
                           LC_T(key),
                           LC_T_OR_EMPTY(t->view->persona_id),
                           LC_I(t->seq),
                           LC_I(t->page->as_of)};
    version v = {.place = place};
    lc_rows rows;
    loci_status status = lc_tx_query(t->tx, &slot_sql, args, &rows, err);

    while (lc_row_next(&rows, &v.fact, &status, err)) {
        v.fact.needs_review = lc_rows_i64(&rows, rows.row_columns) == 1;
        v.fact.standing = LC_FACT_VALID;
        v.fact.superseded_by = v.fact.reason = LC_STR_NONE;
        v.fact.ended_at = LC_FACT_NO_TIME;
        status = add_version(t, list, &v, err);
    }
    lc_rows_end(&rows);
    return status;
}

static int compare_versions(const void *a, const void *b)
{
    return lc_str_compare(((const version *)a)->fact.id, ((const version *)b)->fact.id);
}

/* Whether a fact in a more inner place hides it, even one that the reader may not read: otherwise a
 * reader without access to a secret would see the outer value. A fact written beside a secret is
 * absent for readers of the secret, so it hides only facts that are absent for them, too. */
static bool is_hidden(const then *t, const versions *list, const version *outer)
{
    bool is_absent = outer->fact.hidden_from.len > 0;

    for (size_t i = 0; i < list->count; i++) {
        const version *inner = &list->items[i];

        if (inner->place < outer->place && !lc_fact_is_expired(&inner->fact, t->page->as_of) &&
            (inner->fact.hidden_from.len == 0 || is_absent))
            return true;
    }
    return false;
}

static loci_status visit_key(then *t, loci_str key, loci_error *err)
{
    const lc_fact_page *page = t->page;
    bool is_first = lc_str_eq(key, page->after_key);
    lc_arena_mark mark = lc_arena_get_mark(&t->arena);
    versions list = {0};
    loci_status status = LOCI_OK;

    for (size_t place = 0; place < t->place_count && status == LOCI_OK; place++)
        status = read_slot(t, key, place, &list, err);
    if (list.count > 1)
        qsort(list.items, list.count, sizeof *list.items, compare_versions);
    for (size_t i = 0; i < list.count && status == LOCI_OK; i++) {
        const lc_fact *fact = &list.items[i].fact;

        if ((i > 0 && lc_str_eq(fact->id, list.items[i - 1].fact.id)) || /* It is apart. */
            (is_first &&
             (page->after_id.ptr == NULL || lc_str_compare(fact->id, page->after_id) <= 0)) ||
            lc_fact_is_expired(fact, page->as_of) || !lc_fact_may_read(fact, &t->view->access) ||
            is_hidden(t, &list, &list.items[i]))
            continue;
        status = t->visit(t->ctx, fact, err);
    }
    lc_arena_rewind(&t->arena, mark);
    return status;
}

/* ---- The walk -------------------------------------------------------------------------------- */

typedef struct key_page {
    int64_t limit;
    loci_str *items;
    size_t count;
} key_page;

/* The next keys, `first` among them. */
static loci_status read_keys(const then *t, loci_str first, lc_arena *arena, key_page *out,
                             loci_error *err)
{
    const lc_arg args[] = {LC_T(t->tx->tenant_id), LC_T(t->tx->user_id), LC_T(first),
                           LC_T(t->last_key),      LC_I(out->limit),     LC_I(t->seq)};
    lc_rows rows = {0};
    loci_status status = LOCI_OK;

    out->count = 0;
    out->items = lc_arena_zalloc_array(arena, (size_t)out->limit, sizeof *out->items);
    if (out->items == NULL)
        return lc_fail_memory(err);
    status = lc_tx_query(t->tx, t->is_early ? &early_keys_sql : &keys_sql, args, &rows, err);
    while (status == LOCI_OK && (int64_t)out->count < out->limit &&
           lc_rows_next(&rows, &status, err)) {
        out->items[out->count] = lc_arena_copy(arena, lc_rows_str(&rows, 0));
        if (out->items[out->count++].ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}

/* Visits pages of keys, each with twice as many: the page of a caller may need many keys. The last
 * key of a page is visited as the first of the next, because a page begins with its `first`. */
static loci_status walk(then *t, loci_error *err)
{
    key_page keys = {.limit = t->page->limit + 2};
    char first[LC_KEY_BYTES_MAX];
    size_t first_len = t->page->after_key.len;
    bool is_over = false;
    loci_status status = LOCI_OK;

    LC_ASSERT(first_len <= sizeof first);
    memcpy(first, t->page->after_key.ptr, first_len);
    while (status == LOCI_OK && !is_over) {
        lc_arena arena;

        lc_arena_init(&arena, &t->tx->db->env->heap, LOCI_MEM_REQUESTS);
        keys.limit = keys.limit < LC_PAGE_ROWS_MAX ? keys.limit : LC_PAGE_ROWS_MAX;
        status = read_keys(t, (loci_str){first, first_len}, &arena, &keys, err);
        is_over = status != LOCI_OK || (int64_t)keys.count < keys.limit;
        for (size_t i = 0; i < keys.count - (is_over ? 0 : 1) && status == LOCI_OK; i++)
            status = visit_key(t, keys.items[i], err);
        if (!is_over) {
            first_len = keys.items[keys.count - 1].len;
            memcpy(first, keys.items[keys.count - 1].ptr, first_len);
        }
        lc_arena_clear(&arena);
        keys.limit *= 2;
    }
    return status;
}

loci_status lc_fact_each_then(lc_tx *tx, const lc_fact_view *view, const lc_fact_page *page,
                              loci_str last_key, lc_fact_visit *visit, void *ctx, loci_error *err)
{
    then t = {
        .tx = tx, .view = view, .page = page, .last_key = last_key, .visit = visit, .ctx = ctx};
    lc_head head;
    loci_status status = lc_event_find_seq(tx, page->as_of, &t.seq, err);

    LC_ASSERT(page->limit > 0);
    if (status == LOCI_OK)
        status = lc_tx_head(tx, &head, err);
    if (status != LOCI_OK || t.seq == 0)
        return status;
    t.is_early = t.seq <= EARLY_EVENTS && t.seq < head.seq / EARLY_PART;
    t.place_count = lc_fact_list_places(view, t.places);
    lc_arena_init(&t.arena, &tx->db->env->heap, LOCI_MEM_REQUESTS);
    status = walk(&t, err);
    lc_arena_clear(&t.arena);
    return status == LOCI_ECANCELLED ? LOCI_OK : status;
}
