/* The text of a token: one spelling each, and nothing that is not exactly one is taken for one. */
#include "lib/test.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "store/token.h"

static bool is_token(const char *text, size_t len)
{
    lc_id id;
    lc_token_hash hash;

    return lc_token_text_parse((loci_str){text, len}, &id, &hash);
}

TEST(token_text, what_is_made_can_be_read)
{
    lc_token_text made;
    lc_id id;
    lc_token_hash hash;

    for (int i = 0; i < 200; i++) {
        CHECK(lc_token_text_make(&made));
        CHECK_EQ(strlen(made.text), 79);
        CHECK(lc_id_is(lc_id_str(&made.id), "tok"));
        CHECK(lc_token_text_parse(loci_str_of(made.text), &id, &hash));
        CHECK_STR_EQ(id.text, made.id.text);
        CHECK(lc_token_hash_is_equal(&hash, &made.secret_hash));
    }
}

/* Secrets never come from a seed: no two may be alike. */
TEST(token_text, no_two_are_alike)
{
    lc_token_text a, b;

    CHECK(lc_token_text_make(&a) && lc_token_text_make(&b));
    CHECK(strcmp(a.id.text, b.id.text) != 0);
    CHECK(memcmp(a.text + 32, b.text + 32, 43) != 0);
    CHECK(!lc_token_hash_is_equal(&a.secret_hash, &b.secret_hash));
}

/* Any other byte in any place is another token or none; it never has the same id and secret. */
TEST(token_text, every_byte_counts)
{
    lc_token_text made;
    lc_id id;
    lc_token_hash hash;

    CHECK(lc_token_text_make(&made));
    for (size_t i = 0; i < LC_TOKEN_LEN; i++) {
        for (int byte = 0; byte < 256; byte++) {
            char text[LC_TOKEN_LEN];

            memcpy(text, made.text, sizeof text);
            if (text[i] == (char)byte)
                continue;
            text[i] = (char)byte;
            if (lc_token_text_parse((loci_str){text, sizeof text}, &id, &hash))
                CHECK(strcmp(id.text, made.id.text) != 0 ||
                      !lc_token_hash_is_equal(&hash, &made.secret_hash));
        }
    }
}

TEST(token_text, shorter_and_longer_ones_are_none)
{
    lc_token_text made;
    char longer[LC_TOKEN_LEN + 2];

    CHECK(lc_token_text_make(&made));
    for (size_t len = 0; len < LC_TOKEN_LEN; len++)
        CHECK(!is_token(made.text, len));
    memcpy(longer, made.text, LC_TOKEN_LEN);
    memcpy(longer + LC_TOKEN_LEN, "A", 2);
    CHECK(is_token(longer, LC_TOKEN_LEN));
    CHECK(!is_token(longer, LC_TOKEN_LEN + 1));
    longer[LC_TOKEN_LEN] = '=';
    CHECK(!is_token(longer, LC_TOKEN_LEN + 1));
    CHECK(!is_token(NULL, 0));
}

/* 43 letters hold 258 bits: with the last two set it would be a second spelling. */
TEST(token_text, bits_behind_the_secret_are_refused)
{
    static const char *const ends[] = {"AWfQz", "BDjtH", "CCZ0A",
                                       "DX--X"}; /* With their check digits. */

    for (size_t i = 0; i < 4; i++) {
        const char *text = test_format("loci_01K9Z5W8G00000000005W0BSTY_"
                                       "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA%s",
                                       ends[i]);

        CHECK_EQ(strlen(text), LC_TOKEN_LEN);
        CHECK_EQ(is_token(text, LC_TOKEN_LEN), i == 0);
    }
}

/* A text that is not a token is refused without reading the store. */
TEST(token_text, made_up_ones_are_none)
{
    lc_token_text made;
    int accepted = 0;

    CHECK(lc_token_text_make(&made));
    for (int i = 0; i < 20000; i++) {
        (void)snprintf(made.text + 32, 12, "%011d", i);
        made.text[43] = 'x';
        accepted += is_token(made.text, LC_TOKEN_LEN);
    }
    CHECK_LE(accepted, 2);
}

TEST(token_text, is_found_inside_other_text)
{
    lc_token_text made;

    CHECK(lc_token_text_make(&made));
    CHECK(lc_token_text_is_in(loci_str_of(made.text)));
    CHECK(lc_token_text_is_in(loci_str_of(test_format("/v1/%s/x", made.text))));
    /* Half a secret is one too many. */
    CHECK(lc_token_text_is_in(loci_str_of(test_format("loci_%.32s", made.text))));
    CHECK(!lc_token_text_is_in(LC_STR("loci_")));
    CHECK(!lc_token_text_is_in(loci_str_of(made.id.text)));
    CHECK(!lc_token_text_is_in(LC_STR("")));
}

TEST(token_text, a_print_depends_on_its_key)
{
    lc_token_print key = {{1}}, other = {{2}}, a, b;

    lc_token_print_make(&key, LC_STR("text"), &a);
    lc_token_print_make(&key, LC_STR("text"), &b);
    CHECK(lc_token_print_is_equal(&a, &b));
    lc_token_print_make(&other, LC_STR("text"), &b);
    CHECK(!lc_token_print_is_equal(&a, &b));
    lc_token_print_make(&key, LC_STR("texT"), &b);
    CHECK(!lc_token_print_is_equal(&a, &b));
    lc_token_print_make(&key, LC_STR(""), &b);
    CHECK(!lc_token_print_is_equal(&a, &b));
}
