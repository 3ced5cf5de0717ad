/* The facts of a key in memory (fact/fact_heads.h): every change of the store is noticed, and what
 * memory cannot decide is decided by the store. That answers come from memory at all is in
 * tests/contract/engine/test_peek.c. */
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include "engine/engine.h"

static loci_str member_of(loci_engine *engine, const char *key, const char *member)
{
    return test_member(
        test_call(engine, "fact.current", "%s", test_format("{\"key\":\"%s\"}", key)), member);
}

static loci_str value_of(loci_engine *engine, const char *key)
{
    return member_of(engine, key, "value");
}

/* Asks twice, so that the second answer may come from memory. */
static void check_value(loci_engine *engine, const char *key, const char *expected)
{
    CHECK_STR_EQ(value_of(engine, key), expected);
    CHECK_STR_EQ(value_of(engine, key), expected);
}

TEST(fact_heads, a_fact_derived_later_is_shown)
{
    loci_engine *engine = test_open_threads(probe_path());

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    check_value(engine, "city", "\"Oslo\"");
    CHECK_STR_EQ(member_of(engine, "city", "derived_facts"), "[]");
    test_call(engine, "fact.write", "{'key':'country','value':'Norway','depends_on':['city']}");
    CHECK(member_of(engine, "city", "derived_facts").len > 2);
    CHECK(member_of(engine, "city", "derived_facts").len > 2);
    test_close(engine);
}

/* The mark is set and removed without a write of the fact itself. */
TEST(fact_heads, a_mark_for_review_comes_and_goes)
{
    loci_engine *engine = test_open_threads(probe_path());

    loci_str id;

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    test_call(engine, "fact.write", "{'key':'country','value':'Norway','depends_on':['city']}");
    id = member_of(engine, "country", "id");
    check_value(engine, "country", "\"Norway\"");
    test_call(engine, "fact.write", "{'key':'city','value':'Rome'}");
    CHECK_STR_EQ(member_of(engine, "country", "needs_review"), "true");
    CHECK_STR_EQ(member_of(engine, "country", "needs_review"), "true");
    test_call(engine, "fact.review", "%s",
              test_format("{\"id\":%.*s,\"action\":\"confirm\"}", (int)id.len, id.ptr));
    CHECK_STR_EQ(member_of(engine, "country", "needs_review"), "false");
    test_close(engine);
}

TEST(fact_heads, a_retracted_fact_is_gone)
{
    loci_engine *engine = test_open_threads(probe_path());

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    check_value(engine, "city", "\"Oslo\"");
    test_call(engine, "fact.retract", "{'key':'city'}");
    CHECK_STR_EQ(member_of(engine, "city", "status"), "\"retracted\"");
    test_call(engine, "fact.write", "{'key':'city','value':'Bergen'}");
    check_value(engine, "city", "\"Bergen\"");
    test_close(engine);
}

/* A key taken over by another one has no fact of its own any more. */
TEST(fact_heads, a_key_that_another_took_over_is_gone)
{
    loci_engine *engine = test_open_threads(probe_path());

    test_call(engine, "fact.write", "{'key':'town','value':'Oslo'}");
    check_value(engine, "town", "\"Oslo\"");
    test_call(engine, "fact.write", "{'key':'city','value':'Oslo','supersedes':['town']}");
    CHECK_STR_EQ(member_of(engine, "town", "status"), "\"superseded\"");
    test_close(engine);
}

/* Another engine on the same store writes: its facts, its sessions and its personas. */
TEST(fact_heads, what_another_process_writes_is_noticed)
{
    const char *store = probe_path();
    loci_engine *engine = test_open(store), *other = test_open(store);

    test_call(other, "fact.write", "{'key':'city','value':'Oslo'}");
    check_value(engine, "city", "\"Oslo\"");
    test_call(other, "fact.write", "{'key':'city','value':'Bergen'}");
    test_call(other, "fact.write", "{'key':'other','value':1,'depends_on':['city']}");
    check_value(engine, "city", "\"Bergen\"");
    CHECK(member_of(engine, "city", "derived_facts").len > 2);
    test_call(other, "fact.write", "{'key':'city','value':'Narvik','scope':'session'}");
    check_value(engine, "city", "\"Narvik\""); /* Its session hides the global fact. */
    test_close(other);
    test_close(engine);
}

TEST(fact_heads, each_persona_gets_its_own_version)
{
    loci_engine *engine = test_open_threads(probe_path());
    static const char *const personas[] = {"a", "b"};

    test_call(engine, "fact.write", "{'key':'city','value':'Oslo'}");
    check_value(engine, "city", "\"Oslo\"");
    for (int i = 0; i < 2; i++)
        test_call(engine, "fact.write", "%s",
                  test_format("{\"key\":\"city\",\"value\":\"%s\",\"persona_id\":\"%s\"}",
                              personas[i], personas[i]));
    for (int round = 0; round < 2; round++) {
        CHECK_STR_EQ(value_of(engine, "city"), "\"Oslo\"");
        for (int i = 0; i < 2; i++)
            CHECK_STR_EQ(
                test_member(
                    test_call(engine, "fact.current", "%s",
                              test_format("{\"key\":\"city\",\"persona_id\":\"%s\"}", personas[i])),
                    "value"),
                test_format("\"%s\"", personas[i]));
    }
    test_close(engine);
}

/* A restricted fact in memory is no way around the restriction. */
TEST(fact_heads, a_restricted_fact_needs_its_permission)
{
    loci_engine *engine = test_open_threads(probe_path());
    loci_error err;

    test_call(engine, "fact.write", "{'key':'salary','value':1}");
    check_value(engine, "salary", "1");
    test_call(engine, "fact.write", "{'key':'salary','value':2,'required_permission':'hr'}");
    for (int i = 0; i < 2; i++)
        CHECK_STATUS(LOCI_ENOTFOUND,
                     test_try(engine, "fact.current", LC_STR("{\"key\":\"salary\"}"), &err));
    test_close(engine);
}

/* More keys, and larger ones, than the state of a user holds. */
TEST(fact_heads, memory_is_bounded)
{
    loci_engine *engine = test_open_threads(probe_path());
    enum { KEYS = 40, BYTES = 500000 };
    char *text = test_bytes(BYTES);
    loci_error err;

    memset(text, 'x', BYTES - 1);
    text[BYTES - 1] = '\0';
    for (int i = 0; i < KEYS; i++)
        CHECK_OK(
            test_try(engine, "fact.write",
                     loci_str_of(test_format("{\"key\":\"k%d\",\"value\":\"%d%s\"}", i, i, text)),
                     &err),
            err);
    for (int i = 0; i < KEYS; i++) {
        (void)value_of(engine, test_format("k%d", i));
        CHECK_LT(lc_engine_get_counters(engine).user_cache.bytes, (8 << 20) + 100000);
    }
    CHECK_LT(BYTES, lc_engine_get_counters(engine).user_cache.bytes);
    test_close(engine);
}
