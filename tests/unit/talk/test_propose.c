/* Which sentences give a known fact another value, and the many that do not. */
#include "unit/talk/talk_fixture.h"

#include "base/str.h"

static const lc_known known[] = {
    {LC_STR("home_city"), LC_STR("Boston"), false, LC_SAID_NONE},
    {LC_STR("meeting_time"), LC_STR("Tuesday at 2pm"), false, LC_SAID_NONE},
    {LC_STR("project_status"), LC_STR("on track"), false, LC_SAID_NONE},
    {LC_STR("team_budget"), LC_STR("$40,000"), false, LC_SAID_NONE},
    {LC_STR("selected_vendor"), LC_STR("DataPro"), false, LC_SAID_NONE},
    {LC_STR("shirt_color"), LC_STR("blue"), false, LC_SAID_NONE},
    {LC_STR("old_design"), LC_STR("cards"), true, 7},
    {LC_STR("design"), LC_STR("lists"), false, LC_SAID_NONE},
    {LC_STR("order_quantity"), LC_STR("40 folding chairs"), false, LC_SAID_NONE},
    {LC_STR("marquee_budget"), LC_STR("6,500 pounds"), false, LC_SAID_NONE},
    {LC_STR("train_departure"), LC_STR("9:30 from platform 4"), true, 11},
    {LC_STR("train_departure"), LC_STR("ten past eleven"), false, LC_SAID_NONE},
    {LC_STR("logo"), LC_STR("the heron"), false, LC_SAID_NONE},
};

#define BEFORE_MAX 5

/* The proposals for `message` after what was said before, NULL at the end, as "key=value;..." */
static loci_str proposed_after(talk_fixture *f, const char *const *before, const char *message)
{
    lc_said said[BEFORE_MAX];
    lc_propose_input input = {.known = known,
                              .known_count = sizeof known / sizeof *known,
                              .before = said,
                              .message = loci_str_of(message)};
    lc_proposal out[LC_PROPOSALS_MAX];
    size_t count = 0;
    loci_error err;
    char *text = test_format("%s", "");

    for (; before[input.before_count] != NULL; input.before_count++)
        said[input.before_count] = (lc_said){.kind = LC_SAID_MESSAGE,
                                             .text = loci_str_of(before[input.before_count]),
                                             .successor = LC_SAID_NONE};
    CHECK_OK(lc_talk_propose(f->talk, &f->arena, &input, out, &count, &err), err);
    for (size_t i = 0; i < count; i++)
        text = test_format("%s%s%.*s=%.*s", text, i > 0 ? ";" : "",
                           LC_STR_ARG(known[out[i].known].key), LC_STR_ARG(out[i].value));
    return loci_str_of(text);
}

static loci_str proposed(talk_fixture *f, const char *before, const char *message)
{
    return proposed_after(f, (const char *const[]){before, NULL}, message);
}

TEST(propose, corrections_news_and_decisions_find_their_fact)
{
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(proposed(&f, NULL, "Actually, the meeting is Thursday at 3pm."),
                 "meeting_time=Thursday at 3pm");
    CHECK_STR_EQ(proposed(&f, "We meet Tuesday at 2pm.", "No wait, make that Wednesday."),
                 "meeting_time=Wednesday");
    CHECK_STR_EQ(proposed(&f, NULL, "As of today, the project is delayed."),
                 "project_status=delayed");
    CHECK_STR_EQ(proposed(&f, NULL, "The team budget has been cut to $30,000."),
                 "team_budget=$30,000");
    CHECK_STR_EQ(proposed(&f, "DataPro won the hosting contract.",
                          "Let's go with GlobalTech for the hosting contract."),
                 "selected_vendor=GlobalTech");
    CHECK_STR_EQ(proposed(&f, NULL, "On second thought, go back to cards."), "design=cards");
    CHECK_STR_EQ(proposed(&f, NULL, "My home city is now Denver."), "home_city=Denver");
    CHECK_STR_EQ(proposed(&f, NULL, "They pushed our meeting to Friday."), "meeting_time=Friday");
    talk_close(&f);
}

