/* postgres_write.c - group commit, beside the groups of other processes.
 *
 *     begin, count, lock heads ---> dry runs ---> body body body ... ---> heads, commit
 *
 * A group is a number of queued bodies. Their writes are pipelined: the answers are read only when
 * a body needs the rows of a query, or at the commit. Isolation is READ COMMITTED: the head of each
 * user is locked first, and every later statement sees everything that the previous holder has
 * committed.
 *
 * One statement locks the heads of all users of a group, for any number of users. It skips heads
 * that another process has locked (SKIP LOCKED), so a group never waits for one user while it holds
 * another: there is no deadlock between groups, and a user that another process has locked does not
 * delay other users. Its writes stay in the list. Only if all users of the list are locked does the
 * group wait, in the server's queue, for the first of them. A second statement makes heads for new
 * users, and a third deletes those of them for which nothing was written. The store itself has a
 * row of `meta` for its head.
 *
 * Throughput must not fall under load, so the number of bodies in a group follows the measured
 * times (group_size): a group is large enough that its commit is a small part of its time, and
 * small enough that its callers get their answers soon.
 *
 * A failure with an outside cause (a deadlock over a row of `jobs`, a lost connection) leaves the
 * writes unanswered: the caller runs the list again, until the deadline of each write. If a body
 * fails after its first write, the bodies of the group run again in one transaction each.
 */
#include "store/postgres.h"

#include <string.h>
#include <sys/eventfd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/histogram.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/event.h"

/* ---- Prefetch -------------------------------------------------------------------------------- */

/* A body that reads before it writes costs one round trip per statement, and bodies run one after
 * the other. So bodies with lc_write.reads_own are first run without effect, in dry runs: a dry run
 * sends the first query without an answer, and ends there. The answers to all of them come in one
 * round trip. The next dry run goes as far as the next query, and in the end the bodies run with
 * effect, using the prefetched answers:
 *
 *     dry run, dry run -> answers -> dry run, dry run -> answers -> body, body
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

static lc_pg_prefetched *find(lc_pg_prefetch_slot *slot, const lc_sql *sql, const lc_arg *args)
{
    lc_hash128 hash = hash_of(sql, args);

    for (size_t i = 0; i < slot->count; i++) {
        lc_pg_prefetched *a = &slot->answers[i];

        if (a->sql == sql && a->result != NULL && lc_hash128_eq(a->args, hash))
            return a;
    }
    return NULL;
}

/* Sends the query and ends the dry run. A query that does not fit into the list of pending answers
 * is not sent: making room would discard answers that were not taken yet. */
