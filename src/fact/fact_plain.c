/* fact_plain.c - the list that nearly every caller gets: global facts that anybody may read, of a
 * user whose sessions have no facts of their own. One statement tells all that, so that no session
 * has to be found first. */
#include "base/str.h"
#include "fact/fact_row.h"

static const lc_sql plain_sql = {
    "select " LC_FACT_COLUMNS ", " LC_FACT_SESSION_FLAG " from fact_current where tenant_id = $1"
    " and user_id = $2 and scope = 'global' and scope_id = '' and persona_id in ('', $3)"
    " and (key, id) > ($4, $5) order by key, id",
    "ttttt", LC_FACT_KINDS "i"};

loci_status lc_fact_each_plain(lc_tx *tx, loci_str persona_id, const lc_fact_plain *plain,
                               lc_fact_visit *visit, void *ctx, loci_error *err)
{
    lc_rows rows;
    loci_status status = lc_tx_query(
        tx, &plain_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(lc_fact_or_empty(persona_id)),
                   LC_T(lc_fact_or_empty(plain->after_key)),
                   LC_T(plain->after_id.ptr != NULL ? plain->after_id : LC_STR("~"))},
        &rows, err);

    *plain->is_plain = false; /* Without a row nothing is known. */
    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_fact fact = lc_fact_from_row(&rows);

        *plain->is_plain = lc_rows_i64(&rows, LC_FACT_COLUMN_COUNT) == 0 &&
                           !lc_fact_is_restricted(&fact);
        if (!*plain->is_plain)
            break;
        if (lc_fact_is_expired(&fact, tx->now_us))
            continue;
        status = visit(ctx, &fact, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status == LOCI_ECANCELLED ? LOCI_OK : status;
}
