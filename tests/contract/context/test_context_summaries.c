/* Summaries in a context: which ones, once, and never one of something that is not to be shown. */
#include "contract/context_fixture.h"

#include <string.h>

#include "base/str.h"

/* Each long enough that the budget of the tests cannot hold all of them. */
static const char *const talk[] = {
    "I'm planning the summer party of our office in Lisbon.",
    "The budget is now $4,000.",
    "I'll call the caterer on Friday.",
    "My colleague Priya books the band.",
    "We decided to hold the party on June 12.",
    "I need to find a photographer before May.",
    "The venue is the Blue Boat near the harbour.",
    "Let's go with the vegetarian menu.",
};

static void say(facts *f, int count, const char *more)
{
    for (int i = 0; i < count; i++) {
        facts_call(f, "session.append", "{'role':'user','text':'%s'%s}",
                   talk[(size_t)i % (sizeof talk / sizeof *talk)], more);
        f->now_us += MINUTE_US / 2;
    }
}

static loci_str brief(facts *f, const char *more)
{
    return context_build(f, "{'query':'','brief':true%s}", more);
}

TEST(context_summaries, a_brief_resumes_the_last_session)
{
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    facts_call(&f, "memory.store", "{'text':'Prefers trains to planes','type':'profile'}");
    facts_call(&f, "memory.store", "{'text':'Answer in French','pinned':true}");
    facts_call(&f, "todo.add", "{'text':'Buy balloons'}");
    facts_call(&f, "fact.write", "{'key':'limit','value':'100 EUR','is_constraint':true}");
    facts_call(&f, "fact.write", "{'key':'city','value':'Oslo'}");
    say(&f, 20, "");
    facts_call(&f, "session.close", "{}");
    say(&f, 4, "");
    answer = brief(&f, "");
    CHECK(context_shows(answer, "- Session so far: "));
    CHECK(context_shows(answer, "- Last session ("));
    CHECK(context_shows(answer, "Promised: I'll call the caterer on Friday."));
    CHECK(context_shows(answer, "- About the user: Prefers trains to planes."));
    CHECK(context_shows(answer, "- limit: 100 EUR"));
    CHECK(context_shows(answer, "- Answer in French"));
    CHECK(context_shows(answer, "- Buy balloons"));
    CHECK(context_shows(answer, "- Current time: "));
    CHECK(!context_shows(answer, "Oslo"));
    CHECK_EQ(context_in(answer, "summaries"), 3);
    CHECK_EQ(context_in(answer, "conversation"), 0);
    /* A session that starts has a name, too: the last one is resumed in it. */
    CHECK_EQ(context_in(brief(&f, ",\"session_id\":\"new\""), "summaries"), 3);
    /* A question within a session is about that session. */
    answer = context_build(&f, "{'query':'x','session_id':'new','sections':'summaries'}");
    CHECK(!context_shows(answer, "Last session"));
    CHECK_EQ(context_in(brief(&f, ",\"sections\":[\"todos\"]"), "summaries"), 0);
    facts_close(&f);
}

TEST(context_summaries, a_brief_has_an_empty_query)
{
    facts f;

    facts_open(&f);
    facts_fail(&f, LOCI_EINVAL, "leave brief out", "context.build", "{'brief':true,'query':'x'}");
    facts_fail(&f, LOCI_EINVAL, "leave brief out", "context.build",
               "{'query':'','brief':true,'relevant_only':true}");
    facts_close(&f);
}

