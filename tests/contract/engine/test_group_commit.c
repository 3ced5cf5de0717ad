/* Group commit: many writes share a commit, and none pays for another's failure. */
#include "contract/probe_fixture.h"

#include "base/error.h"
#include "base/limits.h"

/* What a body of these tests does, and what became of it. */
typedef struct deed {
    const char *text;    /* Said, unless NULL. */
    loci_status failure; /* Answered instead, before anything is written, unless LOCI_OK. */
    bool fails_dirty;    /* Answered after it was said. */
    int fails_from_run;  /* Fails dirty from this run on; 0 = never. */
    int64_t sleep_us;
    int runs;
    int64_t seq;
} deed;

static loci_status act(lc_tx *tx, void *ctx, loci_error *err)
{
    deed *d = ctx;
    loci_status status = LOCI_OK;

    d->runs++;
    if (d->sleep_us > 0)
        lc_clock_sleep_us(d->sleep_us);
    if (d->failure != LOCI_OK && !d->fails_dirty)
        return lc_fail(err, d->failure, "decided against");
    if (d->text != NULL)
        status = probe_say(tx, d->text, &d->seq, err);
    if (status == LOCI_OK &&
        (d->fails_dirty || (d->fails_from_run > 0 && d->runs >= d->fails_from_run)))
        status = lc_fail(err, LOCI_EUNSUPPORTED, "failed late");
    return status;
}

#define GROUP_MAX 600

typedef struct group {
    probe p;
    lc_write writes[GROUP_MAX];
    deed deeds[GROUP_MAX];
    size_t count;
} group;

static group *new_group(const char *path)
{
    group *g = (group *)test_bytes(sizeof *g);

    probe_open(&g->p, path);
    g->p.db->commit_us_max = INT64_MAX; /* A busy machine must not split what belongs together. */
    return g;
}

static deed *add(group *g, const char *user, deed d)
{
    size_t at = g->count++;

    g->deeds[at] = d;
    g->writes[at] = probe_write_of(&g->p, user, act, &g->deeds[at]);
    if (at > 0)
        g->writes[at - 1].next = &g->writes[at];
    return &g->deeds[at];
}

static size_t answered(const group *g)
{
    size_t count = 0;

    for (size_t i = 0; i < g->count; i++)
        count += g->writes[i].is_answered;
    return count;
}

/* Calls as the engine does, until everything is answered; how many calls it took. */
static int write_all(group *g)
{
    int calls = 0;

    while (answered(g) < g->count) {
        size_t before = answered(g);

        lc_db_write(g->p.db, g->writes);
        calls++;
        CHECK_LT(before, answered(g)); /* Every call answers somebody. */
    }
    return calls;
}

TEST(group_commit, users_and_heads_do_not_mix)
{
    static const lc_sql heads_sql = {"select count(*) from heads", "", "i"};
    static const char *const users[] = {"a", "b", "c"};
    const char *path = probe_path();
    group *g = new_group(path);
    probe other;

    for (int i = 0; i < 30; i++)
        add(g, users[i % 3], (deed){.text = "in turn"});
    for (int i = 0; i < 30; i++)
        add(g, users[i / 10], (deed){.text = "in a row"});
    CHECK_LE(write_all(g), 10);
    for (int i = 0; i < 60; i++) {
        CHECK_OK(g->writes[i].status, g->writes[i].error);
        CHECK_EQ(g->deeds[i].runs, 1);
        CHECK_EQ(g->deeds[i].seq, i < 30 ? i / 3 + 1 : 10 + i % 10 + 1);
    }
    probe_open(&other, path);
    for (int i = 0; i < 3; i++)
        probe_expect_log(&other, users[i], 20);
    CHECK_EQ(probe_number(&other, &heads_sql), 3);
    probe_close(&other);
    probe_close(&g->p);
}

