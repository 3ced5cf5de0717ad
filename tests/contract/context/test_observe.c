/* fact.observe: what was said is kept, and changes the facts that it really corrects. */
#include "contract/context_fixture.h"

#include <string.h>

#include "base/str.h"

static void write_known(facts *f)
{
    facts_write(f, "created", "{'key':'launch_date','value':'March 3'}");
    facts_write(f, "created", "{'key':'meeting_time','value':'Tuesday at 2pm'}");
    facts_write(f, "created", "{'key':'home_city','value':'Boston'}");
    facts_write(f, "created", "{'key':'weather','value':'dry'}");
    facts_write(f, "created", "{'key':'team_size','value':12}");
    facts_write(f, "created",
                "{'key':'travel_class','value':'economy','is_constraint':true,"
                "'authority':'executive'}");
}

/* What became of it: "key outcome rule", or "" for nothing. One outcome at most. */
static const char *observe(facts *f, const char *args)
{
    loci_str answer = facts_call(f, "fact.observe", "%s", args);

    CHECK(lc_str_starts(test_member_text(answer, "message_id"), LC_STR("msg_")));
    CHECK(lc_str_starts(test_member_text(answer, "session_id"), LC_STR("ses_")));
    CHECK_LT(0, test_member_int(answer, "seq"));
    CHECK_STR_EQ(test_member(answer, "outcomes.1"), "");
    if (test_member(answer, "outcomes.0").len == 0)
        return "";
    CHECK(lc_str_starts(test_member_text(answer, "outcomes.0.id"), LC_STR("fact_")));
    return test_format("%.*s %.*s %.*s", LC_STR_ARG(test_member_text(answer, "outcomes.0.key")),
                       LC_STR_ARG(test_member_text(answer, "outcomes.0.outcome")),
                       LC_STR_ARG(test_member_text(answer, "outcomes.0.rule")));
}

static loci_str list_facts(facts *f)
{
    return facts_call(f, "fact.list", "{}");
}

/* ---- The four rules -------------------------------------------------------------------------- */

TEST(observe, a_correction_is_explicit)
{
    facts f;
    const char *old;
    loci_str answer;

    facts_open(&f);
    write_known(&f);
    old = facts_current(&f, "launch_date", "id");
    answer = facts_call(&f, "fact.observe", "{'text':'Actually, the launch date is May 9.'}");
    CHECK_STR_EQ(test_member_text(answer, "outcomes.0.key"), "launch_date");
    CHECK_STR_EQ(test_member_text(answer, "outcomes.0.outcome"), "superseded");
    CHECK_STR_EQ(test_member_text(answer, "outcomes.0.rule"), "explicit");
    CHECK_STR_EQ(facts_current(&f, "launch_date", "id"),
                 test_format("%.*s", LC_STR_ARG(test_member_text(answer, "outcomes.0.id"))));
    CHECK_STR_EQ(facts_current(&f, "launch_date", "value"), "May 9");
    answer = facts_call(&f, "fact.get", "{'id':'%s'}", old);
    CHECK_STR_EQ(test_member_text(answer, "superseded_by"), facts_current(&f, "launch_date", "id"));
    CHECK_STR_EQ(facts_current(&f, "meeting_time", "value"), "Tuesday at 2pm");
    facts_close(&f);
}

TEST(observe, a_plain_statement_of_the_whole_key_is_implicit)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    write_known(&f);
    answer = facts_call(&f, "fact.observe",
                        "{'text':'Hi all. The meeting time is Friday at 3pm.'}");
    CHECK_STR_EQ(test_member_text(answer, "outcomes.0.rule"), "implicit");
    CHECK_STR_EQ(test_member_text(answer, "outcomes.0.quote"), "The meeting time is Friday at 3pm");
    CHECK_STR_EQ(facts_current(&f, "meeting_time", "value"), "Friday at 3pm");
    facts_close(&f);
}

/* A key of one word may be the word for anything: without a word of change it is a claim. */
TEST(observe, a_key_of_one_word_needs_more)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'budget','value':'$5,000'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"The budget is $6,000.\"}"), "budget claimed implicit");
    CHECK_STR_EQ(facts_current(&f, "budget", "value"), "$5,000");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"The budget is now $6,000.\"}"),
                 "budget superseded temporal");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"My budget is now $900 for the laptop.\"}"), "");
    facts_close(&f);
}

