/* fact_read.c - reading facts: by key, by id, as they are and as they were.
 *
 * A view is a chain of places, the innermost first: its scope, its session, everywhere. In each
 * place, a persona's own fact has precedence over a fact shared by all personas. The first place
 * that has a valid fact of a key hides the others.
 */
#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "fact/fact_row.h"

static const lc_sql heads_sql = {"select {row} from fact_current" LC_FACT_IN_KEY
                                 " and persona_id in ('', $6)",
                                 "tttttt", "", &lc_fact_current_row};

/* Each persona apart: the index then leads to its last version. */
#define LAST_SEEN                                                                                  \
    "select {row} from fact_past" LC_FACT_IN_KEY " and standing in ('superseded', 'retracted')"    \
    " and standing <> 'claim'" /* As the index says. */
#define LAST_OF_SLOT " and hidden_from is null order by seq desc limit 1"
static const lc_sql last_seen_sql = {
    "select {row} from (select {row} from (" LAST_SEEN " and persona_id = ''" LAST_OF_SLOT ") a"
    " union all select {row} from (" LAST_SEEN " and persona_id = $6" LAST_OF_SLOT
    ") b) f order by seq + 0 desc limit 1",
    "tttttt", "", &lc_fact_row};
/* The sum keeps SQLite from reading in the order of seq, among all facts of the user. */
static const lc_sql last_beside_sql = {LAST_SEEN LC_FACT_APART
                                       " and persona_id in ('', $6) and hidden_from is not null"
                                       " order by seq + 0 desc limit 1",
                                       "tttttt", "", &lc_fact_row};

/* Whether a place other than everywhere has facts. */
static const lc_sql has_facts_sql = {
    "select 1 from fact_current where tenant_id = $1 and user_id = $2 and scope = $3"
    " and scope_id = $4 and scope <> 'global' limit 1",
    "tttt", "i"};

#define GLOBAL                                                                                     \
    "select {row} from fact_current where tenant_id = $1 and user_id = $2" LC_FACT_IN_GLOBAL
static const lc_sql global_of_persona_sql = {
    GLOBAL " and persona_id in ('', $3) and key <= $4 and (key, id) > ($5, $6)"
           " order by key, id limit $7",
    "tttttti", "", &lc_fact_current_row};
/* Without a persona: in the order of the table's key, so that nothing is sorted. The `place` of
 * several facts of a key is their seq. */
static const lc_sql global_sql = {
    GLOBAL " and persona_id <= ''"
           " and key <= $3"
           " and (key, scope, scope_id, persona_id, place) > ($4, 'global', '', '', $5)"
           " order by key, scope, scope_id, persona_id, place limit $6",
    "ttttii", "", &lc_fact_current_row};

/* $3 $4, $5 $6: two inner places, the innermost first; $7 persona; $8 the moment; $9 the last key.
 */
#define IN_CHAIN                                                                                   \
    " and ((scope = 'global' and scope_id = '') or (scope = $3 and scope_id = $4)"                 \
    " or (scope = $5 and scope_id = $6)) and persona_id in ('', $7)"

/* Whether `i` is in a more inner place than `f` and hides it, even if the reader may not read `i`:
 * otherwise a reader without access to a secret would see the outer value. A fact written beside a
 * secret is absent for readers of the secret, so it hides only facts that are absent for them,
 * too. */
#define HIDES                                                                                      \
    " where i.tenant_id = $1 and i.user_id = $2 and i.key = f.key"                                 \
    " and ((i.scope = $3 and i.scope_id = $4 and not (f.scope = $3 and f.scope_id = $4))"          \
    " or (i.scope = $5 and i.scope_id = $6 and f.scope = 'global' and i.scope <> 'global'))"       \
    " and i.persona_id in ('', $7) and (i.valid_until is null or i.valid_until > $8)"              \
    " and (i.hidden_from is null or f.hidden_from is not null)"

static const lc_sql chain_sql = {
    "select {row} from fact_current f where tenant_id = $1 and user_id = $2" IN_CHAIN
    " and key <= $9 and not exists (select 1 from fact_current i" HIDES ")"
    " and (key, id) > ($10, $11) order by key, id limit $12",
    "tttttttittti", "", &lc_fact_current_row};

