/* fact.current answered from memory (lc_op.peek): no answer is older than what was committed when
 * it was asked for, and each caller sees only what it may. */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "ops/op.h"

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

static int64_t peek_count(loci_engine *engine)
{
    return lc_engine_get_counters(engine).user_cache.peeks;
}

/* Whether the value, as expected, came from memory. */
static bool is_peeked(loci_engine *engine, const char *key, const char *value)
{
    int64_t before = peek_count(engine);

    CHECK_STR_EQ(value_of(engine, key), value);
    return peek_count(engine) > before;
}

static bool can_peek(void)
{
    return lc_op_find(LC_STR("fact.current"))->peek != NULL;
}

/* Reads until the answer comes from memory: jobs commit too, and a watch may not have polled yet.
 */
static void warm_up(loci_engine *engine, const char *key, const char *value)
{
    int64_t until_us = lc_clock_monotonic_us() + PATIENCE_US;

    while (!is_peeked(engine, key, value) && can_peek()) {
        CHECK_LT(lc_clock_monotonic_us(), until_us);
        lc_clock_sleep_us(lc_engine_is_far(engine) ? 5000 : 100);
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

TEST(peek, own_writes_are_seen_at_once)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store);

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    warm_up(engine, "city", "\"Oslo\"");
    for (int i = 0; i < 50; i++) {
        test_call(engine, "fact.write", "%s", test_format("{\"key\":\"city\",\"value\":%d}", i));
        CHECK_STR_EQ(value_of(engine, "city"), test_format("%d", i));
        CHECK_STR_EQ(value_of(engine, "city"), test_format("%d", i));
    }
    test_close(engine);
}

TEST(peek, the_writes_of_others_are_noticed)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store), *other = test_open_threads(store);

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    warm_up(engine, "city", "\"Oslo\"");
    test_call(other, "fact.write", "{'key':'city','value':'Bergen'}");
    wait_for_value(engine, "city", "\"Bergen\"");
    test_call(engine, "fact.write", "{'key':'city','value':'Narvik'}");
    wait_for_value(other, "city", "\"Narvik\"");
    test_close(other);
    test_close(engine);
}

/* A file tells at once, whoever wrote to it: there is no moment in which two engines differ. */
TEST_ON(TEST_FILES, peek, the_writes_of_others_are_seen_at_once)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store), *other = test_open_threads(store);
    int peeked = 0;

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    warm_up(engine, "city", "\"Oslo\"");
    warm_up(other, "city", "\"Oslo\"");
    for (int i = 0; i < 100; i++) {
        const char *value = test_format("%d", i);

        test_call(i % 3 == 0 ? engine : other, "fact.write", "%s",
                  test_format("{\"key\":\"city\",\"value\":%d}", i));
        CHECK_STR_EQ(value_of(engine, "city"), value);
        CHECK_STR_EQ(value_of(other, "city"), value);
        peeked += is_peeked(engine, "city", value);
        peeked += is_peeked(other, "city", value);
    }
    CHECK(!can_peek() || peeked > 160);
    test_close(other);
    test_close(engine);
}

/* Where the watch tells what was committed, an own write concerns the users of one slot alone. */
TEST_ON(TEST_SERVERS, peek, the_writes_of_other_users_leave_it_alone)
{
    loci_engine *engine = test_open_threads(probe_path());
    int peeked = 0;

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    warm_up(engine, "city", "\"Oslo\"");
    for (int i = 0; i < 100; i++) {
        test_call(engine, "fact.write", "%s",
                  test_format("{\"key\":\"k\",\"value\":%d,\"user_id\":\"somebody\"}", i));
        peeked += is_peeked(engine, "city", "\"Oslo\"");
    }
    CHECK(!can_peek() ||
          peeked > 80); /* Not all: jobs run now and then, and may be about anybody. */
    test_close(engine);
}

/* ---- Under load ------------------------------------------------------------------------------ */

#define RACE_WRITES 300

typedef struct race {
    loci_engine *writer;
    _Atomic int acked;
} race;

static void *write_on(void *ctx)
{
    race *r = ctx;

    for (int i = 1; i <= RACE_WRITES; i++) {
        loci_answer *answer = NULL;
        char args[64];

        (void)snprintf(args, sizeof args, "{\"key\":\"n\",\"value\":%d}", i);
        if (loci_call(r->writer, "fact.write", loci_str_of(args), NULL, &answer, NULL) != LOCI_OK)
            break;
        loci_answer_free(answer);
        atomic_store(&r->acked, i);
    }
    return NULL;
}

