/* job_row.h - a row of `jobs` as a lc_job. For the files that implement job.h. */
#ifndef LC_STORE_JOB_ROW_H
#define LC_STORE_JOB_ROW_H

#include "store/job.h"

/* What a statement selects so that lc_job_row_read() can read it, and the kinds of it. */
#define LC_JOB_ROW                                                                                 \
    "tenant_id, user_id, id, kind, status, priority, args, result, attempts, attempts_max, "       \
    "created_at, finished_at, run_after_us, lease_until_us, epoch, progress_done, "                \
    "progress_total, checkpoint, cancel_requested, error_code, error_message"
#define LC_JOB_ROW_KINDS "tttttittiiiiiiiiititt"

/* The text is borrowed from the row. A status that does not exist is LOCI_ECORRUPT. */
loci_status lc_job_row_read(const lc_rows *rows, lc_job *out, loci_error *err);
/* Moves the text of `job` into `arena`. */
loci_status lc_job_keep(lc_job *job, lc_arena *arena, loci_error *err);
/* Runs a statement that changes at most one row and returns its id; `*found` tells whether it did.
 */
loci_status lc_job_change(lc_tx *tx, const lc_sql *sql, const lc_arg *args, bool *found,
                          loci_error *err);

#endif /* LC_STORE_JOB_ROW_H */
