/* verify.c - checks the pages, then each user, then rows that belong to no user.
 *
 * A user's log is replayed page by page into a scratch database and compared with the stored rows:
 *
 *     replay pages … caught up --compare steps--> equal or not
 *                        ^            | the head moved
 *                        '------------'  at most ATTEMPTS_MAX times
 *
 * Every step reads the head in its own snapshot, so a page that ends at the head and a comparison
 * during which the head did not move are exact although writers go on. The findings of a comparison
 * that was given up are dropped. A log that cannot be replayed is reported and not compared: each
 * row would only repeat the same problem.
 */
#include "store/verify.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/db_upkeep.h"
#include "store/dump.h"
#include "store/event.h"
#include "store/schema.h"
#include "store/snapshot.h"
#include "store/upkeep.h"

typedef struct verify_run {
    const lc_upkeep *upkeep;
    lc_problems *problems;
    lc_db *scratch;         /* Rows replayed. NULL = none yet, or no longer of use. */
    int64_t scratch_events; /* Replayed into it. */
    lc_buf upcast;
    lc_compare compare;
    int64_t events_done; /* Over all users. */
    int64_t events_total;
    /* The user at hand. */
    lc_user_walk user;
    char label[LC_USER_LABEL_BYTES];
    int64_t problems_before; /* To remove the problems added after these. */
    int64_t base, part;      /* The last part of the snapshot of `base` that was replayed. */
    int64_t seq;             /* Replayed up to here, */
    int64_t recorded_at;
    bool is_damaged; /* and no further: its log has a hole or an event that does not apply. */
} verify_run;

/* ---- One user -------------------------------------------------------------------------------- */

#define ATTEMPTS_MAX 5
#define EVENTS_PER_PART 1000 /* About as many rows are in a part of a snapshot. */
#define SCRATCH_EVENTS_MAX                                                                         \
    10000 /* Small users share the scratch; making it costs more than they do. */

static const lc_sql head_sql = {
    "select seq, recorded_at from heads where tenant_id = $1 and user_id = $2", "tt", "ii"};

/* One page of the log. A body may run again, so it works on a copy of the state in `run`, which is
 * stored back at the end. */
typedef struct page {
    verify_run *run;
    lc_tx *scratch;
    lc_head head;
    int64_t base, part;
    int64_t seq;
    int64_t recorded_at;
    int64_t events, parts;
    size_t bytes;
    int64_t began_us;
    bool is_cut; /* Stopped before the last event of the page. */
    bool is_damaged;
    bool is_last;
} page;

static loci_status load_head(lc_tx *tx, const verify_run *run, lc_head *out, loci_error *err)
{
    int64_t head[2] = {0};
    loci_status status = lc_tx_find_numbers(
        tx, &head_sql,
        (lc_arg[]){LC_T(lc_user_walk_tenant(&run->user)), LC_T(lc_user_walk_user(&run->user))},
        head, err);

    *out = (lc_head){.seq = head[0], .recorded_at = head[1]};
    return status;
}

static void note_damage(page *p, int64_t seq, const char *what)
{
    lc_problems_add(p->run->problems, "user %s: event %lld %s", p->run->label, (long long)seq,
                    what);
    p->is_damaged = true;
}

static loci_status replay(page *p, const lc_event *event, loci_error *err)
{
    loci_error cause;
    loci_status status = lc_event_apply(p->scratch, event, &p->run->upcast, &cause);

    if (status == LOCI_OK)
        return LOCI_OK;
    if (!lc_status_is_about_data(status)) {
        if (err != NULL)
            *err = cause;
        return status;
    }
    note_damage(p, event->seq, "does not apply");
    return LOCI_OK;
}

