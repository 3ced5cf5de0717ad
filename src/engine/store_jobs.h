/* store_jobs.h - the jobs of the store itself: hourly upkeep, the rebuild of projections, and
 * the scrub of its files. */
#ifndef LC_ENGINE_STORE_JOBS_H
#define LC_ENGINE_STORE_JOBS_H

#include "base/setting.h"
#include "engine/job_kind.h"

extern const lc_setting lc_setting_job_keep_hours;

/* "store.purge": args {}, result {requests, jobs, …}: number of deleted answers and jobs, and of
 * the rows that the sweep of each room ended (lc_room.sweep), under the sweep's name. A store has
 * one such job; each run adds the next one, an hour later. */
extern const lc_job_kind lc_job_purge;
/* Adds the job to a store that has none; called at open. Does nothing in an inline engine, which
 * runs only jobs that its calls cause. */
loci_status lc_job_purge_schedule(loci_engine *engine, loci_error *err);

/* For a daemon that ends: does what rooms want done then, within a few seconds; a failure is
 * logged.
 */
void lc_engine_sweep_at_shutdown(loci_engine *engine);

/* "store.rebuild": args {}, result {events, equal, differences, tables, users_skipped}; `equal` is
 * true if the new projections equal the old ones, null if they could not be compared. Belongs to
 * no user; its unique name is "rebuild". */
extern const lc_job_kind lc_job_rebuild;

/* "store.discard": args {}, result {rows}: number of rows deleted from the tables that a rebuild
 * has replaced (store/discard.h). Added by the swap; belongs to no user; its unique name is
 * "discard". */
extern const lc_job_kind lc_job_discard;

/* "store.scrub": args {}, result {scrubbed}; false if an earlier job had done it already. Belongs
 * to the user whose call forgot something (store/store_room.h); its unique name is "scrub". */
extern const lc_job_kind lc_job_scrub;

#endif /* LC_ENGINE_STORE_JOBS_H */
