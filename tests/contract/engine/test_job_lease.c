/* Leases: whatever crashes or stops when, a job is run on, and each effect is there once. */
#include "contract/job_fixture.h"

static const lc_job_new plain = {.kind = {"test.plain", 10}};

/* A worker stopped for longer than its lease comes back and must not do again what another has
 * done. */
TEST(job_lease, a_worker_whose_lease_ended_is_fenced_and_its_effect_is_not_written)
{
    fixture f;
    lc_job slow, fast;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &plain);
    slow = fixture_claim_one(&f);
    fixture_pass_ms(LEASE_MS - 1);
    CHECK(fixture_claim(&f).id.ptr == NULL);
    fixture_pass_ms(1);
    fast = fixture_claim_one(&f);
    CHECK_STR_EQ(fast.id, id.text);
    CHECK_EQ(fast.epoch, slow.epoch + 1);
    CHECK_EQ(fast.attempts, 2);

    CHECK_STATUS(LOCI_EFENCED, fixture_slice(&f, &slow, "e", NULL));
    CHECK_STATUS(LOCI_EFENCED, fixture_last_slice(&f, &slow, "e"));
    CHECK_STATUS(LOCI_EFENCED, fixture_finish(&f, &slow));
    CHECK_STATUS(LOCI_EFENCED, fixture_return(&f, &slow));
    CHECK_STATUS(LOCI_EFENCED, fixture_fail(&f, &slow, LOCI_ECONFLICT, true));
    CHECK_EQ(fixture_effects(&f, "e"), 0);
    CHECK_OK(fixture_last_slice(&f, &fast, "e"), f.err);
    CHECK_EQ(fixture_effects(&f, "e"), 1);
    CHECK_STATUS(LOCI_EFENCED, fixture_last_slice(&f, &slow, "e"));
    CHECK_STATUS(LOCI_EFENCED, fixture_last_slice(&f, &fast, "e"));
    CHECK_EQ(fixture_effects(&f, "e"), 1);
    CHECK_EQ(fixture_load(&f, "u", id).status, LC_JOB_DONE);
    fixture_close(&f);
}

/* Long work is held by its slices. */
TEST(job_lease, every_slice_extends_the_lease)
{
    fixture f;
    lc_job job;

    fixture_open(&f, NULL);
    (void)fixture_enqueue(&f, "u", &plain);
    job = fixture_claim_one(&f);
    for (int i = 0; i < 10; i++) {
        fixture_pass_ms(LEASE_MS - 1);
        CHECK_OK(fixture_slice(&f, &job, "e", NULL), f.err);
        CHECK(fixture_claim(&f).id.ptr == NULL);
    }
    CHECK_OK(fixture_finish(&f, &job), f.err);
    fixture_close(&f);
}

/* Late, but nobody came: throwing the work away would help no one. */
TEST(job_lease, a_lease_that_ended_is_still_good_while_nobody_took_the_job)
{
    fixture f;
    lc_job job;

    fixture_open(&f, NULL);
    (void)fixture_enqueue(&f, "u", &plain);
    job = fixture_claim_one(&f);
    fixture_pass_ms(10 * LEASE_MS);
    CHECK_OK(fixture_last_slice(&f, &job, "e"), f.err);
    CHECK_EQ(fixture_effects(&f, "e"), 1);
    fixture_close(&f);
}

TEST(job_lease, the_next_attempt_finds_progress_and_checkpoint)
{
    fixture f;
    lc_job job;

    fixture_open(&f, NULL);
    (void)fixture_enqueue(&f, "u", &plain);
    job = fixture_claim_one(&f);
    CHECK(job.checkpoint.ptr == NULL);
    CHECK_OK(fixture_slice(&f, &job, "e", "{\"row\":17}"), f.err);
    fixture_pass_ms(LEASE_MS);
    job = fixture_claim_one(&f);
    CHECK_STR_EQ(job.checkpoint, "{\"row\":17}");
    CHECK_EQ(job.progress_done, 1);
    CHECK_EQ(job.progress_total, 3);
    CHECK_OK(fixture_slice(&f, &job, "e", NULL), f.err);
    CHECK_OK(fixture_return(&f, &job), f.err);
    CHECK(fixture_claim_one(&f).checkpoint.ptr == NULL);
    fixture_close(&f);
}

