/* job_kind.h - the code of a kind of job, and the functions it may call.
 *
 *     loci_status run(lc_job_run *run, loci_error *err)
 *     {
 *         while (there is more) {
 *             status = lc_job_run_pause_point(run, err);      its status is returned unchanged
 *             ... slow work, outside any transaction ...
 *             status = lc_job_run_commit(run, write_slice, &slice, &progress, err);
 *         }
 *         return lc_job_run_finish(run, write_last, &last, result, err);
 *     }
 *
 * A job writes only in bodies that it passes to commit or finish: they share the transaction with
 * the job's own row, so each effect happens once in spite of crashes. A job that is started again
 * finds the checkpoint of its last commit in run->job.checkpoint. Each commit extends the lease;
 * the time between two of them must stay below the setting job.lease_ms, or another worker takes
 * the job over and this one is fenced: its work is lost, never doubled.
 */
#ifndef LC_ENGINE_JOB_KIND_H
#define LC_ENGINE_JOB_KIND_H

#include "store/job.h"

typedef struct loci_engine loci_engine;
typedef struct lc_workers lc_workers;

/* One attempt at a job. A kind uses the first four members. */
typedef struct lc_job_run {
    loci_engine *engine;
    lc_job job;      /* As claimed; later commits do not update its status and progress. */
    lc_arena *arena; /* Freed after the attempt. */
    int64_t lease_ms;
    lc_workers *workers;  /* The pool it runs in. */
    int64_t end_us;       /* Monotonic: when a pause point interrupts it. */
    int64_t checked_us;   /* Monotonic: when the row was read last, */
    int64_t committed_us; /* and when the lease was extended last. */
    int64_t began_us;     /* Monotonic: when it was claimed, */
    int64_t looked_us;    /* and when a yield point looked for other jobs last. */
    bool is_yielding;     /* A yield point has ended the attempt. */
    loci_status verdict;  /* Not LOCI_OK: why this attempt has lost the job. */
    bool is_finished;     /* lc_job_run_finish() has committed. */
} lc_job_run;

typedef struct lc_job_kind {
    const char *name;
    const char *help;
    /* Does the work in slices and ends with lc_job_run_finish(). LOCI_OK means that it has. Any
     * other status is a failed attempt, except one that a pause point or a commit has returned. */
    loci_status (*run)(lc_job_run *run, loci_error *err);
    bool asks_outside; /* Needs a provider: a failed attempt is never repeated at once. */
} lc_job_kind;

/* One slice: runs `body` (or NULL) and stores the progress, in one transaction of the job's user.
 * Writes nothing and returns LOCI_EFENCED or LOCI_ECANCELLED if the job no longer belongs to this
 * attempt. */
loci_status lc_job_run_commit(lc_job_run *run, lc_tx_body *body, void *ctx,
                              const lc_job_progress *progress, loci_error *err);
/* The last slice: runs `body` (or NULL) and completes the job, in one transaction. The job has
 * already ended when the body runs, so the body may enqueue its successor under the same unique
 * name. `result` is a JSON object or none. */
loci_status lc_job_run_finish(lc_job_run *run, lc_tx_body *body, void *ctx, loci_str result,
                              loci_error *err);
/* Between slices: LOCI_ECANCELLED if the job should end, LOCI_EFENCED if another worker has it,
 * LOCI_EUNAVAILABLE if the workers are paused or the engine closes: return the status unchanged.
 * Cheap enough for an inner loop: it reads the job's row ten times per second at most. */
loci_status lc_job_run_pause_point(lc_job_run *run, loci_error *err);
/* A pause point of a job that makes way for others. If no worker is free and a job of a higher
 * priority is due, or one of the same priority after LC_JOB_SHARE_US, it commits the progress (NULL
 * = none was made) and returns LOCI_EUNAVAILABLE: the job is queued again, behind the others. */
#define LC_JOB_SHARE_US 500000
loci_status lc_job_run_yield_point(lc_job_run *run, const lc_job_progress *progress,
                                   loci_error *err);
/* A pause point in work that commits nothing for a long time: once per second it also commits an
 * empty slice, which extends the lease. */
loci_status lc_job_run_keep(lc_job_run *run, const lc_job_progress *progress, loci_error *err);

#endif /* LC_ENGINE_JOB_KIND_H */
