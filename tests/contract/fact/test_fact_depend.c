/* What was derived from what, reviews and taking back. */
#include "contract/fact_fixture.h"

#include "base/str.h"
#include "fact/fact.h"

static bool needs_review(facts *f, const char *key)
{
    return lc_str_is(
        test_member(facts_call(f, "fact.current", "{'key':'%s'}", key), "needs_review"), "true");
}

/* A conclusion from what turned out wrong must not be handed on as if nothing had happened. */
TEST(fact_depend, what_was_derived_needs_a_review_step_by_step)
{
    facts f;
    const char *a, *b;
    loci_str answer;

    facts_open(&f);
    a = facts_write(&f, "created", "{'key':'a','value':1}");
    b = facts_write(&f, "created", "{'key':'b','value':1,'depends_on':['a','%s']}", a);
    facts_write(&f, "created", "{'key':'c','value':1,'depends_on':['b']}");
    facts_write(&f, "created", "{'key':'x','value':1}");
    answer = facts_call(&f, "fact.current", "{'key':'b'}");
    CHECK_STR_EQ(test_member(answer, "depends_on"), test_format("[\"%s\"]", a));
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.get", "{'id':'%s'}", a), "derived_facts"),
                 test_format("[\"%s\"]", b));
    answer = facts_call(&f, "fact.write", "{'key':'a','value':2}");
    CHECK_EQ(test_member_int(answer, "needs_review"), 2);
    CHECK(needs_review(&f, "b"));
    CHECK(needs_review(&f, "c"));
    CHECK(!needs_review(&f, "a"));
    CHECK(!needs_review(&f, "x"));
    CHECK_STR_EQ(facts_current(&f, "b", "status"), "valid");
    /* Confirming one says nothing of the other. */
    answer = facts_call(&f, "fact.review", "{'id':'%s','action':'confirm'}", b);
    CHECK_STR_EQ(test_member_text(answer, "outcome"), "confirmed");
    CHECK(!needs_review(&f, "b"));
    CHECK(needs_review(&f, "c"));
    answer = facts_call(&f, "fact.review", "{'id':'%s','action':'confirm'}", b);
    CHECK_STR_EQ(test_member_text(answer, "outcome"), "unchanged");
    facts_write(&f, "superseded", "{'key':'c','value':2}");
    CHECK(!needs_review(&f, "c"));
    facts_close(&f);
}

TEST(fact_depend, taking_back_marks_too)
{
    facts f;
    const char *b;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1}");
    b = facts_write(&f, "created", "{'key':'b','value':1,'depends_on':['a']}");
    facts_write(&f, "created", "{'key':'c','value':1,'depends_on':['b']}");
    facts_write(&f, "created", "{'key':'d','value':1,'depends_on':['c']}");
    facts_call(&f, "fact.review", "{'id':'%s','action':'retract','reason':'no'}", b);
    CHECK_STR_EQ(facts_current(&f, "b", "status"), "retracted");
    CHECK_STR_EQ(test_member_text(facts_call(&f, "fact.get", "{'id':'%s'}", b), "reason"), "no");
    CHECK(needs_review(&f, "c"));
    CHECK(needs_review(&f, "d"));
    /* What is gone cannot go again, and its dependents are not marked for what it depended on. */
    facts_fail(&f, LOCI_ECONFLICT, "not valid", "fact.retract", test_format("{\"id\":\"%s\"}", b));
    facts_fail(&f, LOCI_ENOTFOUND, "no valid fact b", "fact.retract", "{'key':'b'}");
    facts_fail(&f, LOCI_EINVAL, "key or id", "fact.retract", "{}");
    facts_fail(&f, LOCI_EINVAL, "key or id", "fact.retract", "{'key':'a','id':'x'}");
    CHECK_EQ(test_member_int(facts_call(&f, "fact.write", "{'key':'a','value':2}"), "seq"), 6);
    facts_write(&f, "created", "{'key':'b','value':1}");
    facts_close(&f);
}

