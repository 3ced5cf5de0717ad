/* fact_room.c - the tables of facts, made from events and from nothing else.
 *
 * A row moves from fact_current to fact_past when its fact ends. fact_edges leads from a valid fact
 * to the facts it depends on; fact_flags remembers when a fact needed a review, for reading the
 * past; fact_counts has the numbers of facts that are not valid.
 *
 * Invariants, checked by verify: a slot without `multi` has one valid fact, apart from those
 * written beside it by callers that do not see it (fact_rights.c); the facts named by
 * superseded_by, by contests, by edges and by flags exist; edges begin at valid facts.
 */
#include "base/str.h"
#include "fact/fact_corpus.h"
#include "fact/fact_row.h"
#include "store/event.h"
#include "store/upkeep.h"

#define FACT_COLUMNS                                                                               \
    LC_COLUMN("id", 't'), LC_COLUMN("seq", 'i'), LC_COLUMN("key", 't'), LC_COLUMN("value", 't'),   \
        LC_COLUMN_OR_NULL("source", 't'), LC_COLUMN("authority", 't'),                             \
        LC_COLUMN("authority_rank", 'i'), LC_COLUMN("trust", 't'), LC_COLUMN("memory_type", 't'),  \
        LC_COLUMN("scope", 't'), LC_COLUMN("scope_id", 't'), LC_COLUMN("persona_id", 't'),         \
        LC_COLUMN("observed_at", 'i'), LC_COLUMN("recorded_at", 'i'),                              \
        LC_COLUMN_OR_NULL("valid_until", 'i'), LC_COLUMN("is_constraint", 'i'),                    \
        LC_COLUMN_OR_NULL("constraint_type", 't'), LC_COLUMN_OR_NULL("min_read", 't'),             \
        LC_COLUMN_OR_NULL("min_read_rank", 'i'), LC_COLUMN_OR_NULL("min_write", 't'),              \
        LC_COLUMN_OR_NULL("min_write_rank", 'i'), LC_COLUMN_OR_NULL("required_permission", 't'),   \
        LC_COLUMN("is_multi", 'i'), LC_COLUMN_OR_NULL("hidden_from", 't'),                         \
        LC_COLUMN("needs_review", 'i'), LC_COLUMN("has_derived", 'i'),                             \
        LC_COLUMN_OR_NULL("supersedes", 't'),                                                      \
    {                                                                                              \
        "depends_on", 't', true                                                                    \
    }

static const lc_column current_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    FACT_COLUMNS,
    LC_COLUMN("place", 'i'),
    {0},
};

/* The key of a fact comes before its place: one look shows where it has facts. Places other than
 * everywhere are few and have an index of their own. */
