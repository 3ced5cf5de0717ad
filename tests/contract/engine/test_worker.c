/* The pool: real threads, real clocks, one file. Also run under ThreadSanitizer. */
#include "contract/worker_fixture.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/internal.h"
#include "engine/store_jobs.h"

/* ---- Kinds of jobs -------------------------------------------------------------------------- */

static loci_status effect_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return fixture_add_effect(tx, ctx, err);
}

/* One effect, named as the job. */
static loci_status run_effect(lc_job_run *run, loci_error *err)
{
    lc_id id = {""};

    memcpy(id.text, run->job.id.ptr, run->job.id.len);
    return lc_job_run_finish(run, effect_body, id.text, LC_STR("{\"ok\":true}"), err);
}

/* An effect a slice, named by its number; goes on where the last attempt was. */
static loci_status run_slices(lc_job_run *run, loci_error *err)
{
    static const char *const names[] = {"0", "1", "2", "3"};
    int at = run->job.checkpoint.ptr != NULL ? run->job.checkpoint.ptr[0] - '0' : 0;

    for (; at < 3; at++) {
        lc_job_progress progress = {
            .done = at + 1, .total = 3, .checkpoint = loci_str_of(names[at + 1])};
        loci_status status = lc_job_run_pause_point(run, err);

        if (status == LOCI_OK)
            status = lc_job_run_commit(run, effect_body, (void *)names[at], &progress, err);
        if (status != LOCI_OK)
            return status;
        /* Lost after its second slice, once. */
        if (at == 1 && run->job.attempts == 1)
            return lc_fail(err, LOCI_EUNAVAILABLE, "the model went away");
    }
    return lc_job_run_finish(run, NULL, NULL, LC_STR_NONE, err);
}

/* Works until it is told to stop. */
static loci_status run_long(lc_job_run *run, loci_error *err)
{
    loci_status status = LOCI_OK;

    while (status == LOCI_OK) {
        lc_clock_sleep_us(1000);
        status = lc_job_run_pause_point(run, err);
    }
    return status;
}

/* Works for ever, but makes way; its progress is kept. */
static loci_status run_polite(lc_job_run *run, loci_error *err)
{
    lc_job_progress progress = {.done = 1, .checkpoint = LC_STR("here")};
    loci_status status = LOCI_OK;

    while (status == LOCI_OK) {
        lc_clock_sleep_us(1000);
        status = lc_job_run_yield_point(run, &progress, err);
    }
    return status;
}

static loci_status run_conflict(lc_job_run *run, loci_error *err)
{
    (void)run;
    return lc_fail(err, LOCI_ECONFLICT, "it did not work");
}

static loci_status run_wrong(lc_job_run *run, loci_error *err)
{
    (void)run;
    return lc_fail(err, LOCI_EINVAL, "its args are wrong");
}

static loci_status add_itself(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_id id;

    return lc_job_enqueue(tx, ctx, &id, err);
}

/* Adds its successor, for ever. */
static loci_status run_endless(lc_job_run *run, loci_error *err)
{
    lc_job_new next = {.kind = run->job.kind, .unique = LC_STR("one")};

    return lc_job_run_finish(run, add_itself, &next, LC_STR_NONE, err);
}

static const lc_job_kind effect = {.name = "test.effect", .help = "", .run = run_effect};
static const lc_job_kind slices = {.name = "test.slices", .help = "", .run = run_slices};
static const lc_job_kind forever = {.name = "test.long", .help = "", .run = run_long};
static const lc_job_kind conflict = {.name = "test.conflict", .help = "", .run = run_conflict};
static const lc_job_kind wrong = {.name = "test.wrong", .help = "", .run = run_wrong};
static const lc_job_kind endless = {.name = "test.endless", .help = "", .run = run_endless};
static const lc_job_kind polite = {.name = "test.polite", .help = "", .run = run_polite};
static const lc_job_kind *const kinds[] = {&effect, &slices,  &forever,      &conflict, &polite,
                                           &wrong,  &endless, &lc_job_purge, NULL};

static loci_engine *open_engine(const char *path, uint32_t flags)
{
    return worker_open(path, flags, kinds);
}

/* ---- Inline --------------------------------------------------------------------------------- */

TEST(worker, an_inline_engine_runs_what_is_due_and_leaves_the_rest)
{
    loci_engine *engine = open_engine(fixture_path(), LOCI_OPEN_INLINE);
    worker_job later = {.job = {.kind = LC_STR("test.effect"), .delay_ms = 3600000}};
    worker_job upkeep = {
        .job = {.kind = LC_STR("test.effect"), .priority = LC_JOB_PRIORITY_UPKEEP}};
    lc_id first = worker_add(engine, &effect, 0);
    lc_id second = worker_add(engine, &effect, 0);
    loci_error err;

    CHECK_OK(worker_write(engine, "u", worker_add_body, &later, &err), err);
    CHECK_OK(worker_write(engine, "u", worker_add_body, &upkeep, &err), err);
    CHECK_OK(lc_engine_run_jobs(engine, INT64_MAX, &err), err);
    CHECK_EQ(worker_look(engine, first, NULL).effects, 1);
    CHECK_EQ(worker_look(engine, second, NULL).effects, 1);
    CHECK_EQ(worker_status(engine, first), LC_JOB_DONE);
    CHECK_EQ(worker_status(engine, later.id), LC_JOB_QUEUED);
    CHECK_EQ(worker_status(engine, upkeep.id), LC_JOB_QUEUED);
    CHECK_EQ(lc_engine_get_counters(engine).jobs_done, 2);
    lc_engine_close(engine);
}

