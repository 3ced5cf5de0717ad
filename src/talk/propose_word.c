/* propose_word.c - the words and values that proposals are made of. The lists are of English and of
 * no subject. */
#include "base/str.h"
#include "talk/proposing.h"

/* A word that tells values apart; "this" does in "this week". */
static bool counts(lc_terms value, size_t at)
{
    return lc_term_is_content(value.at[at].kind) ||
           (at + 1 < value.count && value.at[at + 1].is_time_unit);
}

bool lc_value_is_in(lc_terms message, lc_terms value)
{
    for (size_t i = 0; i < value.count; i++)
        if (counts(value, i) && !lc_terms_have(message, value.at[i].sense))
            return false;
    return value.count > 0;
}

/* Words of keys that are no subject. */
bool lc_key_is_generic(const lc_term *term)
{
    if (lc_term_in(term, LC_WORDS_KEY_GENERIC))
        return true;
    return false;
}

/* Content words of `from` that the clause has, except those of the value itself. */
size_t lc_words_named(lc_terms from, lc_terms clause, lc_terms value)
{
    size_t count = 0;

    for (size_t i = 0; i < from.count; i++) {
        const lc_term *term = &from.at[i];

        count += (term->kind == LC_TERM_WORD || term->kind == LC_TERM_NAME) &&
                 !lc_key_is_generic(term) && !lc_terms_have(value, term->sense) &&
                 lc_terms_have(clause, term->sense) &&
                 !lc_terms_have(lc_terms_part(from, 0, i), term->sense);
    }
    return count;
}

/* What a value looks like: its kinds, and whether it has a plain number. */
uint32_t lc_value_shape(lc_terms value)
{
    uint32_t shape = lc_value_kinds(value);

    for (size_t i = 0; i < value.count; i++)
        if (value.at[i].kind == LC_TERM_NUMBER && value.text.ptr[value.at[i].start] != '#')
            shape |= LC_SHAPE_NUMBER;
    return shape;
}

bool lc_value_looks_alike(lc_terms a, lc_terms b)
{
    uint32_t shape_a = lc_value_shape(a), shape_b = lc_value_shape(b);

    return (shape_a & shape_b) != 0 || (shape_a | shape_b) == 0;
}

bool lc_value_has_amount(lc_terms value)
{
    for (size_t i = 0; i < value.count; i++)
        if (lc_term_is_amount(value.at[i].kind))
            return true;
    return false;
}

/* Is the value a sum, a share or a number and not much more? */
static bool is_amount(lc_terms value)
{
    size_t content = 0;

    for (size_t i = 0; i < value.count; i++)
        content += lc_term_is_content(value.at[i].kind);
    return content > 0 && content <= 2 && lc_term_is_amount(value.at[0].kind) &&
           value.at[0].kind <= LC_TERM_NUMBER;
}

/* Can the new value stand where the old one stood? */
bool lc_value_fits(lc_terms old, lc_terms value)
{
    uint32_t old_kinds = lc_value_kinds(old), new_kinds = lc_value_kinds(value);

    if (lc_value_is_in(old, value) || (is_amount(old) && !lc_value_has_amount(value)))
        return false;
    return old_kinds == 0 || new_kinds == 0 || (old_kinds & new_kinds) != 0;
}

/* Where the part of the clause begins that has the value: behind "so", "and" or "but". */
const lc_term *lc_value_segment(lc_terms clause, lc_terms value)
{
    const lc_term *term = value.at;

    for (; term > clause.at; term--) {
        if ((term - 1)->after == ';')
            return term;
        if (lc_term_in(term, LC_WORDS_SEGMENT_JOINTS))
            return term;
    }
    return term;
}

/* Words of keys that only say what kind of value it is, which the value shows by itself. */
bool lc_key_is_kind(const lc_term *term)
{
    if (lc_term_in(term, LC_WORDS_KEY_KINDS))
        return true;
    return false;
}

bool lc_key_is_named(lc_terms key, lc_terms words)
{
    size_t topics = 0;

    for (size_t i = 0; i < key.count; i++) {
        if (!lc_term_is_content(key.at[i].kind) || lc_key_is_generic(&key.at[i]) ||
            lc_key_is_kind(&key.at[i]))
            continue;
        topics++;
        if (!lc_terms_have(words, key.at[i].sense))
            return false;
    }
    return topics > 0;
}

bool lc_word_is_possessive(const lc_term *term)
{
    if (lc_term_in(term, LC_WORDS_POSSESSIVES))
        return true;
    return false;
}

/* Words that lead from one value to another and are no subject. */
bool lc_word_is_change(const lc_term *term)
{
    if (lc_term_in(term, LC_WORDS_CHANGES))
        return true;
    return false;
}

/* Adjectives that leave a thing what it is. */
bool lc_word_is_neutral(const lc_term *term)
{
    if (lc_term_in(term, LC_WORDS_NEUTRAL))
        return true;
    return lc_key_is_generic(term);
}

/* Do all of its words begin with a capital or a digit? */
bool lc_value_is_proper(lc_terms value)
{
    size_t count = 0;

    for (size_t i = 0; i < value.count; i++) {
        char first = value.text.ptr[value.at[i].start];

        if (!lc_term_is_content(value.at[i].kind))
            continue;
        count++;
        if (first >= 'a' && first <= 'z')
            return false;
    }
    return count > 0;
}

bool lc_value_begins_proper(lc_terms value)
{
    size_t first = 0;

    while (first + 1 < value.count && !lc_term_is_content(value.at[first].kind))
        first++;
    return lc_value_is_proper(lc_terms_part(value, first, 1));
}

/* Verbs that say no more than "is". */
bool lc_word_is_copula(const lc_term *term)
{
    if (lc_term_in(term, LC_WORDS_COPULAS))
        return true;
    return false;
}

/* What was, what is not, and what is somebody else's. */
bool lc_words_are_other(lc_terms words)
{
    if (lc_terms_have_in(words, LC_WORDS_NOT_OURS))
        return true;
    return false;
}

/* The same, or behind a comma. */
const lc_term *lc_value_part(lc_terms clause, lc_terms value)
{
    const lc_term *term = value.at, *start = lc_value_segment(clause, value);

    while (term > start && ((term - 1)->after == 0 || strchr(",-", (term - 1)->after) == NULL))
        term--;
    return term;
}

bool lc_value_is_same(lc_terms a, lc_terms b)
{
    return lc_value_is_in(a, b) && lc_value_is_in(b, a);
}
