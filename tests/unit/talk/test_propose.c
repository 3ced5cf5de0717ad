/* Proposals: the gates one by one, what is only claimed, and what may be created. */
#include "talk/propose.h"

#include <string.h>

#include "base/str.h"
#include "unit/talk/talk_fixture.h"

typedef enum outcome { NOTHING, CHANGE, CLAIM, CREATE } outcome;

static const char *const outcomes[] = {"nothing", "change", "claim", "create"};

/* The facts of most tests; those of `recent` were written in the last turns. */
static const char *const facts[][2] = {{"marquee_budget", "$4,000"},
                                       {"deadline", "June 2"},
                                       {"city", "Oslo"},
                                       {"chair_order", "40 stacking chairs"},
                                       {"menu", "soup and bread"},
                                       {"launch_status", "approved"},
                                       {"hearing_time", "10:00"},
                                       {"team_lead", "Anna"},
                                       {"headcount", "12"},
                                       {"employer", "GlobalTech"},
                                       {"discount_rate", "15%"},
                                       {"phone", "+31 6 5550 1234"}};
enum { FACTS = sizeof facts / sizeof *facts };

typedef struct asked {
    const char *text;
    const char *recent; /* The key that is recent; NULL = none. */
    const char *before; /* An earlier message of a person; NULL = none. */
    bool is_other;      /* The speaker is not the user. */
} asked;

static size_t propose(talk_fixture *f, const asked *a, lc_proposal out[LC_PROPOSALS_MAX])
{
    lc_known known[FACTS];
    lc_statements statements;
    loci_str before = loci_str_of(a->before != NULL ? a->before : "");
    size_t count;
    loci_error err;

    for (size_t i = 0; i < FACTS; i++)
        known[i] = (lc_known){.key = loci_str_of(facts[i][0]),
                              .value = loci_str_of(facts[i][1]),
                              .is_recent = a->recent != NULL &&
                                           strcmp(a->recent, facts[i][0]) == 0};
    talk_statements(f, a->text, &statements);
    CHECK_OK(lc_talk_propose(f->talk, &f->arena,
                             &(lc_propose_input){.statements = &statements,
                                                 .known = known,
                                                 .known_count = FACTS,
                                                 .before = &before,
                                                 .before_count = a->before != NULL,
                                                 .is_owner = !a->is_other},
                             out, &count, &err),
             err);
    for (size_t i = 0; i < count; i++)
        CHECK_CONTAINS(a->text, out[i].quote);
    return count;
}

typedef struct expected {
    asked asked;
    outcome outcome;
    const char *key, *value; /* NULL for nothing. */
} expected;

static outcome outcome_of(const lc_proposal *p)
{
    return p->is_claim ? CLAIM : p->known == LC_KNOWN_NONE ? CREATE : CHANGE;
}

static void check_each(const expected *cases, size_t count)
{
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < count; i++) {
        const expected *e = &cases[i];
        lc_proposal p[LC_PROPOSALS_MAX] = {{0}};
        size_t proposals = propose(&f, &e->asked, p);
        outcome seen = proposals > 0 ? outcome_of(&p[0]) : NOTHING;

        if (proposals > 1 || seen != e->outcome ||
            (seen != NOTHING && (!lc_str_is(p[0].key, e->key) || !lc_str_is(p[0].value, e->value))))
            test_fail(__FILE__, __LINE__, "%s: %s %.*s = %.*s", e->asked.text, outcomes[seen],
                      LC_STR_ARG(p[0].key), LC_STR_ARG(p[0].value));
        CHECK(seen == NOTHING || seen == CREATE || strcmp(facts[p[0].known][0], e->key) == 0);
    }
    talk_close(&f);
}

#define CHECK_EACH(cases) check_each((cases), sizeof(cases) / sizeof *(cases))

/* ---- Changes --------------------------------------------------------------------------------- */

