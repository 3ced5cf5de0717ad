/* store_jobs.c - Purge: deletes in slices, so that no write waits long behind one. The age of a row
 * is judged by the domain's clock, as in lc_request_find(); a clock that was set back only keeps
 * rows longer. The next job is added in the transaction that ends this one, so there is always
 * exactly one; its attempts are unlimited, because no other code adds it again if it fails.
 *
 * Rebuild: store/rebuild.h as a job. Each slice is one commit of the job, and the swap of the
 * tables is its last. Its progress is in the store's own tables, so it has no checkpoint.
 *
 * Discard: the rest of a rebuild, as a job of its own: a caller that waits for the rebuild need not
 * wait for it, and it continues after a crash.
 *
 * Scrub: one step of the driver, outside any transaction.
 */
#include "engine/store_jobs.h"

#include <semaphore.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/rooms.h"
#include "store/db_upkeep.h"
#include "store/discard.h"
#include "store/rebuild.h"
#include "store/store_room.h"
#include "store/tenant.h"
#include "store/transfer.h"
#include "store/upkeep.h"

/* ---- Slices beside writers ------------------------------------------------------------------- */

/* A slice of upkeep holds the write lock, and every write that arrives meanwhile waits for it. So
 * beside other writes slices are short, and a pause as long as the slice follows each: the writer
 * serves the others in between. Without other writers, longer slices share their commit. */

#define SHORT_US 5000
#define LONG_US 25000
#define PAUSE_US_MAX 50000

typedef struct pace {
    loci_engine *engine;
    int64_t writes;   /* Counter of the engine before the last slice, which is one of them. */
    int64_t began_us; /* Of this slice. */
    bool is_shared;   /* Others wrote since the last slice began, or wait. */
} pace;

/* Returns how long the slice may take. */
static int64_t begin_slice(pace *p)
{
    lc_engine_counters now = lc_engine_get_counters(p->engine);

    p->is_shared = now.writes - p->writes > 1 || now.queue_length > 0;
    p->writes = now.writes;
    p->began_us = lc_clock_monotonic_us();
    return p->is_shared ? SHORT_US : LONG_US;
}

/* After its commit. */
static void end_slice(const pace *p)
{
    int64_t took_us = lc_clock_monotonic_us() - p->began_us;

    if (p->is_shared)
        lc_clock_sleep_us(took_us < PAUSE_US_MAX ? took_us : PAUSE_US_MAX);
}

/* ---- Sweeps of rooms ------------------------------------------------------------------------- */

/* Users who have something to do are found some at a time on one snapshot, and their writes are
 * queued together, so that they share commits. */

#define SWEEP_WRITE_US 10000000 /* How long the write of one user may wait. */
#define SWEEP_USERS 16
#define SWEEP_READ_US 20000

typedef struct sweep_run sweep_run;

typedef struct swept_user {
    lc_queued_write queued; /* First: found again when it is done. */
    sweep_run *run;
    loci_str tenant_id, user_id; /* In the arena of the run. */
    int64_t limit;               /* Of the user's tenant. */
    int64_t swept_now;
    bool is_due;
} swept_user;

struct sweep_run {
    loci_engine *engine;
    pace pace;
    const lc_sweep *sweep;
    lc_user_walk walk;
    lc_arena arena; /* Names of the users at hand. */
    swept_user users[SWEEP_USERS];
    size_t count;
    bool is_over; /* All users were found. */
    sem_t done;   /* Counts writes that are answered. */
    int64_t swept;
};

static void init_sweep(sweep_run *s, loci_engine *engine, const lc_sweep *sweep)
{
    lc_heap *heap = &lc_engine_env(engine)->heap;

    *s = (sweep_run){.engine = engine, .pace = {.engine = engine}, .sweep = sweep};
    lc_user_walk_init(&s->walk, heap);
    lc_arena_init(&s->arena, heap, LOCI_MEM_PIPELINES);
    (void)sem_init(&s->done, 0, 0); /* Cannot fail for a value of 0. */
}

static void clear_sweep(sweep_run *s)
{
    (void)sem_destroy(&s->done);
    lc_arena_clear(&s->arena);
    lc_user_walk_clear(&s->walk);
}

/* Adds the user of the walk if it is due. Nearly all have nothing to do, and a write that finds
 * nothing would still lock their head. */
