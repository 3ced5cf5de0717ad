/* Statements: each form, its near misses, and all that must state nothing. */
#include "talk/statement.h"

#include "base/str.h"
#include "unit/talk/talk_fixture.h"

enum { NEWS = 1, CORRECTION = 2, OWN = 4, RANK = 8 };

typedef struct expected {
    const char *text;
    lc_statement_form form;
    const char *subject; /* Empty = none. */
    const char *value;
    int flags;
} expected;

static int flags_of(const lc_statement *s)
{
    return (s->is_news ? NEWS : 0) | (s->is_correction ? CORRECTION : 0) | (s->is_own ? OWN : 0) |
           (s->leans_on_rank ? RANK : 0);
}

static void check_statement(const char *text, const lc_statement *s, const expected *e)
{
    if (s->form != e->form || flags_of(s) != e->flags ||
        !lc_str_is(lc_terms_text(s->subject), e->subject) ||
        !lc_str_is(lc_terms_text(s->value), e->value))
        test_fail(__FILE__, __LINE__, "%s\n    form %d subject \"%.*s\" value \"%.*s\" flags %d",
                  text, (int)s->form, LC_STR_ARG(lc_terms_text(s->subject)),
                  LC_STR_ARG(lc_terms_text(s->value)), flags_of(s));
}

static void check_each(const expected *cases, size_t count)
{
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < count; i++) {
        lc_statements s;

        talk_statements(&f, cases[i].text, &s);
        if (s.count != 1)
            test_fail(__FILE__, __LINE__, "%s: %zu statements", cases[i].text, s.count);
        check_statement(cases[i].text, &s.items[0], &cases[i]);
    }
    talk_close(&f);
}

static void check_nothing(const char *const *texts, size_t count)
{
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < count; i++) {
        lc_statements s;

        talk_statements(&f, texts[i], &s);
        if (s.count != 0)
            test_fail(__FILE__, __LINE__, "%s: states \"%.*s\" = \"%.*s\"", texts[i],
                      LC_STR_ARG(lc_terms_text(s.items[0].subject)),
                      LC_STR_ARG(lc_terms_text(s.items[0].value)));
    }
    talk_close(&f);
}

#define CHECK_EACH(cases) check_each((cases), sizeof(cases) / sizeof *(cases))
#define CHECK_NOTHING(texts) check_nothing((texts), sizeof(texts) / sizeof *(texts))

/* ---- Forms ----------------------------------------------------------------------------------- */

TEST(talk_statement, a_subject_is_a_value)
{
    static const expected cases[] = {
        {"The budget is $5,000.", LC_STATES_SUBJECT, "budget", "$5,000", 0},
        {"My city is Bergen.", LC_STATES_SUBJECT, "city", "Bergen", OWN},
        {"The budget is now $5,000.", LC_STATES_SUBJECT, "budget", "$5,000", NEWS},
        {"The budget is actually $5,000.", LC_STATES_SUBJECT, "budget", "$5,000", CORRECTION},
        {"Our new deadline is June 9.", LC_STATES_SUBJECT, "deadline", "June 9", NEWS | OWN},
        {"The price of the tent is $40.", LC_STATES_SUBJECT, "price of the tent", "$40", 0},
        {"The meeting will be on Friday.", LC_STATES_SUBJECT, "meeting", "Friday", 0},
        {"The meeting is going to be on Friday.", LC_STATES_SUBJECT, "meeting", "Friday", 0},
        {"The meeting is on June 9, 2026.", LC_STATES_SUBJECT, "meeting", "June 9, 2026", 0},
        {"The deadline's now Friday.", LC_STATES_SUBJECT, "deadline's", "Friday", NEWS},
        {"The launch is cancelled.", LC_STATES_SUBJECT, "launch", "cancelled", 0},
        {"The launch is postponed.", LC_STATES_SUBJECT, "launch", "postponed", 0},
        {"The plan is Premium.", LC_STATES_SUBJECT, "plan", "Premium", 0},
        {"The limit is 30 days from today.", LC_STATES_SUBJECT, "limit", "30 days", NEWS}};

    CHECK_EACH(cases);
}

TEST(talk_statement, a_colon_or_an_equals_sign_states_as_well)
{
    static const expected cases[] = {
        {"Deadline: June 9", LC_STATES_SUBJECT, "Deadline", "June 9", 0},
        {"marquee budget = $5,000", LC_STATES_SUBJECT, "marquee budget", "$5,000", 0}};
    static const char *const nothing[] = {"Note: it rains all day and more",
                                          "Deadline:", "Deadline, June 9"};

    CHECK_EACH(cases);
    CHECK_NOTHING(nothing);
}

