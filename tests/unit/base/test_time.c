/* test_time.c - times come from agents, models and other clocks; a misread one reorders a life. */
#include "lib/test.h"

#include "base/str.h"
#include "base/time.h"

#include <stdio.h>
#include <time.h>

#define US_MIN INT64_C(-62135596800000000)
#define US_MAX INT64_C(253402300799999999)

static loci_str format(int64_t us, char out[LC_TIME_BYTES_MAX])
{
    return (loci_str){out, lc_time_format(us, out)};
}

TEST(time, known_moments_are_read)
{
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-15T21:16:00Z", INT64_C(1794777360000000)},
        {"2026-11-15t21:16:00z", INT64_C(1794777360000000)},
        {"2026-11-15 21:16:00Z", INT64_C(1794777360000000)},
        {"2026-11-15T22:16:00+01:00", INT64_C(1794777360000000)},
        {"2026-11-15T12:46:00-08:30", INT64_C(1794777360000000)},
        {"2026-11-15T21:16:00-00:00", INT64_C(1794777360000000)},
        {"2026-11-15T21:16:00.5Z", INT64_C(1794777360500000)},
        {"2026-11-15T21:16:00.000001Z", INT64_C(1794777360000001)},
        {"2026-11-15T21:16:00.123456789Z", INT64_C(1794777360123456)},
        {"2016-12-31T23:59:60Z", INT64_C(1483228800000000)},
        {"2017-01-01T00:59:60+01:00", INT64_C(1483228800000000)},
        {"2016-12-31T23:59:60.25Z", INT64_C(1483228800250000)},
        {"1969-12-31T23:59:59.999999Z", -1},
        {"2000-02-29T00:00:00Z", INT64_C(951782400000000)},
        {"0001-01-01T00:00:00Z", US_MIN},
        {"9999-12-31T23:59:59.999999Z", US_MAX},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t us = 7;

        CHECK(lc_time_parse(loci_str_of(rows[i].text), &us));
        CHECK_EQ(us, rows[i].us);
    }
}

TEST(time, other_text_is_refused_and_nothing_written)
{
    static const char *const texts[] = {
        "",
        "2026-11-15",
        "2026-11-15T21:16Z",
        "2026-11-15T21:16:00",
        "2026-11-15T21:16:00 Z",
        " 2026-11-15T21:16:00Z",
        "2026-11-15T21:16:00Z ",
        "2026-11-15T21:16:00.Z",
        "2026-11-15T21:16:00.1234567890Z",
        "2026-11-15T21:16:00,5Z",
        "2026-11-15T21:16:00+1:00",
        "2026-11-15T21:16:00+0100",
        "2026-11-15T21:16:00+24:00",
        "2026-11-15T21:16:00+01:60",
        "2026-11-15T24:00:00Z",
        "2026-11-15T21:60:00Z",
        "2026-11-15T21:16:61Z",
        "2026-11-15T21:16:60Z",
        "2026-11-15T23:59:60+01:00",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:60Z",
        "12026-11-15T21:16:00Z",
        "+2026-11-15T21:16:00Z",
        "2026-1-15T21:16:00Z",
        "2026/11/15T21:16:00Z",
        "2026-11-15_21:16:00Z",
        "-026-11-15T21:16:00Z",
        "2026-11-15T21:16:0xZ",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int64_t us = 7;

        CHECK(!lc_time_parse(loci_str_of(texts[i]), &us));
        CHECK_EQ(us, 7);
    }
    CHECK(!lc_time_parse(LC_STR("2026-11-15T21:16:00\0Z"), &(int64_t){0}));
    CHECK(!lc_time_parse(LC_STR_NONE, &(int64_t){0}));
}

TEST(time, fraction_is_written_only_when_there_is_one)
{
    char out[LC_TIME_BYTES_MAX];

    CHECK_STR_EQ(format(INT64_C(1794777360000000), out), "2026-11-15T21:16:00Z");
    CHECK_STR_EQ(format(INT64_C(1794777360500000), out), "2026-11-15T21:16:00.500Z");
    CHECK_STR_EQ(format(INT64_C(1794777360000001), out), "2026-11-15T21:16:00.000001Z");
    CHECK_STR_EQ(format(-1, out), "1969-12-31T23:59:59.999999Z");
}

TEST(time, moments_outside_the_years_are_clamped)
{
    char out[LC_TIME_BYTES_MAX];

    CHECK_STR_EQ(format(US_MIN, out), "0001-01-01T00:00:00Z");
    CHECK_STR_EQ(format(US_MIN - 1, out), "0001-01-01T00:00:00Z");
    CHECK_STR_EQ(format(INT64_MIN, out), "0001-01-01T00:00:00Z");
    CHECK_STR_EQ(format(US_MAX, out), "9999-12-31T23:59:59.999999Z");
    CHECK_STR_EQ(format(US_MAX + 1, out), "9999-12-31T23:59:59.999999Z");
    CHECK_STR_EQ(format(INT64_MAX, out), "9999-12-31T23:59:59.999999Z");
}

TEST(time, what_is_written_reads_back)
{
    test_rng rng = test_random(3);
    uint64_t runs = test_count(200000, 5000000);

    for (uint64_t run = 0; run < runs; run++) {
        char out[LC_TIME_BYTES_MAX];
        int64_t us = test_rng_between(&rng, US_MIN, US_MAX);
        int64_t back = 0;

        if (test_rng_chance(&rng, 30))
            us -= us % 1000000;
        else if (test_rng_chance(&rng, 30))
            us -= us % 1000;
        CHECK(lc_time_parse(format(us, out), &back));
        CHECK_EQ(back, us);
    }
}

/* The C library knows the calendar by other means than we do. */
TEST(time, every_day_agrees_with_the_c_library)
{
    for (int64_t day = US_MIN / 86400000000; day <= US_MAX / 86400000000; day++) {
        char out[LC_TIME_BYTES_MAX], expected[32];
        time_t seconds = (time_t)(day * 86400);
        struct tm parts;

        CHECK(gmtime_r(&seconds, &parts) != NULL);
        snprintf(expected, sizeof expected, "%04d-%02d-%02dT00:00:00Z", parts.tm_year + 1900,
                 parts.tm_mon + 1, parts.tm_mday);
        CHECK_STR_EQ(format(day * 86400000000, out), expected);
    }
}
