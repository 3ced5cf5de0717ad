/* test_utf8.c - text is checked once, where it enters; whatever passes here is believed everywhere.
 */
#include "lib/test.h"

#include "base/str.h"
#include "base/utf8.h"

/* The definition of Unicode, one code point at a time, without optimization. Returns bytes or 0. */
static size_t decode_naively(const unsigned char *at, size_t left, uint32_t *out)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = at[0] < 0x80             ? 1
                   : (at[0] & 0xE0) == 0xC0 ? 2
                   : (at[0] & 0xF0) == 0xE0 ? 3
                   : (at[0] & 0xF8) == 0xF0 ? 4
                                            : 0;
    uint32_t value;

    if (bytes == 0 || bytes > left)
        return 0;
    value = bytes == 1 ? at[0] : at[0] & (0x7Fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (at[i] & 0x3F);
    }
    if (value < least[bytes] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *out = value;
    return bytes;
}

static bool is_valid_naively(loci_str text)
{
    uint32_t ignored;

    for (size_t at = 0; at < text.len;) {
        size_t bytes = decode_naively((const unsigned char *)text.ptr + at, text.len - at,
                                      &ignored);

        if (bytes == 0)
            return false;
        at += bytes;
    }
    return true;
}

TEST(utf8, valid_text_is_accepted)
{
    static const char *const texts[] = {
        "",
        "a",
        "\x7F",
        "\xC2\x80",
        "\xDF\xBF",
        "\xE0\xA0\x80",
        "\xED\x9F\xBF",
        "\xEE\x80\x80",
        "\xEF\xBF\xBF",
        "\xF0\x90\x80\x80",
        "\xF4\x8F\xBF\xBF",
        "0123456789012345678901234567890\xC3\xA9",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK(lc_utf8_is_valid(loci_str_of(texts[i])));
    CHECK(lc_utf8_is_valid(LC_STR("a\0b")));
    CHECK(lc_utf8_is_valid(LC_STR_NONE));
}

/* An overlong form is a second spelling of the same name: it slips past comparisons and filters. */
TEST(utf8, other_bytes_are_refused)
{
    static const char *const texts[] = {
        "\x80",                                    /* A tail alone. */
        "\xC3",                                    /* Cut off. */
        "\xE2\x82",                                /* Cut off. */
        "\xF0\x9F\x98",                            /* Cut off. */
        "\xC0\x80",                                /* Overlong NUL. */
        "\xC1\xBF",                                /* Overlong. */
        "\xE0\x9F\xBF",                            /* Overlong. */
        "\xF0\x8F\xBF\xBF",                        /* Overlong. */
        "\xED\xA0\x80",                            /* Surrogates. */
        "\xED\xBF\xBF",                            /* Surrogates. */
        "\xF4\x90\x80\x80",                        /* U+110000 */
        "\xF5\x80\x80\x80",                        /* Beyond. */
        "\xFF",                                    /* Never. */
        "\xC3\x28",                                /* No tail. */
        "0123456789012345678901234567890\xC3",     /* Across the blocks of the fast path. */
        "01234567890123456789012345678901\x80 xy", /* In the second block. */
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK(!lc_utf8_is_valid(loci_str_of(texts[i])));
}

TEST(utf8, every_code_point_is_encoded_as_it_is_decoded)
{
    for (uint32_t code_point = 0; code_point <= 0x10FFFF; code_point++) {
        char bytes[4];
        uint32_t back = 0;
        size_t count;

        if (code_point >= 0xD800 && code_point <= 0xDFFF)
            continue;
        count = lc_utf8_encode(code_point, bytes);
        CHECK(decode_naively((unsigned char *)bytes, count, &back) == count && back == code_point);
        CHECK(lc_utf8_char_bytes(bytes, bytes + count) == count);
    }
}

TEST(utf8, agrees_with_a_naive_decoder_on_random_bytes)
{
    static const unsigned char often[] = {0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2,
                                          0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5};
    test_rng rng = test_random(7);
    uint64_t runs = test_count(200000, 5000000);
    uint64_t valid = 0;

    for (uint64_t run = 0; run < runs; run++) {
        char bytes[48];
        size_t len = test_rng_below(&rng, sizeof bytes + 1);
        size_t odd = 1 + test_rng_below(&rng, 5);

        memset(bytes, 'x', sizeof bytes);
        for (size_t i = 0, at = test_rng_below(&rng, 45); i < odd && at + i < len; i++)
            bytes[at + i] = (char)often[test_rng_below(&rng, sizeof often)];
        valid += is_valid_naively((loci_str){bytes, len});
        CHECK_EQ(lc_utf8_is_valid((loci_str){bytes, len}),
                 is_valid_naively((loci_str){bytes, len}));
    }
    CHECK(valid > runs / 100 && valid < runs);
}

TEST(utf8, counts_characters)
{
    CHECK_EQ(lc_utf8_count(LC_STR_NONE), 0);
    CHECK_EQ(lc_utf8_count(LC_STR("abc")), 3);
    CHECK_EQ(lc_utf8_count(LC_STR("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")), 4);
}

/* A snippet that is cut inside a character cannot be sent as JSON any more. */
TEST(utf8, cut_ends_at_a_character)
{
    loci_str text = LC_STR("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z");
    static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};

    for (size_t max = 0; max < sizeof expected / sizeof expected[0]; max++)
        CHECK_EQ(lc_utf8_cut(text, max), expected[max]);
}
