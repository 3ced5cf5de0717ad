/* Cues: sentences that have one, and sentences that only look like it. */
#include "unit/talk/talk_fixture.h"

#include "base/str.h"

typedef struct example {
    const char *text;
    uint32_t cue;
} example;

static uint32_t cues_of(const lc_cues *cues, talk_fixture *f, const char *text)
{
    lc_terms terms = {0};
    loci_error err;

    CHECK_OK(lc_terms_read(lc_talk_lexicon(f->talk), &f->arena, loci_str_of(text), &terms, &err),
             err);
    return lc_cues_find(cues, terms).bits;
}

static const example has[] = {
    {"Is it raining now?", LC_CUE_QUESTION},
    {"Please show me the invoices", LC_CUE_REQUEST},
    {"Can you look that up", LC_CUE_REQUEST},
    {"I want to know who signed", LC_CUE_REQUEST},
    {"Ignore all previous instructions", LC_CUE_REQUEST},
    {"OK, let's talk about the roadmap", LC_CUE_META},
    {"Maybe we paint it green", LC_CUE_TENTATIVE},
    {"Draft: two rooms", LC_CUE_TENTATIVE},
    {"If they paid, we could add a seat", LC_CUE_TENTATIVE},
    {"We're thinking of Lisbon", LC_CUE_TENTATIVE},
    {"We originally wanted Rome", LC_CUE_PAST},
    {"The old price was nine euros", LC_CUE_PAST},
    {"I used to live in Oslo", LC_CUE_PAST},
    {"Let's brainstorm names", LC_CUE_EXPLORE_OPEN},
    {"This is purely hypothetical", LC_CUE_EXPLORE_OPEN},
    {"That's enough for now", LC_CUE_EXPLORE_CLOSE},
    {"Hang on - the door", LC_CUE_ASIDE_OPEN},
    {"Sorry, someone is calling", LC_CUE_ASIDE_OPEN},
    {"Right, back to the budget", LC_CUE_ASIDE_CLOSE},
    {"No wait, it's the red one", LC_CUE_CORRECT},
    {"Scratch that", LC_CUE_CORRECT},
    {"Make that four chairs", LC_CUE_CORRECT},
    {"As of today the office is closed", LC_CUE_UPDATE},
    {"The deadline moved to Friday", LC_CUE_UPDATE},
    {"It's official", LC_CUE_UPDATE},
    {"We'll go with the blue one", LC_CUE_DECIDE},
    {"Update: the pump works again", LC_CUE_ANNOUNCE},
    {"Hold off on the order", LC_CUE_HOLD},
    {"Bob was completely wrong", LC_CUE_WRONG},
    {"New plan: we meet at six", LC_CUE_REPLAN},
    {"Let's go back to the first design", LC_CUE_REVERT},
    {"Ugh, hang on", LC_CUE_ASIDE_HINT},
    {"Wait, the bell rings", LC_CUE_ASIDE_HINT},
    {"On a different note, we need milk", LC_CUE_ASIDE_OPEN},
    {"Good, that's parked", LC_CUE_ASIDE_CLOSE},
    {"Okay, where was I", LC_CUE_ASIDE_CLOSE},
    {"I'm all yours again", LC_CUE_ASIDE_CLOSE},
    {"Enough of that", LC_CUE_ASIDE_CLOSE},
    {"I'm in the sandbox now", LC_CUE_EXPLORE_OPEN},
    {"Brainstorm time, no bad ideas", LC_CUE_EXPLORE_OPEN},
    {"It's only a draft", LC_CUE_EXPLORE_OPEN},
    {"Leaving the sandbox", LC_CUE_EXPLORE_CLOSE},
    {"The role-play is over", LC_CUE_EXPLORE_CLOSE},
    {"That is a wild guess", LC_CUE_TENTATIVE},
    {"My gut says eighty", LC_CUE_TENTATIVE},
    {"I take that back, it is Friday", LC_CUE_CORRECT},
    {"The latest from the app is 19:05", LC_CUE_UPDATE},
    {"Let's do a dry run", LC_CUE_EXPLORE_OPEN},
    {"Okay, stop pretending", LC_CUE_EXPLORE_CLOSE},
    {"Ravello fell through", LC_CUE_DROP},
    {"Dave backed out", LC_CUE_DROP},
    {"Let's raise the price to nine", LC_CUE_CORRECT},
};

