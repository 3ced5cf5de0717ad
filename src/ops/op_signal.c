/* op_signal.c - signal.list, signal.ack and signal.send: requests of the guard to agents. State of
 * the process, see op_guard.c. The stream of signals over HTTP is in server/signals.c. */
#include "base/str.h"
#include "engine/engine.h"
#include "guard/gate.h"
#include "ops/call.h"
#include "ops/op_guard.h"
#include "ops/surface.h"

#define SIGNAL_CHOICES                                                                             \
    "memory_pressure_changed|evict_caches|compact_contexts|pause_pipeline|resume_pipeline|"        \
    "pause_all|resume_all"

typedef struct signal_input {
    loci_str agent_id, signal;
    int64_t signal_id, bytes;
} signal_input;

const lc_record lc_signal_record = {
    .name = "GuardSignal",
    .members =
        (const lc_result[]){
            {"signal_id", LC_PARAM_INT, "Number of the signal, for signal.ack"},
            {"signal", LC_PARAM_STRING, "Kind of signal", .choices = SIGNAL_CHOICES},
            {"level", LC_PARAM_STRING, "Level of memory pressure when it was sent",
             .choices = LC_LEVEL_CHOICES},
            {"name", LC_PARAM_STRING, "Pipeline or component it is about; null: all",
             LC_RESULT_NULLABLE},
            {"bytes", LC_PARAM_INT, "Bytes that should be freed; 0: not known"},
            {"ack_within_ms", LC_PARAM_INT,
             "Time left to acknowledge it; null if no acknowledgement is needed",
             LC_RESULT_NULLABLE},
            {NULL},
        },
};

void lc_agent_signal_write(const lc_agent_signal *signal, lc_json_writer *w)
{
    lc_jw_object(w);
    lc_jw_member_int(w, "signal_id", (int64_t)signal->id);
    lc_jw_member_text(w, "signal", lc_agent_signal_name(signal->kind));
    lc_jw_member_text(w, "level", lc_level_name(signal->level));
    lc_jw_member_text(w, "name", signal->name[0] != '\0' ? signal->name : NULL);
    lc_jw_member_int(w, "bytes", signal->bytes);
    if (signal->needs_ack)
        lc_jw_member_int(w, "ack_within_ms", signal->ack_within_ms);
    else
        lc_jw_member_null(w, "ack_within_ms");
    lc_jw_end(w);
}

/* ---- signal.list ----------------------------------------------------------------------------- */

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"signals", 0, "Signals, oldest first", LC_RESULT_LIST, .record = &lc_signal_record},
            LC_LEVEL_RESULT,
            {NULL},
        },
};

static const lc_param list_params[] = {
    LC_AGENT_PARAM(signal_input, agent_id),
    {.name = NULL},
};

static void put_signal(void *ctx, const lc_agent_signal *signal)
{
    lc_agent_signal_write(signal, ctx);
}