static const lc_index current_indexes[] = {
    {"place", "tenant_id, user_id, scope, scope_id, key, persona_id, place", "scope <> 'global'",
     false},
    {"seq", "tenant_id, user_id, seq", NULL, false},
    {"doubt", "tenant_id, user_id, seq", "needs_review = 1", false},
    {"beside", "tenant_id, user_id, seq", "hidden_from is not null", false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_current_sql = {
    "delete from fact_current where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table current_table = {
    .name = "fact_current",
    .table_class = LC_TABLE_PROJECTION,
    .columns = current_columns,
    .key = "tenant_id, user_id, key, scope, scope_id, persona_id, place",
    .is_large = true,
    .indexes = current_indexes,
    .forget = &forget_current_sql,
};

static const lc_column past_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    FACT_COLUMNS,
    LC_COLUMN("standing", 't'),
    LC_COLUMN_OR_NULL("superseded_by", 't'),
    LC_COLUMN_OR_NULL("ended_at", 'i'),
    LC_COLUMN_OR_NULL("contests", 't'),
    LC_COLUMN_OR_NULL("reason", 't'),
    LC_COLUMN("ended_seq", 'i'),
    {0},
};

static const lc_index past_indexes[] = {
    {"slot", "tenant_id, user_id, key, scope, scope_id, persona_id, seq", "standing <> 'claim'",
     false},
    {"apart", "tenant_id, user_id, key, scope, scope_id, persona_id, seq", LC_FACT_IS_APART, false},
    {"claim", "tenant_id, user_id, seq", "standing = 'claim'", false},
    {"ended", "tenant_id, user_id, ended_seq", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_past_sql = {
    "delete from fact_past where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table past_table = {
    .name = "fact_past",
    .table_class = LC_TABLE_PROJECTION,
    .columns = past_columns,
    .key = "tenant_id, user_id, seq",
    .is_large = true,
    .indexes = past_indexes,
    .forget = &forget_past_sql,
};

static const lc_column edge_columns[] = {
    LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'), LC_COLUMN("on_id", 't'),
    LC_COLUMN("id", 't'),        LC_COLUMN("seq", 'i'),     {0},
};

static const lc_index edge_indexes[] = {
    {"id", "tenant_id, user_id, id", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_edges_sql = {
    "delete from fact_edges where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table edges_table = {
    .name = "fact_edges",
    .table_class = LC_TABLE_PROJECTION,
    .columns = edge_columns,
    .key = "tenant_id, user_id, on_id, id",
    .indexes = edge_indexes,
    .forget = &forget_edges_sql,
};

static const lc_column flag_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("id", 't'),
    LC_COLUMN("seq", 'i'),
    LC_COLUMN("flagged_at", 'i'),
    LC_COLUMN_OR_NULL("cleared_at", 'i'),
    {0},
};

static const lc_sql forget_flags_sql = {
    "delete from fact_flags where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table flags_table = {
    .name = "fact_flags",
    .table_class = LC_TABLE_PROJECTION,
    .columns = flag_columns,
    .key = "tenant_id, user_id, id, seq",
    .forget = &forget_flags_sql,
};

/* How many rows of fact_past a persona has, by reason, so that a context can say it without reading
 * them. Erased ones are not counted; a row of zeros is deleted, because a replay of tombstones does
 * not make it. */
static const lc_column count_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("persona_id", 't'),
    LC_COLUMN("superseded", 'i'),
    LC_COLUMN("retracted", 'i'),
    LC_COLUMN("claims", 'i'),
    {0},
};

static const lc_sql forget_counts_sql = {
    "delete from fact_counts where tenant_id = $1 and user_id = $2", "tt", NULL};

static const lc_table counts_table = {
    .name = "fact_counts",
    .table_class = LC_TABLE_PROJECTION,
    .columns = count_columns,
    .key = "tenant_id, user_id, persona_id",
    .forget = &forget_counts_sql,
};

/* ---- Applying: rows -------------------------------------------------------------------------- */

static const lc_sql put_current_sql = {
    "insert into fact_current (tenant_id, user_id, place, {row}) values ($1, $2, $3, {values})",
    "tti", NULL, &lc_fact_current_row};

/* The fact of a slot that holds one gives way to the next. */
static const lc_sql replace_current_sql = {
    "update fact_current set {set} where tenant_id = $1 and user_id = $2 and place = $3"
    " and scope = $4 and scope_id = $5 and key = $6 and persona_id = $7",
    "ttitttt", NULL, &lc_fact_current_row};

static const lc_sql put_past_sql = {
    "insert into fact_past (tenant_id, user_id, ended_seq, {row}) values ($1, $2, $3, {values})",
    "tti", NULL, &lc_fact_row};
static const lc_sql remove_past_sql = {"delete from fact_past where tenant_id = $1 and user_id = $2"
                                       " and seq = $3 and id = $4",
                                       "ttit", NULL};

static const lc_sql count_sql = {
    "insert into fact_counts (tenant_id, user_id, persona_id, superseded, retracted, claims)"
    " values ($1, $2, $3, $4, $5, $6) on conflict (tenant_id, user_id, persona_id) do update"
    " set superseded = fact_counts.superseded + excluded.superseded,"
    " retracted = fact_counts.retracted + excluded.retracted,"
    " claims = fact_counts.claims + excluded.claims",
    "tttiii", NULL};
static const lc_sql uncount_sql = {
    "delete from fact_counts where tenant_id = $1 and user_id = $2 and persona_id = $3"
    " and superseded = 0 and retracted = 0 and claims = 0",
    "ttt", NULL};

const lc_sql lc_fact_remove_sql = {"delete from fact_current where tenant_id = $1"
                                   " and user_id = $2 and seq = $3 and id = $4",
                                   "ttit", NULL};

static const lc_sql unlink_sql = {
    "delete from fact_edges where tenant_id = $1 and user_id = $2 and id = $3", "ttt", NULL};

static const lc_sql link_sql = {
    "insert into fact_edges (tenant_id, user_id, on_id, id, seq) values ($1, $2, $3, $4, $5)"
    " on conflict (tenant_id, user_id, on_id, id) do nothing",
    "tttti", NULL};

static const lc_sql derive_sql = {"update fact_current set has_derived = 1"
                                  " where tenant_id = $1 and user_id = $2 and seq = $3 and id = $4",
                                  "ttit", NULL};

static const lc_sql mark_sql = {"update fact_current set needs_review = $5"
                                " where tenant_id = $1 and user_id = $2 and seq = $3 and id = $4",
                                "ttiti", NULL};

static const lc_sql flag_sql = {
    "insert into fact_flags (tenant_id, user_id, id, seq, flagged_at, cleared_at)"
    " values ($1, $2, $3, $4, $5, null)",
    "tttii", NULL};

static const lc_sql clear_flag_sql = {
    "update fact_flags set cleared_at = $4"
    " where tenant_id = $1 and user_id = $2 and id = $3 and cleared_at is null",
    "ttti", NULL};

#define WHOSE(event) LC_T((event)->tenant_id), LC_T((event)->user_id)
#define WHICH(event, id) WHOSE(event), LC_I(lc_fact_seq_of(id)), LC_T(id)

static loci_status put_current(lc_tx *tx, const lc_event *event, const lc_fact *fact,
                               bool takes_over, loci_error *err)
{
    lc_arg args[7 + LC_ROW_COLUMNS_MAX] = {
        WHOSE(event),         LC_I(lc_fact_place(fact)), LC_T(fact->scope),
        LC_T(fact->scope_id), LC_T(fact->key),           LC_T(fact->persona_id),
    };

    lc_row_bind(&lc_fact_current_row, fact, args + (takes_over ? 7 : 3));
    return takes_over ? lc_tx_exec_one(tx, &replace_current_sql, args, err)
                      : lc_tx_exec(tx, &put_current_sql, args, err);
}

/* Adds `by` to the count of facts that are not valid for the reason why this one is not. */
static loci_status count_past(lc_tx *tx, const lc_event *event, const lc_fact *fact, int64_t by,
                              loci_error *err)
{
    bool is_retracted = fact->standing == LC_FACT_IS_RETRACTED;
    bool is_claim = fact->standing == LC_FACT_IS_CLAIM;
    const lc_arg args[] = {WHOSE(event), LC_T_OR_EMPTY(fact->persona_id),
                           LC_I(is_retracted || is_claim ? 0 : by), LC_I(is_retracted ? by : 0),
                           LC_I(is_claim ? by : 0)};
    loci_status status;

    if (fact->standing == LC_FACT_IS_ERASED)
        return LOCI_OK;
    status = lc_tx_exec(tx, &count_sql, args, err);
    return status == LOCI_OK && by < 0 ? lc_tx_exec(tx, &uncount_sql, args, err) : status;
}

loci_status lc_fact_put_past(lc_tx *tx, const lc_event *event, const lc_fact *fact, loci_error *err)
{
    lc_arg args[3 + LC_ROW_COLUMNS_MAX] = {WHOSE(event), LC_I(event->seq)};
    lc_fact past = *fact;
    loci_status status;

    past.needs_review = false;
    past.ended_at = event->recorded_at;
    lc_row_bind(&lc_fact_row, &past, args + 3);
    status = lc_tx_exec(tx, &put_past_sql, args, err);
    return status == LOCI_OK ? count_past(tx, event, fact, 1, err) : status;
}

loci_status lc_fact_remove_past(lc_tx *tx, const lc_event *event, const lc_fact *fact,
                                loci_error *err)
{
    loci_status status = lc_tx_exec(tx, &remove_past_sql, (lc_arg[]){WHICH(event, fact->id)}, err);

    return status == LOCI_OK ? count_past(tx, event, fact, -1, err) : status;
}

loci_status lc_fact_put_current(lc_tx *tx, const lc_event *event, const lc_fact *fact,
                                loci_error *err)
{
    return put_current(tx, event, fact, false, err);
}

/* How a fact ends. */
typedef struct ending {
    lc_fact_standing standing;
    loci_str superseded_by;
    loci_str reason;
} ending;

/* Only the row of the past: what becomes of the other is the caller's business. */
static loci_status keep_past(lc_tx *tx, const lc_event *event, const lc_fact *fact,
                             const ending *how, loci_error *err)
{
    lc_fact ended = *fact;

    ended.standing = how->standing;
    ended.superseded_by = how->superseded_by;
    ended.reason = how->reason;
    return lc_fact_put_past(tx, event, &ended, err);
}

/* Without an id when it is not valid: its event was erased, and so it ended before. */
static loci_status find_valid(lc_tx *tx, const lc_event *event, loci_str id, lc_fact *out,
                              loci_error *err)
{
    return lc_fact_find_row(tx,
                            &(lc_fact_query){&lc_fact_valid_sql, (lc_arg[]){WHICH(event, id)}, 1},
                            &tx->db->scratch, out, err);
}

static loci_status end_fact(lc_tx *tx, const lc_event *event, loci_str id, const ending *how,
                            loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_fact fact;
    loci_status status = find_valid(tx, event, id, &fact, err);

    if (status == LOCI_OK && fact.id.ptr != NULL) {
        status = keep_past(tx, event, &fact, how, err);
        if (status == LOCI_OK)
            status = lc_tx_exec(tx, &lc_fact_remove_sql, (lc_arg[]){WHICH(event, id)}, err);
    }
    lc_arena_rewind(arena, mark);
    return status;
}

static loci_status end_facts(lc_tx *tx, const lc_event *event, lc_str_list ids, const ending *how,
                             loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < ids.count; i++)
        status = end_fact(tx, event, ids.items[i], how, err);
    return status;
}

static loci_status unlink_facts(lc_tx *tx, const lc_event *event, lc_str_list ids, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < ids.count; i++)
        status = lc_tx_exec(tx, &unlink_sql, (lc_arg[]){WHOSE(event), LC_T(ids.items[i])}, err);
    return status;
}

static loci_status flag_facts(lc_tx *tx, const lc_event *event, lc_str_list ids, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < ids.count; i++) {
        status = lc_tx_exec(tx, &mark_sql, (lc_arg[]){WHICH(event, ids.items[i]), LC_I(1)}, err);
        if (status == LOCI_OK)
            status = lc_tx_exec(tx, &flag_sql,
                                (lc_arg[]){WHOSE(event), LC_T(ids.items[i]), LC_I(event->seq),
                                           LC_I(event->recorded_at)},
                                err);
    }
    return status;
}

