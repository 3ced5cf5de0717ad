/* Searches against the plainest way to do the same. */
#include "index/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"

typedef struct world {
    lc_heap heap;
    lc_vectors set;
    float *values; /* Of all ids, dead ones too. */
    uint32_t ids;
    uint32_t dimension;
    bool *is_live;
    lc_bitmap filter;
} world;

static void init(world *w, uint32_t dimension, uint32_t ids, lc_vector_level level)
{
    memset(w, 0, sizeof *w);
    lc_heap_init(&w->heap, test_heap());
    lc_vectors_init(&w->set, &w->heap, dimension, level);
    lc_bitmap_init(&w->filter, &w->heap, LOCI_MEM_INDEX);
    w->ids = ids;
    w->dimension = dimension;
    w->values = (float *)(void *)test_bytes(ids * dimension * sizeof(float));
    w->is_live = (bool *)test_bytes(ids);
}

static void clear(world *w)
{
    lc_vectors_clear(&w->set);
    lc_bitmap_clear(&w->filter);
}

static float *values_of(const world *w, uint32_t id)
{
    return w->values + (size_t)id * w->dimension;
}

static void add(world *w, uint32_t id)
{
    loci_error err;

    CHECK_OK(lc_vectors_add(&w->set, id, values_of(w, id), &err), err);
    w->is_live[id] = true;
}

static float normal(test_rng *rng)
{
    float sum = 0;

    for (int i = 0; i < 6; i++)
        sum += (float)test_rng_between(rng, -1000, 1000) / 1000;
    return sum * 0.7071F;
}

static void normalise(float *vector, uint32_t dimension)
{
    float length = sqrtf((float)lc_vector_dot(vector, vector, dimension));

    for (uint32_t j = 0; j < dimension; j++)
        vector[j] /= length;
}

static void make_random(test_rng *rng, float *out, uint32_t dimension)
{
    for (uint32_t j = 0; j < dimension; j++)
        out[j] = normal(rng);
    normalise(out, dimension);
}

static int compare_hits(const void *a, const void *b)
{
    const lc_hit *left = a, *right = b;

    return lc_hit_is_better(*right, *left) - lc_hit_is_better(*left, *right);
}

typedef enum by { BY_CODES, BY_FLOATS } by;

/* Scores everything, sorts everything, takes the first ones. */
static size_t naive(const world *w, const lc_vector_search *search, by what, lc_hit *out)
{
    lc_hit *all = (lc_hit *)(void *)test_bytes(w->ids * sizeof *all);
    static lc_vector_query query, row;
    size_t count = 0;

    lc_vector_query_init(&query, search->query, w->dimension);
    for (uint32_t id = 0; id < w->ids; id++) {
        const float *values = values_of(w, id);
        int32_t dot = 0;

        if (!w->is_live[id] || (search->filter != NULL && !lc_bitmap_has(search->filter, id)))
            continue;
        all[count].id = id;
        lc_vector_query_init(&row, values, w->dimension);
        for (uint32_t j = 0; j < w->dimension; j++)
            dot += (int32_t)row.codes[j] * query.codes[j];
        all[count++].score = what == BY_CODES
                                 ? (float)dot * row.scale * query.scale
                                 : (float)lc_vector_dot(search->query, values, w->dimension);
    }
    qsort(all, count, sizeof *all, compare_hits);
    if (count > search->limit)
        count = search->limit;
    memcpy(out, all, count * sizeof *all);
    return count;
}

static size_t search(const world *w, const lc_vector_search *what, lc_hit *out)
{
    loci_error err;
    size_t count = SIZE_MAX;

    CHECK_OK(lc_vectors_search(&w->set, what, out, &count, &err), err);
    return count;
}

static void check_equal(const lc_hit *seen, size_t seen_count, const lc_hit *right, size_t count)
{
    CHECK_EQ(seen_count, count);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(seen[i].id, right[i].id);
        CHECK(seen[i].score == right[i].score);
    }
}

