/* What is shown of jobs: pages, counts, JSON; and what is deleted. */
#include "contract/job_fixture.h"

static const lc_job_new plain = {.kind = {"test.plain", 10}};
static const lc_job_new other = {.kind = {"test.other", 10}};

typedef struct listing {
    lc_job_filter filter;
    char ids[16][LC_ID_TEXT_BYTES];
    int count;
} listing;

static loci_status list_one(void *ctx, const lc_job *job, loci_error *err)
{
    listing *l = ctx;

    (void)err;
    CHECK_LT(l->count, 16);
    memcpy(l->ids[l->count++], job->id.ptr, job->id.len);
    return LOCI_OK;
}

static loci_status list_body(lc_tx *tx, void *ctx, loci_error *err)
{
    listing *l = ctx;

    return lc_job_each(tx, &l->filter, list_one, l, err);
}

static listing list(fixture *f, const char *user, loci_str before, int64_t limit)
{
    listing l = {.filter = {.tenant_id = LC_STR("t"),
                            .user_id = loci_str_of(user),
                            .status = -1,
                            .before_id = before,
                            .limit = limit}};

    CHECK_OK(fixture_read(f, list_body, &l), f->err);
    return l;
}

/* Whoever pages through jobs while they are purged must neither miss nor repeat one. */
TEST(job_list, pages_go_from_the_newest_on_even_after_a_job_that_is_gone)
{
    fixture f;
    listing l;
    lc_id ids[5];
    lc_job job;

    fixture_open(&f, NULL);
    for (int i = 0; i < 5; i++) {
        ids[i] = fixture_enqueue(&f, "u", i == 3 ? &other : &plain);
        fixture_domain_us -= 1000000; /* Order is not by the clock. */
        (void)fixture_enqueue(&f, "v", &plain);
    }
    l = list(&f, "u", LC_STR_NONE, 2);
    CHECK_EQ(l.count, 2);
    CHECK_STR_EQ(l.ids[0], ids[4].text);
    CHECK_STR_EQ(l.ids[1], ids[3].text);
    l = list(&f, "u", lc_id_str(&ids[3]), 10);
    CHECK_EQ(l.count, 3);
    CHECK_STR_EQ(l.ids[0], ids[2].text);
    CHECK_STR_EQ(l.ids[2], ids[0].text);

    l.count = 0;
    l.filter = (lc_job_filter){LC_STR("t"), LC_STR("u"), .kind = other.kind, .status = -1,
                               .limit = 10};
    CHECK_OK(fixture_read(&f, list_body, &l), f.err);
    CHECK_EQ(l.count, 1);
    job = fixture_claim_one(&f);
    l.count = 0;
    l.filter = (lc_job_filter){job.tenant_id, job.user_id, .status = LC_JOB_RUNNING, .limit = 10};
    CHECK_OK(fixture_read(&f, list_body, &l), f.err);
    CHECK_EQ(l.count, 1);
    CHECK_STR_EQ(l.ids[0], job.id);
    l.filter.before_id = LC_STR("fact_1");
    CHECK_STATUS(LOCI_EINVAL, fixture_read(&f, list_body, &l));
    fixture_close(&f);
}

static loci_status count_body(lc_tx *tx, void *ctx, loci_error *err)
{
    return lc_job_count(tx, false, ctx, err);
}

typedef struct purge {
    int64_t before_us, limit, count;
} purge;

static loci_status purge_body(lc_tx *tx, void *ctx, loci_error *err)
{
    purge *p = ctx;

    return lc_job_purge_ended(tx, p->before_us, p->limit, &p->count, err);
}

TEST(job_list, a_purge_takes_old_jobs_that_have_ended_and_no_others)
{
    lc_job_counts counts;
    fixture f;
    lc_job job;
    purge p = {.limit = 2};

    fixture_open(&f, NULL);
    for (int i = 0; i < 3; i++) {
        (void)fixture_enqueue(&f, "u", &plain);
        job = fixture_claim_one(&f);
        CHECK_OK(fixture_finish(&f, &job), f.err);
    }
    CHECK_OK(fixture_cancel(&f, "u", fixture_enqueue(&f, "u", &plain)), f.err);
    (void)fixture_enqueue(&f, "v", &plain);
    (void)fixture_claim_one(&f);
    (void)fixture_enqueue(&f, "v", &plain);
    CHECK_OK(fixture_read(&f, count_body, &counts), f.err);
    CHECK_EQ(counts.by_status[LC_JOB_DONE], 3);
    CHECK_EQ(counts.by_status[LC_JOB_CANCELLED], 1);
    CHECK_EQ(counts.by_status[LC_JOB_RUNNING], 1);
    CHECK_EQ(counts.by_status[LC_JOB_QUEUED], 1);
    CHECK_EQ(counts.by_status[LC_JOB_FAILED], 0);

    p.before_us = fixture_domain_us;
    CHECK_OK(fixture_write(&f, "", purge_body, &p), f.err);
    CHECK_EQ(p.count, 0);
    p.before_us++;
    CHECK_OK(fixture_write(&f, "", purge_body, &p), f.err);
    CHECK_EQ(p.count, 2);
    p.limit = 100;
    CHECK_OK(fixture_write(&f, "", purge_body, &p), f.err);
    CHECK_EQ(p.count, 2);
    CHECK_OK(fixture_read(&f, count_body, &counts), f.err);
    CHECK_EQ(counts.by_status[LC_JOB_DONE] + counts.by_status[LC_JOB_CANCELLED], 0);
    CHECK_EQ(counts.by_status[LC_JOB_RUNNING] + counts.by_status[LC_JOB_QUEUED], 2);
    fixture_close(&f);
}

