/* memo.c - 1,024 sets of 4 entries. Everything is forgotten by counting on: an entry of an older
 * generation is as good as none, and its memory is given back when its place is needed.
 */
#include "store/memo.h"

#include <stdalign.h>
#include <string.h>

#include "base/hash.h"

#define WAYS 4
#define SETS (LC_MEMO_ENTRIES / WAYS)

typedef struct entry {
    uint64_t generation;
    size_t bytes; /* Of what is remembered; the key follows it. */
    size_t key_bytes;
    alignas(max_align_t) char data[];
} entry;

struct lc_memo {
    lc_heap *heap;
    uint64_t generation;
    entry *sets[SETS][WAYS];
    uint8_t victims[SETS]; /* The way that is given up next. */
};

lc_memo *lc_memo_new(lc_heap *heap)
{
    lc_memo *memo = lc_heap_zalloc(heap, sizeof *memo, LOCI_MEM_CACHES);

    if (memo != NULL)
        memo->heap = heap;
    return memo;
}

static void give_up(lc_memo *memo, entry **at)
{
    if (*at != NULL)
        lc_heap_free(memo->heap, *at, sizeof **at + (*at)->bytes + (*at)->key_bytes,
                     LOCI_MEM_CACHES);
    *at = NULL;
}

void lc_memo_free(lc_memo *memo)
{
    if (memo == NULL)
        return;
    for (size_t i = 0; i < SETS; i++) {
        for (size_t way = 0; way < WAYS; way++)
            give_up(memo, &memo->sets[i][way]);
    }
    lc_heap_free(memo->heap, memo, sizeof *memo, LOCI_MEM_CACHES);
}

static size_t set_of(loci_str key)
{
    return lc_hash64(key) % SETS;
}

/* The way of a key in its set; WAYS when it is not there. */
static size_t way_of(const lc_memo *memo, size_t set, loci_str key)
{
    size_t way = 0;

    for (; way < WAYS; way++) {
        const entry *e = memo->sets[set][way];

        if (e != NULL && e->generation == memo->generation && e->key_bytes == key.len &&
            memcmp(e->data + e->bytes, key.ptr, key.len) == 0)
            break;
    }
    return way;
}

/* One that is free, or else somebody's. */
static size_t free_way(lc_memo *memo, size_t set)
{
    for (size_t way = 0; way < WAYS; way++) {
        const entry *e = memo->sets[set][way];

        if (e == NULL || e->generation != memo->generation)
            return way;
    }
    return memo->victims[set]++ % WAYS;
}

void *lc_memo_put(lc_memo *memo, loci_str key, size_t bytes)
{
    size_t set, way;
    entry *e;

    if (memo == NULL)
        return NULL;
    lc_memo_drop(memo, key);
    if (key.len > LC_MEMO_BYTES || bytes > LC_MEMO_BYTES - key.len)
        return NULL;
    e = lc_heap_alloc(memo->heap, sizeof *e + bytes + key.len, LOCI_MEM_CACHES);
    if (e == NULL)
        return NULL;
    e->generation = memo->generation;
    e->bytes = bytes;
    e->key_bytes = key.len;
    memcpy(e->data + bytes, key.ptr, key.len);
    set = set_of(key);
    way = free_way(memo, set);
    give_up(memo, &memo->sets[set][way]);
    memo->sets[set][way] = e;
    return e->data;
}

const void *lc_memo_find(const lc_memo *memo, loci_str key)
{
    size_t set, way;

    if (memo == NULL)
        return NULL;
    set = set_of(key);
    way = way_of(memo, set, key);
    return way < WAYS ? memo->sets[set][way]->data : NULL;
}

void lc_memo_drop(lc_memo *memo, loci_str key)
{
    size_t set, way;

    if (memo == NULL)
        return;
    set = set_of(key);
    way = way_of(memo, set, key);
    if (way < WAYS)
        give_up(memo, &memo->sets[set][way]);
}

void lc_memo_clear(lc_memo *memo)
{
    if (memo != NULL)
        memo->generation++;
}
