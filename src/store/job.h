/* job.h - work that outlives a call: durable rows with a lease.
 *
 *     queued --claim--> running --finish--> done
 *       ^                  |----fail------> failed      (attempts used up, or not worth it)
 *       |---back-off-------|----cancel----> cancelled   (also straight from queued)
 *
 * A worker holds a job by its lease: `epoch` grows with every claim, and every write of the worker
 * first checks, in the same transaction, that the epoch is still its own. So a worker that was
 * stopped for longer than its lease is fenced, and each effect happens exactly once in spite of
 * crashes: effect and completion share a transaction. Leases use the database's clock only.
 */
#ifndef LC_STORE_JOB_H
#define LC_STORE_JOB_H

#include "base/arena.h"
#include "store/row.h"

extern const lc_table lc_jobs_table;
extern const lc_row_type lc_job_row; /* lc_job */

typedef enum lc_job_status {
    LC_JOB_QUEUED,
    LC_JOB_RUNNING,
    LC_JOB_DONE,
    LC_JOB_FAILED,
    LC_JOB_CANCELLED,
    LC_JOB_STATUSES
} lc_job_status;

typedef struct lc_job {
    loci_str tenant_id; /* "" and "" = the store's own. */
    loci_str user_id;
    loci_str id; /* job_… */
    loci_str kind;
    lc_job_status status;
    int64_t priority; /* Higher first; then older first. */
    loci_str args;    /* JSON object. */
    loci_str result;  /* JSON object when done, else none. */
    int64_t attempts; /* Claims so far, without those that were given back. */
    int64_t attempts_max;
    int64_t created_at;     /* Domain time. */
    int64_t finished_at;    /* Domain time, 0 = not yet. */
    int64_t run_after_us;   /* Database clock. */
    int64_t lease_until_us; /* Database clock, 0 = not held. */
    int64_t epoch;
    int64_t progress_done;
    int64_t progress_total; /* 0 = unknown. */
    loci_str checkpoint;    /* Where the next attempt continues; JSON or none. */
    bool cancel_requested;
    loci_str error_code; /* Of the last failed attempt, or none. */
    loci_str error_message;
} lc_job;

typedef struct lc_job_new {
    loci_str kind;
    int64_t priority;
    int64_t attempts_max; /* 0 = the default, LC_JOB_ATTEMPTS_MAX. */
    int64_t delay_ms;     /* Before it may run; 0 .. LC_JOB_DELAY_MS_MAX. */
    loci_str args;        /* JSON object; "" = {}. */
    /* At most one queued or running job of this kind and name per user; none = no such limit. */
    loci_str unique;
} lc_job_new;

#define LC_JOB_ATTEMPTS_MAX 5
#define LC_JOB_DELAY_MS_MAX (INT64_C(366) * 24 * 60 * 60 * 1000)
/* The pause after the first failed attempt; it doubles with each further one, up to
 * LC_JOB_PAUSE_MS_MAX. */
#define LC_JOB_PAUSE_MS 1000
#define LC_JOB_PAUSE_MS_MAX (60 * 60 * 1000)
/* Priority of jobs that only clean up: they run after all others, and never inside a call. */
#define LC_JOB_PRIORITY_UPKEEP (-1000)

const char *lc_job_status_name(lc_job_status status);
bool lc_job_status_find(loci_str name, lc_job_status *out);
bool lc_job_status_is_ended(lc_job_status status);
/* The drawing above, as a table; every change of status is checked against it. */
bool lc_job_may_move(lc_job_status from, lc_job_status to);
/* How long to wait after this number of failed attempts. */
int64_t lc_job_pause_ms(int64_t attempts);

/* Adds a job of the current user of `tx`. If a job with this `unique` exists, `out` is its id and
 * no job is added. */
loci_status lc_job_enqueue(lc_tx *tx, const lc_job_new *job, lc_id *out, loci_error *err);
/* The queued or running job of the current user with the kind and the unique name of `like`; "" in
 * `out` when there is none. */
loci_status lc_job_find_active(lc_tx *tx, const lc_job_new *like, lc_id *out, loci_error *err);

/* Which jobs a worker claims, and the length of its lease. */
typedef struct lc_job_terms {
    int64_t lease_ms;
    int64_t priority_min;
} lc_job_terms;

/* Takes the best job that may run (queued and due, or running with a lease that has ended),
 * counting an attempt. On the way a job whose attempts are used up becomes failed instead, one with
 * cancel_requested cancelled. The job's text lives in `arena`; its id is empty if no job was
 * found. */
