/* fact_cache.h - the fact indexes of the users that were asked about lately, and what was read of
 * their texts (talk/reading.h).
 *
 * At most LC_FACT_CACHE_ENTRIES users and LC_FACT_CACHE_BYTES in all; the one not used for the
 * longest time goes. An index is used by one thread at a time, others wait for it; different users
 * do not wait for each other. Any thread. */
#ifndef LC_ENGINE_FACT_CACHE_H
#define LC_ENGINE_FACT_CACHE_H

#include "context/fact_index.h"
#include "talk/talk.h"

#define LC_FACT_CACHE_ENTRIES 64
#define LC_FACT_CACHE_BYTES (64 << 20)

typedef struct lc_fact_cache lc_fact_cache;

loci_status lc_fact_cache_new(lc_heap *heap, lc_fact_cache **out, loci_error *err);
void lc_fact_cache_free(lc_fact_cache *cache); /* NULL is fine. */

/* For contexts: finds or makes the index of the transaction's user and chooses from it. */
lc_fact_chooser lc_fact_cache_chooser(lc_fact_cache *cache);

/* What was read of the user's texts, for this call alone until it is given back; NULL when another
 * call has it, or when there is no memory for it. */
lc_readings *lc_fact_cache_lend_readings(lc_fact_cache *cache, const lc_tx *tx);
void lc_fact_cache_take_readings(lc_fact_cache *cache, const lc_tx *tx, lc_readings *readings);

/* The store was replaced, or its log taken back: nothing that was seen counts. */
void lc_fact_cache_forget(lc_fact_cache *cache);

#endif /* LC_ENGINE_FACT_CACHE_H */
