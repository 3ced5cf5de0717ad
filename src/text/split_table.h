/* split_table.h - what a character is to the splitter: a class made of Unicode 16 categories.
 *
 * The version matters: tokenizers elsewhere cut texts by these categories, and a letter that is
 * unknown here is cut elsewhere there. Two steps find a class: the block of 256 characters, then
 * four bits in it.
 */
#ifndef LC_TEXT_SPLIT_TABLE_H
#define LC_TEXT_SPLIT_TABLE_H

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

extern const uint8_t lc_char_blocks[0x110000 / 256];
extern const uint64_t lc_char_words[][16];

/* `code_point` is at most U+10FFFF. */
static inline lc_char_class lc_char_class_of(uint32_t code_point)
{
    uint64_t word = lc_char_words[lc_char_blocks[code_point >> 8]][code_point >> 4 & 15];

    return (lc_char_class)(word >> (code_point & 15) * 4 & 15);
}

#endif /* LC_TEXT_SPLIT_TABLE_H */