loci_status lc_fact_unlink_and_flag(lc_tx *tx, const lc_event *event, lc_str_list unlink,
                                    lc_str_list review, loci_error *err)
{
    loci_status status = unlink_facts(tx, event, unlink, err);

    return status == LOCI_OK ? flag_facts(tx, event, review, err) : status;
}

/* As a replay of its tombstone does: the row ends with the event that made it. */
loci_status lc_fact_put_erased(lc_tx *tx, const lc_event *event, const lc_fact *fact,
                               loci_error *err)
{
    const lc_event own = {.tenant_id = event->tenant_id,
                          .user_id = event->user_id,
                          .seq = fact->seq,
                          .recorded_at = fact->recorded_at};

    return lc_fact_put_past(tx, &own, fact, err);
}

/* One that was erased since has no edges, but what it was derived from knows that it was. */
static loci_status link_fact(lc_tx *tx, const lc_event *event, const lc_fact_written *written,
                             loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < written->depends_on.count; i++) {
        loci_str on_id = written->depends_on.items[i];

        if (written->fact.standing == LC_FACT_VALID)
            status = lc_tx_exec(tx, &link_sql,
                                (lc_arg[]){WHOSE(event), LC_T(on_id), LC_T(written->fact.id),
                                           LC_I(written->fact.seq)},
                                err);
        if (status == LOCI_OK)
            status = lc_tx_exec(tx, &derive_sql, (lc_arg[]){WHICH(event, on_id)}, err);
    }
    return status;
}

