#include "base/clock.h"

#include <time.h>

#include "lib/test.h"

TEST(clock, system_time_is_that_of_the_machine)
{
    int64_t before_us = (int64_t)time(NULL) * 1000000;
    int64_t now_us = lc_clock_system_us(NULL);

    /* time() may be a tick behind clock_gettime(). */
    CHECK_LE(before_us - 1000000, now_us);
    CHECK_LE(now_us, ((int64_t)time(NULL) + 2) * 1000000);
}

TEST(clock, monotonic_time_never_goes_back)
{
    int64_t last_us = lc_clock_monotonic_us();

    CHECK_LT(0, last_us);
    for (int i = 0; i < 10000; i++) {
        int64_t now_us = lc_clock_monotonic_us();

        CHECK_LE(last_us, now_us);
        last_us = now_us;
    }
}

TEST(clock, sleeping_takes_at_least_that_long)
{
    static const int64_t spans_us[] = {0, 1, 2000, 30000};

    for (int i = 0; i < 4; i++) {
        int64_t before_us = lc_clock_monotonic_us();

        lc_clock_sleep_us(spans_us[i]);
        CHECK_LE(spans_us[i], lc_clock_monotonic_us() - before_us + 1);
    }
}

/* A deadline that has passed is a negative span: it must not be waited for. */
TEST(clock, negative_span_is_no_sleep)
{
    int64_t before_us = lc_clock_monotonic_us();

    lc_clock_sleep_us(-5000000);
    lc_clock_sleep_us(INT64_MIN);
    CHECK_LT(lc_clock_monotonic_us() - before_us, 1000000);
}

TEST(clock, whole_seconds_are_slept_too)
{
    int64_t before_us = lc_clock_monotonic_us();

    lc_clock_sleep_us(1000500);
    CHECK_LE(1000500, lc_clock_monotonic_us() - before_us + 1);
}
