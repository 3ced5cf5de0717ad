/* What a write means: slots, superseding, authority, trust, claims. */
#include "contract/fact_fixture.h"
#include "contract/probe_fixture.h"
#include "lib/calls.h"

#include "base/str.h"
#include "fact/fact.h"

/* ---- The seed's vectors ---------------------------------------------------------------------- */

/* An agent that acts on what was cancelled. */
TEST(fact_write, vector_1_basic_supersession)
{
    facts f;
    const char *first, *second;

    facts_open(&f);
    first = facts_write(&f, "created", "{'key':'status_v1','value':'approved'}");
    second = facts_write(&f, "superseded",
                         "{'key':'status_v2','value':'cancelled','supersedes':'status_v1'}");
    CHECK_STR_EQ(facts_current(&f, "status_v2", "value"), "cancelled");
    CHECK_STR_EQ(facts_current(&f, "status_v1", "status"), "superseded");
    CHECK_STR_EQ(facts_current(&f, "status_v1", "superseded_by"), second);
    CHECK_STR_EQ(facts_current(&f, "status_v2", "supersedes.0"), first);
    CHECK(strstr(facts_call(&f, "fact.list", "{}").ptr, "approved") == NULL);
    facts_close(&f);
}

/* Said three times, it is as superseded as said once. */
TEST(fact_write, vector_2_emphatic_repetition)
{
    static const char again[] = "{\"key\":\"order_v1\",\"value\":\"approved\"}";
    facts f;
    const char *first;
    loci_str answer;

    facts_open(&f);
    first = facts_write(&f, "created", again);
    CHECK_STR_EQ(facts_write(&f, "repeated", again), first);
    CHECK_STR_EQ(facts_write(&f, "repeated", again), first);
    facts_write(&f, "superseded", "{'key':'order_v2','value':'cancelled','supersedes':'order_v1'}");
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(LOCI_ECONFLICT, facts_try(&f, "fact.write", &answer, again));
        CHECK_STR_EQ(test_member_text(loci_str_of(f.err.data), "head"),
                     facts_current(&f, "order_v2", "id"));
    }
    CHECK_STR_EQ(facts_current(&f, "order_v1", "status"), "superseded");
    facts_close(&f);
}

/* An intern's suggestion is kept and changes nothing. */
TEST(fact_write, vector_3_authority_override)
{
    facts f;
    const char *policy, *claim;
    loci_str answer;

    facts_open(&f);
    policy = facts_write(&f, "created",
                         "{'key':'policy','value':'max 15%%','source':'CFO',"
                         "'authority':'CFO','is_constraint':true}");
    facts_call(&f, "identity.set", "{'user_name':'Ian','authority':'intern'}");
    claim = facts_write(&f, "claimed", "{'key':'policy','value':'25%%'}");
    facts_write(&f, "claimed", "{'key':'policy','value':'26%%','authority':'policy'}");
    CHECK_STR_EQ(facts_current(&f, "policy", "id"), policy);
    CHECK_STR_EQ(facts_current(&f, "policy", "memory_type"), "organizational");
    answer = facts_call(&f, "fact.claims", "{'key':'policy'}");
    CHECK_STR_EQ(test_member_text(answer, "claims.0.id"), claim);
    CHECK_STR_EQ(test_member_text(answer, "claims.0.contests"), policy);
    CHECK_STR_EQ(test_member_text(answer, "claims.0.authority"), "intern");
    CHECK_STR_EQ(test_member_text(answer, "claims.1.authority"), "intern");
    CHECK_STR_EQ(test_member(answer, "claims.2"), "");
    facts_close(&f);
}

/* ---- supersedes ------------------------------------------------------------------------------ */

