/* job_claim.c - What a worker does to a job: claim, hold, and one of the ways to end.
 *
 * Every change of status is one conditional statement, `move`: it names the status and the epoch
 * that the job must still have. Where the condition does not hold no row changes, which is never an
 * error of the database; for a claim it means that another was faster, for a holder that it was
 * fenced.
 *
 *     epoch 0 --claim--> 1 --claim (lease ended)--> 2 ...     only a claim moves it
 *
 * A lease that has ended but that nobody else took is still the holder's: its epoch is the last.
 *
 * Selecting and taking are two statements. SQLite holds its write lock over both. On PostgreSQL the
 * comment at the end of `select_due`, the only statement that chooses, becomes part of it
 * (lc_sql_rewrite()): what another worker is taking is passed over.
 */
#include "store/job.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "store/job_row.h"

/* Jobs that one claim looks at: each that is not claimed was ended, or taken by another. */
#define CLAIM_TRIES_MAX 100

#define DUE_AT "case when status = 'queued' then run_after_us else lease_until_us end"

static const lc_sql select_due = {
    .text = "select " LC_JOB_ROW " from jobs where status in ('queued', 'running') "
            "and priority >= $2 and " DUE_AT " <= $1 order by priority desc, queue_place limit 1 "
            "/* for update skip locked */",
    .params = "ii",
    .columns = LC_JOB_ROW_KINDS,
};

static const lc_sql select_next_due = {
    .text = "select min(" DUE_AT ") from jobs where status in ('queued', 'running') "
            "and priority >= $1",
    .params = "i",
    .columns = "i",
};

static const lc_sql move_job = {
    .text = "update jobs set status = $6, epoch = $7, attempts = $8, run_after_us = $9, "
            "lease_until_us = $10, finished_at = $11, result = $12, error_code = $13, "
            "error_message = $14 where tenant_id = $1 and user_id = $2 and id = $3 "
            "and status = $4 and epoch = $5 returning id",
    .params = "ttttitiiiiittt",
    .columns = "t",
};

static const lc_sql select_hold = {
    .text = "select cancel_requested from jobs where tenant_id = $1 and user_id = $2 and id = $3 "
            "and status = 'running' and epoch = $4",
    .params = "ttti",
    .columns = "i",
};

static const lc_sql extend_lease = {
    .text = "update jobs set lease_until_us = $5 where tenant_id = $1 and user_id = $2 and id = $3 "
            "and status = 'running' and epoch = $4 returning id",
    .params = "tttii",
    .columns = "t",
};

static const lc_sql set_progress = {
    .text = "update jobs set progress_done = $5, progress_total = $6, checkpoint = $7 "
            "where tenant_id = $1 and user_id = $2 and id = $3 "
            "and status = 'running' and epoch = $4 returning id",
    .params = "tttiiit",
    .columns = "t",
};

static loci_status fail_fenced(const lc_job *job, loci_error *err)
{
    return lc_fail(err, LOCI_EFENCED, "%.*s was taken over by another worker", LC_STR_ARG(job->id));
}

static loci_status database_now_us(lc_tx *tx, int64_t *out, loci_error *err)
{
    return tx->db->driver->now_us(tx, out, err);
}

/* Makes `from` into `to`, which differs in what move_job sets; `*is_moved` tells whether `from` was
 * still the truth. */
static loci_status move(lc_tx *tx, const lc_job *from, const lc_job *to, bool *is_moved,
                        loci_error *err)
{
    LC_ASSERT(lc_job_may_move(from->status, to->status));
    LC_ASSERT((to->finished_at != 0) == lc_job_status_is_ended(to->status) || tx->now_us == 0);
    LC_ASSERT((to->lease_until_us != 0) == (to->status == LC_JOB_RUNNING));

    return lc_job_change(
        tx, &move_job,
        (lc_arg[]){LC_T(from->tenant_id), LC_T(from->user_id), LC_T(from->id),
                   LC_T(loci_str_of(lc_job_status_name(from->status))), LC_I(from->epoch),
                   LC_T(loci_str_of(lc_job_status_name(to->status))), LC_I(to->epoch),
                   LC_I(to->attempts), LC_I(to->run_after_us), LC_I(to->lease_until_us),
                   LC_I(to->finished_at), LC_T_OR_NULL(to->result), LC_T_OR_NULL(to->error_code),
                   LC_T_OR_NULL(to->error_message)},
        is_moved, err);
}

/* The same for the job's holder. */
static loci_status move_held(lc_tx *tx, const lc_job *from, const lc_job *to, loci_error *err)
{
    bool is_moved;
    loci_status status;

    LC_ASSERT(from->status == LC_JOB_RUNNING);
    status = move(tx, from, to, &is_moved, err);
    if (status == LOCI_OK && !is_moved)
        status = fail_fenced(from, err);
    return status;
}

