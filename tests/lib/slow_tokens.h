/* slow_tokens.h - a direct implementation of byte pair encoding, to compare the real one with: one
 * merge at a time over a list of parts, with the table of tokens but without the tables that make
 * it fast. */
#ifndef LC_TESTS_LIB_SLOW_TOKENS_H
#define LC_TESTS_LIB_SLOW_TOKENS_H

#include "text/tokenizer.h"

#define SLOW_PIECE_BYTES_MAX 4096

/* The tokens of `text`, which the caller has room for, or SIZE_MAX when a piece of it is too long.
 * Pieces are cut by the tokenizer's own splitter. */
size_t slow_tokens(const lc_tokenizer *tokenizer, loci_str text, uint32_t *out);

#endif /* LC_TESTS_LIB_SLOW_TOKENS_H */