/* "it" reaches back four turns of people. */
TEST(observe, what_was_just_said_is_corrected_without_its_name)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'launch_date','value':'March 3'}");
    for (int i = 0; i < 5; i++)
        facts_call(&f, "fact.observe", "{'text':'The stairs are being painted.'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"No wait, change that to May 9.\"}"), "");
    facts_call(&f, "fact.observe", "{'text':'We launch on March 3, right?'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"No wait, change that to May 9.\"}"),
                 "launch_date superseded explicit");
    CHECK_STR_EQ(facts_current(&f, "launch_date", "value"), "May 9");
    facts_close(&f);
}

/* Two values for one key in one message broke the write, and the message was lost. */
TEST(observe, the_last_of_several_values_stands_and_the_message_is_kept)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'budget','value':'$5,000'}");
    facts_write(&f, "created", "{'key':'deadline','value':'June 2'}");
    answer = facts_call(&f, "fact.observe",
                        "{'text':'Actually, the budget is $6,000. Also the deadline is now June 9."
                        " No wait, the budget is now $7,000.'}");
    CHECK(lc_str_starts(test_member_text(answer, "message_id"), LC_STR("msg_")));
    CHECK_STR_EQ(test_member(answer, "outcomes.2"), "");
    CHECK_STR_EQ(facts_current(&f, "budget", "value"), "$7,000");
    CHECK_STR_EQ(facts_current(&f, "deadline", "value"), "June 9");
    facts_close(&f);
}

/* ---- New facts ------------------------------------------------------------------------------- */

TEST(observe, what_people_plainly_state_of_themselves_is_known_from_then_on)
{
    facts f;

    facts_open(&f);
    CHECK_STR_EQ(observe(&f, "{\"text\":\"By the way, my email is ann@lee.example.\"}"),
                 "email created implicit");
    CHECK_STR_EQ(facts_current(&f, "email", "value"), "ann@lee.example");
    CHECK_STR_EQ(facts_current(&f, "email", "trust"), "user");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Remember that the alarm code is 4711.\"}"),
                 "alarm_code created explicit");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"We use Postgres for storage.\"}"),
                 "storage created implicit");
    CHECK_STR_EQ(facts_current(&f, "storage", "value"), "Postgres");
    /* Said again, it creates nothing; said otherwise just after, it is a correction. */
    CHECK_STR_EQ(observe(&f, "{\"text\":\"My email is ann@lee.example.\"}"), "");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"My email is bob@lee.example.\"}"),
                 "email superseded implicit");
    /* Somebody else's is not this user's. */
    CHECK_STR_EQ(observe(&f, "{\"text\":\"My phone is 555123.\",\"speaker\":\"Bob\"}"), "");
    facts_close(&f);
}

TEST(observe, little_that_begins_like_it_creates_a_fact)
{
    static const char *const sentences[] = {
        "My point is that it rains.", "My head is killing me.",
        "My mum is visiting.",        "My name is mud around here.",
        "My budget is tight.",        "My car is broken.",
        "My email is down.",          "We use it for fun.",
        "My boss is on holiday.",     "My team is great.",
        "Is my email bob@b.example?", "If my email is a@b.example, mail me."};
    facts f;

    facts_open(&f);
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        CHECK_STR_EQ(observe(&f, test_format("{\"text\":\"%s\"}", sentences[i])), "");
    facts_close(&f);
}

TEST(observe, somebodys_word_is_authority)
{
    facts f;

    facts_open(&f);
    write_known(&f);
    CHECK_STR_EQ(
        observe(&f, "{\"text\":\"According to the CEO, the launch date has moved to May 2.\"}"),
        "launch_date superseded authority");
    CHECK_STR_EQ(facts_current(&f, "launch_date", "value"), "May 2");
    /* Naming somebody does not lend their rank. */
    CHECK_STR_EQ(facts_current(&f, "launch_date", "authority"), "manager");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"According to the CEO, the travel class has changed to"
                             " business.\",\"authority\":\"intern\"}"),
                 "travel_class claimed authority");
    CHECK_STR_EQ(facts_current(&f, "travel_class", "value"), "economy");
    facts_close(&f);
}

TEST(observe, news_is_temporal)
{
    facts f;

    facts_open(&f);
    write_known(&f);
    CHECK_STR_EQ(observe(&f, "{\"text\":\"As of today, the home city is Denver.\"}"),
                 "home_city superseded temporal");
    CHECK_STR_EQ(facts_current(&f, "home_city", "value"), "Denver");
    /* News that is older than what is known is history. */
    CHECK_STR_EQ(observe(&f, "{\"text\":\"The home city is now Chicago.\","
                             "\"observed_at\":\"2023-11-01T00:00:00Z\"}"),
                 "home_city late temporal");
    CHECK_STR_EQ(facts_current(&f, "home_city", "value"), "Denver");
    facts_close(&f);
}

