/* vector_search.c - looking through a set: by codes, or by sign bits and then by codes.
 *
 * Rows are scored in batches; whether a row is dead or filtered out is asked only when its score
 * would be kept, which after the first thousand rows is seldom. A batch without any wanted row is
 * left out as a whole, and of one with few these are scored alone: a narrow filter then costs what
 * it lets through. Rows are visited in the
 * order of their ids, so a score equal to the worst one kept loses against it, as hit.h demands.
 *
 * The prefilter wants the `keep` rows with the smallest distances, ties to the lower id. It
 * collects rows below a cutoff; when 2 * keep are there, it counts them by distance, lowers the
 * cutoff and keeps the first half in place. Each row is looked at a constant number of times, and
 * since equal distances keep their order, so do the ids.
 */
#include "index/vector.h"

#include <string.h>

#include "base/error.h"
#include "index/vector_quantise.h"

#define BATCH_ROWS 64u
#define FEW_ROWS 16u /* Of a batch: fewer are scored one by one. */
#define PREFILTER_KEEP_MIN 4000u
#define PREFILTER_KEEP_PART 32u
#define AHEAD_CANDIDATES 3u /* Their cache lines are under way while one is scored. */

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool is_wanted(const lc_vector_region *region, uint32_t row, const lc_bitmap *filter)
{
    return !lc_vector_region_is_dead(region, row) &&
           (filter == NULL || lc_bitmap_has(filter, region->ids[row]));
}

/* How many of the `count` rows from `first` on may be in the filter: at least as many as are. */
static uint32_t count_wanted(const lc_vector_region *region, uint32_t first, uint32_t count,
                             const lc_bitmap *filter)
{
    uint32_t wanted = 0;
    size_t word, end;

    if (filter == NULL)
        return count;
    word = region->ids[first] / 64;
    end = region->ids[first + count - 1] / 64 + (size_t)1;
    if (end > filter->word_count)
        end = filter->word_count;
    for (; word < end && wanted < count; word++)
        wanted += (uint32_t)__builtin_popcountll(filter->words[word]);
    return min_u32(wanted, count);
}

static float score_of(const lc_vector_region *region, uint32_t row, int32_t dot, float query_scale)
{
    return (float)dot * region->scales[row] * query_scale;
}

/* ---- By codes -------------------------------------------------------------------------------- */

/* One row, when `filter` has it; else what cannot be kept. */
static int32_t dot_if_wanted(const lc_vectors *set, const lc_vector_query *query,
                             const lc_vector_region *region, uint32_t row, const lc_bitmap *filter)
{
    int32_t dot = INT32_MIN;

    if (lc_bitmap_has(filter, region->ids[row]))
        set->kernels->dots(query, lc_vector_region_rows(region, row, 1), &dot);
    return dot;
}

static void scan_region(const lc_vectors *set, const lc_vector_region *region,
                        const lc_vector_query *query, const lc_bitmap *filter, lc_best *best)
{
    float floor = lc_best_floor(best);
    int32_t dots[BATCH_ROWS];

    for (uint32_t first = 0; first < region->count; first += BATCH_ROWS) {
        uint32_t count = min_u32(BATCH_ROWS, region->count - first);
        uint32_t wanted = count_wanted(region, first, count, filter);

        if (wanted == 0)
            continue;
        if (filter != NULL && wanted <= FEW_ROWS)
            for (uint32_t i = 0; i < count; i++)
                dots[i] = dot_if_wanted(set, query, region, first + i, filter);
        else
            set->kernels->dots(query, lc_vector_region_rows(region, first, count), dots);
        for (uint32_t i = 0; i < count; i++) {
            float score = score_of(region, first + i, dots[i], query->scale);

            if (score > floor && is_wanted(region, first + i, filter)) {
                lc_best_offer(best, (lc_hit){.id = region->ids[first + i], .score = score});
                floor = lc_best_floor(best);
            }
        }
    }
}

/* ---- By sign bits ---------------------------------------------------------------------------- */

typedef struct candidate {
    uint32_t row; /* Counted over all regions as if each were full. */
    uint32_t distance;
} candidate;

typedef struct prefilter {
    candidate *candidates; /* 2 * keep of them. */
    size_t count;
    size_t keep;
    uint32_t cutoff;                       /* Rows at this distance or farther are not kept. */
    uint32_t at[LC_VECTOR_STRIDE_MAX + 1]; /* Candidates at each distance; scratch of shrink(). */
} prefilter;

/* Leaves the nearest `keep` candidates, in the order they had. */
static void shrink(prefilter *filter)
{
    uint32_t distance = 0;
    size_t nearer = 0, kept = 0, at_cutoff;

    if (filter->count <= filter->keep)
        return;
    memset(filter->at, 0, sizeof filter->at);
    for (size_t i = 0; i < filter->count; i++)
        filter->at[filter->candidates[i].distance]++;
    while (nearer + filter->at[distance] < filter->keep)
        nearer += filter->at[distance++];
    at_cutoff = filter->keep - nearer;
    for (size_t i = 0; i < filter->count; i++) {
        candidate one = filter->candidates[i];

        if (one.distance > distance || (one.distance == distance && at_cutoff == 0))
            continue;
        at_cutoff -= one.distance == distance;
        filter->candidates[kept++] = one;
    }
    filter->count = kept;
    filter->cutoff = distance;
}

