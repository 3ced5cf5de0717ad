/* recall.c - memory.recall of a user with 1,000, 10,000 and 100,000 memories, beside npm's mem0ai:
 * P3 of the quality page.
 *
 * Both store the same texts and vectors and answer the same queries with 10 results. Vectors are
 * the caller's, so no time is spent on embedding. mem0 runs in node (bench/recall.mjs) with what it
 * has without a server: SQLite, in memory; loci has a file. Rounds take turns: first one, then the
 * other; p50 is the median of a round's calls, and each figure the median of the rounds. Cold: the
 * first recall of a fresh engine, which builds the index. To reach: 100 times as fast as mem0 at
 * 10,000 memories; ten times as many memories take at most ten times as long.
 *
 * Where npm is not reachable, and with BENCH_SMALL, mem0 is left out. BENCH_ROUNDS sets the number
 * of rounds. The store is made in $TMPDIR or /tmp: it should be a real disk.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fill.h"
#include "lib/line_peer.h"

#define SIZES 3
#define ROUNDS 5
#define CALLS 60
#define PEER_CALLS 3 /* In a round: each takes seconds at 100,000. */
#define COLD_CALLS 3
#define RESULTS 10
#define TIMES_MIN 100.0
#define GOAL_MEMORIES 10000
#define GROWTH_MAX 10.0
#define USER "one"

typedef struct figures { /* Of one round. */
    double p50_ms, p99_ms, peer_ms, times;
} figures;

typedef struct point {
    int memories;
    figures median;
    double cold_ms, fill_s;
} point;

static char path[300];
static unsigned query_count;

/* ---- mem0 ------------------------------------------------------------------------------------ */

static bool has_peer;
static line_peer peer;

static void start_peer(void)
{
    char answer[64];

    if (getenv("BENCH_SMALL") != NULL)
        return;
    line_peer_start(&peer, "node", "bench/recall.mjs");
    has_peer = line_peer_ask(&peer, "ready", answer, sizeof answer);
    if (!has_peer)
        fprintf(stderr, "recall: mem0ai is left out: node or npm is not reachable from here\n");
}

static void fill_peer(int first, int last)
{
    char args[FILL_ARGS_BYTES], answer[64];

    for (int i = first; i < last; i++) {
        fill_memory_args(args, USER, i);
        (void)fprintf(peer.to, "store %s\n", args);
    }
    if (!line_peer_ask(&peer, "ready", answer, sizeof answer))
        bench_die("mem0ai ended while it stored memories");
}

