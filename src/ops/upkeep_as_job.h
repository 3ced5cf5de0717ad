/* upkeep_as_job.h - upkeep for a caller that may not wait until it ends, such as one over HTTP. */
#ifndef LC_OPS_UPKEEP_AS_JOB_H
#define LC_OPS_UPKEEP_AS_JOB_H

#include "ops/op.h"

typedef struct lc_upkeep_job {
    const char *kind; /* Also the unique name. */
    loci_str args;
    int64_t attempts_max; /* 0 = the default. */
    const char *unit;     /* Of its progress: "events verified". */
} lc_upkeep_job;

/* Whether the call should do its work so. A store that is only read can have no job. */
bool lc_upkeep_is_job(const lc_call *call);
/* Starts the job, or finds the one that runs, and waits for it. If it ends in time, the answer of
 * the call is the job's result, or the error LOCI_ECORRUPT if that has {message, data}; if it does
 * not end in time, LOCI_EDEADLINE {job_id}. */
loci_status lc_upkeep_as_job(lc_call *call, const lc_upkeep_job *job, loci_error *err);

#endif /* LC_OPS_UPKEEP_AS_JOB_H */
