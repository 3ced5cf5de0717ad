/* streams.c - 2,000 open event streams and 64 busy connections together.
 *
 * Every stream is of one of 100 users and has to get each event of that user; meanwhile the busy
 * connections write and read. Says how long it took, whether all was delivered, and what the daemon
 * holds in memory (RssAnon): before, with the streams open, under load, and when they are gone.
 * BENCH_STREAMS says how many there are. Then as many streams of one user with a backlog of 4 MB
 * are opened and never read: how much memory they take, and how long /livez takes meanwhile.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/http_child.h"
#include "lib/http_load.h"

#define STREAMS 2000
#define STREAMS_MAX 3500
#define USERS 100
#define BUSY 64
#define REQUESTS 40000
#define READS_PER_WRITE 9
#define PATIENCE_S 60
#define LARGE_VALUES 40 /* The backlog of stalled streams. */
#define LARGE_BYTES 100000

/* Counts events in a chunked answer, however it is cut into pieces. */
typedef struct stream {
    int fd;
    int user;
    int64_t events;
    size_t matched;    /* Of MARK. */
    size_t chunk_left; /* Bytes of the chunk; 0 = its size is being read. */
    size_t chunk_size;
    bool is_body; /* The head is over, */
    int head_end; /* of whose end so many bytes were seen. */
} stream;

#define MARK "\nevent: fact.written"

static stream streams[STREAMS_MAX];
static int stream_count = STREAMS;
static _Atomic int64_t delivered;
static _Atomic bool is_over;
static http_child loci;
static char dir[256];

/* ---- Reading --------------------------------------------------------------------------------- */

static void take_text(stream *s, char c)
{
    static const char mark[] = MARK;

    s->matched = c == mark[s->matched] ? s->matched + 1 : c == mark[0] ? 1 : 0;
    if (s->matched == sizeof mark - 1) {
        s->events++;
        s->matched = 0;
        atomic_fetch_add_explicit(&delivered, 1, memory_order_relaxed);
    }
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 87 : -1;
}

static void take_byte(stream *s, char c)
{
    static const char end[] = "\r\n\r\n";

    if (!s->is_body) {
        s->head_end = c == end[s->head_end] ? s->head_end + 1 : c == '\r' ? 1 : 0;
        s->is_body = s->head_end == 4;
    } else if (s->chunk_left > 0) {
        take_text(s, c);
        s->chunk_left--;
    } else if (digit_of(c) >= 0) {
        s->chunk_size = s->chunk_size * 16 + (size_t)digit_of(c);
    } else if (c == '\n') { /* The end of a chunk, or of its size: then this is not 0. */
        s->chunk_left = s->chunk_size;
        s->chunk_size = 0;
    }
}

static void read_stream(stream *s)
{
    char bytes[16384];
    ssize_t got = recv(s->fd, bytes, sizeof bytes, MSG_DONTWAIT);

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        bench_die("a stream was cut");
    for (ssize_t i = 0; i < got; i++)
        take_byte(s, bytes[i]);
}

static void *read_all(void *ctx)
{
    struct epoll_event events[256];
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    (void)ctx;
    for (int i = 0; i < stream_count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &streams[i]};

        epoll_ctl(epoll, EPOLL_CTL_ADD, streams[i].fd, &event);
    }
    while (!atomic_load(&is_over)) {
        int count = epoll_wait(epoll, events, 256, 50);

        for (int i = 0; i < count; i++)
            read_stream(events[i].data.ptr);
    }
    close(epoll);
    return NULL;
}

/* ---- Busy ------------------------------------------------------------------------------------ */

static bool is_write(int number)
{
    return number % (READS_PER_WRITE + 1) == 0;
}

