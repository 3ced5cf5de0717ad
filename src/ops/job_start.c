#include "ops/job_start.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"

#define POLL_US 20000
#define ENQUEUE_MS 10000

typedef struct waiting {
    lc_call *call;
    const lc_job_start *start;
    lc_id id;
    lc_job job;
} waiting;

static loci_status enqueue(lc_tx *tx, void *ctx, loci_error *err)
{
    waiting *w = ctx;

    return w->start->enqueue(tx, &w->id, err);
}

static loci_status load(lc_tx *tx, void *ctx, loci_error *err)
{
    waiting *w = ctx;

    return lc_job_load(tx,
                       &(lc_job_key){.tenant_id = w->start->tenant_id,
                                     .user_id = w->start->user_id,
                                     .id = lc_id_str(&w->id)},
                       w->call->arena, &w->job, err);
}

static loci_status wait_for_job(waiting *w, bool wait, loci_error *err)
{
    lc_call *call = w->call;
    lc_arena_mark mark = lc_arena_get_mark(call->arena);
    loci_status status = LOCI_OK;

    if (!lc_engine_is_inline(call->engine)) {
        lc_engine_wake_workers(call->engine);
    } else if (wait) {
        status = lc_engine_run_jobs(call->engine, err);
        wait = false; /* What is not over now nobody else will run. */
    }
    while (status == LOCI_OK) {
        lc_arena_rewind(call->arena, mark);
        status = lc_engine_read(call->engine,
                                &(lc_read){.deadline_us = INT64_MAX, .body = load, .ctx = w}, err);
        if (status != LOCI_OK || !wait || lc_job_status_is_ended(w->job.status) ||
            lc_call_pause_point(call, NULL) == LOCI_EDEADLINE)
            break;
        status = lc_call_progress(call, w->start->unit, w->job.progress_done, w->job.progress_total,
                                  err);
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
                      .body = enqueue,
                      .ctx = &w};
    loci_status status = lc_engine_write(call->engine, &write);

    if (status != LOCI_OK) {
        if (err != NULL)
            *err = write.error;
        return status;
    }
    status = wait_for_job(&w, start->waits, err);
    if (status == LOCI_OK && (w.job.status == LC_JOB_FAILED || w.job.status == LC_JOB_CANCELLED))
        status = fail_as_job(&w.job, err);
    if (status == LOCI_OK)
        write_answer(&w.job, &call->out);
    return status;
}
