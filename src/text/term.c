/* term.c - The words are replaced by their stems where they lie; most stems are the word or the
 * beginning of it, and need no copy. */
#include "text/term.h"

#include "base/error.h"
#include "base/str.h"
#include "text/stop_word.h"

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
