/* tokenizer.h - counts the tokens that a language model splits a text into.
 *
 * A tokenizer has one encoding. With that encoding's data file it is exact: it gives the same
 * tokens as the original implementation. Without the file it estimates from the scripts and the
 * shapes of the pieces (token_estimate.c, docs/tokens.md), and every count says so. Text such as
 * <|endoftext|> is text like any other: what users write is never a command to a model.
 *
 * Once opened a tokenizer does not change, and any number of threads may use it.
 *
 * Counts are not cached here: a cache would need a hash of each text, which takes a tenth of the
 * time of counting, and a lock.
 */
#ifndef LC_TEXT_TOKENIZER_H
#define LC_TEXT_TOKENIZER_H

#include "base/heap.h"
#include "text/split.h"
#include "text/token_table.h"

typedef enum lc_encoding {
    LC_ENCODING_O200K_BASE, /* The default. */
    LC_ENCODING_CL100K_BASE,
    LC_ENCODINGS
} lc_encoding;

/* "o200k_base|cl100k_base", for parameters. */
#define LC_ENCODING_CHOICES "o200k_base|cl100k_base"
const char *lc_encoding_name(lc_encoding encoding);
bool lc_encoding_find(loci_str name, lc_encoding *out);

typedef struct lc_text_tokens {
    int64_t tokens;
    lc_encoding encoding;
    bool is_estimated;
} lc_text_tokens;

typedef struct lc_tokenizer {
    lc_heap *heap; /* For long words only. */
    lc_encoding encoding;
    lc_split *split;
    lc_token_table table; /* Zeroed: estimates. */
} lc_tokenizer;

/* Makes a tokenizer that estimates; nothing to close. */
void lc_tokenizer_init(lc_tokenizer *tokenizer, lc_heap *heap, lc_encoding encoding);
/* The same, exact, with the data file that lc_data_file_find() finds in `dir`. When that fails the
 * tokenizer still estimates. */
loci_status lc_tokenizer_open(lc_tokenizer *tokenizer, lc_heap *heap, lc_encoding encoding,
                              loci_str dir, loci_error *err);
/* Twice is fine. */
void lc_tokenizer_close(lc_tokenizer *tokenizer);

bool lc_tokenizer_is_exact(const lc_tokenizer *tokenizer);
/* Counts the tokens of `text`. The only failure is memory, for words of more than 1 kB. */
loci_status lc_tokenizer_count(const lc_tokenizer *tokenizer, loci_str text, lc_text_tokens *out,
                               loci_error *err);

/* An estimate of the number of tokens of a text, without the data of an encoding; at least 1 for a
 * text that is not empty. The text is split into pieces, which needs no data; the cost of a piece
 * is guessed from its script and length. docs/tokens.md says where the weights come from and how
 * far off they are. */
int64_t lc_token_estimate(loci_str text, lc_encoding encoding, lc_split *split);

/* The tokens themselves, exact tokenizers only (asserted): `out` has room for text.len of them. For
 * tests, which compare them with tiktoken's and join their texts again. */
loci_status lc_tokenizer_encode(const lc_tokenizer *tokenizer, loci_str text, uint32_t *out,
                                size_t *count, loci_error *err);
/* The text of one token, empty when there is none of that number. */
loci_str lc_tokenizer_text(const lc_tokenizer *tokenizer, uint32_t token);

#endif /* LC_TEXT_TOKENIZER_H */
