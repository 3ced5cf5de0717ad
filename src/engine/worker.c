/* worker.c - A worker checks for a due job (a read), claims it (a write), runs it and checks again.
 * Without one it sleeps until it is woken, until the next job falls due, or for LC_WORKERS_IDLE_US,
 * because another process that adds a job cannot wake it. The read before the claim costs a few µs
 * and keeps idle workers from taking the write lock once per second.
 *
 *     check --nothing due--> sleep --woken, due, idle--> check
 *       '--due--> claim --> wake another worker --> run --> check
 *
 * A wake-up goes to one sleeping worker, and a worker that has claimed a job wakes the next before
 * it runs it. So several queued jobs wake several workers, and one job wakes two. No wake-up is
 * lost: `wakes` is read before the check, and a worker whose number is outdated does not sleep.
 *
 * How an attempt ends is decided here and nowhere else:
 *
 *     the kind returned                      and                 the row becomes
 *     anything                               finish() committed  done (it already is)
 *     the status of a pause point or commit  ECANCELLED          cancelled
 *                                            EUNAVAILABLE        queued, attempt not counted
 *                                            EFENCED             unchanged: not this worker's job
 *     any other status                       cannot be retried   failed
 *                                            attempts left       queued, after a back-off
 *
 * lc_job_run.verdict distinguishes the second from the third case: a kind may also return
 * LOCI_ECANCELLED or LOCI_EUNAVAILABLE because of something it called, and that is a failed attempt
 * like any other. When the outcome cannot be written (disk full, store busy for longer than the
 * lease), the row stays as it is: the lease expires and the job is claimed again, with this attempt
 * counted.
 *
 * The lock protects `wakes`, `is_stopping` and `is_paused` and is never held during slow work.
 * `must_return` repeats the two flags for the pause points. Under memory pressure the guard pauses
 * jobs by their priority (engine/job_pipelines.h): those below the floor are neither claimed nor
 * continued.
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
#include "engine/job_pipelines.h"

#define LOST_RACE_US 1000 /* Pause after a due job that another worker claimed first. */
#define CHECK_US 100000   /* How often a pause point reads the job's row. */
#define KEEP_US 1000000   /* How often lc_job_run_keep() extends the lease. */

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
    lc_job_pipelines pipelines;
    size_t thread_count;
    pthread_t threads[LC_WORKERS_MAX];
};

typedef enum job_outcome {
    OUTCOME_DONE,
    OUTCOME_FAILED,    /* For good. */
    OUTCOME_RETRIED,   /* The attempt failed, and another follows. */
    OUTCOME_CANCELLED, /* By job.cancel. */
    OUTCOME_RETURNED,  /* The worker was paused or stopped. */
    OUTCOME_LOST       /* Not written: another worker has the job, or the store failed. */
} job_outcome;

/* A write that waits longer than the lease would only find the job taken over. */
static int64_t deadline_us(const lc_job_run *run)
{
    return lc_clock_monotonic_us() + run->lease_ms * 1000;
}

/* A write for the user of the job; for the store itself as long as no job is claimed. */
static loci_status write_for(lc_job_run *run, lc_tx_body *body, void *ctx, loci_error *err)
{
    const lc_job *job = &run->job;
    lc_write write = {
        .locks_nothing = job->id.ptr == NULL, /* A claim relies on its conditional update alone. */
        .tenant_id = job->tenant_id.ptr != NULL ? job->tenant_id : LC_STR(""),
        .user_id = job->user_id.ptr != NULL ? job->user_id : LC_STR(""),
        .now_us = lc_env_now_us(lc_engine_env(run->engine)),
        .deadline_us = deadline_us(run),
        .body = body,
        .ctx = ctx,
    };
    loci_status status = lc_engine_write(run->engine, &write);

    if (status != LOCI_OK && err != NULL)
        *err = write.error;
    return status;
}

/* ---- Slices --------------------------------------------------------------------------------- */

