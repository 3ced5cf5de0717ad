/* fact_cache.c - a small table of users, each with its index and a lock of its own.
 *
 * Invariants: `entries`, `tick` and `generation` are touched under `lock` only; an entry that is in
 * use (users > 0) is not given up; its index is touched under its own lock. The two locks are never
 * taken in the other order. */
#include "engine/fact_cache.h"

#include <pthread.h>

#include "base/error.h"
#include "base/str.h"
#include "talk/reading.h"

typedef struct entry {
    char *tenant_id, *user_id; /* One block, the index's name. */
    size_t name_bytes;
    lc_fact_index *index;
    lc_readings *readings; /* NULL = lent out, or none yet. */
    bool is_lent;
    size_t readings_bytes;
    pthread_mutex_t lock;
    int users;           /* Threads that use it or wait for it. */
    uint64_t used_at;    /* Tick of the last use. */
    uint64_t generation; /* Of the store it was made from. */
    size_t bytes;        /* After the last use. */
} entry;

struct lc_fact_cache {
    lc_heap *heap;
    pthread_mutex_t lock;
    entry *entries[LC_FACT_CACHE_ENTRIES]; /* NULL = free. */
    uint64_t tick, generation;
};

loci_status lc_fact_cache_new(lc_heap *heap, lc_fact_cache **out, loci_error *err)
{
    lc_fact_cache *cache = lc_heap_zalloc(heap, sizeof *cache, LOCI_MEM_CACHES);

    if (cache == NULL)
        return lc_fail_memory(err);
    cache->heap = heap;
    (void)pthread_mutex_init(&cache->lock, NULL); /* Does not fail on Linux. */
    *out = cache;
    return LOCI_OK;
}

static void free_entry(lc_fact_cache *cache, entry *e)
{
    if (e == NULL)
        return;
    lc_fact_index_free(e->index);
    lc_readings_free(e->readings);
    (void)pthread_mutex_destroy(&e->lock);
    lc_heap_free(cache->heap, e->tenant_id, e->name_bytes, LOCI_MEM_CACHES);
    lc_heap_free(cache->heap, e, sizeof *e, LOCI_MEM_CACHES);
}

void lc_fact_cache_free(lc_fact_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < LC_FACT_CACHE_ENTRIES; i++)
        free_entry(cache, cache->entries[i]);
    (void)pthread_mutex_destroy(&cache->lock);
    lc_heap_free(cache->heap, cache, sizeof *cache, LOCI_MEM_CACHES);
}

void lc_fact_cache_forget(lc_fact_cache *cache)
{
    (void)pthread_mutex_lock(&cache->lock);
    cache->generation++;
    (void)pthread_mutex_unlock(&cache->lock);
}

static loci_status new_entry(lc_fact_cache *cache, const lc_tx *tx, entry **out, loci_error *err)
{
    entry *e = lc_heap_zalloc(cache->heap, sizeof *e, LOCI_MEM_CACHES);
    loci_status status;

    if (e == NULL)
        return lc_fail_memory(err);
    (void)pthread_mutex_init(&e->lock, NULL);
    e->name_bytes = tx->tenant_id.len + tx->user_id.len + 2;
    e->tenant_id = lc_heap_zalloc(cache->heap, e->name_bytes, LOCI_MEM_CACHES);
    status = e->tenant_id != NULL ? lc_fact_index_new(cache->heap, &e->index, err)
                                  : lc_fail_memory(err);
    if (status != LOCI_OK) {
        free_entry(cache, e);
        return status;
    }
    e->user_id = e->tenant_id + tx->tenant_id.len + 1;
    memcpy(e->tenant_id, tx->tenant_id.ptr, tx->tenant_id.len);
    memcpy(e->user_id, tx->user_id.ptr, tx->user_id.len);
    e->generation = cache->generation;
    *out = e;
    return LOCI_OK;
}

static bool is_of(const entry *e, const lc_tx *tx)
{
    return e != NULL && lc_str_is(tx->tenant_id, e->tenant_id) &&
           lc_str_is(tx->user_id, e->user_id);
}

static size_t total_bytes(const lc_fact_cache *cache)
{
    size_t bytes = 0;

    for (size_t i = 0; i < LC_FACT_CACHE_ENTRIES; i++)
        if (cache->entries[i] != NULL)
            bytes += cache->entries[i]->bytes + cache->entries[i]->readings_bytes;
    return bytes;
}

/* Gives up the entry not used for the longest time; false when all are in use. */
static bool give_up_one(lc_fact_cache *cache)
{
    size_t oldest = LC_FACT_CACHE_ENTRIES;

    for (size_t i = 0; i < LC_FACT_CACHE_ENTRIES; i++) {
        const entry *e = cache->entries[i];

        if (e != NULL && e->users == 0 &&
            (oldest == LC_FACT_CACHE_ENTRIES || e->used_at < cache->entries[oldest]->used_at))
            oldest = i;
    }
    if (oldest == LC_FACT_CACHE_ENTRIES)
        return false;
    free_entry(cache, cache->entries[oldest]);
    cache->entries[oldest] = NULL;
    return true;
}