/* Were the pause kept, whether a line of a batch sees the retry would depend on how fast it came.
 */
TEST(worker, an_inline_engine_repeats_failed_attempts_at_once)
{
    loci_engine *engine = open_engine(fixture_path(), LOCI_OPEN_INLINE);
    lc_id never = worker_add(engine, &conflict, 3);
    lc_id bad = worker_add(engine, &wrong, 3);
    lc_id again = worker_add(engine, &slices, 0);
    loci_error err;
    worker_look_result p;

    CHECK_OK(lc_engine_run_jobs(engine, INT64_MAX, &err), err);
    p = worker_look(engine, never, NULL);
    CHECK_EQ(p.job.status, LC_JOB_FAILED);
    CHECK_EQ(p.job.attempts, 3);
    CHECK_STR_EQ(p.job.error_code, "conflict");
    p = worker_look(engine, bad, NULL);
    CHECK_EQ(p.job.status, LC_JOB_FAILED);
    CHECK_EQ(p.job.attempts, 1);
    p = worker_look(engine, again, "1");
    CHECK_EQ(p.job.status, LC_JOB_DONE);
    CHECK_EQ(p.job.attempts, 2);
    CHECK_EQ(p.job.progress_done, 3);
    CHECK_EQ(p.effects, 1);
    CHECK_EQ(worker_look(engine, again, "0").effects, 1);
    CHECK_EQ(worker_look(engine, again, "2").effects, 1);
    CHECK_EQ(lc_engine_get_counters(engine).jobs_failed, 2);
    lc_engine_close(engine);
}

TEST(worker, a_job_that_always_adds_another_does_not_hold_the_call)
{
    loci_engine *engine = open_engine(fixture_path(), LOCI_OPEN_INLINE);
    loci_error err;

    (void)worker_add(engine, &endless, 0);
    CHECK_OK(lc_engine_run_jobs(engine, INT64_MAX, &err), err);
    CHECK_EQ(lc_engine_get_counters(engine).jobs_done, LC_WORKERS_INLINE_MAX);
    lc_engine_close(engine);
}

/* A search on the command line made the vectors of 100,000 messages for 400 seconds. */
TEST(worker, an_inline_engine_returns_a_job_when_the_time_of_its_call_is_over)
{
    loci_engine *engine = open_engine(fixture_path(), LOCI_OPEN_INLINE);
    lc_id long_job = worker_add(engine, &forever, 0);
    loci_error err;
    worker_look_result p;

    CHECK_OK(lc_engine_run_jobs(engine, lc_clock_monotonic_us() + 50000, &err), err);
    p = worker_look(engine, long_job, NULL);
    CHECK_EQ(p.job.status, LC_JOB_QUEUED);
    CHECK_EQ(p.job.attempts, 0);
    CHECK_OK(lc_engine_run_jobs(engine, lc_clock_monotonic_us() - 1, &err), err);
    CHECK_EQ(worker_status(engine, long_job), LC_JOB_QUEUED);
    lc_engine_close(engine);
}

TEST(worker, a_kind_that_is_not_known_fails_for_good)
{
    static const lc_job_kind unknown = {.name = "test.unknown", .help = "", .run = NULL};
    loci_engine *engine = open_engine(fixture_path(), LOCI_OPEN_INLINE);
    lc_id id = worker_add(engine, &unknown, 0);
    loci_error err;

    CHECK_OK(lc_engine_run_jobs(engine, INT64_MAX, &err), err);
    CHECK_EQ(worker_status(engine, id), LC_JOB_FAILED);
    CHECK_STR_EQ(worker_look(engine, id, NULL).job.error_code, "unsupported");
    lc_engine_close(engine);
}

/* ---- Threads -------------------------------------------------------------------------------- */

/* Without its wake a worker would sleep a second before each. */
TEST(worker, a_wake_is_not_lost)
{
    loci_engine *engine = open_engine(fixture_path(), 0);
    int64_t began_us = lc_clock_monotonic_us();

    for (int i = 0; i < 30; i++)
        worker_wait(engine, worker_add(engine, &effect, 0), LC_JOB_DONE);
    CHECK_LT(lc_clock_monotonic_us() - began_us, 15 * INT64_C(1000000));
    lc_engine_close(engine);
}

