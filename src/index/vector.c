/* vector.c - the set: rows in regions, in the order of their ids; and the search over it.
 *
 * Only the last region takes new rows. The first one of a set starts with few rows and doubles, so
 * that thousands of small sets stay small; later ones have their full size from the beginning.
 * Invariants: ids rise within a region and from one to the next; no region is without a live row,
 * except while rows are reserved; `live` and `dead` are the sums over the regions.
 *
 * Allocators promise no more than the alignment of malloc, so a region is larger by one alignment
 * and its codes begin at the first fitting byte; the other arrays follow in the order of falling
 * alignment.
 *
 * A search goes by codes, or by sign bits and then by codes. Rows are scored in batches; whether a
 * row is dead or filtered out is checked only if its score would be kept, which is rare after the
 * first thousand rows. A batch without any wanted row is skipped, and in a batch with few of them
 * only these are scored: so the cost of a narrow filter depends on the rows that pass it. Rows are
 * visited in the order of their ids, so a score equal to the worst one kept loses against it, as
 * hit.h requires.
 *
 * The prefilter wants the `keep` rows with the smallest distances, ties to the lower id. It
 * collects rows below a cutoff; when 2 * keep are there, it counts them by distance, lowers the
 * cutoff and keeps the first half in place. Each row is processed a constant number of times, and
 * since equal distances keep their order, so do the ids.
 */
#include "index/vector.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"

#define ROWS_FIRST 8u
#define REGION_PLACES_FIRST 4u
#define ALIGNMENT LC_VECTOR_STRIDE_UNIT
#define BATCH_ROWS 64u
#define FEW_ROWS 16u /* If fewer rows of a batch are wanted, they are scored one by one. */
#define PREFILTER_KEEP_MIN 4000u
#define PREFILTER_KEEP_PART 32u
#define AHEAD_CANDIDATES 3u /* Candidates whose cache lines are prefetched while one is scored. */

/* ---- Regions --------------------------------------------------------------------------------- */

static size_t dead_words(uint32_t capacity)
{
    return ((size_t)capacity + 63) / 64;
}

static size_t bytes_for(size_t stride, uint32_t capacity)
{
    size_t row_bytes = stride + stride / 8 + sizeof(float) + sizeof(uint32_t);

    return ALIGNMENT + capacity * row_bytes + dead_words(capacity) * sizeof(uint64_t);
}

uint32_t lc_vector_region_capacity_max(size_t stride)
{
    size_t row_bytes = stride + stride / 8 + sizeof(float) + sizeof(uint32_t);
    size_t rows = (LC_VECTOR_REGION_BYTES - ALIGNMENT) / (row_bytes + 1);

    return (uint32_t)(rows / 64 * 64); /* Whole words of dead bits; batches without a rest. */
}

/* False when out of memory: `out` is not written. */
static bool init_region(lc_vector_region *out, lc_heap *heap, size_t stride, uint32_t capacity)
{
    void *memory = lc_heap_alloc(heap, bytes_for(stride, capacity), LOCI_MEM_INDEX);
    char *at;

    if (memory == NULL)
        return false;

    at = (char *)memory + (-(uintptr_t)memory & (ALIGNMENT - 1));
    *out = (lc_vector_region){.memory = memory, .stride = stride, .capacity = capacity};
    out->codes = (int8_t *)at;
    at += capacity * stride;
    out->bits = (uint64_t *)(void *)at;
    at += capacity * (stride / 8);
    out->dead = (uint64_t *)(void *)at;
    at += dead_words(capacity) * sizeof(uint64_t);
    out->scales = (float *)(void *)at;
    at += capacity * sizeof(float);
    out->ids = (uint32_t *)(void *)at;
    memset(out->dead, 0, dead_words(capacity) * sizeof(uint64_t));
    return true;
}

static void clear_region(lc_vector_region *region, lc_heap *heap)
{
    lc_heap_free(heap, region->memory, lc_vector_region_bytes(region), LOCI_MEM_INDEX);
    *region = (lc_vector_region){0};
}

size_t lc_vector_region_bytes(const lc_vector_region *region)
{
    return region->memory == NULL ? 0 : bytes_for(region->stride, region->capacity);
}

/* Moves the rows to a larger piece. False when out of memory: nothing changed. */
static bool grow_region(lc_vector_region *region, lc_heap *heap, uint32_t capacity)
{
    lc_vector_region larger;
    size_t count = region->count, stride = region->stride;

    if (!init_region(&larger, heap, stride, capacity))
        return false;

    memcpy(larger.codes, region->codes, count * stride);
    memcpy(larger.bits, region->bits, count * (stride / 8));
    memcpy(larger.dead, region->dead, dead_words(region->capacity) * sizeof(uint64_t));
    memcpy(larger.scales, region->scales, count * sizeof(float));
    memcpy(larger.ids, region->ids, count * sizeof(uint32_t));
    larger.count = region->count;
    larger.live = region->live;
    clear_region(region, heap);
    *region = larger;
    return true;
}

