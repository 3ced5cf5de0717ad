/* summary_job.c - One attempt:
 *
 *     read --nothing to summarise--> finish
 *       '--> ask the model --> check --> add and finish
 *             '--fails--> back-off, or for good: extract --> add and finish
 *
 * The messages that the job read may be forgotten or withdrawn before the summary is added: the
 * commit checks for this, and if so, the attempt reads them again.
 */
#include "engine/summary_job.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "context/summarise.h"
#include "engine/engine.h"
#include "engine/models.h"
#include "engine/settings.h"
#include "talk/talk.h"

#define ASK_US 60000000 /* All requests of one attempt together. */
#define RESULT_BYTES_MAX 512
#define READS_MAX 5 /* Of one attempt, when what was read changes meanwhile. */
#define ASKS_MAX                                                                                   \
    3 /* Attempts that ask: an extract soon is better than a model's summary much later. */

const lc_setting lc_setting_summary_use_model = {
    .name = "summary.use_model",
    .kind = LC_SETTING_BOOL,
    .default_text = "true",
    .help = "Write summaries with the chat provider, if one is configured; false: extract them "
            "from the messages",
    .is_live = true,
    .is_per_tenant = true,
};

typedef struct work {
    lc_job_run *run;
    lc_summarise_request request;
    lc_summarise_input *input;
    lc_summary summary;
    loci_status why_not_model; /* LOCI_OK = none is used, or it answered. */
    lc_arena_mark mark;        /* Before the adding. */
    bool is_malformed;         /* The model answered in another form: asking again is no use. */
    bool is_outdated;          /* Found by the commit: nothing was added. */
    lc_buf result;
} work;

static loci_status read_args(work *w, loci_error *err)
{
    const lc_json *args = NULL;
    loci_status status = lc_json_parse(w->run->arena, w->run->job.args, 0, &args, err);

    if (status != LOCI_OK)
        return status;
    w->request = (lc_summarise_request){
        .kind = lc_event_str(args, "kind"),
        .session_id = lc_event_str(args, "session_id"),
        .persona_id = lc_event_str(args, "persona_id"),
        .spine_messages = lc_settings_i64(lc_engine_settings(w->run->engine),
                                          &lc_setting_summary_spine_messages,
                                          w->run->job.tenant_id),
        .is_forced = lc_event_bool(args, "forced"),
    };
    if (!lc_str_is_choice(w->request.kind, LC_SUMMARY_KINDS))
        status = lc_fail(err, LOCI_ECORRUPT, "job %.*s names no kind of summary",
                         LC_STR_ARG(w->run->job.id));
    return status;
}

static loci_status read_sources(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;

    tx->tenant_id = w->run->job.tenant_id;
    tx->user_id = w->run->job.user_id;
    return lc_summarise_read(tx, &w->request, w->run->arena, w->input, err);
}

/* lc_model_use.pause, called while the provider is waited for. */
static loci_status keep(void *ctx, loci_error *err)
{
    work *w = ctx;

    return lc_job_run_keep(w->run, &(lc_job_progress){0}, err);
}

static loci_status ask(work *w, loci_error *err)
{
    lc_arena *arena = w->run->arena;
    lc_model_use use = {.tenant_id = w->run->job.tenant_id,
                        .arena = arena,
                        .deadline_us = lc_clock_monotonic_us() + ASK_US,
                        .pause = keep,
                        .pause_ctx = w};
    lc_chat chat;
    lc_chat_reply reply = {.json = NULL};
    loci_status status = lc_summarise_ask(w->input, arena, &chat, err);

    if (status == LOCI_OK)
        status = lc_models_chat(lc_engine_models(w->run->engine), &use, &chat, &reply, err);
    if (status != LOCI_OK)
        return status;
    status = lc_summarise_check(w->input, reply.json, arena, &w->summary, err);
    w->is_malformed = status == LOCI_EUNAVAILABLE;
    return status;
}

static loci_status extract(work *w, loci_error *err)
{
    const lc_talk *talk;
    loci_status status = lc_engine_talk(w->run->engine, &talk, err);

    if (status == LOCI_OK)
        status = lc_summarise_extract(w->input, lc_talk_lexicon(talk), w->run->arena, &w->summary,
                                      err);
    if (status == LOCI_OK && w->why_not_model != LOCI_OK)
        w->summary.error = loci_str_of(loci_status_name(w->why_not_model));
    return status;
}

