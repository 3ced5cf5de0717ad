/* heap.c - Invariant: live_bytes[c] is the sum of the sizes of the blocks of category c. */
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static void *resize_with_malloc(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes,
                                loci_category category)
{
    (void)ctx;
    (void)old_bytes;
    (void)category;
    if (new_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_bytes);
}

void lc_heap_init(lc_heap *heap, loci_allocator allocator)
{
    memset(heap, 0, sizeof *heap);
    heap->allocator = allocator;
    if (heap->allocator.resize == NULL)
        heap->allocator.resize = resize_with_malloc;
}

static void count(lc_heap *heap, loci_category category, int64_t delta_bytes)
{
    atomic_fetch_add_explicit(&heap->live_bytes[category], delta_bytes, memory_order_relaxed);
}

void *lc_heap_resize(lc_heap *heap, void *ptr, size_t old_bytes, size_t new_bytes,
                     loci_category category)
{
    void *block;

    LC_ASSERT(new_bytes > 0);
    LC_ASSERT(new_bytes <= PTRDIFF_MAX);
    block = heap->allocator.resize(heap->allocator.ctx, ptr, old_bytes, new_bytes, category);
    if (block != NULL)
        count(heap, category, (int64_t)new_bytes - (int64_t)old_bytes);
    return block;
}

void *lc_heap_alloc(lc_heap *heap, size_t bytes, loci_category category)
{
    return lc_heap_resize(heap, NULL, 0, bytes, category);
}

void *lc_heap_zalloc(lc_heap *heap, size_t bytes, loci_category category)
{
    void *block = lc_heap_alloc(heap, bytes, category);

    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

void lc_heap_free(lc_heap *heap, void *ptr, size_t bytes, loci_category category)
{
    if (ptr == NULL)
        return;
    (void)heap->allocator.resize(heap->allocator.ctx, ptr, bytes, 0, category); /* Answers NULL. */
    count(heap, category, -(int64_t)bytes);
}

int64_t lc_heap_live_bytes(const lc_heap *heap, loci_category category)
{
    return atomic_load_explicit(&heap->live_bytes[category], memory_order_relaxed);
}

const char *lc_category_name(loci_category category)
{
    static const char *const names[LOCI_MEM_CATEGORIES] = {
        [LOCI_MEM_ENGINE] = "engine",
        [LOCI_MEM_REQUESTS] = "requests",
        [LOCI_MEM_CACHES] = "caches",
        [LOCI_MEM_INDEX] = "index",
        [LOCI_MEM_PIPELINES] = "pipelines",
        [LOCI_MEM_LLM_BUFFERS] = "llm_buffers",
        [LOCI_MEM_WAL] = "wal",
    };

    LC_ASSERT(category < LOCI_MEM_CATEGORIES);
    return names[category];
}
