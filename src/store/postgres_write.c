/* postgres_write.c - group commit, beside the groups of other processes.
 *
 *     begin, count, lock heads ---> body body body ... ---> heads, commit
 *
 * A group is as many queued bodies as fit, as with SQLite; what they write is sent along and only
 * looked at when a body asks something or at the commit. Isolation is READ COMMITTED: the head of
 * each user is locked first, and every later statement sees what the holder before has committed.
 *
 * Heads are taken with SKIP LOCKED, so a group never waits for one user while it holds another:
 * there is no deadlock between groups, and a user that another process is busy with holds up nobody
 * else. Its writes stay in the list. Only when no user of the list is free does the group wait, in
 * the server's queue, for the first of them. A user without a head gets one that is taken away
 * again when nothing was written. The store itself has a row of `meta` for its head.
 *
 * What fails because of somebody else (a deadlock with a row of `jobs`, a lost connection) answers
 * nothing: the list is run again by whoever calls, until the deadline of each write. What fails in
 * one body after its first write costs the group a re-run one by one.
 */
#include "store/postgres.h"

#include <string.h>
#include <sys/eventfd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/event.h"

/* ---- Prefetch -------------------------------------------------------------------------------- */

/* A body that reads before it writes costs one round trip per statement, and bodies run one after
 * the other. So those that may (lc_write.reads_own) are first run without effect, in dry runs: the
 * query at which a dry run arrives is sent, and the run ends. The answers to all of them come in
 * one round trip. The next dry run goes as far as the next query, and in the end the bodies run in
 * earnest with their answers at hand:
 *
 *     dry run, dry run, dry run -> answers -> dry run, dry run, dry run -> answers -> body body
 * body
 *
 * The answers are right because the head of each user is locked, so that no other process writes to
 * its rows, and because only the first body of each user in the group is prefetched: the bodies
 * before it write rows of other users. A body gets no more prefetched answers after its first
 * write. An answer is for one write and one statement. */

static lc_hash128 hash_of(const lc_sql *sql, const lc_arg *args)
{
    lc_hash128 hash = {0};

    for (size_t i = 0; sql->params[i] != '\0'; i++) {
        const lc_arg *arg = &args[i];
        bool is_text = arg->kind == 't' || arg->kind == 'b';
        loci_str bytes = {(const char *)&arg->as.i64, arg->kind == 0 ? 0 : sizeof arg->as.i64};

        hash = lc_hash128_chain(hash, (loci_str){&arg->kind, 1});
        hash = lc_hash128_chain(hash, is_text ? arg->as.str : bytes);
    }
    return hash;
}

static lc_pg_prefetched *find(lc_pg_prefetch *prefetch, const lc_sql *sql, const lc_arg *args)
{
    lc_hash128 hash = hash_of(sql, args);

    for (size_t i = 0; i < prefetch->count; i++) {
        lc_pg_prefetched *a = &prefetch->answers[i];

        if (a->write == prefetch->write && a->sql == sql && a->result != NULL &&
            lc_hash128_eq(a->args, hash))
            return a;
    }
    return NULL;
}

/* Sends the query and ends the dry run. */
static loci_status ask(lc_pg *db, const lc_sql *sql, const lc_arg *args, loci_error *err)
{
    lc_pg_prefetch *prefetch = db->prefetch;
    loci_status status = LOCI_OK;

    if (prefetch->count < LC_PG_PREFETCH_MAX) {
        status = lc_pg_send(db, sql, false, args, LC_PG_ROWS, err);
        if (status == LOCI_OK)
            prefetch->answers[prefetch->count++] = (lc_pg_prefetched){
                .write = prefetch->write, .sql = sql, .args = hash_of(sql, args)};
    }
    return status != LOCI_OK ? status : lc_pg_end_dry_run(err);
}

loci_status lc_pg_end_dry_run(loci_error *err)
{
    return lc_fail(err, LOCI_EUNAVAILABLE, "the dry run ends at its first new query");
}

