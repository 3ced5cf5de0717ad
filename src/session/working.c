/* working.c - one table, keyed by session and key. Items whose time is over count as gone at once
 * and are deleted by the next write to the working set of their session. */
#include "session/working.h"

#include "base/error.h"
#include "base/str.h"

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("session_id", 't'),
    LC_COLUMN("key", 't'),
    LC_COLUMN("value", 't'),
    LC_COLUMN("created_at", 'i'),
    LC_COLUMN_OR_NULL("expires_at", 'i'),
    {0},
};

const lc_table lc_working_table = {
    .name = "working_items",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = columns,
    .key = "tenant_id, user_id, session_id, key",
};

#define ITEM_COLUMNS "key, value, created_at, expires_at"
#define OF_SESSION "tenant_id = $1 and user_id = $2 and session_id = $3"
#define COUNTS_NOW "(expires_at is null or expires_at > $4)"

static const lc_sql set_sql = {
    "insert into working_items (tenant_id, user_id, session_id, key, value, created_at, expires_at)"
    " values ($1, $2, $3, $4, $5, $6, $7) on conflict (tenant_id, user_id, session_id, key)"
    " do update set value = excluded.value, created_at = excluded.created_at,"
    " expires_at = excluded.expires_at",
    "tttttii", NULL};

static const lc_sql expire_sql = {
    "delete from working_items where " OF_SESSION " and expires_at <= $4", "ttti", NULL};

static const lc_sql delete_sql = {"delete from working_items where " OF_SESSION " and key = $4",
                                  "tttt", NULL};

static const lc_sql clear_sql = {"delete from working_items where " OF_SESSION, "ttt", NULL};

static const lc_sql find_sql = {"select " ITEM_COLUMNS " from working_items where " OF_SESSION
                                " and " COUNTS_NOW " and key = $5",
                                "tttit", "ttii"};

static const lc_sql each_sql = {"select " ITEM_COLUMNS " from working_items where " OF_SESSION
                                " and " COUNTS_NOW " order by created_at desc, key",
                                "ttti", "ttii"};

static const lc_sql count_sql = {"select count(*) from working_items where " OF_SESSION
                                 " and " COUNTS_NOW " and key <> $5",
                                 "tttit", "i"};

static lc_working_item from_row(const lc_rows *rows)
{
    return (lc_working_item){
        .key = lc_rows_str(rows, 0),
        .value = lc_rows_str(rows, 1),
        .created_at = lc_rows_i64(rows, 2),
        .expires_at = lc_rows_is_null(rows, 3) ? INT64_MAX : lc_rows_i64(rows, 3),
    };
}

loci_status lc_working_check_room(lc_tx *tx, loci_str session_id, loci_str key, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    int64_t others = 0;
    loci_status status = lc_tx_find(tx, &count_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                               LC_T(session_id), LC_I(tx->now_us), LC_T(key)},
                                    &rows, &found, err);

    if (status != LOCI_OK)
        return status;
    if (found)
        others = lc_rows_i64(&rows, 0);
    lc_rows_end(&rows);
    if (others >= LC_WORKING_ITEMS_MAX)
        return lc_fail(err, LOCI_ELIMIT, "the working set of a session holds at most %d items",
                       LC_WORKING_ITEMS_MAX);
    return LOCI_OK;
}

loci_status lc_working_set(lc_tx *tx, loci_str session_id, const lc_working_item *item,
                           loci_error *err)
{
    const lc_arg session[] = {LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(session_id),
                              LC_I(tx->now_us)};
    loci_status status = lc_tx_exec(tx, &expire_sql, session, err);

    if (status != LOCI_OK)
        return status;
    return lc_tx_exec(tx, &set_sql,
                      (lc_arg[]){session[0], session[1], session[2], LC_T(item->key),
                                 LC_T(item->value), LC_I(tx->now_us),
                                 item->expires_at == INT64_MAX ? LC_NULL : LC_I(item->expires_at)},
                      err);
}

loci_status lc_working_load(lc_tx *tx, loci_str session_id, loci_str key, lc_arena *arena,
                            lc_working_item *out, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &find_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                               LC_T(session_id), LC_I(tx->now_us), LC_T(key)},
                                    &rows, &found, err);

    if (status != LOCI_OK)
        return status;
    if (!found)
        return lc_fail(err, LOCI_ENOTFOUND, "no item %.*s in the working set", LC_STR_ARG(key));
    *out = from_row(&rows);
    out->key = lc_arena_copy(arena, out->key);
    out->value = lc_arena_copy(arena, out->value);
    lc_rows_end(&rows);
    return out->key.ptr != NULL && out->value.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
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
    loci_status status = lc_tx_query(
        tx, &each_sql,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(session_id), LC_I(tx->now_us)},
        &rows, err);

    if (status != LOCI_OK)
        return status;
    while (lc_rows_next(&rows, &status, err)) {
        lc_working_item item = from_row(&rows);

        status = visit(ctx, &item, err);
        if (status != LOCI_OK)
            break;
    }
    lc_rows_end(&rows);
    return status;
}