static size_t ask(void *ctx, int number, char *out)
{
    int write = number / (READS_PER_WRITE + 1);
    char body[256];

    (void)ctx;
    if (is_write(number))
        snprintf(body, sizeof body,
                 "{\"key\":\"k%d\",\"value\":\"%d: something that an agent has learnt\","
                 "\"user_id\":\"u%d\"}",
                 write / USERS % 10, write, write % USERS);
    else
        snprintf(body, sizeof body, "{\"user_id\":\"u%d\",\"limit\":3}", number % USERS);
    return (size_t)snprintf(out, HTTP_LOAD_REQUEST_BYTES,
                            "POST /v1/call/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                            "Authorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s",
                            is_write(number) ? "fact.write" : "fact.list", loci.port, loci.token,
                            strlen(body), body);
}

static void open_stream(int number, int user, bool is_stalled)
{
    int buffer_bytes = 4096; /* The kernel keeps little of what is not read. */
    char text[HTTP_LOAD_REQUEST_BYTES];
    int bytes = snprintf(text, sizeof text,
                         "GET /v1/events?user_id=u%d&after_seq=0 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                         "Accept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n",
                         user, loci.port, loci.token);

    streams[number] = (stream){.fd = http_load_connect(loci.port), .user = user};
    if (is_stalled)
        setsockopt(streams[number].fd, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
    if (send(streams[number].fd, text, (size_t)bytes, MSG_NOSIGNAL) != bytes)
        bench_die("a stream could not be asked for");
}

static int64_t expected_of(int user)
{
    int writes = REQUESTS / (READS_PER_WRITE + 1);

    return writes / USERS + (user < writes % USERS);
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

typedef struct figures {
    int64_t before_kib, open_kib, loaded_kib, after_kib;
    int64_t expected, missed;
    double load_s, delivered_s, cpu_us;
} figures;

static void run_load(figures *f)
{
    http_load load = {.port = loci.port, .connections = BUSY, .requests = REQUESTS, .request = ask};
    double began_s = bench_now_s(), cpu_us = http_child_cpu_us(&loci);
    http_loaded loaded = http_load_run(&load);

    if (loaded.failed > 0)
        bench_die("a request failed");
    f->load_s = loaded.seconds;
    while (atomic_load(&delivered) < f->expected && bench_now_s() - began_s < PATIENCE_S)
        sleep_ms(5);
    f->delivered_s = bench_now_s() - began_s;
    f->cpu_us = http_child_cpu_us(&loci) - cpu_us;
    f->loaded_kib = http_child_memory_kib(&loci);
    sleep_ms(200); /* For any that come twice. */
}

static figures run(void)
{
    figures f = {0};
    pthread_t reader;

    f.before_kib = http_child_memory_kib(&loci);
    for (int i = 0; i < stream_count; i++)
        open_stream(i, i % USERS, false);
    if (pthread_create(&reader, NULL, read_all, NULL) != 0)
        bench_die("no thread");
    sleep_ms(1000);
    f.open_kib = http_child_memory_kib(&loci);
    for (int i = 0; i < stream_count; i++)
        f.expected += expected_of(streams[i].user);
    run_load(&f);
    atomic_store(&is_over, true);
    pthread_join(reader, NULL);
    for (int i = 0; i < stream_count; i++) {
        f.missed += llabs(streams[i].events - expected_of(streams[i].user));
        close(streams[i].fd);
    }
    sleep_ms(1500);
    f.after_kib = http_child_memory_kib(&loci);
    return f;
}

/* ---- Stalled --------------------------------------------------------------------------------- */

static void exchange(const char *head, size_t filler_bytes, const char *tail)
{
    int fd = http_load_connect(loci.port);
    size_t head_bytes = strlen(head), tail_bytes = strlen(tail);
    char *text = malloc(head_bytes + filler_bytes + tail_bytes), reply[4096];

    if (text == NULL)
        bench_die("no memory");
    memcpy(text, head, head_bytes);
    memset(text + head_bytes, 'v', filler_bytes);
    memcpy(text + head_bytes + filler_bytes, tail, tail_bytes);
    if (send(fd, text, head_bytes + filler_bytes + tail_bytes, MSG_NOSIGNAL) < 0 ||
        recv(fd, reply, sizeof reply, 0) < 12 || memcmp(reply + 9, "200", 3) != 0)
        bench_die("a request failed");
    free(text);
    close(fd);
}

static void write_backlog(void)
{
    char head[HTTP_LOAD_REQUEST_BYTES], body[64];

    for (int i = 0; i < LARGE_VALUES; i++) {
        int bytes = snprintf(body, sizeof body, "{\"user_id\":\"u0\",\"key\":\"l%d\",\"value\":\"",
                             i);

        snprintf(head, sizeof head,
                 "POST /v1/call/fact.write HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                 "Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
                 loci.port, loci.token, bytes + LARGE_BYTES + 2, body);
        exchange(head, LARGE_BYTES, "\"}");
    }
}

/* KiB of the daemon with all of them; `*out_live_ms` is the longest that /livez took. */
static int64_t run_stalled(double *out_live_ms)
{
    char head[256];
    int64_t kib;

    write_backlog();
    for (int i = 0; i < stream_count; i++) /* None is ever read. */
        open_stream(i, 0, true);
    snprintf(head, sizeof head, "GET /livez HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", loci.port);
    for (int i = 0; i < 50; i++) {
        double began_s = bench_now_s(), took_ms;

        exchange(head, 0, "");
        took_ms = (bench_now_s() - began_s) * 1000;
        *out_live_ms = took_ms > *out_live_ms ? took_ms : *out_live_ms;
        sleep_ms(100);
    }
    kib = http_child_memory_kib(&loci);
    for (int i = 0; i < stream_count; i++)
        close(streams[i].fd);
    return kib;
}

static void remove_all(void)
{
    static const char *const names[] = {"served.db", "served.db-wal", "served.db-shm",
                                        "served.token"};
    char path[320];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        remove(path);
    }
    rmdir(dir);
}

int main(void)
{
    struct rlimit files = {8192, 8192};
    const char *base = getenv("TMPDIR");
    const char *asked = getenv("BENCH_STREAMS");
    int64_t stalled_kib;
    double live_ms = 0;
    figures f;

    if (asked != NULL)
        stream_count = (int)strtol(asked, NULL, 10);
    if (stream_count < 1 || stream_count > STREAMS_MAX)
        bench_die("BENCH_STREAMS must be 1 to 3500");
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        bench_die("not enough descriptors: ulimit -n 8192");
    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(dir) == NULL)
        bench_die("no directory");
    loci = http_child_loci(dir);
    f = run();
    printf("{\"bench\":\"streams\",\"case\":\"%d streams, %d busy connections\",\"events\":%lld,"
           "\"missed\":%lld,\"requests_per_s\":%.0f,\"load_s\":%.2f,\"delivered_s\":%.2f,"
           "\"cpu_s\":%.2f,\"memory_before_kib\":%lld,\"memory_open_kib\":%lld,"
           "\"memory_loaded_kib\":%lld,\"memory_after_kib\":%lld,\"kib_per_stream\":%.1f}\n",
           stream_count, BUSY, (long long)f.expected, (long long)f.missed, REQUESTS / f.load_s,
           f.load_s, f.delivered_s, f.cpu_us / 1e6, (long long)f.before_kib, (long long)f.open_kib,
           (long long)f.loaded_kib, (long long)f.after_kib,
           (double)(f.open_kib - f.before_kib) / stream_count);
    stalled_kib = run_stalled(&live_ms);
    printf("{\"bench\":\"streams\",\"case\":\"%d stalled streams, backlog 4 MB\","
           "\"memory_kib\":%lld,\"livez_max_ms\":%.1f}\n",
           stream_count, (long long)stalled_kib, live_ms);
    http_child_stop(&loci);
    remove_all();
    return f.missed == 0 ? 0 : 1;
}