/* `job` as it is when it has ended now. */
static lc_job ended(const lc_tx *tx, const lc_job *job, lc_job_status status)
{
    lc_job to = *job;

    to.status = status;
    to.lease_until_us = 0;
    to.finished_at = tx->now_us;
    return to;
}

/* ---- Claiming ------------------------------------------------------------------------------- */

/* What a claim makes of a job that may run: normally running, under a new epoch. */
static lc_job claimed(const lc_tx *tx, const lc_job *job, int64_t lease_until_us)
{
    lc_job to;

    if (job->cancel_requested)
        return ended(tx, job, LC_JOB_CANCELLED);
    if (job->status == LC_JOB_RUNNING && job->attempts >= job->attempts_max) {
        to = ended(tx, job, LC_JOB_FAILED);
        to.error_code = loci_str_of(loci_status_name(LOCI_EUNAVAILABLE));
        to.error_message = LC_STR("its worker went away during the last attempt");
        return to;
    }
    to = *job;
    to.status = LC_JOB_RUNNING;
    to.epoch++;
    to.attempts++;
    to.lease_until_us = lease_until_us;
    return to;
}

static loci_status find_due(lc_tx *tx, const lc_arg *args, lc_arena *arena, lc_job *out,
                            loci_error *err)
{
    lc_rows rows;
    lc_job job = {0};
    bool found;
    loci_status status = lc_tx_find(tx, &select_due, args, &rows, &found, err);

    if (status == LOCI_OK && found)
        status = lc_job_row_read(&rows, &job, err);
    if (status == LOCI_OK)
        status = lc_job_keep(&job, arena, err);
    if (status == LOCI_OK)
        *out = job;
    lc_rows_end(&rows);
    return status;
}

loci_status lc_job_claim(lc_tx *tx, const lc_job_terms *terms, lc_arena *arena, lc_job *out,
                         loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(arena);
    int64_t now_us;
    loci_status status = database_now_us(tx, &now_us, err);

    LC_ASSERT(terms->lease_ms > 0 && terms->lease_ms <= LC_JOB_DELAY_MS_MAX);
    for (int i = 0; status == LOCI_OK && i < CLAIM_TRIES_MAX; i++) {
        const lc_arg args[] = {LC_I(now_us), LC_I(terms->priority_min)};
        bool is_moved = false;
        lc_job job, to;

        lc_arena_rewind(arena, mark);
        status = find_due(tx, args, arena, &job, err);
        if (status != LOCI_OK)
            return status;
        if (job.id.ptr == NULL)
            break;
        to = claimed(tx, &job, now_us + terms->lease_ms * 1000);
        status = move(tx, &job, &to, &is_moved, err);
        if (status == LOCI_OK && is_moved && to.status == LC_JOB_RUNNING) {
            *out = to;
            return LOCI_OK;
        }
    }
    if (status == LOCI_OK)
        *out = (lc_job){0};
    return status;
}

loci_status lc_job_next_due_us(lc_tx *tx, const lc_job_terms *terms, int64_t *out, loci_error *err)
{
    int64_t now_us, due_us;
    lc_rows rows;
    bool found;
    loci_status status = database_now_us(tx, &now_us, err);

    if (status == LOCI_OK)
        status = lc_tx_find(tx, &select_next_due, (lc_arg[]){LC_I(terms->priority_min)}, &rows,
                            &found, err);
    if (status != LOCI_OK)
        return status;
    due_us = found && !lc_rows_is_null(&rows, 0) ? lc_rows_i64(&rows, 0) : INT64_MAX;
    lc_rows_end(&rows);
    if (due_us == INT64_MAX)
        *out = INT64_MAX;
    else
        *out = due_us > now_us ? due_us - now_us : 0;
    return LOCI_OK;
}

/* ---- Holding -------------------------------------------------------------------------------- */

/* Whether the holder of `job` was asked to stop. */
static loci_status find_wish(lc_tx *tx, const lc_job *job, bool *is_unwanted, loci_error *err)
{
    bool found;
    lc_rows rows;
    loci_status status = lc_tx_find(
        tx, &select_hold,
        (lc_arg[]){LC_T(job->tenant_id), LC_T(job->user_id), LC_T(job->id), LC_I(job->epoch)},
        &rows, &found, err);

    if (status != LOCI_OK)
        return status;
    if (!found)
        return fail_fenced(job, err);
    *is_unwanted = lc_rows_i64(&rows, 0) != 0;
    lc_rows_end(&rows);
    return LOCI_OK;
}

