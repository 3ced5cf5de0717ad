/* Values: their kinds, which can replace which, and clauses that repeat one that was lost. */
#include "talk/value.h"

#include "unit/talk/talk_fixture.h"

TEST(talk_value, the_kind_is_that_of_its_most_telling_term)
{
    static const struct {
        const char *value;
        lc_value_kind kind;
    } cases[] = {{"$200 for July", LC_VALUE_MONEY},
                 {"200 dollars", LC_VALUE_MONEY},
                 {"£20", LC_VALUE_MONEY},
                 {"15% of it", LC_VALUE_PERCENT},
                 {"June 9", LC_VALUE_DATE},
                 {"2026-06-09", LC_VALUE_DATE},
                 {"next week", LC_VALUE_DATE},
                 {"2pm", LC_VALUE_TIME},
                 {"at noon", LC_VALUE_TIME},
                 {"55 chairs", LC_VALUE_NUMBER},
                 {"twelve", LC_VALUE_NUMBER},
                 {"approved", LC_VALUE_STATE},
                 {"Bergen", LC_VALUE_NAME},
                 {"the Hall B", LC_VALUE_NAME},
                 {"a@example.org", LC_VALUE_NAME},
                 {"soup and bread", LC_VALUE_WORDS},
                 {"late on Friday", LC_VALUE_DATE},
                 {"approved by all", LC_VALUE_STATE},
                 {"approved paint", LC_VALUE_WORDS},
                 {"Bergen harbour", LC_VALUE_WORDS},
                 {"of the", LC_VALUE_NONE},
                 {"", LC_VALUE_NONE}};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lc_value_kind kind = lc_value_kind_of(talk_terms(&f, cases[i].value));

        if (kind != cases[i].kind)
            test_fail(__FILE__, __LINE__, "%s: %d", cases[i].value, (int)kind);
    }
    talk_close(&f);
}

TEST(talk_value, only_values_of_one_kind_and_unit_are_alike)
{
    static const struct {
        const char *older, *newer;
        bool is_alike;
    } cases[] = {{"$200", "$300", true},     {"$200", "300 euros", true},
                 {"$200", "June 9", false},  {"June 9", "Friday", true},
                 {"10:00", "noon", true},    {"40 chairs", "55 chairs", true},
                 {"40 chairs", "55", true},  {"40 chairs", "55 tables", false},
                 {"40", "55 chairs", false}, {"40", "$55", true},
                 {"40", "55%", true},        {"40", "June 9", false},
                 {"$40", "55", false},       {"approved", "cancelled", true},
                 {"Oslo", "Bergen", true},   {"Oslo", "soup", false},
                 {"soup", "bread", true},    {"approved", "Bergen", false},
                 {"soup", "the", false},     {"", "soup", false}};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (lc_value_is_alike(talk_terms(&f, cases[i].older), talk_terms(&f, cases[i].newer)) !=
            cases[i].is_alike)
            test_fail(__FILE__, __LINE__, "%s, %s", cases[i].older, cases[i].newer);
    talk_close(&f);
}

static bool is_stated(talk_fixture *f, const char *const lost[3], const char *text, bool is_echo)
{
    lc_lost_value value = lc_lost_value_of(talk_key(f, lost[0]), talk_terms(f, lost[1]),
                                           talk_terms(f, lost[2]));
    lc_terms clause = talk_terms(f, text);

    return lc_lost_value_is_stated(&value, clause, lc_sense_bits(clause), is_echo);
}

/* Key, value and successor, then a clause. */
typedef struct lost_case {
    const char *lost[3];
    const char *clause;
    bool is_stated;
} lost_case;

static void check_lost(const lost_case *cases, size_t count)
{
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < count; i++)
        if (is_stated(&f, cases[i].lost, cases[i].clause, false) != cases[i].is_stated)
            test_fail(__FILE__, __LINE__, "%s -> %s: %s", cases[i].lost[1], cases[i].lost[2],
                      cases[i].clause);
    talk_close(&f);
}