bool lc_pg_find_prefetched(lc_pg *db, const lc_sql *sql, const lc_arg *args, PGresult **out,
                           loci_status *out_status, loci_error *err)
{
    lc_pg_prefetch *prefetch = db->prefetch;
    lc_pg_prefetched *found;

    if (prefetch == NULL || prefetch->write == NULL)
        return false;
    found = find(prefetch, sql, args);
    if (found == NULL && !prefetch->is_dry_run)
        return false;
    *out_status = found != NULL ? LOCI_OK : ask(db, sql, args, err);
    if (found != NULL) {
        *out = found->result;
        if (!prefetch->is_dry_run)
            found->result = NULL; /* It is the body's now. */
    }
    return true;
}

/* Waits for the answers to what the dry runs have asked. */
static loci_status take_prefetched(lc_pg *db, loci_error *err)
{
    lc_pg_prefetch *prefetch = db->prefetch;
    loci_status status = LOCI_OK;

    for (; status == LOCI_OK && prefetch->taken < prefetch->count; prefetch->taken++)
        status = lc_pg_take(db, &prefetch->answers[prefetch->taken].result, err);
    return status;
}

static void drop_prefetched(lc_pg *db)
{
    lc_pg_prefetch *prefetch = db->prefetch;

    if (prefetch == NULL)
        return;
    for (size_t i = 0; i < prefetch->count; i++)
        db->pq.clear(prefetch->answers[i].result); /* NULL is fine. */
    prefetch->count = prefetch->taken = 0;
    prefetch->write = NULL;
    prefetch->is_dry_run = false;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

#define CONNECT_US 5000000
#define WAIT_US_MIN 2000000
#define WAIT_US_MAX 60000000
#define LOCK_SLICE_MS "50" /* How long one call waits for another process. */
#define PREFETCH_ROUNDS 3  /* A stored answer, the session, what stands. */
#define AGAIN_MAX 8        /* Times that tables were in the way which are not loci's. */

static const lc_sql head_sql = {"select seq, recorded_at, objects from heads"
                                " where tenant_id = $1 and user_id = $2 for update skip locked",
                                "tt", "iii"};
static const lc_sql wait_head_sql = {"select seq, recorded_at, objects from heads"
                                     " where tenant_id = $1 and user_id = $2 for update",
                                     "tt", "iii"};
static const lc_sql make_head_sql = {
    "insert into heads (tenant_id, user_id, seq, recorded_at, objects, base_seq)"
    " values ($1, $2, 0, 0, 0, 0) on conflict (tenant_id, user_id) do nothing returning seq",
    "tt", "i"};
static const lc_sql unmake_head_sql = {
    "delete from heads where tenant_id = $1 and user_id = $2 and seq = 0 and objects = 0", "tt",
    NULL};
static const lc_sql store_sql = {
    "select value from meta where name = 'schema_version' for update skip locked", "", "t"};
static const lc_sql wait_store_sql = {
    "select value from meta where name = 'schema_version' for update", "", "t"};
static const lc_sql has_meta_sql = {
    "select 1 where to_regclass(quote_ident(current_schema()) || '.meta') is not null", "", "i"};
static const lc_sql lock_wait_sql = {"select set_config('lock_timeout', '" LOCK_SLICE_MS "', true)",
                                     "", "t"};
static const lc_sql lock_log_sql = {"lock table heads in exclusive mode", "", NULL};

typedef enum hold {
    HOLD_NOTHING, /* It needs no lock. */
    HOLD_BUSY,    /* Somebody else has it. */
    HOLD_HELD,
    HOLD_MADE /* Held, and made by this transaction. */
} hold;

/* Whose head the group holds. */
typedef struct owner {
    loci_str tenant_id;
    loci_str user_id;
    bool locks_nothing;
    const lc_write *first; /* Of this user in the group. */
    hold hold;
    bool has_head;
    lc_head head;
} owner;

/* Made with the first write of a connection, so that the others need no memory. */
struct lc_pg_group_room {
    owner owners[LC_WRITES_PER_COMMIT_MAX];
    bool has_run[LC_WRITES_PER_COMMIT_MAX];
    lc_pg_prefetch prefetch;
};

typedef struct group {
    lc_pg *db;
    lc_tx tx;
    lc_write **writes;
    bool *has_run;
    size_t write_count;
    owner *owners;
    size_t owner_count;
    owner *current; /* Whom `tx` is about. */
    size_t bytes;
    int64_t began_us;
    int64_t deadline_us; /* Of the most patient. */
    bool has_written;
    bool is_spoilt; /* A body failed after it wrote. */
} group;

/* ---- Answers -------------------------------------------------------------------------------- */

static void answer(lc_write *write, loci_status status)
{
    write->status = status;
    write->is_answered = true;
}

static void answer_from(lc_write *write, const loci_error *cause)
{
    write->error = *cause;
    answer(write, cause->status);
}

static bool answer_late(lc_write *write)
{
    if (lc_clock_monotonic_us() < write->deadline_us)
        return false;
    answer(write, lc_fail(&write->error, LOCI_EDEADLINE,
                          "the store was too busy to begin before the deadline"));
    return true;
}

/* ---- Locking -------------------------------------------------------------------------------- */

static bool is_store(const owner *o)
{
    return o->tenant_id.len == 0 && o->user_id.len == 0;
}

static owner *find_owner(const group *g, const lc_write *write)
{
    for (size_t i = 0; i < g->owner_count; i++) {
        owner *o = &g->owners[i];

        if (lc_str_eq(o->user_id, write->user_id) && lc_str_eq(o->tenant_id, write->tenant_id) &&
            o->locks_nothing == write->locks_nothing)
            return o;
    }
    return NULL;
}

static void take_head(const lc_pg *db, const PGresult *result, owner *o)
{
    o->hold = HOLD_HELD;
    if (is_store(o))
        return; /* Its own head is read when it is asked for. */
    o->has_head = true;
    o->head = (lc_head){.seq = lc_pg_value_i64(db, result, 0, 0),
                        .recorded_at = lc_pg_value_i64(db, result, 0, 1),
                        .objects = lc_pg_value_i64(db, result, 0, 2)};
}

static const lc_sql *lock_of(const owner *o, bool waits)
{
    if (is_store(o))
        return waits ? &wait_store_sql : &store_sql;
    return waits ? &wait_head_sql : &head_sql;
}

/* One answer of a statement that locks: no row means that somebody else has it. */
static loci_status take_lock(group *g, owner *o, loci_error *err)
{
    lc_pg *db = g->db;
    PGresult *result = NULL;
    loci_status status = lc_pg_take(db, &result, err);

    if (status == LOCI_OK && db->pq.ntuples(result) == 1)
        take_head(db, result, o);
    db->pq.clear(result);
    return status;
}

/* Users without a head get one; those whose head is locked are left out. */
static loci_status make_heads(group *g, loci_error *err)
{
    lc_pg *db = g->db;
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < g->owner_count; i++) {
        owner *o = &g->owners[i];
        PGresult *result = NULL;

        if (o->hold != HOLD_BUSY || is_store(o))
            continue;
        status = lc_pg_ask(db, &make_head_sql, (lc_arg[]){LC_T(o->tenant_id), LC_T(o->user_id)},
                           &result, err);
        if (status == LOCI_OK && db->pq.ntuples(result) == 1) {
            o->hold = HOLD_MADE;
            o->has_head = true;
            o->head = (lc_head){0};
        }
        db->pq.clear(result);
    }
    return status;
}