TEST(observe, one_message_can_correct_two_facts)
{
    facts f;
    loci_str answer;

    facts_open(&f);
    write_known(&f);
    answer = facts_call(&f, "fact.observe",
                        "{'text':'Actually, the launch date is May 9. Actually, the team size"
                        " is 14.'}");
    CHECK_STR_EQ(test_member_text(answer, "outcomes.0.key"), "launch_date");
    CHECK_STR_EQ(test_member_text(answer, "outcomes.1.key"), "team_size");
    CHECK_STR_EQ(facts_value(&f, "{'key':'team_size'}"), "14");
    facts_close(&f);
}

TEST(observe, numbers_stay_numbers_and_texts_texts)
{
    facts f;

    facts_open(&f);
    write_known(&f);
    facts_write(&f, "created", "{'key':'room_number','value':'12'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the team size is 14.\"}"),
                 "team_size superseded explicit");
    CHECK_STR_EQ(facts_value(&f, "{'key':'team_size'}"), "14");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the room number is 15.\"}"),
                 "room_number superseded explicit");
    CHECK_STR_EQ(facts_value(&f, "{'key':'room_number'}"), "\"15\"");
    facts_close(&f);
}

/* The type of the old value stays where the new one can be read as it. */
TEST(observe, a_sum_for_a_number_is_a_number)
{
    facts f;

    facts_open(&f);
    write_known(&f);
    facts_write(&f, "created", "{'key':'price','value':120}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"The price is now $97.\"}"), "price superseded temporal");
    CHECK_STR_EQ(facts_value(&f, "{'key':'price'}"), "97");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"The price is now $1,250.50.\"}"),
                 "price superseded temporal");
    CHECK_STR_EQ(facts_value(&f, "{'key':'price'}"), "1250.5");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"The price is now known to everyone.\"}"),
                 "price claimed temporal");
    /* What is not plainly a number is kept as it was said. */
    CHECK_STR_EQ(observe(&f, "{\"text\":\"The price is now $1.5k.\"}"),
                 "price superseded temporal");
    CHECK_STR_EQ(facts_value(&f, "{'key':'price'}"), "\"$1.5k\"");
    facts_close(&f);
}

TEST(observe, an_implied_key_makes_a_claim_and_a_named_one_changes)
{
    facts f;

    facts_open(&f);
    write_known(&f);
    facts_write(&f, "created", "{'key':'address','value':'123 Main St'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"I moved to 456 Oak Ave\"}"), "address claimed implicit");
    CHECK_STR_EQ(facts_current(&f, "address", "value"), "123 Main St");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Per the CEO, the launch date is April 9.\"}"),
                 "launch_date superseded authority");
    CHECK_STR_EQ(facts_current(&f, "launch_date", "value"), "April 9");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"The home city changed from Boston to Bergen.\"}"),
                 "home_city superseded temporal");
    CHECK_STR_EQ(facts_current(&f, "home_city", "value"), "Bergen");
    facts_close(&f);
}

/* ---- What changes nothing -------------------------------------------------------------------- */

TEST(observe, ordinary_sentences_change_nothing)
{
    static const char *const sentences[] = {
        "New York",
        "I was moved by the film",
        "Is it raining now?",
        "Actually, I like olives.",
        "Could we move the meeting to Friday?",
        "Maybe we should change the meeting time to Friday.",
        "Suppose the home city is Denver.",
        "The meeting time used to be Monday.",
        "Actually, the launch date is March 3.",
    };
    facts f;
    loci_str before;

    facts_open(&f);
    write_known(&f);
    before = list_facts(&f);
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        CHECK_STR_EQ(observe(&f, test_format("{\"text\":\"%s\"}", sentences[i])), "");
        CHECK_STR_EQ(list_facts(&f), before);
    }
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.claims", "{}"), "claims"), "[]");
    facts_close(&f);
}

