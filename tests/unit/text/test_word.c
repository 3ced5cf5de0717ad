#include "text/word.h"

#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "lib/test.h"

static lc_heap heap;

static loci_str join(const lc_words *words)
{
    const char *out = "";

    for (size_t i = 0; i < words->count; i++)
        out = test_format("%s%s%.*s", out, i > 0 ? " " : "", LC_STR_ARG(words->items[i]));
    return loci_str_of(out);
}

/* The words with a space between each two. */
static loci_str words_of(const char *text)
{
    lc_arena arena;
    lc_words words;
    loci_error err;
    loci_str out;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_words_split(&arena, loci_str_of(text), &words, &err), err);
    out = join(&words);
    lc_arena_clear(&arena);
    return out;
}

TEST(word, plain_sentences)
{
    CHECK_STR_EQ(words_of(""), "");
    CHECK_STR_EQ(words_of(" \n ... --- !? "), "");
    CHECK_STR_EQ(words_of("The quick, brown fox (jumps)!"), "the quick brown fox jumps");
    CHECK_STR_EQ(words_of("\"Wait\u2026\" \u2014 he said\u2014then left."),
                 "wait he said then left");
    CHECK_STR_EQ(words_of("Der Caf\u00e9-Besuch in Z\u00fcRICH"),
                 "der caf\u00e9 besuch in z\u00fcrich");
    CHECK_STR_EQ(words_of("Cafe\u0301"), "caf\u00e9");
    CHECK_STR_EQ(words_of("stra\u00dfe STRASSE"), "strasse strasse");
    CHECK_STR_EQ(words_of("\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440!"),
                 "\u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440");
    CHECK_STR_EQ(words_of("\u0939\u093f\u0928\u094d\u0926\u0940"), /* Hindi: marks stay. */
                 "\u0939\u093f\u0928\u094d\u0926\u0940");
    CHECK_STR_EQ(words_of("co\u00adoperate"), "cooperate");
    CHECK_STR_EQ(words_of("end.Next"), "end.next end next");
}

TEST(word, apostrophes)
{
    CHECK_STR_EQ(words_of("John's John\u2019s dogs'"), "john john dogs");
    CHECK_STR_EQ(words_of("they're we've he'll I'd I'm"), "they we he i i");
    CHECK_STR_EQ(words_of("don't can\u2019t"), "don't can't");
    CHECK_STR_EQ(words_of("O'Neil"), "oneil neil");
    CHECK_STR_EQ(words_of("l'avion"), "lavion avion");
    CHECK_STR_EQ(words_of("rock'n'roll"), "rocknroll rock roll");
    CHECK_STR_EQ(words_of("'quoted' 'words'"), "quoted words");
    CHECK_STR_EQ(words_of("5'10"), "5 10");
}

TEST(word, identifiers_whole_and_in_parts)
{
    CHECK_STR_EQ(words_of("snake_case"), "snake_case snake case");
    CHECK_STR_EQ(words_of("__init__"), "init");
    CHECK_STR_EQ(words_of("MAX_LEN"), "max_len max len");
    CHECK_STR_EQ(words_of("getUserName()"), "getusername get user name");
    CHECK_STR_EQ(words_of("parseHTTPResponse"), "parsehttpresponse parse http response");
    CHECK_STR_EQ(words_of("HttpServerConfig"), "httpserverconfig http server config");
    CHECK_STR_EQ(words_of("iPhone"), "iphone phone");
    CHECK_STR_EQ(words_of("JavaScript McDonald GitHub PhD"), "javascript mcdonald github phd");
    CHECK_STR_EQ(words_of("utf8 sha256 R2D2"), "utf8 sha256 r2d2");
    CHECK_STR_EQ(words_of("std::vector->size"), "std vector size");
    CHECK_STR_EQ(words_of("os.path.join"), "os.path.join os path join");
}

TEST(word, hyphens)
{
    CHECK_STR_EQ(words_of("state-of-the-art"), "state of the art");
    CHECK_STR_EQ(words_of("e-mail"), "email e mail");
    CHECK_STR_EQ(words_of("Wi-Fi"), "wifi wi fi");
    CHECK_STR_EQ(words_of("GPT-4"), "gpt4 gpt 4");
    CHECK_STR_EQ(words_of("COVID-19"), "covid19 covid 19");
    CHECK_STR_EQ(words_of("well-known"), "well known");
    CHECK_STR_EQ(words_of("-flag --long-option"), "flag long option");
}

TEST(word, numbers)
{
    CHECK_STR_EQ(words_of("3.14 1,000 1,234,567 1,5"), "3.14 1000 1234567 1,5");
    CHECK_STR_EQ(words_of("1.000,00"), "1.000,00");
    CHECK_STR_EQ(words_of("v1.2.3 1.2.3rc1"), "v1.2.3 1.2.3rc1");
    CHECK_STR_EQ(words_of("2024-05-01"), "2024-05-01 2024 05 01");
    CHECK_STR_EQ(words_of("24/7 10:30 3.5kg"), "24/7 24 7 10:30 3.5kg");
    CHECK_STR_EQ(words_of("192.168.0.1:8080"), "192.168.0.1:8080");
    CHECK_STR_EQ(words_of("$5, 10% and 7."), "5 10 and 7");
    CHECK_STR_EQ(words_of("in 2024, 2025"), "in 2024 2025");
    CHECK_STR_EQ(words_of("\u0663\u0664"), "\u0663\u0664"); /* Arabic digits. */
}