/* A key has few valid facts and perhaps many past ones, of this persona or of others. Without the
 * sums SQLite finds the valid ones in the order of seq, among all facts of the user. `union` drops
 * the second copy when there is no persona. */
#define PAST_OF                                                                                    \
    " union select {row} from (select {row} from fact_past" LC_FACT_IN_KEY                         \
    " and seq > $7 and standing <> 'claim'"
static const lc_sql history_sql = {
    "select {row} from (select {row} from fact_current" LC_FACT_IN_KEY
    " and persona_id in ('', $6) and seq + 0 > $7" PAST_OF
    " and persona_id = '' order by seq limit $8) a" PAST_OF
    " and persona_id = $6 order by seq limit $8) b) f order by seq + 0 limit $8",
    "ttttttii", "", &lc_fact_row};

/* Valid facts that were written beside others are claims to readers of those. */
#define CLAIMS_BESIDE                                                                              \
    "select {row} from (select {row} from (select {row} from fact_current where tenant_id = $1"    \
    " and user_id = $2 and hidden_from is not null and persona_id in ('', $3)"
#define CLAIMS_STORED                                                                              \
    " union all select {row} from (select {row} from fact_past where tenant_id = $1"               \
    " and user_id = $2 and standing = 'claim' and persona_id in ('', $3)"

static const lc_sql claims_sql = {
    CLAIMS_BESIDE " and seq > $4 order by seq limit $5) c" CLAIMS_STORED
                  " and seq > $4 order by seq limit $5) p) f order by seq + 0 limit $5",
    "tttii", "", &lc_fact_row};

static const lc_sql claims_of_key_sql = {
    CLAIMS_BESIDE " and key = $4 and seq > $5 order by seq limit $6) c" CLAIMS_STORED
                  " and key = $4 and seq > $5 order by seq limit $6) p) f"
                  " order by seq + 0 limit $6",
    "ttttii", "", &lc_fact_row};

/* ---- Places ---------------------------------------------------------------------------------- */

#define PLACES_MAX LC_FACT_PLACES_MAX
typedef lc_fact_place_of place;

size_t lc_fact_list_places(const lc_fact_view *view, lc_fact_place_of out[LC_FACT_PLACES_MAX])
{
    size_t count = 0;
    bool is_session = lc_str_is(view->scope, "session");

    if (view->scope.len > 0 && !lc_str_is(view->scope, "global"))
        out[count++] = (place){view->scope, lc_fact_or_empty(view->scope_id)};
    if (view->session_id.len > 0 && !is_session)
        out[count++] = (place){LC_STR("session"), view->session_id};
    out[count++] = (place){LC_STR("global"), LC_STR("")};
    return count;
}

#define KEY_ARGS(tx, place, key, persona)                                                          \
    LC_T((tx)->tenant_id), LC_T((tx)->user_id), LC_T((place)->scope), LC_T((place)->scope_id),     \
        LC_T(key), LC_T_OR_EMPTY(persona)

/* ---- By key ---------------------------------------------------------------------------------- */

/* The facts found for a key. */
typedef struct found {
    lc_fact head;    /* The best one that is not expired. */
    lc_fact expired; /* The best one that is. */
    lc_fact hidden;  /* The best one that the reader is not cleared for, expired or not. */
} found;

static loci_status note(found *f, const lc_fact *fact, const lc_tx *tx,
                        const lc_fact_access *access, lc_arena *arena, loci_error *err)
{
    lc_fact *best = lc_fact_is_expired(fact, tx->now_us) ? &f->expired : &f->head;

    if (!lc_fact_is_cleared(fact, access))
        best = &f->hidden;
    else if (!lc_fact_may_read(fact, access))
        return LOCI_OK; /* It was written beside one that the reader sees. */
    if (best->id.ptr != NULL && !lc_fact_is_before(fact, best))
        return LOCI_OK;
    *best = *fact;
    return lc_fact_keep(arena, best) ? LOCI_OK : lc_fail_memory(err);
}

/* A fact of the persona that the reader may not see still hides the one all personas share. */
static void hide(found *f)
{
    if (f->hidden.persona_id.len > 0 && f->head.persona_id.len == 0)
        f->head = (lc_fact){0};
    if (f->hidden.persona_id.len > 0 && f->expired.persona_id.len == 0)
        f->expired = (lc_fact){0};
}

