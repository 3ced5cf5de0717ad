/* op_context.c - the operations that use several rooms: fact.observe and context.build. */
#include "ops/op_context.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/build.h"
#include "context/format.h"
#include "context/kept.h"
#include "context/observe.h"
#include "context/usage.h"
#include "engine/engine.h"
#include "engine/extraction.h"
#include "engine/meaning.h"
#include "fact/authority.h"
#include "ops/call_scope.h"
#include "ops/counter.h"
#include "ops/judge.h"
#include "ops/message_input.h"
#include "ops/window_call.h"

#define BUDGET_MAX 100000000

/* ---- fact.observe ---------------------------------------------------------------------------- */

typedef struct observe_input {
    loci_str text;
    loci_str speaker;
    int64_t observed_at;
    lc_claim_args claim;
    loci_str role;
    /* Made by prepare. */
    lc_fact_caller caller;
    const lc_talk *talk;
    const lc_statements *statements; /* NULL = the rules do not run. */
    lc_message message;              /* Text and tokens. */
    const lc_lessons *lessons;       /* NULL = nothing is learned. */
    bool is_left_to_job;
} observe_input;

static const lc_param observe_params[] = {
    {LC_ARG_STR("text", observe_input, text),
     .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_SAID, .alias = "content", .min = 1,
     .max = LC_EVENT_BYTES_MAX - 8192, .help = "Text that was said"},
    {LC_ARG_STR("speaker", observe_input, speaker), .flags = LC_PARAM_ID | LC_PARAM_SAID,
     .default_text = "\"user\"", .min = 1, .max = LC_ID_BYTES_MAX,
     .help = "Speaker: user, assistant, or a name"},
    {LC_ARG_STR("role", observe_input, role), .choices = LC_MESSAGE_ROLES,
     .help = "Role of the speaker (default: assistant if the speaker is, else user); only"
             " messages of a user change facts"},
    {LC_ARG_TIME("observed_at", observe_input, observed_at),
     .help = "Time at which it was said (default: the time of the call)"},
    LC_CLAIM_PARAMS(observe_input, claim),
    {.name = NULL},
};

static const lc_record observed_record = {
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the version that was written"},
            {"key", LC_PARAM_STRING, "Key of the fact"},
            {"outcome", LC_PARAM_STRING, "Effect of the write, as in fact.write",
             .choices = LC_FACT_OUTCOMES},
            {"rule", LC_PARAM_STRING, "Rule that found the new value", .choices = LC_RULES},
            {"quote", LC_PARAM_STRING, "Sentence of the text that says it"},
            {NULL},
        },
};

static const lc_record observe_answer = {
    .members =
        (const lc_result[]){
            {"message_id", LC_PARAM_STRING, "Id of the message (msg_...)"},
            {"session_id", LC_PARAM_STRING, "Id of its session (ses_...)"},
            {"outcomes", 0, "Facts that were written, and claims", LC_RESULT_LIST,
             .record = &observed_record},
            {"extraction", LC_PARAM_STRING,
             "Reader of the message: the job job_id with the chat provider (queued), the built-in"
             " rules, or none, because no user said it",
             .choices = "queued|rules|none"},
            {"job_id", LC_PARAM_STRING, "Id of the job fact.extract (job_...), if queued",
             LC_RESULT_OPTIONAL},
            {"seq", LC_PARAM_INT, "Number of the event that stores the message"},
            LC_LEARNED_RESULT,
            LC_WARNINGS_RESULT,
            {NULL},
        },
};

static loci_status read_message(lc_call *call, observe_input *in, loci_error *err)
{
    lc_judge_reading reading;
    loci_status status;

    if (!lc_call_is_judged(call))
        return lc_observation_read(in->talk, call->arena, in->text, &in->statements, err);
    status = lc_judge_read(in->talk, call->arena, in->text, &reading, err);
    if (status == LOCI_OK) {
        in->statements = reading.statements;
        in->lessons = reading.lessons;
    }
    return status;
}

