/* fact_forget.c - forgetting facts, and the rows that stay in their place.
 *
 * A forgotten fact leaves a row in fact_past with its id, its links and nothing else; its standing
 * is `erased`. That is exactly the row that a replay makes from the tombstone of its event, so live
 * and rebuilt tables agree. Nothing that the fact superseded becomes valid again: the rows of those
 * facts still say that it superseded them. Facts that depended on it need a review, as after a
 * retraction.
 *
 * The reason of a retraction is about the facts that were retracted: if one of them is forgotten,
 * the payload of the retraction event is removed, too, and the other facts of that event lose the
 * reason.
 */
#include "base/error.h"
#include "base/str.h"
#include "fact/fact_corpus.h"
#include "fact/fact_row.h"
#include "recall/forget.h"

#define FORGET_MAX 100000 /* Facts that one call forgets. */
#define IDS_PER_EVENT 10000

/* ---- Choosing -------------------------------------------------------------------------------- */

#define OF_KEY " where tenant_id = $1 and user_id = $2 and key = $3 and persona_id in ('', $4)"
#define OF_SCOPE                                                                                   \
    " where tenant_id = $1 and user_id = $2 and scope = $3 and scope_id = $4"                      \
    " and persona_id in ('', $5)"

static const lc_sql current_key_sql = {"select {row} from fact_current" OF_KEY, "tttt", "",
                                       &lc_fact_current_row};
static const lc_sql past_key_sql = {"select {row} from fact_past" OF_KEY
                                    " and standing <> 'claim' order by seq",
                                    "tttt", "", &lc_fact_row};
static const lc_sql claim_key_sql = {"select {row} from fact_past" OF_KEY
                                     " and standing = 'claim' order by seq",
                                     "tttt", "", &lc_fact_row};
static const lc_sql current_scope_sql = {"select {row} from fact_current" OF_SCOPE
                                         " and scope <> 'global'",
                                         "ttttt", "", &lc_fact_current_row};
static const lc_sql past_scope_sql = {"select {row} from fact_past" OF_SCOPE " order by seq",
                                      "ttttt", "", &lc_fact_row};

/* The event that retracted it, or that superseded it. */
static const lc_sql ended_seq_sql = {
    "select ended_seq from fact_past where tenant_id = $1 and user_id = $2 and seq = $3", "tti",
    "i"};

struct lc_fact_oblivion {
    lc_str_list ids;
    lc_str_list unlink;
    lc_str_list review;
    int64_t *retractions; /* Seqs of the events. */
    size_t retraction_count;
};

typedef struct choosing {
    lc_tx *tx;
    const lc_fact_target *target;
    lc_forgetting *f;
    lc_arena *arena;
    lc_fact_node *facts;
    lc_fact_node **end;
    size_t count;
    size_t withdrawn; /* Versions that a rewind took back. */
} choosing;

static loci_status choose(choosing *c, const lc_sql *sql, const lc_arg *args, loci_error *err)
{
    const lc_fact_view *view = &c->target->view;
    lc_rows rows;
    lc_fact fact;
    loci_status status = lc_tx_query(c->tx, sql, args, &rows, err);

    while (lc_row_next(&rows, &fact, &status, err)) {
        if (!lc_fact_is_cleared(&fact, &view->access) ||
            (c->target->key.ptr != NULL && view->scope.len > 0 &&
             (!lc_str_eq(fact.scope, view->scope) || !lc_str_eq(fact.scope_id, view->scope_id))))
            continue;
        if (++c->count > FORGET_MAX)
            status = lc_fail(err, LOCI_ELIMIT, "more than %d facts; forget them by id", FORGET_MAX);
        else
            status = lc_fact_list_add(&c->end, &fact, c->arena, err);
    }
    lc_rows_end(&rows);
    return status;
}

