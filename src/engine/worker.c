/* worker.c - A worker looks (a read), claims (a write), runs, and looks again; finding nothing it
 * sleeps until it is woken, the next job falls due, or LC_WORKERS_IDLE_US have passed, because
 * another process may have added a job without being able to wake it. Looking first costs a few µs
 * and keeps an idle pool from taking the write lock once a second.
 *
 *     look --nothing--> sleep --wake, due, idle--> look
 *       '--due--> claim --> wake the next --> run --> look
 *
 * A wake is given to one sleeper, and whoever has claimed a job passes it on before running it, so
 * many jobs wake many workers and one job wakes two. No wake is lost: `wakes` is read before
 * looking, and a worker whose number is stale does not sleep.
 *
 * The lock guards `wakes`, `is_stopping` and `is_paused` and is never held over anything that can
 * take time. `must_return` repeats the two flags for the pause points.
 */
#include "engine/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/job_run.h"

/* After a look that said "due" and a claim that found nothing: somebody was faster. */
#define LOST_RACE_US 1000

const lc_setting lc_setting_job_lease_ms = {
    .name = "job.lease_ms",
    .kind = LC_SETTING_INT,
    .default_text = "30000",
    .min = 1000,
    .max = 3600000,
    .help = "Time without progress after which a job is given to another worker, in "
            "milliseconds",
    .is_live = true,
};

const lc_setting lc_setting_job_workers = {
    .name = "job.workers",
    .kind = LC_SETTING_INT,
    .default_text = "2",
    .min = 1,
    .max = 64,
    .help = "Number of threads that run jobs",
};

struct lc_workers {
    loci_engine *engine;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    uint64_t wakes; /* Grows with every wake. */
    bool is_stopping;
    bool is_paused;
    _Atomic bool must_return; /* is_stopping or is_paused. */
    _Atomic int64_t done, failed, cancelled, running;
    size_t thread_count;
    pthread_t threads[LC_WORKERS_MAX];
};

/* ---- One job -------------------------------------------------------------------------------- */

static void count_outcome(lc_workers *workers, lc_job_outcome outcome)
{
    if (outcome == LC_JOB_OUTCOME_DONE)
        atomic_fetch_add(&workers->done, 1);
    else if (outcome == LC_JOB_OUTCOME_FAILED)
        atomic_fetch_add(&workers->failed, 1);
    else if (outcome == LC_JOB_OUTCOME_CANCELLED)
        atomic_fetch_add(&workers->cancelled, 1);
}

static lc_job_terms terms_of(lc_workers *workers)
{
    bool is_inline = lc_engine_is_inline(workers->engine);

    return (lc_job_terms){
        .lease_ms = lc_settings_i64(lc_engine_settings(workers->engine), &lc_setting_job_lease_ms,
                                    LC_STR_NONE),
        .priority_min = is_inline ? LC_JOB_PRIORITY_UPKEEP + 1 : INT64_MIN,
    };
}

/* Claims and runs one job; `*found` false when none was to be had. */
static loci_status run_one(lc_workers *workers, bool *found, loci_error *err)
{
    lc_job_terms terms = terms_of(workers);
    lc_arena arena;
    lc_job_run run = {.engine = workers->engine, .arena = &arena, .workers = workers};
    loci_status status;

    lc_arena_init(&arena, &lc_engine_env(workers->engine)->heap, LOCI_MEM_PIPELINES);
    *found = false;
    /* Counted before the claim: a pause that sees zero may rely on it. */
    atomic_fetch_add(&workers->running, 1);
    status = lc_workers_must_return(workers) ? LOCI_OK : lc_job_run_claim(&run, &terms, err);
    if (status == LOCI_OK && run.job.id.ptr != NULL) {
        *found = true;
        lc_workers_wake(workers);
        count_outcome(workers, lc_job_run_attempt(&run));
    }
    atomic_fetch_sub(&workers->running, 1);
    lc_arena_clear(&arena);
    return status;
}

