/* stem.h - words without their endings, by Snowball: connect, connected, connections are one.
 *
 * A stemmer keeps the word it works on, so one serves one thread at a time: whoever splits texts
 * makes its own, for a call or for the life of a worker. Making one takes about a microsecond; its
 * few hundred bytes are libstemmer's, from malloc.
 */
#ifndef LC_TEXT_STEM_H
#define LC_TEXT_STEM_H

#include "loci.h"

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

/* The stem of a folded word, borrowed until the next call. What is no word of letters (numbers,
 * addresses, identifiers), or longer than any word, is its own stem. */
loci_status lc_stemmer_stem(lc_stemmer *stemmer, loci_str word, loci_str *out, loci_error *err);

#endif /* LC_TEXT_STEM_H */
