/* fact_recent.c - see fact_recent.h. */
#include "fact/fact_recent.h"

#include "base/error.h"
#include "base/str.h"
#include "fact/fact_row.h"

#define WRITTEN_AFTER                                                                              \
    "select {row} from fact_current where tenant_id = $1 and user_id = $2 and seq > $3"
#define ENDED_AFTER                                                                                \
    "select {row} from fact_past where tenant_id = $1 and user_id = $2 and ended_seq > $3"
#define ENDED " and standing in ('superseded', 'retracted')"
#define ENDED_OR_CLAIMED " and standing in ('superseded', 'retracted', 'claim')"
#define OF_PERSONA " and persona_id in ('', $5) order by ended_seq desc limit $4"

static const lc_sql recent_sql = {WRITTEN_AFTER
                                  " and persona_id in ('', $5) order by seq desc limit $4",
                                  "ttiit", "", &lc_fact_current_row};
static const lc_sql ended_sql = {ENDED_AFTER ENDED OF_PERSONA, "ttiit", "", &lc_fact_row};
static const lc_sql ended_or_claimed_sql = {ENDED_AFTER ENDED_OR_CLAIMED OF_PERSONA, "ttiit", "",
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

static loci_status walk(lc_tx *tx, const lc_sql *sql, const lc_fact_recent *recent,
                        lc_fact_visit *visit, void *ctx, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(recent->after_seq),
                     LC_I(recent->limit), LC_T(lc_fact_or_empty(recent->persona_id))};

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
                     LC_T(lc_fact_or_empty(prefix->persona_id)),
                     LC_I(prefix->limit)};

    return end.ptr != NULL ? visit_all(tx, &prefix_sql, args, visit, ctx, err)
                           : lc_fail_memory(err);
}

loci_status lc_fact_each_recent(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                                void *ctx, loci_error *err)
{
    return walk(tx, &recent_sql, recent, visit, ctx, err);
}

loci_status lc_fact_each_ended(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                               void *ctx, loci_error *err)
{
    return walk(tx, recent->has_claims ? &ended_or_claimed_sql : &ended_sql, recent, visit, ctx,
                err);
}

loci_status lc_fact_each_in_doubt(lc_tx *tx, lc_fact_visit *visit, void *ctx, loci_error *err)
{
    return walk(tx, &doubt_sql, &(lc_fact_recent){.after_seq = -1, .limit = LC_FACT_REVIEW_MAX},
                visit, ctx, err);
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
