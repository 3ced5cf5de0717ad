/* context.c - context.build of a user with 10,000 valid facts, without and with 100,000 superseded
 * ones.
 *
 * P5 of the quality page: p50 at most 2 ms, and flat in the superseded facts. Two stores differ in
 * nothing but the history behind the same facts; they take turns, call by call, CPU is the median
 * of the calls, and each figure the median of the rounds. Warm: nothing has changed since the last
 * context. Write: one fact was written in between. Cold: the first context of an engine that has
 * read its data of tokens. The second case has a conversation of 200 messages beside the facts.
 * BENCH_ROUNDS says how many rounds there are. The files are made in $TMPDIR or /tmp: it should be
 * a real disk.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/rounds.h"
#include "loci.h"

#define VALID 10000
#define VERSIONS 10 /* That each fact had before, in the store that has a history. */
#define BATCH 100
#define BUDGET "2000"
#define WARM_CALLS 200
#define WRITE_CALLS 40
#define ROUNDS 5
#define MESSAGES 200
#define P50_MAX_MS 2.0
#define FLAT_MAX 1.2

typedef struct figures { /* Of one round. */
    double warm_p50_ms, warm_p99_ms, warm_cpu_ms;
    double write_p50_ms, write_p99_ms, write_cpu_ms;
    double cold_ms, cold_cpu_ms;
} figures;

typedef struct store {
    char path[300];
    int versions;
    loci_engine *engine;
    figures rounds[BENCH_ROUNDS_MAX];
} store;

static const char *const words[] = {
    "harbor",  "garden",   "engine",  "ladder",    "mirror",   "pocket", "window", "bridge",
    "meeting", "contract", "invoice", "architect", "deadline", "budget", "office", "travel"};
#define WORDS (sizeof words / sizeof *words)

static loci_engine *open_engine(const char *path)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_error err;

    options.store = path;
    options.flags = LOCI_OPEN_INLINE;
    if (loci_open(&options, &engine, &err) != LOCI_OK)
        bench_die(err.message);
    return engine;
}

static void call(loci_engine *engine, const char *operation, const char *args)
{
    loci_answer *answer = NULL;
    loci_error err;

    if (loci_call(engine, operation, loci_str_of(args), NULL, &answer, &err) != LOCI_OK)
        bench_die(err.message);
    loci_answer_free(answer);
}

/* ---- The facts ------------------------------------------------------------------------------- */

static void put_fact(char *out, size_t bytes, int key, int version)
{
    unsigned n = (unsigned)key * 7919u + (unsigned)version * 104729u;

    snprintf(out, bytes,
             "{\"key\":\"%s_%05d\",\"value\":\"The %s of the %s is in the %s, number %u; ask about"
             " the %s\"}",
             words[(unsigned)key % WORDS], key, words[n / 3 % WORDS], words[n / 5 % WORDS],
             words[n / 7 % WORDS], n % 1000, words[n / 11 % WORDS]);
}

static void write_batch(loci_engine *engine, int first, int version)
{
    static char args[BATCH][300];
    loci_request requests[BATCH];
    loci_answer *answer = NULL;
    loci_error err;

    for (int i = 0; i < BATCH; i++) {
        put_fact(args[i], sizeof args[i], first + i, version);
        requests[i] = (loci_request){"fact.write", loci_str_of(args[i]), LOCI_AT_CLOCK};
    }
    if (loci_call_many(engine, requests, BATCH, NULL, &answer, &err) != LOCI_OK)
        bench_die(err.message);
    loci_answer_free(answer);
}

/* The last version is the same in both stores. */
static void make_store(store *s)
{
    s->engine = open_engine(s->path);
    for (int version = s->versions; version >= 0; version--)
        for (int first = 0; first < VALID; first += BATCH)
            write_batch(s->engine, first, version);
    loci_close(s->engine);
}

