/* writer.c - group commit with a leader and followers.
 *
 *     lc_engine_write ---> queue ---> no leader: leader
 *                            |   `--> else follower --woken--> done, or next leader
 *     lc_engine_submit --> queue      (no thread waits: the leader calls `done`)
 *
 *     leader: take a group out of the queue -> commit it -> hand over, if its own write is answered
 *             -> deliver the answers -> again, unless it handed over
 *
 * Invariants: at most one thread leads, and `is_led` says whether one does or was asked to. If the
 * queue is not empty, is_led is true. Only the leader uses the connection and the policy. A write
 * is in the queue, in the leader's group, or answered. No lock is held while a group is committed
 * or its answers are delivered.
 *
 * The time between two groups decides the throughput, because nothing is written then, and waking a
 * thread takes as long as several writes. So when several writes are queued, the lead goes to a
 * thread of the writer's own, which keeps it until the queue is empty; and a leader wakes only one
 * follower of a group, which wakes the others while the next group is being committed. Each
 * follower has a semaphore: woken by a condition variable, all of them would wait again, for the
 * lock.
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

#define NEVER_US INT64_MAX
#define QUEUE_MIN LC_WRITES_PER_COMMIT_MAX /* Writes that may always wait: about a group. */
#define QUEUE_US_MAX 5000000               /* Longest queue, in time. */

/* ---- The queue: writes in the order in which they arrived ------------------------------------ */

typedef struct queue {
    lc_queued_write *first, *last;
    int64_t length;
} queue;

static lc_queued_write *next_of(const lc_queued_write *queued)
{
    return (lc_queued_write *)queued->write.next;
}

static void append(queue *q, lc_queued_write *queued)
{
    queued->write.next = NULL;
    if (q->last == NULL)
        q->first = queued;
    else
        q->last->write.next = &queued->write;
    q->last = queued;
    q->length++;
}

static lc_queued_write *take_first(queue *q)
{
    lc_queued_write *first = q->first;

    q->first = next_of(first);
    if (q->first == NULL)
        q->last = NULL;
    q->length--;
    return first;
}

/* Puts `front` in front of the queue. */
static void put_back(queue *q, const queue *front)
{
    if (front->length == 0)
        return;
    front->last->write.next = q->first == NULL ? NULL : &q->first->write;
    q->first = front->first;
    q->last = q->last == NULL ? front->last : q->last;
    q->length += front->length;
}

/* False when it is not in the queue. */
static bool withdraw(queue *q, const lc_queued_write *queued)
{
    queue before = {0};
    bool is_found;

    while (q->length > 0 && q->first != queued)
        append(&before, take_first(q));
    is_found = q->length > 0;
    if (is_found)
        (void)take_first(q);
    put_back(q, &before);
    return is_found;
}

/* ---- The policy: how many writes a group takes, and how long it waits for more --------------- */

typedef struct policy {
    int64_t gather_us_max; /* From the driver: 0 = a group never waits for more writes. */
    int64_t gather_us;     /* Before the next group is taken. */
    int64_t answered;      /* Writes that the last group answered. */
} policy;

/* A driver whose groups wait for more takes all of the queue. Otherwise a group takes half of the
 * active callers: those that were just answered are about to come back, so there is always a group
 * to commit while the other half prepares its next writes. With all of them in one group, nothing
 * would be written while they come back, except the first one alone. */
static int64_t choose_group(const policy *p, int64_t queued)
{
    int64_t half = (queued + p->answered + 1) / 2;

    return p->gather_us_max > 0 || half > queued ? queued : half;
}

/* A group waits for more writes for at most an eighth of the time that the last group of several
 * writes took. */
static void learn(policy *p, int64_t group, int64_t answered, int64_t took_us)
{
    int64_t gather_us = took_us / 8 < p->gather_us_max ? took_us / 8 : p->gather_us_max;

    p->gather_us = group > 1 ? gather_us : 0;
    p->answered = answered;
}

