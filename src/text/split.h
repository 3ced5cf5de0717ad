/* split.h - cuts a text into the pieces that a tokenizer looks at one by one.
 *
 * Each encoding has a pattern, which its makers write as a regular expression; these functions do
 * what a matcher with Unicode 16 would do, in one pass and without going back over a piece more
 * than once. Concatenated, the pieces are the text. Valid UTF-8 is cut between characters; a byte
 * that belongs to no character is taken for a symbol.
 */
#ifndef LC_TEXT_SPLIT_H
#define LC_TEXT_SPLIT_H

#include "text/split_table.h"

#include <stddef.h>

/* Returns the end of the piece that begins at `at`; `at` < `end`, which ends the text. */
typedef const uint8_t *lc_split(const uint8_t *at, const uint8_t *end);

lc_split lc_split_o200k;
lc_split lc_split_cl100k;

/* A character of more than one byte: its code point, and how many bytes it has. What is no
 * character is one byte with the code point of U+FFFD. */
uint32_t lc_split_wide(const uint8_t *at, const uint8_t *end, size_t *bytes);

#endif /* LC_TEXT_SPLIT_H */