/* Newer versions may close a circle; marking ends all the same. */
TEST(fact_depend, circles_end)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1}");
    facts_write(&f, "created", "{'key':'b','value':1,'depends_on':['a']}");
    facts_write(&f, "superseded", "{'key':'a','value':2,'depends_on':['b']}");
    facts_write(&f, "superseded", "{'key':'b','value':2,'depends_on':['a']}");
    CHECK(needs_review(&f, "a"));
    facts_write(&f, "superseded", "{'key':'a','value':3,'depends_on':['b']}");
    CHECK(needs_review(&f, "b"));
    facts_fail(&f, LOCI_EINVAL, "own key", "fact.write",
               "{'key':'z','value':1,'depends_on':['z']}");
    facts_close(&f);
}

TEST(fact_depend, what_it_depends_on_must_be_there)
{
    facts f;
    const char *old;

    facts_open(&f);
    old = facts_write(&f, "created", "{'key':'a','value':1}");
    facts_fail(&f, LOCI_ENOTFOUND, "depends_on: there is no fact \"b\"", "fact.write",
               "{'key':'c','value':1,'depends_on':['a','b']}");
    facts_write(&f, "superseded", "{'key':'a','value':2}");
    /* An older version leads to the one that stands. */
    facts_write(&f, "created", "{'key':'c','value':1,'depends_on':['%s']}", old);
    CHECK_STR_EQ(facts_current(&f, "c", "depends_on.0"), facts_current(&f, "a", "id"));
    facts_call(&f, "fact.retract", "{'key':'a'}");
    facts_fail(&f, LOCI_ENOTFOUND, "depends_on", "fact.write",
               test_format("{\"key\":\"d\",\"value\":1,\"depends_on\":[\"%s\"]}", old));
    facts_close(&f);
}

/* One event marks so many. A fact with more dependents could never change again, so the write that
 * adds one too many is refused, also when it depends on the fact through another. */
TEST(fact_depend, marking_has_a_ceiling)
{
    facts f;
    loci_request requests[100];

    test_timeout(300);
    facts_open(&f);
    facts_write(&f, "created", "{'key':'root','value':1}");
    for (int i = 0; i < LC_FACT_REVIEW_MAX; i += 100) {
        loci_answer *answer = NULL;

        for (int k = 0; k < 100; k++)
            requests[k] = (loci_request){
                "fact.write",
                loci_str_of(
                    test_format("{\"key\":\"d%d\",\"value\":1,\"depends_on\":[\"root\"]}", i + k)),
                LOCI_AT_CLOCK};
        /* The root itself counts: one less than the ceiling, at first. */
        CHECK_OK(loci_call_many(f.engine, requests, i + 100 == LC_FACT_REVIEW_MAX ? 99 : 100, NULL,
                                &answer, &f.err),
                 f.err);
        loci_answer_free(answer);
    }
    facts_fail(&f, LOCI_ELIMIT,
               "depends_on: too many facts depend on it already; the maximum is 9999", "fact.write",
               "{'key':'more','value':1,'depends_on':['root']}");
    facts_fail(&f, LOCI_ELIMIT, "too many", "fact.write",
               "{'key':'more','value':1,'depends_on':['d7']}");
    /* A new version takes the place of the one that ends; another root has room. */
    facts_write(&f, "superseded", "{'key':'d8','value':2,'depends_on':['root']}");
    facts_write(&f, "created", "{'key':'other','value':1}");
    facts_write(&f, "created", "{'key':'more','value':1,'depends_on':['other']}");
    CHECK_EQ(
        test_member_int(facts_call(&f, "fact.write", "{'key':'root','value':2}"), "needs_review"),
        LC_FACT_REVIEW_MAX - 1);
    /* What depends on facts of the old root is no dependent of the new one. */
    facts_write(&f, "created", "{'key':'again','value':1,'depends_on':['root','d7']}");
    facts_close(&f);
}