TEST(fact_write, what_is_superseded_must_be_a_head_of_the_same_scope)
{
    facts f;
    const char *old;

    facts_open(&f);
    old = facts_write(&f, "created", "{'key':'a','value':1}");
    facts_write(&f, "superseded", "{'key':'a','value':2}");
    facts_write(&f, "created", "{'key':'t','value':2,'scope':'task','scope_id':'7'}");
    facts_fail(&f, LOCI_ENOTFOUND, "there is no fact \"nothing\"", "fact.write",
               "{'key':'b','value':1,'supersedes':'nothing'}");
    facts_fail(&f, LOCI_ENOTFOUND, "no fact \"fact_00000000000000000000000000\"", "fact.write",
               "{'key':'b','value':1,'supersedes':'fact_00000000000000000000000000'}");
    facts_fail(&f, LOCI_EINVAL, "own key", "fact.write", "{'key':'a','value':1,'supersedes':'a'}");
    facts_fail(&f, LOCI_ECONFLICT, "was superseded", "fact.write",
               test_format("{\"key\":\"b\",\"value\":1,\"supersedes\":\"%s\"}", old));
    CHECK_STR_EQ(test_member_text(loci_str_of(f.err.data), "head"), facts_current(&f, "a", "id"));
    facts_fail(&f, LOCI_ENOTFOUND, "no fact \"t\"", "fact.write",
               "{'key':'b','value':1,'supersedes':'t'}");
    facts_fail(&f, LOCI_ENOTFOUND, "no fact \"a\"", "fact.write",
               "{'key':'b','value':1,'supersedes':['a'],'scope':'draft'}");
    facts_fail(
        &f, LOCI_ENOTFOUND, "same scope", "fact.write",
        test_format("{\"key\":\"b\",\"value\":1,\"supersedes\":\"%s\",\"scope\":\"draft\"}", old));
    facts_fail(&f, LOCI_EINVAL, "supersedes[0]: expected a string of 1 to 512 bytes", "fact.write",
               "{'key':'b','value':1,'supersedes':[7]}");
    facts_fail(&f, LOCI_EINVAL, "scope", "fact.write", "{'key':'b','value':1,'scope':'nowhere'}");
    facts_fail(&f, LOCI_EINVAL, "scope_id", "fact.write", "{'key':'b','value':1,'scope_id':'x'}");
    facts_close(&f);
}

/* Two keys that supersede each other would make a reader walk for ever. */
TEST(fact_write, keys_cannot_supersede_each_other_in_a_circle)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1}");
    facts_write(&f, "superseded", "{'key':'b','value':1,'supersedes':'a'}");
    facts_write(&f, "superseded", "{'key':'c','value':1,'supersedes':'b'}");
    facts_fail(&f, LOCI_EINVAL, "circle", "fact.write", "{'key':'a','value':2,'supersedes':'c'}");
    facts_fail(&f, LOCI_ECONFLICT, "the current fact is", "fact.write", "{'key':'a','value':2}");
    CHECK_STR_EQ(test_member_text(loci_str_of(f.err.data), "head"), facts_current(&f, "c", "id"));
    facts_write(&f, "superseded", "{'key':'c','value':2}");
    facts_fail(&f, LOCI_ECONFLICT, "the current fact is", "fact.write", "{'key':'b','value':2}");
    CHECK_STR_EQ(test_member_text(loci_str_of(f.err.data), "head"), facts_current(&f, "c", "id"));
    facts_call(&f, "fact.retract", "{'key':'c'}"); /* Nobody stands there any more. */
    facts_write(&f, "created", "{'key':'a','value':2}");
    facts_close(&f);
}

TEST(fact_write, several_facts_are_superseded_together_or_not_at_all)
{
    facts f;
    const char *a, *c, *own;
    loci_str answer;

    facts_open(&f);
    a = facts_write(&f, "created", "{'key':'a','value':1}");
    facts_write(&f, "created", "{'key':'b','value':1,'authority':'CEO'}");
    c = facts_write(&f, "created", "{'key':'c','value':1}");
    own = facts_write(&f, "created", "{'key':'d','value':1}");
    facts_write(&f, "claimed", "{'key':'d','value':2,'supersedes':['a','b','c']}");
    CHECK_STR_EQ(facts_current(&f, "a", "status"), "valid");
    CHECK_STR_EQ(facts_current(&f, "d", "id"), own);
    facts_write(&f, "superseded", "{'key':'d','value':2,'supersedes':['a','%s','a']}", c);
    answer = facts_call(&f, "fact.current", "{'key':'d'}");
    CHECK_STR_EQ(test_member(answer, "supersedes"),
                 test_format("[\"%s\",\"%s\",\"%s\"]", own, a, c));
    CHECK_STR_EQ(facts_current(&f, "a", "status"), "superseded");
    CHECK_STR_EQ(facts_current(&f, "c", "superseded_by"), facts_current(&f, "d", "id"));
    facts_close(&f);
}

/* The same value said of the own head on purpose is a new version: that is how a fact gets another
 * end or another restriction. */
