/* The facts that a context is made from are kept in memory: they must never be older than the
 * store, whoever wrote there. */
#include "contract/context_fixture.h"

#include <string.h>

#include "base/str.h"

#define ASK "{\"query\":\"city\"}"

TEST(context_index, what_another_engine_writes_is_seen)
{
    facts f, other;
    const char *id;

    facts_open(&f);
    facts_open_store(&other, f.store);
    id = facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    facts_write(&f, "created", "{'key':'trip','value':1,'depends_on':['city']}");
    CHECK(context_shows(context_build(&f, ASK), "- city: Oslo\n"));
    CHECK(context_shows(context_build(&other, ASK), "- city: Oslo\n"));
    facts_write(&other, "superseded", "{'key':'city','value':'Bergen'}");
    CHECK(context_shows(context_build(&f, ASK), "- city: Bergen\n- trip: 1 (unverified)\n"));
    CHECK_STR_EQ(context_section(context_build(&f, ASK), id), "");
    facts_call(&other, "fact.observe", "{'text':'Actually, the city is Paris.'}");
    CHECK(context_shows(context_build(&f, ASK), "- city: Paris\n"));
    facts_call(&other, "fact.retract", "{'key':'city'}");
    CHECK(!context_shows(context_build(&f, ASK), "- city:"));
    facts_write(&other, "created", "{'key':'town','value':'Voss'}");
    CHECK(context_shows(context_build(&f, ASK), "- town: Voss\n"));
    CHECK_STR_EQ(context_build(&f, ASK), context_build(&other, ASK));
    facts_close(&other);
    facts_close(&f);
}

TEST(context_index, a_review_from_elsewhere_shows_at_once)
{
    facts f, other;
    const char *sum;

    facts_open(&f);
    facts_open_store(&other, f.store);
    facts_write(&f, "created", "{'key':'price','value':10}");
    sum = facts_write(&f, "created", "{'key':'sum','value':30,'depends_on':['price']}");
    CHECK(context_shows(context_build(&f, ASK), "- sum: 30\n"));
    facts_call(&other, "fact.retract", "{'key':'price'}");
    CHECK(context_shows(context_build(&f, ASK), "- sum: 30 (unverified)\n"));
    facts_call(&other, "fact.review", "{'id':'%s','action':'confirm'}", sum);
    CHECK(context_shows(context_build(&f, ASK), "- sum: 30\n"));
    facts_call(&other, "fact.review", "{'id':'%s','action':'retract'}", sum);
    CHECK(!context_shows(context_build(&f, ASK), "sum"));
    facts_close(&other);
    facts_close(&f);
}

/* What comes back is older, with the same numbers of events for other things. */
TEST_ON(TEST_FILES, context_index, a_restored_store_is_read_anew)
{
    facts f;
    const char *copy = test_path(test_tmpdir(), "copy.db");

    facts_open(&f);
    facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    facts_call(&f, "store.backup", "{'path':'%s'}", copy);
    facts_write(&f, "superseded", "{'key':'city','value':'Bergen'}");
    facts_write(&f, "created", "{'key':'town','value':'Voss'}");
    CHECK(context_shows(context_build(&f, ASK), "- city: Bergen\n- town: Voss\n"));
    facts_call(&f, "store.restore", "{'path':'%s'}", copy);
    CHECK(context_shows(context_build(&f, ASK), "What is known:\n- city: Oslo\n\n"));
    facts_call(&f, "store.restore", "{'path':'%s'}", copy);
    facts_write(&f, "created", "{'key':'city_2','value':'Moss'}");
    facts_write(&f, "created", "{'key':'city_3','value':'Bodo'}");
    facts_write(&f, "created", "{'key':'city_4','value':'Alta'}");
    CHECK_EQ(context_facts_in(context_build(&f, ASK)), 4);
    CHECK(!context_shows(context_build(&f, ASK), "Bergen"));
    facts_close(&f);
}

