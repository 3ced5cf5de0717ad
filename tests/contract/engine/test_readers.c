/* The read connections: shared fairly, opened anew when told, and never for ever. */
#include "lib/calls.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/str.h"
#include "engine/internal.h"

static loci_engine *open_with_readers(const char *store, int count)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    options.settings = test_format("{\"store.readers\":%d}", count);
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

static loci_engine *open_new(int count)
{
    return open_with_readers(test_store(test_tmpdir(), "store.db"), count);
}

TEST(readers, who_finds_none_free_waits_until_its_deadline)
{
    loci_engine *engine = open_new(2);
    int64_t began_us;
    lc_db *held[2], *third = NULL;
    loci_error err;

    for (int i = 0; i < 2; i++)
        CHECK_OK(lc_readers_take(engine->readers, INT64_MAX, &held[i], &err), err);
    CHECK(held[0] != held[1]);
    began_us = lc_clock_monotonic_us();
    CHECK_STATUS(LOCI_EDEADLINE, lc_readers_take(engine->readers, began_us + 30000, &third, &err));
    CHECK_LE(30000, lc_clock_monotonic_us() - began_us);
    CHECK(third == NULL);
    lc_readers_give_back(engine->readers, held[1]);
    CHECK_OK(lc_readers_take(engine->readers, 0, &third, &err), err); /* Free: no time is needed. */
    CHECK(third == held[1]);
    lc_readers_give_back(engine->readers, third);
    lc_readers_give_back(engine->readers, held[0]);
    loci_close(engine);
}

TEST(readers, renewed_connections_are_other_ones)
{
    loci_engine *engine = open_new(2);
    lc_db *db = NULL, *other = NULL;
    size_t blocks;
    loci_error err;

    CHECK_OK(lc_readers_take(engine->readers, INT64_MAX, &db, &err), err);
    lc_readers_give_back(engine->readers, db);
    blocks = test_heap_live_blocks();
    lc_readers_renew(engine->readers); /* An idle one is closed at once, */
    CHECK_LT(test_heap_live_blocks(), blocks);
    CHECK_OK(lc_readers_take(engine->readers, INT64_MAX, &db, &err), err);
    CHECK_OK(lc_readers_take(engine->readers, INT64_MAX, &other, &err), err);
    lc_readers_renew(engine->readers); /* those in use when they are given back. */
    blocks = test_heap_live_blocks();
    lc_readers_give_back(engine->readers, db);
    CHECK_LT(test_heap_live_blocks(), blocks);
    lc_readers_drop(engine->readers, other);
    CHECK_OK(test_try(engine, "fact.list", LC_STR("{}"), &err), err);
    loci_close(engine);
}

/* ---- Many threads ---------------------------------------------------------------------------- */

enum { THREADS = 8, EACH = 40 };

typedef struct reader {
    loci_engine *engine;
    _Atomic int *at_once;
    _Atomic int *most;
    _Atomic bool *is_over;
} reader;

static loci_status look(lc_tx *tx, void *ctx, loci_error *err)
{
    static const lc_sql count_sql = {"select count(*) from events where type = 'fact.written'", "",
                                     "i"};
    reader *r = ctx;
    int now = atomic_fetch_add(r->at_once, 1) + 1;
    int most = atomic_load(r->most);
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &count_sql, NULL, &rows, &found, err);

    lc_rows_end(&rows);
    while (now > most && !atomic_compare_exchange_weak(r->most, &most, now))
        continue;
    lc_clock_sleep_us(500);
    atomic_fetch_sub(r->at_once, 1);
    return status;
}

static void *read_often(void *ctx)
{
    reader *r = ctx;

    for (int i = 0; i < EACH; i++) {
        loci_error err;
        loci_status status = lc_engine_read(
            r->engine,
            &(lc_read){.deadline_us = lc_clock_monotonic_us() + 30000000,
                       .body = look,
                       .ctx = r,
                       .is_call = true},
            &err);

        if (status != LOCI_OK)
            test_note_failure(__FILE__, __LINE__, "%s", err.message);
    }
    return NULL;
}

static void *renew_often(void *ctx)
{
    reader *r = ctx;

    while (!atomic_load(r->is_over)) {
        lc_readers_renew(r->engine->readers);
        lc_clock_sleep_us(3000);
    }
    return NULL;
}

TEST(readers, many_threads_share_a_few_connections)
{
    loci_engine *engine = open_new(3);
    _Atomic int at_once = 0, most = 0;
    _Atomic bool is_over = false;
    reader r = {engine, &at_once, &most, &is_over};
    pthread_t threads[THREADS + 1];

    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, read_often, &r), 0);
    CHECK_EQ(pthread_create(&threads[THREADS], NULL, renew_often, &r), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    atomic_store(&is_over, true);
    CHECK_EQ(pthread_join(threads[THREADS], NULL), 0);
    CHECK_LE(most, 3);
    CHECK_EQ(lc_engine_get_counters(engine).reads, THREADS * EACH);
    loci_close(engine);
}
