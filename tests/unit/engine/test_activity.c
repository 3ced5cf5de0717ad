/* The ring of samples behind store.activity (engine/activity.h). */
#include "lib/test.h"

#include "engine/activity.h"

static lc_heap heap;
static lc_activity_sample found[LC_ACTIVITY_SAMPLES];

static lc_activity *new_activity(void)
{
    lc_activity *activity = NULL;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    CHECK_OK(lc_activity_new(&heap, &activity, &err), err);
    return activity;
}

static void add(lc_activity *activity, int64_t from, int64_t to)
{
    for (int64_t i = from; i <= to; i++)
        lc_activity_add(activity, &(lc_activity_sample){.at_us = i, .writes = 2 * i});
}

/* A ring that is full for the first time, and one that has gone round. */
TEST(activity, newest_samples_replace_the_oldest)
{
    lc_activity *activity = new_activity();

    CHECK_EQ(lc_activity_read(activity, 0, found), 0);
    add(activity, 1, LC_ACTIVITY_SAMPLES);
    CHECK_EQ(lc_activity_read(activity, 0, found), LC_ACTIVITY_SAMPLES);
    CHECK_EQ(found[0].at_us, 1);
    add(activity, LC_ACTIVITY_SAMPLES + 1, LC_ACTIVITY_SAMPLES + 1);
    CHECK_EQ(lc_activity_read(activity, 0, found), LC_ACTIVITY_SAMPLES);
    CHECK_EQ(found[0].at_us, 2);
    CHECK_EQ(found[LC_ACTIVITY_SAMPLES - 1].at_us, LC_ACTIVITY_SAMPLES + 1);
    CHECK_EQ(found[LC_ACTIVITY_SAMPLES - 1].writes, 2 * (LC_ACTIVITY_SAMPLES + 1));
    lc_activity_free(activity);
}

/* A page that has read some samples asks for those that came since. */
TEST(activity, only_samples_after_a_time_are_read)
{
    lc_activity *activity = new_activity();

    add(activity, 1, 10);
    CHECK_EQ(lc_activity_read(activity, 8, found), 2);
    CHECK_EQ(found[0].at_us, 9);
    CHECK_EQ(lc_activity_read(activity, 10, found), 0);
    lc_activity_free(activity);
}

TEST(activity, sample_is_due_every_five_seconds)
{
    lc_activity *activity = new_activity();

    CHECK(lc_activity_is_due(activity, 0));
    CHECK(!lc_activity_is_due(activity, LC_ACTIVITY_EVERY_MS - 1));
    CHECK(lc_activity_is_due(activity, LC_ACTIVITY_EVERY_MS));
    CHECK(!lc_activity_is_due(activity, LC_ACTIVITY_EVERY_MS + 1));
    lc_activity_free(activity);
}
