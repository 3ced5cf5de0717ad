/* upkeep.c - reads and writes beside each kind of upkeep, and without any.
 *
 * One thread reads (event.list of a random user, which goes to the store), one writes (fact.write
 * of a user of its own), each with a short pause between two calls, while another call runs the
 * upkeep; it is repeated until it took MEASURE_S in all. Per kind: how long it took, p50 and p99 of
 * both, p99 divided by the p99 without upkeep (measured before and after all kinds), the memory
 * that the process needed above what it had, and the largest write-ahead log of a file.
 *
 * The goal: p99 of reads at most 5 times. What they wait for is mostly the processor: on two cores
 * a reader, a writer and the upkeep compete. upkeep sqlite|postgresql: only this store.
 * UPKEEP_EVENTS events (200,000), UPKEEP_KINDS="rebuild verify" for some kinds only.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/fill.h"
#include "lib/line_peer.h"
#include "lib/rounds.h"

#define FACTS_PER_USER 200
#define FIRST_IMPORTED 1000000 /* Number of the first user that is imported. */
#define MEASURE_S 4.0
#define READ_PAUSE_US 2000
#define WRITE_PAUSE_US 4000
#define SAMPLES_MAX 200000

typedef struct load { /* One thread that calls. */
    loci_engine *engine;
    bool writes;
    int users;
    unsigned seed;
    double latencies_ms[SAMPLES_MAX];
    int count;
} load;

typedef struct figures {
    double seconds;
    double read_p50_ms, read_p99_ms, read_max_ms;
    double write_p50_ms, write_p99_ms, write_max_ms;
    double memory_mb, wal_mb;
} figures;

static struct {
    char path[300], export_path[320], import_path[330], backup_path[320];
    loci_engine *engine;
    int users;
} bench;

static _Atomic bool is_over;
static load reader, writer;

/* ---- The load -------------------------------------------------------------------------------- */

static void pause_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static void *run_load(void *ctx)
{
    load *l = ctx;
    char args[256];

    for (l->count = 0; !atomic_load(&is_over) && l->count < SAMPLES_MAX; l->count++) {
        unsigned number = (unsigned)rand_r(&l->seed);
        double start_s;

        if (l->writes)
            snprintf(args, sizeof args,
                     "{\"user_id\":\"load-%u\",\"key\":\"key_%u\",\"value\":\"value %u\"}",
                     number % 4, number % 97, number);
        else
            snprintf(args, sizeof args, "{\"user_id\":\"user-%u\",\"limit\":10}",
                     number % (unsigned)l->users);
        start_s = bench_now_s();
        fill_call(l->engine, l->writes ? "fact.write" : "event.list", args);
        l->latencies_ms[l->count] = (bench_now_s() - start_s) * 1000;
        pause_us(l->writes ? WRITE_PAUSE_US : READ_PAUSE_US);
    }
    return NULL;
}

/* ---- What it costs --------------------------------------------------------------------------- */

static double status_mb(const char *name)
{
    char line[256];
    double kb = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtod(line + strlen(name) + 1, NULL);
    }
    if (file != NULL)
        fclose(file);
    return kb / 1024;
}

/* From here on VmHWM is the largest size since now. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    if (file == NULL || fputs("5", file) < 0)
        bench_die("/proc/self/clear_refs cannot be written");
    fclose(file);
}

static double wal_mb(void)
{
    char path[320];
    struct stat info;

    snprintf(path, sizeof path, "%s-wal", bench.path);
    return stat(path, &info) == 0 ? (double)info.st_size / 1e6 : 0;
}

/* ---- Kinds of upkeep ------------------------------------------------------------------------- */

static void call_with_path(const char *operation, const char *path, bool force)
{
    char args[400];

    snprintf(args, sizeof args, "{\"path\":\"%s\"%s}", path, force ? ",\"force\":true" : "");
    fill_call(bench.engine, operation, args);
}

static void run_nothing(void)
{
    pause_us(900000);
}

static void run_rebuild(void)
{
    fill_call(bench.engine, "store.rebuild", "{\"wait\":true}");
}

static void run_verify(void)
{
    fill_call(bench.engine, "store.verify", "{}");
}

static void run_export(void)
{
    call_with_path("store.export", bench.export_path, true);
}