typedef struct slice {
    lc_job_run *run;
    lc_tx_body *body;
    void *ctx;
    const lc_job_progress *progress; /* NULL = this is the last slice. */
    loci_str result;
    bool is_held; /* The lease was extended: a failure is the body's. */
    bool enqueued_job;
} slice;

static loci_status slice_body(lc_tx *tx, void *ctx, loci_error *err)
{
    slice *s = ctx;
    const lc_job *job = &s->run->job;
    loci_status status;

    s->is_held = false;
    status = lc_job_hold(tx, job, s->run->lease_ms, err);
    s->is_held = status == LOCI_OK;
    if (status == LOCI_OK && s->progress == NULL)
        status = lc_job_finish(tx, job, s->result, err);
    if (status == LOCI_OK && s->body != NULL)
        status = s->body(tx, s->ctx, err);
    if (status == LOCI_OK && s->progress != NULL)
        status = lc_job_advance(tx, job, s->progress, err);
    s->enqueued_job = tx->enqueued_job;
    return status;
}

static loci_status write_slice(slice *s, loci_error *err)
{
    lc_job_run *run = s->run;
    loci_status status;

    LC_ASSERT(!run->is_finished);
    status = write_for(run, slice_body, s, err);
    if (status == LOCI_OK)
        run->committed_us = lc_clock_monotonic_us();
    if (status == LOCI_OK && s->enqueued_job)
        lc_workers_wake(run->workers);
    if (!s->is_held && (status == LOCI_EFENCED || status == LOCI_ECANCELLED))
        run->verdict = status;
    return status;
}

loci_status lc_job_run_commit(lc_job_run *run, lc_tx_body *body, void *ctx,
                              const lc_job_progress *progress, loci_error *err)
{
    slice s = {.run = run, .body = body, .ctx = ctx, .progress = progress};

    LC_ASSERT(progress != NULL);
    return write_slice(&s, err);
}

loci_status lc_job_run_finish(lc_job_run *run, lc_tx_body *body, void *ctx, loci_str result,
                              loci_error *err)
{
    slice s = {.run = run, .body = body, .ctx = ctx, .result = result};
    loci_status status = write_slice(&s, err);

    run->is_finished = status == LOCI_OK;
    return status;
}

static loci_status check_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_job_check(tx, ctx, err);
}

loci_status lc_job_run_pause_point(lc_job_run *run, loci_error *err)
{
    int64_t now_us = lc_clock_monotonic_us();
    loci_error found;
    loci_status status;

    if (lc_workers_must_return(run->workers)) {
        run->verdict = LOCI_EUNAVAILABLE;
        return lc_fail(err, LOCI_EUNAVAILABLE, "the workers are paused or stopping");
    }
    if (now_us >= run->end_us) {
        run->verdict = LOCI_EUNAVAILABLE;
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "the call that runs the job has no more time for it");
    }
    if (run->job.priority < lc_job_pipelines_floor(&run->workers->pipelines)) {
        run->verdict = LOCI_EUNAVAILABLE;
        return lc_fail(err, LOCI_EUNAVAILABLE, "memory is scarce: jobs of this priority wait");
    }
    if (now_us - run->checked_us < CHECK_US)
        return LOCI_OK;
    run->checked_us = now_us;
    status = lc_engine_read(
        run->engine,
        &(lc_read){.deadline_us = deadline_us(run), .body = check_body, .ctx = &run->job}, &found);
    /* A read that failed for another reason does not decide about the job; the next commit does. */
    if (status != LOCI_EFENCED && status != LOCI_ECANCELLED)
        return LOCI_OK;
    run->verdict = status;
    if (err != NULL)
        *err = found;
    return status;
}

loci_status lc_job_run_keep(lc_job_run *run, const lc_job_progress *progress, loci_error *err)
{
    loci_status status = lc_job_run_pause_point(run, err);

    if (status == LOCI_OK && lc_clock_monotonic_us() - run->committed_us >= KEEP_US)
        status = lc_job_run_commit(run, NULL, NULL, progress, err);
    return status;
}

