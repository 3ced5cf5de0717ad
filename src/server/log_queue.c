/* log_queue.c - two buffers: one is filled by everybody, the other written by the thread, then they
 * change places. The lock is held for a copy or an exchange, never for a write.
 *
 * The thread is woken by the first line after a rest only, and gathers for GATHER_MS before it
 * writes, so a busy daemon pays for a wake-up a hundred times a second and not a request.
 *
 * Invariant: everything but `writing` and what never changes is touched under the lock only;
 * `writing` is the thread's.
 */
#include "server/log_queue.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

#define BUFFER_BYTES ((size_t)256 * 1024)
#define LOST_LINE_BYTES 256 /* Always left free for the line that tells of lost ones. */
#define GATHER_MS 10
#define CLOSE_MS_MAX 2000

typedef struct lines {
    size_t len;
    char text[BUFFER_BYTES];
} lines;

struct lc_log_queue {
    lc_heap *heap;
    int fd;
    lc_log_lost_line *lost_line;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;    /* The thread: there is something to do, or to hurry. */
    pthread_cond_t written; /* Who flushes. */
    lines *filling, *writing;
    int64_t put_count, written_count; /* Bytes. */
    int64_t lost, lost_untold;        /* Lines. */
    bool is_resting;                  /* The thread waits for a first line. */
    bool is_hurried, is_stopping;
};

/* ---- The thread ------------------------------------------------------------------------------ */

static void write_all(int fd, loci_str text)
{
    while (text.len > 0) {
        ssize_t written = write(fd, text.ptr, text.len);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) { /* Somebody made it non-blocking. */
            (void)poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (written <= 0)
            return; /* There is nowhere to say so. */
        text.ptr += written;
        text.len -= (size_t)written;
    }
}

static struct timespec moment_in(int64_t ms)
{
    int64_t us = lc_clock_monotonic_us() + ms * 1000;

