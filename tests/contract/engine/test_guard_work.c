/* Work under memory pressure: which calls are let in, and which jobs are paused. */
#include "contract/guard_fixture.h"
#include "contract/worker_fixture.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"

#define NORMAL 40
#define ELEVATED 55
#define HIGH 75
#define CRITICAL 90

static loci_status call(loci_engine *engine, const char *operation, const char *args,
                        loci_error *err)
{
    return test_try(engine, operation, loci_str_of(test_json(args)), err);
}

/* Lowers usage and waits, by the clock of the machine, until the level is normal. */
static void relax(guard_machine *m, loci_engine *engine)
{
    for (int i = 0; i < 40; i++)
        guard_set_usage(m, engine, 20);
    CHECK_EQ(loci_guard_level(guard_of(engine)), LOCI_LEVEL_NORMAL);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

TEST(guard_work, new_sessions_are_refused_only_when_memory_is_critical)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * NORMAL};
    loci_engine *engine = guard_open(&m, &(guard_parts){0});
    loci_str id = test_member_text(test_call(engine, "session.open", "{}"), "id");
    loci_error err;

    guard_raise(&m, engine, HIGH);
    CHECK_EQ(loci_guard_level(guard_of(engine)), LOCI_LEVEL_HIGH);
    CHECK_OK(call(engine, "session.open", "{}", &err), err);
    guard_raise(&m, engine, CRITICAL);
    CHECK_EQ(loci_guard_level(guard_of(engine)), LOCI_LEVEL_CRITICAL);
    CHECK_STATUS(LOCI_EUNAVAILABLE, call(engine, "session.open", "{}", &err));
    CHECK(strstr(err.message, "memory is scarce") != NULL);
    CHECK_LT(0, lc_error_retry_ms(&err));
    CHECK_EQ(test_member_int(loci_str_of(err.data), "retry_after_ms"), lc_error_retry_ms(&err));

    /* Everything that is short or frees memory goes on. */
    CHECK_OK(call(engine, "fact.write", "{'key':'city','value':'Rome'}", &err), err);
    CHECK_OK(call(engine, "fact.list", "{}", &err), err);
    CHECK_OK(call(engine, "fact.forget", "{'key':'city'}", &err), err);
    test_call(engine, "session.close", "{'session_id':'%.*s'}", LC_STR_ARG(id));

    relax(&m, engine);
    CHECK_OK(call(engine, "session.open", "{}", &err), err);
    test_close(engine);
}

TEST(guard_work, sessions_do_not_wait_for_the_window_of_long_work)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * NORMAL};
    loci_engine *engine = guard_open(&m, &(guard_parts){0});
    loci_admission request = LOCI_ADMISSION_INIT;
    loci_ticket ticket = {0};
    loci_error err;

    while (ticket.outcome == LOCI_ADMITTED) /* Fills the window. */
        CHECK_OK(loci_guard_admit(guard_of(engine), &request, &ticket, &err), err);
    for (int i = 0; i < 50; i++)
        test_call(engine, "session.open", "{'external_id':'s%d'}", i);
    loci_close(engine);
}

TEST(guard_work, bulk_work_is_refused_from_high_on)
{
    static const char *const bulk[] = {"store.verify", "store.rebuild"};
    guard_machine m = {.used = GUARD_LIMIT / 100 * NORMAL};
    loci_engine *engine = guard_open(&m, &(guard_parts){0});
    loci_error err;

    guard_raise(&m, engine, ELEVATED);
    CHECK_OK(call(engine, "store.verify", "{}", &err), err);
    guard_raise(&m, engine, HIGH);
    for (size_t i = 0; i < sizeof bulk / sizeof *bulk; i++) {
        CHECK_STATUS(LOCI_EUNAVAILABLE, call(engine, bulk[i], "{}", &err));
        CHECK_LT(0, lc_error_retry_ms(&err));
    }
    relax(&m, engine);
    CHECK_OK(call(engine, "store.verify", "{}", &err), err);
    CHECK_EQ(test_member_int(guard_status(engine), "admission.in_flight"), 0);
    loci_close(engine);
}

