/* block.c - an arena that remembers, by size, the pieces that are free again. */
#include "index/block.h"

#include <string.h>

#include "base/assert.h"

void lc_blocks_init(lc_blocks *blocks, lc_heap *heap, loci_category category)
{
    *blocks = (lc_blocks){0};
    lc_arena_init(&blocks->regions, heap, category);
}

void lc_blocks_clear(lc_blocks *blocks)
{
    lc_arena_clear(&blocks->regions);
    memset(blocks->freed, 0, sizeof blocks->freed);
    blocks->bytes = 0;
}

/* The number of the size that holds `bytes`: 0 for 16 bytes, 1 for 32 ... */
static unsigned size_of(size_t bytes)
{
    return bytes <= LC_BLOCK_BYTES_MIN
               ? 0
               : 64 - (unsigned)__builtin_clzll((bytes - 1) / LC_BLOCK_BYTES_MIN);
}

size_t lc_block_bytes(size_t bytes)
{
    return (size_t)LC_BLOCK_BYTES_MIN << size_of(bytes);
}

void *lc_blocks_alloc(lc_blocks *blocks, size_t bytes)
{
    unsigned size = size_of(bytes);
    void *block;

    if (size >= LC_BLOCK_SIZES)
        return NULL;
    block = blocks->freed[size];
    if (block == NULL) {
        block = lc_arena_alloc(&blocks->regions, (size_t)LC_BLOCK_BYTES_MIN << size);
        if (block != NULL)
            blocks->bytes += (size_t)LC_BLOCK_BYTES_MIN << size;
        return block;
    }
    memcpy(&blocks->freed[size], block, sizeof(void *));
    return block;
}

void lc_blocks_free(lc_blocks *blocks, void *block, size_t bytes)
{
    unsigned size = size_of(bytes);

    if (block == NULL)
        return;
    LC_ASSERT(size < LC_BLOCK_SIZES);
    memcpy(block, &blocks->freed[size], sizeof(void *));
    blocks->freed[size] = block;
}
