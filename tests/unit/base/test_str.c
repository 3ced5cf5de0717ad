#include "base/str.h"

#include "lib/test.h"

TEST(str, of_nothing_is_empty)
{
    CHECK_EQ(loci_str_of(NULL).len, 0);
    CHECK(loci_str_of(NULL).ptr == NULL);
    CHECK_EQ(loci_str_of("").len, 0);
    CHECK_STR_EQ(loci_str_of("héllo"), LC_STR("héllo"));
}

TEST(str, equality_is_by_bytes_and_length)
{
    CHECK(lc_str_eq(LC_STR(""), LC_STR_NONE));
    CHECK(lc_str_eq(LC_STR("a\0b"), LC_STR("a\0b")));
    CHECK(!lc_str_eq(LC_STR("a\0b"), LC_STR("a\0c")));
    CHECK(!lc_str_eq(LC_STR("a"), LC_STR("ab")));
    CHECK(lc_str_is(LC_STR("name"), "name"));
    CHECK(!lc_str_is(LC_STR("name\0"), "name"));
}

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

/* The same order as both databases have for text: bytes, unsigned, a prefix first. */
TEST(str, order_is_that_of_unsigned_bytes)
{
    static const char *const sorted[] = {"",  "A",    "a",    "a\x01", "ab",
                                         "b", "\x7f", "\x80", "é",     "\xff"};
    size_t count = sizeof sorted / sizeof sorted[0];

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++)
            CHECK_EQ(sign(lc_str_compare(loci_str_of(sorted[i]), loci_str_of(sorted[j]))),
                     sign((int)i - (int)j));
    }
    CHECK_EQ(lc_str_compare(LC_STR_NONE, LC_STR("")), 0);
    CHECK_LT(lc_str_compare(LC_STR("a"), LC_STR("a\0")), 0);
}

TEST(str, starts)
{
    CHECK(lc_str_starts(LC_STR("config.set"), LC_STR("config.")));
    CHECK(lc_str_starts(LC_STR("a"), LC_STR("a")));
    CHECK(lc_str_starts(LC_STR_NONE, LC_STR_NONE));
    CHECK(lc_str_starts(LC_STR("a"), LC_STR("")));
    CHECK(!lc_str_starts(LC_STR("a"), LC_STR("ab")));
    CHECK(!lc_str_starts(LC_STR("ba"), LC_STR("a")));
}

/* A text that ends with the separator has an empty last part; one without has none at all. */
TEST(str, split_tells_an_empty_rest_from_none)
{
    loci_str rest = LC_STR("a||b|");

    CHECK_STR_EQ(lc_str_split(rest, '|', &rest), "a");
    CHECK_STR_EQ(lc_str_split(rest, '|', &rest), "");
    CHECK_STR_EQ(lc_str_split(rest, '|', &rest), "b");
    CHECK(rest.ptr != NULL);
    CHECK_EQ(rest.len, 0);
    CHECK_STR_EQ(lc_str_split(rest, '|', &rest), "");
    CHECK(rest.ptr == NULL);
    CHECK_STR_EQ(lc_str_split(LC_STR("whole"), '|', &rest), "whole");
    CHECK(rest.ptr == NULL);
    CHECK_STR_EQ(lc_str_split(LC_STR_NONE, '|', &rest), "");
}

TEST(str, trim)
{
    CHECK_STR_EQ(lc_str_trim(LC_STR(" \t\r\n a b \n")), "a b");
    CHECK_STR_EQ(lc_str_trim(LC_STR(" \n ")), "");
    CHECK_STR_EQ(lc_str_trim(LC_STR_NONE), "");
    CHECK_STR_EQ(lc_str_trim(LC_STR("x")), "x");
}

TEST(str, integers_are_read_up_to_their_limits)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"007", 7},
        {"-1", -1},
        {"1000000000000000000", 1000000000000000000},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      "--1",
                                      "a",
                                      "1a",
                                      "١",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999999"};
    int64_t value = 0;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK(lc_str_to_i64(loci_str_of(good[i].text), &value));
        CHECK_EQ(value, good[i].value);
    }
    value = 77;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(!lc_str_to_i64(loci_str_of(bad[i]), &value));
        CHECK_EQ(value, 77);
    }
    CHECK(!lc_str_to_i64(LC_STR_NONE, &value));
    CHECK(!lc_str_to_i64((loci_str){"1\0", 2}, &value));
}

TEST(str, distance_counts_edits)
{
    static const struct {
        const char *a, *b;
        size_t edits;
    } cases[] = {
        {"", "", 0},           {"abc", "abc", 0},      {"", "abc", 3},   {"kitten", "sitting", 3},
        {"levle", "level", 1}, {"ab", "ba", 1},        {"abc", "ca", 3}, {"cal.x", "call.x", 1},
        {"a", "b", 1},         {"timeout", "time", 3},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_EQ(lc_str_distance(loci_str_of(cases[i].a), loci_str_of(cases[i].b), 9),
                 cases[i].edits);
        CHECK_EQ(lc_str_distance(loci_str_of(cases[i].b), loci_str_of(cases[i].a), 9),
                 cases[i].edits);
    }
}

TEST(str, distance_is_capped_and_long_words_are_far)
{
    char *long_word = test_bytes(65);

    memset(long_word, 'x', 65);
    CHECK_EQ(lc_str_distance(LC_STR("abcdef"), LC_STR("uvwxyz"), 2), 3);
    CHECK_EQ(lc_str_distance((loci_str){long_word, 64}, (loci_str){long_word, 64}, 5), 0);
    CHECK_EQ(lc_str_distance((loci_str){long_word, 65}, (loci_str){long_word, 65}, 5), 6);
}

TEST(str, printing_argument_takes_nothing_and_too_much)
{
    char *text = test_bytes(5000);

    memset(text, 'x', 5000);
    CHECK_STR_EQ(test_format("[%.*s]", LC_STR_ARG(LC_STR_NONE)), "[]");
    CHECK_EQ(strlen(test_format("%.*s", LC_STR_ARG(((loci_str){text, 5000})))), 1000);
}
