/* http.c - the cost of HTTP: loci's daemon beside a bare libmicrohttpd echo, and beside the same
 * calls in process.
 *
 * P7 of the quality page, over keep-alive connections: `fact.current` at most 3 times the echo of
 * the same size; a read that is handed to the pool (`event.list`) at most 50 us above the echo; a
 * durable write at most 1.5 times the CPU of the same call in process. `fact.list` of one row is
 * printed without a goal. The figure is CPU time of the server process per request, all threads and
 * the kernel's part included, which a busy machine disturbs least. All cases take turns, round by
 * round; each figure is the median. BENCH_ROUNDS sets the number of rounds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/bare_store.h"
#include "lib/http_child.h"
#include "lib/http_load.h"
#include "loci.h"

#define ROUNDS 7
#define CONNECTIONS_MAX 64
#define READS 20000
#define WRITES 6000
#define KEYS 200 /* To be read: written once, unlike the slots that writes go to. */
#define READ_KEY_FORMAT "read-%04d"

typedef struct figures { /* One round; CPU and wall time in us per request. */
    double echo_cpu, echo_us;
    double current_cpu, current_us, current_ratio, current_inside_cpu;
    double list_cpu, list_us, list_above;
    double pool_cpu, pool_us, pool_above;
    double write_cpu, write_us;
    double inside_cpu, inside_us, write_ratio;
} figures;

typedef struct target {
    const http_child *child;
    int first; /* Number of the first write, so that values never repeat. */
} target;

static char dir[256];
static http_child loci, echo_server;
static loci_engine *inside;

/* ---- Requests -------------------------------------------------------------------------------- */

static size_t write_request(const target *t, const char *operation, const char *body, char *out)
{
    return (size_t)snprintf(out, HTTP_LOAD_REQUEST_BYTES,
                            "POST /v1/call/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                            "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                            "Content-Length: %zu\r\n\r\n%s",
                            operation, t->child->port, loci.token, strlen(body), body);
}

static size_t ask_current(void *ctx, int number, char *out)
{
    char body[64];

    snprintf(body, sizeof body, "{\"key\":\"" READ_KEY_FORMAT "\"}", number % KEYS);
    return write_request(ctx, "fact.current", body, out);
}

static size_t ask_list(void *ctx, int number, char *out)
{
    (void)number;
    return write_request(ctx, "fact.list", "{\"limit\":1}", out);
}

/* Always handed to the pool. */
static size_t ask_events(void *ctx, int number, char *out)
{
    (void)number;
    return write_request(ctx, "event.list", "{\"limit\":1}", out);
}

static void write_fact(int number, char *out, size_t bytes)
{
    snprintf(out, bytes,
             "{\"key\":\"" BENCH_KEY_FORMAT "\",\"value\":" BENCH_VALUE_FORMAT
             ",\"source\":\"user\"}",
             number % BENCH_SLOTS, number);
}

static size_t ask_write(void *ctx, int number, char *out)
{
    const target *t = ctx;
    char body[768];

    write_fact(t->first + number, body, sizeof body);
    return write_request(t, "fact.write", body, out);
}

static void write_read_key(int number, char *out, size_t bytes)
{
    snprintf(out, bytes,
             "{\"key\":\"" READ_KEY_FORMAT "\",\"value\":" BENCH_VALUE_FORMAT
             ",\"source\":\"user\"}",
             number, number);
}

