/* job.c - jobs: rows, the queue, and the statements of a worker that has claimed a job.
 *
 * Every change of status is one conditional statement, `move`: it names the status and the epoch
 * that the job must still have. If they differ no row changes, which is never an error of the
 * database: for a claim it means that another worker was faster, for a holder that it was fenced.
 *
 *     epoch 0 --claim--> 1 --claim (lease ended)--> 2 ...     only a claim changes it
 *
 * A holder whose lease has ended keeps the job until another worker claims it: its epoch is still
 * the last one. Callers without a lease change nothing of a running job but cancel_requested.
 *
 * Selecting and taking are two statements. SQLite holds its write lock over both. On PostgreSQL the
 * comment at the end of `select_due`, the only statement that chooses, becomes part of it
 * (lc_sql_rewrite()): rows that another worker is taking are skipped.
 */
#include "store/job.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "store/event.h"

/* ---- The table ------------------------------------------------------------------------------- */

/* Two columns exist only for order, because neither clock gives one: the domain clock may go back,
 * the clock of the database may return the same time twice.
 *
 *     number       grows within a user and is part of the id, so that a page can continue behind
 *                  a job that was deleted; it orders lists.
 *     queue_place  grows within the store: one more than the largest there is. Two transactions
 *                  of PostgreSQL may take the same one; then either may be first.
 *
 * `unique_name` stays when a job has ended; the index that makes it unique covers active jobs only,
 * and lc_job_enqueue() inserts with `on conflict do nothing`, so that no statement has to fail. */

static const lc_column job_columns[] = {
    LC_STRING_COLUMN(lc_job, tenant_id, "tenant_id", 0),
    LC_STRING_COLUMN(lc_job, user_id, "user_id", 0),
    LC_STRING_COLUMN(lc_job, id, "id", LC_COL_REQUIRED, .help = "Id of the job (job_...)"),
    LC_COLUMN("number", 'i'),
    LC_COLUMN("queue_place", 'i'),
    LC_STRING_COLUMN(lc_job, kind, "kind", LC_COL_REQUIRED,
                     .help = "Kind of work, such as store.purge"),
    LC_COLUMN_OR_NULL("unique_name", 't'),
    LC_ENUM_COLUMN(lc_job, status, "status", LC_COL_REQUIRED,
                   .choices = "queued|running|done|failed|cancelled", .help = "State of the job"),
    LC_INTEGER_COLUMN(lc_job, priority, "priority", LC_COL_REQUIRED,
                      .help = "Jobs with a higher priority run first, then older ones"),
    LC_OBJECT_COLUMN(lc_job, args, "args", LC_COL_REQUIRED, .help = "Arguments of the job"),
    LC_OBJECT_COLUMN(lc_job, result, "result", LC_COL_NULL | LC_COL_OR_NULL,
                     .help = "Result; null until it is done"),
    LC_STRING_COLUMN(lc_job, error_code, "error_code", LC_COL_NULL | LC_COL_OR_NULL,
                     .group = "error", .json = "code",
                     .help = "Error code of the last failed attempt"),
    LC_STRING_COLUMN(lc_job, error_message, "error_message", LC_COL_NULL | LC_COL_REQUIRED,
                     .group = "error", .json = "message",
                     .help = "Error message of the last failed attempt"),
    LC_INTEGER_COLUMN(lc_job, attempts, "attempts", LC_COL_REQUIRED,
                      .help = "Number of attempts so far"),
    LC_INTEGER_COLUMN(lc_job, attempts_max, "attempts_max", LC_COL_REQUIRED,
                      .help = "Maximum number of attempts"),
    LC_INTEGER_COLUMN(lc_job, progress_done, "progress_done", LC_COL_REQUIRED, .group = "progress",
                      .json = "done", .help = "Units of work that are done"),
    LC_INTEGER_COLUMN(lc_job, progress_total, "progress_total", LC_COL_OR_NULL, .group = "progress",
                      .json = "total", .help = "Units of work in total; null while unknown"),
    LC_ANY_COLUMN(lc_job, checkpoint, "checkpoint", LC_COL_NULL | LC_COL_OR_NULL,
                  .help = "Place from which the next attempt continues, or null"),
    LC_BOOLEAN_COLUMN(lc_job, cancel_requested, "cancel_requested", LC_COL_REQUIRED,
                      .help = "True if it was asked to stop"),
    LC_TIME_COLUMN(lc_job, created_at, "created_at", LC_COL_REQUIRED,
                   .help = "Time at which it was added"),
    LC_TIME_COLUMN(lc_job, finished_at, "finished_at", LC_COL_OR_NULL,
                   .help = "Time at which it ended, or null"),
    LC_INTEGER_COLUMN(lc_job, run_after_us, "run_after_us", 0),
    LC_INTEGER_COLUMN(lc_job, lease_until_us, "lease_until_us", 0),
    LC_INTEGER_COLUMN(lc_job, epoch, "epoch", 0),
    {0},
};

