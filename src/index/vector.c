/* vector.c - the set: rows in regions, in the order of their ids.
 *
 * Only the last region takes new rows. The first one of a set starts with few rows and doubles, so
 * that thousands of small sets stay small; later ones have their full size from the beginning.
 * Invariants: ids rise within a region and from one to the next; no region is without a live row;
 * `live` and `dead` are the sums over the regions.
 */
#include "index/vector.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/limits.h"
#include "index/vector_quantise.h"

#define ROWS_FIRST 8u
#define REGION_PLACES_FIRST 4u

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
        lc_vector_region_clear(&set->regions[i], set->heap);
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
    if (!lc_vector_region_init(&set->regions[set->region_count], set->heap, set->stride, capacity))
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

        return lc_vector_region_grow(last, set->heap, twice < full ? twice : full) ? last : NULL;
    }
    return append_region(set, full) ? &set->regions[set->region_count - 1] : NULL;
}

loci_status lc_vectors_add(lc_vectors *set, uint32_t id, const float *vector, loci_error *err)
{
    lc_vector_region *region;
    uint32_t row;

    LC_ASSERT(id >= set->next_id);
    if (id >= LC_INDEX_IDS_MAX)
        return lc_fail(err, LOCI_ELIMIT, "an index holds at most %d documents", LC_INDEX_IDS_MAX);
    if (!lc_vector_is_finite(vector, set->dimension))
        return lc_fail(err, LOCI_EINVAL, "a value of the vector is not a finite number");
    region = make_room(set);
    if (region == NULL)
        return lc_fail_memory(err);

    row = region->count++;
    region->live++;
    region->ids[row] = id;
    region->scales[row] = lc_vector_quantise(vector, set->dimension,
                                             region->codes + row * set->stride);
    lc_vector_signs(vector, set->dimension, region->bits + row * (set->stride / 64));
    set->live++;
    set->next_id = id + 1;
    return LOCI_OK;
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

/* True, with the place, when `id` is there and alive. */
static bool find_live(const lc_vectors *set, uint32_t id, lc_vector_region **out_region,
                      uint32_t *out_row)
{
    lc_vector_region *region = find_region(set, id);

    if (region == NULL)
        return false;
    *out_region = region;
    *out_row = lc_vector_region_find(region, id);
    return *out_row < region->count && !lc_vector_region_is_dead(region, *out_row);
}

bool lc_vectors_has(const lc_vectors *set, uint32_t id)
{
    lc_vector_region *region;
    uint32_t row;

    return find_live(set, id, &region, &row);
}

static void drop_region(lc_vectors *set, lc_vector_region *region)
{
    size_t index = (size_t)(region - set->regions);

    lc_vector_region_clear(region, set->heap);
    set->region_count--;
    memmove(region, region + 1, (set->region_count - index) * sizeof *region);
}

bool lc_vectors_delete(lc_vectors *set, uint32_t id)
{
    lc_vector_region *region;
    uint32_t row;

    if (!find_live(set, id, &region, &row))
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

/* Walks all rows with one finger and the places for live ones with another, which cannot overtake:
 * every region it has left behind was filled from rows at or after it. */
void lc_vectors_compact(lc_vectors *set)
{
    size_t to = 0, kept;
    uint32_t to_row = 0;

    if (set->dead == 0)
        return;

    for (size_t from = 0; from < set->region_count; from++) {
        lc_vector_region *source = &set->regions[from];

        for (uint32_t row = 0; row < source->count; row++) {
            if (lc_vector_region_is_dead(source, row))
                continue;
            if (to_row == set->regions[to].capacity) {
                to++;
                to_row = 0;
            }
            lc_vector_region_copy_row(&set->regions[to], to_row++, source, row);
        }
    }
    kept = to + 1; /* No region is without a live row, so there is at least one. */
    for (size_t i = kept; i < set->region_count; i++)
        lc_vector_region_clear(&set->regions[i], set->heap);
    set->region_count = kept;
    for (size_t i = 0; i < kept; i++)
        lc_vector_region_revive(&set->regions[i], i < to ? set->regions[i].capacity : to_row);
    set->dead = 0;
}