/* What people say all day, some of it with the words that change things. */
static const char *const ordinary[] = {
    "New York",
    "I was moved by the film",
    "Is it raining now?",
    "New York is lovely in the spring.",
    "We visited the new museum in Boston.",
    "My sister moved to Lyon last year.",
    "The film is now in cinemas.",
    "Actually, I like olives.",
    "That updated my view of jazz.",
    "He changed the subject.",
    "They changed their clothes instead of leaving.",
    "The new intern is called Ben.",
    "What time is the meeting now?",
    "Could we move the meeting to Friday?",
    "Maybe we should change the meeting to Friday.",
    "If the project slips, we would need $50,000.",
    "Is the budget final?",
    "I wonder whether the vendor is reliable.",
    "Suppose the project is cancelled.",
    "The weather is now sunny.",
    "Now that's what I call music.",
    "She corrected my spelling.",
    "A correction fluid pen costs $3.",
    "The updated edition is on the shelf.",
    "Instead of tea I had coffee.",
    "The train moved slowly.",
    "We decided to laugh about it.",
    "I chose my words carefully.",
    "Let's go for a walk.",
    "We're going with friends.",
    "The old budget was smaller.",
    "We used to meet on Mondays.",
    "Originally the meeting was on Monday.",
    "The status quo is boring.",
    "New shoes hurt.",
    "He is no longer hungry.",
    "The movers are here now.",
    "It was moved and seconded.",
    "That is a moving story.",
    "Change is hard.",
    "I have a change of clothes.",
    "The current is strong here.",
    "Nowadays people read less.",
    "I know the author.",
    "The project room smells of paint.",
    "Our vendor sent flowers.",
    "A meeting room has windows.",
    "Who designed the meeting agenda?",
    "Please confirm the budget.",
    "Can you update me on the project?",
    "Tell me about Boston.",
    "What if the meeting is on Friday?",
    "They said the shirt is nice.",
    "I read about a budget airline.",
    "Back to school season has begun.",
    "My back is sore now.",
    "The marquee budget was 5,000 pounds.",
    "Their marquee budget is 9,000 pounds.",
    "The marquee budget for the other wedding is 9,000 pounds.",
    "The marquee budget is not 9,000 pounds.",
    "The marquee budget is under review.",
    "The marquee poles weigh 300 pounds.",
    "A budget of 9,000 pounds would be nice.",
    "Is the marquee budget 9,000 pounds?",
    "The flower budget is 900 pounds.",
    "The bus departure is at noon.",
    "He has twelve chairs at home.",
    "Chairs cost 30 pounds.",
    "Fifty people folded chairs.",
    "The logo is on page 12.",
    "I make it a rule to walk.",
    "We have two cats.",
    "We do yoga at noon.",
    "The sign now says welcome.",
    "It says 18:25 on the old clock.",
    "The latest film by Varda is 90 minutes long.",
    "From today I drink less coffee.",
    "I take that back road home.",
    "Taking things back to the shop is a chore.",
    "The meeting room seats 12.",
    "Tuesday at 3pm I have yoga.",
    "Ten past eleven is a song.",
    "Return to sender.",
    "He goes back to Paris on Friday.",
    "The team budget committee meets on Friday.",
    "The heron flew away.",
    "Boston is full of students. We do a tour.",
    "I left the meeting early.",
    "The vendor's van is out of fuel now.",
    "We've changed the sheets to linen.",
    "From Lyon on we took the train.",
    "I misread the room.",
    "The doctor says I should sleep.",
    "It's 30 degrees outside now.",
    "He went up to the attic.",
    "That's 12 of us for dinner.",
    "I got that wrong in the quiz.",
    "She can't come on Tuesday.",
    "They have two dogs now.",
    "The team is out today.",
    "Noah's shirt is now orange.",
    "Their sister's budget has been cut to $100.",
    "He pushed the chair to the wall.",
    "It's going to be a long day.",
    "Coffee it is then.",
    "Friday then?",
    "So that's 12 reasons to smile.",
    "So I'll call you on Friday.",
    "The printer is broken, so I'll print on Friday.",
    "My train was cancelled, so I took the 10:15.",
    "The projector broke. We'll use the small one.",
    "Boston was too cold. We had soup.",
    "I'm now reading chapter 12.",
    "We've got visitors now.",
    "I've got a meeting with Anna on Friday.",
    "He took it to 3 shops.",
    "She turned it up to 11.",
    "The sun goes down at 18:25 now.",
    "From next week I take the bus.",
    "Starting Monday my son goes to school.",
    "New phone: it rings all day.",
    "Final score: 3 to 2.",
    "The vote went from yes to no.",
    "The film goes from bad to worse.",
    "I changed from the bus to the train.",
    "Tea, not coffee, please.",
    "I asked for the blue one, not the red one.",
    "She wore red instead of blue.",
    "Use salt instead of sugar.",
    "I moved to the sofa.",
    "I work at home on Fridays.",
    "I live for music.",
    "I'm now 3 hours late.",
    "Call me when you are in Denver.",
    "My name is on the list.",
    "It costs $3 to park here.",
    "Same time next week?",
    "The meeting was fun.",
    "The meeting room is now a kitchen.",
    "The meeting was moved by nobody.",
    "Our old vendor was GlobalTech.",
    "The vendor of hot dogs is now gone.",
    "The vendor's name is hard to spell.",
    "A project like that costs $90,000.",
    "The project next door is now delayed.",
    "The budget airline is now bankrupt.",
    "Nobody likes the budget.",
    "The heron is dead. The cat did it.",
    "Blue is out of fashion. My wife wears green.",
    "DataPro is closed today. I had lunch with GlobalTech people.",
    "The shirt got wet, so I hung it up at 5pm.",
    "Our home is now clean.",
    "The city is loud now.",
    "Somebody took over the kitchen.",
    "Ravi's taking over the world.",
    "Ben stepped in a puddle.",
    "The chairs folded at 3pm.",
    "40 people sat on folding chairs now and then.",
    "Counted again: 38 sheep.",
    "We're 12 for dinner now.",
    "That makes 3 of us.",
    "The team won 3 to 1 on Friday.",
    "The departure of our train master was sad.",
    "DataPro's got trouble, Maria will sing a song.",
    "The meeting notes go to the printer.",
    "The shirt goes to the laundry on Friday.",
    "Half the team is out, two more come on Friday.",
    "The design class is full.",
    "Boston is on the phone and wants to book.",
    "Requirement 2: all chairs are clean.",
    "It's Thursday.",
    "It's 3pm already.",
    "He'll be 40 on Friday.",
    "It took until Friday.",
    "It rained on Friday.",
    "The new kid starts on Friday.",
    "New shoes on Friday.",
    "It opens on Friday in cinemas.",
    "She'll come on Friday with the kids.",
    "The meeting was long. Lunch is at 3pm.",
    "After the meeting it's tea at 4pm.",
};

