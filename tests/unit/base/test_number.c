/* test_number.c - a number that changed on its way through the log would be undetected damage. */
#include "lib/process.h"
#include "lib/test.h"

#include "base/number.h"
#include "base/str.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static loci_str format_f64(double value, char out[LC_NUMBER_BYTES_MAX])
{
    return (loci_str){out, lc_number_format_f64(value, out)};
}

static bool is_same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static double double_of_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

TEST(number, integers_are_written_in_full)
{
    char out[LC_NUMBER_BYTES_MAX];
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {7, "7"},
        {-10, "-10"},
        {INT64_C(999999999999999999), "999999999999999999"},
        {INT64_C(1000000000000000000), "1000000000000000000"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-9223372036854775808"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_STR_EQ(((loci_str){out, lc_number_format_i64(rows[i].value, out)}), rows[i].text);
}

TEST(number, reals_are_written_shortest_and_marked_as_reals)
{
    char out[LC_NUMBER_BYTES_MAX];
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0.0"},
        {-0.0, "0.0"},
        {3.0, "3.0"},
        {-3.0, "-3.0"},
        {100.0, "100.0"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {-4.35, "-4.35"},
        {1.0 / 3.0, "0.3333333333333333"},
        {2.0 / 3.0, "0.6666666666666666"},
        {9007199254740991.0, "9007199254740991.0"},
        {9007199254740992.0, "9007199254740992.0"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {1e300, "1e+300"},
        {0.000001, "0.000001"},
        {0.00000123456789012345, "0.00000123456789012345"},
        {1e-7, "1e-7"},
        {-1.5e-9, "-1.5e-9"},
        {5.6843418860808015e-14, "5.684341886080802e-14"}, /* 2^-44: unequal neighbours. */
        {5e-324, "5e-324"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {123456789012345680.0, "1.2345678901234568e+17"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_STR_EQ(format_f64(rows[i].value, out), rows[i].text);
}

TEST(number, text_is_read_correctly_rounded)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"0", 0.0},
        {"-0", 0.0},
        {"-0.0", 0.0},
        {"-1e-400", 0.0},
        {"0e999999999999999999999", 0.0},
        {"0.1", 0.1},
        {"1e22", 1e22},
        {"1e23", 1e23},
        {"1E+2", 100.0},
        {"123e-2", 1.23},
        {"9007199254740993", 9007199254740992.0}, /* A tie goes to the even one, */
        {"9007199254740993.0000000000000000000000000000001", 9007199254740994.0}, /* or not. */
        {"9007199254740993.0", 9007199254740992.0},
        {"3521749804183414561e-27", 0x1.e4068e362d0fdp-29}, /* A little above a tie. */
        {"18446744073709551616", 18446744073709551616.0},
        {"0.000000000000000000000000000000000000001", 1e-39},
        {"2.2250738585072011e-308", 2.2250738585072011e-308}, /* Once hung PHP and Java. */
        {"2.4703282292062327e-324", 0.0},
        {"2.4703282292062328e-324", 5e-324},
        {"1.7976931348623158e308", 1.7976931348623157e308},
        {"6929283495992422e-18", 0.006929283495992422},
        {"1e-9999999999999999999999", 0.0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = 7;

        CHECK(lc_number_parse_f64(loci_str_of(rows[i].text), &value));
        if (!is_same(value, rows[i].value))
            test_fail(__FILE__, __LINE__, "%s read as %a", rows[i].text, value);
    }
}

TEST(number, what_is_no_number_or_overflows_is_refused)
{
    static const char *const texts[] = {
        "",
        "-",
        "+1",
        "01",
        "-01",
        ".5",
        "1.",
        "1.e5",
        "1e",
        "1e+",
        "1e-",
        "1.5.2",
        "0x10",
        "1_000",
        "NaN",
        "inf",
        "1e309",
        "-1e400",
        " 1",
        "1 ",
        "1e99999999999999999999",
        "--1",
        "1,5",
        "1f",
        "\xD9\xA1" /* An Arabic digit. */,
        "1.7976931348623159e308",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value = 7;

        if (lc_number_parse_f64(loci_str_of(texts[i]), &value))
            test_fail(__FILE__, __LINE__, "'%s' was read as %g", texts[i], value);
        CHECK(is_same(value, 7));
    }
}

TEST(number, kinds_are_told_apart)
{
    CHECK_EQ(lc_number_read(LC_STR("12,")).kind, LC_NUMBER_INT);
    CHECK_EQ(lc_number_read(LC_STR("12,")).bytes, 2);
    CHECK_EQ(lc_number_read(LC_STR("1.0]")).kind, LC_NUMBER_REAL);
    CHECK_EQ(lc_number_read(LC_STR("1e0")).kind, LC_NUMBER_REAL);
    CHECK_EQ(lc_number_read(LC_STR("9223372036854775807")).kind, LC_NUMBER_INT);
    CHECK_EQ(lc_number_read(LC_STR("9223372036854775808")).kind, LC_NUMBER_BIG_INT);
    CHECK_EQ(lc_number_read(LC_STR("-9223372036854775808")).kind, LC_NUMBER_INT);
    CHECK_EQ(lc_number_read(LC_STR("-9223372036854775809")).kind, LC_NUMBER_BIG_INT);
    CHECK_EQ(lc_number_read(LC_STR_NONE).kind, LC_NUMBER_NONE);
    CHECK_EQ(lc_number_read(LC_STR("x")).kind, LC_NUMBER_NONE);
    CHECK_EQ(lc_number_read(LC_STR("-x")).bytes, 1);
    CHECK_EQ(lc_number_read(LC_STR("-1.5ex")).bytes, 5);
}

/* Half of them near 1, where people's numbers are and the fast path works. */
TEST(number, random_doubles_read_back_and_agree_with_the_c_library)
{
    test_rng rng = test_random(11);
    uint64_t runs = test_count(200000, 10000000);

    for (uint64_t run = 0; run < runs; run++) {
        char out[LC_NUMBER_BYTES_MAX + 1];
        uint64_t bits = test_rng_next(&rng);
        double value, back = 0;
        loci_str text;

        if (run % 2 == 0)
            bits = (bits & UINT64_C(0x800FFFFFFFFFFFFF)) | (963 + test_rng_below(&rng, 120)) << 52;
        if (run % 64 == 1)
            bits &= UINT64_C(0xFFF0000000000000) >> test_rng_below(&rng, 12); /* Powers of two. */
        value = double_of_bits(bits);
        if (!isfinite(value) || value == 0)
            continue;
        text = format_f64(value, out);
        CHECK(lc_number_parse_f64(text, &back));
        out[text.len] = '\0';
        if (!is_same(back, value) || !is_same(strtod(out, NULL), value))
            test_fail(__FILE__, __LINE__, "%a was written %s and read %a", value, out, back);
    }
}

/* Text of any shape, not only what we write: few digits and many, near and far exponents. */
TEST(number, random_text_is_read_as_by_the_c_library)
{
    test_rng rng = test_random(12);
    uint64_t runs = test_count(200000, 10000000);

    for (uint64_t run = 0; run < runs; run++) {
        char text[96];
        int len = 0;
        int digits = (int)test_rng_between(&rng, 1, test_rng_chance(&rng, 20) ? 60 : 21);
        double value = 0, expected;

        text[len++] = (char)('1' + test_rng_below(&rng, 9));
        text[len++] = '.';
        for (int i = 0; i < digits; i++)
            text[len++] = (char)('0' + test_rng_below(&rng, 10));
        snprintf(text + len, sizeof text - (size_t)len, "e%d",
                 (int)test_rng_between(&rng, test_rng_chance(&rng, 50) ? -330 : -12,
                                       test_rng_chance(&rng, 50) ? 306 : 40));
        expected = strtod(text, NULL);
        CHECK(lc_number_parse_f64(loci_str_of(text), &value));
        if (!is_same(value, expected))
            test_fail(__FILE__, __LINE__, "%s: %a instead of %a", text, value, expected);
    }
}

/* Digits between the first and the last that are not zero, both included. */
static int count_digits(loci_str text)
{
    int count = 0, zeros = 0;

    for (size_t i = 0; i < text.len && text.ptr[i] != 'e'; i++) {
        if (text.ptr[i] == '0') {
            zeros += count > 0;
        } else if (text.ptr[i] >= '1' && text.ptr[i] <= '9') {
            count += zeros + 1;
            zeros = 0;
        }
    }
    return count;
}

/* A score of 0.3 must not fill a context with 0.29999999999999999. */
TEST(number, no_shorter_text_reads_back)
{
    test_rng rng = test_random(13);
    uint64_t runs = test_count(50000, 1000000);

    for (uint64_t run = 0; run < runs; run++) {
        char ours[LC_NUMBER_BYTES_MAX];
        double value = double_of_bits(test_rng_next(&rng));
        loci_str text;

        if (!isfinite(value))
            continue;
        text = format_f64(value, ours);
        for (int precision = 1; precision < count_digits(text); precision++) {
            char shorter[64];

            snprintf(shorter, sizeof shorter, "%.*e", precision - 1, value);
            if (is_same(strtod(shorter, NULL), value))
                test_fail(__FILE__, __LINE__, "%s would do for %.*s", shorter, LC_STR_ARG(text));
        }
    }
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Vectors travel as text: what arrives must be what was sent, with no digit more than needed. */
TEST(number, floats_are_written_shortest)
{
    static const struct {
        float value;
        const char *text;
    } rows[] = {
        {0.0f, "0.0"},
        {-0.0f, "0.0"},
        {1.0f, "1.0"},
        {-0.1f, "-0.1"},
        {0.3f, "0.3"},
        {16777216.0f, "16777216.0"},
        {3.4028235e38f, "3.4028235e+38"},
        {1e-45f, "1e-45"},
        {1.17549435e-38f, "1.1754944e-38"},
        {0.044194173f, "0.044194173"},
    };
    char out[LC_NUMBER_BYTES_MAX];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR_EQ(((loci_str){out, lc_number_format_f32(rows[i].value, out)}), rows[i].text);
}

TEST(number, random_floats_read_back_both_ways_and_no_shorter_text_does)
{
    uint64_t count = test_count(50000, 5000000);
    test_rng rng = test_random(41);

    for (uint64_t i = 0; i < count; i++) {
        float value = float_of((uint32_t)test_rng_next(&rng));
        char text[LC_NUMBER_BYTES_MAX + 1], shorter[64];
        int digits = 0;

        if (!isfinite(value) || value == 0)
            continue;
        text[lc_number_format_f32(value, text)] = '\0';
        if (strtof(text, NULL) != value || (float)strtod(text, NULL) != value)
            test_fail(__FILE__, __LINE__, "%s is not %.9g", text, (double)value);
        for (const char *at = text; *at != '\0' && *at != 'e'; at++)
            digits += *at >= '0' && *at <= '9';
        for (const char *at = text; *at == '0' || *at == '.' || *at == '-'; at++)
            digits -= *at == '0';
        (void)snprintf(shorter, sizeof shorter, "%.*e", digits > 2 ? digits - 2 : 0, (double)value);
        if (digits > 1 && strstr(text, ".0") == NULL && strtof(shorter, NULL) == value)
            test_fail(__FILE__, __LINE__, "%s would do for %s", shorter, text);
    }
}

/* 800 digits decide what 17 cannot; and a text of a million digits must not need a million bytes.
 */
TEST(number, long_text_is_read_exactly)
{
    size_t len = 1000000;
    char *text = test_bytes(len);
    double value = 0;

    memset(text, '0', len);
    memcpy(text, "9007199254740993.", 17);
    CHECK(lc_number_parse_f64((loci_str){text, len}, &value));
    CHECK(is_same(value, 9007199254740992.0));
    text[len - 1] = '1';
    CHECK(lc_number_parse_f64((loci_str){text, len}, &value));
    CHECK(is_same(value, 9007199254740994.0));
    memcpy(text + len - 2, "10", 2);
    CHECK(lc_number_parse_f64((loci_str){text, len}, &value));
    CHECK(is_same(value, 9007199254740994.0));

    memset(text, '0', len);
    memcpy(text, "0.", 2);
    memcpy(text + len - 8, "1e999991", 8); /* 10^-999991 x 10^999991 */
    CHECK(lc_number_parse_f64((loci_str){text, len}, &value));
    CHECK(is_same(value, 1.0));
}

/* Makes a locale with a decimal comma, whatever the machine has installed, and chooses it. */
static void speak_german(void)
{
    const char *dir = test_tmpdir();
    const char *argv[] = {
        "localedef", "-i", "de_DE", "-f", "UTF-8", "--no-archive", test_path(dir, "de_DE.UTF-8"),
        NULL};
    test_process process = test_process_run(&(test_command){.argv = argv});

    CHECK_EQ(process.exit_code, 0);
    CHECK_EQ(setenv("LOCPATH", dir, 1), 0);
    CHECK(setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL);
    CHECK_STR_EQ(localeconv()->decimal_point, ",");
}

/* A host that speaks German must not make us write 0,5. */
TEST(number, the_locale_of_the_host_changes_nothing)
{
    char out[LC_NUMBER_BYTES_MAX];
    double value = 0;

    speak_german();
    CHECK_STR_EQ(format_f64(0.5, out), "0.5");
    CHECK_STR_EQ(format_f64(1.25e-200, out), "1.25e-200");
    CHECK(lc_number_parse_f64(LC_STR("1.25e-200"), &value));
    setlocale(LC_NUMERIC, "C");
    CHECK(is_same(value, 1.25e-200));
}
