/* Where a fact counts, and who sees it. */
#include "contract/fact_fixture.h"

#include <string.h>

#include "base/str.h"

/* ---- Scopes ---------------------------------------------------------------------------------- */

/* What is only supposed must not become what is known. */
TEST(fact_scope, a_scoped_fact_hides_the_global_one_in_its_scope_only)
{
    static const char *const scopes[] = {"task", "hypothetical", "draft", "session"};
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'price','value':100}");
    facts_write(&f, "created", "{'key':'other','value':1}");
    for (int i = 0; i < 4; i++) {
        const char *in = test_format("\"scope\":\"%s\",\"scope_id\":\"x\"", scopes[i]);
        const char *elsewhere = test_format("\"scope\":\"%s\",\"scope_id\":\"y\"", scopes[i]);
        loci_str answer;

        facts_write(&f, "shadowed", "{'key':'price','value':%d,%s}", i, in);
        facts_write(&f, "repeated", "{'key':'price','value':%d,%s}", i, in);
        facts_write(&f, "superseded", "{'key':'price','value':%d,%s}", 10 + i, in);
        facts_write(&f, "created", "{'key':'new','value':%d,%s}", i, in);
        CHECK_STR_EQ(facts_value(&f, test_format("{\"key\":\"price\",%s}", in)),
                     test_format("%d", 10 + i));
        CHECK_STR_EQ(facts_value(&f, test_format("{\"key\":\"price\",%s}", elsewhere)), "100");
        CHECK_STR_EQ(facts_value(&f, test_format("{\"key\":\"other\",%s}", in)), "1");
        CHECK_STR_EQ(facts_value(&f, "{'key':'price'}"), "100");
        CHECK_STR_EQ(facts_value(&f, "{'key':'new'}"), "-");
        answer = facts_call(&f, "fact.list", "{%s}", in);
        CHECK_STR_EQ(test_member_text(answer, "facts.0.key"), "new");
        CHECK_STR_EQ(test_member_text(answer, "facts.1.key"), "other");
        CHECK_STR_EQ(test_member(answer, "facts.2.value"), test_format("%d", 10 + i));
        CHECK_STR_EQ(test_member(answer, "facts.3"), "");
        CHECK_STR_EQ(test_member(facts_call(&f, "fact.list", "{}"), "facts.2"), "");
    }
    facts_close(&f);
}

TEST(fact_scope, what_one_persona_has_in_a_scope_hides_nothing_from_others)
{
    static const char in_task[] = "{\"scope\":\"task\",\"scope_id\":\"t\",\"persona_id\":\"%s\"}";
    loci_str answer;
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'k','value':1}");
    facts_write(&f, "shadowed",
                "{'key':'k','value':2,'scope':'task','scope_id':'t',"
                "'persona_id':'own'}");
    answer = facts_call(&f, "fact.list", in_task, "own");
    CHECK_STR_EQ(test_member(answer, "facts.0.value"), "2");
    CHECK_STR_EQ(test_member(answer, "facts.1"), "");
    answer = facts_call(&f, "fact.list", in_task, "other");
    CHECK_STR_EQ(test_member(answer, "facts.0.value"), "1");
    facts_close(&f);
}

/* A page that ends between a fact and the one that it hides. */
TEST(fact_scope, what_is_hidden_stays_hidden_on_every_page)
{
    facts f;
    int seen = 0;
    loci_str cursor = LC_STR("null");

    facts_open(&f);
    for (int i = 0; i < 5; i++) {
        facts_write(&f, "created", "{'key':'k%d','value':0,'scope':'task','scope_id':'t'}", i);
        facts_write(&f, "created", "{'key':'k%d','value':1}", i);
    }
    do {
        loci_str answer = facts_call(&f, "fact.list",
                                     "{'scope':'task','scope_id':'t','limit':1,'cursor':%.*s}",
                                     LC_STR_ARG(cursor));

        CHECK_STR_EQ(test_member_text(answer, "facts.0.key"), test_format("k%d", seen));
        CHECK_STR_EQ(test_member(answer, "facts.0.value"), "0");
        seen++;
        cursor = test_member(answer, "next_cursor");
    } while (!lc_str_is(cursor, "null") && seen < 10);
    CHECK_EQ(seen, 5);
    facts_close(&f);
}

