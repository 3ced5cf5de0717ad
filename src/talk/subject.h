/* subject.h - are two texts about the same thing, and do they contradict each other?
 *
 * All of it by sets of senses: what two texts share, what one has and the other has not. No text is
 * understood; where the evidence is thin the answer is no. */
#ifndef LC_TALK_SUBJECT_H
#define LC_TALK_SUBJECT_H

#include "talk/term.h"

/* The kinds of values (lc_value_kind) that a text holds. */
uint32_t lc_value_kinds(lc_terms terms);

/* Content terms that both have. */
size_t lc_subject_shared(lc_terms a, lc_terms b);
/* Clearly about one thing: two words in common, a number and a word, or a good part of the shorter
 * one. */
bool lc_subject_is_same(lc_terms a, lc_terms b);
/* The same with less: one word, or one that the other abbreviates ("auth", "authentication"). */
bool lc_subject_is_near(lc_terms a, lc_terms b);
/* A name such as GlobalTech, Q4 or CEO that both have. */
bool lc_subject_shares_name(lc_terms a, lc_terms b);
/* Another number of the same thing: "12 chairs", "15 chairs". */
bool lc_subject_counts_differ(lc_terms a, lc_terms b);
/* Near, and other values of one kind, or other numbers of one thing. */
bool lc_subject_contradicts(lc_terms a, lc_terms b);
/* The same with more: they begin with the same thing, have two in common, or one is about nothing
 * else. */
bool lc_subject_rivals(lc_terms a, lc_terms b);

/* A value that is dead, and what took its place (may be empty). */
typedef struct lc_dead {
    lc_terms value, successor;
    bool is_rejected; /* As a whole: its names alone are enough to know it again. */
} lc_dead;

/* Does `said` still state the dead value? */
bool lc_dead_is_stated(const lc_dead *dead, lc_terms said);
/* Does `said` have an amount that the dead value had and its successor has not? */
bool lc_dead_shares_amount(const lc_dead *dead, lc_terms said);

/* Is `sense` among the terms? */
bool lc_terms_have(lc_terms terms, uint64_t sense);

#endif /* LC_TALK_SUBJECT_H */