loci_status lc_job_check(lc_tx *tx, const lc_job *job, loci_error *err)
{
    bool is_unwanted;
    loci_status status = find_wish(tx, job, &is_unwanted, err);

    if (status == LOCI_OK && is_unwanted)
        status = lc_fail(err, LOCI_ECANCELLED, "%.*s was cancelled", LC_STR_ARG(job->id));
    return status;
}

loci_status lc_job_hold(lc_tx *tx, const lc_job *job, int64_t lease_ms, loci_error *err)
{
    int64_t now_us;
    bool is_held;
    /* Asked before anything is written: a failure then costs no other write of the group. */
    loci_status status = lc_job_check(tx, job, err);

    if (status == LOCI_OK)
        status = database_now_us(tx, &now_us, err);
    if (status == LOCI_OK)
        status = lc_job_change(tx, &extend_lease,
                               (lc_arg[]){LC_T(job->tenant_id), LC_T(job->user_id), LC_T(job->id),
                                          LC_I(job->epoch), LC_I(now_us + lease_ms * 1000)},
                               &is_held, err);
    if (status == LOCI_OK && !is_held)
        status = fail_fenced(job, err);
    return status;
}

loci_status lc_job_advance(lc_tx *tx, const lc_job *job, const lc_job_progress *progress,
                           loci_error *err)
{
    bool is_held;
    loci_status status = lc_job_change(
        tx, &set_progress,
        (lc_arg[]){LC_T(job->tenant_id), LC_T(job->user_id), LC_T(job->id), LC_I(job->epoch),
                   LC_I(progress->done), LC_I(progress->total), LC_T_OR_NULL(progress->checkpoint)},
        &is_held, err);

    if (status == LOCI_OK && !is_held)
        status = fail_fenced(job, err);
    return status;
}

/* ---- Ending --------------------------------------------------------------------------------- */

loci_status lc_job_finish(lc_tx *tx, const lc_job *job, loci_str result, loci_error *err)
{
    lc_job to = ended(tx, job, LC_JOB_DONE);

    to.result = result;
    return move_held(tx, job, &to, err);
}

loci_status lc_job_set_cancelled(lc_tx *tx, const lc_job *job, loci_error *err)
{
    lc_job to = ended(tx, job, LC_JOB_CANCELLED);

    return move_held(tx, job, &to, err);
}

int64_t lc_job_pause_ms(int64_t attempts)
{
    int64_t pause_ms = LC_JOB_PAUSE_MS;

    for (int64_t i = 1; i < attempts && pause_ms < LC_JOB_PAUSE_MS_MAX; i++)
        pause_ms *= 2;
    return pause_ms < LC_JOB_PAUSE_MS_MAX ? pause_ms : LC_JOB_PAUSE_MS_MAX;
}

/* Lets the job wait for its next attempt, unless it was asked to stop: then it has ended. */
static loci_status requeue(lc_tx *tx, const lc_job *job, lc_job *to, int64_t pause_ms,
                           loci_error *err)
{
    int64_t now_us;
    bool is_unwanted;
    loci_status status = database_now_us(tx, &now_us, err);

    if (status == LOCI_OK)
        status = find_wish(tx, job, &is_unwanted, err);
    if (status != LOCI_OK)
        return status;
    if (is_unwanted)
        return lc_job_set_cancelled(tx, job, err);
    to->status = LC_JOB_QUEUED;
    to->lease_until_us = 0;
    to->run_after_us = now_us + pause_ms * 1000;
    return move_held(tx, job, to, err);
}

bool lc_job_fails_for_good(const lc_job *job, const lc_job_failure *failure)
{
    return failure->is_final || job->attempts >= job->attempts_max;
}

loci_status lc_job_fail(lc_tx *tx, const lc_job *job, const lc_job_failure *failure,
                        loci_error *err)
{
    bool is_over = lc_job_fails_for_good(job, failure);
    lc_job to = is_over ? ended(tx, job, LC_JOB_FAILED) : *job;

    LC_ASSERT(failure->cause->status != LOCI_OK);
    to.error_code = loci_str_of(loci_status_name(failure->cause->status));
    to.error_message = loci_str_of(failure->cause->message);
    if (is_over)
        return move_held(tx, job, &to, err);
    return requeue(tx, job, &to, failure->skips_pause ? 0 : lc_job_pause_ms(job->attempts), err);
}

loci_status lc_job_return(lc_tx *tx, const lc_job *job, loci_error *err)
{
    lc_job to = *job;

    LC_ASSERT(job->attempts > 0);
    to.attempts--;
    return requeue(tx, job, &to, 0, err);
}