TEST(fact_write, an_explicit_supersedes_is_neither_a_repetition_nor_late)
{
    facts f;
    const char *first, *second;

    facts_open(&f);
    first = facts_write(&f, "created", "{'key':'a','value':1}");
    second = facts_write(&f, "superseded",
                         "{'key':'a','value':1,'supersedes':'%s',"
                         "'valid_until':'2030-01-01T00:00:00Z'}",
                         first);
    CHECK_STR_EQ(facts_current(&f, "a", "valid_until"), "2030-01-01T00:00:00Z");
    facts_write(&f, "late", "{'key':'a','value':2,'observed_at':'2001-01-01T00:00:00Z'}");
    facts_write(&f, "superseded",
                "{'key':'a','value':2,'observed_at':'2001-01-01T00:00:00Z',"
                "'supersedes':'%s'}",
                second);
    facts_close(&f);
}

/* ---- Slots with several facts ---------------------------------------------------------------- */

TEST(fact_write, a_multi_slot_holds_several)
{
    facts f;
    const char *red;
    loci_str answer;

    facts_open(&f);
    red = facts_write(&f, "created", "{'key':'likes','value':'red','multi':true}");
    facts_write(&f, "created", "{'key':'likes','value':'blue'}");
    CHECK_STR_EQ(facts_write(&f, "repeated", "{'key':'likes','value':'red'}"), red);
    facts_fail(&f, LOCI_EINVAL, "several", "fact.write",
               "{'key':'x','value':1,'supersedes':'likes'}");
    facts_write(&f, "superseded", "{'key':'likes','value':'pink','supersedes':'%s'}", red);
    answer = facts_call(&f, "fact.list", "{}");
    CHECK_STR_EQ(test_member_text(answer, "facts.0.value"), "blue");
    CHECK_STR_EQ(test_member_text(answer, "facts.1.value"), "pink");
    CHECK_STR_EQ(test_member(answer, "facts.2"), "");
    CHECK_STR_EQ(facts_current(&f, "likes", "value"), "pink");
    /* A key that holds one stays so. */
    facts_write(&f, "created", "{'key':'city','value':1}");
    facts_write(&f, "superseded", "{'key':'city','value':2,'multi':true}");
    CHECK_EQ(test_member_int(facts_call(&f, "fact.retract", "{'key':'likes'}"), "count"), 2);
    CHECK_STR_EQ(facts_current(&f, "likes", "status"), "retracted");
    facts_close(&f);
}

TEST(fact_write, a_multi_slot_has_a_ceiling)
{
    facts f;

    facts_open(&f);
    for (int i = 0; i < LC_FACT_MULTI_MAX - 1; i += 50) {
        loci_request requests[50];
        loci_answer *answer = NULL;

        for (int k = 0; k < 50; k++)
            requests[k] = (loci_request){
                "fact.write",
                loci_str_of(test_format("{\"key\":\"m\",\"value\":%d,\"multi\":true}", i + k)),
                LOCI_AT_CLOCK};
        CHECK_OK(loci_call_many(f.engine, requests, i + 50 >= LC_FACT_MULTI_MAX ? 49 : 50, NULL,
                                &answer, &f.err),
                 f.err);
        loci_answer_free(answer);
    }
    facts_write(&f, "created", "{'key':'m','value':'last'}");
    facts_fail(&f, LOCI_ELIMIT, "holds 1000 facts", "fact.write", "{'key':'m','value':'x'}");
    facts_write(&f, "repeated", "{'key':'m','value':'last'}");
    facts_close(&f);
}

/* ---- Time ------------------------------------------------------------------------------------ */

TEST(fact_write, authority_decides_before_time)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1,'authority':'employee'}");
    facts_write(&f, "late",
                "{'key':'a','value':2,'authority':'employee',"
                "'observed_at':'2020-01-01T00:00:00Z'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'a'}"), "1");
    facts_write(&f, "superseded",
                "{'key':'a','value':3,'authority':'manager',"
                "'observed_at':'2020-01-01T00:00:00Z'}");
    facts_write(&f, "claimed",
                "{'key':'a','value':4,'authority':'employee',"
                "'observed_at':'2030-01-01T00:00:00Z'}");
    /* At the same moment the later one counts. */
    facts_write(&f, "superseded",
                "{'key':'a','value':5,"
                "'observed_at':'2020-01-01T00:00:00Z'}");
    answer = facts_call(&f, "fact.history", "{'key':'a'}");
    CHECK_STR_EQ(test_member(answer, "facts.1.is_late"), "true");
    CHECK_STR_EQ(test_member_text(answer, "facts.1.status"), "superseded");
    CHECK_STR_EQ(test_member(answer, "facts.3.value"), "5"); /* Claims are no versions. */
    facts_close(&f);
}

