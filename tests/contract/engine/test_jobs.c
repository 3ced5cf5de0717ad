/* Jobs as a store keeps them: order, uniqueness, attempts, cancelling, lists. */
#include "contract/job_fixture.h"

static const lc_job_new plain = {.kind = {"test.plain", 10}};

/* ---- Order ---------------------------------------------------------------------------------- */

TEST(jobs, claims_go_by_priority_and_then_by_age)
{
    fixture f;
    lc_id first, second, third, urgent;

    fixture_open(&f, NULL);
    first = fixture_enqueue(&f, "a", &plain);
    /* Neither clock orders them: both may stand still, and the domain's may go back. */
    fixture_domain_us -= 5000000;
    second = fixture_enqueue(&f, "b", &plain);
    urgent = fixture_enqueue(&f, "a", &(lc_job_new){.kind = plain.kind, .priority = 7});
    fixture_domain_us -= 5000000;
    third = fixture_enqueue(&f, "", &plain);

    CHECK_STR_EQ(fixture_claim_one(&f).id, urgent.text);
    CHECK_STR_EQ(fixture_claim_one(&f).id, first.text);
    CHECK_STR_EQ(fixture_claim_one(&f).id, second.text);
    CHECK_STR_EQ(fixture_claim_one(&f).id, third.text);
    CHECK(fixture_claim(&f).id.ptr == NULL);
    fixture_close(&f);
}

TEST(jobs, a_delayed_job_is_not_claimed_before_its_time)
{
    fixture f;

    fixture_open(&f, NULL);
    (void)fixture_enqueue(&f, "u", &(lc_job_new){.kind = plain.kind, .delay_ms = 1000});
    fixture_pass_ms(999);
    CHECK(fixture_claim(&f).id.ptr == NULL);
    fixture_pass_ms(1);
    (void)fixture_claim_one(&f);
    fixture_close(&f);
}

typedef struct due {
    int64_t priority_min;
    int64_t us;
} due;

static loci_status due_body(lc_tx *tx, void *ctx, loci_error *err)
{
    due *d = ctx;
    lc_job_terms terms = {.lease_ms = LEASE_MS, .priority_min = d->priority_min};

    return lc_job_next_due_us(tx, &terms, &d->us, err);
}

/* What a worker sleeps by: too late and jobs wait, too early and it spins. */
TEST(jobs, the_next_due_time_is_that_of_the_first_that_may_be_claimed)
{
    fixture f;
    due d = {.priority_min = INT64_MIN};
    due d_without_upkeep = {.priority_min = LC_JOB_PRIORITY_UPKEEP + 1};

    fixture_open(&f, NULL);
    CHECK_OK(fixture_read(&f, due_body, &d), f.err);
    CHECK_EQ(d.us, INT64_MAX);
    (void)fixture_enqueue(&f, "",
                          &(lc_job_new){.kind = plain.kind, .priority = LC_JOB_PRIORITY_UPKEEP});
    CHECK_OK(fixture_read(&f, due_body, &d), f.err);
    CHECK_EQ(d.us, 0);
    CHECK_OK(fixture_read(&f, due_body, &d_without_upkeep), f.err);
    CHECK_EQ(d_without_upkeep.us, INT64_MAX);
    (void)fixture_claim_one(&f);
    (void)fixture_enqueue(&f, "u", &(lc_job_new){.kind = plain.kind, .delay_ms = LEASE_MS + 1});
    CHECK_OK(fixture_read(&f, due_body, &d), f.err);
    CHECK_EQ(d.us, LEASE_MS * 1000);
    fixture_pass_ms(LEASE_MS + 2);
    CHECK_OK(fixture_read(&f, due_body, &d), f.err);
    CHECK_EQ(d.us, 0);
    fixture_close(&f);
}

/* ---- Adding --------------------------------------------------------------------------------- */

TEST(jobs, a_new_job_has_what_it_was_given_and_the_defaults)
{
    fixture f;
    lc_job job;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(
        &f, "u",
        &(lc_job_new){
            .kind = plain.kind, .priority = -3, .delay_ms = 10, .args = LC_STR("{\"a\":1}")});
    job = fixture_load(&f, "u", id);
    CHECK_STR_EQ(job.tenant_id, "t");
    CHECK_STR_EQ(job.user_id, "u");
    CHECK_STR_EQ(job.kind, "test.plain");
    CHECK_STR_EQ(job.args, "{\"a\":1}");
    CHECK_EQ(job.status, LC_JOB_QUEUED);
    CHECK_EQ(job.priority, -3);
    CHECK_EQ(job.attempts, 0);
    CHECK_EQ(job.attempts_max, LC_JOB_ATTEMPTS_MAX);
    CHECK_EQ(job.created_at, fixture_domain_us);
    CHECK_EQ(job.finished_at, 0);
    CHECK_EQ(job.run_after_us, fixture_database_us + 10000);
    CHECK(job.result.ptr == NULL);
    CHECK(job.checkpoint.ptr == NULL);
    CHECK(job.error_code.ptr == NULL);
    job = fixture_load(&f, "u", fixture_enqueue(&f, "u", &plain));
    CHECK_STR_EQ(job.args, "{}");
    fixture_close(&f);
}

