/* op_pipeline.c - pipeline.register, begin, end and list: work of agents that can pause. State of
 * the process, see op_guard.c. */
#include "base/str.h"
#include "engine/engine.h"
#include "ops/op_guard.h"

#define PRIORITY_MAX 1000

typedef struct pipeline_input {
    loci_str agent_id, name, work;
    int64_t priority, bytes;
    bool unregister;
} pipeline_input;

/* ---- pipeline.list --------------------------------------------------------------------------- */

static const lc_record pipeline_record = {
    .name = "Pipeline",
    .members =
        (const lc_result[]){
            {"agent_id", LC_PARAM_STRING, "Name of the agent"},
            {"name", LC_PARAM_STRING, "Name of the pipeline"},
            {"state", LC_PARAM_STRING, "State; pausing: asked to pause and not acknowledged yet",
             .choices = "idle|running|pausing|paused"},
            {"priority", LC_PARAM_INT, "Priority; the lowest is paused first"},
            {"work", LC_PARAM_STRING, "Kind of work", .choices = "normal|bulk"},
            {"bytes", LC_PARAM_INT, "Bytes held"},
            {NULL},
        },
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"pipelines", 0, "Pipelines", LC_RESULT_LIST, .record = &pipeline_record},
            LC_LEVEL_RESULT,
            {NULL},
        },
};

static const lc_param list_params[] = {
    {LC_ARG_STR("agent_id", pipeline_input, agent_id), .flags = LC_PARAM_ID, .min = 1,
     .max = LC_AGENT_NAME_BYTES_MAX, .help = "Only pipelines of this agent"},
    {.name = NULL},
};

static void put_pipeline(void *ctx, const lc_agent_pipeline *pipeline)
{
    lc_json_writer *w = ctx;

    lc_jw_object(w);
    lc_jw_member_str(w, "agent_id", pipeline->agent);
    lc_jw_member_str(w, "name", pipeline->name);
    lc_jw_member_text(w, "state", lc_agent_state_name(pipeline->state));
    lc_jw_member_int(w, "priority", pipeline->priority);
    lc_jw_member_text(w, "work", pipeline->work == LOCI_WORK_BULK ? "bulk" : "normal");
    lc_jw_member_int(w, "bytes", pipeline->bytes);
    lc_jw_end(w);
}

