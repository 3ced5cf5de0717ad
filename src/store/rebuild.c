/* rebuild.c - replaying the log into shadow tables, and the swap.
 *
 * All indexes exist from the beginning: `apply` finds rows by them, and a replay that scans instead
 * would be quadratic. They carry the generation in their names, because an index keeps its name
 * when its table is renamed; the generation in use is `meta.projection_generation`.
 *
 * `meta.rebuild` holds "generation shape version partitions" of the shadows. Anything else there,
 * such as a rebuild begun by another version of loci, whose events may apply differently, is
 * dropped and started again.
 *
 * A slice may be rolled back and run again, so its state outside the store (the position of the
 * walk) is only a hint: the slice that ends the rebuild starts a round of its own and finds all
 * users that are not fully replayed.
 */
#include "store/rebuild.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/db_upkeep.h"
#include "store/discard.h"
#include "store/dump.h"
#include "store/event.h"
#include "store/partition.h"
#include "store/schema.h"
#include "store/snapshot.h"

#define SLICE_US 50000 /* When the caller does not say. */
#define EVENTS_MIN 32  /* Asked for by the first statement of a slice. */
#define GAP_US                                                                                     \
    4000 /* Between slices: longer than other processes sleep while they wait for the lock. */
#define MARK_BYTES 96
#define FIRST_ANALYZED 500 /* Events after which statistics are collected first, */
#define GROWTH 4           /* then again whenever their number grew by this factor. */

static const lc_sql lagging_sql = {
    "select h.tenant_id, h.user_id, h.seq, h.recorded_at, h.objects"
    " from heads h left join rebuild_heads r"
    " on r.tenant_id = h.tenant_id and r.user_id = h.user_id"
    " where (h.tenant_id, h.user_id) > ($1, $2) and h.seq > coalesce(r.seq, 0)"
    " order by h.tenant_id, h.user_id limit 1",
    "tt", "ttiii"};

static const lc_sql progress_sql = {
    "select seq from rebuild_heads where tenant_id = $1 and user_id = $2", "tt", "i"};

static const lc_sql set_progress_sql = {
    "insert into rebuild_heads (tenant_id, user_id, seq) values ($1, $2, $3)"
    " on conflict (tenant_id, user_id) do update set seq = excluded.seq",
    "tti", NULL};

static const lc_sql clear_progress_sql = {"delete from rebuild_heads", "", NULL};

static const lc_sql total_sql = {"select cast(coalesce(sum(seq), 0) as bigint) from heads", "",
                                 "i"};
static const lc_sql done_sql = {
    "select cast(coalesce(sum(seq), 0) as bigint) from rebuild_heads where seq > 0", "", "i"};

void lc_rebuild_init(lc_rebuild *rebuild, lc_heap *heap)
{
    *rebuild = (lc_rebuild){0};
    lc_user_walk_init(&rebuild->walk, heap);
    lc_buf_init(&rebuild->upcast, heap, LOCI_MEM_PIPELINES, LC_JSON_BYTES_MAX);
}

void lc_rebuild_clear(lc_rebuild *rebuild)
{
    lc_user_walk_clear(&rebuild->walk);
    lc_buf_clear(&rebuild->upcast);
}

/* ---- Begin and swap ------------------------------------------------------------------------- */

typedef enum script_kind { SCRIPT_DROP_SHADOWS, SCRIPT_KEEP_GRANTS, SCRIPT_RENAME } script_kind;

typedef struct script {
    lc_buf text;
    script_kind kind;
    lc_dialect dialect;
} script;

static loci_status add_statements(void *ctx, const lc_table *table, loci_error *err)
{
    script *s = ctx;

    (void)err;
    if (table->table_class != LC_TABLE_PROJECTION)
        return LOCI_OK;
    if (s->kind == SCRIPT_KEEP_GRANTS)
        lc_ddl_keep_grants(&s->text, table, &(lc_ddl){.dialect = s->dialect, .suffix = "__new"});
    else if (s->kind == SCRIPT_RENAME)
        lc_buf_append_format(&s->text, "alter table %s__new rename to %s;\n", table->name,
                             table->name);
    else
        lc_buf_append_format(&s->text, "drop table if exists %s__new;\n", table->name);
    return LOCI_OK;
}

