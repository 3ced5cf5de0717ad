/* Messages: several at once, metadata, tokens, turns and what is kept over all sessions. */
#include "contract/fact_fixture.h"

#include "base/buf.h"
#include "base/str.h"

/* ---- Several at once ------------------------------------------------------------------------- */

TEST(session_append, several_messages_are_appended_together_or_not_at_all)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    answer = facts_call(&f, "session.append",
                        "{'session_id':'s','messages':[{'role':'user','text':'One'},"
                        "{'role':'assistant','content':'Two','speaker':'Bot'},"
                        "{'role':'user','text':'Three','at':'2020-01-01T00:00:00Z'}]}");
    CHECK_EQ(test_member_int(answer, "messages.2.seq") - test_member_int(answer, "messages.0.seq"),
             2);
    CHECK_STR_EQ(test_member(answer, "message_id"), test_member(answer, "messages.2.message_id"));
    answer = facts_call(&f, "session.messages", "{'session_id':'s'}");
    CHECK_STR_EQ(test_member_text(answer, "messages.1.speaker"), "Bot");
    CHECK_STR_EQ(test_member_text(answer, "messages.2.at"), "2020-01-01T00:00:00Z");
    /* Whatever is wrong with one of them is said with its place, and none is stored. */
    facts_fail(&f, LOCI_EINVAL, "messages.1: role: expected one of user, assistant",
               "session.append",
               "{'messages':[{'role':'user','text':'x'},{'role':'boss','text':'y'}]}");
    facts_fail(&f, LOCI_EINVAL, "messages.0: missing parameter \"text\"", "session.append",
               "{'messages':[{'role':'user'}]}");
    facts_fail(&f, LOCI_EINVAL, "messages.0: unknown parameter \"txt\"", "session.append",
               "{'messages':[{'role':'user','txt':'x'}]}");
    facts_fail(&f, LOCI_EINVAL, "messages.0: at:", "session.append",
               "{'messages':[{'role':'user','text':'x','at':'yesterday'}]}");
    facts_fail(&f, LOCI_EINVAL, "messages.0: expected an object", "session.append",
               "{'messages':['x']}");
    facts_fail(&f, LOCI_EINVAL, "array of 1 to 100", "session.append", "{'messages':[]}");
    facts_fail(&f, LOCI_EINVAL, "text or messages", "session.append", "{'role':'user'}");
    facts_fail(&f, LOCI_EINVAL, "text: needs role as well", "session.append", "{'text':'x'}");
    facts_fail(&f, LOCI_EINVAL, "text or messages, not both", "session.append",
               "{'role':'user','text':'x','messages':[{'role':'user','text':'y'}]}");
    facts_close(&f);
}

/* A message that is too large is refused whole; what was said before stays, and the next one is
 * stored. An ended session is not continued: its name begins another one. */
TEST(session_append, bad_input_loses_nothing)
{
    static const struct {
        int bytes;
        loci_status status;
        const char *message;
    } large[] = {{5 << 20, LOCI_ELIMIT, "at most 4194304"},
                 {1 << 20, LOCI_EINVAL, "text: expected a string of 1 to 524288 bytes"}};
    facts f;
    loci_str first, answer;

    facts_open(&f);
    first = facts_call(&f, "session.append", "{'session_id':'s','role':'user','text':'One'}");
    for (size_t i = 0; i < 2; i++)
        facts_fail(
            &f, large[i].status, large[i].message, "session.append",
            test_format("{'session_id':'s','role':'user','text':'%0*d'}", large[i].bytes, 1));
    facts_fail(&f, LOCI_EINVAL, "role: expected one of user, assistant", "session.append",
               "{'session_id':'s','role':'narrator','text':'x'}");
    /* Times may go back: the order is that of the log. */
    facts_call(&f, "session.append",
               "{'session_id':'s','role':'user','text':'Two','at':'2020-01-01T00:00:00Z'}");
    facts_call(&f, "session.append",
               "{'session_id':'s','role':'user','text':'Three','at':'2019-01-01T00:00:00Z'}");
    answer = facts_call(&f, "session.messages", "{'session_id':'s'}");
    CHECK_STR_EQ(test_member_text(answer, "messages.1.text"), "Two");
    CHECK_STR_EQ(test_member_text(answer, "messages.2.text"), "Three");
    CHECK_STR_EQ(test_member(answer, "messages.3"), "");

    facts_call(&f, "session.close", "{'session_id':'s'}");
    answer = facts_call(&f, "session.append", "{'session_id':%s,'role':'user','text':'Four'}",
                        test_member(first, "session_id").ptr);
    CHECK(
        !lc_str_eq(test_member_text(answer, "session_id"), test_member_text(first, "session_id")));
    answer = facts_call(&f, "session.get", "{'session_id':'s'}");
    CHECK_STR_EQ(test_member_text(answer, "state"), "active");
    CHECK_EQ(test_member_int(answer, "turn_count"), 1);
    answer = facts_call(&f, "session.messages", "{'session_id':%s}",
                        test_member(first, "session_id").ptr);
    CHECK_STR_EQ(test_member_text(answer, "messages.2.text"), "Three");
    CHECK_STR_EQ(test_member(answer, "messages.3"), "");
    facts_close(&f);
}