/* A unique name keeps one job at a time, for each user and kind, until that one has ended. */
TEST(jobs, a_unique_name_is_taken_while_its_job_is_active)
{
    const lc_job_new named = {.kind = plain.kind, .unique = LC_STR("daily")};
    const lc_job_new other_kind = {.kind = LC_STR("test.other"), .unique = LC_STR("daily")};
    fixture f;
    lc_job job;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &named);
    CHECK_STR_EQ(fixture_enqueue(&f, "u", &named).text, id.text);
    CHECK(strcmp(fixture_enqueue(&f, "v", &named).text, id.text) != 0);
    CHECK(strcmp(fixture_enqueue(&f, "u", &other_kind).text, id.text) != 0);
    job = fixture_claim_one(&f);
    CHECK_STR_EQ(job.id, id.text);
    CHECK_STR_EQ(fixture_enqueue(&f, "u", &named).text, id.text);
    CHECK_OK(fixture_finish(&f, &job), f.err);
    CHECK(strcmp(fixture_enqueue(&f, "u", &named).text, id.text) != 0);
    fixture_close(&f);
}

static loci_status insert_same_name(lc_tx *tx, void *ctx, loci_error *err)
{
    static const lc_sql insert = {
        .text = "insert into jobs (tenant_id, user_id, id, number, queue_place, kind, unique_name, "
                "status, priority, args, attempts, attempts_max, created_at, finished_at, "
                "run_after_us, lease_until_us, epoch, progress_done, progress_total, "
                "cancel_requested) values ('t', 'u', 'job_x', 9, 9, 'test.plain', 'daily', "
                "'running', 0, '{}', 0, 5, 0, 0, 0, 0, 0, 0, 0, 0) on conflict do nothing "
                "returning id",
        .params = "",
        .columns = "t",
    };
    lc_rows rows;
    loci_status status = lc_tx_find(tx, &insert, NULL, &rows, ctx, err);

    lc_rows_end(&rows);
    return status;
}

/* Behind the look-up stands an index, for transactions that do not see each other. */
TEST(jobs, the_database_itself_refuses_a_second_active_job_of_one_name)
{
    fixture f;
    bool inserted = true;

    fixture_open(&f, NULL);
    (void)fixture_enqueue(&f, "u", &(lc_job_new){.kind = plain.kind, .unique = LC_STR("daily")});
    CHECK_OK(fixture_write(&f, "u", insert_same_name, &inserted), f.err);
    CHECK(!inserted);
    fixture_close(&f);
}

/* ---- Attempts ------------------------------------------------------------------------------- */

TEST(jobs, a_failed_attempt_waits_twice_as_long_each_time_until_the_job_has_failed)
{
    int64_t pause_ms = LC_JOB_PAUSE_MS;
    fixture f;
    lc_job job;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &(lc_job_new){.kind = plain.kind, .attempts_max = 4});
    for (int64_t attempt = 1; attempt < 4; attempt++) {
        job = fixture_claim_one(&f);
        CHECK_EQ(job.attempts, attempt);
        CHECK_OK(fixture_fail(&f, &job, LOCI_EUNAVAILABLE, false), f.err);
        job = fixture_load(&f, "u", id);
        CHECK_EQ(job.status, LC_JOB_QUEUED);
        CHECK_STR_EQ(job.error_code, "unavailable");
        CHECK_EQ(job.run_after_us, fixture_database_us + pause_ms * 1000);
        fixture_pass_ms(pause_ms - 1);
        CHECK(fixture_claim(&f).id.ptr == NULL);
        fixture_pass_ms(1);
        pause_ms *= 2;
    }
    job = fixture_claim_one(&f);
    CHECK_OK(fixture_fail(&f, &job, LOCI_ECONFLICT, false), f.err);
    job = fixture_load(&f, "u", id);
    CHECK_EQ(job.status, LC_JOB_FAILED);
    CHECK_EQ(job.attempts, 4);
    CHECK_EQ(job.finished_at, fixture_domain_us);
    CHECK_EQ(job.lease_until_us, 0);
    CHECK_STR_EQ(job.error_code, "conflict");
    CHECK_STR_EQ(job.error_message, "it did not work");
    fixture_close(&f);
}

