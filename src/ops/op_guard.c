/* op_guard.c - guard.status, guard.report and guard.release.
 *
 * These, pipeline.* and signal.* work on the state of the running process: nothing is written to
 * the store, so there is no transaction, no event and no idempotency key, and all of it ends with
 * the process. The whole status names the components of all tenants: it is for administrators of
 * the store. Agents see and touch what they registered themselves.
 */
#include "ops/op_guard.h"

#include "base/str.h"
#include "engine/engine.h"
#include "engine/memory_guard.h"
#include "guard/host.h"

#define CATEGORY_CHOICES "engine|requests|caches|index|pipelines|llm_buffers|wal"
#define AGENT_CATEGORY_CHOICES "caches|pipelines|llm_buffers|index|requests"

lc_agent_id lc_call_agent(const lc_call *call, loci_str name)
{
    return (lc_agent_id){call->tenant_id, call->token_id.len > 0 ? call->token_id : call->user_id,
                         name};
}

int64_t lc_call_agents_bytes_max(const lc_call *call)
{
    return lc_settings_i64(lc_engine_settings(call->engine), &lc_setting_guard_agents_bytes_max,
                           LC_STR_NONE);
}

void lc_call_put_level(lc_call *call)
{
    loci_guard *guard;

    if (lc_engine_memory_guard(call->engine, &guard, NULL) == LOCI_OK)
        lc_jw_member_text(&call->out, "level", lc_level_name(loci_guard_level(guard)));
}

/* ---- guard.status ---------------------------------------------------------------------------- */

static const lc_record component_record = {
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name of the component; agent/name#number if an agent's"},
            {"category", LC_PARAM_STRING, "Category", .choices = CATEGORY_CHOICES},
            {"bytes", LC_PARAM_INT, "Size"},
            {NULL},
        },
};

static const lc_record cache_record = {
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name of the cache"},
            {"bytes", LC_PARAM_INT, "Size"},
            {"min_bytes", LC_PARAM_INT, "Size below which it is not asked to shrink"},
            {"freed_bytes", LC_PARAM_INT, "Bytes freed by all evictions"},
            {"evictions", LC_PARAM_INT, "Number of evictions"},
            {NULL},
        },
};

static const lc_record guarded_pipeline_record = {
    .members =
        (const lc_result[]){
            {"name", LC_PARAM_STRING, "Name of the pipeline; agent/name#number if an agent's"},
            {"state", LC_PARAM_STRING, "State", .choices = "running|pausing|paused|cancelled"},
            {"priority", LC_PARAM_INT, "Priority; the lowest is paused first"},
            {"bytes", LC_PARAM_INT, "Bytes held"},
            {NULL},
        },
};

static const lc_record admission_record = {
    .members =
        (const lc_result[]){
            {"in_flight", LC_PARAM_INT, "Work admitted and not done"},
            {"window", LC_PARAM_INT, "Work that may be in flight now"},
            {"window_max", LC_PARAM_INT, "Work that may be in flight at the level normal"},
            {"queued", LC_PARAM_INT, "Work that waits"},
            {"admitted_total", LC_PARAM_INT, "Admissions since the start"},
            {"queued_total", LC_PARAM_INT, "Work that had to wait"},
            {"rejected_total", LC_PARAM_INT, "Rejections"},
            {"expired_total", LC_PARAM_INT, "Work that waited longer than its deadline"},
            {NULL},
        },
};

static const lc_record decision_record = {
    .members =
        (const lc_result[]){
            {"ms_ago", LC_PARAM_INT, "Age in milliseconds"},
            {"what", LC_PARAM_STRING, "Name of the signal, or evicted"},
            {"level", LC_PARAM_STRING, "Level at that time", .choices = LC_LEVEL_CHOICES},
            {"name", LC_PARAM_STRING, "Cache, pipeline or component it was about",
             LC_RESULT_NULLABLE},
            {"bytes", LC_PARAM_INT, "Bytes freed, held or needed"},
            {NULL},
        },
};

static const lc_record agent_record = {
    .members =
        (const lc_result[]){
            {"tenant_id", LC_PARAM_STRING, "Tenant of the agent"},
            {"agent_id", LC_PARAM_STRING, "Name of the agent"},
            {"listening", LC_PARAM_BOOL, "True if it has a stream of signals open"},
            {"bytes", LC_PARAM_INT, "Bytes of its components and pipelines"},
            {"components", LC_PARAM_INT, "Number of components it reports"},
            {"pipelines", LC_PARAM_INT, "Number of pipelines it registered"},
            {"signals", LC_PARAM_INT, "Number of signals that wait for it"},
            {NULL},
        },
};

