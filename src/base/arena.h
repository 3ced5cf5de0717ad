/* arena.h - memory for work with one lifetime: taken in pieces, given back at once.
 *
 * Zeroed storage with a heap is a valid arena. Pieces are aligned for any type. lc_arena_rewind()
 * goes back to a mark, so that a body that is run again does not grow with every run.
 */
#ifndef LC_BASE_ARENA_H
#define LC_BASE_ARENA_H

#include "base/heap.h"

typedef struct lc_arena_chunk lc_arena_chunk;

typedef struct lc_arena {
    lc_heap *heap;
    loci_category category;
    lc_arena_chunk *last; /* The chunk pieces are taken from; it links to the ones before. */
    size_t used_bytes;    /* Of `last`. */
} lc_arena;

typedef struct lc_arena_mark {
    lc_arena_chunk *last;
    size_t used_bytes;
} lc_arena_mark;

void lc_arena_init(lc_arena *arena, lc_heap *heap, loci_category category);
/* Gives everything back; the arena can be used again. */
void lc_arena_clear(lc_arena *arena);

/* NULL when out of memory. Not zeroed. `bytes` may be 0. */
void *lc_arena_alloc(lc_arena *arena, size_t bytes);
/* NULL when out of memory or when the product overflows. Zeroed. */
void *lc_arena_zalloc_array(lc_arena *arena, size_t count, size_t each_bytes);
/* A terminated copy; `ptr` is NULL when out of memory. */
loci_str lc_arena_copy(lc_arena *arena, loci_str text);

lc_arena_mark lc_arena_get_mark(const lc_arena *arena);
void lc_arena_rewind(lc_arena *arena, lc_arena_mark mark);

#endif /* LC_BASE_ARENA_H */