/* What no one process can promise: whoever claims, every effect is there exactly once. */
TEST(worker, two_engines_with_many_workers_have_each_effect_once)
{
    enum { COUNT = 200 };
    const char *path = fixture_path();
    loci_engine *engines[2];
    static lc_id ids[COUNT];

    engines[0] = open_engine(path, 0);
    engines[1] = open_engine(path, 0);
    for (int i = 0; i < COUNT; i++)
        ids[i] = worker_add(engines[i % 2], &effect, 0);
    for (int i = 0; i < COUNT; i++) {
        worker_look_result p;

        worker_wait(engines[0], ids[i], LC_JOB_DONE);
        p = worker_look(engines[1], ids[i], NULL);
        CHECK_EQ(p.effects, 1);
        CHECK_EQ(p.job.attempts, 1);
        CHECK_EQ(p.job.epoch, 1);
    }
    lc_engine_close(engines[0]);
    lc_engine_close(engines[1]);
}

static loci_status cancel_body(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_job_key key = {LC_STR("t"), LC_STR("u"), lc_id_str(ctx)};

    return lc_job_request_cancel(tx, &key, err);
}

TEST(worker, a_running_job_is_cancelled_at_its_next_pause_point)
{
    loci_engine *engine = open_engine(fixture_path(), 0);
    lc_id id = worker_add(engine, &forever, 0);
    loci_error err;

    worker_wait(engine, id, LC_JOB_RUNNING);
    CHECK_OK(worker_write(engine, "u", cancel_body, &id, &err), err);
    worker_wait(engine, id, LC_JOB_CANCELLED);
    lc_engine_close(engine);
}

TEST(worker, a_pause_gives_running_jobs_back_and_a_resume_takes_them_again)
{
    loci_engine *engine = open_engine(fixture_path(), 0);
    lc_workers *workers = engine->workers;
    int64_t until_us = lc_clock_monotonic_us() + WORKER_PATIENCE_US;
    lc_id id = worker_add(engine, &forever, 0);
    lc_id waiting;

    worker_wait(engine, id, LC_JOB_RUNNING);
    lc_workers_pause(workers);
    while (lc_workers_get_counters(workers).running > 0) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(1000);
    }
    CHECK_EQ(worker_status(engine, id), LC_JOB_QUEUED);
    CHECK_EQ(worker_look(engine, id, NULL).job.attempts, 0);
    waiting = worker_add(engine, &effect, 0);
    lc_clock_sleep_us(50000);
    CHECK_EQ(worker_status(engine, waiting), LC_JOB_QUEUED);
    lc_workers_resume(workers);
    worker_wait(engine, id, LC_JOB_RUNNING);
    worker_wait(engine, waiting, LC_JOB_DONE);
    lc_engine_close(engine);
}

TEST(worker, closing_gives_running_jobs_back_without_counting_the_attempt)
{
    const char *path = fixture_path();
    loci_engine *engine = open_engine(path, 0);
    lc_id id = worker_add(engine, &forever, 0);

    worker_wait(engine, id, LC_JOB_RUNNING);
    lc_engine_close(engine);
    engine = open_engine(path, LOCI_OPEN_INLINE);
    CHECK_EQ(worker_status(engine, id), LC_JOB_QUEUED);
    CHECK_EQ(worker_look(engine, id, NULL).job.attempts, 0);
    lc_engine_close(engine);
}

static lc_id add_with_priority(loci_engine *engine, const lc_job_kind *kind, int64_t priority)
{
    worker_job w = {.job = {.kind = loci_str_of(kind->name), .priority = priority}};
    loci_error err;

    CHECK_OK(worker_write(engine, "u", worker_add_body, &w, &err), err);
    lc_workers_wake(engine->workers);
    return w.id;
}

static void wait_until_running(loci_engine *engine, int64_t count)
{
    int64_t until_us = lc_clock_monotonic_us() + WORKER_PATIENCE_US;

    while (lc_workers_get_counters(engine->workers).running < count) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(2000);
    }
}

/* A queue full of long jobs, as after a change of the embedder: an urgent job does not wait for
 * them, and those of one priority take turns. */
TEST(worker, polite_jobs_make_way_for_others)
{
    enum { COUNT = 12 };
    loci_engine *engine = open_engine(fixture_path(), 0);
    lc_id first = add_with_priority(engine, &polite, -20), equal;
    worker_look_result looked;
    int64_t began_us;

    for (int i = 1; i < COUNT; i++)
        (void)add_with_priority(engine, &polite, -20);
    wait_until_running(engine, 3);
    began_us = lc_clock_monotonic_us();
    worker_wait(engine, add_with_priority(engine, &effect, 0), LC_JOB_DONE);
    CHECK_LT(lc_clock_monotonic_us() - began_us, 5 * INT64_C(1000000));
    equal = add_with_priority(engine, &effect, -20);
    worker_wait(engine, equal, LC_JOB_DONE);
    looked = worker_look(engine, first, NULL);
    CHECK_LE(looked.job.attempts, 1);      /* Making way is no failure, */
    CHECK_EQ(looked.job.progress_done, 1); /* and what was done is kept. */
    lc_engine_close(engine);
}
