/* word.h - the words of a text, as search compares them: folded (text/normalise.h), in order.
 *
 *     The cats' toys                the cats toys
 *     John's, don't, O'Neil         john  don't  oneil neil
 *     snake_case getUserName        snake_case snake case  getusername get user name
 *     JavaScript McDonald           javascript mcdonald    (a capitalised pair is mostly a name)
 *     e-mail, state-of-the-art      email e mail  state of the art
 *     C++ C# U.S.A. AT&T            c++ c# usa at&t at t
 *     3.14 1,000 2024-05-01 v1.2.3  3.14 1000 2024-05-01 2024 05 01 v1.2.3
 *     jo.doe@example.com            jo.doe@example.com jo doe example com
 *     東京タワー 猫                 東京 京タ タワ ワー 猫    (pairs: there are no spaces to split
 * at)
 *
 * A compound is returned as a whole and in parts, so that it is found by either.
 */
#ifndef LC_TEXT_WORD_H
#define LC_TEXT_WORD_H

#include "base/arena.h"

#include <stdbool.h>

/* A longer word is cut; a longer whole is given in parts only. */
#define LC_WORD_BYTES_MAX 128

typedef struct lc_words {
    loci_str *items; /* In the arena, their texts too. */
    size_t count;
    size_t capacity;
} lc_words;

/* Splits into a new list. LOCI_EINVAL when `text` is not valid UTF-8. */
loci_status lc_words_split(lc_arena *arena, loci_str text, lc_words *out, loci_error *err);
/* Adds an item, whose text is borrowed; false when out of memory. A zeroed list is empty. */
bool lc_words_add(lc_words *words, lc_arena *arena, loci_str item);

#endif /* LC_TEXT_WORD_H */
