/* Summaries: when they are made, what they say, and that nothing forgotten stays in them. Jobs run
 * inside the call that causes them. */
#include "contract/fact_fixture.h"
#include "lib/provider.h"

#include <stdatomic.h>
#include <string.h>

#include "base/id.h"
#include "base/str.h"
#include "base/utf8.h"

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
#define TALK_COUNT (sizeof talk / sizeof *talk)

static void facts_open_here(facts *f)
{
    facts_open_store(f, test_store(test_tmpdir(), "store.db"));
}

static void say(facts *f, int count)
{
    for (int i = 0; i < count; i++) {
        facts_call(f, "session.append", "{'role':'user','speaker':'Ann','text':'%s'}",
                   talk[(size_t)i % TALK_COUNT]);
        facts_call(f, "session.append", "{'role':'assistant','text':'Noted, number %d.'}", i);
        f->now_us += MINUTE_US / 2;
    }
}

static int64_t count_of(facts *f, const char *kind)
{
    return test_store_number(f->store,
                             test_format("select count(*) from summaries where kind = '%s'", kind));
}

/* A turn is a user message with what follows it: eight messages of two speakers are four turns. */
TEST(summary, a_rolling_summary_is_made_every_four_turns)
{
    facts f;
    loci_str answer, text;

    facts_open_here(&f);
    say(&f, 3);
    CHECK_EQ(count_of(&f, "rolling"), 0);
    say(&f, 1);
    CHECK_EQ(count_of(&f, "rolling"), 1);
    say(&f, 8);
    CHECK_EQ(count_of(&f, "rolling"), 3);
    answer = facts_call(&f, "summary.get", "{'kind':'rolling'}");
    text = test_member_text(answer, "text");
    CHECK_EQ(test_member_int(answer, "version"), 3);
    CHECK_EQ(test_member_int(answer, "turn_count"), 12);
    CHECK(lc_utf8_count(text) <= 600);
    CHECK(memmem(text.ptr, text.len, "Ann: ", 5) != NULL);
    CHECK(memmem(text.ptr, text.len, "$4,000", 6) != NULL);
    CHECK(lc_id_is(test_member_text(answer, "sources.0"), "msg"));
    facts_close(&f);
}

/* Agents resume from this: a summary that is missing or of another session misleads them. */
TEST(summary, a_session_that_ends_is_summarised_for_the_next_one)
{
    facts f;
    loci_str answer;

    facts_open_here(&f);
    say(&f, 8);
    facts_call(&f, "session.close", "{}");
    answer = facts_call(&f, "session.open", "{}");
    CHECK_STR_EQ(test_member_text(answer, "session_summary.kind"), "session");
    CHECK(test_member_text(answer, "session_summary.content.one_liner").len > 0);
    CHECK(test_member_text(answer, "session_summary.content.what_mattered.0").len > 0);
    CHECK_STR_EQ(test_member_text(answer, "session_summary.content.commitments.0"),
                 "I'll call the caterer on Friday.");
    CHECK_STR_EQ(test_member_text(answer, "session_summary.content.open_loops.0"),
                 "I need to find a photographer before May.");
    CHECK_STR_EQ(test_member_text(answer, "session_summary.content.people.1"), "Priya");
    CHECK_STR_EQ(test_member_text(answer, "session_summary.content.tone"), "neutral");
    CHECK_STR_EQ(test_member_text(answer, "rolling_summary.kind"), "rolling");
    /* A session in which nothing was said has no summary. */
    facts_call(&f, "session.close", "{}");
    CHECK_EQ(count_of(&f, "session"), 1);
    facts_close(&f);
}

/* The summary is made by a job: until it has run, the answer says so. */
TEST(summary, a_summary_that_is_being_made_is_pending)
{
    facts f;
    loci_str answer;

    facts_open_here(&f);
    say(&f, 2);
    answer = facts_call(&f, "op.list", "{}"); /* Ends the job of the appends. */
    f.now_us += 31 * MINUTE_US;
    answer = facts_call(&f, "session.open", "{'external_id':'next'}");
    CHECK_STR_EQ(test_member_text(answer, "session_summary"), "pending");
    answer = facts_call(&f, "session.open", "{'external_id':'after'}");
    CHECK_STR_EQ(test_member_text(answer, "session_summary.kind"), "session");
    facts_close(&f);
}