TEST(observe, what_the_assistant_says_changes_nothing)
{
    static const char *const more[] = {"", ",\"authority\":\"policy\"", ",\"trust\":\"user\""};
    facts f;
    loci_str before, messages;

    facts_open(&f);
    write_known(&f);
    before = list_facts(&f);
    for (int i = 0; i < 3; i++) {
        CHECK_STR_EQ(observe(&f, test_format("{\"text\":\"Actually, the team size is %d.\","
                                             "\"speaker\":\"assistant\"%s}",
                                             90 + i, more[i])),
                     "");
        CHECK_STR_EQ(list_facts(&f), before);
    }
    messages = facts_call(&f, "session.messages", "{}");
    CHECK_STR_EQ(test_member_text(messages, "messages.0.role"), "assistant");
    /* Whatever it calls itself: the role says what it is. */
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the team size is 95.\",\"speaker\":\"Ada\","
                             "\"role\":\"assistant\"}"),
                 "");
    CHECK_STR_EQ(list_facts(&f), before);
    facts_close(&f);
}

TEST(observe, other_languages_are_kept_and_supersede_nothing)
{
    static const char *const sentences[] = {
        "Eigentlich ist die team size jetzt 15.",
        "En réalité, la team_size est maintenant 15.",
        "实际上,team_size 现在是 15。",
        "На самом деле team_size теперь 15.",
        "In realtà la home city è Roma, non Boston.",
    };
    facts f;
    loci_str before, answer;

    facts_open(&f);
    write_known(&f);
    before = list_facts(&f);
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        CHECK_STR_EQ(observe(&f, test_format("{\"text\":\"%s\"}", sentences[i])), "");
        CHECK_STR_EQ(list_facts(&f), before);
    }
    answer = context_build(&f, "{'query':'team size'}");
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        CHECK_CONTAINS(context_text(answer), sentences[i]);
    facts_close(&f);
}

/* ---- Who may --------------------------------------------------------------------------------- */

TEST(observe, too_low_a_rank_or_trust_makes_a_claim)
{
    static const char *const more[] = {"\"authority\":\"guest\"", "\"trust\":\"web\"",
                                       "\"trust\":\"tool\"", "\"trust\":\"model\""};
    facts f;

    facts_open(&f);
    write_known(&f);
    for (int i = 0; i < 4; i++) {
        CHECK_STR_EQ(observe(&f, test_format("{\"text\":\"Actually, the team size is %d.\",%s}",
                                             90 + i, more[i])),
                     "team_size claimed explicit");
        CHECK_STR_EQ(facts_value(&f, "{'key':'team_size'}"), "12");
    }
    CHECK_STR_EQ(test_member(facts_call(&f, "fact.claims", "{}"), "claims.3.value"), "93");
    /* The token's cap and the session's identity count as for fact.write. */
    f.ceiling = "employee";
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the team size is 80.\","
                             "\"authority\":\"policy\"}"),
                 "team_size claimed explicit");
    f.ceiling = NULL;
    f.trust = "web";
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the team size is 81.\"}"),
                 "team_size claimed explicit");
    f.trust = NULL;
    CHECK_STR_EQ(facts_value(&f, "{'key':'team_size'}"), "12");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the team size is 14.\"}"),
                 "team_size superseded explicit");
    facts_call(&f, "identity.set", "{'user_name':'I','authority':'intern','session_id':'i'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the team size is 82.\",\"session_id\":\"i\"}"),
                 "team_size claimed explicit");
    CHECK_STR_EQ(facts_value(&f, "{'key':'team_size'}"), "14");
    facts_close(&f);
}

/* Correcting what one may not know would tell that it is there. */
TEST(observe, talk_alone_raises_no_rank)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'launch_date','value':'March 3','authority':'guest'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the launch date is May 9.\"}"),
                 "launch_date superseded explicit");
    CHECK_STR_EQ(facts_current(&f, "launch_date", "authority"), "guest");
    facts_write(&f, "superseded", "{'key':'launch_date','value':'June 1','authority':'guest'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the launch date is July 4.\","
                             "\"authority\":\"executive\"}"),
                 "launch_date superseded explicit");
    CHECK_STR_EQ(facts_current(&f, "launch_date", "authority"), "executive");
    facts_close(&f);
}

TEST(observe, what_may_not_be_read_is_not_corrected)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'bonus_pool','value':90,'required_permission':'hr'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the bonus pool is 80.\"}"), "");
    facts_call(&f, "identity.set",
               "{'user_name':'H','authority':'manager','permissions':['hr'],"
               "'session_id':'h'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the bonus pool is 80.\",\"session_id\":\"h\"}"),
                 "bonus_pool superseded explicit");
    facts_close(&f);
}

