#include "text/tokenizer.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "lib/slow_tokens.h"
#include "unit/text/random_text.h"
#include "unit/text/tokenizer_fixture.h"

#define GROUP 100

/* A budget that is counted otherwise than the model counts overflows, or wastes what was paid. */
TEST(tokenizer, counts_what_tiktoken_counts)
{
    tokenizer_fixture f;
    token_samples samples = tokenizer_fixture_samples();
    int64_t counts[SAMPLES], hashes[SAMPLES];

    tokenizer_fixture_open(&f);
    for (unsigned e = 0; e < LC_ENCODINGS; e++) {
        tokenizer_fixture_expected((lc_encoding)e, "samples", counts, SAMPLES);
        tokenizer_fixture_expected((lc_encoding)e, "sample_hashes", hashes, SAMPLES);
        for (int i = 0; i < SAMPLES; i++) {
            CHECK_EQ(tokenizer_fixture_count(&f.tokenizers[e], samples.text[i]), counts[i]);
            CHECK_EQ(tokenizer_fixture_hash(&f.tokenizers[e], TOKEN_HASH, samples.text[i]),
                     hashes[i]);
        }
    }
    tokenizer_fixture_close(&f);
}

TEST(tokenizer, has_the_tokens_of_tiktoken_on_random_texts)
{
    static int64_t expected[LC_ENCODINGS][RANDOM_TEXTS / GROUP];
    static random_text random;
    tokenizer_fixture f;

    tokenizer_fixture_open(&f);
    for (unsigned e = 0; e < LC_ENCODINGS; e++)
        tokenizer_fixture_expected((lc_encoding)e, "random_hashes", expected[e],
                                   RANDOM_TEXTS / GROUP);
    random_text_init(&random);
    for (int group = 0; group < RANDOM_TEXTS / GROUP; group++) {
        uint32_t hash[LC_ENCODINGS] = {TOKEN_HASH, TOKEN_HASH};

        for (int i = 0; i < GROUP; i++) {
            loci_str text = random_text_next(&random);

            for (unsigned e = 0; e < LC_ENCODINGS; e++)
                hash[e] = tokenizer_fixture_hash(&f.tokenizers[e], hash[e], text);
        }
        for (unsigned e = 0; e < LC_ENCODINGS; e++)
            CHECK_EQ(hash[e], expected[e][group]);
    }
    tokenizer_fixture_close(&f);
}

static void check_like_slow(const lc_tokenizer *tokenizer, loci_str text)
{
    uint32_t *slow = (void *)test_bytes(text.len * sizeof *slow);
    uint32_t *fast = (void *)test_bytes(text.len * sizeof *fast);
    size_t slow_count = slow_tokens(tokenizer, text, slow), fast_count = 0;
    loci_error err;

    CHECK_NE(slow_count, SIZE_MAX);
    CHECK_OK(lc_tokenizer_encode(tokenizer, text, fast, &fast_count, &err), err);
    CHECK_BYTES(slow, slow_count * sizeof *slow, fast, fast_count * sizeof *fast);
    CHECK_EQ(tokenizer_fixture_count(tokenizer, text), slow_count);
}

/* Words are merged in one of three ways, by their length; at the borders too. */
TEST(tokenizer, merges_long_words_as_it_is_defined)
{
    static const size_t lengths[] = {2, 31, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 3000};
    static const uint32_t firsts[] = {'a', 0x4E00, 0xAC00, 0x430, 0x3042};
    static const uint32_t counts[] = {3, 2000, 3000, 32, 80};
    tokenizer_fixture f;
    test_rng rng = test_random(1);

    tokenizer_fixture_open(&f);
    for (size_t k = 0; k < 5 * sizeof lengths / sizeof *lengths; k++) {
        char *word = test_bytes(lengths[k / 5] + 4);
        size_t len = 0;

        while (len < lengths[k / 5])
            len += lc_utf8_encode(
                firsts[k % 5] + (uint32_t)test_rng_between(&rng, 0, counts[k % 5] - 1), word + len);
        for (unsigned e = 0; e < LC_ENCODINGS; e++)
            check_like_slow(&f.tokenizers[e], (loci_str){word, len});
    }
    tokenizer_fixture_close(&f);
}

