/* tokenizer_fixture.h - tokenizers with their data, and what npm's tiktoken says of some texts. */
#ifndef LC_TESTS_UNIT_TEXT_TOKENIZER_FIXTURE_H
#define LC_TESTS_UNIT_TEXT_TOKENIZER_FIXTURE_H

#include "base/arena.h"
#include "base/json.h"
#include "lib/test.h"
#include "text/tokenizer.h"

typedef struct tokenizer_fixture {
    lc_heap heap;
    lc_tokenizer tokenizers[LC_ENCODINGS];
} tokenizer_fixture;

/* Fails the test, and says what to do, when the data is not there. */
void tokenizer_fixture_open(tokenizer_fixture *f);
void tokenizer_fixture_close(tokenizer_fixture *f);

int64_t tokenizer_fixture_count(const lc_tokenizer *tokenizer, loci_str text);

/* The texts of token_samples.txt. */
#define SAMPLES 11
typedef struct token_samples {
    loci_str text[SAMPLES];
} token_samples;
token_samples tokenizer_fixture_samples(void);

/* One list of token_counts.json, in `out`, which has room for `count` numbers. */
void tokenizer_fixture_expected(lc_encoding encoding, const char *list, int64_t *out, size_t count);

/* A hash of tokens; begins with TOKEN_HASH. */
#define TOKEN_HASH 2166136261u
uint32_t tokenizer_fixture_hash(const lc_tokenizer *tokenizer, uint32_t hash, loci_str text);

#endif /* LC_TESTS_UNIT_TEXT_TOKENIZER_FIXTURE_H */
