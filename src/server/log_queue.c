/* log_queue.c - two buffers: all threads append to one while the writer thread writes the other;
 * then they are swapped. The lock is held for a copy or a swap, never for a write.
 *
 * The writer thread is woken by the first line after a pause only, and waits GATHER_MS for more
 * before it writes. So a busy daemon pays for about 100 wake-ups per second instead of one per
 * request.
 *
 * Invariant: the lock protects everything but `writing`, which belongs to the writer thread, and
 * the members that never change.
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
#define LOST_LINE_BYTES 256 /* Always left free for the line that reports lost ones. */
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
    pthread_cond_t
        wake; /* For the writer thread: there is a line, or a reason not to wait for more. */
    pthread_cond_t written; /* For lc_log_queue_flush(). */
    lines *filling, *writing;
    int64_t put_count, written_count; /* Bytes. */
    int64_t lost, lost_unreported;    /* Lines. */
    bool is_idle;                     /* The writer thread waits for a first line. */
    bool is_urgent, is_stopping;
};

/* ---- The writer thread ----------------------------------------------------------------------- */

static void write_all(int fd, loci_str text)
{
    while (text.len > 0) {
        ssize_t written = write(fd, text.ptr, text.len);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) { /* The host set O_NONBLOCK on it. */
            (void)poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (written <= 0)
            return; /* There is nowhere to report it. */
        text.ptr += written;
        text.len -= (size_t)written;
    }
}

static struct timespec deadline_in(int64_t ms)
{
    int64_t us = lc_clock_monotonic_us() + ms * 1000;

    return (struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
}

/* Waits for a first line, then for a few milliseconds for more. Under the lock. */
static void gather_lines(lc_log_queue *queue)
{
    struct timespec until;

    queue->is_idle = true;
    while (queue->filling->len == 0 && !queue->is_stopping)
        (void)pthread_cond_wait(&queue->wake, &queue->lock);
    queue->is_idle = false;
    until = deadline_in(GATHER_MS);
    while (!queue->is_urgent && !queue->is_stopping &&
           pthread_cond_timedwait(&queue->wake, &queue->lock, &until) != ETIMEDOUT)
        ; /* A spurious wake-up. */
    queue->is_urgent = false;
}

static void *run_writer(void *ctx)
{
    lc_log_queue *queue = ctx;

    (void)pthread_mutex_lock(&queue->lock);
    for (;;) {
        lines *full;

        gather_lines(queue);
        full = queue->filling;
        if (full->len == 0)
            break;
        if (queue->lost_unreported > 0) { /* Room was left for this line. */
            size_t bytes = queue->lost_line(queue->lost_unreported, full->text + full->len,
                                            LOST_LINE_BYTES);

            full->len += bytes;
            queue->put_count += (int64_t)bytes;
            queue->lost_unreported = 0;
        }
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

/* ---- Any thread ------------------------------------------------------------------------------ */

void lc_log_queue_put(lc_log_queue *queue, loci_str line)
{
    bool must_wake;
    lines *to;

    (void)pthread_mutex_lock(&queue->lock);
    to = queue->filling;
    if (line.len > BUFFER_BYTES - LOST_LINE_BYTES - to->len) {
        queue->lost++;
        queue->lost_unreported++;
        (void)pthread_mutex_unlock(&queue->lock);
        return;
    }
    memcpy(to->text + to->len, line.ptr, line.len);
    to->len += line.len;
    queue->put_count += (int64_t)line.len;
    must_wake = queue->is_idle;
    queue->is_idle = false;
    if (!queue->is_urgent && to->len > BUFFER_BYTES / 2)
        must_wake = queue->is_urgent = true;
    if (must_wake)
        (void)pthread_cond_signal(&queue->wake);
    (void)pthread_mutex_unlock(&queue->lock);
}

bool lc_log_queue_flush(lc_log_queue *queue, int64_t timeout_ms)
{
    struct timespec until = deadline_in(timeout_ms);
    int64_t wanted;
    bool is_written;

    (void)pthread_mutex_lock(&queue->lock);
    wanted = queue->put_count;
    queue->is_urgent = queue->written_count < wanted;
    (void)pthread_cond_signal(&queue->wake);
    while (queue->written_count < wanted &&
           pthread_cond_timedwait(&queue->written, &queue->lock, &until) != ETIMEDOUT)
        ; /* A part was written. */
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

/* ---- Open and close -------------------------------------------------------------------------- */

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
        /* The text stays untouched, so the kernel maps its pages only when lines arrive. */
        queue->filling->len = queue->writing->len = 0;
        if (pthread_create(&queue->thread, NULL, run_writer, queue) != 0)
            status = lc_fail(err, LOCI_ERESOURCE, "cannot start the thread that writes the log");
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
        /* Blocked in a write: the thread and its memory are left until the process ends. */
        (void)pthread_detach(queue->thread);
        return;
    }
    (void)pthread_join(queue->thread, NULL);
    free_queue(queue);
}