static loci_status look_up(lc_tx *tx, const lc_fact_view *view, const lc_arg *args, lc_arena *arena,
                           found *out, loci_error *err)
{
    lc_rows rows;
    lc_fact fact;
    loci_status status = lc_tx_query(tx, &heads_sql, args, &rows, err);

    *out = (found){0};
    while (lc_row_next(&rows, &fact, &status, err))
        status = note(out, &fact, tx, &view->access, arena, err);
    lc_rows_end(&rows);
    hide(out);
    return status;
}

/* The head, or, without one, the first expired fact of the chain. A hidden fact ends the chain. */
static loci_status find_in_chain(lc_tx *tx, const lc_fact_view *view, loci_str key, lc_arena *arena,
                                 found *out, loci_error *err)
{
    place places[PLACES_MAX];
    size_t count = lc_fact_list_places(view, places);
    loci_status status = LOCI_OK;

    *out = (found){0};
    for (size_t i = 0; out->head.id.ptr == NULL && out->hidden.id.ptr == NULL && i < count; i++) {
        found here;

        status = look_up(tx, view, (lc_arg[]){KEY_ARGS(tx, &places[i], key, view->persona_id)},
                         arena, &here, err);
        if (status != LOCI_OK)
            break;
        out->head = here.head;
        out->hidden = here.hidden;
        if (out->expired.id.ptr == NULL)
            out->expired = here.expired;
    }
    return status;
}

loci_status lc_fact_find_head(lc_tx *tx, const lc_fact_view *view, loci_str key, lc_arena *arena,
                              lc_fact *out, loci_error *err)
{
    found f;
    loci_status status = find_in_chain(tx, view, key, arena, &f, err);

    if (status == LOCI_OK)
        *out = f.head.id.ptr != NULL ? f.head : f.hidden;
    return status;
}

/* The arguments of a read by key. */
typedef struct question {
    const lc_fact_view *view;
    loci_str key;
    lc_arena *arena; /* Of the answer. */
} question;

/* The last fact that ended in the first place that has one. */
static loci_status find_last(lc_tx *tx, const lc_sql *sql, const question *q, lc_fact *out,
                             loci_error *err)
{
    place places[PLACES_MAX];
    size_t count = lc_fact_list_places(q->view, places);
    loci_status status = LOCI_OK;

    *out = (lc_fact){0};
    for (size_t i = 0; status == LOCI_OK && out->id.ptr == NULL && i < count; i++)
        status = lc_fact_find_row(
            tx,
            &(lc_fact_query){sql, (lc_arg[]){KEY_ARGS(tx, &places[i], q->key, q->view->persona_id)},
                             1},
            q->arena, out, err);
    return status;
}

/* Finds the last ended fact among those the reader wrote beside a hidden fact, else among all
 * others, unless the hidden fact is valid. */
static loci_status find_last_seen(lc_tx *tx, const question *q, lc_fact *in_out, loci_error *err)
{
    const lc_fact_access *access = &q->view->access;
    bool is_hidden = in_out->id.ptr != NULL;
    lc_fact beside;
    loci_status status = LOCI_OK;

    if (!is_hidden)
        status = find_last(tx, &last_seen_sql, q, in_out, err);
    if (status == LOCI_OK)
        status = find_last(tx, &last_beside_sql, q, &beside, err);
    if (status == LOCI_OK && beside.id.ptr != NULL && lc_fact_may_read(&beside, access) &&
        (in_out->id.ptr == NULL || !lc_fact_may_read(in_out, access) || beside.seq > in_out->seq))
        *in_out = beside;
    return status;
}

loci_status lc_fact_load_current(lc_tx *tx, const lc_fact_view *view, loci_str key, lc_arena *arena,
                                 lc_fact *out, loci_error *err)
{
    found f;
    loci_status status = find_in_chain(tx, view, key, arena, &f, err);

    if (status != LOCI_OK)
        return status;
    *out = f.head.id.ptr != NULL ? f.head : f.expired;
    if (out->id.ptr == NULL) {
        *out = f.hidden;
        status = find_last_seen(tx, &(question){view, key, arena}, out, err);
    }
    if (status == LOCI_OK && (out->id.ptr == NULL || !lc_fact_may_read(out, &view->access)))
        status = lc_fact_fail_absent(err, key);
    return status;
}

