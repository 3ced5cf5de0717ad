/* fact_row.c - see fact_row.h. */
#include "fact/fact_row.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

#define WALK_ARGS_MAX 12

/* ---- The record ------------------------------------------------------------------------------ */

#define STANDINGS "valid|superseded|late|retracted|claim|erased"

#define WRITTEN LC_COL_PAYLOAD                /* By the event, unless it has its default. */
#define CODED (LC_COL_PAYLOAD | LC_COL_CODED) /* By the event, always. */
#define OPTIONAL (LC_COL_NULL | LC_COL_SHOWN)
#define ENDING (LC_COL_NULL | LC_COL_SHOWN | LC_COL_PART)

const lc_column lc_fact_columns[] = {
    LC_STRING_COLUMN(lc_fact, id, "id", LC_COL_REQUIRED, .help = "Id of this version (fact_...)"),
    LC_STRING_COLUMN(lc_fact, key, "key", CODED | LC_COL_REQUIRED, .absent = "",
                     .help = "Key of the fact"),
    LC_ANY_COLUMN(lc_fact, value, "value", CODED | LC_COL_REQUIRED, .help = "Value, any JSON"),
    LC_COMPUTED(LC_TYPE_STRING, lc_fact_shown, status, "status", LC_COL_REQUIRED,
                .choices = "valid|superseded|retracted|expired|claim|erased",
                .help = "Whether it is valid now, or why not"),
    LC_COMPUTED(LC_TYPE_BOOLEAN, lc_fact_shown, is_valid, "is_valid", LC_COL_REQUIRED,
                .help = "True if it is valid and has not expired"),
    LC_STRING_COLUMN(lc_fact, source, "source", WRITTEN | OPTIONAL,
                     .help = "Source of the fact, such as user or hr_system"),
    LC_STRING_COLUMN(lc_fact, authority.name, "authority",
                     WRITTEN | LC_COL_RANKED | LC_COL_REQUIRED, .absent = "",
                     .help = "Authority of the writer at the time of the write"),
    LC_RANK_COLUMN(lc_fact, authority.rank, "authority_rank", 0),
    LC_STRING_COLUMN(lc_fact, trust, "trust", WRITTEN | LC_COL_REQUIRED, .absent = "user",
                     .choices = "user|system|tool|web|model",
                     .help = "Kind of party that made the statement"),
    LC_STRING_COLUMN(lc_fact, memory_type, "memory_type", CODED | LC_COL_REQUIRED, .absent = "user",
                     .choices = "user|capability|organizational", .help = "Kind of knowledge"),
    LC_STRING_COLUMN(lc_fact, scope, "scope", WRITTEN | LC_COL_REQUIRED, .absent = "global",
                     .choices = "global|task|hypothetical|draft|session",
                     .help = "Scope in which it is valid"),
    LC_STRING_COLUMN(lc_fact, scope_id, "scope_id", WRITTEN | LC_COL_SHOWN, .absent = "",
                     .help = "Id of the task, hypothesis, draft or session"),
    LC_STRING_COLUMN(lc_fact, persona_id, "persona_id", WRITTEN | LC_COL_SHOWN, .absent = "",
                     .help = "Persona it belongs to; absent if it belongs to all"),
    LC_TIME_COLUMN(lc_fact, observed_at, "observed_at", CODED | LC_COL_SINCE | LC_COL_REQUIRED,
                   .help = "Time since which it is true"),
    LC_TIME_COLUMN(lc_fact, recorded_at, "recorded_at", LC_COL_EVENT | LC_COL_REQUIRED,
                   .help = "Time at which loci recorded it"),
    LC_TIME_COLUMN(lc_fact, valid_until, "valid_until", WRITTEN | OPTIONAL, .none = LC_FACT_NO_TIME,
                   .help = "Time at which it expires"),
    LC_STRINGS_COLUMN(lc_fact, supersedes, "supersedes", LC_COL_NULL | LC_COL_REQUIRED,
                      .help = "Ids of the versions that it replaced"),
    LC_STRING_COLUMN(lc_fact, superseded_by, "superseded_by", ENDING,
                     .help = "Id of the version that replaced it"),
    LC_STRING_COLUMN(lc_fact, contests, "contests", ENDING,
                     .help = "For a claim: id of the fact it contradicts"),
    LC_COMPUTED(LC_TYPE_BOOLEAN, lc_fact_shown, is_late, "is_late", LC_COL_SHOWN,
                .help = "True if it was already outdated when it was written"),
    LC_STRING_COLUMN(lc_fact, reason, "reason", ENDING, .help = "Reason of the retraction"),
    LC_TIME_COLUMN(lc_fact, ended_at, "ended_at", ENDING, .none = LC_FACT_NO_TIME,
                   .help = "Time at which it was superseded or retracted"),
    LC_STRINGS_COLUMN(lc_fact, depends_on, "depends_on", LC_COL_NULL | LC_COL_REQUIRED,
                      .help = "Ids of the versions it was derived from"),
    LC_COMPUTED(LC_TYPE_STRINGS, lc_fact_shown, derived, "derived_facts", LC_COL_REQUIRED,
                .help = "Ids of the valid facts derived from it"),
    LC_BOOLEAN_COLUMN(lc_fact, needs_review, "needs_review", LC_COL_REQUIRED,
                      .help = "True if a fact it depends on is no longer valid"),
    LC_BOOLEAN_COLUMN(lc_fact, is_constraint, "is_constraint", WRITTEN | LC_COL_REQUIRED,
                      .help = "True for a rule that must be followed"),
    LC_STRING_COLUMN(lc_fact, constraint_type, "constraint_type", WRITTEN | OPTIONAL,
                     .help = "Kind of rule"),
    LC_STRING_COLUMN(lc_fact, min_read.name, "min_read", WRITTEN | LC_COL_RANKED | OPTIONAL,
                     .shown = "min_read_authority",
                     .help = "Minimum authority required to read it"),
    LC_RANK_COLUMN(lc_fact, min_read.rank, "min_read_rank", LC_COL_NULL),
    LC_STRING_COLUMN(lc_fact, min_write.name, "min_write", WRITTEN | LC_COL_RANKED | OPTIONAL,
                     .shown = "min_write_authority",
                     .help = "Minimum authority required to change it; others can only claim"),
    LC_RANK_COLUMN(lc_fact, min_write.rank, "min_write_rank", LC_COL_NULL),
    LC_STRING_COLUMN(lc_fact, required_permission, "required_permission", WRITTEN | OPTIONAL,
                     .help = "Permission required to read it"),
    LC_BOOLEAN_COLUMN(lc_fact, is_multi, "is_multi", WRITTEN | LC_COL_SHOWN, .json = "multi",
                      .help = "True if the key can have several facts"),
    LC_STRINGS_COLUMN(lc_fact, hidden_from, "hidden_from", WRITTEN | LC_COL_NULL | LC_COL_LAST),
    LC_INTEGER_COLUMN(lc_fact, seq, "seq", LC_COL_EVENT | LC_COL_REQUIRED,
                      .help = "Number of the event that wrote it"),
    LC_BOOLEAN_COLUMN(lc_fact, has_derived, "has_derived", 0),
    LC_ENUM_COLUMN(lc_fact, standing, "standing", LC_COL_PART, .choices = STANDINGS),
    {0},
};

