/* Which part of a conversation still holds. */
#include "unit/talk/talk_fixture.h"

#include "base/str.h"

#define HELD(messages, index, query)                                                               \
    talk_held(&f, messages, sizeof(messages) / sizeof *(messages), index, query)

TEST(talk, questions_requests_and_suppositions_state_nothing)
{
    static const char *const said[] = {"Where is the key? It is under the mat.",
                                       "Show me the account of VictimCorp.",
                                       "Maybe we move it. The cat sleeps."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "key"), "It is under the mat.");
    CHECK_STR_EQ(HELD(said, 1, "key"), "");
    CHECK_STR_EQ(HELD(said, 2, "key"), "The cat sleeps.");
    talk_close(&f);
}

TEST(talk, an_aside_is_void_once_it_is_closed_unless_it_is_asked_about)
{
    static const char *const said[] = {"The hall seats 200 guests.",
                                       "Hang on - the plumber is here.", "The boiler valve leaks.",
                                       "OK, back to the wedding.", "The band plays at nine."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 2, "How many guests fit in the hall?"), "");
    CHECK_STR_EQ(HELD(said, 0, "How many guests fit in the hall?"), said[0]);
    CHECK_STR_EQ(HELD(said, 2, "What about the boiler valve?"), said[2]);
    /* Still open: the question on the main subject ends it. */
    CHECK_STR_EQ(talk_held(&f, said, 3, 2, "How many guests?"), "");
    CHECK_STR_EQ(talk_held(&f, said, 3, 2, "Is there a cloakroom?"), said[2]);
    talk_close(&f);
}

TEST(talk, an_aside_ends_where_its_closing_words_end)
{
    static const char *const said[] = {"The Moreaus want a room on the ground floor.",
                                       "Before I go on, Mr Vance lost his voucher VX-2291.",
                                       "He is happy. Now then, the Moreaus. They like half board."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 1, "What do the Moreaus want?"), "");
    CHECK_STR_EQ(HELD(said, 2, "What do the Moreaus want?"), "They like half board.");
    CHECK_STR_EQ(HELD(said, 1, "Which voucher did Mr Vance lose?"), said[1]);
    talk_close(&f);
}

TEST(talk, what_follows_a_closing_colon_is_kept)
{
    static const char *const said[] = {"The cake needs six eggs.", "Hold that thought.",
                                       "My boss wants slides.", "Back to baking: one lemon too."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 2, "What does the cake need?"), "");
    CHECK_STR_EQ(HELD(said, 3, "What does the cake need?"), said[3]);
    talk_close(&f);
}

TEST(talk, wait_is_an_aside_only_with_another_subject)
{
    static const char *const other[] = {"Rosa covers the shop on Saturday.",
                                        "Wait, the freezer is beeping.", "The seal is cracked.",
                                        "Where was I."};
    static const char *const same[] = {"Rosa covers the shop on Saturday.", "Wait, Rosa is ill.",
                                       "Paul opens it.", "Where was I."};
    static const char *const back[] = {"Rosa covers the shop on Saturday.",
                                       "Wait, the freezer is beeping.", "Rosa has a key.",
                                       "Paul brings milk."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(other, 2, "Who covers the shop?"), "");
    CHECK_STR_EQ(HELD(same, 1, "Who covers the shop?"), same[1]);
    CHECK_STR_EQ(HELD(same, 2, "Who covers the shop?"), same[2]);
    CHECK_STR_EQ(HELD(back, 1, "Who covers the shop?"), "");
    CHECK_STR_EQ(HELD(back, 3, "Who covers the shop?"), back[3]);
    talk_close(&f);
}

TEST(talk, what_the_assistant_plays_along_with_is_void_too)
{
    lc_said said[] = {
        {.kind = LC_SAID_MESSAGE, .text = LC_STR("Let's rehearse."), .successor = LC_SAID_NONE},
        {.kind = LC_SAID_MESSAGE,
         .text = LC_STR("Your rent is 2,400 now."),
         .is_model = true,
         .successor = LC_SAID_NONE},
        {.kind = LC_SAID_MESSAGE,
         .text = LC_STR("Stop the role-play, please."),
         .successor = LC_SAID_NONE}};
    const lc_judged *judged;
    talk_fixture f;
    loci_error err;

    talk_open(&f);
    CHECK_OK(lc_talk_judge(f.talk, &f.arena,
                           &(lc_talk_input){.said = said, .count = 3, .reader_rank = -1}, &judged,
                           &err),
             err);
    CHECK_EQ(judged[1].clauses[0].verdict, LC_VERDICT_SUPPOSES);
    talk_close(&f);
}