loci_status lc_fact_load(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena, lc_fact *out,
                         loci_error *err)
{
    loci_status status = lc_fact_find_id(tx, persona_id, id, arena, out, err);

    return status == LOCI_OK && out->id.ptr == NULL ? lc_fact_fail_absent(err, id) : status;
}

/* ---- Walks ----------------------------------------------------------------------------------- */

/* The reader, and the function that is called with each fact the reader may see. */
typedef struct viewer {
    const lc_fact_access *access;
    bool is_reviewer; /* Sees facts that are claims to this reader. */
    int64_t now_us;   /* Facts expired at this time are skipped; LC_FACT_NO_TIME = none are. */
    lc_fact_visit *visit;
    void *ctx;
} viewer;

static loci_status show(void *ctx, const lc_rows *rows, const lc_fact *row, loci_error *err)
{
    const viewer *v = ctx;
    lc_fact fact = *row;

    (void)rows;
    if (v->now_us != LC_FACT_NO_TIME && lc_fact_is_expired(&fact, v->now_us))
        return LOCI_OK;
    if (v->is_reviewer ? !lc_fact_may_review(&fact, v->access) || fact.standing == LC_FACT_VALID
                       : !lc_fact_may_read(&fact, v->access))
        return LOCI_OK;
    return v->visit(v->ctx, &fact, err);
}

/* '~' is behind every id. */
static loci_str id_after(const lc_fact_page *page)
{
    return page->after_id.ptr != NULL ? page->after_id : LC_STR("~");
}

/* The part of the order by key that has one prefix. Keys are compared byte by byte in both stores,
 * so it is one range: from the prefix to the prefix filled up with the largest character. */
typedef struct key_range {
    lc_fact_page page;                                  /* With the position to begin behind. */
    char last[LC_KEY_BYTES_MAX + 4 + LC_KEY_BYTES_MAX]; /* No key of the range is larger. */
    size_t last_len;
} key_range;

static void begin_range(key_range *range, const lc_fact_page *page)
{
    static const char largest[4] = {'\xf4', '\x8f', '\xbf', '\xbf'}; /* U+10FFFF */
    loci_str prefix = lc_fact_or_empty(page->prefix);

    LC_ASSERT(prefix.len <= LC_KEY_BYTES_MAX);
    range->page = *page;
    range->page.after_key = lc_fact_or_empty(page->after_key);
    if (lc_str_compare(range->page.after_key, prefix) < 0) {
        range->page.after_key = prefix;
        range->page.after_id = LC_STR(""); /* Before all facts of that key. */
    }
    if (prefix.len > 0)
        memcpy(range->last, prefix.ptr, prefix.len);
    range->last_len = prefix.len;
    while (range->last_len < prefix.len + LC_KEY_BYTES_MAX) {
        memcpy(range->last + range->last_len, largest, sizeof largest);
        range->last_len += sizeof largest;
    }
}

/* Walks the facts of the global scope that are valid now. */
static loci_status walk_global(lc_tx *tx, const lc_fact_view *view, const key_range *range,
                               viewer *v, loci_error *err)
{
    const lc_fact_page *page = &range->page;
    loci_str last = {range->last, range->last_len};
    int64_t after_place = page->after_id.ptr == NULL ? INT64_MAX
                          : page->after_id.len == 0  ? -1
                                                     : lc_fact_seq_of(page->after_id);

    if (view->persona_id.len > 0)
        return lc_fact_each_row(
            tx, &(lc_fact_walk){&global_of_persona_sql, LC_FACT_BY_ID, page->limit},
            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(view->persona_id), LC_T(last),
                       LC_T(page->after_key), LC_T(id_after(page))},
            show, v, err);
    return lc_fact_each_row(tx, &(lc_fact_walk){&global_sql, LC_FACT_BY_PLACE, page->limit},
                            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(last),
                                       LC_T(page->after_key), LC_I(after_place)},
                            show, v, err);
}

