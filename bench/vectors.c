/* vectors.c - the nearest 10 of many vectors, beside one plain read of the same bytes.
 *
 * P2 of the quality page: 100,000 vectors of 512 dimensions, scan of the codes and re-rank by
 * floats, at most 1.5 times reading the codes, at least 10 times faster than sqlite-vec, and 0.999
 * of the exact answer. All take turns, round by round, each round with another query; a figure is
 * the median of the CPU time. "read" sums up the very bytes that the scan looks at, as fast as this
 * machine can. Then a million vectors, where the sign bits come first; those are made twice rather
 * than kept as floats. Without 3 GB of free memory the million is left out, and says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "index/vector.h"
#include "lib/sqlite_vec.h"
#include "lib/vector_data.h"

#define SMALL 100000u
#define LARGE 1000000u
#define LARGE_BYTES ((int64_t)3 << 30)
#define QUERIES 31u
#define LARGE_QUERIES 11u
#define WANTED 10u
#define CANDIDATES 50u
#define CASES_MAX 16u

static lc_heap heap;
static vector_data data;
static float queries[QUERIES][VECTOR_DIMENSION];
static lc_hit truth[QUERIES][WANTED]; /* The exact answers. */
static volatile uint64_t sink;        /* What was read is used. */

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "vectors: %s\n", what);
    exit(1);
}

static double cpu_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* Cannot fail on Linux. */
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* ---- What is measured ------------------------------------------------------------------------ */

/* Everything that a case may search. */
typedef struct world {
    lc_vectors sets[LC_VECTOR_LEVELS + 1]; /* By level; the last is the best one. */
    lc_vector_matrix exact;
    sqlite_vec *peer;
} world;

typedef struct bench_case bench_case;
struct bench_case {
    const char *name;
    /* Finds the nearest WANTED; answers how many. */
    size_t (*run)(const bench_case *self, world *w, const float *query, lc_hit *out);
    lc_vector_level level;
    uint32_t keep; /* With sign bits first; 0 = without. */
    double ms[QUERIES];
    uint32_t right; /* Hits that are in the exact answers. */
};

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma")))
#else
#define WIDE
#endif
typedef uint64_t words4 __attribute__((vector_size(32)));
typedef float floats8 __attribute__((vector_size(32), aligned(4), may_alias));

WIDE static uint64_t read_bytes(const int8_t *bytes, size_t count)
{
    words4 a = {0}, b = {0}, c = {0}, d = {0};

    for (const words4 *at = (const void *)bytes, *end = at + count / 32; at < end; at += 4) {
        a += at[0];
        b += at[1];
        c += at[2];
        d += at[3];
    }
    a += b + c + d;
    return a[0] + a[1] + a[2] + a[3];
}

static size_t run_read(const bench_case *self, world *w, const float *query, lc_hit *out)
{
    const lc_vectors *set = &w->sets[self->level];

    (void)query;
    (void)out;
    for (size_t i = 0; i < set->region_count; i++)
        sink += read_bytes(set->regions[i].codes, set->regions[i].count * set->stride);
    return 0;
}

static const float *make_exact(void *ctx, uint32_t id)
{
    static float made[VECTOR_DIMENSION];

    vector_data_make(ctx, id, made);
    return made;
}

static size_t run_loci(const bench_case *self, world *w, const float *query, lc_hit *out)
{
    lc_vector_search search = {.query = query,
                               .limit = CANDIDATES,
                               .prefilter_above = self->keep == 0 ? UINT32_MAX : 1,
                               .prefilter_keep = self->keep};
    lc_rerank rerank = {.query = query, .dimension = VECTOR_DIMENSION, .limit = WANTED};
    lc_hit hits[CANDIDATES];
    size_t count;

    if (lc_vectors_search(&w->sets[self->level], &search, hits, &count, NULL) != LOCI_OK)
        die("out of memory");
    if (w->exact.values != NULL)
        count = lc_hits_rerank(hits, count, &rerank, lc_vector_matrix_get, &w->exact);
    else
        count = lc_hits_rerank(hits, count, &rerank, make_exact, &data);
    memcpy(out, hits, count * sizeof *hits);
    return count;
}

WIDE static float dot_floats(const float *a, const float *b)
{
    const floats8 *x = (const void *)a, *y = (const void *)b;
    floats8 sums[4] = {{0}};
    float sum = 0;

    for (size_t j = 0; j < VECTOR_DIMENSION / 8; j += 4) {
        for (size_t k = 0; k < 4; k++)
            sums[k] += x[j + k] * y[j + k];
    }
    sums[0] += sums[1] + sums[2] + sums[3];
    for (size_t k = 0; k < 8; k++)
        sum += sums[0][k];
    return sum;
}

