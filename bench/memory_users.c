/* memory_users.c - memory.recall in a store of 1,000,000 memories: 1,000 users with 1,000 each, on
 * a SQLite file and on PostgreSQL.
 *
 * Beside it is a store of 20 such users, and both are asked in turn, user by user. A random user
 * asks 5 questions in a row, as people do; "first" are the first questions, "next" the others.
 * "Cold" is measured with a cache that has room for one user, so that every question builds the
 * index of its user. To reach: next and cold take at most 1.2 times as long as in the small store;
 * the user cache never exceeds the setting cache.user_bytes_max (256 MB by default). The anonymous
 * memory of the process (RssAnon) is printed, and how much of it the calls have added.
 *
 * The memories, with vectors of the caller, are stored by memory.store. The PostgreSQL server is
 * one of our own (tests/lib/postgres.sh). memory_users sqlite|postgresql: only this store.
 * BENCH_USERS sets the number of users. Stores of 4 GB are made in $TMPDIR or /tmp: it should be a
 * real disk.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/engine.h"
#include "lib/fill.h"
#include "lib/http_child.h"
#include "lib/line_peer.h"

#define USERS 1000
#define FEW 20
#define MEMORIES 1000
#define IN_A_ROW 5
#define FILLERS 8 /* On PostgreSQL. */
#define COLD_ASKS 50
#define ASKS_MAX 5000     /* Users that ask. */
#define CACHED_BYTES 1500 /* Of one memory: less than two take in the cache. */
#define RATIO_MAX 1.2
#define MB 1e6

/* Times of questions of one kind. */
typedef struct sample {
    double took_ms[ASKS_MAX * IN_A_ROW], cpu_ms[ASKS_MAX * IN_A_ROW];
    int count;
} sample;

typedef struct store {
    char path[512];
    int users;
    loci_engine *engine;
    sample first, next, cold;
} store;

static unsigned query_count;

static void fill_share(const store *s, int memories, int first, int step)
{
    loci_engine *engine = fill_open(s->path, 0);
    char user[32];

    for (int i = first; i < s->users; i += step) {
        snprintf(user, sizeof user, "user-%d", i);
        fill_given_memories(engine, user, 0, memories);
    }
    loci_close(engine);
}

/* By several processes: on PostgreSQL one of them mostly waits for the answers of the server. */
static void fill(const store *s, int memories, int processes)
{
    double began_s = bench_now_s(), took_s;
    int status;

    loci_close(fill_open(s->path, 0)); /* Makes the tables. */
    for (int i = 0; i < processes; i++) {
        pid_t child = fork();

        if (child < 0)
            bench_die("no process to fill the store");
        if (child == 0) {
            fill_share(s, memories, i, processes);
            _exit(0);
        }
    }
    for (int i = 0; i < processes; i++)
        if (wait(&status) < 0 || status != 0)
            bench_die("the store could not be filled");
    took_s = bench_now_s() - began_s;
    fprintf(stderr, "memory_users: %d memories stored in %.0f s, %.0f per second\n",
            s->users * memories, took_s, s->users * memories / took_s);
}

static void ask(const store *s, unsigned user, sample *out)
{
    char args[FILL_ARGS_BYTES], name[32];
    double began_s, began_us;

    snprintf(name, sizeof name, "user-%u", user);
    fill_recall_args(args, name, query_count++);
    began_us = bench_cpu_us();
    began_s = bench_now_s();
    fill_call(s->engine, "memory.recall", args);
    if (out == NULL)
        return;
    out->took_ms[out->count] = 1e3 * (bench_now_s() - began_s);
    out->cpu_ms[out->count++] = (bench_cpu_us() - began_us) / 1e3;
}

/* The same for each run. */
static unsigned nth_user(const store *s, unsigned nth)
{
    uint64_t mixed = (nth + 1) * UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (unsigned)((mixed ^ mixed >> 31) % (unsigned)s->users);
}

static void set_cache_bytes(store *s, const char *value)
{
    char args[128];

    snprintf(args, sizeof args, "{\"name\":\"cache.user_bytes_max\",\"value\":%s}", value);
    fill_call(s->engine, "config.set", args);
}

/* The cache has room for one user: with none, an index that takes longer than one slice of time
 * would be built again from nothing. */
static void measure_cold(store *stores[2], int memories)
{
    char bytes[24];

    snprintf(bytes, sizeof bytes, "%d", memories * CACHED_BYTES);
    for (int i = 0; i < 2; i++) {
        stores[i]->engine = fill_open(stores[i]->path, 0);
        set_cache_bytes(stores[i], bytes);
        ask(stores[i], 0, NULL); /* Prepares the statements. */
    }
    for (unsigned n = 0; n < (unsigned)bench_size(COLD_ASKS); n++)
        for (int i = 0; i < 2; i++)
            ask(stores[i], nth_user(stores[i], n), &stores[i]->cold);
    for (int i = 0; i < 2; i++) {
        set_cache_bytes(stores[i], "null");
        loci_close(stores[i]->engine);
    }
}

static void ask_in_a_row(store *s, unsigned nth)
{
    unsigned user = nth_user(s, nth);

    for (int i = 0; i < IN_A_ROW; i++)
        ask(s, user, i == 0 ? &s->first : &s->next);
}

