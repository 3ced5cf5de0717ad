/* Workers that go away: taken over, fenced, out of memory. */
#include "contract/worker_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/internal.h"

static loci_status effect_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return fixture_add_effect(tx, ctx, err);
}

static loci_status run_effect(lc_job_run *run, loci_error *err)
{
    lc_id id = {""};

    memcpy(id.text, run->job.id.ptr, run->job.id.len);
    return lc_job_run_finish(run, effect_body, id.text, LC_STR_NONE, err);
}

static loci_status steal_body(lc_tx *tx, void *ctx, loci_error *err)
{
    static const lc_sql end_lease = {
        .text = "update jobs set lease_until_us = 1 where id = $1",
        .params = "t",
    };

    return lc_tx_exec(tx, &end_lease, (lc_arg[]){LC_T(((lc_job_run *)ctx)->job.id)}, err);
}

/* The first attempt is stopped for longer than its lease, until another has finished the job. */
static loci_status run_slow(lc_job_run *run, loci_error *err)
{
    lc_job_progress progress = {.done = 1};
    lc_id id = {""};

    if (run->job.attempts == 1) {
        memcpy(id.text, run->job.id.ptr, run->job.id.len);
        CHECK_OK(worker_write(run->engine, "u", steal_body, run, err), err);
        lc_workers_wake(run->workers);
        worker_wait(run->engine, id, LC_JOB_DONE);
        CHECK_STATUS(LOCI_EFENCED, lc_job_run_commit(run, effect_body, id.text, &progress, err));
        CHECK_STATUS(LOCI_EFENCED, lc_job_run_pause_point(run, err));
    }
    return run_effect(run, err);
}

static const lc_job_kind effect = {.name = "test.effect", .help = "", .run = run_effect};
static const lc_job_kind slow = {.name = "test.slow", .help = "", .run = run_slow};
static const lc_job_kind *const kinds[] = {&effect, &slow, NULL};

TEST(worker_loss, a_worker_that_slept_too_long_writes_nothing)
{
    loci_engine *engine = worker_open(fixture_path(), 0, kinds);
    lc_id id = worker_add(engine, &slow, 0);
    worker_look_result seen;

    worker_wait(engine, id, LC_JOB_DONE);
    /* Until the slow one, too, has ended. */
    while (lc_workers_get_counters(engine->workers).running > 0)
        lc_clock_sleep_us(1000);
    seen = worker_look(engine, id, NULL);
    CHECK_EQ(seen.effects, 1);
    CHECK_EQ(seen.job.attempts, 2);
    CHECK_EQ(seen.job.epoch, 2);
    lc_engine_close(engine);
}

typedef struct claiming {
    lc_arena arena;
    lc_job job;
} claiming;

static loci_status abandon_body(lc_tx *tx, void *ctx, loci_error *err)
{
    claiming *c = ctx;
    lc_job_terms terms = {.lease_ms = 1, .priority_min = INT64_MIN};

    return lc_job_claim(tx, &terms, &c->arena, &c->job, err);
}

/* What a process leaves behind that was killed between its claim and its first slice. */
TEST(worker_loss, a_job_of_a_dead_process_is_run_by_the_next)
{
    const char *path = fixture_path();
    loci_engine *engine = worker_open(path, LOCI_OPEN_INLINE, kinds);
    lc_id id = worker_add(engine, &effect, 0);
    claiming c = {0};
    loci_error err;

    lc_arena_init(&c.arena, &lc_engine_env(engine)->heap, LOCI_MEM_PIPELINES);
    CHECK_OK(worker_write(engine, "", abandon_body, &c, &err), err);
    CHECK_STR_EQ(c.job.id, id.text);
    lc_arena_clear(&c.arena);
    CHECK_EQ(worker_status(engine, id), LC_JOB_RUNNING);
    lc_engine_close(engine);

    engine = worker_open(path, 0, kinds);
    worker_wait(engine, id, LC_JOB_DONE);
    CHECK_EQ(worker_look(engine, id, NULL).effects, 1);
    CHECK_EQ(worker_look(engine, id, NULL).job.attempts, 2);
    lc_engine_close(engine);
}

static loci_status end_leases(lc_tx *tx, void *ctx, loci_error *err)
{
    static const lc_sql end_all = {
        .text = "update jobs set lease_until_us = 1 where status = 'running'",
        .params = "",
    };

    (void)ctx;
    return lc_tx_exec(tx, &end_all, NULL, err);
}

/* A process that works on the store and is killed at some moment; then its leases end. */
static void work_and_die(const char *path, int64_t life_us)
{
    loci_engine *engine;
    loci_error err;
    pid_t pid = fork();

    CHECK_LE(0, pid);
    if (pid == 0) {
        (void)worker_open(path, 0, kinds);
        for (;;)
            (void)pause();
    }
    lc_clock_sleep_us(life_us);
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    engine = worker_open(path, LOCI_OPEN_INLINE, kinds);
    CHECK_OK(worker_write(engine, "", end_leases, NULL, &err), err);
    lc_engine_close(engine);
}

TEST(worker_loss, each_effect_is_there_once_however_often_the_process_is_killed)
{
    enum { COUNT = 300 };
    const char *path = fixture_path();
    loci_engine *engine = worker_open(path, LOCI_OPEN_INLINE, kinds);
    test_rng rng = test_random(7);
    static lc_id ids[COUNT];

    for (int i = 0; i < COUNT; i++)
        ids[i] = worker_add(engine, &effect, 1000);
    lc_engine_close(engine);
    for (uint64_t i = 0; i < test_count(10, 100); i++)
        work_and_die(path, test_rng_between(&rng, 5000, 60000));

    engine = worker_open(path, 0, kinds);
    for (int i = 0; i < COUNT; i++) {
        worker_wait(engine, ids[i], LC_JOB_DONE);
        CHECK_EQ(worker_look(engine, ids[i], NULL).effects, 1);
    }
    lc_engine_close(engine);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static loci_status claim_and_return(void *ctx)
{
    fixture *f = ctx;
    claiming c = {0};
    loci_status status;

    lc_arena_init(&c.arena, &f->env.heap, LOCI_MEM_PIPELINES);
    status = fixture_write(f, "", abandon_body, &c);
    if (status == LOCI_OK)
        status = fixture_return(f, &c.job);
    lc_arena_clear(&c.arena);
    return status;
}

TEST(worker_loss, a_claim_without_memory_leaves_the_job_as_it_was)
{
    fixture f;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &(lc_job_new){.kind = LC_STR("test.effect")});
    CHECK_OK(claim_and_return(&f), f.err); /* Statements are prepared once. */
    test_oom_sweep(claim_and_return, &f);
    CHECK_EQ(fixture_load(&f, "u", id).status, LC_JOB_QUEUED);
    CHECK_EQ(fixture_load(&f, "u", id).attempts, 0);
    fixture_close(&f);
}