/* A conversation as long as a context looks back. */
static void talk(store *s)
{
    s->engine = open_engine(s->path);
    for (unsigned i = 0; i < MESSAGES; i++) {
        char args[300];

        snprintf(args, sizeof args,
                 "{\"text\":\"%s the %s of the %s is next to the %s, number %u.\"}",
                 i % 10 == 0 ? "I heard that" : "By the way,", words[i / 3 % WORDS],
                 words[i / 5 % WORDS], words[i * 7 % WORDS], i);
        call(s->engine, "fact.observe", args);
    }
    loci_close(s->engine);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* What calls of one kind took, of each store. */
typedef struct sample {
    double times_ms[WARM_CALLS], cpus_ms[WARM_CALLS];
} sample;

static void build(const store *s, int nth, sample *out)
{
    char args[200];
    double start_s, start_cpu_us;

    snprintf(args, sizeof args,
             "{\"query\":\"Where is the %s of the %s, and the %s?\",\"budget\":" BUDGET "}",
             words[(size_t)nth % WORDS], words[(size_t)nth / 3 % WORDS],
             words[(size_t)nth / 5 % WORDS]);
    start_cpu_us = bench_cpu_us();
    start_s = bench_now_s();
    call(s->engine, "context.build", args);
    out->times_ms[nth] = 1e3 * (bench_now_s() - start_s);
    out->cpus_ms[nth] = (bench_cpu_us() - start_cpu_us) / 1e3;
}

static double at_permille(double *values, int count, int permille)
{
    qsort(values, (size_t)count, sizeof values[0], compare);
    return values[count * permille / 1000];
}

static void run_cold(store *s, figures *out)
{
    sample took;

    s->engine = open_engine(s->path);
    call(s->engine, "text.count", "{\"text\":\"So that the tokens are there.\"}");
    call(s->engine, "fact.current", "{\"key\":\"harbor_00000\"}");
    build(s, 0, &took);
    out->cold_ms = took.times_ms[0];
    out->cold_cpu_ms = took.cpus_ms[0];
}

/* The stores take turns, call by call: whatever else the machine does hits both. */
static void run_round(store *stores, int round)
{
    sample warm[2], written[2];

    for (int s = 0; s < 2; s++)
        run_cold(&stores[s], &stores[s].rounds[round]);
    for (int i = 0; i < 2 * WARM_CALLS; i++)
        build(&stores[i % 2], i / 2, &warm[i % 2]);
    for (int i = 0; i < 2 * WRITE_CALLS; i++) {
        char args[300];

        put_fact(args, sizeof args, i / 2 * (VALID / WRITE_CALLS), 1000 + round);
        call(stores[i % 2].engine, "fact.write", args);
        build(&stores[i % 2], i / 2, &written[i % 2]);
    }
    for (int s = 0; s < 2; s++) {
        figures *out = &stores[s].rounds[round];

        out->warm_p50_ms = at_permille(warm[s].times_ms, WARM_CALLS, 500);
        out->warm_p99_ms = at_permille(warm[s].times_ms, WARM_CALLS, 990);
        out->warm_cpu_ms = at_permille(warm[s].cpus_ms, WARM_CALLS, 500);
        out->write_p50_ms = at_permille(written[s].times_ms, WRITE_CALLS, 500);
        out->write_p99_ms = at_permille(written[s].times_ms, WRITE_CALLS, 990);
        out->write_cpu_ms = at_permille(written[s].cpus_ms, WRITE_CALLS, 500);
        loci_close(stores[s].engine);
    }
}

/* ---- Telling --------------------------------------------------------------------------------- */

static figures medians(const store *s, int count)
{
    bench_series series = {s->rounds, sizeof s->rounds[0], count};

    return (figures){
        .warm_p50_ms = bench_median(series, offsetof(figures, warm_p50_ms)),
        .warm_p99_ms = bench_median(series, offsetof(figures, warm_p99_ms)),
        .warm_cpu_ms = bench_median(series, offsetof(figures, warm_cpu_ms)),
        .write_p50_ms = bench_median(series, offsetof(figures, write_p50_ms)),
        .write_p99_ms = bench_median(series, offsetof(figures, write_p99_ms)),
        .write_cpu_ms = bench_median(series, offsetof(figures, write_cpu_ms)),
        .cold_ms = bench_median(series, offsetof(figures, cold_ms)),
        .cold_cpu_ms = bench_median(series, offsetof(figures, cold_cpu_ms)),
    };
}

static void report(const char *name, const store *s, const figures *f)
{
    printf("{\"bench\":\"context\",\"case\":\"%s\",\"valid\":%d,\"superseded\":%d,"
           "\"warm_p50_ms\":%.3f,\"warm_p99_ms\":%.3f,\"warm_cpu_ms\":%.3f,"
           "\"write_p50_ms\":%.3f,\"write_p99_ms\":%.3f,\"write_cpu_ms\":%.3f,"
           "\"cold_ms\":%.1f,\"cold_cpu_ms\":%.1f,\"wanted_p50_ms\":%.1f,\"ok\":%s}\n",
           name, VALID, s->versions * VALID, f->warm_p50_ms, f->warm_p99_ms, f->warm_cpu_ms,
           f->write_p50_ms, f->write_p99_ms, f->write_cpu_ms, f->cold_ms, f->cold_cpu_ms,
           P50_MAX_MS, f->warm_p50_ms <= P50_MAX_MS ? "true" : "false");
}

static void report_flat(const char *name, const figures *none, const figures *many)
{
    double warm = many->warm_cpu_ms / none->warm_cpu_ms;
    double written = many->write_cpu_ms / none->write_cpu_ms;

    printf("{\"bench\":\"context\",\"case\":\"%s, flat\",\"warm_ratio\":%.3f,"
           "\"write_ratio\":%.3f,\"cold_ratio\":%.3f,\"wanted\":%.1f,\"ok\":%s}\n",
           name, warm, written, many->cold_cpu_ms / none->cold_cpu_ms, FLAT_MAX,
           warm <= FLAT_MAX && written <= FLAT_MAX ? "true" : "false");
}

static void run_case(const char *name, store *stores, int count)
{
    figures results[2];

    for (int round = 0; round < count; round++)
        run_round(stores, round);
    for (int i = 0; i < 2; i++) {
        results[i] = medians(&stores[i], count);
        report(name, &stores[i], &results[i]);
    }
    report_flat(name, &results[0], &results[1]);
    (void)fflush(stdout);
}

int main(void)
{
    static store stores[2] = {{.versions = 0}, {.versions = VERSIONS}};
    const char *tmp = getenv("TMPDIR");
    int count = bench_rounds(ROUNDS);
    char dir[256];

    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        bench_die("no directory");
    for (int i = 0; i < 2; i++) {
        snprintf(stores[i].path, sizeof stores[i].path, "%s/%d.db", dir, i);
        make_store(&stores[i]);
    }
    run_case("facts", stores, count);
    for (int i = 0; i < 2; i++)
        talk(&stores[i]);
    run_case("facts and talk", stores, count);
    fprintf(stderr, "context: medians of %d rounds; ratios are of CPU, superseded / none\n", count);
    for (int i = 0; i < 2; i++)
        (void)unlink(stores[i].path);
    (void)rmdir(dir); /* Companions of the files went with their last connections. */
    return 0;
}
