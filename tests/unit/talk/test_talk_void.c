/* What later words make void without saying so, what the assistant made up, and who may read what.
 * Every rule is shown with what it catches and with what only looks like it. */
#include "unit/talk/talk_fixture.h"

#include "base/str.h"

#define HELD(said, index, query) talk_held(&f, said, sizeof(said) / sizeof *(said), index, query)

/* Two messages of one person: does the first still hold after the second? */
typedef struct pair {
    const char *first, *second;
    bool holds;
} pair;

static void check(const pair *pairs, size_t count, const char *query)
{
    talk_fixture f;
    const char *wrong = "";

    talk_open(&f);
    for (size_t i = 0; i < count; i++) {
        const char *const said[] = {pairs[i].first, pairs[i].second};

        if ((HELD(said, 0, query).len > 0) != pairs[i].holds ||
            !lc_str_eq(HELD(said, 1, query), loci_str_of(pairs[i].second)))
            wrong = test_format("%s\n%s / %s", wrong, pairs[i].first, pairs[i].second);
    }
    talk_close(&f);
    if (*wrong != '\0')
        test_fail(__FILE__, __LINE__, "%s", wrong);
}

#define CHECK_PAIRS(pairs, query) check(pairs, sizeof(pairs) / sizeof *(pairs), query)

TEST(talk_void, the_same_words_with_another_amount_replace_the_first)
{
    static const pair pairs[] = {
        {"Lunch for 14.", "Two came along, so lunch for 16 please.", false},
        {"Exam entries close on 21 March.", "Exam entries close on 18 March.", false},
        {"Rope is at 3.20 a metre.", "Rope's 2.90 a metre now.", false},
        {"Lunch for 14.", "Dinner for 16.", true},
        {"Lunch for 14.", "Another lunch for 16.", true},
        {"Bed 3 needs fluids.", "Bed 7 needs rest.", true},
        {"Flour costs 2 pounds.", "Sugar costs 3 pounds.", true},
        {"I thawed it on Monday.", "I thawed it on Wednesday.", true},
    };

    CHECK_PAIRS(pairs, "what is planned");
}

TEST(talk_void, what_was_called_off_or_given_up_is_void)
{
    static const pair pairs[] = {
        {"Training on Thursday is happening.", "Thursday's been called off.", false},
        {"My bus is the 17:05 from stop C.", "The app says the 17:05 is cancelled.", false},
        {"We shoot at the quarry.", "The quarry's flooded. We're at the old mill instead.", false},
        {"I'm bringing the crane.", "The crane won't fit. I'll bring the dolly.", false},
        {"We shoot at the quarry.", "The quarry's flooded.", true},
        {"The quarry is private land.", "The quarry's flooded. We're at the mill instead.", true},
        {"Training on Tuesday is happening.", "Thursday's been called off.", true},
    };

    CHECK_PAIRS(pairs, "what is planned");
}

TEST(talk_void, another_name_takes_the_place)
{
    static const pair pairs[] = {
        {"I'm doing the cleaning in MATLAB.", "I've gone over to Julia for the cleaning.", false},
        {"I'm doing the drawing in Figma.", "I've gone over to Julia for the cleaning.", true},
    };

    CHECK_PAIRS(pairs, "what is used");
}

TEST(talk_void, a_task_goes_to_somebody_else)
{
    static const char *const said[] = {
        "[Ken (Engineer)]: I'll do burgers.", "[Ken (Engineer)]: Lou does the burgers.",
        "[Ann (Engineer)]: I do the salad.", "[Ann (Engineer)]: I'm ordering pizza instead."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "food"), "");
    CHECK_STR_EQ(HELD(said, 1, "food"), said[1]);
    CHECK_STR_EQ(HELD(said, 2, "food"), "");
    CHECK_STR_EQ(HELD(said, 3, "food"), said[3]);
    talk_close(&f);
}

