/* job_row.c - Reading rows, and the names and moves of their status. */
#include "store/job_row.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

static const char *const status_names[LC_JOB_STATUSES] = {
    [LC_JOB_QUEUED] = "queued", [LC_JOB_RUNNING] = "running",     [LC_JOB_DONE] = "done",
    [LC_JOB_FAILED] = "failed", [LC_JOB_CANCELLED] = "cancelled",
};

/* Running to running: the lease ended and another worker took over. */
static const bool moves[LC_JOB_STATUSES][LC_JOB_STATUSES] = {
    [LC_JOB_QUEUED] =
        {
            [LC_JOB_RUNNING] = true,
            [LC_JOB_CANCELLED] = true,
        },
    [LC_JOB_RUNNING] =
        {
            [LC_JOB_QUEUED] = true,
            [LC_JOB_RUNNING] = true,
            [LC_JOB_DONE] = true,
            [LC_JOB_FAILED] = true,
            [LC_JOB_CANCELLED] = true,
        },
};

const char *lc_job_status_name(lc_job_status status)
{
    LC_ASSERT(status >= 0 && status < LC_JOB_STATUSES);
    return status_names[status];
}

bool lc_job_status_find(loci_str name, lc_job_status *out)
{
    for (int status = 0; status < LC_JOB_STATUSES; status++) {
        if (lc_str_is(name, status_names[status])) {
            *out = (lc_job_status)status;
            return true;
        }
    }
    return false;
}

bool lc_job_status_is_ended(lc_job_status status)
{
    return status == LC_JOB_DONE || status == LC_JOB_FAILED || status == LC_JOB_CANCELLED;
}

bool lc_job_may_move(lc_job_status from, lc_job_status to)
{
    LC_ASSERT(from >= 0 && from < LC_JOB_STATUSES);
    LC_ASSERT(to >= 0 && to < LC_JOB_STATUSES);
    return moves[from][to];
}

loci_status lc_job_row_read(const lc_rows *rows, lc_job *out, loci_error *err)
{
    lc_job job = {
        .tenant_id = lc_rows_str(rows, 0),
        .user_id = lc_rows_str(rows, 1),
        .id = lc_rows_str(rows, 2),
        .kind = lc_rows_str(rows, 3),
        .priority = lc_rows_i64(rows, 5),
        .args = lc_rows_str(rows, 6),
        .result = lc_rows_str(rows, 7),
        .attempts = lc_rows_i64(rows, 8),
        .attempts_max = lc_rows_i64(rows, 9),
        .created_at = lc_rows_i64(rows, 10),
        .finished_at = lc_rows_i64(rows, 11),
        .run_after_us = lc_rows_i64(rows, 12),
        .lease_until_us = lc_rows_i64(rows, 13),
        .epoch = lc_rows_i64(rows, 14),
        .progress_done = lc_rows_i64(rows, 15),
        .progress_total = lc_rows_i64(rows, 16),
        .checkpoint = lc_rows_str(rows, 17),
        .cancel_requested = lc_rows_i64(rows, 18) != 0,
        .error_code = lc_rows_str(rows, 19),
        .error_message = lc_rows_str(rows, 20),
    };

    if (!lc_job_status_find(lc_rows_str(rows, 4), &job.status))
        return lc_fail(err, LOCI_ECORRUPT, "%.*s has a status that does not exist",
                       LC_STR_ARG(job.id));
    *out = job;
    return LOCI_OK;
}

loci_status lc_job_keep(lc_job *job, lc_arena *arena, loci_error *err)
{
    loci_str *const texts[] = {&job->tenant_id,  &job->user_id,    &job->id,
                               &job->kind,       &job->args,       &job->result,
                               &job->checkpoint, &job->error_code, &job->error_message};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i]->ptr == NULL)
            continue;
        *texts[i] = lc_arena_copy(arena, *texts[i]);
        if (texts[i]->ptr == NULL)
            return lc_fail_memory(err);
    }
    return LOCI_OK;
}

loci_status lc_job_change(lc_tx *tx, const lc_sql *sql, const lc_arg *args, bool *found,
                          loci_error *err)
{
    lc_rows rows;
    loci_status status;

    LC_ASSERT(tx->is_write);
    tx->wrote = true;
    status = lc_tx_find(tx, sql, args, &rows, found, err);
    lc_rows_end(&rows);
    return status;
}
