/* op_store_rebuild.c - store.rebuild: a durable job and somebody who waits for it. A caller who
 * goes away does not end it. */
#include "ops/op_store.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/job_rebuild.h"

#define POLL_US 20000
#define ENQUEUE_MS 10000

static const lc_param rebuild_params[] = {
    {.name = "wait",
     .kind = LC_PARAM_BOOL,
     .default_text = "true",
     .help = "Answer when it is over, or at the call's deadline; else at once"},
    {.name = NULL},
};

static const lc_result rebuild_results[] = {
    {"job_id", LC_PARAM_STRING, "The job that does it: see job.get with scope \"store\""},
    {"status", LC_PARAM_STRING, "done; or queued or running when it was not waited for"},
    {"result", LC_PARAM_OBJECT,
     "When done: events, equal (whether the projections are what they were; "
     "null = not comparable), differences, tables, users_skipped"},
    {NULL, LC_PARAM_ANY, NULL},
};

typedef struct rebuild_wait {
    lc_call *call;
    lc_id id;
    lc_job job;
} rebuild_wait;

static loci_status enqueue(lc_tx *tx, void *ctx, loci_error *err)
{
    rebuild_wait *w = ctx;

    return lc_job_enqueue(
        tx, &(lc_job_new){.kind = loci_str_of(lc_job_rebuild.name), .unique = LC_STR("rebuild")},
        &w->id, err);
}

static loci_status load(lc_tx *tx, void *ctx, loci_error *err)
{
    rebuild_wait *w = ctx;

    return lc_job_load(
        tx, &(lc_job_key){.tenant_id = LC_STR(""), .user_id = LC_STR(""), .id = lc_id_str(&w->id)},
        w->call->arena, &w->job, err);
}

/* Waits for the job's end or the call's deadline, whichever comes first. */
static loci_status wait_for_job(rebuild_wait *w, bool wait, loci_error *err)
{
    lc_call *call = w->call;
    lc_arena_mark mark = lc_arena_get_mark(call->arena);
    loci_status status = LOCI_OK;

    if (!lc_engine_is_inline(call->engine))
        lc_engine_wake_workers(call->engine);
    else if (wait)
        status = lc_engine_run_jobs(call->engine, err);
    while (status == LOCI_OK) {
        lc_arena_rewind(call->arena, mark);
        status = lc_engine_read(call->engine, INT64_MAX, load, w, err);
        if (status != LOCI_OK || !wait || lc_job_status_is_ended(w->job.status) ||
            lc_call_pause_point(call, NULL) == LOCI_EDEADLINE)
            break;
        status = lc_call_progress(call, "events replayed", w->job.progress_done,
                                  w->job.progress_total, err);
        lc_clock_sleep_us(POLL_US);
    }
    return status;
}

static loci_status fail_as_job(const lc_job *job, loci_error *err)
{
    loci_status status = LOCI_EINTERNAL;

    if (job->status == LC_JOB_CANCELLED)
        return lc_fail(err, LOCI_ECANCELLED, "job %.*s was cancelled", LC_STR_ARG(job->id));
    (void)lc_status_find(job->error_code, &status); /* A code of a newer loci is internal here. */
    return lc_fail(err, status, "job %.*s failed: %.*s", LC_STR_ARG(job->id),
                   LC_STR_ARG(job->error_message));
}

static loci_status run_rebuild(lc_call *call, loci_error *err)
{
    rebuild_wait w = {.call = call};
    lc_write write = {.tenant_id = LC_STR(""),
                      .user_id = LC_STR(""),
                      .now_us = call->now_us,
                      .deadline_us = lc_clock_monotonic_us() + ENQUEUE_MS * 1000,
                      .body = enqueue,
                      .ctx = &w};
    loci_status status = lc_engine_write(call->engine, &write);

    if (status != LOCI_OK) {
        if (err != NULL)
            *err = write.error;
        return status;
    }
    status = wait_for_job(&w, lc_call_bool(call, "wait"), err);
    if (status == LOCI_OK && (w.job.status == LC_JOB_FAILED || w.job.status == LC_JOB_CANCELLED))
        status = fail_as_job(&w.job, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "job_id", w.job.id);
    lc_jw_member_text(&call->out, "status", lc_job_status_name(w.job.status));
    if (w.job.result.ptr != NULL)
        lc_jw_member_raw(&call->out, "result", w.job.result);
    lc_jw_end(&call->out);
    return LOCI_OK;
}

const lc_op lc_op_store_rebuild = {
    .name = "store.rebuild",
    .help = "Make everything anew from the log, compare, and put it in place",
    .params = rebuild_params,
    .results = rebuild_results,
    .cost = LC_COST_WORK,
    .flags = LC_OP_ADMIN | LC_OP_ALONE | LC_OP_MUTATES | LC_OP_STREAMS,
    .http = "POST /v1/store/rebuild",
    .example = "{\"wait\":true}",
    .run_alone = run_rebuild,
};
