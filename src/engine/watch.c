/* watch.c - Invariants: listeners and the feed are only touched under `lock`, and `listener_count`
 * is the number of listeners; the thread was woken for every commit that was reported, or will
 * check before it sleeps; places only move forward; versions only rise.
 *
 * With thousands of streams, waking all of them at every commit would cost the writer milliseconds
 * and each stream a read. So a commit only wakes the thread, unless it is awake already. The thread
 * reads which logs have grown, from the place where it read last to the present, and wakes the
 * listeners of these users. Then it pauses, so that a busy writer causes one read per pause, not
 * one per commit, and the reads take a small part of the time.
 *
 * Without a place it cannot know what is new: at the first listener, after a restore, and after a
 * lost connection, behind which there may be another server. Then it takes the present place, wakes
 * all listeners, and those of all users learn that they lost events. The same happens when listing
 * the logs that have grown takes too long, such as after a huge import: the next attempt would have
 * to list even more.
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
#include "engine/feed.h"
#include "engine/internal.h"
#include "store/grown.h"

#define SETTINGS_INTERVAL_US 1000000 /* Stored settings are read again at most this often. */
#define PAUSE_US_MIN 2000            /* Between two reads of the growth, */
#define PAUSE_US_MAX 50000           /* and at most. */
#define PAUSES_PER_READ 8            /* The pause in units of the time that a read takes. */
#define READ_US_MAX 1000000
#define PLACE_BYTES_MAX 65536 /* PostgreSQL lists the transactions in progress. */
/* Calls of lc_watch_version() before an engine without threads opens the connection for it: a
 * program that makes one call asks twice and does not need the version. */
#define QUESTIONS_WITHOUT_PROBE 2
#define OF_ALL LC_WATCH_SLOTS /* Index of the listeners of all users. */

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
    int wake_fd; /* An eventfd: the thread should read the growth. -1 without a thread. */
    _Atomic bool is_stopping;
    _Atomic bool is_woken; /* wake_fd was written, and the thread has not checked yet. */
    lc_listener *listeners[LC_WATCH_SLOTS + 1]; /* By the slot of their user; see OF_ALL. */
    _Atomic int listener_count;
    lc_feed feed;
    bool has_place;             /* Under `lock`. */
    pthread_mutex_t place_lock; /* Of the next three; taken before `lock`, and before the */
    lc_buf place, next_place;   /* snapshot, so that a later holder has a later snapshot. */
    int64_t mark;               /* Of the snapshot that `place` is of. */
    lc_db *_Atomic probe;       /* Connection that is asked for the store's state; NULL = none. */
    _Atomic int question_count;
    _Atomic bool is_lost;            /* The thread's last poll failed: caches must not be used. */
    _Atomic int64_t polled_us;       /* Without a state: the last poll; 0 = it failed. */
    _Atomic uint64_t version_of_all; /* Counts changes that may concern any user, */
    _Atomic uint64_t versions[LC_WATCH_SLOTS]; /* and the commits to a slot. */
};

static uint64_t hash_of(loci_str tenant_id, loci_str user_id)
{
    return lc_hash64(tenant_id) * 31 + lc_hash64(user_id);
}

uint32_t lc_watch_slot(loci_str tenant_id, loci_str user_id)
{
    return (uint32_t)(hash_of(tenant_id, user_id) % LC_WATCH_SLOTS);
}

/* ---- Listeners ------------------------------------------------------------------------------- */

static void wake(const lc_listener *listener)
{
    (void)eventfd_write(listener->fd, 1); /* Full means that it is readable already. */
}

/* The lock is held, also for the next three. */
static void wake_user(const lc_watch *watch, loci_str tenant_id, loci_str user_id)
{
    uint64_t hash = hash_of(tenant_id, user_id);

    for (const lc_listener *at = watch->listeners[hash % LC_WATCH_SLOTS]; at != NULL; at = at->next)
        if (at->hash == hash)
            wake(at);
}

