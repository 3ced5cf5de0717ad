/* character.h - reads one character of a text at a time, with its kind.
 *
 * Reading never fails: a byte that is not part of valid UTF-8 is a character of its own, of kind
 * other. So functions that split texts accept any bytes and lose none.
 */
#ifndef LC_TEXT_CHARACTER_H
#define LC_TEXT_CHARACTER_H

#include "loci.h"

#include <stdbool.h>

#define LC_CHARACTER_INVALID UINT32_MAX

typedef enum lc_character_kind {
    LC_CHARACTER_OTHER, /* Punctuation, symbols, controls, unassigned. */
    LC_CHARACTER_SPACE, /* Line ends too. */
    LC_CHARACTER_LOWER,
    LC_CHARACTER_UPPER,  /* Title case too. */
    LC_CHARACTER_LETTER, /* Of a script without case. */
    LC_CHARACTER_DENSE,  /* A letter of a script that writes no spaces between words. */
    LC_CHARACTER_DIGIT,
    LC_CHARACTER_MARK,    /* Belongs to the letter before. */
    LC_CHARACTER_IGNORED, /* Soft hyphen, joiners: as if it were not there. */
} lc_character_kind;

typedef struct lc_character {
    uint32_t code_point; /* LC_CHARACTER_INVALID for an invalid byte. */
    unsigned bytes;      /* 1 to 4; 0 = the end of the text. */
    lc_character_kind kind;
} lc_character;

lc_character_kind lc_character_kind_of(uint32_t code_point);
/* The character at byte `at` of `text`; at the end: no bytes and kind other. */
lc_character lc_character_read(loci_str text, size_t at);

static inline bool lc_character_is_letter(lc_character_kind kind)
{
    return kind >= LC_CHARACTER_LOWER && kind <= LC_CHARACTER_DENSE;
}

/* Hiragana, Katakana, Han, Hangul, Thai, Lao, Khmer, Burmese. Korean has spaces, but between
 * phrases; its words carry their particles. */
bool lc_character_is_dense(uint32_t code_point);

#endif /* LC_TEXT_CHARACTER_H */