TEST(talk_propose, a_key_that_is_named_whole_gets_another_value)
{
    static const expected cases[] = {
        {{"The marquee budget is $5,000."}, CHANGE, "marquee_budget", "$5,000"},
        {{"The budget of the marquee is now $5,000."}, CHANGE, "marquee_budget", "$5,000"},
        {{"Marquee budget: $5,000"}, CHANGE, "marquee_budget", "$5,000"},
        {{"The current marquee budget is $5,000."}, CHANGE, "marquee_budget", "$5,000"},
        {{"The discount rate is 20%."}, CHANGE, "discount_rate", "20%"},
        {{"Jonas is our new team lead."}, CHANGE, "team_lead", "Jonas"},
        {{"The budget is $5,000."}, NOTHING, NULL, NULL},
        {{"The summer marquee budget is now $5,000."}, NOTHING, NULL, NULL},
        {{"The marquee is now $5,000."}, NOTHING, NULL, NULL},
        {{"The marquee budget is $4,000."}, NOTHING, NULL, NULL}}; /* As it was. */

    CHECK_EACH(cases);
}

TEST(talk_propose, a_part_of_the_key_is_enough_for_a_recent_fact)
{
    static const expected cases[] = {
        {{"The hearing is at 11:00.", .recent = "hearing_time"}, CHANGE, "hearing_time", "11:00"},
        {{"The hearing is at 11:00."}, NOTHING, NULL, NULL},
        {{"The hearing is at 11:00.", .recent = "deadline"}, NOTHING, NULL, NULL},
        {{"The hearing is at 11:00.", .before = "The hearing at 10:00 is on."},
         CHANGE,
         "hearing_time",
         "11:00"},
        /* A bare time may be that of anything. */
        {{"The hearing is at 11:00.", .before = "We meet at 10:00 sharp."}, NOTHING, NULL, NULL}};

    CHECK_EACH(cases);
}

TEST(talk_propose, a_key_of_one_word_needs_a_word_of_change_or_a_recent_fact)
{
    static const expected cases[] = {
        {{"The deadline is June 9."}, CLAIM, "deadline", "June 9"},
        {{"The deadline is now June 9."}, CHANGE, "deadline", "June 9"},
        {{"Actually, the deadline is June 9."}, CHANGE, "deadline", "June 9"},
        {{"The deadline was moved to June 9."}, CHANGE, "deadline", "June 9"},
        {{"Per the CEO, the deadline is June 9."}, CHANGE, "deadline", "June 9"},
        {{"The deadline is June 9.", .recent = "deadline"}, CHANGE, "deadline", "June 9"}};

    CHECK_EACH(cases);
}

TEST(talk_propose, values_of_another_kind_are_claims_at_most)
{
    static const expected cases[] = {
        {{"The marquee budget is now June 9."}, CLAIM, "marquee_budget", "June 9"},
        {{"The marquee budget is June 9."}, NOTHING, NULL, NULL},
        {{"The deadline is now $90."}, CLAIM, "deadline", "$90"},
        {{"The discount rate is now $90."}, CLAIM, "discount_rate", "$90"},
        {{"The headcount is now 14."}, CHANGE, "headcount", "14"},
        {{"The headcount is now 14 people."}, CLAIM, "headcount", "14 people"},
        /* A bare number may be an amount of money. */
        {{"The headcount is now $14."}, CHANGE, "headcount", "$14"},
        {{"The chair order is now 12 tables."}, CLAIM, "chair_order", "12 tables"},
        {{"The launch status is cancelled."}, CHANGE, "launch_status", "cancelled"},
        {{"The team lead is now approved."}, CLAIM, "team_lead", "approved"},
        /* Without capitals a name is a mere word. */
        {{"the city is now bergen"}, CHANGE, "city", "bergen"}};

    CHECK_EACH(cases);
}