/* Facts of a session count in it without being asked for, and not after it. */
TEST(fact_scope, session_facts_are_seen_in_their_session)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'mood','value':'calm'}");
    facts_write(&f, "shadowed", "{'key':'mood','value':'hurried','scope':'session'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'mood'}"), "\"hurried\"");
    CHECK_STR_EQ(facts_value(&f, "{'key':'mood','session_id':'another'}"), "\"calm\"");
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.list", "{}"), "facts.0.value"), "\"hurried\"");
    facts_call(&f, "session.close", "{}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'mood'}"), "\"calm\"");
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.list", "{}"), "facts.0.value"), "\"calm\"");
    facts_close(&f);
}

/* Supposing may go against anything; a task may not, quietly, go round a rule. */
TEST(fact_scope, a_task_cannot_hide_a_constraint_from_below)
{
    facts f;
    const char *rule;

    facts_open(&f);
    rule = facts_write(&f, "created",
                       "{'key':'cap','value':15,'is_constraint':true,"
                       "'authority':'policy'}");
    facts_write(&f, "claimed", "{'key':'cap','value':25,'scope':'task','authority':'intern'}");
    facts_write(&f, "claimed",
                "{'key':'cap','value':26,'scope':'session',"
                "'trust':'model','authority':'policy'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'cap','scope':'task'}"), "15");
    CHECK_STR_EQ(test_member_text(facts_call(&f, "fact.claims", "{}"), "claims.1.contests"), rule);
    facts_write(&f, "shadowed",
                "{'key':'cap','value':25,'scope':'hypothetical',"
                "'authority':'intern'}");
    facts_write(&f, "shadowed", "{'key':'cap','value':20,'scope':'task'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'cap'}"), "15");
    facts_close(&f);
}

/* ---- Personas -------------------------------------------------------------------------------- */

TEST(fact_scope, a_personas_facts_are_its_own)
{
    facts f;
    const char *own;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'tone','value':'plain'}");
    own = facts_write(&f, "created", "{'key':'tone','value':'warm','persona_id':'coach'}");
    facts_write(&f, "created",
                "{'key':'d','value':1,'depends_on':['tone'],"
                "'persona_id':'coach'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'tone'}"), "\"plain\"");
    CHECK_STR_EQ(facts_value(&f, "{'key':'tone','persona_id':'coach'}"), "\"warm\"");
    CHECK_STR_EQ(facts_value(&f, "{'key':'tone','persona_id':'clerk'}"), "\"plain\"");
    facts_fail(&f, LOCI_ENOTFOUND, "no fact", "fact.get",
               test_format("{\"id\":\"%s\",\"persona_id\":\"clerk\"}", own));
    facts_fail(&f, LOCI_ENOTFOUND, "no fact", "fact.retract", test_format("{\"id\":\"%s\"}", own));
    facts_fail(&f, LOCI_ENOTFOUND, "no fact", "fact.write",
               test_format("{\"key\":\"x\",\"value\":1,\"supersedes\":\"%s\"}", own));
    /* Nor does it end what is everybody's. */
    facts_fail(&f, LOCI_ENOTFOUND, "no fact \"everybody\"", "fact.write",
               "{'key':'x','value':1,'supersedes':'everybody','persona_id':'coach'}");
    facts_fail(&f, LOCI_ENOTFOUND, "same scope", "fact.write",
               test_format("{\"key\":\"x\",\"value\":1,\"supersedes\":\"%s\","
                           "\"persona_id\":\"coach\"}",
                           facts_current(&f, "tone", "id")));
    facts_close(&f);
}

/* ---- Restrictions ---------------------------------------------------------------------------- */

/* The log is read by many: it tells that something happened, not what a restricted fact says. */
TEST(fact_scope, the_log_does_not_tell_what_is_restricted)
{
    static const char *const secrets[] = {"salary",  "badge",  "ninety",
                                          "hundred", "secret", "too much"};
    loci_str log;
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'salary','value':'ninety','min_read_authority':'manager'}");
    facts_write(&f, "superseded", "{'key':'salary','value':'hundred'}");
    facts_write(&f, "created", "{'key':'badge','value':'secret','required_permission':'hr'}");
    facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    facts_call(&f, "fact.retract", "{'key':'salary','reason':'too much'}");
    facts_call(&f, "fact.retract", "{'key':'city','reason':'we moved'}");
    log = facts_call(&f, "event.list", "{}");
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        CHECK(memmem(log.ptr, log.len, secrets[i], strlen(secrets[i])) == NULL);
    CHECK_STR_EQ(test_member(log, "events.0.restricted"), "true");
    CHECK_STR_EQ(test_member(log, "events.4.type"), "\"fact.retracted\"");
    CHECK_STR_EQ(test_member(log, "events.4.restricted"), "true");
    CHECK_STR_EQ(test_member(log, "events.3.payload.value"), "\"Oslo\"");
    CHECK_STR_EQ(test_member(log, "events.5.payload.reason"), "\"we moved\"");
    facts_close(&f);
}

