/* vector_region.c - Allocators promise no more than the alignment of malloc, so the piece is larger
 * by one alignment and the codes begin at the first fitting byte; the other arrays follow in the
 * order of falling alignment. */
#include "index/vector_region.h"

#include <string.h>

#define ALIGNMENT LC_VECTOR_STRIDE_UNIT

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

bool lc_vector_region_init(lc_vector_region *out, lc_heap *heap, size_t stride, uint32_t capacity)
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

void lc_vector_region_clear(lc_vector_region *region, lc_heap *heap)
{
    lc_heap_free(heap, region->memory, lc_vector_region_bytes(region), LOCI_MEM_INDEX);
    *region = (lc_vector_region){0};
}

size_t lc_vector_region_bytes(const lc_vector_region *region)
{
    return region->memory == NULL ? 0 : bytes_for(region->stride, region->capacity);
}

bool lc_vector_region_grow(lc_vector_region *region, lc_heap *heap, uint32_t capacity)
{
    lc_vector_region larger;
    size_t count = region->count, stride = region->stride;

    if (!lc_vector_region_init(&larger, heap, stride, capacity))
        return false;

    memcpy(larger.codes, region->codes, count * stride);
    memcpy(larger.bits, region->bits, count * (stride / 8));
    memcpy(larger.dead, region->dead, dead_words(region->capacity) * sizeof(uint64_t));
    memcpy(larger.scales, region->scales, count * sizeof(float));
    memcpy(larger.ids, region->ids, count * sizeof(uint32_t));
    larger.count = region->count;
    larger.live = region->live;
    lc_vector_region_clear(region, heap);
    *region = larger;
    return true;
}

void lc_vector_region_copy_row(lc_vector_region *to, uint32_t to_row, const lc_vector_region *from,
                               uint32_t from_row)
{
    size_t stride = to->stride;

    if (to == from && to_row == from_row)
        return;
    memcpy(to->codes + to_row * stride, from->codes + from_row * stride, stride);
    memcpy(to->bits + to_row * (stride / 64), from->bits + from_row * (stride / 64), stride / 8);
    to->scales[to_row] = from->scales[from_row];
    to->ids[to_row] = from->ids[from_row];
}

void lc_vector_region_revive(lc_vector_region *region, uint32_t count)
{
    memset(region->dead, 0, dead_words(region->capacity) * sizeof(uint64_t));
    region->count = region->live = count;
}

uint32_t lc_vector_region_find(const lc_vector_region *region, uint32_t id)
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