const lc_row_type lc_job_row = {job_columns, 0, sizeof(lc_job)};

#define ACTIVE "status in ('queued', 'running')"

static const lc_index job_indexes[] = {
    {"active", "priority desc, queue_place", ACTIVE, false},
    {"place", "queue_place", NULL, false},
    {"number", "tenant_id, user_id, number", NULL, false},
    {"unique", "tenant_id, user_id, kind, unique_name", "unique_name is not null and " ACTIVE,
     true},
    {"status", "status, finished_at", NULL, false}, /* For counting and for the purge. */
    {NULL, NULL, NULL, false},
};

const lc_table lc_jobs_table = {
    .name = "jobs",
    .table_class = LC_TABLE_OPERATIONAL,
    .columns = job_columns,
    .key = "tenant_id, user_id, id",
    .indexes = job_indexes,
};

/* ---- Rows ------------------------------------------------------------------------------------ */

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

/* Runs a statement that changes at most one row and returns its id; `*found`: it changed one. */
static loci_status change(lc_tx *tx, const lc_sql *sql, const lc_arg *args, bool *found,
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

/* How often a statement that lost a race is repeated. SQLite has no races; on PostgreSQL the other
 * transaction has then committed, and the next try sees its rows. */
#define RACE_TRIES_MAX 10

static loci_status fail_race(const char *what, loci_error *err)
{
    return lc_fail(err, LOCI_ECONFLICT, "%s changed too often meanwhile; try again", what);
}

/* ---- Adding --------------------------------------------------------------------------------- */

static const lc_sql find_active = {
    .text = "select id from jobs where tenant_id = $1 and user_id = $2 and kind = $3 "
            "and unique_name = $4 and unique_name is not null and status in ('queued', 'running')",
    .params = "tttt",
    .columns = "t",
};

static const lc_sql last_place = {
    .text = "select queue_place from jobs order by queue_place desc limit 1",
    .params = "",
    .columns = "i",
};

static const lc_sql insert_job = {
    .text = "insert into jobs (tenant_id, user_id, id, number, queue_place, kind, unique_name, "
            "status, priority, args, attempts, attempts_max, created_at, finished_at, "
            "run_after_us, lease_until_us, epoch, progress_done, progress_total, "
            "cancel_requested) values ($1, $2, $3, $4, $5, $6, $7, 'queued', $8, $9, 0, $10, $11, "
            "0, $12, 0, 0, 0, 0, 0) on conflict do nothing returning id",
    .params = "tttiittitiii",
    .columns = "t",
};

loci_status lc_job_find_active(lc_tx *tx, const lc_job_new *like, lc_id *out, loci_error *err)
{
    lc_rows rows;
    bool found;
    loci_status status = lc_tx_find(
        tx, &find_active,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(like->kind), LC_T(like->unique)},
        &rows, &found, err);

    if (status != LOCI_OK)
        return status;
    *out = (lc_id){""};
    if (found) {
        loci_str id = lc_rows_str(&rows, 0);

        if (lc_id_is(id, "job"))
            memcpy(out->text, id.ptr, id.len);
        else
            status = lc_fail(err, LOCI_ECORRUPT, "a job has an id that is not one");
    }
    lc_rows_end(&rows);
    return status;
}

/* Inserts the job unless an active one has its unique name: then `id` becomes "". */
static loci_status insert(lc_tx *tx, const lc_job_new *job, lc_id *id, loci_error *err)
{
    lc_id_parts parts;
    int64_t now_us, place = 0;
    bool is_id, is_inserted;
    loci_status status = tx->db->driver->now_us(tx, &now_us, err);

    if (status == LOCI_OK)
        status = lc_tx_find_numbers(tx, &last_place, NULL, &place, err);
    if (status == LOCI_OK)
        status = lc_tx_make_object_id(tx, "job", id, err);
    if (status != LOCI_OK)
        return status;
    is_id = lc_id_parse(lc_id_str(id), "job", &parts);
    LC_ASSERT(is_id);

    status = change(
        tx, &insert_job,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(lc_id_str(id)), LC_I(parts.seq),
                   LC_I(place + 1), LC_T(job->kind), LC_T_OR_NULL(job->unique), LC_I(job->priority),
                   LC_T(job->args.len > 0 ? job->args : LC_STR("{}")),
                   LC_I(job->attempts_max > 0 ? job->attempts_max : LC_JOB_ATTEMPTS_MAX),
                   LC_I(tx->now_us), LC_I(now_us + job->delay_ms * 1000)},
        &is_inserted, err);
    if (status == LOCI_OK && !is_inserted)
        *id = (lc_id){""};
    tx->enqueued_job = true;
    return status;
}

