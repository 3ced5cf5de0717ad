/* What every driver has to do, seen through lc_db_driver alone: values come back as they went in, a
 * read sees one moment, a write is all or nothing, and nobody waits longer than it said. */
#include "contract/probe_fixture.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/assert.h"
#include "base/limits.h"

static const lc_sql put_sql = {
    "insert into samples (tenant_id, user_id, id, number, real_number, words, bytes)"
    " values ('t', 'u', $1, $2, $3, $4, $5)",
    "iiftb", NULL};
static const lc_sql get_sql = {
    "select number, real_number, words, bytes from samples where id = $1", "i", "iftb"};
static const lc_sql count_sql = {"select count(*) from samples", "", "i"};
static const lc_sql ids_sql = {"select id from samples where id > $1 order by id", "i", "i"};
static const lc_sql touch_sql = {"update samples set number = 1 where id >= $1", "i", NULL};
/* Counts to $1 the slow way. */
static const lc_sql slow_sql = {
    "with recursive c (n) as (select 1 union all select n + 1 from c where n < $1)"
    " select count(*) from c",
    "i", "i"};

/* ---- Values ---------------------------------------------------------------------------------- */

typedef struct sample {
    int64_t id;
    lc_arg number, real_number, words, bytes;
} sample;

static loci_status put_sample(lc_tx *tx, void *ctx, loci_error *err)
{
    const sample *s = ctx;

    return lc_tx_exec(tx, &put_sql,
                      (lc_arg[]){LC_I(s->id), s->number, s->real_number, s->words, s->bytes}, err);
}

static void check_text(const lc_rows *rows, int column, const lc_arg *expected)
{
    loci_str got = lc_rows_str(rows, column);

    CHECK_EQ(lc_rows_is_null(rows, column), expected->kind == 0);
    CHECK_EQ(got.ptr == NULL, expected->kind == 0);
    if (expected->kind != 0)
        CHECK_BYTES(got.ptr, got.len, expected->as.str.ptr, expected->as.str.len);
}

static loci_status check_sample(lc_tx *tx, void *ctx, loci_error *err)
{
    const sample *s = ctx;
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &get_sql, (lc_arg[]){LC_I(s->id)}, &rows, &found, err);

    CHECK_OK(status, err);
    CHECK(found);
    CHECK_EQ(lc_rows_is_null(&rows, 0), s->number.kind == 0);
    CHECK_EQ(lc_rows_i64(&rows, 0), s->number.kind == 0 ? 0 : s->number.as.i64);
    CHECK_EQ(lc_rows_is_null(&rows, 1), s->real_number.kind == 0);
    CHECK(lc_rows_f64(&rows, 1) == (s->real_number.kind == 0 ? 0 : s->real_number.as.f64));
    CHECK(signbit(lc_rows_f64(&rows, 1)) ==
          (s->real_number.kind != 0 && s->real_number.as.f64 < 0));
    check_text(&rows, 2, &s->words);
    check_text(&rows, 3, &s->bytes);
    lc_rows_end(&rows);
    lc_rows_end(&rows); /* Twice is fine. */
    return status;
}

static void check_round_trip(probe *p, sample s)
{
    CHECK_OK(probe_write(p, "", put_sample, &s), p->err);
    CHECK_OK(probe_read(p, check_sample, &s), p->err);
}

