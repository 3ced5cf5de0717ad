/* store_room.c - the store's own tables.
 *
 * events and heads are the log. The others are operational: durable, backed up, never compared. The
 * head row is what serialises the writers of one user; `base_seq` is 0 and reserved for archiving
 * (a rebuild will then start from a snapshot at that seq).
 */
#include "store/store_room.h"

#include "base/error.h"
#include "base/str.h"
#include "store/job.h"
#include "store/token.h"
#include "store/vector.h"

static const lc_column event_columns[] = {
    LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),       LC_COLUMN("type", 't'),
    LC_COLUMN("v", 'i'),         LC_COLUMN("recorded_at", 'i'),
    LC_COLUMN("refs", 't'),      LC_COLUMN("payload", 't'),
    LC_COLUMN("is_erased", 'i'), {0},
};

static const lc_table events_table = {
    .name = "events",
    .table_class = LC_TABLE_LOG,
    .columns = event_columns,
    .key = "tenant_id, user_id, seq",
};

static const lc_column head_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),
    LC_COLUMN("recorded_at", 'i'),
    LC_COLUMN("objects", 'i'),
    LC_COLUMN("base_seq", 'i'),
    {0},
};

static const lc_table heads_table = {
    .name = "heads",
    .table_class = LC_TABLE_LOG,
    .columns = head_columns,
    .key = "tenant_id, user_id",
};

static const lc_column request_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("request_id", 't'),
    LC_COLUMN("args_hash", 'b'),
    LC_COLUMN("answer", 't'),
    LC_COLUMN("recorded_at", 'i'),
    {0},
};

static const lc_index request_indexes[] = {
    {"age", "recorded_at", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_table requests_table = {
    .name = "requests",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = request_columns,
    .key = "tenant_id, user_id, request_id",
    .indexes = request_indexes,
};

static const lc_column request_usage_columns[] = {
    LC_COLUMN("tenant_id", 't'), LC_COLUMN("user_id", 't'),
    LC_COLUMN("since", 'i'), /* Begin of the slice. */
    LC_COLUMN("bytes", 'i'),     {0},
};

static const lc_index request_usage_indexes[] = {
    {"age", "since", NULL, false},
    {NULL, NULL, NULL, false},
};

static const lc_table request_usage_table = {
    .name = "request_usage",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = request_usage_columns,
    .key = "tenant_id, user_id, since",
    .indexes = request_usage_indexes,
};

static const lc_column meta_columns[] = {
    LC_COLUMN("name", 't'),
    LC_COLUMN("value", 't'),
    {0},
};

static const lc_table meta_table = {
    .name = "meta",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = meta_columns,
    .key = "name",
    .is_store_wide = true,
};

static const lc_column rebuild_columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("seq", 'i'),
    {0},
};

/* How far a rebuild in progress has replayed each user. */
static const lc_table rebuild_heads_table = {
    .name = "rebuild_heads",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = rebuild_columns,
    .key = "tenant_id, user_id",
};

static const lc_column setting_columns[] = {
    LC_STRING_COLUMN(lc_setting_row, tenant_id, "tenant_id", 0, .absent = ""),
    LC_STRING_COLUMN(lc_setting_row, name, "name", 0),
    LC_STRING_COLUMN(lc_setting_row, value, "value", 0),
    LC_COLUMN("updated_at", 'i'), /* Domain time; for people, nothing depends on it. */
    {0},
};

/* The empty tenant, which no caller can have, stands for the whole store: a key cannot be NULL. */
static const lc_table settings_table = {
    .name = "settings",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = setting_columns,
    .key = "tenant_id, name",
    .is_store_wide = true,
};

static const lc_table *const tables[] = {
    &meta_table,    &events_table,   &heads_table,     &requests_table,   &request_usage_table,
    &lc_jobs_table, &settings_table, &lc_tokens_table, &lc_vectors_table, &rebuild_heads_table,
    NULL,
};

const lc_room lc_store_room = {.name = "store", .tables = tables};

/* ---- Requests -------------------------------------------------------------------------------- */

/* One row, with or without a request. */
static const lc_sql find_sql = {
    "select r.args_hash, r.answer, r.recorded_at, u.total from"
    " (select cast(coalesce(sum(bytes), 0) as bigint) as total from request_usage"
    " where tenant_id = $1 and user_id = $2 and since > $4) u left join requests r"
    " on r.tenant_id = $1 and r.user_id = $2 and r.request_id = $3",
    "ttti", "btii"};

static const lc_sql use_sql = {
    "insert into request_usage (tenant_id, user_id, since, bytes) values ($1, $2, $3, $4)"
    " on conflict (tenant_id, user_id, since)"
    " do update set bytes = request_usage.bytes + excluded.bytes",
    "ttii", NULL};

static const lc_sql store_sql = {
    "insert into requests (tenant_id, user_id, request_id, args_hash, answer, recorded_at)"
    " values ($1, $2, $3, $4, $5, $6) on conflict (tenant_id, user_id, request_id)"
    " do update set args_hash = excluded.args_hash, answer = excluded.answer,"
    " recorded_at = excluded.recorded_at",
    "tttbti", NULL};

static loci_str hash_bytes(const lc_request *request)
{
    return (loci_str){(const char *)&request->args_hash, sizeof request->args_hash};
}

static loci_status fail_quota(const lc_request *request, int64_t used_bytes, loci_error *err)
{
    return lc_fail(
        err, LOCI_ELIMIT,
        "request_id %.*s: the stored answers of this user take %lld bytes, the maximum is"
        " %lld; call without request_id, or raise the setting request.user_bytes_max",
        LC_STR_ARG(request->request_id), (long long)used_bytes, (long long)request->bytes_max);
}

loci_status lc_request_find(lc_tx *tx, const lc_request *request, lc_arena *arena, loci_str *out,
                            bool *found, loci_error *err)
{
    lc_rows rows = {0};
    loci_status status = lc_tx_find(tx, &find_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                               LC_T(request->key),
                                               LC_I(tx->now_us - request->keep_us)},
                                    &rows, found, err);

    if (status != LOCI_OK || !*found)
        return status;
    /* The domain clock may have gone back: an answer from the future is certainly not too old. */
    if (lc_rows_str(&rows, 1).ptr == NULL ||
        tx->now_us - lc_rows_i64(&rows, 2) >= request->keep_us) {
        *found = false;
        if (lc_rows_i64(&rows, 3) >= request->bytes_max)
            status = fail_quota(request, lc_rows_i64(&rows, 3), err);
    } else if (!lc_str_eq(lc_rows_str(&rows, 0), hash_bytes(request))) {
        status = lc_fail(err, LOCI_ECONFLICT,
                         "request_id %.*s was used for another call; use a new one",
                         LC_STR_ARG(request->request_id));
    } else {
        *out = lc_arena_copy(arena, lc_rows_str(&rows, 1));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_rows_end(&rows);
    return status;
}

loci_status lc_request_store(lc_tx *tx, const lc_request *request, loci_str answer, loci_error *err)
{
    int64_t slice_us = request->keep_us / LC_REQUEST_SLICES;
    int64_t since = tx->now_us - tx->now_us % slice_us;
    int64_t bytes = (int64_t)(answer.len + request->key.len) + LC_REQUEST_OVERHEAD_BYTES;
    loci_status status = lc_tx_exec(tx, &store_sql,
                                    (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id),
                                               LC_T(request->key), LC_B(hash_bytes(request)),
                                               LC_T(answer), LC_I(tx->now_us)},
                                    err);

    if (status == LOCI_OK)
        status = lc_tx_exec(
            tx, &use_sql,
            (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_I(since), LC_I(bytes)}, err);
    return status;
}