static loci_status ask(lc_pg *db, const lc_sql *sql, const lc_arg *args, loci_error *err)
{
    lc_pg_prefetch_slot *slot = db->prefetch->slot;
    loci_status status = LOCI_OK;

    if (slot->count < LC_PG_PREFETCH_ROUNDS && db->pending_count < LC_PG_PENDING_MAX) {
        status = lc_pg_send(db, sql, false, args, LC_PG_ROWS, err);
        if (status == LOCI_OK)
            slot->answers[slot->count++] = (lc_pg_prefetched){.sql = sql,
                                                              .args = hash_of(sql, args)};
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

    if (prefetch == NULL || prefetch->slot == NULL)
        return false;
    found = find(prefetch->slot, sql, args);
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

/* Waits for the answers to the queries that the dry runs of one round have sent, in their order. */
static loci_status take_prefetched(lc_pg *db, size_t slot_count, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; status == LOCI_OK && i < slot_count; i++) {
        lc_pg_prefetch_slot *slot = &db->prefetch->slots[i];

        for (; status == LOCI_OK && slot->taken < slot->count; slot->taken++)
            status = lc_pg_take(db, &slot->answers[slot->taken].result, err);
    }
    return status;
}

static void drop_prefetched(lc_pg *db)
{
    lc_pg_prefetch *prefetch = db->prefetch;

    if (prefetch == NULL)
        return;
    for (size_t i = 0; i < LC_WRITES_PER_COMMIT_MAX; i++) {
        lc_pg_prefetch_slot *slot = &prefetch->slots[i];

        for (size_t k = 0; k < slot->count; k++)
            db->pq.clear(slot->answers[k].result); /* NULL is fine. */
        slot->count = slot->taken = 0;
    }
    prefetch->slot = NULL;
    prefetch->is_dry_run = false;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

#define CONNECT_US 5000000
#define WAIT_US_MIN 2000000
#define WAIT_US_MAX 60000000
#define LOCK_SLICE_MS "50" /* How long one call waits for another process. */
#define AGAIN_MAX 8        /* Then the existing tables are not loci's. */

#define NAMES_BYTES_MAX (LC_WRITES_PER_COMMIT_MAX * (2 * LC_ID_BYTES_MAX + 4))

/* Maximum time of a group: ROUND_TRIPS_PER_GROUP times the time of locking and committing, which
 * does not depend on the size of the group, but at least GROUP_US_MIN. So locking and committing
 * are a small part of it, even over a slow network or with a slow disk. */
#define GROUP_US_MIN 50000
#define GROUP_US_MAX 2000000
#define ROUND_TRIPS_PER_GROUP 4
#define GROUP_WRITES_MIN 16

/* $1 and $2: the tenants and users of the group as arrays, one element per owner. */
#define NAMED_OWNERS "unnest(cast($1 as text[]), cast($2 as text[]))"

static const lc_sql lock_heads_sql = {
    "select w.place, h.seq, h.recorded_at, h.objects from " NAMED_OWNERS
    " with ordinality as w (tenant_id, user_id, place)"
    " join heads h on h.tenant_id = w.tenant_id and h.user_id = w.user_id"
    " order by h.tenant_id, h.user_id for update of h skip locked",
    "tt", "iiii"};
static const lc_sql wait_head_sql = {"select 1, seq, recorded_at, objects from heads"
                                     " where tenant_id = $1 and user_id = $2 for update",
                                     "tt", "iiii"};
/* An insert waits for another transaction that is inserting the same key, while it keeps the locks
 * of the rows it has inserted before: so all groups insert in the same order. */
static const lc_sql make_heads_sql = {
    "insert into heads (tenant_id, user_id, seq, recorded_at, objects, base_seq)"
    " select w.tenant_id, w.user_id, 0, 0, 0, 0 from " NAMED_OWNERS " as w (tenant_id, user_id)"
    " order by w.tenant_id collate \"C\", w.user_id collate \"C\""
    " on conflict (tenant_id, user_id) do nothing returning tenant_id, user_id",
    "tt", "tt"};
static const lc_sql unmake_heads_sql = {
    "delete from heads h using " NAMED_OWNERS " as w (tenant_id, user_id)"
    " where h.tenant_id = w.tenant_id and h.user_id = w.user_id and h.seq = 0 and h.objects = 0",
    "tt", NULL};
static const lc_sql store_sql = {
    "select value from meta where name = 'schema_version' for update skip locked", "", "t"};
static const lc_sql wait_store_sql = {
    "select value from meta where name = 'schema_version' for update", "", "t"};
static const lc_sql has_meta_sql = {
    "select 1 where to_regclass(quote_ident(current_schema()) || '.meta') is not null", "", "i"};
static const lc_sql lock_wait_sql = {"select set_config('lock_timeout', '" LOCK_SLICE_MS "', true)",
                                     "", "t"};
static const lc_sql make_head_sql = {
    "insert into heads (tenant_id, user_id, seq, recorded_at, objects, base_seq)"
    " values ($1, $2, 0, 0, 0, 0) on conflict (tenant_id, user_id) do nothing",
    "tt", NULL};
static const lc_sql lock_log_sql = {"lock table heads in exclusive mode", "", NULL};

typedef enum hold {
    HOLD_NOTHING, /* The write needs no lock. */
    HOLD_BUSY,    /* Another process has locked it. */
    HOLD_HELD,
    HOLD_MADE /* Held, and inserted by this transaction. */
} hold;

/* A user (or the store itself) with writes in the group. */
typedef struct owner {
    loci_str tenant_id;
    loci_str user_id;
    uint64_t hash; /* Of both. */
    bool locks_nothing;
    const lc_write *first; /* Of this user in the group. */
    hold hold;
    bool has_head;
    lc_head head;
} owner;

/* Made with the first write of a connection, so that the others need no memory. */
struct lc_pg_group_room {
    owner owners[LC_WRITES_PER_COMMIT_MAX];
    owner *owner_of[LC_WRITES_PER_COMMIT_MAX]; /* Of each write. */
    bool has_run[LC_WRITES_PER_COMMIT_MAX];
    owner *named[LC_WRITES_PER_COMMIT_MAX]; /* The owners in the arrays, */
    lc_buf tenants, users;                  /* which are literals: {"a","b"}. */
    lc_pg_prefetch prefetch;
};

typedef struct group {
    lc_pg *db;
    lc_tx tx;
    lc_write **writes;
    struct lc_pg_group_room *room;
    size_t write_count;
    size_t run_count;
    size_t owner_count;
    owner *current; /* The user that `tx` is set to. */
    size_t bytes;
    int64_t began_us;
    int64_t deadline_us; /* The latest of the group. */
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

static uint64_t hash_owner(loci_str tenant_id, loci_str user_id)
{
    return lc_hash64(tenant_id) * 31 + lc_hash64(user_id);
}

static owner *find_owner(const group *g, loci_str tenant_id, loci_str user_id, bool locks_nothing)
{
    uint64_t hash = hash_owner(tenant_id, user_id);

    for (size_t i = 0; i < g->owner_count; i++) {
        owner *o = &g->room->owners[i];

        if (o->hash == hash && o->locks_nothing == locks_nothing &&
            lc_str_eq(o->user_id, user_id) && lc_str_eq(o->tenant_id, tenant_id))
            return o;
    }
    return NULL;
}

static void append_element(lc_buf *array, loci_str text)
{
    lc_buf_append(array, array->len == 0 ? LC_STR("{\"") : LC_STR(",\""));
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"' || text.ptr[i] == '\\')
            lc_buf_append_byte(array, '\\');
        lc_buf_append_byte(array, text.ptr[i]);
    }
    lc_buf_append_byte(array, '"');
}

/* Fills the arrays with the users that have this `hold`. Returns how many. */
static size_t name_owners(group *g, hold held_as)
{
    struct lc_pg_group_room *room = g->room;
    size_t count = 0;

    lc_buf_reset(&room->tenants);
    lc_buf_reset(&room->users);
    for (size_t i = 0; i < g->owner_count; i++) {
        owner *o = &room->owners[i];

        if (o->hold != held_as || is_store(o))
            continue;
        append_element(&room->tenants, o->tenant_id);
        append_element(&room->users, o->user_id);
        room->named[count++] = o;
    }
    lc_buf_append_byte(&room->tenants, '}');
    lc_buf_append_byte(&room->users, '}');
    return count;
}

static loci_status send_named(group *g, const lc_sql *sql, lc_pg_answer_kind kind, loci_error *err)
{
    struct lc_pg_group_room *room = g->room;
    loci_status status = lc_buf_status(&room->tenants, err);

    if (status == LOCI_OK)
        status = lc_buf_status(&room->users, err);
    if (status != LOCI_OK)
        return status;
    return lc_pg_send(g->db, sql, false,
                      (lc_arg[]){LC_T(lc_buf_str(&room->tenants)), LC_T(lc_buf_str(&room->users))},
                      kind, err);
}

/* The answer of a statement that locks heads; heads that are missing in it are locked by another
 * process, or do not exist. */
static loci_status take_heads(group *g, owner **named, loci_error *err)
{
    lc_pg *db = g->db;
    PGresult *result = NULL;
    loci_status status = lc_pg_take(db, &result, err);

    for (int i = 0; status == LOCI_OK && i < db->pq.ntuples(result); i++) {
        owner *o = named[lc_pg_value_i64(db, result, i, 0) - 1];

        o->hold = HOLD_HELD;
        o->has_head = true;
        o->head = (lc_head){.seq = lc_pg_value_i64(db, result, i, 1),
                            .recorded_at = lc_pg_value_i64(db, result, i, 2),
                            .objects = lc_pg_value_i64(db, result, i, 3)};
    }
    db->pq.clear(result);
    return status;
}

/* The answer of a statement that locks the store itself. */
static loci_status take_store(group *g, owner *o, loci_error *err)
{
    lc_pg *db = g->db;
    PGresult *result = NULL;
    loci_status status = lc_pg_take(db, &result, err);

    if (status == LOCI_OK && db->pq.ntuples(result) == 1)
        o->hold = HOLD_HELD; /* The store's head is read at its first use. */
    db->pq.clear(result);
    return status;
}

/* Users without a head get one; those whose head is locked are left out. */
static loci_status make_heads(group *g, loci_error *err)
{
    lc_pg *db = g->db;
    PGresult *result = NULL;
    loci_status status;

    if (name_owners(g, HOLD_BUSY) == 0)
        return LOCI_OK;
    status = send_named(g, &make_heads_sql, LC_PG_ROWS, err);
    if (status == LOCI_OK)
        status = lc_pg_take(db, &result, err);
    for (int i = 0; status == LOCI_OK && i < db->pq.ntuples(result); i++) {
        owner *o = find_owner(g, lc_pg_value_str(db, result, i, 0),
                              lc_pg_value_str(db, result, i, 1), false);

        LC_ASSERT(o != NULL);
        o->hold = HOLD_MADE;
        o->has_head = true;
        o->head = (lc_head){0};
    }
    db->pq.clear(result);
    return status;
}

/* A store that is being opened may have no tables, and then no row to lock: the server's own
 * catalogue lets only one transaction create them. */
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
    return status == LOCI_OK ? take_store(g, o, err) : status;
}

/* All users are locked: waits for the first in the list. */
static loci_status wait_for_one(group *g, loci_error *err)
{
    owner *o = &g->room->owners[0];
    lc_arg names[] = {LC_T(o->tenant_id), LC_T(o->user_id)};
    PGresult *result = NULL;
    loci_status status = lc_pg_ask(g->db, &lock_wait_sql, NULL, &result, err);

    g->db->pq.clear(result);
    if (status == LOCI_OK)
        status = lc_pg_send(g->db, is_store(o) ? &wait_store_sql : &wait_head_sql, false, names,
                            LC_PG_ROWS, err);
    if (status != LOCI_OK)
        return status;
    return is_store(o) ? take_store(g, o, err) : take_heads(g, &o, err);
}

static loci_status lock_owners(group *g, loci_error *err)
{
    lc_pg *db = g->db;
    owner *store = find_owner(g, LC_STR(""), LC_STR(""), false);
    bool has_any = false;
    size_t named;
    loci_status status = lc_pg_send_begin(db, err);

    if (status == LOCI_OK && db->db.store_id[0] == '\0') {
        LC_ASSERT(g->owner_count == 1 && store != NULL);
        return lock_unknown_store(g, store, err);
    }
    named = name_owners(g, HOLD_BUSY);
    if (status == LOCI_OK && store != NULL)
        status = lc_pg_send(db, &store_sql, false, NULL, LC_PG_ROWS, err);
    if (status == LOCI_OK && named > 0)
        status = send_named(g, &lock_heads_sql, LC_PG_ROWS, err);
    if (status == LOCI_OK)
        status = lc_pg_take_begin(db, err);
    if (status == LOCI_OK && store != NULL)
        status = take_store(g, store, err);
    if (status == LOCI_OK && named > 0)
        status = take_heads(g, g->room->named, err);
    if (status == LOCI_OK)
        status = make_heads(g, err);
    for (size_t i = 0; i < g->owner_count; i++)
        has_any = has_any || g->room->owners[i].hold != HOLD_BUSY;
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
        /* All other members are about the previous user. */
        *tx = (lc_tx){.db = tx->db,
                      .is_write = true,
                      .tenant_id = write->tenant_id,
                      .user_id = write->user_id,
                      .head = o->head,
                      .has_head = o->has_head};
    }
    lc_tx_turn_to(tx, write);
    tx->wrote = status != LOCI_OK; /* The writes before need that head. */
    return status;
}

