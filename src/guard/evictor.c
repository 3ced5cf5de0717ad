/* evictor.c - Invariant: caches[0..count) are registered, in no order.
 *
 * The list may change during every callback, so nothing is kept over one but the cache it is about.
 * The size of a cache is asked again after it evicted: what it says to have freed and how much
 * smaller it is may differ, and the larger of the two would let a cache that only claims to free
 * memory satisfy the need. The smaller one is used. A cache that frees nothing is not asked again
 * in the same run, so a run ends whatever the caches do.
 */
#include "guard/evictor.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

static size_t find(const lc_evictor *evictor, loci_str name)
{
    size_t at = 0;

    while (at < evictor->count && !lc_str_is(name, evictor->caches[at]->name))
        at++;
    return at;
}

bool lc_evictor_has(const lc_evictor *evictor, loci_str name)
{
    return find(evictor, name) < evictor->count;
}

loci_status lc_evictor_add(lc_evictor *evictor, const loci_cache *cache, loci_error *err)
{
    loci_str name = loci_str_of(cache->name);
    lc_cache *entry;

    if (cache->bytes == NULL || cache->evict == NULL)
        return lc_fail(err, LOCI_EINVAL, "cache %s: the functions bytes and evict are required",
                       cache->name);
    if (cache->min_bytes < 0)
        return lc_fail(err, LOCI_EINVAL, "cache %s: min_bytes is %lld, not 0 or more", cache->name,
                       (long long)cache->min_bytes);
    if (evictor->count == LC_GUARD_CACHES_MAX)
        return lc_fail(err, LOCI_ELIMIT,
                       "cache %s: %d caches are registered, the maximum; remove one first",
                       cache->name, LC_GUARD_CACHES_MAX);
    entry = lc_heap_zalloc(evictor->heap, sizeof *entry, LOCI_MEM_ENGINE);
    if (entry == NULL)
        return lc_fail_memory(err);
    entry->host = *cache;
    memcpy(entry->name, name.ptr, name.len);
    entry->host.name = entry->name;
    evictor->caches[evictor->count++] = entry;
    return LOCI_OK;
}

static void free_cache(lc_evictor *evictor, lc_cache *cache)
{
    lc_heap_free(evictor->heap, cache, sizeof *cache, LOCI_MEM_ENGINE);
}

bool lc_evictor_remove(lc_evictor *evictor, loci_str name)
{
    size_t at = find(evictor, name);
    lc_cache *cache;

    if (at == evictor->count)
        return false;
    cache = evictor->caches[at];
    evictor->caches[at] = evictor->caches[--evictor->count];
    if (lc_gate_await(evictor->gate, cache))
        free_cache(evictor, cache);
    else
        cache->is_removed = true;
    return true;
}

void lc_evictor_clear(lc_evictor *evictor)
{
    for (size_t i = 0; i < evictor->count; i++)
        free_cache(evictor, evictor->caches[i]);
    evictor->count = 0;
}

/* Asks one cache; false: it was removed meanwhile. */
static bool ask_size(lc_evictor *evictor, lc_cache *cache)
{
    int64_t bytes;

    lc_gate_out(evictor->gate, cache);
    bytes = cache->host.bytes(cache->host.ctx);
    lc_gate_back(evictor->gate);
    if (cache->is_removed) {
        free_cache(evictor, cache);
        return false;
    }
    if (bytes < 0 || bytes > LC_GUARD_BYTES_MAX)
        bytes = bytes < 0 ? 0 : LC_GUARD_BYTES_MAX;
    cache->bytes = bytes;
    return true;
}

void lc_evictor_refresh(lc_evictor *evictor)
{
    evictor->bytes = evictor->counted_bytes = 0;
    for (size_t i = 0; i < evictor->count; i++) {
        lc_cache *cache = evictor->caches[i];

        if (!ask_size(evictor, cache))
            continue; /* Another cache may have moved to its place; its size is the last one. */
        evictor->bytes += cache->bytes;
        if ((cache->host.flags & LOCI_GUARD_CHARGED) == 0)
            evictor->counted_bytes += cache->bytes;
    }
}

/* The cache with the most bytes above its minimum, or NULL. */
static lc_cache *largest(const lc_evictor *evictor)
{
    lc_cache *best = NULL;

    for (size_t i = 0; i < evictor->count; i++) {
        lc_cache *cache = evictor->caches[i];

        if (!cache->is_exhausted && cache->bytes > cache->host.min_bytes &&
            (best == NULL ||
             cache->bytes - cache->host.min_bytes > best->bytes - best->host.min_bytes))
            best = cache;
    }
    return best;
}

/* Returns the bytes that the cache really became smaller. */
static int64_t evict(lc_evictor *evictor, lc_cache *cache, int64_t want_bytes, int64_t budget_us)
{
    int64_t before = cache->bytes, freed, most = before - cache->host.min_bytes;

    lc_gate_out(evictor->gate, cache);
    freed = cache->host.evict(cache->host.ctx, want_bytes < most ? want_bytes : most, budget_us);
    lc_gate_back(evictor->gate);
    if (cache->is_removed) {
        free_cache(evictor, cache);
        return 0;
    }
    if (!ask_size(evictor, cache))
        return 0;
    freed = freed < before - cache->bytes ? freed : before - cache->bytes;
    if (freed <= 0) {
        cache->is_exhausted = true;
        return 0;
    }
    cache->freed_bytes += freed;
    cache->eviction_count++;
    lc_gate_note(evictor->gate, "evicted", cache->name, freed);
    return freed;
}

lc_evicted lc_evictor_run(lc_evictor *evictor, int64_t want_bytes)
{
    int64_t began_us = evictor->clock(evictor->clock_ctx), spent_us = 0;
    lc_evicted result = {0};
    lc_cache *cache;

    for (size_t i = 0; i < evictor->count; i++)
        evictor->caches[i]->is_exhausted = false;
    while (result.freed_bytes < want_bytes && (cache = largest(evictor)) != NULL) {
        if (spent_us >= LC_EVICTOR_SLICE_US) {
            result.is_cut = true;
            break;
        }
        result.freed_bytes += evict(evictor, cache, want_bytes - result.freed_bytes,
                                    LC_EVICTOR_SLICE_US - spent_us);
        spent_us = evictor->clock(evictor->clock_ctx) - began_us;
    }
    return result;
}
