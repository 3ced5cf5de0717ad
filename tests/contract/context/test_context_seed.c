/* The checklist and the three test vectors of the state-based context's specification. */
#include "contract/context_fixture.h"

#include <string.h>

#include "base/str.h"

/* ---- Checklist ------------------------------------------------------------------------------- */

TEST(context_seed, checklist_layer_separation)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'name','value':'a fact'}");
    facts_call(&f, "working.set", "{'key':'name','value':'a note'}");
    facts_call(&f, "environment.set", "{'key':'name','value':'a signal'}");
    facts_call(&f, "identity.set", "{'user_name':'name','authority':'manager'}");
    /* One key in every layer: none replaces another, and each is read by its own operation. */
    CHECK_STR_EQ(context_text(context_build(&f, "{'query':'name'}")),
                 "The user is name, manager.\n\n"
                 "What is known:\n- name: a fact\n\n"
                 "Notes of this session:\n- name: a note\n\n"
                 "Right now:\n- Current time: 2023-11-14T22:13:00Z\n- name: a signal\n");
    CHECK_STR_EQ(facts_value(&f, "{'key':'name'}"), "\"a fact\"");
    CHECK_STR_EQ(test_member_text(facts_call(&f, "working.get", "{'key':'name'}"), "value"),
                 "a note");
    CHECK_STR_EQ(test_member_text(facts_call(&f, "environment.get", "{'key':'name'}"), "value"),
                 "a signal");
    facts_close(&f);
}

TEST(context_seed, checklist_supersession_tracking)
{
    facts f;
    const char *first, *second;
    loci_str answer;

    facts_open(&f);
    first = facts_write(&f, "created", "{'key':'address','value':'123 Main St'}");
    second = facts_write(&f, "superseded", "{'key':'address','value':'456 Oak Ave'}");
    answer = facts_call(&f, "fact.get", "{'id':'%s'}", first);
    CHECK_STR_EQ(test_member(answer, "is_valid"), "false");
    CHECK_STR_EQ(test_member_text(answer, "superseded_by"), second);
    answer = facts_call(&f, "fact.get", "{'id':'%s'}", second);
    CHECK_STR_EQ(test_member(answer, "is_valid"), "true");
    CHECK_STR_EQ(test_member_text(answer, "supersedes.0"), first);
    facts_close(&f);
}

TEST(context_seed, checklist_valid_only_reads)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    for (int i = 0; i < 20; i++)
        facts_write(&f, i == 0 ? "created" : "superseded",
                    "{'key':'price','value':'price %d euros'}", 100 + i);
    answer = context_build(&f, "{'query':'price 100 euros'}");
    CHECK_EQ(context_facts_in(answer), 1);
    CHECK_EQ(context_count(answer, "superseded"), 19);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(context_shows(answer, test_format("price %d euros", 100 + i)), i == 19);
    facts_close(&f);
}

TEST(context_seed, checklist_authority_awareness)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created",
                "{'key':'salary','value':'90 thousand',"
                "'min_read_authority':'manager'}");
    facts_call(&f, "identity.set", "{'user_name':'I','authority':'intern'}");
    CHECK(!context_shows(context_build(&f, "{'query':'salary'}"), "salary"));
    CHECK(!context_shows(context_build(&f, "{'query':'salary'}"), "90 thousand"));
    facts_close(&f);
}

TEST(context_seed, checklist_temporal_awareness)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created",
                "{'key':'offer','value':'half price',"
                "'valid_until':'2023-11-15T00:00:00Z'}");
    answer = context_build(&f, "{'query':'offer'}");
    CHECK(context_shows(answer, "Current time: 2023-11-14T22:13:00Z"));
    CHECK(context_shows(answer, "half price"));
    f.now_us += 120 * MINUTE_US;
    answer = context_build(&f, "{'query':'offer'}");
    CHECK(context_shows(answer, "Current time: 2023-11-15T00:13:00Z"));
    CHECK(!context_shows(answer, "half price"));
    facts_close(&f);
}

TEST(context_seed, checklist_budget_management)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    for (int i = 0; i < 100; i++)
        facts_write(&f, "created", "{'key':'shelf_%d','value':'holds %d books'}", i, i);
    answer = context_build(&f, "{'query':'Which shelf?','budget':120}");
    CHECK_LT(0, context_facts_in(answer));
    CHECK_EQ(context_facts_in(answer) + context_count(answer, "budget"), 100);
    CHECK_LE(test_member_int(answer, "tokens.total"), 120);
    CHECK(context_shows(answer, "Current time: "));
    facts_close(&f);
}

/* ---- Test vectors ---------------------------------------------------------------------------- */

TEST(context_seed, vector_1_basic_supersession)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'status_v1','value':'approved'}");
    facts_write(&f, "superseded",
                "{'key':'status_v2','value':'cancelled','supersedes':'status_v1'}");
    answer = context_build(&f, "{'query':'What is the current status?'}");
    CHECK(context_shows(answer, "cancelled"));
    CHECK(!context_shows(answer, "approved"));
    facts_close(&f);
}

TEST(context_seed, vector_2_emphatic_repetition)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'order_v1','value':'approved'}");
    for (int i = 0; i < 3; i++)
        facts_call(&f, "fact.observe", "{'text':'The order is approved%s'}",
                   i == 0   ? "."
                   : i == 1 ? "!"
                            : ", I tell you.");
    facts_write(&f, "repeated", "{'key':'order_v1','value':'approved'}");
    facts_write(&f, "superseded", "{'key':'order_v2','value':'cancelled','supersedes':'order_v1'}");
    answer = context_build(&f, "{'query':'Should we proceed with the order?'}");
    CHECK(context_shows(answer, "- order_v2: cancelled\n"));
    CHECK(!context_shows(answer, "approved"));
    facts_close(&f);
}

TEST(context_seed, vector_3_authority_override)
{
    facts f;
    const char *policy;
    loci_str answer;

    facts_open(&f);
    policy = facts_write(&f, "created",
                         "{'key':'policy','value':'max 15%%','source':'CFO',"
                         "'authority':'CFO'}");
    facts_call(&f, "identity.set", "{'user_name':'Kim','authority':'intern'}");
    facts_call(&f, "fact.observe", "{\"text\":\"Let's offer 25%%\"}");
    facts_write(&f, "claimed", "{'key':'policy','value':'max 25%%'}");
    answer = context_build(&f, "{'query':'Can we offer 25%%?'}");
    CHECK(context_shows(answer, "- policy: max 15%"));
    CHECK(!context_shows(answer, "max 25%"));
    CHECK_STR_EQ(context_section(answer, policy), "facts");
    CHECK_EQ(context_count(answer, "claim"), 1);
    CHECK_STR_EQ(facts_current(&f, "policy", "value"), "max 15%");
    facts_close(&f);
}
