/* readers.c - Invariants: every place holds a connection or NULL; `idle` are the ones nobody has; a
 * place is handed to one thread at a time. Opening happens outside the lock, with the place
 * reserved.
 */
#include "engine/readers.h"

#include <errno.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "engine/internal.h"

#define READERS_MAX 64

typedef struct place {
    lc_db *db;
    bool is_taken;
    bool is_stale; /* Close when given back. */
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
    /* A place still taken belongs to a thread that a bug stopped in its tracks: closed all the
     * same. */
    for (int i = 0; i < readers->count_max; i++)
        lc_db_close(readers->places[i].db);
    (void)pthread_cond_destroy(&readers->freed);
    (void)pthread_mutex_destroy(&readers->lock);
    lc_heap_free(&lc_engine_env(readers->engine)->heap, readers, sizeof *readers, LOCI_MEM_ENGINE);
}

/* A place with an idle connection, else one that can be opened, else NULL. */
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
            return lc_fail(err, LOCI_EDEADLINE, "no read connection came free before the deadline");
        }
    }
    at->is_taken = true;
    if (at->db == NULL || at->db->driver->is_broken(at->db)) {
        broken = at->db;
        at->db = NULL;
        (void)pthread_mutex_unlock(&readers->lock);
        lc_db_close(broken);
        status = lc_engine_connect(readers->engine, &opened, err);
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