typedef struct look {
    lc_job_terms terms;
    int64_t due_us;
} look;

static loci_status look_body(lc_tx *tx, void *ctx, loci_error *err)
{
    look *l = ctx;

    return lc_job_next_due_us(tx, &l->terms, &l->due_us, err);
}

static loci_status next_due_us(lc_workers *workers, int64_t *out, loci_error *err)
{
    look l = {.terms = terms_of(workers)};
    int64_t deadline_us = lc_clock_monotonic_us() + LC_WORKERS_IDLE_US;
    loci_status status = lc_engine_read(
        workers->engine, &(lc_read){.deadline_us = deadline_us, .body = look_body, .ctx = &l}, err);

    if (status == LOCI_OK)
        *out = l.due_us;
    return status;
}

loci_status lc_workers_run_due(lc_workers *workers, loci_error *err)
{
    for (int i = 0; i < LC_WORKERS_INLINE_MAX; i++) {
        int64_t due_us = 0;
        bool found = false;
        /* Looking first: most calls cause no job, and an empty claim would still be a write. */
        loci_status status = next_due_us(workers, &due_us, err);

        if (status == LOCI_OK && due_us == 0)
            status = run_one(workers, &found, err);
        if (status != LOCI_OK || due_us > 0 || lc_workers_must_return(workers))
            return status;
    }
    return LOCI_OK;
}

/* ---- Threads -------------------------------------------------------------------------------- */

/* Does what there is to do once; returns how long there is nothing more. */
static int64_t step(lc_workers *workers)
{
    int64_t wait_us = 0;
    bool found = true;
    loci_error err;
    loci_status status;

    if (lc_workers_must_return(workers))
        return LC_WORKERS_IDLE_US;
    status = next_due_us(workers, &wait_us, &err);
    if (status == LOCI_OK && wait_us == 0)
        status = run_one(workers, &found, &err);
    if (status != LOCI_OK) {
        lc_log_write(&lc_engine_env(workers->engine)->log, LOCI_LOG_WARN, "job.not_claimed",
                     LC_LOG_TEXT("code", loci_status_name(status)),
                     LC_LOG_TEXT("message", err.message));
        return LC_WORKERS_IDLE_US;
    }
    return found ? wait_us : LOST_RACE_US;
}

static struct timespec after_us(int64_t us)
{
    int64_t until_us = lc_clock_monotonic_us() + us;