static loci_status run_for_projections(lc_tx *tx, script_kind kind, loci_error *err)
{
    script s = {.kind = kind, .dialect = tx->db->driver->dialect};
    loci_status status = LOCI_OK;
    const char *text;

    lc_buf_init(&s.text, &tx->db->env->heap, LOCI_MEM_PIPELINES, LC_ARGS_BYTES_MAX);
    (void)lc_catalogue_each(tx->db->catalogue, add_statements, &s, err); /* Cannot fail. */
    text = lc_buf_terminate(&s.text);
    if (text == NULL)
        status = lc_buf_status(&s.text, err);
    else if (text[0] != '\0')
        status = tx->db->driver->upkeep->run_script(tx, text, err);
    lc_buf_clear(&s.text);
    return status;
}

static loci_status swap_tables(lc_tx *tx, const lc_rebuild *rebuild, loci_error *err)
{
    loci_status status = run_for_projections(tx, SCRIPT_KEEP_GRANTS, err);

    if (status == LOCI_OK)
        status = lc_discard_put_aside(tx, err);
    if (status == LOCI_OK)
        status = run_for_projections(tx, SCRIPT_RENAME, err);
    if (status == LOCI_OK)
        status = lc_schema_note_projections(tx, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &clear_progress_sql, NULL, err);
    if (status == LOCI_OK)
        status = lc_meta_set_text(tx, "rebuild", LC_STR(""), err);
    if (status == LOCI_OK)
        status = lc_meta_set_i64(tx, "projection_generation", rebuild->generation, err);
    if (status == LOCI_OK)
        status = lc_meta_set_i64(tx, "projection_shape",
                                 (int64_t)lc_catalogue_shape(tx->db->catalogue), err);
    return status;
}

static loci_status begin(lc_tx *tx, const lc_ddl *ddl, const char *mark, loci_error *err)
{
    loci_status status = run_for_projections(tx, SCRIPT_DROP_SHADOWS, err);

    if (status == LOCI_OK)
        status = lc_schema_create_tables(tx, 1u << LC_TABLE_PROJECTION, ddl, err);
    if (status == LOCI_OK)
        status = lc_tx_exec(tx, &clear_progress_sql, NULL, err);
    if (status == LOCI_OK)
        status = lc_meta_set_text(tx, "rebuild", loci_str_of(mark), err);
    return status;
}

/* Finds the rebuild in progress, or starts one unless it `must_wait`; `*is_over`: another process
 * has completed this one. */
static loci_status join(lc_tx *tx, lc_rebuild *rebuild, bool must_wait, bool *is_over,
                        loci_error *err)
{
    char mark[MARK_BYTES], found[MARK_BYTES];
    lc_ddl ddl = {.suffix = "__new"};
    int64_t standing;
    loci_status status = lc_meta_get_i64(tx, "projection_generation", 0, &standing, err);

    if (status == LOCI_OK)
        status = lc_partition_wanted(tx, &ddl.partitions, err);
    if (status == LOCI_OK)
        status = lc_meta_get_text(tx, "rebuild", found, sizeof found, err);
    if (status != LOCI_OK)
        return status;
    if (rebuild->generation == 0)
        rebuild->generation = standing + 1;
    *is_over = standing >= rebuild->generation;
    if (*is_over || must_wait)
        return LOCI_OK;
    ddl.generation = rebuild->generation;
    (void)snprintf(mark, sizeof mark, "%" PRId64 " %016" PRIx64 " %d.%d.%d %" PRId64,
                   rebuild->generation, lc_catalogue_shape(tx->db->catalogue), LOCI_VERSION_MAJOR,
                   LOCI_VERSION_MINOR, LOCI_VERSION_PATCH, ddl.partitions); /* Fits by far. */
    if (!lc_str_is(loci_str_of(found), mark))
        status = begin(tx, &ddl, mark, err);
    return status;
}

/* ---- Replay --------------------------------------------------------------------------------- */

typedef struct slice {
    lc_tx *tx;
    lc_rebuild *rebuild;
    int64_t until_us;
    int64_t events;
    size_t bytes;
    int64_t seq;   /* Last replayed event of the user; see progress_in() for a snapshot. */
    int64_t part;  /* Last part of its snapshot that this slice replayed. */
    int64_t asked; /* Events that the last statement asked for. */
    bool is_cut;
} slice;

