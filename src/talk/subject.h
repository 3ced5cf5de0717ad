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
/* Two orders that cannot both be followed: one says no to what the other says, both rule on the
 * same thing, or they put the same thing in places with other names. */
bool lc_subject_orders_clash(lc_terms a, lc_terms b);
/* The same with more: they begin with the same thing, have two in common, or one is about nothing
 * else. */
bool lc_subject_rivals(lc_terms a, lc_terms b);

/* One of the things that a dead value says. */
typedef struct lc_dead_sense {
    uint64_t sense;
    bool is_own; /* Its successor does not have it. */
    bool is_own_amount, is_own_name;
} lc_dead_sense;

/* A value that is dead, and what took its place (may be empty). Many clauses are compared with it,
 * so what can be known beforehand is. */
typedef struct lc_dead {
    lc_terms value, successor;
    bool is_rejected; /* As a whole: its names alone are enough to know it again. */
    bool is_phrase_of_successor;
    bool is_shortened; /* The successor only dropped words: what states it, states what holds. */
    const lc_dead_sense *senses; /* Of its content, each once. */
    size_t count, own, amounts, names;
    uint64_t own_bits; /* lc_sense_bits() of its own. */
    size_t since;      /* The thing said that killed it. */
} lc_dead;

/* False when out of memory. */
bool lc_dead_init(lc_dead *dead, lc_arena *arena, lc_terms value, lc_terms successor,
                  bool is_rejected);

/* A few bits for the senses: what shares no bit shares no sense. */
uint64_t lc_sense_bits(lc_terms terms);

/* Does `said` still state the dead value? `bits` are lc_sense_bits() of it. */
bool lc_dead_is_stated(const lc_dead *dead, lc_terms said, uint64_t bits);
/* Does `said` have an amount that the dead value had and its successor has not? */
bool lc_dead_shares_amount(const lc_dead *dead, lc_terms said);

/* Has `said` all that the value says? */
bool lc_terms_state(lc_terms said, lc_terms value);
/* Is `sense` among the terms? */
bool lc_terms_have(lc_terms terms, uint64_t sense);

#endif /* LC_TALK_SUBJECT_H */
