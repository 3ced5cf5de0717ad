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
    "a",       "about",   "again",    "all",     "also",    "am",     "an",     "and",
    "any",     "are",     "aren't",   "as",      "at",      "be",     "been",   "before",
    "being",   "but",     "by",       "came",    "can",     "can't",  "cannot", "come",
    "comes",   "could",   "couldn't", "did",     "didn't",  "do",     "does",   "doesn't",
    "don't",   "done",    "during",   "each",    "every",   "for",    "from",   "get",
    "gets",    "getting", "go",       "goes",    "going",   "gone",   "got",    "had",
    "has",     "hasn't",  "have",     "haven't", "having",  "he",     "he'd",   "he'll",
    "he's",    "her",     "here",     "here's",  "him",     "his",    "how",    "i",
    "i'd",     "i'll",    "i'm",      "i've",    "if",      "in",     "into",   "is",
    "isn't",   "it",      "it'd",     "it'll",   "it's",    "its",    "just",   "know",
    "let",     "let's",   "made",     "make",    "may",     "me",     "might",  "mine",
    "more",    "most",    "must",     "my",      "need",    "needs",  "no",     "not",
    "now",     "of",      "oh",       "ok",      "okay",    "on",     "once",   "one",
    "one's",   "ones",    "only",     "or",      "other",   "our",    "ours",   "out",
    "over",    "own",     "per",      "please",  "really",  "said",   "same",   "say",
    "says",    "shall",   "she",      "she'd",   "she'll",  "she's",  "should", "shouldn't",
    "so",      "some",    "such",     "tell",    "than",    "that",   "that's", "the",
    "their",   "them",    "then",     "there",   "there's", "these",  "they",   "they'd",
    "they'll", "they're", "they've",  "think",   "this",    "those",  "to",     "told",
    "too",     "under",   "until",    "up",      "us",      "very",   "via",    "want",
    "wants",   "was",     "wasn't",   "we",      "we'd",    "we'll",  "we're",  "we've",
    "well",    "went",    "were",     "weren't", "what",    "what's", "when",   "where",
    "which",   "who",     "who's",    "whom",    "whose",   "why",    "will",   "with",
    "won't",   "would",   "wouldn't", "yes",     "you",     "you'd",  "you'll", "you're",
    "you've",  "your",    "yours"};

static const char *const dates[] = {
    "apr",       "april",    "aug",  "august",  "dec",      "december", "eod",
    "feb",       "february", "fri",  "friday",  "jan",      "january",  "jul",
    "july",      "jun",      "june", "mar",     "march",    "mon",      "monday",
    "nov",       "november", "oct",  "october", "saturday", "sep",      "sept",
    "september", "sunday",   "thu",  "thurs",   "thursday", "today",    "tomorrow",
    "tonight",   "tue",      "tues", "tuesday", "wed",      "wednesday"};

/* In byte order. "one" is missing: it mostly means somebody, or the thing spoken of. */
typedef struct number_word {
    const char *word;
    const char *digits;
} number_word;

static const number_word number_words[] = {
    {"eight", "8"},
    {"eighteen", "18"},
    {"eighteenth", "18"},
    {"eighth", "8"},
    {"eighty", "80"},
    {"eleven", "11"},
    {"eleventh", "11"},
    {"fifteen", "15"},
    {"fifteenth", "15"},
    {"fifth", "5"},
    {"fifty", "50"},
    {"five", "5"},
    {"forty", "40"},
    {"four", "4"},
    {"fourteen", "14"},
    {"fourteenth", "14"},
    {"fourth", "4"},
    {"hundred", "100"},
    {"nine", "9"},
    {"nineteen", "19"},
    {"nineteenth", "19"},
    {"ninety", "90"},
    {"ninth", "9"},
    {"seven", "7"},
    {"seventeen", "17"},
    {"seventeenth", "17"},
    {"seventh", "7"},
    {"seventy", "70"},
    {"six", "6"},
    {"sixteen", "16"},
    {"sixteenth", "16"},
    {"sixth", "6"},
    {"sixty", "60"},
    {"ten", "10"},
    {"tenth", "10"},
    {"third", "3"},
    {"thirteen", "13"},
    {"thirteenth", "13"},
    {"thirtieth", "30"},
    {"thirty", "30"},
    {"thirty-first", "31"},
    {"thousand", "1000"},
    {"three", "3"},
    {"twelfth", "12"},
    {"twelve", "12"},
    {"twentieth", "20"},
    {"twenty", "20"},
    {"twenty-eighth", "28"},
    {"twenty-fifth", "25"},
    {"twenty-first", "21"},
    {"twenty-fourth", "24"},
    {"twenty-ninth", "29"},
    {"twenty-second", "22"},
    {"twenty-seventh", "27"},
    {"twenty-sixth", "26"},
    {"twenty-third", "23"},
    {"two", "2"},
};