/* Values from a few levels, and many copies: ties everywhere. */
static void fill_with_ties(world *w, test_rng *rng)
{
    unsigned allowed_percent = (unsigned)test_rng_below(rng, 4);

    if (allowed_percent == 3)
        allowed_percent = 50; /* Else so few that whole batches have none. */
    for (uint32_t id = 0; id < w->ids; id++) {
        bool is_copy = id > 0 && test_rng_chance(rng, 30);

        if (is_copy)
            memcpy(values_of(w, id), values_of(w, (uint32_t)test_rng_below(rng, id)),
                   w->dimension * sizeof(float));
        for (uint32_t j = 0; !is_copy && j < w->dimension; j++)
            values_of(w, id)[j] = (float)test_rng_between(rng, -2, 2);
        if (test_rng_chance(rng, 90))
            add(w, id);
    }
    for (uint32_t id = 0; id < w->ids; id++) {
        if (test_rng_chance(rng, 20) && lc_vectors_delete(&w->set, id))
            w->is_live[id] = false;
        if (test_rng_chance(rng, allowed_percent))
            CHECK_OK(lc_bitmap_add(&w->filter, id, NULL), (loci_error *)NULL);
    }
}

/* The results depend only on the content: not on the CPU, the code path or the order of work. */
static void check_level(lc_vector_level level, uint64_t seed)
{
    test_rng rng = test_random(seed);

    for (uint64_t round = 0; round < test_count(25, 300); round++) {
        float query[80];
        lc_hit seen[2100], right[2100];
        world w;

        init(&w, (uint32_t)test_rng_between(&rng, 1, 80), (uint32_t)test_rng_between(&rng, 1, 2000),
             level);
        fill_with_ties(&w, &rng);
        for (int i = 0; i < 4; i++) {
            lc_vector_search what = {.query = query,
                                     .limit = (size_t)test_rng_below(&rng, i == 0 ? 2100 : 60),
                                     .filter = i % 2 == 0 ? NULL : &w.filter,
                                     .prefilter_above = UINT32_MAX};
            size_t count;

            for (uint32_t j = 0; j < w.dimension; j++)
                query[j] = (float)test_rng_between(&rng, -3, 3);
            count = naive(&w, &what, BY_CODES, right);
            check_equal(seen, search(&w, &what, seen), right, count);
            /* A prefilter that keeps everything must change nothing. */
            what.prefilter_above = 1;
            what.prefilter_keep = 5000;
            check_equal(seen, search(&w, &what, seen), right, count);
        }
        clear(&w);
    }
}

TEST(vector_search, equals_a_naive_search_on_every_level)
{
    test_timeout(300);
    for (lc_vector_level level = 0; level < LC_VECTOR_LEVELS; level++) {
        if (lc_vector_kernels_get(level) != NULL)
            check_level(level, 21 + level);
    }
}

/* The nearest by sign bits, of equal ones those with the lower ids: whatever the batches. */
static int compare_distances(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;

    if (left[0] != right[0])
        return left[0] < right[0] ? -1 : 1;
    return left[1] < right[1] ? -1 : 1;
}

static void keep_nearest(const world *w, const float *query, size_t keep, lc_bitmap *out)
{
    uint32_t(*all)[2] = (uint32_t(*)[2])(void *)test_bytes(w->ids * sizeof *all);
    size_t count = 0;

    for (uint32_t id = 0; id < w->ids; id++) {
        if (!w->is_live[id] || !lc_bitmap_has(&w->filter, id))
            continue;
        all[count][0] = 0;
        all[count][1] = id;
        for (uint32_t j = 0; j < w->dimension; j++)
            all[count][0] += (values_of(w, id)[j] > 0) != (query[j] > 0);
        count++;
    }
    qsort(all, count, sizeof *all, compare_distances);
    for (size_t i = 0; i < count && i < keep; i++)
        CHECK_OK(lc_bitmap_add(out, all[i][1], NULL), (loci_error *)NULL);
}

TEST(vector_search, prefilter_keeps_exactly_the_nearest_by_signs)
{
    test_rng rng = test_random(31);

    for (uint64_t round = 0; round < test_count(40, 400); round++) {
        float query[40];
        lc_hit seen[20], right[20];
        lc_bitmap nearest;
        world w;

        init(&w, (uint32_t)test_rng_between(&rng, 2, 40), 1500, LC_VECTOR_BEST);
        fill_with_ties(&w, &rng);
        lc_bitmap_init(&nearest, &w.heap, LOCI_MEM_INDEX);
        for (uint32_t j = 0; j < w.dimension; j++)
            query[j] = (float)test_rng_between(&rng, -3, 3);
        lc_vector_search what = {.query = query,
                                 .limit = 20,
                                 .filter = &w.filter,
                                 .prefilter_above = 1,
                                 .prefilter_keep = (uint32_t)test_rng_between(&rng, 20, 300)};
        lc_vector_search plain = {.query = query, .limit = 20, .filter = &nearest};

        keep_nearest(&w, query, what.prefilter_keep, &nearest);
        check_equal(seen, search(&w, &what, seen), right, naive(&w, &plain, BY_CODES, right));
        lc_bitmap_clear(&nearest);
        clear(&w);
    }
}

