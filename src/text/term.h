/* term.h - what an index is made of and asked for: the stems of a text's words, without stop words.
 *
 * The same function for documents and for queries, so that the two meet. A text of nothing but stop
 * words ("to be or not to be") keeps them all: it has nothing else to be found by.
 */
#ifndef LC_TEXT_TERM_H
#define LC_TEXT_TERM_H

#include "text/stem.h"
#include "text/word.h"

/* Stop words are English ones, and dropped when the stemmer is. LOCI_EINVAL when `text` is not
 * valid UTF-8. */
loci_status lc_terms_split(lc_stemmer *stemmer, lc_arena *arena, loci_str text, lc_words *out,
                           loci_error *err);

#endif /* LC_TEXT_TERM_H */
