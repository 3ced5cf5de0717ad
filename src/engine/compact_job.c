/* compact_job.c - For each user: finds the last event before the time, replays the log until there
 * into a scratch database in a file without a name, reads the rows back as a snapshot, and writes
 * it, unless something was forgotten, another job has compacted the log or the store was restored
 * meanwhile (the next job then does the user again). Then the replaced events are deleted, some
 * thousands per write.
 *
 * A crash between the steps leaves events that a snapshot has replaced: no replay reads them, and
 * the next job, or this one when it runs again, deletes them.
 */
#include "engine/compact_job.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/engine.h"
#include "store/backup.h"
#include "store/db_upkeep.h"
#include "store/dump.h"
#include "store/event.h"
#include "store/schema.h"
#include "store/snapshot.h"
#include "store/upkeep.h"

#define TRIM_EVENTS 2000
#define WRITE_US 60000000
#define RESULT_BYTES_MAX 256

/* If one of these has changed, what was replayed is no longer the beginning of the log. */
typedef struct marks {
    int64_t base;      /* Of the snapshot that there is. */
    int64_t forgotten; /* The last event that forgot something. */
    int64_t restored;  /* Of the store: another one means another log. */
} marks;

typedef struct compaction {
    lc_job_run *run;
    int64_t before_us;
    loci_str tenant_id, user_id; /* None = all users. */
    bool is_dry;
    lc_db *scratch;
    lc_buf emptying; /* `delete from …` for all tables of the scratch. */
    lc_buf upcast;
    lc_user_walk walk;
    lc_snapshot snapshot;
    /* The user at hand. */
    int64_t until; /* The last event to replace; 0 = nothing to do. */
    marks marks;   /* When the user was found. */
    int64_t part;  /* The last part of the snapshot that there is, */
    int64_t seq;   /* and the last event that was replayed. */
    int64_t recorded_at;
    bool is_trimming; /* There are replaced events left. */
    int64_t users, events, bytes;
} compaction;

/* ---- The user at hand ------------------------------------------------------------------------ */

static bool is_asked_for(const compaction *c)
{
    return c->user_id.ptr == NULL || (lc_str_eq(lc_user_walk_user(&c->walk), c->user_id) &&
                                      lc_str_eq(lc_user_walk_tenant(&c->walk), c->tenant_id));
}

static loci_status load_marks(lc_tx *tx, marks *out, loci_error *err)
{
    loci_status status = lc_snapshot_base(tx, tx->tenant_id, tx->user_id, &out->base, err);

    if (status == LOCI_OK)
        status = lc_tx_forgotten_seq(tx, tx->tenant_id, tx->user_id, LC_STR_NONE, &out->forgotten,
                                     err);
    return status == LOCI_OK ? lc_tx_restore_mark(tx, &out->restored, err) : status;
}

/* If not, the user is left to the next job. */
static loci_status check_marks(lc_tx *tx, compaction *c, loci_error *err)
{
    marks now;
    loci_status status = load_marks(tx, &now, err);

    if (status == LOCI_OK && (now.base != c->marks.base || now.forgotten != c->marks.forgotten ||
                              now.restored != c->marks.restored))
        c->until = 0;
    return status;
}

static void turn_to_user(lc_tx *tx, const compaction *c)
{
    tx->tenant_id = lc_user_walk_tenant(&c->walk);
    tx->user_id = lc_user_walk_user(&c->walk);
    tx->has_head = false;
}

/* Turns to the next user and decides how far its log is compacted. */
static loci_status find_user(lc_tx *tx, void *ctx, loci_error *err)
{
    compaction *c = ctx;
    int64_t replaced;
    loci_error cause;
    loci_status status = lc_user_walk_next(tx, &c->walk, &lc_user_heads_sql, err);

    c->until = 0;
    if (status != LOCI_OK || !c->walk.found || !is_asked_for(c))
        return status;
    turn_to_user(tx, c);
    status = load_marks(tx, &c->marks, err);
    if (status != LOCI_OK)
        return status;
    status = lc_snapshot_find_replaced(tx, &replaced, err);
    if (status != LOCI_OK)
        return status;
    c->is_trimming = replaced > 0;
    status = lc_event_find_seq(tx, c->before_us - 1, &c->until, &cause);
    if (status == LOCI_EINVAL) { /* Before its snapshot. */
        c->until = 0;
        return LOCI_OK;
    }
    if (status != LOCI_OK && err != NULL)
        *err = cause;
    if (c->until <= c->marks.base)
        c->until = 0;
    return status;
}

/* ---- Replaying until there ------------------------------------------------------------------- */

typedef struct page {
    compaction *c;
    lc_tx *scratch;
    int64_t part, seq, recorded_at;
    size_t bytes;
    int64_t began_us;
} page;

static loci_status replay_any(page *p, const lc_event *event, loci_error *err)
{
    loci_status status = lc_event_apply(p->scratch, event, &p->c->upcast, err);

    if (status != LOCI_OK)
        return status;
    p->recorded_at = event->recorded_at;
    p->bytes += event->payload.len;
    return p->bytes > LC_UPKEEP_BYTES || lc_clock_monotonic_us() - p->began_us > LC_UPKEEP_STEP_US
               ? LOCI_ECANCELLED
               : LOCI_OK;
}

