/* op_compact.c - store.compact: retention of the log, as a job (engine/compact_job.h). */
#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "engine/compact_job.h"
#include "engine/engine.h"
#include "ops/op.h"
#include "ops/op_job.h"

#define ARGS_BYTES_MAX 1024

typedef struct compact_input {
    int64_t before;
    loci_str user_id;
    bool dry_run;
    bool wait;
} compact_input;

static const lc_param compact_params[] = {
    {LC_ARG_TIME("before", compact_input, before), .flags = LC_PARAM_REQUIRED,
     .help = "Events recorded before this time are replaced by a snapshot of the rows that they"
             " made"},
    {LC_ARG_STR("user", compact_input, user_id), .flags = LC_PARAM_ID, .min = 1,
     .max = LC_ID_BYTES_MAX,
     .help = "Only the log of this user of the caller's tenant (default:"
             " all logs of the store)"},
    {LC_ARG_BOOL("dry_run", compact_input, dry_run, "false"),
     .help = "Whether to count users and events without changing anything"},
    LC_JOB_WAIT_PARAM(compact_input, wait),
    {.name = NULL},
};

static const lc_record compacted_record = {
    .members =
        (const lc_result[]){
            {"users", LC_PARAM_INT, "Number of users whose logs were compacted"},
            {"events", LC_PARAM_INT, "Number of events that snapshots replaced"},
            {"bytes", LC_PARAM_INT, "Size of the snapshots"},
            {NULL},
        },
};

static const lc_record compact_answer = {
    .members =
        (const lc_result[]){
            LC_JOB_RESULTS,
            {"result", 0, "Result, if done", LC_RESULT_OPTIONAL, .record = &compacted_record},
            {NULL},
        },
};

static void put_args(const lc_call *call, lc_buf *out)
{
    const compact_input *in = call->input;
    lc_json_writer json;

    lc_jw_init(&json, out);
    lc_jw_object(&json);
    lc_jw_member_int(&json, "before", in->before);
    if (in->user_id.len > 0) {
        lc_jw_member_str(&json, "tenant_id", call->tenant_id);
        lc_jw_member_str(&json, "user_id", in->user_id);
    }
    lc_jw_member_bool(&json, "dry_run", in->dry_run);
    lc_jw_end(&json);
}

static loci_status run_compact(lc_call *call, loci_error *err)
{
    const compact_input *in = call->input;
    lc_job_new job = {.kind = loci_str_of(lc_job_compact.name)};
    lc_buf args;
    loci_status status;

    lc_buf_init(&args, &lc_engine_env(call->engine)->heap, LOCI_MEM_REQUESTS, ARGS_BYTES_MAX);
    put_args(call, &args);
    job.args = lc_buf_str(&args);
    status = lc_buf_status(&args, err);
    if (status == LOCI_OK)
        status = lc_job_start_run(call,
                                  &(lc_job_start){.tenant_id = LC_STR(""),
                                                  .user_id = LC_STR(""),
                                                  .job = &job,
                                                  .unit = "events compacted",
                                                  .waits = in->wait},
                                  err);
    lc_buf_clear(&args);
    return status;
}

static const lc_op op_compact = {
    .name = "store.compact",
    .help = "Replace the events before a time by snapshots, which end the readable past there",
    .params = compact_params,
    .input_bytes = sizeof(compact_input),
    .answer = &compact_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_STREAMS | LC_OP_BULK | LC_OP_JOB,
    .http = "POST /v1/store/compact",
    .example = "{\"before\":\"2020-01-01T00:00:00Z\",\"dry_run\":true}",
    .run_alone = run_compact,
};

extern const lc_op *const lc_ops_compact[];
const lc_op *const lc_ops_compact[] = {&op_compact, NULL};