/* A version of the key that a rewind took back. */
static loci_status match_withdrawn(void *ctx, const lc_event *event, lc_forget_item *item,
                                   bool *out, loci_error *err)
{
    choosing *c = ctx;
    const lc_fact_view *view = &c->target->view;
    lc_fact_written written;
    loci_status status;

    if (event->type != &lc_fact_written_event)
        return LOCI_OK;
    status = lc_fact_written_decode(event, c->arena, &written, err);
    if (status != LOCI_OK)
        return status;
    *out = lc_str_eq(written.fact.key, c->target->key) &&
           (written.fact.persona_id.len == 0 ||
            lc_str_eq(written.fact.persona_id, view->persona_id)) &&
           lc_fact_is_cleared(&written.fact, &view->access);
    c->withdrawn += *out;
    *item = (lc_forget_item){.kind = "fact", .id = written.fact.id};
    return LOCI_OK;
}

static loci_status choose_key(choosing *c, loci_error *err)
{
    const lc_arg args[] = {LC_T(c->tx->tenant_id), LC_T(c->tx->user_id), LC_T(c->target->key),
                           LC_T_OR_EMPTY(c->target->view.persona_id)};
    loci_status status = choose(c, &past_key_sql, args, err);

    if (status == LOCI_OK)
        status = choose(c, &claim_key_sql, args, err);
    if (status == LOCI_OK)
        status = choose(c, &current_key_sql, args, err);
    if (status == LOCI_OK)
        status = lc_forget_withdrawn(c->f, &(lc_withdrawal_filter){.kind = LC_STR("fact")},
                                     match_withdrawn, c, err);
    if (status == LOCI_OK && c->facts == NULL && c->withdrawn == 0)
        status = lc_fact_fail_absent(err, c->target->key);
    return status;
}

static loci_status choose_id(choosing *c, loci_error *err)
{
    lc_fact fact;
    loci_status status = lc_fact_find_id(c->tx, c->target->view.persona_id, c->target->id, c->arena,
                                         &fact, err);

    if (status != LOCI_OK)
        return status;
    if (fact.id.ptr == NULL || !lc_fact_is_cleared(&fact, &c->target->view.access))
        return lc_fact_fail_absent(err, c->target->id);
    return lc_fact_list_add(&c->end, &fact, c->arena, err);
}

