/* term.c - cutting a text into terms.
 *
 * A word is letters and digits, with apostrophes and hyphens inside when letters follow; a number
 * keeps its commas, points and colons; a hyphen behind a number ends it, so "3-year" is 3 and year.
 * Bytes above ASCII count as letters: other languages give words, without stems. What a term means
 * is worked out in term_sense.c.
 */
#include "talk/term.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "talk/term_sense.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80 || c == '_';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* The bytes of an apostrophe at `at`: straight, or U+2019; 0 when there is none. */
static size_t apostrophe_bytes(loci_str text, size_t at)
{
    if (at < text.len && text.ptr[at] == '\'')
        return 1;
    if (at + 2 < text.len && memcmp(text.ptr + at, "\xE2\x80\x99", 3) == 0)
        return 3;
    return 0;
}

/* The bytes of a mark that is not ASCII (quotes, dashes, bullets, arrows, emoji signs), or 0. Those
 * in U+2000-2BFF and the variation selectors are no letters. */
static size_t symbol_bytes(loci_str text, size_t at)
{
    unsigned char first = (unsigned char)text.ptr[at];

    if (at + 2 < text.len && (first == 0xE2 || (first == 0xEF && text.ptr[at + 1] == '\xB8')))
        return 3;
    return at + 3 < text.len && first == 0xF0 ? 4 : 0;
}

/* Where the number that starts at `at` ends: digits, and , . : between digits. */
static size_t number_end(loci_str text, size_t at)
{
    while (at < text.len) {
        bool is_inner = at + 1 < text.len && is_digit(text.ptr[at + 1]) &&
                        (text.ptr[at] == ',' || text.ptr[at] == '.' || text.ptr[at] == ':');

        if (!is_digit(text.ptr[at]) && !is_inner)
            break;
        at++;
    }
    return at;
}

/* Where the word that starts at `at` ends. */
static size_t word_end(loci_str text, size_t at)
{
    while (at < text.len) {
        char c = text.ptr[at];
        size_t joint = c == '-' ? 1 : apostrophe_bytes(text, at);

        if (joint > 0) {
            bool goes_on = at + joint < text.len &&
                           (is_letter(text.ptr[at + joint]) || is_digit(text.ptr[at + joint]));

            if (!goes_on || symbol_bytes(text, at + joint) > 0)
                break;
            at += joint;
        } else if ((is_letter(c) && symbol_bytes(text, at) == 0) || is_digit(c)) {
            at++;
        } else {
            break;
        }
    }
    return at;
}

/* The bytes of a sign that stands in front of an amount: $ # and the pound's and the euro's. */
static size_t sign_bytes(loci_str text, size_t at)
{
    if (text.ptr[at] == '$' || text.ptr[at] == '#')
        return 1;
    if (at + 1 < text.len && memcmp(text.ptr + at, "\xC2\xA3", 2) == 0)
        return 2;
    return at + 2 < text.len && memcmp(text.ptr + at, "\xE2\x82\xAC", 3) == 0 ? 3 : 0;
}

/* The end of the amount at `at`, with its sign and unit, or `at` when there is none. */
static size_t amount_end(loci_str text, size_t at)
{
    size_t start = at, end;

    at += sign_bytes(text, at);
    if (at >= text.len || !is_digit(text.ptr[at]))
        return start;
    end = number_end(text, at);
    if (end < text.len && text.ptr[end] == '%')
        return end + 1;
    while (end < text.len && is_letter(text.ptr[end]) && symbol_bytes(text, end) == 0)
        end++;
    return end;
}

static char mark_after(loci_str text, size_t end)
{
    size_t at = end;

    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '"' || text.ptr[at] == '\'' ||
                             text.ptr[at] == ']' || text.ptr[at] == '*'))
        at++;
    if (at >= text.len)
        return 0;
    if (at + 2 < text.len && memcmp(text.ptr + at, "\xE2\x80", 2) == 0)
        return text.ptr[at + 2] == '\x93' || text.ptr[at + 2] == '\x94' ? '-' : 0;
    if (text.ptr[at] == '\n')
        return '.';
    if (text.ptr[at] == '.' && at > end && at + 1 < text.len && text.ptr[at + 1] != ' ' &&
        text.ptr[at + 1] != '.' && text.ptr[at + 1] != '\n')
        return 0; /* ".env" begins a word, it ends none. */
    return strchr(":,-.?!;()", text.ptr[at]) != NULL ? text.ptr[at] : 0;
}