const lc_row_type lc_fact_row = {lc_fact_columns, 0, sizeof(lc_fact)};
const lc_row_type lc_fact_current_row = {lc_fact_columns, LC_COL_PART, sizeof(lc_fact)};

bool lc_fact_keep(lc_arena *arena, lc_fact *fact)
{
    return lc_row_keep(&lc_fact_row, arena, fact);
}

/* ---- Answers --------------------------------------------------------------------------------- */

const char *lc_fact_status(const lc_fact *fact, int64_t now_us)
{
    switch (fact->standing) {
    case LC_FACT_VALID:
        return lc_fact_is_expired(fact, now_us) ? "expired" : "valid";
    case LC_FACT_IS_RETRACTED:
        return "retracted";
    case LC_FACT_IS_CLAIM:
        return "claim";
    case LC_FACT_IS_ERASED:
        return "erased";
    default: /* A late one was superseded before it was written. */
        return "superseded";
    }
}

void lc_fact_put(lc_json_writer *out, const lc_fact *fact, const lc_fact_about *about,
                 int64_t now_us)
{
    lc_fact_shown shown = {
        .fact = *fact,
        .status = loci_str_of(lc_fact_status(fact, now_us)),
        .is_valid = fact->standing == LC_FACT_VALID && !lc_fact_is_expired(fact, now_us),
        .is_late = fact->standing == LC_FACT_IS_LATE,
        .derived = about->derived,
    };

    if (fact->standing != LC_FACT_IS_SUPERSEDED && fact->standing != LC_FACT_IS_RETRACTED)
        shown.fact.ended_at = LC_FACT_NO_TIME; /* It never was valid: nothing ended. */
    lc_jw_object(out);
    lc_row_put(&lc_fact_row, &shown, out);
    if (about->client.len > 0)
        lc_jw_member_raw(out, "client", about->client);
    lc_jw_end(out);
}