static loci_status prepare_observe(lc_call *call, loci_error *err)
{
    observe_input *in = call->input;
    loci_status status = lc_engine_talk(call->engine, &in->talk, err);

    if (in->role.len == 0)
        in->role = lc_str_is(in->speaker, "assistant") ? LC_STR("assistant") : LC_STR("user");
    if (in->claim.trust.len == 0 && lc_str_is(in->role, "assistant"))
        in->claim.trust = LC_STR("model");
    if (in->claim.trust.len == 0 && lc_str_is(in->role, "tool"))
        in->claim.trust = LC_STR("tool");
    in->is_left_to_job = lc_str_is(in->role, "user") &&
                         lc_extraction_is_on(call->engine, call->tenant_id);
    if (status == LOCI_OK && lc_str_is(in->role, "user") && !in->is_left_to_job)
        status = read_message(call, in, err);
    in->message = (lc_message){.text = in->text};
    if (status == LOCI_OK)
        status = lc_message_count_tokens(call, false, &in->message, err);
    return status == LOCI_OK ? lc_fact_caller_init(&in->caller, call, &in->claim, err) : status;
}

static void put_observed(lc_call *call, const lc_session_use *use, const lc_observed *observed,
                         const lc_id *job_id, const lc_learned_list *learned)
{
    const observe_input *in = call->input;

    lc_jw_object(&call->out);
    lc_jw_member_text(&call->out, "message_id", observed->message_id.text);
    lc_jw_member_str(&call->out, "session_id", use->session.id);
    lc_jw_name(&call->out, "outcomes");
    lc_jw_array(&call->out);
    for (size_t i = 0; i < observed->count; i++) {
        const lc_observed_fact *fact = &observed->facts[i];

        lc_jw_object(&call->out);
        lc_jw_member_text(&call->out, "id", fact->result.id.text);
        lc_jw_member_str(&call->out, "key", fact->key);
        lc_jw_member_text(&call->out, "outcome", lc_fact_outcome_name(fact->result.outcome));
        lc_jw_member_text(&call->out, "rule", lc_rule_name(fact->rule));
        lc_jw_member_str(&call->out, "quote", fact->quote);
        lc_jw_end(&call->out);
    }
    lc_jw_end(&call->out);
    lc_jw_member_text(&call->out, "extraction",
                      in->is_left_to_job       ? "queued"
                      : in->statements != NULL ? "rules"
                                               : "none");
    if (in->is_left_to_job)
        lc_jw_member_text(&call->out, "job_id", job_id->text);
    lc_jw_member_int(&call->out, "seq", observed->seq);
    lc_call_put_learned(call, learned);
    lc_jw_end(&call->out);
}

static loci_status run_observe(lc_call *call, lc_tx *tx, loci_error *err)
{
    const observe_input *in = call->input;
    loci_str speaker = in->speaker;
    lc_session_use use;
    lc_observation observation;
    lc_observed observed;
    lc_id job_id = {""};
    lc_learned_list learned = {.count = 0};
    int64_t observed_at = in->observed_at;
    loci_status status = lc_call_choose_session(call, tx, &use, err);

    if (status == LOCI_OK && observed_at == LOCI_AT_CLOCK)
        status = lc_tx_recorded_at(tx, &observed_at, err);
    if (status != LOCI_OK)
        return status;
    observation = (lc_observation){
        .talk = in->talk,
        .statements = in->statements,
        .session = &use,
        .message = {.role = in->role,
                    .speaker = lc_str_eq(speaker, in->role) ? LC_STR_NONE : speaker,
                    .text = in->text,
                    .tokens = in->message.tokens,
                    .is_estimated = in->message.is_estimated,
                    .persona_id = call->persona_id,
                    .observed_at = observed_at},
        .view = {.persona_id = call->persona_id,
                 .session_id = use.session.id,
                 .access = lc_fact_caller_access(&in->caller, &use.session.identity)},
        .authority = lc_fact_caller_authority(&in->caller, &use.session.identity),
        .is_authority_given = in->claim.authority.ptr != NULL,
        .trust = in->caller.trust,
        .is_one_session = call->implied.session_id.ptr != NULL,
        .arena = call->arena,
    };
    status = lc_context_observe(tx, &observation, &observed, err);
    if (status == LOCI_OK)
        status = lc_call_note_turns(call, tx, &use.session, lc_str_is(in->role, "user"), err);
    observation.message.id = lc_id_str(&observed.message_id);
    observation.message.seq = observed.seq;
    observation.message.session_id = use.session.id;
    if (status == LOCI_OK && in->is_left_to_job)
        status = lc_extraction_enqueue(tx, &observation, &job_id, err);
    else if (status == LOCI_OK && in->lessons != NULL)
        status = lc_judge_write_lessons(tx, &observation, in->lessons, &observed, &learned, err);
    if (status == LOCI_OK)
        put_observed(call, &use, &observed, &job_id, &learned);
    return status;
}