static loci_status run_list(lc_call *call, loci_error *err)
{
    const pipeline_input *in = call->input;
    lc_agent_id id = lc_call_agent(call, in->agent_id);
    lc_agents *agents;
    loci_status status = lc_engine_agents(call->engine, &agents, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "pipelines");
    lc_jw_array(&call->out);
    lc_agents_each_pipeline(agents, &id, call->is_tenant_admin, put_pipeline, &call->out);
    lc_jw_end(&call->out);
    lc_call_put_level(call);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op pipeline_list = {
    .name = "pipeline.list",
    .help = "List the pipelines of your agents; as an administrator, of the tenant",
    .params = list_params,
    .input_bytes = sizeof(pipeline_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ALONE | LC_OP_IDEMPOTENT,
    .http = "GET /v1/pipelines",
    .look = {.columns = "name state priority bytes agent_id work", .id = "name"},
    .example = "{\"agent_id\":\"indexer\"}",
    .run_alone = run_list,
};

/* ---- pipeline.register ----------------------------------------------------------------------- */

static const lc_param register_params[] = {
    LC_AGENT_ITEM_PARAM(pipeline_input, name, "Name of the pipeline"),
    {LC_ARG_INT("priority", pipeline_input, priority), .default_text = "0", .min = -PRIORITY_MAX,
     .max = PRIORITY_MAX,
     .help = "Priority: the lowest is paused first, the highest resumed first"},
    {LC_ARG_STR("work", pipeline_input, work), .default_text = "\"normal\"",
     .choices = "normal|bulk",
     .help = "Kind of work; bulk work is not admitted from the level high on"},
    LC_AGENT_PARAM(pipeline_input, agent_id),
    {.name = NULL},
};

static loci_status run_register(lc_call *call, loci_error *err)
{
    const pipeline_input *in = call->input;
    lc_agent_id id = lc_call_agent(call, in->agent_id);
    lc_agent_pipeline pipeline = {.agent = in->agent_id,
                                  .name = in->name,
                                  .priority = (int32_t)in->priority,
                                  .work = lc_str_is(in->work, "bulk") ? LOCI_WORK_BULK
                                                                      : LOCI_WORK_NORMAL};
    lc_agents *agents;
    loci_status status = lc_engine_agents(call->engine, &agents, err);

    if (status == LOCI_OK)
        status = lc_agents_register(agents, &id, &pipeline, err);
    if (status == LOCI_OK)
        put_pipeline(&call->out, &pipeline);
    return status;
}

static const lc_op pipeline_register = {
    .name = "pipeline.register",
    .help = "Register work of an agent that can pause",
    .params = register_params,
    .input_bytes = sizeof(pipeline_input),
    .answer = &pipeline_record,
    .cost = LC_COST_WORK,
    .flags = LC_OP_MUTATES | LC_OP_PROCESS | LC_OP_ALONE,
    .http = "POST /v1/pipelines",
    .look = {.sentence = "registered {name} of {agent_id}, priority {priority}"},
    .example = "{\"agent_id\":\"indexer\",\"name\":\"reindex\",\"priority\":2}",
    .run_alone = run_register,
};

/* ---- pipeline.begin -------------------------------------------------------------------------- */

static const lc_record begin_answer = {
    .members =
        (const lc_result[]){
            {"outcome", LC_PARAM_STRING, "Whether it may start now",
             .choices = "admitted|rejected"},
            {"retry_after_ms", LC_PARAM_INT, "Time after which to ask again; only if rejected",
             LC_RESULT_OPTIONAL},
            LC_LEVEL_RESULT,
            {NULL},
        },
};

static const lc_param begin_params[] = {
    LC_AGENT_ITEM_PARAM(pipeline_input, name, "Name of a registered pipeline"),
    LC_AGENT_BYTES_PARAM(pipeline_input, bytes, 0, "0", "Bytes that it is going to hold"),
    LC_AGENT_PARAM(pipeline_input, agent_id),
    {.name = NULL},
};

static loci_status run_begin(lc_call *call, loci_error *err)
{
    const pipeline_input *in = call->input;
    lc_agent_id id = lc_call_agent(call, in->agent_id);
    int64_t retry_after_ms = 0;
    lc_agents *agents;
    loci_status status = lc_engine_agents(call->engine, &agents, err);

    if (status == LOCI_OK)
        status = lc_agents_begin(
            agents, &id,
            &(lc_agent_size){.name = in->name,
                             .bytes = in->bytes,
                             .tenant_bytes_max = lc_call_agents_bytes_max(call)},
            &retry_after_ms, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_text(&call->out, "outcome", retry_after_ms == 0 ? "admitted" : "rejected");
    if (retry_after_ms != 0)
        lc_jw_member_int(&call->out, "retry_after_ms", retry_after_ms);
    lc_call_put_level(call);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op pipeline_begin = {
    .name = "pipeline.begin",
    .help = "Ask to start a registered pipeline",
    .params = begin_params,
    .input_bytes = sizeof(pipeline_input),
    .answer = &begin_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_MUTATES | LC_OP_PROCESS | LC_OP_ALONE,
    .http = "POST /v1/pipelines/{name}/begin",
    .look = {.sentence = "{outcome}[, ask again after {retry_after_ms} ms]; pressure is {level}"},
    .example = "{\"agent_id\":\"indexer\",\"name\":\"reindex\",\"bytes\":1048576}",
    .run_alone = run_begin,
};

/* ---- pipeline.end ---------------------------------------------------------------------------- */

static const lc_record end_answer = {
    .members =
        (const lc_result[]){
            {"agent_id", LC_PARAM_STRING, "Name of the agent"},
            {"name", LC_PARAM_STRING, "Name of the pipeline"},
            {"unregistered", LC_PARAM_BOOL, "True if it is not registered any more"},
            LC_LEVEL_RESULT,
            {NULL},
        },
};

static const lc_param end_params[] = {
    LC_AGENT_ITEM_PARAM(pipeline_input, name, "Name of the pipeline"),
    {LC_ARG_BOOL("unregister", pipeline_input, unregister, "false"),
     .help = "Whether to forget the pipeline, too"},
    LC_AGENT_PARAM(pipeline_input, agent_id),
    {.name = NULL},
};

static loci_status run_end(lc_call *call, loci_error *err)
{
    const pipeline_input *in = call->input;
    lc_agent_id id = lc_call_agent(call, in->agent_id);
    lc_agents *agents;
    loci_status status = lc_engine_agents(call->engine, &agents, err);

    if (status == LOCI_OK)
        status = lc_agents_end(agents, &id, in->name, in->unregister, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "agent_id", in->agent_id);
    lc_jw_member_str(&call->out, "name", in->name);
    lc_jw_member_bool(&call->out, "unregistered", in->unregister);
    lc_call_put_level(call);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op pipeline_end = {
    .name = "pipeline.end",
    .help = "End a pipeline that was begun; its memory is no longer accounted for",
    .params = end_params,
    .input_bytes = sizeof(pipeline_input),
    .answer = &end_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_MUTATES | LC_OP_PROCESS | LC_OP_ALONE,
    .http = "POST /v1/pipelines/{name}/end",
    .look = {.sentence = "ended {name} of {agent_id}"},
    .example = "{\"agent_id\":\"indexer\",\"name\":\"reindex\",\"unregister\":true}",
    .run_alone = run_end,
};

const lc_op *const lc_ops_pipeline[] = {&pipeline_register, &pipeline_begin, &pipeline_end,
                                        &pipeline_list, NULL};
