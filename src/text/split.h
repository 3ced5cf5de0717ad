/* split.h - cuts a text into the pieces that a tokenizer encodes one by one.
 *
 * Each encoding has a pattern, which its makers write as a regular expression; these functions give
 * the same matches as a regular expression engine with Unicode 16, in one pass that goes back over
 * a piece at most once. Concatenated, the pieces are the text. Valid UTF-8 is cut between
 * characters; a byte that belongs to no character is taken for a symbol.
 *
 * The class of a character is made of Unicode 16 categories (split_table.c). The version matters:
 * tokenizers elsewhere cut texts by these categories. Three steps find a class: the block of 256
 * characters, its row of 16, then four bits in the row's word.
 */
#ifndef LC_TEXT_SPLIT_H
#define LC_TEXT_SPLIT_H

#include <stddef.h>
#include <stdint.h>

typedef enum lc_char_class {
    LC_CHAR_OTHER,  /* Punctuation, symbols, controls, unassigned. */
    LC_CHAR_UPPER,  /* Lu, Lt */
    LC_CHAR_LOWER,  /* Ll */
    LC_CHAR_LETTER, /* Lm, Lo: letters without case. */
    LC_CHAR_MARK,   /* M */
    LC_CHAR_NUMBER, /* N */
    LC_CHAR_SPACE,  /* White_Space, but for the next. */
    LC_CHAR_NEWLINE /* \r and \n */
} lc_char_class;

/* By the first byte of a character: its class, or LC_CHAR_WIDE when it has more bytes. */
#define LC_CHAR_WIDE 8
extern const uint8_t lc_byte_classes[256];

#define LC_CHAR_TABLE_END 0x32400 /* Behind it are only variation selectors, which are marks. */
extern const uint8_t lc_char_blocks[LC_CHAR_TABLE_END / 256];
extern const uint16_t lc_char_rows[];  /* 16 per block. */
extern const uint64_t lc_char_words[]; /* 16 classes each. */

/* `code_point` is at most U+10FFFF. */
static inline lc_char_class lc_char_class_of(uint32_t code_point)
{
    size_t row;

    if (code_point >= LC_CHAR_TABLE_END)
        return code_point >= 0xE0100 && code_point <= 0xE01EF ? LC_CHAR_MARK : LC_CHAR_OTHER;
    row = 16 * (size_t)lc_char_blocks[code_point >> 8] + (code_point >> 4 & 15);
    return (lc_char_class)(lc_char_words[lc_char_rows[row]] >> (code_point & 15) * 4 & 15);
}

/* Returns the end of the piece that begins at `at`; `at` < `end`, which ends the text. */
typedef const uint8_t *lc_split(const uint8_t *at, const uint8_t *end);

lc_split lc_split_o200k;
lc_split lc_split_cl100k;

/* A character of more than one byte: its code point, and how many bytes it has. An invalid byte is
 * one byte with the code point U+FFFD. */
uint32_t lc_split_wide(const uint8_t *at, const uint8_t *end, size_t *bytes);

#endif /* LC_TEXT_SPLIT_H */