static loci_status replay_part(void *ctx, const lc_event *event, loci_error *err)
{
    page *p = ctx;

    p->part = event->seq;
    return replay_any(p, event, err);
}

static loci_status replay_event(void *ctx, const lc_event *event, loci_error *err)
{
    page *p = ctx;

    if (event->seq > p->c->until)
        return LOCI_ECANCELLED;
    if (event->seq != p->seq + 1)
        return lc_fail(err, LOCI_ECORRUPT, "event %lld is missing; run `loci verify`",
                       (long long)p->seq + 1);
    p->seq = event->seq;
    return replay_any(p, event, err);
}

static loci_status read_page(lc_tx *tx, void *ctx, loci_error *err)
{
    page *p = ctx;
    lc_event_range range = {.tenant_id = lc_user_walk_tenant(&p->c->walk),
                            .user_id = lc_user_walk_user(&p->c->walk),
                            .limit = LC_UPKEEP_EVENTS};
    loci_status status;

    turn_to_user(tx, p->c);
    status = check_marks(tx, p->c, err);
    if (status != LOCI_OK || p->c->until == 0)
        return status;
    if (p->seq < p->c->marks.base) {
        status = lc_snapshot_each(tx, &range, p->part, replay_part, p, err);
        if (status == LOCI_OK)
            p->seq = p->c->marks.base;
    }
    range.after_seq = p->seq;
    if (status == LOCI_OK)
        status = lc_event_each(tx, &range, replay_event, p, err);
    return status == LOCI_ECANCELLED ? LOCI_OK : status;
}

static loci_status replay_page(lc_tx *scratch, void *ctx, loci_error *err)
{
    page *p = ctx;

    *p = (page){.c = p->c,
                .scratch = scratch,
                .part = p->c->part,
                .seq = p->c->seq,
                .recorded_at = p->c->recorded_at,
                .began_us = lc_clock_monotonic_us()};
    return lc_engine_read(p->c->run->engine,
                          &(lc_read){.deadline_us = INT64_MAX, .body = read_page, .ctx = p}, err);
}

static loci_status empty_scratch(lc_tx *tx, void *ctx, loci_error *err)
{
    return tx->db->driver->upkeep->run_script(tx, ((compaction *)ctx)->emptying.ptr, err);
}

static loci_status take(lc_tx *scratch, void *ctx, loci_error *err)
{
    compaction *c = ctx;

    return lc_snapshot_take(&c->snapshot, scratch, lc_user_walk_tenant(&c->walk),
                            lc_user_walk_user(&c->walk), err);
}

static lc_job_progress progress_of(const compaction *c)
{
    return (lc_job_progress){.done = c->events};
}

