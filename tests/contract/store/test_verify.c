/* A store is damaged in every way that we could think of, and verify must name each. */
#include "contract/note_fixture.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/event.h"
#include "store/verify.h"

static void open_filled(notes *n)
{
    notes_open(n, NULL);
    notes_fill(n, "ann", 40);
    notes_fill(n, "bob", 3);
    notes_write(n, "cy", 2, "hello");
}

TEST(verify, an_empty_store_is_sound)
{
    notes n;

    notes_open(&n, NULL);
    notes_expect_sound(&n);
    notes_close(&n);
}

TEST(verify, a_store_in_use_is_sound)
{
    notes n;

    open_filled(&n);
    notes_expect_sound(&n);
    notes_write(&n, "ann", 2, "again");
    notes_remove(&n, "ann", 5);
    notes_expect_sound(&n);
    notes_close(&n);
}

/* A user may have more rows than there is memory. SQLite's memory has the caches of two
 * connections, 8 MB each, and what tests that broke a connection on purpose have left. */
TEST(verify, of_a_large_user_needs_little_memory)
{
    static char text[200001];
    int64_t before = sqlite3_memory_used();
    notes n;

    memset(text, 'x', sizeof text - 1);
    notes_open(&n, NULL);
    for (int i = 0; i < 200; i++) /* 40 MB. */
        notes_write(&n, "ann", 2 * i, text);
    (void)sqlite3_memory_highwater(1);
    notes_expect_sound(&n);
    CHECK_LT(sqlite3_memory_highwater(0) - before, INT64_C(24) << 20);
    notes_close(&n);
}

static loci_status count_page(void *ctx, const char *what, int64_t done, int64_t total,
                              loci_error *err)
{
    (void)what;
    (void)done;
    (void)total;
    (void)err;
    ++*(int64_t *)ctx;
    return LOCI_OK;
}

/* A read may last a second, so a large snapshot must be replayed in several. Not on a server, whose
 * index of the notes has no room for such texts. */
TEST_ON(TEST_FILES, verify, replays_a_large_snapshot_in_pages)
{
    static char text[400001];
    lc_problems problems = {0};
    lc_upkeep upkeep = {.progress = count_page};
    int64_t pages = 0;
    notes n;

    memset(text, 'x', sizeof text - 1);
    notes_open(&n, NULL);
    for (int i = 0; i < 60; i++) /* 24 MB. */
        notes_write(&n, "ann", i, text);
    notes_compact(&n, "ann");
    notes_write(&n, "ann", 100, "after it");
    upkeep.db = n.db;
    upkeep.plan = &n.plan;
    upkeep.ctx = &pages;
    CHECK_OK(lc_verify(&upkeep, &problems, &n.err), n.err);
    CHECK_EQ(problems.count, 0);
    CHECK_LE(3, pages);
    notes_damage(&n, "update notes set text = 'other' where user_id = 'ann' and id = 8");
    notes_expect_problem(&n, "id=8: text differs");
    notes_close(&n);
}

/* Damages a fresh store with `script` and checks the first sentence of the verdict. */
static void check_damage(const char *script, const char *part)
{
    notes n;

    open_filled(&n);
    notes_damage(&n, script);
    notes_expect_problem(&n, part);
    notes_close(&n);
}

TEST(verify, finds_damaged_projections)
{
    check_damage("delete from notes where user_id = 'ann' and id = 8",
                 "user t/ann: notes folder=* id=8: row is missing");
    check_damage("update notes set text = 'other' where user_id = 'ann' and id = 8",
                 "user t/ann: notes folder=* id=8: text differs");
    check_damage("update notes set text = null where user_id = 'ann' and id = 8",
                 "notes folder=* id=8: text differs");
    check_damage("update notes set score = 8.5 where user_id = 'ann' and id = 8",
                 "notes folder=* id=8: score differs");
    check_damage("update notes set body = x'00' where user_id = 'ann' and id = 8",
                 "notes folder=* id=8: body differs");
    check_damage("update notes set body = x'' where user_id = 'ann' and id = 9",
                 "notes folder=* id=9: body differs");
    check_damage("update notes set id = 1000 where user_id = 'bob' and id = 1",
                 "user t/bob: notes folder=* id=1: row is missing");
    check_damage("insert into notes values ('t', 'bob', 'x', 99, null, null, null, 99)",
                 "user t/bob: notes folder=* id=99: no event makes this row");
    check_damage("update note_counts set written = 4 where user_id = 'bob'",
                 "user t/bob: note_counts: written differs");
    check_damage("delete from note_counts where user_id = 'bob'",
                 "user t/bob: note_counts: row is missing");
    check_damage("delete from notes; delete from note_counts", "user t/ann: notes");
}

