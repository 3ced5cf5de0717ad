/* term_sense.c - from a spelling to a sense.
 *
 * Amounts are brought to one form ("$1.5k" is 1500 dollars), months and days of the week to their
 * first three letters, words to a light stem: the endings of number, tense and noun are cut where
 * at least three letters stay. A light stem, not Snowball's: "freeze" and "frozen", "renew" and
 * "renewal" matter more here than linguistic nicety, and reading runs for every message of a
 * context. Senses of different kinds never meet: the kind is part of the hash.
 */
#include "talk/term_sense.h"

#include "base/hash.h"
#include "base/number.h"
#include "base/str.h"

#define SPELLING_BYTES_MAX 64

static const char *const stop_words[] = {
    "a",     "about",  "again",  "all",   "also",   "am",     "an",     "and",   "any",    "are",
    "as",    "at",     "be",     "been",  "before", "being",  "but",    "by",    "can",    "could",
    "did",   "do",     "does",   "don't", "done",   "during", "each",   "every", "for",    "from",
    "get",   "go",     "going",  "gone",  "got",    "had",    "has",    "have",  "having", "he",
    "her",   "here",   "him",    "his",   "how",    "i",      "i'd",    "i'll",  "i'm",    "i've",
    "if",    "in",     "into",   "is",    "it",     "it's",   "its",    "just",  "know",   "let",
    "let's", "made",   "make",   "may",   "me",     "might",  "mine",   "more",  "most",   "must",
    "my",    "need",   "needs",  "no",    "not",    "now",    "of",     "oh",    "ok",     "okay",
    "on",    "once",   "only",   "or",    "other",  "our",    "ours",   "out",   "over",   "own",
    "per",   "please", "really", "same",  "shall",  "she",    "should", "so",    "some",   "such",
    "than",  "that",   "that's", "the",   "their",  "them",   "then",   "there", "these",  "they",
    "this",  "those",  "to",     "too",   "under",  "until",  "up",     "us",    "very",   "via",
    "want",  "wants",  "was",    "we",    "we'll",  "we're",  "we've",  "well",  "were",   "what",
    "when",  "where",  "which",  "who",   "whom",   "whose",  "why",    "will",  "with",   "would",
    "yes",   "you",    "your",   "yours"};

static const char *const dates[] = {
    "apr",       "april",    "aug",  "august",  "dec",      "december", "eod",
    "feb",       "february", "fri",  "friday",  "jan",      "january",  "jul",
    "july",      "jun",      "june", "mar",     "march",    "mon",      "monday",
    "nov",       "november", "oct",  "october", "saturday", "sep",      "sept",
    "september", "sunday",   "thu",  "thurs",   "thursday", "today",    "tomorrow",
    "tonight",   "tue",      "tues", "tuesday", "wed",      "wednesday"};

/* "one" is missing: it mostly means somebody, or the thing spoken of. */
typedef struct number_word {
    const char *word;
    const char *digits;
} number_word;

static const number_word number_words[] = {
    {"two", "2"},       {"three", "3"},     {"four", "4"},      {"five", "5"},
    {"six", "6"},       {"seven", "7"},     {"eight", "8"},     {"nine", "9"},
    {"ten", "10"},      {"eleven", "11"},   {"twelve", "12"},   {"thirteen", "13"},
    {"fourteen", "14"}, {"fifteen", "15"},  {"sixteen", "16"},  {"seventeen", "17"},
    {"eighteen", "18"}, {"nineteen", "19"}, {"twenty", "20"},   {"thirty", "30"},
    {"forty", "40"},    {"fifty", "50"},    {"sixty", "60"},    {"seventy", "70"},
    {"eighty", "80"},   {"ninety", "90"},   {"hundred", "100"}, {"thousand", "1000"},
};

/* Stems of words that say in what state a thing is, that one of several is taken, how long. */
static const char *const status_stems[] = {
    "accept",  "activ",   "approv",  "archiv",  "availabl", "block",      "cancel",    "clos",
    "complet", "confirm", "declin",  "delay",   "den",      "disabl",     "dismis",    "drop",
    "enabl",   "expir",   "fail",    "finish",  "fix",      "freez",      "froz",      "halt",
    "inactiv", "launch",  "liv",     "mov",     "open",     "operation",  "outag",     "pas",
    "paus",    "pend",    "postpon", "ready",   "reject",   "releas",     "resolv",    "revok",
    "schedul", "ship",    "stop",    "suspend", "terminat", "unavailabl", "withdrawn", "work"};
static const char *const choice_stems[] = {"choos", "instead", "pick", "prefer", "use", "using"};
static const char *const time_unit_stems[] = {"day",     "hour",   "minut", "month",
                                              "quarter", "sprint", "week",  "year"};