TEST(observe, other_users_scopes_and_personas_are_not_touched)
{
    facts f;

    facts_open(&f);
    facts_write(&f, "created", "{'key':'team_size','value':1,'user_id':'bob'}");
    facts_write(&f, "created", "{'key':'team_size','value':2,'scope':'draft','scope_id':'d'}");
    facts_write(&f, "created", "{'key':'team_size','value':3,'persona_id':'coach'}");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the team size is 14.\"}"), "");
    CHECK_STR_EQ(
        observe(&f, "{\"text\":\"Actually, the team size is 14.\",\"persona_id\":\"coach\"}"),
        "team_size superseded explicit");
    CHECK_STR_EQ(facts_value(&f, "{'key':'team_size','user_id':'bob'}"), "1");
    CHECK_STR_EQ(facts_value(&f, "{'key':'team_size','scope':'draft','scope_id':'d'}"), "2");
    CHECK_STR_EQ(facts_value(&f, "{'key':'team_size','persona_id':'coach'}"), "14");
    facts_close(&f);
}

/* ---- The message ----------------------------------------------------------------------------- */

TEST(observe, the_message_is_kept_in_the_session)
{
    facts f;
    loci_str answer, messages;

    facts_open(&f);
    answer = facts_call(&f, "fact.observe",
                        "{'text':'The stairs are being painted.','speaker':'Bob',"
                        "'session_id':'chat','observed_at':'2023-11-14T20:00:00Z'}");
    messages = facts_call(&f, "session.messages", "{'session_id':'chat'}");
    CHECK_STR_EQ(test_member(messages, "messages.0.id"), test_member(answer, "message_id"));
    CHECK_STR_EQ(test_member_text(messages, "messages.0.text"), "The stairs are being painted.");
    CHECK_STR_EQ(test_member_text(messages, "messages.0.role"), "user");
    CHECK_STR_EQ(test_member_text(messages, "messages.0.speaker"), "Bob");
    CHECK_STR_EQ(test_member(messages, "messages.1"), "");
    CHECK_STR_EQ(test_member(answer, "outcomes"), "[]");
    facts_fail(&f, LOCI_EINVAL, "text", "fact.observe", "{'text':''}");
    facts_fail(&f, LOCI_EINVAL, "text", "fact.observe", "{}");
    facts_fail(&f, LOCI_ENOTFOUND, "no session", "fact.observe",
               "{'text':'x','session_id':'ses_00000000000000000000000000'}");
    facts_close(&f);
}

TEST(observe, a_repeated_request_is_answered_and_not_heard_again)
{
    static const char args[] =
        "{\"text\":\"Actually, the team size is 14.\",\"request_id\":\"r1\"}";
    facts f;
    loci_str first;
    uint64_t before;

    facts_open(&f);
    write_known(&f);
    first = facts_call(&f, "fact.observe", "%s", args);
    CHECK_STR_EQ(facts_value(&f, "{'key':'team_size'}"), "14");
    facts_write(&f, "superseded", "{'key':'team_size','value':16}");
    before = test_store_hash(f.store, NULL);
    CHECK_STR_EQ(facts_call(&f, "fact.observe", "%s", args), test_replayed(first));
    CHECK_EQ(test_store_hash(f.store, NULL), before);
    facts_fail(&f, LOCI_ECONFLICT, "r1", "fact.observe",
               "{'text':'Actually, the team size is 15.','request_id':'r1'}");
    facts_close(&f);
}

/* ---- Among many facts ------------------------------------------------------------------------ */

/* More than are looked at for being new. */
static void write_many(facts *f)
{
    for (int i = 0; i < 300; i++)
        facts_write(f, "created", "{'key':'shelf_%03d','value':'box %d'}", i, i);
}

TEST(observe, a_fact_is_found_by_its_name_however_old_it_is)
{
    facts f;

    facts_open(&f);
    write_known(&f);
    write_many(&f);
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the launch date is May 9.\"}"),
                 "launch_date superseded explicit");
    CHECK_STR_EQ(facts_current(&f, "launch_date", "value"), "May 9");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Correction: the team size is 15.\"}"),
                 "team_size superseded explicit");
    facts_close(&f);
}

/* What is named by one key of many is not another one. */
TEST(observe, a_sentence_that_names_no_old_fact_changes_none)
{
    facts f;
    loci_str before;

    facts_open(&f);
    write_known(&f);
    write_many(&f);
    before = list_facts(&f);
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Actually, the launch was lovely.\"}"), "");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"Where is the launch date kept?\"}"), "");
    CHECK_STR_EQ(observe(&f, "{\"text\":\"A team is a team.\"}"), "");
    CHECK_STR_EQ(list_facts(&f), before);
    facts_close(&f);
}