/* ---- The writer and its followers ------------------------------------------------------------ */

typedef enum follower_state { FOLLOWS, LEADS, DONE } follower_state;

/* A caller that waits for its write, on its stack. Its `done` is NULL, unlike that of submitted
 * writes. */
typedef struct follower {
    lc_queued_write queued; /* First: found again from the queue. */
    sem_t wake;
    _Atomic follower_state state; /* Changed before the post that wakes the caller. */
    struct follower *others;      /* Followers of the same group, which this one wakes. */
} follower;

struct lc_writer {
    loci_engine *engine;
    lc_db *db;             /* NULL after a failure that needs a new connection. */
    _Atomic bool is_stale; /* The store was replaced: connect again. */
    policy policy;

    pthread_mutex_t lock; /* For the following. */
    queue queue;
    int64_t taken;    /* Writes in the leader's group. */
    int64_t write_us; /* Moving average: time of a group per write that it answered. */
    bool is_led;
    bool is_stopping;
    bool has_thread;    /* The writer's own thread was started, */
    bool thread_serves; /* has not ended, */
    bool thread_leads;  /* and was made the next leader. */
    pthread_t thread;
    pthread_cond_t thread_wake;
    lc_writer_counters counters; /* Without queue_length. */
};

/* Wakes the first of a list of followers, who wakes the others. */
static void wake_first(follower *first)
{
    first->others = (follower *)next_of(&first->queued);
    atomic_store(&first->state, DONE);
    (void)sem_post(&first->wake); /* Its storage may be gone from here on. */
}

/* Divides a list of followers in two and wakes the first of each half, so that the wake-ups of all
 * followers form a tree and not a chain. NULL is fine. */
static void wake_halves(follower *first)
{
    follower *halves[2] = {NULL, NULL};

    for (int i = 0; first != NULL; i = 1 - i) {
        follower *next = (follower *)next_of(&first->queued);

        first->queued.write.next = halves[i] == NULL ? NULL : &halves[i]->queued.write;
        halves[i] = first;
        first = next;
    }
    for (int i = 0; i < 2; i++) {
        if (halves[i] != NULL)
            wake_first(halves[i]);
    }
}

/* Sleeps until the write is answered or its caller is the next leader. A leader may wait for
 * another process for longer than this caller's deadline: a write still queued then is withdrawn.
 */
static void follow(lc_writer *writer, follower *self)
{
    lc_write *write = &self->queued.write;
    int64_t until_us = write->deadline_us;
    bool is_withdrawn = false;

    while (!is_withdrawn) {
        struct timespec until = {.tv_sec = until_us / 1000000,
                                 .tv_nsec = until_us % 1000000 * 1000};

        if (sem_clockwait(&self->wake, CLOCK_MONOTONIC, &until) == 0)
            return;
        if (errno == EINTR)
            continue;
        LC_ASSERT(errno == ETIMEDOUT);
        (void)pthread_mutex_lock(&writer->lock);
        is_withdrawn = atomic_load(&self->state) == FOLLOWS &&
                       withdraw(&writer->queue, &self->queued);
        (void)pthread_mutex_unlock(&writer->lock);
        until_us = NEVER_US; /* The leader has it, and will answer. */
    }
    write->status = lc_fail(&write->error, LOCI_EDEADLINE,
                            "the store was too busy to begin before the deadline");
    atomic_store(&self->state, DONE);
}

/* ---- Committing a group ---------------------------------------------------------------------- */

/* Prepares a new connection. Marks its commits as the engine's own: the watch need not look for
 * them, because lc_watch_wrote() reports them. The number is new for every connection: commits that
 * a lost connection may still make are not reported here, so the watch must find them. */
static void set_origin(lc_writer *writer)
{
    uint64_t number;

    if (!lc_random_secret(&number, sizeof number))
        number = 0; /* Then the watch reports them a second time. */
    writer->db->origin_id = number;
    writer->db->commit_took = &writer->engine->timings.commit;
    writer->db->sync_took = &writer->engine->timings.sync;
    writer->db->is_maintained = writer->db->driver->maintain != NULL &&
                                !lc_engine_is_inline(writer->engine);
    atomic_store_explicit(&writer->engine->origin_id, number, memory_order_release);
}

