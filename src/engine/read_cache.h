/* read_cache.h - rows that were read a moment ago.
 *
 * What is kept are the rows of one statement with its arguments, not answers of operations: what
 * depends on the time or on who asks is decided by the operation at every use. A body is run on the
 * kept rows as it would be on a connection. When it asks for something that is not there, that one
 * statement is read and kept and the body begins anew; when it asks for two, it is read as if there
 * were no cache, on one snapshot.
 *
 * Rows count while nobody has written to their user (freshness.h). Any thread.
 */
#ifndef LC_ENGINE_READ_CACHE_H
#define LC_ENGINE_READ_CACHE_H

#include "engine/freshness.h"

#define LC_READ_CACHE_ENTRIES 4096
#define LC_READ_CACHE_ROWS_BYTES 4096 /* Of one answer; what is longer is not kept. */
#define LC_READ_CACHE_KEY_BYTES 1024

typedef struct lc_read_cache lc_read_cache;

loci_status lc_read_cache_new(loci_engine *engine, lc_freshness *freshness, lc_read_cache **out,
                              loci_error *err);
void lc_read_cache_free(lc_read_cache *cache); /* NULL is fine. */

/* Runs the body on what is kept, reading and keeping what it asks for first; in `*out_status` how
 * that ended. False when it must be read without this. */
bool lc_read_cache_run(lc_read_cache *cache, const lc_read *read, loci_status *out_status,
                       loci_error *err);
/* How many bodies were run without asking the store. */
int64_t lc_read_cache_hits(lc_read_cache *cache);

#endif /* LC_ENGINE_READ_CACHE_H */
