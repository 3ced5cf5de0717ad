/* The state number of a store (lc_db_driver.state): which commits change it, and who sees that. */
#include "contract/probe_fixture.h"

#include <string.h>

#include "base/error.h"

static char word[] = "x";

static uint64_t state_of(const probe *p)
{
    uint64_t state = p->db->driver->state(p->db);

    CHECK(state != 0);
    return state;
}

static loci_status write_nothing(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)tx;
    (void)ctx;
    (void)err;
    return LOCI_OK;
}

static loci_status write_and_fail(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_status status = probe_say(tx, ctx, NULL, err);

    return status == LOCI_OK ? lc_fail(err, LOCI_ECONFLICT, "as told") : status;
}

TEST_ON(TEST_FILES, db_state, every_commit_is_seen_from_every_connection)
{
    const char *path = probe_path();
    probe a, b;

    probe_open(&a, path);
    probe_open(&b, path);
    /* Enough of them for the log to be written anew from its beginning, more than once. */
    for (int i = 0; i < 1500; i++) {
        probe *writer = i % 3 == 0 ? &b : &a;
        uint64_t before = state_of(&b);

        CHECK(state_of(&a) == before);
        CHECK_OK(probe_write(writer, "u", probe_say_body, word), writer->err);
        CHECK(state_of(&a) == state_of(&b));
        CHECK(state_of(&b) != before);
    }
    probe_close(&b);
    probe_close(&a);
}

TEST_ON(TEST_FILES, db_state, what_is_not_committed_changes_nothing)
{
    const char *path = probe_path();
    uint64_t before;
    probe a, b;

    probe_open(&a, path);
    probe_open(&b, path);
    before = state_of(&b);
    CHECK_OK(probe_write(&a, "u", write_nothing, NULL), a.err);
    CHECK(state_of(&b) == before);
    CHECK_STATUS(LOCI_ECONFLICT, probe_write(&a, "u", write_and_fail, word));
    CHECK(state_of(&b) == before);
    probe_expect_log(&b, "u", 0);
    CHECK(state_of(&b) == before);
    probe_close(&b);
    probe_close(&a);
}

/* Whoever has the state has what belongs to it, also when the last one to close the file moved
 * everything out of the log. */
TEST_ON(TEST_FILES, db_state, it_is_there_after_opening_again)
{
    const char *path = probe_path();
    probe p;

    for (int i = 0; i < 3; i++) {
        uint64_t before;

        probe_open(&p, path);
        before = state_of(&p);
        CHECK_OK(probe_write(&p, "u", probe_say_body, word), p.err);
        CHECK(state_of(&p) != before);
        probe_expect_log(&p, "u", i + 1);
        probe_close(&p);
    }
}

/* ---- Coalesced writes to the WAL (sqlite_vfs.c) ---------------------------------------------- */

#define LARGE_ROWS 300
#define LARGE_BYTES 4000

static const lc_sql put_large_sql = {
    "insert into samples (tenant_id, user_id, id, words) values ('t', 'u', $1, $2)", "it", NULL};
static const lc_sql number_sql = {"update samples set number = id", "", NULL};
static const lc_sql large_sql = {
    "select count(*), sum(length(words)), cast(coalesce(sum(id), 0) as bigint) from samples", "",
    "iii"};

static loci_status check_large(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_rows rows;
    bool found;

    (void)ctx;
    CHECK_OK(lc_tx_find(tx, &large_sql, NULL, &rows, &found, err), *err);
    CHECK(found);
    CHECK_EQ(lc_rows_i64(&rows, 0), LARGE_ROWS);
    CHECK_EQ(lc_rows_i64(&rows, 1), LARGE_ROWS * LARGE_BYTES);
    CHECK_EQ(lc_rows_i64(&rows, 2), LARGE_ROWS * (LARGE_ROWS - 1) / 2);
    lc_rows_end(&rows);
    return LOCI_OK;
}

/* Pages that went to the log early are read again, and written again where they are. */
static loci_status put_large(lc_tx *tx, void *ctx, loci_error *err)
{
    loci_str text = {ctx, LARGE_BYTES};
    loci_status status = LOCI_OK;

    for (int64_t i = 0; status == LOCI_OK && i < LARGE_ROWS; i++)
        status = lc_tx_exec(tx, &put_large_sql, (lc_arg[]){LC_I(i), LC_T(text)}, err);
    if (status == LOCI_OK)
        status = check_large(tx, NULL, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &number_sql, NULL, err);
    return status == LOCI_OK ? check_large(tx, NULL, err) : status;
}

static void check_coalesced(bool is_relaxed, const char *before)
{
    const char *path = probe_path();
    char *text = test_bytes(LARGE_BYTES);
    probe a, b;

    memset(text, 'x', LARGE_BYTES);
    probe_open(&a, path);
    probe_open(&b, path);
    probe_script(&a, before);
    CHECK_OK(a.db->driver->set_durability(a.db, is_relaxed, &a.err), a.err);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(probe_write(&a, "u", probe_say_body, word), a.err);
        probe_expect_log(&b, "u", i + 1);
    }
    CHECK_OK(probe_write(&a, "u", put_large, text), a.err);
    CHECK_OK(probe_read(&b, check_large, NULL), b.err);
    CHECK_OK(probe_write(&a, "u", check_large, NULL), a.err);
    probe_close(&a);
    CHECK_OK(probe_read(&b, check_large, NULL), b.err);
    probe_close(&b);
}

TEST_ON(TEST_FILES, db_state, a_commit_is_there_for_others_when_it_is_told)
{
    check_coalesced(false, "select 1");
}

/* Nobody syncs: nothing may be buffered. */
TEST_ON(TEST_FILES, db_state, a_commit_that_is_not_synced_is_there_too)
{
    check_coalesced(true, "select 1");
}

/* With so little memory pages go to the log before the commit, and are read from there. */
TEST_ON(TEST_FILES, db_state, buffered_pages_can_be_read)
{
    check_coalesced(false, "pragma cache_size = 10");
}
