/* test_streams.c - many event streams and many writers at once: every stream gets every event of
 * its user, once and in order. bench/streams.c is the same with 2,000 streams, and figures. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/daemon.h"

#define STREAMS 200
#define USERS 10
#define WRITERS 16
#define WRITES 480 /* In total: few enough for the kernel to buffer all unread events. */

typedef struct writer {
    pthread_t thread;
    const test_daemon *daemon;
    int name;
    int failed;
} writer;

static void *write_some(void *ctx)
{
    writer *w = ctx;
    char request[1024], body[128], buffer[4096];
    int fd = test_try_connect(w->daemon->port);

    for (int i = w->name; i < WRITES; i += WRITERS) {
        snprintf(body, sizeof body, "{\"key\":\"k%d\",\"value\":%d,\"user_id\":\"u%d\"}", i, i,
                 i % USERS);
        snprintf(request, sizeof request,
                 "POST /v1/facts HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
                 "Content-Length: %zu\r\n\r\n%s",
                 w->daemon->token, strlen(body), body);
        if (!test_send(fd, loci_str_of(request)) ||
            test_receive_one(fd, buffer, sizeof buffer).status != 200)
            w->failed++;
    }
    close(fd);
    return NULL;
}

/* Ids from 1 on, without a gap; returns the last. */
static int check_ids(const char *said)
{
    int last = 0;

    for (const char *at = said; (at = strstr(at, "\nid: ")) != NULL; at++) {
        CHECK_EQ(strtol(at + 5, NULL, 10), last + 1);
        last++;
    }
    return last;
}

static int ask_for_stream(const test_daemon *daemon, int fd, int number)
{
    CHECK(test_send(fd, loci_str_of(test_format(
                            "GET /v1/events?user_id=u%d&after_seq=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                            "Accept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n",
                            number % USERS, daemon->token))));
    return fd;
}

static int open_stream(const test_daemon *daemon, int number)
{
    return ask_for_stream(daemon, test_connect(daemon), number);
}

/* A client that never reads: the kernel buffers little of the data sent to it. */
static int open_stalled(const test_daemon *daemon, int number)
{
    int fd = test_connect(daemon), bytes = 4096;

    CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
    return ask_for_stream(daemon, fd, number);
}

static void run_writers(const test_daemon *daemon)
{
    writer writers[WRITERS] = {0};

    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){.daemon = daemon, .name = i};
        CHECK_EQ(pthread_create(&writers[i].thread, NULL, write_some, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        CHECK_EQ(writers[i].failed, 0);
    }
}

/* A dashboard in every office, and agents that are at work. */
TEST(streams, every_stream_gets_every_event_of_its_user)
{
    test_daemon daemon = test_daemon_start(NULL);
    int descriptors = test_daemon_descriptors(&daemon);
    int64_t before_kib = test_daemon_memory_kib(&daemon), open_kib;
    int sockets[STREAMS];

    for (int i = 0; i < STREAMS; i++)
        sockets[i] = open_stream(&daemon, i);
    CHECK_EQ(test_ask(&daemon, "GET /livez", NULL, NULL).status, 200);
    test_sleep_ms(200);
    open_kib = test_daemon_memory_kib(&daemon);
    run_writers(&daemon);
    printf("    streams: %d cost %lld KiB each\n", STREAMS,
           (long long)((open_kib - before_kib) / STREAMS));
    test_sleep_ms(1500);
    for (int i = 0; i < STREAMS / 2; i++) { /* Half of them leave, half are ended. */
        const char *said;

        CHECK_EQ(shutdown(sockets[i], SHUT_WR), 0);
        said = test_unchunk(test_receive_all(sockets[i]), NULL).ptr;
        CHECK_EQ(check_ids(said), WRITES / USERS);
        close(sockets[i]);
    }
    test_daemon_check(&daemon, descriptors + STREAMS); /* Half, each with a descriptor to wake. */
    test_daemon_stop(&daemon);
    for (int i = STREAMS / 2; i < STREAMS; i++) {
        CHECK_EQ(check_ids(test_unchunk(test_receive_all(sockets[i]), NULL).ptr), WRITES / USERS);
        close(sockets[i]);
    }
}

/* The number of transactions that read, from /metrics. */
static long reads_of(const test_daemon *daemon)
{
    loci_str text = test_ask(daemon, "GET /metrics", daemon->token, NULL).body;
    const char *at = memmem(text.ptr, text.len, "\nloci_reads_total ", 18);

    CHECK(at != NULL);
    return strtol(at + 18, NULL, 10);
}

/* Streams of one user at the same place send the same pages: 100 dashboards that were away for 300
 * events cost about as many reads as one. Alone, each of them would read at least 5 pages. */
