/* extraction.c - One attempt: read the message on a snapshot, ask the model outside of any
 * transaction, write the facts, finish.
 *
 *     read --message is gone--> finish (none)
 *       '--> ask --> check --> write, with the result as checkpoint --> finish (model)
 *             '--fails--> back-off, or for good: write the rules' facts --> finish (rules)
 *
 * The facts and the checkpoint are one commit, which begins with the check of the lease's epoch. An
 * attempt that finds a checkpoint only finishes. So the facts are written exactly once in spite of
 * crashes.
 *
 * args {message_id, seq, session_id, persona_id?, one_session, owner, known_only, authority, rank,
 * authority_given, trust, read_rank, permissions?, permissions_max?}: which message, and what its
 * speaker could change and see. The rank is kept beside the word because a later change of titles
 * must not raise it.
 */
#include "engine/extraction.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "context/extract.h"
#include "context/judge.h"
#include "engine/engine.h"
#include "engine/models.h"

#define ASK_US 60000000 /* All requests of one attempt together. */
#define RESULT_BYTES_MAX 4096
/* Behind the jobs that a caller waits for: a provider that is down delays thousands of these. */
#define PRIORITY (-100)
#define TOKENS_MAX 2048 /* Five proposals with their quotes. */
#define ASKS_MAX 5      /* Attempts that ask; then the rules are used. */
/* Far more than ASKS_MAX, because a worker that was killed also used up an attempt: a message must
 * not lose its facts because the daemon was restarted a few times while the provider was slow. */
#define ATTEMPTS_MAX 100

const lc_setting lc_setting_extract_enabled = {
    .name = "extract.enabled",
    .kind = LC_SETTING_BOOL,
    .default_text = "true",
    .help = "Extract facts from messages of fact.observe with the chat provider, if one is"
            " configured; false: with the built-in rules only",
    .is_live = true,
    .is_per_tenant = true,
};

const lc_setting lc_setting_judge_enabled = {
    .name = "judge.enabled",
    .kind = LC_SETTING_BOOL,
    .default_text = "true",
    .help = "Learn memories, todos and facts from messages of the user (session.append,"
            " fact.observe); false: messages are stored, and fact.observe changes facts only",
    .is_live = true,
    .is_per_tenant = true,
};

static bool is_enabled(loci_engine *engine, loci_str tenant_id)
{
    return lc_settings_bool(lc_engine_settings(engine), &lc_setting_extract_enabled, tenant_id);
}

