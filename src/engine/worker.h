/* worker.h - the threads that run jobs.
 *
 * A pool claims what is due, runs it with its kind (job_kind.h) and writes down how it ended. A
 * pool of no threads runs nothing by itself: lc_workers_run_due() does it in the caller's thread,
 * which is how an inline engine stays repeatable. Several pools, in one process or many, may work
 * on one store.
 *
 * Its thread count is fixed. Free it before the engine stops writing: jobs that are asked to return
 * still have to be given back.
 */
#ifndef LC_ENGINE_WORKER_H
#define LC_ENGINE_WORKER_H

#include "base/setting.h"
#include "engine/job_kind.h"

extern const lc_setting lc_setting_job_lease_ms;
extern const lc_setting lc_setting_job_workers;

#define LC_WORKERS_MAX 64

/* How often, at most, a pool looks for jobs of other processes, and how long it waits after a
 * failure. */
#define LC_WORKERS_IDLE_US 1000000
/* Jobs that one lc_workers_run_due() runs at most: a job that always adds another must not hold a
 * call for ever. The rest stays queued for the next one. */
#define LC_WORKERS_INLINE_MAX 1000

/* Since the pool was made. */
typedef struct lc_workers_counters {
    int64_t done;      /* Jobs that this pool finished. */
    int64_t failed;    /* Jobs that it gave up for good; an attempt to be repeated is not one. */
    int64_t cancelled; /* Jobs that it ended because they were asked to. */
    int64_t running;   /* Now. Zero after lc_workers_pause() means that all have acknowledged it. */
} lc_workers_counters;

/* Starts `count` threads, 0 .. LC_WORKERS_MAX. */
loci_status lc_workers_new(loci_engine *engine, int64_t count, lc_workers **out, loci_error *err);
/* Asks running jobs to return at their next pause point, waits for them and ends the threads. What
 * was interrupted is queued again and its attempt does not count. NULL is fine. */
void lc_workers_free(lc_workers *workers);

/* A job may have become due. Any thread; does not block. NULL is fine. */
void lc_workers_wake(lc_workers *workers);

/* Takes no new jobs and asks running ones to return at their next pause point. Does not wait for
 * them: see `running`. Any thread. */
void lc_workers_pause(lc_workers *workers);
void lc_workers_resume(lc_workers *workers);
/* What a pause point asks: paused, or being freed. */
bool lc_workers_must_return(const lc_workers *workers);

/* Runs jobs in this thread until none is due; those with a later time stay. A job that fails is
 * tried again at once: a pause would make the outcome a matter of the real clock. One of a kind
 * that asks others outside stays for a later call: time alone can help it. In an inline
 * engine upkeep (LC_JOB_PRIORITY_UPKEEP) is left to engines with threads, for the same reason. The
 * status is about finding jobs; what becomes of each is in its row. Must not be called inside a
 * transaction. */
loci_status lc_workers_run_due(lc_workers *workers, loci_error *err);

lc_workers_counters lc_workers_get_counters(const lc_workers *workers);

#endif /* LC_ENGINE_WORKER_H */