static bool is_full(const slice *s)
{
    return s->events >= s->tx->db->driver->slice_events || s->bytes >= LC_UPKEEP_BYTES ||
           ((s->events & 7) == 0 && lc_clock_monotonic_us() >= s->until_us);
}

static loci_status replay_event(void *ctx, const lc_event *event, loci_error *err)
{
    slice *s = ctx;
    loci_status status;

    if (event->seq != s->seq + 1)
        return lc_fail(err, LOCI_ECORRUPT, "event %lld is missing", (long long)s->seq + 1);
    s->tx->is_shadow = true;
    status = lc_event_apply(s->tx, event, &s->rebuild->upcast, err);
    s->tx->is_shadow = false;
    if (status != LOCI_OK)
        return status;
    s->seq = event->seq;
    s->events++;
    s->bytes += event->payload.len;
    if (is_full(s)) {
        s->is_cut = true;
        return LOCI_ECANCELLED; /* Ends the answer; replay_user() knows why. */
    }
    return LOCI_OK;
}

/* While a snapshot is loaded, the progress of its user is negative: the base and the number of
 * parts that are left. Another base means another snapshot, whose first part removes the rows of
 * this one. */
#define PARTS_MAX (INT64_C(1) << 20)

static int64_t progress_in(int64_t base, int64_t part)
{
    return -(base * PARTS_MAX - part);
}

static int64_t part_of(int64_t progress, int64_t base)
{
    return progress < 0 && -progress / PARTS_MAX == base ? -(-progress % PARTS_MAX)
                                                         : LC_SNAPSHOT_BEGIN;
}

static loci_status replay_part(void *ctx, const lc_event *event, loci_error *err)
{
    slice *s = ctx;
    loci_status status;

    if (event->seq <= -PARTS_MAX)
        return lc_fail(err, LOCI_ECORRUPT, "the snapshot has too many parts");
    s->tx->is_shadow = true;
    status = lc_event_apply(s->tx, event, &s->rebuild->upcast, err);
    s->tx->is_shadow = false;
    if (status != LOCI_OK)
        return status;
    s->part = event->seq;
    s->bytes += event->payload.len;
    s->is_cut = s->bytes >= LC_UPKEEP_BYTES || lc_clock_monotonic_us() >= s->until_us;
    return s->is_cut ? LOCI_ECANCELLED : LOCI_OK; /* replay_user() knows why. */
}

static loci_status load_snapshot(slice *s, const lc_event_range *user, int64_t base,
                                 loci_error *err)
{
    int64_t after = part_of(s->seq, base);
    loci_status status;

    s->seq = 0; /* In messages. */
    status = lc_snapshot_each(s->tx, user, after, replay_part, s, err);
    if (s->is_cut)
        s->seq = progress_in(base, s->part);
    else if (status == LOCI_OK)
        s->seq = base;
    return s->is_cut ? LOCI_OK : status;
}

/* Adds the user to the error message of an event. */
static loci_status fail_for_user(const slice *s, loci_status status, const loci_error *cause,
                                 loci_error *err)
{
    const lc_user_walk *walk = &s->rebuild->walk;
    char label[LC_USER_LABEL_BYTES];

    if (!lc_status_is_about_data(status)) {
        if (err != NULL)
            *err = *cause;
        return status;
    }
    lc_user_label(label, lc_user_walk_tenant(walk), lc_user_walk_user(walk));
    return lc_fail(err, status == LOCI_EUNSUPPORTED ? status : LOCI_ECORRUPT,
                   "the log of user %s cannot be replayed behind event %lld: %s", label,
                   (long long)s->seq, cause->message);
}

/* The next events of the user: twice as many as by the statement before, because a server sends
 * all that was asked for, and the slice may end before. */
static loci_status replay_page(slice *s, const lc_event_range *user, loci_error *err)
{
    lc_event_range range = *user;
    loci_status status;

    s->asked = s->asked == 0 ? EVENTS_MIN : 2 * s->asked;
    if (s->asked > s->tx->db->driver->slice_events)
        s->asked = s->tx->db->driver->slice_events;
    range.after_seq = s->seq;
    range.limit = s->asked;
    status = lc_event_each(s->tx, &range, replay_event, s, err);
    if (status == LOCI_OK && s->seq == range.after_seq)
        status = lc_fail(err, LOCI_ECORRUPT, "it ends there, but the head says %lld",
                         (long long)s->rebuild->walk.head.seq);
    return s->is_cut ? LOCI_OK : status;
}