/* A store that is being opened may have no tables, and then nobody to wait for: the server's own
 * catalogue lets only one make them. */
static loci_status lock_unknown_store(group *g, owner *o, loci_error *err)
{
    lc_pg *db = g->db;
    PGresult *result = NULL;
    loci_status status = lc_pg_ask(db, &has_meta_sql, NULL, &result, err);
    bool exists = status == LOCI_OK && db->pq.ntuples(result) == 1;

    db->pq.clear(result);
    o->hold = HOLD_NOTHING;
    if (!exists)
        return status;
    status = lc_pg_send(db, &wait_store_sql, false, NULL, LC_PG_ROWS, err);
    return status == LOCI_OK ? take_lock(g, o, err) : status;
}

/* Nobody is free: waits for the first in the list. */
static loci_status wait_for_one(group *g, loci_error *err)
{
    owner *o = &g->owners[0];
    PGresult *result = NULL;
    loci_status status = lc_pg_ask(g->db, &lock_wait_sql, NULL, &result, err);

    g->db->pq.clear(result);
    if (status == LOCI_OK)
        status = lc_pg_send(g->db, lock_of(o, true), false,
                            (lc_arg[]){LC_T(o->tenant_id), LC_T(o->user_id)}, LC_PG_ROWS, err);
    return status == LOCI_OK ? take_lock(g, o, err) : status;
}