TEST(talk_statement, a_subject_was_moved_to_a_value)
{
    static const expected cases[] = {
        {"The deadline has been moved to June 9.", LC_STATES_SUBJECT, "deadline", "June 9", NEWS},
        {"The deadline was pushed back to June 9.", LC_STATES_SUBJECT, "deadline", "June 9", NEWS},
        {"The hearing moved from Monday to Friday.", LC_STATES_SUBJECT, "hearing", "Friday", NEWS},
        {"The launch is postponed to Friday.", LC_STATES_SUBJECT, "launch", "Friday", NEWS},
        {"The launch is being moved to June.", LC_STATES_SUBJECT, "launch", "June", NEWS},
        {"The rent went up to $900.", LC_STATES_SUBJECT, "rent", "$900", NEWS}};
    static const char *const nothing[] = {
        "The editor cut my letter to two pages.", "The deadline was moved.",
        "The deadline moved, to our surprise.", "The deadline moved by two days."};

    CHECK_EACH(cases);
    CHECK_NOTHING(nothing);
}

TEST(talk_statement, a_name_is_what_we_have_one_of)
{
    static const expected cases[] = {
        {"Jonas is our new team lead.", LC_STATES_SUBJECT, "team lead", "Jonas", NEWS | OWN},
        {"Jonas is our team lead since March.", LC_STATES_SUBJECT, "team lead", "Jonas", OWN},
        {"Jonas is now the team lead.", LC_STATES_SUBJECT, "team lead", "Jonas", NEWS},
        {"Anna Berg is the landlord and she is nice.", LC_STATES_SUBJECT, "landlord", "Anna Berg",
         0}};
    static const char *const nothing[] = {"Jonas is the team lead of my heart for life.",
                                          "Jonas was our team lead.",
                                          "Jonas is not our team lead."};

    CHECK_EACH(cases);
    CHECK_NOTHING(nothing);
}

TEST(talk_statement, a_speaker_moves_a_subject_to_a_value)
{
    static const expected cases[] = {
        {"Move the deadline to June 9.", LC_STATES_SUBJECT, "deadline", "June 9", NEWS},
        {"Please change the venue to Hall B.", LC_STATES_SUBJECT, "venue", "Hall B", NEWS},
        {"We've changed the venue to Hall B.", LC_STATES_SUBJECT, "venue", "Hall B", NEWS},
        {"They moved the venue to Hall B.", LC_STATES_SUBJECT, "venue", "Hall B", NEWS},
        {"We just moved the venue to Hall B.", LC_STATES_SUBJECT, "venue", "Hall B", NEWS},
        {"We're moving the venue to Hall B.", LC_STATES_SUBJECT, "venue", "Hall B", NEWS},
        {"Let's move the venue to Hall B.", LC_STATES_SUBJECT, "venue", "Hall B", NEWS},
        {"Push the deadline back to June 9.", LC_STATES_SUBJECT, "deadline", "June 9", NEWS},
        {"Moved the venue to Hall B.", LC_STATES_SUBJECT, "venue", "Hall B", NEWS}};
    static const char *const nothing[] = {
        "Move the deadline.",
        "She moved the venue to Hall B.",
        "We will see the venue in Hall B.",
        "Move the boxes and the chairs and the tables and everything to Hall B.",
        "We want to move the venue to Hall B.",
        "They should move the venue to Hall B.",
        "Move the venue not to Hall B.",
        "Move the venue we had to Hall B.",
        "Move the venue I want to Hall B.",
        "Move the venue she has to Hall B."};

    CHECK_EACH(cases);
    CHECK_NOTHING(nothing);
}

TEST(talk_statement, words_that_point_back_need_news_or_a_correction)
{
    static const expected cases[] = {
        {"It's now $6,000.", LC_STATES_BACK, "", "$6,000", NEWS},
        {"Actually it's $6,000.", LC_STATES_BACK, "", "$6,000", CORRECTION},
        {"It is now $6,000.", LC_STATES_BACK, "", "$6,000", NEWS},
        {"It has been moved to Friday.", LC_STATES_BACK, "", "Friday", NEWS},
        {"Make it 55.", LC_STATES_BACK, "", "55", NEWS},
        {"Move it to Friday.", LC_STATES_BACK, "", "Friday", NEWS},
        {"We switched to Postgres.", LC_STATES_IMPLIED, "", "Postgres", OWN},
        {"We've moved it to Friday.", LC_STATES_BACK, "", "Friday", NEWS}};
    static const char *const nothing[] = {"It is $6,000.", "It's $6,000.", "That's Friday.",
                                          "It'll be Friday.", "Make it."};

    CHECK_EACH(cases);
    CHECK_NOTHING(nothing);
}

