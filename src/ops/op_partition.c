/* op_partition.c - store.partition: the division of large tables, as a job
 * (engine/partition_job.h). */
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/partition_job.h"
#include "ops/op.h"
#include "ops/op_job.h"
#include "store/partition.h"

typedef struct partition_input {
    int64_t partitions;
    bool wait;
} partition_input;

static const lc_param partition_params[] = {
    {LC_ARG_INT("partitions", partition_input, partitions),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, .min = 1, .max = LC_PARTITIONS_MAX,
     .help = "Number of partitions of each large table; 1 joins them again"},
    LC_JOB_WAIT_PARAM(partition_input, wait),
    {.name = NULL},
};

static const lc_record partition_answer = {
    .members =
        (const lc_result[]){
            LC_JOB_RESULTS,
            {"result", 0,
             "Result of the rebuild that ends the job, if done; missing if all tables had this"
             " number of partitions",
             LC_RESULT_OPTIONAL, .record = &lc_rebuilt_record},
            {NULL},
        },
};

static loci_status run_partition(lc_call *call, loci_error *err)
{
    const partition_input *in = call->input;
    char args[48];
    lc_job_new job = {.kind = loci_str_of(lc_job_partition.name), .unique = LC_STR("partition")};

    if (in->partitions > 1 && lc_engine_driver(call->engine)->dialect != LC_DIALECT_POSTGRES)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "the tables of a file cannot be divided; a store on PostgreSQL can"
                       " (loci migrate copies this one there)");
    (void)snprintf(args, sizeof args, "{\"partitions\":%lld}", (long long)in->partitions);
    job.args = loci_str_of(args);
    return lc_job_start_run(call,
                            &(lc_job_start){.tenant_id = LC_STR(""),
                                            .user_id = LC_STR(""),
                                            .job = &job,
                                            .unit = "rows copied",
                                            .waits = in->wait},
                            err);
}

static const lc_op op_partition = {
    .name = "store.partition",
    .help = "Divide the large tables of a PostgreSQL store into partitions by user",
    .params = partition_params,
    .input_bytes = sizeof(partition_input),
    .answer = &partition_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_STREAMS | LC_OP_BULK | LC_OP_JOB,
    .http = "POST /v1/store/partition",
    .example = "{\"partitions\":1}",
    .run_alone = run_partition,
};

extern const lc_op *const lc_ops_partition[];
const lc_op *const lc_ops_partition[] = {&op_partition, NULL};