static bool is_full(const group *g)
{
    return g->bytes >= LC_WRITE_BYTES_PER_COMMIT_MAX ||
           lc_clock_monotonic_us() - g->began_us >= g->db->db.commit_us_max;
}

static bool may_prefetch(const group *g, size_t i)
{
    const owner *o = g->room->owner_of[i];

    return g->writes[i]->reads_own && o->first == g->writes[i] && o->hold != HOLD_BUSY;
}

/* Runs the body without effect, up to the first query that has no answer yet. True if it sent one.
 */
static bool dry_run(const group *g, size_t i)
{
    const lc_write *write = g->writes[i];
    const owner *o = g->room->owner_of[i];
    lc_pg_prefetch_slot *slot = &g->db->prefetch->slots[i];
    size_t before = slot->count;
    lc_tx tx = {.db = &g->db->db,
                .is_write = true,
                .now_us = write->now_us,
                .tenant_id = write->tenant_id,
                .user_id = write->user_id,
                .head = o->head,
                .has_head = o->has_head};
    loci_error ignored;

    g->db->prefetch->slot = slot;
    (void)write->body(&tx, write->ctx, &ignored); /* The real run reports failures. */
    return slot->count > before;
}

static void prefetch_answers(const group *g)
{
    lc_pg_prefetch *prefetch = g->db->prefetch;
    size_t candidates = 0;
    bool has_asked = true;
    loci_error ignored; /* It is noted in the connection. */

    for (size_t i = 0; i < g->write_count; i++)
        candidates += may_prefetch(g, i);
    if (candidates < 2)
        return; /* Dry runs would save no round trip. */
    prefetch->is_dry_run = true;
    for (int round = 0; round < LC_PG_PREFETCH_ROUNDS && has_asked; round++) {
        has_asked = false;
        for (size_t i = 0; i < g->write_count && !g->db->has_failed; i++)
            has_asked = (may_prefetch(g, i) && dry_run(g, i)) || has_asked;
        if (g->db->has_failed || take_prefetched(g->db, g->write_count, &ignored) != LOCI_OK)
            break;
    }
    prefetch->is_dry_run = false;
    prefetch->slot = NULL;
}

