/* writer.c - Invariants: at most one thread has the role (`is_taken`); only it touches `db`; a
 * write is in the queue, in the hands of the role's holder, or answered; if the queue is not empty,
 * somebody has the role or has been asked to take it. No lock is held while a batch runs.
 *
 * What counts is the time between two batches, when nobody writes: waking a thread takes as long as
 * some writes do. So a queue that several wait in is left to a thread that keeps the role until it
 * is empty, and of those answered it wakes one, who wakes the others while the next batch already
 * runs. A waiter has a semaphore of its own: with conditions all woken threads would queue up once
 * more, for the lock.
 */
#include "engine/writer.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/random.h"
#include "engine/internal.h"

/* A thread that waits for its write. Its storage is gone once it was woken for being done. */
typedef struct waiter {
    lc_queued_write queued; /* First: found again from the queue. */
    sem_t wake;
    _Atomic bool is_done;   /* Written before the post that it explains. */
    _Atomic bool must_lead; /* The same. */
    struct waiter *others;  /* To be woken by it when it is. */
} waiter;

struct lc_writer {
    loci_engine *engine;
    lc_db *db; /* NULL after a failure that only a fresh connection survives. */
    pthread_mutex_t lock;
    lc_queued_write *first, *last;
    int64_t length;
    int64_t answered_count; /* By the last batch. */
    bool is_taken;
    int64_t gather_us; /* How long the next batch waits for more; the role's holder's. */
    bool is_stopping;
    bool has_thread;  /* It was started, and has to be joined. */
    bool is_served;   /* It runs and takes the role when it is given to it. */
    pthread_t thread; /* Leads when several wait, or nobody does. */
    pthread_cond_t thread_wake;
    bool thread_must_lead;
    _Atomic bool is_stale; /* The store was replaced: connect anew. */
    _Atomic int64_t write_count;
    _Atomic int64_t commit_count;
};

static lc_queued_write *next_of(const lc_queued_write *queued)
{
    return (lc_queued_write *)queued->write.next;
}

static void push(lc_writer *writer, lc_queued_write *queued)
{
    queued->write.next = NULL;
    queued->write.is_answered = false;
    if (writer->last == NULL)
        writer->first = queued;
    else
        writer->last->write.next = &queued->write;
    writer->last = queued;
    writer->length++;
}

/* Of several the first, who wakes the others. */
static void wake_waiters(waiter *first)
{
    first->others = (waiter *)next_of(&first->queued);
    first->is_done = true;
    (void)sem_post(&first->wake); /* Cannot overflow: it is posted at most twice. */
}

/* Half of them each: the last one is not woken by a chain of all before it. */
static void wake_halves(waiter *first)
{
    lc_queued_write *middle, *end;

    if (first == NULL)
        return;
    middle = end = &first->queued;
    while (next_of(end) != NULL && next_of(next_of(end)) != NULL) {
        middle = next_of(middle);
        end = next_of(next_of(end));
    }
    end = next_of(middle);
    middle->write.next = NULL;
    if (end != NULL)
        wake_waiters((waiter *)end);
    wake_waiters(first);
}

/* `done` of a waiter. */
static void wake_waiter(lc_queued_write *queued)
{
    queued->write.next = NULL;
    wake_waiters((waiter *)queued);
}

static bool has_waiter(const lc_queued_write *queued)
{
    return queued->done == wake_waiter;
}

static void answer_all(lc_queued_write *first, const loci_error *cause)
{
    for (lc_queued_write *at = first; at != NULL; at = next_of(at)) {
        if (at->write.is_answered)
            continue;
        at->write.status = cause->status;
        at->write.error = *cause;
        at->write.is_answered = true;
    }
}

/* What the role's holder runs. */
typedef struct turn {
    lc_writer *writer;
    lc_queued_write *first;
} turn;

/* Commits of this connection are told to whom they concern by lc_watch_wrote(), so the watch need
 * not see them. A number of its own for every connection: what one that was lost may still commit
 * is told by nobody. */
static void tell_own(lc_writer *writer)
{
    uint64_t number;

    if (!lc_random_secret(&number, sizeof number))
        number = 0; /* Then they are seen twice. */
    writer->db->origin_id = number;
    atomic_store_explicit(&writer->engine->origin_id, number, memory_order_release);
}