TEST(talk_statement, after_a_correction_a_bare_value_is_enough)
{
    static const expected cases[] = {
        {"No wait, June 9.", LC_STATES_BACK, "", "June 9", CORRECTION},
        {"Actually, June 9.", LC_STATES_BACK, "", "June 9", CORRECTION},
        {"Sorry, 55.", LC_STATES_BACK, "", "55", CORRECTION},
        {"Correction: $60.", LC_STATES_BACK, "", "$60", CORRECTION},
        {"I meant June 9.", LC_STATES_BACK, "", "June 9", CORRECTION},
        {"Sorry, I meant Bergen.", LC_STATES_BACK, "", "Bergen", CORRECTION},
        {"Scratch that, the budget is $60.", LC_STATES_SUBJECT, "budget", "$60", CORRECTION}};
    static const char *const nothing[] = {"June 9.", "Ok, June 9.", "No June 9.",
                                          "Sorry, big red plastic garden chairs."};

    CHECK_EACH(cases);
    CHECK_NOTHING(nothing);
}

TEST(talk_statement, a_decision_takes_one_of_several)
{
    static const expected cases[] = {
        {"Let's go with Postgres.", LC_STATES_BACK, "", "Postgres", NEWS},
        {"Let's go with Postgres for the backend.", LC_STATES_BACK, "", "Postgres", NEWS},
        {"We've settled on Postgres.", LC_STATES_BACK, "", "Postgres", NEWS},
        {"I've settled on Postgres.", LC_STATES_BACK, "", "Postgres", NEWS},
        {"We'll stick with Oslo.", LC_STATES_BACK, "", "Oslo", NEWS},
        {"We've finalized the price at $40.", LC_STATES_SUBJECT, "price", "$40", NEWS}};
    static const char *const nothing[] = {
        "I settled on Postgres.",     "She settled on Postgres.", "Let's go.",
        "We might go with Postgres.", "Go with Postgres.",        "We take Postgres.",
        "We're going to Rome.",       "Let's go to Rome."};

    CHECK_EACH(cases);
    CHECK_NOTHING(nothing);
}

TEST(talk_statement, what_speakers_say_of_themselves_implies_a_key)
{
    static const struct {
        const char *text, *value, *key;
        int flags;
    } cases[] = {{"I moved to Bergen.", "Bergen", "city", OWN},
                 {"We live in Bergen now.", "Bergen", "city", OWN | NEWS},
                 {"I now work for Acme.", "Acme", "employer", OWN | NEWS},
                 {"I joined Acme.", "Acme", "employer", OWN},
                 {"I just turned 40.", "40", "age", OWN},
                 {"I drive a Volvo.", "Volvo", "car", OWN},
                 {"We migrated to Postgres.", "Postgres", "database", OWN}};
    static const char *const nothing[] = {
        "She moved to Bergen.",      "They moved to Bergen.",
        "I might move to Bergen.",   "I'm thinking of moving to Bergen.",
        "I used to live in Bergen.", "I wanted to live in Bergen.",
        "I never lived in Bergen.",  "You live in Bergen."};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expected e = {cases[i].text, LC_STATES_IMPLIED, "", cases[i].value, cases[i].flags};
        lc_statements s;

        talk_statements(&f, e.text, &s);
        CHECK_EQ(s.count, 1);
        check_statement(e.text, &s.items[0], &e);
        CHECK_CONTAINS(s.items[0].implication->keys, cases[i].key);
    }
    talk_close(&f);
    CHECK_NOTHING(nothing);
}

TEST(talk_statement, speakers_ask_to_remember_and_say_what_they_use)
{
    static const expected cases[] = {
        {"Remember that the wifi password is tulip.", LC_STATES_REMEMBER, "wifi password", "tulip",
         0},
        {"Please remember: the gate code is 4711.", LC_STATES_REMEMBER, "gate code", "4711", 0},
        {"We use Postgres for storage.", LC_STATES_USE, "storage", "Postgres", OWN},
        {"We're using Postgres for storage.", LC_STATES_USE, "storage", "Postgres", OWN}};
    static const char *const nothing[] = {"I remember that summer.",
                                          "Remember the milk.",
                                          "Do you remember that the code is 4711?",
                                          "You use Postgres for storage.",
                                          "We use Postgres for storage and much more than that.",
                                          "We could use Postgres for storage."};

    CHECK_EACH(cases);
    CHECK_NOTHING(nothing);
}

