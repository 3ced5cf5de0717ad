/* The splitters against PCRE2 running the patterns that the encodings are published with. PCRE2
 * knows an older Unicode: characters of another class in that version are left out, up to a maximum
 * number. */
#include "text/split.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "unit/text/random_text.h"
#include "unit/text/tokenizer_fixture.h"

#if defined(__has_include)
#if __has_include(<pcre2.h>)
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#define HAS_ORACLE 1
#endif
#endif

#ifndef HAS_ORACLE

TEST(split, is_what_pcre2_would_do)
{
    test_fail(__FILE__, __LINE__, "libpcre2-dev is not installed; script/setup brings it");
}

#else

#define ENDING "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"

static const char o200k[] = "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" ENDING
                            "?|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" ENDING
                            "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|"
                            "\\s+(?!\\S)|\\s+";
static const char cl100k[] = ENDING "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
                                    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
/* Each class in turn; a character that matches none is OTHER. */
static const char classes[] = "([\\r\\n])|([\\p{Lu}\\p{Lt}])|(\\p{Ll})|([\\p{Lm}\\p{Lo}])|(\\p{M})|"
                              "(\\p{N})|(\\s)";

typedef struct oracle {
    pcre2_code *code;
    pcre2_match_data *match;
} oracle;

static oracle oracle_new(const char *pattern)
{
    oracle made;
    int error;
    PCRE2_SIZE at;

    made.code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP,
                              &error, &at, NULL);
    CHECK(made.code != NULL);
    made.match = pcre2_match_data_create_from_pattern(made.code, NULL);
    CHECK(made.match != NULL);
    return made;
}

static void oracle_free(oracle *o)
{
    pcre2_match_data_free(o->match);
    pcre2_code_free(o->code);
}

static size_t oracle_end(const oracle *o, loci_str text, size_t from)
{
    int found = pcre2_match(o->code, (PCRE2_SPTR)text.ptr, text.len, from,
                            PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED, o->match, NULL);

    CHECK_LT(0, found);
    return pcre2_get_ovector_pointer(o->match)[1];
}

static lc_char_class oracle_class(const oracle *o, uint32_t code_point)
{
    static const lc_char_class by_group[] = {LC_CHAR_NEWLINE, LC_CHAR_UPPER, LC_CHAR_LOWER,
                                             LC_CHAR_LETTER,  LC_CHAR_MARK,  LC_CHAR_NUMBER,
                                             LC_CHAR_SPACE};
    char bytes[4];
    size_t len = lc_utf8_encode(code_point, bytes);
    int found = pcre2_match(o->code, (PCRE2_SPTR)bytes, len, 0, 0, o->match, NULL);

    return found < 2 ? LC_CHAR_OTHER : by_group[found - 2];
}

/* PCRE2 10.42 knows Unicode 14, which 15, 15.1 and 16 added some 10 000 characters to, most of them
 * letters; a table that went wrong would differ in more, and in characters that both know. */
TEST(split, the_classes_are_those_of_pcre2_but_for_newer_characters)
{
    oracle o = oracle_new(classes);
    int unassigned_there = 0, other = 0;

    for (uint32_t c = 0; c < 0x110000; c++) {
        lc_char_class theirs;

        if (c >= 0xD800 && c < 0xE000)
            continue;
        theirs = oracle_class(&o, c);
        if (theirs != lc_char_class_of(c)) {
            unassigned_there += theirs == LC_CHAR_OTHER;
            other += theirs != LC_CHAR_OTHER;
        }
        CHECK(c >= 0x80 || lc_byte_classes[c] == lc_char_class_of(c));
    }
    CHECK_LE(unassigned_there, 12000);
    CHECK_LE(other, 20);
    oracle_free(&o);
}

/* Replaces characters that the two classify differently. */
static loci_str known_text(loci_str text, const oracle *o, char *out)
{
    const uint8_t *at = (const uint8_t *)text.ptr, *end = at + text.len;
    size_t len = 0, bytes;

    for (; at < end; at += bytes) {
        uint32_t c = *at;

        bytes = 1;
        if (c >= 0x80)
            c = lc_split_wide(at, end, &bytes);
        if (oracle_class(o, c) != lc_char_class_of(c))
            c = '?';
        len += lc_utf8_encode(c, out + len);
    }
    return (loci_str){out, len};
}

static void check_split(lc_split *split, const oracle *o, loci_str text)
{
    const uint8_t *begin = (const uint8_t *)text.ptr, *end = begin + text.len;
    size_t at = 0;

    while (at < text.len) {
        size_t ours = (size_t)(split(begin + at, end) - begin), theirs = oracle_end(o, text, at);

        if (ours != theirs)
            test_fail(__FILE__, __LINE__, "at %zu: %zu, PCRE2 says %zu\n    text: %.*s", at, ours,
                      theirs, LC_STR_ARG(text));
        at = theirs;
    }
}

TEST(split, is_what_pcre2_would_do)
{
    static random_text random;
    oracle in_o200k = oracle_new(o200k), in_cl100k = oracle_new(cl100k),
           known = oracle_new(classes);
    token_samples samples = tokenizer_fixture_samples();
    char bytes[8192];

    test_timeout(300);
    random_text_init(&random);
    for (int i = 0; i < RANDOM_TEXTS + SAMPLES; i++) {
        loci_str text = i < SAMPLES ? samples.text[i] : random_text_next(&random);

        CHECK_LE(text.len, sizeof bytes);
        text = known_text(text, &known, bytes);
        check_split(lc_split_o200k, &in_o200k, text);
        check_split(lc_split_cl100k, &in_cl100k, text);
    }
    oracle_free(&in_o200k);
    oracle_free(&in_cl100k);
    oracle_free(&known);
}

/* All texts of a few characters, one of each class and those that the patterns name. */
TEST(split, is_what_pcre2_would_do_on_all_short_texts)
{
    static const char *const characters[] = {"A",  "b", "中", "\u0301", "7", " ", "\n",
                                             "\t", "-", "/",  "'",      "s", "ſ"};
    oracle in_o200k = oracle_new(o200k), in_cl100k = oracle_new(cl100k);
    const size_t count = sizeof characters / sizeof *characters;

    test_timeout(300);
    for (size_t number = 0; number < count * count * count * count * count; number++) {
        char bytes[32];
        size_t len = 0, rest = number;

        for (int i = 0; i < 5; i++, rest /= count) {
            size_t part = strlen(characters[rest % count]);

            memcpy(bytes + len, characters[rest % count], part);
            len += part;
        }
        check_split(lc_split_o200k, &in_o200k, (loci_str){bytes, len});
        check_split(lc_split_cl100k, &in_cl100k, (loci_str){bytes, len});
    }
    oracle_free(&in_o200k);
    oracle_free(&in_cl100k);
}

#endif
