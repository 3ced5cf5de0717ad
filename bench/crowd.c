/* crowd.c - reads beside crowds: of users, of open streams, of connections and of daemons.
 *
 * Each scene has a daemon with open streams. For some seconds one connection (or many) reads from
 * it, and one writes at a fixed rate to it or to another daemon on the same store. Printed are the
 * time of a read, the CPU of the daemon as a share of one core, the time to open the streams, and
 * the time from the answer to a write until the last stream of its user has the event.
 *
 *     users        1 and 50 streams of all users in a file of 100 … 1,000,000 users
 *     streams      0 … 3,500 streams of one user each; others write 10 times per second, and the
 *                  connection reads as often: the difference is what idle streams cost
 *     connections  16 … 300 connections that read, beside 50 streams of all users
 *     daemons      1,000 streams at the first of 1, 2 and 4 daemons on one PostgreSQL, and of 2 on
 *                  a file; 20 writes per second to the last
 *
 * Without names all scenes are run. Users are rows that are copied with SQL: the same small log for
 * each. $LOCI is the program to be measured.
 */
#include <errno.h>
#include <sqlite3.h>
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
#include "lib/line_peer.h"

#define STREAMS_MAX 3500
#define READERS_MAX 300
#define DAEMONS_MAX 4
#define SECONDS 6
#define OPEN_PATIENCE_S 20
#define DELIVERY_PATIENCE_S 5
#define SAMPLES_MAX 400000

typedef struct scene {
    const char *name;
    int users, streams, all_streams, readers, daemons;
    int writes_per_s;
    double think_s;        /* Pause of a reader between two reads. */
    bool writes_elsewhere; /* To a user that has no stream. */
} scene;

/* A socket of the crowd. */
typedef struct peer {
    int fd;
    enum { STREAM, READER, WRITER } kind;
    bool has_opened; /* A stream. */
    size_t matched;
    size_t len; /* Bytes of an answer. */
    char answer[8192];
    double sent_s, next_s;
} peer;

static peer streams[STREAMS_MAX], readers[READERS_MAX], writer;
static http_child daemons[DAEMONS_MAX];
static double reads_ms[SAMPLES_MAX], deliveries_ms[SAMPLES_MAX];
static int read_count, delivery_count, opened, failed;
static int64_t delivered, expected;
static double acked_s; /* 0 = nothing is awaited. */
static int write_number;
static int epoll;
static char dir[256];

#define MARK "\nevent: fact.written"

/* ---- The store ------------------------------------------------------------------------------- */

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    char *why = NULL;

    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        bench_die(why != NULL ? why : "a store cannot be opened");
    sqlite3_close(db);
}

/* `users` users with the log of the first. */
static void fill(const char *path, int users)
{
    char sql[1024];

    snprintf(sql, sizeof sql,
             "begin; create temp table n as with recursive c (i) as (select 1 union all"
             " select i + 1 from c where i < %d) select 'many' || i as name from c;"
             " insert into events select e.tenant_id, n.name, e.seq, e.type, e.v, e.recorded_at,"
             " e.refs, e.payload, e.is_erased from events e, n where e.user_id = 'seed';"
             " insert into heads select h.tenant_id, n.name, h.seq, h.recorded_at, h.objects,"
             " h.base_seq from heads h, n where h.user_id = 'seed'; commit;",
             users);
    run_sql(path, sql);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void post(peer *p, const http_child *to, const char *operation, const char *body)
{
    char text[HTTP_LOAD_REQUEST_BYTES];
    int bytes = snprintf(text, sizeof text,
                         "POST /v1/call/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                         "Authorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n%s",
                         operation, to->port, to->token, strlen(body), body);

    p->len = 0;
    p->sent_s = bench_now_s();
    p->next_s = 0;
    if (send(p->fd, text, (size_t)bytes, MSG_NOSIGNAL) != bytes)
        bench_die("a request could not be sent");
}

static void watch(peer *p)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = p};

    epoll_ctl(epoll, EPOLL_CTL_ADD, p->fd, &event);
}

static void connect_peer(peer *p, int kind, const http_child *to)
{
    *p = (peer){.fd = http_load_connect(to->port), .kind = kind};
    watch(p);
}