TEST(talk_statement, what_is_said_in_front_tells_how_it_is_meant)
{
    static const expected cases[] = {
        {"As of Monday, the budget is $6.", LC_STATES_SUBJECT, "budget", "$6", NEWS},
        {"As of Monday the budget is $6.", LC_STATES_SUBJECT, "budget", "$6", NEWS},
        {"From now on the budget is $6.", LC_STATES_SUBJECT, "budget", "$6", NEWS},
        {"Update: the budget is $6.", LC_STATES_SUBJECT, "budget", "$6", NEWS},
        {"Heads-up: the budget is $6.", LC_STATES_SUBJECT, "budget", "$6", NEWS},
        {"Per the CEO, the budget is $6.", LC_STATES_SUBJECT, "budget", "$6", RANK},
        {"According to the CEO, the budget is $6.", LC_STATES_SUBJECT, "budget", "$6", RANK},
        {"Hey, so, the budget is $6.", LC_STATES_SUBJECT, "budget", "$6", 0},
        {"Oops, the budget is $6.", LC_STATES_SUBJECT, "budget", "$6", CORRECTION}};

    CHECK_EACH(cases);
}

/* ---- Nothing --------------------------------------------------------------------------------- */

TEST(talk_statement, questions_state_nothing)
{
    static const char *const texts[] = {
        "Is the budget $6,000?", "The budget is $6,000?", "The budget is $6,000, right?",
        "The budget is $6,000, can you help me?", "What if the deadline is moved to June 9?"};

    CHECK_NOTHING(texts);
}

TEST(talk_statement, suppositions_state_nothing)
{
    static const char *const texts[] = {
        "If the budget is $6,000 we go.",      "The budget is probably $6,000.",
        "Maybe the budget is $6,000.",         "Suppose the budget is $6,000.",
        "The budget is $6,000, if all agree.", "The budget might be $6,000.",
        "The budget is $6,000 or $7,000.",     "The budget would be $6,000."};

    CHECK_NOTHING(texts);
}

TEST(talk_statement, wishes_denials_and_the_past_state_nothing)
{
    static const char *const texts[] = {"I hope the budget is $6,000.",
                                        "I wish the budget was $6,000.",
                                        "Hopefully the budget is $6,000.",
                                        "We want the budget to be $6,000.",
                                        "The budget is not $6,000.",
                                        "The budget isn't $6,000.",
                                        "The budget is never $6,000.",
                                        "The budget was $6,000.",
                                        "The budget used to be $6,000.",
                                        "Last year the budget is $6,000.",
                                        "Previously the budget was moved to $6,000."};

    CHECK_NOTHING(texts);
}

TEST(talk_statement, reports_and_quotations_state_nothing)
{
    static const char *const texts[] = {
        "Anna said the budget is $6,000.",    "Apparently the budget is $6,000.",
        "I heard the budget is $6,000.",      "\"The budget is $6,000.\"",
        "The sign reads \"budget: $6,000\".", "The budget is \xE2\x80\x9C$6,000\xE2\x80\x9D.",
        "The budget is $6,000, Anna told us."};

    CHECK_NOTHING(texts);
}

TEST(talk_statement, code_states_nothing)
{
    static const char *const texts[] = {"`budget: $6,000`", "Set `budget` to $6,000.",
                                        "```\nbudget: $6,000\n```", "```\nbudget: $6,000"};

    CHECK_NOTHING(texts);
}

TEST(talk_statement, what_belongs_to_others_is_not_stated)
{
    static const char *const texts[] = {"His budget is $6,000.", "Your budget is $6,000.",
                                        "Their deadline is June 9.", "Each budget is $6,000.",
                                        "Her deadline was moved to June 9."};

    CHECK_NOTHING(texts);
}

TEST(talk_statement, values_with_a_condition_or_more_or_less_state_nothing)
{
    static const char *const texts[] = {
        "The budget is $6,000 for July.",
        "The budget is about $6,000.",
        "The budget is more than $6,000.",
        "The budget is $6,000 when it rains.",
        "The budget is $6,000 except on Fridays.",
        "The plan is one two three four five six seven eight nine ten eleven twelve thirteen."};

    CHECK_NOTHING(texts);
}

