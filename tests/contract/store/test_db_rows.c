/* Many rows at once (lc_tx_put_rows): the same rows as one by one, all or none. */
#include "contract/probe_fixture.h"

#include <string.h>

#define COLUMNS "samples (tenant_id, user_id, id, number, real_number, words, bytes)"

static const lc_sql put_sql = {"insert into " COLUMNS " values ($1, $2, $3, $4, $5, $6, $7)",
                               "ttiiftb", NULL};
static const lc_sql count_sql = {"select count(*) from samples", "", "i"};
static const lc_sql each_sql = {
    "select id, number, real_number, words, bytes from samples order by id", "", "iiftb"};

typedef struct pile {
    size_t count;
    int64_t first;
    const char *long_text; /* Of every 100th row. */
    bool fails_after;
} pile;

static void make_row(void *ctx, size_t row, lc_arg *out)
{
    const pile *p = ctx;
    int64_t id = p->first + (int64_t)row;
    bool is_bare = id % 7 == 0;
    loci_str words = loci_str_of(id % 100 == 1 ? p->long_text : id % 2 == 0 ? "" : "häuser\t\\N");

    out[0] = LC_T(LC_STR("t"));
    out[1] = LC_T(LC_STR("u"));
    out[2] = LC_I(id);
    out[3] = is_bare ? LC_NULL : LC_I(id % 3 == 0 ? INT64_MIN : -id);
    out[4] = is_bare ? LC_NULL : LC_F((double)id / 3);
    out[5] = is_bare ? LC_NULL : LC_T(words);
    out[6] = is_bare ? LC_NULL : LC_B(((loci_str){"\0\xff\n\\", 4}));
}

static loci_status put_pile(lc_tx *tx, void *ctx, loci_error *err)
{
    pile *p = ctx;
    lc_bulk bulk = {
        .put = &put_sql, .into = COLUMNS, .row_count = p->count, .row = make_row, .ctx = p};
    loci_status status = lc_tx_put_rows(tx, &bulk, err);

    if (status == LOCI_OK && p->fails_after)
        return LOCI_ECONFLICT;
    return status;
}

static void expect_text(const lc_rows *rows, int column, const lc_arg *expected)
{
    loci_str got = lc_rows_str(rows, column);

    CHECK_EQ(got.ptr == NULL, expected->kind == 0);
    if (expected->kind != 0)
        CHECK_BYTES(got.ptr, got.len, expected->as.str.ptr, expected->as.str.len);
}

static loci_status expect_pile(lc_tx *tx, void *ctx, loci_error *err)
{
    pile *p = ctx;
    size_t row = 0;
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &each_sql, NULL, &rows, err);

    CHECK_OK(status, err);
    for (; lc_rows_next(&rows, &status, err); row++) {
        lc_arg args[7];

        make_row(p, row, args);
        CHECK_EQ(lc_rows_i64(&rows, 0), args[2].as.i64);
        CHECK_EQ(lc_rows_is_null(&rows, 1), args[3].kind == 0);
        CHECK_EQ(lc_rows_i64(&rows, 1), args[3].kind == 0 ? 0 : args[3].as.i64);
        CHECK_EQ(lc_rows_is_null(&rows, 2), args[4].kind == 0);
        CHECK(lc_rows_f64(&rows, 2) == (args[4].kind == 0 ? 0 : args[4].as.f64));
        expect_text(&rows, 3, &args[5]);
        expect_text(&rows, 4, &args[6]);
    }
    CHECK_EQ(row, p->count);
    return status;
}

TEST(db_rows, many_rows_are_those_that_were_given)
{
    char *text = test_bytes(200000); /* More than is sent at once. */
    pile some = {.count = 1000, .first = 1, .long_text = text};
    pile none = {.count = 0};
    probe p;

    memset(text, 'x', 200000);
    probe_open(&p, probe_path());
    CHECK_OK(probe_write(&p, "", put_pile, &some), p.err);
    CHECK_OK(probe_write(&p, "", put_pile, &none), p.err);
    CHECK_OK(probe_read(&p, expect_pile, &some), p.err);
    probe_close(&p);
}

TEST(db_rows, all_are_put_or_none)
{
    pile some = {.count = 100, .first = 1, .long_text = "long"};
    pile again = {.count = 200, .first = 100, .long_text = "long"}; /* The first is there. */
    pile spoilt = {.count = 100, .first = 500, .long_text = "long", .fails_after = true};
    probe p;

    probe_open(&p, probe_path());
    CHECK_OK(probe_write(&p, "", put_pile, &some), p.err);
    CHECK(probe_write(&p, "", put_pile, &again) != LOCI_OK);
    CHECK_EQ(probe_number(&p, &count_sql), 100);
    CHECK_STATUS(LOCI_ECONFLICT, probe_write(&p, "", put_pile, &spoilt));
    CHECK_EQ(probe_number(&p, &count_sql), 100);
    again.first = 101;
    CHECK_OK(probe_write(&p, "", put_pile, &again), p.err); /* The connection goes on. */
    CHECK_EQ(probe_number(&p, &count_sql), 300);
    probe_close(&p);
}