/* The spine is what a persona knows: another one's memories must not be in it. */
TEST(summary, a_spine_is_made_every_twenty_messages_per_persona)
{
    facts f;
    loci_str answer;

    facts_open_here(&f);
    facts_call(&f, "memory.store", "{'text':'Lives in Lisbon','type':'profile'}");
    facts_call(&f, "memory.store", "{'text':'Secret of the coach','persona_id':'coach'}");
    facts_call(&f, "todo.add", "{'text':'Send the plan','due_at':'2026-12-01T09:00:00Z'}");
    say(&f, 19);
    CHECK_EQ(count_of(&f, "spine"), 0);
    say(&f, 1);
    CHECK_EQ(count_of(&f, "spine"), 1);
    answer = facts_call(&f, "summary.get", "{'kind':'spine'}");
    CHECK_STR_EQ(test_member_text(answer, "content.profile.0"), "Lives in Lisbon");
    CHECK_STR_EQ(test_member_text(answer, "content.open_loops.0"),
                 "Send the plan (due 2026-12-01)");
    CHECK(memmem(answer.ptr, answer.len, "coach", 5) == NULL);
    CHECK(memmem(answer.ptr, answer.len, "PROFILE", 7) != NULL);
    CHECK_EQ(test_member_int(answer, "message_count"), 20);
    say(&f, 20);
    CHECK_EQ(test_member_int(facts_call(&f, "summary.get", "{'kind':'spine'}"), "version"), 2);
    facts_fail(&f, LOCI_ENOTFOUND, "no spine summary yet", "summary.get",
               "{'kind':'spine','persona_id':'coach'}");
    facts_close(&f);
}

/* One message of the persona Coach at minute `minute`. */
static void tell_coach(facts *f, int64_t begin_us, int minute, const char *text)
{
    f->now_us = begin_us + minute * MINUTE_US;
    facts_call(f, "session.append", "{'role':'user','persona_id':'coach','text':'%s'}", text);
}

/* The seed's timeline: messages at minutes 0 to 3, silence until 35, a message at 36, and more than
 * 20 in all. The clock is the test's. */
TEST(summary, the_timeline_of_the_seed_gives_its_states)
{
    static const char coach[] = "{'persona_id':'coach'}";
    facts f;
    loci_str answer;
    const char *first;
    int64_t begin_us;

    facts_open_here(&f);
    begin_us = f.now_us;
    tell_coach(&f, begin_us, 0, "I live in Lisbon. I will call the caterer on Friday.");
    answer = facts_call(&f, "session.get", coach);
    first = test_format("%.*s", LC_STR_ARG(test_member_text(answer, "id")));
    CHECK_STR_EQ(test_member_text(answer, "state"), "active");
    CHECK_EQ(test_member_int(answer, "turn_count"), 1);
    CHECK_EQ(test_member_int(answer, "session_state.message_count"), 1);
    answer = facts_call(&f, "memory.list", coach);
    CHECK_STR_EQ(test_member_text(answer, "memories.0.text"), "Lives in Lisbon");
    answer = facts_call(&f, "todo.list", coach);
    CHECK_STR_EQ(test_member_text(answer, "todos.0.text"), "Call the caterer on Friday");

    tell_coach(&f, begin_us, 1, "My colleague Priya books the band.");
    answer = facts_call(&f, "session.get", coach);
    CHECK_EQ(test_member_int(answer, "turn_count"), 2);
    CHECK_EQ(test_member_int(answer, "session_state.message_count"), 2);
    tell_coach(&f, begin_us, 2, "The budget is now $4,000.");
    CHECK_EQ(count_of(&f, "rolling"), 0);
    tell_coach(&f, begin_us, 3, "We decided to hold the party on June 12.");
    CHECK_EQ(count_of(&f, "rolling"), 1);

    f.now_us = begin_us + 35 * MINUTE_US;
    answer = facts_call(&f, "session.get", "{'persona_id':'coach','session_id':'%s'}", first);
    CHECK_STR_EQ(test_member_text(answer, "state"), "ended");
    CHECK_STR_EQ(test_member_text(answer, "end_reason"), "idle");
    tell_coach(&f, begin_us, 36, "Back again.");
    answer = facts_call(&f, "session.get", coach);
    CHECK(!lc_str_is(test_member_text(answer, "id"), first));
    CHECK_EQ(test_member_int(answer, "turn_count"), 1);
    CHECK_EQ(test_member_int(answer, "session_state.message_count"), 5);
    CHECK_EQ(count_of(&f, "session"), 1);
    answer = facts_call(&f, "session.open", "{'persona_id':'coach','external_id':'next'}");
    CHECK_STR_EQ(test_member_text(answer, "session_summary.session_id"), first);
    CHECK_CONTAINS(test_member(answer, "session_summary.content.what_mattered"), "June 12");
    CHECK_CONTAINS(test_member_text(answer, "rolling_summary.text"), "Lisbon");

    for (int i = 0; i < 16; i++) {
        CHECK_EQ(count_of(&f, "spine"), i == 15 ? 1 : 0); /* With the 20th message. */
        tell_coach(&f, begin_us, 37 + i, test_format("Message %d.", i));
    }
    answer = facts_call(&f, "session.get", coach);
    CHECK_EQ(test_member_int(answer, "session_state.message_count"), 21);
    answer = facts_call(&f, "summary.get", "{'kind':'spine','persona_id':'coach'}");
    CHECK_CONTAINS(test_member_text(answer, "text"), "Lives in Lisbon");
    /* Another persona has none of it. */
    answer = facts_call(&f, "session.open", "{}");
    CHECK_EQ(test_member_int(answer, "session_state.message_count"), 0);
    CHECK_STR_EQ(test_member(answer, "session_summary"), "null");
    facts_close(&f);
}

