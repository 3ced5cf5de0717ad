/* job_purge.h - the job that keeps a store from growing by what nobody asks for any more: stored
 * answers of requests, jobs that have ended, open sessions that are idle. One a store; each run
 * adds the next an hour later.
 */
#ifndef LC_ENGINE_JOB_PURGE_H
#define LC_ENGINE_JOB_PURGE_H

#include "base/setting.h"
#include "engine/job_kind.h"

extern const lc_setting lc_setting_job_keep_hours;

/* "store.purge": args {}, result {requests, jobs, sessions}: how many rows went, and how many
 * sessions were ended because they were idle (session_sweep.h). */
extern const lc_job_kind lc_job_purge;

/* Adds the job unless it is there; to be called at open. Does nothing in an inline engine, whose
 * jobs must be those that its calls cause. */
loci_status lc_job_purge_schedule(loci_engine *engine, loci_error *err);

#endif /* LC_ENGINE_JOB_PURGE_H */
