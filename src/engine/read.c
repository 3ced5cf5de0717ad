/* read.c - reads: a few connections shared by many threads, and one run of a body on a snapshot.
 *
 * Connections are opened when they are first needed, up to the setting store.readers; a thread that
 * finds none free waits. Reads never wait for a commit: SQLite in WAL mode and PostgreSQL both let
 * readers and writers work side by side.
 *
 * Invariant: a place is used by one thread at a time. Its connection is opened outside the lock,
 * with the place taken.
 */
#include <errno.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/internal.h"

#define BUILD_US_MAX 60000000 /* For building states of users, in a read without a deadline. */
#define READERS_MAX 64
#define REPLICA_CONNECT_US_MAX 300000

/* ---- Connections ----------------------------------------------------------------------------- */

typedef struct place {
    lc_db *db;
    bool is_taken;
    bool is_stale; /* To be closed when it is given back. */
} place;

struct lc_readers {
    loci_engine *engine;
    const char *replica; /* Its URL; NULL = the store itself. */
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int count_max;
    place places[READERS_MAX];
};

loci_status lc_readers_new(loci_engine *engine, const char *replica, int count_max,
                           lc_readers **out, loci_error *err)
{
    lc_readers *readers = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *readers,
                                         LOCI_MEM_ENGINE);
    pthread_condattr_t attributes;

    if (readers == NULL)
        return lc_fail_memory(err);
    readers->engine = engine;
    readers->replica = replica;
    readers->count_max = count_max < READERS_MAX ? count_max : READERS_MAX;
    (void)pthread_mutex_init(&readers->lock, NULL); /* None of these fails on Linux. */
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&readers->freed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    *out = readers;
    return LOCI_OK;
}

void lc_readers_free(lc_readers *readers)
{
    if (readers == NULL)
        return;
    /* A place that is still in use belongs to a thread that a bug has stopped. */
    for (int i = 0; i < readers->count_max; i++)
        lc_db_close(readers->places[i].db);
    (void)pthread_cond_destroy(&readers->freed);
    (void)pthread_mutex_destroy(&readers->lock);
    lc_heap_free(&lc_engine_env(readers->engine)->heap, readers, sizeof *readers, LOCI_MEM_ENGINE);
}

/* A free place with a connection, else a free place without one, else NULL. */
static place *find_place(lc_readers *readers)
{
    place *empty = NULL;

    for (int i = 0; i < readers->count_max; i++) {
        place *at = &readers->places[i];

        if (at->is_taken)
            continue;
        if (at->db != NULL)
            return at;
        if (empty == NULL)
            empty = at;
    }
    return empty;
}

/* False when the deadline has passed. */
static bool wait_until(lc_readers *readers, int64_t deadline_us)
{
    struct timespec until = {.tv_sec = deadline_us / 1000000,
                             .tv_nsec = deadline_us % 1000000 * 1000};

    if (deadline_us == INT64_MAX)
        return pthread_cond_wait(&readers->freed, &readers->lock) == 0;
    return pthread_cond_timedwait(&readers->freed, &readers->lock, &until) != ETIMEDOUT;
}

static loci_status open_connection(lc_readers *readers, int64_t deadline_us, lc_db **out,
                                   loci_error *err)
{
    int64_t soon_us = lc_clock_monotonic_us() + REPLICA_CONNECT_US_MAX;

    if (readers->replica == NULL)
        return lc_engine_connect(readers->engine, deadline_us, out, err);
    return lc_engine_connect_to(readers->engine, readers->replica,
                                deadline_us < soon_us ? deadline_us : soon_us, out, err);
}

/* Reports that no connection is free. */
static loci_status fail_busy(const lc_readers *readers, loci_error *err)
{
    if (readers->replica != NULL) /* The primary may have a free one. */
        return lc_fail(err, LOCI_ELIMIT, "all connections to the replica are busy");
    return lc_fail(err, LOCI_EDEADLINE,
                   "all read connections were busy until the deadline; raise store.readers");
}

loci_status lc_readers_take(lc_readers *readers, int64_t deadline_us, lc_db **out, loci_error *err)
{
    place *at;
    lc_db *opened = NULL, *broken;
    loci_status status = LOCI_OK;

    (void)pthread_mutex_lock(&readers->lock);
    while ((at = find_place(readers)) == NULL) {
        if (readers->replica != NULL || !wait_until(readers, deadline_us)) {
            (void)pthread_mutex_unlock(&readers->lock);
            return fail_busy(readers, err);
        }
    }
    at->is_taken = true;
    if (at->db == NULL || at->db->driver->is_broken(at->db)) {
        broken = at->db;
        at->db = NULL;
        (void)pthread_mutex_unlock(&readers->lock);
        lc_db_close(broken);
        status = open_connection(readers, deadline_us, &opened, err);
        (void)pthread_mutex_lock(&readers->lock);
        at->db = opened;
    }
    *out = at->db;
    if (status != LOCI_OK) {
        at->is_taken = false;
        (void)pthread_cond_signal(&readers->freed);
    }
    (void)pthread_mutex_unlock(&readers->lock);
    return status;
}

void lc_readers_give_back(lc_readers *readers, lc_db *db)
{
    lc_db *stale = NULL;
    place *at = NULL;

    (void)pthread_mutex_lock(&readers->lock);
    for (int i = 0; i < readers->count_max && at == NULL; i++) {
        if (readers->places[i].db == db)
            at = &readers->places[i];
    }
    LC_ASSERT(at != NULL && at->is_taken);
    if (at->is_stale) {
        stale = at->db;
        at->db = NULL;
        at->is_stale = false;
    }
    at->is_taken = false;
    (void)pthread_cond_signal(&readers->freed);
    (void)pthread_mutex_unlock(&readers->lock);
    lc_db_close(stale);
}