static void disconnect(lc_writer *writer)
{
    lc_db_close(writer->db);
    writer->db = NULL;
}

typedef struct guarded_commit {
    lc_writer *writer;
    lc_queued_write *first;
} guarded_commit;

static loci_status commit_guarded(void *ctx, loci_error *err)
{
    guarded_commit *c = ctx;
    lc_writer *writer = c->writer;
    loci_status status = LOCI_OK;

    if (writer->db == NULL) {
        status = lc_engine_connect(writer->engine, 0, &writer->db, err);
        if (status == LOCI_OK)
            set_origin(writer);
    }
    if (status != LOCI_OK)
        return status;
    lc_db_write(writer->db, &c->first->write);
    if (writer->db->wants_maintenance)
        writer->db->is_maintained = lc_maintenance_wake(writer->engine->maintenance);
    writer->db->wants_maintenance = false;
    return LOCI_OK;
}

/* Answers at least one write of the group. After a bug in a body the connection is closed, which
 * rolls its transaction back. */
static void commit(lc_writer *writer, const queue *group)
{
    guarded_commit c = {.writer = writer, .first = group->first};
    loci_error err;
    loci_status status;

    if (atomic_exchange_explicit(&writer->is_stale, false, memory_order_acq_rel) ||
        (writer->db != NULL && writer->db->driver->is_broken(writer->db)))
        disconnect(writer);
    status = lc_engine_guard(writer->engine, commit_guarded, &c, &err);
    if (status != LOCI_OK || writer->db->driver->is_broken(writer->db))
        disconnect(writer);
    for (lc_queued_write *at = group->first; status != LOCI_OK && at != NULL; at = next_of(at)) {
        if (at->write.is_answered)
            continue;
        at->write.status = err.status;
        at->write.error = err;
        at->write.is_answered = true;
    }
    lc_replicas_wrote(writer->engine->replicas, &group->first->write);
    lc_watch_wrote(writer->engine->watch, &group->first->write);
}

/* ---- Leading --------------------------------------------------------------------------------- */

/* Calls `done` of submitted writes and wakes followers, except the leader itself. */
static void deliver(lc_writer *writer, const queue *answered, const follower *leader)
{
    lc_queued_write *followers = NULL;
    bool must_drain = false;

    for (lc_queued_write *at = answered->first, *next; at != NULL; at = next) {
        next = next_of(at); /* Its storage may be gone after `done`. */
        if (at->done != NULL) {
            at->done(at);
            must_drain = true;
        } else if ((follower *)at != leader) {
            at->write.next = followers == NULL ? NULL : &followers->write;
            followers = at;
        }
    }
    if (must_drain)
        lc_engine_drained(writer->engine);
    if (followers != NULL)
        wake_first((follower *)followers);
}

/* Chooses the next leader, if the queue is not empty: the writer's thread when several writes are
 * queued, else the follower that waits for the only one. False when writes are left and no other
 * thread can lead. The lock is held. */
static bool hand_over(lc_writer *writer)
{
    lc_queued_write *at = writer->queue.first;
    bool can_lead = true;

    while (at != NULL && at->done != NULL)
        at = next_of(at);
    if (writer->queue.length == 0) {
        writer->is_led = false;
        if (writer->is_stopping)
            (void)pthread_cond_signal(&writer->thread_wake);
    } else if (writer->thread_serves && (writer->queue.length > 1 || at == NULL)) {
        writer->thread_leads = true;
        (void)pthread_cond_signal(&writer->thread_wake);
    } else if (at != NULL) {
        atomic_store(&((follower *)at)->state, LEADS);
        (void)sem_post(&((follower *)at)->wake);
    } else {
        can_lead = false;
    }
    return can_lead;
}