static loci_status add_if_due(lc_tx *tx, sweep_run *s, loci_error *err)
{
    lc_settings *settings = lc_engine_settings(s->engine);
    swept_user *user = &s->users[s->count];
    loci_status status;

    tx->tenant_id = lc_user_walk_tenant(&s->walk);
    tx->user_id = lc_user_walk_user(&s->walk);
    *user = (swept_user){.run = s,
                         .limit = lc_settings_i64(settings, s->sweep->setting, tx->tenant_id)};
    status = s->sweep->is_due(tx, user->limit, &user->is_due, err);
    if (status != LOCI_OK || !user->is_due)
        return status;
    user->tenant_id = lc_arena_copy(&s->arena, tx->tenant_id);
    user->user_id = lc_arena_copy(&s->arena, tx->user_id);
    if (user->tenant_id.ptr == NULL || user->user_id.ptr == NULL)
        return lc_fail_memory(err);
    s->count++;
    return LOCI_OK;
}

static loci_status find_due(lc_tx *tx, void *ctx, loci_error *err)
{
    sweep_run *s = ctx;
    int64_t until_us = lc_clock_monotonic_us() + SWEEP_READ_US;
    bool is_held = false;
    loci_status status = lc_tx_is_held(tx, &is_held, err);

    s->is_over = is_held;
    while (status == LOCI_OK && !s->is_over && s->count < SWEEP_USERS &&
           lc_clock_monotonic_us() < until_us) {
        status = lc_user_walk_next(tx, &s->walk, s->sweep->users, err);
        s->is_over = status == LOCI_OK && !s->walk.found;
        if (status == LOCI_OK && s->walk.found)
            status = add_if_due(tx, s, err);
    }
    return status;
}

static loci_status sweep_user(lc_tx *tx, void *ctx, loci_error *err)
{
    swept_user *user = ctx;
    bool is_held = false, is_open = false;
    loci_status status = lc_tx_is_held(tx, &is_held, err);

    user->swept_now = 0;
    if (status == LOCI_OK)
        status = lc_tenant_is_open(tx, &is_open, err);
    if (status != LOCI_OK || is_held || !is_open)
        return status;
    return user->run->sweep->run(tx, user->limit, &user->swept_now, err);
}

static void note_done(lc_queued_write *queued)
{
    (void)sem_post(&((swept_user *)queued)->run->done);
}

static loci_status submit(sweep_run *s, swept_user *user, loci_error *err)
{
    user->queued = (lc_queued_write){
        .write = {.tenant_id = user->tenant_id,
                  .user_id = user->user_id,
                  .now_us = lc_env_now_us(lc_engine_env(s->engine)),
                  .deadline_us = lc_clock_monotonic_us() + SWEEP_WRITE_US,
                  .body = sweep_user,
                  .ctx = user},
        .done = note_done,
    };
    return lc_engine_submit(s->engine, &user->queued, err);
}

/* One write for each user that is still due. */
static loci_status write_users(sweep_run *s, loci_error *err)
{
    loci_status status = LOCI_OK;
    size_t submitted = 0, left = 0;

    for (; submitted < s->count; submitted++) {
        status = submit(s, &s->users[submitted], err);
        if (status != LOCI_OK)
            break;
    }
    for (size_t i = 0; i < submitted; i++) {
        while (sem_wait(&s->done) != 0)
            ; /* Interrupted by a signal. */
    }
    for (size_t i = 0; i < submitted; i++) {
        const lc_write *write = &s->users[i].queued.write;

        if (write->status == LOCI_OK)
            s->swept += s->users[i].swept_now;
        else if (status == LOCI_OK)
            status = lc_fail(err, write->status, "%s", write->error.message);
        if (s->users[i].swept_now >= LC_SWEEP_ITEMS)
            s->users[left++] = s->users[i];
    }
    s->count = left;
    return status;
}

/* The next users, until they have nothing left to do. */
static loci_status sweep_some(sweep_run *s, loci_error *err)
{
    loci_status status;

    s->count = 0;
    lc_arena_clear(&s->arena);
    status = lc_engine_read(s->engine,
                            &(lc_read){.deadline_us = INT64_MAX, .body = find_due, .ctx = s}, err);
    while (status == LOCI_OK && s->count > 0) {
        (void)begin_slice(&s->pace);
        status = write_users(s, err);
        end_slice(&s->pace);
    }
    return status;
}

/* A sweep that was interrupted starts again. An import stops it; the next one, an hour later, goes
 * on. */