static const lc_op fact_observe = {
    .name = "fact.observe",
    .help = "Append a message and write the facts that it plainly states",
    .params = observe_params,
    .input_bytes = sizeof(observe_input),
    .answer = &observe_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_SESSION,
    .http = "POST /v1/observations",
    .mcp = "observe",
    .mcp_takes = "text speaker",
    .mcp_shows = "message_id ~session_id outcomes(key outcome id quote)",
    .look = {.columns = "outcome key quote id",
             .sentence = "kept as {message_id}[; {job_id} extracts the facts]"},
    .example = "{\"text\":\"Actually, the meeting is on Thursday.\"}",
    .prepare = prepare_observe,
    .run = run_observe,
};

/* ---- context.build --------------------------------------------------------------------------- */

#define REASONS                                                                                    \
    "superseded|retracted|restricted|scope|expired|needs_review|claim|duplicate|irrelevant|budget"

/* With `explain`, of items that were searched for. */
#define SCORE_RESULTS                                                                              \
    {"score", LC_PARAM_REAL, "With explain: score in its section, if it was searched for",         \
     LC_RESULT_OPTIONAL},                                                                          \
        {"words", LC_PARAM_REAL, "With explain: part of the score for words of the query",         \
         LC_RESULT_OPTIONAL},                                                                      \
    {                                                                                              \
        "meaning", LC_PARAM_REAL, "With explain: part of the score for nearness of meaning",       \
            LC_RESULT_OPTIONAL                                                                     \
    }

static const lc_record included_record = {
    .name = "ContextItem",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the fact, message, item or signal"},
            {"section", LC_PARAM_STRING, "Section of the text that it is in"},
            {"tokens", LC_PARAM_INT, "Number of tokens"},
            {"why", LC_PARAM_STRING, "With explain: reason for being in the text",
             LC_RESULT_OPTIONAL, .choices = LC_CONTEXT_WHYS},
            SCORE_RESULTS,
            {NULL},
        },
};

static const lc_record excluded_record = {
    .name = "ContextExclusion",
    .members =
        (const lc_result[]){
            {"id", LC_PARAM_STRING, "Id of the fact, message, item or signal"},
            {"reason", LC_PARAM_STRING, "Reason for leaving it out", .choices = REASONS},
            SCORE_RESULTS,
            {NULL},
        },
};

static const lc_record cache_control_record = {
    .members =
        (const lc_result[]){
            {"type", LC_PARAM_STRING, "Kind of cache", .choices = "ephemeral"},
            {NULL},
        },
};

static const lc_record part_record = {
    .name = "ContextPart",
    .members =
        (const lc_result[]){
            {"type", LC_PARAM_STRING, "Kind of part", .choices = "text"},
            {"text", LC_PARAM_STRING, "Text of the part"},
            {"cache_control", 0, "Breakpoint of the provider's cache: the prefix ends here",
             LC_RESULT_OPTIONAL, .record = &cache_control_record},
            {NULL},
        },
};

static const lc_record turn_record = {
    .name = "ContextTurn",
    .members =
        (const lc_result[]){
            {"role", LC_PARAM_STRING, "Role of the author", .choices = "system|user"},
            {"content", 0, "Parts of the message", LC_RESULT_LIST, .record = &part_record},
            {NULL},
        },
};

static const lc_record request_record = {
    .name = "ContextRequest",
    .members =
        (const lc_result[]){
            {"system", 0, "System prompt; absent if it is empty or for OpenAI",
             LC_RESULT_LIST | LC_RESULT_OPTIONAL, .record = &part_record},
            {"messages", 0, "Messages", LC_RESULT_LIST, .record = &turn_record},
            {NULL},
        },
};