/* A conclusion falls with what it was drawn from, unless it was drawn after the change. */
TEST(talk_void, conclusions_fall_with_their_premise)
{
    static const char *const before[] = {"The motor draws 12 amps.", "So a 16 amp fuse will do.",
                                         "Correction: the motor draws 21 amps."};
    static const char *const after[] = {"The motor draws 12 amps.",
                                        "Correction: the motor draws 21 amps.",
                                        "So a 25 amp fuse will do."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(before, 1, "motor"), "");
    CHECK_STR_EQ(HELD(before, 2, "motor"), before[2]);
    CHECK_STR_EQ(HELD(after, 2, "motor"), after[2]);
    talk_close(&f);
}

TEST(talk_void, orders_that_clash_are_decided_by_rank)
{
    static const char *const said[] = {"[Colm (Engineer)]: Waive the bag fee for everyone.",
                                       "[Bron (VP)]: No bag fee waivers, fees apply to all.",
                                       "[Colm (Engineer)]: Tests are run online.",
                                       "[Bron (VP)]: Tests are run on paper.",
                                       "[Colm (Engineer)]: The mayor goes on the front page.",
                                       "[Bron (VP)]: Overruled. The flood has the front page."};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        CHECK_STR_EQ(HELD(said, i, "rules"), i % 2 == 0 ? "" : said[i]);
    talk_close(&f);
}

TEST(talk_void, a_deputy_is_below_and_a_pair_of_words_is_one_title)
{
    lc_ranking *ranking = talk_ranking;

    CHECK_EQ(lc_rank_in(LC_STR("Deputy Manager"), ranking), 1);
    CHECK_EQ(lc_rank_in(LC_STR("Manager"), ranking), 3);
    CHECK_EQ(lc_rank_in(LC_STR("co-manager"), ranking), 3);
    CHECK_EQ(lc_rank_in(LC_STR("gardener"), ranking), -1);
}

TEST(talk_void, stories_about_others_are_left_out_unless_asked_for)
{
    static const char *const said[] = {"We collect the bread at 5:40.",
                                       "My sister gets her vegetables at 6:15.",
                                       "Last year it was 7:00."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "When do we collect the bread?"), said[0]);
    CHECK_STR_EQ(HELD(said, 1, "When do we collect the bread?"), "");
    CHECK_STR_EQ(HELD(said, 2, "When do we collect the bread?"), "");
    CHECK_STR_EQ(HELD(said, 1, "When does my sister get vegetables?"), said[1]);
    talk_close(&f);
}

/* ---- Asides and explorations ----------------------------------------------------------------- */

TEST(talk_void, an_aside_needs_no_words_to_open_or_to_close)
{
    static const char *const unclosed[] = {
        "The data role needs five years.", "Sorry, someone's at the door.",
        "It was the courier, code 7731.", "Right, the data role. It's hybrid."};
    static const char *const unopened[] = {"The tractor needs a new filter.",
                                           "Oh, my daughter's team won 3-1.",
                                           "Anyway, back to the tractor: the garage is Hollins."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(unclosed, 2, "What does the data role need?"), "");
    CHECK_STR_EQ(HELD(unclosed, 0, "What does the data role need?"), unclosed[0]);
    CHECK_CONTAINS(HELD(unclosed, 3, "What does the data role need?").ptr, "hybrid");
    CHECK_STR_EQ(HELD(unopened, 0, "What about the tractor?"), unopened[0]);
    CHECK_STR_EQ(HELD(unopened, 1, "What about the tractor?"), "");
    CHECK_CONTAINS(HELD(unopened, 2, "What about the tractor?").ptr, "Hollins");
    talk_close(&f);
}

TEST(talk_void, what_ends_began_with_the_suppositions_before_it)
{
    static const char *const said[] = {"Say we charged 5 pounds.", "The margin is 40%.",
                                       "OK, enough make-believe."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "the price"), "");
    CHECK_STR_EQ(HELD(said, 1, "the price"), "");
    CHECK_STR_EQ(talk_held(&f, said + 1, 1, 0, "the price"), said[1]);
    talk_close(&f);
}

/* ---- The assistant --------------------------------------------------------------------------- */