loci_status lc_job_enqueue(lc_tx *tx, const lc_job_new *job, lc_id *out, loci_error *err)
{
    LC_ASSERT(job->kind.len > 0);
    LC_ASSERT(job->delay_ms >= 0 && job->delay_ms <= LC_JOB_DELAY_MS_MAX);
    LC_ASSERT(job->attempts_max >= 0);

    for (int i = 0; i < RACE_TRIES_MAX; i++) {
        lc_id id = {""};
        loci_status status = LOCI_OK;

        if (job->unique.ptr != NULL)
            status = lc_job_find_active(tx, job, &id, err);
        if (status == LOCI_OK && id.text[0] == '\0')
            status = insert(tx, job, &id, err);
        if (status != LOCI_OK)
            return status;
        if (id.text[0] != '\0') {
            *out = id;
            return LOCI_OK;
        }
    }
    return fail_race("a job with this unique name", err);
}

/* ---- Looking -------------------------------------------------------------------------------- */

static const lc_sql select_job = {
    .text = "select {row} from jobs where tenant_id = $1 and user_id = $2 and id = $3",
    .params = "ttt",
    .columns = "",
    .row = &lc_job_row,
};

static const lc_sql select_page = {
    .text = "select {row} from jobs where tenant_id = $1 and user_id = $2 and number < $3 "
            "and ($4 is null or kind = $4) and ($5 is null or status = $5) "
            "order by number desc limit $6",
    .params = "ttitti",
    .columns = "",
    .row = &lc_job_row,
};

#define OF_STORE " from jobs where case when user_id = '' then 1 else 0 end = $1"

static const lc_sql count_by_status = {
    .text = "select status, count(*)" OF_STORE " group by status",
    .params = "i",
    .columns = "ti",
};

static const lc_sql count_scheduled = {
    .text = "select count(*)" OF_STORE " and status = 'queued' and run_after_us > $2",
    .params = "ii",
    .columns = "i",
};

loci_status lc_job_load(lc_tx *tx, const lc_job_key *key, lc_arena *arena, lc_job *out,
                        loci_error *err)
{
    const lc_arg args[] = {LC_T(key->tenant_id), LC_T(key->user_id), LC_T(key->id)};
    bool found;
    loci_status status = lc_row_find(tx, &(lc_query){&select_job, args}, arena, out, &found, err);

    if (status == LOCI_OK && !found)
        status = lc_fail(err, LOCI_ENOTFOUND, "there is no job %.*s", LC_STR_ARG(key->id));
    return status;
}

loci_status lc_job_each(lc_tx *tx, const lc_job_filter *filter, lc_job_visit *visit, void *ctx,
                        loci_error *err)
{
    lc_id_parts before = {.seq = INT64_MAX};
    loci_str status_name = LC_STR_NONE;
    lc_rows rows;
    lc_job job;
    loci_status status;

    LC_ASSERT(filter->limit >= 0);
    if (filter->before_id.ptr != NULL && !lc_id_parse(filter->before_id, "job", &before))
        return lc_fail(err, LOCI_EINVAL, "%.*s is not the id of a job",
                       LC_STR_ARG(filter->before_id));
    if (filter->status >= 0)
        status_name = loci_str_of(lc_job_status_name((lc_job_status)filter->status));

    status = lc_tx_query(tx, &select_page,
                         (lc_arg[]){LC_T(filter->tenant_id), LC_T(filter->user_id),
                                    LC_I(before.seq), LC_T_OR_NULL(filter->kind),
                                    LC_T_OR_NULL(status_name), LC_I(filter->limit)},
                         &rows, err);
    while (lc_row_next(&rows, &job, &status, err))
        status = visit(ctx, &job, err);
    lc_rows_end(&rows);
    return status;
}

