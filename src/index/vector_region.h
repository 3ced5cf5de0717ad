/* vector_region.h - rows of a vector set in one piece of memory.
 *
 * One allocation holds, one behind the other: codes, sign bits, scales, ids, and a bit for each
 * row that is dead. Its size is that of its capacity, at most LC_VECTOR_REGION_BYTES; given back,
 * the whole piece goes back to the allocator.
 */
#ifndef LC_INDEX_VECTOR_REGION_H
#define LC_INDEX_VECTOR_REGION_H

#include "base/heap.h"
#include "index/vector_kernel.h"

#include <stdbool.h>

#define LC_VECTOR_REGION_BYTES (1024u * 1024)

typedef struct lc_vector_region {
    void *memory; /* What was allocated; the arrays below lie in it. */
    int8_t *codes;
    uint64_t *bits;
    float *scales;
    uint32_t *ids; /* Rising. */
    uint64_t *dead;
    size_t stride;
    uint32_t capacity;
    uint32_t count; /* Rows, dead ones too. */
    uint32_t live;
} lc_vector_region;

/* The most rows of `stride` that fit into LC_VECTOR_REGION_BYTES. */
uint32_t lc_vector_region_capacity_max(size_t stride);

/* False when out of memory: `out` is not written. */
bool lc_vector_region_init(lc_vector_region *out, lc_heap *heap, size_t stride, uint32_t capacity);
void lc_vector_region_clear(lc_vector_region *region, lc_heap *heap);
size_t lc_vector_region_bytes(const lc_vector_region *region);
/* Moves the rows to a larger piece. False when out of memory: nothing changed. */
bool lc_vector_region_grow(lc_vector_region *region, lc_heap *heap, uint32_t capacity);

/* Copies a row, its scale, id and sign bits, not whether it is dead. */
void lc_vector_region_copy_row(lc_vector_region *to, uint32_t to_row, const lc_vector_region *from,
                               uint32_t from_row);
/* From now on `count` rows, all alive. */
void lc_vector_region_revive(lc_vector_region *region, uint32_t count);
/* The row of `id`, dead or alive, or `count` when there is none. */
uint32_t lc_vector_region_find(const lc_vector_region *region, uint32_t id);

static inline bool lc_vector_region_is_dead(const lc_vector_region *region, uint32_t row)
{
    return (region->dead[row / 64] >> (row % 64) & 1) != 0;
}

/* `count` rows from `first` on, for the kernels. */
static inline lc_vector_rows lc_vector_region_rows(const lc_vector_region *region, uint32_t first,
                                                   uint32_t count)
{
    return (lc_vector_rows){.codes = region->codes + first * region->stride,
                            .bits = region->bits + first * (region->stride / 64),
                            .stride = region->stride,
                            .count = count};
}

#endif /* LC_INDEX_VECTOR_REGION_H */
