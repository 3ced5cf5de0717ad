/* Cues: the phrases that open and close a stretch of a conversation. */
#include "talk/block.h"

#include "unit/talk/talk_fixture.h"

static void check_cue(talk_fixture *f, const char *text, lc_block_cue expected)
{
    lc_block_cue cue = lc_block_cue_of(talk_terms(f, text));

    if (cue != expected)
        test_fail(__FILE__, __LINE__, "%s: %d", text, (int)cue);
}

TEST(talk_block, an_aside_opens_and_closes_where_a_message_begins)
{
    talk_fixture f;

    talk_open(&f);
    check_cue(&f, "Hold on, the door bell.", LC_BLOCK_OPENS_ASIDE);
    check_cue(&f, "Oh, hey, by the way, it rains.", LC_BLOCK_OPENS_ASIDE);
    check_cue(&f, "Back to the review.", LC_BLOCK_CLOSES_ASIDE);
    check_cue(&f, "Anyway, back to the review.", LC_BLOCK_CLOSES_ASIDE);
    check_cue(&f, "The caller is happy, back to the review.", LC_BLOCK_CLOSES_ASIDE);
    check_cue(&f, "Ok so where were we?", LC_BLOCK_CLOSES_ASIDE);
    check_cue(&f, "Please hold on to the rope.",
              LC_BLOCK_OPENS_ASIDE); /* The words are the same. */
    check_cue(&f, "The dog came back to the house.", LC_BLOCK_NONE);
    check_cue(&f, "We must hold on.", LC_BLOCK_NONE);
    talk_close(&f);
}

TEST(talk_block, playing_with_ideas_opens_and_closes_near_the_front)
{
    talk_fixture f;

    talk_open(&f);
    check_cue(&f, "Let's brainstorm names for the tent.", LC_BLOCK_OPENS_PLAY);
    check_cue(&f, "Now for a thought experiment.", LC_BLOCK_OPENS_PLAY);
    check_cue(&f, "Fun, but that's enough for today.", LC_BLOCK_CLOSES_PLAY);
    check_cue(&f, "Enough brainstorming.", LC_BLOCK_CLOSES_PLAY);
    check_cue(&f,
              "a b c d e f g h i j k l m n o p q r s t u v w x y z and then let's imagine things",
              LC_BLOCK_NONE);
    check_cue(&f, "The tent is red.", LC_BLOCK_NONE);
    check_cue(&f, "", LC_BLOCK_NONE);
    check_cue(&f, "hold", LC_BLOCK_NONE);
    talk_close(&f);
}