static loci_status cut_if_full(page *p, const lc_event *event)
{
    p->bytes += event->payload.len;
    p->is_cut = p->bytes > LC_UPKEEP_BYTES ||
                lc_clock_monotonic_us() - p->began_us > LC_UPKEEP_STEP_US;
    return p->is_cut ? LOCI_ECANCELLED : LOCI_OK; /* Ends the answer; read_page() knows why. */
}

static loci_status visit_event(void *ctx, const lc_event *event, loci_error *err)
{
    page *p = ctx;
    loci_status status = LOCI_OK;

    if (event->seq != p->seq + 1)
        note_damage(p, p->seq + 1, "is missing");
    if (p->seq > 0 && event->recorded_at < p->recorded_at)
        lc_problems_add(p->run->problems, "user %s: event %lld is recorded before event %lld",
                        p->run->label, (long long)event->seq, (long long)p->seq);
    if (!p->is_damaged)
        status = replay(p, event, err);
    p->seq = event->seq;
    p->recorded_at = event->recorded_at;
    p->events++;
    return status == LOCI_OK ? cut_if_full(p, event) : status;
}

/* The log ended in this snapshot, so the head must agree with it. */
static void check_head(const page *p)
{
    const verify_run *run = p->run;

    if (p->head.seq != p->seq)
        lc_problems_add(run->problems, "user %s: the head says event %lld, the last one is %lld",
                        run->label, (long long)p->head.seq, (long long)p->seq);
    else if (p->seq > 0 && p->head.recorded_at != p->recorded_at)
        lc_problems_add(run->problems, "user %s: the head has another time than event %lld",
                        run->label, (long long)p->seq);
}

static loci_status visit_part(void *ctx, const lc_event *event, loci_error *err)
{
    page *p = ctx;
    loci_status status = p->is_damaged ? LOCI_OK : replay(p, event, err);

    p->part = event->seq;
    p->recorded_at = event->recorded_at;
    p->parts++;
    return status == LOCI_OK ? cut_if_full(p, event) : status;
}

/* If a snapshot has replaced events that were not replayed yet, its rows are. The first part
 * removes those of another snapshot, which may have replaced this one between two pages. */
static loci_status begin_page(lc_tx *tx, page *p, lc_event_range *range, loci_error *err)
{
    int64_t base;
    loci_status status = load_head(tx, p->run, &p->head, err);

    if (status == LOCI_OK)
        status = lc_snapshot_base(tx, range->tenant_id, range->user_id, &base, err);
    if (status == LOCI_OK && base > p->seq) {
        if (base != p->base)
            p->part = LC_SNAPSHOT_BEGIN;
        p->base = base;
        status = lc_snapshot_each(tx, range, p->part, visit_part, p, err);
        if (status == LOCI_OK)
            p->seq = base;
    }
    range->after_seq = p->seq;
    return status;
}

static loci_status read_page(lc_tx *tx, void *ctx, loci_error *err)
{
    page *p = ctx;
    lc_event_range range = {.tenant_id = lc_user_walk_tenant(&p->run->user),
                            .user_id = lc_user_walk_user(&p->run->user),
                            .limit = LC_UPKEEP_EVENTS};
    loci_error cause = {0};
    loci_status status = begin_page(tx, p, &range, &cause);

    if (status == LOCI_OK)
        status = lc_event_each(tx, &range, visit_event, p, &cause);
    if (p->is_cut)
        return LOCI_OK;
    if (status == LOCI_OK) {
        p->is_last = p->events < LC_UPKEEP_EVENTS;
    } else if (lc_status_is_about_data(status)) {
        lc_problems_add(p->run->problems, "user %s: %s", p->run->label, cause.message);
        p->is_damaged = true;
        p->is_last = true; /* Events behind it cannot be read. */
        return LOCI_OK;
    } else if (err != NULL) {
        *err = cause;
    }
    if (p->is_last)
        check_head(p);
    return status;
}