/* ---- The end of an attempt ------------------------------------------------------------------- */

/* Whether a retry would end the same way. A resource that is missing now may be available later. */
static bool is_final(loci_status status)
{
    switch (status) {
    case LOCI_EINVAL:
    case LOCI_ENOTFOUND:
    case LOCI_EFORBIDDEN:
    case LOCI_ELIMIT:
    case LOCI_EUNSUPPORTED:
    case LOCI_ECORRUPT:
        return true;
    default:
        return false;
    }
}

typedef struct ending {
    const lc_job *job;
    job_outcome outcome;
    lc_job_failure failure;
    bool is_yielding;
} ending;

static loci_status ending_body(lc_tx *tx, void *ctx, loci_error *err)
{
    const ending *e = ctx;

    switch (e->outcome) {
    case OUTCOME_CANCELLED:
        return lc_job_set_cancelled(tx, e->job, err);
    case OUTCOME_RETURNED:
        return e->is_yielding ? lc_job_yield(tx, e->job, err) : lc_job_return(tx, e->job, err);
    default:
        return lc_job_fail(tx, e->job, &e->failure, err);
    }
}

/* See the table at the top. */
static job_outcome decide(const lc_job_run *run, const lc_job_failure *failure)
{
    if (run->is_finished)
        return OUTCOME_DONE;
    if (run->verdict != LOCI_OK && run->verdict == failure->cause->status) {
        return run->verdict == LOCI_ECANCELLED     ? OUTCOME_CANCELLED
               : run->verdict == LOCI_EUNAVAILABLE ? OUTCOME_RETURNED
                                                   : OUTCOME_LOST;
    }
    return lc_job_fails_for_good(&run->job, failure) ? OUTCOME_FAILED : OUTCOME_RETRIED;
}

static void log_end(lc_job_run *run, const char *event, const loci_error *cause)
{
    loci_log_level level = cause->status == LOCI_EFENCED ? LOCI_LOG_INFO : LOCI_LOG_WARN;

    lc_log_write(&lc_engine_env(run->engine)->log, level, event, LC_LOG_STR("id", run->job.id),
                 LC_LOG_STR("kind", run->job.kind), LC_LOG_INT("attempts", run->job.attempts),
                 LC_LOG_TEXT("code", loci_status_name(cause->status)));
}

/* Runs the claimed job and writes the outcome to its row. */
static job_outcome run_attempt(lc_job_run *run)
{
    const lc_job_kind *kind = lc_engine_find_job_kind(run->engine, run->job.kind);
    loci_error cause = {.status = LOCI_OK}, err;
    ending e = {
        .job = &run->job,
        .failure = {.cause = &cause,
                    .skips_pause = lc_engine_is_inline(run->engine) &&
                                   !(kind != NULL && kind->asks_outside)},
    };

    if (kind == NULL)
        (void)lc_fail(&cause, LOCI_EUNSUPPORTED, "this version of loci has no jobs of kind %.*s",
                      LC_STR_ARG(run->job.kind));
    else
        cause.status = kind->run(run, &cause);
    LC_ASSERT(cause.status != LOCI_OK || run->is_finished);
    e.failure.is_final = is_final(cause.status);
    e.outcome = decide(run, &e.failure);
    e.is_yielding = run->is_yielding;
    if (e.outcome == OUTCOME_LOST) {
        log_end(run, "job.fenced", &cause);
    } else if (e.outcome != OUTCOME_DONE && write_for(run, ending_body, &e, &err) != LOCI_OK) {
        log_end(run, "job.outcome_not_written", &err);
        e.outcome = OUTCOME_LOST;
    } else if (e.outcome == OUTCOME_FAILED) {
        log_end(run, "job.failed", &cause);
    }
    return e.outcome;
}

/* ---- One job --------------------------------------------------------------------------------- */