static loci_status lock_owners(group *g, loci_error *err)
{
    lc_pg *db = g->db;
    bool has_any = false;
    loci_status status = lc_pg_send_begin(db, err);

    if (status == LOCI_OK && db->db.store_id[0] == '\0') {
        LC_ASSERT(g->owner_count == 1 && is_store(&g->owners[0]));
        return lock_unknown_store(g, &g->owners[0], err);
    }
    for (size_t i = 0; status == LOCI_OK && i < g->owner_count; i++) {
        owner *o = &g->owners[i];

        if (o->hold == HOLD_BUSY)
            status = lc_pg_send(db, lock_of(o, false), false,
                                (lc_arg[]){LC_T(o->tenant_id), LC_T(o->user_id)}, LC_PG_ROWS, err);
    }
    if (status == LOCI_OK)
        status = lc_pg_take_begin(db, err);
    for (size_t i = 0; status == LOCI_OK && i < g->owner_count; i++) {
        if (g->owners[i].hold == HOLD_BUSY)
            status = take_lock(g, &g->owners[i], err);
    }
    if (status == LOCI_OK)
        status = make_heads(g, err);
    for (size_t i = 0; i < g->owner_count; i++)
        has_any = has_any || g->owners[i].hold != HOLD_BUSY;
    if (status == LOCI_OK && !has_any)
        status = wait_for_one(g, err);
    return status;
}

/* ---- Bodies --------------------------------------------------------------------------------- */

static loci_status leave_current(group *g, loci_error *err)
{
    loci_status status = lc_tx_flush_head(&g->tx, err);

    if (g->current != NULL) {
        LC_ASSERT(!g->current->locks_nothing || !g->tx.has_head);
        g->current->head = g->tx.head;
        g->current->has_head = g->tx.has_head;
    }
    return status;
}

/* Points the transaction at the user of `write`. */
static loci_status turn_to(group *g, owner *o, const lc_write *write, loci_error *err)
{
    lc_tx *tx = &g->tx;
    loci_status status = LOCI_OK;

    if (g->current != o) {
        status = leave_current(g, err);
        g->current = o;
        /* Whatever else it knows is the other user's. */
        *tx = (lc_tx){.db = tx->db,
                      .is_write = true,
                      .tenant_id = write->tenant_id,
                      .user_id = write->user_id,
                      .head = o->head,
                      .has_head = o->has_head};
    }
    lc_tx_turn_to(tx, write);
    tx->wrote = status != LOCI_OK; /* A head that was not written spoils the writes before. */
    return status;
}

static bool is_full(const group *g)
{
    return g->bytes >= LC_WRITE_BYTES_PER_COMMIT_MAX ||
           lc_clock_monotonic_us() - g->began_us >= g->db->db.commit_us_max;
}

static bool may_prefetch(const group *g, const lc_write *write)
{
    const owner *o = find_owner(g, write);

    return write->reads_own && o->first == write && o->hold != HOLD_BUSY;
}

/* Runs the body without effect, up to the first query that has no answer yet. */
static void dry_run(const group *g, const lc_write *write)
{
    const owner *o = find_owner(g, write);
    lc_tx tx = {.db = &g->db->db,
                .is_write = true,
                .now_us = write->now_us,
                .tenant_id = write->tenant_id,
                .user_id = write->user_id,
                .head = o->head,
                .has_head = o->has_head};
    loci_error ignored;

    g->db->prefetch->write = write;
    (void)write->body(&tx, write->ctx, &ignored); /* Its failures count when it is run. */
}

static void prefetch_answers(const group *g)
{
    lc_pg_prefetch *prefetch = g->db->prefetch;
    size_t candidates = 0, before;
    loci_error ignored; /* It stands in the connection. */

    for (size_t i = 0; i < g->write_count; i++)
        candidates += may_prefetch(g, g->writes[i]);
    if (candidates < 2)
        return; /* It would ask as often. */
    prefetch->is_dry_run = true;
    for (int round = 0; round < PREFETCH_ROUNDS && !g->db->has_failed; round++) {
        before = prefetch->count;
        for (size_t i = 0; i < g->write_count && !g->db->has_failed; i++) {
            if (may_prefetch(g, g->writes[i]))
                dry_run(g, g->writes[i]);
        }
        if (prefetch->count == before || take_prefetched(g->db, &ignored) != LOCI_OK)
            break;
    }
    prefetch->is_dry_run = false;
    prefetch->write = NULL;
}

