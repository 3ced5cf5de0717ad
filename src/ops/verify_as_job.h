/* verify_as_job.h - store.verify for a caller that may not wait until it ends. */
#ifndef LC_OPS_VERIFY_AS_JOB_H
#define LC_OPS_VERIFY_AS_JOB_H

#include "ops/op.h"

/* Starts the job (engine/verify_job.h), or finds the one that runs, and waits for it. If it ends in
 * time, the answer or error of the call is that of store.verify; if not, LOCI_EDEADLINE {job_id}.
 */
loci_status lc_verify_as_job(lc_call *call, loci_error *err);

#endif /* LC_OPS_VERIFY_AS_JOB_H */