TEST(talk_statement, text_in_other_languages_states_nothing)
{
    static const char *const texts[] = {
        "Das Budget ist jetzt 6.000 Euro.", "Le budget est maintenant de 6000 euros.",
        "\xE4\xBA\x88\xE7\xAE\x97\xE7\x8E\xB0\xE5\x9C\xA8\xE6\x98\xAF 6000",
        "\xD0\x91\xD1\x8E\xD0\xB4\xD0\xB6\xD0\xB5\xD1\x82 6000"};

    CHECK_NOTHING(texts);
}

TEST(talk_statement, a_sentence_of_thirty_words_is_the_longest_that_states)
{
    talk_fixture f;

    talk_open(&f);
    for (size_t words = LC_STATEMENT_WORDS_MAX - 1; words <= LC_STATEMENT_WORDS_MAX + 1; words++) {
        const char *text = "The budget is $6,000,";
        lc_statements s;

        for (size_t i = 4; i < words; i++)
            text = test_format("%s tent", text);
        talk_statements(&f, text, &s);
        CHECK_EQ(s.count, words <= LC_STATEMENT_WORDS_MAX);
    }
    talk_close(&f);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

TEST(talk_statement, each_clause_and_sentence_may_state)
{
    static const struct {
        const char *text;
        size_t count;
        const char *values[3];
    } cases[] = {
        {"The budget is $6,000, and the deadline is June 9.", 2, {"$6,000", "June 9"}},
        {"The budget is $6,000; the deadline is June 9.", 2, {"$6,000", "June 9"}},
        {"The budget is $6,000\nThe deadline is June 9", 2, {"$6,000", "June 9"}},
        {"The budget is $6,000 and it rains.", 1, {"$6,000"}},
        {"The budget is $6,000, but we hope for more.", 1, {"$6,000"}},
        {"It rains, so the deadline is June 9.", 1, {"June 9"}},
        {"How are you? The budget is $6,000.", 1, {"$6,000"}},
        {"Actually, the budget is $6,000. Also the deadline is now June 9. No wait, the budget is "
         "now $7,000.",
         3,
         {"$6,000", "June 9", "$7,000"}}};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lc_statements s;

        talk_statements(&f, cases[i].text, &s);
        if (s.count != cases[i].count)
            test_fail(__FILE__, __LINE__, "%s: %zu", cases[i].text, s.count);
        for (size_t v = 0; v < s.count; v++)
            CHECK_STR_EQ(lc_terms_text(s.items[v].value), cases[i].values[v]);
    }
    talk_close(&f);
}

TEST(talk_statement, the_sentence_is_all_of_it)
{
    talk_fixture f;
    lc_statements s;

    talk_open(&f);
    talk_statements(&f, "Hi. Well, the budget is $6,000, and thanks! Bye.", &s);
    CHECK_EQ(s.count, 1);
    CHECK_STR_EQ(lc_terms_text(s.items[0].sentence), "Well, the budget is $6,000, and thanks");
    talk_close(&f);
}

TEST(talk_statement, of_many_statements_the_last_ones_are_kept)
{
    talk_fixture f;

    talk_open(&f);
    for (size_t count = LC_STATEMENTS_MAX - 1; count <= LC_STATEMENTS_MAX + 2; count++) {
        const char *text = "";
        size_t kept = count < LC_STATEMENTS_MAX ? count : LC_STATEMENTS_MAX;
        lc_statements s;

        for (size_t i = 0; i < count; i++)
            text = test_format("%sThe budget is $%zu. ", text, i + 100);
        talk_statements(&f, text, &s);
        CHECK_EQ(s.count, kept);
        for (size_t i = 0; i < kept; i++)
            CHECK_STR_EQ(lc_terms_text(s.items[i].value),
                         test_format("$%zu", count - kept + i + 100));
    }
    talk_close(&f);
}

TEST(talk_statement, clauses_end_at_marks_and_before_words_that_begin_one)
{
    static const char *const clauses[] = {"Red, green", "and blue", "we paint", "it rains"};
    static const char text[] = "Red, green, and blue; we paint. it rains! we stay in, bye";
    talk_fixture f;
    lc_terms terms;
    size_t at = 0;

    talk_open(&f);
    terms = talk_terms(&f, text);
    for (size_t i = 0; i < 4; i++) {
        lc_terms clause = lc_clause_at(terms, at);

        CHECK_STR_EQ(lc_terms_text(clause), clauses[i]);
        at += clause.count;
    }
    CHECK_STR_EQ(lc_terms_text(lc_clause_at(terms, at)), "we stay in, bye");
    CHECK_EQ(lc_clause_at(terms, terms.count).count, 0);
    talk_close(&f);
}