TEST(session_append, a_hundred_messages_are_the_most)
{
    lc_heap heap;
    lc_buf args;
    facts f;

    facts_open(&f);
    lc_heap_init(&heap, test_heap());
    for (int count = 99; count <= 101; count++) {
        loci_str answer;
        loci_status status;

        lc_buf_init(&args, &heap, LOCI_MEM_REQUESTS, 1 << 20);
        lc_buf_append_format(&args, "{\"messages\":[");
        for (int i = 0; i < count; i++)
            lc_buf_append_format(&args, "%s{\"role\":\"user\",\"text\":\"%d\"}", i > 0 ? "," : "",
                                 i);
        lc_buf_append_format(&args, "]}");
        lc_buf_append_byte(&args, '\0');
        status = facts_try(&f, "session.append", &answer, args.ptr);
        CHECK_STATUS(count <= 100 ? LOCI_OK : LOCI_EINVAL, status);
        lc_buf_clear(&args);
    }
    CHECK_EQ(test_store_number(f.store, "select count(*) from messages"), 199);
    facts_close(&f);
}

/* Messages that were stored before are passed over one by one, also within one call. */
TEST(session_append, external_ids_are_used_once_within_a_call)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "session.append",
               "{'role':'user','text':'One','external_id':'1','session_id':'s'}");
    answer = facts_call(&f, "session.append",
                        "{'session_id':'s','messages':[{'role':'user','text':'One',"
                        "'external_id':'1'},{'role':'user','text':'Two','external_id':'2'},"
                        "{'role':'user','text':'Two','external_id':'2'}]}");
    CHECK_STR_EQ(test_member(answer, "messages.0.repeated"), "true");
    CHECK_STR_EQ(test_member(answer, "messages.1.repeated"), "");
    CHECK_STR_EQ(test_member(answer, "messages.2.repeated"), "true");
    CHECK_STR_EQ(test_member(answer, "messages.2.message_id"),
                 test_member(answer, "messages.1.message_id"));
    CHECK_EQ(test_store_number(f.store, "select count(*) from messages"), 2);
    facts_close(&f);
}

/* ---- Metadata and tokens --------------------------------------------------------------------- */

TEST(session_append, metadata_is_kept_as_given_and_asked_for_by_equality)
{
    facts f;
    loci_str answer;
    char *large = (char *)test_format("{'role':'user','text':'x','metadata':{'a':'%*s'}}", 16384,
                                      "");

    facts_open(&f);
    facts_call(&f, "session.open", "{'external_id':'s','metadata':{'project':'loci','n':1.0}}");
    facts_call(&f, "session.open", "{'external_id':'t'}");
    facts_call(&f, "session.append",
               "{'session_id':'s','role':'user','text':'a','metadata':{'z':1,'a':{'b':[1]}}}");
    facts_call(&f, "session.append",
               "{'session_id':'s','role':'user','text':'b','metadata':{'z':2}}");
    facts_call(&f, "session.append", "{'session_id':'s','role':'assistant','text':'c'}");
    answer = facts_call(&f, "session.messages", "{'session_id':'s'}");
    CHECK_STR_EQ(test_member(answer, "messages.0.metadata"), "{\"z\":1,\"a\":{\"b\":[1]}}");
    answer = facts_call(&f, "session.messages", "{'session_id':'s','metadata':{'z':2}}");
    CHECK_STR_EQ(test_member_text(answer, "messages.0.text"), "b");
    CHECK_STR_EQ(test_member(answer, "messages.1"), "");
    answer = facts_call(&f, "session.messages",
                        "{'session_id':'s','metadata':{'a':{'b':[1]},'z':1}}");
    CHECK_STR_EQ(test_member_text(answer, "messages.0.text"), "a");
    CHECK_STR_EQ(test_member(answer, "messages.1"), "");
    answer = facts_call(&f, "session.messages", "{'session_id':'s','role':'assistant','limit':1}");
    CHECK_STR_EQ(test_member_text(answer, "messages.0.text"), "c");
    CHECK_STR_EQ(test_member(answer, "next_cursor"), "null");
    answer = facts_call(&f, "session.list", "{'metadata':{'project':'loci'}}");
    CHECK_STR_EQ(test_member_text(answer, "sessions.0.external_id"), "s");
    CHECK_STR_EQ(test_member(answer, "sessions.1"), "");
    /* That of an open session stays as it is. */
    answer = facts_call(&f, "session.open", "{'external_id':'s','metadata':{'project':'x'}}");
    CHECK_STR_EQ(test_member_text(answer, "metadata.project"), "loci");
    facts_fail(&f, LOCI_EINVAL, "the maximum is 16384", "session.append", large);
    facts_fail(&f, LOCI_EINVAL, "metadata", "session.append",
               "{'role':'user','text':'x','metadata':[1]}");
    /* Forgetting a session erases its metadata, also without a name. */
    facts_call(&f, "session.forget", "{'session_id':'s'}");
    answer = facts_call(&f, "session.open", "{'metadata':{'word':'xylophone'}}");
    facts_call(&f, "session.forget", "{'session_id':%s}", test_member(answer, "id").ptr);
    CHECK_EQ(
        test_store_number(f.store, "select count(*) from events where payload like '%xylophone%'"),
        0);
    facts_close(&f);
}