loci_status lc_job_count(lc_tx *tx, bool is_of_store, lc_job_counts *out, loci_error *err)
{
    lc_job_counts counts = {0};
    int64_t now_us = 0;
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &count_by_status, (lc_arg[]){LC_I(is_of_store)}, &rows,
                                     err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_job_status of;

        if (lc_job_status_find(lc_rows_str(&rows, 0), &of))
            counts.by_status[of] = lc_rows_i64(&rows, 1);
    }
    lc_rows_end(&rows);
    if (status == LOCI_OK)
        status = tx->db->driver->now_us(tx, &now_us, err);
    if (status == LOCI_OK)
        status = lc_tx_find_numbers(tx, &count_scheduled,
                                    (lc_arg[]){LC_I(is_of_store), LC_I(now_us)}, &counts.scheduled,
                                    err);
    if (status != LOCI_OK)
        return status;
    counts.by_status[LC_JOB_QUEUED] -= counts.scheduled;
    *out = counts;
    return LOCI_OK;
}

/* ---- Ending from outside -------------------------------------------------------------------- */

static const lc_sql cancel_queued = {
    .text = "update jobs set status = 'cancelled', cancel_requested = 1, finished_at = $4 "
            "where tenant_id = $1 and user_id = $2 and id = $3 and status = 'queued' returning id",
    .params = "ttti",
    .columns = "t",
};

static const lc_sql cancel_running = {
    .text = "update jobs set cancel_requested = 1 "
            "where tenant_id = $1 and user_id = $2 and id = $3 and status = 'running' returning id",
    .params = "ttt",
    .columns = "t",
};

static const lc_sql delete_ended = {
    .text = "delete from jobs where (tenant_id, user_id, id) in (select tenant_id, user_id, id "
            "from jobs where status in ('done', 'failed', 'cancelled') and finished_at < $1 "
            "limit $2) returning id",
    .params = "ii",
    .columns = "t",
};

loci_status lc_job_request_cancel(lc_tx *tx, const lc_job_key *key, loci_error *err)
{
    const lc_arg args[] = {LC_T(key->tenant_id), LC_T(key->user_id), LC_T(key->id),
                           LC_I(tx->now_us)};

    for (int i = 0; i < RACE_TRIES_MAX; i++) {
        lc_job job;
        bool is_changed;
        lc_arena_mark mark = lc_arena_get_mark(&tx->db->scratch);
        loci_status status = lc_job_load(tx, key, &tx->db->scratch, &job, err);

        lc_arena_rewind(&tx->db->scratch, mark); /* Only its status is needed. */
        if (status == LOCI_OK && lc_job_status_is_ended(job.status))
            status = lc_fail(err, LOCI_ECONFLICT, "%.*s has already ended: it is %s",
                             LC_STR_ARG(key->id), lc_job_status_name(job.status));
        if (status != LOCI_OK)
            return status;

        /* A queued job changes its status, which must be allowed; a running one is only asked to
         * stop. */
        LC_ASSERT(job.status == LC_JOB_RUNNING || lc_job_may_move(job.status, LC_JOB_CANCELLED));
        status = change(tx, job.status == LC_JOB_QUEUED ? &cancel_queued : &cancel_running, args,
                        &is_changed, err);
        if (status != LOCI_OK || is_changed)
            return status;
    }
    return fail_race("the job", err);
}

loci_status lc_job_purge_ended(lc_tx *tx, int64_t before_us, int64_t limit, int64_t *out,
                               loci_error *err)
{
    int64_t count = 0;
    lc_rows rows;
    loci_status status;

    LC_ASSERT(tx->is_write);
    tx->wrote = true;
    status = lc_tx_query(tx, &delete_ended, (lc_arg[]){LC_I(before_us), LC_I(limit)}, &rows, err);
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err))
        count++;
    lc_rows_end(&rows);
    if (status == LOCI_OK)
        *out = count;
    return status;
}

/* ---- Showing -------------------------------------------------------------------------------- */

void lc_job_write(lc_json_writer *out, const lc_job *job)
{
    lc_jw_object(out);
    lc_row_put(&lc_job_row, job, out);
    lc_jw_end(out);
}

/* ---- Statements of a worker ------------------------------------------------------------------ */

/* Maximum number of jobs that one claim tries: those before the claimed one were ended, or claimed
 * by another worker. */
#define CLAIM_TRIES_MAX 100

#define DUE_AT "case when status = 'queued' then run_after_us else lease_until_us end"

