/* Rows that are kept where a read is a round trip (engine/read_cache.h). Whether something came
 * from memory is told by changing the store behind loci's back, which nobody notices. */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include <string.h>

#include "base/clock.h"

#define PATIENCE_US 30000000

static loci_str value_of(loci_engine *engine, const char *key)
{
    return test_member(
        test_call(engine, "fact.current", "%s", test_format("{\"key\":\"%s\"}", key)), "value");
}

static bool is_value(loci_engine *engine, const char *key, const char *expected)
{
    loci_str value = value_of(engine, key);

    return value.len == strlen(expected) && memcmp(value.ptr, expected, value.len) == 0;
}

/* Behind the back of every engine. */
static void forge(const char *store, const char *key, const char *value)
{
    test_store_run(
        store, test_format("update fact_current set value = '%s' where key = '%s'", value, key));
}

/* Reads until what is answered comes from memory: the store says `forged` then, the answer not. */
static void warm_up(loci_engine *engine, const char *store, const char *key, const char *value)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;
    bool is_kept;

    for (;;) {
        CHECK(is_value(engine, key, value));
        forge(store, key, "\"forged\"");
        is_kept = is_value(engine, key, value);
        forge(store, key, value);
        if (is_kept)
            return;
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(20000); /* The watch has not looked yet. */
        /* Should the forged one be kept: */
        test_call(engine, "fact.write", "{\"key\":\"nudge\",\"value\":1}");
    }
}

static void wait_for_value(loci_engine *engine, const char *key, const char *value)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;

    while (!is_value(engine, key, value)) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(5000);
    }
}

TEST_ON(TEST_SERVERS, read_cache, own_writes_are_seen_at_once)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store);

    test_call(engine, "fact.write", "{\"key\":\"city\",\"value\":\"Oslo\"}");
    warm_up(engine, store, "city", "\"Oslo\"");
    for (int i = 0; i < 50; i++) {
        test_call(engine, "fact.write", "%s", test_format("{\"key\":\"city\",\"value\":%d}", i));
        CHECK_STR_EQ(value_of(engine, "city"), test_format("%d", i));
        CHECK_STR_EQ(value_of(engine, "city"), test_format("%d", i));
    }
    test_close(engine);
}

TEST_ON(TEST_SERVERS, read_cache, the_writes_of_others_are_noticed)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store), *other = test_open_threads(store);

    test_call(engine, "fact.write", "{\"key\":\"city\",\"value\":\"Oslo\"}");
    warm_up(engine, store, "city", "\"Oslo\"");
    test_call(other, "fact.write", "{\"key\":\"city\",\"value\":\"Bergen\"}");
    wait_for_value(engine, "city", "\"Bergen\"");
    test_call(engine, "fact.write", "{\"key\":\"city\",\"value\":\"Narvik\"}");
    wait_for_value(other, "city", "\"Narvik\"");
    test_close(other);
    test_close(engine);
}

/* An own write to somebody else leaves what is kept alone: else a busy daemon would keep nothing.
 */
TEST_ON(TEST_SERVERS, read_cache, other_users_writes_leave_it_alone)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store);
    int64_t until_us;

    test_call(engine, "fact.write", "{\"key\":\"city\",\"value\":\"Oslo\"}");
    warm_up(engine, store, "city", "\"Oslo\"");
    forge(store, "city", "\"forged\"");
    until_us = lc_clock_monotonic_us() + 300000; /* Some looks of the watch. */
    while (lc_clock_monotonic_us() < until_us) {
        test_call(engine, "fact.write", "{\"key\":\"k\",\"value\":1,\"user_id\":\"somebody\"}");
        CHECK_STR_EQ(value_of(engine, "city"), "\"Oslo\"");
    }
    forge(store, "city", "\"Oslo\"");
    test_close(engine);
}

/* Everything that tells who may see what, and when, is in the statement or judged at every use. */
TEST_ON(TEST_SERVERS, read_cache, what_is_kept_is_seen_by_whom_it_is_for)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store);
    loci_principal other = {.size = sizeof other, .tenant = "other"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_error err;

    test_call(engine, "fact.write", "{\"key\":\"city\",\"value\":\"Oslo\"}");
    warm_up(engine, store, "city", "\"Oslo\"");
    options.principal = &other;
    CHECK_STATUS(LOCI_ENOTFOUND, loci_call(engine, "fact.current", LC_STR("{\"key\":\"city\"}"),
                                           &options, &answer, &err));
    CHECK_STATUS(LOCI_ENOTFOUND,
                 test_try(engine, "fact.current",
                          LC_STR("{\"key\":\"city\",\"user_id\":\"somebody\"}"), &err));
    test_call(engine, "fact.write", "{\"key\":\"city\",\"value\":\"Bergen\",\"persona_id\":\"p\"}");
    CHECK_STR_EQ(value_of(engine, "city"), "\"Oslo\"");
    CHECK_STR_EQ(
        test_member(test_call(engine, "fact.current", "{\"key\":\"city\",\"persona_id\":\"p\"}"),
                    "value"),
        "\"Bergen\"");
    test_close(engine);
}

TEST_ON(TEST_SERVERS, read_cache, what_expires_is_expired_in_memory_too)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store);
    loci_call_options later = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_error err;

    test_call(engine, "fact.write",
              "{\"key\":\"city\",\"value\":\"Oslo\",\"valid_until\":\"2999-01-01T00:00:00Z\"}");
    warm_up(engine, store, "city", "\"Oslo\"");
    later.at_us = INT64_C(32503680000000000); /* 3000-01-01 */
    CHECK_OK(loci_call(engine, "fact.current", LC_STR("{\"key\":\"city\"}"), &later, &answer, &err),
             err);
    CHECK_STR_EQ(test_member_text(loci_answer_json(answer), "status"), "expired");
    loci_answer_free(answer);
    CHECK_STR_EQ(
        test_member_text(test_call(engine, "fact.current", "{\"key\":\"city\"}"), "status"),
        "valid");
    test_close(engine);
}

/* Too long to be kept, of several rows, and none at all: the answer is that of the store. */
TEST_ON(TEST_SERVERS, read_cache, whatever_cannot_be_kept_is_read)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store);
    char *text = test_bytes(9000);
    loci_error err;

    memset(text, 'x', 9000);
    CHECK_OK(test_try(engine, "fact.write",
                      loci_str_of(test_format("{\"key\":\"long\",\"value\":\"%s\"}", text)), &err),
             err);
    test_call(engine, "fact.write", "{\"key\":\"two\",\"value\":1,\"multi\":true}");
    test_call(engine, "fact.write", "{\"key\":\"two\",\"value\":2,\"multi\":true}");
    test_call(engine, "fact.write", "{\"key\":\"city\",\"value\":\"Oslo\"}");
    warm_up(engine, store, "city", "\"Oslo\"");
    for (int i = 0; i < 3; i++) {
        CHECK_STR_EQ(value_of(engine, "long"), test_format("\"%s\"", text));
        CHECK_STR_EQ(value_of(engine, "two"), "2");
        CHECK_STATUS(LOCI_ENOTFOUND,
                     test_try(engine, "fact.current", LC_STR("{\"key\":\"none\"}"), &err));
    }
    test_close(engine);
}
