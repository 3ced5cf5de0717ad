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

/* ---- Connections ----------------------------------------------------------------------------- */

typedef struct place {
    lc_db *db;
    bool is_taken;
    bool is_stale; /* To be closed when it is given back. */
} place;

struct lc_readers {
    loci_engine *engine;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int count_max;
    place places[READERS_MAX];
};

loci_status lc_readers_new(loci_engine *engine, int count_max, lc_readers **out, loci_error *err)
{
    lc_readers *readers = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *readers,
                                         LOCI_MEM_ENGINE);
    pthread_condattr_t attributes;

    if (readers == NULL)
        return lc_fail_memory(err);
    readers->engine = engine;
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

loci_status lc_readers_take(lc_readers *readers, int64_t deadline_us, lc_db **out, loci_error *err)
{
    place *at;
    lc_db *opened = NULL, *broken;
    loci_status status = LOCI_OK;

    (void)pthread_mutex_lock(&readers->lock);
    while ((at = find_place(readers)) == NULL) {
        if (!wait_until(readers, deadline_us)) {
            (void)pthread_mutex_unlock(&readers->lock);
            return lc_fail(
                err, LOCI_EDEADLINE,
                "all read connections were busy until the deadline; raise store.readers");
        }
    }
    at->is_taken = true;
    if (at->db == NULL || at->db->driver->is_broken(at->db)) {
        broken = at->db;
        at->db = NULL;
        (void)pthread_mutex_unlock(&readers->lock);
        lc_db_close(broken);
        status = lc_engine_connect(readers->engine, deadline_us, &opened, err);
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
} guarded_read;

static loci_status run_body(lc_tx *tx, void *ctx, loci_error *err)
{
    guarded_read *r = ctx;
    loci_status status;

    tx->states = &r->lender.states;
    status = r->read->body(tx, r->read->ctx, err);
    LC_ASSERT(r->lender.loan == NULL); /* A body gives back what it borrowed. */
    return status;
}

static loci_status read_guarded(void *ctx, loci_error *err)
{
    guarded_read *r = ctx;

    return lc_db_read(r->db, r->read->deadline_us, run_body, r, err);
}

static loci_status read_once(loci_engine *engine, guarded_read *r, loci_error *err)
{
    const lc_read *read = r->read;
    loci_status status = lc_readers_take(engine->readers, read->deadline_us, &r->db, err);

    if (status != LOCI_OK)
        return status;
    if (read->tenant_id.ptr != NULL)
        r->lender.version = lc_watch_version(engine->watch,
                                             lc_watch_slot(read->tenant_id, read->user_id));
    status = lc_engine_guard(engine, read_guarded, r, err);
    if (lc_engine_check(engine, NULL) == LOCI_OK && !r->db->driver->is_broken(r->db))
        lc_readers_give_back(engine->readers, r->db);
    else
        lc_readers_drop(engine->readers, r->db);
    return status;
}

/* States of users are built in slices, each on its own snapshot, for at most half of the time that
 * is left: the body needs the rest. */
loci_status lc_engine_read(loci_engine *engine, const lc_read *read, loci_error *err)
{
    guarded_read r = {.read = read};
    int64_t began_us = lc_clock_monotonic_us(), left_us = read->deadline_us - began_us;
    int64_t build_until_us = began_us + (left_us < BUILD_US_MAX ? left_us : BUILD_US_MAX) / 2;
    loci_status status;

    if (read->is_call)
        atomic_fetch_add_explicit(&engine->read_count, 1, memory_order_relaxed);
    do {
        lc_lender_init(&r.lender, engine->user_cache);
        r.lender.may_retry = lc_clock_monotonic_us() < build_until_us;
        status = read_once(engine, &r, err);
    } while (status != LOCI_OK && r.lender.must_retry);
    return status;
}

bool lc_engine_peek(loci_engine *engine, const lc_peek *peek)
{
    uint64_t version = lc_watch_version(engine->watch,
                                        lc_watch_slot(peek->tenant_id, peek->user_id));

    return version != 0 && lc_user_cache_peek(engine->user_cache, peek, version);
}