/* The same, done by another engine, which this one hears nothing of. */
TEST_ON(TEST_FILES, context_index, a_store_that_another_engine_restored_is_read_anew)
{
    facts f, other;
    const char *copy = test_path(test_tmpdir(), "copy.db");

    facts_open(&f);
    facts_write(&f, "created", "{'key':'city','value':'Oslo'}");
    facts_call(&f, "store.backup", "{'path':'%s'}", copy);
    facts_write(&f, "superseded", "{'key':'city','value':'Bergen'}");
    facts_write(&f, "created", "{'key':'town','value':'Voss'}");
    CHECK(context_shows(context_build(&f, ASK), "- city: Bergen\n- town: Voss\n"));
    facts_open_store(&other, f.store);
    facts_call(&other, "store.restore", "{'path':'%s'}", copy);
    CHECK(context_shows(context_build(&f, ASK), "What is known:\n- city: Oslo\n\n"));
    /* As many events as before, and then more. */
    for (int i = 2; i < 6; i++) {
        loci_str answer;

        facts_write(&other, "created", "{'key':'k%d','value':%d}", i, i);
        answer = context_build(&f, ASK);
        CHECK_EQ(context_facts_in(answer), i);
        CHECK(context_shows(answer, "- city: Oslo\n"));
        CHECK(!context_shows(answer, "Voss"));
        CHECK_STR_EQ(context_build(&other, ASK), answer);
    }
    facts_close(&other);
    facts_close(&f);
}

TEST(context_index, a_rebuild_changes_nothing)
{
    facts f;
    loci_str before;

    facts_open(&f);
    for (int i = 0; i < 30; i++)
        facts_write(&f, i < 10 ? "created" : "superseded", "{'key':'city_%d','value':'place %d'}",
                    i % 10, i);
    before = context_build(&f, ASK);
    facts_call(&f, "store.rebuild", "{}");
    CHECK_STR_EQ(context_build(&f, ASK), before);
    facts_write(&f, "superseded", "{'key':'city_3','value':'elsewhere'}");
    CHECK(context_shows(context_build(&f, ASK), "- city_3: elsewhere\n"));
    CHECK_EQ(context_facts_in(context_build(&f, ASK)), 10);
    facts_close(&f);
}

/* So many facts end that the index is made again; between, it follows. */
TEST(context_index, many_changes_of_few_facts_are_followed)
{
    facts f;

    facts_open(&f);
    for (int i = 0; i < 1200; i++) {
        facts_write(&f, i < 5 ? "created" : "superseded", "{'key':'city_%d','value':'place %d'}",
                    i % 5, i);
        if (i % 100 == 99) {
            loci_str answer = facts_call(&f, "context.build", ASK);

            CHECK_EQ(context_facts_in(answer), 5);
            CHECK_EQ(context_count(answer, "superseded"), i - 4);
            for (int k = 0; k < 5; k++)
                CHECK(context_shows(answer, test_format(": place %d\n", i - k)));
        }
    }
    facts_close(&f);
}

/* More users than the cache has places for. */
TEST(context_index, every_user_has_its_own_however_many_there_are)
{
    facts f;

    facts_open(&f);
    for (int i = 0; i < 80; i++)
        facts_write(&f, "created", "{'user_id':'u%d','key':'city','value':'place %d'}", i, i);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 80; i++) {
            loci_str answer = facts_call(&f, "context.build", "{'user_id':'u%d','query':'city'}",
                                         i);

            CHECK(context_shows(answer, test_format("What is known:\n- city: place %d\n\n", i)));
            CHECK_EQ(context_facts_in(answer), 1);
        }
    facts_close(&f);
}

/* The index of a running engine has places of messages that were taken back; one that is built
 * again has not. Both must count and rank the same. */
TEST(context_index, withdrawn_messages_are_not_counted)
{
    static const char *const args = "{'query':'zebra','relevant_only':true,'persona_id':'coach'}";
    facts warm, cold;
    const char *first;
    loci_str answer;

    facts_open(&warm);
    facts_call(&warm, "session.append",
               "{'role':'user','text':'We meet at noon.','persona_id':'coach'}");
    answer = facts_call(&warm, "session.append", "{'role':'user','text':'The sun is out.'}");
    first = test_format("%s", test_member_text(answer, "message_id").ptr);
    for (int i = 0; i < 5; i++)
        facts_call(&warm, "session.append", "{'role':'user','text':'Line %d of a song'}", i);
    answer = context_build(&warm, "%s", args);
    CHECK_EQ(context_count(answer, "irrelevant"), 7);
    facts_call(&warm, "session.rewind", "{'message_id':'%s'}", first);
    answer = context_build(&warm, "%s", args);
    CHECK_EQ(context_count(answer, "irrelevant"), 2);
    facts_open_store(&cold, warm.store);
    CHECK_STR_EQ(context_build(&cold, "%s", args), answer);
    facts_close(&cold);
    facts_close(&warm);
}
