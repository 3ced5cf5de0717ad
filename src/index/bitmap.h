/* bitmap.h - a set of document numbers, such as those a search may see or those an index contains.
 *
 * A plain array of bits that grows to the largest number ever added; numbers are small and dense,
 * so a compressed form would not pay. Numbers beyond the array are not in the set. Searching code
 * may read `words` directly: bit n % 64 of word n / 64 belongs to number n. One thread at a time
 * changes it; any number may read while none does.
 */
#ifndef LC_INDEX_BITMAP_H
#define LC_INDEX_BITMAP_H

#include "base/heap.h"

#include <stdbool.h>

typedef struct lc_bitmap {
    lc_heap *heap;
    loci_category category;
    uint64_t *words;   /* NULL while `word_count` is 0. */
    size_t word_count; /* Every bit of every word is valid. */
} lc_bitmap;

void lc_bitmap_init(lc_bitmap *bitmap, lc_heap *heap, loci_category category);
/* Frees the bits; the bitmap is empty and can be used again. */
void lc_bitmap_clear(lc_bitmap *bitmap);
/* Empties it and keeps the memory. */
void lc_bitmap_reset(lc_bitmap *bitmap);

/* Makes room for the numbers below `count`, so that adding them cannot fail. LOCI_ELIMIT above
 * LC_INDEX_IDS_MAX. */
loci_status lc_bitmap_reserve(lc_bitmap *bitmap, size_t count, loci_error *err);
/* Adding a number that is in the set is fine; on failure nothing changed. */
loci_status lc_bitmap_add(lc_bitmap *bitmap, uint32_t id, loci_error *err);
/* Adds `first` and the `count` - 1 numbers after it. */
loci_status lc_bitmap_add_range(lc_bitmap *bitmap, uint32_t first, size_t count, loci_error *err);
/* Removing a number that is not in the set is fine. */
void lc_bitmap_remove(lc_bitmap *bitmap, uint32_t id);
/* Adds all numbers of `other`; on failure nothing changed. */
loci_status lc_bitmap_unite(lc_bitmap *bitmap, const lc_bitmap *other, loci_error *err);
/* Keeps only numbers that are in `other`, too. */
void lc_bitmap_intersect(lc_bitmap *bitmap, const lc_bitmap *other);

static inline bool lc_bitmap_has(const lc_bitmap *bitmap, uint32_t id)
{
    return id / 64 < bitmap->word_count && (bitmap->words[id / 64] >> (id % 64) & 1) != 0;
}

/* How many numbers are in it; counts them all. */
size_t lc_bitmap_count(const lc_bitmap *bitmap);
/* How many are in both. */
size_t lc_bitmap_count_common(const lc_bitmap *a, const lc_bitmap *b);
/* The smallest number in it that is at least `from`; false when there is none. To visit all:
 *     for (uint32_t id = 0; lc_bitmap_next(bitmap, id, &id); id++) */
bool lc_bitmap_next(const lc_bitmap *bitmap, uint32_t from, uint32_t *out);

#endif /* LC_INDEX_BITMAP_H */