static const lc_record build_answer = {
    .members =
        (const lc_result[]){
            {"text", LC_PARAM_STRING, "Text for the model"},
            {"request", 0,
             "Members for the request to the model, for the format messages: the text as system"
             " prompt and messages, and the query as the last part",
             LC_RESULT_OPTIONAL, .record = &request_record},
            {"included", 0, "Items in the text", LC_RESULT_LIST, .record = &included_record},
            {"excluded", 0, "Best items that are not in the text, at most 50", LC_RESULT_LIST,
             .record = &excluded_record},
            {"excluded_counts", LC_PARAM_INT, "Number of items left out, by reason", LC_RESULT_MAP},
            {"tokens", LC_PARAM_INT, "Number of tokens by section, and their total", LC_RESULT_MAP},
            {"budget", LC_PARAM_INT, "Budget of the call"},
            {"model_tokens", LC_PARAM_INT,
             "Total in tokens of the model, as reported before; absent before the third report",
             LC_RESULT_OPTIONAL},
            {"estimated", LC_PARAM_BOOL,
             "True if tokens are estimated: as asked, or because the data of the encoding is not"
             " installed"},
            {"pressure", LC_PARAM_STRING, "Pressure of the window; null without one",
             LC_RESULT_NULLABLE},
            {"warnings", LC_PARAM_STRINGS, "Warnings for the caller"},
            {"context_id", LC_PARAM_STRING, "Id of the kept context (ctx_...), with keep",
             LC_RESULT_OPTIONAL},
            {NULL},
        },
};

typedef struct build_input {
    loci_str query;
    int64_t budget;
    loci_str encoding;
    lc_scope_args scope;
    lc_str_list sections;
    bool relevant_only, brief;
    bool estimate, keep, explain;
    loci_str format, api;
    loci_str without_session, frame_id, model;
    /* Made before the snapshot. */
    unsigned section_mask;
    lc_call_counter counter;
    loci_str counts; /* The counter's encoding, or LC_USAGE_ESTIMATED. */
    int64_t query_tokens;
    lc_fact_caller caller;
    lc_corpus_terms terms;
    lc_meaning meaning;
    const lc_talk *talk;
    /* Made by the read, for the write that keeps it. */
    lc_kept_context context;
    lc_context_lines lines;
} build_input;

static const lc_param build_params[] = {
    {LC_ARG_STR("query", build_input, query), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
     .max = LC_ARGS_BYTES_MAX, .help = "Question that the model will be asked"},
    {LC_ARG_INT("budget", build_input, budget), .flags = LC_PARAM_POSITIONAL,
     .default_text = "2000", .min = 1, .max = BUDGET_MAX,
     .help = "Maximum number of tokens of the text"},
    {LC_ARG_STR("encoding", build_input, encoding), .default_text = "\"o200k_base\"",
     .choices = LC_ENCODING_CHOICES, .help = "Tokenizer encoding of the model"},
    {LC_ARG_BOOL("estimate", build_input, estimate, "false"),
     .help = "Whether to save time in a new process: estimate tokens instead of loading the"
             " encoding's data, and leave vectors that are missing to other calls"},
    {LC_ARG_STRINGS("sections", build_input, sections), .flags = LC_PARAM_ONE_OR_MANY,
     .max = LC_SECTION_COUNT, .choices = LC_SECTION_NAMES,
     .help = "Only these sections (default: all)"},
    {LC_ARG_BOOL("relevant_only", build_input, relevant_only, "false"),
     .help = "Only facts, memories, cards and messages that the query is about; the text is empty"
             " if there are none"},
    {LC_ARG_BOOL("brief", build_input, brief, "false"),
     .help =
         "For the start of a session, with an empty query: only identity, constraints, foundation,"
         " open todos, the latest summaries and the environment"},
    {LC_ARG_STR("format", build_input, format), .default_text = "\"text\"",
     .choices = LC_CONTEXT_FORMATS,
     .help = "Form of the context: plain text, Markdown, JSON, or messages for a model's API; all"
             " but text fence what was recorded and name what is not trusted"},
    {LC_ARG_STR("api", build_input, api), .default_text = "\"anthropic\"",
     .choices = LC_CONTEXT_APIS, .help = "API that the format messages is for"},
    {LC_ARG_BOOL("explain", build_input, explain, "false"),
     .help = "Whether to add the reason for each included item, and the scores of all"},
    {LC_ARG_BOOL("keep", build_input, keep, "false"),
     .help = "Whether to keep the manifest for context.keep_hours, for context.check, explain, diff"
             " delta and usage"},
    LC_NAME_PARAM("model", build_input, model, 0,
                  "Model that the context is for: after three reports of it (context.usage), the"
                  " budget is in its tokens"),
    LC_NAME_PARAM("without_session", build_input, without_session, 0,
                  "Session whose messages are left out, because the model has them: a ses_… or an"
                  " external_id"),
    LC_NAME_PARAM("frame_id", build_input, frame_id, 0,
                  "Frame that the agent works on: its task and handles are a section"),
    LC_SCOPE_PARAMS(build_input, scope),
    {.name = NULL},
};