static loci_status write_batch(void *ctx, loci_error *err)
{
    turn *t = ctx;
    lc_writer *writer = t->writer;
    loci_status status = LOCI_OK;

    if (writer->db == NULL) {
        status = lc_engine_connect(writer->engine, &writer->db, err);
        if (status == LOCI_OK)
            tell_own(writer);
    }
    if (status == LOCI_OK)
        lc_db_write(writer->db, &t->first->write);
    return status;
}

static void drop_connection(lc_writer *writer)
{
    lc_db_close(writer->db);
    writer->db = NULL;
}

/* Runs one batch without the lock. After a bug in a body the connection is given up, which rolls
 * back. */
static void run_batch(lc_writer *writer, lc_queued_write *first)
{
    turn t = {.writer = writer, .first = first};
    loci_error err;

    if (atomic_exchange_explicit(&writer->is_stale, false, memory_order_acq_rel) ||
        (writer->db != NULL && writer->db->driver->is_broken(writer->db)))
        drop_connection(writer);
    if (lc_engine_guard(writer->engine, write_batch, &t, &err) != LOCI_OK) {
        answer_all(first, &err);
        drop_connection(writer);
    } else if (writer->db->driver->is_broken(writer->db)) {
        drop_connection(writer);
    }
    atomic_fetch_add_explicit(&writer->commit_count, 1, memory_order_relaxed);
}

/* After a batch of several that took `took_us`: an eighth of that may be worth waiting. */
static void plan_gathering(lc_writer *writer, const lc_queued_write *batch, int64_t took_us)
{
    int64_t most_us = writer->db == NULL ? 0 : writer->db->driver->gather_us_max;
    int64_t wanted_us = took_us / 8 < most_us ? took_us / 8 : most_us;

    writer->gather_us = next_of(batch) != NULL ? wanted_us : 0;
}

/* How much of the queue the next batch takes. Where groups gather it is all. Else it is half of
 * those who write, the others being the ones that were just answered and are about to come again:
 * then there is always a batch to run, and somebody to prepare the next. With all of them in one
 * batch nothing would happen while they come back, but for the first of them alone. */
static int64_t next_share(const lc_writer *writer)
{
    int64_t half = (writer->length + writer->answered_count + 1) / 2;
    bool gathers = writer->db != NULL && writer->db->driver->gather_us_max > 0;

    return gathers || half > writer->length ? writer->length : half;
}

/* Takes the next batch out of the queue; the caller has the role and the lock. */
static lc_queued_write *take_batch(lc_writer *writer)
{
    lc_queued_write *first, *last;
    int64_t count;

    if (writer->gather_us > 0) {
        (void)pthread_mutex_unlock(&writer->lock);
        lc_clock_sleep_us(writer->gather_us);
        (void)pthread_mutex_lock(&writer->lock);
    }
    first = last = writer->first;
    if (first == NULL)
        return NULL;
    count = next_share(writer);
    writer->length -= count;
    while (--count > 0)
        last = next_of(last);
    writer->first = next_of(last);
    if (writer->first == NULL)
        writer->last = NULL;
    last->write.next = NULL;
    return first;
}

/* Splits a batch: answered writes are returned as a list, the others go back in front of the queue.
 */
static lc_queued_write *settle(lc_writer *writer, lc_queued_write *batch)
{
    lc_queued_write *answered = NULL, **answered_end = &answered;
    lc_queued_write *left = NULL, *left_last = NULL;

    writer->answered_count = 0;
    for (lc_queued_write *at = batch, *next; at != NULL; at = next) {
        next = next_of(at);
        at->write.next = NULL;
        if (at->write.is_answered) {
            *answered_end = at;
            answered_end = (lc_queued_write **)&at->write.next;
            writer->answered_count++;
            atomic_fetch_add_explicit(&writer->write_count, 1, memory_order_relaxed);
            continue;
        }
        if (left == NULL)
            left = at;
        else
            left_last->write.next = &at->write;
        left_last = at;
        writer->length++;
    }
    if (left != NULL) {
        left_last->write.next = writer->first == NULL ? NULL : &writer->first->write;
        if (writer->first == NULL)
            writer->last = left_last;
        writer->first = left;
    }
    return answered;
}

static void tell_answered(lc_writer *writer, lc_queued_write *answered)
{
    lc_queued_write *waiting = NULL;
    bool must_drain = false;

    for (lc_queued_write *at = answered, *next; at != NULL; at = next) {
        next = next_of(at); /* Afterwards its storage is somebody else's. */
        if (!has_waiter(at)) {
            at->done(at);
            must_drain = true;
            continue;
        }
        at->write.next = waiting == NULL ? NULL : &waiting->write;
        waiting = at;
    }
    if (must_drain)
        lc_engine_drained(writer->engine);
    if (waiting != NULL)
        wake_waiters((waiter *)waiting);
}