TEST(group_commit, a_clean_failure_leaves_the_others_alone)
{
    group *g = new_group(NULL);
    deed *before = add(g, "a", (deed){.text = "before"});

    add(g, "a", (deed){.failure = LOCI_ENOTFOUND});
    add(g, "b", (deed){.failure = LOCI_ECONFLICT});
    add(g, "a", (deed){.text = "after"});
    CHECK_EQ(write_all(g), 1);
    CHECK_OK(g->writes[0].status, g->writes[0].error);
    CHECK_STATUS(LOCI_ENOTFOUND, g->writes[1].status);
    CHECK_STATUS(LOCI_ENOTFOUND, g->writes[1].error.status);
    CHECK_STATUS(LOCI_ECONFLICT, g->writes[2].status);
    CHECK_OK(g->writes[3].status, g->writes[3].error);
    CHECK_EQ(before->runs, 1);
    probe_expect_log(&g->p, "a", 2);
    probe_expect_log(&g->p, "b", 0);
    probe_close(&g->p);
}

TEST(group_commit, a_late_failure_costs_the_others_a_second_run_only)
{
    group *g = new_group(NULL);

    add(g, "a", (deed){.text = "one"});
    add(g, "b", (deed){.text = "two"});
    add(g, "a", (deed){.text = "three", .fails_dirty = true});
    add(g, "a", (deed){.text = "four"});
    add(g, "b", (deed){.text = "please refuse"}); /* Its apply fails. */
    add(g, "b", (deed){.text = "five"});
    (void)write_all(g);
    CHECK_OK(g->writes[0].status, g->writes[0].error);
    CHECK_OK(g->writes[1].status, g->writes[1].error);
    CHECK_STATUS(LOCI_EUNSUPPORTED, g->writes[2].status);
    CHECK_STR_EQ(g->writes[2].error.message, "failed late");
    CHECK_OK(g->writes[3].status, g->writes[3].error);
    CHECK_STATUS(LOCI_EUNSUPPORTED, g->writes[4].status);
    CHECK_OK(g->writes[5].status, g->writes[5].error);
    CHECK_EQ(g->deeds[0].runs, 2);
    CHECK_EQ(g->deeds[3].seq, 2);
    probe_expect_log(&g->p, "a", 2);
    probe_expect_log(&g->p, "b", 2);
    probe_close(&g->p);
}

typedef struct expectation {
    int64_t seq;
    int runs;
} expectation;

static loci_status expect_seq(lc_tx *tx, void *ctx, loci_error *err)
{
    expectation *e = ctx;
    loci_status status = lc_tx_expect_seq(tx, e->seq, err);

    e->runs++;
    return status == LOCI_OK ? probe_say(tx, "as expected", NULL, err) : status;
}

/* Who was refused because of what another wrote must be judged again when that is undone: an answer
 * may not rest on something that never happened. */
TEST(group_commit, a_refusal_does_not_rest_on_what_was_undone)
{
    group *g = new_group(NULL);
    expectation first = {.seq = 0};

    add(g, "a", (deed){.text = "never to be", .fails_from_run = 2});
    add(g, "a", (deed){0});
    g->writes[1].body = expect_seq;
    g->writes[1].ctx = &first;
    add(g, "b", (deed){.text = "spoils it", .fails_dirty = true});
    (void)write_all(g);
    CHECK_STATUS(LOCI_EUNSUPPORTED, g->writes[0].status);
    CHECK_OK(g->writes[1].status, g->writes[1].error);
    CHECK_EQ(first.runs, 2);
    probe_expect_log(&g->p, "a", 1);
    probe_expect_log(&g->p, "b", 0);
    probe_close(&g->p);
}

/* ---- Ceilings -------------------------------------------------------------------------------- */

TEST(group_commit, a_commit_takes_no_more_calls_than_its_ceiling)
{
    static const size_t counts[] = {LC_WRITES_PER_COMMIT_MAX - 1, LC_WRITES_PER_COMMIT_MAX,
                                    LC_WRITES_PER_COMMIT_MAX + 1};

    for (size_t i = 0; i < 3; i++) {
        group *g = new_group(NULL);

        for (size_t k = 0; k < counts[i]; k++)
            add(g, "a", (deed){.text = "x"});
        lc_db_write(g->p.db, g->writes);
        CHECK_LE(answered(g), LC_WRITES_PER_COMMIT_MAX);
        CHECK_LE(1, answered(g));
        (void)write_all(g);
        probe_expect_log(&g->p, "a", (int64_t)counts[i]);
        probe_close(&g->p);
    }
}

