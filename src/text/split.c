/* split.c - the patterns of o200k_base and cl100k_base, written by hand.
 *
 * With the classes of split.h (U upper, L lower, C letters without case, M marks, N numbers,
 * S spaces, \n the two newlines, and symbols, which are all others), the alternatives of o200k_base
 * are, in the order in which they are tried:
 *
 *     1  [^\r\n letter N]? (U C M)* (L C M)+ ending?      a word, with one character before it
 *     2  [^\r\n letter N]? (U C M)+ (L C M)* ending?      a word of capitals
 *     3  N{1,3}
 *     4  " "? [^ S letter N]+ [\r\n/]*                    symbols (marks are among them)
 *     5  S* [\r\n]+                                       spaces up to the last newline
 *     6  S+ (?!\S)                                        spaces but for the last
 *     7  S+
 *
 * where an ending is 's 't 're 've 'm 'll 'd in any case. Where a matcher would give characters
 * back, the places it would give back to are remembered on the way: the end of the last C or M in
 * the capitals of 1, the last newline in 5, the last space in 6.
 *
 * cl100k_base has an ending as its first alternative instead of behind words, takes every letter
 * alike and no marks for words, and no '/' in 4.
 */
#include "text/split.h"

#include <stdbool.h>
#include <string.h>

#define CLASS_BIT(class) (1u << (class))
#define LETTERS (CLASS_BIT(LC_CHAR_UPPER) | CLASS_BIT(LC_CHAR_LOWER) | CLASS_BIT(LC_CHAR_LETTER))
/* Classes that may follow the capitals of a word. */
#define SMALL (CLASS_BIT(LC_CHAR_LOWER) | CLASS_BIT(LC_CHAR_LETTER) | CLASS_BIT(LC_CHAR_MARK))
#define SYMBOLS (CLASS_BIT(LC_CHAR_OTHER) | CLASS_BIT(LC_CHAR_MARK))

