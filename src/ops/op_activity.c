/* op_activity.c - store.activity: what this process did in the last hour, for curves. Like
 * guard.status it is about the process, so there is no transaction. */
#include "base/error.h"
#include "engine/activity.h"
#include "engine/engine.h"
#include "ops/op.h"

typedef struct activity_input {
    int64_t since;
} activity_input;

static const lc_param activity_params[] = {
    {LC_ARG_TIME("since", activity_input, since),
     .help = "Only samples after this time (default: all of the last hour)"},
    {.name = NULL},
};

static const lc_record sample_record = {
    .name = "ActivitySample",
    .members =
        (const lc_result[]){
            {"at", LC_PARAM_TIME, "Time of the sample"},
            {"used_bytes", LC_PARAM_INT, "Memory in use by the process"},
            {"reads", LC_PARAM_INT, "Reads since open"},
            {"recalls", LC_PARAM_INT, "Calls of memory.recall and context.build since open"},
            {"writes", LC_PARAM_INT, "Writes since open"},
            {NULL},
        },
};

static const lc_record activity_answer = {
    .members =
        (const lc_result[]){
            {"samples", 0, "Samples, the oldest first; empty if the guard is off", LC_RESULT_LIST,
             .record = &sample_record},
            {NULL},
        },
};

static loci_status run_activity(lc_call *call, loci_error *err)
{
    const activity_input *in = call->input;
    size_t bytes = LC_ACTIVITY_SAMPLES * sizeof(lc_activity_sample);
    lc_activity_sample *samples = lc_arena_alloc(call->arena, bytes);
    size_t count;

    if (samples == NULL)
        return lc_fail_memory(err);
    count = lc_engine_activity(call->engine, in->since != LC_ABSENT ? in->since : 0, samples);
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "samples");
    lc_jw_array(&call->out);
    for (size_t i = 0; i < count; i++) {
        lc_jw_object(&call->out);
        lc_jw_member_time(&call->out, "at", samples[i].at_us);
        lc_jw_member_int(&call->out, "used_bytes", samples[i].used_bytes);
        lc_jw_member_int(&call->out, "reads", samples[i].reads);
        lc_jw_member_int(&call->out, "recalls", samples[i].recalls);
        lc_jw_member_int(&call->out, "writes", samples[i].writes);
        lc_jw_end(&call->out);
    }
    lc_jw_end(&call->out);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op store_activity = {
    .name = "store.activity",
    .help = "Return memory and calls of this process in the last hour, sampled every 5 s",
    .params = activity_params,
    .input_bytes = sizeof(activity_input),
    .answer = &activity_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_IDEMPOTENT,
    .http = "GET /v1/store/activity",
    .example = "{}",
    .run_alone = run_activity,
};

const lc_op *const lc_ops_activity[] = {&store_activity, NULL};
