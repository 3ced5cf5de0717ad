/* job_pipelines.h - the jobs of a pool of workers as pipelines of the guard.
 *
 * Jobs are paused by their priority, in three bands. A paused band is not claimed from, and its
 * running jobs return at their next pause point: what they have done is committed with their
 * checkpoints, so they spill by returning. A band has acknowledged its pause when none of its jobs
 * runs.
 *
 *     loci.jobs.upkeep       up to LC_JOB_PRIORITY_UPKEEP     paused first
 *     loci.jobs.background   below 0: what follows from other calls
 *     loci.jobs.requested    0 and above                      paused last
 *
 * A job that reaches no pause point within the guard's 5 s cannot be stopped: its band is
 * registered again when it has ended.
 */
#ifndef LC_ENGINE_JOB_PIPELINES_H
#define LC_ENGINE_JOB_PIPELINES_H

#include "loci.h"

#include <stdatomic.h>
#include <stdbool.h>

#define LC_JOB_BANDS 3

typedef struct lc_job_pipelines lc_job_pipelines;

typedef struct lc_job_band {
    lc_job_pipelines *pipelines;
    int number;
    _Atomic int running;
    _Atomic bool is_paused;    /* Asked to pause, or paused. */
    _Atomic bool is_cancelled; /* Did not pause in time; to be registered again. */
} lc_job_band;

/* Zeroed = without a guard: nothing is ever paused. */
struct lc_job_pipelines {
    loci_guard *guard;
    void (*wake)(void *ctx); /* Jobs may be claimed again. Any thread. */
    void *wake_ctx;
    lc_job_band bands[LC_JOB_BANDS];
};

/* Registers the bands. `guard` NULL: does nothing. */
loci_status lc_job_pipelines_open(lc_job_pipelines *pipelines, loci_guard *guard,
                                  void (*wake)(void *ctx), void *wake_ctx, loci_error *err);
/* Waits for a running callback. No lock that `wake` takes may be held. */
void lc_job_pipelines_close(lc_job_pipelines *pipelines);

/* The lowest priority that may run now. */
int64_t lc_job_pipelines_floor(const lc_job_pipelines *pipelines);
/* A job of this priority begins, and ends. */
void lc_job_pipelines_began(lc_job_pipelines *pipelines, int64_t priority);
void lc_job_pipelines_ended(lc_job_pipelines *pipelines, int64_t priority);
/* Registers cancelled bands again once their jobs have ended. Cheap; called now and then. */
void lc_job_pipelines_settle(lc_job_pipelines *pipelines);

#endif /* LC_ENGINE_JOB_PIPELINES_H */