/* ---- Applying: events ------------------------------------------------------------------------ */

/* Ends the fact of its own slot. `*takes_over`: its row is there to be written over. */
static loci_status end_own(lc_tx *tx, const lc_event *event, const lc_fact_written *written,
                           bool *takes_over, loci_error *err)
{
    const lc_fact *fact = &written->fact;
    const ending how = {.standing = LC_FACT_IS_SUPERSEDED, .superseded_by = fact->id};
    const lc_fact *before = written->replaced;
    lc_fact found;
    loci_status status = LOCI_OK;

    *takes_over = false;
    if (fact->standing != LC_FACT_VALID || lc_fact_place(fact) != 0)
        return end_fact(tx, event, written->replaces, &how, err);
    if (before == NULL) {
        status = find_valid(tx, event, written->replaces, &found, err);
        before = &found;
    }
    if (status != LOCI_OK || before->id.ptr == NULL)
        return status;
    if (lc_fact_place(before) != 0)
        return end_fact(tx, event, before->id, &how, err);
    *takes_over = true;
    return keep_past(tx, event, before, &how, err);
}

static loci_status apply_fact(lc_tx *tx, const lc_event *event, const lc_fact_written *written,
                              loci_error *err)
{
    const lc_fact *fact = &written->fact;
    const ending other = {.standing = LC_FACT_IS_SUPERSEDED, .superseded_by = fact->id};
    bool takes_over = false;
    loci_status status = LOCI_OK;

    if (written->replaces.len > 0)
        status = end_own(tx, event, written, &takes_over, err);
    if (status == LOCI_OK)
        status = end_facts(tx, event, written->supersedes, &other, err);
    if (status == LOCI_OK)
        status = unlink_facts(tx, event, written->unlink, err);
    if (status == LOCI_OK)
        status = fact->standing == LC_FACT_VALID ? put_current(tx, event, fact, takes_over, err)
                                                 : lc_fact_put_past(tx, event, fact, err);
    if (status == LOCI_OK && (fact->standing == LC_FACT_VALID || written->was_valid))
        status = link_fact(tx, event, written, err);
    if (status == LOCI_OK)
        status = flag_facts(tx, event, written->review, err);
    return status;
}