static loci_status replay_user(slice *s, loci_error *err)
{
    const lc_user_walk *walk = &s->rebuild->walk;
    lc_event_range range = {.tenant_id = lc_user_walk_tenant(walk),
                            .user_id = lc_user_walk_user(walk)};
    const lc_arg owner[] = {LC_T(range.tenant_id), LC_T(range.user_id)};
    loci_error cause = {0};
    int64_t base = 0;
    loci_status status;

    s->seq = 0;
    status = lc_tx_find_numbers(s->tx, &progress_sql, owner, &s->seq, err);
    if (status == LOCI_OK)
        status = lc_snapshot_base(s->tx, range.tenant_id, range.user_id, &base, err);
    if (status != LOCI_OK)
        return status;
    status = base > s->seq ? load_snapshot(s, &range, base, &cause) : LOCI_OK;
    while (status == LOCI_OK && !s->is_cut && s->seq < walk->head.seq)
        status = replay_page(s, &range, &cause);
    if (status != LOCI_OK)
        return fail_for_user(s, status, &cause, err);
    return lc_tx_exec(s->tx, &set_progress_sql, (lc_arg[]){owner[0], owner[1], LC_I(s->seq)}, err);
}

/* Replays users that are not fully replayed, from the position of the walk, until the slice is full
 * or a whole round has found no such user. A user that was cut off is continued in the next
 * round. */
static loci_status replay_some(slice *s, bool *has_all, loci_error *err)
{
    lc_user_walk *walk = &s->rebuild->walk;
    bool is_whole_round = false;
    loci_status status = LOCI_OK;

    while (status == LOCI_OK && !s->is_cut) {
        status = lc_user_walk_next(s->tx, walk, &lagging_sql, err);
        if (status != LOCI_OK)
            break;
        if (walk->found) {
            status = replay_user(s, err);
        } else if (is_whole_round) {
            *has_all = true;
            break;
        } else {
            lc_user_walk_restart(walk);
            is_whole_round = true;
        }
    }
    return status;
}

/* For the progress. The sums read every head, so they are computed once, at the beginning. */
static loci_status count_events(lc_tx *tx, const slice *s, bool has_all, loci_error *err)
{
    lc_rebuild *rebuild = s->rebuild;
    loci_status status = LOCI_OK;

    rebuild->events_done += s->events;
    if (rebuild->events_total == 0) {
        status = lc_tx_find_numbers(tx, &total_sql, NULL, &rebuild->events_total, err);
        if (status == LOCI_OK)
            status = lc_tx_find_numbers(tx, &done_sql, NULL, &rebuild->events_done, err);
    }
    if (has_all || rebuild->events_done > rebuild->events_total)
        rebuild->events_total = rebuild->events_done;
    return status;
}

/* Swaps while no other transaction writes or reads. If writers work in parallel, their events up to
 * the lock are replayed first; if these are too many for the slice, the next slice tries again. */
static loci_status finish(slice *s, bool *has_all, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (s->tx->db->driver->upkeep->lock_log != NULL) {
        *has_all = false;
        status = lc_tx_lock_log(s->tx, err);
        if (status == LOCI_OK)
            status = replay_some(s, has_all, err);
    }
    if (status == LOCI_OK && *has_all)
        status = lc_tx_lock_readers(s->tx, err);
    if (status == LOCI_OK && *has_all)
        status = swap_tables(s->tx, s->rebuild, err);
    return status;
}