static size_t run_floats(const bench_case *self, world *w, const float *query, lc_hit *out)
{
    lc_best best = {.hits = out, .limit = WANTED};

    (void)self;
    for (uint32_t id = 0; id < w->exact.rows; id++) {
        float score = dot_floats(query, w->exact.values + (size_t)id * VECTOR_DIMENSION);

        if (score > lc_best_floor(&best))
            lc_best_offer(&best, (lc_hit){.id = id, .score = score});
    }
    return best.count;
}

static size_t run_sqlite_vec(const bench_case *self, world *w, const float *query, lc_hit *out)
{
    uint32_t ids[WANTED];
    size_t count = sqlite_vec_search(w->peer, query, WANTED, ids);

    (void)self;
    for (size_t i = 0; i < count; i++)
        out[i].id = ids[i];
    return count;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static uint32_t count_right(const lc_hit *hits, size_t count, const lc_hit *right)
{
    uint32_t found = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < WANTED; j++)
            found += hits[i].id == right[j].id;
    }
    return found;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static void measure(world *w, bench_case *cases, size_t case_count, uint32_t rounds)
{
    for (uint32_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < case_count; i++) {
            lc_hit hits[CANDIDATES];
            double begin = cpu_ms();
            size_t count = cases[i].run(&cases[i], w, queries[round], hits);

            cases[i].ms[round] = cpu_ms() - begin;
            cases[i].right += count_right(hits, count, truth[round]);
        }
    }
}

/* The first case is the read that the others are compared with. */
static void report(const char *what, bench_case *cases, size_t case_count, uint32_t rounds)
{
    for (size_t i = 0; i < case_count; i++) {
        bool is_read = cases[i].run == run_read;

        qsort(cases[i].ms, rounds, sizeof cases[i].ms[0], compare);
        printf("{\"bench\":\"vectors\",\"case\":\"%s/%s\",\"ms\":%.3f,\"of_read\":%.2f,"
               "\"recall\":",
               what, cases[i].name, cases[i].ms[rounds / 2],
               cases[i].ms[rounds / 2] / cases[0].ms[rounds / 2]);
        if (is_read)
            printf("null}\n");
        else
            printf("%.4f}\n", (double)cases[i].right / (rounds * WANTED));
    }
    (void)fflush(stdout);
}

static void add(lc_vectors *set, uint32_t id, const float *vector)
{
    loci_error err;

    if (lc_vectors_add(set, id, vector, &err) != LOCI_OK)
        die(err.message);
}

static void make_queries(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        vector_data_make(&data, VECTOR_QUERY_FIRST + i, queries[i]);
}

/* Offers one vector to the exact answers of all queries. */
static void offer_truth(lc_best *bests, uint32_t count, uint32_t id, const float *vector)
{
    for (uint32_t i = 0; i < count; i++) {
        /* The quick product decides nothing: near the floor the re-rank's own one is asked. */
        if (dot_floats(queries[i], vector) > lc_best_floor(&bests[i]) - 1e-4F)
            lc_best_offer(&bests[i],
                          (lc_hit){id, (float)lc_vector_dot(queries[i], vector, VECTOR_DIMENSION)});
    }
}

static void start_truth(lc_best *bests)
{
    for (uint32_t i = 0; i < QUERIES; i++)
        bests[i] = (lc_best){.hits = truth[i], .limit = WANTED};
}

/* ---- The two sizes --------------------------------------------------------------------------- */

/* A million codes do not fit beside as many for every level: only what is used is filled. */
static void fill(world *w, uint32_t count, uint32_t query_count, float *keep_exact, bool all_levels)
{
    lc_best bests[QUERIES];
    float vector[VECTOR_DIMENSION];

    start_truth(bests);
    for (uint32_t id = 0; id < count; id++) {
        vector_data_make(&data, id, vector);
        offer_truth(bests, query_count, id, vector);
        if (keep_exact != NULL)
            memcpy(keep_exact + (size_t)id * VECTOR_DIMENSION, vector, sizeof vector);
        add(&w->sets[LC_VECTOR_BEST], id, vector);
        for (lc_vector_level level = 0; all_levels && level < LC_VECTOR_LEVELS; level++) {
            if (lc_vector_kernels_get(level) != NULL)
                add(&w->sets[level], id, vector);
        }
    }
}

static void init_world(world *w)
{
    *w = (world){0};
    for (lc_vector_level level = 0; level <= LC_VECTOR_BEST; level++) {
        if (lc_vector_kernels_get(level) != NULL)
            lc_vectors_init(&w->sets[level], &heap, VECTOR_DIMENSION, level);
    }
}

