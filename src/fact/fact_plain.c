/* fact_plain.c - the list that nearly every caller gets: global facts that anybody may read, of a
 * user whose sessions have no facts of their own. One statement tells all that, so that no session
 * has to be found first. */
#include "base/str.h"
#include "fact/fact_row.h"

/* The last column: whether some session has facts of its own. */
#define PLAIN                                                                                      \
    "select {row}, case when exists (select 1 from fact_current s where s.tenant_id = $1"          \
    " and s.user_id = $2 and s.scope = 'session' and s.scope <> 'global') then 1 else 0 end"       \
    " from fact_current where tenant_id = $1 and user_id = $2" LC_FACT_IN_GLOBAL

static const lc_sql of_persona_sql = {PLAIN " and persona_id in ('', $3) and (key, id) > ($4, $5)"
                                            " order by key, id limit $6",
                                      "ttttti", "i", &lc_fact_current_row};
/* Without a persona: in the order of the table's key, so that nothing is sorted. The `place` of
 * several facts of a key is their seq. */
static const lc_sql everybodys_sql = {
    PLAIN " and persona_id <= ''"
          " and (key, scope, scope_id, persona_id, place) > ($3, 'global', '', '', $4)"
          " order by key, scope, scope_id, persona_id, place limit $5",
    "tttii", "i", &lc_fact_current_row};

typedef struct plain_walk {
    int64_t now_us;
    bool *is_plain;
    lc_fact_visit *visit;
    void *ctx;
} plain_walk;

static loci_status show(void *ctx, const lc_rows *rows, const lc_fact *fact, loci_error *err)
{
    const plain_walk *p = ctx;

    *p->is_plain = lc_rows_i64(rows, rows->row_columns) == 0 && !lc_fact_is_restricted(fact);
    if (!*p->is_plain)
        return LOCI_ECANCELLED;
    return lc_fact_is_expired(fact, p->now_us) ? LOCI_OK : p->visit(p->ctx, fact, err);
}

loci_status lc_fact_each_plain(lc_tx *tx, loci_str persona_id, const lc_fact_plain *plain,
                               lc_fact_visit *visit, void *ctx, loci_error *err)
{
    const lc_fact_page *page = plain->page;
    loci_str key = lc_fact_or_empty(page->after_key);
    bool is_behind_all = page->after_id.ptr == NULL;
    plain_walk p = {tx->now_us, plain->is_plain, visit, ctx};
    const lc_fact_walk of_persona = {&of_persona_sql, LC_FACT_BY_ID, page->limit};
    const lc_fact_walk everybodys = {&everybodys_sql, LC_FACT_BY_PLACE, page->limit};

    *plain->is_plain = false; /* Without a row nothing is known. */
    if (persona_id.len > 0)
        return lc_fact_each_row(tx, &of_persona,
                                (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(persona_id),
                                           LC_T(key),
                                           LC_T(is_behind_all ? LC_STR("~") : page->after_id)},
                                show, &p, err);
    return lc_fact_each_row(
        tx, &everybodys,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(key),
                   LC_I(is_behind_all ? INT64_MAX : lc_fact_seq_of(page->after_id))},
        show, &p, err);
}
