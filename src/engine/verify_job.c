/* verify_job.c - store/verify.h on a connection of its own, with the progress in the job's row. A
 * verify that was interrupted begins again: what it has read may have changed since. */
#include "engine/verify_job.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "engine/engine.h"
#include "store/dump.h"
#include "store/upkeep.h"
#include "store/verify.h"

#define RESULT_BYTES_MAX (2 * LOCI_ERROR_DATA_BYTES)
/* SQLite checks the pages of a file in one step, which says nothing until its end. With the
 * usual lease another worker would take the job over. */
#define PAGES_LEASE_MS 3600000

typedef struct verifying {
    lc_job_run *run;
    int64_t lease_ms; /* The usual one. */
    lc_dump_plan plan;
    lc_problems problems;
    int64_t users, events;
} verifying;

static loci_status note_progress(void *ctx, const char *what, int64_t done, int64_t total,
                                 loci_error *err)
{
    verifying *v = ctx;
    lc_job_progress progress = {.done = done, .total = total};
    int64_t lease_ms = strcmp(what, "pages") == 0 ? PAGES_LEASE_MS : v->lease_ms;

    if (v->run->lease_ms == lease_ms)
        return lc_job_run_keep(v->run, &progress, err);
    v->run->lease_ms = lease_ms;
    return lc_job_run_commit(v->run, NULL, NULL, &progress, err);
}

static loci_status verify(lc_db *db, void *ctx, loci_error *err)
{
    verifying *v = ctx;
    lc_upkeep upkeep = {.db = db, .plan = &v->plan, .progress = note_progress, .ctx = v};
    loci_status status = lc_verify(&upkeep, &v->problems, err);

    return status == LOCI_OK ? lc_upkeep_count(db, &v->users, &v->events, err) : status;
}

static void put_result(const verifying *v, lc_buf *out)
{
    lc_json_writer json;
    loci_error found;
    bool is_sound = lc_problems_status(&v->problems, &found) == LOCI_OK;

    lc_jw_init(&json, out);
    lc_jw_object(&json);
    lc_jw_member_bool(&json, "sound", is_sound);
    if (is_sound) {
        lc_jw_member_int(&json, "users", v->users);
        lc_jw_member_int(&json, "events", v->events);
    } else {
        lc_jw_member_text(&json, "message", found.message);
        lc_jw_member_raw(&json, "data", loci_str_of(found.data));
    }
    lc_jw_end(&json);
}

static loci_status run_verify(lc_job_run *run, loci_error *err)
{
    lc_heap *heap = &lc_engine_env(run->engine)->heap;
    verifying v = {.run = run, .lease_ms = run->lease_ms};
    lc_buf result;
    loci_status status = lc_dump_plan_init(&v.plan, heap, lc_engine_catalogue(run->engine), err);

    lc_buf_init(&result, heap, LOCI_MEM_PIPELINES, RESULT_BYTES_MAX);
    if (status == LOCI_OK)
        status = lc_engine_with_connection(run->engine, verify, &v, err);
    if (status == LOCI_OK) {
        put_result(&v, &result);
        status = lc_buf_status(&result, err);
    }
    if (status == LOCI_OK)
        status = lc_job_run_finish(run, NULL, NULL, lc_buf_str(&result), err);
    lc_buf_clear(&result);
    lc_dump_plan_clear(&v.plan);
    return status;
}

const lc_job_kind lc_job_verify = {
    .name = "store.verify",
    .help = "Verify the log and that the projections agree with it",
    .run = run_verify,
};
