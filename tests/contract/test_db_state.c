/* A store that tells its state without being read (lc_db_driver.state): what changes it, by how
 * much, and what a connection says of its own step. */
#include "contract/probe_fixture.h"

#include "base/error.h"

static char word[] = "x";

static uint64_t state_of(const probe *p)
{
    uint64_t state = p->db->driver->state(p->db);

    CHECK(state != 0);
    return state;
}

static uint64_t commits_between(uint64_t from, uint64_t to)
{
    return (to >> LC_STATE_BITS) - (from >> LC_STATE_BITS);
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
        CHECK_EQ(commits_between(before, state_of(&b)), 1);
        CHECK(writer->db->step.from == before);
        CHECK_EQ(writer->db->step.commits, 1);
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
    CHECK_EQ(a.db->step.commits, 0);
    CHECK_STATUS(LOCI_ECONFLICT, probe_write(&a, "u", write_and_fail, word));
    CHECK(state_of(&b) == before);
    CHECK_EQ(a.db->step.commits, 0);
    probe_expect_log(&b, "u", 0);
    CHECK(state_of(&b) == before);
    probe_close(&b);
    probe_close(&a);
}

/* A group that is spoilt is several commits. */
TEST_ON(TEST_FILES, db_state, a_step_counts_all_its_commits)
{
    uint64_t before;
    lc_write writes[3];
    probe p;

    probe_open(&p, NULL);
    before = state_of(&p);
    writes[0] = probe_write_of(&p, "u", probe_say_body, word);
    writes[1] = probe_write_of(&p, "v", probe_say_body, word);
    writes[2] = probe_write_of(&p, "u", write_and_fail, word);
    writes[0].next = &writes[1];
    writes[1].next = &writes[2];
    lc_db_write(p.db, &writes[0]);
    CHECK_STATUS(LOCI_OK, writes[0].status);
    CHECK_STATUS(LOCI_OK, writes[1].status);
    CHECK_STATUS(LOCI_ECONFLICT, writes[2].status);
    CHECK(p.db->step.from == before);
    CHECK_EQ(p.db->step.commits, 2);
    CHECK_EQ(commits_between(before, state_of(&p)), 2);
    probe_close(&p);
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
        CHECK_EQ(commits_between(before, state_of(&p)), 1);
        probe_expect_log(&p, "u", i + 1);
        probe_close(&p);
    }
}

/* ---- What a connection remembers of its own writes (memo.h) ---------------------------------- */

#define MEMO_KEY LC_STR("test")

static loci_status remember(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)lc_memo_put(tx->db->memo, MEMO_KEY, 1);
    return probe_say(tx, ctx, NULL, err);
}

/* `ctx`: whether it is. */
static loci_status look(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)err;
    *(bool *)ctx = lc_memo_find(tx->db->memo, MEMO_KEY) != NULL;
    return LOCI_OK;
}

static bool is_remembered(probe *p)
{
    bool is = false;

    CHECK_OK(probe_write(p, "u", look, &is), p->err);
    return is;
}

TEST_ON(TEST_FILES, db_state, a_connection_remembers_until_somebody_else_writes)
{
    const char *path = probe_path();
    probe a, b;

    probe_open(&a, path);
    probe_open(&b, path);
    CHECK_OK(probe_write(&a, "u", remember, word), a.err);
    CHECK(is_remembered(&a));
    CHECK_OK(probe_write(&a, "v", probe_say_body, word), a.err);
    CHECK(is_remembered(&a));
    CHECK_OK(probe_write(&b, "w", probe_say_body, word), b.err);
    CHECK(!is_remembered(&a));
    CHECK(!is_remembered(&b));
    CHECK_OK(probe_write(&a, "u", remember, word), a.err);
    CHECK(is_remembered(&a));
    CHECK_STATUS(LOCI_ECONFLICT, probe_write(&a, "v", write_and_fail, word));
    CHECK(!is_remembered(&a));
    CHECK_OK(probe_write(&a, "u", remember, word), a.err);
    CHECK_OK(probe_write(&a, "", write_nothing, NULL), a.err); /* It may be about anybody. */
    CHECK(!is_remembered(&a));
    probe_expect_log(&b, "u", 3);
    probe_close(&b);
    probe_close(&a);
}