/* ---- Settings -------------------------------------------------------------------------------- */

const lc_row_type lc_stored_setting_row = {setting_columns, 0};

static const lc_sql all_settings_sql = {"select {row} from settings order by tenant_id, name", "",
                                        "", &lc_stored_setting_row};

static const lc_sql put_setting_sql = {
    "insert into settings (updated_at, {row}) values ($1, {values})"
    " on conflict (tenant_id, name) do update set {excluded}, updated_at = excluded.updated_at",
    "i", NULL, &lc_stored_setting_row};

static const lc_sql delete_setting_sql = {"delete from settings where tenant_id = $1 and name = $2",
                                          "tt", NULL};

loci_status lc_setting_row_each(lc_tx *tx, lc_setting_row_visit *visit, void *ctx, loci_error *err)
{
    lc_rows rows;
    lc_setting_row row;
    loci_status status = lc_tx_query(tx, &all_settings_sql, NULL, &rows, err);

    while (lc_row_next(&rows, &row, &status, err))
        status = visit(ctx, &row, err);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_setting_row_put(lc_tx *tx, const lc_setting_row *row, loci_error *err)
{
    lc_arg args[1 + LC_ROW_COLUMNS_MAX] = {LC_I(tx->now_us)};

    lc_row_bind(&lc_stored_setting_row, row, args + 1);
    return lc_tx_exec_one(tx, &put_setting_sql, args, err);
}

loci_status lc_setting_row_remove(lc_tx *tx, loci_str tenant_id, loci_str name, loci_error *err)
{
    return lc_tx_exec(tx, &delete_setting_sql, (lc_arg[]){LC_T_OR_EMPTY(tenant_id), LC_T(name)},
                      err);
}
