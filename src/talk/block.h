/* block.h - stretches of a conversation that its speakers set apart themselves.
 *
 *     "Hold on - ..." ... "Back to the review"              an aside
 *     "Let's brainstorm ..." ... "that's enough for now"    playing with ideas
 *
 * A stretch must be opened and closed within a few messages: either phrase alone proves little.
 * Messages inside it lose rank but are not hidden: a question about them still finds them.
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

/* The cue that the message, or a part of it behind a comma, begins with; a cue for playing with
 * ideas may be anywhere. */
lc_block_cue lc_block_cue_of(lc_terms message);

#endif /* LC_TALK_BLOCK_H */
