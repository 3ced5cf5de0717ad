/* fact_recent.c - the facts that changed last: what a conversation is likely to be about.
 *
 * Both walks are bounded by their limit and by an index, whatever else the user has. */
#include "base/str.h"
#include "fact/fact_row.h"

static const lc_sql recent_sql = {"select " LC_FACT_OF_CURRENT
                                  " where tenant_id = $1 and user_id = $2"
                                  " and persona_id in ('', $3) order by seq desc limit $4",
                                  "ttti", LC_FACT_ROW_KINDS};

static const lc_sql ended_sql = {
    "select " LC_FACT_OF_PAST " where tenant_id = $1 and user_id = $2"
    " and standing in ('superseded', 'retracted') and ended_at >= $3 and persona_id in ('', $4)"
    " order by ended_at desc limit $5",
    "ttiti", LC_FACT_ROW_KINDS};

static const lc_sql count_sql = {"select standing, count(*) from fact_past where tenant_id = $1"
                                 " and user_id = $2 and persona_id in ('', $3) group by standing",
                                 "ttt", "ti"};

static loci_status walk(lc_tx *tx, const lc_fact_query *query, lc_fact_visit *visit, void *ctx,
                        loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(tx, query->sql, query->args, &rows, err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_fact fact = lc_fact_from_row(&rows);

        status = visit(ctx, &fact, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}

loci_status lc_fact_each_recent(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                                void *ctx, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id),
                     LC_T(lc_fact_or_empty(recent->persona_id)), LC_I(recent->limit)};

    return walk(tx, &(lc_fact_query){&recent_sql, args, 0}, visit, ctx, err);
}

loci_status lc_fact_each_ended(lc_tx *tx, const lc_fact_recent *recent, lc_fact_visit *visit,
                               void *ctx, loci_error *err)
{
    lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(recent->since_us),
                     LC_T(lc_fact_or_empty(recent->persona_id)), LC_I(recent->limit)};

    return walk(tx, &(lc_fact_query){&ended_sql, args, 0}, visit, ctx, err);
}

loci_status lc_fact_count_past(lc_tx *tx, loci_str persona_id, lc_fact_counts *out, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &count_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(lc_fact_or_empty(persona_id))},
        &rows, err);

    memset(out, 0, sizeof *out);
    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        loci_str standing = lc_rows_str(&rows, 0);
        int64_t count = lc_rows_i64(&rows, 1);

        if (lc_str_is(standing, "retracted"))
            out->retracted += count;
        else if (lc_str_is(standing, "claim"))
            out->claims += count;
        else if (!lc_str_is(standing, "erased"))
            out->superseded += count;
    }
    lc_rows_end(&rows);
    return status;
}
