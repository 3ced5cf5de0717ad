/* watch.c - Invariants: `listeners` is only touched under the lock, and `listener_count` is its
 * length; the thread was woken for every mark that is set, or will check before it sleeps; versions
 * only rise.
 *
 * With thousands of streams, waking all of them at every commit would cost the writer milliseconds
 * and each stream a read. So a commit sets the marks of its users' slots, without a lock, and wakes
 * the thread unless it is awake already. The thread clears the marks and wakes the listeners in
 * those slots; two users in one slot only cost a needless wake-up. Then it pauses for a moment, so
 * that a busy writer causes one wake-up per pause, not one per commit.
 */
#include "engine/watch.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "engine/internal.h"

#define SETTINGS_INTERVAL_US 1000000 /* Stored settings are read again at most this often. */
#define PAUSE_US 2000                /* Between two rounds of waking listeners. */
/* Calls of lc_watch_version() before an engine without threads opens the connection for it: a
 * program that makes one call asks twice and does not need the version. */
#define QUESTIONS_WITHOUT_PROBE 2
#define WORD_BITS 64u
#define WORDS (LC_WATCH_SLOTS / WORD_BITS)

const lc_setting lc_setting_watch_interval_ms = {
    .name = "watch.interval_ms",
    .kind = LC_SETTING_INT,
    .default_text = "50",
    .min = 10,
    .max = 60000,
    .help = "Interval for checking for writes of other processes, in milliseconds; above 100 a "
            "PostgreSQL store answers no look-ups from memory",
    .is_live = true,
};

struct lc_watch {
    loci_engine *engine;
    pthread_mutex_t lock;
    pthread_t thread;
    bool has_thread;
    int wake_fd; /* An eventfd: the thread should check the marks. -1 without a thread. */
    _Atomic bool is_stopping;
    _Atomic bool is_woken;         /* wake_fd was written, and the thread has not checked yet. */
    _Atomic uint64_t marks[WORDS]; /* One bit per slot: its users may have new events. */
    lc_listener *listeners;
    _Atomic int listener_count;
    lc_db *_Atomic probe; /* Connection that is asked for the store's state; NULL = none. */
    _Atomic int question_count;
    _Atomic bool is_lost;            /* The thread's last poll failed: caches must not be used. */
    _Atomic int64_t polled_us;       /* Without a state: the last poll; 0 = it failed. */
    _Atomic uint64_t version_of_all; /* Counts changes that may concern any user, */
    _Atomic uint64_t versions[LC_WATCH_SLOTS]; /* and the commits to a slot. */
};

uint32_t lc_watch_slot(loci_str tenant_id, loci_str user_id)
{
    uint64_t hash = lc_hash64(tenant_id) * 31 + lc_hash64(user_id);

    return (uint32_t)(hash % LC_WATCH_SLOTS);
}

/* Wakes the listeners of marked slots and those to all users; all listeners without `marks`. */
static void wake_listeners(lc_watch *watch, const uint64_t *marks)
{
    (void)pthread_mutex_lock(&watch->lock);
    for (lc_listener *at = watch->listeners; at != NULL; at = at->next) {
        if (marks == NULL || at->slot == LC_WATCH_ALL ||
            (marks[at->slot / WORD_BITS] >> at->slot % WORD_BITS & 1u) != 0)
            (void)eventfd_write(at->fd, 1); /* Full means that it is readable already. */
    }
    (void)pthread_mutex_unlock(&watch->lock);
}

/* Clears the marks first: a later commit sets them, and wakes, again. */
static void take_marks(lc_watch *watch)
{
    uint64_t marks[WORDS];

    atomic_store_explicit(&watch->is_woken, false, memory_order_seq_cst);
    for (size_t i = 0; i < WORDS; i++)
        marks[i] = atomic_exchange_explicit(&watch->marks[i], 0, memory_order_seq_cst);
    wake_listeners(watch, marks);
}

static void raise_version(_Atomic uint64_t *version)
{
    atomic_fetch_add_explicit(version, 1, memory_order_acq_rel);
}