    return (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
}

/* Under the lock. */
static void rest(lc_log_queue *queue)
{
    queue->is_resting = true;
    while (queue->filling->len == 0 && !queue->is_stopping)
        (void)pthread_cond_wait(&queue->wake, &queue->lock);
    queue->is_resting = false;
}

static void gather(lc_log_queue *queue)
{
    struct timespec until = moment_in(GATHER_MS);

    while (!queue->is_hurried && !queue->is_stopping &&
           pthread_cond_timedwait(&queue->wake, &queue->lock, &until) != ETIMEDOUT)
        ; /* Woken for nothing. */
    queue->is_hurried = false;
}

/* Puts the line about lost ones behind those that were kept: room was left for it. */
static void tell_lost(lc_log_queue *queue)
{
    lines *to = queue->filling;
    size_t bytes;

    if (queue->lost_untold == 0)
        return;
    bytes = queue->lost_line(queue->lost_untold, to->text + to->len, LOST_LINE_BYTES);
    to->len += bytes;
    queue->put_count += (int64_t)bytes;
    queue->lost_untold = 0;
}

static void *write_out(void *ctx)
{
    lc_log_queue *queue = ctx;

    (void)pthread_mutex_lock(&queue->lock);
    for (;;) {
        lines *full;

        rest(queue);
        if (queue->filling->len == 0)
            break;
        gather(queue);
        tell_lost(queue);
        full = queue->filling;
        queue->filling = queue->writing;
        queue->writing = full;
        (void)pthread_mutex_unlock(&queue->lock);
        write_all(queue->fd, (loci_str){full->text, full->len});
        (void)pthread_mutex_lock(&queue->lock);
        queue->written_count += (int64_t)full->len;
        full->len = 0;
        (void)pthread_cond_broadcast(&queue->written);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return NULL;
}

/* ---- Everybody ------------------------------------------------------------------------------- */

void lc_log_queue_put(lc_log_queue *queue, loci_str line)
{
    bool must_wake;
    lines *to;

    (void)pthread_mutex_lock(&queue->lock);
    to = queue->filling;
    if (line.len > BUFFER_BYTES - LOST_LINE_BYTES - to->len) {
        queue->lost++;
        queue->lost_untold++;
        (void)pthread_mutex_unlock(&queue->lock);
        return;
    }
    memcpy(to->text + to->len, line.ptr, line.len);
    to->len += line.len;
    queue->put_count += (int64_t)line.len;
    must_wake = queue->is_resting;
    queue->is_resting = false;
    if (!queue->is_hurried && to->len > BUFFER_BYTES / 2)
        must_wake = queue->is_hurried = true;
    if (must_wake)
        (void)pthread_cond_signal(&queue->wake);
    (void)pthread_mutex_unlock(&queue->lock);
}

bool lc_log_queue_flush(lc_log_queue *queue, int64_t timeout_ms)
{
    struct timespec until = moment_in(timeout_ms);
    int64_t wanted;
    bool is_written;

    (void)pthread_mutex_lock(&queue->lock);
    wanted = queue->put_count;
    queue->is_hurried = queue->written_count < wanted;
    (void)pthread_cond_signal(&queue->wake);
    while (queue->written_count < wanted &&
           pthread_cond_timedwait(&queue->written, &queue->lock, &until) != ETIMEDOUT)
        ; /* Some of it. */
    is_written = queue->written_count >= wanted;
    (void)pthread_mutex_unlock(&queue->lock);
    return is_written;
}

int64_t lc_log_queue_lost(lc_log_queue *queue)
{
    int64_t lost;

    (void)pthread_mutex_lock(&queue->lock);
    lost = queue->lost;
    (void)pthread_mutex_unlock(&queue->lock);
    return lost;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void free_queue(lc_log_queue *queue)
{
    lc_heap *heap = queue->heap;

    (void)pthread_cond_destroy(&queue->written);
    (void)pthread_cond_destroy(&queue->wake);
    (void)pthread_mutex_destroy(&queue->lock);
    lc_heap_free(heap, queue->filling, sizeof(lines), LOCI_MEM_ENGINE);
    lc_heap_free(heap, queue->writing, sizeof(lines), LOCI_MEM_ENGINE);
    lc_heap_free(heap, queue, sizeof *queue, LOCI_MEM_ENGINE);
}

loci_status lc_log_queue_open(lc_heap *heap, int fd, lc_log_lost_line *lost_line,
                              lc_log_queue **out, loci_error *err)
{
    lc_log_queue *queue = lc_heap_zalloc(heap, sizeof *queue, LOCI_MEM_ENGINE);
    pthread_condattr_t attributes;
    loci_status status = LOCI_OK;

    if (queue == NULL)
        return lc_fail_memory(err);
    queue->heap = heap;
    queue->fd = fd;
    queue->lost_line = lost_line;
    (void)pthread_mutex_init(&queue->lock, NULL); /* None of these fails on Linux. */
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&queue->wake, &attributes);
    (void)pthread_cond_init(&queue->written, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    queue->filling = lc_heap_alloc(heap, sizeof(lines), LOCI_MEM_ENGINE);
    queue->writing = lc_heap_alloc(heap, sizeof(lines), LOCI_MEM_ENGINE);
    if (queue->filling == NULL || queue->writing == NULL) {
        status = lc_fail_memory(err);
    } else {
        /* The rest is not touched before there are lines for it. */
        queue->filling->len = queue->writing->len = 0;
        if (pthread_create(&queue->thread, NULL, write_out, queue) != 0)
            status = lc_fail(err, LOCI_ERESOURCE, "no thread for the log");
    }
    if (status != LOCI_OK)
        free_queue(queue);
    else
        *out = queue;
    return status;
}

void lc_log_queue_close(lc_log_queue *queue)
{
    bool is_written;

    if (queue == NULL)
        return;
    is_written = lc_log_queue_flush(queue, CLOSE_MS_MAX);
    (void)pthread_mutex_lock(&queue->lock);
    queue->is_stopping = true;
    (void)pthread_cond_signal(&queue->wake);
    (void)pthread_mutex_unlock(&queue->lock);
    if (!is_written) {
        /* Stuck in a write that nobody takes: left, with its memory, to the end of the process. */
        (void)pthread_detach(queue->thread);
        return;
    }
    (void)pthread_join(queue->thread, NULL);
    free_queue(queue);
}
