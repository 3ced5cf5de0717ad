/* Which thread of the pool runs a task, and when it calls the drained hook (engine/pool.h). */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "engine/pool.h"

#define PATIENCE_S 30
#define SHORT_COUNT 8 /* That wait for one thread without another being woken. */
#define OTHERS 3      /* Threads of the pool beside one. */

typedef struct work {
    loci_engine *engine;
    lc_pool *pool;
    sem_t begun, done, drained; /* Posted by tasks, and by the hook. */
    sem_t gate, other_gate;     /* Waited for by them. */
    _Atomic int done_count;
    _Atomic int drained_at; /* Value of done_count when the hook was called last. */
    _Atomic int drained_count;
} work;

static void note_drained(void *ctx)
{
    work *w = ctx;

    atomic_store(&w->drained_at, atomic_load(&w->done_count));
    atomic_fetch_add(&w->drained_count, 1);
    (void)sem_post(&w->drained);
}

static void open_work(work *w)
{
    loci_error err;

    *w = (work){.engine = test_open(probe_path())};
    CHECK_OK(lc_pool_new(w->engine, &w->pool, &err), err);
    lc_engine_on_drained(w->engine, note_drained, w);
    CHECK_EQ(sem_init(&w->begun, 0, 0) + sem_init(&w->gate, 0, 0), 0);
    CHECK_EQ(sem_init(&w->done, 0, 0) + sem_init(&w->drained, 0, 0), 0);
    CHECK_EQ(sem_init(&w->other_gate, 0, 0), 0);
}

static void close_work(work *w)
{
    lc_pool_free(w->pool);
    test_close(w->engine);
}

static void await(sem_t *semaphore)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    CHECK_EQ(sem_timedwait(semaphore, &until), 0);
}

static void answer(void *ctx)
{
    work *w = ctx;

    atomic_fetch_add(&w->done_count, 1);
    (void)sem_post(&w->done);
}

static void answer_behind_gate(void *ctx)
{
    work *w = ctx;

    (void)sem_post(&w->begun);
    (void)sem_wait(&w->gate);
    answer(ctx);
}

static void keep_busy(void *ctx)
{
    work *w = ctx;

    (void)sem_post(&w->begun);
    (void)sem_wait(&w->other_gate);
}

static void add(work *w, lc_task *task, void (*run)(void *ctx), bool is_short)
{
    loci_error err;

    *task = (lc_task){.run = run, .ctx = w, .is_short = is_short};
    CHECK_OK(lc_pool_add(w->pool, task, &err), err);
}

TEST_ON(TEST_FILES, pool, short_tasks_are_drained_together)
{
    lc_task slow[OTHERS], first, rest[SHORT_COUNT];
    work w;

    open_work(&w);
    for (int i = 0; i < OTHERS; i++) { /* The other threads, for the whole test. */
        loci_error err;

        slow[i] = (lc_task){.run = keep_busy, .ctx = &w, .group = (uint64_t)i + 1};
        CHECK_OK(lc_pool_add(w.pool, &slow[i], &err), err);
        await(&w.begun);
    }
    add(&w, &first, answer_behind_gate, true);
    await(&w.begun);
    for (int i = 0; i < SHORT_COUNT; i++)
        add(&w, &rest[i], answer, true);
    CHECK_EQ(atomic_load(&w.done_count), 0);
    (void)sem_post(&w.gate);
    await(&w.drained);
    CHECK_EQ(atomic_load(&w.drained_at), SHORT_COUNT + 1);
    CHECK_EQ(atomic_load(&w.drained_count), 1);
    for (int i = 0; i < OTHERS; i++)
        (void)sem_post(&w.other_gate);
    close_work(&w);
}

TEST_ON(TEST_FILES, pool, a_long_task_holds_up_nobody)
{
    lc_task slow, after;
    work w;

    open_work(&w);
    add(&w, &slow, answer_behind_gate, false);
    await(&w.begun);
    add(&w, &after, answer, true);
    await(&w.done);
    await(&w.drained);
    CHECK_EQ(atomic_load(&w.done_count), 1);
    (void)sem_post(&w.gate);
    await(&w.drained);
    CHECK_EQ(atomic_load(&w.done_count), 2);
    close_work(&w);
}

/* Also not the answers of those that came before it. */
TEST_ON(TEST_FILES, pool, answers_do_not_wait_for_a_long_task)
{
    lc_task busy, brief, slow;
    work w;

    open_work(&w);
    add(&w, &busy, keep_busy, false);
    await(&w.begun);
    add(&w, &brief, answer_behind_gate, true);
    await(&w.begun);
    add(&w, &slow, answer_behind_gate, false);
    (void)sem_post(&w.gate);
    await(&w.begun); /* The slow one has begun, */
    await(&w.drained);
    CHECK_EQ(atomic_load(&w.drained_at), 1); /* and the hook was called before. */
    (void)sem_post(&w.gate);
    await(&w.drained);
    (void)sem_post(&w.other_gate);
    close_work(&w);
}

/* What was thought to be short and is not: a few may wait for it, not all. */
TEST_ON(TEST_FILES, pool, a_thread_with_too_much_is_helped)
{
    lc_task first, rest[3 * SHORT_COUNT];
    work w;

    open_work(&w);
    add(&w, &first, answer_behind_gate, true);
    await(&w.begun);
    for (int i = 0; i < 3 * SHORT_COUNT; i++)
        add(&w, &rest[i], answer, true);
    for (int i = 0; i < 2 * SHORT_COUNT; i++)
        await(&w.done);
    (void)sem_post(&w.gate);
    for (int i = 0; i <= SHORT_COUNT; i++)
        await(&w.done);
    close_work(&w);
}
