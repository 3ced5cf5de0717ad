/* sentence.h - the sentences of a text, in order, as they stand in it.
 *
 *     size_t at = 0;
 *     while (lc_sentence_next(text, &at, &sentence)) ...
 *
 * A sentence is a piece of the text itself, without the spaces around it; every other byte is in
 * exactly one. It ends
 *   - at . ! ? and their kin, quotes and brackets behind them included, when a space and something
 *     that can begin a sentence follow; not after Dr., e.g., U.S., J. R., No. 5, nor inside 3.5,
 *     v1.2.3, file.txt, a URL or `code`;
 *   - at the full stops of scripts that write no space after them;
 *   - at an empty line, before a list item, heading, quotation or table row, and after a line too
 *     short to have been wrapped when the next does not go on in lower case.
 * A fenced block of code is one sentence. Takes no memory and time linear in the text; any bytes
 * will do.
 */
#ifndef LC_TEXT_SENTENCE_H
#define LC_TEXT_SENTENCE_H

#include "loci.h"

#include <stdbool.h>

/* The next sentence from `*at` on; false at the end. `*at` starts at 0. */
bool lc_sentence_next(loci_str text, size_t *at, loci_str *out);

#endif /* LC_TEXT_SENTENCE_H */
