/* Records in real tables: what a statement with {row} writes, it reads back (store/row.h). */
#include "contract/probe_fixture.h"

#include "base/str.h"
#include "store/row.h"

typedef struct sample {
    int64_t id;
    int64_t number;
    double real_number;
    loci_str words;
    int64_t payload_size; /* Of `sayings` alone. */
} sample;

static const lc_column columns[] = {
    LC_INTEGER_COLUMN(sample, id, "id", 0),
    LC_INTEGER_COLUMN(sample, number, "number", LC_COL_NULL, .none = -1),
    LC_NUMBER_COLUMN(sample, real_number, "real_number", LC_COL_NULL),
    LC_STRING_COLUMN(sample, words, "words", LC_COL_NULL),
    LC_INTEGER_COLUMN(sample, payload_size, "payload_size", LC_COL_NULL | LC_COL_PART, .none = -5),
    {0},
};
static const lc_row_type full_row = {columns, 0};
static const lc_row_type sample_row = {columns, LC_COL_PART};

static const lc_sql put_sql = {
    "insert into samples (tenant_id, user_id, {row}) values ($1, $2, {values})", "tt", NULL,
    &sample_row};
static const lc_sql upsert_sql = {
    "insert into samples (tenant_id, user_id, {row}) values ($1, $2, {values})"
    " on conflict (tenant_id, user_id, id) do update set {excluded}",
    "tt", NULL, &sample_row};
static const lc_sql update_sql = {
    "update samples set {set} where tenant_id = $1 and user_id = $2 and id = $3", "tti", NULL,
    &sample_row};
static const lc_sql find_sql = {
    "select {row}, id + 1 from samples where tenant_id = $1 and user_id = $2", "tt", "i",
    &sample_row};
static const lc_sql find_filled_sql = {
    "select {row} from samples where tenant_id = $1 and user_id = $2", "tt", "", &full_row};

static void check_sample(lc_tx *tx, const lc_sql *sql, const sample *expected)
{
    sample got = {0};
    loci_error err;
    lc_rows rows;
    bool found;

    CHECK_OK(
        lc_tx_find(tx, sql, (lc_arg[]){LC_T(LC_STR("t")), LC_T(LC_STR("u"))}, &rows, &found, &err),
        err);
    CHECK(found);
    CHECK_OK(lc_row_read(&rows, &got, &err), err);
    CHECK_EQ(got.id, expected->id);
    CHECK_EQ(got.number, expected->number);
    CHECK(got.real_number == expected->real_number);
    CHECK_STR_EQ(got.words, expected->words);
    CHECK_EQ(got.words.ptr == NULL, expected->words.ptr == NULL);
    CHECK_EQ(got.payload_size, -5);
    if (sql->columns[0] != '\0')
        CHECK_EQ(lc_rows_i64(&rows, (int)lc_row_width(sql->row)), expected->id + 1);
    lc_rows_end(&rows);
}

static loci_status write_samples(lc_tx *tx, void *ctx, loci_error *err)
{
    sample row = {.id = 1, .number = 2, .real_number = 0.5, .words = LC_STR("some")};
    lc_arg args[3 + LC_ROW_COLUMNS_MAX] = {LC_T(LC_STR("t")), LC_T(LC_STR("u")), LC_I(1)};

    (void)ctx;
    lc_row_bind(&sample_row, &row, args + 2);
    CHECK_OK(lc_tx_exec(tx, &put_sql, args, err), *err);
    check_sample(tx, &find_sql, &row);
    check_sample(tx, &find_filled_sql, &row);
    row = (sample){.id = 1, .number = -1, .words = LC_STR_NONE};
    lc_row_bind(&sample_row, &row, args + 2);
    CHECK_OK(lc_tx_exec(tx, &upsert_sql, args, err), *err);
    check_sample(tx, &find_sql, &row);
    row = (sample){.id = 1, .number = 9, .words = LC_STR("more")};
    args[2] = LC_I(1);
    lc_row_bind(&sample_row, &row, args + 3);
    CHECK_OK(lc_tx_exec_one(tx, &update_sql, args, err), *err);
    check_sample(tx, &find_sql, &row);
    return LOCI_OK;
}

TEST(row_table, what_a_row_writes_it_reads_back)
{
    probe p;

    probe_open(&p, NULL);
    CHECK_OK(probe_write(&p, "u", write_samples, NULL), p.err);
    probe_close(&p);
}