/* The row of `id`, dead or alive, or `count` when there is none. */
static uint32_t find_in_region(const lc_vector_region *region, uint32_t id)
{
    uint32_t low = 0, high = region->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (region->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < region->count && region->ids[low] == id ? low : region->count;
}

/* `count` rows from `first` on, for the kernels. */
static lc_vector_rows rows_of(const lc_vector_region *region, uint32_t first, uint32_t count)
{
    return (lc_vector_rows){.codes = region->codes + first * region->stride,
                            .bits = region->bits + first * (region->stride / 64),
                            .stride = region->stride,
                            .count = count};
}

/* ---- Life ------------------------------------------------------------------------------------ */

void lc_vectors_init(lc_vectors *set, lc_heap *heap, uint32_t dimension, lc_vector_level level)
{
    const lc_vector_kernels *kernels = lc_vector_kernels_get(level);
    size_t stride = lc_vector_stride(dimension);

    LC_ASSERT(kernels != NULL);
    LC_ASSERT(dimension > 0);
    LC_ASSERT(stride <= LC_VECTOR_STRIDE_MAX);

    *set = (lc_vectors){.heap = heap,
                        .kernels = kernels,
                        .stride = stride,
                        .dimension = dimension,
                        .rows_per_region = lc_vector_region_capacity_max(stride)};
}

void lc_vectors_clear(lc_vectors *set)
{
    for (size_t i = 0; i < set->region_count; i++)
        clear_region(&set->regions[i], set->heap);
    lc_heap_free(set->heap, set->regions, set->region_places * sizeof *set->regions,
                 LOCI_MEM_INDEX);
    set->regions = NULL;
    set->region_count = set->region_places = 0;
    set->live = set->dead = set->next_id = 0;
}

size_t lc_vectors_bytes(const lc_vectors *set)
{
    size_t bytes = set->region_places * sizeof *set->regions;

    for (size_t i = 0; i < set->region_count; i++)
        bytes += lc_vector_region_bytes(&set->regions[i]);
    return bytes;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static bool append_region(lc_vectors *set, uint32_t capacity)
{
    if (set->region_count == set->region_places) {
        size_t places = set->region_places == 0 ? REGION_PLACES_FIRST : 2 * set->region_places;
        void *moved = lc_heap_resize(set->heap, set->regions,
                                     set->region_places * sizeof *set->regions,
                                     places * sizeof *set->regions, LOCI_MEM_INDEX);

        if (moved == NULL)
            return false;
        set->regions = moved;
        set->region_places = places;
    }
    if (!init_region(&set->regions[set->region_count], set->heap, set->stride, capacity))
        return false;
    set->region_count++;
    return true;
}

/* The region that has room for one more row, or NULL when out of memory. */
static lc_vector_region *make_room(lc_vectors *set)
{
    lc_vector_region *last;
    uint32_t full = set->rows_per_region;

    if (set->region_count == 0)
        return append_region(set, ROWS_FIRST < full ? ROWS_FIRST : full) ? set->regions : NULL;

    last = &set->regions[set->region_count - 1];
    if (last->count < last->capacity)
        return last;
    if (last->capacity < full) {
        uint32_t twice = 2 * last->capacity;

        return grow_region(last, set->heap, twice < full ? twice : full) ? last : NULL;
    }
    return append_region(set, full) ? &set->regions[set->region_count - 1] : NULL;
}

/* A new row for `id` at the end, dead and with zeros as codes. */
static loci_status append_row(lc_vectors *set, uint32_t id, lc_vector_region **out, loci_error *err)
{
    lc_vector_region *region;
    uint32_t row;

    LC_ASSERT(id >= set->next_id);
    if (id >= LC_INDEX_IDS_MAX)
        return lc_fail(err, LOCI_ELIMIT, "an index holds at most %d documents", LC_INDEX_IDS_MAX);
    region = make_room(set);
    if (region == NULL)
        return lc_fail_memory(err);
    row = region->count++;
    region->ids[row] = id;
    region->scales[row] = 0;
    memset(region->codes + row * set->stride, 0, set->stride);
    memset(region->bits + row * (set->stride / 64), 0, set->stride / 8);
    region->dead[row / 64] |= (uint64_t)1 << (row % 64);
    set->dead++;
    set->next_id = id + 1;
    *out = region;
    return LOCI_OK;
}

static void fill_row(lc_vectors *set, lc_vector_region *region, uint32_t row, lc_vector_code code)
{
    int8_t *codes = region->codes + row * set->stride;

    memcpy(codes, code.codes, set->dimension);
    lc_vector_signs(codes, set->dimension, region->bits + row * (set->stride / 64));
    region->scales[row] = code.scale;
    region->dead[row / 64] &= ~((uint64_t)1 << (row % 64));
    region->live++;
    set->dead--;
    set->live++;
}

loci_status lc_vectors_reserve(lc_vectors *set, uint32_t id, loci_error *err)
{
    lc_vector_region *region;

    return append_row(set, id, &region, err);
}

loci_status lc_vectors_add_code(lc_vectors *set, uint32_t id, lc_vector_code code, loci_error *err)
{
    lc_vector_region *region;
    loci_status status = append_row(set, id, &region, err);

    if (status == LOCI_OK)
        fill_row(set, region, region->count - 1, code);
    return status;
}

loci_status lc_vectors_add(lc_vectors *set, uint32_t id, const float *vector, loci_error *err)
{
    int8_t codes[LC_VECTOR_STRIDE_MAX];
    lc_vector_code code = {.codes = codes};

    if (!lc_vector_is_finite(vector, set->dimension))
        return lc_fail(err, LOCI_EINVAL, "a value of the vector is not a finite number");
    code.scale = lc_vector_quantise(vector, set->dimension, codes);
    return lc_vectors_add_code(set, id, code, err);
}

/* ---- Deleting -------------------------------------------------------------------------------- */

/* The region that holds `id` if any does, or NULL. */
static lc_vector_region *find_region(const lc_vectors *set, uint32_t id)
{
    size_t low = 0, high = set->region_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (set->regions[middle].ids[0] <= id)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : &set->regions[low - 1];
}

/* True, with the place, when `id` has a row; `*out_is_live`: with a vector. */
static bool find_place(const lc_vectors *set, uint32_t id, lc_vector_region **out_region,
                       uint32_t *out_row, bool *out_is_live)
{
    lc_vector_region *region = find_region(set, id);

    if (region == NULL)
        return false;
    *out_region = region;
    *out_row = find_in_region(region, id);
    if (*out_row == region->count)
        return false;
    *out_is_live = !lc_vector_region_is_dead(region, *out_row);
    return true;
}

bool lc_vectors_has(const lc_vectors *set, uint32_t id)
{
    lc_vector_region *region;
    uint32_t row;
    bool is_live;

    return find_place(set, id, &region, &row, &is_live) && is_live;
}

void lc_vectors_fill(lc_vectors *set, uint32_t id, lc_vector_code code)
{
    lc_vector_region *region;
    uint32_t row;
    bool is_live;

    if (find_place(set, id, &region, &row, &is_live) && !is_live)
        fill_row(set, region, row, code);
}

static void drop_region(lc_vectors *set, lc_vector_region *region)
{
    size_t index = (size_t)(region - set->regions);

    clear_region(region, set->heap);
    set->region_count--;
    memmove(region, region + 1, (set->region_count - index) * sizeof *region);
}

bool lc_vectors_delete(lc_vectors *set, uint32_t id)
{
    lc_vector_region *region;
    uint32_t row;
    bool is_live;

    if (!find_place(set, id, &region, &row, &is_live) || !is_live)
        return false;

    region->dead[row / 64] |= (uint64_t)1 << (row % 64);
    region->live--;
    set->live--;
    set->dead++;
    if (region->live == 0) {
        set->dead -= region->count;
        drop_region(set, region);
    }
    return true;
}

void lc_vectors_truncate(lc_vectors *set, uint32_t id)
{
    while (set->region_count > 0) {
        lc_vector_region *last = &set->regions[set->region_count - 1];

        for (; last->count > 0 && last->ids[last->count - 1] >= id; last->count--) {
            uint32_t row = last->count - 1;
            bool is_dead = lc_vector_region_is_dead(last, row);

            last->dead[row / 64] &= ~((uint64_t)1 << (row % 64));
            last->live -= !is_dead;
            set->live -= !is_dead;
            set->dead -= is_dead;
        }
        if (last->live > 0)
            break;
        set->dead -= last->count; /* No region is without a live row. */
        drop_region(set, last);
    }
    if (set->next_id > id)
        set->next_id = id;
}

/* ---- Searching ------------------------------------------------------------------------------- */

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

/* The product of one row if `filter` has it; else a value too low to be kept. */
static int32_t dot_if_wanted(const lc_vectors *set, const lc_vector_query *query,
                             const lc_vector_region *region, uint32_t row, const lc_bitmap *filter)
{
    int32_t dot = INT32_MIN;

    if (lc_bitmap_has(filter, region->ids[row]))
        set->kernels->dots(query, rows_of(region, row, 1), &dot);
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
            set->kernels->dots(query, rows_of(region, first, count), dots);
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
        set->kernels->distances(query, rows_of(region, first, count), distances);
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
        set->kernels->dots(query, rows_of(region, row, 1), &dot);
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