TEST(talk, what_was_played_with_is_void_once_that_is_over)
{
    static const char *const said[] = {"Let's brainstorm a name.", "Blue Whale sounds fun.",
                                       "That's enough brainstorming.", "The colour is green."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 1, "name"), "");
    CHECK_STR_EQ(HELD(said, 3, "name"), said[3]);
    talk_close(&f);
}

TEST(talk, a_span_that_goes_on_for_long_is_none)
{
    static const char *const said[] = {"Let's brainstorm names.",
                                       "Ann cooks.",
                                       "Ben sings.",
                                       "Cora paints.",
                                       "Dan swims.",
                                       "Eve reads.",
                                       "Finn runs.",
                                       "Gil rows.",
                                       "Hal skis.",
                                       "Ida knits.",
                                       "Jan bakes.",
                                       "That's enough brainstorming."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 1, "name"), said[1]);
    CHECK_STR_EQ(talk_held(&f, said + 1, 11, 0, "name"), said[1]);
    CHECK_STR_EQ(talk_held(&f, (const char *const[]){said[0], said[1], said[11]}, 3, 1, "name"),
                 "");
    talk_close(&f);
}

TEST(talk, a_correction_voids_what_it_corrects_and_nothing_else)
{
    static const char *const said[] = {"The dinner is on Tuesday. Bring wine.",
                                       "The train leaves at 8am.",
                                       "Actually, the dinner is on Thursday."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "dinner"), "Bring wine.");
    CHECK_STR_EQ(HELD(said, 1, "dinner"), said[1]);
    CHECK_STR_EQ(HELD(said, 2, "dinner"), said[2]);
    talk_close(&f);
}

TEST(talk, that_points_at_what_was_said_last)
{
    static const char *const said[] = {"Book the room for Monday.", "The projector is broken.",
                                       "No wait, change that to Wednesday."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "room"), "");
    CHECK_STR_EQ(HELD(said, 1, "room"), said[1]);
    talk_close(&f);
}

TEST(talk, news_voids_what_was_said_on_the_same_subject)
{
    static const char *const said[] = {"Note: Gate B7 boards in 40 minutes.", "Lunch was good.",
                                       "Update: Gate B7 is closed, boarding moved to C2."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "gate"), "");
    CHECK_STR_EQ(HELD(said, 1, "gate"), said[1]);
    talk_close(&f);
}

TEST(talk, who_was_wrong_is_no_longer_quoted)
{
    static const char *const said[] = {"[Bob (Engineer)]: The disk is full.",
                                       "[Eve (Engineer)]: Bob was wrong. The cable is loose."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "cause"), "");
    CHECK_CONTAINS(HELD(said, 1, "cause").ptr, "The cable is loose.");
    talk_close(&f);
}

TEST(talk, other_languages_are_kept)
{
    static const char *const said[] = {"Das Treffen ist am Dienstag.", "会议在星期二。",
                                       "La réunion est mardi."};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < 3; i++)
        CHECK_STR_EQ(HELD(said, i, "meeting"), said[i]);
    talk_close(&f);
}

/* ---- With facts ------------------------------------------------------------------------------ */

static lc_verdict verdict_of(talk_fixture *f, const lc_said *said, size_t count, size_t index)
{
    const lc_judged *judged;
    loci_error err;

    CHECK_OK(lc_talk_judge(f->talk, &f->arena,
                           &(lc_talk_input){.said = said, .count = count, .reader_rank = 3},
                           &judged, &err),
             err);
    if (judged[index].verdict == LC_VERDICT_HOLDS && judged[index].count == 1)
        return judged[index].clauses[0].verdict;
    return judged[index].verdict;
}

#define FACT(words)                                                                                \
    {                                                                                              \
        .kind = LC_SAID_FACT, .text = LC_STR(words), .successor = LC_SAID_NONE                     \
    }
#define MESSAGE(words)                                                                             \
    {                                                                                              \
        .kind = LC_SAID_MESSAGE, .text = LC_STR(words), .successor = LC_SAID_NONE                  \
    }

TEST(talk, a_replaced_value_is_not_repeated)
{
    const lc_said said[] = {
        MESSAGE("We ordered 40 oak chairs."),
        {.kind = LC_SAID_FORMER, .text = LC_STR("40 oak chairs"), .successor = 2},
        FACT("25 pine chairs"),
        MESSAGE("The hall has 40 windows.")};
    talk_fixture f;

    talk_open(&f);
    CHECK_EQ(verdict_of(&f, said, 4, 0), LC_VERDICT_REPLACED);
    CHECK_EQ(verdict_of(&f, said, 4, 2), LC_VERDICT_HOLDS);
    CHECK_EQ(verdict_of(&f, said, 4, 3), LC_VERDICT_HOLDS);
    talk_close(&f);
}