TEST(verify, finds_damaged_logs)
{
    check_damage("delete from events where user_id = 'ann' and seq = 17",
                 "user t/ann: event 17 is missing");
    check_damage("delete from events where user_id = 'ann' and seq = 1",
                 "user t/ann: event 1 is missing");
    check_damage("delete from events where user_id = 'ann' and seq = 40",
                 "user t/ann: the head says event 40, the last one is 39");
    check_damage("delete from events where user_id = 'cy'",
                 "user t/cy: the head says event 1, the last one is 0");
    check_damage("update heads set seq = 41 where user_id = 'ann'",
                 "user t/ann: the head says event 41, the last one is 40");
    check_damage("update heads set seq = 39 where user_id = 'ann'",
                 "user t/ann: the head says event 39, the last one is 40");
    check_damage("update heads set recorded_at = recorded_at + 1 where user_id = 'ann'",
                 "user t/ann: the head has another time than event 40");
    check_damage("update events set recorded_at = 1 where user_id = 'ann' and seq = 20",
                 "user t/ann: event 20 is recorded before event 19");
    check_damage("update events set type = 'note.eaten' where user_id = 'ann' and seq = 20",
                 "user t/ann: event 20 has the type note.eaten");
    check_damage("update events set v = 9 where user_id = 'ann' and seq = 20",
                 "user t/ann: event 20 is note.written version 9");
    check_damage("update events set v = 0 where user_id = 'ann' and seq = 20",
                 "user t/ann: event 20 has version 0");
    check_damage("update events set payload = '{' where user_id = 'ann' and seq = 20",
                 "user t/ann: event 20 does not apply");
    check_damage("update events set refs = '{}' where user_id = 'ann' and seq = 20",
                 "user t/ann: event 20 does not apply");
    check_damage("update events set payload = '{\"folder\":\"f1\",\"text\":\"x\",\"score\":1.5}'"
                 " where user_id = 'cy'",
                 "user t/cy: notes");
}

TEST(verify, finds_what_belongs_to_nobody)
{
    check_damage("delete from heads where user_id = 'bob'",
                 "user t/bob: events has rows, but there is no head");
    check_damage("insert into notes values ('t', 'zoe', 'x', 1, null, null, null, 1)",
                 "user t/zoe: notes has rows, but there is no head");
    check_damage("insert into note_counts values ('', 'zoe', 1)",
                 "user /zoe: note_counts has rows, but there is no head");
    check_damage(
        "delete from heads where user_id = 'bob'; delete from events where user_id = 'bob'",
        "user t/bob: notes has rows, but there is no head");
}

TEST(verify, asks_the_rooms)
{
    notes n;

    notes_open(&n, NULL);
    notes_write(&n, "ann", 12, "fine");
    notes_damage(&n, "update events set payload = '{\"folder\":\"f0\",\"score\":13}';"
                     "update notes set score = 13, text = null, body = x'7b226964223a31327d'");
    notes_expect_problem(&n, "note 12 is unlucky");
    notes_close(&n);
}

/* A reader of the report must be able to trust its number even when everything is broken. */
TEST(verify, counts_every_difference)
{
    lc_problems problems;
    notes n;

    notes_open(&n, NULL);
    for (int i = 0; i < 30; i++)
        notes_write(&n, "ann", i, "text");
    notes_damage(&n, "update notes set text = 'x'");
    problems = notes_verify(&n);
    CHECK_EQ(problems.count, 30);
    CHECK_STATUS(LOCI_ECORRUPT, lc_problems_status(&problems, &n.err));
    CHECK_CONTAINS(n.err.message, "30 problems");
    notes_close(&n);
}

/* Pages of the log, pages of a comparison and small users that share the scratch meet their limits.
 */
