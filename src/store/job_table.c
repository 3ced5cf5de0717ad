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
    {"tenant_id", 't', false},
    {"user_id", 't', false},
    {"id", 't', false},
    {"number", 'i', false},
    {"queue_place", 'i', false},
    {"kind", 't', false},
    {"unique_name", 't', true},
    {"status", 't', false}, /* lc_job_status_name() */
    {"priority", 'i', false},
    {"args", 't', false},
    {"result", 't', true},
    {"attempts", 'i', false},
    {"attempts_max", 'i', false},
    {"created_at", 'i', false},
    {"finished_at", 'i', false},
    {"run_after_us", 'i', false},
    {"lease_until_us", 'i', false},
    {"epoch", 'i', false},
    {"progress_done", 'i', false},
    {"progress_total", 'i', false},
    {"checkpoint", 't', true},
    {"cancel_requested", 'i', false},
    {"error_code", 't', true},
    {"error_message", 't', true},
    {NULL, 0, false},
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