/* A salary is not for interns, by any way of asking. */
TEST(fact_scope, restricted_facts_are_hidden_as_if_they_were_not_there)
{
    facts f;
    const char *salary;

    facts_open(&f);
    salary = facts_write(&f, "created",
                         "{'key':'salary','value':90,'min_read_authority':'manager'}");
    facts_write(&f, "superseded", "{'key':'salary','value':100}"); /* Still restricted. */
    facts_write(&f, "created", "{'key':'free','value':1}");
    facts_call(&f, "identity.set", "{'user_name':'I','authority':'intern','session_id':'i'}");
    facts_call(&f, "identity.set", "{'user_name':'M','authority':'CEO','session_id':'m'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'salary','session_id':'m'}"), "100");
    CHECK_STR_EQ(facts_value(&f, "{'key':'salary','session_id':'i'}"), "-");
    facts_fail(&f, LOCI_ENOTFOUND, "no fact", "fact.get",
               test_format("{\"id\":\"%s\",\"session_id\":\"i\"}", salary));
    facts_fail(&f, LOCI_ENOTFOUND, "no fact \"salary\"", "fact.history",
               "{'key':'salary','session_id':'i'}");
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.list", "{'session_id':'i'}"), "facts.1"), "");
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.list", "{'session_id':'m'}"), "facts.2"), "");
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.list", "{'session_id':'m'}"), "facts.1.value"),
                 "100");
    facts_fail(&f, LOCI_ENOTFOUND, "depends_on", "fact.write",
               "{'key':'z','value':1,'depends_on':['salary'],'session_id':'i'}");
    facts_fail(&f, LOCI_ENOTFOUND, "salary", "fact.retract", "{'key':'salary','session_id':'i'}");
    /* A token's ceiling counts for reading too, whatever the identity says. */
    f.ceiling = "employee";
    CHECK_STR_EQ(facts_value(&f, "{'key':'salary','session_id':'m'}"), "-");
    f.ceiling = NULL;
    /* Guessing the value does not tell that it was right. */
    facts_write(&f, "created", "{'key':'salary','value':100,'session_id':'i'}");
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.claims", "{'session_id':'i'}"), "claims.0"), "");
    facts_close(&f);
}

TEST(fact_scope, a_permission_must_be_held_exactly)
{
    static const struct {
        const char *permissions;
        bool sees;
    } cases[] = {
        {"[]", false},
        {"[\"hr\"]", true},
        {"[\"a\",\"hr\"]", true},
        {"[\"hr2\",\"xhr\",\"HR\"]", false},
        {"[\"x\\\",\\\"hr\"]", false},
        {"[\"\\\\\",\"hr\"]", true},
    };
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'k','value':1,'required_permission':'hr'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'k'}"), "-");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        facts_call(&f, "identity.set",
                   "{'user_name':'U','authority':'policy','session_id':'s%zu',"
                   "'permissions':%s}",
                   i, cases[i].permissions);
        CHECK_STR_EQ(facts_value(&f, test_format("{\"key\":\"k\",\"session_id\":\"s%zu\"}", i)),
                     cases[i].sees ? "1" : "-");
    }
    facts_write(&f, "superseded",
                "{'key':'k','value':2,'required_permission':'','session_id':'s1'}");
    CHECK_STR_EQ(facts_value(&f, "{'key':'k'}"), "2");
    facts_fail(&f, LOCI_EINVAL, "permissions[0]", "identity.set",
               "{'user_name':'U','authority':'policy','permissions':['']}");
    facts_fail(&f, LOCI_EINVAL, "without quotes", "fact.write",
               "{\"key\":\"k\",\"value\":2,\"required_permission\":\"a\\\"b\"}");
    facts_close(&f);
}