/* Runs bodies until the group is full, spoilt or failed; the `status` of a write then says how its
 * body ended and awaits the commit. */
static void run_bodies(group *g)
{
    g->began_us = lc_clock_monotonic_us();
    prefetch_answers(g);
    for (size_t i = 0; i < g->write_count && !g->is_spoilt && !g->db->has_failed; i++) {
        lc_write *write = g->writes[i];
        owner *o = find_owner(g, write);

        if (o->hold == HOLD_BUSY || answer_late(write))
            continue;
        if (i > 0 && is_full(g))
            break;
        g->has_run[i] = true;
        write->status = turn_to(g, o, write, &write->error);
        g->db->prefetch->write = o->first == write ? write : NULL;
        if (write->status == LOCI_OK)
            write->status = write->body(&g->tx, write->ctx, &write->error);
        g->db->prefetch->write = NULL;
        g->bytes += write->bytes;
        g->has_written = g->has_written || g->tx.wrote;
        g->is_spoilt = write->status != LOCI_OK && g->tx.wrote;
    }
}

static loci_status unmake_heads(group *g, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < g->owner_count; i++) {
        const owner *o = &g->owners[i];

        if (o->hold == HOLD_MADE && o->head.seq == 0 && o->head.objects == 0)
            status = lc_pg_send(g->db, &unmake_head_sql, false,
                                (lc_arg[]){LC_T(o->tenant_id), LC_T(o->user_id)}, LC_PG_CHANGES_ANY,
                                err);
    }
    return status;
}

static loci_status commit(group *g, loci_error *err)
{
    loci_status status = leave_current(g, err);

    if (status == LOCI_OK)
        status = unmake_heads(g, err);
    return status == LOCI_OK ? lc_pg_end_commit(g->db, g->deadline_us, err) : status;
}

/* ---- Groups --------------------------------------------------------------------------------- */

static bool make_group(lc_pg *db, lc_write **writes, size_t count, group *g)
{
    *g = (group){
        .db = db, .tx = {.db = &db->db, .is_write = true}, .writes = writes, .write_count = count};
    if (db->group_room == NULL)
        db->group_room = lc_heap_alloc(&db->db.env->heap, sizeof *db->group_room, LOCI_MEM_ENGINE);
    if (db->group_room == NULL)
        return false;
    if (db->prefetch == NULL) {
        db->prefetch = &db->group_room->prefetch;
        *db->prefetch = (lc_pg_prefetch){.count = 0};
    }
    memset(db->group_room->has_run, 0, sizeof db->group_room->has_run);
    g->has_run = db->group_room->has_run;
    g->owners = db->group_room->owners;
    for (size_t i = 0; i < count; i++) {
        const lc_write *write = writes[i];

        if (write->deadline_us > g->deadline_us)
            g->deadline_us = write->deadline_us;
        if (find_owner(g, write) != NULL)
            continue;
        g->owners[g->owner_count++] = (owner){
            .tenant_id = write->tenant_id,
            .user_id = write->user_id,
            .locks_nothing = write->locks_nothing,
            .first = write,
            .hold = write->locks_nothing ? HOLD_NOTHING : HOLD_BUSY,
        };
    }
    return true;
}

static void set_deadline(lc_pg *db, const group *g)
{
    int64_t now_us = lc_clock_monotonic_us();

    db->deadline_us = g->deadline_us;
    if (db->deadline_us < now_us + WAIT_US_MIN)
        db->deadline_us = now_us + WAIT_US_MIN;
    if (db->deadline_us > now_us + WAIT_US_MAX)
        db->deadline_us = now_us + WAIT_US_MAX;
}

typedef enum verdict {
    VERDICT_DONE,
    VERDICT_AGAIN,
    VERDICT_FAILED,
    VERDICT_UNKNOWN /* It may have been committed: nothing may be run again. */
} verdict;