void lc_watch_wrote(lc_watch *watch, const lc_write *first)
{
    /* A listener that is added now reads the log itself. */
    bool has_listener = atomic_load_explicit(&watch->listener_count, memory_order_acquire) > 0;

    for (const lc_write *at = first; at != NULL; at = at->next) {
        uint32_t slot = lc_watch_slot(at->tenant_id, at->user_id);
        uint64_t bit = UINT64_C(1) << slot % WORD_BITS;

        if (at->user_id.len == 0) /* The store itself: any user may be concerned. */
            raise_version(&watch->version_of_all);
        raise_version(&watch->versions[slot]);
        if (has_listener)
            (void)atomic_fetch_or_explicit(&watch->marks[slot / WORD_BITS], bit,
                                           memory_order_seq_cst);
    }
    if (!has_listener)
        return;
    if (!watch->has_thread)
        take_marks(watch);
    else if (!atomic_exchange_explicit(&watch->is_woken, true, memory_order_seq_cst))
        (void)eventfd_write(watch->wake_fd, 1); /* Cannot be full: it is read before the next. */
}

void lc_watch_wrote_all(lc_watch *watch)
{
    raise_version(&watch->version_of_all);
    if (atomic_load_explicit(&watch->listener_count, memory_order_acquire) > 0)
        wake_listeners(watch, NULL);
}

/* ---- Versions -------------------------------------------------------------------------------- */

/* Opens a connection that no other code uses. Its schema is not checked. Without it versions are
 * unknown. */
static void open_probe(lc_watch *watch)
{
    loci_engine *engine = watch->engine;
    lc_db *probe = NULL;

    if (engine->driver->open(&engine->env, &engine->catalogue,
                             &(lc_db_target){.store = engine->store}, &probe, NULL) == LOCI_OK)
        atomic_store_explicit(&watch->probe, probe, memory_order_release);
}

uint64_t lc_watch_version(lc_watch *watch, uint32_t slot)
{
    const lc_db_driver *driver = watch->engine->driver;
    const lc_db *probe = atomic_load_explicit(&watch->probe, memory_order_acquire);
    int64_t polled_us;

    if (driver->state != NULL && probe != NULL) /* A file that was moved has a state, too. */
        return atomic_load_explicit(&watch->is_lost, memory_order_acquire) ? 0
                                                                           : driver->state(probe);
    if (driver->state != NULL) {
        if (lc_engine_is_inline(watch->engine) &&
            watch->question_count++ == QUESTIONS_WITHOUT_PROBE)
            open_probe(watch);
        return 0;
    }
    polled_us = atomic_load_explicit(&watch->polled_us, memory_order_acquire);
    if (polled_us == 0 || lc_clock_monotonic_us() - polled_us > LC_WATCH_STALE_US_MAX)
        return 0;
    return 1 + atomic_load_explicit(&watch->version_of_all, memory_order_acquire) +
           atomic_load_explicit(&watch->versions[slot], memory_order_acquire);
}

/* ---- Listeners ------------------------------------------------------------------------------- */

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

/* Sleeps until marks are set, or it is time to poll the database. */
static void sleep_until(lc_watch *watch, int64_t until_us)
{
    struct pollfd fd = {.fd = watch->wake_fd, .events = POLLIN};
    int64_t left_us = until_us - lc_clock_monotonic_us();
    eventfd_t ignored;

    if (poll(&fd, 1, left_us <= 0 ? 0 : (int)((left_us + 999) / 1000)) == 1)
        (void)eventfd_read(watch->wake_fd, &ignored);
}

/* ---- The thread ------------------------------------------------------------------------------ */

/* The state of the thread between two polls. */
typedef struct view {
    lc_db *db;
    uint64_t mark;          /* Of the database when the listeners were last woken, */
    uint64_t settings_mark; /* and when the settings were last read. */
    int64_t settings_due_us;
} view;

/* `polled_us` is 0 when the poll failed. */
static void note_poll(lc_watch *watch, int64_t polled_us)
{
    atomic_store_explicit(&watch->is_lost, polled_us == 0, memory_order_release);
    atomic_store_explicit(&watch->polled_us, polled_us, memory_order_release);
}

