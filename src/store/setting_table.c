/* setting_table.c - one row a name and tenant. The empty tenant, which no caller can have, is the
 * whole store: a NULL would not do in a key. */
#include "store/setting_table.h"

#include "base/str.h"

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'), /* "" = for the whole store. */
    LC_COLUMN("name", 't'),
    LC_COLUMN("value", 't'),      /* JSON. */
    LC_COLUMN("updated_at", 'i'), /* Domain time; for people, nothing depends on it. */
    {0},
};

const lc_table lc_settings_table = {
    .name = "settings",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = columns,
    .key = "tenant_id, name",
    .is_store_wide = true,
};

static const lc_sql select_all = {
    .text = "select tenant_id, name, value from settings order by tenant_id, name",
    .params = "",
    .columns = "ttt",
};

static const lc_sql upsert = {
    .text = "insert into settings (tenant_id, name, value, updated_at) values ($1, $2, $3, $4) "
            "on conflict (tenant_id, name) do update set "
            "value = excluded.value, updated_at = excluded.updated_at",
    .params = "ttti",
};

static const lc_sql delete_one = {
    .text = "delete from settings where tenant_id = $1 and name = $2",
    .params = "tt",
};

/* Text for a column that is not nullable: none becomes "". */
static lc_arg text_arg(loci_str text)
{
    return LC_T(text.ptr != NULL ? text : LC_STR(""));
}

loci_status lc_setting_row_each(lc_tx *tx, lc_setting_row_visit *visit, void *ctx, loci_error *err)
{
    lc_rows rows = {0};
    loci_status status;

    status = lc_tx_query(tx, &select_all, NULL, &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_setting_row row = {
            .tenant_id = lc_rows_str(&rows, 0),
            .name = lc_rows_str(&rows, 1),
            .value = lc_rows_str(&rows, 2),
        };

        status = visit(ctx, &row, err);
    }
    lc_rows_end(&rows);
    return status;
}

loci_status lc_setting_row_put(lc_tx *tx, const lc_setting_row *row, loci_error *err)
{
    const lc_arg args[] = {text_arg(row->tenant_id), LC_T(row->name), LC_T(row->value),
                           LC_I(tx->now_us)};

    return lc_tx_exec_one(tx, &upsert, args, err);
}

loci_status lc_setting_row_remove(lc_tx *tx, loci_str tenant_id, loci_str name, loci_error *err)
{
    const lc_arg args[] = {text_arg(tenant_id), LC_T(name)};

    return lc_tx_exec(tx, &delete_one, args, err);
}