static loci_status walk_chain(lc_tx *tx, const lc_fact_view *view, const key_range *range,
                              viewer *v, loci_error *err)
{
    const lc_fact_page *page = &range->page;
    loci_str last = {range->last, range->last_len};
    lc_fact_walk walk = {.sql = &chain_sql, .order = LC_FACT_BY_ID, .limit = page->limit};
    place places[PLACES_MAX];
    const place *second = &places[lc_fact_list_places(view, places) > 2 ? 1 : 0];
    const lc_arg args[] = {LC_T(tx->tenant_id),
                           LC_T(tx->user_id),
                           LC_T(places[0].scope),
                           LC_T(places[0].scope_id),
                           LC_T(second->scope),
                           LC_T(second->scope_id),
                           LC_T_OR_EMPTY(view->persona_id),
                           LC_I(v->now_us),
                           LC_T(last),
                           LC_T(page->after_key),
                           LC_T(id_after(page))};

    return lc_fact_each_row(tx, &walk, args, show, v, err);
}

/* Most sessions and tasks have no facts of their own: then nothing global is hidden, and the walk
 * follows the table's key. */
static loci_status has_inner_facts(lc_tx *tx, const lc_fact_view *view, bool *out, loci_error *err)
{
    place places[PLACES_MAX];
    size_t count = lc_fact_list_places(view, places);
    loci_status status = LOCI_OK;

    *out = false;
    for (size_t i = 0; status == LOCI_OK && !*out && i + 1 < count; i++) {
        lc_rows rows;

        status = lc_tx_find(tx, &has_facts_sql,
                            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                       LC_T(places[i].scope), LC_T(places[i].scope_id)},
                            &rows, out, err);
        if (status == LOCI_OK)
            lc_rows_end(&rows);
    }
    return status;
}

loci_status lc_fact_each_valid(lc_tx *tx, const lc_fact_view *view, const lc_fact_page *page,
                               lc_fact_visit *visit, void *ctx, loci_error *err)
{
    viewer v = {.access = &view->access, .now_us = tx->now_us, .visit = visit, .ctx = ctx};
    bool needs_chain;
    key_range range;
    loci_status status;

    begin_range(&range, page);
    if (page->as_of != LC_FACT_NO_TIME)
        return lc_fact_each_then(tx, view, &range.page, (loci_str){range.last, range.last_len},
                                 visit, ctx, err);
    status = has_inner_facts(tx, view, &needs_chain, err);
    if (status != LOCI_OK)
        return status;
    return needs_chain ? walk_chain(tx, view, &range, &v, err)
                       : walk_global(tx, view, &range, &v, err);
}

loci_status lc_fact_each_version(lc_tx *tx, const lc_fact_view *view,
                                 const lc_fact_history *history, lc_fact_visit *visit, void *ctx,
                                 loci_error *err)
{
    lc_fact_walk walk = {.sql = &history_sql, .order = LC_FACT_BY_SEQ, .limit = history->limit};
    viewer v = {.access = &view->access, .now_us = LC_FACT_NO_TIME, .visit = visit, .ctx = ctx};
    place places[PLACES_MAX];

    (void)lc_fact_list_places(view, places); /* The first is what counts. */
    if (view->scope.len == 0)
        places[0] = (place){LC_STR("global"), LC_STR("")};
    return lc_fact_each_row(tx, &walk,
                            (lc_arg[]){KEY_ARGS(tx, &places[0], history->key, view->persona_id),
                                       LC_I(history->after_seq)},
                            show, &v, err);
}

loci_status lc_fact_each_claim(lc_tx *tx, const lc_fact_view *view, const lc_fact_history *history,
                               lc_fact_visit *visit, void *ctx, loci_error *err)
{
    lc_fact_walk walk = {.sql = &claims_sql, .order = LC_FACT_BY_SEQ, .limit = history->limit};
    viewer v = {.access = &view->access,
                .is_reviewer = true,
                .now_us = LC_FACT_NO_TIME,
                .visit = visit,
                .ctx = ctx};
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T_OR_EMPTY(view->persona_id),
                     LC_I(history->after_seq), LC_I(history->after_seq)};

    if (history->key.ptr != NULL) {
        walk.sql = &claims_of_key_sql;
        args[3] = LC_T(history->key);
    }
    return lc_fact_each_row(tx, &walk, args, show, &v, err);
}

/* ---- Recent changes -------------------------------------------------------------------------- */

#define RECENT_WRITTEN                                                                             \
    "select {row} from fact_current where tenant_id = $1 and user_id = $2 and seq > $3"
