/* file_jobs.c - a job runs on a connection of its own and reports between the steps of the work,
 * outside their transactions, so that its row can be written meanwhile.
 */
#include "engine/file_jobs.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/engine.h"
#include "store/backup.h"
#include "store/event.h"
#include "store/publish.h"
#include "store/schema.h"

#define NOTE_US 5000000
#define RESULT_BYTES_MAX (2 * LC_PATH_BYTES_MAX)

/* ---- The work -------------------------------------------------------------------------------- */

static loci_status back_up(const lc_file_work *work, const lc_upkeep *upkeep, lc_json_writer *out,
                           loci_error *err)
{
    int64_t bytes = 0;
    loci_status status = lc_upkeep_refuse_own_file(upkeep->db, work->path, err);

    if (status == LOCI_OK)
        status = lc_backup(upkeep, work->path, work->replaces, &bytes, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_str(out, "path", work->name);
    lc_jw_member_int(out, "bytes", bytes);
    lc_jw_end(out);
    return LOCI_OK;
}

static loci_status write_note(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_meta_set_i64(tx, LC_BACKUP_AT, ((const lc_file_work *)ctx)->now_us, err);
}

/* The time is kept in the store, so that a restarted daemon still reports it. The backup is good
 * even if it cannot be noted. */
static void note_backup(loci_engine *engine, const lc_file_work *work, loci_status status)
{
    lc_write note = {.tenant_id = LC_STR(""),
                     .user_id = LC_STR(""),
                     .now_us = work->now_us,
                     .deadline_us = lc_clock_monotonic_us() + NOTE_US,
                     .body = write_note,
                     .ctx = (void *)work};

    if (status == LOCI_OK)
        (void)lc_engine_write(engine, &note);
}

void lc_file_put_counts(lc_json_writer *out, const lc_transfer_counts *counts)
{
    lc_jw_member_int(out, "users", counts->users);
    lc_jw_member_int(out, "events", counts->events);
    lc_jw_member_int(out, "settings", counts->settings);
}

static loci_status export_file(const lc_file_work *work, const lc_upkeep *upkeep,
                               lc_json_writer *out, loci_error *err)
{
    lc_transfer_counts counts = {0};
    loci_status status = lc_upkeep_refuse_own_file(upkeep->db, work->path, err);

    if (status == LOCI_OK)
        status = lc_export_file(upkeep, work->path, work->replaces, &counts, err);
    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_str(out, "path", work->name);
    lc_file_put_counts(out, &counts);
    lc_jw_end(out);
    return LOCI_OK;
}

static loci_status import_file(const lc_file_work *work, const lc_upkeep *upkeep,
                               lc_json_writer *out, loci_error *err)
{
    lc_transfer_counts counts = {0};
    loci_status status = lc_import_file(upkeep, work->path, &counts, err);

    if (status != LOCI_OK)
        return status;
    lc_jw_object(out);
    lc_jw_member_str(out, "path", work->name);
    lc_file_put_counts(out, &counts);
    lc_jw_member_int(out, "skipped", counts.events_skipped);
    lc_jw_end(out);
    return LOCI_OK;
}

/* Also after a failure: it may have come behind the settings. */
static void read_settings(loci_engine *engine, const lc_file_work *work, loci_status status)
{
    (void)work;
    (void)status;
    lc_engine_settings_changed(engine);
}

/* ---- As a job -------------------------------------------------------------------------------- */

loci_status lc_file_job_args(const lc_file_work *work, lc_arena *arena, loci_str *out,
                             loci_error *err)
{
    lc_json_writer json;
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, arena->heap, LOCI_MEM_REQUESTS, LC_ARGS_BYTES_MAX);
    lc_jw_init(&json, &text);
    lc_jw_object(&json);
    lc_jw_member_text(&json, "path", work->path);
    lc_jw_member_str(&json, "name", work->name);
    lc_jw_member_bool(&json, "replaces", work->replaces);
    if (work->tenant.ptr != NULL)
        lc_jw_member_str(&json, "tenant", work->tenant);
    lc_jw_end(&json);
    status = lc_buf_status(&text, err);
    if (status == LOCI_OK) {
        *out = lc_arena_copy(arena, lc_buf_str(&text));
        if (out->ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_buf_clear(&text);
    return status;
}

typedef struct file_job {
    lc_job_run *run;
    const lc_file_kind *kind;
    lc_file_work work;
    lc_dump_plan plan; /* Outlives the connection, as it must. */
    lc_json_writer json;
    lc_buf result;
} file_job;

static loci_status keep(void *ctx, const char *what, int64_t done, int64_t total, loci_error *err)
{
    lc_job_progress progress = {.done = done, .total = total};

    (void)what;
    return lc_job_run_keep(((file_job *)ctx)->run, &progress, err);
}

static loci_status do_work(lc_db *db, void *ctx, loci_error *err)
{
    file_job *j = ctx;
    lc_upkeep upkeep = {
        .db = db, .plan = &j->plan, .progress = keep, .ctx = j, .tenant_id = j->work.tenant};

    return j->kind->run(&j->work, &upkeep, &j->json, err);
}

static loci_status read_args(file_job *j, loci_error *err)
{
    const lc_json *args;
    loci_str path;
    loci_status status = lc_json_parse(j->run->arena, j->run->job.args, 0, &args, err);

    if (status != LOCI_OK)
        return status;
    path = lc_arena_copy(j->run->arena, lc_event_str(args, "path")); /* Terminated. */
    if (path.ptr == NULL)
        return lc_fail_memory(err);
    j->work = (lc_file_work){.path = path.ptr,
                             .name = lc_event_str(args, "name"),
                             .replaces = lc_event_bool(args, "replaces"),
                             .now_us = lc_env_now_us(lc_engine_env(j->run->engine)),
                             .tenant = lc_event_str(args, "tenant")};
    return LOCI_OK;
}

static loci_status run_kind(const lc_file_kind *kind, lc_job_run *run, loci_error *err)
{
    lc_heap *heap = &lc_engine_env(run->engine)->heap;
    file_job j = {.run = run, .kind = kind};
    loci_status status = read_args(&j, err);

    lc_buf_init(&j.result, heap, LOCI_MEM_PIPELINES, RESULT_BYTES_MAX);
    lc_jw_init(&j.json, &j.result);
    if (status == LOCI_OK)
        status = lc_dump_plan_init(&j.plan, heap, lc_engine_catalogue(run->engine), err);
    if (status == LOCI_OK)
        status = lc_engine_with_connection(run->engine, do_work, &j, err);
    if (kind->done != NULL)
        kind->done(run->engine, &j.work, status);
    if (status == LOCI_OK)
        status = lc_buf_status(&j.result, err);
    if (status == LOCI_OK)
        status = lc_job_run_finish(run, NULL, NULL, lc_buf_str(&j.result), err);
    lc_buf_clear(&j.result);
    lc_dump_plan_clear(&j.plan);
    return status;
}

static loci_status run_backup(lc_job_run *run, loci_error *err)
{
    return run_kind(&lc_file_backup, run, err);
}

static loci_status run_export(lc_job_run *run, loci_error *err)
{
    return run_kind(&lc_file_export, run, err);
}

static loci_status run_import(lc_job_run *run, loci_error *err)
{
    return run_kind(&lc_file_import, run, err);
}

const lc_file_kind lc_file_backup = {
    .job = {.name = LC_BACKUP_JOB,
            .help = "Copy the store, while it is in use, into one file",
            .run = run_backup},
    .unit = "pages copied",
    .run = back_up,
    .done = note_backup,
};

const lc_file_kind lc_file_export = {
    .job = {.name = "store.export",
            .help = "Export the logs of all users into a file",
            .run = run_export},
    .unit = "events exported",
    .run = export_file,
};

const lc_file_kind lc_file_import = {
    .job = {.name = "store.import",
            .help = "Import a file written by store.export",
            .run = run_import},
    .unit = "events imported",
    .run = import_file,
    .done = read_settings,
};