static loci_status replay(compaction *c, loci_error *err)
{
    page p = {.c = c};
    loci_status status = lc_db_write_one(c->scratch, LC_UPKEEP_WAIT_MS, empty_scratch, c, err);

    c->part = LC_SNAPSHOT_BEGIN;
    c->seq = 0;
    while (status == LOCI_OK && c->seq < c->until) {
        lc_job_progress progress = progress_of(c);
        int64_t part_before = c->part, seq_before = c->seq;

        status = lc_db_write_one(c->scratch, LC_UPKEEP_WAIT_MS, replay_page, &p, err);
        c->part = p.part;
        c->seq = p.seq;
        c->recorded_at = p.recorded_at;
        if (status == LOCI_OK && c->until > 0 && c->part == part_before && c->seq == seq_before)
            status = lc_fail(err, LOCI_ECORRUPT, "event %lld is missing; run `loci verify`",
                             (long long)c->seq + 1);
        if (status == LOCI_OK)
            status = lc_job_run_keep(c->run, &progress, err);
    }
    return status == LOCI_OK && c->until > 0
               ? lc_db_write_one(c->scratch, LC_UPKEEP_WAIT_MS, take, c, err)
               : status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static loci_status write_user(compaction *c, lc_tx_body *body, loci_error *err)
{
    lc_write write = {.tenant_id = lc_user_walk_tenant(&c->walk),
                      .user_id = lc_user_walk_user(&c->walk),
                      .now_us = lc_env_now_us(lc_engine_env(c->run->engine)),
                      .deadline_us = lc_clock_monotonic_us() + WRITE_US,
                      .body = body,
                      .ctx = c};
    loci_status status = lc_engine_write(c->run->engine, &write);

    if (status != LOCI_OK && err != NULL)
        *err = write.error;
    return status;
}

static loci_status put_snapshot(lc_tx *tx, void *ctx, loci_error *err)
{
    compaction *c = ctx;
    loci_status status = check_marks(tx, c, err);

    return status == LOCI_OK && c->until > 0
               ? lc_snapshot_put(&c->snapshot, tx, c->until, c->recorded_at, err)
               : status;
}

static loci_status trim(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_snapshot_trim(tx, TRIM_EVENTS, &((compaction *)ctx)->is_trimming, err);
}

static loci_status compact_user(compaction *c, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (c->until > 0 && !c->is_dry) {
        lc_snapshot_init(&c->snapshot, &lc_engine_env(c->run->engine)->heap);
        status = replay(c, err);
        if (status == LOCI_OK && c->until > 0)
            status = write_user(c, put_snapshot, err);
        if (c->until > 0)
            c->bytes += c->snapshot.bytes;
        lc_snapshot_clear(&c->snapshot);
        c->is_trimming = true;
    }
    if (status == LOCI_OK && c->until > 0) {
        c->users++;
        c->events += c->until - c->marks.base;
    }
    while (status == LOCI_OK && c->is_trimming && !c->is_dry) {
        lc_job_progress progress = progress_of(c);

        status = write_user(c, trim, err);
        if (status == LOCI_OK)
            status = lc_job_run_keep(c->run, &progress, err);
    }
    return status;
}

/* ---- The job --------------------------------------------------------------------------------- */

static loci_status create_scratch(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    return lc_schema_create_tables(tx, 1u << LC_TABLE_PROJECTION | 1u << LC_TABLE_OPERATIONAL,
                                   &(lc_ddl){.suffix = ""}, err);
}

static loci_status add_table(void *ctx, const lc_table *table, loci_error *err)
{
    (void)err;
    if (table->table_class == LC_TABLE_PROJECTION)
        lc_buf_append_format(ctx, "delete from %s;\n", table->name);
    return LOCI_OK;
}

static loci_status open_scratch(compaction *c, loci_error *err)
{
    loci_engine *engine = c->run->engine;
    const lc_catalogue *catalogue = lc_engine_catalogue(engine);
    loci_status status;

    (void)lc_catalogue_each(catalogue, add_table, &c->emptying, err); /* Cannot fail. */
    if (lc_buf_terminate(&c->emptying) == NULL)
        return lc_buf_status(&c->emptying, err);
    status = lc_sqlite_driver.upkeep->open_scratch(lc_engine_env(engine), catalogue, &c->scratch,
                                                   err);
    return status == LOCI_OK
               ? lc_db_write_one(c->scratch, LC_UPKEEP_WAIT_MS, create_scratch, NULL, err)
               : status;
}

static loci_status read_args(compaction *c, loci_error *err)
{
    const lc_json *args;
    loci_status status = lc_json_parse(c->run->arena, c->run->job.args, 0, &args, err);

    if (status != LOCI_OK)
        return status;
    c->before_us = lc_event_int(args, "before", 0);
    c->tenant_id = lc_event_str(args, "tenant_id");
    c->user_id = lc_event_str(args, "user_id");
    c->is_dry = lc_event_bool(args, "dry_run");
    return LOCI_OK;
}

static loci_status finish(const compaction *c, loci_error *err)
{
    lc_json_writer json;
    lc_buf result;
    loci_status status;

    lc_buf_init(&result, &lc_engine_env(c->run->engine)->heap, LOCI_MEM_PIPELINES,
                RESULT_BYTES_MAX);
    lc_jw_init(&json, &result);
    lc_jw_object(&json);
    lc_jw_member_int(&json, "users", c->users);
    lc_jw_member_int(&json, "events", c->events);
    lc_jw_member_int(&json, "bytes", c->bytes);
    lc_jw_end(&json);
    status = lc_buf_status(&result, err);
    if (status == LOCI_OK)
        status = lc_job_run_finish(c->run, NULL, NULL, lc_buf_str(&result), err);
    lc_buf_clear(&result);
    return status;
}

static loci_status run_compact(lc_job_run *run, loci_error *err)
{
    lc_heap *heap = &lc_engine_env(run->engine)->heap;
    compaction c = {.run = run};
    loci_status status;

    lc_user_walk_init(&c.walk, heap);
    lc_buf_init(&c.emptying, heap, LOCI_MEM_PIPELINES, LC_ARGS_BYTES_MAX);
    lc_buf_init(&c.upcast, heap, LOCI_MEM_PIPELINES, LC_JSON_BYTES_MAX);
    status = read_args(&c, err);
    if (status == LOCI_OK)
        status = open_scratch(&c, err);
    while (status == LOCI_OK) {
        lc_job_progress progress = progress_of(&c);

        status = lc_job_run_keep(run, &progress, err);
        if (status == LOCI_OK)
            status = lc_engine_read(
                run->engine, &(lc_read){.deadline_us = INT64_MAX, .body = find_user, .ctx = &c},
                err);
        if (status != LOCI_OK || !c.walk.found)
            break;
        if (is_asked_for(&c))
            status = compact_user(&c, err);
    }
    lc_db_close(c.scratch);
    lc_buf_clear(&c.upcast);
    lc_buf_clear(&c.emptying);
    lc_user_walk_clear(&c.walk);
    return status == LOCI_OK ? finish(&c, err) : status;
}

const lc_job_kind lc_job_compact = {
    .name = "store.compact",
    .help = "Replace the events before a time with snapshots of the rows that they made",
    .run = run_compact,
};