static void wake_everyone(const lc_watch *watch)
{
    for (size_t i = 0; i <= OF_ALL; i++)
        for (const lc_listener *at = watch->listeners[i]; at != NULL; at = at->next)
            wake(at);
}

/* Those that are up to date stay so when only other tenants' logs have grown. */
static void wake_of_all(lc_watch *watch)
{
    for (lc_listener *at = watch->listeners[OF_ALL]; at != NULL; at = at->next) {
        if (lc_feed_is_lost(&watch->feed, at->position) ||
            lc_feed_find(&watch->feed, at->tenant_id, at->position) != NULL)
            wake(at);
        else
            at->position = watch->feed.end;
    }
}

static void link_listener(lc_watch *watch, lc_listener *listener)
{
    lc_listener **link = &watch->listeners[OF_ALL];

    if (!listener->is_of_all) {
        listener->hash = hash_of(listener->tenant_id, listener->user_id);
        link = &watch->listeners[listener->hash % LC_WATCH_SLOTS];
    }
    (void)pthread_mutex_lock(&watch->lock);
    listener->next = *link;
    listener->link = link;
    if (*link != NULL)
        (*link)->link = &listener->next;
    *link = listener;
    listener->position = watch->feed.end;
    atomic_fetch_add_explicit(&watch->listener_count, 1, memory_order_release);
    (void)pthread_mutex_unlock(&watch->lock);
}

void lc_watch_add(lc_watch *watch, lc_listener *listener)
{
    LC_ASSERT(!listener->is_of_all);
    link_listener(watch, listener);
}

