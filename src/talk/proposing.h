/* proposing.h - the state of one proposal, shared by propose.c and the files that look for the fact
 * a clause is about: propose_named.c, propose_stated.c and propose_word.c. */
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

/* ---- Words and values: propose_word.c -------------------------------------------------------- */

bool lc_value_is_in(lc_terms message, lc_terms value);
/* Words of keys that are no subject. */
bool lc_key_is_generic(const lc_term *term);
/* Words of keys that only say what kind of value it is, which the value shows by itself. */
bool lc_key_is_kind(const lc_term *term);
/* Verbs that say no more than "is". */
bool lc_word_is_copula(const lc_term *term);
/* Words that lead from one value to another and are no subject. */
bool lc_word_is_change(const lc_term *term);
/* Adjectives that leave a thing what it is. */
bool lc_word_is_neutral(const lc_term *term);
bool lc_word_is_possessive(const lc_term *term);
/* What was, what is not, and what is somebody else's. */
bool lc_words_are_other(lc_terms words);
/* What a value looks like: its kinds, and whether it has a plain number. */
uint32_t lc_value_shape(lc_terms value);
bool lc_value_looks_alike(lc_terms a, lc_terms b);
bool lc_value_has_amount(lc_terms value);
/* Can the new value stand where the old one stood? */
bool lc_value_fits(lc_terms old, lc_terms value);
/* Where the part of the clause begins that has the value: behind "so", "and" or "but". */
const lc_term *lc_value_segment(lc_terms clause, lc_terms value);
/* The same, or behind a comma. */
const lc_term *lc_value_part(lc_terms clause, lc_terms value);
/* Do all of its words begin with a capital or a digit? */
bool lc_value_is_proper(lc_terms value);
bool lc_value_begins_proper(lc_terms value);
bool lc_value_is_same(lc_terms a, lc_terms b);
bool lc_key_is_named(lc_terms key, lc_terms words);
/* Content words of `from` that the clause has, except those of the value itself. */
size_t lc_words_named(lc_terms from, lc_terms clause, lc_terms value);

/* ---- What is named or pointed at: propose_named.c -------------------------------------------- */

/* Twice what the key names, once what the messages that stated it name. */
size_t lc_propose_score(const lc_proposing *p, const lc_candidate *c, lc_terms clause);
/* The old value may be named in an earlier part of the clause: "the 25th is a holiday, so ..." */
bool lc_propose_is_rival(const lc_candidate *c, lc_terms clause, lc_terms value);
bool lc_propose_is_open(const lc_proposing *p, size_t index, const lc_unit_clause *clause,
                        lc_terms value);
/* Is this known of the fact: from its key, its value or the messages that stated it? */
bool lc_propose_is_known(const lc_proposing *p, const lc_candidate *c, const lc_term *term);
/* Is everything that the words in front of the value are about known of this fact: from its key,
 * its value or the messages that stated it? */
bool lc_propose_is_only_about(const lc_proposing *p, const lc_candidate *c, lc_terms words);
/* The fact that the clause names best, or LC_SAID_NONE: also when that one has the value already,
 * for then the clause is not about another. */
size_t lc_propose_by_name(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);
/* The fact that was stated last among those the clause can point at, or LC_SAID_NONE. */
size_t lc_propose_by_pointer(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);
/* "The city changed from Oslo to Bergen", "Bergen, not Oslo": the one fact that has the value which
 * is named as the former one, when the clause is about it and nothing else. */
size_t lc_propose_by_contrast(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);
/* "I moved to 456 Oak Ave.": the fact that the words speak of without naming it. */
size_t lc_propose_by_implication(const lc_proposing *p, const lc_unit_clause *clause,
                                 lc_terms value);
/* A value that says no more than a name or a number: "456 Oak Ave", "Bergen". Its terms, without
 * what says when; none when it is anything else. */
lc_terms lc_propose_plain_value(lc_terms value);

/* ---- What is stated: propose_stated.c. The fact, or LC_SAID_NONE. ---------------------------- */

/* "80 kg now.": another number of what was counted lately. */
size_t lc_propose_recounted(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);
/* "Ravello fell through. We're doing Matera.": the fact whose value an earlier clause of the
 * message drops. */
size_t lc_propose_dropped(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);
/* "Marketing hated the teal. Burgundy it is.": the fact whose value came to nothing, in a message
 * that goes on to say what is had in its place. */
size_t lc_propose_displaced(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);
/* "The marquee budget is 7,200 pounds.": said plainly, of exactly what the key names, with another
 * amount of the same kind. */
size_t lc_propose_restated(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);
/* "The hearing starts at 10:30.": a part of the key is enough for what was stated lately, when only
 * one fact can be meant. */
size_t lc_propose_restated_lately(const lc_proposing *p, const lc_unit_clause *clause,
                                  lc_terms value);
/* "The race starts at the town hall." and "We'll start from the stadium.": the same word leads to
 * another value, said of us. */
size_t lc_propose_reframed(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);
/* "QA found two blockers. New target is June 17.": another amount of the form of the one fact that
 * was stated lately and looks like it, in a clause that points back and speaks of nothing else. */
size_t lc_propose_recalled(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value);

#endif /* LC_TALK_PROPOSING_H */
