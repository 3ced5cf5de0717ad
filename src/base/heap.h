/* heap.h - all memory of an engine, counted per category of use.
 *
 * Every allocation names its category, so that the guard can account for and refuse it without the
 * caller knowing. Sizes are given back on free: the counters are exact and a wrong size is a bug
 * that the test heap finds. NULL always means out of memory, never a size of zero.
 */
#ifndef LC_BASE_HEAP_H
#define LC_BASE_HEAP_H

#include "loci.h"

#include <stdatomic.h>

typedef struct lc_heap {
    loci_allocator allocator;
    _Atomic int64_t live_bytes[LOCI_MEM_CATEGORIES];
} lc_heap;

/* `allocator` with a NULL function means malloc. */
void lc_heap_init(lc_heap *heap, loci_allocator allocator);

void *lc_heap_alloc(lc_heap *heap, size_t bytes, loci_category category);
/* The same, zeroed. */
void *lc_heap_zalloc(lc_heap *heap, size_t bytes, loci_category category);
/* Keeps the content; on NULL the old block is unchanged. `ptr` NULL allocates. */
void *lc_heap_resize(lc_heap *heap, void *ptr, size_t old_bytes, size_t new_bytes,
                     loci_category category);
/* NULL is fine. */
void lc_heap_free(lc_heap *heap, void *ptr, size_t bytes, loci_category category);

int64_t lc_heap_live_bytes(const lc_heap *heap, loci_category category);
const char *lc_category_name(loci_category category);

#endif /* LC_BASE_HEAP_H */
