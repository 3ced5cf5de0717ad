/* fact_withdraw.c - versions that a rewind takes back (recall/rewind.h).
 *
 * A version that is withdrawn leaves no row. It is spliced out of every link, the newest first, in
 * a model of the rows that are concerned:
 *
 *     what it superseded in its own slot   takes over its end: valid if it was valid, superseded by
 *                                          its successor, retracted as it was
 *     what it superseded elsewhere         is valid again, unless its slot has a fact by now
 *     what superseded it                   supersedes what it had superseded
 *     claims against it, late versions     refer to the fact it had superseded, or to none
 *     facts that depend on it              depend on the fact it had superseded; need a review
 *     marks for review that it set         go, or date from the end that was taken over
 *
 * The event has the outcome: which versions go, and what each row that stays looks like. So a
 * replay gives the same rows, also when one of the versions was forgotten since. `has_derived`
 * stays as it is: it only says that looking for dependents is worth while.
 */
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "fact/fact_corpus.h"
#include "fact/fact_row.h"
#include "recall/rewind.h"
#include "store/withdrawal.h"

typedef struct node {
    lc_fact fact; /* As it will be. */
    int64_t ended_seq;
    bool is_withdrawn;
    bool is_moved;    /* Its standing, or its successor changes. */
    bool is_relinked; /* The list of facts it supersedes changes. */
    bool is_claiming; /* The fact it contests changes. */
    bool is_rebased;  /* The facts it depends on change. */
    struct node *own; /* Of one that is withdrawn: what it had superseded in its slot. */
    struct node *next;
} node;

/* A fact that was marked when `by` was written. */
typedef struct flag {
    loci_str id;
    const node *by;
    struct flag *next;
} flag;

struct lc_fact_withdrawal {
    lc_rewind *r;
    lc_map nodes; /* node, by id. */
    node *first, **end;
    node **withdrawn; /* In the order of the log. */
    size_t withdrawn_count;
    flag *flags;
};

/* ---- The model ------------------------------------------------------------------------------- */

static const lc_sql past_sql = {"select {row}, ended_seq from fact_past where tenant_id = $1"
                                " and user_id = $2 and seq = $3 and id = $4",
                                "ttit", "i", &lc_fact_row};

#define WHICH(tx, id)                                                                              \
    (lc_arg[])                                                                                     \
    {                                                                                              \
        LC_T((tx)->tenant_id), LC_T((tx)->user_id), LC_I(lc_fact_seq_of(id)), LC_T(id)             \
    }

