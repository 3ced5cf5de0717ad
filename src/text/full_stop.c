/* full_stop.c - Abbreviations come in kinds, by what may follow them:
 *
 *   title     Dr. e.g. vs.      what follows belongs to them: they never end a sentence
 *   numbered  No. Fig. Jan.     only when a number follows; "No." is an answer too
 *   ending    Inc. et al. St.   may end one; they do when the next word is one that begins
 *                               sentences rather than names (a function word: The, It, We)
 *   loose     etc. p.m.         they end one before any capital but that of a day or a zone
 *
 * U.S., J. and the like are endings by their shape: single letters.
 */
#include "text/full_stop.h"

#include <string.h>

#include "base/str.h"
#include "text/normalise.h"
#include "text/stop_word.h"

#define WORD_BYTES_MAX 16 /* Longer than every word of the lists. */

static const char *const titles[] = {
    "dr",   "mr",   "mrs",  "ms",    "mx",  "prof", "rev", "hon",  "gen", "col",    "maj",
    "capt", "cpt",  "cmdr", "lt",    "sgt", "sen",  "gov", "pres", "rep", "messrs", "mme",
    "mlle", "supt", "eg",   "e.g",   "i.e", "ie",   "cf",  "vs",   "viz", "ca",     "approx",
    "incl", "excl", "resp", "a.k.a", "aka", "esp",  "c.f", "z.b",  "bzw", "d.h",    "attn",
};
static const char *const numbered[] = {
    "no",   "nos",  "nr",  "fig", "figs", "eq",   "eqs", "sec", "ch",     "chap",
    "art",  "vol",  "p",   "pp",  "par",  "para", "app", "ex",  "tab",    "ref",
    "refs", "ver",  "op",  "jan", "feb",  "mar",  "apr", "jun", "jul",    "aug",
    "sep",  "sept", "oct", "nov", "dec",  "ext",  "tel", "rev", "approx",
};
static const char *const endings[] = {
    "inc",  "ltd", "co",  "corp", "llc",  "plc",  "jr",  "sr",   "bros", "dept",  "univ",
    "assn", "st",  "mt",  "ft",   "ave",  "blvd", "rd",  "al",   "ph.d", "est",   "min",
    "max",  "ed",  "eds", "gmbh", "misc", "tech", "mfg", "intl", "natl", "gov't",
};
static const char *const loose[] = {"etc", "a.m", "p.m", "am", "pm"};
static const char *const after_time[] = {
    "mon",    "tue",     "wed",       "thu",      "fri",    "sat",      "sun",
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "est",    "edt",     "cst",       "cdt",      "mst",    "pst",      "pdt",
    "et",     "pt",      "gmt",       "utc",      "cet",    "cest",     "bst",
};
/* Begin sentences, but carry too much meaning to be stop words. */
static const char *const beginners[] = {"after", "before",    "however", "meanwhile", "no",  "not",
                                        "now",   "otherwise", "please",  "will",      "yes", "can"};

#define IS_IN(list, word) is_in(list, sizeof list / sizeof list[0], word)

static bool is_in(const char *const *list, size_t count, loci_str word)
{
    for (size_t i = 0; i < count; i++) {
        if (lc_str_is(word, list[i]))
            return true;
    }
    return false;
}

/* Lowers into `out`; too long or not ASCII gives an empty word, which is in no list. */
static loci_str lower(loci_str word, char out[WORD_BYTES_MAX])
{
    if (word.len > WORD_BYTES_MAX || !lc_text_is_ascii(word))
        return LC_STR_NONE;
    for (size_t i = 0; i < word.len; i++)
        out[i] = lc_ascii_lower(word.ptr[i]);
    return (loci_str){out, word.len};
}

/* Without the brackets and quotes that stand before it. */
static loci_str strip(loci_str word)
{
    while (word.len > 0) {
        lc_character c = lc_character_read(word, 0);

        if (lc_character_is_letter(c.kind) || c.kind == LC_CHARACTER_DIGIT)
            break;
        word = (loci_str){word.ptr + c.bytes, word.len - c.bytes};
    }
    return word;
}

/* Whether it is single letters with stops between: J, U.S, Ph.D is not. */
static bool is_initials(loci_str word)
{
    size_t at = 0;

    while (at < word.len) {
        lc_character c = lc_character_read(word, at);

        if (!lc_character_is_letter(c.kind) || c.kind == LC_CHARACTER_DENSE)
            return false;
        at += c.bytes;
        if (at < word.len && word.ptr[at++] != '.')
            return false;
    }
    return word.len > 0;
}

static bool is_list_number(loci_str word)
{
    if (word.len == 0 || word.len > 3)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] < '0' || word.ptr[i] > '9')
            return false;
    }
    return true;
}

static bool begins_sentences(const lc_full_stop *stop, loci_str next)
{
    return !stop->is_next_initial && (lc_stop_word_is(next) || IS_IN(beginners, next) ||
                                      stop->next_kind == LC_CHARACTER_OTHER);
}

bool lc_full_stop_ends(const lc_full_stop *stop)
{
    char before_bytes[WORD_BYTES_MAX], next_bytes[WORD_BYTES_MAX];
    loci_str word = strip(stop->before);
    loci_str before = lower(word, before_bytes);
    loci_str next = lower(stop->next, next_bytes);

    if (stop->is_first && is_list_number(word))
        return false; /* "1. First" */
    if (IS_IN(titles, before))
        return false;
    if (stop->next_kind == LC_CHARACTER_LOWER)
        return stop->is_lower_style && !is_initials(word) && !IS_IN(numbered, before) &&
               !IS_IN(endings, before) && !IS_IN(loose, before);
    if (stop->next_kind == LC_CHARACTER_DIGIT && IS_IN(numbered, before))
        return false;
    if (IS_IN(loose, before))
        return !IS_IN(after_time, next) && stop->next_kind != LC_CHARACTER_DIGIT;
    if (lc_str_is(word, "I") && !stop->is_first && !stop->is_after_stop)
        return !stop->is_next_initial; /* "So am I." */
    if (IS_IN(endings, before) || is_initials(word))
        return begins_sentences(stop, next);
    return true;
}