static const lc_sql select_due = {
    .text = "select {row} from jobs where status in ('queued', 'running') "
            "and priority >= $2 and " DUE_AT " <= $1 order by priority desc, queue_place limit 1 "
            "/* for update skip locked */",
    .params = "ii",
    .columns = "",
    .row = &lc_job_row,
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

/* Changes the row `from` to `to`, which differs in the columns that move_job sets; `*is_moved` is
 * false if the row was not equal to `from` any more. */
static loci_status move(lc_tx *tx, const lc_job *from, const lc_job *to, bool *is_moved,
                        loci_error *err)
{
    LC_ASSERT(lc_job_may_move(from->status, to->status));
    LC_ASSERT((to->finished_at != 0) == lc_job_status_is_ended(to->status) || tx->now_us == 0);
    LC_ASSERT((to->lease_until_us != 0) == (to->status == LC_JOB_RUNNING));

    return change(tx, &move_job,
                  (lc_arg[]){LC_T(from->tenant_id), LC_T(from->user_id), LC_T(from->id),
                             LC_T(loci_str_of(lc_job_status_name(from->status))), LC_I(from->epoch),
                             LC_T(loci_str_of(lc_job_status_name(to->status))), LC_I(to->epoch),
                             LC_I(to->attempts), LC_I(to->run_after_us), LC_I(to->lease_until_us),
                             LC_I(to->finished_at), LC_T_OR_NULL(to->result),
                             LC_T_OR_NULL(to->error_code), LC_T_OR_NULL(to->error_message)},
                  is_moved, err);
}

/* The same for the holder of the job: LOCI_EFENCED if the row has changed. */
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

/* A copy of `job` that ends now with this status. */
static lc_job ended(const lc_tx *tx, const lc_job *job, lc_job_status status)
{
    lc_job to = *job;

    to.status = status;
    to.lease_until_us = 0;
    to.finished_at = tx->now_us;
    return to;
}

/* ---- Claiming ------------------------------------------------------------------------------- */

/* The job after a claim: normally running, with a new epoch. */
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

loci_status lc_job_claim(lc_tx *tx, const lc_job_terms *terms, lc_arena *arena, lc_job *out,
                         loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(arena);
    int64_t now_us;
    loci_status status = tx->db->driver->now_us(tx, &now_us, err);

    LC_ASSERT(terms->lease_ms > 0 && terms->lease_ms <= LC_JOB_DELAY_MS_MAX);
    for (int i = 0; status == LOCI_OK && i < CLAIM_TRIES_MAX; i++) {
        const lc_arg args[] = {LC_I(now_us), LC_I(terms->priority_min)};
        bool is_moved = false, found;
        lc_job job, to;

        lc_arena_rewind(arena, mark);
        status = lc_row_find(tx, &(lc_query){&select_due, args}, arena, &job, &found, err);
        if (status != LOCI_OK)
            return status;
        if (!found)
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
    int64_t now_us, due_us = INT64_MAX;
    loci_status status = tx->db->driver->now_us(tx, &now_us, err);

    if (status == LOCI_OK)
        status = lc_tx_find_numbers(tx, &select_next_due, (lc_arg[]){LC_I(terms->priority_min)},
                                    &due_us, err);
    if (status != LOCI_OK)
        return status;
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
    int64_t is_cancelled = -1; /* Another worker has the job. */
    loci_status status = lc_tx_find_numbers(
        tx, &select_hold,
        (lc_arg[]){LC_T(job->tenant_id), LC_T(job->user_id), LC_T(job->id), LC_I(job->epoch)},
        &is_cancelled, err);

    if (status == LOCI_OK && is_cancelled < 0)
        status = fail_fenced(job, err);
    *is_unwanted = is_cancelled > 0;
    return status;
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
    /* Checked before the first write: a failure then does not make the group run again. */
    loci_status status = lc_job_check(tx, job, err);

    if (status == LOCI_OK)
        status = tx->db->driver->now_us(tx, &now_us, err);
    if (status == LOCI_OK)
        status = change(tx, &extend_lease,
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
    loci_status status = change(
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

/* Queues the job for its next attempt, or cancels it if it was asked to stop. */
static loci_status requeue(lc_tx *tx, const lc_job *job, lc_job *to, int64_t pause_ms,
                           loci_error *err)
{
    int64_t now_us;
    bool is_unwanted;
    loci_status status = tx->db->driver->now_us(tx, &now_us, err);

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

static const lc_sql move_back = {
    .text = "update jobs set queue_place = $4 where tenant_id = $1 and user_id = $2 and id = $3",
    .params = "ttti",
};

loci_status lc_job_yield(lc_tx *tx, const lc_job *job, loci_error *err)
{
    int64_t place = 0;
    loci_status status = lc_job_return(tx, job, err);

    if (status == LOCI_OK)
        status = lc_tx_find_numbers(tx, &last_place, NULL, &place, err);
    if (status != LOCI_OK)
        return status;
    return lc_tx_exec(
        tx, &move_back,
        (lc_arg[]){LC_T(job->tenant_id), LC_T(job->user_id), LC_T(job->id), LC_I(place + 1)}, err);
}