void lc_fact_put_ended(lc_json_writer *out, const lc_fact *fact, int64_t now_us)
{
    bool is_expired = fact->standing == LC_FACT_VALID;

    LC_ASSERT(!is_expired || lc_fact_is_expired(fact, now_us));
    lc_jw_object(out);
    lc_jw_member_str(out, "key", fact->key);
    lc_jw_member_text(out, "status", lc_fact_status(fact, now_us));
    lc_jw_member_bool(out, "is_valid", false);
    if (fact->superseded_by.ptr != NULL)
        lc_jw_member_str(out, "superseded_by", fact->superseded_by);
    lc_jw_name(out, "ended_at");
    lc_jw_time(out, is_expired ? fact->valid_until : fact->ended_at);
    lc_jw_end(out);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

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
    lc_fact fact;
    loci_status status = lc_tx_query(tx, query->sql, query->args, &rows, err);

    *out = NULL;
    for (; count <= query->max && lc_row_next(&rows, &fact, &status, err); count++)
        status = lc_fact_list_add(&end, &fact, arena, err);
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
    lc_fact last;     /* The last row; only its position is kept, in `arena`. */
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
                        .is_multi = lc_fact_place(fact) != 0};
    return j->last.key.ptr != NULL && j->last.id.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status visit_page(lc_tx *tx, journey *j, loci_error *err)
{
    int64_t count = 0;
    lc_rows rows;
    lc_fact fact;
    loci_status status;

    j->is_over = true;
    j->args[j->arg_count - 1] = LC_I(j->limit);
    status = lc_tx_query(tx, j->walk->sql, j->args, &rows, err);
    while (lc_row_next(&rows, &fact, &status, err)) {
        if (++count == j->limit)
            status = keep_last(j, &fact, err);
        if (status == LOCI_OK)
            status = j->visit(j->ctx, &rows, &fact, err);
    }
    lc_rows_end(&rows);
    return status;
}

/* The next page begins behind the last row of this one and is longer: a caller that needs more rows
 * may be skipping many. */
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
    bool found;

    *out = (lc_fact){0};
    return lc_row_find(tx, &(lc_query){query->sql, query->args}, arena, out, &found, err);
}

/* ---- Slots and ids --------------------------------------------------------------------------- */

static const lc_sql slot_sql = {"select {row} from fact_current" LC_FACT_IN_KEY
                                " and persona_id = $6 order by place",
                                "tttttt", "", &lc_fact_current_row};

#define LAST                                                                                       \
    "select {row} from fact_past" LC_FACT_IN_KEY                                                   \
    " and persona_id = $6 and standing in ('superseded', 'retracted') and standing <> 'claim'"

static const lc_sql last_sql = {LAST " and hidden_from is null order by seq desc limit 1", "tttttt",
                                "", &lc_fact_row};
static const lc_sql last_beside_sql = {LAST LC_FACT_APART
                                       " and hidden_from is not null order by seq desc limit 1",
                                       "tttttt", "", &lc_fact_row};