/* Longest first; what stays has at least three letters. */
static const char *const endings[] = {"ations", "ation", "ments", "ment", "ings", "ing",
                                      "ions",   "ion",   "ied",   "ies",  "ed",   "es",
                                      "s",      "al",    "en",    "ly",   "e"};

/* The list is in byte order; a test sees to that. */
static bool is_listed(loci_str word, const char *const *list, size_t count)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = lc_str_compare(word, loci_str_of(list[middle]));

        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

#define IS_LISTED(word, list) is_listed(word, list, sizeof(list) / sizeof *(list))

static uint64_t sense_of(char class, loci_str form)
{
    char tagged[SPELLING_BYTES_MAX + 1];

    tagged[0] = class;
    memcpy(tagged + 1, form.ptr, form.len);
    return lc_hash64((loci_str){tagged, form.len + 1});
}

/* In place: the stem of a lower-case word. */
static loci_str stem_of(loci_str word)
{
    if (word.len > 2 && word.ptr[word.len - 1] == 's' && word.ptr[word.len - 2] == '\'')
        word.len -= 2;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t len = strlen(endings[i]);

        if (word.len >= len + 3 && memcmp(word.ptr + word.len - len, endings[i], len) == 0) {
            word.len -= len;
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

static void set_amount(loci_str lower, lc_term *out)
{
    char plain[LC_NUMBER_BYTES_MAX];

    if (lower.ptr[0] == '$' || (unsigned char)lower.ptr[0] >= 0x80) {
        out->kind = LC_TERM_MONEY;
        out->value = LC_VALUE_MONEY;
        out->sense = sense_of('$', plain_number(lower, plain));
    } else if (ends_with(lower, "%")) {
        out->kind = LC_TERM_PERCENT;
        out->value = LC_VALUE_PERCENT;
        out->sense = sense_of('%', plain_number(lower, plain));
    } else if (ends_with(lower, "am") || ends_with(lower, "pm") ||
               memchr(lower.ptr, ':', lower.len) != NULL) {
        out->kind = LC_TERM_TIME;
        out->value = LC_VALUE_WHEN;
        out->sense = sense_of(':', lower);
    } else {
        out->kind = LC_TERM_NUMBER;
        out->sense = sense_of('0', plain_number(lower, plain));
    }
}

static loci_str digits_of(loci_str word)
{
    for (size_t i = 0; i < sizeof number_words / sizeof *number_words; i++)
        if (lc_str_is(word, number_words[i].word))
            return loci_str_of(number_words[i].digits);
    return LC_STR_NONE;
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

/* "Fridays" */
static bool is_weekdays(loci_str lower)
{
    return ends_with(lower, "days") && lower.len > 5 &&
           IS_LISTED(((loci_str){lower.ptr, lower.len - 1}), dates);
}

void lc_term_set_sense(loci_str spelled, bool is_amount, bool is_name, lc_term *out)
{
    char bytes[SPELLING_BYTES_MAX];
    loci_str lower = to_lower(spelled, bytes);
    loci_str digits = is_amount ? LC_STR_NONE : digits_of(lower);

    out->word = lc_term_word(lower);
    if (is_amount || digits.len > 0) {
        set_amount(is_amount ? lower : digits, out);
    } else if (lc_str_is(lower, "noon") || lc_str_is(lower, "midnight")) {
        out->kind = LC_TERM_TIME;
        out->value = LC_VALUE_WHEN;
        out->sense = sense_of(':', lower);
    } else if (IS_LISTED(lower, dates) || is_weekdays(lower)) {
        out->kind = LC_TERM_DATE;
        out->value = LC_VALUE_WHEN;
        out->sense = sense_of('d', (loci_str){lower.ptr, lower.len < 3 ? lower.len : 3});
        if (lower.ptr[0] == 't' && lower.ptr[1] == 'o') /* today, tonight, tomorrow differ. */
            out->sense = sense_of('d', lower);
    } else if (IS_LISTED(lower, stop_words) && !(is_name && lc_str_is(lower, "a"))) {
        out->kind = LC_TERM_STOP;
        out->sense = sense_of('w', lower);
    } else {
        loci_str stem = stem_of(lower);

        out->kind = is_name ? LC_TERM_NAME : LC_TERM_WORD;
        out->sense = sense_of('w', stem);
        out->is_time_unit = IS_LISTED(stem, time_unit_stems);
        if (IS_LISTED(stem, status_stems))
            out->value = LC_VALUE_STATUS;
        else if (IS_LISTED(stem, choice_stems))
            out->value = LC_VALUE_CHOICE;
    }
}