static loci_status run_sweep(lc_job_run *run, const lc_sweep *sweep, int64_t *out, loci_error *err)
{
    sweep_run s;
    loci_status status;

    init_sweep(&s, run->engine, sweep);
    do {
        status = lc_job_run_keep(run, &(lc_job_progress){.done = s.swept}, err);
        if (status == LOCI_OK)
            status = sweep_some(&s, err);
    } while (status == LOCI_OK && !s.is_over);
    clear_sweep(&s);
    *out = s.swept;
    return status;
}

#define SHUTDOWN_US 5000000 /* Sessions that are left then end by silence. */

void lc_engine_sweep_at_shutdown(loci_engine *engine)
{
    int64_t end_us = lc_clock_monotonic_us() + SHUTDOWN_US;
    const lc_sweep *sweep = lc_engine_shutdown_sweep(engine);
    loci_error err = {0};
    loci_status status;
    sweep_run s;

    if (sweep == NULL)
        return;
    init_sweep(&s, engine, sweep);
    do
        status = sweep_some(&s, &err);
    while (status == LOCI_OK && !s.is_over && lc_clock_monotonic_us() < end_us);
    clear_sweep(&s);
    lc_log_write(&lc_engine_env(engine)->log, status == LOCI_OK ? LOCI_LOG_INFO : LOCI_LOG_WARN,
                 "sessions.shut_down", LC_LOG_INT("sessions", s.swept),
                 LC_LOG_TEXT("problem", status == LOCI_OK ? "" : err.message));
}

/* ---- Purge ----------------------------------------------------------------------------------- */

#define SLICE_ROWS 500
#define HOUR_US (INT64_C(3600) * 1000000)
#define PERIOD_MS (60 * 60 * 1000)
#define ATTEMPTS_MAX 1000000
#define RESULT_BYTES_MAX 8192

const lc_setting lc_setting_job_keep_hours = {
    .name = "job.keep_hours",
    .kind = LC_SETTING_INT,
    .default_text = "168",
    .min = 1,
    .max = 10 * 8760,
    .help = "Hours after which a finished job is deleted",
    .is_live = true,
};

/* By primary key: neither database has `delete … limit`. */
static const lc_sql delete_answers = {
    .text = "delete from requests where (tenant_id, user_id, request_id) in "
            "(select tenant_id, user_id, request_id from requests where recorded_at < $1 "
            "order by recorded_at limit $2) returning request_id",
    .params = "ii",
    .columns = "t",
};

static const lc_sql delete_usage = {"delete from request_usage where since < $1", "i", NULL};

