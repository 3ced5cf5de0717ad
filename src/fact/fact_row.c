/* fact_row.c - see fact_row.h. */
#include "fact/fact_row.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

#define WALK_ARGS_MAX 12

static const char *const standings[] = {"valid",     "superseded", "late",
                                        "retracted", "claim",      "erased"};

static lc_fact_standing standing_of(loci_str name)
{
    int standing = LC_FACT_IS_ERASED;

    while (standing > LC_FACT_VALID && !lc_str_is(name, standings[standing]))
        standing--;
    return (lc_fact_standing)standing;
}

const char *lc_fact_standing_name(lc_fact_standing standing)
{
    return standings[standing];
}

const char *lc_fact_status(const lc_fact *fact, int64_t now_us)
{
    if (fact->standing == LC_FACT_IS_LATE)
        return "superseded";
    if (fact->standing == LC_FACT_VALID && lc_fact_is_expired(fact, now_us))
        return "expired";
    return standings[fact->standing];
}

static void add_tail(const lc_rows *r, lc_fact *fact)
{
    const int tail = LC_FACT_COLUMN_COUNT;

    fact->standing = standing_of(lc_rows_str(r, tail));
    fact->superseded_by = lc_rows_str(r, tail + 1);
    if (!lc_rows_is_null(r, tail + 2))
        fact->ended_at = lc_rows_i64(r, tail + 2);
    fact->contests = lc_rows_str(r, tail + 3);
    fact->reason = lc_rows_str(r, tail + 4);
}

lc_fact lc_fact_from_row(const lc_rows *r)
{
    lc_fact fact = {
        .id = lc_rows_str(r, 0),
        .seq = lc_rows_i64(r, 1),
        .key = lc_rows_str(r, 2),
        .value = lc_rows_str(r, 3),
        .source = lc_rows_str(r, 4),
        .authority = {lc_rows_str(r, 5), (int)lc_rows_i64(r, 6)},
        .trust = lc_rows_str(r, 7),
        .memory_type = lc_rows_str(r, 8),
        .scope = lc_rows_str(r, 9),
        .scope_id = lc_rows_str(r, 10),
        .persona_id = lc_rows_str(r, 11),
        .observed_at = lc_rows_i64(r, 12),
        .recorded_at = lc_rows_i64(r, 13),
        .valid_until = lc_rows_is_null(r, 14) ? LC_FACT_NO_TIME : lc_rows_i64(r, 14),
        .is_constraint = lc_rows_i64(r, 15) == 1,
        .constraint_type = lc_rows_str(r, 16),
        .min_read = {lc_rows_str(r, 17), (int)lc_rows_i64(r, 18)},
        .min_write = {lc_rows_str(r, 19), (int)lc_rows_i64(r, 20)},
        .required_permission = lc_rows_str(r, 21),
        .is_multi = lc_rows_i64(r, 22) == 1,
        .needs_review = lc_rows_i64(r, 23) == 1,
        .has_derived = lc_rows_i64(r, 24) == 1,
        .supersedes = lc_rows_str(r, 25),
        .depends_on = lc_rows_str(r, 26),
        .standing = LC_FACT_VALID,
        .ended_at = LC_FACT_NO_TIME,
    };

    if (r->column_count == LC_FACT_ROW_COLUMN_COUNT)
        add_tail(r, &fact);
    return fact;
}

/* All texts of a fact, for what is done to each of them. */
#define TEXTS 19

static void list_texts(lc_fact *fact, loci_str *out[TEXTS])
{
    loci_str *const texts[TEXTS] = {
        &fact->id,
        &fact->key,
        &fact->value,
        &fact->source,
        &fact->authority.name,
        &fact->trust,
        &fact->memory_type,
        &fact->scope,
        &fact->scope_id,
        &fact->persona_id,
        &fact->constraint_type,
        &fact->min_read.name,
        &fact->min_write.name,
        &fact->required_permission,
        &fact->supersedes,
        &fact->depends_on,
        &fact->superseded_by,
        &fact->contests,
        &fact->reason,
    };

    memcpy(out, texts, sizeof texts);
}

/* One more than they have: an empty text is not none. */
static size_t text_bytes(loci_str *const texts[TEXTS])
{
    size_t bytes = 1;

    for (size_t i = 0; i < TEXTS; i++)
        bytes += texts[i]->len;
    return bytes;
}