static const lc_record signals_record = {
    .members =
        (const lc_result[]){
            {"paused", LC_PARAM_BOOL, "True between pause_all and resume_all"},
            {"sent", LC_PARAM_INT, "Number of signals sent to agents, by signal", LC_RESULT_MAP},
            {"acknowledged", LC_PARAM_INT, "Number of signals that agents acknowledged"},
            {"agents_gone", LC_PARAM_INT,
             "Number of agents given up because they did not acknowledge or call any more"},
            {NULL},
        },
};

static const lc_record status_record = {
    .name = "GuardStatus",
    .members =
        (const lc_result[]){
            LC_LEVEL_RESULT,
            {"used_bytes", LC_PARAM_INT,
             "Memory in use: the larger of the measured and the accounted bytes"},
            {"limit_bytes", LC_PARAM_INT, "Memory limit; null if none is known",
             LC_RESULT_NULLABLE},
            {"limit_from", LC_PARAM_STRING, "Origin of the limit", LC_RESULT_NULLABLE},
            {"usage", LC_PARAM_REAL, "Share of the limit in use, 0 to 1", LC_RESULT_NULLABLE},
            {"need_bytes", LC_PARAM_INT, "Bytes to be freed to leave the level"},
            {"tracked_bytes", LC_PARAM_INT, "Bytes accounted for"},
            {"untracked_bytes", LC_PARAM_INT, "Bytes measured but not accounted for"},
            {"trend_bytes_per_s", LC_PARAM_INT, "Change of the bytes in use per second"},
            {"measured", LC_PARAM_BOOL, "True if the last reading succeeded"},
            {"spike", LC_PARAM_BOOL, "True if usage rises so fast that the next tick is judged"},
            {"stalled", LC_PARAM_BOOL, "True if the system reports that tasks wait for memory"},
            {"ticks", LC_PARAM_INT, "Number of readings since the start"},
            {"failed_readings", LC_PARAM_INT, "Number of readings that failed"},
            {"refused_charges", LC_PARAM_INT, "Number of charges that did not fit"},
            {"history_bytes", LC_PARAM_INT, "Bytes in use at the last readings, oldest first",
             LC_RESULT_LIST},
            {"categories", LC_PARAM_INT, "Accounted bytes by category", LC_RESULT_MAP},
            {"largest", 0, "Largest components", LC_RESULT_LIST, .record = &component_record},
            {"caches", 0, "Caches", LC_RESULT_LIST, .record = &cache_record},
            {"pipelines", 0, "Pipelines that run", LC_RESULT_LIST,
             .record = &guarded_pipeline_record},
            {"admission", 0, "Admission of work", .record = &admission_record},
            {"decisions", 0, "Last decisions, oldest first", LC_RESULT_LIST,
             .record = &decision_record},
            {"agents", 0, "Agents", LC_RESULT_LIST, .record = &agent_record},
            {"signals", 0, "Signals to agents", .record = &signals_record},
            {NULL},
        },
};

static void put_agent(void *ctx, const lc_agent_row *row)
{
    lc_json_writer *w = ctx;

    lc_jw_object(w);
    lc_jw_member_str(w, "tenant_id", row->id.tenant_id);
    lc_jw_member_str(w, "agent_id", row->id.name);
    lc_jw_member_bool(w, "listening", row->is_listening);
    lc_jw_member_int(w, "bytes", row->bytes);
    lc_jw_member_int(w, "components", row->component_count);
    lc_jw_member_int(w, "pipelines", row->pipeline_count);
    lc_jw_member_int(w, "signals", row->signal_count);
    lc_jw_end(w);
}

static void put_signals(lc_json_writer *w, lc_agents *agents)
{
    lc_agents_counters counters = lc_agents_get_counters(agents);

    lc_jw_name(w, "signals");
    lc_jw_object(w);
    lc_jw_member_bool(w, "paused", counters.is_paused);
    lc_jw_name(w, "sent");
    lc_jw_object(w);
    for (int i = 0; i < LC_AGENT_SIGNALS; i++)
        lc_jw_member_int(w, lc_agent_signal_name((lc_agent_signal_kind)i), counters.sent[i]);
    lc_jw_end(w);
    lc_jw_member_int(w, "acknowledged", counters.acknowledged);
    lc_jw_member_int(w, "agents_gone", counters.gone);
    lc_jw_end(w);
}