static loci_status prepare_build(lc_call *call, loci_error *err)
{
    build_input *in = call->input;

    if (in->keep && call->is_batched)
        return lc_fail(err, LOCI_EINVAL,
                       "keep: not in a batch, which has one transaction; build it in a call of its "
                       "own");
    if (in->brief && (in->query.len > 0 || in->relevant_only))
        return lc_fail(err, LOCI_EINVAL,
                       "brief: not with %s; a brief has no question, so pass an empty query or "
                       "leave brief out",
                       in->query.len > 0 ? "a query" : "relevant_only");
    in->section_mask = in->sections.items == NULL ? ~0u : 0;
    for (size_t i = 0; i < in->sections.count; i++)
        in->section_mask |= lc_context_section_bit(in->sections.items[i]);
    if (in->brief)
        in->section_mask &= lc_context_brief_mask();
    lc_engine_count_recall(call->engine);
    return LOCI_OK;
}

static loci_status pause_build(void *ctx, loci_error *err)
{
    return lc_call_pause_point(ctx, err);
}

/* The query is part of a request that is reported later. */
static loci_status count_query(build_input *in, loci_error *err)
{
    lc_call_counter counter = in->counter;
    lc_counter count = lc_call_counter_of(&counter);

    in->counts = in->counter.is_estimated ? LC_STR(LC_USAGE_ESTIMATED) : in->encoding;
    if (in->keep && lc_format_find(in->format) == LC_CONTEXT_MESSAGES)
        in->query_tokens = count.count(count.ctx, in->query);
    return lc_call_counter_status(&counter, err);
}

static loci_status compute_build(lc_call *call, loci_error *err)
{
    build_input *in = call->input;
    loci_status status = lc_call_open_counter(call, in->encoding, in->estimate, &in->counter, err);

    if (status == LOCI_OK)
        status = count_query(in, err);
    if (status == LOCI_OK)
        status = lc_fact_caller_init(&in->caller, call, NULL, err);
    if (status == LOCI_OK)
        status = lc_engine_talk(call->engine, &in->talk, err);
    if (status == LOCI_OK)
        status = lc_corpus_split(call->arena, in->query, &in->terms, err);
    if (status == LOCI_OK)
        status = lc_meaning_find(&in->meaning, call->engine, call->tenant_id, in->query,
                                 call->arena, err);
    return status;
}

/* The sessions whose messages are read: all, or the one named. The named one may have ended, or not
 * exist yet: then its name is not the id of a session, and it has no messages. */
static loci_str name_conversation(const lc_call *call, const lc_session *session)
{
    loci_str given = call->implied.session_id;

    return given.ptr != NULL && session->id.len > 0 ? session->id : given;
}

static loci_status read_pressure(lc_call *call, lc_tx *tx, lc_context_input *input, loci_error *err)
{
    lc_window window;
    bool found = false;
    loci_status status = lc_window_find(tx, call->persona_id, call->arena, &window, &found, err);

    if (status != LOCI_OK || !found)
        return status;
    input->pressure = lc_ladder_window.names[window.level];
    return lc_call_warn_of_pressure(call, tx, &window, &input->pressure_warning, err);
}

static loci_status read_ratio(const lc_call *call, lc_tx *tx, double *out, loci_error *err)
{
    const build_input *in = call->input;
    lc_model_usage usage;
    loci_status status = lc_usage_find(tx, in->model, in->counts, call->arena, &usage, err);

    *out = status == LOCI_OK ? lc_usage_ratio(&usage) : 0;
    return status;
}

/* After the build, in its snapshot. */
static loci_status prepare_to_keep(lc_call *call, lc_tx *tx, const lc_context_input *input,
                                   loci_error *err)
{
    build_input *in = call->input;
    lc_head head;
    loci_status status = lc_tx_head(tx, &head, err);

    if (status != LOCI_OK)
        return status;
    in->context = (lc_kept_context){.persona_id = call->persona_id,
                                    .session_id = input->working_id,
                                    .seq = head.seq,
                                    .budget = in->budget,
                                    .tokens = in->lines.tokens,
                                    .model = in->model,
                                    .encoding = in->counts,
                                    .request_tokens = in->lines.tokens + in->query_tokens};
    call->kept = &in->context;
    return LOCI_OK;
}