static loci_status run_list(lc_call *call, loci_error *err)
{
    const signal_input *in = call->input;
    lc_agent_id id = lc_call_agent(call, in->agent_id);
    lc_agents *agents;
    loci_status status = lc_engine_agents(call->engine, &agents, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_name(&call->out, "signals");
    lc_jw_array(&call->out);
    lc_agents_each_signal(agents, &id, put_signal, &call->out);
    lc_jw_end(&call->out);
    lc_call_put_level(call);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op signal_list = {
    .name = "signal.list",
    .help = "List the signals that wait for an agent",
    .params = list_params,
    .input_bytes = sizeof(signal_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ALONE | LC_OP_IDEMPOTENT,
    .http = "GET " LC_SIGNALS_PATH,
    .look = {.columns = "signal name bytes ack_within_ms signal_id", .id = "signal_id"},
    .example = "{\"agent_id\":\"indexer\"}",
    .run_alone = run_list,
};

/* ---- signal.ack ------------------------------------------------------------------------------ */

static const lc_record ack_answer = {
    .members =
        (const lc_result[]){
            {"signal_id", LC_PARAM_INT, "Number of the signal"},
            {"signal", LC_PARAM_STRING, "Kind of signal", .choices = SIGNAL_CHOICES},
            {"name", LC_PARAM_STRING, "Pipeline or component it was about; null: all",
             LC_RESULT_NULLABLE},
            LC_LEVEL_RESULT,
            {NULL},
        },
};

static const lc_param ack_params[] = {
    {LC_ARG_INT("signal_id", signal_input, signal_id),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL, .min = 1, .max = INT64_MAX,
     .help = "Number of the signal"},
    LC_AGENT_BYTES_PARAM(signal_input, bytes, 0, "0",
                         "pause_pipeline: bytes that the paused pipeline still holds"),
    LC_AGENT_PARAM(signal_input, agent_id),
    {.name = NULL},
};

static loci_status run_ack(lc_call *call, loci_error *err)
{
    const signal_input *in = call->input;
    lc_agent_id id = lc_call_agent(call, in->agent_id);
    lc_agent_signal signal;
    lc_agents *agents;
    loci_status status = lc_engine_agents(call->engine, &agents, err);

    if (status == LOCI_OK)
        status = lc_agents_ack(agents, &id, (uint64_t)in->signal_id, in->bytes, &signal, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_int(&call->out, "signal_id", in->signal_id);
    lc_jw_member_text(&call->out, "signal", lc_agent_signal_name(signal.kind));
    lc_jw_member_text(&call->out, "name", signal.name[0] != '\0' ? signal.name : NULL);
    lc_call_put_level(call);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op signal_ack = {
    .name = "signal.ack",
    .help = "Acknowledge a signal",
    .params = ack_params,
    .input_bytes = sizeof(signal_input),
    .answer = &ack_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_MUTATES | LC_OP_PROCESS | LC_OP_ALONE,
    .http = "POST /v1/signals/{signal_id}/ack",
    .look = {.sentence = "acknowledged {signal}[ of {name}]"},
    .example = "{\"agent_id\":\"indexer\",\"signal_id\":17}",
    .run_alone = run_ack,
};

/* ---- signal.send ----------------------------------------------------------------------------- */

static const lc_record send_answer = {
    .members =
        (const lc_result[]){
            {"signal", LC_PARAM_STRING, "Kind of signal", .choices = "pause_all|resume_all"},
            {"agents", LC_PARAM_INT, "Number of agents it was sent to"},
            {NULL},
        },
};

static const lc_param send_params[] = {
    {LC_ARG_STR("signal", signal_input, signal), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .choices = "pause_all|resume_all",
     .help = "pause_all: all agents pause and no pipeline is admitted; resume_all ends it"},
    {.name = NULL},
};

static loci_status run_send(lc_call *call, loci_error *err)
{
    const signal_input *in = call->input;
    lc_agents *agents;
    loci_status status = lc_engine_agents(call->engine, &agents, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "signal", in->signal);
    lc_jw_member_int(&call->out, "agents",
                     lc_agents_send(agents, lc_str_is(in->signal, "pause_all")
                                                ? LC_AGENT_PAUSE_ALL
                                                : LC_AGENT_RESUME_ALL));
    lc_jw_end(&call->out);
    return LOCI_OK;
}

static const lc_op signal_send = {
    .name = "signal.send",
    .help = "Ask all agents to pause, or to go on",
    .params = send_params,
    .input_bytes = sizeof(signal_input),
    .answer = &send_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_MUTATES | LC_OP_PROCESS | LC_OP_ALONE | LC_OP_IDEMPOTENT,
    .http = "POST " LC_SIGNALS_PATH,
    .look = {.sentence = "sent {signal} to {agents} agents"},
    .example = "{\"signal\":\"resume_all\"}",
    .run_alone = run_send,
};

const lc_op *const lc_ops_signal[] = {&signal_list, &signal_ack, &signal_send, NULL};

/* ---- Streams --------------------------------------------------------------------------------- */

loci_status lc_signals_open(loci_engine *engine, const loci_principal *principal, loci_str agent_id,
                            lc_agent_stream **out, loci_error *err)
{
    lc_call call = {.engine = engine};
    lc_agent_id id;
    lc_agents *agents;
    loci_status status = lc_engine_agents(engine, &agents, err);

    if (status != LOCI_OK)
        return status;
    lc_call_set_caller(&call, &(lc_caller){.engine = engine, .principal = principal});
    id = lc_call_agent(&call, agent_id);
    return lc_agent_stream_open(agents, &id, out, err);
}

bool lc_signals_next(lc_agent_stream *stream, lc_buf *out, uint64_t *out_id, const char **out_name)
{
    lc_agent_signal signal;
    lc_json_writer w;

    if (!lc_agent_stream_next(stream, &signal))
        return false;
    lc_jw_init(&w, out);
    lc_agent_signal_write(&signal, &w);
    *out_id = signal.id;
    *out_name = lc_agent_signal_name(signal.kind);
    return true;
}
