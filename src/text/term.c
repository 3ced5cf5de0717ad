/* term.c - words are replaced by their stems in place; most stems are the word or the beginning
 * of it, and need no copy.
 */
#include "text/term.h"

#include <libstemmer.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

/* ---- Stop words ------------------------------------------------------------------------------ */

/* Function words only: articles, pronouns, prepositions, conjunctions, auxiliaries.
 * Left out although they are such words: those that are names or nouns as well when folded (us,
 * will, may, might, can, must), those that carry an answer (no, not, never, before, after, under,
 * over, up, down, off, out) and numbers. Sorted by bytes; a test checks that. */

static const char *const stop_words[] = {
    "a",          "about",      "also",     "am",      "an",      "and",       "any",
    "are",        "aren't",     "as",       "at",      "be",      "because",   "been",
    "being",      "both",       "but",      "by",      "can't",   "could",     "couldn't",
    "did",        "didn't",     "do",       "does",    "doesn't", "doing",     "don't",
    "each",       "either",     "else",     "for",     "from",    "had",       "hadn't",
    "has",        "hasn't",     "have",     "haven't", "having",  "he",        "her",
    "here",       "hers",       "herself",  "him",     "himself", "his",       "how",
    "i",          "if",         "in",       "into",    "is",      "isn't",     "it",
    "its",        "itself",     "just",     "me",      "mine",    "mustn't",   "my",
    "myself",     "nor",        "of",       "on",      "onto",    "or",        "our",
    "ours",       "ourselves",  "shall",    "she",     "should",  "shouldn't", "so",
    "some",       "such",       "than",     "that",    "the",     "their",     "theirs",
    "them",       "themselves", "then",     "there",   "these",   "they",      "this",
    "those",      "through",    "to",       "too",     "very",    "was",       "wasn't",
    "we",         "were",       "weren't",  "what",    "when",    "where",     "whether",
    "which",      "while",      "who",      "whom",    "whose",   "why",       "with",
    "won't",      "would",      "wouldn't", "you",     "your",    "yours",     "yourself",
    "yourselves",
};

bool lc_stop_word_is(loci_str word)
{
    size_t low = 0, high = sizeof stop_words / sizeof stop_words[0];

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = lc_str_compare(word, loci_str_of(stop_words[middle]));

        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

const char *const *lc_stop_words_get(size_t *out_count)
{
    *out_count = sizeof stop_words / sizeof stop_words[0];
    return stop_words;
}

/* ---- Stems ----------------------------------------------------------------------------------- */

/* Snowball does not handle digits and punctuation: a term that has any stays unchanged. */

#define STEM_BYTES_MAX 64 /* A longer term is not a word of a language. */

static bool is_language(const char *language)
{
    for (const char **name = sb_stemmer_list(); *name != NULL; name++) {
        if (strcmp(*name, language) == 0)
            return true;
    }
    return false;
}

loci_status lc_stemmer_init(lc_stemmer *stemmer, const char *language, loci_error *err)
{
    struct sb_stemmer *snowball;

    if (!is_language(language))
        return lc_fail(err, LOCI_EINVAL, "there are no stems for the language %s", language);
    snowball = sb_stemmer_new(language, "UTF_8");
    if (snowball == NULL)
        return lc_fail_memory(err);
    *stemmer = (lc_stemmer){.snowball = snowball,
                            .is_english = strcmp(language, LC_STEM_ENGLISH) == 0};
    return LOCI_OK;
}

void lc_stemmer_clear(lc_stemmer *stemmer)
{
    sb_stemmer_delete(stemmer->snowball);
    stemmer->snowball = NULL;
}

static bool is_letters(loci_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        unsigned char byte = (unsigned char)word.ptr[i];

        if (!(byte >= 'a' && byte <= 'z') && byte != '\'' && byte < 0x80)
            return false;
    }
    return true;
}

loci_status lc_stemmer_stem(lc_stemmer *stemmer, loci_str word, loci_str *out, loci_error *err)
{
    const sb_symbol *stem;

    LC_ASSERT(stemmer->snowball != NULL);
    if (word.len < 3 || word.len > STEM_BYTES_MAX || !is_letters(word)) {
        *out = word;
        return LOCI_OK;
    }
    stem = sb_stemmer_stem(stemmer->snowball, (const sb_symbol *)word.ptr, (int)word.len);
    if (stem == NULL)
        return lc_fail_memory(err);
    *out = (loci_str){(const char *)stem, (size_t)sb_stemmer_length(stemmer->snowball)};
    return LOCI_OK;
}

/* ---- Terms --------------------------------------------------------------------------------------
 */

static void drop_stop_words(lc_words *words)
{
    size_t kept = 0;

    for (size_t i = 0; i < words->count; i++) {
        if (!lc_stop_word_is(words->items[i]))
            words->items[kept++] = words->items[i];
    }
    words->count = kept;
}

static bool has_content(const lc_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        if (!lc_stop_word_is(words->items[i]))
            return true;
    }
    return false;
}

loci_status lc_terms_split(lc_stemmer *stemmer, lc_arena *arena, loci_str text, lc_words *out,
                           loci_error *err)
{
    lc_words words = {0};
    loci_status status = lc_words_split(arena, text, &words, err);

    if (status != LOCI_OK)
        return status;
    if (stemmer->is_english && has_content(&words))
        drop_stop_words(&words);
    for (size_t i = 0; i < words.count; i++) {
        loci_str *word = &words.items[i], stem;

        status = lc_stemmer_stem(stemmer, *word, &stem, err);
        if (status != LOCI_OK)
            return status;
        if (stem.len < word->len && lc_str_starts(*word, stem)) {
            word->len = stem.len;
        } else if (!lc_str_eq(stem, *word)) {
            *word = lc_arena_copy(arena, stem);
            if (word->ptr == NULL)
                return lc_fail_memory(err);
        }
    }
    *out = words;
    return LOCI_OK;
}