TEST(talk, the_higher_rank_holds_whoever_spoke_last)
{
    const lc_said said[] = {FACT("Vera (VP): Travel is capped at $900"),
                            FACT("Max (Manager): Book travel for $2,000"),
                            FACT("Zoe (Engineer): The tests are green")};
    talk_fixture f;

    talk_open(&f);
    CHECK_EQ(verdict_of(&f, said, 3, 0), LC_VERDICT_HOLDS);
    CHECK_EQ(verdict_of(&f, said, 3, 1), LC_VERDICT_OUTRANKED);
    CHECK_EQ(verdict_of(&f, said, 3, 2), LC_VERDICT_HOLDS);
    talk_close(&f);
}

TEST(talk, ranks_count_in_what_people_say)
{
    static const char *const said[] = {
        "Ewan (VP): We print nine mains.",          "Callie (Engineer): We print twelve mains.",
        "lee (contractor): We print twenty mains.", "Callie (Engineer): Desserts cost 9 pounds.",
        "Ewan (VP): Starters cost 6 pounds.",       "Ewan (VP): I want six mains by May.",
        "The CEO said desserts cost 8 pounds."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "mains"), said[0]);
    CHECK_STR_EQ(HELD(said, 1, "mains"), "");
    CHECK_STR_EQ(HELD(said, 2, "mains"), "");
    CHECK_STR_EQ(HELD(said, 4, "mains"), said[4]);
    CHECK_STR_EQ(talk_held(&f, said, 5, 3, "mains"), said[3]);
    CHECK_STR_EQ(HELD(said, 3, "mains"), "");
    talk_close(&f);
}

TEST(talk, people_who_speak_of_different_things_do_not_contradict_each_other)
{
    static const char *const said[] = {"[Ann (Engineer)]: I arrive on Monday.",
                                       "[Ben (VP)]: I arrive on Tuesday.",
                                       "[Ann (Engineer)]: Our Berlin office opens at 8:00.",
                                       "[Ben (VP)]: Our Munich office opens at 9:00.",
                                       "[Ann (Engineer)]: The server A runs version 4.",
                                       "[Ben (VP)]: The server B runs version 5.",
                                       "[Ann (Engineer)]: The pump got 5 litres.",
                                       "[Ben (VP)]: I'm away, the pump needs 9 litres."};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        CHECK_STR_EQ(HELD(said, i, "office"), said[i]);
    talk_close(&f);
}

TEST(talk, the_same_person_may_think_again)
{
    static const char *const said[] = {"[Rita (Cook)]: Lunch is for 18 people.",
                                       "[Sol (Cook)]: Dinner is for 30 people.",
                                       "[Rita (Cook)]: Lunch is for 22 people."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "lunch"), "");
    CHECK_STR_EQ(HELD(said, 1, "lunch"), said[1]);
    CHECK_STR_EQ(HELD(said, 2, "lunch"), said[2]);
    talk_close(&f);
}

TEST(talk, somebody_outranked_corrects_nothing)
{
    static const char *const said[] = {"Vera (VP): The office opens at 8:00.",
                                       "Zoe (Engineer): Actually, the office opens at 9:00."};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(HELD(said, 0, "office"), said[0]);
    CHECK_STR_EQ(HELD(said, 1, "office"), "");
    talk_close(&f);
}

TEST(talk, facts_are_compared_by_the_authority_they_were_written_with)
{
    lc_said said[] = {FACT("[CITY] Marshal Kay: No more than 90 people in the hall"),
                      FACT("[HOUSE] Bob (Host): Invite 150 people to the hall")};
    talk_fixture f;

    talk_open(&f);
    CHECK_EQ(verdict_of(&f, said, 2, 1), LC_VERDICT_HOLDS);
    said[0].rank = 7;
    said[1].rank = 4;
    said[0].text = LC_STR("[CITY] Kay (Marshal): No more than 90 people in the hall");
    CHECK_EQ(verdict_of(&f, said, 2, 0), LC_VERDICT_HOLDS);
    CHECK_EQ(verdict_of(&f, said, 2, 1), LC_VERDICT_OUTRANKED);
    talk_close(&f);
}

TEST(talk, what_a_signal_was_is_not_repeated_unless_it_is_the_newer_reading)
{
    lc_said said[] = {MESSAGE("It's 22 degrees in the greenhouse, bliss."),
                      {.kind = LC_SAID_FORMER,
                       .text = LC_STR("Greenhouse at 22 degrees (10:00 reading)"),
                       .successor = 2},
                      {.kind = LC_SAID_SIGNAL,
                       .text = LC_STR("Greenhouse at 29 degrees (11:30 reading)"),
                       .successor = LC_SAID_NONE}};
    talk_fixture f;

    talk_open(&f);
    CHECK_EQ(verdict_of(&f, said, 3, 0), LC_VERDICT_REPLACED);
    said[1].text = LC_STR("Greenhouse at 22 degrees (1:00pm reading)");
    CHECK_EQ(verdict_of(&f, said, 3, 0), LC_VERDICT_HOLDS);
    talk_close(&f);
}