loci_status lc_rebuild_slice(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_rebuild *rebuild = ctx;
    slice s = {.tx = tx,
               .rebuild = rebuild,
               .until_us = lc_clock_monotonic_us() +
                           (rebuild->slice_us > 0 ? rebuild->slice_us : SLICE_US)};
    bool is_over = false, has_all = false;
    int64_t left = 0;
    loci_status status = lc_discard_count(tx, &left, err);

    rebuild->phase = LC_REBUILD_REPLAYING;
    if (status == LOCI_OK)
        status = join(tx, rebuild, left > 0, &is_over, err);
    if (status == LOCI_OK && is_over) {
        rebuild->phase = LC_REBUILD_DONE;
        return LOCI_OK;
    }
    if (status == LOCI_OK && left > 0) /* The swap needs their names. */
        return lc_discard_slice(tx, &(lc_discard){.slice_us = rebuild->slice_us}, err);
    if (status == LOCI_OK)
        status = replay_some(&s, &has_all, err);
    if (status == LOCI_OK)
        status = count_events(tx, &s, has_all, err);
    if (status != LOCI_OK || !has_all)
        return status;
    rebuild->phase = LC_REBUILD_CAUGHT_UP;
    if (!rebuild->may_swap)
        return LOCI_OK;
    status = finish(&s, &has_all, err);
    if (status == LOCI_OK && has_all)
        rebuild->phase = LC_REBUILD_DONE;
    return status;
}

bool lc_rebuild_wants_statistics(const lc_rebuild *rebuild, const lc_db_driver *driver)
{
    return driver->upkeep->analyze_shadows != NULL && rebuild->events_done >= FIRST_ANALYZED &&
           rebuild->events_done >= GROWTH * rebuild->events_analyzed;
}

loci_status lc_rebuild_collect_statistics(lc_rebuild *rebuild, lc_db *db, loci_error *err)
{
    if (!lc_rebuild_wants_statistics(rebuild, db->driver))
        return LOCI_OK;
    rebuild->events_analyzed = rebuild->events_done;
    return db->driver->upkeep->analyze_shadows(db, err);
}

loci_status lc_rebuild_run(lc_db *db, lc_progress *progress, void *ctx, loci_error *err)
{
    loci_status status = LOCI_OK;
    lc_rebuild rebuild;

    lc_rebuild_init(&rebuild, &db->env->heap);
    rebuild.may_swap = true;
    while (status == LOCI_OK && rebuild.phase != LC_REBUILD_DONE) {
        status = lc_db_write_one(db, LC_UPKEEP_WAIT_MS, lc_rebuild_slice, &rebuild, err);
        if (status != LOCI_OK || rebuild.phase == LC_REBUILD_DONE)
            break;
        if (progress != NULL)
            progress(ctx, "events replayed", rebuild.events_done, rebuild.events_total);
        status = lc_rebuild_collect_statistics(&rebuild, db, err);
        lc_clock_sleep_us(GAP_US);
    }
    lc_rebuild_clear(&rebuild);
    return status == LOCI_OK ? lc_discard_run(db, err) : status;
}

/* ---- Comparing before the swap --------------------------------------------------------------- */

/* A user is compared when its shadow has reached its head, which is checked in every snapshot. If
 * the user was written to since, the caller first replays it a little further. */

#define ATTEMPTS_MAX 5
#define TABLES_BYTES_MAX 4096

static const lc_sql both_heads_sql = {
    "select h.seq, coalesce(r.seq, 0) from heads h left join rebuild_heads r"
    " on r.tenant_id = h.tenant_id and r.user_id = h.user_id"
    " where h.tenant_id = $1 and h.user_id = $2",
    "tt", "ii"};

typedef struct comparison {
    const lc_upkeep *upkeep;
    lc_rebuild_report *report;
    lc_user_walk walk;
    lc_compare compare;
    int64_t seq;         /* At the start of the comparison; -1 = not started. */
    bool has_moved;      /* The comparison must start again. */
    int64_t differences; /* Of the user at hand. */
    bool is_same_shape;
} comparison;

static bool has_table(const lc_buf *tables, const char *name)
{
    loci_str rest = lc_buf_str(tables);

    while (rest.len > 0) {
        if (lc_str_is(lc_str_trim(lc_str_split(rest, ',', &rest)), name))
            return true;
    }
    return false;
}

static void note_difference(void *ctx, const lc_table *table, const char *what)
{
    comparison *c = ctx;
    lc_buf *tables = &c->report->tables;

    (void)what;
    c->differences++;
    if (!has_table(tables, table->name))
        lc_buf_append_format(tables, "%s%s", tables->len == 0 ? "" : ", ", table->name);
}

static loci_status next_user(lc_tx *tx, void *ctx, loci_error *err)
{
    comparison *c = ctx;

    return lc_user_walk_next(tx, &c->walk, &lc_user_heads_sql, err);
}

