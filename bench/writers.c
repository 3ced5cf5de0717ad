/* writers.c - many writers on one file: two processes beside one, and the WAL beside a slow reader.
 *
 * P4 of the quality page: 2 × 20 writers over two processes reach 0.8 of one process, with a p99.9
 * of at most 200 ms; the WAL stays below 64 MB while somebody reads slowly. One process is measured
 * with 20 and with 40 writers: the former is the same load for each process, the latter for the
 * file. Rounds are interleaved, figures are medians of BENCH_ROUNDS (5) rounds.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/bare_store.h"
#include "loci.h"

#define ROUNDS 5
#define ROUNDS_MAX 51
#define WRITERS_MAX 40
#define WRITES 400 /* Each writer's. */
#define READER_SECONDS 6

typedef struct result { /* Of one process, or of a round. */
    double start_s;
    double end_s;
    double p50_ms;
    double p999_ms;
    double per_s;
} result;

typedef struct worker {
    loci_engine *engine;
    int number;
    int writes;
    float *latencies_ms;          /* `writes` of them, or NULL. */
    const _Atomic bool *is_ended; /* Stops before that, or NULL. */
} worker;

static char dir[256];
static char store[300];

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "writers: %s\n", what);
    exit(1);
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void remove_store(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char path[320];

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", store, suffixes[i]);
        remove(path);
    }
}

static loci_engine *open_engine(void)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_error err;

    options.store = store;
    if (loci_open(&options, &engine, &err) != LOCI_OK)
        die(err.message);
    return engine;
}

static void *write_facts(void *ctx)
{
    const worker *w = ctx;
    char args[768];

    for (int n = 0; n < w->writes && (w->is_ended == NULL || !atomic_load(w->is_ended)); n++) {
        int id = w->number * 10000 + n;
        int bytes = snprintf(args, sizeof args,
                             "{\"key\":\"" BENCH_KEY_FORMAT "\",\"value\":" BENCH_VALUE_FORMAT "}",
                             id % BENCH_SLOTS, id);
        double start_s = now_s();
        loci_answer *answer = NULL;
        loci_error err;

        if (loci_call(w->engine, "fact.write", (loci_str){args, (size_t)bytes}, NULL, &answer,
                      &err) != LOCI_OK)
            die(err.message);
        loci_answer_free(answer);
        if (w->latencies_ms != NULL)
            w->latencies_ms[n] = (float)((now_s() - start_s) * 1000);
    }
    return NULL;
}

static void run_threads(worker *workers, int count)
{
    pthread_t threads[WRITERS_MAX];

    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, write_facts, &workers[i]) != 0)
            die("no thread");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* ---- Processes ------------------------------------------------------------------------------ */

static result run_writers(int first, int count)
{
    static float latencies_ms[WRITERS_MAX * WRITES];
    worker workers[WRITERS_MAX];
    loci_engine *engine = open_engine();
    size_t all = (size_t)count * WRITES;
    result r = {0};

    for (int i = 0; i < count; i++)
        workers[i] = (worker){.engine = engine,
                              .number = first + i,
                              .writes = WRITES,
                              .latencies_ms = latencies_ms + i * WRITES};
    r.start_s = now_s();
    run_threads(workers, count);
    r.end_s = now_s();
    loci_close(engine);
    qsort(latencies_ms, all, sizeof latencies_ms[0], compare_floats);
    r.p50_ms = latencies_ms[all / 2];
    r.p999_ms = latencies_ms[all - 1 - all / 1000];
    return r;
}

/* Each process tells over the pipe how it went. */
static void start_process(int pipe_end, int first, int count)
{
    pid_t child = fork();
    result r;

    if (child < 0)
        die("fork");
    if (child > 0)
        return;
    r = run_writers(first, count);
    if (write(pipe_end, &r, sizeof r) != (ssize_t)sizeof r)
        _exit(1);
    _exit(0);
}

