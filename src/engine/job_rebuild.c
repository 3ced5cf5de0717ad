/* job_rebuild.c - store/rebuild.h as a job: each slice is a commit of the job, the swap is its
 * last.
 *
 * Where it stands is in the store's own tables, so there is no checkpoint. Comparing takes long and
 * only reads; so that the lease does not end meanwhile, every second of it commits an empty slice.
 */
#include "engine/job_rebuild.h"

#include "base/clock.h"
#include "base/error.h"
#include "engine/engine.h"
#include "store/rebuild.h"

#define HOLD_US 1000000
#define FINISH_ATTEMPTS_MAX 20 /* Each loses only against 10,000 events written meanwhile. */
#define RESULT_BYTES_MAX 8192

typedef struct work {
    lc_job_run *run;
    lc_rebuild rebuild;
    lc_dump_plan plan;
    lc_rebuild_report report;
    int64_t held_us;
} work;

static lc_job_progress progress_of(const work *w)
{
    return (lc_job_progress){.done = w->rebuild.events_done, .total = w->rebuild.events_total};
}

static loci_status run_slice(void *ctx, loci_error *err)
{
    work *w = ctx;
    lc_job_progress progress = progress_of(w);
    loci_status status = lc_job_run_pause_point(w->run, err);

    if (status == LOCI_OK)
        status = lc_job_run_commit(w->run, lc_rebuild_slice, &w->rebuild, &progress, err);
    return status;
}

static loci_status replay_all(work *w, loci_error *err)
{
    loci_status status = LOCI_OK;

    do {
        status = run_slice(w, err);
    } while (status == LOCI_OK && w->rebuild.phase == LC_REBUILD_REPLAYING);
    return status;
}

static loci_status hold(void *ctx, const char *what, int64_t done, int64_t total, loci_error *err)
{
    work *w = ctx;
    lc_job_progress progress = progress_of(w);
    loci_status status = lc_job_run_pause_point(w->run, err);

    (void)what; /* The job's row counts events. */
    (void)done;
    (void)total;
    if (status != LOCI_OK || lc_clock_monotonic_us() - w->held_us < HOLD_US)
        return status;
    w->held_us = lc_clock_monotonic_us();
    return lc_job_run_commit(w->run, NULL, NULL, &progress, err);
}

static loci_status compare(lc_db *db, void *ctx, loci_error *err)
{
    work *w = ctx;
    lc_upkeep upkeep = {.db = db, .plan = &w->plan, .progress = hold, .ctx = w};

    return lc_rebuild_compare(&upkeep, run_slice, w, &w->report, err);
}

/* The slice that must be the last: unless the shadows took over, nothing of it may stand. */
static loci_status last_slice(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;
    loci_status status = lc_rebuild_slice(tx, &w->rebuild, err);

    if (status == LOCI_OK && w->rebuild.phase != LC_REBUILD_DONE)
        return lc_fail(err, LOCI_ECONFLICT, "too much was written since the last slice");
    return status;
}

static void put_result(const work *w, lc_buf *out)
{
    const lc_rebuild_report *report = &w->report;
    lc_json_writer json;

    lc_jw_init(&json, out);
    lc_jw_object(&json);
    lc_jw_member_int(&json, "events", w->rebuild.events_total);
    if (report->was_compared)
        lc_jw_member_bool(&json, "equal", report->differences == 0);
    else
        lc_jw_member_null(&json, "equal");
    lc_jw_member_int(&json, "differences", report->differences);
    lc_jw_member_str(&json, "tables", lc_buf_str(&report->tables));
    lc_jw_member_int(&json, "users_skipped", report->users_skipped);
    lc_jw_end(&json);
}

static loci_status finish(work *w, loci_error *err)
{
    lc_buf result;
    loci_status status;

    lc_buf_init(&result, &lc_engine_env(w->run->engine)->heap, LOCI_MEM_PIPELINES,
                RESULT_BYTES_MAX);
    put_result(w, &result);
    status = lc_buf_status(&result, err);
    for (int i = 0; status == LOCI_OK && i < FINISH_ATTEMPTS_MAX; i++) {
        w->rebuild.may_swap = true;
        status = lc_job_run_finish(w->run, last_slice, w, lc_buf_str(&result), err);
        w->rebuild.may_swap = false;
        if (status != LOCI_ECONFLICT || w->rebuild.phase == LC_REBUILD_DONE)
            break;
        status = replay_all(w, err);
    }
    lc_buf_clear(&result);
    return status;
}

static loci_status run_rebuild(lc_job_run *run, loci_error *err)
{
    loci_engine *engine = run->engine;
    lc_heap *heap = &lc_engine_env(engine)->heap;
    work w = {.run = run, .held_us = lc_clock_monotonic_us()};
    loci_status status = lc_dump_plan_init(&w.plan, heap, lc_engine_catalogue(engine), err);

    lc_rebuild_init(&w.rebuild, heap);
    if (status == LOCI_OK)
        status = replay_all(&w, err);
    if (status == LOCI_OK && w.rebuild.phase == LC_REBUILD_CAUGHT_UP)
        status = lc_engine_with_connection(engine, compare, &w, err);
    if (status == LOCI_OK)
        status = finish(&w, err);
    lc_buf_clear(&w.report.tables);
    lc_rebuild_clear(&w.rebuild);
    lc_dump_plan_clear(&w.plan);
    return status;
}

const lc_job_kind lc_job_rebuild = {
    .name = "store.rebuild",
    .help = "Makes the projections anew from the log, compares them and puts them in place",
    .run = run_rebuild,
};
