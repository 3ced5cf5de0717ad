/* writes.c - durable writes per second: `fact.write` and `session.append` beside the same
 * statements in a bare SQLite loop.
 *
 * P4 of the quality page: with 1 and with 16 writers, at least 0.8 of the statements. The rate of a
 * loop that inserts only the rows is printed beside it, without a goal. The bare loops commit as
 * often as loci did in the same round. All cases take turns on fresh files, round by round, so that
 * a busy machine slows all of them; each figure is the median of the rounds. BENCH_ROUNDS sets the
 * number of rounds; words choose the cases that have one of them in their name. The files are made
 * in $TMPDIR or /tmp: it should be a real disk.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "lib/bare_store.h"
#include "lib/rounds.h"
#include "loci.h"

#define ROUNDS 7
#define WRITERS_MAX 16

typedef struct bench_case {
    const char *name;
    int writers;
    int writes;
    bool with_request;
    bool is_append;
} bench_case;

static bench_case cases[] = {
    {"1 writer", 1, 3000, false, false},
    {"1 writer, request_id", 1, 3000, true, false},
    {"16 writers", 16, 12000, false, false},
    {"16 writers, request_id", 16, 12000, true, false},
    {"1 writer, session.append", 1, 3000, false, true},
    {"16 writers, session.append", 16, 12000, false, true},
};

#define CASES (sizeof cases / sizeof cases[0])

typedef struct figures { /* One round. */
    double loci_per_s;
    double statements_per_s;
    double rows_per_s;
    double statements_ratio;
    double rows_ratio;
    double writes_per_commit;
    double loci_syncs; /* fsyncs per write. */
    double bare_syncs;
    double loci_cpu_us; /* Per write, all threads, kernel included. */
    double bare_cpu_us;
    double rows_cpu_us;
} figures;

static char dir[256];

static const char *store_path(void)
{
    static char path[300];

    snprintf(path, sizeof path, "%s/store.db", dir);
    return path;
}

static void remove_store(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char path[320];

    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", store_path(), suffixes[i]);
        remove(path);
    }
}

static loci_engine *open_engine(void)
{
    loci_open_options options = LOCI_OPEN_OPTIONS_INIT;
    loci_engine *engine = NULL;
    loci_error err;

    options.store = store_path();
    if (loci_open(&options, &engine, &err) != LOCI_OK)
        bench_die(err.message);
    return engine;
}

typedef struct worker {
    loci_engine *engine;
    const bench_case *c;
    _Atomic int *next; /* Shared: the same order of slots, and so of pages, as in the bare loop. */
} worker;

static void *write_facts(void *ctx)
{
    const worker *w = ctx;
    char args[768], request[48];

    for (int n; (n = atomic_fetch_add(w->next, 1)) < w->c->writes;) {
        loci_answer *answer = NULL;
        loci_error err;
        int bytes;

        request[0] = '\0';
        if (w->c->with_request)
            snprintf(request, sizeof request, ",\"request_id\":\"request-%06d\"", n);
        bytes = w->c->is_append
                    ? snprintf(args, sizeof args,
                               "{\"role\":\"user\",\"text\":" BENCH_VALUE_FORMAT "}", n)
                    : snprintf(args, sizeof args,
                               "{\"key\":\"" BENCH_KEY_FORMAT "\",\"value\":" BENCH_VALUE_FORMAT
                               ",\"source\":\"user\"%s}",
                               n % BENCH_SLOTS, n, request);
        if (loci_call(w->engine, w->c->is_append ? "session.append" : "fact.write",
                      (loci_str){args, (size_t)bytes}, NULL, &answer, &err) != LOCI_OK)
            bench_die(err.message);
        loci_answer_free(answer);
    }
    return NULL;
}

static void count_once(loci_engine *engine)
{
    loci_answer *answer = NULL;
    loci_error err;
    const char *args = "{\"text\":\"once\"}";

    if (loci_call(engine, "text.count", (loci_str){args, strlen(args)}, NULL, &answer, &err) !=
        LOCI_OK)
        bench_die(err.message);
    loci_answer_free(answer);
}