TEST(guard_work, bulk_work_waits_for_a_place_until_its_deadline)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * NORMAL};
    loci_engine *engine = guard_open(&m, &(guard_parts){0});
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_admission request = LOCI_ADMISSION_INIT;
    loci_ticket ticket = {0};
    uint64_t last = 0;
    int64_t began_us;
    loci_error err;

    guard_raise(&m, engine, ELEVATED);
    while (ticket.outcome == LOCI_ADMITTED) {
        last = ticket.id;
        CHECK_OK(loci_guard_admit(guard_of(engine), &request, &ticket, &err), err);
    }
    options.timeout_ms = 300;
    began_us = lc_clock_monotonic_us();
    CHECK_STATUS(LOCI_EUNAVAILABLE,
                 loci_call(engine, "store.verify", LC_STR("{}"), &options, NULL, &err));
    CHECK_LE(200000, lc_clock_monotonic_us() - began_us);
    CHECK_LT(0, lc_error_retry_ms(&err));
    CHECK_EQ(test_member_int(guard_status(engine), "admission.queued"), 0);
    CHECK_OK(loci_guard_done(guard_of(engine), last, &err), err);
    CHECK_OK(loci_call(engine, "store.verify", LC_STR("{}"), NULL, NULL, &err), err);
    loci_close(engine);
}

TEST(guard_work, engine_without_a_guard_lets_everything_in)
{
    guard_machine m = {.used = GUARD_LIMIT};
    loci_engine *engine = guard_open(&m, &(guard_parts){.settings = "{\"guard.enabled\":false}"});
    loci_error err;

    CHECK_OK(call(engine, "session.open", "{}", &err), err);
    CHECK_OK(call(engine, "store.verify", "{}", &err), err);
    loci_close(engine);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static _Atomic bool may_end;
static _Atomic int begun;

/* Works in small pieces until it may end. */
static loci_status run_pieces(lc_job_run *run, loci_error *err)
{
    atomic_fetch_add(&begun, 1);
    while (!atomic_load(&may_end)) {
        loci_status status = lc_job_run_pause_point(run, err);

        if (status != LOCI_OK)
            return status;
        lc_clock_sleep_us(1000);
    }
    return lc_job_run_finish(run, NULL, NULL, LC_STR_NONE, err);
}

/* The same without a pause point. */
static loci_status run_deaf(lc_job_run *run, loci_error *err)
{
    atomic_fetch_add(&begun, 1);
    while (!atomic_load(&may_end))
        lc_clock_sleep_us(1000);
    return lc_job_run_finish(run, NULL, NULL, LC_STR_NONE, err);
}

static const lc_job_kind pieces = {.name = "test.pieces", .help = "", .run = run_pieces};
static const lc_job_kind deaf = {.name = "test.deaf", .help = "", .run = run_deaf};
static const lc_job_kind *const kinds[] = {&pieces, &deaf, NULL};
static const lc_room *const rooms[] = {&lc_store_room, &fixture_room, NULL};

static loci_engine *open_with_jobs(guard_machine *m)
{
    atomic_store(&may_end, false);
    atomic_store(&begun, 0);
    return guard_open(m, &(guard_parts){.rooms = rooms,
                                        .job_kinds = kinds,
                                        .settings = "{\"job.workers\":3,\"job.lease_ms\":20000}"});
}

static lc_id add_job(loci_engine *engine, const lc_job_kind *kind, int64_t priority)
{
    worker_job a = {.job = {.kind = loci_str_of(kind->name), .priority = priority}};
    loci_error err;

    CHECK_OK(worker_write(engine, "u", worker_add_body, &a, &err), err);
    lc_engine_wake_workers(engine);
    return a.id;
}

static void await_begun(int count)
{
    int64_t until_us = lc_clock_monotonic_us() + WORKER_PATIENCE_US;

    while (atomic_load(&begun) < count && lc_clock_monotonic_us() < until_us)
        lc_clock_sleep_us(1000);
    CHECK_EQ(atomic_load(&begun), count);
}

/* Of the `band`th pipeline, the lowest priority first. */
static loci_str state_of(loci_engine *engine, int band)
{
    return test_member_text(guard_status(engine), test_format("pipelines.%d.state", band));
}

static void await_state(loci_engine *engine, int band, const char *state)
{
    int64_t until_us = lc_clock_monotonic_us() + WORKER_PATIENCE_US;

    while (!lc_str_is(state_of(engine, band), state) && lc_clock_monotonic_us() < until_us)
        lc_clock_sleep_us(1000);
    CHECK_STR_EQ(state_of(engine, band), state);
}

TEST(guard_work, jobs_are_paused_by_priority_and_continue_later)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * NORMAL};
    loci_engine *engine = open_with_jobs(&m);
    lc_id upkeep = add_job(engine, &pieces, LC_JOB_PRIORITY_UPKEEP);
    lc_id background = add_job(engine, &pieces, -100);
    lc_id requested = add_job(engine, &pieces, 0);
    lc_id late;

    await_begun(3);
    guard_raise(&m, engine, HIGH);
    CHECK_STR_EQ(state_of(engine, 0), "running");
    guard_raise(&m, engine, CRITICAL);
    await_state(engine, 0, "paused"); /* One at a time: */
    CHECK_STR_EQ(test_member_text(guard_status(engine), "pipelines.0.name"), "loci.jobs.upkeep");
    CHECK_STR_EQ(state_of(engine, 1), "running");
    worker_wait(engine, upkeep, LC_JOB_QUEUED);
    CHECK_EQ(worker_status(engine, background), LC_JOB_RUNNING);
    guard_set_usage(&m, engine, CRITICAL); /* the next when this was not enough. */
    guard_set_usage(&m, engine, CRITICAL);
    await_state(engine, 1, "paused");
    worker_wait(engine, background, LC_JOB_QUEUED);
    late = add_job(engine, &pieces, -50);
    guard_set_usage(&m, engine, CRITICAL);
    guard_set_usage(&m, engine, CRITICAL);
    await_state(engine, 2, "paused");
    worker_wait(engine, requested, LC_JOB_QUEUED);
    CHECK_EQ(worker_status(engine, late), LC_JOB_QUEUED); /* Not claimed. */
    CHECK_EQ(worker_look(engine, upkeep, NULL).job.attempts, 0);

    atomic_store(&may_end, true);
    relax(&m, engine);
    worker_wait(engine, upkeep, LC_JOB_DONE);
    worker_wait(engine, background, LC_JOB_DONE);
    worker_wait(engine, requested, LC_JOB_DONE);
    worker_wait(engine, late, LC_JOB_DONE);
    CHECK_EQ(worker_look(engine, upkeep, NULL).job.attempts, 1);
    lc_engine_close(engine);
}