TEST(session_append, messages_have_their_number_of_tokens)
{
    facts f;
    loci_str counted, answer;

    facts_open(&f);
    counted = facts_call(&f, "text.count", "{'text':'The harbour opens at nine.'}");
    facts_call(&f, "session.append", "{'role':'user','text':'The harbour opens at nine.'}");
    facts_call(&f, "session.append",
               "{'role':'user','text':'The harbour opens at nine.','estimate':true}");
    facts_call(&f, "fact.observe", "{'text':'The harbour opens at nine.'}");
    answer = facts_call(&f, "session.messages", "{}");
    for (int i = 0; i < 3; i += 2) {
        CHECK_STR_EQ(test_member(answer, test_format("messages.%d.tokens", i)),
                     test_member(counted, "tokens"));
        CHECK_STR_EQ(test_member(answer, test_format("messages.%d.estimated", i)),
                     lc_str_is(test_member(counted, "estimated"), "true") ? "true" : "");
    }
    CHECK(test_member_int(answer, "messages.1.tokens") > 0);
    CHECK_STR_EQ(test_member(answer, "messages.1.estimated"), "true");
    facts_close(&f);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static void check_counts(facts *f, const char *args, int64_t turns, int64_t messages,
                         const char *last)
{
    loci_str answer = facts_call(f, "session.get", "%s", args);

    CHECK_EQ(test_member_int(answer, "turn_count"), turns);
    CHECK_EQ(test_member_int(answer, "session_state.message_count"), messages);
    CHECK_STR_EQ(test_member(answer, "session_state.last_user_message"), last);
}

/* The seed's timeline: turns begin again with each session, the messages of user and persona are
 * counted for ever. Answers and tool output belong to the turn before them. */
TEST(session_turns, user_messages_are_counted_per_session_and_for_ever)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "session.append", "{'role':'user','text':'One','persona_id':'coach'}");
    check_counts(&f, "{\"persona_id\":\"coach\"}", 1, 1, "\"One\"");
    facts_call(&f, "session.append", "{'role':'assistant','text':'x','persona_id':'coach'}");
    facts_call(&f, "session.append", "{'role':'tool','text':'y','persona_id':'coach'}");
    f.now_us += MINUTE_US;
    facts_call(&f, "fact.observe", "{'text':'Two','persona_id':'coach'}");
    check_counts(&f, "{\"persona_id\":\"coach\"}", 2, 2, "\"Two\"");
    answer = facts_call(&f, "session.get", "{'persona_id':'coach'}");
    CHECK_STR_EQ(test_member_text(answer, "session_state.last_interaction"),
                 "2023-11-14T22:14:20Z");
    f.now_us += 36 * MINUTE_US;
    facts_call(&f, "session.append", "{'role':'user','text':'Back','persona_id':'coach'}");
    check_counts(&f, "{\"persona_id\":\"coach\"}", 1, 3, "\"Back\"");
    /* Another persona, and nobody's, begin at 0. */
    answer = facts_call(&f, "session.open", "{}");
    CHECK_EQ(test_member_int(answer, "session_state.message_count"), 0);
    CHECK_STR_EQ(test_member(answer, "session_state.last_interaction"), "null");
    check_counts(&f, "{}", 0, 0, "null");
    answer = facts_call(&f, "session.append", "{'role':'user','text':'%0300d'}", 1);
    answer = facts_call(&f, "session.get", "{}");
    CHECK_EQ(test_member_text(answer, "session_state.last_user_message").len, 200);
    facts_close(&f);
}