static inline bool is_tail(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

uint32_t lc_split_wide(const uint8_t *at, const uint8_t *end, size_t *bytes)
{
    size_t left = (size_t)(end - at);
    uint32_t code_point = 0xFFFD;

    *bytes = 1;
    if (at[0] >= 0xE0 && at[0] < 0xF0) {
        if (left >= 3 && is_tail(at[1]) && is_tail(at[2])) {
            *bytes = 3;
            return (at[0] & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
        }
    } else if (at[0] >= 0xC2 && at[0] < 0xE0) {
        if (left >= 2 && is_tail(at[1])) {
            *bytes = 2;
            return (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
        }
    } else if (at[0] >= 0xF0 && at[0] < 0xF5) {
        if (left >= 4 && is_tail(at[1]) && is_tail(at[2]) && is_tail(at[3])) {
            code_point = (at[0] & 0x07u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 |
                         (at[3] & 0x3Fu);
            if (code_point > 0x10FFFF)
                return 0xFFFD;
            *bytes = 4;
        }
    }
    return code_point;
}

/* The class of the character at `at`; `next` is set behind it. */
static inline unsigned class_at(const uint8_t *at, const uint8_t *end, const uint8_t **next)
{
    unsigned class = lc_byte_classes[*at];
    size_t bytes = 1;

    if (class == LC_CHAR_WIDE)
        class = lc_char_class_of(lc_split_wide(at, end, &bytes));
    *next = at + bytes;
    return class;
}

/* How many of the 8 bytes in `word`, from the lowest, are in a..z; `fold` 0x20 in each byte counts
 * A..Z too. No byte carries into the next: 0x7F + 0x1F is less than 0x100. */
static inline size_t ascii_letters(uint64_t word, uint64_t fold)
{
    const uint64_t each = 0x0101010101010101u, high = 0x80 * each;
    uint64_t low = (word | fold) & ~high;
    uint64_t from_a = low + (0x80 - 'a') * each, above_z = low + (0x80 - 'z' - 1) * each;
    uint64_t other = ~(from_a & ~above_z & ~word) & high;

    return other == 0 ? 8 : (size_t)__builtin_ctzll(other) / 8;
}

static inline const uint8_t *skip_ascii(const uint8_t *at, const uint8_t *end, uint64_t fold)
{
    while (end - at >= 8) {
        uint64_t word;
        size_t letters;

        memcpy(&word, at, 8);
        letters = ascii_letters(word, fold);
        at += letters;
        if (letters < 8)
            break;
    }
    return at;
}

/* Behind all characters whose class is among `classes`. */
static inline const uint8_t *skip(const uint8_t *at, const uint8_t *end, unsigned classes)
{
    const uint8_t *next;

    /* Where letters are wanted they mostly are ASCII: eight at a time. */
    if (classes == SMALL)
        at = skip_ascii(at, end, 0);
    else if (classes == LETTERS)
        at = skip_ascii(at, end, 0x2020202020202020u);
    while (at < end && (classes >> class_at(at, end, &next) & 1) != 0)
        at = next;
    return at;
}

static inline const uint8_t *skip_newlines(const uint8_t *at, const uint8_t *end)
{
    while (at < end && lc_byte_classes[*at] == LC_CHAR_NEWLINE)
        at++;
    return at;
}

/* Behind the ending of a word that begins with the apostrophe at `at`; `at` when there is none. */
static const uint8_t *ending(const uint8_t *at, const uint8_t *end)
{
    size_t left = (size_t)(end - at);
    uint8_t first = left > 1 ? at[1] | 0x20 : 0;
    uint8_t second = left > 2 ? at[2] | 0x20 : 0;

    if (first == 's' || first == 't' || first == 'm' || first == 'd')
        return at + 2;
    if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
        (first == 'l' && second == 'l'))
        return at + 3;
    /* U+017F, the long s, matches an s if case is ignored. */
    if (left > 2 && at[1] == 0xC5 && at[2] == 0xBF)
        return at + 3;
    return at;
}

static const uint8_t *split_number(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *next;

    for (int i = 0; i < 3 && at < end && class_at(at, end, &next) == LC_CHAR_NUMBER; i++)
        at = next;
    return at;
}

static const uint8_t *split_spaces(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *begin = at, *last = at, *behind_newline = NULL, *next;

    while (at < end) {
        unsigned class = class_at(at, end, &next);

        if (class != LC_CHAR_SPACE && class != LC_CHAR_NEWLINE)
            break;
        last = at;
        at = next;
        if (class == LC_CHAR_NEWLINE)
            behind_newline = at;
    }
    if (behind_newline != NULL)
        return behind_newline;
    return at == end || last == begin ? at : last;
}

/* ---- o200k_base ------------------------------------------------------------------------------ */

/* The word behind the optional first character, without its ending; `at` when there is none.
 * `is_small`: it is the first alternative, not the second. */
static inline const uint8_t *word_end(const uint8_t *at, const uint8_t *end, bool *is_small)
{
    const uint8_t *behind_small = NULL, *next;
    unsigned class = LC_CHAR_OTHER;

    while (at < end) {
        class = class_at(at, end, &next);
        if (class == LC_CHAR_LETTER || class == LC_CHAR_MARK)
            behind_small = next;
        else if (class != LC_CHAR_UPPER)
            break;
        at = next;
    }
    *is_small = true;
    if (at < end && class == LC_CHAR_LOWER)
        return skip(next, end, SMALL);
    if (behind_small != NULL)
        return behind_small;
    *is_small = false;
    return at;
}

static inline const uint8_t *with_ending(const uint8_t *at, const uint8_t *end)
{
    return at < end && *at == '\'' ? ending(at, end) : at;
}

static const uint8_t *split_symbols_o200k(const uint8_t *at, const uint8_t *end)
{
    at = skip(at, end, SYMBOLS);
    while (at < end && (lc_byte_classes[*at] == LC_CHAR_NEWLINE || *at == '/'))
        at++;
    return at;
}

const uint8_t *lc_split_o200k(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *next, *word;
    unsigned class = class_at(at, end, &next);
    bool is_small;

    if ((LETTERS >> class & 1) != 0)
        return with_ending(word_end(at, end, &is_small), end);
    if (class == LC_CHAR_NUMBER)
        return split_number(at, end);
    if (class == LC_CHAR_NEWLINE)
        return split_spaces(at, end);

    word = word_end(next, end, &is_small);
    /* A mark may be the first character of a word, but before capitals it is a word by itself. */
    if (class == LC_CHAR_MARK && !is_small)
        return with_ending(next, end);
    if (word != next)
        return with_ending(word, end);
    if (class == LC_CHAR_OTHER)
        return split_symbols_o200k(next, end);
    if (*at == ' ' && next < end && (SYMBOLS >> class_at(next, end, &word) & 1) != 0)
        return split_symbols_o200k(next, end);
    return split_spaces(at, end);
}

/* ---- cl100k_base ----------------------------------------------------------------------------- */

static const uint8_t *split_symbols_cl100k(const uint8_t *at, const uint8_t *end)
{
    return skip_newlines(skip(at, end, SYMBOLS), end);
}

const uint8_t *lc_split_cl100k(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *next, *word;
    unsigned class = class_at(at, end, &next);

    if ((LETTERS >> class & 1) != 0)
        return skip(next, end, LETTERS);
    if (class == LC_CHAR_NUMBER)
        return split_number(at, end);
    if (class == LC_CHAR_NEWLINE)
        return split_spaces(at, end);
    if (*at == '\'') {
        word = ending(at, end);
        if (word != at)
            return word;
    }
    word = skip(next, end, LETTERS);
    if (word != next)
        return word;
    if (class == LC_CHAR_OTHER || class == LC_CHAR_MARK)
        return split_symbols_cl100k(next, end);
    if (*at == ' ' && next < end && (SYMBOLS >> class_at(next, end, &word) & 1) != 0)
        return split_symbols_cl100k(next, end);
    return split_spaces(at, end);
}