static void move_texts(loci_str *const texts[TEXTS], char *to)
{
    for (size_t i = 0; i < TEXTS; i++) {
        if (texts[i]->ptr == NULL)
            continue;
        memcpy(to, texts[i]->ptr, texts[i]->len);
        texts[i]->ptr = to;
        to += texts[i]->len;
    }
}

/* One piece of memory for all texts. */
bool lc_fact_keep(lc_arena *arena, lc_fact *fact)
{
    loci_str *texts[TEXTS];
    char *to;

    list_texts(fact, texts);
    to = lc_arena_alloc(arena, text_bytes(texts));
    if (to == NULL)
        return false;
    move_texts(texts, to);
    return true;
}

loci_status lc_fact_list_add(lc_fact_node ***end, const lc_fact *fact, lc_arena *arena,
                             loci_error *err)
{
    lc_fact_node *node = lc_arena_alloc(arena, sizeof *node);

    if (node == NULL)
        return lc_fail_memory(err);
    *node = (lc_fact_node){.fact = *fact};
    if (!lc_fact_keep(arena, &node->fact))
        return lc_fail_memory(err);
    **end = node;
    *end = &node->next;
    return LOCI_OK;
}

loci_status lc_fact_load_list(lc_tx *tx, const lc_fact_query *query, lc_arena *arena,
                              lc_fact_node **out, loci_error *err)
{
    lc_fact_node **end = out;
    size_t count = 0;
    lc_rows rows;
    loci_status status = lc_tx_query(tx, query->sql, query->args, &rows, err);

    *out = NULL;
    if (status != LOCI_OK)
        return status;
    while (count <= query->max && lc_rows_next(&rows, &status, err)) {
        lc_fact fact = lc_fact_from_row(&rows);

        status = lc_fact_list_add(&end, &fact, arena, err);
        if (status != LOCI_OK)
            break;
        count++;
    }
    lc_rows_end(&rows);
    return status;
}

/* ---- Walks ----------------------------------------------------------------------------------- */

/* A walk under way. */
typedef struct journey {
    const lc_fact_walk *walk;
    lc_arg args[WALK_ARGS_MAX];
    size_t arg_count; /* The limit included, which is the last. */
    int64_t limit;    /* Rows of this page. */
    bool is_over;     /* There is nothing behind them. */
    lc_fact last;     /* Of them; only where it stands is kept, in `arena`. */
    lc_arena arena;
    lc_fact_row_visit *visit;
    void *ctx;
} journey;