static void run_backup(void)
{
    call_with_path("store.backup", bench.backup_path, true);
}

/* Waits for the job that the forgetting has caused. */
static void run_scrub(void)
{
    static int forgotten;
    char args[128];
    bool is_pending = true;

    snprintf(args, sizeof args, "{\"user_id\":\"user-%d\",\"key\":\"" FILL_KEY_FORMAT "\"}",
             bench.users - 1, fill_word((unsigned)forgotten), forgotten);
    forgotten++;
    fill_call(bench.engine, "fact.forget", args);
    while (is_pending) {
        loci_answer *answer = NULL;
        loci_error err;

        pause_us(20000);
        if (loci_call(bench.engine, "store.status", loci_str_of("{}"), NULL, &answer, &err) !=
            LOCI_OK)
            bench_die(err.message);
        is_pending = strstr(loci_answer_json(answer).ptr, "\"scrub_pending\":true") != NULL;
        loci_answer_free(answer);
    }
}

/* A store of other users, exported, so that every event is new. */
static void make_import(void)
{
    loci_engine *own = bench.engine;

    bench.engine = fill_open(bench.backup_path, 0);
    fill_users(bench.engine, FIRST_IMPORTED, FIRST_IMPORTED + bench.users, FACTS_PER_USER);
    call_with_path("store.export", bench.import_path, true);
    loci_close(bench.engine);
    bench.engine = own;
}

static void run_import(void)
{
    call_with_path("store.import", bench.import_path, false);
}

static void run_partition(void)
{
    fill_call(bench.engine, "store.partition", "{\"partitions\":16}");
}

static void run_rejoin(void)
{
    fill_call(bench.engine, "store.partition", "{\"partitions\":1}");
}

/* Of all events that there are. */
static void run_compact(void)
{
    fill_call(bench.engine, "store.compact", "{\"before\":\"2100-01-01T00:00:00Z\"}");
}

typedef enum where { ANYWHERE, FILES, SERVERS } where;

typedef struct kind {
    const char *name;
    void (*run)(void);
    bool is_once;
    where where;
} kind;

static const kind kinds[] = {
    {"none", run_nothing, false, ANYWHERE},
    {"export", run_export, false, ANYWHERE},
    {"verify", run_verify, true, ANYWHERE},
    {"rebuild", run_rebuild, true, ANYWHERE},
    {"backup", run_backup, false, FILES}, /* PostgreSQL has tools of its own. */
    {"scrub", run_scrub, true, ANYWHERE},
    {"import", run_import, true, ANYWHERE},
    {"partition", run_partition, true, SERVERS},
    {"none, partitioned", run_nothing, false, SERVERS},
    {"rejoin", run_rejoin, true, SERVERS},
    {"compact", run_compact, true, ANYWHERE},
    {"none again", run_nothing, false, ANYWHERE},
};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct upkeep_run {
    const kind *kind;
    double seconds;
    _Atomic bool is_done;
} upkeep_run;

static void *run_upkeep(void *ctx)
{
    upkeep_run *run = ctx;
    double start_s = bench_now_s();
    int rounds = 0;

    do {
        run->kind->run();
        rounds++;
    } while (!run->kind->is_once && bench_now_s() - start_s < MEASURE_S);
    run->seconds = (bench_now_s() - start_s) / rounds;
    atomic_store(&run->is_done, true);
    return NULL;
}