static void open_stream(peer *p, const http_child *at, const char *query)
{
    char text[HTTP_LOAD_REQUEST_BYTES];
    int bytes;

    connect_peer(p, STREAM, at);
    bytes = snprintf(text, sizeof text,
                     "GET /v1/events%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                     "Accept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n",
                     query, at->port, at->token);
    if (send(p->fd, text, (size_t)bytes, MSG_NOSIGNAL) != bytes)
        bench_die("a stream could not be asked for");
}

static void write_next(const scene *s, const http_child *to)
{
    char body[256];
    int user = s->streams > 0 ? write_number % s->streams : write_number % 100;

    snprintf(body, sizeof body,
             "{\"key\":\"k%d\",\"value\":\"%d: something learnt\",\"user_id\":\"%s%d\"}",
             write_number % 7, write_number, s->writes_elsewhere ? "elsewhere" : "u", user);
    write_number++;
    expected += s->all_streams + (s->writes_elsewhere || s->streams == 0 ? 0 : 1);
    post(&writer, to, "fact.write", body);
}

static void read_next(peer *p)
{
    char body[64];

    snprintf(body, sizeof body, "{\"user_id\":\"u%d\",\"limit\":3}", read_count % 100);
    post(p, &daemons[0], "event.list", body);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void take_stream(peer *p, const char *bytes, ssize_t count)
{
    static const char mark[] = MARK;

    if (!p->has_opened && memmem(bytes, (size_t)count, "retry:", 6) != NULL) {
        p->has_opened = true;
        opened++;
    }
    for (ssize_t i = 0; i < count; i++) {
        p->matched = bytes[i] == mark[p->matched] ? p->matched + 1 : bytes[i] == mark[0] ? 1 : 0;
        if (p->matched == sizeof mark - 1) {
            p->matched = 0;
            delivered++;
        }
    }
}

static bool is_whole(const peer *p)
{
    const char *end = memmem(p->answer, p->len, "\r\n\r\n", 4);
    const char *at = memmem(p->answer, p->len, "Content-Length: ", 16);

    return end != NULL && at != NULL &&
           p->len >= (size_t)(end + 4 - p->answer) + strtoul(at + 16, NULL, 10);
}

static void note_delivery(void)
{
    if (acked_s > 0 && delivered >= expected) {
        deliveries_ms[delivery_count++] = (bench_now_s() - acked_s) * 1000;
        acked_s = 0;
    }
}

static void take_answer(peer *p, const char *bytes, ssize_t count)
{
    double now_s = bench_now_s();

    if (p->len + (size_t)count >= sizeof p->answer)
        bench_die("an answer is too long");
    memcpy(p->answer + p->len, bytes, (size_t)count);
    p->len += (size_t)count;
    if (!is_whole(p))
        return;
    failed += p->answer[9] != '2';
    if (p->kind == WRITER) {
        acked_s = now_s;
        p->next_s = p->sent_s; /* It may send the next. */
    } else {
        if (read_count < SAMPLES_MAX)
            reads_ms[read_count++] = (now_s - p->sent_s) * 1000;
        p->next_s = now_s;
    }
}

/* Waits at most so long for anything. */
static void turn(double seconds)
{
    struct epoll_event events[256];
    char bytes[65536];
    int count = epoll_wait(epoll, events, 256, seconds <= 0 ? 0 : (int)(seconds * 1000) + 1);

    for (int i = 0; i < count; i++) {
        peer *p = events[i].data.ptr;
        ssize_t got = recv(p->fd, bytes, sizeof bytes, MSG_DONTWAIT);

        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            bench_die("a connection was cut");
        if (got > 0 && p->kind == STREAM)
            take_stream(p, bytes, got);
        else if (got > 0)
            take_answer(p, bytes, got);
    }
    note_delivery();
}

/* ---- A scene --------------------------------------------------------------------------------- */

static double open_streams(const scene *s)
{
    int count = s->streams + s->all_streams;
    double began_s = bench_now_s();
    char query[64];

    opened = 0;
    for (int i = 0; i < count; i++) {
        snprintf(query, sizeof query, "?user_id=u%d", i);
        open_stream(&streams[i], &daemons[0], i < s->streams ? query : "");
        turn(0);
    }
    while (opened < count && bench_now_s() - began_s < OPEN_PATIENCE_S)
        turn(0.01);
    return bench_now_s() - began_s;
}

static void run_load(const scene *s, double seconds)
{
    const http_child *to = &daemons[s->daemons - 1];
    double began_s = bench_now_s(), due_s = began_s, now_s = began_s;

    writer.next_s = began_s;
    for (int i = 0; i < s->readers; i++)
        readers[i].next_s = began_s;
    while ((now_s = bench_now_s()) - began_s < seconds) {
        bool is_waiting = acked_s > 0 && now_s - acked_s < DELIVERY_PATIENCE_S;

        if (writer.next_s > 0 && now_s >= due_s && !is_waiting) {
            if (acked_s > 0) /* It never arrived. */
                deliveries_ms[delivery_count++] = DELIVERY_PATIENCE_S * 1000;
            acked_s = 0;
            write_next(s, to);
            due_s = now_s + 1.0 / s->writes_per_s;
        }
        for (int i = 0; i < s->readers; i++) {
            peer *p = &readers[i];

            if (p->next_s > 0 && now_s >= p->next_s + s->think_s)
                read_next(p);
        }
        turn(0.001);
    }
    while (acked_s > 0 && bench_now_s() - acked_s < DELIVERY_PATIENCE_S)
        turn(0.01);
}

static void print_figures(const scene *s, double open_s, double cpu_us, double other_us,
                          double seconds)
{
    int count = s->streams + s->all_streams;

    printf("{\"bench\":\"crowd\",\"case\":\"%s: %d users, %d streams, %d of all users, "
           "%d connections, %d daemons\",",
           s->name, s->users, s->streams, s->all_streams, s->readers, s->daemons);
    if (opened < count)
        printf("\"opened\":%d,", opened);
    printf("\"open_ms\":%.0f,\"reads\":%d,\"read_p50_ms\":%.2f,\"read_p99_ms\":%.1f,"
           "\"cpu_percent\":%.1f,",
           open_s * 1000, read_count, bench_permille(reads_ms, read_count, 500),
           bench_permille(reads_ms, read_count, 990), cpu_us / seconds / 1e4);
    if (s->daemons > 1)
        printf("\"writer_cpu_percent\":%.1f,", other_us / seconds / 1e4);
    if (delivery_count > 0 && expected > 0)
        printf("\"delivery_p50_ms\":%.1f,\"delivery_p99_ms\":%.1f,",
               bench_permille(deliveries_ms, delivery_count, 500),
               bench_permille(deliveries_ms, delivery_count, 990));
    printf("\"memory_kib\":%lld}\n", (long long)http_child_memory_kib(&daemons[0]));
    fflush(stdout);
}

static void run(const scene *s)
{
    double seconds = bench_size(SECONDS), open_s, cpu_us, other_us = 0, began_s;
    const http_child *last = &daemons[s->daemons - 1];

    epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < s->readers; i++)
        connect_peer(&readers[i], READER, &daemons[0]);
    connect_peer(&writer, WRITER, last);
    open_s = open_streams(s);
    run_load(s, 0.5); /* Warm. */
    read_count = delivery_count = failed = 0;
    delivered = expected = 0;
    acked_s = 0;
    began_s = bench_now_s();
    cpu_us = http_child_cpu_us(&daemons[0]);
    if (s->daemons > 1)
        other_us = http_child_cpu_us(last);
    run_load(s, seconds);
    seconds = bench_now_s() - began_s;
    cpu_us = http_child_cpu_us(&daemons[0]) - cpu_us;
    if (s->daemons > 1)
        other_us = http_child_cpu_us(last) - other_us;
    if (failed > 0)
        bench_die("a request failed");
    print_figures(s, open_s, cpu_us, other_us, seconds);
    for (int i = 0; i < s->streams + s->all_streams; i++)
        close(streams[i].fd);
    for (int i = 0; i < s->readers; i++)
        close(readers[i].fd);
    close(writer.fd);
    close(epoll);
}