TEST(jobs, what_is_not_worth_repeating_fails_at_once)
{
    fixture f;
    lc_job job;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &plain);
    job = fixture_claim_one(&f);
    CHECK_OK(fixture_fail(&f, &job, LOCI_EUNSUPPORTED, true), f.err);
    CHECK_EQ(fixture_load(&f, "u", id).status, LC_JOB_FAILED);
    fixture_close(&f);
}

/* A worker that is stopped fifty times must not use up the attempts of its job. */
TEST(jobs, a_returned_job_is_due_at_once_and_its_attempt_does_not_count)
{
    fixture f;
    lc_job job;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &plain);
    for (int i = 0; i < 50; i++) {
        job = fixture_claim_one(&f);
        CHECK_EQ(job.attempts, 1);
        CHECK_OK(fixture_return(&f, &job), f.err);
    }
    CHECK_EQ(fixture_load(&f, "u", id).attempts, 0);
    CHECK_EQ(fixture_load(&f, "u", id).status, LC_JOB_QUEUED);
    fixture_close(&f);
}

/* ---- Cancelling ----------------------------------------------------------------------------- */

TEST(jobs, a_queued_job_is_cancelled_at_once)
{
    fixture f;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &plain);
    CHECK_STATUS(LOCI_ENOTFOUND, fixture_cancel(&f, "v", id));
    CHECK_OK(fixture_cancel(&f, "u", id), f.err);
    CHECK_EQ(fixture_load(&f, "u", id).status, LC_JOB_CANCELLED);
    CHECK_EQ(fixture_load(&f, "u", id).finished_at, fixture_domain_us);
    CHECK(fixture_claim(&f).id.ptr == NULL);
    CHECK_STATUS(LOCI_ECONFLICT, fixture_cancel(&f, "u", id));
    CHECK_CONTAINS(f.err.message, "it is cancelled");
    fixture_close(&f);
}

TEST(jobs, a_running_job_hears_of_its_cancellation_and_writes_nothing_more)
{
    fixture f;
    lc_job job;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &plain);
    job = fixture_claim_one(&f);
    CHECK_OK(fixture_cancel(&f, "u", id), f.err);
    CHECK_OK(fixture_cancel(&f, "u", id), f.err); /* Asking twice is asking once. */
    CHECK_EQ(fixture_load(&f, "u", id).status, LC_JOB_RUNNING);
    CHECK(fixture_load(&f, "u", id).cancel_requested);
    CHECK_STATUS(LOCI_ECANCELLED, fixture_slice(&f, &job, "e", NULL));
    CHECK_STATUS(LOCI_ECANCELLED, fixture_last_slice(&f, &job, "e"));
    CHECK_EQ(fixture_effects(&f, "e"), 0);
    fixture_close(&f);
}

/* A wish must survive the ways in which a running job goes back to waiting. */
TEST(jobs, a_job_asked_to_stop_is_not_tried_again)
{
    fixture f;
    lc_job job;
    lc_id failed, returned, abandoned;

    fixture_open(&f, NULL);
    failed = fixture_enqueue(&f, "u", &plain);
    job = fixture_claim_one(&f);
    CHECK_OK(fixture_cancel(&f, "u", failed), f.err);
    CHECK_OK(fixture_fail(&f, &job, LOCI_EUNAVAILABLE, false), f.err);
    CHECK_EQ(fixture_load(&f, "u", failed).status, LC_JOB_CANCELLED);

    returned = fixture_enqueue(&f, "u", &plain);
    job = fixture_claim_one(&f);
    CHECK_OK(fixture_cancel(&f, "u", returned), f.err);
    CHECK_OK(fixture_return(&f, &job), f.err);
    CHECK_EQ(fixture_load(&f, "u", returned).status, LC_JOB_CANCELLED);

    abandoned = fixture_enqueue(&f, "u", &plain);
    (void)fixture_claim_one(&f);
    CHECK_OK(fixture_cancel(&f, "u", abandoned), f.err);
    fixture_pass_ms(LEASE_MS);
    CHECK(fixture_claim(&f).id.ptr == NULL);
    CHECK_EQ(fixture_load(&f, "u", abandoned).status, LC_JOB_CANCELLED);
    fixture_close(&f);
}

TEST(jobs, a_job_that_has_ended_cannot_be_cancelled)
{
    fixture f;
    lc_job job;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &plain);
    job = fixture_claim_one(&f);
    CHECK_OK(fixture_finish(&f, &job), f.err);
    CHECK_STATUS(LOCI_ECONFLICT, fixture_cancel(&f, "u", id));
    CHECK_CONTAINS(f.err.message, "it is done");
    CHECK_STR_EQ(fixture_load(&f, "u", id).result, "{\"n\":1}");
    fixture_close(&f);
}