static loci_status keep_build(lc_call *call, lc_tx *tx, loci_error *err)
{
    build_input *in = call->input;
    int64_t hours = lc_settings_i64(lc_engine_settings(call->engine),
                                    &lc_setting_context_keep_hours, call->tenant_id);
    lc_id id;
    loci_status status = lc_kept_add(tx, &in->context, &in->lines, hours, &id, err);

    if (status == LOCI_OK)
        lc_buf_append_format(call->answer, ",\"context_id\":\"%s\"", id.text);
    return status;
}

static loci_status run_build(lc_call *call, lc_tx *tx, loci_error *err)
{
    build_input *in = call->input;
    lc_call_counter counter = in->counter;
    lc_session session = {0};
    lc_context_input input = {.query = in->query,
                              .terms = in->terms,
                              .vector = in->meaning.vector,
                              .asked_budget = in->budget,
                              .view = {.persona_id = call->persona_id},
                              .identity = &session.identity,
                              .talk = in->talk,
                              .counter = lc_call_counter_of(&counter),
                              .tokenizer = counter.tokenizer,
                              .encoding = counter.encoding,
                              .is_estimated = counter.is_estimated,
                              .reader_rank = -1,
                              .is_estimate_wanted = in->estimate,
                              .section_mask = in->section_mask,
                              .relevant_only = in->relevant_only,
                              .is_brief = in->brief,
                              .is_explained = in->explain,
                              .lines = in->keep ? &in->lines : NULL,
                              .format = lc_format_find(in->format),
                              .is_for_openai = lc_str_is(in->api, "openai"),
                              .without_session = in->without_session,
                              .frame_id = in->frame_id,
                              .pause = pause_build,
                              .pause_ctx = call,
                              .arena = call->arena};
    bool found = false;
    loci_status status = lc_call_find_session(call, tx, &session, &found, err);

    if (status != LOCI_OK)
        return status;
    input.conversation_id = name_conversation(call, &session);
    if (!found)
        session = (lc_session){0};
    status = lc_fact_set_scope(&in->scope, found ? &session : NULL, &input.view, err);
    if (status != LOCI_OK)
        return status;
    input.view.session_id = session.id;
    input.view.access = lc_fact_caller_access(&in->caller, &session.identity);
    input.working_id = session.id;
    if (session.identity.user_name.len > 0)
        input.reader_rank = lc_rank_in(session.identity.authority, lc_title_weight);
    status = lc_meaning_warn(&in->meaning, tx, call->arena, &input.warning, err);
    if (status == LOCI_OK && in->model.len > 0)
        status = read_ratio(call, tx, &input.tokens_ratio, err);
    input.budget = lc_context_budget(in->budget, input.tokens_ratio);
    if (status == LOCI_OK)
        status = read_pressure(call, tx, &input, err);
    if (status != LOCI_OK)
        return status;
    tx->embedding = input.vector != NULL ? &in->meaning.embedding : NULL;
    lc_jw_object(&call->out);
    status = lc_context_build(tx, &input, &call->out, err);
    lc_jw_end(&call->out);
    tx->embedding = NULL;
    if (status == LOCI_OK)
        status = lc_call_counter_status(&counter, err);
    if (status == LOCI_OK && in->keep)
        status = prepare_to_keep(call, tx, &input, err);
    if (status == LOCI_OK)
        call->wants_vectors = lc_meaning_queue_job(&in->meaning, tx) && !in->estimate;
    return status;
}

static const lc_op context_build = {
    .name = "context.build",
    .help = "Build the context for a model's answer within a budget of tokens",
    .params = build_params,
    .rules = (const lc_param_rule[]){LC_SCOPE_RULE, {LC_RULE_END, NULL}},
    .input_bytes = sizeof(build_input),
    .answer = &build_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_SESSION,
    .http = "POST /v1/context",
    .mcp = "context",
    .mcp_takes = "query budget",
    .mcp_shows = "text! ~tokens",
    .look = {.text = "text", .hidden = "request included excluded excluded_counts tokens"},
    .example = "{\"query\":\"When do we meet?\",\"budget\":500}",
    .prepare = prepare_build,
    .compute = compute_build,
    .run = run_build,
    .keep = keep_build,
};

extern const lc_op *const lc_ops_context[];
const lc_op *const lc_ops_context[] = {&fact_observe,     &context_build,     &lc_context_explain,
                                       &lc_context_check, &lc_context_diff,   &lc_context_delta,
                                       &lc_context_usage, &lc_context_models, NULL};
