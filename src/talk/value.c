/* value.c - sets of senses, compared. Clauses have a dozen terms and lost values at most
 * LOST_TERMS_MAX, so the plain double loop wins. */
#include "talk/value.h"

#define FILLERS_MAX 2 /* Words like "note" in front of a part of a value. */
/* Terms of a value that can be lost. A longer value is a document: no clause repeats it, and
 * comparing every clause with it would take time that grows with the square of its length. */
#define LOST_TERMS_MAX 128

static bool is_first(lc_terms terms, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (terms.at[i].sense == terms.at[at].sense)
            return false;
    return true;
}

/* ---- Kinds ----------------------------------------------------------------------------------- */

/* The kind of one term of a value; LC_VALUE_NONE for a function word. */
static lc_value_kind kind_of_term(lc_terms value, size_t at)
{
    const lc_term *term = &value.at[at];
    bool has_next = at + 1 < value.count;

    switch ((lc_term_kind)term->kind) {
    case LC_TERM_STOP:
        return LC_VALUE_NONE;
    case LC_TERM_MONEY:
        return LC_VALUE_MONEY;
    case LC_TERM_PERCENT:
        return LC_VALUE_PERCENT;
    case LC_TERM_DATE:
        return LC_VALUE_DATE;
    case LC_TERM_TIME:
        return LC_VALUE_TIME;
    case LC_TERM_NUMBER:
        return has_next && lc_term_in(term + 1, LC_WORDS_CURRENCIES) ? LC_VALUE_MONEY
                                                                     : LC_VALUE_NUMBER;
    case LC_TERM_NAME:
        return LC_VALUE_NAME;
    default:
        if (at > 0 && lc_term_in(term - 1, LC_WORDS_RELATIVE) &&
            lc_term_in(term, LC_WORDS_UNITS)) /* "next week" */
            return LC_VALUE_DATE;
        if (lc_term_in(term, LC_WORDS_STATES))
            return LC_VALUE_STATE;
        return lc_term_has_capital(value, at) ? LC_VALUE_NAME : LC_VALUE_WORDS;
    }
}

lc_value_kind lc_value_kind_of(lc_terms value)
{
    lc_value_kind best = LC_VALUE_NONE, last = LC_VALUE_NONE;

    for (size_t at = 0; at < value.count; at++) {
        lc_value_kind kind = kind_of_term(value, at);

        if (kind == LC_VALUE_NONE)
            continue;
        /* Only a complete value is a state or a name: "late on Friday" is not a state. */
        last = kind > last ? kind : last;
        if (best == LC_VALUE_NONE || kind < best)
            best = kind;
    }
    return best <= LC_VALUE_NUMBER ? best : last;
}

/* The unit behind the first number, as its sense; 0 without one. */
static uint64_t unit_of(lc_terms value)
{
    for (size_t at = 0; at + 1 < value.count; at++)
        if (value.at[at].kind == LC_TERM_NUMBER)
            return value.at[at].after == 0 && (value.at[at + 1].kind == LC_TERM_WORD ||
                                               value.at[at + 1].kind == LC_TERM_NAME)
                       ? value.at[at + 1].sense
                       : 0;
    return 0;
}

bool lc_value_is_alike(lc_terms older, lc_terms newer)
{
    lc_value_kind kind = lc_value_kind_of(newer);
    uint64_t old_unit = unit_of(older), new_unit = unit_of(newer);

    /* A bare number, as programs write it, may be an amount of anything. */
    if (older.count == 1 && older.at[0].kind == LC_TERM_NUMBER && kind <= LC_VALUE_PERCENT)
        return kind != LC_VALUE_NONE;
    if (kind == LC_VALUE_NONE || kind != lc_value_kind_of(older))
        return false;
    return kind != LC_VALUE_NUMBER || new_unit == 0 || new_unit == old_unit;
}

/* ---- Lost values ----------------------------------------------------------------------------- */

/* Content that the successor does not have. */
static bool is_own(lc_terms value, size_t at, lc_terms successor)
{
    return lc_term_is_content(&value.at[at]) && is_first(value, at) &&
           !lc_terms_have_sense(successor, value.at[at].sense);
}

