#include "model/embedder.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "lib/test.h"

static double cosine_of(const char *a, const char *b)
{
    float va[LC_LEXICAL_DIMENSIONS], vb[LC_LEXICAL_DIMENSIONS];
    double product = 0;

    lc_lexical_embed((loci_str){a, strlen(a)}, va);
    lc_lexical_embed((loci_str){b, strlen(b)}, vb);
    for (size_t i = 0; i < LC_LEXICAL_DIMENSIONS; i++)
        product += (double)va[i] * (double)vb[i];
    return product;
}

TEST(lexical, a_text_has_one_vector)
{
    CHECK(fabs(cosine_of("Ann likes tea.", "Ann likes tea.") - 1) < 1e-6);
    CHECK(fabs(cosine_of("Ann likes tea.", "ann LIKES  tea") - 1) < 1e-6);
    CHECK(fabs(cosine_of("", " .!?\n") - 1) < 1e-6);
}

/* Stored vectors must be those of tomorrow, on every machine. */
TEST(lexical, the_vector_is_fixed)
{
    float v[LC_LEXICAL_DIMENSIONS];
    uint64_t hash = 14695981039346656037u;

    lc_lexical_embed(LC_STR("The meeting in Zürich was moved to Thursday."), v);
    for (size_t i = 0; i < LC_LEXICAL_DIMENSIONS; i++)
        hash = (hash ^ (uint64_t)(int64_t)lrint((double)v[i] * 1000)) * 1099511628211u;
    CHECK_EQ(hash, 0x45eb6cedcccecade);
}

TEST(lexical, near_duplicates_are_nearer_than_strangers)
{
    const char *text = "The meeting with the architects was moved to Thursday";

    CHECK(cosine_of(text, "The meeting with the architect was moved to Thursday!") > 0.9);
    CHECK(cosine_of(text, "On Thursday there will be a meeting with the architects") > 0.4);
    CHECK(cosine_of(text, "My daughter is allergic to peanuts") < 0.2);
    CHECK(cosine_of("we are planning", "our plans") > cosine_of("we are planning", "our cats"));
    CHECK(cosine_of("東京の天気を調べて", "東京の天気はどう") > 0.2);
    CHECK(cosine_of("東京の天気を調べて", "大阪へ行きたい") < 0.2);
}

TEST(lexical, long_words_and_any_bytes)
{
    test_rng rng = test_random(7);

    for (size_t len = 1; len < 400; len++) {
        char *text = test_bytes(len);
        float v[LC_LEXICAL_DIMENSIONS];
        double squares = 0;

        test_rng_fill(&rng, text, len);
        for (size_t i = 0; i < len && len % 3 == 0; i++)
            text[i] = (char)(0x80 | text[i]); /* No end of a word, few of a character. */
        lc_lexical_embed((loci_str){text, len}, v);
        for (size_t i = 0; i < LC_LEXICAL_DIMENSIONS; i++)
            squares += (double)v[i] * (double)v[i];
        CHECK(fabs(squares - 1) < 1e-5);
    }
}