/* Invalid UTF-8 does not come this far, but if it does nothing breaks and nothing is lost. */
TEST(tokenizer, any_bytes_are_tokens_that_make_them_up_again)
{
    tokenizer_fixture f;
    char bytes[200], again[200];
    uint32_t tokens[200];
    test_rng rng = test_random(2);

    tokenizer_fixture_open(&f);
    for (int run = 0; run < 2000; run++) {
        size_t len = (size_t)test_rng_between(&rng, 0, sizeof bytes), count = 0, made = 0;
        const lc_tokenizer *tokenizer = &f.tokenizers[run % LC_ENCODINGS];
        loci_error err;

        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)(run % 3 == 0 ? test_rng_between(&rng, 0, 255)
                                           : "\xE4\xB8\xAD\xC3\xA9\xF0\x9F a'"[i * 7 % 11]);
        check_like_slow(tokenizer, (loci_str){bytes, len});
        CHECK_OK(lc_tokenizer_encode(tokenizer, (loci_str){bytes, len}, tokens, &count, &err), err);
        for (size_t i = 0; i < count; i++) {
            loci_str text = lc_tokenizer_text(tokenizer, tokens[i]);

            CHECK_LE(made + text.len, len);
            memcpy(again + made, text.ptr, text.len);
            made += text.len;
        }
        CHECK_BYTES(again, made, bytes, len);
    }
    tokenizer_fixture_close(&f);
}

TEST(tokenizer, nothing_is_no_token_and_unknown_tokens_have_no_text)
{
    tokenizer_fixture f;

    tokenizer_fixture_open(&f);
    CHECK_EQ(tokenizer_fixture_count(&f.tokenizers[0], LC_STR_NONE), 0);
    CHECK_EQ(tokenizer_fixture_count(&f.tokenizers[0], LC_STR("")), 0);
    CHECK_EQ(lc_tokenizer_text(&f.tokenizers[0], 199998).len, 0);
    CHECK_EQ(lc_tokenizer_text(&f.tokenizers[0], UINT32_MAX).len, 0);
    CHECK_STR_EQ(lc_tokenizer_text(&f.tokenizers[0], 0), "!");
    tokenizer_fixture_close(&f);
}

static loci_status count_long_word(void *ctx)
{
    tokenizer_fixture *f = ctx;
    lc_text_tokens counted;
    char word[5000];

    memset(word, 'x', sizeof word);
    return lc_tokenizer_count(&f->tokenizers[0], (loci_str){word, sizeof word}, &counted, NULL);
}

TEST(tokenizer, a_long_word_without_memory_is_an_error)
{
    tokenizer_fixture f;

    tokenizer_fixture_open(&f);
    test_oom_sweep(count_long_word, &f);
    tokenizer_fixture_close(&f);
}

/* A disk may rot: wrong counts, perhaps, but no access where there is nothing. */
TEST(tokenizer, a_damaged_file_is_refused_or_harmless)
{
    tokenizer_fixture f;
    token_samples samples = tokenizer_fixture_samples();
    loci_str whole = test_read_file(test_build_path("share/loci/cl100k_base.loci"));
    const char *dir = test_tmpdir();
    char *bytes = test_bytes(whole.len);
    test_rng rng = test_random(3);
    loci_error err;

    test_timeout(300);
    lc_heap_init(&f.heap, test_heap());
    for (int run = 0; run < 12; run++) {
        lc_tokenizer damaged;
        loci_status status;

        memcpy(bytes, whole.ptr, whole.len);
        for (int i = 0; i < (run < 6 ? 1 : 200000); i++)
            bytes[test_rng_between(&rng, run < 6 ? 64 : 128,
                                   run < 6 ? 127 : (int64_t)whole.len - 1)] = (char)
                test_rng_between(&rng, 0, 255);
        test_write_file(test_path(dir, "cl100k_base.loci"), (loci_str){bytes, whole.len});
        status = lc_tokenizer_open(&damaged, &f.heap, LC_ENCODING_CL100K_BASE, loci_str_of(dir),
                                   &err);
        for (int i = 0; i < SAMPLES; i++)
            (void)tokenizer_fixture_count(&damaged, samples.text[i]);
        CHECK(status == LOCI_OK || status == LOCI_ECORRUPT);
        lc_tokenizer_close(&damaged);
    }
    test_write_file(test_path(dir, "o200k_base.loci"), whole);
    CHECK_STATUS(LOCI_ECORRUPT, lc_tokenizer_open(&f.tokenizers[0], &f.heap, LC_ENCODING_O200K_BASE,
                                                  loci_str_of(dir), &err));
    CHECK(!lc_tokenizer_is_exact(&f.tokenizers[0]));
}