TEST(guard_work, job_that_does_not_pause_is_waited_for_and_others_follow)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * NORMAL};
    loci_engine *engine = open_with_jobs(&m);
    lc_id id = add_job(engine, &deaf, LC_JOB_PRIORITY_UPKEEP), next;

    await_begun(1);
    guard_raise(&m, engine, CRITICAL);
    CHECK_STR_EQ(state_of(engine, 0), "pausing");
    for (int i = 0; i < 26; i++) /* More than five seconds. */
        guard_set_usage(&m, engine, CRITICAL);
    CHECK_STR_EQ(state_of(engine, 0), "cancelled");
    relax(&m, engine);
    CHECK_STR_EQ(state_of(engine, 0), "cancelled"); /* It still runs. */
    atomic_store(&may_end, true);
    worker_wait(engine, id, LC_JOB_DONE);
    next = add_job(engine, &pieces, LC_JOB_PRIORITY_UPKEEP);
    worker_wait(engine, next, LC_JOB_DONE);
    CHECK_STR_EQ(state_of(engine, 2), "running"); /* Registered again, behind the others. */
    lc_engine_close(engine);
}

TEST(guard_work, closing_while_jobs_are_paused_ends_cleanly)
{
    guard_machine m = {.used = GUARD_LIMIT / 100 * NORMAL};
    loci_engine *engine = open_with_jobs(&m);

    (void)add_job(engine, &pieces, LC_JOB_PRIORITY_UPKEEP);
    await_begun(1);
    guard_raise(&m, engine, CRITICAL);
    lc_engine_close(engine);
    CHECK_EQ(atomic_load(&begun), 1);
}