static double ask_peer(const char *args)
{
    static char question[FILL_ARGS_BYTES + 16];
    char answer[64], *rest;
    double took_ms;

    snprintf(question, sizeof question, "recall %s", args);
    if (!line_peer_ask(&peer, question, answer, sizeof answer))
        bench_die("mem0ai ended");
    took_ms = strtod(answer, &rest);
    if (strtol(rest, NULL, 10) != RESULTS)
        bench_die("mem0ai has not found 10 memories");
    return took_ms;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static double ask_loci(loci_engine *engine, const char *args)
{
    loci_answer *answer = NULL;
    loci_error err;
    double began_s = bench_now_s(), took_ms;
    int results = 0;
    loci_str json;

    if (loci_call(engine, "memory.recall", loci_str_of(args), NULL, &answer, &err) != LOCI_OK)
        bench_die(err.message);
    took_ms = 1e3 * (bench_now_s() - began_s);
    json = loci_answer_json(answer);
    for (const char *at = json.ptr, *end = at + json.len;
         (at = memmem(at, (size_t)(end - at), "\"id\":", 5)) != NULL; at++)
        results++;
    if (results != RESULTS)
        bench_die("memory.recall has not found 10 memories");
    loci_answer_free(answer);
    return took_ms;
}

static double measure_cold(void)
{
    char args[FILL_ARGS_BYTES];
    double took_ms[COLD_CALLS];

    for (int i = 0; i < COLD_CALLS; i++) {
        loci_engine *engine = fill_open(path, 0);

        fill_recall_args(args, USER, query_count++);
        took_ms[i] = ask_loci(engine, args);
        loci_close(engine);
    }
    return bench_permille(took_ms, COLD_CALLS, 500);
}

static figures run_round(loci_engine *engine)
{
    char args[FILL_ARGS_BYTES];
    double ours[CALLS], theirs[PEER_CALLS];
    figures round = {0};

    for (int i = 0; i < CALLS; i++) {
        fill_recall_args(args, USER, query_count++);
        ours[i] = ask_loci(engine, args);
    }
    round.p50_ms = bench_permille(ours, CALLS, 500);
    round.p99_ms = bench_permille(ours, CALLS, 990);
    if (has_peer) {
        for (int i = 0; i < PEER_CALLS; i++) {
            fill_recall_args(args, USER, query_count++);
            theirs[i] = ask_peer(args);
        }
        round.peer_ms = bench_permille(theirs, PEER_CALLS, 500);
        round.times = round.peer_ms / round.p50_ms;
    }
    return round;
}

static void run_point(point *p, int before, int count)
{
    static figures rounds[BENCH_ROUNDS_MAX];
    bench_series series = {rounds, sizeof *rounds, count};
    double began_s = bench_now_s();
    loci_engine *engine = fill_open(path, 0);

    fill_given_memories(engine, USER, before, p->memories);
    loci_close(engine);
    p->fill_s = bench_now_s() - began_s;
    if (has_peer)
        fill_peer(before, p->memories);
    p->cold_ms = measure_cold();
    engine = fill_open(path, 0);
    (void)run_round(engine); /* Warms both. */
    for (int i = 0; i < count; i++)
        rounds[i] = run_round(engine);
    loci_close(engine);
    p->median = (figures){.p50_ms = bench_median(series, offsetof(figures, p50_ms)),
                          .p99_ms = bench_median(series, offsetof(figures, p99_ms)),
                          .peer_ms = bench_median(series, offsetof(figures, peer_ms)),
                          .times = bench_median(series, offsetof(figures, times))};
}

/* ---- Report ---------------------------------------------------------------------------------- */

static void report(const point *p)
{
    bool is_goal = p->memories == GOAL_MEMORIES;

    printf("{\"bench\":\"recall\",\"case\":\"%d memories\",\"p50_ms\":%.3f,\"p99_ms\":%.3f,"
           "\"cold_ms\":%.1f,\"stored_per_s\":%.0f",
           p->memories, p->median.p50_ms, p->median.p99_ms, p->cold_ms, p->memories / p->fill_s);
    if (has_peer)
        printf(",\"mem0_p50_ms\":%.1f,\"times_faster\":%.0f,\"goal\":%s,\"ok\":%s",
               p->median.peer_ms, p->median.times, is_goal ? "100" : "null",
               !is_goal                       ? "null"
               : p->median.times >= TIMES_MIN ? "true"
                                              : "false");
    printf("}\n");
}

static void report_growth(const point *points, int count)
{
    double most = 0;

    for (int i = 1; i < count; i++)
        most = fmax(most, points[i].median.p50_ms / points[i - 1].median.p50_ms);
    printf(
        "{\"bench\":\"recall\",\"case\":\"ten times as many memories\",\"times_as_long_max\":%.2f"
        ",\"goal\":%.0f,\"ok\":%s}\n",
        most, GROWTH_MAX, most <= GROWTH_MAX ? "true" : "false");
}

/* A bar on a logarithmic scale: ten columns are ten times as long, from 0.1 ms on. */
static void draw_bar(const char *name, int memories, double took_ms)
{
    int columns = took_ms > 0.1 ? (int)lround(10 * log10(took_ms / 0.1)) : 0;

    printf("  %-5s %7d memories |%.*s %.3g ms\n", name, memories, columns,
           "################################################################################",
           took_ms);
}

static void draw(const point *points, int count)
{
    printf("p50 on a logarithmic scale: ten columns are a factor of ten\n");
    for (int i = 0; i < count; i++)
        draw_bar("loci", points[i].memories, points[i].median.p50_ms);
    for (int i = 0; i < count && has_peer; i++)
        draw_bar("mem0", points[i].memories, points[i].median.peer_ms);
}

int main(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    bool is_small = getenv("BENCH_SMALL") != NULL;
    const char *tmp = getenv("TMPDIR");
    point points[SIZES] = {0};
    /* BENCH_RECALL_SHORT leaves out the largest size, which takes minutes. */
    bool is_short = is_small || getenv("BENCH_RECALL_SHORT") != NULL;
    int memories = is_small ? 100 : 1000, before = 0, sizes = is_short ? 2 : SIZES;
    char dir[256], file[320];

    snprintf(dir, sizeof dir, "%s/loci-bench-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        bench_die("no directory");
    snprintf(path, sizeof path, "%s/store.db", dir);
    start_peer();
    for (int i = 0; i < sizes; i++, before = memories, memories *= 10) {
        points[i].memories = memories;
        run_point(&points[i], before, bench_rounds(ROUNDS));
        report(&points[i]);
        (void)fflush(stdout);
    }
    report_growth(points, sizes);
    draw(points, sizes);
    if (has_peer)
        line_peer_stop(&peer);
    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s%s", path, suffixes[i]);
        (void)unlink(file);
    }
    (void)rmdir(dir);
    return 0;
}
