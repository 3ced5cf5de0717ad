/* value.h - the kinds of values, and whether a text repeats a value that was lost.
 *
 * Two values can only replace each other when they are of one kind: a date never takes the place of
 * an amount. All of it works on sets of senses; no text is understood, and where the evidence is
 * thin the answer is no.
 */
#ifndef LC_TALK_VALUE_H
#define LC_TALK_VALUE_H

#include "talk/term.h"

typedef enum lc_value_kind {
    LC_VALUE_NONE, /* Nothing but function words. */
    LC_VALUE_MONEY,
    LC_VALUE_PERCENT,
    LC_VALUE_DATE,
    LC_VALUE_TIME,
    LC_VALUE_NUMBER, /* With or without a unit. */
    LC_VALUE_STATE,  /* Approved, cancelled. */
    LC_VALUE_NAME,   /* Bergen, GlobalTech, a@b.org. */
    LC_VALUE_WORDS   /* Anything else. */
} lc_value_kind;

/* By the first of these that it has: "$200 for July" is money. */
lc_value_kind lc_value_kind_of(lc_terms value);
/* Can `newer` replace `older`: same kind, and for numbers the same unit, or none named? */
bool lc_value_is_alike(lc_terms older, lc_terms newer);

/* A value that a fact has lost, and the value in its place (empty if there is none). */
typedef struct lc_lost_value {
    lc_terms key; /* Of the fact; may be empty. */
    lc_terms value, successor;
    uint64_t bits;     /* lc_sense_bits() of the value, */
    uint64_t own_bits; /* and of the terms that its successor does not have. */
} lc_lost_value;
lc_lost_value lc_lost_value_of(lc_terms key, lc_terms value, lc_terms successor);

/* Does the clause state the lost value? It must contain the terms that its successor does not have,
 * must not report the change, and must be about the fact: it names the key, or has a value of
 * several words, or has nothing but the value. The test is less strict for an echo, as most answers
 * of a model are. `bits` are lc_sense_bits() of the clause. */
bool lc_lost_value_is_stated(const lc_lost_value *lost, lc_terms clause, uint64_t bits,
                             bool is_echo);

#endif /* LC_TALK_VALUE_H */
