/* The cost of reads when a user has a long history, in steps of SQLite's machine: they are exact
 * and the same on every machine, which times are not. */
#include "contract/fact_fixture.h"

#include <sqlite3.h>
#include <string.h>

#include "base/str.h"
#include "base/time.h"

#define KEYS 12
#define ROUNDS 8 /* Versions of each key and persona before the first count, */
#define GROWTH 6 /* and how many times as many there are before the second. */

/* ---- Counting -------------------------------------------------------------------------------- */

static long long steps;

static int add_steps(unsigned event, void *ctx, void *statement, void *took_ns)
{
    (void)event;
    (void)ctx;
    (void)took_ns;
    steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

static int watch(sqlite3 *db, char **err, const struct sqlite3_api_routines *api)
{
    (void)err;
    (void)api;
    return sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, add_steps, NULL);
}

/* ---- The reads ------------------------------------------------------------------------------- */

enum { EARLY, MIDDLE, LATE, TIMES };

static const struct read {
    const char *operation, *args; /* %s is the time. */
    int time;
} reads[] = {
    {"fact.list", "{'limit':10,'as_of':'%s'}", EARLY},
    {"fact.list", "{'limit':10,'as_of':'%s'}", MIDDLE},
    {"fact.list", "{'limit':10,'as_of':'%s'}", LATE},
    {"fact.list", "{'limit':10,'as_of':'%s','persona_id':'few'}", MIDDLE},
    {"fact.history", "{'key':'k01','limit':10}", TIMES},
    {"fact.history", "{'key':'k01','limit':10,'persona_id':'few'}", TIMES},
    {"fact.current", "{'key':'gone'}", TIMES},
    {"context.build", "{'query':'the value of k03','budget':2000}", TIMES},
    {"context.build", "{'query':'the value of k03','budget':2000,'persona_id':'few'}", TIMES},
    {"event.list", "{'limit':10}", TIMES},
};

#define READS (sizeof reads / sizeof *reads)

/* A round writes each key for all personas and for two of them. */
static void write_round(facts *f, int round)
{
    for (int key = 0; key < KEYS; key++) {
        f->now_us += MINUTE_US;
        facts_call(f, "fact.write", "{'key':'k%02d','value':%d}", key, round);
        facts_call(f, "fact.write", "{'key':'k%02d','value':%d,'persona_id':'crowd'}", key, round);
        facts_call(f, "fact.write", "{'key':'k%02d','value':%d,'scope':'task','scope_id':'t'}", key,
                   round);
    }
    facts_call(f, "fact.write", "{'key':'gone','value':%d}", round);
    facts_call(f, "fact.retract", "{'key':'gone'}");
}

static long long count_steps(facts *f, const struct read *r, const int64_t times[TIMES])
{
    char text[LC_TIME_BYTES_MAX];
    loci_str at = {text, r->time < TIMES ? lc_time_format(times[r->time], text) : 0};
    const char *args = r->args, *place = strstr(args, "%s");

    if (place != NULL)
        args = test_format("%.*s%.*s%s", (int)(place - args), args, LC_STR_ARG(at), place + 2);
    steps = 0;
    (void)facts_call(f, r->operation, "%s", args);
    return steps;
}

/* A page of the past, a context or a page of versions must not cost more because there are six
 * times as many versions: at a million, such a read took over a second and failed. */
TEST(fact_steps, a_long_history_does_not_make_reads_longer)
{
    long long before[READS], after;
    int64_t start, times[TIMES];
    facts f;

    test_timeout(300);
    CHECK_EQ(sqlite3_auto_extension((void (*)(void))watch), SQLITE_OK);
    facts_open_store(&f, test_format("%s/store.db", test_tmpdir()));
    start = f.now_us;
    for (int round = 0, grown = 0; grown < 2; grown++) {
        for (; round < ROUNDS * (grown == 0 ? 1 : GROWTH); round++)
            write_round(&f, round);
        times[EARLY] = start + KEYS / 2 * MINUTE_US;
        times[MIDDLE] = start + (f.now_us - start) / 2;
        times[LATE] = f.now_us - MINUTE_US;
        for (size_t i = 0; i < READS; i++) {
            facts_close(&f); /* Also what is kept in memory is read again. */
            facts_open_store(&f, f.store);
            f.now_us = start + round * KEYS * MINUTE_US;
            (void)facts_call(&f, "session.list", "{}");
            after = count_steps(&f, &reads[i], times);
            if (grown == 0)
                before[i] = after;
            else if (after > 2 * before[i] + 200)
                test_fail(__FILE__, __LINE__, "%s %s took %lld steps, now %lld", reads[i].operation,
                          reads[i].args, before[i], after);
        }
    }
    sqlite3_reset_auto_extension();
    facts_close(&f);
}
