/* block.h - stretches of a conversation that its speakers set apart themselves.
 *
 *     "Hold on - ..." ... "Back to the review"              an aside
 *     "Let's brainstorm ..." ... "that's enough for now"    playing with ideas
 *
 * Only a stretch that is opened and closed, within a few messages, is one: either phrase alone says
 * little. What lies in it loses rank and is not hidden: a question about it finds it.
 */
#ifndef LC_TALK_BLOCK_H
#define LC_TALK_BLOCK_H

#include "talk/term.h"

typedef enum lc_block_cue {
    LC_BLOCK_NONE,
    LC_BLOCK_OPENS_ASIDE,
    LC_BLOCK_CLOSES_ASIDE,
    LC_BLOCK_OPENS_PLAY,
    LC_BLOCK_CLOSES_PLAY
} lc_block_cue;

/* The cue that the message, or a part of it behind a comma, begins with; one for playing with ideas
 * may stand anywhere. */
lc_block_cue lc_block_cue_of(lc_terms message);

#endif /* LC_TALK_BLOCK_H */