/* The place of the user's entry, or a free one; LC_FACT_CACHE_ENTRIES when all are in use. */
static size_t find_place(lc_fact_cache *cache, const lc_tx *tx)
{
    for (size_t i = 0; i < LC_FACT_CACHE_ENTRIES; i++)
        if (is_of(cache->entries[i], tx))
            return i;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < LC_FACT_CACHE_ENTRIES; i++)
            if (cache->entries[i] == NULL)
                return i;
        if (!give_up_one(cache))
            break;
    }
    return LC_FACT_CACHE_ENTRIES;
}

/* The user's entry, counted as used; NULL when there is no place for it. */
static loci_status borrow(lc_fact_cache *cache, const lc_tx *tx, entry **out, loci_error *err)
{
    loci_status status = LOCI_OK;
    size_t place;

    (void)pthread_mutex_lock(&cache->lock);
    place = find_place(cache, tx);
    *out = NULL;
    if (place < LC_FACT_CACHE_ENTRIES) {
        if (cache->entries[place] == NULL)
            status = new_entry(cache, tx, &cache->entries[place], err);
        *out = cache->entries[place];
    }
    if (*out != NULL) {
        (*out)->users++;
        (*out)->used_at = ++cache->tick;
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return status;
}

static void give_back(lc_fact_cache *cache, entry *e, size_t bytes)
{
    (void)pthread_mutex_lock(&cache->lock);
    e->users--;
    e->bytes = bytes;
    while (total_bytes(cache) > LC_FACT_CACHE_BYTES && give_up_one(cache))
        continue;
    (void)pthread_mutex_unlock(&cache->lock);
}

/* ---- Readings -------------------------------------------------------------------------------- */

static entry *find_entry(lc_fact_cache *cache, const lc_tx *tx)
{
    for (size_t i = 0; i < LC_FACT_CACHE_ENTRIES; i++)
        if (is_of(cache->entries[i], tx))
            return cache->entries[i];
    return NULL;
}

lc_readings *lc_fact_cache_lend_readings(lc_fact_cache *cache, const lc_tx *tx)
{
    lc_readings *readings = NULL;
    entry *e;

    if (borrow(cache, tx, &e, NULL) != LOCI_OK || e == NULL)
        return NULL;
    (void)pthread_mutex_lock(&cache->lock);
    e->users--;
    if (!e->is_lent) {
        if (e->readings == NULL)
            (void)lc_readings_new(cache->heap, &e->readings, NULL);
        readings = e->readings;
        e->readings = NULL;
        e->is_lent = readings != NULL;
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return readings;
}

void lc_fact_cache_take_readings(lc_fact_cache *cache, const lc_tx *tx, lc_readings *readings)
{
    entry *e;

    if (readings == NULL)
        return;
    lc_readings_trim(readings);
    (void)pthread_mutex_lock(&cache->lock);
    e = find_entry(cache, tx);
    if (e != NULL && e->readings == NULL) {
        e->readings = readings;
        e->readings_bytes = lc_readings_bytes(readings);
        e->is_lent = false;
        readings = NULL;
    }
    (void)pthread_mutex_unlock(&cache->lock);
    lc_readings_free(readings); /* Its user had to go meanwhile. */
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static loci_status choose_from(lc_fact_index *index, lc_tx *tx, const lc_fact_request *request,
                               lc_arena *arena, lc_fact_choice *out, loci_error *err)
{
    loci_status status = lc_fact_index_catch_up(index, tx, err);

    return status == LOCI_OK ? lc_fact_index_choose(index, tx, request, arena, out, err) : status;
}

/* An index for this call alone: the cache is full of busy ones, or is ahead of the snapshot. */
static loci_status choose_alone(lc_fact_cache *cache, lc_tx *tx, const lc_fact_request *request,
                                lc_arena *arena, lc_fact_choice *out, loci_error *err)
{
    lc_fact_index *index = NULL;
    loci_status status = lc_fact_index_new(cache->heap, &index, err);

    if (status == LOCI_OK)
        status = choose_from(index, tx, request, arena, out, err);
    lc_fact_index_free(index);
    return status;
}

static uint64_t generation_of(lc_fact_cache *cache)
{
    uint64_t generation;

    (void)pthread_mutex_lock(&cache->lock);
    generation = cache->generation;
    (void)pthread_mutex_unlock(&cache->lock);
    return generation;
}

static loci_status choose(void *ctx, lc_tx *tx, const lc_fact_request *request, lc_arena *arena,
                          lc_fact_choice *out, loci_error *err)
{
    lc_fact_cache *cache = ctx;
    uint64_t generation = generation_of(cache);
    size_t bytes;
    entry *e;
    loci_status status = borrow(cache, tx, &e, err);

    if (status != LOCI_OK)
        return status;
    if (e == NULL)
        return choose_alone(cache, tx, request, arena, out, err);
    (void)pthread_mutex_lock(&e->lock);
    if (e->generation != generation) {
        lc_fact_index_reset(e->index);
        e->generation = generation;
    }
    status = choose_from(e->index, tx, request, arena, out, err);
    bytes = lc_fact_index_bytes(e->index);
    (void)pthread_mutex_unlock(&e->lock);
    give_back(cache, e, bytes);
    if (status == LOCI_ECONFLICT)
        status = choose_alone(cache, tx, request, arena, out, err);
    return status;
}

lc_fact_chooser lc_fact_cache_chooser(lc_fact_cache *cache)
{
    return (lc_fact_chooser){.choose = choose, .ctx = cache};
}