    return (struct timespec){.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
}

/* Sleeps unless something was woken since `wakes` was `seen`. False when the worker shall end. */
static bool rest(lc_workers *workers, uint64_t *seen, int64_t wait_us)
{
    struct timespec until = after_us(wait_us < LC_WORKERS_IDLE_US ? wait_us : LC_WORKERS_IDLE_US);
    bool goes_on;
    int code = 0;

    pthread_mutex_lock(&workers->lock);
    while (wait_us > 0 && workers->wakes == *seen && !workers->is_stopping && code == 0)
        code = pthread_cond_timedwait(&workers->woken, &workers->lock, &until);
    *seen = workers->wakes;
    goes_on = !workers->is_stopping;
    pthread_mutex_unlock(&workers->lock);
    return goes_on;
}

static void work(lc_workers *workers)
{
    uint64_t seen = 0;
    int64_t wait_us = 0;

    while (rest(workers, &seen, wait_us)) {
        /* After a bug nothing is done any more; the thread stays until it is told to end. */
        bool is_sound = lc_engine_check(workers->engine, NULL) == LOCI_OK;

        wait_us = is_sound ? step(workers) : LC_WORKERS_IDLE_US;
    }
}

static void *thread_main(void *ctx)
{
    lc_workers *workers = ctx;
    lc_fault_frame frame = {.report = lc_engine_report_fault, .ctx = workers->engine};

    if (LC_FAULT_ENTER(&frame))
        work(workers);
    lc_fault_leave(&frame);
    return NULL;
}

/* The host's signals are for the host's threads. */
static loci_status start_threads(lc_workers *workers, int64_t count, loci_error *err)
{
    sigset_t all, before;
    int code = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (code == 0 && workers->thread_count < (size_t)count) {
        code = pthread_create(&workers->threads[workers->thread_count], NULL, thread_main, workers);
        if (code == 0)
            workers->thread_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        return lc_fail(err, LOCI_ERESOURCE, "the system gave %zu of %lld threads for jobs",
                       workers->thread_count, (long long)count);
    return LOCI_OK;
}

/* ---- The pool ------------------------------------------------------------------------------- */

static loci_status init_locks(lc_workers *workers, loci_error *err)
{
    pthread_condattr_t attributes;
    int code = pthread_mutex_init(&workers->lock, NULL);

    if (code != 0)
        return lc_fail(err, LOCI_ERESOURCE, "the system has no more locks to give");
    code = pthread_condattr_init(&attributes);
    if (code == 0) {
        (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* Always there on Linux. */
        code = pthread_cond_init(&workers->woken, &attributes);
        (void)pthread_condattr_destroy(&attributes);
    }
    if (code != 0) {
        (void)pthread_mutex_destroy(&workers->lock);
        return lc_fail(err, LOCI_ERESOURCE, "the system has no more locks to give");
    }
    return LOCI_OK;
}

loci_status lc_workers_new(loci_engine *engine, int64_t count, lc_workers **out, loci_error *err)
{
    lc_heap *heap = &lc_engine_env(engine)->heap;
    lc_workers *workers = lc_heap_zalloc(heap, sizeof *workers, LOCI_MEM_PIPELINES);
    loci_status status;

    LC_ASSERT(count >= 0 && count <= LC_WORKERS_MAX);
    if (workers == NULL)
        return lc_fail_memory(err);
    workers->engine = engine;
    status = init_locks(workers, err);
    if (status != LOCI_OK) {
        lc_heap_free(heap, workers, sizeof *workers, LOCI_MEM_PIPELINES);
        return status;
    }
    status = start_threads(workers, count, err);
    if (status != LOCI_OK) {
        lc_workers_free(workers);
        return status;
    }
    *out = workers;
    return LOCI_OK;
}

static void tell_all(lc_workers *workers, bool is_stopping, bool is_paused)
{
    pthread_mutex_lock(&workers->lock);
    workers->is_stopping = workers->is_stopping || is_stopping;
    workers->is_paused = is_paused;
    atomic_store(&workers->must_return, workers->is_stopping || workers->is_paused);
    workers->wakes++;
    pthread_cond_broadcast(&workers->woken);
    pthread_mutex_unlock(&workers->lock);
}

void lc_workers_free(lc_workers *workers)
{
    if (workers == NULL)
        return;
    tell_all(workers, true, false);
    for (size_t i = 0; i < workers->thread_count; i++)
        (void)pthread_join(workers->threads[i],
                           NULL); /* Fails only for threads that are not ours. */
    (void)pthread_cond_destroy(&workers->woken);
    (void)pthread_mutex_destroy(&workers->lock);
    lc_heap_free(&lc_engine_env(workers->engine)->heap, workers, sizeof *workers,
                 LOCI_MEM_PIPELINES);
}

void lc_workers_wake(lc_workers *workers)
{
    if (workers == NULL)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->wakes++;
    pthread_cond_signal(&workers->woken);
    pthread_mutex_unlock(&workers->lock);
}

void lc_workers_pause(lc_workers *workers)
{
    tell_all(workers, false, true);
}

void lc_workers_resume(lc_workers *workers)
{
    tell_all(workers, false, false);
}

bool lc_workers_must_return(const lc_workers *workers)
{
    return atomic_load(&workers->must_return);
}

lc_workers_counters lc_workers_get_counters(const lc_workers *workers)
{
    return (lc_workers_counters){
        .done = atomic_load(&workers->done),
        .failed = atomic_load(&workers->failed),
        .cancelled = atomic_load(&workers->cancelled),
        .running = atomic_load(&workers->running),
    };
}
