/* The writer's queue: completions of submitted writes, and the drained hook that follows them. */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "engine/pool.h"

#define PATIENCE_S 60
#define WRITES_MAX 256

/* Completions are counted when they are delivered, and again when the hook was called after them in
 * the same thread. */
typedef struct host {
    loci_engine *engine;
    _Atomic int done;
    _Atomic int flushed; /* Of these, the hook was called for. */
    _Atomic int drained; /* Calls of the hook. */
    sem_t begun, gate;   /* Of the write that blocks the writer. */
} host;

typedef struct submitted {
    lc_queued_write queued; /* First: found again from the queue. */
    lc_task task;
    host *host;
} submitted;

static _Thread_local int
    undrained; /* Completions that this thread delivered since the last call. */

static void count_completion(host *h)
{
    undrained++;
    atomic_fetch_add(&h->done, 1);
}

static void flush(void *ctx)
{
    host *h = ctx;

    atomic_fetch_add(&h->drained, 1);
    atomic_fetch_add(&h->flushed, undrained);
    undrained = 0;
}

static host *open_host(uint32_t flags)
{
    host *h = (host *)test_bytes(sizeof *h);
    loci_open_options options = test_open_options(probe_path());
    loci_error err;

    options.flags = flags;
    CHECK_OK(loci_open(&options, &h->engine, &err), err);
    CHECK_EQ(sem_init(&h->begun, 0, 0) + sem_init(&h->gate, 0, 0), 0);
    lc_engine_on_drained(h->engine, flush, h);
    return h;
}

static void await(const _Atomic int *value, int wanted)
{
    for (int i = 0; i < PATIENCE_S * 1000 && atomic_load(value) < wanted; i++)
        lc_clock_sleep_us(1000);
    CHECK_EQ(atomic_load(value), wanted);
}

static loci_status write_nothing(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)tx;
    (void)ctx;
    (void)err;
    return LOCI_OK;
}

static loci_status wait_for_gate(lc_tx *tx, void *ctx, loci_error *err)
{
    host *h = ctx;

    (void)tx;
    (void)err;
    (void)sem_post(&h->begun);
    (void)sem_wait(&h->gate);
    return LOCI_OK;
}

static void count_done(lc_queued_write *queued)
{
    count_completion(((submitted *)queued)->host);
}

static void run_task(void *ctx)
{
    count_completion(((submitted *)ctx)->host);
}

static lc_write write_of(lc_tx_body *body, void *ctx)
{
    return (lc_write){.tenant_id = LC_STR("t"),
                      .user_id = LC_STR("u"),
                      .now_us = PROBE_NOW_US,
                      .deadline_us = lc_clock_monotonic_us() + INT64_C(1000000) * PATIENCE_S,
                      .locks_nothing = true,
                      .body = body,
                      .ctx = ctx};
}

static void submit(host *h, submitted *s, lc_tx_body *body)
{
    loci_error err;

    *s = (submitted){.host = h, .queued = {.write = write_of(body, h), .done = count_done}};
    CHECK_OK(lc_engine_submit(h->engine, &s->queued, &err), err);
}

/* An event loop that is woken for every answer loses the processor to each of them. */
TEST_ON(TEST_FILES, writer, drains_once_per_group)
{
    host *h = open_host(0);
    submitted *all = (submitted *)test_bytes(WRITES_MAX * sizeof *all);

    submit(h, &all[0], wait_for_gate);
    while (sem_wait(&h->begun) != 0)
        ; /* Interrupted by a signal. */
    for (int i = 1; i < WRITES_MAX; i++)
        submit(h, &all[i], write_nothing);
    CHECK_EQ(atomic_load(&h->drained), 0);
    (void)sem_post(&h->gate);
    await(&h->flushed, WRITES_MAX);
    CHECK_LE(atomic_load(&h->drained), WRITES_MAX / 8);
    test_close(h->engine);
}

typedef struct crowd {
    host *host;
    submitted *own; /* WRITES_MAX of them. */
    bool waits;     /* Writes of its own between those it submits: then it leads. */
} crowd;

static void *submit_many(void *ctx)
{
    const crowd *c = ctx;

    for (int i = 0; i < WRITES_MAX; i++) {
        submitted *s = &c->own[i];
        loci_error err;

        if (i % 4 == 3) {
            *s = (submitted){.host = c->host,
                             .task = {.run = run_task, .ctx = s, .is_short = true}};
            CHECK_OK(lc_engine_queue_task(c->host->engine, &s->task, &err), err);
        } else {
            submit(c->host, s, write_nothing);
        }
        if (c->waits && i % 3 == 0) {
            lc_write write = write_of(write_nothing, NULL);

            CHECK_OK(lc_engine_write(c->host->engine, &write), write.error);
        }
    }
    return NULL;
}

/* Whichever thread delivers a completion (the writer's own, a caller that leads, the pool's), the
 * hook follows it, without another call that would bring it along. */