/* ---- Daemons --------------------------------------------------------------------------------- */

static void start_daemons(const char *store, int count)
{
    for (int i = 0; i < count; i++)
        daemons[i] = http_child_loci_on(dir, store, i);
}

static void stop_daemons(int count)
{
    for (int i = count; i-- > 0;)
        http_child_stop(&daemons[i]);
}

static void remove_store(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[512];

    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        remove(name);
    }
}

/* Runs the scenes on a new file. The users are copied while no daemon runs. */
static void run_on_file(const scene *scenes, int count)
{
    char path[512], seed[] = "{\"user_id\":\"seed\",\"key\":\"k\",\"value\":\"v\"}";

    snprintf(path, sizeof path, "%s/crowd.db", dir);
    start_daemons(path, 1);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    connect_peer(&writer, WRITER, &daemons[0]);
    post(&writer, &daemons[0], "fact.write", seed);
    while (writer.next_s == 0)
        turn(1);
    close(writer.fd);
    close(epoll);
    stop_daemons(1);
    if (scenes->users > 0)
        fill(path, scenes->users);
    for (int i = 0; i < count; i++) {
        start_daemons(path, scenes[i].daemons);
        run(&scenes[i]);
        stop_daemons(scenes[i].daemons);
    }
    remove_store(path);
}

