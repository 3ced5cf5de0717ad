/* job_purge.c - Deletes in slices, so that no write waits long behind one. What is too old is
 * judged by the domain's clock, as lc_request_find() does; a clock that went back only makes rows
 * stay longer.
 *
 * The successor is added in the transaction that ends the job, so there is always exactly one; it
 * has attempts without end, because a purge that gave up would never be asked for again.
 */
#include "engine/job_purge.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/session_sweep.h"

#define SLICE_ROWS 500
#define HOUR_US (INT64_C(3600) * 1000000)
#define PERIOD_MS (60 * 60 * 1000)
#define ATTEMPTS_MAX 1000000

const lc_setting lc_setting_job_keep_hours = {
    .name = "job.keep_hours",
    .kind = LC_SETTING_INT,
    .default_text = "168",
    .min = 1,
    .max = 10 * 8760,
    .help = "Hours after which a finished job is deleted",
    .is_live = true,
};

/* By primary key: `delete ... limit` is in neither database as we use it. */
static const lc_sql delete_answers = {
    .text = "delete from requests where (tenant_id, user_id, request_id) in "
            "(select tenant_id, user_id, request_id from requests where recorded_at < $1 "
            "order by recorded_at limit $2) returning request_id",
    .params = "ii",
    .columns = "t",
};

typedef struct purge {
    int64_t request_keep_us;
    int64_t job_keep_us;
    int64_t slice_requests; /* Deleted by the slice that ran last; set anew when it runs again. */
    int64_t slice_jobs;
    int64_t requests; /* By all that are durable. */
    int64_t jobs;
    int64_t sessions;
} purge;

static loci_status purge_answers(lc_tx *tx, int64_t before_us, int64_t *out, loci_error *err)
{
    int64_t count = 0;
    lc_rows rows;
    loci_status status;

    tx->wrote = true;
    status = lc_tx_query(tx, &delete_answers, (lc_arg[]){LC_I(before_us), LC_I(SLICE_ROWS)}, &rows,
                         err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        count++;
    lc_rows_end(&rows);
    *out = count;
    return status;
}

static loci_status purge_slice(lc_tx *tx, void *ctx, loci_error *err)
{
    purge *p = ctx;
    loci_status status = purge_answers(tx, tx->now_us - p->request_keep_us, &p->slice_requests,
                                       err);

    if (status == LOCI_OK)
        status = lc_job_purge_ended(tx, tx->now_us - p->job_keep_us, SLICE_ROWS, &p->slice_jobs,
                                    err);
    return status;
}

static lc_job_new next_purge(int64_t delay_ms)
{
    return (lc_job_new){
        .kind = loci_str_of(lc_job_purge.name),
        .priority = LC_JOB_PRIORITY_UPKEEP,
        .attempts_max = ATTEMPTS_MAX,
        .delay_ms = delay_ms,
        .unique = LC_STR("hourly"),
    };
}

static loci_status add_next(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_job_new next = next_purge(PERIOD_MS);
    lc_id id;

    (void)ctx; /* A body gets one whether it needs it or not. */
    return lc_job_enqueue(tx, &next, &id, err);
}

static loci_status finish(lc_job_run *run, const purge *p, loci_error *err)
{
    lc_json_writer out;
    lc_buf result;
    loci_status status;

    lc_buf_init(&result, &lc_engine_env(run->engine)->heap, LOCI_MEM_PIPELINES, 256);
    lc_jw_init(&out, &result);
    lc_jw_object(&out);
    lc_jw_member_int(&out, "requests", p->requests);
    lc_jw_member_int(&out, "jobs", p->jobs);
    lc_jw_member_int(&out, "sessions", p->sessions);
    lc_jw_end(&out);
    status = lc_buf_status(&result, err);
    if (status == LOCI_OK)
        status = lc_job_run_finish(run, add_next, NULL, lc_buf_str(&result), err);
    lc_buf_clear(&result);
    return status;
}

static loci_status run_purge(lc_job_run *run, loci_error *err)
{
    lc_settings *settings = lc_engine_settings(run->engine);
    purge p = {
        .request_keep_us = lc_settings_i64(settings, &lc_setting_request_keep_hours, LC_STR_NONE) *
                           HOUR_US,
        .job_keep_us = lc_settings_i64(settings, &lc_setting_job_keep_hours, LC_STR_NONE) * HOUR_US,
    };

    loci_status status;

    do {
        lc_job_progress progress = {.done = p.requests + p.jobs};

        status = lc_job_run_pause_point(run, err);
        if (status == LOCI_OK)
            status = lc_job_run_commit(run, purge_slice, &p, &progress, err);
        if (status != LOCI_OK)
            return status;
        p.requests += p.slice_requests;
        p.jobs += p.slice_jobs;
    } while (p.slice_requests == SLICE_ROWS || p.slice_jobs == SLICE_ROWS);
    status = lc_session_sweep(run, &p.sessions, err);
    return status == LOCI_OK ? finish(run, &p, err) : status;
}

const lc_job_kind lc_job_purge = {
    .name = "store.purge",
    .help = "Deletes stored answers older than request.keep_hours and ended jobs older than "
            "job.keep_hours, and ends idle sessions; once an hour",
    .run = run_purge,
};

/* ---- At open -------------------------------------------------------------------------------- */

static loci_status look_body(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_job_new like = next_purge(0);

    tx->tenant_id = LC_STR("");
    tx->user_id = LC_STR("");
    return lc_job_find_active(tx, &like, ctx, err);
}

static loci_status add_first(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_job_new first = next_purge(0);

    return lc_job_enqueue(tx, &first, ctx, err);
}

loci_status lc_job_purge_schedule(loci_engine *engine, loci_error *err)
{
    int64_t timeout_ms = lc_settings_i64(lc_engine_settings(engine), &lc_setting_call_timeout_ms,
                                         LC_STR_NONE);
    int64_t deadline_us = lc_clock_monotonic_us() + timeout_ms * 1000;
    lc_id id = {""};
    loci_status status;

    if (lc_engine_is_inline(engine))
        return LOCI_OK;
    /* Looking first: opening a store that has the job must not cost a write. */
    status = lc_engine_read(
        engine, &(lc_read){.deadline_us = deadline_us, .body = look_body, .ctx = &id}, err);
    if (status == LOCI_OK && id.text[0] == '\0') {
        lc_write write = {
            .tenant_id = LC_STR(""),
            .user_id = LC_STR(""),
            .now_us = lc_env_now_us(lc_engine_env(engine)),
            .deadline_us = deadline_us,
            .body = add_first,
            .ctx = &id,
        };

        status = lc_engine_write(engine, &write);
        if (status != LOCI_OK && err != NULL)
            *err = write.error;
    }
    return status;
}
