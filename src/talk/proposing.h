/* proposing.h - the state of one proposal, shared by propose.c and propose_fact.c. */
#ifndef LC_TALK_PROPOSING_H
#define LC_TALK_PROPOSING_H

#include "talk/judging.h"
#include "talk/propose.h"

/* What is asked, supposed or past gives nothing a value. */
#define LC_CUES_NOT_MEANT                                                                          \
    (LC_CUE_QUESTION | LC_CUE_REQUEST | LC_CUE_TENTATIVE | LC_CUE_PAST | LC_CUE_EXPLORE_OPEN |     \
     LC_CUE_DENY)

#define LC_PROPOSE_RECENT 4        /* Turns of people that "that" and "it" reach back. */
#define LC_SHAPE_NUMBER (1u << 31) /* A value with a plain number, next to the kinds of values. */

/* One known fact, read, with the messages that stated it. */
typedef struct lc_candidate {
    lc_terms key, value;
    bool is_tentative;
    bool is_utterance; /* Word for word what somebody said: a log, not the value of a slot. */
    size_t age;        /* How many things people said after they stated it; LC_SAID_NONE = never. */
    size_t *stated_in; /* Indexes of messages. */
    size_t stated_count;
} lc_candidate;

typedef struct lc_proposing {
    const lc_talk *talk;
    lc_arena *arena;
    const lc_propose_input *input;
    lc_candidate *candidates;
    lc_unit *before;
    lc_unit message;
    size_t exploring; /* For so many turns ideas are played with: nothing that is said is meant. */
} lc_proposing;

/* ---- propose_fact.c: which fact a clause is about. All return its index, or LC_SAID_NONE. ---- */

/* The fact that the clause gives `value`. */
size_t lc_propose_find(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);
/* "The city changed from Oslo to Bergen", "Bergen, not Oslo": the one fact that has the value which
 * is named as the former one, when the clause is about it and nothing else. */
size_t lc_propose_by_contrast(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);
/* "I moved to 456 Oak Ave.": the fact that the words speak of without naming it. */
size_t lc_propose_by_implication(const lc_proposing *p, const lc_unit_clause *clause,
                                 lc_terms value);

/* A value that says no more than a name or a number: "456 Oak Ave", "Bergen". Its terms, without
 * what says when; none when it is anything else. */
lc_terms lc_propose_plain_value(lc_terms value);
/* Has the message everything that tells the value apart? */
bool lc_value_is_in(lc_terms message, lc_terms value);
bool lc_value_looks_alike(lc_terms a, lc_terms b);
bool lc_key_is_named(lc_terms key, lc_terms words);

#endif /* LC_TALK_PROPOSING_H */
