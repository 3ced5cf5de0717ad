/* job_rebuild.h - the job that makes the projections anew from the log while everybody works on. */
#ifndef LC_ENGINE_JOB_REBUILD_H
#define LC_ENGINE_JOB_REBUILD_H

#include "engine/job_kind.h"

/* "store.rebuild": args {}, result {events, equal, differences, tables, users_skipped}; `equal`
 * says whether the new projections were the old ones, null when they could not be compared. A job
 * of the store itself, with the unique name "rebuild". */
extern const lc_job_kind lc_job_rebuild;

#endif /* LC_ENGINE_JOB_REBUILD_H */
