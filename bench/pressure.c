/* pressure.c - the daemon under pressure: memory that an eviction gives back, and the goodput after
 * an overload.
 *
 * Relief: 60 users with 500 facts each, whose states fill the user cache. The guard, which is told
 * that memory is critical, evicts half of the cache's bytes. To reach: the anonymous memory of the
 * process (RssAnon) falls by 90 % of the evicted bytes (45 % of the cache's) within a second.
 * "Apart" are states that were built one after the other; "mixed" ones grew in ten turns, so that
 * their pieces lie between each other, which is the worst that users can do.
 *
 * Recovery: `loci serve` gets writes and contexts over 16 keep-alive connections, then three times
 * as many for 10 s from as many more processes, then the first load again. To reach: within 5 s it
 * answers 90 % of the first rate. Two cores are shared by the daemon and the clients.
 *
 * pressure relief|recovery: only this. Rates are of whole machines and vary with their load:
 * compare within one run.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "lib/fill.h"
#include "lib/http_child.h"
#include "lib/http_load.h"
#include "lib/rounds.h"

#define USERS 60
#define FACTS 500
#define TURNS 10
#define MB 1e6
#define LIMIT_BYTES INT64_C(1000000000)
#define CONNECTIONS 16
#define CALLS 800 /* Per measurement: a fraction of a second. */
#define OVERLOAD_S 10
#define OVERLOAD_PROCESSES 3
#define RECOVERY_S 5

static char dir[256];

/* ---- Relief ---------------------------------------------------------------------------------- */

static double anonymous_mb(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "RssAnon:", 8) == 0)
            kib = strtol(line + 8, NULL, 10);
    if (file != NULL)
        (void)fclose(file);
    return (double)kib * 1024 / MB;
}

/* The memory and the clock that the guard sees. */
static int64_t used_bytes;

static int read_memory(void *ctx, int64_t *used, int64_t *limit)
{
    (void)ctx;
    *used = used_bytes;
    *limit = LIMIT_BYTES;
    return 0;
}

static loci_engine *open_engine(const char *path)
{
    loci_guard_options guard = LOCI_GUARD_OPTIONS_INIT;
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine;
    loci_error err;

    guard.flags = LOCI_GUARD_INLINE;
    guard.reading = read_memory;
    options.store = path;
    options.settings = "{\"cache.user_bytes_max\":1099511627776,\"model.embedder\":\"lexical\"}";
    used_bytes = 0;
    if (lc_engine_open(&options, &(lc_engine_parts){.guard = &guard}, &engine, &err) != LOCI_OK)
        bench_die(err.message);
    return engine;
}

/* Builds the states of all users. */
static void use_all(loci_engine *engine, int users)
{
    char args[256];

    for (int i = 0; i < users; i++) {
        snprintf(args, sizeof args,
                 "{\"user_id\":\"user-%d\",\"query\":\"Where is the %s?\",\"budget\":1000}", i,
                 fill_word((unsigned)i));
        fill_call(engine, "context.build", args);
    }
}

static void fill_turn(loci_engine *engine, int users, int first, int last)
{
    char user[32];

    for (int i = 0; i < users; i++) {
        snprintf(user, sizeof user, "user-%d", i);
        fill_facts(engine, user, first, last);
    }
}

static double cache_mb(loci_engine *engine)
{
    return (double)lc_engine_get_counters(engine).user_cache.bytes / MB;
}

/* Bytes that all caches of the guard gave up. */
static double evicted_mb(loci_guard *guard)
{
    static const char name[] = "\"freed_bytes\":";
    char *status = loci_guard_status(guard);
    double sum = 0;

    if (status == NULL)
        bench_die("out of memory");
    for (const char *at = status; (at = strstr(at, name)) != NULL;) {
        at += strlen(name);
        sum += strtod(at, NULL);
    }
    loci_text_free(status);
    return sum / MB;
}

static void measure_relief(bool is_mixed)
{
    int users = bench_size(USERS), facts = FACTS;
    double cache, memory, evicted, freed, began_s, took_ms = 0;
    loci_guard *guard = NULL;
    loci_engine *engine;
    char path[320];
    loci_error err;

    snprintf(path, sizeof path, "%s/%s.db", dir, is_mixed ? "mixed" : "apart");
    engine = open_engine(path);
    if (!is_mixed)
        fill_turn(engine, users, 0, facts);
    for (int turn = 0; is_mixed && turn < TURNS; turn++) {
        fill_turn(engine, users, facts / TURNS * turn, facts / TURNS * (turn + 1));
        use_all(engine, users);
    }
    use_all(engine, users);
    if (lc_engine_memory_guard(engine, &guard, &err) != LOCI_OK)
        bench_die(err.message);
    (void)malloc_trim(0); /* Free memory of the filling is not to count. */
    cache = cache_mb(engine);
    memory = anonymous_mb();
    used_bytes = LIMIT_BYTES / 100 * 90;
    began_s = bench_now_s();
    /* Ticks as the guard's thread makes them, until half of the cache is gone; then it is told
     * that this was enough, and has the rest of the second to give the memory back. */
    while (bench_now_s() - began_s < 1) {
        struct timespec pause = {.tv_nsec = 10000000};

        (void)loci_guard_tick(guard);
        if (took_ms == 0 && cache_mb(engine) <= cache / 2) {
            took_ms = 1e3 * (bench_now_s() - began_s);
            used_bytes = LIMIT_BYTES / 100 * 60; /* Below critical's exit: nothing more to free. */
        }
        (void)nanosleep(&pause, NULL);
    }
    evicted = evicted_mb(guard);
    freed = memory - anonymous_mb();
    printf("relief, %s: cache %.1f MB of %.1f MB; evicted %.1f MB with pages, half after %.0f ms; "
           "anonymous memory fell by %.1f MB, %.0f %% of the evicted bytes\n",
           is_mixed ? "mixed" : "apart", cache, memory, evicted, took_ms, freed,
           100 * freed / evicted);
    loci_close(engine);
    for (int i = 0; i < 3; i++) {
        static const char *const ends[] = {"", "-wal", "-shm"};

        snprintf(path, sizeof path, "%s/%s.db%s", dir, is_mixed ? "mixed" : "apart", ends[i]);
        (void)unlink(path);
    }
}