static loci_str json_of(fixture *f, const lc_job *job)
{
    lc_json_writer out;
    lc_buf buf;
    const char *text;

    lc_buf_init(&buf, &f->env.heap, LOCI_MEM_REQUESTS, 10000);
    lc_jw_init(&out, &buf);
    lc_job_write(&out, job);
    CHECK(lc_jw_is_done(&out));
    text = test_format("%.*s", (int)buf.len, buf.ptr);
    lc_buf_clear(&buf);
    return loci_str_of(text);
}

/* Nothing of the database's clock may be seen: the same calls must give the same bytes. */
TEST(job_list, a_job_is_shown_without_the_real_clock)
{
    fixture f;
    lc_job job;
    lc_id id;

    fixture_open(&f, NULL);
    id = fixture_enqueue(&f, "u", &(lc_job_new){.kind = plain.kind, .args = LC_STR("{\"a\":1}")});
    job = fixture_load(&f, "u", id);
    CHECK_STR_EQ(json_of(&f, &job),
                 test_format("{\"id\":\"%s\",\"kind\":\"test.plain\",\"status\":\"queued\","
                             "\"priority\":0,\"args\":{\"a\":1},\"result\":null,\"error\":null,"
                             "\"attempts\":0,\"attempts_max\":5,\"progress\":{\"done\":0,"
                             "\"total\":null},\"checkpoint\":null,\"cancel_requested\":false,"
                             "\"created_at\":\"2020-09-13T12:26:40Z\",\"finished_at\":null}",
                             id.text));
    job = fixture_claim_one(&f);
    CHECK_OK(fixture_slice(&f, &job, "e", "{\"row\":7}"), f.err);
    CHECK_OK(fixture_fail(&f, &job, LOCI_ELIMIT, true), f.err);
    job = fixture_load(&f, "u", id);
    CHECK_STR_EQ(json_of(&f, &job),
                 test_format("{\"id\":\"%s\",\"kind\":\"test.plain\",\"status\":\"failed\","
                             "\"priority\":0,\"args\":{\"a\":1},\"result\":null,\"error\":{"
                             "\"code\":\"limit\",\"message\":\"it did not work\"},\"attempts\":1,"
                             "\"attempts_max\":5,\"progress\":{\"done\":1,\"total\":3},"
                             "\"checkpoint\":{\"row\":7},\"cancel_requested\":false,"
                             "\"created_at\":\"2020-09-13T12:26:40Z\","
                             "\"finished_at\":\"2020-09-13T12:26:40Z\"}",
                             id.text));
    fixture_close(&f);
}

/* ---- Failing bodies ------------------------------------------------------------------------- */

typedef struct late_failure {
    const lc_job *job;
} late_failure;

static loci_status fail_late(lc_tx *tx, void *ctx, loci_error *err)
{
    late_failure *l = ctx;
    loci_status status = lc_job_finish(tx, l->job, LC_STR_NONE, err);

    return status == LOCI_OK ? LOCI_ECONFLICT : status;
}

/* A body that fails after it has changed a job must leave the job as it was, also when others are
 * in the same commit. */
TEST(job_list, a_body_that_fails_after_a_change_changes_nothing)
{
    fixture f;
    lc_job job;
    late_failure l = {.job = &job};

    fixture_open(&f, NULL);
    (void)fixture_enqueue(&f, "u", &plain);
    job = fixture_claim_one(&f);
    CHECK_STATUS(LOCI_ECONFLICT, fixture_write(&f, "u", fail_late, &l));
    CHECK_OK(fixture_last_slice(&f, &job, "e"), f.err);
    fixture_close(&f);
}