typedef struct purge {
    int64_t request_keep_us;
    int64_t job_keep_us;
    int64_t slice_requests; /* Deleted by the current slice; set again when it is run again. */
    int64_t slice_jobs;
    int64_t requests; /* Deleted by committed slices. */
    int64_t jobs;
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
        status = lc_tx_exec(tx, &delete_usage, (lc_arg[]){LC_I(tx->now_us - p->request_keep_us)},
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
    lc_scrub_state scrub;
    int64_t left = 0;
    lc_id id;
    loci_status status = lc_job_enqueue(tx, &next, &id, err);

    (void)ctx;
    if (status == LOCI_OK)
        status = lc_scrub_get(tx, &scrub, err);
    /* The jobs that were added with the forgetting or the swap may have been cancelled. */
    if (status == LOCI_OK && scrub.wanted != scrub.done)
        status = lc_scrub_enqueue(tx, &id, err);
    if (status == LOCI_OK)
        status = lc_discard_count(tx, &left, err);
    return status == LOCI_OK && left > 0 ? lc_discard_enqueue(tx, err) : status;
}

/* Sweeps the rooms and adds their counts to the result. */
static loci_status sweep_rooms(lc_job_run *run, lc_json_writer *out, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (const lc_room *const *room = lc_engine_catalogue(run->engine)->rooms;
         status == LOCI_OK && *room != NULL; room++) {
        int64_t swept = 0;

        if ((*room)->sweep == NULL)
            continue;
        status = run_sweep(run, (*room)->sweep, &swept, err);
        lc_jw_member_int(out, (*room)->sweep->name, swept);
    }
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
    lc_json_writer out;
    lc_buf result;
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
    lc_buf_init(&result, &lc_engine_env(run->engine)->heap, LOCI_MEM_PIPELINES, RESULT_BYTES_MAX);
    lc_jw_init(&out, &result);
    lc_jw_object(&out);
    lc_jw_member_int(&out, "requests", p.requests);
    lc_jw_member_int(&out, "jobs", p.jobs);
    status = sweep_rooms(run, &out, err);
    lc_jw_end(&out);
    if (status == LOCI_OK)
        status = lc_buf_status(&result, err);
    if (status == LOCI_OK)
        status = lc_job_run_finish(run, add_next, NULL, lc_buf_str(&result), err);
    lc_buf_clear(&result);
    return status;
}

const lc_job_kind lc_job_purge = {
    .name = "store.purge",
    .help = "Delete stored answers older than request.keep_hours and finished jobs older than "
            "job.keep_hours, end idle sessions, and fail frames past their timeout; once per hour",
    .run = run_purge,
};

static loci_status find_active(lc_tx *tx, void *ctx, loci_error *err)
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
    /* A read first: opening a store that has the job must not cost a write. */
    status = lc_engine_read(
        engine, &(lc_read){.deadline_us = deadline_us, .body = find_active, .ctx = &id}, err);
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

/* ---- Rebuild --------------------------------------------------------------------------------- */

#define FINISH_ATTEMPTS_MAX 20
#define SWAP_US 100000 /* For the events written since the last slice: that one is longer. */

typedef struct work {
    lc_job_run *run;
    pace pace;
    lc_rebuild rebuild;
    lc_dump_plan plan;
    lc_rebuild_report report;
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

    if (status != LOCI_OK)
        return status;
    w->rebuild.slice_us = begin_slice(&w->pace);
    status = lc_job_run_commit(w->run, lc_rebuild_slice, &w->rebuild, &progress, err);
    end_slice(&w->pace);
    return status;
}

static loci_status collect_statistics(lc_db *db, void *ctx, loci_error *err)
{
    return lc_rebuild_collect_statistics(&((work *)ctx)->rebuild, db, err);
}

static loci_status replay_all(work *w, loci_error *err)
{
    loci_status status = LOCI_OK;

    do {
        status = run_slice(w, err);
        if (status == LOCI_OK &&
            lc_rebuild_wants_statistics(&w->rebuild, lc_engine_driver(w->run->engine)))
            status = lc_engine_with_connection(w->run->engine, collect_statistics, w, err);
    } while (status == LOCI_OK && w->rebuild.phase == LC_REBUILD_REPLAYING);
    return status;
}

/* lc_upkeep.progress: comparing takes long and only reads. */
static loci_status note_progress(void *ctx, const char *what, int64_t done, int64_t total,
                                 loci_error *err)
{
    work *w = ctx;
    lc_job_progress progress = progress_of(w);

    (void)what; /* The job's row counts events. */
    (void)done;
    (void)total;
    return lc_job_run_keep(w->run, &progress, err);
}

static loci_status compare(lc_db *db, void *ctx, loci_error *err)
{
    work *w = ctx;
    lc_upkeep upkeep = {.db = db, .plan = &w->plan, .progress = note_progress, .ctx = w};

    return lc_rebuild_compare(&upkeep, run_slice, w, &w->report, err);
}

/* The slice that swaps the tables. If it cannot, it fails, so that all of it is rolled back. */
static loci_status last_slice(lc_tx *tx, void *ctx, loci_error *err)
{
    work *w = ctx;
    loci_status status = lc_rebuild_slice(tx, &w->rebuild, err);

    if (status == LOCI_OK && w->rebuild.phase != LC_REBUILD_DONE)
        return lc_fail(err, LOCI_ECONFLICT, "too much was written since the last slice");
    return status == LOCI_OK ? lc_discard_enqueue(tx, err) : status;
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

static loci_status finish_rebuild(work *w, loci_error *err)
{
    lc_buf result;
    loci_status status;

    lc_buf_init(&result, &lc_engine_env(w->run->engine)->heap, LOCI_MEM_PIPELINES,
                RESULT_BYTES_MAX);
    put_result(w, &result);
    status = lc_buf_status(&result, err);
    for (int i = 0; status == LOCI_OK && i < FINISH_ATTEMPTS_MAX; i++) {
        w->rebuild.may_swap = true;
        w->rebuild.slice_us = SWAP_US;
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
    work w = {.run = run, .pace = {.engine = engine}};
    loci_status status = lc_dump_plan_init(&w.plan, heap, lc_engine_catalogue(engine), err);

    lc_rebuild_init(&w.rebuild, heap);
    if (status == LOCI_OK)
        status = replay_all(&w, err);
    if (status == LOCI_OK && w.rebuild.phase == LC_REBUILD_CAUGHT_UP)
        status = lc_engine_with_connection(engine, compare, &w, err);
    if (status == LOCI_OK)
        status = finish_rebuild(&w, err);
    lc_buf_clear(&w.report.tables);
    lc_rebuild_clear(&w.rebuild);
    lc_dump_plan_clear(&w.plan);
    return status;
}

const lc_job_kind lc_job_rebuild = {
    .name = "store.rebuild",
    .help = "Rebuild the projections from the log, compare them and replace the old ones",
    .run = run_rebuild,
};

/* ---- Discard --------------------------------------------------------------------------------- */

typedef struct discarding {
    lc_discard discard;
    pace pace;
    int64_t rows;
} discarding;

static loci_status discard_all(lc_job_run *run, int64_t *out_rows, loci_error *err)
{
    discarding d = {.pace = {.engine = run->engine}};
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && !d.discard.is_done) {
        lc_job_progress progress = {.done = d.rows};

        status = lc_job_run_pause_point(run, err);
        if (status != LOCI_OK)
            break;
        d.discard.slice_us = begin_slice(&d.pace);
        status = lc_job_run_commit(run, lc_discard_slice, &d.discard, &progress, err);
        end_slice(&d.pace);
        d.rows += d.discard.rows;
    }
    *out_rows = d.rows;
    return status;
}

static loci_status run_discard(lc_job_run *run, loci_error *err)
{
    char result[64];
    int64_t rows = 0;
    loci_status status = discard_all(run, &rows, err);

    (void)snprintf(result, sizeof result, "{\"rows\":%lld}", (long long)rows);
    return status == LOCI_OK ? lc_job_run_finish(run, NULL, NULL, loci_str_of(result), err)
                             : status;
}

const lc_job_kind lc_job_discard = {
    .name = LC_DISCARD_JOB,
    .help = "Delete the tables that a rebuild has replaced",
    .run = run_discard,
};

/* ---- Scrub ----------------------------------------------------------------------------------- */

/* Rewriting the files removes everything that was forgotten before; rows that are forgotten
 * meanwhile need another job. Many forgettings share one rewrite: the other jobs find nothing left
 * to do. */

static loci_status read_scrub(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_scrub_get(tx, ctx, err);
}

static loci_status scrub_files(lc_db *db, void *ctx, loci_error *err)
{
    (void)ctx;
    return db->driver->upkeep->scrub(db, err);
}

static loci_status note_scrub(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_scrub_set_done(tx, ((const lc_scrub_state *)ctx)->wanted, err);
}

static loci_status add_next_scrub(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_scrub_state now;
    lc_id id;
    loci_status status = lc_scrub_get(tx, &now, err);

    (void)ctx;
    return status == LOCI_OK && now.wanted != now.done ? lc_scrub_enqueue(tx, &id, err) : status;
}

/* Not in the write that ends the job: rewriting the files may take longer than its lease, and the
 * worker that takes the job over need not do it again. */
static loci_status write_scrubbed(lc_job_run *run, lc_scrub_state *state, loci_error *err)
{
    lc_write write = {.tenant_id = LC_STR(""),
                      .user_id = LC_STR(""),
                      .now_us = lc_env_now_us(lc_engine_env(run->engine)),
                      .deadline_us = lc_clock_monotonic_us() + SWEEP_WRITE_US,
                      .body = note_scrub,
                      .ctx = state};
    loci_status status = lc_engine_write(run->engine, &write);

    if (status != LOCI_OK && err != NULL)
        *err = write.error;
    return status;
}

static loci_status run_scrub(lc_job_run *run, loci_error *err)
{
    lc_scrub_state state = {0};
    loci_status status = lc_engine_read(
        run->engine, &(lc_read){.deadline_us = INT64_MAX, .body = read_scrub, .ctx = &state}, err);
    bool is_needed = status == LOCI_OK && state.wanted != state.done;
    int64_t rows;

    if (is_needed) /* They may contain what was forgotten. */
        status = discard_all(run, &rows, err);
    if (status == LOCI_OK && is_needed)
        status = lc_engine_with_connection(run->engine, scrub_files, NULL, err);
    if (status == LOCI_OK && is_needed)
        status = write_scrubbed(run, &state, err);
    if (status != LOCI_OK)
        return status;
    return lc_job_run_finish(
        run, add_next_scrub, NULL,
        is_needed ? LC_STR("{\"scrubbed\":true}") : LC_STR("{\"scrubbed\":false}"), err);
}

const lc_job_kind lc_job_scrub = {
    .name = LC_SCRUB_JOB,
    .help = "Remove the bytes of forgotten content from the files of the store",
    .run = run_scrub,
    .asks_outside = true, /* A reader blocks it: only waiting helps. */
};
