/* term.h - the terms of an index and of its queries: the stems of a text's words, without stop
 * words.
 *
 * Documents and queries go through the same function, so that their terms match. A text that
 * consists of stop words only ("to be or not to be") keeps them all: otherwise it could not be
 * found.
 *
 * Stems are words without their endings, by Snowball: connect, connected, connections are one. A
 * stemmer keeps the word it works on, so it serves one thread at a time; a caller makes its own,
 * for a call or for the life of a worker. Making one takes less than a microsecond; its few hundred
 * bytes are libstemmer's, from malloc.
 */
#ifndef LC_TEXT_TERM_H
#define LC_TEXT_TERM_H

#include "text/word.h"

#include <stdbool.h>

#define LC_STEM_ENGLISH "english"

struct sb_stemmer;

typedef struct lc_stemmer {
    struct sb_stemmer *snowball;
    bool is_english;
} lc_stemmer;

/* `language` as Snowball names it: english, german, french ... LOCI_EINVAL names one it lacks. */
loci_status lc_stemmer_init(lc_stemmer *stemmer, const char *language, loci_error *err);
/* Zeroed is fine, and so is twice. */
void lc_stemmer_clear(lc_stemmer *stemmer);
/* The stem of a folded word, borrowed until the next call. A number, an address or an identifier,
 * or a text longer than any word, is its own stem. */
loci_status lc_stemmer_stem(lc_stemmer *stemmer, loci_str word, loci_str *out, loci_error *err);

/* Is the folded word (word.h) an English function word, which says nothing about the subject? */
bool lc_stop_word_is(loci_str word);
/* All of them, sorted by bytes. */
const char *const *lc_stop_words_get(size_t *out_count);

/* Stop words are dropped if the stemmer is English. LOCI_EINVAL if `text` is not valid UTF-8. */
loci_status lc_terms_split(lc_stemmer *stemmer, lc_arena *arena, loci_str text, lc_words *out,
                           loci_error *err);

#endif /* LC_TEXT_TERM_H */