/* ---- How much is found ----------------------------------------------------------------------- */

#define WANTED 10

/* Of the exact best ten, how many a search with 50 candidates and a re-rank finds; per mille. */
static uint64_t recall(const world *w, test_rng *rng, const lc_vector_search *how, unsigned queries)
{
    lc_vector_matrix exact = {.values = w->values, .dimension = w->dimension, .rows = w->ids};
    uint64_t found = 0;

    for (unsigned i = 0; i < queries; i++) {
        float *query = (float *)(void *)test_bytes(w->dimension * sizeof *query);
        lc_rerank rerank = {.query = query, .dimension = w->dimension, .limit = WANTED};
        lc_vector_search what = *how, all;
        lc_hit hits[50], right[WANTED];
        size_t count;

        memcpy(query, values_of(w, (uint32_t)test_rng_below(rng, w->ids)),
               w->dimension * sizeof *query);
        for (uint32_t j = 0; j < w->dimension; j++)
            query[j] += 0.02F * normal(rng);
        normalise(query, w->dimension);
        what.query = query;
        what.limit = 50;
        all = (lc_vector_search){.query = query, .limit = WANTED};
        CHECK_EQ(naive(w, &all, BY_FLOATS, right), WANTED);
        count = search(w, &what, hits);
        count = lc_hits_rerank(hits, count, &rerank, lc_vector_matrix_get, &exact);
        CHECK_EQ(count, WANTED);
        for (size_t a = 0; a < WANTED; a++) {
            CHECK(a == 0 || lc_hit_is_better(hits[a - 1], hits[a]));
            for (size_t b = 0; b < WANTED; b++)
                found += hits[a].id == right[b].id;
        }
    }
    return found * 1000 / (queries * WANTED);
}

/* Around 60 centres in 16 dimensions, seen through a random projection. */
static void fill_clustered(world *w, test_rng *rng)
{
    float *basis = (float *)(void *)test_bytes(16 * w->dimension * sizeof *basis);
    float centres[60][16];

    for (uint32_t i = 0; i < 16 * w->dimension; i++)
        basis[i] = normal(rng);
    for (size_t i = 0; i < 60 * 16; i++)
        centres[i / 16][i % 16] = normal(rng);
    for (uint32_t id = 0; id < w->ids; id++) {
        const float *centre = centres[test_rng_below(rng, 60)];

        for (uint32_t i = 0; i < 16; i++) {
            float weight = centre[i] + 0.35F * normal(rng);

            for (uint32_t j = 0; j < w->dimension; j++)
                values_of(w, id)[j] += weight * basis[i * w->dimension + j];
        }
        normalise(values_of(w, id), w->dimension);
        add(w, id);
    }
}

TEST(vector_search, reranked_codes_find_the_exact_best_of_random_vectors)
{
    test_rng rng = test_random(41);
    world w;

    init(&w, 256, 6000, LC_VECTOR_BEST);
    for (uint32_t id = 0; id < w.ids; id++) {
        make_random(&rng, values_of(&w, id), w.dimension);
        add(&w, id);
    }
    CHECK_LE(999, recall(&w, &rng, &(lc_vector_search){.prefilter_above = UINT32_MAX}, 40));
    clear(&w);
}

TEST(vector_search, sign_bits_lose_next_to_nothing_of_clustered_vectors)
{
    test_rng rng = test_random(42);
    world w;

    init(&w, 256, 6000, LC_VECTOR_BEST);
    fill_clustered(&w, &rng);
    CHECK_LE(999, recall(&w, &rng, &(lc_vector_search){.prefilter_above = UINT32_MAX}, 40));
    CHECK_LE(990, recall(&w, &rng, &(lc_vector_search){.prefilter_above = 1, .prefilter_keep = 400},
                         40));
    clear(&w);
}