static loci_status replay_page(lc_tx *scratch, void *ctx, loci_error *err)
{
    page *p = ctx;
    verify_run *run = p->run;
    int64_t problems_before = run->problems->count;
    loci_status status;

    *p = (page){.run = run,
                .scratch = scratch,
                .base = run->base,
                .part = run->part,
                .seq = run->seq,
                .recorded_at = run->recorded_at,
                .is_damaged = run->is_damaged,
                .began_us = lc_clock_monotonic_us()};
    status = lc_db_read(run->upkeep->db, INT64_MAX, read_page, p, err);
    if (status != LOCI_OK)
        run->problems->count = problems_before;
    return status;
}

/* Replays until the log ends, at `*out_head`. */
static loci_status catch_up(verify_run *run, lc_head *out_head, loci_error *err)
{
    loci_status status = LOCI_OK;
    page p = {.run = run};

    while (status == LOCI_OK && !p.is_last) {
        status = lc_db_write_one(run->scratch, LC_UPKEEP_WAIT_MS, replay_page, &p, err);
        if (status != LOCI_OK)
            break;
        run->base = p.base;
        run->part = p.part;
        run->seq = p.seq;
        run->recorded_at = p.recorded_at;
        run->is_damaged = p.is_damaged;
        run->scratch_events += p.events + EVENTS_PER_PART * p.parts;
        run->events_done += p.events;
        status = lc_upkeep_report(run->upkeep, "events verified", run->events_done,
                                  run->events_total, err);
    }
    *out_head = p.head;
    return status;
}

static void note_difference(void *ctx, const lc_table *table, const char *what)
{
    verify_run *run = ctx;

    (void)table;
    lc_problems_add(run->problems, "user %s: %s", run->label, what);
}

typedef struct comparison {
    verify_run *run;
    lc_tx *replayed;
    bool has_moved;
} comparison;

static loci_status compare_stored(lc_tx *tx, void *ctx, loci_error *err)
{
    comparison *c = ctx;
    lc_head head;
    loci_status status = load_head(tx, c->run, &head, err);

    if (status != LOCI_OK)
        return status;
    c->has_moved = head.seq != c->run->seq;
    return c->has_moved ? LOCI_OK : lc_compare_step(&c->run->compare, tx, c->replayed, err);
}

static loci_status compare_replayed(lc_tx *tx, void *ctx, loci_error *err)
{
    comparison *c = ctx;

    c->replayed = tx;
    return lc_db_read(c->run->upkeep->db, INT64_MAX, compare_stored, c, err);
}

/* Compares everything, or finds that the user was written to meanwhile. */
static loci_status compare_all(verify_run *run, bool *has_moved, loci_error *err)
{
    comparison c = {.run = run};
    int64_t problems_before = run->problems->count;
    loci_status status = LOCI_OK;

    run->compare.plan = run->upkeep->plan;
    run->compare.tenant_id = lc_user_walk_tenant(&run->user);
    run->compare.user_id = lc_user_walk_user(&run->user);
    run->compare.differs = note_difference;
    run->compare.ctx = run;
    lc_compare_restart(&run->compare);
    while (status == LOCI_OK && !run->compare.is_done && !c.has_moved)
        status = lc_db_read(run->scratch, INT64_MAX, compare_replayed, &c, err);
    if (c.has_moved)
        run->problems->count = problems_before;
    *has_moved = c.has_moved;
    return status;
}

static loci_status create_scratch(lc_tx *tx, void *ctx, loci_error *err)
{
    (void)ctx;
    /* Operational tables stay empty: the rooms' checks read them. */
    return lc_schema_create_tables(tx, 1u << LC_TABLE_PROJECTION | 1u << LC_TABLE_OPERATIONAL,
                                   &(lc_ddl){.suffix = ""}, err);
}

static void drop_scratch(verify_run *run)
{
    lc_db_close(run->scratch);
    run->scratch = NULL;
    run->scratch_events = 0;
}