/* Gives the role to somebody with an interest in the queue, or gives it up. False when there is
 * nobody but the caller to run what is queued. The lock is held. */
static bool hand_over(lc_writer *writer)
{
    lc_queued_write *at = writer->first;

    while (at != NULL && !has_waiter(at))
        at = next_of(at);
    if (at != NULL && (!writer->is_served || writer->length == 1)) {
        waiter *heir = (waiter *)at;

        heir->must_lead = true;
        (void)sem_post(&heir->wake);
        return true;
    }
    if (writer->first != NULL && writer->is_served) {
        writer->thread_must_lead = true;
        (void)pthread_cond_signal(&writer->thread_wake);
        return true;
    }
    if (writer->first != NULL)
        return false;
    writer->is_taken = false;
    if (writer->is_stopping)
        (void)pthread_cond_signal(&writer->thread_wake);
    return true;
}

/* Has the role and the lock, and gives both up. Runs batches until `self` (or, without one,
 * everything) is answered. */
static void lead(lc_writer *writer, waiter *self)
{
    bool is_over = false;

    while (!is_over) {
        lc_queued_write *batch = take_batch(writer);
        lc_queued_write *answered;
        int64_t began_us = lc_clock_monotonic_us();

        if (batch == NULL) {         /* Whoever was queued gave up while more were waited for. */
            (void)hand_over(writer); /* Gives the role up: nothing is queued. */
            (void)pthread_mutex_unlock(&writer->lock);
            break;
        }
        (void)pthread_mutex_unlock(&writer->lock);
        run_batch(writer, batch);
        plan_gathering(writer, batch, lc_clock_monotonic_us() - began_us);
        lc_watch_wrote(writer->engine->watch, &batch->write);
        (void)pthread_mutex_lock(&writer->lock);
        answered = settle(writer, batch);
        if (self == NULL || self->queued.write.is_answered)
            is_over = self == NULL ? writer->first == NULL && hand_over(writer) : hand_over(writer);
        (void)pthread_mutex_unlock(&writer->lock);
        tell_answered(writer, answered);
        if (!is_over)
            (void)pthread_mutex_lock(&writer->lock);
    }
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        LC_ASSERT(errno == EINTR);
}

/* False when the deadline came first. */
static bool wait_until(sem_t *semaphore, int64_t deadline_us)
{
    struct timespec until = {.tv_sec = deadline_us / 1000000,
                             .tv_nsec = deadline_us % 1000000 * 1000};

    while (sem_clockwait(semaphore, CLOCK_MONOTONIC, &until) != 0) {
        if (errno == ETIMEDOUT)
            return false;
        LC_ASSERT(errno == EINTR);
    }
    return true;
}

/* Takes a write out of the queue; false when it is in somebody's hands already. */
static bool withdraw(lc_writer *writer, waiter *self)
{
    lc_queued_write *before = NULL, *at;

    (void)pthread_mutex_lock(&writer->lock);
    for (at = writer->first; at != NULL && at != &self->queued; at = next_of(at))
        before = at;
    if (at != NULL && !atomic_load(&self->must_lead)) {
        if (before == NULL)
            writer->first = next_of(at);
        else
            before->write.next = at->write.next;
        if (writer->last == at)
            writer->last = before;
        writer->length--;
    } else {
        at = NULL;
    }
    (void)pthread_mutex_unlock(&writer->lock);
    return at != NULL;
}

/* Until it was answered or has to lead. The one who leads may be waiting for another process, with
 * more patience than this one has: what is still queued at its deadline is taken back. */
static void wait_for_turn(lc_writer *writer, waiter *self)
{
    lc_write *write = &self->queued.write;

    if (wait_until(&self->wake, write->deadline_us))
        return;
    if (!withdraw(writer, self)) {
        wait_for(&self->wake);
        return;
    }
    write->status = lc_fail(&write->error, LOCI_EDEADLINE,
                            "the store was too busy to begin before the deadline");
    atomic_store(&self->is_done, true);
}

