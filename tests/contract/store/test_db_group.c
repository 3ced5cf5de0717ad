/* Groups of writes that may be prefetched (lc_write.reads_own): whatever a driver does to
 * learn what they will ask for, each reads what stood when it was its turn. */
#include "contract/probe_fixture.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"

#define WRITES_MAX 300 /* More than one group takes. */
#define MIXED_WRITES 12
#define SLOW_WRITES 200
#define SLOW_BODY_US 300

static const lc_sql count_sql = {
    "select count(*) from sayings where tenant_id = $1 and user_id = $2", "tt", "i"};

typedef struct asking {
    const char *text; /* What is said. NULL: nothing, and it is an error. */
    int64_t slow_us;  /* How long each run takes before it asks. */
    int64_t before;   /* How much the user had said before, */
    int64_t again;    /* asked a second time, */
    int64_t after;    /* and behind its own saying. */
} asking;

static loci_status count(lc_tx *tx, int64_t *out, loci_error *err)
{
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(
        tx, &count_sql, (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id)}, &rows, &found, err);

    if (status == LOCI_OK)
        *out = lc_rows_i64(&rows, 0);
    lc_rows_end(&rows);
    return status;
}

static loci_status ask_and_say(lc_tx *tx, void *ctx, loci_error *err)
{
    asking *a = ctx;
    int64_t seq, until_us = lc_clock_monotonic_us() + a->slow_us;
    loci_status status;

    while (lc_clock_monotonic_us() < until_us)
        ;
    status = count(tx, &a->before, err);

    if (status == LOCI_OK)
        status = count(tx, &a->again, err);
    if (status == LOCI_OK && a->text == NULL)
        status = lc_fail(err, LOCI_ENOTFOUND, "nothing to say");
    if (status == LOCI_OK)
        status = probe_say(tx, a->text, &seq, err);
    return status == LOCI_OK ? count(tx, &a->after, err) : status;
}

typedef struct run {
    probe p;
    lc_write writes[WRITES_MAX];
    asking askings[WRITES_MAX];
    size_t count;
} run;

static void add(run *r, const char *user, const char *text)
{
    size_t i = r->count++;

    r->askings[i] = (asking){.text = text};
    r->writes[i] = probe_write_of(&r->p, user, ask_and_say, &r->askings[i]);
    r->writes[i].reads_own = true;
    if (i > 0)
        r->writes[i - 1].next = &r->writes[i];
}

/* Returns how many groups it took. */
static int run_all(run *r)
{
    bool is_over = false;
    int groups = 0;

    while (!is_over) {
        lc_db_write(r->p.db, &r->writes[0]);
        groups++;
        is_over = true;
        for (size_t i = 0; i < r->count; i++)
            is_over = is_over && r->writes[i].is_answered;
    }
    return groups;
}

static void expect(const run *r, size_t i, int64_t before)
{
    CHECK_OK(r->writes[i].status, r->writes[i].error);
    CHECK_EQ(r->askings[i].before, before);
    CHECK_EQ(r->askings[i].again, before);
    CHECK_EQ(r->askings[i].after, before + 1);
}

TEST(db_group, each_reads_what_those_before_it_wrote)
{
    static run r;

    r = (run){.count = 0};
    probe_open(&r.p, probe_path());
    for (int i = 0; i < MIXED_WRITES; i++)
        add(&r, test_format("user-%d", i % 5), "hello");
    (void)run_all(&r);
    for (size_t i = 0; i < MIXED_WRITES; i++)
        expect(&r, i, (int64_t)i / 5);
    probe_expect_log(&r.p, "user-0", 3);
    probe_expect_log(&r.p, "user-4", 2);
    probe_close(&r.p);
}

/* An error of one, and one that spoils the group, which is then run again one by one. */
TEST(db_group, what_fails_is_no_business_of_the_others)
{
    static run r;

    r = (run){.count = 0};
    probe_open(&r.p, probe_path());
    add(&r, "a", "one");
    add(&r, "b", NULL);
    add(&r, "c", "please refuse");
    add(&r, "d", "two");
    add(&r, "a", "three");
    (void)run_all(&r);
    expect(&r, 0, 0);
    CHECK_STATUS(LOCI_ENOTFOUND, r.writes[1].status);
    CHECK(r.writes[2].status != LOCI_OK);
    expect(&r, 3, 0);
    expect(&r, 4, 1);
    probe_expect_log(&r.p, "a", 2);
    probe_expect_log(&r.p, "b", 0);
    probe_expect_log(&r.p, "c", 0);
    probe_expect_log(&r.p, "d", 1);
    probe_close(&r.p);
}

/* As many users as a group takes, and more, each with its own head to lock; first all new, then all
 * known. Ids hold every character that a literal of the server could give a meaning to. */
TEST(db_group, no_number_of_users_is_too_many)
{
    static const char *const odd[] = {"\"", "\\", "{}", "a,b", "NULL", "'", "\\\"", " "};
    static run r;

    r = (run){.count = 0};
    probe_open(&r.p, probe_path());
    for (int64_t round = 0; round < 2; round++) {
        r.count = 0;
        for (size_t i = 0; i < WRITES_MAX; i++)
            add(&r, i < 8 ? odd[i] : test_format("user-%zu", i), "hello");
        (void)run_all(&r);
        for (size_t i = 0; i < WRITES_MAX; i++)
            expect(&r, i, round);
    }
    for (size_t i = 0; i < 8; i++)
        probe_expect_log(&r.p, odd[i], 2);
    probe_close(&r.p);
}

/* The look-ahead over a large group takes longer than its bodies may: it must not count as their
 * time, or every group looks up everything and writes one. */
TEST(db_group, a_long_look_ahead_leaves_time_for_the_bodies)
{
    static run r;

    r = (run){.count = 0};
    probe_open(&r.p, probe_path());
    for (size_t i = 0; i < SLOW_WRITES; i++) {
        add(&r, test_format("user-%zu", i), "hello");
        r.askings[i].slow_us = SLOW_BODY_US;
    }
    CHECK_LE(run_all(&r), SLOW_WRITES / 4);
    for (size_t i = 0; i < SLOW_WRITES; i++)
        expect(&r, i, 0);
    probe_close(&r.p);
}