const lc_sql lc_fact_valid_sql = {
    "select {row} from fact_current where tenant_id = $1 and user_id = $2 and seq = $3"
    " and id = $4",
    "ttit", "", &lc_fact_current_row};

static const lc_sql past_id_sql = {
    "select {row} from fact_past where tenant_id = $1 and user_id = $2 and seq = $3"
    " and id = $4 and standing <> 'erased'",
    "ttit", "", &lc_fact_row};

#define SLOT_ARGS(tx, slot)                                                                        \
    (lc_arg[])                                                                                     \
    {                                                                                              \
        LC_T((tx)->tenant_id), LC_T((tx)->user_id), LC_T((slot)->scope), LC_T((slot)->scope_id),   \
            LC_T((slot)->key), LC_T((slot)->persona_id)                                            \
    }

loci_status lc_fact_load_slot(lc_tx *tx, const lc_fact_slot *slot, lc_arena *arena,
                              lc_fact_node **out, loci_error *err)
{
    *out = NULL;
    return lc_fact_load_list(
        tx, &(lc_fact_query){&slot_sql, SLOT_ARGS(tx, slot), LC_FACT_MULTI_MAX}, arena, out, err);
}

loci_status lc_fact_find_last(lc_tx *tx, const lc_fact_slot *slot, bool is_beside, lc_arena *arena,
                              lc_fact *out, loci_error *err)
{
    const lc_sql *sql = is_beside ? &last_beside_sql : &last_sql;

    return lc_fact_find_row(tx, &(lc_fact_query){sql, SLOT_ARGS(tx, slot), 1}, arena, out, err);
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
static loci_status follow(lc_tx *tx, lc_fact *fact, const lc_fact_access *access, lc_arena *arena,
                          loci_error *err)
{
    loci_str next_id = fact->superseded_by;
    loci_str persona_id = fact->persona_id;
    const lc_fact *readable;
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
        return lc_fact_find_last(tx, &slot, false, arena, fact, err);
    readable = lc_fact_first_readable(heads, access);
    *fact = readable != NULL ? *readable : heads->fact;
    return LOCI_OK;
}

loci_status lc_fact_find_end(lc_tx *tx, const lc_fact *last, const lc_fact_access *access,
                             lc_arena *arena, lc_fact *out, loci_error *err)
{
    *out = *last;
    for (int steps = 0; steps < LC_FACT_CHAIN_MAX; steps++) {
        loci_status status = follow(tx, out, access, arena, err);

        if (status != LOCI_OK || out->id.ptr == NULL || out->standing == LC_FACT_VALID)
            return status;
    }
    return lc_fail(err, LOCI_ECORRUPT, "the chain behind fact %.*s does not end",
                   LC_STR_ARG(last->id));
}

/* ---- Small things ---------------------------------------------------------------------------- */

loci_status lc_fact_fail_head(loci_error *err, loci_str named, const lc_fact *head,
                              const lc_fact_access *access)
{
    char data[LC_ID_TEXT_BYTES + 16];

    if (head == NULL || head->id.len == 0 || !lc_fact_may_read(head, access)) {
        (void)lc_fail(err, LOCI_ECONFLICT, "%.*s is not valid any more", LC_STR_ARG(named));
        lc_error_set_data(err, LC_STR("{\"head\":null}"));
        return LOCI_ECONFLICT;
    }
    (void)lc_fail(err, LOCI_ECONFLICT, "%.*s was superseded; the current fact is %.*s",
                  LC_STR_ARG(named), LC_STR_ARG(head->id));
    (void)snprintf(data, sizeof data, "{\"head\":\"%.*s\"}",
                   LC_STR_ARG(head->id)); /* An id fits. */
    lc_error_set_data(err, loci_str_of(data));
    return LOCI_ECONFLICT;
}

loci_status lc_fact_fail_absent(loci_error *err, loci_str named)
{
    return lc_fail(err, LOCI_ENOTFOUND, "there is no fact \"%.*s\"", LC_STR_ARG(named));
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