static loci_status look_at_shape(lc_tx *tx, void *ctx, loci_error *err)
{
    comparison *c = ctx;
    int64_t shape = 0;
    loci_status status = lc_meta_get_i64(tx, "projection_shape", 0, &shape, err);

    c->is_same_shape = shape == (int64_t)lc_catalogue_shape(tx->db->catalogue);
    return status;
}

static loci_status compare_some(lc_tx *tx, void *ctx, loci_error *err)
{
    comparison *c = ctx;
    int64_t seqs[2] = {0}; /* Of the log, and of the shadows. */
    loci_status status = lc_tx_find_numbers(
        tx, &both_heads_sql,
        (lc_arg[]){LC_T(lc_user_walk_tenant(&c->walk)), LC_T(lc_user_walk_user(&c->walk))}, seqs,
        err);

    if (status != LOCI_OK)
        return status;
    if (c->seq < 0)
        c->seq = seqs[0];
    c->has_moved = seqs[0] != seqs[1] || seqs[0] != c->seq;
    return c->has_moved ? LOCI_OK : lc_compare_step(&c->compare, tx, tx, err);
}

/* One attempt: all tables of the user at hand, unless it moves. */
static loci_status compare_user(comparison *c, loci_error *err)
{
    size_t tables_before = c->report->tables.len;
    loci_status status = LOCI_OK;

    c->seq = -1;
    c->has_moved = false;
    c->differences = 0;
    c->compare.tenant_id = lc_user_walk_tenant(&c->walk);
    c->compare.user_id = lc_user_walk_user(&c->walk);
    lc_compare_restart(&c->compare);
    while (status == LOCI_OK && !c->compare.is_done && !c->has_moved)
        status = lc_db_read(c->upkeep->db, INT64_MAX, compare_some, c, err);
    if (c->has_moved && c->report->tables.len > tables_before)
        lc_buf_truncate(&c->report->tables, tables_before);
    return status;
}

static loci_status compare_users(comparison *c, lc_rebuild_catch_up *catch_up, void *catch_up_ctx,
                                 loci_error *err)
{
    int64_t users = 0, total = 0, events;
    loci_status status = lc_upkeep_count(c->upkeep->db, &total, &events, err);

    while (status == LOCI_OK) {
        status = lc_db_read(c->upkeep->db, INT64_MAX, next_user, c, err);
        if (status != LOCI_OK || !c->walk.found)
            break;
        c->has_moved = true;
        for (int i = 0; status == LOCI_OK && c->has_moved && i < ATTEMPTS_MAX; i++) {
            if (i > 0)
                status = catch_up(catch_up_ctx, err);
            if (status == LOCI_OK)
                status = compare_user(c, err);
        }
        if (c->has_moved)
            c->report->users_skipped++;
        else
            c->report->differences += c->differences;
        if (status == LOCI_OK)
            status = lc_upkeep_report(c->upkeep, "users compared", ++users, total, err);
    }
    return status;
}

loci_status lc_rebuild_compare(const lc_upkeep *upkeep, lc_rebuild_catch_up *catch_up,
                               void *catch_up_ctx, lc_rebuild_report *out, loci_error *err)
{
    lc_heap *heap = &upkeep->db->env->heap;
    comparison c = {.upkeep = upkeep, .report = out};
    loci_status status;

    *out = (lc_rebuild_report){0};
    lc_buf_init(&out->tables, heap, LOCI_MEM_PIPELINES, TABLES_BYTES_MAX);
    lc_user_walk_init(&c.walk, heap);
    lc_compare_init(&c.compare, heap);
    c.compare.plan = upkeep->plan;
    c.compare.differs = note_difference;
    c.compare.ctx = &c;
    status = lc_db_read(upkeep->db, INT64_MAX, look_at_shape, &c, err);
    if (status == LOCI_OK && c.is_same_shape) {
        status = compare_users(&c, catch_up, catch_up_ctx, err);
        out->was_compared = status == LOCI_OK;
    }
    if (status == LOCI_OK)
        status = lc_buf_status(&out->tables, err);
    lc_compare_clear(&c.compare);
    lc_user_walk_clear(&c.walk);
    return status;
}
