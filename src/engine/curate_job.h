/* curate_job.h - the job "memory.curate" (memory/curate.h): args {dry_run}, result {dry_run,
 * memories, folded, archived, raised, actions[]}. */
#ifndef LC_ENGINE_CURATE_JOB_H
#define LC_ENGINE_CURATE_JOB_H

#include "engine/job_kind.h"

#define LC_CURATE_ACTIONS_MAX 100 /* Listed in the result. */

extern const lc_job_kind lc_job_curate;

/* Adds the job for the user of `tx`, unless one is queued. */
loci_status lc_curate_enqueue(lc_tx *tx, lc_id *out, loci_error *err);
/* The same for a job that only lists the actions it would take. */
loci_status lc_curate_enqueue_dry(lc_tx *tx, lc_id *out, loci_error *err);

#endif /* LC_ENGINE_CURATE_JOB_H */
