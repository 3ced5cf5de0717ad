#include "unit/text/tokenizer_fixture.h"

#include <string.h>

#include "base/str.h"

void tokenizer_fixture_open(tokenizer_fixture *f)
{
    loci_error err;

    lc_heap_init(&f->heap, test_heap());
    for (unsigned i = 0; i < LC_ENCODINGS; i++) {
        if (lc_tokenizer_open(&f->tokenizers[i], &f->heap, (lc_encoding)i, LC_STR_NONE, &err) !=
            LOCI_OK)
            test_fail(__FILE__, __LINE__, "%s: %s; these tests need it, so run script/data",
                      lc_encoding_name((lc_encoding)i), err.message);
    }
}

void tokenizer_fixture_close(tokenizer_fixture *f)
{
    for (unsigned i = 0; i < LC_ENCODINGS; i++)
        lc_tokenizer_close(&f->tokenizers[i]);
}

int64_t tokenizer_fixture_count(const lc_tokenizer *tokenizer, loci_str text)
{
    lc_text_tokens counted;
    loci_error err;

    CHECK_OK(lc_tokenizer_count(tokenizer, text, &counted, &err), err);
    CHECK_EQ(counted.encoding, tokenizer->encoding);
    CHECK_EQ(counted.is_estimated, !lc_tokenizer_is_exact(tokenizer));
    return counted.tokens;
}

token_samples tokenizer_fixture_samples(void)
{
    static const char line[] = "\n=====\n";
    loci_str rest = test_read_file(test_source_path("tests/unit/fixtures/token_samples.txt"));
    token_samples samples;

    for (int i = 0; i < SAMPLES; i++) {
        const char *end = strstr(rest.ptr, line);

        CHECK_EQ(end == NULL, i == SAMPLES - 1);
        samples.text[i] = (loci_str){rest.ptr, end == NULL ? rest.len : (size_t)(end - rest.ptr)};
        if (end != NULL) {
            rest.len -= samples.text[i].len + sizeof line - 1;
            rest.ptr = end + sizeof line - 1;
        }
    }
    return samples;
}

void tokenizer_fixture_expected(lc_encoding encoding, const char *list, int64_t *out, size_t count)
{
    loci_str text = test_read_file(test_source_path("tests/unit/fixtures/token_counts.json"));
    lc_heap heap;
    lc_arena arena;
    const lc_json *document, *values, *value;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_json_parse(&arena, text, 0, &document, &err), err);
    values = lc_json_member(lc_json_member(document, loci_str_of(lc_encoding_name(encoding))),
                            loci_str_of(list));
    CHECK(values != NULL);
    CHECK_EQ(lc_json_count(values), count);
    value = lc_json_first(values);
    for (size_t i = 0; i < count; i++, value = lc_json_next(value))
        out[i] = lc_json_int(value);
    lc_arena_clear(&arena);
}

uint32_t tokenizer_fixture_hash(const lc_tokenizer *tokenizer, uint32_t hash, loci_str text)
{
    uint32_t *tokens = (void *)test_bytes(text.len * sizeof *tokens);
    size_t count = 0;
    loci_error err;

    CHECK_OK(lc_tokenizer_encode(tokenizer, text, tokens, &count, &err), err);
    CHECK_EQ(tokenizer_fixture_count(tokenizer, text), count);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ tokens[i]) * 16777619u;
    return hash;
}
