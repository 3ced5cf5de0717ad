/* fact_read.c - reading facts: by key, by id, as they are and as they were.
 *
 * A view is a chain of places, the innermost first: its scope, its session, everywhere. In each, a
 * persona's own fact goes before everybody's. The first place that has a valid fact of a key hides
 * the others.
 */
#include "base/error.h"
#include "base/str.h"
#include "fact/fact_row.h"

static const lc_sql heads_sql = {"select {row} from fact_current" LC_FACT_IN_KEY
                                 " and persona_id in ('', $6)",
                                 "tttttt", "", &lc_fact_current_row};

#define LAST_SEEN                                                                                  \
    "select {row} from fact_past" LC_FACT_IN_KEY                                                   \
    " and persona_id in ('', $6) and standing <> 'claim'"
static const lc_sql last_seen_sql = {LAST_SEEN " and hidden_from is null order by seq desc limit 1",
                                     "tttttt", "", &lc_fact_row};
static const lc_sql last_beside_sql = {
    LAST_SEEN " and hidden_from is not null order by seq desc limit 1", "tttttt", "", &lc_fact_row};

/* Whether a place other than everywhere has facts. */
static const lc_sql has_facts_sql = {
    "select 1 from fact_current where tenant_id = $1 and user_id = $2 and scope = $3"
    " and scope_id = $4 and scope <> 'global' limit 1",
    "tttt", "i"};

#define GLOBAL                                                                                     \
    "select {row} from fact_current where tenant_id = $1 and user_id = $2" LC_FACT_IN_GLOBAL
static const lc_sql global_of_persona_sql = {
    GLOBAL " and persona_id in ('', $3) and (key, id) > ($4, $5) order by key, id limit $6",
    "ttttti", "", &lc_fact_current_row};
/* Without a persona: in the order of the table's key, so that nothing is sorted. The `place` of
 * several facts of a key is their seq. */
static const lc_sql global_sql = {
    GLOBAL " and persona_id <= ''"
           " and (key, scope, scope_id, persona_id, place) > ($3, 'global', '', '', $4)"
           " order by key, scope, scope_id, persona_id, place limit $5",
    "tttii", "", &lc_fact_current_row};

/* $3 $4, $5 $6: two inner places, the innermost first; $7 persona; $8 the moment. */
#define IN_CHAIN                                                                                   \
    " and ((scope = 'global' and scope_id = '') or (scope = $3 and scope_id = $4)"                 \
    " or (scope = $5 and scope_id = $6)) and persona_id in ('', $7)"

/* Whether `i` is further inside than `f` and hides it, also when it must not be read: a secret does
 * not become public by looking past it. What was written beside a secret is not there for
 * readers of the secret, so it hides only what was, too. */
#define HIDES                                                                                      \
    " where i.tenant_id = $1 and i.user_id = $2 and i.key = f.key"                                 \
    " and ((i.scope = $3 and i.scope_id = $4 and not (f.scope = $3 and f.scope_id = $4))"          \
    " or (i.scope = $5 and i.scope_id = $6 and f.scope = 'global' and i.scope <> 'global'))"       \
    " and i.persona_id in ('', $7) and (i.valid_until is null or i.valid_until > $8)"              \
    " and (i.hidden_from is null or f.hidden_from is not null)"

static const lc_sql chain_sql = {
    "select {row} from fact_current f where tenant_id = $1 and user_id = $2" IN_CHAIN
    " and not exists (select 1 from fact_current i" HIDES ")"
    " and (key, id) > ($9, $10) order by key, id limit $11",
    "tttttttitti", "", &lc_fact_current_row};

/* What was valid at the moment, of those that are not any more. */
#define VALID_THEN                                                                                 \
    " and recorded_at <= $8 and ended_at > $8"                                                     \
    " and standing in ('superseded', 'retracted') and standing <> 'claim'"

/* The last column: whether it needed a review then. */
static const lc_sql as_of_sql = {
    "select {row}, case when exists (select 1 from fact_flags g where g.tenant_id = $1"
    " and g.user_id = $2 and g.id = f.id and g.flagged_at <= $8"
    " and (g.cleared_at is null or g.cleared_at > $8)) then 1 else 0 end from"
    " (select {row} from fact_current"
    " where tenant_id = $1 and user_id = $2 and recorded_at <= $8" IN_CHAIN
    " union all select {row} from fact_past"
    " where tenant_id = $1 and user_id = $2" VALID_THEN IN_CHAIN ") f"
    " where not exists (select 1 from fact_current i" HIDES " and recorded_at <= $8)"
    " and not exists (select 1 from fact_past i" HIDES VALID_THEN ")"
    " and (f.key, f.id) > ($9, $10) order by f.key, f.id limit $11",
    "tttttttitti", "i", &lc_fact_row};

/* A key has few valid facts and perhaps many past ones. Without the sums SQLite finds the valid
 * ones in the order of seq, among all facts of the user. */
