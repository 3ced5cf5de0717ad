/* withdrawal.c - see withdrawal.h. */
#include "store/withdrawal.h"

#include "base/str.h"

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),       LC_COLUMN("kind", 't'),
    LC_COLUMN("id", 't'),        LC_COLUMN("session_id", 't'),
    LC_COLUMN("by_seq", 'i'),    {0},
};

static const lc_index indexes[] = {
    {"by", "tenant_id, user_id, by_seq", NULL, false},
    {"session", "tenant_id, user_id, session_id, seq", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_sql forget_sql = {"delete from withdrawals where tenant_id = $1 and user_id = $2",
                                  "tt", NULL};

const lc_table lc_withdrawals_table = {
    .name = "withdrawals",
    .table_class = LC_TABLE_PROJECTION,
    .columns = columns,
    .key = "tenant_id, user_id, seq",
    .indexes = indexes,
    .forget = &forget_sql,
};

static const lc_sql note_sql = {
    "insert into withdrawals (tenant_id, user_id, seq, kind, id, session_id, by_seq)"
    " values ($1, $2, $3, $4, $5, $6, $7) on conflict (tenant_id, user_id, seq) do nothing",
    "ttittti", NULL};

loci_status lc_withdrawal_note(lc_tx *tx, const lc_event *event, const lc_withdrawal *withdrawal,
                               loci_error *err)
{
    return lc_tx_exec(tx, &note_sql,
                      (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id),
                                 LC_I(withdrawal->seq), LC_T(withdrawal->kind),
                                 LC_T(withdrawal->id), LC_T(withdrawal->session_id),
                                 LC_I(event->seq)},
                      err);
}

static const lc_sql each_sql = {
    "select seq, kind, id, session_id from withdrawals where tenant_id = $1 and user_id = $2"
    " and seq > $3 and ($4 = '' or kind = $4) order by seq",
    "ttit", "ittt"};

static const lc_sql of_session_sql = {
    "select seq, kind, id, session_id from withdrawals where tenant_id = $1 and user_id = $2"
    " and seq > $3 and ($4 = '' or kind = $4) and session_id = $5 order by seq",
    "ttitt", "ittt"};

loci_status lc_withdrawal_each(lc_tx *tx, const lc_withdrawal_filter *filter,
                               lc_withdrawal_visit *visit, void *ctx, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(filter->after_seq),
                           LC_T_OR_EMPTY(filter->kind), LC_T_OR_EMPTY(filter->session_id)};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, filter->session_id.len > 0 ? &of_session_sql : &each_sql,
                                     args, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        status = visit(ctx,
                       &(lc_withdrawal){.seq = lc_rows_i64(&rows, 0),
                                        .kind = lc_rows_str(&rows, 1),
                                        .id = lc_rows_str(&rows, 2),
                                        .session_id = lc_rows_str(&rows, 3)},
                       err);
    lc_rows_end(&rows);
    return status;
}