/* What a failure of the transaction means for its writes. */
static verdict judge(lc_pg *db, const loci_error *err)
{
    if (db->is_unknown)
        return VERDICT_UNKNOWN;
    if (!db->has_failed || err->status == LOCI_ECANCELLED)
        return VERDICT_FAILED;
    if (db->remedy == LC_PG_LOST)
        return VERDICT_AGAIN;
    if (db->remedy != LC_PG_AGAIN)
        return VERDICT_FAILED;
    if (err->status == LOCI_ECONFLICT && ++db->again_count > AGAIN_MAX)
        return VERDICT_FAILED;
    return VERDICT_AGAIN;
}

static verdict run_transaction(group *g, loci_error *err)
{
    lc_pg *db = g->db;
    loci_status status;

    db->has_failed = db->is_unknown = db->has_expectation = false;
    db->is_executing = true;
    set_deadline(db, g);
    status = lock_owners(g, err);
    if (status == LOCI_OK)
        run_bodies(g);
    if (status == LOCI_OK && db->has_failed)
        status = lc_pg_tell_failure(db, err);
    if (status == LOCI_OK && !g->is_spoilt && g->has_written)
        status = commit(g, err);
    if (status != LOCI_OK || g->is_spoilt || !g->has_written)
        lc_pg_roll_back(db);
    drop_prefetched(db);
    db->is_executing = false;
    return status == LOCI_OK ? VERDICT_DONE : judge(db, err);
}

static void answer_group(group *g, verdict v, const loci_error *cause)
{
    for (size_t i = 0; i < g->write_count; i++) {
        lc_write *write = g->writes[i];

        if (write->is_answered)
            continue;
        if ((v == VERDICT_FAILED || v == VERDICT_UNKNOWN) && (g->has_run[i] || g->write_count == 1))
            answer_from(write, cause);
        else if (v == VERDICT_DONE && g->has_run[i])
            answer(write, write->status);
        else
            (void)answer_late(write);
    }
}

static void run_group(lc_pg *db, lc_write **writes, size_t count)
{
    loci_error err;
    verdict v;
    group g;

    if (!make_group(db, writes, count, &g)) {
        (void)lc_fail_memory(&err);
        for (size_t i = 0; i < count; i++)
            answer_from(writes[i], &err);
        return;
    }
    v = run_transaction(&g, &err);
    if (v == VERDICT_DONE)
        db->again_count = 0;
    if (v == VERDICT_AGAIN)
        lc_clock_sleep_us(lc_random_between(&db->db.env->random, 500, 3000));
    if (count > 1 && v != VERDICT_UNKNOWN && (g.is_spoilt || v == VERDICT_FAILED)) {
        for (size_t i = 0; i < count; i++) {
            if (!writes[i]->is_answered && db->conn != NULL)
                run_group(db, &writes[i], 1);
        }
        return;
    }
    if (g.is_spoilt && v == VERDICT_DONE)
        answer(writes[0], writes[0]->status);
    answer_group(&g, v, &err);
}

void lc_pg_write(lc_db *base, lc_write *first)
{
    lc_pg *db = (lc_pg *)base;
    lc_write *writes[LC_WRITES_PER_COMMIT_MAX];
    size_t count = 0;
    eventfd_t ignored;
    loci_error err;

    if (db->conn == NULL) /* Then `err` says why everybody is refused. */
        (void)lc_pg_connect(db, lc_clock_monotonic_us() + CONNECT_US, &err);
    (void)eventfd_read(db->wake_fd, &ignored); /* Of an interrupt that came too late. */
    for (lc_write *write = first; write != NULL && count < LC_WRITES_PER_COMMIT_MAX;
         write = write->next) {
        if (write->is_answered || answer_late(write))
            continue;
        if (db->conn == NULL)
            answer_from(write, &err);
        else
            writes[count++] = write;
    }
    if (count > 0)
        run_group(db, writes, count);
    lc_pg_analyze_young(db);
}

void lc_pg_free_group_room(lc_pg *db)
{
    drop_prefetched(db); /* Of a body that a bug has stopped. */
    db->prefetch = NULL;
    lc_heap_free(&db->db.env->heap, db->group_room, sizeof *db->group_room, LOCI_MEM_ENGINE);
    db->group_room = NULL;
}

loci_status lc_pg_lock_log(lc_tx *tx, loci_error *err)
{
    return lc_pg_send((lc_pg *)tx->db, &lock_log_sql, false, NULL, LC_PG_CHANGES_ANY, err);
}