static loci_status read_past(lc_fact_withdrawal *w, loci_str id, node *out, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(w->r->tx, &past_sql, WHICH(w->r->tx, id), &rows, err);

    out->fact.id = LC_STR_NONE;
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        status = lc_row_read(&rows, &out->fact, err);
        out->ended_seq = lc_rows_i64(&rows, rows.row_columns);
        if (status == LOCI_OK && !lc_fact_keep(w->r->arena, &out->fact))
            status = lc_fail_memory(err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

/* `*out` is NULL if there is no such row, or only that of a tombstone. */
static loci_status find_node(lc_fact_withdrawal *w, loci_str id, node **out, loci_error *err)
{
    node *n;
    loci_status status;

    *out = lc_map_find(&w->nodes, id);
    if (*out != NULL)
        return LOCI_OK;
    n = lc_arena_zalloc_array(w->r->arena, 1, sizeof *n);
    if (n == NULL)
        return lc_fail_memory(err);
    status = lc_fact_find_row(w->r->tx,
                              &(lc_fact_query){&lc_fact_valid_sql, WHICH(w->r->tx, id), 1},
                              w->r->arena, &n->fact, err);
    if (status == LOCI_OK && n->fact.id.ptr == NULL)
        status = read_past(w, id, n, err);
    if (status != LOCI_OK || n->fact.id.ptr == NULL || n->fact.standing == LC_FACT_IS_ERASED)
        return status;
    if (!lc_map_put(&w->nodes, n->fact.id, n))
        return lc_fail_memory(err);
    *w->end = n;
    w->end = &n->next;
    *out = n;
    return LOCI_OK;
}

static loci_status read_ids(lc_fact_withdrawal *w, loci_str json, lc_str_list *out, loci_error *err)
{
    const lc_json *list;
    loci_str *ids;
    loci_status status = LOCI_OK;

    *out = (lc_str_list){0};
    if (json.len == 0)
        return LOCI_OK;
    status = lc_json_parse(w->r->arena, json, 0, &list, err);
    if (status != LOCI_OK)
        return status;
    ids = lc_arena_zalloc_array(w->r->arena, lc_json_count(list) + 1, sizeof *ids);
    if (ids == NULL)
        return lc_fail_memory(err);
    for (const lc_json *each = lc_json_first(list); each != NULL; each = lc_json_next(each))
        ids[out->count++] = lc_json_str(each);
    out->items = ids;
    return LOCI_OK;
}

/* `json` with `to` in the place of `id`, or without `id` if `to` is empty. */
static loci_status replace_id(lc_fact_withdrawal *w, loci_str *json, loci_str id, loci_str to,
                              bool *has_changed, loci_error *err)
{
    lc_str_list list;
    size_t count = 0;
    loci_status status = read_ids(w, *json, &list, err);

    *has_changed = false;
    if (status != LOCI_OK || list.count == 0)
        return status;
    for (size_t i = 0; i < list.count; i++) {
        bool is_it = lc_str_eq(list.items[i], id);

        *has_changed |= is_it;
        if (!is_it || to.len > 0)
            ((loci_str *)list.items)[count++] = is_it ? to : list.items[i];
    }
    if (!*has_changed)
        return LOCI_OK;
    list.count = count;
    *json = lc_fact_list_text(w->r->arena, LC_STR_NONE, list);
    return json->ptr == NULL && count > 0 ? lc_fail_memory(err) : LOCI_OK;
}

static bool is_same_slot(const lc_fact *a, const lc_fact *b)
{
    return lc_str_eq(a->key, b->key) && lc_str_eq(a->scope, b->scope) &&
           lc_str_eq(a->scope_id, b->scope_id) && lc_str_eq(a->persona_id, b->persona_id);
}

/* ---- Splicing -------------------------------------------------------------------------------- */

static void take_over_end(node *to, const node *from)
{
    to->is_moved = true;
    to->fact.standing = from->fact.standing;
    to->fact.superseded_by = from->fact.superseded_by;
    to->fact.ended_at = from->fact.ended_at;
    to->fact.reason = from->fact.reason;
    to->ended_seq = from->ended_seq;
}

/* A fact of another slot is valid again if its slot has only withdrawn facts. */
static loci_status free_other(lc_fact_withdrawal *w, node *other, loci_error *err)
{
    lc_fact_slot slot = lc_fact_slot_of(&other->fact);
    lc_fact_node *heads;
    loci_status status = lc_fact_load_slot(w->r->tx, &slot, w->r->arena, &heads, err);

    other->is_moved = true;
    for (; status == LOCI_OK && heads != NULL; heads = heads->next) {
        const node *head = lc_map_find(&w->nodes, heads->fact.id);

        if (!other->fact.is_multi && (head == NULL || !head->is_withdrawn)) {
            other->fact.superseded_by = heads->fact.id;
            return LOCI_OK;
        }
    }
    take_over_end(other, &(node){.fact = {.ended_at = LC_FACT_NO_TIME}});
    return status;
}

/* `*out_own` becomes the fact of its slot that it had superseded; NULL = none. */
static loci_status free_predecessors(lc_fact_withdrawal *w, node *n, node **out_own,
                                     loci_error *err)
{
    lc_str_list ids;
    loci_status status = read_ids(w, n->fact.supersedes, &ids, err);

    *out_own = NULL;
    for (size_t i = 0; i < ids.count && status == LOCI_OK; i++) {
        node *before;

        status = find_node(w, ids.items[i], &before, err);
        if (status != LOCI_OK || before == NULL ||
            !lc_str_eq(before->fact.superseded_by, n->fact.id))
            continue;
        if (is_same_slot(&before->fact, &n->fact)) {
            take_over_end(before, n);
            *out_own = before;
        } else {
            status = free_other(w, before, err);
        }
    }
    return status;
}

/* Rows of the store that refer to `id` and may not be in the model yet. */
static const lc_sql claims_sql = {"select id from fact_past where tenant_id = $1 and user_id = $2"
                                  " and standing = 'claim' and contests = $3",
                                  "ttt", "t"};
static const lc_sql dependents_sql = {
    "select id from fact_edges where tenant_id = $1 and user_id = $2 and on_id = $3", "ttt", "t"};
static const lc_sql late_sql = {"select id from fact_past where tenant_id = $1 and user_id = $2"
                                " and key = $4 and standing = 'late' and superseded_by = $3",
                                "tttt", "t"};

static loci_status load_referring(lc_fact_withdrawal *w, const lc_sql *sql, const lc_fact *fact,
                                  loci_error *err)
{
    const lc_arg args[] = {LC_T(w->r->tx->tenant_id), LC_T(w->r->tx->user_id), LC_T(fact->id),
                           LC_T(fact->key)};
    lc_str_list ids = {0};
    loci_str list[LC_FACT_REVIEW_MAX / 10];
    size_t count = 0;
    lc_rows rows;
    loci_status status = lc_tx_query(w->r->tx, sql, args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        if (count == sizeof list / sizeof list[0]) {
            status = lc_fail(err, LOCI_ELIMIT,
                             "more than %zu facts refer to %.*s; a rewind cannot take it back",
                             count, LC_STR_ARG(fact->id));
            break;
        }
        list[count] = lc_arena_copy(w->r->arena, lc_rows_str(&rows, 0));
        if (list[count++].ptr == NULL) {
            status = lc_fail_memory(err);
            break;
        }
    }
    lc_rows_end(&rows);
    ids = (lc_str_list){list, count};
    for (size_t i = 0; i < ids.count && status == LOCI_OK; i++) {
        node *ignored;

        status = find_node(w, ids.items[i], &ignored, err);
    }
    return status;
}

/* Lets everything that refers to `n` refer to `own`, or to nothing. */
static loci_status redirect(lc_fact_withdrawal *w, const node *n, const node *own, loci_error *err)
{
    loci_str id = n->fact.id, to = own != NULL ? own->fact.id : LC_STR_NONE;
    loci_status status = load_referring(w, &claims_sql, &n->fact, err);
    bool has_changed;

    if (status == LOCI_OK)
        status = load_referring(w, &dependents_sql, &n->fact, err);
    if (status == LOCI_OK)
        status = load_referring(w, &late_sql, &n->fact, err);
    for (node *each = w->first; each != NULL && status == LOCI_OK; each = each->next) {
        lc_fact *fact = &each->fact;

        if (each->is_withdrawn)
            continue;
        if (lc_str_eq(fact->contests, id)) {
            fact->contests = to;
            each->is_claiming = true;
        }
        if (fact->standing == LC_FACT_IS_LATE && lc_str_eq(fact->superseded_by, id)) {
            fact->superseded_by = to;
            each->is_moved = true;
        }
        status = replace_id(w, &fact->supersedes, id, to, &has_changed, err);
        each->is_relinked |= has_changed;
        if (status == LOCI_OK && fact->standing == LC_FACT_VALID) {
            status = replace_id(w, &fact->depends_on, id, to, &has_changed, err);
            each->is_rebased |= has_changed;
        }
    }
    return status;
}

static loci_status splice(lc_fact_withdrawal *w, node *n, loci_error *err)
{
    node *after;
    loci_status status = free_predecessors(w, n, &n->own, err);

    if (status == LOCI_OK && n->fact.standing == LC_FACT_IS_SUPERSEDED)
        status = find_node(w, n->fact.superseded_by, &after, err);
    return status == LOCI_OK ? redirect(w, n, n->own, err) : status;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static loci_status take_flags(lc_fact_withdrawal *w, const node *n, loci_error *err)
{
    lc_fact_written written;
    lc_event event = {0};
    loci_status status = lc_rewind_load(w->r, n->fact.seq, &event, err);

    if (status == LOCI_OK)
        status = lc_fact_written_decode(&event, w->r->arena, &written, err);
    for (size_t i = 0; status == LOCI_OK && i < written.review.count; i++) {
        flag *f = lc_arena_alloc(w->r->arena, sizeof *f);

        if (f == NULL)
            return lc_fail_memory(err);
        *f = (flag){written.review.items[i], n, w->flags};
        w->flags = f;
    }
    return status;
}

static loci_status take_event(lc_fact_withdrawal *w, const lc_rewind_event *event, loci_error *err)
{
    node *n;
    loci_status status = find_node(w, event->id, &n, err);

    if (status != LOCI_OK || n == NULL || n->is_withdrawn)
        return status;
    n->is_withdrawn = true;
    w->withdrawn[w->withdrawn_count++] = n;
    return take_flags(w, n, err);
}

static loci_status list_item(lc_fact_withdrawal *w, const node *n, const char *action,
                             loci_error *err)
{
    lc_rewind_item item = {.kind = "fact", .action = action, .id = n->fact.id};
    loci_status status = lc_fact_embed_text(w->r->arena, n->fact.key, n->fact.value, &item.text,
                                            err);

    return status == LOCI_OK ? lc_rewind_add(w->r, &item, err) : status;
}

static loci_status list_items(lc_fact_withdrawal *w, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < w->withdrawn_count && status == LOCI_OK; i++)
        status = list_item(w, w->withdrawn[i], "withdrawn", err);
    for (const node *n = w->first; n != NULL && status == LOCI_OK; n = n->next) {
        if (n->is_withdrawn)
            continue;
        if (n->is_moved && n->fact.standing == LC_FACT_VALID)
            status = list_item(w, n, "restored", err);
        else if (n->is_moved || n->is_rebased || n->is_claiming || n->is_relinked)
            status = list_item(w, n, "changed", err);
    }
    return status;
}

loci_status lc_fact_decide_withdraw(lc_rewind *r, lc_fact_withdrawal **out, loci_error *err)
{
    lc_fact_withdrawal *w = lc_arena_zalloc_array(r->arena, 1, sizeof *w);
    loci_status status = LOCI_OK;

    *out = w;
    if (w == NULL)
        return lc_fail_memory(err);
    w->r = r;
    w->end = &w->first;
    lc_map_init(&w->nodes, &r->tx->db->env->heap, LOCI_MEM_REQUESTS);
    w->withdrawn = lc_arena_zalloc_array(r->arena, r->event_count + 1, sizeof(node *));
    if (w->withdrawn == NULL)
        status = lc_fail_memory(err);
    for (size_t i = 0; i < r->event_count && status == LOCI_OK; i++)
        if (r->events[i].type == &lc_fact_written_event)
            status = take_event(w, &r->events[i], err);
    for (size_t i = w->withdrawn_count; i > 0 && status == LOCI_OK; i--)
        status = splice(w, w->withdrawn[i - 1], err);
    if (status == LOCI_OK)
        status = list_items(w, err);
    lc_map_clear(&w->nodes);
    return status;
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* A fact that depends on a fact that has ended anyway stays marked, since that end. */
static void put_flag(lc_rewind_outcome *to, const flag *f)
{
    const node *own = f->by->own;

    if (!lc_rewind_outcome_open(to, "flags", f->id))
        return;
    while (own != NULL && own->is_withdrawn)
        own = own->own;
    lc_jw_member_int(&to->draft.refs, "seq", f->by->fact.seq);
    if (own != NULL && own->fact.standing != LC_FACT_VALID) {
        lc_jw_member_int(&to->draft.refs, "to", own->ended_seq);
        lc_jw_member_time(&to->draft.refs, "at", own->fact.ended_at);
    }
    lc_jw_end(&to->draft.refs);
}

static void put_moved(lc_rewind_outcome *to, const node *n)
{
    lc_json_writer *out = &to->draft.refs;

    if (!lc_rewind_outcome_open(to, "moved", n->fact.id))
        return;
    if (n->fact.standing != LC_FACT_VALID) {
        lc_jw_member_text(out, "standing",
                          n->fact.standing == LC_FACT_IS_RETRACTED ? "retracted"
                          : n->fact.standing == LC_FACT_IS_LATE    ? "late"
                                                                   : "superseded");
        if (n->fact.superseded_by.len > 0)
            lc_jw_member_str(out, "by", n->fact.superseded_by);
        lc_jw_member_time(out, "at", n->fact.ended_at);
        lc_jw_member_int(out, "seq", n->ended_seq);
    }
    lc_jw_end(out);
}

static void put_list(lc_rewind_outcome *to, const char *list, const char *name, const node *n,
                     loci_str json)
{
    if (!lc_rewind_outcome_open(to, list, n->fact.id))
        return;
    if (json.len > 0)
        lc_jw_member_raw(&to->draft.refs, name, json);
    lc_jw_end(&to->draft.refs);
}

loci_status lc_fact_commit_withdraw(lc_tx *tx, lc_fact_withdrawal *w, loci_error *err)
{
    lc_rewind_outcome to = {.r = w->r, .type = &lc_fact_withdrawn_event, .err = err};

    (void)tx;
    for (size_t i = 0; i < w->withdrawn_count; i++)
        if (lc_rewind_outcome_open(&to, "withdrawn", w->withdrawn[i]->fact.id))
            lc_jw_end(&to.draft.refs);
    for (const flag *f = w->flags; f != NULL; f = f->next)
        put_flag(&to, f);
    for (const node *n = w->first; n != NULL; n = n->next)
        if (!n->is_withdrawn && n->is_moved)
            put_moved(&to, n);
    for (const node *n = w->first; n != NULL; n = n->next)
        if (!n->is_withdrawn && n->is_relinked)
            put_list(&to, "relinked", "supersedes", n, n->fact.supersedes);
    for (const node *n = w->first; n != NULL; n = n->next)
        if (!n->is_withdrawn && n->is_rebased)
            put_list(&to, "rebased", "depends_on", n, n->fact.depends_on);
    for (const node *n = w->first; n != NULL; n = n->next) {
        if (!n->is_withdrawn && n->is_claiming &&
            lc_rewind_outcome_open(&to, "claims", n->fact.id)) {
            if (n->fact.contests.len > 0)
                lc_jw_member_str(&to.draft.refs, "contests", n->fact.contests);
            lc_jw_end(&to.draft.refs);
        }
    }
    lc_rewind_outcome_end(&to);
    return to.status;
}

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql unlink_sql = {
    "delete from fact_edges where tenant_id = $1 and user_id = $2 and id = $3", "ttt", NULL};
static const lc_sql drop_flags_sql = {
    "delete from fact_flags where tenant_id = $1 and user_id = $2 and id = $3", "ttt", NULL};
static const lc_sql drop_flag_sql = {
    "delete from fact_flags where tenant_id = $1 and user_id = $2 and id = $3 and seq = $4", "ttti",
    NULL};
static const lc_sql move_flag_sql = {
    "insert into fact_flags (tenant_id, user_id, id, seq, flagged_at, cleared_at)"
    " select tenant_id, user_id, id, $5, $6, cleared_at from fact_flags"
    " where tenant_id = $1 and user_id = $2 and id = $3 and seq = $4"
    " on conflict (tenant_id, user_id, id, seq) do nothing",
    "tttiii", NULL};
static const lc_sql review_sql = {
    "update fact_current set needs_review = (select count(*) from (select 1 as one from fact_flags"
    " where tenant_id = $1 and user_id = $2 and id = $4 and cleared_at is null limit 1) f)"
    " where tenant_id = $1 and user_id = $2 and seq = $3 and id = $4",
    "ttit", NULL};
static const lc_sql link_sql = {
    "insert into fact_edges (tenant_id, user_id, on_id, id, seq) values ($1, $2, $3, $4, $5)"
    " on conflict (tenant_id, user_id, on_id, id) do nothing",
    "tttti", NULL};
static const lc_sql relink_current_sql = {
    "update fact_current set supersedes = $5 where tenant_id = $1 and user_id = $2 and seq = $3"
    " and id = $4",
    "ttitt", NULL};
static const lc_sql relink_past_sql = {
    "update fact_past set supersedes = $5 where tenant_id = $1 and user_id = $2 and seq = $3"
    " and id = $4",
    "ttitt", NULL};
static const lc_sql rebase_sql = {
    "update fact_current set depends_on = $5 where tenant_id = $1 and user_id = $2 and seq = $3"
    " and id = $4",
    "ttitt", NULL};
static const lc_sql claim_sql = {
    "update fact_past set contests = $5 where tenant_id = $1 and user_id = $2 and seq = $3"
    " and id = $4",
    "ttitt", NULL};
static const lc_sql find_past_sql = {
    "select {row} from fact_past where tenant_id = $1 and user_id = $2 and seq = $3 and id = $4",
    "ttit", "", &lc_fact_row};

typedef struct applying {
    lc_tx *tx;
    const lc_event *event;
    loci_str session_id;
    lc_arena *arena;
} applying;

#define ARGS(a, id)                                                                                \
    LC_T((a)->event->tenant_id), LC_T((a)->event->user_id), LC_I(lc_fact_seq_of(id)), LC_T(id)
#define OF_ID(a, id)                                                                               \
    (lc_arg[])                                                                                     \
    {                                                                                              \
        LC_T((a)->event->tenant_id), LC_T((a)->event->user_id), LC_T(id)                           \
    }

/* None, without an id, if it is valid. */
static loci_status find_past(const applying *a, loci_str id, lc_fact *out, loci_error *err)
{
    return lc_fact_find_row(a->tx, &(lc_fact_query){&find_past_sql, (lc_arg[]){ARGS(a, id)}, 1},
                            a->arena, out, err);
}

static loci_status withdraw(const applying *a, loci_str id, const lc_json *entry, loci_error *err)
{
    const lc_withdrawal withdrawal = {lc_fact_seq_of(id), LC_STR("fact"), id, a->session_id};
    lc_fact past = {0};
    loci_status status = lc_tx_exec(a->tx, &unlink_sql, OF_ID(a, id), err);

    (void)entry;
    if (status == LOCI_OK)
        status = lc_tx_exec(a->tx, &drop_flags_sql, OF_ID(a, id), err);
    if (status == LOCI_OK)
        status = lc_tx_exec(a->tx, &lc_fact_remove_sql, (lc_arg[]){ARGS(a, id)}, err);
    if (status == LOCI_OK)
        status = find_past(a, id, &past, err);
    if (status == LOCI_OK && past.id.ptr != NULL)
        status = lc_fact_remove_past(a->tx, a->event, &past, err);
    return status == LOCI_OK ? lc_withdrawal_note(a->tx, a->event, &withdrawal, err) : status;
}

static loci_status drop_flag(const applying *a, loci_str id, const lc_json *entry, loci_error *err)
{
    int64_t to = lc_event_int(entry, "to", 0);
    const lc_arg args[] = {LC_T(a->event->tenant_id),
                           LC_T(a->event->user_id),
                           LC_T(id),
                           LC_I(lc_event_int(entry, "seq", 0)),
                           LC_I(to),
                           LC_I(lc_event_time(entry, "at", 0))};
    loci_status status = to > 0 ? lc_tx_exec(a->tx, &move_flag_sql, args, err) : LOCI_OK;

    if (status == LOCI_OK)
        status = lc_tx_exec(a->tx, &drop_flag_sql, args, err);

    return status == LOCI_OK ? lc_tx_exec(a->tx, &review_sql, (lc_arg[]){ARGS(a, id)}, err)
                             : status;
}

static loci_status link_fact(const applying *a, loci_str id, loci_str depends_on, loci_error *err)
{
    const lc_json *list;
    loci_status status = LOCI_OK;

    if (depends_on.len == 0)
        return LOCI_OK;
    status = lc_json_parse(a->arena, depends_on, 0, &list, err);
    for (const lc_json *each = status == LOCI_OK ? lc_json_first(list) : NULL;
         each != NULL && status == LOCI_OK; each = lc_json_next(each))
        status = lc_tx_exec(a->tx, &link_sql,
                            (lc_arg[]){LC_T(a->event->tenant_id), LC_T(a->event->user_id),
                                       LC_T(lc_json_str(each)), LC_T(id), LC_I(lc_fact_seq_of(id))},
                            err);
    return status;
}

static loci_status put_back(const applying *a, lc_fact *fact, const lc_json *entry, loci_error *err)
{
    loci_str standing = lc_event_str(entry, "standing");
    lc_event end = *a->event;
    loci_status status;

    fact->superseded_by = lc_event_str(entry, "by");
    fact->ended_at = lc_event_time(entry, "at", LC_FACT_NO_TIME);
    end.seq = lc_event_int(entry, "seq", a->event->seq);
    end.recorded_at = fact->ended_at;
    if (standing.len > 0) {
        fact->standing = lc_str_is(standing, "retracted") ? LC_FACT_IS_RETRACTED
                         : lc_str_is(standing, "late")    ? LC_FACT_IS_LATE
                                                          : LC_FACT_IS_SUPERSEDED;
        return lc_fact_put_past(a->tx, &end, fact, err);
    }
    fact->standing = LC_FACT_VALID;
    fact->reason = LC_STR_NONE;
    status = lc_fact_put_current(a->tx, a->event, fact, err);
    if (status == LOCI_OK)
        status = link_fact(a, fact->id, fact->depends_on, err);
    return status == LOCI_OK ? lc_tx_exec(a->tx, &review_sql, (lc_arg[]){ARGS(a, fact->id)}, err)
                             : status;
}

static loci_status move(const applying *a, loci_str id, const lc_json *entry, loci_error *err)
{
    lc_fact fact;
    loci_status status = find_past(a, id, &fact, err);

    if (status != LOCI_OK || fact.id.ptr == NULL || fact.standing == LC_FACT_IS_ERASED)
        return status;
    status = lc_fact_remove_past(a->tx, a->event, &fact, err);
    return status == LOCI_OK ? put_back(a, &fact, entry, err) : status;
}

static loci_status set_list(const applying *a, loci_str id, const lc_json *entry, const char *name,
                            loci_str *out, loci_error *err)
{
    (void)id;
    return lc_event_raw(entry, name, a->arena, out, err);
}

static lc_arg text_or_null(loci_str text)
{
    return text.len > 0 ? LC_T(text) : LC_NULL;
}

static loci_status relink(const applying *a, loci_str id, const lc_json *entry, loci_error *err)
{
    loci_str list = LC_STR_NONE;
    loci_status status = set_list(a, id, entry, "supersedes", &list, err);
    const lc_arg args[] = {ARGS(a, id), text_or_null(list)};

    if (status == LOCI_OK)
        status = lc_tx_exec(a->tx, &relink_current_sql, args, err);
    return status == LOCI_OK ? lc_tx_exec(a->tx, &relink_past_sql, args, err) : status;
}

static loci_status rebase(const applying *a, loci_str id, const lc_json *entry, loci_error *err)
{
    loci_str list = LC_STR_NONE;
    loci_status status = set_list(a, id, entry, "depends_on", &list, err);
    const lc_arg args[] = {ARGS(a, id), text_or_null(list)};

    if (status == LOCI_OK)
        status = lc_tx_exec(a->tx, &rebase_sql, args, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(a->tx, &unlink_sql, OF_ID(a, id), err);
    if (status == LOCI_OK)
        status = link_fact(a, id, list, err);
    return status == LOCI_OK ? lc_fact_unlink_and_flag(a->tx, a->event, (lc_str_list){0},
                                                       (lc_str_list){&id, 1}, err)
                             : status;
}

static loci_status set_contests(const applying *a, loci_str id, const lc_json *entry,
                                loci_error *err)
{
    return lc_tx_exec(a->tx, &claim_sql,
                      (lc_arg[]){ARGS(a, id), text_or_null(lc_event_str(entry, "contests"))}, err);
}

typedef loci_status apply_entry(const applying *a, loci_str id, const lc_json *entry,
                                loci_error *err);

static const struct {
    const char *list;
    apply_entry *apply;
} lists[] = {
    {"withdrawn", withdraw}, {"flags", drop_flag}, {"moved", move},
    {"relinked", relink},    {"rebased", rebase},  {"claims", set_contests},
};

static loci_status apply_lists(applying *a, const lc_json *refs, loci_error *err)
{
    loci_status status = LOCI_OK;

    a->session_id = lc_event_str(refs, "session_id");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const lc_json *list = lc_json_find(refs, lists[i].list, LC_JSON_ARRAY);

        for (const lc_json *entry = list != NULL ? lc_json_first(list) : NULL;
             entry != NULL && status == LOCI_OK; entry = lc_json_next(entry)) {
            loci_str id = lc_event_str(entry, "id");
            lc_arena_mark mark = lc_arena_get_mark(a->arena);

            status = id.len > 0 ? lists[i].apply(a, id, entry, err) : lc_event_fail(a->event, err);
            lc_arena_rewind(a->arena, mark);
        }
    }
    return status;
}

static loci_status apply_withdrawn(lc_tx *tx, const lc_event *event, loci_error *err)
{
    applying a = {.tx = tx, .event = event, .arena = &tx->db->scratch};
    lc_arena_mark mark = lc_arena_get_mark(a.arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, a.arena, &json, err);

    if (status == LOCI_OK)
        status = apply_lists(&a, json.refs, err);
    lc_arena_rewind(a.arena, mark);
    return status;
}

const lc_event_type lc_fact_withdrawn_event = {
    .name = "fact.withdrawn", .version = 1, .apply = apply_withdrawn, .revives = "fact"};
