#include "base/heap.h"

#include <pthread.h>
#include <string.h>

#include "lib/test.h"

TEST(heap, live_bytes_are_counted_by_category)
{
    lc_heap heap;
    char *a, *b;

    lc_heap_init(&heap, test_heap());
    a = lc_heap_alloc(&heap, 100, LOCI_MEM_CACHES);
    b = lc_heap_zalloc(&heap, 50, LOCI_MEM_WAL);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_CACHES), 100);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_WAL), 50);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_ENGINE), 0);
    a = lc_heap_resize(&heap, a, 100, 300, LOCI_MEM_CACHES);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_CACHES), 300);
    CHECK_EQ(test_heap_live_bytes(LOCI_MEM_CACHES), 300);
    a = lc_heap_resize(&heap, a, 300, 10, LOCI_MEM_CACHES);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_CACHES), 10);
    lc_heap_free(&heap, a, 10, LOCI_MEM_CACHES);
    lc_heap_free(&heap, b, 50, LOCI_MEM_WAL);
    for (unsigned category = 0; category < LOCI_MEM_CATEGORIES; category++)
        CHECK_EQ(lc_heap_live_bytes(&heap, (loci_category)category), 0);
}

TEST(heap, resizing_keeps_the_content)
{
    lc_heap heap;
    char *block;

    lc_heap_init(&heap, test_heap());
    block = lc_heap_resize(&heap, NULL, 0, 4, LOCI_MEM_ENGINE);
    memcpy(block, "abcd", 4);
    block = lc_heap_resize(&heap, block, 4, 4000, LOCI_MEM_ENGINE);
    CHECK_BYTES(block, 4, "abcd", 4);
    lc_heap_free(&heap, block, 4000, LOCI_MEM_ENGINE);
}

TEST(heap, zalloc_is_zero)
{
    lc_heap heap;
    char *block;

    lc_heap_init(&heap, test_heap());
    block = lc_heap_zalloc(&heap, 1000, LOCI_MEM_ENGINE);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(block[i], 0);
    lc_heap_free(&heap, block, 1000, LOCI_MEM_ENGINE);
}

/* The guard decides by these numbers: a refusal must not be counted. */
TEST(heap, refused_request_changes_neither_block_nor_count)
{
    lc_heap heap;
    char *block;

    lc_heap_init(&heap, test_heap());
    block = lc_heap_alloc(&heap, 10, LOCI_MEM_INDEX);
    memcpy(block, "unchanged", 10);
    test_heap_fail_from(1);
    CHECK(lc_heap_resize(&heap, block, 10, 20, LOCI_MEM_INDEX) == NULL);
    CHECK(lc_heap_alloc(&heap, 5, LOCI_MEM_INDEX) == NULL);
    CHECK(lc_heap_zalloc(&heap, 5, LOCI_MEM_INDEX) == NULL);
    CHECK(test_heap_disarm());
    CHECK_STR_EQ(block, "unchanged");
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_INDEX), 10);
    lc_heap_free(&heap, block, 10, LOCI_MEM_INDEX);
}

TEST(heap, freeing_nothing_is_fine)
{
    lc_heap heap;

    lc_heap_init(&heap, test_heap());
    lc_heap_free(&heap, NULL, 0, LOCI_MEM_ENGINE);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_ENGINE), 0);
}

TEST(heap, without_an_allocator_memory_comes_from_malloc)
{
    lc_heap heap;
    char *block;

    lc_heap_init(&heap, (loci_allocator){.resize = NULL});
    block = lc_heap_zalloc(&heap, 100, LOCI_MEM_ENGINE);
    CHECK(block != NULL);
    block = lc_heap_resize(&heap, block, 100, 200, LOCI_MEM_ENGINE);
    CHECK_EQ(block[99], 0);
    lc_heap_free(&heap, block, 200, LOCI_MEM_ENGINE);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_ENGINE), 0);
    CHECK_EQ(test_heap_live_blocks(), 0);
}

static void *allocate_and_free(void *ctx)
{
    lc_heap *heap = ctx;

    for (int i = 1; i < 500; i++) {
        void *block = lc_heap_alloc(heap, (size_t)i, LOCI_MEM_REQUESTS);

        lc_heap_free(heap, block, (size_t)i, LOCI_MEM_REQUESTS);
    }
    return NULL;
}

TEST(heap, threads_count_exactly)
{
    lc_heap heap;
    pthread_t threads[4];

    lc_heap_init(&heap, test_heap());
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, allocate_and_free, &heap), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK_EQ(lc_heap_live_bytes(&heap, LOCI_MEM_REQUESTS), 0);
}

TEST(heap, every_category_has_its_own_name)
{
    for (unsigned a = 0; a < LOCI_MEM_CATEGORIES; a++) {
        CHECK(lc_category_name((loci_category)a) != NULL);
        for (unsigned b = 0; b < a; b++)
            CHECK(strcmp(lc_category_name((loci_category)a), lc_category_name((loci_category)b)));
    }
}
