/* token_estimate.h - about how many tokens a text is, when an encoding's data is not there.
 *
 * The text is split as it would be, which needs no data; what a piece costs is guessed from the
 * script and the length of it. The weights come from texts in many languages and of many kinds;
 * docs/tokens.md says how they were found and how far off they are. */
#ifndef LC_TEXT_TOKEN_ESTIMATE_H
#define LC_TEXT_TOKEN_ESTIMATE_H

#include "text/tokenizer.h"

/* At least 1 for a text that is not empty. */
int64_t lc_token_estimate(loci_str text, lc_encoding encoding, lc_split *split);

#endif /* LC_TEXT_TOKEN_ESTIMATE_H */
