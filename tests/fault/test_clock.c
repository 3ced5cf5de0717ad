/* test_clock.c - a clock that goes back. recorded_at never falls within a user, ids are never given
 * twice, and order is by seq. */
#include <string.h>

#include "lib/calls.h"

#define HOUR_US (INT64_C(3600) * 1000000)

static int64_t now_us;

static int64_t read_clock(void *ctx)
{
    (void)ctx;
    return now_us;
}

static loci_engine *open_with_clock(const char *store)
{
    loci_open_options options = test_open_options(store);
    loci_engine *engine = NULL;
    loci_error err;

    options.clock = read_clock;
    CHECK_OK(loci_open(&options, &engine, &err), err);
    return engine;
}

static loci_str write_fact(loci_engine *engine, int value)
{
    loci_str id = test_member_text(test_call(engine, "fact.write", "{'key':'k','value':%d}", value),
                                   "id");

    return test_call(engine, "fact.get", "{'id':'%s'}", id.ptr);
}

TEST(clock, going_back_leaves_recorded_at_and_ids_in_order)
{
    loci_engine *engine = open_with_clock(test_path(test_tmpdir(), "store.db"));
    loci_str before = {"", 0};

    now_us = INT64_C(1700000000) * 1000000;
    for (int i = 1; i <= 40; i++) {
        loci_str fact = write_fact(engine, i);

        CHECK_EQ(test_member_int(fact, "seq"), i);
        if (before.len > 0) {
            CHECK_LE(strcmp(test_member_text(before, "recorded_at").ptr,
                            test_member_text(fact, "recorded_at").ptr),
                     0);
            CHECK_LT(strcmp(test_member_text(before, "id").ptr, test_member_text(fact, "id").ptr),
                     0);
        }
        before = fact;
        now_us += i % 3 == 0 ? -50 * HOUR_US : 7 * HOUR_US;
    }
    test_close(engine);
}

/* The clock was wrong, then set right while loci was not running. */
TEST(clock, going_back_over_a_reopen_is_no_different)
{
    const char *store = test_path(test_tmpdir(), "store.db");
    loci_engine *engine;
    loci_str first, second;

    now_us = INT64_C(1900000000) * 1000000;
    engine = open_with_clock(store);
    first = write_fact(engine, 1);
    test_close(engine);
    now_us = INT64_C(1700000000) * 1000000;
    engine = open_with_clock(store);
    second = write_fact(engine, 2);
    CHECK_STR_EQ(test_member(second, "recorded_at"), test_member(first, "recorded_at"));
    CHECK_LT(strcmp(test_member_text(first, "id").ptr, test_member_text(second, "id").ptr), 0);
    test_close(engine);
}

TEST(clock, standing_still_is_fine)
{
    loci_engine *engine = open_with_clock(test_path(test_tmpdir(), "store.db"));

    now_us = INT64_C(1700000000) * 1000000;
    for (int i = 1; i <= 300; i++)
        CHECK_EQ(test_member_int(write_fact(engine, i), "seq"), i);
    test_close(engine);
}

/* Before 1970, at the ends of what can be written down, and beyond. */
TEST(clock, strange_times_do_not_break_the_log)
{
    static const int64_t times_us[] = {0, -1, -62135596800000000, 253402300799999999};
    loci_engine *engine = open_with_clock(test_path(test_tmpdir(), "store.db"));

    for (size_t i = 0; i < sizeof times_us / sizeof times_us[0]; i++) {
        now_us = times_us[i];
        CHECK_EQ(test_member_int(write_fact(engine, (int)i), "seq"), i + 1);
    }
    test_close(engine);
}