/* Runs bodies until the group is full, spoilt or failed; the `status` of a write then says how its
 * body ended and awaits the commit. The time for bodies starts after the dry runs: otherwise a
 * group could spend all of it on prefetching and run almost no bodies. */
static void run_bodies(group *g)
{
    prefetch_answers(g);
    g->began_us = lc_clock_monotonic_us();
    for (size_t i = 0; i < g->write_count && !g->is_spoilt && !g->db->has_failed; i++) {
        lc_write *write = g->writes[i];
        owner *o = g->room->owner_of[i];

        if (o->hold == HOLD_BUSY || answer_late(write))
            continue;
        if (g->run_count > 0 && is_full(g))
            break;
        g->room->has_run[i] = true;
        g->run_count++;
        write->status = turn_to(g, o, write, &write->error);
        g->db->prefetch->slot = o->first == write ? &g->db->prefetch->slots[i] : NULL;
        if (write->status == LOCI_OK)
            write->status = write->body(&g->tx, write->ctx, &write->error);
        g->db->prefetch->slot = NULL;
        g->bytes += write->bytes;
        g->has_written = g->has_written || g->tx.wrote;
        g->is_spoilt = write->status != LOCI_OK && g->tx.wrote;
    }
}

/* Deletes the heads that this transaction inserted and that got no event. */
static loci_status unmake_heads(group *g, loci_error *err)
{
    bool has_any = false;

    for (size_t i = 0; i < g->owner_count; i++) {
        const owner *o = &g->room->owners[i];

        has_any = has_any || (o->hold == HOLD_MADE && o->head.seq == 0 && o->head.objects == 0);
    }
    if (!has_any)
        return LOCI_OK;
    (void)name_owners(g, HOLD_MADE); /* The statement finds the ones that are unused. */
    return send_named(g, &unmake_heads_sql, LC_PG_CHANGES_ANY, err);
}