static loci_status apply_written(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_fact_written written;
    loci_status status;

    if (event->decoded != NULL) {
        written = *(const lc_fact_written *)event->decoded;
        written.fact.seq = event->seq;
        written.fact.recorded_at = event->recorded_at;
        return apply_fact(tx, event, &written, err);
    }
    status = lc_fact_written_decode(event, arena, &written, err);
    if (status == LOCI_OK)
        status = apply_fact(tx, event, &written, err);
    lc_arena_rewind(arena, mark);
    return status;
}

static loci_status apply_retracted(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_fact_retracted retracted;
    loci_status status = lc_fact_retracted_decode(event, arena, &retracted, err);
    ending how = {.standing = LC_FACT_IS_RETRACTED};

    if (status == LOCI_OK) {
        how.reason = retracted.reason;
        status = end_facts(tx, event, retracted.ids, &how, err);
    }
    if (status == LOCI_OK)
        status = lc_fact_unlink_and_flag(tx, event, retracted.unlink, retracted.review, err);
    lc_arena_rewind(arena, mark);
    return status;
}

static loci_status apply_reviewed(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);
    loci_str id = status == LOCI_OK ? lc_event_str(json.refs, "id") : LC_STR_NONE;

    if (status == LOCI_OK && id.len == 0)
        status = lc_event_fail(event, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &mark_sql, (lc_arg[]){WHICH(event, id), LC_I(0)}, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &clear_flag_sql,
                            (lc_arg[]){WHOSE(event), LC_T(id), LC_I(event->recorded_at)}, err);
    lc_arena_rewind(arena, mark);
    return status;
}

static loci_status embedded_text(const lc_event *event, lc_arena *arena, loci_str *out,
                                 loci_error *err)
{
    lc_fact_written written;
    loci_status status = lc_fact_written_decode(event, arena, &written, err);

    return status == LOCI_OK
               ? lc_fact_embed_text(arena, written.fact.key, written.fact.value, out, err)
               : status;
}