bool lc_extraction_is_on(loci_engine *engine, loci_str tenant_id)
{
    return is_enabled(engine, tenant_id) && lc_models_has_chat(lc_engine_models(engine));
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static void put_raw(lc_json_writer *out, const char *name, loci_str json)
{
    if (json.len > 0)
        lc_jw_member_raw(out, name, json);
}

static void put_args(const lc_observation *o, lc_json_writer *out)
{
    lc_jw_object(out);
    lc_jw_member_str(out, "message_id", o->message.id);
    lc_jw_member_int(out, "seq", o->message.seq);
    lc_jw_member_str(out, "session_id", o->message.session_id);
    if (o->message.persona_id.len > 0)
        lc_jw_member_str(out, "persona_id", o->message.persona_id);
    lc_jw_member_bool(out, "one_session", o->is_one_session);
    lc_jw_member_bool(out, "owner", lc_observation_is_owner(o));
    lc_jw_member_bool(out, "known_only", o->is_known_only);
    lc_jw_member_str(out, "authority", o->authority.name);
    lc_jw_member_int(out, "rank", o->authority.rank);
    lc_jw_member_bool(out, "authority_given", o->is_authority_given);
    lc_jw_member_str(out, "trust", o->trust);
    lc_jw_member_int(out, "read_rank", o->view.access.rank);
    put_raw(out, "permissions", o->view.access.permissions);
    put_raw(out, "permissions_max", o->view.access.permissions_max);
    lc_jw_end(out);
}

loci_status lc_extraction_enqueue(lc_tx *tx, const lc_observation *observation, lc_id *out,
                                  loci_error *err)
{
    lc_json_writer json;
    lc_buf args;
    loci_status status;

    lc_buf_init(&args, &tx->db->env->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&json, &args);
    put_args(observation, &json);
    status = lc_buf_status(&args, err);
    if (status == LOCI_OK)
        status = lc_job_enqueue(tx,
                                &(lc_job_new){.kind = loci_str_of(lc_job_extract.name),
                                              .priority = PRIORITY,
                                              .attempts_max = ATTEMPTS_MAX,
                                              .args = lc_buf_str(&args)},
                                out, err);
    lc_buf_clear(&args);
    return status;
}

/* One attempt. */
typedef struct work {
    lc_job_run *run;
    lc_observation observation;
    lc_extract_input *input;
    lc_extract_list proposals;
    bool uses_rules;
    lc_arena_mark mark; /* Before the writing. */
    lc_buf result;
    lc_job_progress progress; /* The commit that writes the facts sets its checkpoint. */
} work;

static loci_status read_args(work *w, loci_error *err)
{
    lc_observation *o = &w->observation;
    lc_arena *arena = w->run->arena;
    const lc_json *args = NULL;
    loci_status status = lc_json_parse(arena, w->run->job.args, 0, &args, err);

    if (status != LOCI_OK)
        return status;
    *o = (lc_observation){
        .message = {.id = lc_event_str(args, "message_id"),
                    .seq = lc_event_int(args, "seq", 0),
                    .session_id = lc_event_str(args, "session_id"),
                    .persona_id = lc_event_str(args, "persona_id")},
        .view = {.persona_id = lc_event_str(args, "persona_id"),
                 .access = {.rank = (int)lc_event_int(args, "read_rank", 0)}},
        .authority = {lc_event_str(args, "authority"), (int)lc_event_int(args, "rank", 0)},
        .is_authority_given = lc_event_bool(args, "authority_given"),
        .trust = lc_event_str(args, "trust"),
        .is_one_session = lc_event_bool(args, "one_session"),
        .is_owner = lc_event_bool(args, "owner"),
        .is_known_only = lc_event_bool(args, "known_only"),
        .arena = arena,
    };
    status = lc_event_raw(args, "permissions", arena, &o->view.access.permissions, err);
    if (status == LOCI_OK)
        status = lc_event_raw(args, "permissions_max", arena, &o->view.access.permissions_max, err);
    if (status == LOCI_OK && (o->message.id.len == 0 || o->trust.len == 0))
        status = lc_fail(err, LOCI_ECORRUPT, "job %.*s names no message or no trust",
                         LC_STR_ARG(w->run->job.id));
    return status;
}

/* ---- Reading and asking ---------------------------------------------------------------------- */

static loci_status read_input(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;

    tx->tenant_id = w->run->job.tenant_id;
    tx->user_id = w->run->job.user_id;
    return lc_extract_read(tx, &w->observation, w->input, err);
}

/* lc_model_use.pause, called while the provider is waited for. */
static loci_status keep(void *ctx, loci_error *err)
{
    work *w = ctx;

    return lc_job_run_keep(w->run, &w->progress, err);
}

static loci_status ask(work *w, loci_error *err)
{
    lc_arena *arena = w->run->arena;
    lc_model_use use = {.tenant_id = w->run->job.tenant_id,
                        .arena = arena,
                        .deadline_us = lc_clock_monotonic_us() + ASK_US,
                        .pause = keep,
                        .pause_ctx = w};
    lc_chat chat = {.system = loci_str_of(lc_extract_instructions),
                    .name = "proposals",
                    .schema = loci_str_of(lc_extract_schema),
                    .tokens_max = TOKENS_MAX};
    lc_models *models = lc_engine_models(w->run->engine);
    lc_chat_reply reply = {.json = NULL};
    loci_status status;

    /* A worker in another process may have a provider: a daemon beside a program without its
     * settings. */
    if (!lc_models_has_chat(models))
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "no chat provider is configured in the process that ran this job");
    status = lc_extract_ask(w->input, arena, &chat.user, err);
    if (status == LOCI_OK)
        status = lc_models_chat(models, &use, &chat, &reply, err);
    if (status == LOCI_OK)
        status = lc_extract_check(arena, reply.json, w->input, &w->proposals, err);
    return status;
}

/* Whether another attempt follows in which the model may answer. */
static bool may_pass(const work *w, loci_status status)
{
    return w->run->job.attempts < ASKS_MAX &&
           (status == LOCI_EUNAVAILABLE || status == LOCI_EDEADLINE || status == LOCI_ERESOURCE);
}