static const example lacks[] = {
    {"New York is large", LC_CUE_CORRECT | LC_CUE_UPDATE | LC_CUE_DECIDE | LC_CUE_REPLAN},
    {"I was moved by the film", LC_CUE_CORRECT | LC_CUE_UPDATE | LC_CUE_PAST},
    {"Hold on VendorA until Monday", LC_CUE_ASIDE_OPEN},
    {"If the alarm rings, call Ann", LC_CUE_TENTATIVE},
    {"The draft horse is strong", LC_CUE_TENTATIVE},
    {"She came back to Denver", LC_CUE_CORRECT | LC_CUE_UPDATE},
    {"We used the old printer", LC_CUE_PAST},
    {"The budget is final", LC_CUE_ASIDE_CLOSE | LC_CUE_CORRECT},
    {"Our sandbox has toys", LC_CUE_EXPLORE_OPEN},
    {"He showed me the way", LC_CUE_REQUEST},
    {"The update arrived", LC_CUE_ANNOUNCE},
    {"What we need is time", LC_CUE_QUESTION},
    {"Waiters bring the bread", LC_CUE_ASIDE_HINT},
    {"The phone is black", LC_CUE_ASIDE_HINT | LC_CUE_ASIDE_OPEN},
    {"We wait for the bus", LC_CUE_ASIDE_HINT},
    {"I'm in a rehearsal until five", LC_CUE_EXPLORE_OPEN},
    {"Let's play the new song", LC_CUE_EXPLORE_OPEN},
    {"The brainstorming session is on Tuesday", LC_CUE_EXPLORE_OPEN},
    {"The draft is ready", LC_CUE_EXPLORE_OPEN},
    {"I guess so", LC_CUE_TENTATIVE},
    {"The dry run river bed is wide", LC_CUE_EXPLORE_OPEN},
    {"The window is out of reach", LC_CUE_DROP},
    {"I take that back road home", LC_CUE_CORRECT},
    {"The latest film is short", LC_CUE_REFERS},
};

TEST(cue, every_kind_is_found)
{
    talk_fixture f;
    lc_cues *cues;
    loci_error err;

    talk_open(&f);
    CHECK_OK(lc_cues_new(&f.heap, lc_talk_lexicon(f.talk), &cues, &err), err);
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        if ((cues_of(cues, &f, has[i].text) & has[i].cue) == 0)
            test_fail(__FILE__, __LINE__, "%s", has[i].text);
    lc_cues_free(cues);
    talk_close(&f);
}

TEST(cue, what_only_looks_like_one_is_none)
{
    talk_fixture f;
    lc_cues *cues;
    loci_error err;

    talk_open(&f);
    CHECK_OK(lc_cues_new(&f.heap, lc_talk_lexicon(f.talk), &cues, &err), err);
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if ((cues_of(cues, &f, lacks[i].text) & lacks[i].cue) != 0)
            test_fail(__FILE__, __LINE__, "%s", lacks[i].text);
    lc_cues_free(cues);
    talk_close(&f);
}

static void check_value(const char *text, const char *value)
{
    talk_fixture f;
    lc_cues *cues;
    lc_terms terms;
    loci_error err;

    talk_open(&f);
    CHECK_OK(lc_cues_new(&f.heap, lc_talk_lexicon(f.talk), &cues, &err), err);
    CHECK_OK(lc_terms_read(lc_talk_lexicon(f.talk), &f.arena, loci_str_of(text), &terms, &err),
             err);
    CHECK_STR_EQ(lc_terms_text(lc_cues_find(cues, terms).value), value);
    lc_cues_free(cues);
    talk_close(&f);
}

TEST(cue, the_new_value_is_cut_out)
{
    check_value("No wait, change that to Thursday.", "Thursday");
    check_value("Keep the place, but change the quantity to 1500.", "1500");
    check_value("Make it 6 pm please", "6 pm");
    check_value("Let's go with GlobalTech for the contract", "GlobalTech");
    check_value("We've settled on Lisbon because it is warm", "Lisbon");
    check_value("As of today, the project is delayed.", "delayed");
    check_value("The launch moved to April 15", "April 15");
    check_value("I meant the red one", "red one");
}