static void poll_database(lc_watch *watch, view *seen)
{
    int64_t now_us = lc_clock_monotonic_us();
    uint64_t mark;

    if (seen->db != NULL && seen->db->driver->is_broken(seen->db)) {
        lc_db_close(seen->db);
        seen->db = NULL;
    }
    if (seen->db == NULL) {
        /* Without a connection the next round tries again. */
        if (lc_engine_connect(watch->engine, 0, &seen->db, NULL) != LOCI_OK) {
            note_poll(watch, 0);
            return;
        }
        /* It may be another server, as after a failover: their marks cannot be compared. */
        seen->mark = seen->settings_mark = 0;
        now_us = lc_clock_monotonic_us();
    }
    seen->db->origin_id = atomic_load_explicit(&watch->engine->origin_id, memory_order_acquire);
    mark = seen->db->driver->change_mark(seen->db);
    lc_replicas_poll(watch->engine->replicas, seen->db);
    if (mark != seen->mark) {
        seen->mark = mark;
        lc_watch_wrote_all(watch);
    }
    note_poll(watch, mark != 0 ? now_us : 0); /* A mark of 0 means that the poll failed. */
    if (mark == seen->settings_mark || lc_clock_monotonic_us() < seen->settings_due_us)
        return;
    seen->settings_mark = mark;
    seen->settings_due_us = lc_clock_monotonic_us() + SETTINGS_INTERVAL_US;
    lc_engine_settings_changed(watch->engine);
}

static int64_t next_poll_us(lc_watch *watch)
{
    lc_settings *settings = lc_engine_settings(watch->engine);

    return lc_clock_monotonic_us() +
           1000 * lc_settings_i64(settings, &lc_setting_watch_interval_ms, LC_STR_NONE);
}

static void poll_until_stopped(lc_watch *watch, view *seen)
{
    int64_t poll_due_us = next_poll_us(watch);

    for (;;) {
        sleep_until(watch, poll_due_us);
        if (atomic_load_explicit(&watch->is_stopping, memory_order_acquire))
            return;
        if (atomic_load_explicit(&watch->is_woken, memory_order_acquire)) {
            take_marks(watch);
            lc_clock_sleep_us(PAUSE_US);
        }
        if (lc_clock_monotonic_us() >= poll_due_us) {
            poll_database(watch, seen);
            poll_due_us = next_poll_us(watch);
        }
    }
}

static void *watch_store(void *ctx)
{
    lc_watch *watch = ctx;
    lc_fault_frame frame = {.report = lc_engine_report_fault, .ctx = watch->engine};
    view seen = {0};

    if (LC_FAULT_ENTER(&frame))
        poll_until_stopped(watch, &seen);
    lc_fault_leave(&frame);
    lc_db_close(seen.db);
    return NULL;
}

static loci_status start_thread(lc_watch *watch, loci_error *err)
{
    watch->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watch->wake_fd < 0)
        return lc_fail(err, LOCI_ERESOURCE, "cannot open an eventfd: too many open files");
    watch->has_thread = true;
    if (pthread_create(&watch->thread, NULL, watch_store, watch) == 0)
        return LOCI_OK;
    watch->has_thread = false;
    return lc_fail(err, LOCI_ERESOURCE, "cannot start the thread that watches the store");
}

loci_status lc_watch_new(loci_engine *engine, bool has_thread, lc_watch **out, loci_error *err)
{
    lc_watch *watch = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *watch, LOCI_MEM_ENGINE);
    loci_status status = LOCI_OK;

    if (watch == NULL)
        return lc_fail_memory(err);
    watch->engine = engine;
    watch->wake_fd = -1;
    (void)pthread_mutex_init(&watch->lock, NULL); /* Does not fail on Linux. */
    if (has_thread && engine->driver->state != NULL)
        open_probe(watch);
    if (has_thread)
        status = start_thread(watch, err);
    if (status == LOCI_OK)
        *out = watch;
    else
        lc_watch_free(watch);
    return status;
}

void lc_watch_free(lc_watch *watch)
{
    if (watch == NULL)
        return;
    if (watch->has_thread) {
        atomic_store_explicit(&watch->is_stopping, true, memory_order_release);
        (void)eventfd_write(watch->wake_fd, 1);
        (void)pthread_join(watch->thread, NULL);
    }
    if (watch->wake_fd >= 0)
        (void)close(watch->wake_fd);     /* Nothing is written to it. */
    LC_ASSERT(watch->listeners == NULL); /* Subscriptions are closed before their engine. */
    lc_db_close(atomic_load(&watch->probe));
    (void)pthread_mutex_destroy(&watch->lock);
    lc_heap_free(&lc_engine_env(watch->engine)->heap, watch, sizeof *watch, LOCI_MEM_ENGINE);
}
