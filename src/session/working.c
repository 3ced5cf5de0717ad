/* working.c - one table, keyed by session and key. An expired item is ignored at once and deleted
 * by the next write to the working set of its session. */
#include "session/working.h"

#include "base/error.h"
#include "base/str.h"

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("session_id", 't'),
    LC_STRING_COLUMN(lc_working_item, key, "key", LC_COL_REQUIRED, .help = "Name of the item"),
    LC_ANY_COLUMN(lc_working_item, value, "value", LC_COL_REQUIRED, .help = "Value, any JSON"),
    LC_TIME_COLUMN(lc_working_item, created_at, "created_at", LC_COL_REQUIRED,
                   .help = "Time at which it was set"),
    LC_TIME_COLUMN(lc_working_item, expires_at, "expires_at", LC_COL_NULL | LC_COL_SHOWN,
                   .none = INT64_MAX, .help = "Time at which it expires, if before its session"),
    {0},
};

const lc_row_type lc_working_row = {columns, 0, sizeof(lc_working_item)};

static const lc_sql forget_user_sql = {
    "delete from working_items where tenant_id = $1 and user_id = $2", "tt", NULL};

const lc_table lc_working_table = {
    .name = "working_items",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = columns,
    .key = "tenant_id, user_id, session_id, key",
    .forget = &forget_user_sql,
};

#define OF_SESSION "tenant_id = $1 and user_id = $2 and session_id = $3"
#define IS_CURRENT "(expires_at is null or expires_at > $4)"

static const lc_sql set_sql = {
    "insert into working_items (tenant_id, user_id, session_id, {row})"
    " values ($1, $2, $3, {values}) on conflict (tenant_id, user_id, session_id, key)"
    " do update set {excluded}",
    "ttt", NULL, &lc_working_row};

static const lc_sql expire_sql = {
    "delete from working_items where " OF_SESSION " and expires_at <= $4", "ttti", NULL};

static const lc_sql delete_sql = {"delete from working_items where " OF_SESSION " and key = $4",
                                  "tttt", NULL};

static const lc_sql clear_sql = {"delete from working_items where " OF_SESSION, "ttt", NULL};

static const lc_sql find_sql = {"select {row} from working_items where " OF_SESSION
                                " and " IS_CURRENT " and key = $5",
                                "tttit", "", &lc_working_row};

static const lc_sql each_sql = {"select {row} from working_items where " OF_SESSION
                                " and " IS_CURRENT " order by created_at desc, key",
                                "ttti", "", &lc_working_row};

static const lc_sql count_sql = {"select count(*) from working_items where " OF_SESSION
                                 " and " IS_CURRENT " and key <> $5",
                                 "tttit", "i"};

loci_status lc_working_check_room(lc_tx *tx, loci_str session_id, loci_str key, loci_error *err)
{
    int64_t others = 0;
    loci_status status = lc_tx_find_numbers(tx, &count_sql,
                                            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                                       LC_T(session_id), LC_I(tx->now_us),
                                                       LC_T(key)},
                                            &others, err);

    if (status == LOCI_OK && others >= LC_WORKING_ITEMS_MAX)
        status = lc_fail(err, LOCI_ELIMIT, "the working set of a session holds at most %d items",
                         LC_WORKING_ITEMS_MAX);
    return status;
}

loci_status lc_working_set(lc_tx *tx, loci_str session_id, const lc_working_item *item,
                           loci_error *err)
{
    lc_working_item row = *item;
    lc_arg args[3 + LC_ROW_COLUMNS_MAX] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(session_id),
                                           LC_I(tx->now_us)};
    loci_status status = lc_tx_exec(tx, &expire_sql, args, err);

    row.created_at = tx->now_us;
    lc_row_bind(&lc_working_row, &row, args + 3);
    return status == LOCI_OK ? lc_tx_exec(tx, &set_sql, args, err) : status;
}

loci_status lc_working_load(lc_tx *tx, loci_str session_id, loci_str key, lc_arena *arena,
                            lc_working_item *out, loci_error *err)
{
    const lc_arg args[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(session_id),
                           LC_I(tx->now_us), LC_T(key)};
    bool found;
    loci_status status = lc_row_find(tx, &(lc_query){&find_sql, args}, arena, out, &found, err);

    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND, "no item %.*s in the working set", LC_STR_ARG(key));
    return status;
}

loci_status lc_working_delete(lc_tx *tx, loci_str session_id, loci_str key, loci_error *err)
{
    return lc_tx_exec(
        tx, &delete_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(session_id), LC_T(key)}, err);
}

loci_status lc_working_clear(lc_tx *tx, loci_str session_id, loci_error *err)
{
    return lc_tx_exec(tx, &clear_sql,
                      (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(session_id)}, err);
}

loci_status lc_working_each(lc_tx *tx, loci_str session_id, lc_working_visit *visit, void *ctx,
                            loci_error *err)
{
    lc_rows rows;
    lc_working_item item;
    loci_status status = lc_tx_query(
        tx, &each_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(session_id), LC_I(tx->now_us)},
        &rows, err);

    while (lc_row_next(&rows, &item, &status, err))
        status = visit(ctx, &item, err);
    lc_rows_end(&rows);
    return status;
}