TEST(talk_propose, more_than_four_content_words_are_a_claim_and_more_than_eight_nothing)
{
    static const expected cases[] = {
        {{"The team lead is now Anna Maria Berg Lund."},
         CHANGE,
         "team_lead",
         "Anna Maria Berg Lund"},
        {{"The team lead is now Anna Maria Berg Lund Moe."},
         CLAIM,
         "team_lead",
         "Anna Maria Berg Lund Moe"},
        {{"The team lead is now Anna Maria Berg Lund Moe Ek Ros Vik Dal."}, NOTHING, NULL, NULL}};

    CHECK_EACH(cases);
}

TEST(talk_propose, mere_words_change_with_a_word_of_change_only)
{
    static const expected cases[] = {
        {{"The menu is now pasta."}, CHANGE, "menu", "pasta"},
        {{"Actually, the menu is pasta."}, CHANGE, "menu", "pasta"},
        {{"The menu is pasta.", .recent = "menu"}, CLAIM, "menu", "pasta"}};

    CHECK_EACH(cases);
}

TEST(talk_propose, what_points_back_is_about_the_only_recent_fact_of_its_kind)
{
    static const expected cases[] = {
        {{"Make it $5,000.", .recent = "marquee_budget"}, CHANGE, "marquee_budget", "$5,000"},
        {{"No wait, $5,000.", .recent = "marquee_budget"}, CHANGE, "marquee_budget", "$5,000"},
        {{"Make it $5,000."}, NOTHING, NULL, NULL},
        {{"Make it June 9.", .recent = "marquee_budget"}, NOTHING, NULL, NULL},
        {{"It's now June 9.", .recent = "deadline"}, CHANGE, "deadline", "June 9"},
        /* Two that it could be about. */
        {{"Make it $5,000 please.", .recent = "marquee_budget", .before = "The headcount is 12"},
         NOTHING,
         NULL,
         NULL},
        /* More than the amount. */
        {{"Make it $5,000 chocolate.", .recent = "marquee_budget"},
         CLAIM,
         "marquee_budget",
         "$5,000 chocolate"}};

    CHECK_EACH(cases);
}

TEST(talk_propose, a_bare_number_takes_the_place_of_the_number)
{
    static const expected cases[] = {
        {{"Make it 55.", .recent = "chair_order"}, CHANGE, "chair_order", "55 stacking chairs"},
        {{"The chair order is now 55."}, CHANGE, "chair_order", "55 stacking chairs"},
        {{"The chair order is now 55 chairs."}, CLAIM, "chair_order", "55 chairs"}};

    CHECK_EACH(cases);
}

TEST(talk_propose, a_sign_in_front_belongs_to_the_value)
{
    static const expected cases[] = {
        {{"My phone number is now +31 6 5550 9981."}, CHANGE, "phone", "+31 6 5550 9981"}};

    CHECK_EACH(cases);
}

TEST(talk_propose, what_is_only_implied_changes_recent_facts_and_is_else_a_claim)
{
    static const expected cases[] = {
        {{"I moved to Bergen."}, CLAIM, "city", "Bergen"},
        {{"I now live in Bergen."}, CLAIM, "city", "Bergen"},
        {{"I moved to Bergen last.", .recent = "city"}, CLAIM, "city", "Bergen last"},
        {{"I just moved to Bergen.", .recent = "city"}, CHANGE, "city", "Bergen"},
        {{"I joined Acme."}, CLAIM, "employer", "Acme"},
        {{"I drive a Volvo."}, NOTHING, NULL, NULL}}; /* No fact of that key. */

    CHECK_EACH(cases);
}

TEST(talk_propose, my_of_another_speaker_is_not_about_the_user)
{
    static const expected cases[] = {
        {{"My city is now Bergen.", .is_other = true}, NOTHING, NULL, NULL},
        {{"My email is a@example.org.", .is_other = true}, NOTHING, NULL, NULL},
        {{"Hey, my city is now Bergen.", .is_other = true}, NOTHING, NULL, NULL},
        {{"I moved to Bergen.", .is_other = true}, NOTHING, NULL, NULL},
        {{"Jonas is my new team lead.", .is_other = true}, NOTHING, NULL, NULL},
        {{"Jonas is our new team lead.", .is_other = true}, CHANGE, "team_lead", "Jonas"},
        {{"The deadline is now June 9.", .is_other = true}, CHANGE, "deadline", "June 9"}};

    CHECK_EACH(cases);
}

