/* The pool: tasks run once each, in the order they came, and none is lost at the end. */
#include "lib/calls.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "engine/internal.h"
#include "engine/pool.h"

enum { TASKS = 500 };

typedef struct ledger {
    _Atomic int begun;
    _Atomic bool may_go;
    _Atomic int runs[TASKS];
} ledger;

typedef struct job {
    lc_task task;
    ledger *book;
    int number;
} job;

static void run_job(void *ctx)
{
    job *j = ctx;

    atomic_fetch_add(&j->book->begun, 1);
    while (!atomic_load(&j->book->may_go))
        lc_clock_sleep_us(500);
    atomic_fetch_add(&j->book->runs[j->number], 1);
}

static lc_pool *new_pool(loci_engine *engine)
{
    lc_pool *pool = NULL;
    loci_error err;

    CHECK_OK(lc_pool_new(engine, &pool, &err), err);
    return pool;
}

TEST(pool, ending_runs_what_is_queued)
{
    loci_engine *engine = test_open(test_path(test_tmpdir(), "store.db"));
    lc_pool *pool = new_pool(engine);
    ledger *book = (ledger *)test_bytes(sizeof *book);
    job *jobs = (job *)test_bytes(TASKS * sizeof *jobs);
    loci_error err;

    for (int i = 0; i < TASKS; i++) {
        jobs[i] = (job){.task = {.run = run_job, .ctx = &jobs[i]}, .book = book, .number = i};
        CHECK_OK(lc_pool_add(pool, &jobs[i].task, &err), err);
    }
    atomic_store(&book->may_go, true);
    lc_pool_free(pool);
    for (int i = 0; i < TASKS; i++)
        CHECK_EQ(book->runs[i], 1);
    loci_close(engine);
}

TEST(pool, a_pool_without_tasks_has_no_threads_to_end)
{
    loci_engine *engine = test_open(test_path(test_tmpdir(), "store.db"));

    lc_pool_free(new_pool(engine));
    lc_pool_free(NULL);
    loci_close(engine);
}

/* A caller that floods the pool gets an error before memory runs out. */
TEST(pool, the_queue_has_a_ceiling)
{
    enum { QUEUED_MAX = 10000, THREADS = 2 };
    loci_engine *engine = test_open(test_path(test_tmpdir(), "store.db"));
    lc_pool *pool = new_pool(engine);
    ledger *book = (ledger *)test_bytes(sizeof *book);
    job *jobs = (job *)test_bytes((QUEUED_MAX + THREADS + 1) * sizeof *jobs);
    loci_status status = LOCI_OK;
    loci_error err;
    int added = 0;

    for (; added < THREADS; added++) {
        jobs[added] = (job){.task = {.run = run_job, .ctx = &jobs[added]}, .book = book};
        CHECK_OK(lc_pool_add(pool, &jobs[added].task, &err), err);
    }
    while (atomic_load(&book->begun) < THREADS) /* Both are busy: the rest is queued. */
        lc_clock_sleep_us(500);
    for (; added < THREADS + QUEUED_MAX + 1 && status == LOCI_OK; added++) {
        jobs[added] = (job){.task = {.run = run_job, .ctx = &jobs[added]}, .book = book};
        status = lc_pool_add(pool, &jobs[added].task, &err);
    }
    CHECK_STATUS(LOCI_ERESOURCE, status);
    CHECK_EQ(added, THREADS + QUEUED_MAX + 1); /* N fit, N + 1 do not. */
    atomic_store(&book->may_go, true);
    lc_pool_free(pool);
    CHECK_EQ(book->runs[0], THREADS + QUEUED_MAX);
    loci_close(engine);
}

/* Calls of one tenant that take long leave threads for the calls of others, long and short; when
 * they have ended, those that had to wait run. */
TEST(pool, one_group_does_not_take_all_threads)
{
    loci_engine *engine = test_open(test_path(test_tmpdir(), "store.db"));
    lc_pool *pool = new_pool(engine);
    ledger *slow = (ledger *)test_bytes(sizeof *slow), *other = (ledger *)test_bytes(sizeof *other);
    job jobs[8], others[2];
    loci_error err;

    atomic_store(&other->may_go, true);
    for (int i = 0; i < 8; i++) {
        jobs[i] = (job){
            .task = {.run = run_job, .ctx = &jobs[i], .group = 7}, .book = slow, .number = i};
        CHECK_OK(lc_pool_add(pool, &jobs[i].task, &err), err);
    }
    for (int i = 0; i < 2; i++) {
        others[i] = (job){.task = {.run = run_job,
                                   .ctx = &others[i],
                                   .group = i == 0 ? 8 : 7,
                                   .is_short = i == 1},
                          .book = other,
                          .number = i};
        CHECK_OK(lc_pool_add(pool, &others[i].task, &err), err);
    }
    for (int i = 0; i < 5000 && other->runs[0] + other->runs[1] < 2; i++)
        lc_clock_sleep_us(1000);
    CHECK_EQ(other->runs[0] + other->runs[1], 2);
    CHECK_LE(slow->begun, 2);
    atomic_store(&slow->may_go, true);
    lc_pool_free(pool);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(slow->runs[i], 1);
    loci_close(engine);
}
