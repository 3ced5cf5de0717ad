/* session_sweep.h - ends the sessions that nobody came back to.
 *
 * A session that was idle for too long has ended in everybody's eyes, and the user's next write
 * says so in the log. Who never writes again would keep its row and its working set for ever: the
 * hourly upkeep (job_purge.h) ends those, with the time at which they ended. */
#ifndef LC_ENGINE_SESSION_SWEEP_H
#define LC_ENGINE_SESSION_SWEEP_H

#include "engine/job_kind.h"

/* Goes through all users with an open session, each in transactions of its own; ending one twice is
 * not possible, so a sweep that was cut short is simply done again. */
loci_status lc_session_sweep(lc_job_run *run, int64_t *out_ended, loci_error *err);

#endif /* LC_ENGINE_SESSION_SWEEP_H */