/* Written like a name: a capital or a digit inside, or a capital where no sentence begins. */
static bool is_name(loci_str spelled, const lc_term *before)
{
    bool begins = before == NULL || before->after == '.' || before->after == '?' ||
                  before->after == '!' || before->after == ':' || before->after == '-' ||
                  before->after == '(';

    for (size_t i = 1; i < spelled.len; i++)
        if (is_upper(spelled.ptr[i]) || is_digit(spelled.ptr[i]))
            return true;
    return is_upper(spelled.ptr[0]) && !begins;
}

uint64_t lc_term_word(loci_str lower)
{
    return lc_hash64(lower);
}

/* The next term at or after `*at`; false at the end of the text. */
static bool next_term(loci_str text, size_t *at, const lc_term *before, lc_term *out)
{
    while (*at < text.len) {
        size_t end = amount_end(text, *at);
        size_t symbol = symbol_bytes(text, *at);
        bool is_amount = end > *at;

        if (!is_amount && symbol == 0 && is_letter(text.ptr[*at]))
            end = word_end(text, *at);
        if (end > *at) {
            loci_str spelled = {text.ptr + *at, end - *at};

            *out = (lc_term){.start = (uint32_t)*at, .bytes = (uint32_t)spelled.len};
            lc_term_set_sense(spelled, is_amount, is_amount ? false : is_name(spelled, before),
                              out);
            out->after = mark_after(text, end);
            *at = end;
            return true;
        }
        *at += symbol > 0 ? symbol : 1;
    }
    return false;
}

loci_status lc_terms_read(lc_arena *arena, loci_str text, lc_terms *out, loci_error *err)
{
    size_t at = 0, count = 0, room = text.len / 2 + 1; /* A term and its gap are two bytes. */
    lc_term *terms;

    if (text.len > UINT32_MAX)
        return lc_fail(err, LOCI_ELIMIT, "a text of %zu bytes is too long to read", text.len);
    terms = lc_arena_alloc(arena, room * sizeof *terms);
    if (terms == NULL)
        return lc_fail_memory(err);
    while (count < room &&
           next_term(text, &at, count > 0 ? &terms[count - 1] : NULL, &terms[count]))
        count++;
    *out = (lc_terms){.text = text, .at = terms, .count = count};
    return LOCI_OK;
}

lc_terms lc_terms_part(lc_terms terms, size_t first, size_t count)
{
    return (lc_terms){.text = terms.text, .at = terms.at + first, .count = count};
}

loci_str lc_terms_text(lc_terms terms)
{
    const lc_term *last;

    if (terms.count == 0)
        return LC_STR_NONE;
    last = &terms.at[terms.count - 1];
    return (loci_str){terms.text.ptr + terms.at[0].start,
                      last->start + last->bytes - terms.at[0].start};
}

int lc_term_minutes(lc_terms terms, size_t at)
{
    const char *text = terms.text.ptr + terms.at[at].start;
    size_t len = terms.at[at].bytes, i = 0;
    int hours = 0, minutes = 0;

    if (!is_digit(text[0]))
        return -1;
    for (; i < len && i < 2 && is_digit(text[i]); i++)
        hours = 10 * hours + (text[i] - '0');
    if (i + 2 < len && text[i] == ':' && is_digit(text[i + 1]) && is_digit(text[i + 2])) {
        minutes = 10 * (text[i + 1] - '0') + (text[i + 2] - '0');
        i += 3;
    }
    if (i < len && (text[i] == 'p' || text[i] == 'P') && hours < 12)
        hours += 12;
    else if (i < len && (text[i] == 'a' || text[i] == 'A') && hours == 12)
        hours = 0;
    return 60 * hours + minutes;
}