/* The same text twice wastes the budget and looks like two statements. */
TEST(context_summaries, nothing_is_shown_in_two_sections)
{
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    facts_call(&f, "memory.store", "{'text':'Prefers trains to planes','type':'profile'}");
    facts_call(&f, "todo.add", "{'text':'Buy balloons'}");
    say(&f, 20, "");
    /* The messages are all shown, and the memory, and the todo. */
    answer = context_build(&f, "{'query':'','budget':4000}");
    CHECK(strstr(strstr(context_text(answer), "trains to planes") + 1, "trains to planes") == NULL);
    CHECK(strstr(strstr(context_text(answer), "balloons") + 1, "balloons") == NULL);
    /* After the end of the session its last rolling summary is not needed. */
    facts_call(&f, "session.close", "{}");
    answer = brief(&f, "");
    CHECK(!context_shows(answer, "Session so far"));
    CHECK_EQ(context_count(answer, "duplicate"), 1);
    /* Those of a session that the model has are left out. */
    say(&f, 4, ",\"session_id\":\"mine\"");
    CHECK(context_shows(brief(&f, ""), "Session so far"));
    CHECK(!context_shows(brief(&f, ",\"without_session\":\"mine\""), "Session so far"));
    facts_close(&f);
}

TEST(context_summaries, what_is_not_to_be_shown_is_in_no_summary)
{
    facts f;
    loci_str last, memory, answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    memory = facts_call(&f, "memory.store", "{'text':'Likes CANARYTEA','type':'profile'}");
    facts_call(&f, "session.append",
               "{'role':'user','text':'[RESTRICTED to VP+] We decided to hire"
               " the CANARYBAND for the party.'}");
    say(&f, 20, "");
    answer = brief(&f, "");
    CHECK(context_shows(answer, "Likes CANARYTEA"));
    CHECK(!context_shows(answer, "CANARYBAND"));
    facts_call(&f, "memory.archive", "{'id':'%.*s'}", LC_STR_ARG(test_member_text(memory, "id")));
    CHECK(!context_shows(brief(&f, ""), "CANARYTEA"));
    /* Of another persona. */
    say(&f, 4, ",\"persona_id\":\"coach\"");
    facts_call(&f, "session.append",
               "{'role':'user','text':'We decided to hire the CANARYDOG for"
               " the party in June.','persona_id':'coach'}");
    facts_call(&f, "session.close", "{'persona_id':'coach'}");
    CHECK(!context_shows(brief(&f, ""), "CANARYDOG"));
    CHECK(context_shows(brief(&f, ",\"persona_id\":\"coach\""), "CANARYDOG"));
    /* Withdrawn. */
    last = facts_call(&f, "session.append", "{'role':'user','text':'This message stays.'}");
    facts_call(&f, "session.append",
               "{'role':'user','text':'We decided to hire the CANARYCAT for June.'}");
    say(&f, 4, "");
    CHECK(context_shows(brief(&f, ""), "CANARYCAT"));
    facts_call(&f, "session.rewind", "{'message_id':'%.*s'}",
               LC_STR_ARG(test_member_text(last, "message_id")));
    CHECK(!context_shows(brief(&f, ""), "CANARYCAT"));
    facts_close(&f);
}

/* A summary is older than the fact: it must not bring the old value back. */
TEST(context_summaries, a_value_that_was_replaced_is_cut_out)
{
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    facts_call(&f, "fact.write", "{'key':'budget','value':'$4,000'}");
    say(&f, 8, "");
    CHECK(context_shows(brief(&f, ""), "$4,000"));
    facts_call(&f, "fact.write", "{'key':'budget','value':'$6,000'}");
    answer = context_build(&f, "{'query':'budget','budget':2000}");
    CHECK(!context_shows(answer, "$4,000"));
    answer = brief(&f, "");
    CHECK(!context_shows(answer, "$4,000"));
    CHECK(context_shows(answer, "June 12"));
    facts_close(&f);
}

/* A memory that the judge made says what its message says, and is out of date with it. */
TEST(context_summaries, a_learned_memory_with_a_replaced_value_is_not_shown)
{
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    facts_call(&f, "fact.write", "{'key':'launch_date','value':'3 March'}");
    facts_call(&f, "session.append", "{'role':'user','text':'The launch date is 3 March.'}");
    f.now_us += MINUTE_US;
    answer = facts_call(&f, "memory.recall", "{'query':'launch date'}");
    CHECK_STR_EQ(test_member_text(answer, "results.0.text"), "The launch date is 3 March");
    facts_call(&f, "session.append",
               "{'role':'user','text':'Update: the launch date is now 17 March.'}");
    answer = context_build(&f, "{'query':'When is the launch date?','budget':2000}");
    CHECK(context_shows(answer, "launch_date: 17 March"));
    CHECK(!context_shows(answer, "is 3 March"));
    /* Also without the conversation. */
    answer = context_build(&f, "{'query':'When is the launch date?','sections':['memories']}");
    CHECK(!context_shows(answer, "is 3 March"));
    facts_close(&f);
}