static uint64_t own_bits(lc_terms value, lc_terms successor)
{
    uint64_t bits = 0;

    for (size_t at = 0; at < value.count; at++)
        if (is_own(value, at, successor))
            bits |= lc_sense_bit(value.at[at].sense);
    return bits;
}

/* The value without parentheses at its end: "$150 (the $100 was last year's)". */
static lc_terms without_aside(lc_terms value)
{
    for (size_t at = 0; at + 1 < value.count; at++)
        if (value.at[at].after == '(')
            return lc_terms_part(value, 0, at + 1);
    return value;
}

lc_lost_value lc_lost_value_of(lc_terms key, lc_terms value, lc_terms successor)
{
    lc_terms after = without_aside(successor);
    bool is_value = value.count <= LOST_TERMS_MAX && after.count <= LOST_TERMS_MAX;

    return (lc_lost_value){.key = key,
                           .value = value,
                           .successor = after,
                           .bits = lc_sense_bits(value),
                           .own_bits = is_value ? own_bits(value, after) : 0};
}

/* How much of the content of `of` the clause has. */
typedef struct share {
    size_t said;                  /* Its content. */
    size_t own, own_said;         /* Terms that the other value does not have, */
    size_t amounts, amounts_said; /* and the amounts among that. */
} share;

static share share_of(lc_terms of, lc_terms other, lc_terms clause)
{
    share s = {0};

    for (size_t at = 0; at < of.count; at++) {
        const lc_term *term = &of.at[at];
        bool is_said;

        if (!lc_term_is_content(term) || !is_first(of, at))
            continue;
        is_said = lc_terms_have_sense(clause, term->sense);
        s.said += is_said;
        if (lc_terms_have_sense(other, term->sense))
            continue;
        s.own++;
        s.own_said += is_said;
        s.amounts += lc_term_is_amount(term);
        s.amounts_said += is_said && lc_term_is_amount(term);
    }
    return s;
}

static bool names_key(lc_terms key, lc_terms clause)
{
    for (size_t at = 0; at < key.count; at++)
        if (lc_term_is_content(&key.at[at]) && lc_terms_have_sense(clause, key.at[at].sense))
            return true;
    return false;
}

/* Does the clause contain only a part of the value, at least two words? */
static bool is_part_of(lc_terms clause, lc_terms value)
{
    size_t content = 0;

    for (size_t at = 0; at < clause.count; at++) {
        if (!lc_term_is_content(&clause.at[at]) || lc_term_in(&clause.at[at], LC_WORDS_FILLERS) ||
            lc_term_in(&clause.at[at], LC_WORDS_NEWS))
            continue;
        content++;
        if (!lc_terms_have_sense(value, clause.at[at].sense))
            return false;
    }
    return content >= 2;
}

/* A cheap look at the bits in front: what they rule out cannot be stated. Bits of different senses
 * may be the same, so they only ever let too much pass. */
static bool may_be_stated(const lc_lost_value *lost, uint64_t bits)
{
    int own = __builtin_popcountll(lost->own_bits);
    int said = __builtin_popcountll(lost->own_bits & bits);

    if (said == 0)
        return false;
    return 3 * said >= 2 * own || __builtin_popcountll(bits & ~lost->bits) <= FILLERS_MAX;
}

bool lc_lost_value_is_stated(const lc_lost_value *lost, lc_terms clause, uint64_t bits,
                             bool is_echo)
{
    share value, successor;

    if (!may_be_stated(lost, bits))
        return false;
    value = share_of(lost->value, lost->successor, clause);
    if (value.own_said == 0)
        return false;
    if (is_part_of(clause, lost->value))
        return true;
    if (value.amounts_said < value.amounts)
        return false;
    /* Long values are repeated in part: most of it, with all amounts. */
    if (value.own > 3 ? value.own_said * 3 < value.own * 2 : value.own_said < value.own)
        return false;
    successor = share_of(lost->successor, lost->value, clause);
    if (successor.own > 0 && successor.own_said == successor.own)
        return false; /* It reports the change. */
    return value.said >= 2 || names_key(lost->key, clause) ||
           lc_terms_content(clause) <= value.said + (is_echo ? 3 : 1);
}