static void *lead_for_all(void *ctx)
{
    lc_writer *writer = ctx;
    (void)pthread_mutex_lock(&writer->lock);
    for (;;) {
        /* Whoever has the role may still give it to this one. */
        while (!writer->thread_must_lead && (!writer->is_stopping || writer->is_taken))
            (void)pthread_cond_wait(&writer->thread_wake, &writer->lock);
        if (!writer->thread_must_lead)
            break;
        writer->thread_must_lead = false;
        lead(writer, NULL);
        (void)pthread_mutex_lock(&writer->lock);
    }
    writer->is_served = false;
    (void)pthread_mutex_unlock(&writer->lock);
    return NULL;
}

/* If there may be one. The lock is held. */
static void start_thread(lc_writer *writer)
{
    if (writer->has_thread || writer->is_stopping || lc_engine_is_inline(writer->engine))
        return;
    writer->has_thread = pthread_create(&writer->thread, NULL, lead_for_all, writer) == 0;
    writer->is_served = writer->has_thread;
}

loci_status lc_writer_run(lc_writer *writer, lc_write *write)
{
    waiter self = {.queued = {.done = wake_waiter}};
    bool leads;

    self.queued.write = *write;
    (void)sem_init(&self.wake, 0, 0); /* Cannot fail for a value of 0. */
    (void)pthread_mutex_lock(&writer->lock);
    push(writer, &self.queued);
    leads = !writer->is_taken;
    writer->is_taken = true;
    if (!leads) {
        if (writer->length > 1)
            start_thread(writer);
        (void)pthread_mutex_unlock(&writer->lock);
        wait_for_turn(writer, &self);
        leads = !atomic_load(&self.is_done); /* Else it must lead. */
        if (leads)
            (void)pthread_mutex_lock(&writer->lock);
    }
    if (leads) {
        lead(writer, &self);
        wait_for(&self.wake); /* Its own answer, told by itself. */
    }
    wake_halves(self.others);
    (void)sem_destroy(&self.wake);
    write->is_answered = true;
    write->status = self.queued.write.status;
    if (write->status != LOCI_OK)
        write->error = self.queued.write.error;
    return write->status;
}

void lc_writer_submit(lc_writer *writer, lc_queued_write *queued)
{
    (void)pthread_mutex_lock(&writer->lock);
    start_thread(writer);
    push(writer, queued);
    if (!writer->is_taken) {
        writer->is_taken = true;
        if (!hand_over(
                writer)) { /* Inline, or no thread to be had: done here rather than not at all. */
            lead(writer, NULL);
            return;
        }
    }
    (void)pthread_mutex_unlock(&writer->lock);
}

loci_status lc_writer_new(loci_engine *engine, lc_db *db, lc_writer **out, loci_error *err)
{
    lc_writer *writer = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *writer,
                                       LOCI_MEM_ENGINE);

    if (writer == NULL)
        return lc_fail_memory(err);
    writer->engine = engine;
    writer->db = db;
    (void)pthread_mutex_init(&writer->lock, NULL); /* Neither fails with default attributes. */
    (void)pthread_cond_init(&writer->thread_wake, NULL);
    tell_own(writer);
    *out = writer;
    return LOCI_OK;
}

void lc_writer_stop(lc_writer *writer)
{
    bool has_thread;

    if (writer == NULL)
        return;
    (void)pthread_mutex_lock(&writer->lock);
    has_thread = writer->has_thread;
    writer->has_thread = false;
    writer->is_stopping = true;
    (void)pthread_cond_signal(&writer->thread_wake);
    (void)pthread_mutex_unlock(&writer->lock);
    if (has_thread)
        (void)pthread_join(writer->thread, NULL);
}

void lc_writer_free(lc_writer *writer)
{
    if (writer == NULL)
        return;
    lc_writer_stop(writer);
    LC_ASSERT(writer->first == NULL);
    lc_db_close(writer->db);
    (void)pthread_cond_destroy(&writer->thread_wake);
    (void)pthread_mutex_destroy(&writer->lock);
    lc_heap_free(&lc_engine_env(writer->engine)->heap, writer, sizeof *writer, LOCI_MEM_ENGINE);
}

void lc_writer_renew(lc_writer *writer)
{
    atomic_store_explicit(&writer->is_stale, true, memory_order_release);
}

lc_writer_counters lc_writer_get_counters(lc_writer *writer)
{
    lc_writer_counters counters = {
        .writes = atomic_load_explicit(&writer->write_count, memory_order_relaxed),
        .commits = atomic_load_explicit(&writer->commit_count, memory_order_relaxed),
    };

    (void)pthread_mutex_lock(&writer->lock);
    counters.queue_length = writer->length;
    (void)pthread_mutex_unlock(&writer->lock);
    return counters;
}
