/* job.c - Jobs as everybody sees them: added, looked up, listed, counted, asked to stop.
 *
 * What a worker does with them is in job_claim.c. Nothing here holds a lease, so nothing here
 * changes a running job but its wish to be cancelled.
 */
#include "store/job.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "store/event.h"
#include "store/job_row.h"

/* How often a statement is repeated that lost a race. SQLite has none; on PostgreSQL the other side
 * has then committed, and what it left is seen by the next try. */
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

static loci_status next_place(lc_tx *tx, int64_t *out, loci_error *err)
{
    lc_rows rows;
    bool found;
    loci_status status = lc_tx_find(tx, &last_place, NULL, &rows, &found, err);

    if (status != LOCI_OK)
        return status;
    *out = found ? lc_rows_i64(&rows, 0) + 1 : 1;
    lc_rows_end(&rows);
    return LOCI_OK;
}

/* Inserts the job unless an active one has its unique name: then `id` becomes "". */
static loci_status insert(lc_tx *tx, const lc_job_new *job, lc_id *id, loci_error *err)
{
    lc_id_parts parts;
    int64_t now_us, place;
    bool is_id, is_inserted;
    loci_status status = tx->db->driver->now_us(tx, &now_us, err);

    if (status == LOCI_OK)
        status = next_place(tx, &place, err);
    if (status == LOCI_OK)
        status = lc_tx_make_object_id(tx, "job", id, err);
    if (status != LOCI_OK)
        return status;
    is_id = lc_id_parse(lc_id_str(id), "job", &parts);
    LC_ASSERT(is_id);

    status = lc_job_change(
        tx, &insert_job,
        (lc_arg[]){LC_T(tx->tenant_id), LC_T(tx->user_id), LC_T(lc_id_str(id)), LC_I(parts.seq),
                   LC_I(place), LC_T(job->kind), LC_T_OR_NULL(job->unique), LC_I(job->priority),
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
    .text = "select " LC_JOB_ROW " from jobs where tenant_id = $1 and user_id = $2 and id = $3",
    .params = "ttt",
    .columns = LC_JOB_ROW_KINDS,
};

static const lc_sql select_page = {
    .text = "select " LC_JOB_ROW " from jobs where tenant_id = $1 and user_id = $2 and number < $3 "
            "and ($4 is null or kind = $4) and ($5 is null or status = $5) "
            "order by number desc limit $6",
    .params = "ttitti",
    .columns = LC_JOB_ROW_KINDS,
};

static const lc_sql count_by_status = {
    .text = "select status, count(*) from jobs group by status",
    .params = "",
    .columns = "ti",
};

/* The row of `key`, its text borrowed from `rows`, which the caller ends. */
static loci_status find_row(lc_tx *tx, const lc_job_key *key, lc_rows *rows, lc_job *out,
                            loci_error *err)
{
    bool found;
    loci_status status = lc_tx_find(
        tx, &select_job, (lc_arg[]){LC_T(key->tenant_id), LC_T(key->user_id), LC_T(key->id)}, rows,
        &found, err);

    if (status != LOCI_OK)
        return status;
    if (!found)
        return lc_fail(err, LOCI_ENOTFOUND, "there is no job %.*s", LC_STR_ARG(key->id));
    return lc_job_row_read(rows, out, err);
}

loci_status lc_job_load(lc_tx *tx, const lc_job_key *key, lc_arena *arena, lc_job *out,
                        loci_error *err)
{
    lc_rows rows = {0};
    lc_job job;
    loci_status status = find_row(tx, key, &rows, &job, err);

    if (status == LOCI_OK)
        status = lc_job_keep(&job, arena, err);
    if (status == LOCI_OK)
        *out = job;
    lc_rows_end(&rows);
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
    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        status = lc_job_row_read(&rows, &job, err);
        if (status == LOCI_OK)
            status = visit(ctx, &job, err);
    }
    lc_rows_end(&rows);
    return status;
}

loci_status lc_job_count(lc_tx *tx, int64_t out[LC_JOB_STATUSES], loci_error *err)
{
    int64_t counts[LC_JOB_STATUSES] = {0};
    lc_rows rows;
    loci_status status = lc_tx_query(tx, &count_by_status, NULL, &rows, err);

    while (status == LOCI_OK && lc_rows_next(&rows, &status, err)) {
        lc_job_status of;

        if (lc_job_status_find(lc_rows_str(&rows, 0), &of))
            counts[of] = lc_rows_i64(&rows, 1);
    }
    lc_rows_end(&rows);
    if (status == LOCI_OK)
        memcpy(out, counts, sizeof counts);
    return status;
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
        lc_rows rows = {0};
        lc_job job;
        bool is_changed;
        loci_status status = find_row(tx, key, &rows, &job, err);

        if (status == LOCI_OK && lc_job_status_is_ended(job.status))
            status = lc_fail(err, LOCI_ECONFLICT, "%.*s has already ended: it is %s",
                             LC_STR_ARG(key->id), lc_job_status_name(job.status));
        lc_rows_end(&rows);
        if (status != LOCI_OK)
            return status;

        /* What a queued job becomes must be allowed; a running one only gets a wish. */
        LC_ASSERT(job.status == LC_JOB_RUNNING || lc_job_may_move(job.status, LC_JOB_CANCELLED));
        status = lc_job_change(tx, job.status == LC_JOB_QUEUED ? &cancel_queued : &cancel_running,
                               args, &is_changed, err);
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

static void write_json_or_null(lc_json_writer *out, const char *name, loci_str json)
{
    if (json.ptr != NULL)
        lc_jw_member_raw(out, name, json);
    else
        lc_jw_member_null(out, name);
}

static void write_error(lc_json_writer *out, const lc_job *job)
{
    if (job->error_code.ptr == NULL) {
        lc_jw_member_null(out, "error");
        return;
    }
    lc_jw_name(out, "error");
    lc_jw_object(out);
    lc_jw_member_str(out, "code", job->error_code);
    lc_jw_member_str(out, "message", job->error_message);
    lc_jw_end(out);
}

void lc_job_write(lc_json_writer *out, const lc_job *job)
{
    lc_jw_object(out);
    lc_jw_member_str(out, "id", job->id);
    lc_jw_member_str(out, "kind", job->kind);
    lc_jw_member_text(out, "status", lc_job_status_name(job->status));
    lc_jw_member_int(out, "priority", job->priority);
    lc_jw_member_raw(out, "args", job->args);
    write_json_or_null(out, "result", job->result);
    write_error(out, job);
    lc_jw_member_int(out, "attempts", job->attempts);
    lc_jw_member_int(out, "attempts_max", job->attempts_max);
    lc_jw_name(out, "progress");
    lc_jw_object(out);
    lc_jw_member_int(out, "done", job->progress_done);
    if (job->progress_total > 0)
        lc_jw_member_int(out, "total", job->progress_total);
    else
        lc_jw_member_null(out, "total");
    lc_jw_end(out);
    write_json_or_null(out, "checkpoint", job->checkpoint);
    lc_jw_member_bool(out, "cancel_requested", job->cancel_requested);
    lc_jw_member_time(out, "created_at", job->created_at);
    if (lc_job_status_is_ended(job->status))
        lc_jw_member_time(out, "finished_at", job->finished_at);
    else
        lc_jw_member_null(out, "finished_at");
    lc_jw_end(out);
}