/* Two machines with different clocks write to one store: a write that was acknowledged takes
 * effect, whichever clock is behind. A time that the caller gives is kept as it is. */
TEST(fact_write, a_clock_that_is_behind_makes_no_write_late)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1}");
    f.now_us -= 5 * MINUTE_US;
    facts_write(&f, "superseded", "{'key':'a','value':2}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'a'}"), "2");
    CHECK_STR_EQ(facts_current(&f, "a", "observed_at"), facts_current(&f, "a", "recorded_at"));
    facts_write(&f, "late", "{'key':'a','value':3,'observed_at':'2023-11-14T22:12:00Z'}");
    facts_write(&f, "superseded", "{'key':'a','value':4}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'a'}"), "4");
    facts_close(&f);
}

/* ---- Authority ------------------------------------------------------------------------------- */

/* A token's ceiling and a session's identity bound what a caller can say of itself. */
TEST(fact_write, nobody_says_more_than_its_token_and_identity_allow)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1}"); /* A manager, without a word. */
    f.ceiling = "employee";
    facts_write(&f, "claimed", "{'key':'a','value':2,'authority':'policy'}");
    facts_write(&f, "claimed", "{'key':'a','value':3}");
    f.ceiling = "manager";
    facts_write(&f, "superseded", "{'key':'a','value':4,'authority':'policy'}");
    CHECK_STR_EQ(facts_current(&f, "a", "authority"), "manager");
    f.ceiling = NULL;
    facts_call(&f, "identity.set", "{'user_name':'E','authority':'employee'}");
    facts_write(&f, "claimed", "{'key':'a','value':5,'authority':'policy'}");
    facts_write(&f, "claimed", "{'key':'a','value':6}");
    facts_fail(&f, LOCI_EFORBIDDEN, "not enough", "fact.retract", "{'key':'a'}");
    /* Another session has no identity. */
    facts_write(&f, "superseded", "{'key':'a','value':7,'session_id':'other'}");
    facts_close(&f);
}

/* Words that nobody knows are kept, and rank lowest. */
TEST(fact_write, an_unknown_authority_ranks_lowest_and_is_kept)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1,'authority':'peer'}");
    CHECK_STR_EQ(facts_current(&f, "a", "authority"), "peer");
    facts_write(&f, "superseded", "{'key':'a','value':2,'authority':'Account Executive'}");
    facts_write(&f, "superseded", "{'key':'a','value':3,'authority':'intern'}");
    facts_write(&f, "claimed", "{'key':'a','value':4,'authority':'system'}");
    facts_call(&f, "config.set", "{'name':'authority.titles','value':'Account Executive = admin'}");
    facts_write(&f, "superseded", "{'key':'a','value':5,'authority':'account executive'}");
    facts_write(&f, "claimed", "{'key':'a','value':6}");
    facts_close(&f);
}

TEST(fact_write, a_slot_may_ask_for_more_than_its_fact_has)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created",
                "{'key':'a','value':1,'authority':'manager',"
                "'min_write_authority':'policy'}");
    CHECK_STR_EQ(facts_current(&f, "a", "min_write_authority"), "manager"); /* The setter's own. */
    facts_write(&f, "created",
                "{'key':'b','value':1,'authority':'CEO',"
                "'min_write_authority':'manager'}");
    facts_call(&f, "fact.retract", "{'key':'b','authority':'CEO'}");
    facts_write(&f, "claimed", "{'key':'b','value':2,'authority':'employee'}");
    CHECK_STR_EQ(facts_current(&f, "b", "status"), "retracted");
    facts_write(&f, "created", "{'key':'b','value':2,'authority':'manager'}");
    CHECK_STR_EQ(facts_current(&f, "b", "min_write_authority"), "manager");
    facts_close(&f);
}

