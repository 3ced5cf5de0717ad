/* job_kind.h - what a kind of job does, and what it may use while doing it.
 *
 *     loci_status run(lc_job_run *run, loci_error *err)
 *     {
 *         while (there is more) {
 *             status = lc_job_run_pause_point(run, err);      what it answers is returned untouched
 *             ... slow work, outside any transaction ...
 *             status = lc_job_run_commit(run, write_slice, &slice, &progress, err);
 *         }
 *         return lc_job_run_finish(run, write_last, &last, result, err);
 *     }
 *
 * Everything a job changes is changed in a body given to commit or finish: it shares the
 * transaction with the job's own row, so a crash leaves each effect once. A job that is started
 * again finds in run->job.checkpoint what its last commit said. Each commit extends the lease; the
 * time between two of them must stay below the setting job.lease_ms, or another worker takes the
 * job over and this one is fenced: its work is lost, never doubled.
 */
#ifndef LC_ENGINE_JOB_KIND_H
#define LC_ENGINE_JOB_KIND_H

#include "store/job.h"

typedef struct loci_engine loci_engine;
typedef struct lc_workers lc_workers;

/* One attempt at a job. A kind uses the first four members. */
typedef struct lc_job_run {
    loci_engine *engine;
    lc_job job;      /* As claimed; its status and progress do not follow what is committed. */
    lc_arena *arena; /* Dies with the attempt. */
    int64_t lease_ms;
    lc_workers *workers;  /* Whose pool it runs in. */
    int64_t checked_us;   /* Monotonic: when the row was read last, */
    int64_t committed_us; /* and when the lease was extended last. */
    loci_status verdict;  /* Not LOCI_OK: the job was taken from this attempt, and by what. */
    bool is_finished;     /* lc_job_run_finish() has committed. */
} lc_job_run;

typedef struct lc_job_kind {
    const char *name;
    const char *help;
    /* Does the work in slices and ends with lc_job_run_finish(). LOCI_OK means it did. Any other
     * status is a failed attempt, except those that a pause point or a commit answered. */
    loci_status (*run)(lc_job_run *run, loci_error *err);
    bool asks_outside; /* Needs a provider: a failed attempt is never repeated at once. */
} lc_job_kind;

/* One slice: `body` (or NULL) and where the work stands, in one transaction of the job's user.
 * Writes nothing and answers LOCI_EFENCED or LOCI_ECANCELLED when the job is not this attempt's any
 * more. */
loci_status lc_job_run_commit(lc_job_run *run, lc_tx_body *body, void *ctx,
                              const lc_job_progress *progress, loci_error *err);
/* The last slice: `body` (or NULL) and the completion in one transaction. The job counts as ended
 * when the body runs, so it may enqueue its successor under the same unique name. `result` is a
 * JSON object or none. */
loci_status lc_job_run_finish(lc_job_run *run, lc_tx_body *body, void *ctx, loci_str result,
                              loci_error *err);
/* Between slices: LOCI_ECANCELLED when the job should end, LOCI_EFENCED when it is another's,
 * LOCI_EUNAVAILABLE when the workers are paused or the engine closes: return it untouched. Cheap
 * enough for an inner loop: it looks at the job's row ten times a second at most. */
loci_status lc_job_run_pause_point(lc_job_run *run, loci_error *err);
/* A pause point in work that commits nothing for a long time: once per second it also commits an
 * empty slice, which extends the lease. */
loci_status lc_job_run_keep(lc_job_run *run, const lc_job_progress *progress, loci_error *err);

#endif /* LC_ENGINE_JOB_KIND_H */