TEST(verify, copes_with_users_of_many_pages)
{
    char user[16];
    notes n;

    notes_open(&n, NULL);
    notes_fill(&n, "big", 3500);
    notes_fill(&n, "exact", LC_UPKEEP_EVENTS);
    notes_fill(&n, "over", LC_UPKEEP_EVENTS + 1);
    for (int i = 0; i < 20; i++) {
        (void)snprintf(user, sizeof user, "u%d", i);
        notes_fill(&n, user, 600);
    }
    notes_expect_sound(&n);
    notes_damage(&n, "delete from notes where user_id = 'big' and id = 3301;"
                     "update notes set text = 'x' where user_id = 'u19' and id = 592");
    CHECK_EQ(notes_verify(&n).count, 2);
    notes_close(&n);
}

/* Texts of a version before must give the rows that they gave when they were written. */
TEST(verify, reads_older_versions_of_events)
{
    notes n;

    notes_open(&n, NULL);
    notes_write(&n, "ann", 2, "text");
    notes_damage(&n, "update events set v = 1, payload = '{\"text\":\"text\",\"score\":2.5}';"
                     "update notes set folder = 'old'");
    notes_expect_sound(&n);
    notes_damage(&n, "update notes set folder = 'new'");
    CHECK_EQ(notes_verify(&n).count, 2);
    notes_close(&n);
}

TEST(verify, accepts_erased_events)
{
    notes n;

    notes_open(&n, NULL);
    notes_write(&n, "ann", 3, "secret");
    notes_damage(&n, "update events set payload = '', is_erased = 1;"
                     "update notes set folder = '', text = null");
    notes_expect_sound(&n);
    notes_close(&n);
}

/* Writes to the user that is being compared, up to `left` times. */
typedef struct intruder {
    notes other;
    int left;
} intruder;

static loci_status intrude(void *ctx, const char *what, int64_t done, int64_t total,
                           loci_error *err)
{
    intruder *i = ctx;

    (void)done;
    (void)total;
    (void)err;
    if (strcmp(what, "events verified") == 0 && i->left > 0) {
        i->left--;
        notes_write(&i->other, "ann", 100 + i->left, "meanwhile");
    }
    return LOCI_OK;
}

TEST(verify, a_user_who_writes_meanwhile_is_compared_again)
{
    intruder i = {.left = 4};
    lc_problems problems = {0};
    const char *path = notes_path();
    notes n;
    lc_upkeep upkeep;

    notes_open(&n, path);
    notes_open(&i.other, path);
    notes_fill(&n, "ann", 40);
    upkeep = (lc_upkeep){.db = n.db, .plan = &n.plan, .progress = intrude, .ctx = &i};
    CHECK_OK(lc_verify(&upkeep, &problems, &n.err), n.err);
    CHECK_EQ(problems.count, 0);
    i.left = 1000;
    CHECK_STATUS(LOCI_EUNAVAILABLE, lc_verify(&upkeep, &problems, &n.err));
    CHECK_CONTAINS(n.err.message, "t/ann");
    notes_close(&i.other);
    notes_close(&n);
}

static loci_status give_up(void *ctx, const char *what, int64_t done, int64_t total,
                           loci_error *err)
{
    (void)ctx;
    (void)what;
    (void)total;
    return done > 0 ? lc_fail(err, LOCI_ECANCELLED, "enough") : LOCI_OK;
}

TEST(verify, can_be_stopped)
{
    lc_problems problems = {0};
    notes n;
    lc_upkeep upkeep;

    open_filled(&n);
    upkeep = (lc_upkeep){.db = n.db, .plan = &n.plan, .progress = give_up};
    CHECK_STATUS(LOCI_ECANCELLED, lc_verify(&upkeep, &problems, &n.err));
    notes_close(&n);
}

static loci_status verify_body(void *ctx)
{
    notes *n = ctx;
    lc_upkeep upkeep = {.db = n->db, .plan = &n->plan};
    lc_problems problems = {0};
    loci_status status = lc_verify(&upkeep, &problems, &n->err);

    CHECK_EQ(problems.count, 0);
    return status;
}

TEST(verify, survives_the_loss_of_any_allocation)
{
    notes n;

    open_filled(&n);
    CHECK_STATUS(LOCI_OK, verify_body(&n)); /* The connection's statements are made once. */
    notes_oom_sweep(verify_body, &n);
    notes_close(&n);
}
