/* Terms: what is one, what it means, and that any bytes can be read. */
#include "talk/term.h"

#include "base/str.h"
#include "lib/test.h"
#include "talk/subject.h"

typedef struct fixture {
    lc_heap heap;
    lc_arena arena;
    lc_lexicon lexicon;
} fixture;

static lc_terms read(fixture *f, const char *text)
{
    lc_terms terms = {0};
    loci_error err;

    CHECK_OK(lc_terms_read(&f->lexicon, &f->arena, loci_str_of(text), &terms, &err), err);
    return terms;
}

static void init(fixture *f)
{
    lc_heap_init(&f->heap, test_heap());
    lc_arena_init(&f->arena, &f->heap, LOCI_MEM_REQUESTS);
    lc_lexicon_init(&f->lexicon);
}

static bool same(fixture *f, const char *a, const char *b)
{
    lc_terms x = read(f, a), y = read(f, b);

    CHECK_EQ(x.count, 1);
    CHECK_EQ(y.count, 1);
    return x.at[0].sense == y.at[0].sense;
}

TEST(term, forms_of_one_word_mean_the_same)
{
    fixture f;

    init(&f);
    CHECK(same(&f, "meeting", "Meetings"));
    CHECK(same(&f, "approved", "approve"));
    CHECK(same(&f, "cancelled", "cancel"));
    CHECK(same(&f, "renewal", "renew"));
    CHECK(same(&f, "Acme's", "Acme"));
    CHECK(same(&f, "Jan", "January"));
    CHECK(same(&f, "$50k", "$50,000"));
    CHECK(same(&f, "$1.5M", "$1,500,000"));
    CHECK(same(&f, "1,000", "1000"));
    CHECK(same(&f, "twelve", "12"));
    CHECK(same(&f, "£20", "£20.00"));
    CHECK(same(&f, "€20", "€20.00"));
    CHECK(!same(&f, "twelve", "twenty"));
    CHECK(!same(&f, "noon", "midnight"));
    CHECK(!same(&f, "meeting", "meter"));
    CHECK(!same(&f, "$50", "50"));
    CHECK(!same(&f, "50", "50%"));
    CHECK(!same(&f, "today", "tomorrow"));
    CHECK(!same(&f, "Monday", "Tuesday"));
    lc_arena_clear(&f.arena);
}

static void check_kinds(fixture *f, const char *text, const char *kinds)
{
    static const char names[] = "swN$%0d:"; /* In the order of lc_term_kind. */
    lc_terms terms = read(f, text);

    CHECK_EQ(terms.count, strlen(kinds));
    for (size_t i = 0; i < terms.count; i++)
        if (names[terms.at[i].kind] != kinds[i])
            test_fail(__FILE__, __LINE__, "%s", text);
}

TEST(term, kinds)
{
    fixture f;

    init(&f);
    check_kinds(&f, "The budget is $80,000.", "sws$");
    check_kinds(&f, "A 15% discount on Friday at 2pm", "s%wsds:");
    check_kinds(&f, "We ship GlobalTech 3-year plans in Q4", "swN0wwsN");
    check_kinds(&f, "Order #4521 for Denver", "w0sN");
    check_kinds(&f, "call at 11:00 on Jan 5", "ws:sd0");
    check_kinds(&f, "⚠️ TICKET-9999 — naïve café", "Nww");
    check_kinds(&f, "nine mains for £30 at noon, one each", "0ws$s:ss");
    check_kinds(&f, "files end in .qll", "wwsw");
    check_kinds(&f, "", "");
    lc_arena_clear(&f.arena);
}

/* Rules ask a term for the lists of its word; a curly apostrophe or a capital changes nothing. */
TEST(term, words_know_their_lists)
{
    fixture f;
    lc_terms terms;

    init(&f);
    terms = read(&f, "So it\xE2\x80\x99s ANOTHER marquee, twenty-two");
    CHECK(lc_term_in(&terms.at[0], LC_WORDS_TURNS) && lc_term_in(&terms.at[0], LC_WORDS_STOP));
    CHECK(lc_term_in(&terms.at[1], LC_WORDS_IT_IS) && lc_term_is(terms, 1, "it's"));
    CHECK(lc_term_in(&terms.at[2], LC_WORDS_ALSO) && lc_term_in(&terms.at[2], LC_WORDS_OTHERS));
    CHECK_EQ(terms.at[3].lists, 0);
    CHECK(terms.at[4].kind == LC_TERM_NUMBER && same(&f, "twenty-two", "22"));
    CHECK(lc_terms_have_in(terms, LC_WORDS_FILLERS) && !lc_terms_have_in(terms, LC_WORDS_NO));
    CHECK(read(&f, "minutes").at[0].is_time_unit && read(&f, "pounds").at[0].is_measure);
    lc_arena_clear(&f.arena);
}

TEST(term, marks_that_follow_are_known)
{
    fixture f;
    lc_terms terms;

    init(&f);
    terms = read(&f, "Update: no, wait \xE2\x80\x93 really? (yes)");
    CHECK_EQ(terms.at[0].after, ':');
    CHECK_EQ(terms.at[1].after, ',');
    CHECK_EQ(terms.at[2].after, '-');
    CHECK_EQ(terms.at[3].after, '?');
    CHECK_EQ(terms.at[4].after, ')');
    lc_arena_clear(&f.arena);
}

TEST(term, lengths_of_time_are_values_of_time)
{
    fixture f;

    init(&f);
    CHECK_EQ(lc_value_kinds(read(&f, "it takes 3 weeks")), LC_VALUE_WHEN);
    CHECK_EQ(lc_value_kinds(read(&f, "next week")), LC_VALUE_WHEN);
    CHECK_EQ(lc_value_kinds(read(&f, "we have 3 cats")), 0);
    CHECK_EQ(lc_value_kinds(read(&f, "a week of fun")), 0);
    CHECK_EQ(lc_value_kinds(read(&f, "cancelled for $5")), LC_VALUE_MONEY | LC_VALUE_STATUS);
    lc_arena_clear(&f.arena);
}

TEST(term, any_bytes_can_be_read)
{
    fixture f;
    test_rng rng = test_random(3);

    init(&f);
    for (int round = 0; round < 2000; round++) {
        char bytes[64];
        size_t len = test_rng_below(&rng, sizeof bytes);
        lc_terms terms;
        loci_error err;

        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)test_rng_below(&rng, round % 2 == 0 ? 256 : 128);
        CHECK_OK(lc_terms_read(&f.lexicon, &f.arena, (loci_str){bytes, len}, &terms, &err), err);
        for (size_t i = 0; i < terms.count; i++) {
            CHECK(terms.at[i].bytes > 0);
            CHECK(terms.at[i].start + terms.at[i].bytes <= len);
            CHECK(i == 0 || terms.at[i].start >= terms.at[i - 1].start + terms.at[i - 1].bytes);
        }
        lc_arena_clear(&f.arena);
    }
}