/* Everything of a scope, such as a session: none is fine. */
static loci_status choose_scope(choosing *c, loci_error *err)
{
    const lc_fact_view *view = &c->target->view;
    const lc_arg args[] = {LC_T(c->tx->tenant_id), LC_T(c->tx->user_id), LC_T(view->scope),
                           LC_T_OR_EMPTY(view->scope_id), LC_T_OR_EMPTY(view->persona_id)};
    loci_status status = choose(c, &past_scope_sql, args, err);

    return status == LOCI_OK ? choose(c, &current_scope_sql, args, err) : status;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static loci_status collect(choosing *c, const lc_fact *fact, lc_fact_oblivion *o, loci_error *err)
{
    lc_forget_item item = {.kind = "fact", .id = fact->id, .seq = fact->seq};
    int64_t seq = 0;
    loci_status status = lc_fact_check_rights(c->tx, c->target, fact, err);

    if (status == LOCI_OK)
        status = lc_fact_embed_text(c->arena, fact->key, fact->value, &item.text, err);
    if (status == LOCI_OK)
        status = lc_forget_add(c->f, &item, err);
    if (status != LOCI_OK || fact->standing != LC_FACT_IS_RETRACTED)
        return status;
    status = lc_tx_find_numbers(
        c->tx, &ended_seq_sql,
        (lc_arg[]){LC_T(c->tx->tenant_id), LC_T(c->tx->user_id), LC_I(fact->seq)}, &seq, err);
    o->retractions[o->retraction_count++] = seq;
    return status == LOCI_OK ? lc_forget_add_event(c->f, seq, err) : status;
}

loci_status lc_fact_decide_forget(lc_tx *tx, const lc_fact_target *target, lc_forgetting *f,
                                  lc_fact_oblivion **out, loci_error *err)
{
    lc_arena *arena = f->arena;
    choosing c = {.tx = tx, .target = target, .f = f, .arena = arena};
    lc_fact_oblivion *o = lc_arena_zalloc_array(arena, 1, sizeof *o);
    lc_fact_ended ended;
    lc_fact_doubts doubts;
    loci_str *ids = NULL;
    size_t count = 0;
    loci_status status;

    if (o == NULL)
        return lc_fail_memory(err);
    c.end = &c.facts;
    status = target->key.ptr != NULL  ? choose_key(&c, err)
             : target->id.ptr != NULL ? choose_id(&c, err)
                                      : choose_scope(&c, err);
    for (const lc_fact_node *each = c.facts; each != NULL; each = each->next)
        count++;
    if (status == LOCI_OK)
        status = lc_fact_ended_init(&ended, count, arena, err);
    if (status != LOCI_OK)
        return status;
    ids = lc_arena_zalloc_array(arena, count + 1, sizeof *ids);
    o->retractions = lc_arena_zalloc_array(arena, count + 1, sizeof *o->retractions);
    if (ids == NULL || o->retractions == NULL)
        return lc_fail_memory(err);
    for (const lc_fact_node *each = c.facts; status == LOCI_OK && each != NULL; each = each->next) {
        status = collect(&c, &each->fact, o, err);
        ids[o->ids.count++] = each->fact.id;
        if (each->fact.standing == LC_FACT_VALID)
            lc_fact_ended_add(&ended, &each->fact);
    }
    if (status != LOCI_OK)
        return status;
    o->ids.items = ids;
    o->unlink = (lc_str_list){ended.unlink, ended.unlink_count};
    *out = o;
    status = lc_fact_load_dependents(tx, (lc_str_list){ended.roots, ended.root_count},
                                     &target->view, arena, &doubts, err);
    o->review = doubts.ids;
    f->review_count += (int64_t)doubts.seen_count;
    return status;
}

/* ---- Recording ------------------------------------------------------------------------------- */

static void put_ids(lc_json_writer *out, const char *name, lc_str_list ids)
{
    if (ids.count == 0)
        return;
    lc_jw_name(out, name);
    lc_jw_array(out);
    for (size_t i = 0; i < ids.count; i++)
        lc_jw_str(out, ids.items[i]);
    lc_jw_end(out);
}

static void put_seqs(lc_json_writer *out, const char *name, const int64_t *seqs, size_t count)
{
    if (count == 0)
        return;
    lc_jw_name(out, name);
    lc_jw_array(out);
    for (size_t i = 0; i < count; i++)
        lc_jw_int(out, seqs[i]);
    lc_jw_end(out);
}

/* One event has room for IDS_PER_EVENT ids; the last event has the links, when all facts have
 * ended. */
loci_status lc_fact_commit_forget(lc_tx *tx, const lc_fact_oblivion *o, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t first = 0; status == LOCI_OK && first < o->ids.count; first += IDS_PER_EVENT) {
        size_t left = o->ids.count - first;
        bool is_last = left <= IDS_PER_EVENT;
        lc_event_draft draft;

        lc_event_draft_begin(&draft, tx);
        put_ids(&draft.refs, "ids",
                (lc_str_list){o->ids.items + first, is_last ? left : IDS_PER_EVENT});
        if (is_last) {
            put_ids(&draft.refs, "unlink", o->unlink);
            put_ids(&draft.refs, "review", o->review);
            put_seqs(&draft.refs, "retractions", o->retractions, o->retraction_count);
        }
        status = lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_fact_forgotten_event},
                                       NULL, err);
    }
    return status;
}

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql past_sql = {
    "select {row} from fact_past where tenant_id = $1 and user_id = $2 and seq = $3 and id = $4",
    "ttit", "", &lc_fact_row};