void lc_readers_drop(lc_readers *readers, lc_db *db)
{
    (void)pthread_mutex_lock(&readers->lock);
    for (int i = 0; i < readers->count_max; i++)
        readers->places[i].is_stale |= readers->places[i].db == db;
    (void)pthread_mutex_unlock(&readers->lock);
    lc_readers_give_back(readers, db);
}

void lc_readers_renew(lc_readers *readers)
{
    (void)pthread_mutex_lock(&readers->lock);
    for (int i = 0; i < readers->count_max; i++) {
        place *at = &readers->places[i];

        if (at->is_taken) {
            at->is_stale = true;
        } else {
            lc_db_close(at->db);
            at->db = NULL;
        }
    }
    (void)pthread_mutex_unlock(&readers->lock);
}

void lc_readers_release_memory(lc_readers *readers, int64_t until_us)
{
    for (int i = 0; i < readers->count_max && lc_clock_monotonic_us() < until_us; i++) {
        place *at = &readers->places[i];
        lc_db *db = NULL;

        (void)pthread_mutex_lock(&readers->lock);
        if (!at->is_taken && at->db != NULL && at->db->driver->release_memory != NULL) {
            at->is_taken = true;
            db = at->db;
        }
        (void)pthread_mutex_unlock(&readers->lock);
        if (db != NULL) {
            db->driver->release_memory(db);
            lc_readers_give_back(readers, db);
        }
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* One run of a read's body on one snapshot. */
typedef struct guarded_read {
    lc_db *db;
    const lc_read *read;
    lc_lender lender;
    bool is_on_replica;
    lc_replica_read replica;
    int64_t deadline_us;
} guarded_read;

static loci_status run_body(lc_tx *tx, void *ctx, loci_error *err)
{
    guarded_read *r = ctx;
    loci_status status = LOCI_OK;

    if (r->is_on_replica)
        status = lc_replica_check(&r->replica, tx, err);
    if (status != LOCI_OK)
        return status;
    tx->states = &r->lender.states;
    status = r->read->body(tx, r->read->ctx, err);
    LC_ASSERT(r->lender.loan == NULL); /* A body gives back what it borrowed. */
    return status;
}

static loci_status read_guarded(void *ctx, loci_error *err)
{
    guarded_read *r = ctx;

    return lc_db_read(r->db, r->deadline_us, run_body, r, err);
}

static loci_status read_from(loci_engine *engine, lc_readers *readers, guarded_read *r,
                             loci_error *err)
{
    loci_status status = lc_readers_take(readers, r->deadline_us, &r->db, err);

    if (status != LOCI_OK)
        return status;
    status = lc_engine_guard(engine, read_guarded, r, err);
    if (lc_engine_check(engine, NULL) == LOCI_OK && !r->db->driver->is_broken(r->db))
        lc_readers_give_back(readers, r->db);
    else
        lc_readers_drop(readers, r->db);
    return status;
}

/* On the store itself, or on a replica for half of the time: the store may need the rest. The
 * version is read first: neither a snapshot nor the numbers that a replica must have may be older
 * than it. False: a replica was tried in vain. */
static bool read_once(loci_engine *engine, guarded_read *r, bool may_use_replica,
                      loci_status *out_status, loci_error *err)
{
    const lc_read *read = r->read;
    int64_t now_us = lc_clock_monotonic_us();

    r->deadline_us = read->deadline_us;
    if (read->tenant_id.ptr != NULL)
        r->lender.version = lc_watch_version(engine->watch,
                                             lc_watch_slot(read->tenant_id, read->user_id));
    r->is_on_replica = may_use_replica && lc_replicas_choose(engine->replicas, read, &r->replica);
    if (!r->is_on_replica) {
        *out_status = read_from(engine, engine->readers, r, err);
        return true;
    }
    if (read->deadline_us != INT64_MAX)
        r->deadline_us = now_us + (read->deadline_us - now_us) / 2;
    *out_status = read_from(engine, r->replica.readers, r, err);
    return lc_replica_accept(&r->replica, *out_status);
}

/* States of users are built in slices, each on its own snapshot, for at most half of the time that
 * is left: the body needs the rest. Only the first snapshot may be a replica's. */
loci_status lc_engine_read(loci_engine *engine, const lc_read *read, loci_error *err)
{
    guarded_read r = {.read = read};
    int64_t began_us = lc_clock_monotonic_us(), left_us = read->deadline_us - began_us;
    int64_t build_until_us = began_us + (left_us < BUILD_US_MAX ? left_us : BUILD_US_MAX) / 2;
    loci_status status = LOCI_OK;
    bool is_first = true, is_valid;

    if (read->is_call)
        atomic_fetch_add_explicit(&engine->read_count, 1, memory_order_relaxed);
    do {
        lc_lender_init(&r.lender, engine->user_cache);
        r.lender.may_retry = lc_clock_monotonic_us() < build_until_us;
        is_valid = read_once(engine, &r, is_first, &status, err);
        is_first = false;
    } while (!is_valid || (status != LOCI_OK && r.lender.must_retry));
    return status;
}

bool lc_engine_peek(loci_engine *engine, const lc_peek *peek)
{
    uint64_t version = lc_watch_version(engine->watch,
                                        lc_watch_slot(peek->tenant_id, peek->user_id));

    return version != 0 && lc_user_cache_peek(engine->user_cache, peek, version);
}