const lc_event_type lc_fact_written_event = {"fact.written",
                                             2,
                                             lc_fact_written_upcasts,
                                             apply_written,
                                             lc_fact_event_is_restricted,
                                             .hidden_bytes = lc_fact_event_hidden_bytes,
                                             .embedded = embedded_text};
const lc_event_type lc_fact_retracted_event = {"fact.retracted", 1, NULL, apply_retracted,
                                               lc_fact_event_is_restricted};
const lc_event_type lc_fact_reviewed_event = {"fact.reviewed", 1, NULL, apply_reviewed, NULL};

/* ---- Checking -------------------------------------------------------------------------------- */

#define KNOWN                                                                                      \
    "(select id from fact_current where tenant_id = $1 and user_id = $2"                           \
    " union all select id from fact_past where tenant_id = $1 and user_id = $2)"

static const lc_sql lost_successor_sql = {
    "select id from fact_past where tenant_id = $1 and user_id = $2"
    " and superseded_by is not null and superseded_by not in " KNOWN " order by id limit 20",
    "tt", "t"};

static const lc_sql lost_contest_sql = {
    "select id from fact_past where tenant_id = $1 and user_id = $2"
    " and contests is not null and contests not in " KNOWN " order by id limit 20",
    "tt", "t"};

static const lc_sql two_valid_sql = {
    "select min(id) from fact_current where tenant_id = $1 and user_id = $2"
    " and hidden_from is null group by scope, scope_id, key, persona_id"
    " having count(*) > 1 and min(is_multi) = 0"
    " order by 1 limit 20",
    "tt", "t"};

static const lc_sql both_sql = {
    "select c.id from fact_current c join fact_past p on p.tenant_id = c.tenant_id"
    " and p.user_id = c.user_id and p.seq = c.seq where c.tenant_id = $1 and c.user_id = $2"
    " order by c.id limit 20",
    "tt", "t"};

static const lc_sql lost_edge_sql = {
    "select e.id from fact_edges e left join fact_current c on c.tenant_id = e.tenant_id"
    " and c.user_id = e.user_id and c.seq = e.seq where e.tenant_id = $1 and e.user_id = $2"
    " and (c.id is null or e.on_id not in " KNOWN ") order by e.id limit 20",
    "tt", "t"};

static const lc_sql lost_flag_sql = {
    "select id from fact_flags where tenant_id = $1 and user_id = $2 and id not in " KNOWN
    " order by id limit 20",
    "tt", "t"};

static const struct {
    const lc_sql *sql;
    const char *what;
} checks[] = {
    {&lost_successor_sql, "was superseded by a fact that is not there"},
    {&lost_contest_sql, "contests a fact that is not there"},
    {&two_valid_sql, "is not the only valid fact of its slot"},
    {&both_sql, "is valid and past"},
    {&lost_edge_sql, "is not valid or depends on a fact that is not there"},
    {&lost_flag_sql, "needs a review and is not there"},
};

static loci_status check(lc_tx *tx, loci_str tenant_id, loci_str user_id, lc_problems *problems,
                         loci_error *err)
{
    const lc_arg args[] = {LC_T(tenant_id), LC_T(user_id)};
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < sizeof checks / sizeof checks[0]; i++) {
        lc_rows rows;

        status = lc_tx_query(tx, checks[i].sql, args, &rows, err);
        while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
            lc_problems_add(problems, "facts: %.*s %s", LC_STR_ARG(lc_rows_str(&rows, 0)),
                            checks[i].what);
        lc_rows_end(&rows);
    }
    return status;
}

static const lc_table *const tables[] = {&current_table, &past_table,   &edges_table,
                                         &flags_table,   &counts_table, NULL};
static const lc_event_type *const events[] = {&lc_fact_written_event,   &lc_fact_retracted_event,
                                              &lc_fact_reviewed_event,  &lc_fact_forgotten_event,
                                              &lc_fact_withdrawn_event, NULL};

static const lc_setting *const settings[] = {&lc_setting_authority_titles, NULL};

const lc_room lc_fact_room = {.name = "fact",
                              .settings = settings,
                              .tables = tables,
                              .events = events,
                              .check = check,
                              .texts = &lc_fact_source};
