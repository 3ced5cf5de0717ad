#include "server/log_queue.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "lib/test.h"

#define LINE_BYTES 100
#define PATIENCE_MS 20000
#define LINES_OF_EACH 500 /* All of them fit, however slowly they are taken. */

typedef struct fixture {
    lc_heap heap;
    int read_fd, write_fd;
    lc_log_queue *queue;
    char *text; /* The output. */
    size_t len, room;
} fixture;

static size_t write_lost(int64_t count, char *out, size_t bytes_max)
{
    return (size_t)snprintf(out, bytes_max, "lost %lld\n", (long long)count);
}

static void start(fixture *f)
{
    int ends[2];
    loci_error err;

    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    *f = (fixture){.read_fd = ends[0], .write_fd = ends[1], .room = 8u << 20};
    f->text = test_bytes(f->room);
    lc_heap_init(&f->heap, test_heap());
    CHECK_OK(lc_log_queue_open(&f->heap, f->write_fd, write_lost, &f->queue, &err), err);
}

static void put(fixture *f, int number)
{
    char line[LINE_BYTES + 1];

    (void)snprintf(line, sizeof line, "%0*d\n", LINE_BYTES - 1, number);
    lc_log_queue_put(f->queue, (loci_str){line, LINE_BYTES});
}

/* Takes everything that is written until the other end is closed. */
static void *take_all(void *ctx)
{
    fixture *f = ctx;
    ssize_t got;

    while ((got = read(f->read_fd, f->text + f->len, f->room - f->len)) > 0)
        f->len += (size_t)got;
    return NULL;
}

static void stop_and_take(fixture *f)
{
    pthread_t reader;

    CHECK_EQ(pthread_create(&reader, NULL, take_all, f), 0);
    lc_log_queue_close(f->queue);
    close(f->write_fd);
    CHECK_EQ(pthread_join(reader, NULL), 0);
    close(f->read_fd);
}

/* Counts the lines with numbers, which must rise. `*out_lost` is the sum of the numbers of lost
 * lines in the other lines. */
static int64_t count_lines(const fixture *f, int64_t *out_lost)
{
    loci_str rest = {f->text, f->len};
    int64_t count = 0, last = -1;

    *out_lost = 0;
    while (rest.len > 0) {
        loci_str line = lc_str_split(rest, '\n', &rest);
        bool is_lost = lc_str_starts(line, LC_STR("lost "));
        char *text = test_format("%.*s", (int)line.len, line.ptr);
        int64_t number = strtoll(text + (is_lost ? strlen("lost ") : 0), NULL, 10);

        if (is_lost) {
            *out_lost += number;
            continue;
        }
        CHECK_EQ(line.len, LINE_BYTES - 1);
        CHECK_LT(last, number);
        last = number;
        count++;
    }
    return count;
}

TEST(log_queue, lines_come_out_whole_and_in_order)
{
    fixture f;
    int64_t lost;

    start(&f);
    for (int i = 0; i < 500; i++)
        put(&f, i);
    stop_and_take(&f);
    CHECK_EQ(count_lines(&f, &lost), 500);
    CHECK_EQ(lost, 0);
}

TEST(log_queue, a_flush_waits_until_lines_are_written)
{
    struct pollfd waiting;
    fixture f;

    start(&f);
    CHECK(lc_log_queue_flush(f.queue, PATIENCE_MS)); /* Nothing to wait for. */
    put(&f, 1);
    CHECK(lc_log_queue_flush(f.queue, PATIENCE_MS));
    waiting = (struct pollfd){.fd = f.read_fd, .events = POLLIN};
    CHECK_EQ(poll(&waiting, 1, 0), 1);
    stop_and_take(&f);
    CHECK_EQ(f.len, LINE_BYTES);
}

/* No process reads the log: threads that add lines continue, and later the number of lost lines is
 * known. */
TEST(log_queue, a_reader_that_stalls_costs_lines_and_never_time)
{
    const int count = 20000; /* 2 MB: more than the pipe and both buffers. */
    fixture f;
    int64_t came, told, lost;

    start(&f);
    for (int i = 0; i < count; i++)
        put(&f, i);
    lost = lc_log_queue_lost(f.queue);
    CHECK_LT(0, lost);
    CHECK(!lc_log_queue_flush(f.queue, 1));
    stop_and_take(&f);
    came = count_lines(&f, &told);
    CHECK_EQ(told, lost);
    CHECK_EQ(came + lost, count);
}

typedef struct writer {
    fixture *f;
    int first;
} writer;

static void *put_many(void *ctx)
{
    const writer *w = ctx;

    for (int i = 0; i < LINES_OF_EACH; i++)
        put(w->f, w->first + i);
    return NULL;
}

TEST(log_queue, lines_of_many_threads_do_not_mix)
{
    pthread_t threads[4];
    writer writers[4];
    pthread_t reader;
    fixture f;

    start(&f);
    CHECK_EQ(pthread_create(&reader, NULL, take_all, &f), 0);
    for (int i = 0; i < 4; i++) {
        writers[i] = (writer){&f, i * LINES_OF_EACH};
        CHECK_EQ(pthread_create(&threads[i], NULL, put_many, &writers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK(lc_log_queue_flush(f.queue, PATIENCE_MS));
    CHECK_EQ(lc_log_queue_lost(f.queue), 0);
    lc_log_queue_close(f.queue);
    close(f.write_fd);
    CHECK_EQ(pthread_join(reader, NULL), 0);
    close(f.read_fd);
    CHECK_EQ(f.len, 4 * LINES_OF_EACH * LINE_BYTES);
    for (size_t at = 0; at < f.len; at += LINE_BYTES)
        CHECK_EQ(f.text[at + LINE_BYTES - 1], '\n');
}

TEST(log_queue, no_memory_is_an_error)
{
    lc_log_queue *queue = NULL;
    lc_heap heap;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    for (int nth = 1; nth <= 3; nth++) {
        test_heap_fail_nth(nth);
        CHECK_STATUS(LOCI_ERESOURCE, lc_log_queue_open(&heap, 2, write_lost, &queue, &err));
        CHECK(test_heap_disarm());
    }
    lc_log_queue_close(queue); /* NULL. */
}