static lc_job_terms terms_of(lc_workers *workers)
{
    int64_t floor = lc_job_pipelines_floor(&workers->pipelines);

    if (lc_engine_is_inline(workers->engine) && floor <= LC_JOB_PRIORITY_UPKEEP)
        floor = LC_JOB_PRIORITY_UPKEEP + 1;
    return (lc_job_terms){
        .lease_ms = lc_settings_i64(lc_engine_settings(workers->engine), &lc_setting_job_lease_ms,
                                    LC_STR_NONE),
        .priority_min = floor,
    };
}

typedef struct claim {
    lc_job_run *run;
    lc_job_terms terms;
} claim;

static loci_status claim_body(lc_tx *tx, void *ctx, loci_error *err)
{
    claim *c = ctx;

    return lc_job_claim(tx, &c->terms, c->run->arena, &c->run->job, err);
}

/* Claims and runs one job; `*found` is false when there was none. */
static loci_status run_one(lc_workers *workers, int64_t end_us, bool *found, loci_error *err)
{
    lc_arena arena;
    lc_job_run run = {
        .engine = workers->engine, .arena = &arena, .workers = workers, .end_us = end_us};
    claim c = {.run = &run, .terms = terms_of(workers)};
    loci_status status = LOCI_OK;

    run.lease_ms = c.terms.lease_ms;
    lc_arena_init(&arena, &lc_engine_env(workers->engine)->heap, LOCI_MEM_PIPELINES);
    /* Counted before the claim: when lc_workers_pause() is followed by zero, none is claimed. */
    atomic_fetch_add(&workers->running, 1);
    if (!lc_workers_must_return(workers))
        status = write_for(&run, claim_body, &c, err);
    *found = status == LOCI_OK && run.job.id.ptr != NULL;
    if (*found) {
        job_outcome outcome;

        run.committed_us = run.began_us = lc_clock_monotonic_us();
        lc_job_pipelines_began(&workers->pipelines, run.job.priority);
        lc_workers_wake(workers);
        outcome = run_attempt(&run);
        lc_job_pipelines_ended(&workers->pipelines, run.job.priority);
        atomic_fetch_add(&workers->done, outcome == OUTCOME_DONE);
        atomic_fetch_add(&workers->failed, outcome == OUTCOME_FAILED);
        atomic_fetch_add(&workers->cancelled, outcome == OUTCOME_CANCELLED);
    }
    atomic_fetch_sub(&workers->running, 1);
    lc_arena_clear(&arena);
    return status;
}

typedef struct due {
    lc_job_terms terms;
    int64_t due_us;
} due;

static loci_status due_body(lc_tx *tx, void *ctx, loci_error *err)
{
    due *d = ctx;

    return lc_job_next_due_us(tx, &d->terms, &d->due_us, err);
}

static loci_status next_due_us(lc_workers *workers, int64_t *out, loci_error *err)
{
    due d = {.terms = terms_of(workers)};
    int64_t deadline_us = lc_clock_monotonic_us() + LC_WORKERS_IDLE_US;
    loci_status status = lc_engine_read(
        workers->engine, &(lc_read){.deadline_us = deadline_us, .body = due_body, .ctx = &d}, err);

    if (status == LOCI_OK)
        *out = d.due_us;
    return status;
}

loci_status lc_job_run_yield_point(lc_job_run *run, const lc_job_progress *progress,
                                   loci_error *err)
{
    lc_workers *workers = run->workers;
    int64_t now_us = lc_clock_monotonic_us(), priority = run->job.priority;
    due d = {.terms = terms_of(workers)};
    loci_status status = lc_job_run_pause_point(run, err);

    if (status != LOCI_OK || now_us - run->looked_us < CHECK_US ||
        atomic_load(&workers->running) < (int64_t)workers->thread_count ||
        workers->thread_count == 0)
        return status;
    run->looked_us = now_us;
    d.terms.priority_min = now_us - run->began_us < LC_JOB_SHARE_US ? priority + 1 : priority;
    status = lc_engine_read(
        workers->engine, &(lc_read){.deadline_us = deadline_us(run), .body = due_body, .ctx = &d},
        NULL);
    if (status != LOCI_OK || d.due_us > 0) /* A read that failed decides nothing. */
        return LOCI_OK;
    status = progress != NULL ? lc_job_run_commit(run, NULL, NULL, progress, err) : LOCI_OK;
    if (status != LOCI_OK)
        return status;
    run->verdict = LOCI_EUNAVAILABLE;
    run->is_yielding = true;
    return lc_fail(err, LOCI_EUNAVAILABLE, "another job is due");
}

