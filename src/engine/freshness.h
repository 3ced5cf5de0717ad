/* freshness.h - whether rows that were read a while ago are still what the store would say.
 *
 * Every user falls into a slot (watch.h) that has a counter of commits; another counter is for all.
 * Both only rise, so their sum, the stamp, tells whether either has. This process's own commits
 * raise the counters of their users before anybody is told of them. How the commits of others are
 * noticed depends on the store:
 *
 *   - One that tells its state (lc_db_driver.state) is asked at every use, and everything of a
 *     state that is not the last known one is stale. What others commit is seen at once.
 *   - Else the watch looks every few milliseconds. Nothing counts when its last look is older than
 *     LC_FRESHNESS_US, so that neither a server that is gone nor a process that was stopped can
 *     keep the past alive.
 *
 * Any thread.
 */
#ifndef LC_ENGINE_FRESHNESS_H
#define LC_ENGINE_FRESHNESS_H

#include "engine/engine.h"

#define LC_FRESHNESS_US 1000000

typedef struct lc_freshness lc_freshness;

loci_status lc_freshness_new(loci_engine *engine, lc_freshness **out, loci_error *err);
void lc_freshness_free(lc_freshness *freshness); /* NULL is fine. */

/* The stamp of a slot: rows that are read from now on count while it stays the same. False when it
 * is not known whether anything does. */
bool lc_freshness_stamp(lc_freshness *freshness, uint32_t slot, uint64_t *out);

/* A number that differs once rows of a slot may have been committed; 0 = unknown. Taken before a
 * snapshot, it is equal later only if that snapshot is still current. */
uint64_t lc_freshness_version(lc_freshness *freshness, uint32_t slot);

/* ---- What has happened ----------------------------------------------------------------------- */

/* Before anybody is told of a commit to somebody in this slot. */
void lc_freshness_wrote(lc_freshness *freshness, uint32_t slot);
/* Anything may have changed. */
void lc_freshness_forget(lc_freshness *freshness);
/* The watch has looked at `at_us` (0 = it could not) whether others have written. */
void lc_freshness_looked(lc_freshness *freshness, int64_t at_us, bool has_changed);

#endif /* LC_ENGINE_FRESHNESS_H */