TEST(word, names_of_languages_and_acronyms)
{
    CHECK_STR_EQ(words_of("C, C++ and C#."), "c c++ and c#");
    CHECK_STR_EQ(words_of("F# (C++11)"), "f# c 11");
    CHECK_STR_EQ(words_of("U.S.A. and U.K."), "usa and uk");
    CHECK_STR_EQ(words_of("AT&T R&D"), "at&t at t r&d r d");
    CHECK_STR_EQ(words_of(".NET Node.js"), "net node.js node js");
    CHECK_STR_EQ(words_of("#topic @jo"), "topic jo");
}

TEST(word, addresses)
{
    CHECK_STR_EQ(words_of("mail jo.doe@example.com!"),
                 "mail jo.doe@example.com jo doe example com");
    CHECK_STR_EQ(words_of("https://www.example.com/a/b_c?x=1#top"),
                 "https www.example.com www example com a b_c b c x 1 top");
    CHECK_STR_EQ(words_of("/etc/hosts.conf"), "etc hosts.conf hosts conf");
    CHECK_STR_EQ(words_of("jo@example.com's"), "jo@example.com jo example com");
}

TEST(word, scripts_without_spaces_give_pairs)
{
    CHECK_STR_EQ(words_of("\u6771\u4eac\u30bf\u30ef\u30fc"),
                 "\u6771\u4eac \u4eac\u30bf \u30bf\u30ef \u30ef\u30fc");
    CHECK_STR_EQ(words_of("\u732b"), "\u732b");
    CHECK_STR_EQ(words_of("\u732b\u3001\u72ac\u3002"), "\u732b \u72ac");
    CHECK_STR_EQ(words_of("GPT\u6a21\u578b2024\u5e74"), "gpt \u6a21\u578b 2024 \u5e74");
    CHECK_STR_EQ(words_of("\uff76\uff9e\uff72\uff84\uff9e"), "\u30ac\u30a4 \u30a4\u30c9");
    CHECK_STR_EQ(words_of("\uc11c\uc6b8\uc5d0\uc11c"), "\uc11c\uc6b8 \uc6b8\uc5d0 \uc5d0\uc11c");
    /* Thai: a vowel above belongs to its consonant. */
    CHECK_STR_EQ(words_of("\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48"),
                 "\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48");
}

TEST(word, long_words_are_cut_and_long_wholes_given_in_parts)
{
    char *text = test_bytes(400);

    memset(text, 'x', LC_WORD_BYTES_MAX);
    CHECK_EQ(words_of(text).len, LC_WORD_BYTES_MAX);
    text[LC_WORD_BYTES_MAX] = 'x';
    CHECK_EQ(words_of(text).len, LC_WORD_BYTES_MAX);
    text[50] = '.';
    CHECK_EQ(words_of(text).len, 50 + 1 + LC_WORD_BYTES_MAX - 50); /* 129: no whole. */
    text[LC_WORD_BYTES_MAX] = '\0';
    CHECK_EQ(words_of(text).len, LC_WORD_BYTES_MAX + 1 + LC_WORD_BYTES_MAX);
    /* Sixteen parts are a compound, the seventeenth begins the next. */
    CHECK_STR_EQ(words_of("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q"), "abcdefghijklmnop q");
}

TEST(word, invalid_utf8_is_refused)
{
    lc_arena arena;
    lc_words words;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_STATUS(LOCI_EINVAL, lc_words_split(&arena, LC_STR("ok \xc3"), &words, NULL));
    lc_arena_clear(&arena);
}

/* ---- Properties ------------------------------------------------------------------------------ */

static bool has_word(const lc_words *words, loci_str word)
{
    for (size_t i = 0; i < words->count; i++) {
        if (lc_str_eq(words->items[i], word))
            return true;
    }
    return false;
}

/* A run of lower case letters and digits is found as it is written, between any characters. */
TEST(word, nothing_between_spaces_is_lost)
{
    static const char around[] = " .,;:!?'\"()-_/@&#+\n\t$%*";
    test_rng rng = test_random(8);
    uint64_t rounds = test_count(3000, 100000);

    lc_heap_init(&heap, test_heap());
    for (uint64_t round = 0; round < rounds; round++) {
        char text[200];
        size_t bytes = 0;
        loci_str rest, item;
        lc_arena arena;
        lc_words words;

        while (bytes < 100) {
            for (size_t i = test_rng_below(&rng, 8); i > 0; i--)
                text[bytes++] = "abcxyz0189"[test_rng_below(&rng, 10)];
            text[bytes++] = around[test_rng_below(&rng, test_rng_chance(&rng, 50) ? 1 : 23)];
        }
        lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
        CHECK_OK(lc_words_split(&arena, (loci_str){text, bytes}, &words, NULL), (loci_error *)NULL);
        rest = (loci_str){text, bytes};
        while (rest.len > 0) {
            bool is_plain = true;

            item = lc_str_split(rest, ' ', &rest);
            for (size_t i = 0; i < item.len; i++)
                is_plain &= memchr("abcxyz0189", item.ptr[i], 10) != NULL;
            if (is_plain && item.len > 0)
                CHECK(has_word(&words, item));
        }
        lc_arena_clear(&arena);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static loci_status split(void *ctx)
{
    lc_arena arena;
    lc_words words;
    loci_status status;

    lc_arena_init(&arena, ctx, LOCI_MEM_REQUESTS);
    status = lc_words_split(&arena,
                            LC_STR("a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 "
                                   "5 6 7 Caf\u00e9 \u6771\u4eac o'neil getUserName 1,000"),
                            &words, NULL);
    lc_arena_clear(&arena);
    return status;
}

TEST(word, every_allocation_may_fail)
{
    lc_heap_init(&heap, test_heap());
    test_oom_sweep(split, &heap);
}
