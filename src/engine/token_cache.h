/* token_cache.h - tokens that were found good a moment ago, so that a request need not ask the
 * store who is calling.
 *
 * A token counts for at most LC_TOKEN_CACHE_US after it was read: so long may another process's
 * revocation take to be noticed. This process's own count at once: lc_token_cache_forget() after
 * the commit makes everything stale, also what is being read at that moment. Expiry is the caller's
 * to judge, at every use. Texts of tokens are not kept, only hashes that mean nothing elsewhere.
 * Any thread.
 */
#ifndef LC_ENGINE_TOKEN_CACHE_H
#define LC_ENGINE_TOKEN_CACHE_H

#include "base/heap.h"
#include "store/token.h"

#define LC_TOKEN_CACHE_US 1000000
#define LC_TOKEN_CACHE_ENTRIES 256

typedef struct lc_token_cache lc_token_cache;

typedef struct lc_token_moment {
    uint64_t generation; /* How often tokens had changed. */
    int64_t us;          /* Monotonic. */
} lc_token_moment;

loci_status lc_token_cache_new(lc_heap *heap, lc_token_cache **out, loci_error *err);
void lc_token_cache_free(lc_token_cache *cache); /* NULL is fine. */

/* The token whose text is `text`, if it was read lately. */
bool lc_token_cache_find(lc_token_cache *cache, loci_str text, lc_token *out);
/* Keeps `token`, which was read after `before` was asked for; without memory it does not. */
void lc_token_cache_put(lc_token_cache *cache, loci_str text, lc_token_moment before,
                        const lc_token *token);
/* Now, to be asked for before the store is read. */
lc_token_moment lc_token_cache_moment(lc_token_cache *cache);
/* Tokens have changed. */
void lc_token_cache_forget(lc_token_cache *cache);

#endif /* LC_ENGINE_TOKEN_CACHE_H */
