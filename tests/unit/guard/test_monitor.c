/* test_monitor.c - limits that fall and rise, spikes, intervals, trends and failed readings. */
#include "guard/monitor.h"

#include "lib/test.h"

#define MB (1024ll * 1024)

static lc_sample take(lc_monitor *monitor, int64_t used_mb, int64_t limit_mb, int64_t at_ms)
{
    lc_reading reading = {
        .used_bytes = used_mb * MB, .limit_bytes = limit_mb * MB, .limit_from = "test"};

    return lc_monitor_take(monitor, &reading, 0, &lc_ladder_guard, at_ms);
}

/* The seed's limit was 75 % of the memory mapped at start: 9 MB. */
TEST(guard_monitor, the_limit_is_the_smallest_and_never_made_up)
{
    lc_monitor with = {.setting_bytes = 100 * MB}, without = {0};

    CHECK_EQ(take(&with, 10, 512, 0).limit_bytes, 100 * MB);
    CHECK_STR_EQ(with.limit_from, "setting");
    CHECK_EQ(take(&with, 10, 50, 1).limit_bytes, 50 * MB);
    CHECK_STR_EQ(with.limit_from, "test");
    CHECK_EQ(take(&without, 10, 0, 0).limit_bytes, 0);
    CHECK_EQ(take(&without, 10, 512, 1).limit_bytes, 512 * MB);
}

TEST(guard_monitor, the_limit_falls_at_once_and_rises_after_ten_seconds)
{
    lc_monitor monitor = {0};

    CHECK_EQ(take(&monitor, 10, 500, 0).limit_bytes, 500 * MB);
    CHECK_EQ(take(&monitor, 10, 300, 200).limit_bytes, 300 * MB);
    CHECK_EQ(take(&monitor, 10, 500, 400).limit_bytes, 300 * MB);
    CHECK_EQ(take(&monitor, 10, 400, 5000).limit_bytes, 300 * MB);
    CHECK_EQ(take(&monitor, 10, 600, 10399).limit_bytes, 300 * MB);
    CHECK_EQ(take(&monitor, 10, 600, 10400).limit_bytes, 400 * MB); /* The lowest meanwhile. */
    /* A short dip starts the time again. */
    CHECK_EQ(take(&monitor, 10, 600, 15000).limit_bytes, 400 * MB);
    CHECK_EQ(take(&monitor, 10, 390, 20000).limit_bytes, 390 * MB);
    CHECK_EQ(take(&monitor, 10, 600, 25100).limit_bytes, 390 * MB);
    /* The file disappears: the last limit remains. */
    CHECK_EQ(take(&monitor, 10, 0, 90000).limit_bytes, 390 * MB);
}

TEST(guard_monitor, a_spike_is_measured_against_the_limit)
{
    lc_monitor monitor = {0};
    lc_sample sample;

    CHECK(!take(&monitor, 400, 1000, 0).is_spike); /* The first sample has no rise. */
    sample = take(&monitor, 549, 1000, 200);
    CHECK(!sample.is_spike);
    CHECK_EQ(sample.judged_bytes, 549 * MB);
    sample = take(&monitor, 699, 1000, 400); /* + 15 % */
    CHECK(sample.is_spike);
    CHECK_EQ(sample.judged_bytes, 849 * MB);
    CHECK_EQ(lc_monitor_interval_ms(&sample), 10);
    sample = take(&monitor, 780, 1000, 600); /* Another 81 would reach 850. */
    CHECK(sample.is_spike);
    CHECK_EQ(sample.judged_bytes, 861 * MB);
    CHECK(!take(&monitor, 814, 1000, 800).is_spike);
    CHECK(!take(&monitor, 300, 1000, 1000).is_spike);
}

/* The seed compared with the sample before: a third of the samples of a steady program that makes
 * garbage were spikes, and each turned the cooldown off. */
TEST(guard_monitor, a_steady_saw_is_no_spike)
{
    lc_monitor monitor = {0};

    for (int i = 0; i < 1000; i++)
        CHECK(!take(&monitor, i % 2 == 0 ? 100 : 145, 1000, i * 200).is_spike);
}

TEST(guard_monitor, charged_bytes_count_before_they_are_touched)
{
    lc_monitor monitor = {0};
    lc_reading reading = {.used_bytes = 100 * MB, .limit_bytes = 1000 * MB};
    lc_sample sample = lc_monitor_take(&monitor, &reading, 300 * MB, &lc_ladder_guard, 0);

    CHECK_EQ(sample.used_bytes, 300 * MB);
    CHECK_EQ(sample.untracked_bytes, 0);
    sample = lc_monitor_take(&monitor, &reading, 30 * MB, &lc_ladder_guard, 200);
    CHECK_EQ(sample.used_bytes, 100 * MB);
    CHECK_EQ(sample.untracked_bytes, 70 * MB);
}

TEST(guard_monitor, a_failed_reading_leaves_the_charged_bytes)
{
    lc_monitor monitor = {.setting_bytes = 1000 * MB};
    lc_sample sample = lc_monitor_take(&monitor, NULL, 200 * MB, &lc_ladder_guard, 0);

    CHECK(!sample.is_measured);
    CHECK_EQ(sample.used_bytes, 200 * MB);
    CHECK_EQ(sample.limit_bytes, 1000 * MB);
    CHECK_EQ(monitor.failed_count, 1);
    /* The way back to measured bytes is no spike. */
    CHECK(!take(&monitor, 700, 1000, 200).is_spike);
    sample = lc_monitor_take(&monitor, NULL, 200 * MB, &lc_ladder_guard, 400);
    CHECK_EQ(sample.used_bytes, 200 * MB);
}

TEST(guard_monitor, ticks_follow_faster_as_room_shrinks)
{
    lc_sample sample = {.limit_bytes = 8000 * MB};

    CHECK_EQ(lc_monitor_interval_ms(&sample), 200);
    sample.used_bytes = 7000 * MB;
    CHECK_EQ(lc_monitor_interval_ms(&sample), 131);
    sample.used_bytes = 7990 * MB;
    CHECK_EQ(lc_monitor_interval_ms(&sample), 10);
    sample.used_bytes = 9000 * MB;
    CHECK_EQ(lc_monitor_interval_ms(&sample), 10);
    CHECK_EQ(lc_monitor_interval_ms(&(lc_sample){.used_bytes = 5}), 200); /* No limit. */
}

TEST(guard_monitor, the_trend_is_a_slope)
{
    lc_monitor monitor = {0};

    CHECK_EQ(lc_monitor_trend(&monitor), 0);
    for (int i = 0; i < 100; i++) {
        (void)take(&monitor, 100 + i, 100000, i * 500);
        if (i < 2)
            CHECK_EQ(lc_monitor_trend(&monitor), 0);
    }
    CHECK_LE(2 * MB - 2, lc_monitor_trend(&monitor));
    CHECK_LE(lc_monitor_trend(&monitor), 2 * MB + 2);
}