static loci_status keep_last(journey *j, const lc_fact *fact, loci_error *err)
{
    j->is_over = false;
    j->last = (lc_fact){.key = lc_arena_copy(&j->arena, fact->key),
                        .id = lc_arena_copy(&j->arena, fact->id),
                        .seq = fact->seq,
                        .is_multi = fact->is_multi};
    return j->last.key.ptr != NULL && j->last.id.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status visit_page(lc_tx *tx, journey *j, loci_error *err)
{
    int64_t count = 0;
    lc_rows rows;
    loci_status status;

    j->is_over = true;
    j->args[j->arg_count - 1] = LC_I(j->limit);
    status = lc_tx_query(tx, j->walk->sql, j->args, &rows, err);
    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_fact fact = lc_fact_from_row(&rows);

        if (++count == j->limit)
            status = keep_last(j, &fact, err);
        if (status == LOCI_OK)
            status = j->visit(j->ctx, &rows, &fact, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

/* The next page begins behind the last row of this one and is longer: whoever wants it may be
 * passing over many. */
static void turn_page(journey *j)
{
    lc_arg *behind = &j->args[j->arg_count - (j->walk->order == LC_FACT_BY_SEQ ? 2 : 3)];

    if (j->walk->order == LC_FACT_BY_SEQ) {
        behind[0] = LC_I(j->last.seq);
    } else {
        behind[0] = LC_T(j->last.key);
        behind[1] = j->walk->order == LC_FACT_BY_ID ? LC_T(j->last.id)
                                                    : LC_I(j->last.is_multi ? j->last.seq : 0);
    }
    if (j->limit < LC_PAGE_ROWS_MAX)
        j->limit *= 2;
}

loci_status lc_fact_each_row(lc_tx *tx, const lc_fact_walk *walk, const lc_arg *args,
                             lc_fact_row_visit *visit, void *ctx, loci_error *err)
{
    journey j = {.walk = walk,
                 .arg_count = strlen(walk->sql->params),
                 .limit = walk->limit,
                 .visit = visit,
                 .ctx = ctx};
    loci_status status;

    LC_ASSERT(j.limit > 0);
    LC_ASSERT(j.arg_count <= WALK_ARGS_MAX);
    memcpy(j.args, args, (j.arg_count - 1) * sizeof *args);
    lc_arena_init(&j.arena, &tx->db->env->heap, LOCI_MEM_REQUESTS);
    status = visit_page(tx, &j, err);
    while (status == LOCI_OK && !j.is_over) {
        turn_page(&j);
        status = visit_page(tx, &j, err);
    }
    lc_arena_clear(&j.arena);
    return status == LOCI_ECANCELLED ? LOCI_OK : status;
}

/* ---- Single rows ----------------------------------------------------------------------------- */

loci_status lc_fact_find_row(lc_tx *tx, const lc_fact_query *query, lc_arena *arena, lc_fact *out,
                             loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, query->sql, query->args, &rows, &found, err);

    *out = (lc_fact){0};
    if (status != LOCI_OK || !found)
        return status;
    *out = lc_fact_from_row(&rows);
    if (!lc_fact_keep(arena, out))
        status = lc_fail_memory(err);
    lc_rows_end(&rows);
    return status;
}

/* ---- Slots and ids --------------------------------------------------------------------------- */

static const lc_sql slot_sql = {"select " LC_FACT_OF_CURRENT LC_FACT_IN_KEY
                                " and persona_id = $6 order by place",
                                "tttttt", LC_FACT_KINDS};

static const lc_sql last_sql = {
    "select " LC_FACT_OF_PAST LC_FACT_IN_KEY " and persona_id = $6"
    " and standing in ('superseded', 'retracted') and standing <> 'claim'"
    " order by seq desc limit 1",
    "tttttt", LC_FACT_ROW_KINDS};

const lc_sql lc_fact_valid_sql = {"select " LC_FACT_OF_CURRENT
                                  " where tenant_id = $1 and user_id = $2 and seq = $3"
                                  " and id = $4",
                                  "ttit", LC_FACT_KINDS};

static const lc_sql past_id_sql = {"select " LC_FACT_OF_PAST
                                   " where tenant_id = $1 and user_id = $2 and seq = $3"
                                   " and id = $4 and standing <> 'erased'",
                                   "ttit", LC_FACT_ROW_KINDS};

#define SLOT_ARGS(tx, slot)                                                                        \
    (lc_arg[])                                                                                     \
    {                                                                                              \
        LC_T((tx)->tenant_id), LC_T((tx)->user_id), LC_T((slot)->scope), LC_T((slot)->scope_id),   \
            LC_T((slot)->key), LC_T((slot)->persona_id)                                            \
    }

bool lc_fact_slot_is(const lc_fact_slot *a, const lc_fact_slot *b)
{
    return lc_str_eq(a->key, b->key) && lc_str_eq(a->scope, b->scope) &&
           lc_str_eq(a->scope_id, b->scope_id) && lc_str_eq(a->persona_id, b->persona_id);
}

loci_status lc_fact_load_slot(lc_tx *tx, const lc_fact_slot *slot, lc_arena *arena,
                              lc_fact_node **out, loci_error *err)
{
    *out = NULL;
    return lc_fact_load_list(
        tx, &(lc_fact_query){&slot_sql, SLOT_ARGS(tx, slot), LC_FACT_MULTI_MAX}, arena, out, err);
}

loci_status lc_fact_find_last(lc_tx *tx, const lc_fact_slot *slot, lc_arena *arena, lc_fact *out,
                              loci_error *err)
{
    return lc_fact_find_row(tx, &(lc_fact_query){&last_sql, SLOT_ARGS(tx, slot), 1}, arena, out,
                            err);
}

static loci_status find_id(lc_tx *tx, const lc_sql *sql, loci_str id, lc_arena *arena, lc_fact *out,
                           loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(lc_fact_seq_of(id)),
                           LC_T(id)};

    return lc_fact_find_row(tx, &(lc_fact_query){sql, args, 1}, arena, out, err);
}

loci_status lc_fact_find_id(lc_tx *tx, loci_str persona_id, loci_str id, lc_arena *arena,
                            lc_fact *out, loci_error *err)
{
    loci_status status = find_id(tx, &lc_fact_valid_sql, id, arena, out, err);

    if (status == LOCI_OK && out->id.ptr == NULL)
        status = find_id(tx, &past_id_sql, id, arena, out, err);
    if (status == LOCI_OK && out->persona_id.len > 0 && !lc_str_eq(out->persona_id, persona_id))
        *out = (lc_fact){0};
    return status;
}

/* One step along a chain: from the last fact of a slot to the head of the slot that took over, or
 * to the last fact there; none when the chain ends without a head. */
static loci_status follow(lc_tx *tx, lc_fact *fact, lc_arena *arena, loci_error *err)
{
    loci_str next_id = fact->superseded_by;
    loci_str persona_id = fact->persona_id;
    lc_fact_node *heads;
    lc_fact_slot slot;
    loci_status status;

    if (fact->standing != LC_FACT_IS_SUPERSEDED) { /* Taken back. */
        *fact = (lc_fact){0};
        return LOCI_OK;
    }
    status = lc_fact_find_id(tx, persona_id, next_id, arena, fact, err);
    if (status != LOCI_OK || fact->id.ptr == NULL) /* Erased. */
        return status;
    slot = lc_fact_slot_of(fact);
    status = lc_fact_load_slot(tx, &slot, arena, &heads, err);
    if (status != LOCI_OK)
        return status;
    if (heads == NULL)
        return lc_fact_find_last(tx, &slot, arena, fact, err);
    *fact = heads->fact;
    return LOCI_OK;
}

loci_status lc_fact_find_end(lc_tx *tx, const lc_fact *last, lc_arena *arena, lc_fact *out,
                             loci_error *err)
{
    *out = *last;
    for (int steps = 0; steps < LC_FACT_CHAIN_MAX; steps++) {
        loci_status status = follow(tx, out, arena, err);

        if (status != LOCI_OK || out->id.ptr == NULL || out->standing == LC_FACT_VALID)
            return status;
    }
    return lc_fail(err, LOCI_ECORRUPT, "the chain behind fact %.*s does not end",
                   LC_STR_ARG(last->id));
}

/* ---- Small things ---------------------------------------------------------------------------- */

loci_status lc_fact_fail_head(loci_error *err, loci_str named, loci_str head)
{
    char data[LC_ID_TEXT_BYTES + 16];

    if (head.len == 0) {
        (void)lc_fail(err, LOCI_ECONFLICT, "%.*s is not valid any more", LC_STR_ARG(named));
        lc_error_set_data(err, LC_STR("{\"head\":null}"));
        return LOCI_ECONFLICT;
    }
    (void)lc_fail(err, LOCI_ECONFLICT, "%.*s was superseded; what stands is %.*s",
                  LC_STR_ARG(named), LC_STR_ARG(head));
    (void)snprintf(data, sizeof data, "{\"head\":\"%.*s\"}", LC_STR_ARG(head)); /* An id fits. */
    lc_error_set_data(err, loci_str_of(data));
    return LOCI_ECONFLICT;
}

loci_status lc_fact_fail_absent(loci_error *err, loci_str named)
{
    return lc_fail(err, LOCI_ENOTFOUND, "no fact %.*s", LC_STR_ARG(named));
}

/* Ids have no characters that JSON would escape. */
loci_str lc_fact_list_text(lc_arena *arena, loci_str first, lc_str_list rest)
{
    size_t bytes = 2 + (first.len > 0 ? first.len + 3 : 0);
    char *text, *at;

    if (first.len == 0 && rest.count == 0)
        return LC_STR_NONE;
    for (size_t i = 0; i < rest.count; i++)
        bytes += rest.items[i].len + 3;
    text = at = lc_arena_alloc(arena, bytes);
    if (text == NULL)
        return LC_STR_NONE;
    *at++ = '[';
    for (size_t i = 0; i <= rest.count; i++) {
        loci_str id = i == 0 ? first : rest.items[i - 1];

        if (id.len == 0)
            continue;
        if (at[-1] != '[')
            *at++ = ',';
        *at++ = '"';
        memcpy(at, id.ptr, id.len);
        at += id.len;
        *at++ = '"';
    }
    *at++ = ']';
    return (loci_str){text, (size_t)(at - text)};
}