TEST(propose, ordinary_sentences_change_nothing)
{
    talk_fixture f;
    const char *wrong = "";

    talk_open(&f);
    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++)
        if (proposed(&f, "We meet Tuesday at 2pm.", ordinary[i]).len > 0)
            wrong = test_format("%s\n%s -> %s", wrong, ordinary[i],
                                proposed(&f, "We meet Tuesday at 2pm.", ordinary[i]).ptr);
    talk_close(&f);
    if (*wrong != '\0')
        test_fail(__FILE__, __LINE__, "%s", wrong);
}

TEST(propose, the_same_value_again_is_no_change)
{
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(proposed(&f, NULL, "Actually, the meeting is Tuesday at 2pm."), "");
    CHECK_STR_EQ(proposed(&f, NULL, "The project is officially on track."), "");
    talk_close(&f);
}

TEST(propose, nothing_is_meant_while_ideas_are_played_with)
{
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(proposed(&f, "Let's brainstorm.", "The project is now cancelled."), "");
    talk_close(&f);
}

TEST(propose, a_plain_statement_of_the_same_thing_is_enough)
{
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(proposed(&f, NULL, "The marquee budget is 7,200 pounds."),
                 "marquee_budget=7,200 pounds");
    CHECK_STR_EQ(proposed(&f, NULL, "The team budget: $45,000."), "team_budget=$45,000");
    talk_close(&f);
}

TEST(propose, it_is_what_was_stated_lately_and_looks_alike)
{
    static const char *const chairs[] = {"Order 40 folding chairs for us.",
                                         "The heron is our logo.", "We meet Tuesday at 2pm.", NULL};
    static const char *const long_ago[] = {"Order 40 folding chairs for us.",
                                           "Lovely day.",
                                           "Birds sing.",
                                           "Time flies.",
                                           "It rains.",
                                           NULL};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(proposed_after(&f, chairs, "Two more came. Make it 55."),
                 "order_quantity=55 folding chairs");
    CHECK_STR_EQ(proposed_after(&f, chairs, "Scratch that bird. We take otters."), "logo=otters");
    CHECK_STR_EQ(proposed_after(&f, chairs, "Now it says Friday."), "meeting_time=Friday");
    CHECK_STR_EQ(
        proposed_after(&f, (const char *const[]){long_ago[0], long_ago[1], NULL}, "Make it 55."),
        "order_quantity=55 folding chairs");
    CHECK_STR_EQ(proposed_after(&f, long_ago, "Make it 55."), "");
    talk_close(&f);
}

TEST(propose, what_fell_through_is_replaced_by_what_follows)
{
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(proposed(&f, NULL, "DataPro pulled out. We're doing GlobalTech now."),
                 "selected_vendor=GlobalTech");
    CHECK_STR_EQ(proposed(&f, NULL, "DataPro sent flowers. We have GlobalTech."), "");
    talk_close(&f);
}

TEST(propose, the_same_unit_is_enough_for_news)
{
    static const char *const chairs[] = {"Order 40 folding chairs for us.", NULL};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(proposed_after(&f, chairs, "Counted again: 38 folding now."),
                 "order_quantity=38 folding chairs");
    CHECK_STR_EQ(proposed_after(&f, chairs, "I have 38 plates now."), "");
    talk_close(&f);
}

TEST(propose, a_draft_is_made_final_by_a_decision)
{
    static const char *const draft[] = {"In the draft the logo is the heron.",
                                        "The paper is thick.", NULL};
    static const char *const settled[] = {"The logo is the heron.", "The paper is thick.", NULL};
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(proposed_after(&f, draft, "We've decided on Bristle."), "logo=Bristle");
    CHECK_STR_EQ(proposed_after(&f, settled, "We've decided on Bristle."), "");
    talk_close(&f);
}

TEST(propose, back_to_a_time_that_was_brings_all_of_it)
{
    talk_fixture f;

    talk_open(&f);
    CHECK_STR_EQ(proposed(&f, NULL, "The train departure goes back to 9:30 like before."),
                 "train_departure=9:30 from platform 4");
    talk_close(&f);
}