static loci_status need_scratch(verify_run *run, loci_error *err)
{
    lc_db *db = run->upkeep->db;
    loci_status status;

    if (run->scratch != NULL)
        return LOCI_OK;
    status = db->driver->upkeep->open_scratch(db->env, db->catalogue, &run->scratch, err);
    if (status == LOCI_OK)
        status = lc_db_write_one(run->scratch, LC_UPKEEP_WAIT_MS, create_scratch, NULL, err);
    return status;
}

static loci_status ask_rooms(lc_tx *tx, void *ctx, loci_error *err)
{
    verify_run *run = ctx;
    const lc_room *const *room = tx->db->catalogue->rooms;
    loci_status status = LOCI_OK;

    run->problems->count = run->problems_before; /* Of an attempt that was given up. */
    for (; status == LOCI_OK && *room != NULL; room++) {
        if ((*room)->check != NULL)
            status = (*room)->check(tx, lc_user_walk_tenant(&run->user),
                                    lc_user_walk_user(&run->user), run->problems, err);
    }
    return status;
}

/* A user may be too large for one snapshot. If its replayed rows are equal, they are checked
 * instead, without a time limit. */
static loci_status check_rooms(verify_run *run, bool is_equal, loci_error *err)
{
    loci_status status;

    run->problems_before = run->problems->count;
    status = lc_db_read(run->upkeep->db, INT64_MAX, ask_rooms, run, err);
    if (status == LOCI_EDEADLINE && is_equal)
        status = lc_db_write_one(run->scratch, LC_UPKEEP_WAIT_MS, ask_rooms, run, err);
    return status;
}

/* Checks everything about the current user of `run`, who has a head. */
static loci_status verify_user(verify_run *run, loci_error *err)
{
    int64_t problems_before = run->problems->count;
    loci_status status = need_scratch(run, err);
    bool has_moved = true;
    lc_head head = {0};

    run->seq = run->recorded_at = run->base = 0;
    run->is_damaged = false;
    lc_user_label(run->label, lc_user_walk_tenant(&run->user), lc_user_walk_user(&run->user));
    for (int i = 0; status == LOCI_OK && has_moved && i < ATTEMPTS_MAX; i++) {
        status = catch_up(run, &head, err);
        has_moved = false;
        /* A head that disagrees with its log was reported; waiting for it would not help. */
        if (status == LOCI_OK && !run->is_damaged && head.seq == run->seq)
            status = compare_all(run, &has_moved, err);
    }
    if (status == LOCI_OK && has_moved)
        return lc_fail(err, LOCI_EUNAVAILABLE,
                       "user %s was written to during each of %d comparisons; try again later",
                       run->label, ATTEMPTS_MAX);
    if (status == LOCI_OK)
        status = check_rooms(run, run->problems->count == problems_before, err);
    if (status == LOCI_OK && (run->is_damaged || run->scratch_events > SCRATCH_EVENTS_MAX))
        drop_scratch(run);
    return status;
}

#define USERS_PER_STEP 500

static const lc_sql log_users_sql = {
    "select tenant_id, user_id from events where (tenant_id, user_id) > ($1, $2)"
    " order by tenant_id, user_id limit 1",
    "tt", "tt"};

static const lc_sql has_head_sql = {"select 1 from heads where tenant_id = $1 and user_id = $2",
                                    "tt", "i"};

/* ---- Users ---------------------------------------------------------------------------------- */

static loci_status next_user(lc_tx *tx, void *ctx, loci_error *err)
{
    verify_run *run = ctx;

    return lc_user_walk_next(tx, &run->user, &lc_user_heads_sql, err);
}

static loci_status verify_users(verify_run *run, loci_error *err)
{
    loci_status status = LOCI_OK;

    while (status == LOCI_OK) {
        status = lc_db_read(run->upkeep->db, INT64_MAX, next_user, run, err);
        if (status != LOCI_OK || !run->user.found)
            break;
        status = verify_user(run, err);
    }
    return status;
}

