/* bitmap.c - Invariant: `words` has `word_count` words, all of them initialised. Growing doubles,
 * so that adding numbers in rising order takes amortised constant time. */
#include "index/bitmap.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"

#define WORDS_FIRST 8
#define WORDS_MAX (LC_INDEX_IDS_MAX / 64)

_Static_assert(LC_INDEX_IDS_MAX % 64 == 0, "the last word is whole");

void lc_bitmap_init(lc_bitmap *bitmap, lc_heap *heap, loci_category category)
{
    *bitmap = (lc_bitmap){.heap = heap, .category = category};
}

void lc_bitmap_clear(lc_bitmap *bitmap)
{
    if (bitmap->words != NULL)
        lc_heap_free(bitmap->heap, bitmap->words, bitmap->word_count * sizeof *bitmap->words,
                     bitmap->category);
    bitmap->words = NULL;
    bitmap->word_count = 0;
}

void lc_bitmap_reset(lc_bitmap *bitmap)
{
    if (bitmap->words != NULL)
        memset(bitmap->words, 0, bitmap->word_count * sizeof *bitmap->words);
}

loci_status lc_bitmap_reserve(lc_bitmap *bitmap, size_t count, loci_error *err)
{
    size_t needed, grown;
    uint64_t *words;

    if (count > LC_INDEX_IDS_MAX)
        return lc_fail(err, LOCI_ELIMIT, "an index holds at most %d documents", LC_INDEX_IDS_MAX);
    needed = (count + 63) / 64;
    if (needed <= bitmap->word_count)
        return LOCI_OK;

    grown = bitmap->word_count == 0 ? WORDS_FIRST : bitmap->word_count * 2;
    if (grown > WORDS_MAX)
        grown = WORDS_MAX;
    if (grown < needed)
        grown = needed;
    words = lc_heap_resize(bitmap->heap, bitmap->words, bitmap->word_count * sizeof *words,
                           grown * sizeof *words, bitmap->category);
    if (words == NULL)
        return lc_fail_memory(err);
    memset(words + bitmap->word_count, 0, (grown - bitmap->word_count) * sizeof *words);
    bitmap->words = words;
    bitmap->word_count = grown;
    return LOCI_OK;
}

loci_status lc_bitmap_add(lc_bitmap *bitmap, uint32_t id, loci_error *err)
{
    loci_status status = lc_bitmap_reserve(bitmap, (size_t)id + 1, err);

    if (status == LOCI_OK)
        bitmap->words[id / 64] |= UINT64_C(1) << (id % 64);
    return status;
}

loci_status lc_bitmap_add_range(lc_bitmap *bitmap, uint32_t first, size_t count, loci_error *err)
{
    size_t end;
    loci_status status;

    if (count == 0)
        return LOCI_OK;
    /* Clamped before the addition, so that the sum cannot wrap; larger values exceed the limit
     * anyway. */
    end = (size_t)first + (count > LC_INDEX_IDS_MAX ? LC_INDEX_IDS_MAX + (size_t)1 : count);
    status = lc_bitmap_reserve(bitmap, end, err);
    if (status != LOCI_OK)
        return status;
    for (size_t id = first; id < end;) {
        size_t bits = 64 - id % 64;

        if (bits > end - id)
            bits = end - id;
        bitmap->words[id / 64] |= (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1)
                                  << (id % 64);
        id += bits;
    }
    return LOCI_OK;
}

void lc_bitmap_remove(lc_bitmap *bitmap, uint32_t id)
{
    if (id / 64 < bitmap->word_count)
        bitmap->words[id / 64] &= ~(UINT64_C(1) << (id % 64));
}

loci_status lc_bitmap_unite(lc_bitmap *bitmap, const lc_bitmap *other, loci_error *err)
{
    loci_status status = lc_bitmap_reserve(bitmap, 64 * other->word_count, err);

    for (size_t i = 0; i < other->word_count && status == LOCI_OK; i++)
        bitmap->words[i] |= other->words[i];
    return status;
}

void lc_bitmap_intersect(lc_bitmap *bitmap, const lc_bitmap *other)
{
    for (size_t i = 0; i < bitmap->word_count; i++)
        bitmap->words[i] &= i < other->word_count ? other->words[i] : 0;
}

size_t lc_bitmap_count(const lc_bitmap *bitmap)
{
    return lc_bitmap_count_common(bitmap, bitmap);
}

size_t lc_bitmap_count_common(const lc_bitmap *a, const lc_bitmap *b)
{
    size_t words = a->word_count < b->word_count ? a->word_count : b->word_count;
    size_t count = 0;

    for (size_t i = 0; i < words; i++)
        count += (size_t)__builtin_popcountll(a->words[i] & b->words[i]);
    return count;
}

bool lc_bitmap_next(const lc_bitmap *bitmap, uint32_t from, uint32_t *out)
{
    size_t index = from / 64;
    uint64_t word;

    if (index >= bitmap->word_count)
        return false;
    word = bitmap->words[index] & UINT64_MAX << (from % 64);
    while (word == 0) {
        if (++index == bitmap->word_count)
            return false;
        word = bitmap->words[index];
    }
    *out = (uint32_t)(index * 64 + (size_t)__builtin_ctzll(word));
    return true;
}