static const lc_sql clear_reason_sql = {
    "update fact_past set reason = null where tenant_id = $1 and user_id = $2 and ended_seq = $3"
    " and standing = 'retracted'",
    "tti", NULL};

/* The fact that a replay of the tombstone of `fact` makes. */
static loci_status make_erased(const lc_fact *fact, const lc_event *event, lc_arena *arena,
                               lc_fact *out, loci_error *err)
{
    const lc_event tombstone = {.tenant_id = event->tenant_id,
                                .user_id = event->user_id,
                                .type = &lc_fact_written_event,
                                .seq = fact->seq,
                                .recorded_at = fact->recorded_at,
                                .refs = LC_STR("{}"),
                                .is_erased = true};
    bool was_late = fact->standing == LC_FACT_IS_LATE || fact->standing == LC_FACT_IS_ERASED;
    loci_status status = lc_row_decode(&lc_fact_row, &tombstone, arena, out, err);

    if (status != LOCI_OK)
        return status;
    out->id = fact->id;
    out->value = LC_STR("null");
    out->standing = LC_FACT_IS_ERASED;
    out->supersedes = fact->supersedes;
    out->depends_on = fact->depends_on;
    out->contests = fact->contests;
    out->superseded_by = was_late ? fact->superseded_by : LC_STR_NONE;
    return LOCI_OK;
}

/* Puts the row of a tombstone in the place of the fact's. */
static loci_status erase_fact(lc_tx *tx, const lc_event *event, loci_str id, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_arg which[] = {LC_T(event->tenant_id), LC_T(event->user_id), LC_I(lc_fact_seq_of(id)),
                            LC_T(id)};
    lc_fact fact, erased;
    bool is_valid;
    loci_status status = lc_fact_find_row(tx, &(lc_fact_query){&lc_fact_valid_sql, which, 1}, arena,
                                          &fact, err);

    is_valid = status == LOCI_OK && fact.id.ptr != NULL;
    if (status == LOCI_OK && !is_valid)
        status = lc_fact_find_row(tx, &(lc_fact_query){&past_sql, which, 1}, arena, &fact, err);
    if (status == LOCI_OK && fact.id.ptr == NULL)
        status = lc_event_fail(event, err);
    if (status == LOCI_OK)
        status = make_erased(&fact, event, arena, &erased, err);
    if (status == LOCI_OK)
        status = is_valid ? lc_tx_exec(tx, &lc_fact_remove_sql, which, err)
                          : lc_fact_remove_past(tx, event, &fact, err);
    if (status == LOCI_OK)
        status = lc_fact_put_erased(tx, event, &erased, err);
    lc_arena_rewind(arena, mark);
    return status;
}

static loci_status apply_forgotten(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    const lc_json *retractions;
    lc_fact_retracted refs = {0}; /* Has the same lists. */
    lc_event_json json;
    loci_status status = lc_fact_retracted_decode(event, arena, &refs, err);

    for (size_t i = 0; status == LOCI_OK && i < refs.ids.count; i++)
        status = erase_fact(tx, event, refs.ids.items[i], err);
    if (status == LOCI_OK)
        status = lc_fact_unlink_and_flag(tx, event, refs.unlink, refs.review, err);
    if (status == LOCI_OK)
        status = lc_event_parse(event, arena, &json, err);
    retractions = status == LOCI_OK ? lc_json_find(json.refs, "retractions", LC_JSON_ARRAY) : NULL;
    for (const lc_json *each = retractions != NULL ? lc_json_first(retractions) : NULL;
         status == LOCI_OK && each != NULL; each = lc_json_next(each))
        status = lc_json_kind_of(each) == LC_JSON_INT
                     ? lc_tx_exec(tx, &clear_reason_sql,
                                  (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                             LC_I(lc_json_int(each))},
                                  err)
                     : lc_event_fail(event, err);
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_fact_forgotten_event = {
    .name = "fact.forgotten", .version = 1, .apply = apply_forgotten, .forgets = true};