static void clear_world(world *w)
{
    for (lc_vector_level level = 0; level <= LC_VECTOR_BEST; level++) {
        if (w->sets[level].heap != NULL)
            lc_vectors_clear(&w->sets[level]);
    }
    sqlite_vec_close(w->peer);
}

static void report_goal(const bench_case *cases, size_t case_count)
{
    const double *of_read = cases[0].ms, *of_loci = cases[1].ms;
    char peer_ratio[24] = "null";

    for (size_t i = 0; i < case_count; i++) {
        if (cases[i].run == run_sqlite_vec)
            (void)snprintf(peer_ratio, sizeof peer_ratio, "%.1f",
                           cases[i].ms[QUERIES / 2] / of_loci[QUERIES / 2]);
    }
    printf("{\"bench\":\"vectors\",\"case\":\"P2\",\"of_read\":%.2f,\"sqlite_vec_ratio\":%s,"
           "\"recall\":%.4f}\n",
           of_loci[QUERIES / 2] / of_read[QUERIES / 2], peer_ratio,
           (double)cases[1].right / (QUERIES * WANTED));
}

static void run_small(const char *what, bool is_clustered)
{
    float *exact = malloc((size_t)SMALL * VECTOR_DIMENSION * sizeof *exact);
    bench_case cases[CASES_MAX] = {
        {.name = "read", .run = run_read, .level = LC_VECTOR_BEST},
        {.name = "int8", .run = run_loci, .level = LC_VECTOR_BEST},
        {.name = "f32", .run = run_floats},
        {.name = "bits_1000", .run = run_loci, .level = LC_VECTOR_BEST, .keep = 1000},
        {.name = "bits_4000", .run = run_loci, .level = LC_VECTOR_BEST, .keep = 4000},
    };
    size_t count = 5;
    world w;

    if (exact == NULL)
        die("out of memory");
    vector_data_init(&data, is_clustered);
    make_queries(QUERIES);
    init_world(&w);
    fill(&w, SMALL, QUERIES, exact, true);
    w.exact = (lc_vector_matrix){.values = exact, .dimension = VECTOR_DIMENSION, .rows = SMALL};
    for (lc_vector_level level = 0; level < LC_VECTOR_LEVELS; level++) {
        const lc_vector_kernels *kernels = lc_vector_kernels_get(level);
        static char names[LC_VECTOR_LEVELS][24];

        if (kernels == NULL)
            continue;
        (void)snprintf(names[level], sizeof names[level], "int8_%s", kernels->name);
        cases[count++] = (bench_case){.name = names[level], .run = run_loci, .level = level};
    }
    w.peer = is_clustered ? sqlite_vec_open(VECTOR_DIMENSION) : NULL;
    if (w.peer != NULL) {
        sqlite_vec_add(w.peer, exact, SMALL);
        cases[count++] = (bench_case){.name = "sqlite_vec", .run = run_sqlite_vec};
    }
    measure(&w, cases, count, QUERIES);
    report(what, cases, count, QUERIES);
    if (is_clustered)
        report_goal(cases, count);
    clear_world(&w);
    free(exact);
}

static void run_large(const char *what, bool is_clustered)
{
    uint32_t keep = lc_vector_prefilter_keep(LARGE);
    bench_case cases[] = {
        {.name = "read", .run = run_read, .level = LC_VECTOR_BEST},
        {.name = "int8", .run = run_loci, .level = LC_VECTOR_BEST},
        {.name = "bits_1000", .run = run_loci, .level = LC_VECTOR_BEST, .keep = 1000},
        {.name = "bits_4000", .run = run_loci, .level = LC_VECTOR_BEST, .keep = 4000},
        {.name = "bits_default", .run = run_loci, .level = LC_VECTOR_BEST, .keep = keep},
    };
    size_t count = sizeof cases / sizeof cases[0];
    world w;

    vector_data_init(&data, is_clustered);
    make_queries(LARGE_QUERIES);
    init_world(&w);
    fill(&w, LARGE, LARGE_QUERIES, NULL, false);
    measure(&w, cases, count, LARGE_QUERIES);
    report(what, cases, count, LARGE_QUERIES);
    clear_world(&w);
}

int main(void)
{
    lc_heap_init(&heap, (loci_allocator){0});
    run_small("clustered_100k", true);
    run_small("random_100k", false);
    if (sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE) < LARGE_BYTES) {
        fprintf(stderr, "vectors: the million is left out: less than 3 GB of memory are free\n");
        return 0;
    }
    run_large("clustered_1m", true);
    return 0;
}
