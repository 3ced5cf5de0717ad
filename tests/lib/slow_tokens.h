/* slow_tokens.h - byte pair encoding as it is defined, to compare the real one with: one step after
 * the other over texts of parts, without any of the tables that make it fast but the one that says
 * which texts are tokens. */
#ifndef LC_TESTS_LIB_SLOW_TOKENS_H
#define LC_TESTS_LIB_SLOW_TOKENS_H

#include "text/tokenizer.h"

#define SLOW_PIECE_BYTES_MAX 4096

/* The tokens of `text`, which the caller has room for, or SIZE_MAX when a piece of it is too long.
 * Pieces are cut by the tokenizer's own splitter. */
size_t slow_tokens(const lc_tokenizer *tokenizer, loci_str text, uint32_t *out);

#endif /* LC_TESTS_LIB_SLOW_TOKENS_H */