static loci_status commit(group *g, loci_error *err)
{
    loci_status status = leave_current(g, err);
    int64_t began_us = lc_clock_monotonic_us();

    if (status == LOCI_OK)
        status = unmake_heads(g, err);
    if (status == LOCI_OK)
        status = lc_pg_end_commit(g->db, g->deadline_us, err);
    if (g->db->db.commit_took != NULL)
        lc_histogram_add(g->db->db.commit_took, lc_clock_monotonic_us() - began_us);
    return status;
}

/* ---- Groups --------------------------------------------------------------------------------- */

static struct lc_pg_group_room *open_room(lc_pg *db)
{
    lc_heap *heap = &db->db.env->heap;

    if (db->group_room == NULL) {
        db->group_room = lc_heap_zalloc(heap, sizeof *db->group_room, LOCI_MEM_ENGINE);
        if (db->group_room == NULL)
            return NULL;
        lc_buf_init(&db->group_room->tenants, heap, LOCI_MEM_ENGINE, NAMES_BYTES_MAX);
        lc_buf_init(&db->group_room->users, heap, LOCI_MEM_ENGINE, NAMES_BYTES_MAX);
        db->prefetch = &db->group_room->prefetch;
    }
    return db->group_room;
}

static bool make_group(lc_pg *db, lc_write **writes, size_t count, group *g)
{
    *g = (group){
        .db = db, .tx = {.db = &db->db, .is_write = true}, .writes = writes, .write_count = count};
    g->room = open_room(db);
    if (g->room == NULL)
        return false;
    memset(g->room->has_run, 0, sizeof g->room->has_run);
    for (size_t i = 0; i < count; i++) {
        const lc_write *write = writes[i];
        owner *o = find_owner(g, write->tenant_id, write->user_id, write->locks_nothing);

        if (write->deadline_us > g->deadline_us)
            g->deadline_us = write->deadline_us;
        if (o == NULL) {
            o = &g->room->owners[g->owner_count++];
            *o = (owner){
                .tenant_id = write->tenant_id,
                .user_id = write->user_id,
                .hash = hash_owner(write->tenant_id, write->user_id),
                .locks_nothing = write->locks_nothing,
                .first = write,
                .hold = write->locks_nothing ? HOLD_NOTHING : HOLD_BUSY,
            };
        }
        g->room->owner_of[i] = o;
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

/* Whether the writes of a failed transaction run again, fail or have an unknown outcome. */
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

static void average(int64_t *of, int64_t measured_us)
{
    *of = *of == 0 ? measured_us + 1 : (7 * *of + measured_us) / 8 + 1;
}

/* The number of writes of the next group. */
static size_t group_size(const lc_pg *db)
{
    int64_t group_us = ROUND_TRIPS_PER_GROUP * db->fixed_us, count;

    group_us = group_us < GROUP_US_MIN ? GROUP_US_MIN : group_us;
    group_us = group_us > GROUP_US_MAX ? GROUP_US_MAX : group_us;
    count = db->write_us == 0 ? GROUP_WRITES_MIN : group_us / db->write_us;
    if (count < GROUP_WRITES_MIN)
        return GROUP_WRITES_MIN;
    return count < LC_WRITES_PER_COMMIT_MAX ? (size_t)count : LC_WRITES_PER_COMMIT_MAX;
}

static verdict run_transaction(group *g, loci_error *err)
{
    lc_pg *db = g->db;
    int64_t began_us = lc_clock_monotonic_us(), locked_us, ran_us;
    loci_status status;

    db->has_failed = db->is_unknown = db->has_expectation = false;
    db->is_executing = true;
    set_deadline(db, g);
    status = lock_owners(g, err);
    locked_us = lc_clock_monotonic_us();
    if (status == LOCI_OK)
        run_bodies(g);
    if (status == LOCI_OK && db->has_failed)
        status = lc_pg_tell_failure(db, err);
    ran_us = lc_clock_monotonic_us();
    if (status == LOCI_OK && !g->is_spoilt && g->has_written) {
        status = commit(g, err);
        average(&db->write_us, (ran_us - began_us) / (int64_t)g->run_count);
        average(&db->fixed_us, locked_us - began_us + lc_clock_monotonic_us() - ran_us);
    }
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
        if ((v == VERDICT_FAILED || v == VERDICT_UNKNOWN) &&
            (g->room->has_run[i] || g->write_count == 1))
            answer_from(write, cause);
        else if (v == VERDICT_DONE && g->room->has_run[i])
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
    size_t count = 0, count_max = group_size(db);
    eventfd_t ignored;
    loci_error err;

    if (db->conn == NULL) /* Then `err` is the error for all writes. */
        (void)lc_pg_connect(db, lc_clock_monotonic_us() + CONNECT_US, &err);
    (void)eventfd_read(db->wake_fd, &ignored); /* Of an interrupt that came too late. */
    for (lc_write *write = first; write != NULL && count < count_max; write = write->next) {
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
    if (db->group_room == NULL)
        return;
    drop_prefetched(db); /* Of a body that a bug has stopped. */
    db->prefetch = NULL;
    lc_buf_clear(&db->group_room->tenants);
    lc_buf_clear(&db->group_room->users);
    lc_heap_free(&db->db.env->heap, db->group_room, sizeof *db->group_room, LOCI_MEM_ENGINE);
    db->group_room = NULL;
}

loci_status lc_pg_lock_log(lc_tx *tx, loci_error *err)
{
    return lc_pg_send((lc_pg *)tx->db, &lock_log_sql, false, NULL, LC_PG_CHANGES_ANY, err);
}

loci_status lc_pg_lock_user(lc_tx *tx, loci_str tenant_id, loci_str user_id, loci_error *err)
{
    const lc_arg args[] = {LC_T(tenant_id), LC_T(user_id)};
    lc_rows rows = {0};
    bool found;
    loci_status status = lc_tx_exec(tx, &make_head_sql, args, err);

    if (status == LOCI_OK)
        status = lc_tx_find(tx, &wait_head_sql, args, &rows, &found, err);
    lc_rows_end(&rows);
    return status;
}

void lc_pg_extend_write(lc_tx *tx, int64_t us)
{
    ((lc_pg *)tx->db)->deadline_us = lc_clock_monotonic_us() + us;
}