#define CHECK_LOST(cases) check_lost((cases), sizeof(cases) / sizeof *(cases))

TEST(talk_value, a_clause_about_the_fact_states_the_lost_value)
{
    static const lost_case cases[] = {
        {{"marquee_budget", "$4,000", "$5,000"}, "the budget is $4,000", true},
        {{"marquee_budget", "$4,000", "$5,000"}, "the budget is $4k", true},
        {{"marquee_budget", "$4,000", "$5,000"}, "$4,000", true},
        {{"marquee_budget", "$4,000", "$5,000"}, "the car costs $4,000 in all", false},
        {{"marquee_budget", "$4,000", "$5,000"}, "the budget is $4,500", false},
        {{"marquee_budget", "$4,000", "$5,000"}, "the budget is fine", false},
        {{"venue", "Town Hall", "Hotel Lux"}, "we all meet in the town hall tonight", true},
        {{"venue", "Town Hall", "Hotel Lux"}, "we all meet in town tonight", false},
        {{"venue", "Town Hall", ""}, "see you in the town hall then", true},
        {{"", "$4,000", "$5,000"}, "the tent budget is $4,000", false}};

    CHECK_LOST(cases);
}

TEST(talk_value, a_clause_that_tells_of_the_change_is_no_repeat)
{
    static const lost_case cases[] = {
        {{"marquee_budget", "$4,000", "$5,000"}, "the budget went from $4,000 to $5,000", false},
        {{"venue", "Town Hall", "Hotel Lux"}, "not the Town Hall, the Hotel Lux", false}};

    CHECK_LOST(cases);
}

TEST(talk_value, what_both_values_have_tells_nothing)
{
    static const lost_case cases[] = {
        {{"menu", "tomato soup", "onion soup"}, "the menu has soup", false},
        {{"menu", "tomato soup", "onion soup"}, "the menu has tomato", true},
        {{"menu", "soup", "soup and bread"}, "the menu is soup", false},
        /* Parentheses behind the new value are not part of it. */
        {{"budget", "$100", "$150 (the $100 was last year)"}, "the budget is $100", true}};

    CHECK_LOST(cases);
}

TEST(talk_value, a_long_value_is_repeated_with_most_of_its_words_and_all_amounts)
{
    static const lost_case cases[] = {
        {{"plan", "paint the garden fence green for $50", ""},
         "paint the garden fence for $50",
         true},
        {{"plan", "paint the garden fence green for $50", ""},
         "we paint our garden fence green today",
         false},
        {{"plan", "paint the garden fence green for $50", ""}, "we paint it for $50 today", false},
        /* Nothing but a part of it, two words at least. */
        {{"plan", "paint the garden fence green for $50", ""}, "the garden fence", true},
        {{"plan", "paint the garden fence green for $50", ""}, "the garden", false}};

    CHECK_LOST(cases);
}

TEST(talk_value, of_an_echo_less_is_asked)
{
    static const char *const lost[3] = {"marquee_budget", "$4,000", "$5,000"};
    talk_fixture f;

    talk_open(&f);
    CHECK(is_stated(&f, lost, "noted for tents: $4,000", true));
    CHECK(!is_stated(&f, lost, "noted for tents: $4,000", false));
    CHECK(!is_stated(&f, lost, "the old red car costs $4,000 or less", true));
    talk_close(&f);
}

TEST(talk_value, a_document_is_no_value_that_can_be_lost)
{
    talk_fixture f;

    talk_open(&f);
    for (int words = 128; words <= 129; words++) {
        bool is_value = words == 128;
        const char *text = "";

        for (int i = 0; i < words; i++)
            text = test_format("%s%s ", text, i % 2 == 0 ? "fence" : "garden");
        CHECK_EQ(is_stated(&f, (const char *const[3]){"plan", text, ""}, "the plan is garden fence",
                           false),
                 is_value);
        CHECK_EQ(is_stated(&f, (const char *const[3]){"plan", "red tent", text},
                           "the plan is red tent", false),
                 is_value);
    }
    talk_close(&f);
}