static figures measure(const kind *k)
{
    pthread_t threads[3];
    upkeep_run run = {.kind = k};
    double before_mb = status_mb("VmRSS:");
    figures f = {0};

    forget_peak();
    atomic_store(&is_over, false);
    if (pthread_create(&threads[0], NULL, run_load, &reader) != 0 ||
        pthread_create(&threads[1], NULL, run_load, &writer) != 0 ||
        pthread_create(&threads[2], NULL, run_upkeep, &run) != 0)
        bench_die("no thread");
    while (!atomic_load(&run.is_done)) {
        double mb = wal_mb();

        f.wal_mb = mb > f.wal_mb ? mb : f.wal_mb;
        pause_us(10000);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    f.seconds = run.seconds;
    f.memory_mb = status_mb("VmHWM:") - before_mb;
    f.read_p50_ms = bench_permille(reader.latencies_ms, reader.count, 500);
    f.read_p99_ms = bench_permille(reader.latencies_ms, reader.count, 990);
    f.read_max_ms = reader.latencies_ms[reader.count - 1];
    f.write_p50_ms = bench_permille(writer.latencies_ms, writer.count, 500);
    f.write_p99_ms = bench_permille(writer.latencies_ms, writer.count, 990);
    f.write_max_ms = writer.latencies_ms[writer.count - 1];
    return f;
}

static bool is_chosen(const kind *k)
{
    const char *chosen = getenv("UPKEEP_KINDS");

    return chosen == NULL || k->run == run_nothing || strstr(chosen, k->name) != NULL;
}

static void run_store(const char *name)
{
    figures all[KIND_COUNT] = {0};
    bool is_file = strcmp(name, "sqlite") == 0;
    double read_ms, write_ms;

    make_import();
    reader = (load){.engine = bench.engine, .users = bench.users, .seed = 1};
    writer = (load){.engine = bench.engine, .writes = true, .seed = 2};
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (is_chosen(&kinds[i]) && kinds[i].where != (is_file ? SERVERS : FILES))
            all[i] = measure(&kinds[i]);
    }
    read_ms = (all[0].read_p99_ms + all[KIND_COUNT - 1].read_p99_ms) / 2;
    write_ms = (all[0].write_p99_ms + all[KIND_COUNT - 1].write_p99_ms) / 2;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const figures *f = &all[i];

        if (f->seconds == 0)
            continue;
        printf("{\"case\":\"upkeep %s %s\",\"events\":%d,\"seconds\":%.1f,\"read_p50_ms\":%.2f,"
               "\"read_p99_ms\":%.2f,\"read_max_ms\":%.1f,\"read_ratio\":%.1f,"
               "\"write_p50_ms\":%.2f,\"write_p99_ms\":%.2f,\"write_max_ms\":%.1f,"
               "\"write_ratio\":%.1f,\"memory_mb\":%.0f,\"wal_mb\":%.0f}\n",
               name, kinds[i].name, bench.users * FACTS_PER_USER, f->seconds, f->read_p50_ms,
               f->read_p99_ms, f->read_max_ms, f->read_p99_ms / read_ms, f->write_p50_ms,
               f->write_p99_ms, f->write_max_ms, f->write_p99_ms / write_ms, f->memory_mb,
               f->wal_mb);
        fflush(stdout);
    }
}

static void fill_and_run(const char *name)
{
    bench.engine = fill_open(bench.path, 0);
    fill_users(bench.engine, 0, bench.users, FACTS_PER_USER);
    run_store(name);
    loci_close(bench.engine);
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    return argc < 2 || strcmp(argv[1], name) == 0;
}

int main(int argc, char **argv)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-export", "-import", "-backup"};
    const char *parent = getenv("TMPDIR"), *events = getenv("UPKEEP_EVENTS");
    char folder[256], path[340];

    bench.users = (events != NULL ? (int)strtol(events, NULL, 10) : bench_size(200000)) /
                  FACTS_PER_USER;
    snprintf(folder, sizeof folder, "%s/loci-bench-XXXXXX", parent != NULL ? parent : "/tmp");
    if (bench.users < 2 || mkdtemp(folder) == NULL)
        bench_die("no temporary folder, or too few events");
    snprintf(bench.path, sizeof bench.path, "%s/store", folder);
    snprintf(bench.export_path, sizeof bench.export_path, "%s/store-export", folder);
    snprintf(bench.import_path, sizeof bench.import_path, "%s/store-import", folder);
    snprintf(bench.backup_path, sizeof bench.backup_path, "%s/store-backup", folder);
    if (is_wanted("sqlite", argc, argv))
        fill_and_run("sqlite");
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s/store%s", folder, suffixes[i]);
        remove(path);
    }
    if (is_wanted("postgresql", argc, argv)) {
        static postgres_peer server;

        postgres_peer_start(&server);
        postgres_peer_new_store(&server, bench.path, sizeof bench.path);
        fill_and_run("postgresql");
        line_peer_stop(&server.process);
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s/store%s", folder, suffixes[i]);
        remove(path);
    }
    rmdir(folder);
    return 0;
}