#define RECENT_ENDED                                                                               \
    "select {row} from fact_past where tenant_id = $1 and user_id = $2 and ended_seq > $3"
#define ENDED " and standing in ('superseded', 'retracted')"
#define ENDED_OR_CLAIMED " and standing in ('superseded', 'retracted', 'claim')"
#define OF_PERSONA " and persona_id in ('', $5) order by ended_seq desc limit $4"

static const lc_sql recent_written_sql = {RECENT_WRITTEN
                                          " and persona_id in ('', $5) order by seq desc limit $4",
                                          "ttiit", "", &lc_fact_current_row};
static const lc_sql recent_ended_sql = {RECENT_ENDED ENDED OF_PERSONA, "ttiit", "", &lc_fact_row};
static const lc_sql ended_or_claimed_sql = {RECENT_ENDED ENDED_OR_CLAIMED OF_PERSONA, "ttiit", "",
                                            &lc_fact_row};
static const lc_sql doubt_sql = {
    "select {row} from fact_current where tenant_id = $1 and user_id = $2 and needs_review = 1"
    " and seq > $3 order by seq desc limit $4",
    "ttii", "", &lc_fact_current_row};

static const lc_sql prefix_sql = {
    "select {row} from fact_current where tenant_id = $1 and user_id = $2 and scope = 'global'"
    " and scope_id = '' and key >= $3 and key < $4"
    " and persona_id in ('', $5)"
    " order by key, persona_id, place limit $6",
    "ttttti", "", &lc_fact_current_row};

static loci_status visit_all(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_fact_visit *visit,
                             void *ctx, loci_error *err)
{
    lc_rows rows;
    lc_fact fact;
    loci_status status = lc_tx_query(tx, sql, args, &rows, err);

    while (lc_row_next(&rows, &fact, &status, err))
        status = visit(ctx, &fact, err);
    lc_rows_end(&rows);
    return status;
}

static loci_status walk_recent(lc_tx *tx, const lc_sql *sql, const lc_fact_recent *recent,
                               lc_fact_visit *visit, void *ctx, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(recent->after_seq),
                     LC_I(recent->limit), LC_T_OR_EMPTY(recent->persona_id)};

    return visit_all(tx, sql, args, visit, ctx, err);
}

/* The end of the range of keys with this prefix: no key sorts above the last code point. */
static loci_str end_of(lc_arena *arena, loci_str prefix)
{
    static const char last[] = "\xF4\x8F\xBF\xBF";
    char *end = lc_arena_alloc(arena, prefix.len + sizeof last);

    if (end == NULL)
        return LC_STR_NONE;
    memcpy(end, prefix.ptr, prefix.len);
    memcpy(end + prefix.len, last, sizeof last);
    return (loci_str){end, prefix.len + sizeof last - 1};
}

loci_status lc_fact_each_prefix(lc_tx *tx, const lc_fact_prefix *prefix, lc_arena *arena,
                                lc_fact_visit *visit, void *ctx, loci_error *err)
{
    loci_str end = end_of(arena, prefix->key);
    lc_arg args[] = {LC_T(tx->tenant_id),
                     LC_T(tx->user_id),
                     LC_T(prefix->key),
                     LC_T(end),
                     LC_T_OR_EMPTY(prefix->persona_id),
                     LC_I(prefix->limit)};

    return end.ptr != NULL ? visit_all(tx, &prefix_sql, args, visit, ctx, err)
                           : lc_fail_memory(err);
}

loci_status lc_fact_each_recent(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                                void *ctx, loci_error *err)
{
    return walk_recent(tx, &recent_written_sql, recent, visit, ctx, err);
}

loci_status lc_fact_each_ended(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                               void *ctx, loci_error *err)
{
    return walk_recent(tx, recent->has_claims ? &ended_or_claimed_sql : &recent_ended_sql, recent,
                       visit, ctx, err);
}

loci_status lc_fact_each_in_doubt(lc_tx *tx, lc_fact_visit *visit, void *ctx, loci_error *err)
{
    return walk_recent(tx, &doubt_sql,
                       &(lc_fact_recent){.after_seq = -1, .limit = LC_FACT_REVIEW_MAX}, visit, ctx,
                       err);
}