TEST(session_turns, the_state_has_the_last_run_of_the_curator)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "memory.store", "{'text':'I like jazz'}");
    facts_call(&f, "memory.curate", "{'dry_run':true}");
    answer = facts_call(&f, "session.get", "{}");
    CHECK_STR_EQ(test_member(answer, "session_state.curator"), "null");
    facts_call(&f, "memory.curate", "{}");
    answer = facts_call(&f, "session.get", "{}");
    CHECK_EQ(test_member_int(answer, "session_state.curator.last_memory_count_at_run"), 1);
    CHECK_STR_EQ(test_member_text(answer, "session_state.curator.last_run_at"),
                 "2023-11-14T22:13:20Z");
    facts_close(&f);
}

/* What is forgotten is not counted, and not shown as the last message. */
TEST(session_turns, counts_go_down_with_what_is_forgotten)
{
    facts f;
    const char *second;
    loci_str answer;

    facts_open(&f);
    facts_call(&f, "session.append", "{'role':'user','text':'One','session_id':'a'}");
    answer = facts_call(&f, "session.append", "{'role':'user','text':'Two','session_id':'a'}");
    second = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "message_id")));
    facts_call(&f, "session.append", "{'role':'assistant','text':'x','session_id':'a'}");
    facts_call(&f, "session.forget", "{'message_id':'%s'}", second);
    check_counts(&f, "{\"session_id\":\"a\"}", 1, 1, "\"One\"");
    facts_call(&f, "session.append", "{'role':'user','text':'Three','session_id':'b'}");
    facts_call(&f, "session.append",
               "{'role':'user','text':'Four','session_id':'b','persona_id':'coach'}");
    check_counts(&f, "{\"session_id\":\"b\"}", 2, 2, "\"Three\"");
    facts_call(&f, "session.forget", "{'session_id':'b'}"); /* Not the persona's. */
    check_counts(&f, "{\"session_id\":\"b\"}", 1, 1, "\"One\"");
    facts_call(&f, "session.forget", "{'session_id':'a'}");
    check_counts(&f, "{\"session_id\":\"b\"}", 1, 0, "null");
    facts_close(&f);
}

/* ---- Reading after the end ------------------------------------------------------------------- */

TEST(session_list, a_session_is_read_by_its_name_after_it_ended)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    for (int i = 0; i < 3; i++) {
        facts_call(&f, "session.append", "{'role':'user','text':'%d','session_id':'s'}", i);
        facts_call(&f, "session.close", "{'session_id':'s'}");
        f.now_us += MINUTE_US;
    }
    answer = facts_call(&f, "session.get", "{'session_id':'s'}");
    CHECK_STR_EQ(test_member_text(answer, "state"), "ended");
    answer = facts_call(&f, "session.messages", "{'session_id':'s'}");
    CHECK_STR_EQ(test_member_text(answer, "messages.0.text"), "2");
    facts_call(&f, "session.open", "{'external_id':'t'}");
    answer = facts_call(&f, "session.list", "{'external_id':'s','limit':2}");
    CHECK_STR_EQ(test_member_text(answer, "sessions.1.external_id"), "s");
    answer = facts_call(&f, "session.list", "{'external_id':'s','limit':2,'cursor':%s}",
                        test_member(answer, "next_cursor").ptr);
    CHECK_STR_EQ(test_member(answer, "sessions.1"), "");
    CHECK_STR_EQ(test_member(answer, "next_cursor"), "null");
    answer = facts_call(&f, "session.list", "{'state':'active'}");
    CHECK_STR_EQ(test_member_text(answer, "sessions.0.external_id"), "t");
    CHECK_STR_EQ(test_member(answer, "sessions.1"), "");
    answer = facts_call(&f, "session.list",
                        "{'from':'2023-11-14T22:14:00Z','to':'2023-11-14T22:15:00Z'}");
    CHECK_STR_EQ(test_member_text(answer, "sessions.0.opened_at"), "2023-11-14T22:14:20Z");
    CHECK_STR_EQ(test_member(answer, "sessions.1"), "");
    facts_close(&f);
}
