/* job_run.h - one attempt at a job, from the claim to the last word in its row. For the workers; a
 * kind of job sees job_kind.h only. */
#ifndef LC_ENGINE_JOB_RUN_H
#define LC_ENGINE_JOB_RUN_H

#include "engine/job_kind.h"

typedef enum lc_job_outcome {
    LC_JOB_OUTCOME_DONE,
    LC_JOB_OUTCOME_FAILED,    /* For good. */
    LC_JOB_OUTCOME_REPEATED,  /* The attempt failed; another will follow. */
    LC_JOB_OUTCOME_CANCELLED, /* As it was asked to. */
    LC_JOB_OUTCOME_RETURNED,  /* The worker was asked to stop. */
    LC_JOB_OUTCOME_LOST       /* Nothing could be written: fenced, or the store would not. */
} lc_job_outcome;

/* Claims into run->job what may run under `terms`, with run->arena; its id is none when nothing
 * may. */
loci_status lc_job_run_claim(lc_job_run *run, const lc_job_terms *terms, loci_error *err);
/* Runs what was claimed and writes down how it ended. */
lc_job_outcome lc_job_run_attempt(lc_job_run *run);

#endif /* LC_ENGINE_JOB_RUN_H */