static const lc_sql history_sql = {
    "select {row} from (select {row} from fact_current" LC_FACT_IN_KEY
    " and persona_id in ('', $6) and seq + 0 > $7"
    " union all select {row} from (select {row} from fact_past" LC_FACT_IN_KEY
    " and persona_id in ('', $6) and seq > $7 and standing <> 'claim' order by seq limit $8) p) f"
    " order by seq + 0 limit $8",
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

typedef struct place {
    loci_str scope;
    loci_str scope_id;
} place;

#define PLACES_MAX 3

/* The chain of a view, the innermost first. */
static size_t list_places(const lc_fact_view *view, place out[PLACES_MAX])
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

/* What was found of a key. */
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

/* A fact that the reader may not see hides everybody's from a persona that has it. */
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
    size_t count = list_places(view, places);
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

/* What is asked about. */
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
    size_t count = list_places(q->view, places);
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

/* The last of what the reader wrote beside a hidden fact, else of all others, unless the fact that
 * is hidden is valid. */
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

/* Who is called with what may be seen. */
typedef struct viewer {
    const lc_fact_access *access;
    bool is_reviewer; /* Of claims: sees what is a claim to it. */
    int64_t now_us;   /* What was expired then is passed over; LC_FACT_NO_TIME = nothing is. */
    bool is_past;     /* As of some time: rows that ended later were valid then. */
    lc_fact_visit *visit;
    void *ctx;
} viewer;

static loci_status show(void *ctx, const lc_rows *rows, const lc_fact *row, loci_error *err)
{
    const viewer *v = ctx;
    lc_fact fact = *row;

    if (v->is_past) {
        fact.needs_review = lc_rows_i64(rows, rows->row_columns) == 1;
        fact.standing = LC_FACT_VALID;
        fact.superseded_by = fact.reason = LC_STR_NONE;
        fact.ended_at = LC_FACT_NO_TIME;
    }
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

/* What is everywhere, now. */
static loci_status walk_global(lc_tx *tx, const lc_fact_view *view, const lc_fact_page *page,
                               viewer *v, loci_error *err)
{
    loci_str key = lc_fact_or_empty(page->after_key);
    bool is_behind_all = page->after_id.ptr == NULL;

    if (view->persona_id.len > 0)
        return lc_fact_each_row(tx,
                                &(lc_fact_walk){&global_of_persona_sql, LC_FACT_BY_ID, page->limit},
                                (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                           LC_T(view->persona_id), LC_T(key), LC_T(id_after(page))},
                                show, v, err);
    return lc_fact_each_row(
        tx, &(lc_fact_walk){&global_sql, LC_FACT_BY_PLACE, page->limit},
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(key),
                   LC_I(is_behind_all ? INT64_MAX : lc_fact_seq_of(page->after_id))},
        show, v, err);
}

static loci_status walk_chain(lc_tx *tx, const lc_fact_view *view, const lc_fact_page *page,
                              viewer *v, loci_error *err)
{
    lc_fact_walk walk = {
        .sql = v->is_past ? &as_of_sql : &chain_sql, .order = LC_FACT_BY_ID, .limit = page->limit};
    place places[PLACES_MAX];
    const place *second = &places[list_places(view, places) > 2 ? 1 : 0];
    const lc_arg args[] = {LC_T(tx->tenant_id),
                           LC_T(tx->user_id),
                           LC_T(places[0].scope),
                           LC_T(places[0].scope_id),
                           LC_T(second->scope),
                           LC_T(second->scope_id),
                           LC_T_OR_EMPTY(view->persona_id),
                           LC_I(v->now_us),
                           LC_T_OR_EMPTY(page->after_key),
                           LC_T(id_after(page))};

    return lc_fact_each_row(tx, &walk, args, show, v, err);
}

/* Most sessions and tasks have no facts of their own: then nothing global is hidden, and the walk
 * follows the table's key. */
static loci_status has_inner_facts(lc_tx *tx, const lc_fact_view *view, bool *out, loci_error *err)
{
    place places[PLACES_MAX];
    size_t count = list_places(view, places);
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
    bool is_past = page->as_of != LC_FACT_NO_TIME;
    viewer v = {.access = &view->access,
                .now_us = is_past ? page->as_of : tx->now_us,
                .is_past = is_past,
                .visit = visit,
                .ctx = ctx};
    bool needs_chain = is_past;
    loci_status status = is_past ? LOCI_OK : has_inner_facts(tx, view, &needs_chain, err);

    if (status != LOCI_OK)
        return status;
    return needs_chain ? walk_chain(tx, view, page, &v, err) : walk_global(tx, view, page, &v, err);
}

loci_status lc_fact_each_version(lc_tx *tx, const lc_fact_view *view,
                                 const lc_fact_history *history, lc_fact_visit *visit, void *ctx,
                                 loci_error *err)
{
    lc_fact_walk walk = {.sql = &history_sql, .order = LC_FACT_BY_SEQ, .limit = history->limit};
    viewer v = {.access = &view->access, .now_us = LC_FACT_NO_TIME, .visit = visit, .ctx = ctx};
    place places[PLACES_MAX];

    (void)list_places(view, places); /* The first is what counts. */
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

/* ---- What changed last ----------------------------------------------------------------------- */

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

/* No key that begins so lies behind it: nothing sorts above the last code point. */
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

void lc_fact_counts_add(lc_fact_counts *counts, loci_str standing, int64_t count)
{
    if (lc_str_is(standing, "retracted"))
        counts->retracted += count;
    else if (lc_str_is(standing, "claim"))
        counts->claims += count;
    else if (!lc_str_is(standing, "erased"))
        counts->superseded += count;
}