TEST_ON(TEST_FILES, writer, every_completion_is_drained)
{
    enum { THREADS = 4 };
    host *h = open_host(0);
    pthread_t threads[THREADS];
    crowd crowds[THREADS];

    for (int i = 0; i < THREADS; i++) {
        crowds[i] = (crowd){.host = h,
                            .own = (submitted *)test_bytes(WRITES_MAX * sizeof *crowds[i].own),
                            .waits = i % 2 == 0};
        CHECK_EQ(pthread_create(&threads[i], NULL, submit_many, &crowds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    await(&h->flushed, THREADS * WRITES_MAX);
    CHECK_EQ(atomic_load(&h->done), THREADS * WRITES_MAX);
    test_close(h->engine);
}

TEST_ON(TEST_FILES, writer, an_inline_engine_drains_before_submit_returns)
{
    host *h = open_host(LOCI_OPEN_INLINE);
    submitted one;

    submit(h, &one, write_nothing);
    CHECK_EQ(atomic_load(&h->flushed), 1);
    test_close(h->engine);
}

/* A server that stops takes its hook back and may then free what the hook uses. Closing the engine
 * still delivers what was submitted. */
TEST_ON(TEST_FILES, writer, a_removed_hook_is_not_called)
{
    host *h = open_host(0);
    submitted *all = (submitted *)test_bytes(WRITES_MAX * sizeof *all);
    int drained;

    for (int i = 0; i < WRITES_MAX; i++)
        submit(h, &all[i], write_nothing);
    lc_engine_on_drained(h->engine, NULL, NULL);
    drained = atomic_load(&h->drained);
    loci_close(h->engine);
    CHECK_EQ(atomic_load(&h->done), WRITES_MAX);
    CHECK_EQ(atomic_load(&h->drained), drained);
}

/* ---- Leading and following ------------------------------------------------------------------- */

typedef struct caller {
    host *host;
    int writes;
    _Atomic int *answered;
} caller;

static void *write_many(void *ctx)
{
    const caller *c = ctx;

    for (int i = 0; i < c->writes; i++) {
        lc_write write = write_of(write_nothing, NULL);

        CHECK_OK(lc_engine_write(c->host->engine, &write), write.error);
        atomic_fetch_add(c->answered, 1);
    }
    return NULL;
}

/* Without a thread of its own the writer has only its callers to lead. */
TEST_ON(TEST_FILES, writer, callers_of_an_inline_engine_hand_over_the_lead)
{
    enum { THREADS = 8, WRITES = 40 };
    host *h = open_host(LOCI_OPEN_INLINE);
    _Atomic int answered = 0;
    caller c = {.host = h, .writes = WRITES, .answered = &answered};
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, write_many, &c), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(atomic_load(&answered), THREADS * WRITES);
    CHECK_EQ(lc_engine_get_counters(h->engine).queue_length, 0);
    test_close(h->engine);
}

/* A leader that waits, for a lock of another process, does not keep others past their deadline. */
TEST_ON(TEST_FILES, writer, a_follower_withdraws_at_its_deadline)
{
    host *h = open_host(0);
    submitted blocking, behind;
    lc_write late = write_of(write_nothing, NULL);

    submit(h, &blocking, wait_for_gate);
    while (sem_wait(&h->begun) != 0)
        ; /* Interrupted by a signal. */
    submit(h, &behind, write_nothing);
    late.deadline_us = lc_clock_monotonic_us() + 20000;
    CHECK_STATUS(LOCI_EDEADLINE, lc_engine_write(h->engine, &late));
    CHECK_STR_EQ(late.error.message, "the store was too busy to begin before the deadline");
    (void)sem_post(&h->gate);
    await(&h->flushed, 2); /* The other one was still queued. */
    test_close(h->engine);
}

#define SLOW_US 30000
#define SLOW_WRITES 16

static loci_status write_slowly(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)tx;
    (void)ctx;
    (void)err;
    lc_clock_sleep_us(SLOW_US);
    return LOCI_OK;
}

/* A store that takes 30 ms per write and has a group's worth of them queued: the next caller would
 * wait for seconds. It is told so at once, and those before it get their answers. */
TEST(writer, refuses_what_would_wait_too_long)
{
    host *h = open_host(0);
    submitted *all = (submitted *)test_bytes((LC_WRITES_PER_COMMIT_MAX + 1) * sizeof *all);
    lc_write write = write_of(write_slowly, NULL);
    int count = 1;
    int64_t began_us;
    loci_error err;

    for (int i = 0; i < SLOW_WRITES; i++)
        CHECK_STATUS(LOCI_OK, lc_engine_write(h->engine, &write));
    submit(h, &all[0], wait_for_gate);
    while (sem_wait(&h->begun) != 0)
        ; /* Interrupted by a signal. */
    for (; count < LC_WRITES_PER_COMMIT_MAX; count++)
        submit(h, &all[count], write_nothing);

    began_us = lc_clock_monotonic_us();
    all[count] = (submitted){.host = h, .queued = {.write = write, .done = count_done}};
    CHECK_STATUS(LOCI_EUNAVAILABLE, lc_engine_submit(h->engine, &all[count].queued, &err));
    CHECK_CONTAINS(err.message, "overloaded");
    write = write_of(write_nothing, NULL);
    CHECK_STATUS(LOCI_EUNAVAILABLE, lc_engine_write(h->engine, &write));
    CHECK_CONTAINS(write.error.message, "try again later");
    CHECK_LT(lc_clock_monotonic_us() - began_us, 1000000);

    (void)sem_post(&h->gate);
    await(&h->done, count); /* And not the one that was refused. */
    CHECK_STATUS(LOCI_OK, lc_engine_write(h->engine, &write));
    test_close(h->engine);
}
