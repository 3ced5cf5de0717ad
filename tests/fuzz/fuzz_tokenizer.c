/* fuzz_tokenizer.c - any bytes, in both encodings: nothing is read outside, the pieces are the
 * text, as many tokens are written as are counted and they make up the text again, and they are
 * those that merging step by step gives. An estimate is never nothing, and never above what the
 * bytes allow. Needs the data that script/data brings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "lib/slow_tokens.h"
#include "text/tokenizer.h"

#define TEXT_BYTES_MAX 8192

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

static const lc_tokenizer *tokenizer_of(lc_encoding encoding)
{
    static lc_heap heap;
    static lc_tokenizer tokenizers[LC_ENCODINGS];
    loci_error err;

    if (!lc_tokenizer_is_exact(&tokenizers[encoding])) {
        lc_heap_init(&heap, (loci_allocator){0});
        if (lc_tokenizer_open(&tokenizers[encoding], &heap, encoding, LC_STR_NONE, &err) !=
            LOCI_OK) {
            fprintf(stderr, "%s; run script/data\n", err.message);
            abort();
        }
    }
    return &tokenizers[encoding];
}

static void check_encoding(const lc_tokenizer *tokenizer, loci_str text)
{
    static uint32_t tokens[TEXT_BYTES_MAX], slow[TEXT_BYTES_MAX];
    size_t count = 0, made = 0, slow_count;
    lc_text_tokens counted;

    demand(lc_tokenizer_count(tokenizer, text, &counted, NULL) == LOCI_OK);
    demand(lc_tokenizer_encode(tokenizer, text, tokens, &count, NULL) == LOCI_OK);
    demand(!counted.is_estimated && counted.tokens == (int64_t)count && count <= text.len);
    for (size_t i = 0; i < count; i++) {
        loci_str part = lc_tokenizer_text(tokenizer, tokens[i]);

        demand(part.len > 0 && made + part.len <= text.len);
        demand(memcmp(part.ptr, text.ptr + made, part.len) == 0);
        made += part.len;
    }
    demand(made == text.len);
    slow_count = slow_tokens(tokenizer, text, slow);
    if (slow_count != SIZE_MAX)
        demand(slow_count == count && memcmp(slow, tokens, count * sizeof *slow) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    /* A copy of its own size, so that a byte read behind it is seen. */
    char *copy = malloc(bytes > 0 ? bytes : 1);
    loci_str text = {copy, bytes};

    if (copy == NULL || bytes > TEXT_BYTES_MAX) {
        free(copy);
        return 0;
    }
    if (bytes > 0)
        memcpy(copy, data, bytes);
    for (unsigned i = 0; i < LC_ENCODINGS; i++) {
        const lc_tokenizer *tokenizer = tokenizer_of((lc_encoding)i);
        int64_t estimate = lc_token_estimate(text, (lc_encoding)i, tokenizer->split);

        check_encoding(tokenizer, text);
        demand((estimate == 0) == (bytes == 0));
        demand(estimate <= 4 * (int64_t)bytes);
    }
    free(copy);
    return 0;
}