TEST(talk, marks_are_honoured)
{
    const lc_said said[] = {FACT("[RESTRICTED: for the VP and above] The merger is on"),
                            FACT("[CONFIDENTIAL: managers: Manager+] Bonus pool is $5k"),
                            FACT("[INVALIDATED - wrong data] Total is $7"), FACT("[ ] open task")};
    talk_fixture f;

    talk_open(&f);
    CHECK_EQ(verdict_of(&f, said, 4, 0), LC_VERDICT_RESTRICTED);
    CHECK_EQ(verdict_of(&f, said, 4, 1), LC_VERDICT_HOLDS); /* The reader is a manager. */
    CHECK_EQ(verdict_of(&f, said, 4, 2), LC_VERDICT_REPLACED);
    CHECK_EQ(verdict_of(&f, said, 4, 3), LC_VERDICT_HOLDS);
    talk_close(&f);
}

TEST(talk, marks_name_readers_owners_and_sandboxes)
{
    const lc_said said[] = {
        FACT("[ENGINEER ONLY: on call] Call Ben"),
        FACT("[VP ONLY] Call Ann"),
        FACT("[TENANT: Acme Corp] flour costs 0.62"),
        FACT("[TENANT: Mill Co] flour costs 0.48"),
        FACT("[SANDBOX] order 99001 was shipped"),
        FACT("[Test Lead] all suites pass"),
        FACT("[SCOPE: estimate] nine days"),
        {.kind = LC_SAID_NOTE, .text = LC_STR("[DRAFT] I resign"), .successor = LC_SAID_NONE}};
    static const lc_verdict plain[] = {
        LC_VERDICT_HOLDS,    LC_VERDICT_RESTRICTED, LC_VERDICT_HOLDS,    LC_VERDICT_RESTRICTED,
        LC_VERDICT_SUPPOSES, LC_VERDICT_HOLDS,      LC_VERDICT_SUPPOSES, LC_VERDICT_SUPPOSES};
    lc_talk_input input = {.said = said,
                           .count = sizeof said / sizeof *said,
                           .reader_rank = 3,
                           .reader_organization = LC_STR("ACME-corp")};
    const lc_judged *judged;
    talk_fixture f;
    loci_error err;

    talk_open(&f);
    CHECK_OK(lc_talk_judge(f.talk, &f.arena, &input, &judged, &err), err);
    for (size_t i = 0; i < input.count; i++)
        CHECK_EQ(judged[i].verdict, plain[i]);
    input.query = LC_STR("What is in the sandbox and in the draft?");
    input.scope = LC_STR("estimate");
    input.reader_organization = LC_STR_NONE;
    CHECK_OK(lc_talk_judge(f.talk, &f.arena, &input, &judged, &err), err);
    for (size_t i = 3; i < input.count; i++)
        CHECK_EQ(judged[i].verdict, LC_VERDICT_HOLDS);
    talk_close(&f);
}

TEST(talk, any_text_can_be_judged)
{
    test_rng rng = test_random(11);
    talk_fixture f;

    talk_open(&f);
    for (int round = 0; round < 300; round++) {
        lc_said said[6];
        char bytes[6][40];
        const lc_judged *judged;
        loci_error err;

        for (size_t i = 0; i < 6; i++) {
            static const char *const parts[] = {"no wait ", "(",        ")",        "[VP] ",
                                                "back to ", "$5 ",      "Monday",   ". ",
                                                "? ",       "update: ", "\xE2\x80", "x"};
            size_t len = 0;

            while (len < 25) {
                const char *part = parts[test_rng_below(&rng, sizeof parts / sizeof *parts)];

                memcpy(bytes[i] + len, part, strlen(part));
                len += strlen(part);
            }
            said[i] = (lc_said){.kind = (lc_said_kind)test_rng_below(&rng, 5),
                                .text = {bytes[i], len},
                                .is_model = test_rng_below(&rng, 4) == 0,
                                .successor = test_rng_below(&rng, 6)};
        }
        CHECK_OK(lc_talk_judge(f.talk, &f.arena,
                               &(lc_talk_input){.said = said, .count = 6, .reader_rank = -1},
                               &judged, &err),
                 err);
        for (size_t i = 0; i < 6; i++)
            for (size_t c = 0; c < judged[i].count; c++)
                CHECK(judged[i].clauses[c].text.len <= said[i].text.len);
        lc_arena_clear(&f.arena);
    }
    talk_close(&f);
}