TEST(group_commit, a_commit_takes_no_more_bytes_than_its_ceiling)
{
    group *g = new_group(NULL);

    for (int i = 0; i < 4; i++) {
        add(g, "a", (deed){.text = "x"});
        g->writes[i].bytes = LC_WRITE_BYTES_PER_COMMIT_MAX / 2;
    }
    lc_db_write(g->p.db, g->writes);
    CHECK_LE(answered(g), 2);
    g->writes[2].bytes = LC_WRITE_BYTES_PER_COMMIT_MAX * 10; /* Alone, but not refused. */
    (void)write_all(g);
    probe_expect_log(&g->p, "a", 4);
    probe_close(&g->p);
}

TEST(group_commit, a_commit_takes_no_more_time_than_its_ceiling)
{
    group *g = new_group(NULL);

    g->p.db->commit_us_max = LC_WRITE_US_PER_COMMIT_MAX;
    for (int i = 0; i < 6; i++)
        add(g, "a", (deed){.text = "x", .sleep_us = LC_WRITE_US_PER_COMMIT_MAX * 3 / 5});
    lc_db_write(g->p.db, g->writes);
    CHECK_LE(1, answered(g));
    CHECK_LE(answered(g), 2);
    (void)write_all(g);
    probe_expect_log(&g->p, "a", 6);
    probe_close(&g->p);
}

TEST(group_commit, a_write_whose_time_is_over_never_runs)
{
    group *g = new_group(NULL);
    deed *late = add(g, "a", (deed){.text = "late"});

    add(g, "a", (deed){.text = "in time"});
    g->writes[0].deadline_us = lc_clock_monotonic_us() - 1;
    (void)write_all(g);
    CHECK_STATUS(LOCI_EDEADLINE, g->writes[0].status);
    CHECK_STATUS(LOCI_EDEADLINE, g->writes[0].error.status);
    CHECK_EQ(late->runs, 0);
    CHECK_OK(g->writes[1].status, g->writes[1].error);
    probe_expect_log(&g->p, "a", 1);
    probe_close(&g->p);
}

/* ---- The commit itself ----------------------------------------------------------------------- */

static loci_status leave_orphan(lc_tx *tx, void *ctx, loci_error *err)
{
    static const lc_sql orphan_sql = {"insert into child (parent_id) values ($1)", "i", NULL};
    loci_status status = lc_tx_exec(tx, &orphan_sql, (lc_arg[]){LC_I(1)}, err);

    (void)ctx;
    return status == LOCI_OK ? probe_say(tx, "with an orphan", NULL, err) : status;
}

/* A constraint that is looked at when committing: the way a commit can fail without a bad disk. */
TEST(group_commit, a_failed_commit_leaves_nothing_and_the_next_one_works)
{
    static const lc_sql children_sql = {"select count(*) from child", "", "i"};
    group *g = new_group(NULL);

    probe_script(&g->p, "create table parent (id bigint primary key);"
                        "create table child (parent_id bigint references parent (id)"
                        " deferrable initially deferred)");
    add(g, "a", (deed){.text = "one"});
    add(g, "b", (deed){0});
    g->writes[1].body = leave_orphan;
    (void)write_all(g);
    CHECK(g->writes[1].status != LOCI_OK);
    CHECK_EQ(g->writes[1].error.status, g->writes[1].status);
    CHECK_EQ(probe_number(&g->p, &children_sql), 0);
    probe_expect_log(&g->p, "a", g->writes[0].status == LOCI_OK);
    probe_expect_log(&g->p, "b", 0);
    CHECK_OK(probe_write(&g->p, "a", probe_say_body, (void *)"and on"), g->p.err);
    probe_close(&g->p);
}
