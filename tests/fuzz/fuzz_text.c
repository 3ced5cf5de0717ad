/* fuzz_text.c - any bytes through the functions that normalise and split texts: text that is not
 * UTF-8 is refused; folding twice changes nothing; words and terms have the promised form;
 * secrets are found in bounds. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "text/normalise.h"
#include "text/secret.h"
#include "text/term.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static lc_heap heap;

static void demand(bool is_right)
{
    if (!is_right)
        abort();
}

typedef loci_status normalise_fn(loci_str text, lc_buf *out, loci_error *err);

/* Doing it twice is doing it once. */
static void check_idempotent(normalise_fn *fn, loci_str text, bool is_valid)
{
    lc_buf once, twice;

    lc_buf_init(&once, &heap, LOCI_MEM_REQUESTS, SIZE_MAX);
    lc_buf_init(&twice, &heap, LOCI_MEM_REQUESTS, SIZE_MAX);
    demand((fn(text, &once, NULL) == LOCI_OK) == is_valid);
    if (is_valid) {
        demand(lc_utf8_is_valid(lc_buf_str(&once)));
        demand(fn(lc_buf_str(&once), &twice, NULL) == LOCI_OK);
        demand(lc_str_eq(lc_buf_str(&once), lc_buf_str(&twice)));
    }
    lc_buf_clear(&once);
    lc_buf_clear(&twice);
}

static void check_words(loci_str text, bool is_valid)
{
    lc_arena arena;
    lc_stemmer stemmer;
    lc_words words, terms;

    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    demand(lc_stemmer_init(&stemmer, LC_STEM_ENGLISH, NULL) == LOCI_OK);
    demand((lc_words_split(&arena, text, &words, NULL) == LOCI_OK) == is_valid);
    demand((lc_terms_split(&stemmer, &arena, text, &terms, NULL) == LOCI_OK) == is_valid);
    for (size_t i = 0; is_valid && i < words.count; i++) {
        demand(words.items[i].len > 0 && words.items[i].len <= LC_WORD_BYTES_MAX);
        demand(lc_utf8_is_valid(words.items[i]));
    }
    demand(!is_valid || terms.count <= words.count);
    lc_stemmer_clear(&stemmer);
    lc_arena_clear(&arena);
}

/* What is found is in the text, in order, and of whole characters. */
static void check_secrets(loci_str text, bool is_valid)
{
    size_t from = 0;
    lc_secret secret;

    while (lc_secret_next(text, from, &secret)) {
        loci_str found = {text.ptr + secret.start, secret.bytes};

        demand(secret.start >= from && secret.bytes > 0);
        demand(secret.start + secret.bytes <= text.len);
        demand(!is_valid || lc_utf8_is_valid(found));
        from = secret.start + secret.bytes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    loci_str text = {(const char *)data, bytes};
    bool is_valid = lc_utf8_is_valid(text);

    lc_heap_init(&heap, (loci_allocator){0});
    check_idempotent(lc_text_nfkc, text, is_valid);
    check_idempotent(lc_text_fold, text, is_valid);
    check_words(text, is_valid);
    check_secrets(text, is_valid);
    return 0;
}