/* A relevant message is compared with as many lost values as a recent one. */
TEST(context_summaries, a_relevant_message_with_a_value_that_was_replaced_long_ago_is_not_shown)
{
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    facts_call(&f, "session.append", "{'role':'user','text':'The rowing club meets in Bergen.'}");
    facts_call(&f, "fact.write", "{'key':'rowing_club','value':'Bergen'}");
    facts_call(&f, "fact.write", "{'key':'rowing_club','value':'Oslo'}");
    for (int i = 0; i < 30; i++)
        facts_call(&f, "fact.write", "{'key':'level','value':%d}", i);
    answer = context_build(&f, "{'query':'Where does the rowing club meet?'}");
    CHECK(!context_shows(answer, "Bergen"));
    answer = context_build(&f, "{'query':'Where does the rowing club meet?','relevant_only':true}");
    CHECK(context_shows(answer, "rowing_club: Oslo"));
    CHECK(!context_shows(answer, "Bergen"));
    facts_close(&f);
}

/* A message that must not be shown is not a reason to repeat the others in a summary. */
TEST(context_summaries, one_of_shown_and_replaced_messages_is_left_out)
{
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    facts_call(&f, "fact.write", "{'key':'budget','value':'$4,000'}");
    say(&f, 4, "");
    facts_call(&f, "fact.write", "{'key':'budget','value':'$6,000'}");
    CHECK(context_shows(brief(&f, ""), "Session so far"));
    answer = context_build(&f, "{'query':'','budget':4000}");
    CHECK(context_shows(answer, "caterer"));
    CHECK(!context_shows(answer, "Session so far"));
    facts_close(&f);
}

/* An interruption that the query is not about would come back in the summary of the session. */
TEST(context_summaries, one_does_not_bring_back_messages_that_are_not_about_the_query)
{
    static const char *const said[] = {
        "The review of the contract with Nordwind found two open questions.",
        "I promised Nordwind an answer about the contract by Friday.",
        "Hold on, the architecture meeting starts.",
        "They chose Kafka as the message broker.",
        "The migration of the warehouse begins in spring.",
        "Back to the contract with Nordwind.",
        "Legal wants to read the contract once more.",
        "Nordwind asked for a shorter notice period in the contract.",
    };
    facts f;
    loci_str answer;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        facts_call(&f, "session.append", "{'role':'user','text':'%s'}", said[i]);
        f.now_us += MINUTE_US;
    }
    CHECK(context_shows(brief(&f, ""), "Kafka")); /* The summary has it. */
    answer = context_build(&f, "{'query':'When does Nordwind get an answer about the contract?'}");
    CHECK(context_shows(answer, "by Friday"));
    CHECK(!context_shows(answer, "Kafka"));
    CHECK_EQ(context_in(answer, "summaries"), 0);
    facts_close(&f);
}

TEST(context_summaries, a_kept_one_is_checked)
{
    facts f;
    loci_str answer, id;

    facts_open_store(&f, test_store(test_tmpdir(), "store.db"));
    say(&f, 4, "");
    answer = brief(&f, ",\"keep\":true");
    id = test_member_text(answer, "context_id");
    answer = facts_call(&f, "context.check", "{'context_id':'%.*s'}", LC_STR_ARG(id));
    CHECK_STR_EQ(test_member(answer, "is_current"), "true");
    say(&f, 4, "");
    answer = facts_call(&f, "context.check", "{'context_id':'%.*s'}", LC_STR_ARG(id));
    CHECK_STR_EQ(test_member_text(answer, "stale.0.reason"), "superseded");
    CHECK(test_member_text(answer, "stale.0.now_id").len > 0);
    facts_close(&f);
}