static void run_users(void)
{
    static const int users[] = {100, 13000, 1000000};
    int count = getenv("BENCH_SMALL") != NULL ? 2 : 3;

    for (int i = 0; i < count; i++) {
        const scene scenes[] = {
            {.name = "users",
             .users = users[i],
             .readers = 1,
             .think_s = 0.005,
             .daemons = 1,
             .writes_per_s = 20},
            {.name = "users",
             .users = users[i],
             .all_streams = 1,
             .readers = 1,
             .think_s = 0.005,
             .daemons = 1,
             .writes_per_s = 20},
            {.name = "users",
             .users = users[i],
             .all_streams = 50,
             .readers = 1,
             .think_s = 0.005,
             .daemons = 1,
             .writes_per_s = 20},
        };

        run_on_file(scenes, 3);
    }
}

static void run_streams(void)
{
    static const int streams_of[] = {0, 100, 1000, 3500};
    scene scenes[4];

    for (int i = 0; i < 4; i++)
        scenes[i] = (scene){.name = "streams",
                            .streams = streams_of[i],
                            .readers = 1,
                            .think_s = 0.1,
                            .daemons = 1,
                            .writes_per_s = 10,
                            .writes_elsewhere = true};
    run_on_file(scenes, 4);
}

static void run_connections(void)
{
    static const int connections[] = {16, 64, 128, 300};
    scene scenes[4];

    for (int i = 0; i < 4; i++)
        scenes[i] = (scene){.name = "connections",
                            .users = 13000,
                            .all_streams = 50,
                            .readers = connections[i],
                            .daemons = 1,
                            .writes_per_s = 20};
    run_on_file(scenes, 4);
}

static void run_daemons(void)
{
    static const int counts[] = {1, 2, 4};
    static postgres_peer server;
    scene s = {.name = "daemons, file",
               .streams = 1000,
               .readers = 1,
               .think_s = 0.005,
               .daemons = 2,
               .writes_per_s = 20};
    char url[512];

    run_on_file(&s, 1);
    postgres_peer_start(&server);
    s.name = "daemons, PostgreSQL";
    for (int i = 0; i < 3; i++) {
        postgres_peer_new_store(&server, url, sizeof url);
        s.daemons = counts[i];
        start_daemons(url, s.daemons);
        run(&s);
        stop_daemons(s.daemons);
    }
    line_peer_stop(&server.process);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    struct rlimit files = {16384, 16384};
    const char *base = getenv("TMPDIR");
    char path[320];

    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        bench_die("not enough descriptors: ulimit -n 16384");
    setenv("LOCI_SERVER_CLIENT_CONNECTIONS_MAX", "7000", 1); /* All are of one address. */
    setenv("LOCI_SERVER_CONNECTIONS_MAX", "8000", 1);
    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(dir) == NULL)
        bench_die("no directory");
    if (is_wanted("users", argc, argv))
        run_users();
    if (is_wanted("streams", argc, argv))
        run_streams();
    if (is_wanted("connections", argc, argv))
        run_connections();
    if (is_wanted("daemons", argc, argv))
        run_daemons();
    for (int i = 0; i < DAEMONS_MAX; i++) {
        snprintf(path, sizeof path, "%s/token-%d", dir, i);
        remove(path);
    }
    rmdir(dir);
    return 0;
}
