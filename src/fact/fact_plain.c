/* fact_plain.c - the list that nearly every caller gets: global facts that anybody may read, of a
 * user whose sessions have no facts of their own. One statement tells all that, so that no session
 * has to be found first. */
#include "base/str.h"
#include "fact/fact_row.h"

/* The last column: whether some session has facts of its own. */
#define PLAIN                                                                                      \
    "select " LC_FACT_COLUMNS                                                                      \
    ", case when exists (select 1 from fact_current s where s.tenant_id = $1 and s.user_id = $2"   \
    " and s.scope = 'session' and s.scope <> 'global') then 1 else 0 end from fact_current"        \
    " where tenant_id = $1 and user_id = $2" LC_FACT_IN_GLOBAL

static const lc_sql of_persona_sql = {PLAIN " and persona_id in ('', $5) and (key, id) > ($3, $4)"
                                            " order by key, id",
                                      "ttttt", LC_FACT_KINDS "i"};
/* Without a persona: in the order of the table's key, so that nothing is sorted. The `place` of
 * several facts of a key is their seq. */
static const lc_sql everybodys_sql = {
    PLAIN " and persona_id <= ''"
          " and (key, scope, scope_id, persona_id, place) > ($3, 'global', '', '', $4)"
          " order by key, scope, scope_id, persona_id, place",
    "ttti", LC_FACT_KINDS "i"};

static loci_status query(lc_tx *tx, loci_str persona_id, const lc_fact_plain *plain, lc_rows *out,
                         loci_error *err)
{
    loci_str key = lc_fact_or_empty(plain->after_key);
    bool is_behind_all = plain->after_id.ptr == NULL;

    if (persona_id.len > 0)
        return lc_tx_query(tx, &of_persona_sql,
                           (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(key),
                                      LC_T(is_behind_all ? LC_STR("~") : plain->after_id),
                                      LC_T(persona_id)},
                           out, err);
    return lc_tx_query(
        tx, &everybodys_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(key),
                   LC_I(is_behind_all ? INT64_MAX : lc_fact_seq_of(plain->after_id))},
        out, err);
}

loci_status lc_fact_each_plain(lc_tx *tx, loci_str persona_id, const lc_fact_plain *plain,
                               lc_fact_visit *visit, void *ctx, loci_error *err)
{
    lc_rows rows;
    loci_status status = query(tx, persona_id, plain, &rows, err);

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
