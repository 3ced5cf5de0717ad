/* block.h - memory for the many small lists of an index, in regions that are given back at once.
 *
 * A block has 2^n bytes. A freed block is reused for the next block of its size; the regions
 * themselves (large pieces of the heap) are freed when everything is cleared. So an index that is
 * evicted leaves no holes in the heap behind.
 */
#ifndef LC_INDEX_BLOCK_H
#define LC_INDEX_BLOCK_H

#include "base/arena.h"

#define LC_BLOCK_BYTES_MIN 16u
#define LC_BLOCK_SIZES 32 /* From 16 bytes up. */

typedef struct lc_blocks {
    lc_arena regions;
    size_t bytes;                /* Taken from the regions, freed blocks included. */
    void *freed[LC_BLOCK_SIZES]; /* By size; each block holds the pointer to the next. */
} lc_blocks;

void lc_blocks_init(lc_blocks *blocks, lc_heap *heap, loci_category category);
/* Gives all regions back. */
void lc_blocks_clear(lc_blocks *blocks);

/* The size of a block for `bytes`: the next power of two, at least LC_BLOCK_BYTES_MIN. */
size_t lc_block_bytes(size_t bytes);
/* At least `bytes`, not zeroed; NULL when out of memory. */
void *lc_blocks_alloc(lc_blocks *blocks, size_t bytes);
/* `bytes` as it was asked for, or lc_block_bytes() of that. NULL is fine. */
void lc_blocks_free(lc_blocks *blocks, void *block, size_t bytes);

#endif /* LC_INDEX_BLOCK_H */
