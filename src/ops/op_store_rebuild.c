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

static const lc_record rebuilt_record = {
    .members =
        (const lc_result[]){
            {"events", LC_PARAM_INT, "Number of events that were replayed"},
            {"equal", LC_PARAM_BOOL,
             "True if the projections equal the old ones; null if they cannot be compared",
             LC_RESULT_NULLABLE},
            {"differences", LC_PARAM_INT, "Number of rows that differ"},
            {"tables", LC_PARAM_STRING, "Names of the tables that differ"},
            {"users_skipped", LC_PARAM_INT,
             "Number of users that were not compared, since they changed meanwhile"},
            {NULL},
        },
};

static const lc_record rebuild_answer = {
    .members =
        (const lc_result[]){
            LC_JOB_RESULTS,
            {"result", 0, "Result, if done", LC_RESULT_OPTIONAL, .record = &rebuilt_record},
            {NULL},
        },
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
    .answer = &rebuild_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_STREAMS,
    .http = "POST /v1/store/rebuild",
    .example = "{\"wait\":true}",
    .run_alone = run_rebuild,
};