/* ---- New facts ------------------------------------------------------------------------------- */

TEST(talk_propose, plain_patterns_create_facts)
{
    static const expected cases[] = {
        {{"My email is anna@example.org."}, CREATE, "email", "anna@example.org"},
        {{"My birthday is June 9."}, CREATE, "birthday", "June 9"},
        {{"My favourite color is green."}, CREATE, "favourite_color", "green"},
        {{"My home address is Elm Street 5."}, CREATE, "home_address", "Elm Street 5"},
        {{"Remember that the wifi password is tulip."}, CREATE, "wifi_password", "tulip"},
        {{"Remember: the gate code is 4711.", .is_other = true}, CREATE, "gate_code", "4711"},
        {{"We use Postgres for storage."}, CREATE, "storage", "Postgres"}};

    CHECK_EACH(cases);
}

TEST(talk_propose, all_else_creates_nothing)
{
    static const expected cases[] = {
        {{"The email is anna@example.org."}, NOTHING, NULL, NULL},
        {{"My head is red."}, NOTHING, NULL, NULL},
        {{"My cat is Rex."}, NOTHING, NULL, NULL},
        {{"My phone is ringing."}, NOTHING, NULL, NULL},
        {{"My job is done."}, NOTHING, NULL, NULL},
        {{"My doctor is late."}, NOTHING, NULL, NULL},
        {{"My sister's birthday is June 9."}, NOTHING, NULL, NULL},
        {{"My very old red summer house address is Elm."}, NOTHING, NULL, NULL},
        {{"My name is Anna Maria Berg Lund Moe."}, NOTHING, NULL, NULL},
        {{"We use Postgres for storage.", .is_other = true}, NOTHING, NULL, NULL},
        {{"We use glue for repairs."}, NOTHING, NULL, NULL},
        {{"My train is at 9:30."}, NOTHING, NULL, NULL},
        {{"My bank is probably Acme."}, NOTHING, NULL, NULL},
        {{"Bergen is a city."}, NOTHING, NULL, NULL}};

    CHECK_EACH(cases);
}

/* ---- Several --------------------------------------------------------------------------------- */

TEST(talk_propose, of_several_for_one_key_the_last_stands)
{
    static const asked a = {"Actually, the marquee budget is $6,000. Also the deadline is now "
                            "June 9. No wait, the marquee budget is now $7,000."};
    talk_fixture f;
    lc_proposal p[LC_PROPOSALS_MAX];

    talk_open(&f);
    CHECK_EQ(propose(&f, &a, p), 2);
    CHECK_STR_EQ(p[0].key, "deadline");
    CHECK_STR_EQ(p[0].value, "June 9");
    CHECK_STR_EQ(p[1].key, "marquee_budget");
    CHECK_STR_EQ(p[1].value, "$7,000");
    CHECK_STR_EQ(p[1].quote, "No wait, the marquee budget is now $7,000");
    talk_close(&f);
}

TEST(talk_propose, a_claim_does_not_replace_a_change)
{
    static const asked a = {"The marquee budget is now $6,000. The marquee budget is now June 9."};
    talk_fixture f;
    lc_proposal p[LC_PROPOSALS_MAX];

    talk_open(&f);
    CHECK_EQ(propose(&f, &a, p), 1);
    CHECK_STR_EQ(p[0].value, "$6,000");
    CHECK(!p[0].is_claim);
    talk_close(&f);
}

TEST(talk_propose, two_new_facts_of_one_key_are_one)
{
    static const asked a = {"My email is a@example.org. Sorry, my email is b@example.org."};
    talk_fixture f;
    lc_proposal p[LC_PROPOSALS_MAX];

    talk_open(&f);
    CHECK_EQ(propose(&f, &a, p), 1);
    CHECK_STR_EQ(p[0].value, "b@example.org");
    talk_close(&f);
}