static loci_status run_status(lc_call *call, loci_error *err)
{
    loci_guard *guard;
    lc_agents *agents;
    loci_status status = lc_engine_memory_guard(call->engine, &guard, err);

    if (status == LOCI_OK)
        status = lc_engine_agents(call->engine, &agents, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_guard_put_status(guard, &call->out);
    lc_jw_name(&call->out, "agents");
    lc_jw_array(&call->out);
    lc_agents_each(agents, put_agent, &call->out);
    lc_jw_end(&call->out);
    put_signals(&call->out, agents);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op guard_status = {
    .name = "guard.status",
    .help = "Show memory pressure, usage, caches, pipelines, agents and the last decisions",
    .params = (const lc_param[]){{.name = NULL}},
    .answer = &status_record,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_IDEMPOTENT,
    .http = "GET /v1/guard",
    .example = "{}",
    .run_alone = run_status,
};

/* ---- guard.report and guard.release ---------------------------------------------------------- */

typedef struct report_input {
    loci_str agent_id, name, category;
    int64_t bytes;
} report_input;

static const lc_record reported_record = {
    .members =
        (const lc_result[]){
            {"agent_id", LC_PARAM_STRING, "Name of the agent"},
            {"name", LC_PARAM_STRING, "Name of the component or pipeline"},
            {"bytes", LC_PARAM_INT, "Bytes accounted for it now"},
            LC_LEVEL_RESULT,
            {NULL},
        },
};

static void put_reported(lc_call *call, int64_t bytes)
{
    const report_input *in = call->input;

    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "agent_id", in->agent_id);
    lc_jw_member_str(&call->out, "name", in->name);
    lc_jw_member_int(&call->out, "bytes", bytes);
    lc_call_put_level(call);
    lc_jw_end(&call->out);
}

static const lc_param report_params[] = {
    LC_AGENT_ITEM_PARAM(report_input, name, "Name of the component, or of a running pipeline"),
    LC_AGENT_BYTES_PARAM(report_input, bytes, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, NULL,
                         "Bytes that it holds now"),
    {LC_ARG_STR("category", report_input, category), .default_text = "\"llm_buffers\"",
     .choices = AGENT_CATEGORY_CHOICES, .help = "Category; pipelines for a pipeline"},
    LC_AGENT_PARAM(report_input, agent_id),
    {.name = NULL},
};

static loci_category category_of(loci_str name)
{
    int category = 0;

    while (!lc_str_is(name, lc_category_name((loci_category)category)))
        category++;
    return (loci_category)category;
}

static loci_status run_report(lc_call *call, loci_error *err)
{
    const report_input *in = call->input;
    lc_agent_id id = lc_call_agent(call, in->agent_id);
    lc_agents *agents;
    loci_status status = lc_engine_agents(call->engine, &agents, err);

    if (status == LOCI_OK)
        status = lc_agents_report(
            agents, &id,
            &(lc_agent_size){.name = in->name,
                             .category = category_of(in->category),
                             .bytes = in->bytes,
                             .tenant_bytes_max = lc_call_agents_bytes_max(call)},
            err);
    if (status == LOCI_OK)
        put_reported(call, in->bytes);
    return status;
}

static const lc_op guard_report = {
    .name = "guard.report",
    .help = "Report the memory that a component of an agent holds",
    .params = report_params,
    .input_bytes = sizeof(report_input),
    .answer = &reported_record,
    .cost = LC_COST_WORK,
    .flags = LC_OP_MUTATES | LC_OP_PROCESS | LC_OP_ALONE | LC_OP_IDEMPOTENT,
    .http = "PUT /v1/guard/reports/{name}",
    .look = {.sentence = "{name} holds {bytes} bytes; pressure is {level}"},
    .example = "{\"name\":\"contexts\",\"category\":\"llm_buffers\",\"bytes\":1048576}",
    .run_alone = run_report,
};

static const lc_param release_params[] = {
    LC_AGENT_ITEM_PARAM(report_input, name, "Name of the component"),
    LC_AGENT_PARAM(report_input, agent_id),
    {.name = NULL},
};

static loci_status run_release(lc_call *call, loci_error *err)
{
    const report_input *in = call->input;
    lc_agent_id id = lc_call_agent(call, in->agent_id);
    lc_agents *agents;
    loci_status status = lc_engine_agents(call->engine, &agents, err);

    if (status == LOCI_OK)
        status = lc_agents_release(agents, &id, in->name, err);
    if (status == LOCI_OK)
        put_reported(call, 0);
    return status;
}

static const lc_op guard_release = {
    .name = "guard.release",
    .help = "Forget a component that an agent reported",
    .params = release_params,
    .input_bytes = sizeof(report_input),
    .answer = &reported_record,
    .cost = LC_COST_WORK,
    .flags = LC_OP_MUTATES | LC_OP_PROCESS | LC_OP_ALONE,
    .http = "DELETE /v1/guard/reports/{name}",
    .look = {.sentence = "released {name}; pressure is {level}"},
    .example = "{\"name\":\"contexts\"}",
    .run_alone = run_release,
};

const lc_op *const lc_ops_guard[] = {&guard_status, &guard_report, &guard_release, NULL};