/* As a search of a large set runs that asks for nothing in particular. */
TEST(vector_search, default_prefilter_keeps_the_best_of_clustered_vectors)
{
    test_rng rng = test_random(43);
    world w;

    init(&w, 128, LC_VECTOR_PREFILTER_ABOVE + 1000, LC_VECTOR_BEST);
    fill_clustered(&w, &rng);
    CHECK_LE(999, recall(&w, &rng, &(lc_vector_search){0}, 30));
    clear(&w);
}

/* ---- Edges ----------------------------------------------------------------------------------- */

TEST(vector_search, scores_are_cosines)
{
    float query[3] = {0.6F, 0.8F, 0};
    lc_hit hits[3];
    world w;

    init(&w, 3, 3, LC_VECTOR_BEST);
    memcpy(w.values, (float[]){0.6F, 0.8F, 0, 0, 0, 1, -0.6F, -0.8F, 0}, 9 * sizeof(float));
    for (uint32_t id = 0; id < 3; id++)
        add(&w, id);
    CHECK_EQ(search(&w, &(lc_vector_search){.query = query, .limit = 3}, hits), 3);
    CHECK_EQ(hits[0].id, 0);
    CHECK(fabsf(hits[0].score - 1) < 0.01F);
    CHECK_EQ(hits[1].id, 1);
    CHECK(fabsf(hits[1].score) < 0.01F);
    CHECK_EQ(hits[2].id, 2);
    CHECK(fabsf(hits[2].score + 1) < 0.01F);
    clear(&w);
}

/* A row that was deleted from the store between the search and the re-rank. */
static const float *only_even(void *ctx, uint32_t id)
{
    return id % 2 == 0 ? lc_vector_matrix_get(ctx, id) : NULL;
}

TEST(vector_search, rerank_drops_what_is_gone)
{
    float values[8] = {0.1F, 0.9F, 0.3F, 0.8F, 0.5F, 0.7F, 0.4F, 0.6F}, query[1] = {1};
    lc_vector_matrix exact = {.values = values, .dimension = 1, .rows = 7};
    lc_rerank rerank = {.query = query, .dimension = 1, .limit = 3};
    lc_hit hits[8];

    for (uint32_t id = 0; id < 8; id++)
        hits[id] = (lc_hit){.id = id};
    CHECK_EQ(lc_hits_rerank(hits, 8, &rerank, only_even, &exact), 3);
    CHECK_EQ(hits[0].id, 4);
    CHECK_EQ(hits[1].id, 6);
    CHECK_EQ(hits[2].id, 2);
    for (uint32_t id = 0; id < 8; id++)
        hits[id] = (lc_hit){.id = id};
    rerank.limit = 8;
    CHECK_EQ(lc_hits_rerank(hits, 8, &rerank, lc_vector_matrix_get, &exact), 7);
}

/* A query of zeros is near to nothing: all scores are equal, and the order is that of the ids. */
TEST(vector_search, zeros_are_answered)
{
    float query[3] = {0, 0, 0};
    lc_hit hits[2];
    world w;

    init(&w, 3, 5, LC_VECTOR_BEST);
    for (uint32_t id = 0; id < 5; id++) {
        values_of(&w, id)[0] = (float)id;
        add(&w, id);
    }
    CHECK_EQ(search(&w, &(lc_vector_search){.query = query, .limit = 2}, hits), 2);
    CHECK_EQ(hits[0].id, 0);
    CHECK_EQ(hits[1].id, 1);
    CHECK(hits[1].score == 0);
    clear(&w);
}

TEST(vector_search, prefilter_begins_above_its_threshold)
{
    float query[64];
    lc_hit hits[1];
    world w;

    init(&w, 64, 3, LC_VECTOR_BEST);
    /* By signs 1 and 2 are equal to the query and 0 is not; by product 0 is the nearest. */
    for (uint32_t j = 0; j < 64; j++) {
        query[j] = j == 0 ? 1 : 0.01F;
        values_of(&w, 0)[j] = j == 0 ? 1 : -0.01F;
        values_of(&w, 1)[j] = values_of(&w, 2)[j] = 0.1F;
    }
    for (uint32_t id = 0; id < 3; id++)
        add(&w, id);
    lc_vector_search what = {.query = query, .limit = 1, .prefilter_keep = 1, .prefilter_above = 3};

    CHECK_EQ(search(&w, &what, hits), 1);
    CHECK_EQ(hits[0].id, 0);
    what.prefilter_above = 2;
    CHECK_EQ(search(&w, &what, hits), 1);
    CHECK_EQ(hits[0].id, 1);
    clear(&w);
}