static void run_loci(const bench_case *c, figures *f)
{
    worker workers[WRITERS_MAX];
    pthread_t threads[WRITERS_MAX];
    lc_engine_counters counters;
    loci_engine *engine;
    _Atomic int next = 0;
    int64_t syncs;
    double start_s, start_cpu_us;

    remove_store();
    engine = open_engine();
    if (c->is_append) /* The table of tokens is loaded once per process. */
        count_once(engine);
    syncs = bare_store_syncs();
    start_cpu_us = bench_cpu_us();
    start_s = bench_now_s();
    for (int i = 0; i < c->writers; i++) {
        workers[i] = (worker){engine, c, &next};
        if (pthread_create(&threads[i], NULL, write_facts, &workers[i]) != 0)
            bench_die("no thread");
    }
    for (int i = 0; i < c->writers; i++)
        pthread_join(threads[i], NULL);
    f->loci_per_s = c->writes / (bench_now_s() - start_s);
    f->loci_cpu_us = (bench_cpu_us() - start_cpu_us) / c->writes;
    f->loci_syncs = (double)(bare_store_syncs() - syncs) / c->writes;
    counters = lc_engine_get_counters(engine);
    f->writes_per_commit = (double)c->writes /
                           (double)(counters.commits > 0 ? counters.commits : 1);
    loci_close(engine);
}

static double run_bare(const bench_case *c, figures *f, bool rows_only)
{
    bare_plan plan = {.store = store_path(),
                      .writes = c->writes,
                      .writes_per_commit = f->writes_per_commit,
                      .rows_only = rows_only,
                      .with_request = c->with_request,
                      .is_append = c->is_append};
    int64_t syncs;
    double seconds, start_cpu_us, cpu_us;

    remove_store();
    loci_close(open_engine());
    syncs = bare_store_syncs();
    start_cpu_us = bench_cpu_us();
    seconds = bare_store_run(&plan);
    cpu_us = (bench_cpu_us() - start_cpu_us) / c->writes;
    *(rows_only ? &f->rows_cpu_us : &f->bare_cpu_us) = cpu_us;
    f->bare_syncs = (double)(bare_store_syncs() - syncs) / c->writes;
    return c->writes / seconds;
}

static figures run_round(const bench_case *c)
{
    figures f = {0};

    run_loci(c, &f);
    f.rows_per_s = run_bare(c, &f, true);
    f.statements_per_s = run_bare(c, &f, false);
    f.statements_ratio = f.loci_per_s / f.statements_per_s;
    f.rows_ratio = f.loci_per_s / f.rows_per_s;
    return f;
}

#define MEDIAN(member) bench_median(series, offsetof(figures, member))

static void report(const bench_case *c, const figures *rounds, int count)
{
    bench_series series = {rounds, sizeof *rounds, count};

    printf("{\"bench\":\"writes\",\"case\":\"%s\",\"loci_per_s\":%.0f,\"statements_per_s\":%.0f,"
           "\"rows_per_s\":%.0f,\"ratio_statements\":%.3f,\"ratio_rows\":%.3f,"
           "\"writes_per_commit\":%.2f,\"syncs_per_write\":%.3f,\"syncs_per_write_bare\":%.3f,"
           "\"cpu_us\":%.1f,\"cpu_us_bare\":%.1f,\"cpu_us_rows\":%.1f}\n",
           c->name, MEDIAN(loci_per_s), MEDIAN(statements_per_s), MEDIAN(rows_per_s),
           MEDIAN(statements_ratio), MEDIAN(rows_ratio), MEDIAN(writes_per_commit),
           MEDIAN(loci_syncs), MEDIAN(bare_syncs), MEDIAN(loci_cpu_us), MEDIAN(bare_cpu_us),
           MEDIAN(rows_cpu_us));
}

/* Whether a word of the command line is in the name; without words every case is run. */
static bool is_chosen(const bench_case *c, int argc, char **argv)
{
    int words = 0;

    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-')
            continue;
        words++;
        if (strstr(c->name, argv[i]) != NULL)
            return true;
    }
    return words == 0;
}

int main(int argc, char **argv)
{
    static figures rounds[CASES][BENCH_ROUNDS_MAX];
    const char *base = getenv("TMPDIR");
    int count = bench_rounds(ROUNDS);

    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(dir) == NULL)
        bench_die("no directory");
    for (size_t c = 0; c < CASES; c++)
        cases[c].writes = bench_size(cases[c].writes);
    for (int i = 0; i < count; i++)
        for (size_t c = 0; c < CASES; c++)
            if (is_chosen(&cases[c], argc, argv))
                rounds[c][i] = run_round(&cases[c]);
    for (size_t c = 0; c < CASES; c++)
        if (is_chosen(&cases[c], argc, argv))
            report(&cases[c], rounds[c], count);
    fprintf(stderr,
            "writes: loci / the same statements in a bare loop, medians of %d rounds; goal: 0.8\n",
            count);
    remove_store();
    rmdir(dir);
    return 0;
}