TEST(db, integers_and_reals_come_back_exactly)
{
    static const int64_t numbers[] = {
        0, -1, INT64_MIN, INT64_MAX, INT64_C(1) << 53, 1700000000000000};
    static const double reals[] = {0.0,      -0.0,    0.1,    -1.5, DBL_MAX,
                                   -DBL_MAX, DBL_MIN, 5e-324, 1e15, 3};
    probe p;
    int64_t id = 0;

    probe_open(&p, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        check_round_trip(&p, (sample){.id = id++, .number = LC_I(numbers[i])});
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        check_round_trip(&p, (sample){.id = id++, .real_number = LC_F(reals[i])});
    probe_close(&p);
}

/* Three-valued logic and "no such text" are different things: an empty text is there. */
TEST(db, empty_text_and_bytes_are_not_null)
{
    probe p;
    static char all[256];

    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    probe_open(&p, NULL);
    check_round_trip(&p, (sample){.id = 1});
    check_round_trip(&p, (sample){.id = 2, .words = LC_T(LC_STR("")), .bytes = LC_B(LC_STR(""))});
    /* The address of an empty text says nothing. */
    check_round_trip(&p, (sample){.id = 3, .words = {.kind = 't'}, .bytes = {.kind = 'b'}});
    check_round_trip(&p, (sample){.id = 4,
                                  .words = LC_T(LC_STR("O'Hara \"é\" 日本 \\ $1 ?1 \n")),
                                  .bytes = LC_B(((loci_str){all, sizeof all}))});
    probe_close(&p);
}

TEST(db, long_values_come_back_whole)
{
    enum { BYTES = 5000000 };
    char *text = test_bytes(BYTES);
    probe p;

    memset(text, 'x', BYTES);
    text[BYTES - 1] = 'y';
    probe_open(&p, NULL);
    check_round_trip(&p, (sample){.id = 1, .words = LC_T(((loci_str){text, BYTES}))});
    probe_close(&p);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static loci_status fill(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (int64_t i = 1; status == LOCI_OK && i <= *(const int *)ctx; i++)
        status = put_sample(tx, &(sample){.id = i}, err);
    return status;
}

static loci_status walk_nested(lc_tx *tx, void *ctx, loci_error *err)
{
    int *pairs = ctx;
    lc_rows outer, inner;
    loci_status status = lc_tx_query(tx, &ids_sql, (lc_arg[]){LC_I(0)}, &outer, err);

    *pairs = 0;
    while (status == LOCI_OK && lc_rows_next(&outer, &status, err)) {
        int64_t id = lc_rows_i64(&outer, 0);

        status = lc_tx_query(tx, &ids_sql, (lc_arg[]){LC_I(id)}, &inner, err);
        while (status == LOCI_OK && lc_rows_next(&inner, &status, err)) {
            CHECK_LT(id, lc_rows_i64(&inner, 0));
            ++*pairs;
        }
        lc_rows_end(&inner);
        CHECK_EQ(lc_rows_i64(&outer, 0), id); /* The outer row is where it was. */
    }
    lc_rows_end(&outer);
    return status;
}

TEST(db, one_statement_can_be_read_inside_itself)
{
    int count = 10, pairs;
    probe p;

    probe_open(&p, NULL);
    CHECK_OK(probe_write(&p, "", fill, &count), p.err);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(probe_read(&p, walk_nested, &pairs), p.err);
        CHECK_EQ(pairs, 45);
    }
    CHECK_OK(probe_write(&p, "", walk_nested, &pairs), p.err);
    CHECK_EQ(pairs, 45);
    probe_close(&p);
}

static loci_status leave_half_read(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_rows rows;
    bool found;
    loci_status status = lc_tx_find(tx, &ids_sql, (lc_arg[]){LC_I(0)}, &rows, &found, err);

    (void)ctx;
    CHECK(found);
    lc_rows_end(&rows);
    CHECK(!lc_rows_next(&rows, &status, err)); /* After the end there is nothing. */
    CHECK_STATUS(LOCI_OK, status);
    status = lc_tx_find(tx, &ids_sql, (lc_arg[]){LC_I(1000)}, &rows, &found, err);
    CHECK(!found);
    return status;
}

TEST(db, an_answer_can_be_left_in_the_middle)
{
    int count = 5;
    probe p;

    probe_open(&p, NULL);
    CHECK_OK(probe_write(&p, "", fill, &count), p.err);
    CHECK_OK(probe_read(&p, leave_half_read, NULL), p.err);
    CHECK_OK(probe_write(&p, "", leave_half_read, NULL), p.err);
    CHECK_EQ(probe_number(&p, &count_sql), 5);
    probe_close(&p);
}

static loci_status touch_one(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_tx_exec_one(tx, &touch_sql, (lc_arg[]){LC_I(*(const int64_t *)ctx)}, err);
}

/* A conditional update that met another state must be told from one that worked. */
TEST(db, exec_one_is_a_conflict_unless_one_row_changed)
{
    static const lc_sql touched_sql = {"select count(*) from samples where number = 1", "", "i"};
    int count = 5;
    int64_t none = 6, one = 5, two = 4;
    probe p;

    probe_open(&p, NULL);
    CHECK_OK(probe_write(&p, "", fill, &count), p.err);
    CHECK_STATUS(LOCI_ECONFLICT, probe_write(&p, "", touch_one, &none));
    CHECK_STATUS(LOCI_ECONFLICT, probe_write(&p, "", touch_one, &two));
    CHECK_EQ(probe_number(&p, &touched_sql), 0);
    CHECK_OK(probe_write(&p, "", touch_one, &one), p.err);
    CHECK_EQ(probe_number(&p, &touched_sql), 1);
    probe_close(&p);
}

/* The same in a group: the others are committed, and nothing of it stays, whenever it is found out.
 */
TEST(db, a_conflict_is_that_of_one_write)
{
    int64_t none = 600;
    sample first = {.id = 7}, last = {.id = 8};
    lc_write writes[3];
    probe p;

    probe_open(&p, NULL);
    writes[0] = probe_write_of(&p, "u", put_sample, &first);
    writes[1] = probe_write_of(&p, "v", touch_one, &none);
    writes[2] = probe_write_of(&p, "w", put_sample, &last);
    writes[0].next = &writes[1];
    writes[1].next = &writes[2];
    while (!writes[0].is_answered || !writes[1].is_answered || !writes[2].is_answered)
        lc_db_write(p.db, &writes[0]);
    CHECK_OK(writes[0].status, writes[0].error);
    CHECK_STATUS(LOCI_ECONFLICT, writes[1].status);
    CHECK_OK(writes[2].status, writes[2].error);
    CHECK_EQ(probe_number(&p, &count_sql), 2);
    probe_close(&p);
}

static void ignore_fault(void *ctx, const char *what, const char *file, int line)
{
    (void)file;
    (void)line;
    *(const char **)ctx = what;
}

static loci_status write_in_read(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    return put_sample(tx, &(sample){.id = 1}, err);
}

static loci_status wrong_kind(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    return lc_tx_exec(tx, &touch_sql, (lc_arg[]){LC_T(LC_STR("1"))}, err);
}

static void expect_fault(probe *p, lc_tx_body *body, const char *part)
{
    const char *volatile what = "";
    lc_fault_frame frame = {.report = ignore_fault, .ctx = (void *)&what};

    if (LC_FAULT_ENTER(&frame)) {
        (void)probe_read(p, body, NULL); /* Does not return. */
        test_fail(__FILE__, __LINE__, "no fault was raised");
    }
    lc_fault_leave(&frame);
    CHECK_CONTAINS((const char *)what, part);
}

TEST(db, misuse_is_a_fault_and_not_a_row)
{
    const char *path = probe_path();
    probe p;

    probe_open(&p, path);
    expect_fault(&p, write_in_read, "is_write");
    probe_close(&p); /* With the read still open, as after a bug. */
    probe_open(&p, path);
    expect_fault(&p, wrong_kind, "is_write");
    probe_close(&p);
    probe_open(&p, path);
    CHECK_EQ(probe_number(&p, &count_sql), 0);
    probe_close(&p);
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

typedef struct pair {
    probe *here;
    probe *there;
} pair;

static loci_status write_beside_read(lc_tx *tx, void *ctx, loci_error *err)
{
    static const lc_sql tx_count_sql = {"select count(*) from samples", "", "i"};
    probe *other = ctx;
    sample s = {.id = 1};

    for (int i = 0; i < 2; i++) {
        lc_rows rows;
        bool found;

        CHECK_OK(lc_tx_find(tx, &tx_count_sql, NULL, &rows, &found, err), err);
        CHECK_EQ(lc_rows_i64(&rows, 0), 0);
        lc_rows_end(&rows);
        if (i == 0)
            CHECK_OK(probe_write(other, "", put_sample, &s), other->err); /* Does not wait. */
    }
    CHECK_EQ(probe_number(other, &count_sql), 1);
    return LOCI_OK;
}

TEST(db, a_read_sees_one_moment_beside_a_writer)
{
    const char *path = probe_path();
    probe reader, writer;

    probe_open(&reader, path);
    probe_open(&writer, path);
    CHECK_OK(probe_read(&reader, write_beside_read, &writer), reader.err);
    CHECK_EQ(probe_number(&reader, &count_sql), 1);
    probe_close(&writer);
    probe_close(&reader);
}

static loci_status look_from_outside(lc_tx *tx, void *ctx, loci_error *err)
{
    probe *other = ctx;
    loci_status status = put_sample(tx, &(sample){.id = 1}, err);

    CHECK_EQ(probe_number(other, &count_sql), 0);
    return status;
}

TEST(db, nobody_sees_a_write_before_its_commit)
{
    const char *path = probe_path();
    probe writer, reader;

    probe_open(&writer, path);
    probe_open(&reader, path);
    CHECK_OK(probe_write(&writer, "", look_from_outside, &reader), writer.err);
    CHECK_EQ(probe_number(&reader, &count_sql), 1);
    probe_close(&reader);
    probe_close(&writer);
}

TEST(db, the_change_mark_tells_of_others_commits)
{
    const char *path = probe_path();
    sample s = {.id = 1};
    uint64_t before;
    probe a, b;

    probe_open(&a, path);
    probe_open(&b, path);
    before = a.db->driver->change_mark(a.db);
    CHECK_EQ(probe_number(&b, &count_sql), 0);
    CHECK_EQ(a.db->driver->change_mark(a.db), before); /* Reads change nothing. */
    CHECK_OK(probe_write(&b, "", put_sample, &s), b.err);
    CHECK_NE(a.db->driver->change_mark(a.db), before);
    probe_close(&b);
    probe_close(&a);
}

/* ---- Time ------------------------------------------------------------------------------------ */

static loci_status count_slowly(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &slow_sql, (lc_arg[]){LC_I(INT64_C(1) << 40)}, &rows,
                                    &found, err);

    if (ctx != NULL)
        atomic_store((_Atomic bool *)ctx, true);
    lc_rows_end(&rows);
    return status;
}

TEST(db, a_read_is_given_up_at_its_deadline)
{
    int64_t began_us = lc_clock_monotonic_us();
    probe p;

    probe_open(&p, NULL);
    CHECK_STATUS(LOCI_EDEADLINE, lc_db_read(p.db, began_us + 50000, count_slowly, NULL, &p.err));
    CHECK_LT(lc_clock_monotonic_us() - began_us, 900000);
    CHECK_EQ(probe_number(&p, &count_sql), 0); /* And the next one is not. */
    probe_close(&p);
}

/* An open snapshot keeps the log of the database from shrinking, whatever the caller's patience. */
TEST(db, no_read_holds_its_snapshot_for_long)
{
    int64_t began_us = lc_clock_monotonic_us();
    probe p;

    probe_open(&p, NULL);
    CHECK_STATUS(LOCI_EDEADLINE, lc_db_read(p.db, INT64_MAX, count_slowly, NULL, &p.err));
    CHECK_LE(LC_READ_TX_MS_MAX * 1000, lc_clock_monotonic_us() - began_us);
    probe_close(&p);
}

typedef struct interrupter {
    lc_db *db;
    _Atomic bool is_over;
} interrupter;

/* An interrupt that comes when nothing runs is nothing, so it is repeated. */
static void *interrupt_until_over(void *ctx)
{
    interrupter *i = ctx;

    while (!atomic_load(&i->is_over)) {
        i->db->driver->interrupt(i->db);
        lc_clock_sleep_us(1000);
    }
    return NULL;
}

TEST(db, an_interrupt_ends_what_is_running)
{
    interrupter i = {0};
    pthread_t thread;
    probe p;

    probe_open(&p, NULL);
    i.db = p.db;
    CHECK_EQ(pthread_create(&thread, NULL, interrupt_until_over, &i), 0);
    CHECK_STATUS(LOCI_ECANCELLED, lc_db_read(p.db, INT64_MAX, count_slowly, &i.is_over, &p.err));
    atomic_store(&i.is_over, true); /* The interrupt may have come before the body began. */
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(probe_number(&p, &count_sql), 0);
    probe_close(&p);
}

static loci_status compete(lc_tx *tx, void *ctx, loci_error *err)
{
    probe *other = ctx;
    sample s = {.id = 2};
    lc_write late = probe_write_of(other, "", put_sample, &s);
    int64_t began_us = lc_clock_monotonic_us();

    late.deadline_us = began_us + 30000;
    lc_db_write(other->db, &late);
    CHECK(late.is_answered);
    CHECK_STATUS(LOCI_EDEADLINE, late.status);
    CHECK_STATUS(LOCI_EDEADLINE, late.error.status);
    CHECK_LE(30000, lc_clock_monotonic_us() - began_us);
    return put_sample(tx, &(sample){.id = 1}, err);
}

TEST(db, a_writer_waits_for_another_until_its_deadline)
{
    static const lc_sql second_sql = {"select count(*) from samples where id = 2", "", "i"};
    const char *path = probe_path();
    probe a, b;

    probe_open(&a, path);
    probe_open(&b, path);
    CHECK_OK(probe_write(&a, "", compete, &b), a.err);
    CHECK_EQ(probe_number(&b, &count_sql), 1);
    CHECK_EQ(probe_number(&b, &second_sql), 0);
    probe_close(&b);
    probe_close(&a);
}