loci_status lc_job_claim(lc_tx *tx, const lc_job_terms *terms, lc_arena *arena, lc_job *out,
                         loci_error *err);
/* When, in µs from now by the database's clock, the next job may be claimed; 0 = now, INT64_MAX =
 * none waits. */
loci_status lc_job_next_due_us(lc_tx *tx, const lc_job_terms *terms, int64_t *out, loci_error *err);

/* The functions below are for the worker that claimed `job`. They return LOCI_EFENCED, without
 * writing anything, if another worker has claimed the job since. */

/* Whether to go on: LOCI_ECANCELLED when the job should stop. Only reads. */
loci_status lc_job_check(lc_tx *tx, const lc_job *job, loci_error *err);
/* The same check, made at the start of every write of the worker; also extends the lease. */
loci_status lc_job_hold(lc_tx *tx, const lc_job *job, int64_t lease_ms, loci_error *err);

typedef struct lc_job_progress {
    int64_t done;
    int64_t total;       /* 0 = unknown. */
    loci_str checkpoint; /* JSON; none = a next attempt starts from the beginning. */
} lc_job_progress;

/* Stores the progress of the work. */
loci_status lc_job_advance(lc_tx *tx, const lc_job *job, const lc_job_progress *progress,
                           loci_error *err);
/* `result` is a JSON object or none. */
loci_status lc_job_finish(lc_tx *tx, const lc_job *job, loci_str result, loci_error *err);

typedef struct lc_job_failure {
    const loci_error *cause;
    bool is_final;    /* Not worth repeating. */
    bool skips_pause; /* Repeat at once. */
} lc_job_failure;

/* Back to queued after a pause that doubles with each attempt, or failed when it is final or the
 * attempts are used up. A job that was asked to stop is cancelled instead of queued, also by
 * lc_job_return(). */
loci_status lc_job_fail(lc_tx *tx, const lc_job *job, const lc_job_failure *failure,
                        loci_error *err);
/* True if lc_job_fail() would set it to failed. */
bool lc_job_fails_for_good(const lc_job *job, const lc_job_failure *failure);
/* Gives the job back without counting the attempt: the worker is being stopped or paused. */
loci_status lc_job_return(lc_tx *tx, const lc_job *job, loci_error *err);
/* The same, behind all other jobs of its priority. */
loci_status lc_job_yield(lc_tx *tx, const lc_job *job, loci_error *err);
loci_status lc_job_set_cancelled(lc_tx *tx, const lc_job *job, loci_error *err);

typedef struct lc_job_key {
    loci_str tenant_id;
    loci_str user_id;
    loci_str id;
} lc_job_key;

/* Cancels a queued job at once and a running job at its next pause point; a job that has ended is
 * LOCI_ECONFLICT. */
loci_status lc_job_request_cancel(lc_tx *tx, const lc_job_key *key, loci_error *err);

/* The job's text lives in `arena`. */
loci_status lc_job_load(lc_tx *tx, const lc_job_key *key, lc_arena *arena, lc_job *out,
                        loci_error *err);

typedef struct lc_job_filter {
    loci_str tenant_id;
    loci_str user_id;
    loci_str kind; /* None = any. */
    int status;    /* lc_job_status or -1 = any. */
    /* Only jobs older than this one; none = from the newest. The job need not exist any more. */
    loci_str before_id;
    int64_t limit;
} lc_job_filter;
/* Gets each job; its text is borrowed for the call. Non-OK stops. */
typedef loci_status lc_job_visit(void *ctx, const lc_job *job, loci_error *err);
loci_status lc_job_each(lc_tx *tx, const lc_job_filter *filter, lc_job_visit *visit, void *ctx,
                        loci_error *err);
/* Number of jobs. Queued ones that are not due yet are counted apart: upkeep always has its next
 * run scheduled, so they say nothing about a backlog. */
typedef struct lc_job_counts {
    int64_t by_status[LC_JOB_STATUSES];
    int64_t scheduled;
} lc_job_counts;
/* Counts the jobs of all users, or those of the store itself. */
loci_status lc_job_count(lc_tx *tx, bool is_of_store, lc_job_counts *out, loci_error *err);
/* Deletes up to `limit` jobs of the whole store that ended before `before_us`; how many in `out`.
 */
loci_status lc_job_purge_ended(lc_tx *tx, int64_t before_us, int64_t limit, int64_t *out,
                               loci_error *err);

/* The job as a JSON object, for job.get and job.list. Times of the database's clock are left out:
 * with them the same calls would not give the same bytes. */
void lc_job_write(lc_json_writer *out, const lc_job *job);

#endif /* LC_STORE_JOB_H */