TEST(streams, streams_of_one_user_share_pages)
{
    enum { SHARING = 100, EVENTS = 300, READS_MAX = 250 };
    test_daemon daemon = test_daemon_start(NULL);
    int sockets[SHARING];
    long before;

    for (int i = 0; i < EVENTS; i++)
        CHECK_EQ(test_ask(&daemon, "POST /v1/facts", daemon.token,
                          test_format("{\"key\":\"k%d\",\"value\":%d,\"user_id\":\"u0\"}", i, i))
                     .status,
                 200);
    before = reads_of(&daemon);
    for (int i = 0; i < SHARING; i++)
        sockets[i] = open_stream(&daemon, 0);
    test_sleep_ms(1500);
    printf("    streams: %d streams took %ld reads\n", SHARING, reads_of(&daemon) - before);
    /* Opening a stream reads once. */
    CHECK_LE(reads_of(&daemon) - before, READS_MAX);
    for (int i = 0; i < SHARING; i++) {
        CHECK_EQ(shutdown(sockets[i], SHUT_WR), 0);
        CHECK_EQ(check_ids(test_unchunk(test_receive_all(sockets[i]), NULL).ptr), EVENTS);
        close(sockets[i]);
    }
    test_daemon_stop(&daemon);
}

/* Readers that stop reading cost the daemon libmicrohttpd's buffers each, and one page for all that
 * wait at the same place, however much is waiting for them; and others no time. */
TEST(streams, stalled_streams_cost_little)
{
    enum { STALLED = 200, LARGE = 40, VALUE_BYTES = 100000, KIB_EACH = 96 };
    test_daemon daemon = test_daemon_start(NULL);
    int descriptors = test_daemon_descriptors(&daemon);
    char *value = test_bytes(VALUE_BYTES + 1);
    int64_t before_kib, each_kib, began_ms;
    int sockets[STALLED];

    memset(value, 'v', VALUE_BYTES);
    for (int i = 0; i < LARGE; i++)
        CHECK_EQ(
            test_ask(&daemon, "POST /v1/facts", daemon.token,
                     test_format("{\"key\":\"k%d\",\"value\":\"%s\",\"user_id\":\"u0\"}", i, value))
                .status,
            200);
    before_kib = test_daemon_memory_kib(&daemon);
    for (int i = 0; i < STALLED; i++)
        sockets[i] = open_stalled(&daemon, 0);
    test_sleep_ms(2000);
    each_kib = (test_daemon_memory_kib(&daemon) - before_kib) / STALLED;
    printf("    streams: a stalled one costs %lld KiB\n", (long long)each_kib);
    /* The pages are 40 at most, 20 KiB for each stream. A sanitizer keeps freed memory for a while.
     */
    CHECK_LE(each_kib, test_is_sanitized() ? 8 * KIB_EACH : KIB_EACH);
    began_ms = test_now_ms();
    CHECK_EQ(test_ask(&daemon, "GET /livez", NULL, NULL).status, 200);
    CHECK_LT(test_now_ms() - began_ms, 500);
    for (int i = 0; i < STALLED; i++)
        close(sockets[i]);
    test_daemon_check(&daemon, descriptors);
    test_daemon_stop(&daemon);
}

static _Atomic bool is_spinning;

static void *spin(void *ctx)
{
    while (atomic_load(&is_spinning))
        ;
    return ctx;
}

/* Connections whose clients have left are closed, also if nothing else happens on the loop: until
 * then they count against the limits. A busy machine makes the moments differ in which the loop
 * notices. */
TEST(streams, streams_of_clients_that_leave_are_closed)
{
    enum { ROUNDS = 20, CROWD = 150, SPINNERS = 4 };
    test_daemon daemon = test_daemon_start(NULL);
    int descriptors = test_daemon_descriptors(&daemon);
    pthread_t spinners[SPINNERS];
    int sockets[CROWD], left = 0;

    atomic_store(&is_spinning, true);
    for (int i = 0; i < SPINNERS; i++)
        CHECK_EQ(pthread_create(&spinners[i], NULL, spin, NULL), 0);
    for (int round = 0; round < ROUNDS && left == 0; round++) {
        for (int i = 0; i < CROWD; i++)
            sockets[i] = open_stream(&daemon, 0);
        test_sleep_ms(20 + round * 10);
        CHECK_EQ(test_ask(&daemon, "POST /v1/facts", daemon.token,
                          test_format("{\"key\":\"k\",\"value\":%d,\"user_id\":\"u0\"}", round))
                     .status,
                 200);
        for (int i = 0; i < CROWD; i++)
            close(sockets[i]);
        left = 1;
        for (int waits = 0; left > 0 && waits < 50; waits++) {
            test_sleep_ms(100);
            left = test_daemon_descriptors(&daemon) - descriptors;
        }
    }
    atomic_store(&is_spinning, false);
    for (int i = 0; i < SPINNERS; i++)
        pthread_join(spinners[i], NULL);
    CHECK_LE(left, 0);
    test_daemon_stop(&daemon);
}
