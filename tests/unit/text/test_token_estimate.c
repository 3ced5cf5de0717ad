#include "text/tokenizer.h"

#include "base/str.h"
#include "unit/text/tokenizer_fixture.h"

static int64_t estimate(lc_encoding encoding, loci_str text)
{
    lc_heap heap;
    lc_tokenizer tokenizer;

    lc_heap_init(&heap, test_heap());
    lc_tokenizer_init(&tokenizer, &heap, encoding);
    return tokenizer_fixture_count(&tokenizer, text);
}

/* docs/tokens.md promises these; the texts are none of those that the weights were fitted to. */
TEST(token_estimate, is_as_near_as_the_documentation_says)
{
    static const int per_cent[SAMPLES] = {
        10, 35, 20, 20, 20, 35, 35, 35, 35, 35, 100 /* Made to be hard. */
    };
    token_samples samples = tokenizer_fixture_samples();
    int64_t counts[SAMPLES];

    for (unsigned e = 0; e < LC_ENCODINGS; e++) {
        tokenizer_fixture_expected((lc_encoding)e, "samples", counts, SAMPLES);
        for (int i = 0; i < SAMPLES; i++) {
            int64_t guess = estimate((lc_encoding)e, samples.text[i]);
            int64_t error = guess > counts[i] ? guess - counts[i] : counts[i] - guess;

            if (error * 100 > counts[i] * per_cent[i])
                test_fail(__FILE__, __LINE__, "sample %d: %lld tokens, estimated %lld", i,
                          (long long)counts[i], (long long)guess);
        }
    }
}

TEST(token_estimate, nothing_costs_nothing_and_something_costs_something)
{
    CHECK_EQ(estimate(LC_ENCODING_O200K_BASE, LC_STR_NONE), 0);
    CHECK_EQ(estimate(LC_ENCODING_CL100K_BASE, LC_STR("")), 0);
    CHECK_LE(1, estimate(LC_ENCODING_O200K_BASE, LC_STR("a")));
    CHECK_LE(1, estimate(LC_ENCODING_O200K_BASE, LC_STR("中")));
    CHECK_LE(1, estimate(LC_ENCODING_O200K_BASE, LC_STR("\xFF")));
}