/* ---- Forgetting ------------------------------------------------------------------------------ */

/* Whatever a summary repeats must go with its source, and come again without it. */
TEST(summary, a_forgotten_message_is_in_no_summary)
{
    facts f;
    loci_str message, answer;

    facts_open_here(&f);
    say(&f, 2);
    message = facts_call(&f, "session.append",
                         "{'role':'user','speaker':'Ann','text':'We decided to hire the CANARY band"
                         " for the party in June.'}");
    say(&f, 5);
    facts_call(&f, "session.close", "{}");
    answer = facts_call(&f, "summary.list", "{}");
    CHECK(memmem(answer.ptr, answer.len, "CANARY", 6) != NULL);
    answer = facts_call(&f, "session.forget", "{'message_id':'%.*s','wait':true}",
                        LC_STR_ARG(test_member_text(message, "message_id")));
    CHECK(test_member_int(answer, "removed.summary") >= 2);
    CHECK(!facts_is_stored(&f, "CANARY"));
    answer = facts_call(&f, "summary.get", "{'kind':'session'}");
    CHECK(memmem(answer.ptr, answer.len, "Friday", 6) != NULL);
    facts_close(&f);
}

TEST(summary, a_forgotten_memory_or_todo_is_in_no_spine)
{
    facts f;
    loci_str memory, todo;

    facts_open_here(&f);
    memory = facts_call(&f, "memory.store", "{'text':'Likes CANARYTEA','type':'profile'}");
    todo = facts_call(&f, "todo.add", "{'text':'Buy CANARYTOY'}");
    say(&f, 20);
    CHECK(facts_is_stored(&f, "- Likes CANARYTEA"));
    facts_call(&f, "memory.forget", "{'id':'%.*s','wait':true}",
               LC_STR_ARG(test_member_text(memory, "id")));
    CHECK(!facts_is_stored(&f, "CANARYTEA"));
    CHECK(facts_is_stored(&f, "- Buy CANARYTOY"));
    facts_call(&f, "todo.forget", "{'id':'%.*s','wait':true}",
               LC_STR_ARG(test_member_text(todo, "id")));
    CHECK(!facts_is_stored(&f, "CANARYTOY"));
    CHECK_EQ(count_of(&f, "spine"), 1);
    facts_close(&f);
}

TEST(summary, a_forgotten_session_takes_its_summaries_along)
{
    facts f;
    loci_str answer;

    facts_open_here(&f);
    say(&f, 4);
    facts_call(&f, "session.append", "{'role':'user','text':'The CANARY word is said here.'}");
    answer = facts_call(&f, "session.close", "{}");
    facts_call(&f, "session.forget", "{'session_id':'%.*s','wait':true}",
               LC_STR_ARG(test_member_text(answer, "id")));
    CHECK_EQ(count_of(&f, "rolling") + count_of(&f, "session"), 0);
    CHECK(!facts_is_stored(&f, "CANARY"));
    facts_close(&f);
}

/* ---- Rewinding ------------------------------------------------------------------------------- */

static loci_str talk_and_rewind(facts *f)
{
    loci_str last;

    say(f, 4);
    last = facts_call(f, "session.append", "{'role':'user','text':'This message stays.'}");
    facts_call(f, "session.append",
               "{'role':'user','text':'We decided to hire the CANARY band for June.'}");
    say(f, 16);
    CHECK(count_of(f, "rolling") > 1);
    CHECK_EQ(count_of(f, "spine"), 1);
    facts_call(f, "session.rewind", "{'message_id':'%.*s'}",
               LC_STR_ARG(test_member_text(last, "message_id")));
    return last;
}

/* A summary of messages that were taken back would tell the agent what the user edited away. */
TEST(summary, a_rewind_leaves_the_summaries_of_what_stays)
{
    facts f;
    loci_str answer;

    facts_open_here(&f);
    talk_and_rewind(&f);
    CHECK_EQ(count_of(&f, "rolling"), 1);
    CHECK_EQ(count_of(&f, "spine"), 0);
    answer = facts_call(&f, "summary.list", "{}");
    CHECK(memmem(answer.ptr, answer.len, "CANARY", 6) == NULL);
    say(&f, 3); /* The eighth turn. */
    CHECK_EQ(count_of(&f, "rolling"), 2);
    facts_close(&f);
}

