/* op_job.c - job.list, job.get and job.cancel.
 *
 * A job belongs to the user whose call caused it and is shown to that user only, and not to a
 * caller that is narrowed to one persona: it works for all of them. The store's own jobs have no
 * owner (tenant and user are empty): `scope` "store" shows those, to admins.
 */
#include "ops/op_job.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/job_kind.h"
#include "ops/page.h"
#include "store/event.h"
#include "store/store_room.h"

#define POLL_US 20000
#define ANSWER_US_MAX 1000000 /* Before its deadline: an answer at the deadline comes too late. */
#define ENQUEUE_MS 10000
#define STATUSES "queued|running|done|failed|cancelled"

#define SCOPE_PARAM(T)                                                                             \
    {                                                                                              \
        LC_ARG_STR("scope", T, scope), .default_text = "\"user\"", .choices = "user|store",        \
                                       .help = "Owner of the jobs: user, or store (admins only)"   \
    }

/* The record that lc_job_write() writes. */
static const lc_record job_error_record = {.row = &lc_job_row, .group = "error"};

static const lc_record progress_record = {.row = &lc_job_row, .group = "progress"};

static const lc_record job_record = {
    .name = "Job",
    .row = &lc_job_row,
    .members =
        (const lc_result[]){
            {"error", 0, "Error of the last failed attempt; null if none failed",
             LC_RESULT_NULLABLE, .record = &job_error_record},
            {"progress", 0, "Progress of the current attempt", .record = &progress_record},
            {NULL},
        },
};

/* The owner that `scope` names. */
static loci_status find_owner(const lc_call *call, loci_str scope, lc_job_key *out, loci_error *err)
{
    if (!lc_str_is(scope, "store")) {
        *out = (lc_job_key){.tenant_id = call->tenant_id, .user_id = call->user_id};
        return LOCI_OK;
    }
    if (!call->is_admin)
        return lc_fail(err, LOCI_EFORBIDDEN, "scope \"store\" needs an admin");
    *out = (lc_job_key){.tenant_id = LC_STR(""), .user_id = LC_STR("")};
    return LOCI_OK;
}

/* ---- job.list ------------------------------------------------------------------------------- */

typedef struct list_input {
    loci_str scope;
    loci_str status;
    loci_str kind;
    lc_page_args page;
} list_input;

static const lc_param list_params[] = {
    SCOPE_PARAM(list_input),
    {LC_ARG_STR("status", list_input, status), .choices = STATUSES,
     .help = "Only jobs with this status"},
    {LC_ARG_STR("kind", list_input, kind), .min = 1, .max = LC_ID_BYTES_MAX,
     .help = "Only jobs of this kind"},
    LC_PAGE_PARAMS(list_input, page),
    {.name = NULL},
};

static const lc_record list_answer = {
    .members =
        (const lc_result[]){
            {"jobs", 0, "Jobs, newest first", LC_RESULT_LIST, .record = &job_record},
            LC_PAGE_RESULT,
            {NULL},
        },
};

typedef struct listing {
    lc_page page;
    lc_name_position at;
} listing;

