/* Work that no write should wait for (engine/maintenance.h): it is done on another connection, by
 * another thread, and the store does without that thread when there is none. */
#include "lib/calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"

#define PATIENCE_US 20000000

static struct {
    lc_db_driver driver; /* The store's own, with a counter in `maintain`. */
    const lc_db_driver *own;
    const char *store;
    pthread_t writer;        /* The thread of the test, which makes the commits. */
    _Atomic int by_writer;   /* Calls in it, */
    _Atomic int by_others;   /* and in other threads, */
    _Atomic int connections; /* which used that many connections. */
    _Atomic int failing;     /* Calls that will fail. */
    _Atomic bool is_idle;    /* They do nothing. */
    _Atomic(lc_db *) used;   /* The last connection. */
} counted;

static loci_status open_counted(lc_env *env, const lc_catalogue *catalogue,
                                const lc_db_target *target, lc_db **out, loci_error *err)
{
    loci_status status = counted.own->open(env, catalogue, target, out, err);

    if (status == LOCI_OK)
        (*out)->driver = &counted.driver;
    return status;
}

static void close_counted(lc_db *db)
{
    (void)atomic_compare_exchange_strong(&counted.used, &(lc_db *){db}, NULL);
    counted.own->close(db);
}

static loci_status maintain_counted(lc_db *db, loci_error *err)
{
    loci_status status = counted.is_idle ? LOCI_OK : counted.own->maintain(db, err);

    *(pthread_equal(pthread_self(), counted.writer) ? &counted.by_writer : &counted.by_others) += 1;
    if (atomic_exchange(&counted.used, db) != db)
        counted.connections++;
    if (counted.failing > 0) {
        counted.failing--;
        status = lc_fail(err, LOCI_EUNAVAILABLE, "failed as told");
    }
    return status;
}

static loci_engine *open_counting(bool has_threads)
{
    const char *store = test_store(test_tmpdir(), "store.db");
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    if (has_threads)
        options.flags = 0;
    counted.store = store;
    counted.own = lc_db_driver_of(store);
    counted.driver = *counted.own;
    counted.driver.open = open_counted;
    counted.driver.close = close_counted;
    counted.driver.maintain = maintain_counted;
    counted.writer = pthread_self();
    counted.by_writer = counted.by_others = counted.connections = counted.failing = 0;
    counted.used = NULL;
    counted.is_idle = false;
    CHECK_OK(lc_engine_open(&options, &(lc_engine_parts){.driver = &counted.driver}, &engine, &err),
             err);
    test_call(engine, "config.set", "{'name':'store.durability','value':'relaxed'}"); /* Faster. */
    return engine;
}

/* About two megabytes of a WAL, and some hundred statements. */
static void write_much(loci_engine *engine)
{
    static char text[3001];
    static int next;

    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = "harbour "[i % 8];
    for (int i = 0; i < 60; i++)
        test_call(engine, "session.append", "{'role':'user','text':'%d %s'}", next++, text);
}

static int64_t wal_bytes(loci_engine *engine)
{
    return test_member_int(test_call(engine, "store.status", "{}"), "wal_bytes");
}

/* Writes until `maintain` was called so often by another thread. */
static void write_until(loci_engine *engine, int calls)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;

    while (counted.by_others < calls && lc_clock_monotonic_us() < until_us)
        write_much(engine);
    CHECK_LE(calls, counted.by_others);
}

TEST(maintenance, runs_in_another_thread_on_another_connection)
{
    loci_engine *engine = open_counting(true);

    write_until(engine, 1);
    CHECK_EQ(counted.by_writer, 0);
    CHECK_EQ(counted.connections, 1);
    test_close(engine);
}

TEST(maintenance, a_failure_changes_no_answer_and_is_tried_again)
{
    loci_engine *engine = open_counting(true);

    counted.failing = 1;
    write_until(engine, 2);
    CHECK_EQ(counted.failing, 0);
    test_close(engine);
}

/* A checkpoint that is always too late: from 32 MB on a write makes it. */
TEST_ON(TEST_FILES, maintenance, the_log_stays_short_without_its_help)
{
    loci_engine *engine = open_counting(true);
    int64_t longest = 0;

    counted.is_idle = true;
    for (int i = 0; i < 40; i++) {
        write_much(engine);
        longest = wal_bytes(engine) > longest ? wal_bytes(engine) : longest;
    }
    CHECK_LE(1, counted.by_others);
    CHECK_LT(30 << 20, longest);
    CHECK_LT(longest, 36 << 20);
    test_close(engine);
}

/* Written facts are in the file although no write has made a checkpoint. */
TEST_ON(TEST_FILES, maintenance, copies_the_log_into_the_file)
{
    loci_engine *engine = open_counting(true);
    struct stat info;

    write_until(engine, 1);
    CHECK_LT(wal_bytes(engine), 30 << 20);
    CHECK_EQ(stat(counted.store, &info), 0);
    CHECK_LT(500000, info.st_size);
    test_close(engine);
}

TEST_ON(TEST_FILES, maintenance, a_store_without_threads_does_it_while_it_writes)
{
    loci_engine *engine = open_counting(false);

    for (int i = 0; i < 10; i++)
        write_much(engine);
    CHECK_EQ(counted.by_others, 0);
    CHECK_LE(wal_bytes(engine), 6 << 20);
    test_close(engine);
}

/* A backup over an open store: the thread's connection must not be to the old file. */
TEST_ON(TEST_FILES, maintenance, a_restored_store_gets_a_new_connection)
{
    loci_engine *engine = open_counting(true);
    const char *backup = test_path(test_tmpdir(), "backup.db");

    test_call(engine, "fact.write", "{'key':'city','value':'Aachen'}");
    test_call(engine, "store.backup", "{'path':'%s'}", backup);
    write_until(engine, 1);
    test_call(engine, "store.restore", "{'path':'%s','force':true}", backup);
    counted.connections = 0;
    write_until(engine, counted.by_others + 1);
    CHECK_EQ(counted.connections, 1);
    test_close(engine);
}
