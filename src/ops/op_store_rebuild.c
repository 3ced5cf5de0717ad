/* op_store_rebuild.c - store.rebuild: a durable job and somebody who waits for it. */
#include "ops/op_store.h"

#include "base/str.h"
#include "engine/store_jobs.h"
#include "ops/job_start.h"

typedef struct rebuild_input {
    bool wait;
} rebuild_input;

static const lc_param rebuild_params[] = {
    LC_JOB_WAIT_PARAM(rebuild_input, wait),
    {.name = NULL},
};

static const lc_result rebuild_results[] = {
    {"job_id", LC_PARAM_STRING, "The job that does it: see job.get with scope \"store\""},
    {"status", LC_PARAM_STRING, "done; or queued or running when it was not waited for"},
    {"result", LC_PARAM_OBJECT,
     "When done: events, equal (whether the projections are what they were; "
     "null = not comparable), differences, tables, users_skipped"},
    {NULL, LC_PARAM_ANY, NULL},
};

static loci_status enqueue(lc_tx *tx, lc_id *out, loci_error *err)
{
    return lc_job_enqueue(
        tx, &(lc_job_new){.kind = loci_str_of(lc_job_rebuild.name), .unique = LC_STR("rebuild")},
        out, err);
}

static loci_status run_rebuild(lc_call *call, loci_error *err)
{
    return lc_job_start_run(call,
                            &(lc_job_start){.tenant_id = LC_STR(""),
                                            .user_id = LC_STR(""),
                                            .enqueue = enqueue,
                                            .unit = "events replayed",
                                            .waits = ((const rebuild_input *)call->input)->wait},
                            err);
}

const lc_op lc_op_store_rebuild = {
    .name = "store.rebuild",
    .help = "Rebuild the projections from the log and compare them with the old ones",
    .params = rebuild_params,
    .input_bytes = sizeof(rebuild_input),
    .results = rebuild_results,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_STREAMS,
    .http = "POST /v1/store/rebuild",
    .example = "{\"wait\":true}",
    .run_alone = run_rebuild,
};