/* Stems of words that say in what state a thing is, that one of several is taken, how long. */
static const char *const status_stems[] = {
    "accept",  "activ",  "approv",    "archiv",   "availabl",   "block",     "cancel",
    "clear",   "clos",   "complet",   "confirm",  "declin",     "delay",     "den",
    "disabl",  "dismis", "drop",      "enabl",    "expir",      "fail",      "finish",
    "fix",     "freez",  "froz",      "halt",     "inactiv",    "launch",    "liv",
    "mov",     "open",   "operation", "outag",    "pas",        "paus",      "pend",
    "postpon", "ready",  "reject",    "releas",   "resolv",     "revok",     "schedul",
    "ship",    "stop",   "suspend",   "terminat", "unavailabl", "withdrawn", "work"};
static const char *const choice_stems[] = {"choos", "instead", "pick", "prefer", "use", "using"};
static const char *const time_unit_stems[] = {"day",     "hour",   "minut", "month",
                                              "quarter", "sprint", "week",  "year"};

static const char *const measure_stems[] = {"buck",    "cent",  "cm",   "degre", "dollar",   "euro",
                                            "franc",   "gram",  "kg",   "kilo",  "kilometr", "km",
                                            "litr",    "metr",  "mg",   "mil",   "ml",       "penc",
                                            "percent", "pound", "quid", "usd",   "yen"};

/* Longest first; what stays has at least three letters. */
static const loci_str endings[] = {
    LC_STR("ations"), LC_STR("ation"), LC_STR("ments"), LC_STR("ment"), LC_STR("ings"),
    LC_STR("ing"),    LC_STR("ions"),  LC_STR("ion"),   LC_STR("ied"),  LC_STR("ies"),
    LC_STR("ed"),     LC_STR("es"),    LC_STR("s"),     LC_STR("al"),   LC_STR("en"),
    LC_STR("ly"),     LC_STR("e")};

/* Where the word stands to a listed one. Most differ in the first letters, so a loop beats a call.
 */
static int order_of(loci_str word, const char *listed)
{
    for (size_t i = 0; i < word.len; i++) {
        int difference = (unsigned char)word.ptr[i] - (unsigned char)listed[i];

        if (difference != 0)
            return difference;
    }
    return listed[word.len] == '\0' ? 0 : -1;
}

/* The list is in byte order; a test sees to that. */
static bool is_listed(loci_str word, const char *const *list, size_t count)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = order_of(word, list[middle]);

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

static loci_str listed_digits(loci_str word)
{
    size_t low = 0, high = sizeof number_words / sizeof *number_words;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = order_of(word, number_words[middle].word);

        if (order == 0)
            return loci_str_of(number_words[middle].digits);
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return LC_STR_NONE;
}

/* "seven" is 7, "twenty-five" 25; `out` has room for both digits. */
static loci_str digits_of(loci_str word, char out[2])
{
    loci_str units, tens = lc_str_split(word, '-', &units), digits = listed_digits(word);

    if (digits.len > 0 || units.len == 0)
        return digits;
    tens = listed_digits(tens);
    units = lc_str_is(units, "one") ? LC_STR("1") : listed_digits(units);
    if (tens.len != 2 || tens.ptr[1] != '0' || units.len != 1)
        return LC_STR_NONE;
    out[0] = tens.ptr[0];
    out[1] = units.ptr[0];
    return (loci_str){out, 2};
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

/* "Fridays", "Friday's" */
static bool is_weekdays(loci_str lower)
{
    size_t ending = ends_with(lower, "day's") ? 2 : 1;

    return (ends_with(lower, "days") || ending == 2) && lower.len > 5 &&
           IS_LISTED(((loci_str){lower.ptr, lower.len - ending}), dates);
}

void lc_term_set_sense(loci_str spelled, bool is_amount, bool is_name, lc_term *out)
{
    char bytes[SPELLING_BYTES_MAX];
    loci_str lower = to_lower(spelled, bytes);
    char two[2];
    loci_str digits = is_amount ? LC_STR_NONE : digits_of(lower, two);

    out->word = lc_term_word(lower);
    if (is_amount || digits.len > 0) {
        set_amount(is_amount ? lower : digits, out);
    } else if (lc_str_is(lower, "noon") || lc_str_is(lower, "midnight")) {
        out->kind = LC_TERM_TIME;
        out->value = LC_VALUE_WHEN;
        out->sense = sense_of(':', lower);
    } else if (IS_LISTED(lower, dates) || is_weekdays(lower) ||
               (is_name && lc_str_is(lower, "may"))) {
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
        out->is_measure = IS_LISTED(stem, measure_stems);
        if (IS_LISTED(stem, status_stems))
            out->value = LC_VALUE_STATUS;
        else if (IS_LISTED(stem, choice_stems))
            out->value = LC_VALUE_CHOICE;
    }
}
