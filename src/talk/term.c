/* term.c - cutting a text into terms, and from the spelling of a term to its sense.
 *
 * A word is letters and digits, with apostrophes and hyphens inside when letters follow; a number
 * keeps its commas, points and colons; a hyphen behind a number ends it, so "3-year" is 3 and year.
 * Addresses (a@b.org, https://…) and dates (2025-06-30) are one term. Bytes above ASCII count as
 * letters: other languages give words, without stems.
 *
 * Amounts are brought to one form ("$1.5k" is 1500 dollars), months and days of the week to their
 * first three letters, words to a light stem: the endings of number, tense and noun are cut where
 * at least three letters stay, and British "our" is "or". A light stem, not Snowball's: "freeze"
 * and "frozen", "renew" and "renewal" matter more here than linguistic nicety. Senses of different
 * kinds never meet: the kind is part of the hash.
 */
#include "talk/term.h"

#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/str.h"

#define SPELLING_BYTES_MAX 64
#define KEY_BYTES_MAX 256

/* Longest first; at least three letters must be left. */
static const loci_str endings[] = {
    LC_STR("ations"), LC_STR("ation"), LC_STR("ments"), LC_STR("ment"), LC_STR("ings"),
    LC_STR("ing"),    LC_STR("ions"),  LC_STR("ion"),   LC_STR("ied"),  LC_STR("ies"),
    LC_STR("ed"),     LC_STR("es"),    LC_STR("s"),     LC_STR("al"),   LC_STR("en"),
    LC_STR("ly"),     LC_STR("e")};

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
 * in U+2000-2BFF and the variation selectors are not letters. */
static size_t symbol_bytes(loci_str text, size_t at)
{
    unsigned char first = (unsigned char)text.ptr[at];

    if (at + 1 < text.len && first == 0xC2) /* U+0080 to U+00BF: controls, spaces, quotes. */
        return 2;
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

/* The bytes of a sign in front of an amount: $, #, and the signs of pound and euro. */
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
    return strchr(":,-.?!;()=", text.ptr[at]) != NULL ? text.ptr[at] : 0;
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

/* ---- Senses ---------------------------------------------------------------------------------- */

/* In place: "colour" as "color", "favourite" as "favorite". */
static loci_str without_our(loci_str word, char *bytes)
{
    for (size_t i = 2; i + 3 <= word.len && word.len > 5; i++)
        if (memcmp(bytes + i, "our", 3) == 0) {
            memmove(bytes + i + 1, bytes + i + 2, word.len - i - 2);
            word.len--;
            break;
        }
    return word;
}

/* The stem of a lower-case word. */
static loci_str stem_of(loci_str word)
{
    if (word.len > 2 && word.ptr[word.len - 1] == 's' && word.ptr[word.len - 2] == '\'')
        word.len -= 2;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        loci_str end = endings[i];

        if (word.len >= end.len + 3 && word.ptr[word.len - 1] == end.ptr[end.len - 1] &&
            memcmp(word.ptr + word.len - end.len, end.ptr, end.len) == 0) {
            word.len -= end.len;
            break;
        }
    }
    if (word.len > 3 && word.ptr[word.len - 1] == word.ptr[word.len - 2])
        word.len--;
    return word;
}

/* "$1,500.50k" -> 1500500.0 as text; the letter of the factor may follow the digits. */
static loci_str plain_number(loci_str lower, char out[LC_NUMBER_BYTES_MAX])
{
    uint64_t digits = 0;
    int exponent = 0;
    bool is_fraction = false, has_digits = false;

    for (size_t i = 0; i < lower.len; i++) {
        char c = lower.ptr[i];

        if (c >= '0' && c <= '9' && digits < UINT64_MAX / 10 - 1) {
            digits = digits * 10 + (uint64_t)(c - '0');
            exponent -= is_fraction;
            has_digits = true;
        } else if (c == '.') {
            is_fraction = true;
        } else if (has_digits && (c == 'k' || c == 'm' || c == 'b')) {
            exponent += c == 'k' ? 3 : c == 'm' ? 6 : 9;
            break;
        } else if (c != ',' && has_digits) {
            break;
        }
    }
    return (loci_str){out, lc_number_format_f64(lc_number_compose(digits, exponent), out)};
}