TEST(fact_write, constraints_are_set_by_managers_and_stay_constraints)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "claimed",
                "{'key':'cap','value':1,'is_constraint':true,'authority':'employee'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'cap'}"), "-");
    answer = facts_call(&f, "fact.claims", "{}");
    CHECK_STR_EQ(test_member(answer, "claims.0.contests"), ""); /* Nothing to contest. */
    facts_write(&f, "created",
                "{'key':'cap','value':15,'is_constraint':true,"
                "'constraint_type':'budget'}");
    facts_write(&f, "superseded", "{'key':'cap','value':20}");
    CHECK_STR_EQ(facts_current(&f, "cap", "constraint_type"), "budget");
    facts_write(&f, "claimed", "{'key':'cap','value':30,'authority':'employee'}");
    facts_write(&f, "created", "{'key':'e','value':1,'authority':'employee'}");
    facts_write(&f, "claimed", "{'key':'e','value':2,'authority':'employee','is_constraint':true}");
    facts_close(&f);
}

/* ---- Trust ----------------------------------------------------------------------------------- */

/* What a model or a web page says never changes what a user said. */
TEST(fact_write, untrusted_statements_only_claim_against_trusted_ones)
{
    static const char *const untrusted[] = {"tool", "web", "model"};
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'a','value':1,'authority':'guest'}");
    for (int i = 0; i < 3; i++) {
        facts_write(&f, "claimed", "{'key':'a','value':2,'trust':'%s','authority':'policy'}",
                    untrusted[i]);
        facts_write(&f, "claimed",
                    "{'key':'a','value':2,'trust':'%s','authority':'policy',"
                    "'supersedes':'%s'}",
                    untrusted[i], facts_current(&f, "a", "id"));
        facts_write(&f, "claimed", "{'key':'c%d','value':2,'trust':'%s','is_constraint':true}", i,
                    untrusted[i]);
        facts_fail(
            &f, LOCI_EFORBIDDEN, "not enough", "fact.retract",
            test_format("{\"key\":\"a\",\"trust\":\"%s\",\"authority\":\"policy\"}", untrusted[i]));
    }
    CHECK_STR_EQ(facts_value(&f, "{'key':'a'}"), "1");
    /* Among themselves they go on; a user's word then stands above them. */
    facts_write(&f, "created", "{'key':'w','value':1,'trust':'web'}");
    facts_write(&f, "superseded", "{'key':'w','value':2,'trust':'tool'}");
    facts_write(&f, "superseded", "{'key':'w','value':3,'authority':'guest'}");
    facts_write(&f, "claimed", "{'key':'w','value':4,'trust':'tool'}");
    f.trust = "model"; /* A token that is capped. */
    facts_write(&f, "claimed", "{'key':'w','value':5,'trust':'user'}");
    CHECK_STR_EQ(test_member_text(facts_call(&f, "fact.claims", "{'key':'w'}"), "claims.1.trust"),
                 "model");
    facts_close(&f);
}

/* ---- Kinds of knowledge ---------------------------------------------------------------------- */

TEST(fact_write, the_source_tells_the_kind_of_knowledge)
{
    static const struct {
        const char *args;
        const char *type;
    } cases[] = {
        {"\"source\":\"policy\"", "organizational"},
        {"\"source\":\"hr_system\"", "organizational"},
        {"\"source\":\"pattern\"", "capability"},
        {"\"source\":\"preference\"", "user"},
        {"\"source\":\"Bob\"", "user"},
        {"\"source\":\"Bob\",\"is_constraint\":true", "organizational"},
        {"\"source\":\"policy\",\"memory_type\":\"capability\"", "capability"},
        {"\"trust\":\"user\"", "user"},
    };
    facts f;

    facts_open(&f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        facts_write(&f, "created", "{'key':'k%zu','value':1,%s}", i, cases[i].args);
        CHECK_STR_EQ(facts_current(&f, test_format("k%zu", i), "memory_type"), cases[i].type);
    }
    facts_close(&f);
}

/* ---- Several writers, and writes that were undone ---------------------------------------------
 */

/* Writes `value` and checks whom it superseded; its id. */
static loci_str write_after(loci_engine *engine, const char *before, const char *args)
{
    loci_str answer = test_call(engine, "fact.write", "%s", args);

    if (before == NULL)
        CHECK_STR_EQ(test_member_text(answer, "outcome"), "created");
    else
        CHECK_STR_EQ(test_member_text(answer, "superseded"), before);
    return test_member_text(answer, "id");
}