void lc_watch_remove(lc_watch *watch, lc_listener *listener)
{
    (void)pthread_mutex_lock(&watch->lock);
    if (listener->link != NULL) {
        *listener->link = listener->next;
        if (listener->next != NULL)
            listener->next->link = listener->link;
        listener->link = NULL;
        if (atomic_fetch_sub_explicit(&watch->listener_count, 1, memory_order_release) == 1)
            watch->has_place = false; /* The log is not followed for nothing. */
    }
    (void)pthread_mutex_unlock(&watch->lock);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* One read of the growth. */
typedef struct reading {
    lc_watch *watch;
    bool has_place;  /* Otherwise only the present place is read. */
    bool is_listing; /* The place was read, and the logs are being listed. */
    int64_t mark;
    lc_feed_range *first, **end;
    int64_t count;
} reading;

static void drop_ranges(reading *r)
{
    lc_heap *heap = &lc_engine_env(r->watch->engine)->heap;

    while (r->first != NULL) {
        lc_feed_range *range = r->first;

        r->first = range->next;
        lc_feed_range_free(heap, range);
    }
    r->end = &r->first;
    r->count = 0;
}

static loci_status note_grown(void *ctx, const lc_grown *grown, loci_error *err)
{
    reading *r = ctx;

    *r->end = lc_feed_range_new(&lc_engine_env(r->watch->engine)->heap, grown->tenant_id,
                                grown->user_id, grown->first_seq,
                                grown->last_seq - grown->first_seq + 1);
    if (*r->end == NULL)
        return lc_fail_memory(err);
    r->end = &(*r->end)->next;
    r->count++;
    return LOCI_OK;
}

static loci_status read_grown(lc_tx *tx, void *ctx, loci_error *err)
{
    reading *r = ctx;
    lc_watch *watch = r->watch;
    loci_status status = lc_grown_mark(tx, &r->mark, err);

    drop_ranges(r); /* Of an attempt before. */
    if (status == LOCI_OK)
        status = lc_grown_place(tx, &watch->next_place, err);
    if (status != LOCI_OK || !r->has_place || r->mark != watch->mark ||
        lc_str_eq(lc_buf_str(&watch->next_place), lc_buf_str(&watch->place)))
        return status;
    r->is_listing = true;
    return lc_grown_each(tx, lc_buf_str(&watch->place), LC_FEED_RANGES_MAX + 1, note_grown, r, err);
}

/* Wakes the listeners and moves the place. */
static void publish(lc_watch *watch, reading *r)
{
    bool is_known = r->has_place && r->mark == watch->mark && r->count <= LC_FEED_RANGES_MAX;
    lc_buf place = watch->place;

    watch->place = watch->next_place;
    watch->next_place = place;
    watch->mark = r->mark;
    (void)pthread_mutex_lock(&watch->lock);
    if (!is_known) {
        lc_feed_skip(&watch->feed);
        wake_everyone(watch);
    }
    while (is_known && r->first != NULL) {
        lc_feed_range *range = r->first;

        r->first = range->next;
        wake_user(watch, range->tenant_id, range->user_id);
        if (watch->listeners[OF_ALL] != NULL)
            lc_feed_add(&watch->feed, range);
        else
            lc_feed_range_free(watch->feed.heap, range);
    }
    wake_of_all(watch);
    watch->has_place = atomic_load(&watch->listener_count) > 0;
    (void)pthread_mutex_unlock(&watch->lock);
}

static void forget_place(lc_watch *watch)
{
    (void)pthread_mutex_lock(&watch->lock);
    watch->has_place = false;
    (void)pthread_mutex_unlock(&watch->lock);
}

/* With the connection `db`, or one of the engine's readers. */
static loci_status read_growth(lc_watch *watch, lc_db *db, loci_error *err)
{
    reading r = {.watch = watch, .end = &r.first};
    int64_t deadline_us = lc_clock_monotonic_us() + READ_US_MAX;
    loci_status status;

    (void)pthread_mutex_lock(&watch->place_lock);
    (void)pthread_mutex_lock(&watch->lock);
    r.has_place = watch->has_place;
    (void)pthread_mutex_unlock(&watch->lock);
    if (db != NULL)
        status = lc_db_read(db, deadline_us, read_grown, &r, err);
    else
        status = lc_engine_read(
            watch->engine, &(lc_read){.deadline_us = deadline_us, .body = read_grown, .ctx = &r},
            err);
    if (status == LOCI_OK)
        publish(watch, &r);
    else if (status == LOCI_EDEADLINE && r.is_listing)
        forget_place(watch);
    drop_ranges(&r);
    (void)pthread_mutex_unlock(&watch->place_lock);
    return status;
}

loci_status lc_watch_add_all(lc_watch *watch, lc_listener *listener, loci_error *err)
{
    loci_status status;

    LC_ASSERT(listener->is_of_all);
    link_listener(watch, listener);
    status = read_growth(watch, NULL, err);
    if (status != LOCI_OK) {
        lc_watch_remove(watch, listener);
        return status;
    }
    (void)pthread_mutex_lock(&watch->lock);
    listener->position = watch->feed.end;
    (void)pthread_mutex_unlock(&watch->lock);
    return LOCI_OK;
}

loci_status lc_watch_catch_up(lc_watch *watch, loci_error *err)
{
    return watch->has_thread ? LOCI_OK : read_growth(watch, NULL, err);
}

void lc_watch_find(lc_watch *watch, lc_listener *listener, lc_watch_growth *out)
{
    const lc_feed *feed = &watch->feed;
    const lc_feed_range *range = NULL;

    (void)pthread_mutex_lock(&watch->lock);
    out->is_lost = lc_feed_is_lost(feed, listener->position);
    out->end = feed->end;
    out->count = 0;
    if (!out->is_lost)
        range = lc_feed_find(feed, listener->tenant_id, listener->position);
    if (range == NULL)
        listener->position = feed->end;
    else if (listener->position < range->begin)
        listener->position = range->begin;
    out->position = listener->position;
    if (range != NULL) {
        int64_t taken = listener->position - range->begin;

        LC_ASSERT(range->user_id.len <= sizeof out->name);
        out->after_seq = range->first_seq + taken - 1;
        out->count = range->count - taken;
        memcpy(out->name, range->user_id.ptr, range->user_id.len);
        out->user_id = (loci_str){out->name, range->user_id.len};
    }
    (void)pthread_mutex_unlock(&watch->lock);
}

int64_t lc_watch_end(lc_watch *watch)
{
    int64_t end;

    (void)pthread_mutex_lock(&watch->lock);
    end = watch->feed.end;
    (void)pthread_mutex_unlock(&watch->lock);
    return end;
}

void lc_watch_move(lc_watch *watch, lc_listener *listener, int64_t position)
{
    (void)pthread_mutex_lock(&watch->lock);
    listener->position = position;
    (void)pthread_mutex_unlock(&watch->lock);
}

/* ---- Commits of this process ----------------------------------------------------------------- */

/* Wakes the thread; cannot be full, because it is read before the next. */
static void wake_thread(lc_watch *watch)
{
    if (!atomic_exchange_explicit(&watch->is_woken, true, memory_order_seq_cst))
        (void)eventfd_write(watch->wake_fd, 1);
}

static void raise_version(_Atomic uint64_t *version)
{
    atomic_fetch_add_explicit(version, 1, memory_order_acq_rel);
}

static void wake_writers_users(lc_watch *watch, const lc_write *first)
{
    (void)pthread_mutex_lock(&watch->lock);
    for (const lc_write *at = first; at != NULL; at = at->next)
        wake_user(watch, at->tenant_id, at->user_id);
    for (const lc_listener *at = watch->listeners[OF_ALL]; at != NULL; at = at->next)
        wake(at);
    (void)pthread_mutex_unlock(&watch->lock);
}

void lc_watch_wrote(lc_watch *watch, const lc_write *first)
{
    for (const lc_write *at = first; at != NULL; at = at->next) {
        if (at->user_id.len == 0) /* The store itself: any user may be concerned. */
            raise_version(&watch->version_of_all);
        raise_version(&watch->versions[lc_watch_slot(at->tenant_id, at->user_id)]);
    }
    /* A listener that is added now reads the log itself. */
    if (atomic_load_explicit(&watch->listener_count, memory_order_acquire) == 0)
        return;
    if (watch->has_thread)
        wake_thread(watch);
    else
        wake_writers_users(watch, first);
}

static void wake_all(lc_watch *watch, bool is_replaced)
{
    raise_version(&watch->version_of_all);
    if (atomic_load_explicit(&watch->listener_count, memory_order_acquire) == 0)
        return;
    (void)pthread_mutex_lock(&watch->lock);
    if (is_replaced)
        watch->has_place = false;
    wake_everyone(watch);
    (void)pthread_mutex_unlock(&watch->lock);
    if (watch->has_thread)
        wake_thread(watch);
}

void lc_watch_wrote_all(lc_watch *watch)
{
    wake_all(watch, false);
}

void lc_watch_replaced(lc_watch *watch)
{
    wake_all(watch, true);
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

/* ---- The thread ------------------------------------------------------------------------------ */

/* Sleeps until a commit is reported, or it is time to poll the database. */
static void sleep_until(lc_watch *watch, int64_t until_us)
{
    struct pollfd fd = {.fd = watch->wake_fd, .events = POLLIN};
    int64_t left_us = until_us - lc_clock_monotonic_us();
    eventfd_t ignored;

    if (poll(&fd, 1, left_us <= 0 ? 0 : (int)((left_us + 999) / 1000)) == 1)
        (void)eventfd_read(watch->wake_fd, &ignored);
}

/* The state of the thread between two polls. */
typedef struct view {
    lc_db *db;
    uint64_t mark;          /* Of the database at the last poll, */
    uint64_t settings_mark; /* and when the settings were last read. */
    int64_t settings_due_us;
    bool has_news; /* There were commits since the growth was read. */
} view;

/* `polled_us` is 0 when the poll failed. */
static void note_poll(lc_watch *watch, int64_t polled_us)
{
    atomic_store_explicit(&watch->is_lost, polled_us == 0, memory_order_release);
    atomic_store_explicit(&watch->polled_us, polled_us, memory_order_release);
}

/* False without a connection; the next round tries again. */
static bool has_connection(lc_watch *watch, view *seen)
{
    if (seen->db != NULL && seen->db->driver->is_broken(seen->db)) {
        lc_db_close(seen->db);
        seen->db = NULL;
        /* The next may be another server, as after a failover: marks and places cannot be
         * compared. */
        seen->mark = seen->settings_mark = 0;
        forget_place(watch);
    }
    return seen->db != NULL || lc_engine_connect(watch->engine, 0, &seen->db, NULL) == LOCI_OK;
}

static void poll_database(lc_watch *watch, view *seen)
{
    int64_t now_us;
    uint64_t mark;

    if (!has_connection(watch, seen)) {
        note_poll(watch, 0);
        return;
    }
    now_us = lc_clock_monotonic_us();
    seen->db->origin_id = atomic_load_explicit(&watch->engine->origin_id, memory_order_acquire);
    mark = seen->db->driver->change_mark(seen->db);
    lc_replicas_poll(watch->engine->replicas, seen->db);
    if (mark != seen->mark) {
        seen->mark = mark;
        seen->has_news = true;
        raise_version(&watch->version_of_all);
    }
    note_poll(watch, mark != 0 ? now_us : 0); /* A mark of 0 means that the poll failed. */
    if ((mark == seen->settings_mark &&
         !atomic_load_explicit(&watch->engine->has_old_settings, memory_order_relaxed)) ||
        lc_clock_monotonic_us() < seen->settings_due_us)
        return;
    seen->settings_mark = mark;
    seen->settings_due_us = lc_clock_monotonic_us() + SETTINGS_INTERVAL_US;
    lc_engine_settings_changed(watch->engine);
}

/* Reads the growth if there were commits and anyone listens, then pauses. After a failure the
 * commits are still news, for the round of the next poll. */
static void follow(lc_watch *watch, view *seen)
{
    int64_t began_us = lc_clock_monotonic_us(), pause_us;

    if (!seen->has_news)
        return;
    if (atomic_load_explicit(&watch->listener_count, memory_order_acquire) == 0) {
        seen->has_news = false;
        return;
    }
    if (has_connection(watch, seen) && read_growth(watch, seen->db, NULL) == LOCI_OK)
        seen->has_news = false;
    pause_us = PAUSES_PER_READ * (lc_clock_monotonic_us() - began_us);
    pause_us = pause_us < PAUSE_US_MIN ? PAUSE_US_MIN : pause_us;
    lc_clock_sleep_us(pause_us < PAUSE_US_MAX ? pause_us : PAUSE_US_MAX);
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
        /* Cleared first: a later commit sets it, and wakes, again. */
        if (atomic_exchange_explicit(&watch->is_woken, false, memory_order_seq_cst))
            seen->has_news = true;
        if (lc_clock_monotonic_us() >= poll_due_us) {
            poll_database(watch, seen);
            poll_due_us = next_poll_us(watch);
        }
        follow(watch, seen);
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
    (void)pthread_mutex_init(&watch->lock, NULL); /* Do not fail on Linux. */
    (void)pthread_mutex_init(&watch->place_lock, NULL);
    lc_feed_init(&watch->feed, &lc_engine_env(engine)->heap);
    lc_buf_init(&watch->place, &lc_engine_env(engine)->heap, LOCI_MEM_ENGINE, PLACE_BYTES_MAX);
    lc_buf_init(&watch->next_place, &lc_engine_env(engine)->heap, LOCI_MEM_ENGINE, PLACE_BYTES_MAX);
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
        (void)close(watch->wake_fd);       /* Nothing is written to it. */
    LC_ASSERT(watch->listener_count == 0); /* Subscriptions are closed before their engine. */
    lc_db_close(atomic_load(&watch->probe));
    lc_feed_clear(&watch->feed);
    lc_buf_clear(&watch->place);
    lc_buf_clear(&watch->next_place);
    (void)pthread_mutex_destroy(&watch->place_lock);
    (void)pthread_mutex_destroy(&watch->lock);
    lc_heap_free(&lc_engine_env(watch->engine)->heap, watch, sizeof *watch, LOCI_MEM_ENGINE);
}
