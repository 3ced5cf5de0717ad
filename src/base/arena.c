/* arena.c - a list of chunks, newest first; from the third on a chunk doubles the one before, up to
 * 1 MiB, or is as large as the piece that did not fit. Invariant: used_bytes <= last->bytes; pieces
 * never move. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

#define CHUNK_BYTES_FIRST 992 /* With its header it still fits malloc's per-thread cache. */
#define CHUNK_BYTES_MAX (1024u * 1024)

struct lc_arena_chunk {
    lc_arena_chunk *before;
    size_t bytes; /* Of `data`. */
    alignas(max_align_t) char data[];
};

void lc_arena_init(lc_arena *arena, lc_heap *heap, loci_category category)
{
    *arena = (lc_arena){.heap = heap, .category = category};
}

static void drop_until(lc_arena *arena, lc_arena_chunk *keep)
{
    while (arena->last != keep) {
        lc_arena_chunk *chunk = arena->last;

        arena->last = chunk->before;
        lc_heap_free(arena->heap, chunk, sizeof *chunk + chunk->bytes, arena->category);
    }
}

void lc_arena_clear(lc_arena *arena)
{
    drop_until(arena, NULL);
    arena->used_bytes = 0;
}

static lc_arena_chunk *add_chunk(lc_arena *arena, size_t piece_bytes)
{
    bool is_early = arena->last == NULL || arena->last->before == NULL;
    size_t bytes = is_early ? CHUNK_BYTES_FIRST : arena->last->bytes * 2;
    lc_arena_chunk *chunk;

    if (bytes > CHUNK_BYTES_MAX)
        bytes = CHUNK_BYTES_MAX;
    if (bytes < piece_bytes)
        bytes = piece_bytes;
    chunk = lc_heap_alloc(arena->heap, sizeof *chunk + bytes, arena->category);
    if (chunk == NULL)
        return NULL;
    chunk->before = arena->last;
    chunk->bytes = bytes;
    arena->last = chunk;
    arena->used_bytes = 0;
    return chunk;
}

void *lc_arena_alloc(lc_arena *arena, size_t bytes)
{
    const size_t unit = alignof(max_align_t);
    size_t rounded;
    char *piece;

    if (bytes > PTRDIFF_MAX / 2)
        return NULL;
    rounded = (bytes + unit - 1) / unit * unit;
    if (arena->last == NULL || arena->last->bytes - arena->used_bytes < rounded) {
        if (add_chunk(arena, rounded) == NULL)
            return NULL;
    }
    piece = arena->last->data + arena->used_bytes;
    arena->used_bytes += rounded;
    return piece;
}

void *lc_arena_zalloc_array(lc_arena *arena, size_t count, size_t each_bytes)
{
    size_t bytes;
    void *piece;

    if (__builtin_mul_overflow(count, each_bytes, &bytes))
        return NULL;
    piece = lc_arena_alloc(arena, bytes);
    if (piece != NULL)
        memset(piece, 0, bytes);
    return piece;
}

loci_str lc_arena_copy(lc_arena *arena, loci_str text)
{
    char *copy = lc_arena_alloc(arena, text.len + 1);

    if (copy == NULL)
        return (loci_str){NULL, 0};
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return (loci_str){copy, text.len};
}

lc_arena_mark lc_arena_get_mark(const lc_arena *arena)
{
    return (lc_arena_mark){.last = arena->last, .used_bytes = arena->used_bytes};
}

void lc_arena_rewind(lc_arena *arena, lc_arena_mark mark)
{
    drop_until(arena, mark.last);
    arena->used_bytes = mark.used_bytes;
}