loci_status lc_workers_run_due(lc_workers *workers, int64_t end_us, loci_error *err)
{
    for (int i = 0; i < LC_WORKERS_INLINE_MAX && lc_clock_monotonic_us() < end_us; i++) {
        int64_t due_us = 0;
        bool found = false;
        /* A read first: most calls cause no job, and an empty claim would still be a write. */
        loci_status status = next_due_us(workers, &due_us, err);

        if (status == LOCI_OK && due_us == 0)
            status = run_one(workers, end_us, &found, err);
        if (status != LOCI_OK || due_us > 0 || lc_workers_must_return(workers))
            return status;
    }
    return LOCI_OK;
}

/* ---- Threads -------------------------------------------------------------------------------- */

/* Runs one job, if one is due; returns the time until the next, 0 = check again at once. */
static int64_t step(lc_workers *workers)
{
    int64_t wait_us = 0;
    bool found = true;
    loci_error err;
    loci_status status;

    if (lc_workers_must_return(workers))
        return LC_WORKERS_IDLE_US;
    lc_job_pipelines_settle(&workers->pipelines);
    status = next_due_us(workers, &wait_us, &err);
    if (status == LOCI_OK && wait_us == 0)
        status = run_one(workers, INT64_MAX, &found, &err);
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

/* Sleeps, unless there was a wake-up since `wakes` was `seen`. False when the worker must end. */
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
        /* A poisoned engine runs no jobs; the thread waits for its end. */
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

/* The threads block all signals: those are for the host's own threads. */
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
        return lc_fail(err, LOCI_ERESOURCE,
                       "only %zu of %lld threads for jobs could be started; lower job.workers",
                       workers->thread_count, (long long)count);
    return LOCI_OK;
}

/* ---- The pool ------------------------------------------------------------------------------- */

static void wake_all(void *ctx)
{
    lc_workers *workers = ctx;

    pthread_mutex_lock(&workers->lock);
    workers->wakes++;
    pthread_cond_broadcast(&workers->woken);
    pthread_mutex_unlock(&workers->lock);
}

loci_status lc_workers_new(loci_engine *engine, int64_t count, loci_guard *guard, lc_workers **out,
                           loci_error *err)
{
    lc_heap *heap = &lc_engine_env(engine)->heap;
    lc_workers *workers = lc_heap_zalloc(heap, sizeof *workers, LOCI_MEM_PIPELINES);
    pthread_condattr_t attributes;
    loci_status status;

    LC_ASSERT(count >= 0 && count <= LC_WORKERS_MAX);
    if (workers == NULL)
        return lc_fail_memory(err);
    workers->engine = engine;
    (void)pthread_mutex_init(&workers->lock, NULL); /* None of these can fail on Linux. */
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&workers->woken, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    status = lc_job_pipelines_open(&workers->pipelines, guard, wake_all, workers, err);
    if (status == LOCI_OK)
        status = start_threads(workers, count, err);
    if (status != LOCI_OK) {
        lc_workers_free(workers);
        return status;
    }
    *out = workers;
    return LOCI_OK;
}

static void set_flags(lc_workers *workers, bool is_stopping, bool is_paused)
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
    set_flags(workers, true, false);
    for (size_t i = 0; i < workers->thread_count; i++)
        (void)pthread_join(workers->threads[i], NULL);
    lc_job_pipelines_close(&workers->pipelines);
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
    set_flags(workers, false, true);
}

void lc_workers_resume(lc_workers *workers)
{
    set_flags(workers, false, false);
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