static result run_processes(int processes, int writers)
{
    result all = {.start_s = 1e18};
    int ends[2];

    remove_store();
    if (pipe(ends) != 0)
        die("pipe");
    for (int i = 0; i < processes; i++)
        start_process(ends[1], i * writers, writers);
    for (int i = 0; i < processes; i++) {
        result r;

        if (read(ends[0], &r, sizeof r) != (ssize_t)sizeof r)
            die("a process failed");
        all.start_s = r.start_s < all.start_s ? r.start_s : all.start_s;
        all.end_s = r.end_s > all.end_s ? r.end_s : all.end_s;
        all.p50_ms = r.p50_ms > all.p50_ms ? r.p50_ms : all.p50_ms;
        all.p999_ms = r.p999_ms > all.p999_ms ? r.p999_ms : all.p999_ms;
        wait(NULL);
    }
    close(ends[0]);
    close(ends[1]);
    all.per_s = processes * writers * WRITES / (all.end_s - all.start_s);
    return all;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(const result *rounds, int count, size_t offset)
{
    double all[ROUNDS_MAX];

    for (int i = 0; i < count; i++)
        memcpy(&all[i], (const char *)&rounds[i] + offset, sizeof all[i]);
    qsort(all, (size_t)count, sizeof all[0], compare_doubles);
    return all[count / 2];
}

static void compare_processes(int rounds)
{
    static const struct {
        const char *name;
        int processes, writers;
    } cases[] = {{"1 x 20", 1, 20}, {"1 x 40", 1, 40}, {"2 x 20", 2, 20}};
    static result results[3][ROUNDS_MAX];
    double per_s[3];

    for (int i = 0; i < rounds; i++)
        for (int c = 0; c < 3; c++)
            results[c][i] = run_processes(cases[c].processes, cases[c].writers);
    for (int c = 0; c < 3; c++) {
        per_s[c] = median(results[c], rounds, offsetof(result, per_s));
        printf("{\"bench\":\"writers\",\"case\":\"%s\",\"per_s\":%.0f,\"p50_ms\":%.2f,"
               "\"p999_ms\":%.1f}\n",
               cases[c].name, per_s[c], median(results[c], rounds, offsetof(result, p50_ms)),
               median(results[c], rounds, offsetof(result, p999_ms)));
    }
    printf("{\"bench\":\"writers\",\"case\":\"2 x 20 : 1 x 20\",\"ratio\":%.3f}\n",
           per_s[2] / per_s[0]);
    printf("{\"bench\":\"writers\",\"case\":\"2 x 20 : 1 x 40\",\"ratio\":%.3f}\n",
           per_s[2] / per_s[1]);
}

/* ---- A slow reader -------------------------------------------------------------------------- */

static _Atomic bool is_ended;

static int take_slowly(void *ctx, loci_str chunk)
{
    (void)ctx;
    (void)chunk;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return atomic_load(&is_ended);
}

/* Reads the whole log, a line a millisecond, until it is told to stop. */
static void *read_slowly(void *ctx)
{
    while (!atomic_load(&is_ended)) {
        loci_call_options options = LOCI_CALL_OPTIONS_INIT;
        loci_answer *answer = NULL;

        options.timeout_ms = 60000;
        if (loci_call_stream(ctx, "store.export", loci_str_of("{}"), &options, take_slowly, NULL,
                             &answer, NULL) == LOCI_OK)
            loci_answer_free(answer);
    }
    return NULL;
}

static void *watch_wal(void *ctx)
{
    double *bytes_max = ctx;
    double end_s = now_s() + READER_SECONDS;
    char path[320];
    struct stat info;

    snprintf(path, sizeof path, "%s-wal", store);
    while (now_s() < end_s) {
        if (stat(path, &info) == 0 && (double)info.st_size > *bytes_max)
            *bytes_max = (double)info.st_size;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    atomic_store(&is_ended, true);
    return NULL;
}

static void measure_wal(void)
{
    worker workers[16];
    pthread_t reader, watcher;
    double bytes_max = 0;
    loci_engine *engine;

    remove_store();
    engine = open_engine();
    for (int i = 0; i < 16; i++)
        workers[i] = (worker){
            .engine = engine, .number = i, .writes = 1 << 20, .is_ended = &is_ended};
    if (pthread_create(&reader, NULL, read_slowly, engine) != 0 ||
        pthread_create(&watcher, NULL, watch_wal, &bytes_max) != 0)
        die("no thread");
    run_threads(workers, 16);
    pthread_join(watcher, NULL);
    pthread_join(reader, NULL);
    loci_close(engine);
    printf("{\"bench\":\"writers\",\"case\":\"wal beside a slow reader\",\"wal_mb_max\":%.1f}\n",
           bytes_max / 1e6);
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    const char *asked = getenv("BENCH_ROUNDS");
    int rounds = asked != NULL ? (int)strtol(asked, NULL, 10) : ROUNDS;

    if (rounds < 1 || rounds > ROUNDS_MAX)
        die("BENCH_ROUNDS must be 1 to 51");
    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(dir) == NULL)
        die("no directory");
    snprintf(store, sizeof store, "%s/store.db", dir);
    compare_processes(rounds);
    measure_wal();
    fprintf(stderr,
            "to reach: 2 x 20 at 0.8 of one process, p99.9 at most 200 ms, WAL at most 64 MB\n");
    remove_store();
    rmdir(dir);
    return 0;
}
