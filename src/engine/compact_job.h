/* compact_job.h - the job that replaces the beginnings of logs with snapshots (store/snapshot.h).
 */
#ifndef LC_ENGINE_COMPACT_JOB_H
#define LC_ENGINE_COMPACT_JOB_H

#include "engine/job_kind.h"

/* "store.compact": args {before (µs), tenant_id?, user_id?, dry_run?}, result {users, events,
 * bytes}: users whose logs were compacted, events that went, bytes of their snapshots. Belongs to
 * the store. It goes user by user: a snapshot is one write, and the events it replaces go in short
 * ones. Started again, it finds the users that are left. */
extern const lc_job_kind lc_job_compact;

#endif /* LC_ENGINE_COMPACT_JOB_H */
