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
/* Can `newer` stand where `older` stood: one kind, and for numbers one unit, or none named? */
bool lc_value_is_alike(lc_terms older, lc_terms newer);

/* A value that a fact has lost, and the value in its place (empty if there is none). */
typedef struct lc_lost_value {
    lc_terms key; /* Of the fact; may be empty. */
    lc_terms value, successor;
    uint64_t bits;     /* lc_sense_bits() of the value, */
    uint64_t own_bits; /* and of what tells it apart from its successor. */
} lc_lost_value;
lc_lost_value lc_lost_value_of(lc_terms key, lc_terms value, lc_terms successor);

/* Does the clause state the lost value? It must say what tells the value apart from its successor,
 * not tell of the change, and be about the fact: it names the key, or says a value of several
 * words, or nothing else; of an echo, which a model's answer mostly is, less is asked. `bits` are
 * lc_sense_bits() of the clause. */
bool lc_lost_value_is_stated(const lc_lost_value *lost, lc_terms clause, uint64_t bits,
                             bool is_echo);

#endif /* LC_TALK_VALUE_H */