static bool ends_with(loci_str text, const char *end)
{
    size_t len = strlen(end);

    return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

static bool is_iso_date(loci_str lower)
{
    return lower.len == 10 && lower.ptr[4] == '-' && lower.ptr[7] == '-';
}

static void set_amount(loci_str lower, lc_term *out)
{
    char plain[LC_NUMBER_BYTES_MAX];

    if (is_iso_date(lower)) {
        out->kind = LC_TERM_DATE;
        out->sense = lc_sense_key('d', lower);
    } else if (lower.ptr[0] == '$' || (unsigned char)lower.ptr[0] >= 0x80) {
        out->kind = LC_TERM_MONEY;
        out->sense = lc_sense_key('$', plain_number(lower, plain));
    } else if (ends_with(lower, "%")) {
        out->kind = LC_TERM_PERCENT;
        out->sense = lc_sense_key('%', plain_number(lower, plain));
    } else if (ends_with(lower, "am") || ends_with(lower, "pm") ||
               memchr(lower.ptr, ':', lower.len) != NULL) {
        out->kind = LC_TERM_TIME;
        out->sense = lc_sense_key(':', lower);
    } else {
        out->kind = LC_TERM_NUMBER;
        out->sense = lc_sense_key('0', plain_number(lower, plain));
    }
}

/* "seven" is 7, "twenty-five" 25; 0 for any other word. */
static uint32_t number_of(const lc_lexicon *lexicon, loci_str word, lc_lexeme lexeme)
{
    loci_str units, first = lc_str_split(word, '-', &units);
    uint32_t number = lexeme.number, tens;

    if (number != 0 || units.len == 0)
        return number;
    tens = lc_lexicon_find(lexicon, lc_word_key(first)).number;
    number = lc_str_is(units, "one") ? 1 : lc_lexicon_find(lexicon, lc_word_key(units)).number;
    return tens > 0 && tens < 100 && tens % 10 == 0 && number > 0 && number < 10 ? tens + number
                                                                                 : 0;
}

/* Lower case, with straight apostrophes; cut at what a spelling may have. */
static loci_str to_lower(loci_str spelled, char out[SPELLING_BYTES_MAX])
{
    size_t len = 0;

    for (size_t i = 0; i < spelled.len && len < SPELLING_BYTES_MAX; i++) {
        char c = spelled.ptr[i];

        if (c == '\xE2' && i + 2 < spelled.len && spelled.ptr[i + 1] == '\x80') {
            out[len++] = '\'';
            i += 2;
        } else {
            out[len++] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
        }
    }
    return (loci_str){out, len};
}

static bool is_date(const lc_lexicon *lexicon, loci_str lower)
{
    return (lc_lexicon_find(lexicon, lc_word_key(lower)).lists >> LC_WORDS_DATES & 1) != 0;
}

/* "Fridays", "Friday's" */
static bool is_weekdays(const lc_lexicon *lexicon, loci_str lower)
{
    size_t ending = ends_with(lower, "day's") ? 2 : 1;

    return (ends_with(lower, "days") || ending == 2) && lower.len > 5 &&
           is_date(lexicon, (loci_str){lower.ptr, lower.len - ending});
}

/* Fills `kind`, `word`, `sense` and `lists` of `out` from one spelling. */
static void set_sense(const lc_lexicon *lexicon, loci_str spelled, bool is_amount, bool is_name,
                      lc_term *out)
{
    char bytes[SPELLING_BYTES_MAX], digits[LC_NUMBER_BYTES_MAX];
    loci_str lower = to_lower(spelled, bytes);
    uint64_t word = lc_word_key(lower);
    lc_lexeme lexeme = lc_lexicon_find(lexicon, word);
    uint32_t number = is_amount ? 0 : number_of(lexicon, lower, lexeme);

    out->word = word;
    out->lists = lexeme.lists;
    if (is_amount) {
        set_amount(lower, out);
    } else if (number > 0) {
        out->kind = LC_TERM_NUMBER;
        out->sense = lc_sense_key('0',
                                  (loci_str){digits, lc_number_format_f64((double)number, digits)});
    } else if (lc_str_is(lower, "noon") || lc_str_is(lower, "midnight")) {
        out->kind = LC_TERM_TIME;
        out->sense = lc_sense_key(':', lower);
    } else if (lc_term_in(out, LC_WORDS_DATES) || is_weekdays(lexicon, lower) ||
               (is_name && lc_str_is(lower, "may"))) {
        out->kind = LC_TERM_DATE;
        out->sense = lc_sense_key('d', (loci_str){lower.ptr, lower.len < 3 ? lower.len : 3});
        if (lower.ptr[0] == 't' && lower.ptr[1] == 'o') /* today, tonight, tomorrow differ. */
            out->sense = lc_sense_key('d', lower);
    } else if (lc_term_in(out, LC_WORDS_STOP) && !(is_name && lc_str_is(lower, "a"))) {
        out->kind = LC_TERM_STOP;
        out->sense = lc_sense_key('w', lower);
    } else {
        out->kind = is_name ? LC_TERM_NAME : LC_TERM_WORD;
        out->sense = lc_sense_key('w', stem_of(without_our(lower, bytes)));
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The start and end of a term, and the code or quotation it is in. */
typedef struct reading {
    const lc_lexicon *lexicon;
    loci_str text;
    size_t at;
    size_t no_address; /* No address begins before this place: looked at once, not at each term. */
    bool is_quoted, is_code;
} reading;

/* The end of an address (a@b.org, https://...) at `at`, or `at` when there is none. */
static size_t address_end(reading *r, size_t at)
{
    loci_str text = r->text;
    size_t end = at, sign = 0;

    if (at < r->no_address)
        return at;
    while (end < text.len &&
           (is_letter(text.ptr[end]) || is_digit(text.ptr[end]) ||
            (end > at && strchr("@.-+%/:?=&~#", text.ptr[end]) != NULL && text.ptr[end] != '\0'))) {
        if (text.ptr[end] == '@' || (text.ptr[end] == ':' && end + 2 < text.len &&
                                     text.ptr[end + 1] == '/' && text.ptr[end + 2] == '/'))
            sign = end;
        end++;
    }
    r->no_address = end;
    while (end > at && strchr(".:?-", text.ptr[end - 1]) != NULL)
        end--;
    return sign > at && sign + 1 < end ? end : at;
}

/* "2025-06-30" */
static size_t iso_date_end(loci_str text, size_t at)
{
    static const char form[] = "0000-00-00";

    for (size_t i = 0; i < sizeof form - 1; i++)
        if (at + i >= text.len ||
            (form[i] == '0' ? !is_digit(text.ptr[at + i]) : text.ptr[at + i] != form[i]))
            return at;
    return at + sizeof form - 1;
}

/* Skips one byte or sign that is not a term; fenced code is left out. */
static void skip_sign(reading *r)
{
    loci_str text = r->text;
    size_t symbol = symbol_bytes(text, r->at);

    if (text.len - r->at >= 3 && memcmp(text.ptr + r->at, "```", 3) == 0) {
        r->at += 3;
        while (r->at < text.len &&
               (text.len - r->at < 3 || memcmp(text.ptr + r->at, "```", 3) != 0))
            r->at++;
        r->at = r->at + 3 < text.len ? r->at + 3 : text.len;
        return;
    }
    if (text.ptr[r->at] == '`')
        r->is_code = !r->is_code;
    else if (text.ptr[r->at] == '"')
        r->is_quoted = !r->is_quoted;
    else if (symbol == 3 && memcmp(text.ptr + r->at, "\xE2\x80", 2) == 0 &&
             ((unsigned char)text.ptr[r->at + 2] | 1) == 0x9D) /* U+201C, U+201D */
        r->is_quoted = text.ptr[r->at + 2] == '\x9C';
    else if (text.ptr[r->at] == '\n')
        r->is_quoted = r->is_code = false; /* Neither goes over lines. */
    r->at += symbol > 0 ? symbol : 1;
}

/* "May 5": the month also where a sentence begins, because no number follows the verb there. */
static bool is_month_of_may(loci_str text, size_t at, size_t end)
{
    return end - at == 3 && memcmp(text.ptr + at, "May", 3) == 0 && end + 1 < text.len &&
           text.ptr[end] == ' ' && is_digit(text.ptr[end + 1]);
}

/* The next term; false at the end of the text. */
static bool next_term(reading *r, const lc_term *before, lc_term *out)
{
    for (; r->at < r->text.len; skip_sign(r)) {
        size_t at = r->at, end = iso_date_end(r->text, at);
        bool is_amount = false, is_address = false;

        if (end == at && (end = address_end(r, at)) > at)
            is_address = true;
        else if (end > at || (end = amount_end(r->text, at)) > at)
            is_amount = true;
        else if (symbol_bytes(r->text, at) == 0 && is_letter(r->text.ptr[at]))
            end = word_end(r->text, at);
        if (end > at) {
            loci_str spelled = {r->text.ptr + at, end - at};

            *out = (lc_term){.start = (uint32_t)at,
                             .bytes = (uint32_t)spelled.len,
                             .is_quoted = r->is_quoted,
                             .is_code = r->is_code};
            set_sense(r->lexicon, spelled, is_amount,
                      is_address || (!is_amount && (is_name(spelled, before) ||
                                                    is_month_of_may(r->text, at, end))),
                      out);
            out->after = mark_after(r->text, end);
            if (out->after == '.' && lc_term_in(out, LC_WORDS_ABBREVIATIONS))
                out->after = 0;
            r->at = end;
            return true;
        }
    }
    return false;
}

loci_status lc_terms_read(const lc_lexicon *lexicon, lc_arena *arena, loci_str text, lc_terms *out,
                          loci_error *err)
{
    reading r = {.lexicon = lexicon,
                 .text = {text.ptr, text.len < LC_TERMS_BYTES_MAX ? text.len : LC_TERMS_BYTES_MAX}};
    size_t count = 0, room = r.text.len / 2 + 1; /* A term and its gap are two bytes. */
    lc_term *terms = lc_arena_alloc(arena, room * sizeof *terms);

    if (terms == NULL)
        return lc_fail_memory(err);
    while (count < room && next_term(&r, count > 0 ? &terms[count - 1] : NULL, &terms[count]))
        count++;
    *out = (lc_terms){.text = text, .at = terms, .count = count};
    return LOCI_OK;
}

loci_status lc_terms_read_key(const lc_lexicon *lexicon, lc_arena *arena, loci_str key,
                              lc_terms *out, loci_error *err)
{
    char *words = lc_arena_alloc(arena, 2 * KEY_BYTES_MAX);
    size_t len = 0;

    if (words == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < key.len && i < KEY_BYTES_MAX; i++) {
        bool is_joint = strchr("_-./:", key.ptr[i]) != NULL && key.ptr[i] != '\0';

        if (i > 0 && is_upper(key.ptr[i]) && !is_upper(key.ptr[i - 1]) && !is_joint)
            words[len++] = ' ';
        words[len++] = is_joint ? ' ' : key.ptr[i];
    }
    return lc_terms_read(lexicon, arena, (loci_str){words, len}, out, err);
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

bool lc_term_is(lc_terms terms, size_t at, const char *lower)
{
    return at < terms.count && terms.at[at].word == lc_word_key(loci_str_of(lower));
}

bool lc_terms_have_in(lc_terms terms, lc_list list)
{
    for (size_t at = 0; at < terms.count; at++)
        if (lc_term_in(&terms.at[at], list))
            return true;
    return false;
}

bool lc_terms_have_sense(lc_terms terms, uint64_t sense)
{
    for (size_t at = 0; at < terms.count; at++)
        if (terms.at[at].sense == sense)
            return true;
    return false;
}

bool lc_term_has_capital(lc_terms terms, size_t at)
{
    return is_upper(terms.text.ptr[terms.at[at].start]);
}

size_t lc_terms_content(lc_terms terms)
{
    size_t count = 0;

    for (size_t i = 0; i < terms.count; i++)
        count += lc_term_is_content(&terms.at[i]);
    return count;
}

uint64_t lc_sense_bits(lc_terms terms)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < terms.count; i++)
        if (lc_term_is_content(&terms.at[i]))
            bits |= lc_sense_bit(terms.at[i].sense);
    return bits;
}