/* ---- Recovery -------------------------------------------------------------------------------- */

typedef struct asking {
    const http_child *loci;
    unsigned nth;
} asking;

static size_t ask(void *ctx, int number, char out[HTTP_LOAD_REQUEST_BYTES])
{
    asking *a = ctx;
    unsigned n = a->nth++;
    char body[256];
    bool is_write = n % 4 == 0;

    (void)number;
    if (is_write)
        snprintf(body, sizeof body, "{\"user_id\":\"user-%u\",\"key\":\"%s\",\"value\":%u}",
                 n % USERS, fill_word(n), n);
    else
        snprintf(body, sizeof body,
                 "{\"user_id\":\"user-%u\",\"query\":\"Where is the %s?\",\"budget\":500}",
                 n % USERS, fill_word(n));
    return (size_t)snprintf(out, HTTP_LOAD_REQUEST_BYTES,
                            "POST /v1/call/%s HTTP/1.1\r\nHost: localhost\r\n"
                            "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                            "Content-Length: %zu\r\n\r\n%s",
                            is_write ? "fact.write" : "context.build", a->loci->token, strlen(body),
                            body);
}

/* Good answers per second. */
static double goodput(asking *a)
{
    http_load load = {.port = a->loci->port,
                      .connections = CONNECTIONS,
                      .requests = bench_size(CALLS),
                      .request = ask,
                      .ctx = a};
    http_loaded loaded = http_load_run(&load);

    return (load.requests - loaded.failed) / loaded.seconds;
}

static void overload(const http_child *loci, double seconds)
{
    pid_t children[OVERLOAD_PROCESSES];

    for (int i = 0; i < OVERLOAD_PROCESSES; i++) {
        children[i] = fork();
        if (children[i] < 0)
            bench_die("no process");
        if (children[i] == 0) {
            asking a = {.loci = loci, .nth = (unsigned)i * 7919};
            double began_s = bench_now_s();

            while (bench_now_s() - began_s < seconds)
                (void)goodput(&a);
            _exit(0);
        }
    }
    for (int i = 0; i < OVERLOAD_PROCESSES; i++)
        if (waitpid(children[i], NULL, 0) < 0)
            bench_die("a process was lost");
}

static void measure_recovery(void)
{
    static const char *const files[] = {"served.db", "served.db-wal", "served.db-shm",
                                        "served.token"};
    http_child loci = http_child_loci(dir);
    asking a = {.loci = &loci};
    double before = 0, after = 0, best = 0, began_s, back_s = -1;
    double seconds = getenv("BENCH_SMALL") != NULL ? 1 : OVERLOAD_S;
    char path[320];

    for (int i = 0; i < 5; i++) /* Warms up. */
        (void)goodput(&a);
    for (int i = 0; i < 5; i++)
        before += goodput(&a) / 5;
    overload(&loci, seconds);
    began_s = bench_now_s();
    while (bench_now_s() - began_s < RECOVERY_S && back_s < 0) {
        after = goodput(&a);
        best = after > best ? after : best;
        if (after >= 0.9 * before)
            back_s = bench_now_s() - began_s;
    }
    if (back_s >= 0)
        printf(
            "recovery: %.0f calls per second before; after %.0f s of overload 90 %% again within "
            "%.1f s (%.0f per second)\n",
            before, seconds, back_s, after);
    else
        printf("recovery: %.0f calls per second before; after %.0f s of overload only %.0f within "
               "%d s\n",
               before, seconds, best, RECOVERY_S);
    http_child_stop(&loci);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        (void)unlink(path);
    }
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR"), *only = argc > 1 ? argv[1] : "";

    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        bench_die("no directory");
    /* The daemon would embed the facts meanwhile. */
    if (setenv("LOCI_MODEL_EMBEDDER", "lexical", 1) != 0)
        bench_die("no environment");
    if (strcmp(only, "recovery") != 0) {
        measure_relief(false);
        measure_relief(true);
    }
    if (strcmp(only, "relief") != 0)
        measure_recovery();
    (void)rmdir(dir);
    return 0;
}
