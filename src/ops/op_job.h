/* op_job.h - an operation that is a durable job, for which its caller may wait.
 *
 * The job continues if the caller stops waiting. The operation has the flag LC_OP_JOB, the
 * parameter `wait`, and its answer is {job_id, status, result?}. A repeat with the same request_id
 * starts no second job: it answers for the job of the first call, with its status of now.
 */
#ifndef LC_OPS_OP_JOB_H
#define LC_OPS_OP_JOB_H

#include "ops/op.h"
#include "store/job.h"

typedef struct lc_job_start {
    loci_str tenant_id; /* Owner of the job; "" and "" = the store itself. */
    loci_str user_id;
    loci_status (*enqueue)(lc_tx *tx, lc_id *out, loci_error *err);
    const lc_job_new *job; /* Added instead, if not NULL: a job with arguments. */
    const char *unit;      /* Unit of its progress: "events replayed". */
    bool waits;            /* The argument `wait`. */
    /* Writes the answer instead, or fails the call, for a job that has not failed; the error of one
     * that has is the call's. NULL = the usual {job_id, status, result}, and errors name the job.
     */
    loci_status (*answer)(lc_call *call, const lc_job *job, loci_error *err);
} lc_job_start;

#define LC_JOB_WAIT_PARAM(T, m)                                                                    \
    {                                                                                              \
        LC_ARG_BOOL("wait", T, m, "true"),                                                         \
            .help = "Whether to answer when the job has ended or at the call's deadline"           \
    }

/* The members of the answer before `result`, whose type depends on the job. */
#define LC_JOB_RESULTS                                                                             \
    {"job_id", LC_PARAM_STRING, "Id of the job; see job.get"},                                     \
    {                                                                                              \
        "status", LC_PARAM_STRING, "Status of the job; done if the call waited for its end",       \
            .choices = "queued|running|done"                                                       \
    }

/* Result of store.rebuild. */
extern const lc_record lc_rebuilt_record;

/* Adds the job, or finds the job of an earlier call with this request_id. With `waits`, waits for
 * its end or until shortly before the call's deadline, whichever comes first. Writes the answer. A
 * job that failed fails the call. LOCI_ECONFLICT if a job of the same unique name has other
 * arguments. */
loci_status lc_job_start_run(lc_call *call, const lc_job_start *start, loci_error *err);

#endif /* LC_OPS_OP_JOB_H */