static void report(const char *name, const char *of, sample *few, sample *many)
{
    double few_ms = bench_permille(few->took_ms, few->count, 500);
    double many_ms = bench_permille(many->took_ms, many->count, 500);
    double few_cpu_ms = bench_permille(few->cpu_ms, few->count, 500);
    double many_cpu_ms = bench_permille(many->cpu_ms, many->count, 500);

    printf("{\"bench\":\"memory_users\",\"case\":\"%s, %s\",\"few_p50_ms\":%.3f,"
           "\"many_p50_ms\":%.3f,\"ratio\":%.2f,\"few_cpu_ms\":%.3f,\"many_cpu_ms\":%.3f,"
           "\"cpu_ratio\":%.2f,\"goal\":%.1f,\"ok\":%s}\n",
           name, of, few_ms, many_ms, many_ms / few_ms, few_cpu_ms, many_cpu_ms,
           many_cpu_ms / few_cpu_ms, RATIO_MAX, many_ms <= RATIO_MAX * few_ms ? "true" : "false");
}

static void run(const char *name, store *few, store *many, int memories)
{
    store *stores[] = {few, many};
    const http_child self = {.pid = getpid()};
    double limit_mb, cache_mb = 0, memory_mb = 0, before_mb;
    int asks = many->users;
    lc_user_cache_counters counters = {0};

    measure_cold(stores, memories);
    few->engine = fill_open(few->path, 0);
    for (unsigned n = 0; n < (unsigned)few->users; n++)
        ask(few, n, NULL);
    many->engine = fill_open(many->path, 0);
    ask(many, 0, NULL);
    before_mb = (double)http_child_memory_kib(&self) * 1024 / MB;
    for (int n = 0; n < asks; n++) {
        double now_mb;

        ask_in_a_row(few, (unsigned)n);
        ask_in_a_row(many, (unsigned)n);
        counters = lc_engine_get_counters(many->engine).user_cache;
        now_mb = (double)counters.bytes / MB;
        cache_mb = now_mb > cache_mb ? now_mb : cache_mb;
        now_mb = (double)http_child_memory_kib(&self) * 1024 / MB;
        memory_mb = now_mb > memory_mb ? now_mb : memory_mb;
    }
    limit_mb = strtod(lc_setting_cache_user_bytes_max.default_text, NULL) / MB;
    report(name, "next questions", &few->next, &many->next);
    report(name, "cold", &few->cold, &many->cold);
    printf("{\"bench\":\"memory_users\",\"case\":\"%s, %d users, %d memories each\","
           "\"first_p50_ms\":%.3f,\"next_p99_ms\":%.3f,\"hits\":%" PRId64 ",\"misses\":%" PRId64
           ",\"evictions\":%" PRId64 ",\"cache_mb_max\":%.1f,"
           "\"goal_mb\":%.1f,\"memory_mb_max\":%.0f,\"added_mb\":%.0f,\"ok\":%s}\n",
           name, many->users, memories, bench_permille(many->first.took_ms, many->first.count, 500),
           bench_permille(many->next.took_ms, many->next.count, 990), counters.hits,
           counters.misses, counters.evictions, cache_mb, limit_mb, memory_mb,
           memory_mb - before_mb, cache_mb <= limit_mb ? "true" : "false");
    (void)fflush(stdout);
    loci_close(few->engine);
    loci_close(many->engine);
}

static void remove_file(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char file[600];

    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s%s", path, suffixes[i]);
        (void)unlink(file);
    }
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    bool is_named = argc == 1;

    for (int i = 1; i < argc; i++)
        is_named |= strcmp(argv[i], name) == 0;
    return is_named;
}

static void run_sqlite(int users, int memories)
{
    static store few, many;
    const char *tmp = getenv("TMPDIR");
    char dir[256];

    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        bench_die("no directory");
    few.users = users < FEW ? users : FEW;
    many.users = users;
    snprintf(few.path, sizeof few.path, "%s/few.db", dir);
    snprintf(many.path, sizeof many.path, "%s/many.db", dir);
    fill(&few, memories, 1);
    fill(&many, memories, 1);
    run("sqlite", &few, &many, memories);
    remove_file(few.path);
    remove_file(many.path);
    (void)rmdir(dir);
}

static void run_postgresql(int users, int memories)
{
    static store few, many;
    static postgres_peer server;

    postgres_peer_start(&server);
    few.users = users < FEW ? users : FEW;
    many.users = users;
    postgres_peer_new_store(&server, few.path, sizeof few.path);
    postgres_peer_new_store(&server, many.path, sizeof many.path);
    fill(&few, memories, FILLERS);
    fill(&many, memories, FILLERS);
    run("postgresql", &few, &many, memories);
    line_peer_stop(&server.process);
}

int main(int argc, char **argv)
{
    const char *given = getenv("BENCH_USERS");
    bool is_small = getenv("BENCH_SMALL") != NULL;
    int users = given != NULL ? (int)strtol(given, NULL, 10) : is_small ? 5 : USERS;
    int memories = is_small ? 50 : MEMORIES;

    if (users < 1 || users > ASKS_MAX)
        bench_die("BENCH_USERS must be 1 to 5000");
    if (is_wanted("sqlite", argc, argv))
        run_sqlite(users, memories);
    if (is_wanted("postgresql", argc, argv))
        run_postgresql(users, memories);
    return 0;
}
