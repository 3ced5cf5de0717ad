/* user_cache.h - the states that rooms keep in memory about users (store/user_kind.h).
 *
 * The cache has one entry per user and, in it, one state per kind. It takes any number of users:
 * when the states together exceed the limit, the least recently used entries are evicted, except
 * those in use. The entry of a user that is larger than the limit by itself stays as long as it is
 * the most recently used one or is being built, and evicts no others: so large users can be built
 * in slices and used, and the cache exceeds its limit by one of them. A limit of 0 keeps nothing.
 *
 * A read transaction borrows a state through lc_tx.states. The cache then brings the state to the
 * head of that snapshot and lends it to this thread alone. One slice is spent on that per snapshot
 * (lc_tx_slice_end_us()). If the state is not complete by then, or is ahead of the snapshot, or
 * another thread has it, borrowing fails with LOCI_ECONFLICT and lc_lender.must_retry is set: the
 * body is run again on a new snapshot, which does the next slice. A lender that may not retry lends
 * the incomplete state, or a private one that is closed when it is given back.
 *
 * A peek reads a state without a transaction. It succeeds only if nothing was committed since the
 * state was last brought up to date: see lc_watch_version().
 *
 * Any thread.
 */
#ifndef LC_ENGINE_USER_CACHE_H
#define LC_ENGINE_USER_CACHE_H

#include "store/user_kind.h"

typedef struct lc_user_cache lc_user_cache;

loci_status lc_user_cache_new(lc_heap *heap, lc_user_cache **out, loci_error *err);
void lc_user_cache_free(lc_user_cache *cache); /* Nothing is lent any more. NULL is fine. */

/* Bytes of all entries together; a new cache has no limit. */
void lc_user_cache_set_limit(lc_user_cache *cache, size_t bytes_max);
/* Evicts least recently used entries, one after the other, until `bytes` are freed, the time is
 * `until_us` (monotonic; INT64_MAX = none), or all others are in use; returns the bytes freed. */
size_t lc_user_cache_evict(lc_user_cache *cache, size_t bytes, int64_t until_us);
/* The store was replaced: drops every entry. States that are lent now are closed when they are
 * given back. */
void lc_user_cache_clear(lc_user_cache *cache);

typedef struct lc_user_cache_counters {
    int64_t entries; /* Users, now. */
    int64_t bytes;   /* Now. */
    int64_t hits;    /* States lent that had been built before, and answered peeks. */
    int64_t peeks;   /* The answered peeks among them. */
    int64_t misses;  /* States lent that had to be built from nothing. */
    int64_t evictions;
} lc_user_cache_counters;
lc_user_cache_counters lc_user_cache_get_counters(lc_user_cache *cache);

/* ---- Borrowing in a transaction -------------------------------------------------------------- */

/* The lender of one run of a body. The caller's storage; lc_lender_init() first. */
typedef struct lc_lender {
    lc_user_states states; /* For lc_tx.states. */
    lc_user_cache *cache;
    uint64_t version;      /* In: lc_watch_version() before the snapshot; 0 = unknown. */
    bool may_retry;        /* In: the body is run again if must_retry was set. */
    bool must_retry;       /* Out: why borrowing failed: a new snapshot, or a little time, helps. */
    void *loan;            /* Private: the state lent now; NULL = none. */
    int64_t restore_mark;  /* Private: of the snapshot, */
    bool has_restore_mark; /* once it was read. */
} lc_lender;

void lc_lender_init(lc_lender *lender, lc_user_cache *cache);
/* For transactions that write: every borrow builds a private state, because the shared ones must
 * not read rows that may be rolled back. */
extern const lc_user_states lc_private_states;

/* ---- Peeking --------------------------------------------------------------------------------- */

typedef struct lc_peek {
    loci_str tenant_id;
    loci_str user_id;
    const lc_user_kind *kind;
    /* Reads the state, and nothing else; false = the answer is not in it. */
    bool (*look)(void *ctx, const void *state);
    void *ctx;
} lc_peek;

/* False when the user's state is not there, not complete, lent, or not of `version` (not 0). */
bool lc_user_cache_peek(lc_user_cache *cache, const lc_peek *peek, uint64_t version);

#endif /* LC_ENGINE_USER_CACHE_H */
