/* job_run.c - How an attempt ends is decided here and nowhere else:
 *
 *     the kind said                      and                          the row becomes
 *     anything                           finish() has committed       done (it already is)
 *     what a pause point or commit said  ECANCELLED                   cancelled
 *                                        EUNAVAILABLE                 queued, attempt not counted
 *                                        EFENCED                      not ours to write
 *     any other status                   not worth repeating          failed
 *                                        attempts left                queued after a pause
 *
 * `verdict` keeps the two apart: a kind may well answer LOCI_ECANCELLED or LOCI_EUNAVAILABLE
 * because of something it called, and that is a failed attempt like any other.
 *
 * When the last word cannot be written (disk full, store busy for longer than the lease), the row
 * stays as it is: the lease ends and the job is claimed again, with this attempt counted.
 */
#include "engine/job_run.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/engine.h"
#include "engine/worker.h"

/* How often a pause point looks at the row. */
#define LOOK_US 100000

/* Waiting longer than the lease for a write would only find the job taken over. */
static int64_t deadline_us(const lc_job_run *run)
{
    return lc_clock_monotonic_us() + run->lease_ms * 1000;
}

static lc_tx_body claim_body;

/* A write as `owner`'s user, of a body that belongs to this attempt. */
static loci_status write_as(lc_job_run *run, const lc_job *owner, lc_tx_body *body, void *ctx,
                            loci_error *err)
{
    lc_write write = {
        /* A claim is of no user: whoever takes a row has it. */
        .locks_nothing = body == claim_body,
        .tenant_id = owner->tenant_id.ptr != NULL ? owner->tenant_id : LC_STR(""),
        .user_id = owner->user_id.ptr != NULL ? owner->user_id : LC_STR(""),
        .now_us = lc_env_now_us(lc_engine_env(run->engine)),
        .deadline_us = deadline_us(run),
        .body = body,
        .ctx = ctx,
    };
    loci_status status = lc_engine_write(run->engine, &write);

    if (status != LOCI_OK && err != NULL)
        *err = write.error;
    return status;
}

/* ---- Claiming ------------------------------------------------------------------------------- */

typedef struct claim {
    lc_job_run *run;
    const lc_job_terms *terms;
} claim;

static loci_status claim_body(lc_tx *tx, void *ctx, loci_error *err)
{
    claim *c = ctx;

    return lc_job_claim(tx, c->terms, c->run->arena, &c->run->job, err);
}

loci_status lc_job_run_claim(lc_job_run *run, const lc_job_terms *terms, loci_error *err)
{
    claim c = {.run = run, .terms = terms};

    run->lease_ms = terms->lease_ms;
    return write_as(run, &(lc_job){0}, claim_body, &c, err);
}

/* ---- Slices --------------------------------------------------------------------------------- */

typedef struct slice {
    lc_job_run *run;
    lc_tx_body *body;
    void *ctx;
    const lc_job_progress *progress; /* NULL = this is the last. */
    loci_str result;
    bool is_held; /* The job is ours: what fails now is the body's failure. */
    bool enqueued_job;
} slice;

static loci_status slice_body(lc_tx *tx, void *ctx, loci_error *err)
{
    slice *s = ctx;
    const lc_job *job = &s->run->job;
    loci_status status;

    s->is_held = false;
    status = lc_job_hold(tx, job, s->run->lease_ms, err);
    s->is_held = status == LOCI_OK;
    if (status == LOCI_OK && s->progress == NULL)
        status = lc_job_finish(tx, job, s->result, err);
    if (status == LOCI_OK && s->body != NULL)
        status = s->body(tx, s->ctx, err);
    if (status == LOCI_OK && s->progress != NULL)
        status = lc_job_advance(tx, job, s->progress, err);
    s->enqueued_job = tx->enqueued_job;
    return status;
}

static loci_status write_slice(slice *s, loci_error *err)
{
    lc_job_run *run = s->run;
    loci_status status;

    LC_ASSERT(!run->is_finished);
    status = write_as(run, &run->job, slice_body, s, err);
    if (status == LOCI_OK && s->enqueued_job)
        lc_workers_wake(run->workers);
    if (!s->is_held && (status == LOCI_EFENCED || status == LOCI_ECANCELLED))
        run->verdict = status;
    return status;
}

loci_status lc_job_run_commit(lc_job_run *run, lc_tx_body *body, void *ctx,
                              const lc_job_progress *progress, loci_error *err)
{
    slice s = {.run = run, .body = body, .ctx = ctx, .progress = progress};

    LC_ASSERT(progress != NULL);
    return write_slice(&s, err);
}

loci_status lc_job_run_finish(lc_job_run *run, lc_tx_body *body, void *ctx, loci_str result,
                              loci_error *err)
{
    slice s = {.run = run, .body = body, .ctx = ctx, .result = result};
    loci_status status = write_slice(&s, err);

    run->is_finished = status == LOCI_OK;
    return status;
}

static loci_status look_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_job_check(tx, ctx, err);
}

