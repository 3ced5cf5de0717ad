/* maintenance.c - One thread, which sleeps until it is woken. Wake-ups that arrive while it works
 * are one more round, not several.
 *
 * Invariant: only the thread uses the connection. A failure changes no answer: the work is due
 * again after one of the next commits, and by then the thread opens a new connection.
 */
#include "engine/maintenance.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/internal.h"

#define IDLE_US 2000000 /* After that, the connection is closed. */

struct lc_maintenance {
    loci_engine *engine;
    lc_db *db;             /* NULL until it is needed. */
    _Atomic bool is_stale; /* The store was replaced. */

    pthread_mutex_t lock; /* For the following. */
    pthread_cond_t wake;
    pthread_t thread;
    bool has_thread;
    bool is_due;
    bool is_stopping;
};

static void disconnect(lc_maintenance *m)
{
    lc_db_close(m->db);
    m->db = NULL;
}

static loci_status maintain_guarded(void *ctx, loci_error *err)
{
    const lc_maintenance *m = ctx;

    return m->db->driver->maintain(m->db, err);
}

static void maintain(lc_maintenance *m)
{
    loci_error err;
    loci_status status = LOCI_OK;

    if (atomic_exchange_explicit(&m->is_stale, false, memory_order_acq_rel))
        disconnect(m);
    if (m->db == NULL)
        status = lc_engine_connect(m->engine, 0, &m->db, &err);
    if (status == LOCI_OK)
        status = lc_engine_guard(m->engine, maintain_guarded, m, &err);
    if (status == LOCI_OK && !m->db->driver->is_broken(m->db))
        return;
    if (status != LOCI_OK)
        lc_log_write(&lc_engine_env(m->engine)->log, LOCI_LOG_DEBUG, "maintenance.failed",
                     LC_LOG_TEXT("error", err.message));
    disconnect(m);
}

/* False when nothing was due for IDLE_US. The lock is held. */
static bool wait_until_due(lc_maintenance *m)
{
    int64_t until_us = lc_clock_monotonic_us() + IDLE_US;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};

    if (m->db == NULL) {
        (void)pthread_cond_wait(&m->wake, &m->lock);
        return true;
    }
    return pthread_cond_timedwait(&m->wake, &m->lock, &until) == 0;
}

static void *run(void *ctx)
{
    lc_maintenance *m = ctx;

    (void)pthread_mutex_lock(&m->lock);
    while (!m->is_stopping) {
        bool is_idle = !m->is_due && !wait_until_due(m), is_due = m->is_due;

        if (m->is_stopping || (!is_due && !is_idle))
            continue;
        m->is_due = false;
        (void)pthread_mutex_unlock(&m->lock);
        if (is_due)
            maintain(m);
        else
            disconnect(m);
        (void)pthread_mutex_lock(&m->lock);
    }
    (void)pthread_mutex_unlock(&m->lock);
    disconnect(m);
    return NULL;
}

bool lc_maintenance_wake(lc_maintenance *m)
{
    bool has_thread;

    (void)pthread_mutex_lock(&m->lock);
    if (!m->has_thread && !lc_engine_is_inline(m->engine))
        m->has_thread = pthread_create(&m->thread, NULL, run, m) == 0;
    has_thread = m->has_thread;
    m->is_due = true;
    (void)pthread_cond_signal(&m->wake);
    (void)pthread_mutex_unlock(&m->lock);
    return has_thread;
}

void lc_maintenance_renew(lc_maintenance *m)
{
    atomic_store_explicit(&m->is_stale, true, memory_order_release);
}

loci_status lc_maintenance_new(loci_engine *engine, lc_maintenance **out, loci_error *err)
{
    lc_maintenance *m = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *m, LOCI_MEM_ENGINE);
    pthread_condattr_t attributes;

    if (m == NULL)
        return lc_fail_memory(err);
    m->engine = engine;
    (void)pthread_mutex_init(&m->lock, NULL); /* None of these fails on Linux. */
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&m->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    *out = m;
    return LOCI_OK;
}

void lc_maintenance_free(lc_maintenance *m)
{
    bool must_join;

    if (m == NULL)
        return;
    (void)pthread_mutex_lock(&m->lock);
    m->is_stopping = true;
    must_join = m->has_thread;
    (void)pthread_cond_signal(&m->wake);
    (void)pthread_mutex_unlock(&m->lock);
    if (must_join)
        (void)pthread_join(m->thread, NULL);
    (void)pthread_cond_destroy(&m->wake);
    (void)pthread_mutex_destroy(&m->lock);
    lc_heap_free(&lc_engine_env(m->engine)->heap, m, sizeof *m, LOCI_MEM_ENGINE);
}
