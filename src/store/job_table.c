/* job_table.c - Two columns are only for order, because neither clock gives one: the domain's may
 * go back, the database's may stand still.
 *
 *     number       grows within a user and is part of the id, so that a page can go on after
 *                  a job that is gone; it orders lists.
 *     queue_place  grows within the store: one more than the largest there is. Two transactions
 *                  of PostgreSQL may take the same one; then either may be first.
 *
 * `unique_name` is kept when a job has ended; the index that makes it unique sees active jobs only,
 * and lc_job_enqueue() asks it with `on conflict do nothing`, so that no statement has to fail.
 */
#include "store/job_table.h"

static const lc_column columns[] = {
    LC_COLUMN("tenant_id", 't'),
    LC_COLUMN("user_id", 't'),
    LC_COLUMN("id", 't'),
    LC_COLUMN("number", 'i'),
    LC_COLUMN("queue_place", 'i'),
    LC_COLUMN("kind", 't'),
    LC_COLUMN_OR_NULL("unique_name", 't'),
    LC_COLUMN("status", 't'), /* lc_job_status_name() */
    LC_COLUMN("priority", 'i'),
    LC_COLUMN("args", 't'),
    LC_COLUMN_OR_NULL("result", 't'),
    LC_COLUMN("attempts", 'i'),
    LC_COLUMN("attempts_max", 'i'),
    LC_COLUMN("created_at", 'i'),
    LC_COLUMN("finished_at", 'i'),
    LC_COLUMN("run_after_us", 'i'),
    LC_COLUMN("lease_until_us", 'i'),
    LC_COLUMN("epoch", 'i'),
    LC_COLUMN("progress_done", 'i'),
    LC_COLUMN("progress_total", 'i'),
    LC_COLUMN_OR_NULL("checkpoint", 't'),
    LC_COLUMN("cancel_requested", 'i'),
    LC_COLUMN_OR_NULL("error_code", 't'),
    LC_COLUMN_OR_NULL("error_message", 't'),
    {0},
};

#define ACTIVE "status in ('queued', 'running')"

static const lc_index indexes[] = {
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
    .columns = columns,
    .key = "tenant_id, user_id, id",
    .indexes = indexes,
};
