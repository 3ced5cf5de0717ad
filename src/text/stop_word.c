/* stop_word.c - Function words only: articles, pronouns, prepositions, conjunctions, auxiliaries.
 * Left out although they are such words: those that are names or nouns as well when folded (us,
 * will, may, might, can, must), those that carry an answer (no, not, never, before, after, under,
 * over, up, down, off, out) and numbers. Sorted by bytes; a test checks that. */
#include "text/stop_word.h"

#include "base/str.h"

static const char *const words[] = {
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
    size_t low = 0, high = sizeof words / sizeof words[0];

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = lc_str_compare(word, loci_str_of(words[middle]));

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
    *out_count = sizeof words / sizeof words[0];
    return words;
}