loci_status lc_job_run_pause_point(lc_job_run *run, loci_error *err)
{
    int64_t now_us = lc_clock_monotonic_us();
    loci_error seen;
    loci_status status;

    if (lc_workers_must_return(run->workers)) {
        run->verdict = LOCI_EUNAVAILABLE;
        return lc_fail(err, LOCI_EUNAVAILABLE, "the workers are asked to pause");
    }
    if (now_us - run->looked_us < LOOK_US)
        return LOCI_OK;
    run->looked_us = now_us;
    status = lc_engine_read(
        run->engine,
        &(lc_read){.deadline_us = deadline_us(run), .body = look_body, .ctx = &run->job}, &seen);
    /* A look that failed for another reason says nothing about the job; the next commit will. */
    if (status != LOCI_EFENCED && status != LOCI_ECANCELLED)
        return LOCI_OK;
    run->verdict = status;
    if (err != NULL)
        *err = seen;
    return status;
}

/* ---- The end -------------------------------------------------------------------------------- */

/* Whether the same attempt could end better later. What is missing here may pass. */
static bool is_final(loci_status status)
{
    static const loci_status final[] = {
        LOCI_EINVAL, LOCI_ENOTFOUND, LOCI_EFORBIDDEN, LOCI_ELIMIT, LOCI_EUNSUPPORTED, LOCI_ECORRUPT,
    };

    for (size_t i = 0; i < sizeof final / sizeof *final; i++) {
        if (status == final[i])
            return true;
    }
    return false;
}

typedef struct ending {
    const lc_job *job;
    lc_job_outcome outcome;
    lc_job_failure failure;
} ending;

static loci_status ending_body(lc_tx *tx, void *ctx, loci_error *err)
{
    const ending *e = ctx;

    switch (e->outcome) {
    case LC_JOB_OUTCOME_CANCELLED:
        return lc_job_set_cancelled(tx, e->job, err);
    case LC_JOB_OUTCOME_RETURNED:
        return lc_job_return(tx, e->job, err);
    default:
        return lc_job_fail(tx, e->job, &e->failure, err);
    }
}

static lc_job_outcome decide(const lc_job_run *run, const lc_job_failure *failure)
{
    if (run->is_finished)
        return LC_JOB_OUTCOME_DONE;
    if (run->verdict != LOCI_OK && run->verdict == failure->cause->status) {
        return run->verdict == LOCI_ECANCELLED     ? LC_JOB_OUTCOME_CANCELLED
               : run->verdict == LOCI_EUNAVAILABLE ? LC_JOB_OUTCOME_RETURNED
                                                   : LC_JOB_OUTCOME_LOST;
    }
    return lc_job_fails_for_good(&run->job, failure) ? LC_JOB_OUTCOME_FAILED
                                                     : LC_JOB_OUTCOME_REPEATED;
}

static void log_end(lc_job_run *run, const char *event, const loci_error *cause)
{
    loci_log_level level = cause->status == LOCI_EFENCED ? LOCI_LOG_INFO : LOCI_LOG_WARN;

    lc_log_write(&lc_engine_env(run->engine)->log, level, event, LC_LOG_STR("id", run->job.id),
                 LC_LOG_STR("kind", run->job.kind), LC_LOG_INT("attempts", run->job.attempts),
                 LC_LOG_TEXT("code", loci_status_name(cause->status)));
}

/* Writes down how an attempt ended that did not finish. */
static lc_job_outcome settle(lc_job_run *run, const loci_error *cause)
{
    const lc_job_kind *kind = lc_engine_find_job_kind(run->engine, run->job.kind);
    ending e = {
        .job = &run->job,
        .failure = {.cause = cause,
                    .is_final = is_final(cause->status),
                    .skips_pause = lc_engine_is_inline(run->engine) &&
                                   !(kind != NULL && kind->asks_outside)},
    };
    loci_error err;

    e.outcome = decide(run, &e.failure);
    if (e.outcome == LC_JOB_OUTCOME_DONE)
        return e.outcome;
    if (e.outcome == LC_JOB_OUTCOME_LOST) {
        log_end(run, "job.fenced", cause);
        return e.outcome;
    }
    if (write_as(run, &run->job, ending_body, &e, &err) != LOCI_OK) {
        log_end(run, "job.not_settled", &err);
        return LC_JOB_OUTCOME_LOST;
    }
    if (e.outcome == LC_JOB_OUTCOME_FAILED)
        log_end(run, "job.failed", cause);
    return e.outcome;
}

lc_job_outcome lc_job_run_attempt(lc_job_run *run)
{
    const lc_job_kind *kind = lc_engine_find_job_kind(run->engine, run->job.kind);
    loci_error err = {.status = LOCI_OK};
    loci_status status;

    if (kind == NULL) {
        (void)lc_fail(&err, LOCI_EUNSUPPORTED, "this loci knows no jobs of kind %.*s",
                      LC_STR_ARG(run->job.kind));
        return settle(run, &err);
    }
    status = kind->run(run, &err);
    LC_ASSERT(status != LOCI_OK || run->is_finished);
    err.status = status;
    return settle(run, &err);
}
