/* token_cache.c - 64 sets of 4 entries; the first byte of the token's keyed hash chooses the set,
 * and the entry that was read longest ago is replaced. The key is made at open, so no client can
 * choose tokens that fall into one set; and only valid tokens are cached, so guesses evict none.
 *
 * Invariant: everything but `heap` and `key` is used under the lock only. */
#include "engine/token_cache.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"

#define WAYS 4
#define SETS (LC_TOKEN_CACHE_ENTRIES / WAYS)

typedef struct entry {
    lc_token_print print;
    lc_token_moment read; /* When it was read, or before. */
    lc_token token;
} entry;

struct lc_token_cache {
    lc_heap *heap;
    lc_token_print key;
    pthread_mutex_t lock;
    uint64_t generation;
    entry *sets[SETS][WAYS]; /* NULL = never used. */
};

loci_status lc_token_cache_new(lc_heap *heap, lc_token_cache **out, loci_error *err)
{
    lc_token_cache *cache = lc_heap_zalloc(heap, sizeof *cache, LOCI_MEM_CACHES);

    if (cache == NULL)
        return lc_fail_memory(err);
    cache->heap = heap;
    if (!lc_random_secret(&cache->key, sizeof cache->key)) {
        lc_heap_free(heap, cache, sizeof *cache, LOCI_MEM_CACHES);
        return lc_fail(err, LOCI_ERESOURCE, "the system provides no random bytes");
    }
    (void)pthread_mutex_init(&cache->lock, NULL); /* Cannot fail on Linux. */
    *out = cache;
    return LOCI_OK;
}

void lc_token_cache_free(lc_token_cache *cache)
{
    if (cache == NULL)
        return;
    for (int set = 0; set < SETS; set++) {
        for (int way = 0; way < WAYS; way++)
            lc_heap_free(cache->heap, cache->sets[set][way], sizeof(entry), LOCI_MEM_CACHES);
    }
    (void)pthread_mutex_destroy(&cache->lock);
    lc_token_wipe(&cache->key, sizeof cache->key);
    lc_heap_free(cache->heap, cache, sizeof *cache, LOCI_MEM_CACHES);
}

/* The entry with this hash in its set, or NULL. */
static entry *find_entry(lc_token_cache *cache, const lc_token_print *print)
{
    entry **set = cache->sets[print->bytes[0] % SETS];

    for (int way = 0; way < WAYS; way++) {
        if (set[way] != NULL && lc_token_print_is_equal(&set[way]->print, print))
            return set[way];
    }
    return NULL;
}

bool lc_token_cache_find(lc_token_cache *cache, loci_str text, lc_token *out)
{
    int64_t now_us = lc_clock_monotonic_us();
    lc_token_print print;
    bool is_fresh;
    entry *found;

    lc_token_print_make(&cache->key, text, &print);
    (void)pthread_mutex_lock(&cache->lock);
    found = find_entry(cache, &print);
    is_fresh = found != NULL && found->read.generation == cache->generation &&
               now_us - found->read.us < LC_TOKEN_CACHE_US;
    if (is_fresh)
        *out = found->token;
    (void)pthread_mutex_unlock(&cache->lock);
    return is_fresh;
}

lc_token_moment lc_token_cache_moment(lc_token_cache *cache)
{
    lc_token_moment moment = {.us = lc_clock_monotonic_us()};

    (void)pthread_mutex_lock(&cache->lock);
    moment.generation = cache->generation;
    (void)pthread_mutex_unlock(&cache->lock);
    return moment;
}

/* The entry to write to: that of the same token, a new one, or the one read longest ago. */
static entry *make_room(lc_token_cache *cache, const lc_token_print *print)
{
    entry **set = cache->sets[print->bytes[0] % SETS];
    entry *same = find_entry(cache, print);
    entry **oldest = &set[0];

    if (same != NULL)
        return same;
    for (int way = 0; way < WAYS && *oldest != NULL; way++) {
        if (set[way] == NULL || set[way]->read.us < (*oldest)->read.us)
            oldest = &set[way];
    }
    if (*oldest == NULL)
        *oldest = lc_heap_zalloc(cache->heap, sizeof(entry), LOCI_MEM_CACHES);
    return *oldest;
}

void lc_token_cache_put(lc_token_cache *cache, loci_str text, lc_token_moment before,
                        const lc_token *token)
{
    lc_token_print print;
    entry *place;

    lc_token_print_make(&cache->key, text, &print);
    (void)pthread_mutex_lock(&cache->lock);
    place = make_room(cache, &print);
    if (place != NULL)
        *place = (entry){.print = print, .read = before, .token = *token};
    (void)pthread_mutex_unlock(&cache->lock);
}

void lc_token_cache_forget(lc_token_cache *cache)
{
    (void)pthread_mutex_lock(&cache->lock);
    cache->generation++;
    (void)pthread_mutex_unlock(&cache->lock);
}
