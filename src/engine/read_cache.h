/* read_cache.h - answers of statements that were read a moment ago, for stores where every read is
 * a round trip.
 *
 * What is kept are the rows of one statement with its arguments, not answers of operations: what
 * depends on the time or on who asks is decided by the operation at every use. A body is run on the
 * kept rows as it would be on a connection. When it asks for something that is not there, that one
 * statement is read and kept and the body begins anew; when it asks for two, it is read as if there
 * were no cache, on one snapshot.
 *
 * Rows count while nobody has written to their user. This process's own commits are known before
 * anybody is told of them, so own writes are seen at once. Those of others are seen by the watch
 * (watch.h), which then makes everything stale; and rows count only while its last look is not
 * older than LC_READ_CACHE_US, so that neither a server that is gone nor a process that was stopped
 * can keep the past alive. Any thread.
 */
#ifndef LC_ENGINE_READ_CACHE_H
#define LC_ENGINE_READ_CACHE_H

#include "engine/engine.h"

#define LC_READ_CACHE_US 1000000
#define LC_READ_CACHE_ENTRIES 4096
#define LC_READ_CACHE_ROWS_BYTES 4096 /* Of one answer; what is longer is not kept. */
#define LC_READ_CACHE_KEY_BYTES 1024

typedef struct lc_read_cache lc_read_cache;

loci_status lc_read_cache_new(loci_engine *engine, lc_read_cache **out, loci_error *err);
void lc_read_cache_free(lc_read_cache *cache); /* NULL is fine. */

/* Runs the body on what is kept, on `*out_status` how it ended; false when it must be read. When
 * `may_read`, what it asks for is read and kept first. */
bool lc_read_cache_run(lc_read_cache *cache, const lc_read *read, bool may_read,
                       loci_status *out_status, loci_error *err);

/* Before anybody is told of a commit to this user. NULL is fine, for all of these. */
void lc_read_cache_wrote(lc_read_cache *cache, uint32_t slot);
/* Anything may have changed. */
void lc_read_cache_forget(lc_read_cache *cache);
/* Nobody else had written at `at_us`, but for what lc_read_cache_forget() was told. */
void lc_read_cache_checked(lc_read_cache *cache, int64_t at_us);

#endif /* LC_ENGINE_READ_CACHE_H */