/* Commits groups until the write of `self` (NULL: all of the queue) is answered, and hands over
 * before it delivers the answers of the last one. */
static void lead(lc_writer *writer, const follower *self)
{
    bool leads = true;

    while (leads) {
        queue group = {0}, answered = {0}, left = {0};
        int64_t began_us, took_us, count;

        if (writer->policy.gather_us > 0)
            lc_clock_sleep_us(writer->policy.gather_us);
        (void)pthread_mutex_lock(&writer->lock);
        count = choose_group(&writer->policy, writer->queue.length);
        while (group.length < count)
            append(&group, take_first(&writer->queue));
        writer->taken = count;
        (void)pthread_mutex_unlock(&writer->lock);
        began_us = lc_clock_monotonic_us();
        if (count > 0) /* Not if all were withdrawn while this one gathered. */
            commit(writer, &group);
        while (group.length > 0) {
            lc_queued_write *first = take_first(&group);

            if (first->write.is_answered)
                lc_histogram_add(&writer->engine->timings.queue, began_us - first->queued_us);
            append(first->write.is_answered ? &answered : &left, first);
        }
        took_us = lc_clock_monotonic_us() - began_us;
        if (count > 0)
            lc_histogram_add(&writer->engine->timings.group, took_us);
        learn(&writer->policy, count, answered.length, took_us);
        (void)pthread_mutex_lock(&writer->lock);
        put_back(&writer->queue, &left);
        writer->taken = 0;
        if (answered.length > 0)
            writer->write_us = (7 * writer->write_us + took_us / answered.length) / 8;
        writer->counters.writes += answered.length;
        writer->counters.commits += count > 0;
        if (self == NULL ? writer->queue.length == 0 : self->queued.write.is_answered)
            leads = !hand_over(writer);
        (void)pthread_mutex_unlock(&writer->lock);
        deliver(writer, &answered, self);
    }
}

/* The writer's own thread. It ends when the writer stops and no thread leads, because a leader may
 * still hand over to it. */
static void *run_thread(void *ctx)
{
    lc_writer *writer = ctx;

    (void)pthread_mutex_lock(&writer->lock);
    while (writer->thread_leads || writer->is_led || !writer->is_stopping) {
        if (!writer->thread_leads) {
            (void)pthread_cond_wait(&writer->thread_wake, &writer->lock);
            continue;
        }
        writer->thread_leads = false;
        (void)pthread_mutex_unlock(&writer->lock);
        lead(writer, NULL);
        (void)pthread_mutex_lock(&writer->lock);
    }
    writer->thread_serves = false;
    (void)pthread_mutex_unlock(&writer->lock);
    return NULL;
}

/* Starts the thread, unless the engine is inline or the system has no thread to give: then callers
 * lead. The lock is held. */
static void start_thread(lc_writer *writer)
{
    if (writer->has_thread || writer->is_stopping || lc_engine_is_inline(writer->engine))
        return;
    writer->has_thread = pthread_create(&writer->thread, NULL, run_thread, writer) == 0;
    writer->thread_serves = writer->has_thread;
}

/* ---- Callers --------------------------------------------------------------------------------- */

/* Fails if the queue is so long that the write would wait for more than QUEUE_US_MAX, or until
 * after its deadline: refused at once, its caller can try again when there is less to do, and the
 * others are answered in time. A short queue never refuses, so that there is always a group from
 * which to learn that the store is fast again. Notes the time. The lock is held. */
static loci_status check_queue(const lc_writer *writer, lc_queued_write *queued, loci_error *err)
{
    int64_t ahead = writer->queue.length + writer->taken;
    int64_t wait_us = ahead * writer->write_us;
    int64_t now_us = lc_clock_monotonic_us(), left_us = queued->write.deadline_us - now_us;

    queued->queued_us = now_us;
    if (ahead < QUEUE_MIN || wait_us < (left_us < QUEUE_US_MAX ? left_us : QUEUE_US_MAX))
        return LOCI_OK;
    return lc_fail(
        err, LOCI_EUNAVAILABLE,
        "the store is overloaded: %lld writes are queued, which takes about %lld ms; try "
        "again later",
        (long long)ahead, (long long)(wait_us / 1000));
}

