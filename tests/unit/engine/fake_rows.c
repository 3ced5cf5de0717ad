#include "unit/engine/fake_rows.h"

#include <string.h>

#include "base/str.h"
#include "lib/test.h"

static loci_status query(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_rows *out,
                         loci_error *err)
{
    fake_rows *fake = (fake_rows *)tx->db;

    (void)sql;
    (void)args;
    (void)err;
    fake->at = 0;
    out->statement = fake;
    out->kinds = "ttt";
    return LOCI_OK;
}

static bool next(lc_rows *rows, loci_status *out_status, loci_error *err)
{
    fake_rows *fake = rows->statement;
    void (*at_end)(void *ctx) = fake->at_end;

    (void)err;
    *out_status = LOCI_OK;
    if (fake->at < fake->count) {
        const lc_setting_row *row = &fake->rows[fake->at++];

        rows->cells[0] = LC_T(row->tenant_id);
        rows->cells[1] = LC_T(row->name);
        rows->cells[2] = LC_T(row->value);
        return true;
    }
    fake->at_end = NULL;
    if (at_end != NULL)
        at_end(fake->ctx);
    return false;
}

static void end(lc_rows *rows)
{
    (void)rows;
}

static void remove_row(fake_rows *fake, loci_str tenant_id, loci_str name)
{
    size_t kept = 0;

    for (size_t i = 0; i < fake->count; i++) {
        if (!lc_str_eq(fake->rows[i].tenant_id, tenant_id) || !lc_str_eq(fake->rows[i].name, name))
            fake->rows[kept++] = fake->rows[i];
    }
    fake->count = kept;
}

static const char *keep(loci_str text)
{
    return test_format("%.*s", (int)text.len, text.ptr);
}

static loci_status exec(lc_tx *tx, const lc_sql *sql, const lc_arg *args, lc_expect expect,
                        loci_error *err)
{
    fake_rows *fake = (fake_rows *)tx->db;
    bool is_insert = strncmp(sql->text, "insert", 6) == 0;

    (void)expect;
    (void)err;
    args += is_insert; /* Behind the time come tenant, name and value. */
    remove_row(fake, args[0].as.str, args[1].as.str);
    if (is_insert)
        fake_rows_add(fake, keep(args[0].as.str), keep(args[1].as.str), keep(args[2].as.str));
    return LOCI_OK;
}

static const lc_db_driver driver = {
    .name = "fake",
    .exec = exec,
    .query = query,
    .next = next,
    .end = end,
};

void fake_rows_init(fake_rows *fake)
{
    *fake = (fake_rows){.db = {.driver = &driver}, .tx = {.is_write = true}};
    fake->tx.db = &fake->db;
}

void fake_rows_add(fake_rows *fake, const char *tenant_id, const char *name, const char *value)
{
    CHECK_LT(fake->count, FAKE_ROWS_MAX);
    fake->rows[fake->count++] = (lc_setting_row){loci_str_of(tenant_id), loci_str_of(name),
                                                 loci_str_of(value)};
}

loci_str fake_rows_find(const fake_rows *fake, const char *tenant_id, const char *name)
{
    for (size_t i = 0; i < fake->count; i++) {
        if (lc_str_is(fake->rows[i].tenant_id, tenant_id) && lc_str_is(fake->rows[i].name, name))
            return fake->rows[i].value;
    }
    return LC_STR_NONE;
}
