/* watch.c - Invariant: `listeners` is only touched under the lock, and `listener_count` is its
 * length. */
#include "engine/watch.h"

#include <sys/eventfd.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/internal.h"

#define SETTINGS_INTERVAL_US 1000000 /* Stored settings are read again at most this often. */
#define RELOAD_MS_MAX 1000

struct lc_watch {
    loci_engine *engine;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool has_thread;
    bool is_stopping;
    lc_listener *listeners;
    _Atomic int listener_count;
};

void lc_watch_poke(lc_watch *watch)
{
    if (atomic_load_explicit(&watch->listener_count, memory_order_acquire) == 0)
        return;
    (void)pthread_mutex_lock(&watch->lock);
    for (lc_listener *at = watch->listeners; at != NULL; at = at->next)
        (void)eventfd_write(at->fd, 1); /* Full means that it is readable already. */
    (void)pthread_mutex_unlock(&watch->lock);
}

void lc_watch_add(lc_watch *watch, lc_listener *listener)
{
    (void)pthread_mutex_lock(&watch->lock);
    listener->before = NULL;
    listener->next = watch->listeners;
    if (watch->listeners != NULL)
        watch->listeners->before = listener;
    watch->listeners = listener;
    atomic_fetch_add_explicit(&watch->listener_count, 1, memory_order_release);
    (void)pthread_mutex_unlock(&watch->lock);
}

void lc_watch_remove(lc_watch *watch, lc_listener *listener)
{
    (void)pthread_mutex_lock(&watch->lock);
    if (listener->before == NULL)
        watch->listeners = listener->next;
    else
        listener->before->next = listener->next;
    if (listener->next != NULL)
        listener->next->before = listener->before;
    atomic_fetch_sub_explicit(&watch->listener_count, 1, memory_order_release);
    (void)pthread_mutex_unlock(&watch->lock);
}

/* Sleeps for the interval; false when it is time to stop. */
static bool sleep_for(lc_watch *watch, int64_t interval_us)
{
    int64_t until_us = lc_clock_monotonic_us() + interval_us;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    bool goes_on;

    (void)pthread_mutex_lock(&watch->lock);
    if (!watch->is_stopping)
        (void)pthread_cond_timedwait(&watch->wake, &watch->lock, &until);
    goes_on = !watch->is_stopping;
    (void)pthread_mutex_unlock(&watch->lock);
    return goes_on;
}

/* What the thread remembers between two looks. */
typedef struct view {
    lc_db *db;
    uint64_t mark;
    int64_t settings_due_us;
} view;

static void look(lc_watch *watch, view *seen)
{
    uint64_t mark;

    /* Without a connection there is nothing to see; the next round tries again. */
    if (seen->db == NULL && lc_engine_connect(watch->engine, &seen->db, NULL) != LOCI_OK)
        return;
    mark = seen->db->driver->change_mark(seen->db);
    if (mark == seen->mark)
        return;
    lc_watch_poke(watch);
    if (lc_clock_monotonic_us() < seen->settings_due_us)
        return; /* The mark is kept, so that the next round looks again. */
    seen->mark = mark;
    seen->settings_due_us = lc_clock_monotonic_us() + SETTINGS_INTERVAL_US;
    lc_engine_settings_changed(watch->engine);
}

static void look_until_stopped(lc_watch *watch, view *seen)
{
    lc_settings *settings = lc_engine_settings(watch->engine);

    while (sleep_for(watch,
                     1000 * lc_settings_i64(settings, LC_SETTING_WATCH_INTERVAL_MS, LC_STR_NONE)))
        look(watch, seen);
}

static void *watch_store(void *ctx)
{
    lc_watch *watch = ctx;
    lc_fault_frame frame = {.report = lc_engine_report_fault, .ctx = watch->engine};
    view seen = {0};

    if (LC_FAULT_ENTER(&frame))
        look_until_stopped(watch, &seen);
    lc_fault_leave(&frame);
    lc_db_close(seen.db);
    return NULL;
}

loci_status lc_watch_new(loci_engine *engine, bool has_thread, lc_watch **out, loci_error *err)
{
    lc_watch *watch = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *watch, LOCI_MEM_ENGINE);
    pthread_condattr_t attributes;

    if (watch == NULL)
        return lc_fail_memory(err);
    watch->engine = engine;
    (void)pthread_mutex_init(&watch->lock, NULL); /* None of these fails on Linux. */
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&watch->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (has_thread) {
        if (pthread_create(&watch->thread, NULL, watch_store, watch) != 0) {
            lc_watch_free(watch);
            return lc_fail(err, LOCI_ERESOURCE, "no thread could be started");
        }
        watch->has_thread = true;
    }
    *out = watch;
    return LOCI_OK;
}

void lc_watch_free(lc_watch *watch)
{
    if (watch == NULL)
        return;
    (void)pthread_mutex_lock(&watch->lock);
    watch->is_stopping = true;
    (void)pthread_cond_signal(&watch->wake);
    (void)pthread_mutex_unlock(&watch->lock);
    if (watch->has_thread)
        (void)pthread_join(watch->thread, NULL);
    LC_ASSERT(watch->listeners == NULL); /* Subscriptions are closed before their engine. */
    (void)pthread_cond_destroy(&watch->wake);
    (void)pthread_mutex_destroy(&watch->lock);
    lc_heap_free(&lc_engine_env(watch->engine)->heap, watch, sizeof *watch, LOCI_MEM_ENGINE);
}