static loci_status list_one(void *ctx, const lc_job *job, loci_error *err)
{
    listing *l = ctx;

    if (!lc_page_takes(&l->page))
        return LOCI_OK;
    lc_job_write(&l->page.call->out, job);
    l->at.name = lc_arena_copy(l->page.call->arena, job->id);
    return l->at.name.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status run_list(lc_call *call, lc_tx *tx, loci_error *err)
{
    const list_input *in = call->input;
    lc_job_filter filter = {.kind = in->kind, .status = -1, .limit = in->page.limit + 1};
    listing l = {.page = {call, &lc_position_by_name, &l.at}};
    lc_job_status wanted;
    lc_job_key owner;
    loci_status status = find_owner(call, in->scope, &owner, err);

    if (status == LOCI_OK)
        status = lc_page_begin(&l.page, &in->page, err);
    if (status != LOCI_OK)
        return status;
    filter.tenant_id = owner.tenant_id;
    filter.user_id = owner.user_id;
    filter.before_id = l.at.name;
    if (lc_job_status_find(in->status, &wanted))
        filter.status = (int)wanted;

    lc_page_open(&l.page, "jobs");
    status = lc_job_each(tx, &filter, list_one, &l, err);
    lc_page_close(&l.page);
    return status;
}

static const lc_op op_list = {
    .name = "job.list",
    .help = "List jobs, newest first",
    .params = list_params,
    .input_bytes = sizeof(list_input),
    .answer = &list_answer,
    .cost = LC_COST_WORK,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_WHOLE_USER,
    .http = "GET /v1/jobs",
    .look = {.columns = "kind status progress error created_at id"},
    .example = "{\"status\":\"failed\",\"limit\":10}",
    .run = run_list,
};

/* ---- job.get -------------------------------------------------------------------------------- */

typedef struct one_input {
    loci_str id;
    loci_str scope;
} one_input;

static const lc_param one_params[] = {
    LC_ID_PARAM(one_input, id, "Id of the job, job_…"),
    SCOPE_PARAM(one_input),
    {.name = NULL},
};

/* Shows the job; with `cancels`, after it was asked to stop. */
static loci_status answer_job(lc_call *call, lc_tx *tx, bool cancels, loci_error *err)
{
    const one_input *in = call->input;
    lc_job_key key;
    lc_job job;
    loci_status status = find_owner(call, in->scope, &key, err);

    key.id = in->id;
    if (status == LOCI_OK && cancels)
        status = lc_job_request_cancel(tx, &key, err);
    if (status == LOCI_OK)
        status = lc_job_load(tx, &key, call->arena, &job, err);
    if (status == LOCI_OK)
        lc_job_write(&call->out, &job);
    return status;
}

static loci_status run_get(lc_call *call, lc_tx *tx, loci_error *err)
{
    return answer_job(call, tx, false, err);
}

static const lc_op op_get = {
    .name = "job.get",
    .help = "Return one job: its progress, its result or the reason of its failure",
    .params = one_params,
    .input_bytes = sizeof(one_input),
    .answer = &job_record,
    .cost = LC_COST_POINT,
    .flags = LC_OP_USER | LC_OP_IDEMPOTENT | LC_OP_WHOLE_USER,
    .http = "GET /v1/jobs/{id}",
    .example = "{\"id\":\"job_01JCQ5Z8G00000000G00000000\"}",
    .run = run_get,
};

/* ---- job.cancel ----------------------------------------------------------------------------- */

static loci_status run_cancel(lc_call *call, lc_tx *tx, loci_error *err)
{
    return answer_job(call, tx, true, err);
}

static const lc_op op_cancel = {
    .name = "job.cancel",
    .help = "Cancel a job; a running job ends at its next pause point",
    .params = one_params,
    .input_bytes = sizeof(one_input),
    .answer = &job_record,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_USER | LC_OP_MUTATES | LC_OP_WHOLE_USER | LC_OP_DESTROYS,
    .http = "POST /v1/jobs/{id}/cancel",
    .look = {.sentence = "{status running=cancelling} {kind}  ({id})"},
    .example = "{\"id\":\"job_01JCQ5Z8G00000000G00000000\"}",
    .run = run_cancel,
};

/* ---- Operations that are a job --------------------------------------------------------------- */

typedef struct waiting {
    lc_call *call;
    const lc_job_start *start;
    lc_id id;
    lc_job job;
} waiting;

static lc_job_key key_of(const waiting *w)
{
    return (lc_job_key){
        .tenant_id = w->start->tenant_id, .user_id = w->start->user_id, .id = lc_id_str(&w->id)};
}

/* Whether an earlier call with this request_id started a job: w->id is its id then. A job that
 * failed or was cancelled does not count, since the answer of its call was an error: a repeat of
 * the call tries again. */
static loci_status find_started(waiting *w, lc_tx *tx, bool *out, loci_error *err)
{
    lc_call *call = w->call;
    loci_str stored, id;
    lc_job_key key;
    lc_job job;
    loci_status status = lc_request_find(tx, call->request, call->arena, &stored, out, err);

    if (status != LOCI_OK || !*out)
        return status;
    id = (loci_str){stored.ptr + 1, stored.len < 2 ? 0 : stored.len - 2}; /* Without quotes. */
    if (!lc_id_is(id, "job"))
        return lc_fail(err, LOCI_ECORRUPT, "request_id %.*s: the stored answer names no job",
                       LC_STR_ARG(call->request->request_id));
    memcpy(w->id.text, id.ptr, id.len);
    w->id.text[id.len] = '\0';
    key = key_of(w);
    status = lc_job_load(tx, &key, call->arena, &job, err);
    if (status == LOCI_ENOTFOUND)
        return lc_fail(err, LOCI_ECONFLICT,
                       "request_id %.*s was used for job %s, whose record was deleted; it is not "
                       "run again: use a new one",
                       LC_STR_ARG(call->request->request_id), w->id.text);
    if (status == LOCI_OK)
        *out = job.status != LC_JOB_FAILED && job.status != LC_JOB_CANCELLED;
    return status;
}

/* Stores the id of the job, as a JSON string, for a repeat of the request. */
static loci_status store_started(const waiting *w, lc_tx *tx, loci_error *err)
{
    char text[LC_ID_TEXT_BYTES + 2];
    int len = snprintf(text, sizeof text, "\"%s\"", w->id.text);

    return lc_request_store(tx, w->call->request, (loci_str){text, (size_t)len}, err);
}

/* Adds the job of the call, or finds the one of its unique name, which must be the same. */
static loci_status add_job(waiting *w, lc_tx *tx, loci_error *err)
{
    const lc_job_new *job = w->start->job;
    lc_job_key key;
    lc_job active;
    loci_status status = lc_job_enqueue(tx, job, &w->id, err);

    if (status != LOCI_OK || job->unique.len == 0)
        return status;
    key = key_of(w);
    status = lc_job_load(tx, &key, w->call->arena, &active, err);
    if (status == LOCI_OK && !lc_str_eq(active.args, job->args))
        status = lc_fail(err, LOCI_ECONFLICT,
                         "%s is %s with other arguments (%.*s): wait for it or cancel it",
                         w->id.text, lc_job_status_name(active.status), LC_STR_ARG(active.args));
    return status;
}

static loci_status start_job(lc_tx *tx, void *ctx, loci_error *err)
{
    waiting *w = ctx;
    lc_call *call = w->call;
    int64_t expected_seq = call->implied.expected_seq;
    bool is_started = false;
    loci_status status = LOCI_OK;

    if (call->request != NULL)
        status = find_started(w, tx, &is_started, err);
    call->is_replayed = is_started;
    if (status != LOCI_OK || is_started)
        return status;
    if (w->start->user_id.len > 0 && expected_seq != LC_ABSENT)
        status = lc_tx_expect_seq(tx, expected_seq, err);
    if (status == LOCI_OK)
        status = w->start->job != NULL ? add_job(w, tx, err) : w->start->enqueue(tx, &w->id, err);
    if (status == LOCI_OK && call->request != NULL)
        status = store_started(w, tx, err);
    return status;
}

static loci_status load(lc_tx *tx, void *ctx, loci_error *err)
{
    waiting *w = ctx;
    lc_job_key key = key_of(w);

    return lc_job_load(tx, &key, w->call->arena, &w->job, err);
}

/* Monotonic: when the call should be answered although the job has not ended. */
static int64_t answer_due_us(const lc_call *call)
{
    int64_t left_us = call->deadline_us - lc_clock_monotonic_us();

    if (call->deadline_us <= 0)
        return INT64_MAX;
    return call->deadline_us - (left_us / 2 < ANSWER_US_MAX ? left_us / 2 : ANSWER_US_MAX);
}

static loci_status wait_for_job(waiting *w, bool wait, loci_error *err)
{
    lc_call *call = w->call;
    int64_t due_us = answer_due_us(call);
    lc_arena_mark mark = lc_arena_get_mark(call->arena);
    loci_status status = LOCI_OK, ran = LOCI_OK;
    loci_error cause;

    if (!lc_engine_is_inline(call->engine)) {
        lc_engine_wake_workers(call->engine);
    } else if (wait) {
        ran = lc_engine_run_jobs(call->engine, INT64_MAX, &cause);
        wait = false; /* No other thread runs jobs. */
    }
    while (status == LOCI_OK) {
        lc_arena_rewind(call->arena, mark);
        status = lc_engine_read(call->engine,
                                &(lc_read){.deadline_us = INT64_MAX, .body = load, .ctx = w}, err);
        if (status != LOCI_OK || !wait || lc_job_status_is_ended(w->job.status) ||
            lc_clock_monotonic_us() >= due_us)
            break;
        status = lc_call_progress(call, w->start->unit, w->job.progress_done, w->job.progress_total,
                                  err);
        lc_clock_sleep_us(POLL_US);
    }
    /* A job that ended counts, also if the store failed in another one behind it. */
    if (ran != LOCI_OK && (status != LOCI_OK || !lc_job_status_is_ended(w->job.status))) {
        status = ran;
        if (err != NULL)
            *err = cause;
    }
    return status;
}

/* With `names_job` false the call does not look like one that is a job. */
static loci_status fail_as_job(const lc_job *job, bool names_job, loci_error *err)
{
    loci_status status = LOCI_EINTERNAL;

    if (job->status == LC_JOB_CANCELLED)
        return lc_fail(err, LOCI_ECANCELLED, "job %.*s was cancelled", LC_STR_ARG(job->id));
    (void)lc_status_find(job->error_code, &status); /* A code of a newer loci is internal here. */
    if (!names_job)
        return lc_fail(err, status, "%.*s", LC_STR_ARG(job->error_message));
    return lc_fail(err, status, "job %.*s failed: %.*s", LC_STR_ARG(job->id),
                   LC_STR_ARG(job->error_message));
}

static void write_answer(const lc_job *job, lc_json_writer *out)
{
    lc_jw_object(out);
    lc_jw_member_str(out, "job_id", job->id);
    lc_jw_member_text(out, "status", lc_job_status_name(job->status));
    if (job->result.ptr != NULL)
        lc_jw_member_raw(out, "result", job->result);
    lc_jw_end(out);
}

loci_status lc_job_start_run(lc_call *call, const lc_job_start *start, loci_error *err)
{
    waiting w = {.call = call, .start = start};
    lc_write write = {.tenant_id = start->tenant_id,
                      .user_id = start->user_id,
                      .now_us = call->now_us,
                      .deadline_us = lc_clock_monotonic_us() + ENQUEUE_MS * 1000,
                      .body = start_job,
                      .ctx = &w};
    loci_status status = lc_engine_write(call->engine, &write);

    if (status != LOCI_OK) {
        if (err != NULL)
            *err = write.error;
        return status;
    }
    status = wait_for_job(&w, start->waits, err);
    if (status == LOCI_OK && (w.job.status == LC_JOB_FAILED || w.job.status == LC_JOB_CANCELLED))
        status = fail_as_job(&w.job, start->answer == NULL, err);
    if (status == LOCI_OK && start->answer != NULL)
        return start->answer(call, &w.job, err);
    if (status == LOCI_OK)
        write_answer(&w.job, &call->out);
    return status;
}

extern const lc_op *const lc_ops_job[];
const lc_op *const lc_ops_job[] = {&op_list, &op_get, &op_cancel, NULL};