/* What holds of the second of three things said: a person's, the assistant's, a person's. */
static bool holds_of_model(talk_fixture *f, const char *before, const char *model,
                           const char *answer)
{
    lc_said said[] = {{.kind = LC_SAID_MESSAGE, .text = loci_str_of(before)},
                      {.kind = LC_SAID_MESSAGE, .text = loci_str_of(model), .is_model = true},
                      {.kind = LC_SAID_MESSAGE, .text = loci_str_of(answer)}};
    const lc_judged *judged;
    loci_error err;

    CHECK_OK(lc_talk_judge(f->talk, &f->arena,
                           &(lc_talk_input){.said = said, .count = 3, .reader_rank = -1}, &judged,
                           &err),
             err);
    return judged[1].verdict == LC_VERDICT_HOLDS &&
           judged[1].clauses[0].verdict == LC_VERDICT_HOLDS;
}

TEST(talk_void, what_the_assistant_made_up_is_a_claim)
{
    static const char before[] = "I want a florist for June.";
    talk_fixture f;

    talk_open(&f);
    CHECK(!holds_of_model(&f, before, "I booked one for 600 pounds.", "The dress is white."));
    CHECK(holds_of_model(&f, before, "I booked one for 600 pounds.", "Great, thank you."));
    CHECK(holds_of_model(&f, before, "A florist for June it is.", "The dress is white."));
    CHECK(!holds_of_model(&f, before, "A florist for June it is.", "I never said June."));
    CHECK(!holds_of_model(&f, "I ran ten miles.", "A half marathon it was.",
                          "Ten miles, not a half."));
    talk_close(&f);
}

/* ---- Whom it is for -------------------------------------------------------------------------- */

static bool is_shown(talk_fixture *f, const char *text, int rank, const char *title)
{
    lc_said said = {.kind = LC_SAID_FACT, .text = loci_str_of(text)};
    const lc_judged *judged;
    loci_error err;

    CHECK_OK(lc_talk_judge(f->talk, &f->arena,
                           &(lc_talk_input){.said = &said,
                                            .count = 1,
                                            .reader_rank = rank,
                                            .reader_title = loci_str_of(title),
                                            .reader_organization = LC_STR("Acme Foods")},
                           &judged, &err),
             err);
    return judged[0].verdict == LC_VERDICT_HOLDS;
}

TEST(talk_void, a_restricted_text_is_for_those_it_names)
{
    talk_fixture f;

    talk_open(&f);
    CHECK(is_shown(&f, "[RESTRICTED: manager only] x", 3, "Manager"));
    CHECK(is_shown(&f, "[RESTRICTED: manager and above] x", 5, "VP"));
    CHECK(!is_shown(&f, "[RESTRICTED: manager only] x", 2, "Engineer"));
    CHECK(!is_shown(&f, "[CONFIDENTIAL: ethical wall, Brandreth team only] x", 6, "CEO"));
    CHECK(!is_shown(&f, "[CONFIDENTIAL: client Larkhill only] x", 6, "CEO"));
    CHECK(is_shown(&f, "[CONFIDENTIAL: client Acme Foods only] x", 1, "Contractor"));
    CHECK(!is_shown(&f, "[PRIVATE: patient and doctor only] x", 6, "CEO"));
    CHECK(is_shown(&f, "[CONFIDENTIAL: treating physicians only] x", -1, "Physician"));
    CHECK(!is_shown(&f, "[NOT FOR CONTRACTOR] x", 1, "Contractor"));
    CHECK(is_shown(&f, "[NOT FOR CONTRACTOR] x", 3, "Manager"));
    talk_close(&f);
}

TEST(talk_void, what_is_said_in_confidence_is_for_that_rank)
{
    static const char *const said[] = {"[Ann (VP)]: Between us: we are selling the firm.",
                                       "[Ann (VP)]: We open at 9."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "news"), "");
    CHECK_STR_EQ(HELD(said, 1, "news"), said[1]);
    talk_close(&f);
}