static const char *text_of(loci_str text)
{
    return test_format("%.*s", (int)text.len, text.ptr);
}

TEST(fact_write, engines_in_turn_supersede_each_other)
{
    const char *store = probe_path();
    loci_engine *engines[] = {test_open(store), test_open(store)};
    const char *before = NULL;

    for (int i = 0; i < 60; i++) {
        const char *args = test_format("{\"key\":\"city\",\"value\":%d}", i);

        /* Runs of one, two and three. */
        before = text_of(write_after(engines[i % 6 == 1 || i % 6 > 3], before, args));
    }
    test_close(engines[1]);
    test_close(engines[0]);
}

TEST(fact_write, what_ended_otherwise_is_not_superseded)
{
    loci_engine *engine = test_open(probe_path());
    loci_str id;

    (void)write_after(engine, NULL, "{\"key\":\"city\",\"value\":1}");
    test_call(engine, "fact.retract", "{'key':'city'}");
    CHECK_STR_EQ(
        test_member_text(test_call(engine, "fact.write", "{'key':'city','value':2}"), "outcome"),
        "created");
    id = write_after(engine, NULL, "{\"key\":\"town\",\"value\":1}");
    test_call(engine, "fact.write", "{'key':'place','value':3,'supersedes':'town'}");
    CHECK_STR_EQ(test_member_text(test_call(engine, "fact.get", "%s",
                                            test_format("{\"id\":\"%s\"}", text_of(id))),
                                  "status"),
                 "superseded");
    CHECK_STATUS(LOCI_ECONFLICT,
                 test_try(engine, "fact.write", LC_STR("{\"key\":\"town\",\"value\":4}"), NULL));
    test_close(engine);
}

/* Marks on a fact are seen by whoever writes next: what is derived from it needs a review. */
TEST(fact_write, what_depends_on_a_fact_is_known)
{
    loci_engine *engine = test_open(probe_path());

    test_call(engine, "fact.write", "{'key':'a','value':1}");
    test_call(engine, "fact.write", "{'key':'b','value':2,'depends_on':['a']}");
    test_call(engine, "fact.write", "{'key':'a','value':3}");
    CHECK_STR_EQ(test_member(test_call(engine, "fact.current", "{'key':'b'}"), "needs_review"),
                 "true");
    test_call(engine, "fact.write", "{'key':'b','value':5}");
    CHECK_STR_EQ(test_member(test_call(engine, "fact.current", "{'key':'b'}"), "needs_review"),
                 "false");
    test_close(engine);
}

/* A batch that fails half-way is undone, and what it had written was never there. */
TEST(fact_write, what_was_undone_is_not_superseded)
{
    static const loci_request requests[] = {
        {"fact.write", {"{\"key\":\"city\",\"value\":2}", 24}, LOCI_AT_CLOCK},
        {"fact.retract", {"{\"key\":\"nobody\"}", 16}, LOCI_AT_CLOCK},
    };
    loci_engine *engine = test_open(probe_path());
    const char *before = text_of(write_after(engine, NULL, "{\"key\":\"city\",\"value\":1}"));
    loci_answer *answer = NULL;
    loci_error err;

    for (int i = 3; i < 6; i++) {
        CHECK_STATUS(LOCI_ENOTFOUND, loci_call_many(engine, requests, 2, NULL, &answer, &err));
        before = text_of(
            write_after(engine, before, test_format("{\"key\":\"city\",\"value\":%d}", i)));
    }
    test_close(engine);
}

/* Every user has a head of his own, and events without gaps, also when others write in between. */
TEST(fact_write, heads_are_those_of_their_users)
{
    const char *store = probe_path();
    loci_engine *engines[] = {test_open(store), test_open(store)};
    int64_t seqs[3] = {0};

    for (int i = 0; i < 60; i++) {
        int user = i * 7 % 3;
        loci_str answer = test_call(engines[i % 5 == 0], "fact.write", "%s",
                                    test_format("{\"key\":\"k%d\",\"value\":%d,"
                                                "\"user_id\":\"u%d\"}",
                                                i % 4, i, user));
        int64_t seq = test_member_int(answer, "seq");

        CHECK_LT(seqs[user], seq);
        CHECK_LE(seq, seqs[user] + 2); /* A session may have begun before it. */
        seqs[user] = seq;
    }
    test_close(engines[1]);
    test_close(engines[0]);
}
