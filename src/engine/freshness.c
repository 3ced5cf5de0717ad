/* freshness.c - Invariants: counters only rise; `known` is changed under the lock, after the
 * counters that this makes stale were raised. So whoever sees the new state sees the new counters,
 * and whoever asks for the state first and for the stamp afterwards gets no stamp of the past.
 *
 * The store is asked through a connection of its own that nobody else uses. An engine without
 * threads opens it for the second who asks, since a process that reads once has no use for it; one
 * with threads at once, since whoever asks may not have the time.
 */
#include "engine/freshness.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/internal.h"

#define ASKED_BEFORE 1 /* Uses that pass before a connection is opened for it. */

struct lc_freshness {
    loci_engine *engine;
    _Atomic int64_t looked_us;              /* 0 = nothing counts. */
    _Atomic uint64_t all;                   /* How often anything may have changed, */
    _Atomic uint64_t slots[LC_WATCH_SLOTS]; /* and somebody of a slot. */
    pthread_mutex_t lock;
    _Atomic uint64_t known; /* The state that the counters are of; 0 = none. */
    lc_db *_Atomic eye;     /* The connection that is asked; NULL = not yet, or not to be had. */
    _Atomic int asked;
};

/* ---- Stores that tell their state ------------------------------------------------------------ */

static uint64_t state_of(const lc_db *eye)
{
    return eye->driver->state(eye);
}

/* One thread, once. Its schema is never asked for. Without it nothing counts. */
static void open_eye(lc_freshness *freshness)
{
    loci_engine *engine = freshness->engine;
    lc_db *eye = NULL;

    if (engine->driver->open(&engine->env, &engine->catalogue, engine->store, false, &eye, NULL) ==
        LOCI_OK)
        atomic_store_explicit(&freshness->eye, eye, memory_order_release);
}

/* The counters are brought up to the state that is there now. */
static bool catch_up(lc_freshness *freshness, const lc_db *eye)
{
    uint64_t state;

    (void)pthread_mutex_lock(&freshness->lock);
    state = state_of(eye);
    if (state != 0 && state != atomic_load(&freshness->known)) {
        lc_freshness_forget(freshness);
        atomic_store_explicit(&freshness->known, state, memory_order_release);
    }
    (void)pthread_mutex_unlock(&freshness->lock);
    return state != 0;
}

static bool is_known(lc_freshness *freshness)
{
    const lc_db *eye = atomic_load_explicit(&freshness->eye, memory_order_acquire);
    uint64_t state;

    if (eye == NULL) {
        if (lc_engine_is_inline(freshness->engine) && freshness->asked++ == ASKED_BEFORE)
            open_eye(freshness);
        return false;
    }
    state = state_of(eye);
    if (state != 0 && state == atomic_load_explicit(&freshness->known, memory_order_acquire))
        return true;
    return catch_up(freshness, eye);
}

/* ---- Stores that the watch looks at ---------------------------------------------------------- */

static bool was_looked_at(lc_freshness *freshness)
{
    int64_t looked_us = atomic_load_explicit(&freshness->looked_us, memory_order_acquire);

    return looked_us != 0 && lc_clock_monotonic_us() - looked_us < LC_FRESHNESS_US;
}

void lc_freshness_looked(lc_freshness *freshness, int64_t at_us, bool has_changed)
{
    if (freshness->engine->driver->state != NULL)
        return; /* Everybody looks for himself. */
    if (has_changed)
        lc_freshness_forget(freshness);
    atomic_store_explicit(&freshness->looked_us, at_us, memory_order_release);
}

/* ---- Stamps ---------------------------------------------------------------------------------- */

bool lc_freshness_stamp(lc_freshness *freshness, uint32_t slot, uint64_t *out)
{
    if (freshness->engine->driver->state != NULL ? !is_known(freshness) : !was_looked_at(freshness))
        return false;
    *out = atomic_load_explicit(&freshness->all, memory_order_acquire) +
           atomic_load_explicit(&freshness->slots[slot], memory_order_acquire);
    return true;
}

uint64_t lc_freshness_version(lc_freshness *freshness, uint32_t slot)
{
    const lc_db *eye = atomic_load_explicit(&freshness->eye, memory_order_acquire);

    if (freshness->engine->driver->state != NULL)
        return eye != NULL ? state_of(eye) : 0;
    if (!was_looked_at(freshness))
        return 0;
    return 1 + atomic_load_explicit(&freshness->all, memory_order_acquire) +
           atomic_load_explicit(&freshness->slots[slot], memory_order_acquire);
}

void lc_freshness_wrote(lc_freshness *freshness, uint32_t slot)
{
    atomic_fetch_add_explicit(&freshness->slots[slot], 1, memory_order_acq_rel);
}

void lc_freshness_forget(lc_freshness *freshness)
{
    atomic_fetch_add_explicit(&freshness->all, 1, memory_order_acq_rel);
}

/* ---- Life ------------------------------------------------------------------------------------ */

loci_status lc_freshness_new(loci_engine *engine, lc_freshness **out, loci_error *err)
{
    lc_freshness *freshness = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *freshness,
                                             LOCI_MEM_CACHES);

    if (freshness == NULL)
        return lc_fail_memory(err);
    freshness->engine = engine;
    (void)pthread_mutex_init(&freshness->lock, NULL); /* Does not fail on Linux. */
    if (engine->driver->state != NULL && !lc_engine_is_inline(engine))
        open_eye(freshness);
    *out = freshness;
    return LOCI_OK;
}

void lc_freshness_free(lc_freshness *freshness)
{
    if (freshness == NULL)
        return;
    lc_db_close(atomic_load(&freshness->eye));
    (void)pthread_mutex_destroy(&freshness->lock);
    lc_heap_free(&lc_engine_env(freshness->engine)->heap, freshness, sizeof *freshness,
                 LOCI_MEM_CACHES);
}