/* ---- Orphans -------------------------------------------------------------------------------- */

typedef struct orphan_search {
    lc_problems *problems;
    const lc_sql *next_user;
    const char *table;
    lc_user_walk user;
    bool is_done;
} orphan_search;

static loci_status check_owner(lc_tx *tx, orphan_search *search, loci_error *err)
{
    loci_str tenant_id = lc_user_walk_tenant(&search->user);
    loci_str user_id = lc_user_walk_user(&search->user);
    char label[LC_USER_LABEL_BYTES];
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &has_head_sql, (lc_arg[]){LC_T(tenant_id), LC_T(user_id)},
                                    &rows, &found, err);

    lc_rows_end(&rows);
    if (status != LOCI_OK || found)
        return status;
    lc_user_label(label, tenant_id, user_id);
    lc_problems_add(search->problems, "user %s: %s has rows, but there is no head", label,
                    search->table);
    return LOCI_OK;
}

static loci_status search_some(lc_tx *tx, void *ctx, loci_error *err)
{
    orphan_search *search = ctx;
    loci_status status = LOCI_OK;

    for (int i = 0; status == LOCI_OK && i < USERS_PER_STEP && !search->is_done; i++) {
        status = lc_user_walk_next(tx, &search->user, search->next_user, err);
        if (status != LOCI_OK)
            break;
        search->is_done = !search->user.found;
        if (search->user.found)
            status = check_owner(tx, search, err);
    }
    return status;
}

static loci_status find_orphans(const verify_run *run, const char *table,
                                const lc_sql *table_users_sql, loci_error *err)
{
    orphan_search search = {
        .problems = run->problems, .next_user = table_users_sql, .table = table};
    loci_status status = LOCI_OK;

    lc_user_walk_init(&search.user, &run->upkeep->db->env->heap);
    while (status == LOCI_OK && !search.is_done)
        status = lc_db_read(run->upkeep->db, INT64_MAX, search_some, &search, err);
    lc_user_walk_clear(&search.user);
    return status;
}

static loci_status find_all_orphans(const verify_run *run, loci_error *err)
{
    const lc_dump_plan *plan = run->upkeep->plan;
    loci_status status = find_orphans(run, "events", &log_users_sql, err);

    for (size_t i = 0; status == LOCI_OK && i < plan->table_count; i++)
        status = find_orphans(run, plan->tables[i].table->name, &plan->tables[i].next_user, err);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static void init_run(verify_run *run, const lc_upkeep *upkeep, lc_problems *problems)
{
    lc_heap *heap = &upkeep->db->env->heap;

    *run = (verify_run){.upkeep = upkeep, .problems = problems};
    lc_compare_init(&run->compare, heap);
    lc_buf_init(&run->upcast, heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_user_walk_init(&run->user, heap);
}

static void clear_run(verify_run *run)
{
    drop_scratch(run);
    lc_compare_clear(&run->compare);
    lc_buf_clear(&run->upcast);
    lc_user_walk_clear(&run->user);
}

loci_status lc_verify(const lc_upkeep *upkeep, lc_problems *problems, loci_error *err)
{
    int64_t pages_before = problems->count;
    verify_run run;
    int64_t users;
    loci_status status;

    init_run(&run, upkeep, problems);
    status = lc_upkeep_report(upkeep, "pages", 0, 0, err);
    if (status == LOCI_OK)
        status = upkeep->db->driver->upkeep->check(upkeep->db, problems, err);
    /* Rows from damaged pages would only cause further problems, or failures. */
    if (status != LOCI_OK || problems->count > pages_before)
        goto out;
    status = lc_upkeep_count(upkeep->db, &users, &run.events_total, err);
    if (status == LOCI_OK)
        status = verify_users(&run, err);
    if (status == LOCI_OK)
        status = find_all_orphans(&run, err);
out:
    clear_run(&run);
    return status;
}
