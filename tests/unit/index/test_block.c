#include "index/block.h"

#include <string.h>

#include "base/error.h"
#include "lib/test.h"

TEST(block, sizes_are_powers_of_two)
{
    CHECK_EQ(lc_block_bytes(0), 16);
    CHECK_EQ(lc_block_bytes(16), 16);
    CHECK_EQ(lc_block_bytes(17), 32);
    CHECK_EQ(lc_block_bytes(32), 32);
    CHECK_EQ(lc_block_bytes(33), 64);
    CHECK_EQ(lc_block_bytes(1000), 1024);
    CHECK_EQ(lc_block_bytes((1u << 20) + 1), 2u << 20);
}

/* A list that doubles leaves its old blocks to others: without that an index would hold twice what
 * it needs. */
TEST(block, freed_ones_serve_the_next_of_their_size)
{
    lc_heap heap;
    lc_blocks blocks;
    void *small, *large;
    size_t bytes;

    lc_heap_init(&heap, test_heap());
    lc_blocks_init(&blocks, &heap, LOCI_MEM_INDEX);
    small = lc_blocks_alloc(&blocks, 10);
    large = lc_blocks_alloc(&blocks, 100);
    bytes = blocks.bytes;
    CHECK_EQ(bytes, 16 + 128);
    lc_blocks_free(&blocks, small, 10);
    lc_blocks_free(&blocks, large, 128);
    lc_blocks_free(&blocks, NULL, 0);
    CHECK(lc_blocks_alloc(&blocks, 65) == large);
    CHECK(lc_blocks_alloc(&blocks, 16) == small);
    CHECK(lc_blocks_alloc(&blocks, 16) != small);
    CHECK_EQ(blocks.bytes, bytes + 16);
    lc_blocks_clear(&blocks);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_INDEX), 0);
    CHECK(lc_blocks_alloc(&blocks, 16) != NULL); /* Not the one that went back with its region. */
    lc_blocks_clear(&blocks);
}

TEST(block, blocks_do_not_overlap)
{
    enum { COUNT = 400 };
    test_rng rng = test_random(3);
    unsigned char *live[COUNT] = {NULL};
    size_t sizes[COUNT] = {0};
    lc_heap heap;
    lc_blocks blocks;

    lc_heap_init(&heap, test_heap());
    lc_blocks_init(&blocks, &heap, LOCI_MEM_INDEX);
    for (int step = 0; step < 20000; step++) {
        size_t i = test_rng_below(&rng, COUNT);

        if (live[i] != NULL) {
            for (size_t k = 0; k < sizes[i]; k++)
                CHECK_EQ(live[i][k], (unsigned char)i);
            lc_blocks_free(&blocks, live[i], sizes[i]);
            live[i] = NULL;
        } else {
            sizes[i] = (size_t)1 << test_rng_below(&rng, 10);
            live[i] = lc_blocks_alloc(&blocks, sizes[i]);
            memset(live[i], (int)i, lc_block_bytes(sizes[i]));
        }
    }
    lc_blocks_clear(&blocks);
}

static loci_status fill(void *ctx)
{
    lc_blocks blocks;
    loci_status status = LOCI_OK;

    lc_blocks_init(&blocks, ctx, LOCI_MEM_INDEX);
    for (size_t bytes = 1; bytes < 5000 && status == LOCI_OK; bytes *= 3) {
        if (lc_blocks_alloc(&blocks, bytes) == NULL)
            status = lc_fail_memory(NULL);
    }
    lc_blocks_clear(&blocks);
    return status;
}

TEST(block, running_out_of_memory_is_told)
{
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    test_oom_sweep(fill, &heap);
}