/* Whether asking again may help. Without threads another attempt would wait for the next job. */
static bool may_pass(const work *w, loci_status status)
{
    return !w->is_malformed && !lc_engine_is_inline(w->run->engine) &&
           w->run->job.attempts < ASKS_MAX &&
           (status == LOCI_EUNAVAILABLE || status == LOCI_EDEADLINE || status == LOCI_ERESOURCE);
}

static bool uses_model(const work *w)
{
    loci_engine *engine = w->run->engine;

    return lc_models_has_chat(lc_engine_models(engine)) &&
           lc_settings_bool(lc_engine_settings(engine), &lc_setting_summary_use_model,
                            w->run->job.tenant_id);
}

/* Asks the model, or finds that the extract has to do. */
static loci_status summarise(work *w, loci_error *err)
{
    loci_error why = {.status = LOCI_OK};
    loci_status status;

    if (!uses_model(w) || w->why_not_model != LOCI_OK)
        return extract(w, err);
    status = ask(w, &why);
    if (status == LOCI_OK)
        return LOCI_OK;
    if (w->run->verdict != LOCI_OK || may_pass(w, status)) {
        if (err != NULL)
            *err = why;
        return status;
    }
    w->why_not_model = status;
    return extract(w, err);
}

static void put_result(work *w, bool is_made)
{
    lc_json_writer out;

    lc_buf_reset(&w->result);
    lc_jw_init(&out, &w->result);
    lc_jw_object(&out);
    lc_jw_member_bool(&out, "made", is_made);
    if (is_made)
        lc_jw_member_str(&out, "method", w->summary.method);
    lc_jw_end(&out);
}

static loci_status add(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;
    lc_summary summary = w->summary;
    lc_id id;
    bool is_current = false;
    loci_status status;

    lc_arena_rewind(w->run->arena, w->mark); /* It may run again. */
    status = lc_summarise_is_current(tx, w->input, w->run->arena, &is_current, err);
    w->is_outdated = !is_current;
    if (status != LOCI_OK)
        return status;
    if (!is_current)
        return lc_fail(err, LOCI_ECONFLICT, "what was summarised has changed");
    return lc_summary_add(tx, &summary, &id, err);
}

static loci_status read_input(work *w, loci_error *err)
{
    return lc_engine_read(w->run->engine,
                          &(lc_read){.tenant_id = w->run->job.tenant_id,
                                     .user_id = w->run->job.user_id,
                                     .deadline_us = INT64_MAX,
                                     .body = read_sources,
                                     .ctx = w},
                          err);
}

static loci_status make(work *w, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (int reads = 0; reads < READS_MAX; reads++) {
        w->is_outdated = false;
        status = read_input(w, err);
        if (status == LOCI_OK && !w->input->is_due) {
            put_result(w, false);
            return lc_job_run_finish(w->run, NULL, NULL, lc_buf_str(&w->result), err);
        }
        if (status == LOCI_OK)
            status = summarise(w, err);
        if (status != LOCI_OK)
            return status;
        w->mark = lc_arena_get_mark(w->run->arena);
        put_result(w, true);
        status = lc_job_run_finish(w->run, add, w, lc_buf_str(&w->result), err);
        if (!w->is_outdated)
            return status;
    }
    return status;
}

static loci_status run_make(lc_job_run *run, loci_error *err)
{
    work w = {.run = run, .input = lc_arena_zalloc_array(run->arena, 1, sizeof *w.input)};
    loci_status status = w.input != NULL ? read_args(&w, err) : lc_fail_memory(err);

    lc_buf_init(&w.result, &lc_engine_env(run->engine)->heap, LOCI_MEM_PIPELINES, RESULT_BYTES_MAX);
    if (status == LOCI_OK)
        status = make(&w, err);
    lc_buf_clear(&w.result);
    return status;
}

const lc_job_kind lc_job_summary_make = {
    .name = LC_JOB_SUMMARY_MAKE,
    .help = "Summarise a session, or what is known about a user",
    .run = run_make,
    .asks_outside = true,
};
