/* worker.h - the threads that run jobs.
 *
 * A pool of workers claims jobs that are due, runs them by their kind (job_kind.h) and writes the
 * outcome to their rows. A pool without threads runs nothing by itself: lc_workers_run_due() runs
 * jobs in the caller's thread, which keeps an inline engine deterministic. Several pools, in one
 * process or in many, may work on one store.
 *
 * Free it before the engine stops writing: interrupted jobs are written back to the queue.
 */
#ifndef LC_ENGINE_WORKER_H
#define LC_ENGINE_WORKER_H

#include "base/setting.h"
#include "engine/job_kind.h"

extern const lc_setting lc_setting_job_lease_ms;
extern const lc_setting lc_setting_job_workers;

#define LC_WORKERS_MAX 64

/* Interval at which an idle pool checks for jobs of other processes, and pause after a failure. */
#define LC_WORKERS_IDLE_US 1000000
/* Maximum number of jobs that one lc_workers_run_due() runs, because a job may always add another.
 * The rest stays queued for the next call. */
#define LC_WORKERS_INLINE_MAX 1000

/* Since the pool was made. */
typedef struct lc_workers_counters {
    int64_t done;      /* Jobs that this pool finished. */
    int64_t failed;    /* Jobs that failed for good, without attempts that are retried. */
    int64_t cancelled; /* Jobs that ended because of job.cancel. */
    int64_t running;   /* Now. Zero after lc_workers_pause() means that all have stopped. */
} lc_workers_counters;

/* Starts `count` threads, 0 .. LC_WORKERS_MAX. `guard`, which may be NULL, pauses jobs when memory
 * is scarce; it must outlive the pool, and have no other one. */
loci_status lc_workers_new(loci_engine *engine, int64_t count, loci_guard *guard, lc_workers **out,
                           loci_error *err);
/* Interrupts running jobs at their next pause point, waits for them and ends the threads. An
 * interrupted job is queued again, and the attempt does not count. NULL is fine. */
void lc_workers_free(lc_workers *workers);

/* A job may have become due. Any thread; does not block. NULL is fine. */
void lc_workers_wake(lc_workers *workers);

/* Claims no new jobs and interrupts running ones at their next pause point. Does not wait for them:
 * see `running`. Any thread. */
void lc_workers_pause(lc_workers *workers);
void lc_workers_resume(lc_workers *workers);
/* Whether running jobs should return: the pool is paused or being freed. */
bool lc_workers_must_return(const lc_workers *workers);

/* Runs jobs in this thread until none is due. A job that fails is retried at once, because a
 * back-off would make the outcome depend on the real clock; one that needs a provider
 * (lc_job_kind.asks_outside) waits for a later call, because only time can help it. An inline
 * engine leaves upkeep (LC_JOB_PRIORITY_UPKEEP) to engines with threads. The status is that of
 * finding jobs; the outcome of each is in its row. Ends at `end_us` of the monotonic clock: a job
 * that runs then is interrupted at its next pause point and queued again. Must not be called inside
 * a transaction. */
loci_status lc_workers_run_due(lc_workers *workers, int64_t end_us, loci_error *err);

lc_workers_counters lc_workers_get_counters(const lc_workers *workers);

#endif /* LC_ENGINE_WORKER_H */
