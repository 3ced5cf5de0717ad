/* stop_word.h - English words that say how a sentence is built and not what it is about. */
#ifndef LC_TEXT_STOP_WORD_H
#define LC_TEXT_STOP_WORD_H

#include "loci.h"

#include <stdbool.h>

/* `word` as text/word.h gives it: folded. */
bool lc_stop_word_is(loci_str word);
/* All of them, in the order of their bytes. */
const char *const *lc_stop_words_get(size_t *out_count);

#endif /* LC_TEXT_STOP_WORD_H */
