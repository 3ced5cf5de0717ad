/* cue.h - the turns of phrase that say how a sentence is meant: as a question, a correction, a
 * supposition, an aside.
 *
 * They are data (cue_table.c): patterns over words, one line each, found by their first word. A cue
 * only says how something is meant. That it changes anything needs more: the same subject and
 * another value (subject.h).
 *
 * A pattern is a row of words: `a|b` is either, `word?` may be missing, `word~` is any form of it,
 * `*` up to three words, `...` up to eight, `^` at the start the beginning of the clause (after
 * words like "oh" and "so"), `word:` one that a colon, comma or dash follows, `$` at the end the
 * end of the clause, `<v>` the value it speaks of and `<o>` the one that it takes the place of: a
 * few words, or the rest of the clause where nothing follows. Words behind `=>` name what the value
 * belongs to: "I moved to <v>" speaks of an address without saying so.
 */
#ifndef LC_TALK_CUE_H
#define LC_TALK_CUE_H

#include "talk/term.h"

/* Each is a bit. */
typedef enum lc_cue {
    LC_CUE_QUESTION = 1 << 0,      /* Asks. */
    LC_CUE_REQUEST = 1 << 1,       /* Wants to be told or shown something. */
    LC_CUE_META = 1 << 2,          /* Speaks of the talk itself. */
    LC_CUE_TENTATIVE = 1 << 3,     /* Supposes: maybe, draft, what if. */
    LC_CUE_PAST = 1 << 4,          /* Says what was so before. */
    LC_CUE_EXPLORE_OPEN = 1 << 5,  /* What follows is only played with ... */
    LC_CUE_EXPLORE_CLOSE = 1 << 6, /* ... up to here. */
    LC_CUE_ASIDE_OPEN = 1 << 7,    /* Something else comes between ... */
    LC_CUE_ASIDE_CLOSE = 1 << 8,   /* ... and is over. */
    LC_CUE_CORRECT = 1 << 9,       /* Takes something back. */
    LC_CUE_UPDATE = 1 << 10,       /* Says how it is by now, officially, finally. */
    LC_CUE_DECIDE = 1 << 11,       /* Settles on one of several. */
    LC_CUE_ANNOUNCE = 1 << 12,     /* "Update:", "Correction:" at the front: all of it is news. */
    LC_CUE_HOLD = 1 << 13,         /* Stops something named. */
    LC_CUE_WRONG = 1 << 14,        /* Says of somebody that they were wrong. */
    LC_CUE_REPLAN = 1 << 15,       /* A new plan, date or schedule. */
    LC_CUE_REVERT = 1 << 16,       /* Back to what it was. */
    LC_CUE_VALUE = 1 << 17,        /* Has a value that something gets: see `value`. */
    LC_CUE_REFERS = 1 << 18,       /* "that", "it": speaks of what was said last. */
    LC_CUE_ASIDE_HINT = 1 << 19,   /* Something else may come between: "Wait, ..." */
    LC_CUE_DROP = 1 << 20,         /* What it names is no longer to be had. */
    LC_CUE_DENY = 1 << 21,         /* Has the words of a change, and makes none. */
    LC_CUE_PRIVATE = 1 << 22,      /* Said in confidence. */
    LC_CUE_REFUSE = 1 << 23,       /* Says no to what was said last ... */
    LC_CUE_ACCEPT = 1 << 24,       /* ... or yes. */
    LC_CUE_OVERRULE = 1 << 25,     /* Sets somebody else's word aside. */
    LC_CUE_TROUBLE = 1 << 26,      /* Something went wrong with what it names. */
    LC_CUE_CONCLUDE = 1 << 27,     /* Follows from what was said before: "so ..." */
    LC_CUE_CANCEL = 1 << 28,       /* What it names will not be. */
    LC_CUE_STORY = 1 << 29,        /* About somebody who has no part in it. */
    LC_CUE_NOW = 1 << 30           /* Ends with "now": weaker than LC_CUE_UPDATE. */
} lc_cue;

/* What was found in one clause. */
typedef struct lc_cue_set {
    uint32_t bits;
    lc_terms value;     /* Of LC_CUE_VALUE: the new value, without what trails behind it. */
    size_t value_order; /* The line of the table that found it. */
    lc_terms former;    /* What it is said to take the place of; may stand without LC_CUE_VALUE. */
    loci_str implies;   /* Words of keys that the value belongs to, or none. */
    lc_terms amount;    /* The first amount and what belongs to it; empty without one. */
    size_t wrong_at;    /* Of LC_CUE_WRONG: the term that follows the name. */
    size_t cancel_at;   /* Of LC_CUE_CANCEL and LC_CUE_TROUBLE: the term that follows the thing. */
} lc_cue_set;

/* The patterns, ready to be looked up; immutable, for any number of threads. */
typedef struct lc_cues lc_cues;

/* Compiles the table; the lexicon is not needed afterwards. */
loci_status lc_cues_new(lc_heap *heap, const lc_lexicon *lexicon, lc_cues **out, loci_error *err);
void lc_cues_free(lc_cues *cues); /* NULL is fine. */

/* Reads a clause, which is a run of terms of one sentence. */
lc_cue_set lc_cues_find(const lc_cues *cues, lc_terms clause);

/* One line of the table. */
typedef struct lc_cue_row {
    lc_cue cue;
    const char *pattern;
} lc_cue_row;

const lc_cue_row *lc_cue_table(size_t *count);

#endif /* LC_TALK_CUE_H */