/* While somebody writes and somebody reads all the time, no answer is older than what had been
 * acked when it was asked for. */
static void check_race(loci_engine *reader, loci_engine *writer)
{
    race r = {.writer = writer};
    pthread_t thread;
    int acked = 0, reads = 0;

    test_call(writer, "fact.write", "{'key':'n','value':0}");
    warm_up(reader, "n", "0");
    CHECK_EQ(pthread_create(&thread, NULL, write_on, &r), 0);
    for (; acked < RACE_WRITES; reads++) {
        loci_str value;

        acked = atomic_load(&r.acked);
        value = value_of(reader, "n");
        CHECK_LE(acked, strtol(value.ptr, NULL, 10));
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(!can_peek() || peek_count(reader) > 0);
}

TEST_ON(TEST_FILES, peek, no_answer_is_older_than_an_acked_write_of_others)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store), *other = test_open_threads(store);

    check_race(engine, other);
    test_close(other);
    test_close(engine);
}

TEST(peek, no_answer_is_older_than_an_own_acked_write)
{
    loci_engine *engine = test_open_threads(probe_path());

    check_race(engine, engine);
    test_close(engine);
}

/* ---- Who sees what ----------------------------------------------------------------------------
 */

/* Tenant, user, persona and time are judged at each use. */
TEST(peek, what_is_in_memory_is_seen_by_those_who_may)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store);
    loci_principal other = {.size = sizeof other, .tenant = "other"};
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_error err;

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    warm_up(engine, "city", "\"Oslo\"");
    options.principal = &other;
    CHECK_STATUS(LOCI_ENOTFOUND, loci_call(engine, "fact.current", LC_STR("{\"key\":\"city\"}"),
                                           &options, &answer, &err));
    CHECK_STATUS(LOCI_ENOTFOUND,
                 test_try(engine, "fact.current",
                          LC_STR("{\"key\":\"city\",\"user_id\":\"somebody\"}"), &err));
    test_call(engine, "fact.write", "{'key':'city','value':'Bergen','persona_id':'p'}");
    CHECK_STR_EQ(value_of(engine, "city"), "\"Oslo\"");
    CHECK_STR_EQ(
        test_member(test_call(engine, "fact.current", "{'key':'city','persona_id':'p'}"), "value"),
        "\"Bergen\"");
    test_close(engine);
}

TEST(peek, what_expires_is_expired_in_memory_too)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store);
    loci_call_options later = LOCI_CALL_OPTIONS_INIT;
    loci_answer *answer = NULL;
    loci_error err;

    test_call(engine, "fact.write",
              "{'key':'city','value':'Oslo','valid_until':'2999-01-01T00:00:00Z'}");
    warm_up(engine, "city", "\"Oslo\"");
    later.at_us = INT64_C(32503680000000000); /* 3000-01-01 */
    CHECK_OK(loci_call(engine, "fact.current", LC_STR("{\"key\":\"city\"}"), &later, &answer, &err),
             err);
    CHECK_STR_EQ(test_member_text(loci_answer_json(answer), "status"), "expired");
    loci_answer_free(answer);
    CHECK_STR_EQ(test_member_text(test_call(engine, "fact.current", "{'key':'city'}"), "status"),
                 "valid");
    test_close(engine);
}

/* Long values, several values, and none at all: the answer is that of the store. */
TEST(peek, every_shape_of_answer_is_that_of_the_store)
{
    const char *store = probe_path();
    loci_engine *engine = test_open_threads(store);
    char *text = test_bytes(9000);
    loci_error err;

    memset(text, 'x', 9000);
    CHECK_OK(test_try(engine, "fact.write",
                      loci_str_of(test_format("{\"key\":\"long\",\"value\":\"%s\"}", text)), &err),
             err);
    test_call(engine, "fact.write", "{'key':'two','value':1,'multi':true}");
    test_call(engine, "fact.write", "{'key':'two','value':2,'multi':true}");
    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    warm_up(engine, "city", "\"Oslo\"");
    for (int i = 0; i < 3; i++) {
        CHECK_STR_EQ(value_of(engine, "long"), test_format("\"%s\"", text));
        CHECK_STR_EQ(value_of(engine, "two"), "2");
        CHECK_STATUS(LOCI_ENOTFOUND,
                     test_try(engine, "fact.current", LC_STR("{\"key\":\"none\"}"), &err));
    }
    test_close(engine);
}
