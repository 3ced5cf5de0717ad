/* evictor.h - layer 5 of the guard: makes caches smaller.
 *
 * By bytes, the largest cache first, never below a cache's minimum, until enough is freed, nothing
 * is left, or the slice of 500 µs is over; the next tick continues. The caches choose what to drop.
 */
#ifndef LC_GUARD_EVICTOR_H
#define LC_GUARD_EVICTOR_H

#include "base/heap.h"
#include "guard/gate.h"

#define LC_EVICTOR_SLICE_US 500

/* A registered cache. */
typedef struct lc_cache {
    loci_cache host;
    char name[LC_GUARD_NAME_BYTES_MAX + 1];
    int64_t bytes;       /* When last asked. */
    int64_t freed_bytes; /* By all evictions. */
    uint64_t eviction_count;
    bool is_exhausted; /* In this run: it freed nothing. */
    bool is_removed;   /* By its own callback. */
} lc_cache;

typedef struct lc_evictor {
    lc_heap *heap;
    lc_gate *gate;
    loci_clock_fn *clock; /* Monotonic µs. */
    void *clock_ctx;
    lc_cache *caches[LC_GUARD_CACHES_MAX];
    size_t count;
    int64_t bytes;         /* Sum of sizes at the last refresh, */
    int64_t counted_bytes; /* and of those that are not charged. */
} lc_evictor;

/* The result of a run. */
typedef struct lc_evicted {
    int64_t freed_bytes;
    bool is_cut; /* The slice ended before the work did. */
} lc_evicted;

/* All functions are called inside the gate. */
loci_status lc_evictor_add(lc_evictor *evictor, const loci_cache *cache, loci_error *err);
/* False: no such cache. Waits for a running callback. */
bool lc_evictor_remove(lc_evictor *evictor, loci_str name);
bool lc_evictor_has(const lc_evictor *evictor, loci_str name);
void lc_evictor_clear(lc_evictor *evictor);

/* Asks all caches for their sizes. */
void lc_evictor_refresh(lc_evictor *evictor);
lc_evicted lc_evictor_run(lc_evictor *evictor, int64_t want_bytes);

#endif /* LC_GUARD_EVICTOR_H */