/* Asks the model, or decides that the rules are used instead. */
static loci_status find_facts(work *w, loci_error *err)
{
    const lc_job *job = &w->run->job;
    loci_error why = {.status = LOCI_OK};
    loci_status status;

    w->uses_rules = !is_enabled(w->run->engine, job->tenant_id);
    status = w->uses_rules ? LOCI_OK : ask(w, &why);
    if (status != LOCI_OK && w->run->verdict == LOCI_OK && !may_pass(w, status))
        w->uses_rules = true;
    else if (status != LOCI_OK && err != NULL)
        *err = why;
    return w->uses_rules || status == LOCI_OK
               ? lc_engine_talk(w->run->engine, &w->observation.talk, err)
               : status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void put_outcome(lc_json_writer *out, const lc_fact_result *result)
{
    lc_jw_object(out);
    lc_jw_member_text(out, "id", result->id.text);
    lc_jw_member_text(out, "outcome", lc_fact_outcome_name(result->outcome));
    lc_jw_end(out);
}

static void put_learned(lc_json_writer *out, const lc_learned_list *learned)
{
    for (size_t i = 0; i < learned->count; i++) {
        lc_jw_object(out);
        lc_jw_member_text(out, "id", learned->items[i].id.text);
        lc_jw_member_text(out, "outcome", learned->items[i].outcome);
        lc_jw_end(out);
    }
}

/* Memories, todos and proposals, found by the model or by the rules. */
static loci_status write_lessons(const work *w, const lc_observation *o, lc_tx *tx,
                                 const lc_observed *observed, lc_learned_list *out, loci_error *err)
{
    lc_lessons lessons = w->proposals.lessons;
    lc_judge_reading reading;
    loci_status status = LOCI_OK;

    if (!lc_settings_bool(lc_engine_settings(w->run->engine), &lc_setting_judge_enabled,
                          w->run->job.tenant_id))
        return LOCI_OK;
    if (w->uses_rules) {
        status = lc_judge_read(o->talk, o->arena, o->message.text, &reading, err);
        return status == LOCI_OK
                   ? lc_judge_write_lessons(tx, o, reading.lessons, observed, out, err)
                   : status;
    }
    for (size_t i = 0; i < lessons.count && status == LOCI_OK; i++)
        status = lc_observation_terms(o->talk, o->arena, lessons.items[i].quote,
                                      &lessons.items[i].when, err);
    return status == LOCI_OK ? lc_judge_write_lessons(tx, o, &lessons, observed, out, err) : status;
}

static loci_status apply(const work *w, const lc_observation *o, lc_tx *tx, lc_json_writer *out,
                         loci_error *err)
{
    lc_extract_outcomes outcomes = {.count = 0};
    lc_observed observed = {.count = 0};
    lc_learned_list learned = {.count = 0};
    loci_status status = w->uses_rules ? lc_context_apply_rules(tx, o, &observed, err)
                                       : lc_extract_write(tx, o, &w->proposals, &outcomes, err);

    if (status == LOCI_OK)
        status = write_lessons(w, o, tx, &observed, &learned, err);
    if (status == LOCI_OK)
        put_learned(out, &learned);

    for (size_t i = 0; i < observed.count && status == LOCI_OK; i++)
        put_outcome(out, &observed.facts[i].result);
    for (size_t i = 0; i < outcomes.count && status == LOCI_OK; i++)
        put_outcome(out, &outcomes.results[i]);
    return status;
}

/* The facts, and the job's result as its checkpoint. The message is read again: it may have been
 * erased while the provider was asked. */
static loci_status write_facts(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;
    lc_observation stored = w->observation;
    lc_json_writer out;
    bool is_gone;
    loci_status status;

    lc_arena_rewind(w->run->arena, w->mark); /* It may run again. */
    status = lc_extract_find_message(tx, &w->observation, &stored.message, err);
    is_gone = stored.message.id.len == 0;
    lc_buf_reset(&w->result);
    lc_jw_init(&out, &w->result);
    lc_jw_object(&out);
    lc_jw_member_text(&out, "method", is_gone ? "none" : w->uses_rules ? "rules" : "model");
    lc_jw_name(&out, "outcomes");
    lc_jw_array(&out);
    if (status == LOCI_OK && !is_gone)
        status = apply(w, &stored, tx, &out, err);
    lc_jw_end(&out);
    lc_jw_member_int(&out, "refused", (int64_t)w->proposals.refused);
    lc_jw_end(&out);
    w->progress.checkpoint = lc_buf_str(&w->result);
    return status == LOCI_OK ? lc_buf_status(&w->result, err) : status;
}

static loci_status run_work(work *w, loci_error *err)
{
    lc_job_run *run = w->run;
    loci_status status = read_args(w, err);

    if (status == LOCI_OK)
        status = lc_engine_read(run->engine,
                                &(lc_read){.tenant_id = run->job.tenant_id,
                                           .user_id = run->job.user_id,
                                           .deadline_us = INT64_MAX,
                                           .body = read_input,
                                           .ctx = w},
                                err);
    if (status == LOCI_OK && w->input->message.id.len > 0)
        status = find_facts(w, err);
    if (status != LOCI_OK)
        return status;
    w->mark = lc_arena_get_mark(run->arena);
    return lc_job_run_commit(run, write_facts, w, &w->progress, err);
}

static loci_status run_extract(lc_job_run *run, loci_error *err)
{
    work w = {.run = run, .input = lc_arena_zalloc_array(run->arena, 1, sizeof *w.input)};
    loci_str result = run->job.checkpoint; /* Of an attempt that did not finish. */
    loci_status status = w.input != NULL ? LOCI_OK : lc_fail_memory(err);

    lc_buf_init(&w.result, &lc_engine_env(run->engine)->heap, LOCI_MEM_PIPELINES, RESULT_BYTES_MAX);
    if (status == LOCI_OK && result.len == 0) {
        status = run_work(&w, err);
        result = lc_buf_str(&w.result);
    }
    if (status == LOCI_OK)
        status = lc_job_run_finish(run, NULL, NULL, result, err);
    lc_buf_clear(&w.result);
    return status;
}

const lc_job_kind lc_job_extract = {
    .name = "fact.extract",
    .help = "Extract facts from a message with the chat provider, or with the rules if it does not "
            "answer",
    .run = run_extract,
    .asks_outside = true,
};
