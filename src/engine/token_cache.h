/* token_cache.h - tokens that were read from the store a moment ago, so that a request need not
 * read its token again.
 *
 * A token is cached for at most LC_TOKEN_CACHE_US: that is how long a revocation by another process
 * may take to be noticed. Revocations by this process take effect at once: lc_token_cache_forget()
 * after the commit makes all entries stale, and those being read at that moment. The caller checks
 * the expiry at every use. The cache has no texts of tokens, only keyed hashes. Any thread.
 */
#ifndef LC_ENGINE_TOKEN_CACHE_H
#define LC_ENGINE_TOKEN_CACHE_H

#include "base/heap.h"
#include "store/token.h"

#define LC_TOKEN_CACHE_US 1000000
#define LC_TOKEN_CACHE_ENTRIES 256

typedef struct lc_token_cache lc_token_cache;

typedef struct lc_token_moment {
    uint64_t generation; /* Number of changes of tokens so far. */
    int64_t us;          /* Monotonic. */
} lc_token_moment;

loci_status lc_token_cache_new(lc_heap *heap, lc_token_cache **out, loci_error *err);
void lc_token_cache_free(lc_token_cache *cache); /* NULL is fine. */

/* Finds the token whose text is `text`; false when it is not cached. */
bool lc_token_cache_find(lc_token_cache *cache, loci_str text, lc_token *out);
/* Caches `token`, which was read after `before`; does nothing when out of memory. */
void lc_token_cache_put(lc_token_cache *cache, loci_str text, lc_token_moment before,
                        const lc_token *token);
/* The current moment, to be taken before the store is read. */
lc_token_moment lc_token_cache_moment(lc_token_cache *cache);
/* Tokens have changed. */
void lc_token_cache_forget(lc_token_cache *cache);

#endif /* LC_ENGINE_TOKEN_CACHE_H */