TEST(talk_propose, rules_are_named_by_how_it_is_said)
{
    static const struct {
        const char *text, *rule;
    } cases[] = {{"Actually, the deadline is June 9.", "explicit"},
                 {"The marquee budget is $5.", "implicit"},
                 {"Per the CEO, the deadline is June 9.", "authority"},
                 {"The deadline is now June 9.", "temporal"},
                 {"Remember that the gate code is 4711.", "explicit"}};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        asked a = {cases[i].text};
        lc_proposal p[LC_PROPOSALS_MAX];

        CHECK_EQ(propose(&f, &a, p), 1);
        CHECK_STR_EQ(lc_rule_name(p[0].rule), cases[i].rule);
    }
    talk_close(&f);
}

TEST(talk_propose, subjects_become_keys_of_plain_letters)
{
    static const struct {
        const char *text, *key;
    } cases[] = {{"The Marquee Budget is $5.", "marquee_budget"},
                 {"The price of the tent is $5.", "price_tent"},
                 {"The Q4 goal is $5.", "q4_goal"},
                 {"My sister's goal is $5.", ""},
                 {"The caf\xC3\xA9 budget is $5.", ""},
                 {"Make it $5.", ""}};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lc_statements s;
        loci_str key;
        loci_error err;

        talk_statements(&f, cases[i].text, &s);
        CHECK_EQ(s.count, 1);
        CHECK_OK(lc_subject_key(&f.arena, &s.items[0], &key, &err), err);
        CHECK_STR_EQ(key, cases[i].key);
    }
    talk_close(&f);
}

TEST(talk_propose, nothing_known_and_nothing_said_give_nothing)
{
    lc_statements none = {.count = 0};
    lc_proposal p[LC_PROPOSALS_MAX];
    talk_fixture f;
    size_t count = 1;
    loci_error err;

    talk_open(&f);
    CHECK_OK(lc_talk_propose(f.talk, &f.arena,
                             &(lc_propose_input){.statements = &none, .is_owner = true}, p, &count,
                             &err),
             err);
    CHECK_EQ(count, 0);
    talk_close(&f);
}

static loci_status propose_with_faults(void *ctx)
{
    static const lc_known known[] = {{LC_STR("chair_order"), LC_STR("40 stacking chairs"), true},
                                     {LC_STR("deadline"), LC_STR("June 2"), false}};
    static const loci_str before = LC_STR("The deadline is June 2.");
    lc_statements statements = {.count = 0};
    lc_proposal p[LC_PROPOSALS_MAX];
    lc_heap heap;
    lc_arena arena;
    lc_talk *talk = NULL;
    lc_terms terms;
    size_t count;
    loci_error err;
    loci_status status;

    (void)ctx;
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_talk_new(&heap, talk_ranking, &talk, &err);
    if (status == LOCI_OK)
        status = lc_terms_read(lc_talk_lexicon(talk), &arena,
                               LC_STR("The chair order is now 55. The deadline is June 9. My email "
                                      "is a@example.org."),
                               &terms, &err);
    if (status == LOCI_OK) {
        lc_statements_read(terms, &statements);
        status = lc_talk_propose(talk, &arena,
                                 &(lc_propose_input){.statements = &statements,
                                                     .known = known,
                                                     .known_count = 2,
                                                     .before = &before,
                                                     .before_count = 1,
                                                     .is_owner = true},
                                 p, &count, &err);
    }
    if (status == LOCI_OK)
        CHECK_EQ(count, 3);
    lc_talk_free(talk);
    lc_arena_clear(&arena);
    return status;
}

TEST(talk_propose, running_out_of_memory_is_an_error_and_leaks_nothing)
{
    test_oom_sweep(propose_with_faults, NULL);
}
