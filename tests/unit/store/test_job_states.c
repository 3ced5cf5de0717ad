/* The states of a job, as data, against the drawing in store/job.h. */
#include "lib/test.h"

#include "base/str.h"
#include "store/job.h"

/* Every move there is; what is not here must be refused. A wrong entry lets a job that has ended be
 * run again, or one that runs be lost. */
static const struct {
    lc_job_status from, to;
} allowed[] = {
    {LC_JOB_QUEUED, LC_JOB_RUNNING},    /* claimed */
    {LC_JOB_QUEUED, LC_JOB_CANCELLED},  /* no worker had begun */
    {LC_JOB_RUNNING, LC_JOB_RUNNING},   /* its lease ended, claimed by another */
    {LC_JOB_RUNNING, LC_JOB_QUEUED},    /* failed and to be repeated, or given back */
    {LC_JOB_RUNNING, LC_JOB_DONE},      /* finished */
    {LC_JOB_RUNNING, LC_JOB_FAILED},    /* given up */
    {LC_JOB_RUNNING, LC_JOB_CANCELLED}, /* stopped as asked */
};

static bool is_allowed(lc_job_status from, lc_job_status to)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        if (allowed[i].from == from && allowed[i].to == to)
            return true;
    }
    return false;
}

TEST(job_states, moves_are_those_of_the_drawing)
{
    for (int from = 0; from < LC_JOB_STATUSES; from++) {
        for (int to = 0; to < LC_JOB_STATUSES; to++)
            CHECK_EQ(lc_job_may_move((lc_job_status)from, (lc_job_status)to),
                     is_allowed((lc_job_status)from, (lc_job_status)to));
    }
}

TEST(job_states, nothing_leads_out_of_an_end)
{
    for (int from = 0; from < LC_JOB_STATUSES; from++) {
        bool has_exit = false;

        for (int to = 0; to < LC_JOB_STATUSES; to++)
            has_exit = has_exit || lc_job_may_move((lc_job_status)from, (lc_job_status)to);
        CHECK_EQ(has_exit, !lc_job_status_is_ended((lc_job_status)from));
    }
}

TEST(job_states, names_lead_back_to_their_status)
{
    lc_job_status found;

    for (int status = 0; status < LC_JOB_STATUSES; status++) {
        CHECK(lc_job_status_find(loci_str_of(lc_job_status_name((lc_job_status)status)), &found));
        CHECK_EQ(found, status);
    }
    CHECK(!lc_job_status_find(LC_STR("Queued"), &found));
    CHECK(!lc_job_status_find(LC_STR(""), &found));
    CHECK(!lc_job_status_find(LC_STR_NONE, &found));
}

/* 1 s, 2 s, 4 s … up to an hour, for any number of attempts. */
TEST(job_states, pauses_double_up_to_their_ceiling)
{
    int64_t expected = LC_JOB_PAUSE_MS;

    for (int64_t attempts = 1; attempts <= 12; attempts++) {
        CHECK_EQ(lc_job_pause_ms(attempts), expected);
        expected *= 2;
    }
    CHECK_EQ(lc_job_pause_ms(13), LC_JOB_PAUSE_MS_MAX);
    CHECK_EQ(lc_job_pause_ms(1000000), LC_JOB_PAUSE_MS_MAX);
    CHECK_EQ(lc_job_pause_ms(INT64_MAX), LC_JOB_PAUSE_MS_MAX);
    CHECK_EQ(lc_job_pause_ms(0), LC_JOB_PAUSE_MS);
}