loci_status lc_engine_write(loci_engine *engine, lc_write *write)
{
    lc_writer *writer = engine->writer;
    follower self = {.queued.write = *write};

    self.queued.write.is_answered = false;
    (void)sem_init(&self.wake, 0, 0); /* Cannot fail for a value of 0. */
    (void)pthread_mutex_lock(&writer->lock);
    write->status = check_queue(writer, &self.queued, &write->error);
    if (write->status != LOCI_OK) {
        (void)pthread_mutex_unlock(&writer->lock);
        (void)sem_destroy(&self.wake);
        write->is_answered = true;
        return write->status;
    }
    append(&writer->queue, &self.queued);
    if (!writer->is_led)
        atomic_store(&self.state, LEADS);
    else if (writer->queue.length > 1)
        start_thread(writer);
    writer->is_led = true;
    (void)pthread_mutex_unlock(&writer->lock);
    if (atomic_load(&self.state) == FOLLOWS)
        follow(writer, &self);
    if (atomic_load(&self.state) == LEADS)
        lead(writer, &self);
    wake_halves(self.others);
    (void)sem_destroy(&self.wake);
    write->is_answered = true;
    write->status = self.queued.write.status;
    if (write->status != LOCI_OK)
        write->error = self.queued.write.error;
    return write->status;
}

loci_status lc_engine_submit(loci_engine *engine, lc_queued_write *queued, loci_error *err)
{
    lc_writer *writer = engine->writer;
    bool must_lead = false;
    loci_status status;

    queued->write.is_answered = false;
    (void)pthread_mutex_lock(&writer->lock);
    status = check_queue(writer, queued, err);
    if (status == LOCI_OK) {
        start_thread(writer);
        append(&writer->queue, queued);
    }
    if (status == LOCI_OK && !writer->is_led) {
        writer->is_led = true;
        must_lead = !hand_over(writer); /* There is no thread: the caller commits it now. */
    }
    (void)pthread_mutex_unlock(&writer->lock);
    if (must_lead)
        lead(writer, NULL);
    return status;
}

/* ---- Opening and closing --------------------------------------------------------------------- */

loci_status lc_writer_new(loci_engine *engine, lc_db *db, lc_writer **out, loci_error *err)
{
    lc_writer *writer = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *writer,
                                       LOCI_MEM_ENGINE);

    if (writer == NULL)
        return lc_fail_memory(err);
    writer->engine = engine;
    writer->db = db;
    writer->policy.gather_us_max = db->driver->gather_us_max;
    (void)pthread_mutex_init(&writer->lock, NULL); /* Neither fails with default attributes. */
    (void)pthread_cond_init(&writer->thread_wake, NULL);
    set_origin(writer);
    *out = writer;
    return LOCI_OK;
}

void lc_writer_stop(lc_writer *writer)
{
    bool must_join;

    if (writer == NULL)
        return;
    (void)pthread_mutex_lock(&writer->lock);
    must_join = writer->has_thread && !writer->is_stopping;
    writer->is_stopping = true;
    (void)pthread_cond_signal(&writer->thread_wake);
    (void)pthread_mutex_unlock(&writer->lock);
    if (must_join)
        (void)pthread_join(writer->thread, NULL);
}

void lc_writer_free(lc_writer *writer)
{
    if (writer == NULL)
        return;
    lc_writer_stop(writer);
    LC_ASSERT(writer->queue.first == NULL);
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
    lc_writer_counters counters;

    (void)pthread_mutex_lock(&writer->lock);
    counters = writer->counters;
    counters.queue_length = writer->queue.length;
    (void)pthread_mutex_unlock(&writer->lock);
    return counters;
}