/* A job that kills its worker must not be tried for ever. */
TEST(job_lease, a_job_whose_workers_all_went_away_has_failed)
{
    fixture f;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &(lc_job_new){.kind = plain.kind, .attempts_max = 2});
    (void)fixture_claim_one(&f);
    fixture_pass_ms(LEASE_MS);
    (void)fixture_claim_one(&f);
    CHECK_EQ(fixture_load(&f, "u", id).status, LC_JOB_RUNNING);
    fixture_pass_ms(LEASE_MS);
    CHECK(fixture_claim(&f).id.ptr == NULL);
    CHECK_EQ(fixture_load(&f, "u", id).status, LC_JOB_FAILED);
    CHECK_STR_EQ(fixture_load(&f, "u", id).error_code, "unavailable");
    fixture_close(&f);
}

/* More of them than one claim looks at: the job behind them is still found, a claim later. */
TEST(job_lease, many_abandoned_jobs_do_not_hide_the_one_behind_them)
{
    fixture f;
    lc_job job = {0};
    lc_id last;
    int claims = 0;

    fixture_open(&f, NULL);
    for (int i = 0; i < 120; i++)
        (void)fixture_enqueue(&f, "u", &(lc_job_new){.kind = plain.kind, .attempts_max = 1});
    for (int i = 0; i < 120; i++)
        (void)fixture_claim_one(&f);
    last = fixture_enqueue(&f, "u", &plain);
    fixture_pass_ms(LEASE_MS);
    for (; job.id.ptr == NULL && claims < 5; claims++)
        job = fixture_claim(&f);
    CHECK_EQ(claims, 2);
    CHECK_STR_EQ(job.id, last.text);
    fixture_close(&f);
}

/* ---- Crashes -------------------------------------------------------------------------------- */

/* One attempt at a job of three effects that is killed before its `steps`-th write; goes on from
 * the checkpoint. True when it finished. */
static bool attempt(const char *path, int steps)
{
    static const char *const names[] = {"one", "two", "three"};
    static const char *const checkpoints[] = {"1", "2"};
    fixture f;
    lc_job job;
    int64_t database_us = fixture_database_us;
    int next = 0;
    bool is_done = false;

    fixture_open(&f, path); /* A fresh process: nothing of the one before but its file. */
    fixture_database_us = database_us;
    if (steps-- > 0) {
        job = fixture_claim_one(&f);
        if (job.checkpoint.ptr != NULL)
            next = job.checkpoint.ptr[0] - '0';
        for (; next < 2 && steps-- > 0; next++)
            CHECK_OK(fixture_slice(&f, &job, names[next], checkpoints[next]), f.err);
        if (next == 2 && steps-- > 0) {
            CHECK_OK(fixture_last_slice(&f, &job, names[2]), f.err);
            is_done = true;
        }
    }
    fixture_close(&f);
    return is_done;
}

/* Effect and completion share a transaction, so there is no point at which a kill doubles or loses.
 */
TEST(job_lease, each_effect_is_there_once_wherever_the_worker_is_killed)
{
    for (int first = 0; first <= 4; first++) {
        for (int second = 0; second <= 4; second++) {
            const char *path = fixture_path();
            fixture f;

            fixture_open(&f, path);
            (void)fixture_enqueue(&f, "u", &plain);
            fixture_close(&f);
            if (!attempt(path, first)) {
                fixture_pass_ms(LEASE_MS);
                if (!attempt(path, second)) {
                    fixture_pass_ms(LEASE_MS);
                    CHECK(attempt(path, 4));
                }
            }
            fixture_open(&f, path);
            CHECK_EQ(fixture_effects(&f, "one"), 1);
            CHECK_EQ(fixture_effects(&f, "two"), 1);
            CHECK_EQ(fixture_effects(&f, "three"), 1);
            CHECK(fixture_claim(&f).id.ptr == NULL);
            fixture_close(&f);
        }
    }
}
