#include "text/term.h"

#include "base/str.h"
#include "lib/test.h"

static lc_heap heap;

static loci_str terms_in(const char *language, const char *text)
{
    lc_stemmer stemmer;
    lc_arena arena;
    lc_words terms;
    const char *out = "";
    loci_error err;

    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    CHECK_OK(lc_stemmer_init(&stemmer, language, &err), err);
    CHECK_OK(lc_terms_split(&stemmer, &arena, loci_str_of(text), &terms, &err), err);
    for (size_t i = 0; i < terms.count; i++)
        out = test_format("%s%s%.*s", out, i > 0 ? " " : "", LC_STR_ARG(terms.items[i]));
    lc_stemmer_clear(&stemmer);
    lc_arena_clear(&arena);
    return loci_str_of(out);
}

static loci_str terms_of(const char *text)
{
    return terms_in(LC_STEM_ENGLISH, text);
}

TEST(term, forms_of_a_word_are_one_term)
{
    CHECK_STR_EQ(terms_of("connect connected connecting connection connections"),
                 "connect connect connect connect connect");
    CHECK_STR_EQ(terms_of("Running RUNS run"), "run run run");
    CHECK_STR_EQ(terms_of("happy happiness"), "happi happi");
    CHECK_STR_EQ(terms_of("allergies allergy"), "allergi allergi");
    CHECK_STR_EQ(terms_of("John's dogs'"), "john dog");
}

TEST(term, what_is_no_word_stays_as_it_is)
{
    CHECK_STR_EQ(terms_of("3.14 v1.2.3 jobs.example.com"),
                 "3.14 v1.2.3 jobs.example.com job exampl com");
    CHECK_STR_EQ(terms_of("\u6771\u4eac utf8s as1"), "\u6771\u4eac utf8s as1");
}

TEST(term, stop_words_go_unless_there_is_nothing_else)
{
    CHECK_STR_EQ(terms_of("What is the name of my dog?"), "name dog");
    CHECK_STR_EQ(terms_of("I don't like it"), "like");
    CHECK_STR_EQ(terms_of("The who"), "the who");
    CHECK_STR_EQ(terms_of("no not never will May"), "no not never will may");
    CHECK_STR_EQ(terms_of(""), "");
}

TEST(term, other_languages_have_their_own_stems_and_no_english_stop_words)
{
    CHECK_STR_EQ(terms_in("german", "H\u00e4user Haus in"), "haus haus in");
    CHECK_STR_EQ(terms_in("french", "continuellement continuer"), "continuel continu");
}

TEST(term, unknown_language_is_named)
{
    lc_stemmer stemmer = {0};
    loci_error err;

    CHECK_STATUS(LOCI_EINVAL, lc_stemmer_init(&stemmer, "klingon", &err));
    CHECK_CONTAINS(err.message, "klingon");
    CHECK_STATUS(LOCI_EINVAL, lc_stemmer_init(&stemmer, "", &err));
    lc_stemmer_clear(&stemmer);
    lc_stemmer_clear(&stemmer);
}

TEST(term, stems_of_64_bytes_and_no_longer)
{
    const char *word = test_format("%060d", 0);
    char *letters = test_bytes(70);
    lc_stemmer stemmer;
    loci_str stem;

    CHECK_OK(lc_stemmer_init(&stemmer, LC_STEM_ENGLISH, NULL), (loci_error *)NULL);
    for (size_t bytes = 63; bytes <= 65; bytes++) {
        for (size_t i = 0; i < bytes; i++)
            letters[i] = i % 2 == 0 ? 'b' : 'o';
        letters[bytes - 2] = 'b'; /* An s after a vowel and a consonant is an ending. */
        letters[bytes - 1] = 's';
        CHECK_OK(lc_stemmer_stem(&stemmer, (loci_str){letters, bytes}, &stem, NULL),
                 (loci_error *)NULL);
        CHECK_EQ(stem.len, bytes <= 64 ? bytes - 1 : bytes);
    }
    CHECK_OK(lc_stemmer_stem(&stemmer, loci_str_of(word), &stem, NULL), (loci_error *)NULL);
    CHECK_STR_EQ(stem, word);
    lc_stemmer_clear(&stemmer);
}

/* The list is searched by halves: one word out of order hides others. */
TEST(term, every_stop_word_is_found)
{
    size_t count;
    const char *const *words = lc_stop_words_get(&count);

    CHECK_LT(100, count);
    for (size_t i = 0; i < count; i++) {
        CHECK(lc_stop_word_is(loci_str_of(words[i])));
        if (i > 0)
            CHECK_LT(lc_str_compare(loci_str_of(words[i - 1]), loci_str_of(words[i])), 0);
    }
    CHECK(!lc_stop_word_is(LC_STR("")));
    CHECK(!lc_stop_word_is(LC_STR("th")));
    CHECK(!lc_stop_word_is(LC_STR("zebra")));
    CHECK(!lc_stop_word_is(LC_STR("us")));
}

static loci_status split(void *ctx)
{
    lc_stemmer stemmer;
    lc_arena arena;
    lc_words terms;
    loci_status status;

    lc_arena_init(&arena, ctx, LOCI_MEM_REQUESTS);
    status = lc_stemmer_init(&stemmer, LC_STEM_ENGLISH, NULL);
    if (status == LOCI_OK)
        status = lc_terms_split(&stemmer, &arena, LC_STR("happily relational Caf\u00e9s"), &terms,
                                NULL);
    lc_stemmer_clear(&stemmer);
    lc_arena_clear(&arena);
    return status;
}

TEST(term, every_allocation_may_fail)
{
    lc_heap_init(&heap, test_heap());
    test_oom_sweep(split, &heap);
}