static size_t ask_first_write(void *ctx, int number, char *out)
{
    char body[768];

    write_read_key(number, body, sizeof body);
    return write_request(ctx, "fact.write", body, out);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* CPU and wall time in us per request. */
static void measure(const target *t, http_load load, double *out_cpu, double *out_us)
{
    double before_us = http_child_cpu_us(t->child);
    http_loaded loaded;

    load.port = t->child->port;
    load.ctx = (void *)t;
    loaded = http_load_run(&load);
    if (loaded.failed > 0)
        bench_die("a request failed");
    *out_cpu = (http_child_cpu_us(t->child) - before_us) / load.requests;
    *out_us = loaded.seconds * 1e6 / load.requests;
}

typedef struct writer {
    int first, last, step;
} writer;

static void *write_inside(void *ctx)
{
    const writer *w = ctx;
    char args[768];

    for (int n = w->first; n < w->last; n += w->step) {
        loci_answer *answer = NULL;
        loci_error err;

        write_fact(n, args, sizeof args);
        if (loci_call(inside, "fact.write", loci_str_of(args), NULL, &answer, &err) != LOCI_OK)
            bench_die(err.message);
        loci_answer_free(answer);
    }
    return NULL;
}

static void measure_inside(int first, int writers, figures *f)
{
    pthread_t threads[CONNECTIONS_MAX];
    writer all[CONNECTIONS_MAX];
    double cpu_us = bench_cpu_us(), began_s = bench_now_s();

    for (int i = 0; i < writers; i++) {
        all[i] = (writer){first + i, first + WRITES, writers};
        if (pthread_create(&threads[i], NULL, write_inside, &all[i]) != 0)
            bench_die("no thread");
    }
    for (int i = 0; i < writers; i++)
        pthread_join(threads[i], NULL);
    f->inside_us = (bench_now_s() - began_s) * 1e6 / WRITES;
    f->inside_cpu = (bench_cpu_us() - cpu_us) / WRITES;
}

/* The call alone, without HTTP: what is left of the difference is the daemon's. */
static double measure_reads_inside(void)
{
    double cpu_us = bench_cpu_us();
    char args[64];

    for (int n = 0; n < READS; n++) {
        loci_answer *answer = NULL;
        loci_error err;

        snprintf(args, sizeof args, "{\"key\":\"" READ_KEY_FORMAT "\"}", n % KEYS);
        if (loci_call(inside, "fact.current", loci_str_of(args), NULL, &answer, &err) != LOCI_OK)
            bench_die(err.message);
        loci_answer_free(answer);
    }
    return (bench_cpu_us() - cpu_us) / READS;
}

static figures run_round(int connections)
{
    static int written;
    target of_loci = {&loci, written}, of_echo = {&echo_server, 0};
    http_load reads = {
        .connections = connections, .requests = READS, .request = ask_current, .is_spinning = true};
    figures f = {0};

    measure(&of_echo, reads, &f.echo_cpu, &f.echo_us);
    measure(&of_loci, reads, &f.current_cpu, &f.current_us);
    reads.request = ask_list;
    measure(&of_loci, reads, &f.list_cpu, &f.list_us);
    reads.request = ask_events;
    measure(&of_loci, reads, &f.pool_cpu, &f.pool_us);
    reads.request = ask_write;
    reads.requests = WRITES;
    reads.is_spinning = false; /* The writer's threads need both cores. */
    measure(&of_loci, reads, &f.write_cpu, &f.write_us);
    measure_inside(written, connections, &f);
    written += WRITES;
    f.current_inside_cpu = measure_reads_inside();
    f.current_ratio = f.current_cpu / f.echo_cpu;
    f.list_above = f.list_cpu - f.echo_cpu;
    f.pool_above = f.pool_cpu - f.echo_cpu;
    f.write_ratio = f.write_cpu / f.inside_cpu;
    return f;
}

/* ---- Report ---------------------------------------------------------------------------------- */

#define MEDIAN(member) bench_median(series, offsetof(figures, member))

static void report(int connections, const figures *rounds, int count)
{
    bench_series series = {rounds, sizeof *rounds, count};

    printf("{\"bench\":\"http\",\"case\":\"fact.current, %d connections\",\"cpu_us\":%.2f,"
           "\"cpu_us_echo\":%.2f,\"ratio_echo\":%.2f,\"cpu_us_in_process\":%.2f,\"wall_us\":%.2f,"
           "\"wall_us_echo\":%.2f}\n",
           connections, MEDIAN(current_cpu), MEDIAN(echo_cpu), MEDIAN(current_ratio),
           MEDIAN(current_inside_cpu), MEDIAN(current_us), MEDIAN(echo_us));
    printf("{\"bench\":\"http\",\"case\":\"fact.list of one row, %d connections\",\"cpu_us\":%.2f,"
           "\"cpu_us_echo\":%.2f,\"above_echo_us\":%.2f,\"wall_us\":%.2f}\n",
           connections, MEDIAN(list_cpu), MEDIAN(echo_cpu), MEDIAN(list_above), MEDIAN(list_us));
    printf(
        "{\"bench\":\"http\",\"case\":\"event.list in the pool, %d connections\",\"cpu_us\":%.2f,"
        "\"cpu_us_echo\":%.2f,\"above_echo_us\":%.2f,\"wall_us\":%.2f}\n",
        connections, MEDIAN(pool_cpu), MEDIAN(echo_cpu), MEDIAN(pool_above), MEDIAN(pool_us));
    printf("{\"bench\":\"http\",\"case\":\"fact.write, %d connections\",\"cpu_us\":%.2f,"
           "\"cpu_us_in_process\":%.2f,\"ratio_in_process\":%.2f,\"wall_us\":%.2f,"
           "\"wall_us_in_process\":%.2f}\n",
           connections, MEDIAN(write_cpu), MEDIAN(inside_cpu), MEDIAN(write_ratio),
           MEDIAN(write_us), MEDIAN(inside_us));
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static void open_inside(void)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_answer *answer = NULL;
    char path[320], args[768];
    loci_error err;

    snprintf(path, sizeof path, "%s/inside.db", dir);
    options.store = path;
    if (loci_open(&options, &inside, &err) != LOCI_OK)
        bench_die(err.message);
    for (int n = 0; n < KEYS; n++) {
        write_read_key(n, args, sizeof args);
        if (loci_call(inside, "fact.write", loci_str_of(args), NULL, &answer, &err) != LOCI_OK)
            bench_die(err.message);
        loci_answer_free(answer);
    }
}

/* Facts to read, and the size of their answers for the echo. */
static void start_all(void)
{
    target t = {&loci, 0};
    http_load load = {.connections = 1, .requests = KEYS, .request = ask_first_write, .ctx = &t};
    http_loaded loaded;

    loci = http_child_loci(dir);
    load.port = loci.port;
    if (http_load_run(&load).failed > 0)
        bench_die("a first write failed");
    load.request = ask_current;
    loaded = http_load_run(&load);
    if (loaded.failed > 0)
        bench_die("a first read failed");
    echo_server = http_child_echo(loaded.body_bytes);
    open_inside(); /* After the last fork: it has threads. */
}

static void remove_all(void)
{
    static const char *const names[] = {"served.db",    "served.db-wal", "served.db-shm",
                                        "served.token", "inside.db",     "inside.db-wal",
                                        "inside.db-shm"};
    char path[320];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        remove(path);
    }
    rmdir(dir);
}

int main(void)
{
    static const int connections[] = {16, 64};
    static figures rounds[2][BENCH_ROUNDS_MAX];
    const char *base = getenv("TMPDIR");
    int count = bench_rounds(ROUNDS);

    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(dir) == NULL)
        bench_die("no directory");
    start_all();
    for (int i = 0; i < count; i++)
        for (size_t c = 0; c < 2; c++)
            rounds[c][i] = run_round(connections[c]);
    for (size_t c = 0; c < 2; c++)
        report(connections[c], rounds[c], count);
    fprintf(stderr,
            "http: medians of %d rounds; goals: fact.current 3 times the echo, a read in the pool "
            "50 us above it, a write 1.5 times the CPU in process\n",
            count);
    loci_close(inside);
    http_child_stop(&echo_server);
    http_child_stop(&loci);
    remove_all();
    return 0;
}