static void prefilter_region(const lc_vectors *set, size_t index, const lc_vector_query *query,
                             const lc_bitmap *allowed, prefilter *filter)
{
    const lc_vector_region *region = &set->regions[index];
    uint32_t distances[BATCH_ROWS], row_before = (uint32_t)index * set->rows_per_region;

    for (uint32_t first = 0; first < region->count; first += BATCH_ROWS) {
        uint32_t count = min_u32(BATCH_ROWS, region->count - first);

        if (count_wanted(region, first, count, allowed) == 0)
            continue;
        set->kernels->distances(query, lc_vector_region_rows(region, first, count), distances);
        for (uint32_t i = 0; i < count; i++) {
            if (distances[i] >= filter->cutoff || !is_wanted(region, first + i, allowed))
                continue;
            filter->candidates[filter->count++] = (candidate){.row = row_before + first + i,
                                                              .distance = distances[i]};
            if (filter->count == 2 * filter->keep)
                shrink(filter);
        }
    }
}

static const lc_vector_region *find_row(const lc_vectors *set, uint32_t *row)
{
    const lc_vector_region *region = &set->regions[*row / set->rows_per_region];

    *row %= set->rows_per_region;
    return region;
}

static void fetch_row(const lc_vectors *set, uint32_t row)
{
    const lc_vector_region *region = find_row(set, &row);

    for (size_t byte = 0; byte < set->stride; byte += LC_VECTOR_STRIDE_UNIT)
        __builtin_prefetch(region->codes + row * set->stride + byte);
}

static void score_candidates(const lc_vectors *set, const prefilter *filter,
                             const lc_vector_query *query, lc_best *best)
{
    for (size_t i = 0; i < filter->count; i++) {
        uint32_t row = filter->candidates[i].row;
        const lc_vector_region *region = find_row(set, &row);
        int32_t dot;
        float score;

        if (i + AHEAD_CANDIDATES < filter->count)
            fetch_row(set, filter->candidates[i + AHEAD_CANDIDATES].row);
        set->kernels->dots(query, lc_vector_region_rows(region, row, 1), &dot);
        score = score_of(region, row, dot, query->scale);
        if (score > lc_best_floor(best))
            lc_best_offer(best, (lc_hit){.id = region->ids[row], .score = score});
    }
}

static loci_status search_by_bits(const lc_vectors *set, const lc_vector_search *search,
                                  const lc_vector_query *query, lc_best *best, loci_error *err)
{
    size_t keep = search->prefilter_keep != 0 ? search->prefilter_keep
                                              : lc_vector_prefilter_keep(set->live);
    size_t bytes;
    prefilter *filter;

    if (keep < search->limit)
        keep = search->limit;
    if (keep > set->live)
        keep = set->live;
    bytes = sizeof *filter + 2 * keep * sizeof(candidate);
    filter = lc_heap_alloc(set->heap, bytes, LOCI_MEM_REQUESTS);
    if (filter == NULL)
        return lc_fail_memory(err);

    filter->candidates = (candidate *)(filter + 1);
    filter->count = 0;
    filter->keep = keep;
    filter->cutoff = UINT32_MAX;
    for (size_t i = 0; i < set->region_count; i++)
        prefilter_region(set, i, query, search->filter, filter);
    shrink(filter);
    score_candidates(set, filter, query, best);
    lc_heap_free(set->heap, filter, bytes, LOCI_MEM_REQUESTS);
    return LOCI_OK;
}

uint32_t lc_vector_prefilter_keep(uint32_t live)
{
    uint32_t part = live / PREFILTER_KEEP_PART;

    return part < PREFILTER_KEEP_MIN ? PREFILTER_KEEP_MIN : part;
}

/* ---- Together -------------------------------------------------------------------------------- */

loci_status lc_vectors_search(const lc_vectors *set, const lc_vector_search *search, lc_hit *out,
                              size_t *out_count, loci_error *err)
{
    uint32_t above = search->prefilter_above != 0 ? search->prefilter_above
                                                  : LC_VECTOR_PREFILTER_ABOVE;
    lc_best best = {.hits = out, .limit = search->limit};
    loci_status status = LOCI_OK;
    lc_vector_query query;

    lc_vector_query_init(&query, search->query, set->dimension);
    if (set->live > above) {
        status = search_by_bits(set, search, &query, &best, err);
    } else {
        for (size_t i = 0; i < set->region_count; i++)
            scan_region(set, &set->regions[i], &query, search->filter, &best);
    }
    if (status != LOCI_OK)
        return status;
    lc_hits_sort(out, best.count);
    *out_count = best.count;
    return LOCI_OK;
}

size_t lc_hits_rerank(lc_hit *hits, size_t count, const lc_rerank *rerank,
                      lc_vector_exact_fn *exact, void *ctx)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const float *vector = exact(ctx, hits[i].id);

        if (vector == NULL)
            continue;
        hits[kept].id = hits[i].id;
        hits[kept++].score = (float)lc_vector_dot(rerank->query, vector, rerank->dimension);
    }
    lc_hits_sort(hits, kept);
    return kept < rerank->limit ? kept : rerank->limit;
}

const float *lc_vector_matrix_get(void *matrix, uint32_t id)
{
    const lc_vector_matrix *m = matrix;

    return id < m->rows ? m->values + (size_t)id * m->dimension : NULL;
}