/* The log keeps withdrawn summaries; forgetting must find them there. */
TEST(summary, a_withdrawn_summary_is_forgotten_with_its_session)
{
    facts f;
    loci_str last;

    facts_open_here(&f);
    last = talk_and_rewind(&f);
    CHECK(facts_is_stored(&f, "CANARY"));
    facts_call(&f, "session.forget", "{'session_id':'%.*s','wait':true}",
               LC_STR_ARG(test_member_text(last, "session_id")));
    CHECK(!facts_is_stored(&f, "CANARY"));
    facts_close(&f);
}

TEST(summary, a_withdrawn_summary_is_forgotten_with_an_earlier_message)
{
    facts f;
    loci_str first;

    facts_open_here(&f);
    first = facts_call(&f, "session.append",
                       "{'role':'user','text':'We decided to call it OPERATION CANARYBIRD.'}");
    talk_and_rewind(&f);
    facts_call(&f, "session.forget", "{'message_id':'%.*s','wait':true}",
               LC_STR_ARG(test_member_text(first, "message_id")));
    CHECK(!facts_is_stored(&f, "CANARYBIRD"));
    facts_close(&f);
}

/* ---- With a chat model ----------------------------------------------------------------------- */

typedef struct bed {
    provider_good good;
    _Atomic(const char *) content; /* Of the model's answer. */
    _Atomic int status;            /* Of HTTP. */
    _Atomic int asked;
    provider *p;
    const char *store;
    loci_engine *engine;
} bed;

static void answer_chat(void *ctx, const provider_request *request, provider_reply *reply)
{
    bed *b = ctx;

    (void)request;
    atomic_fetch_add(&b->asked, 1);
    provider_say(&b->good, atomic_load(&b->content), reply);
    reply->status = atomic_load(&b->status);
}

static void start(bed *b)
{
    loci_open_options options;
    loci_error err;

    *b = (bed){.store = test_store(test_tmpdir(), "store.db")};
    atomic_store(&b->content, "{}");
    atomic_store(&b->status, 200);
    b->p = provider_start(answer_chat, b);
    options = test_open_options(b->store);
    options.settings = test_format("{\"model.chat_url\":\"%s\",\"model.chat_model\":\"talker\","
                                   "\"model.allow_private\":true,\"extract.enabled\":false}",
                                   provider_url(b->p));
    options.flags = LOCI_OPEN_SEEDED | LOCI_OPEN_INLINE;
    CHECK_OK(loci_open(&options, &b->engine, &err), err);
}

static void stop(bed *b)
{
    provider_stop(b->p);
    provider_good_clear(&b->good);
    test_close(b->engine);
}

/* Four user messages, then the rolling summary. */
static loci_str talk_to(bed *b)
{
    for (int i = 0; i < 4; i++)
        test_call(b->engine, "session.append", "{'role':'user','text':'%s'}", talk[i]);
    return test_call(b->engine, "summary.get", "{'kind':'rolling'}");
}

TEST(summary, a_model_writes_it_within_the_limits)
{
    bed b;
    loci_str answer;

    start(&b);
    atomic_store(&b.content, test_format("{\"summary\":\"A party is planned. %0700d\"}", 0));
    answer = talk_to(&b);
    CHECK_STR_EQ(test_member_text(answer, "method"), "model");
    CHECK(lc_utf8_count(test_member_text(answer, "text")) <= 600);
    CHECK_STR_EQ(test_member(answer, "error"), "");
    CHECK(atomic_load(&b.asked) > 0);
    stop(&b);
}

/* An append must not fail, nor a summary be missing, because a provider is down or lies. */
TEST(summary, without_a_usable_answer_it_is_extracted)
{
    static const char *const answers[] = {"{}", "{\"summary\":7}", "{\"summary\":\"\"}", "[]",
                                          "no JSON at all"};

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        bed b;
        loci_str answer;

        start(&b);
        atomic_store(&b.content, answers[i]);
        atomic_store(&b.status, i == 0 ? 500 : 200);
        answer = talk_to(&b);
        CHECK_STR_EQ(test_member_text(answer, "method"), "extract");
        CHECK_STR_EQ(test_member_text(answer, "error"), "unavailable");
        CHECK_STR_EQ(test_member_text(test_call(b.engine, "session.get", "{}"),
                                      "session_state.last_rolling_error"),
                     "unavailable");
        stop(&b);
    }
}
