/* Terms: what is one, what it means, and that any bytes can be read. */
#include "talk/term.h"

#include <string.h>

#include "base/str.h"
#include "unit/talk/talk_fixture.h"

static bool is_same(talk_fixture *f, const char *a, const char *b)
{
    lc_terms x = talk_terms(f, a), y = talk_terms(f, b);

    if (x.count != 1 || y.count != 1)
        test_fail(__FILE__, __LINE__, "%s and %s should be one term each", a, b);
    return x.at[0].sense == y.at[0].sense;
}

static void check_same(talk_fixture *f, const char *a, const char *b, bool expected)
{
    if (is_same(f, a, b) != expected)
        test_fail(__FILE__, __LINE__, "%s and %s should mean %s", a, b,
                  expected ? "the same" : "different things");
}

TEST(talk_term, forms_of_one_word_mean_the_same)
{
    static const char *const pairs[][2] = {{"meeting", "Meetings"},  {"approved", "approve"},
                                           {"cancelled", "cancel"},  {"renewal", "renew"},
                                           {"Acme's", "Acme"},       {"Acme\xE2\x80\x99s", "Acme"},
                                           {"deployment", "deploy"}, {"plays", "play"}};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        check_same(&f, pairs[i][0], pairs[i][1], true);
    check_same(&f, "meeting", "meter", false);
    check_same(&f, "sing", "sings", true); /* Three letters stay: "sing" is no form of "s". */
    talk_close(&f);
}

TEST(talk_term, british_spelling_means_the_same)
{
    talk_fixture f;

    talk_open(&f);
    check_same(&f, "colour", "color", true);
    check_same(&f, "favourite", "favorite", true);
    check_same(&f, "Neighbours", "neighbor", true);
    check_same(&f, "four", "for", false);
    check_same(&f, "tours", "tors", false);
    talk_close(&f);
}

TEST(talk_term, amounts_mean_what_they_are_worth)
{
    static const char *const same[][2] = {
        {"$50k", "$50,000"},  {"$1.5M", "$1,500,000"}, {"$2b", "$2,000,000,000"},
        {"1,000", "1000"},    {"twelve", "12"},        {"twenty-two", "22"},
        {"sixty-one", "61"},  {"50%", "50.0%"},        {"£20", "£20.00"},
        {"€20", "€20.00"},    {"#4521", "4521"},       {"0.50", "0.5"},
        {"Jan", "January"},   {"Sept", "September"},   {"tues", "Tuesday"},
        {"Fridays", "Friday"}};
    static const char *const different[][2] = {{"twelve", "twenty"},  {"noon", "midnight"},
                                               {"$50", "50"},         {"50", "50%"},
                                               {"$5", "$50"},         {"today", "tomorrow"},
                                               {"Monday", "Tuesday"}, {"2025-06-30", "2025-06-03"},
                                               {"2pm", "3pm"},        {"11:00", "11"},
                                               {"June", "July"}};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_same(&f, same[i][0], same[i][1], true);
    for (size_t i = 0; i < sizeof different / sizeof *different; i++)
        check_same(&f, different[i][0], different[i][1], false);
    talk_close(&f);
}

/* "swN$%0d:" are the kinds in the order of lc_term_kind. */
static void check_kinds(talk_fixture *f, const char *text, const char *expected)
{
    lc_terms terms = talk_terms(f, text);
    char *kinds = test_bytes(terms.count);

    for (size_t i = 0; i < terms.count; i++)
        kinds[i] = "swN$%0d:"[terms.at[i].kind];
    if (strcmp(kinds, expected) != 0)
        test_fail(__FILE__, __LINE__, "\"%s\" is %s and should be %s", text, kinds, expected);
}

TEST(talk_term, spelling_and_place_tell_the_kind)
{
    static const struct {
        const char *text, *kinds;
    } cases[] = {{"The budget is $80,000.", "sws$"},
                 {"A 15% discount on Friday at 2pm", "s%wsds:"},
                 {"We ship GlobalTech 3-year plans in Q4", "swN0wwsN"},
                 {"Order #4521 for Denver", "w0sN"},
                 {"call at 11:00 on Jan 5", "ws:sd0"},
                 {"Denver is cold. Oslo too", "wswws"}, /* A capital at the front says nothing. */
                 {"nine mains for £30 at noon, one each", "0ws$s:ss"},
                 {"it may rain in May", "sswsd"},
                 {"May 5 or later", "d0sw"},
                 {"May I ask", "ssw"},
                 {"due 2025-06-30 or 2025-6-30", "wds000"},
                 {"write to anna.k@example.org, see https://example.org/a?b=c.", "wsNwN"},
                 {"files end in .qll", "wwsw"},
                 {"Dr. Voss", "wN"},
                 {"", ""},
                 {" \t\n...!?", ""}};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_kinds(&f, cases[i].text, cases[i].kinds);
    talk_close(&f);
}

TEST(talk_term, an_address_is_one_term_without_the_point_behind_it)
{
    talk_fixture f;
    lc_terms terms;

    talk_open(&f);
    terms = talk_terms(&f, "Mail anna.k@example.org. Or https://example.org/a?b=c: now");
    CHECK_STR_EQ(lc_terms_text(lc_terms_part(terms, 1, 1)), "anna.k@example.org");
    CHECK_STR_EQ(lc_terms_text(lc_terms_part(terms, 3, 1)), "https://example.org/a?b=c");
    CHECK_EQ(terms.at[1].after, '.');
    CHECK_EQ(terms.at[3].after, ':');
    talk_close(&f);
}

TEST(talk_term, the_mark_behind_a_term_is_known)
{
    static const struct {
        const char *text;
        size_t at;
        char after;
    } cases[] = {
        {"Update: go", 0, ':'},  {"no, wait", 0, ','},     {"wait \xE2\x80\x93 what", 0, '-'},
        {"really? yes", 0, '?'}, {"it (yes) is", 0, '('},  {"it (yes) is", 1, ')'},
        {"port=8080", 0, '='},   {"one\ntwo", 0, '.'},     {"Dr. Voss", 0, 0},
        {"open .env now", 0, 0}, {"\"stop\". Go", 0, '.'}, {"two words", 0, 0},
        {"first; then", 0, ';'}};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (talk_terms(&f, cases[i].text).at[cases[i].at].after != cases[i].after)
            test_fail(__FILE__, __LINE__, "%s", cases[i].text);
    talk_close(&f);
}

/* Rules ask a term for the lists of its word; a curly apostrophe or a capital changes nothing. */
TEST(talk_term, words_know_their_lists)
{
    talk_fixture f;
    lc_terms terms;

    talk_open(&f);
    terms = talk_terms(&f, "So it\xE2\x80\x99s ANOTHER marquee");
    CHECK(lc_term_in(&terms.at[0], LC_WORDS_FILLERS) && lc_term_in(&terms.at[0], LC_WORDS_STOP));
    CHECK(lc_term_in(&terms.at[1], LC_WORDS_PRONOUNS) && lc_term_is(terms, 1, "it's"));
    CHECK(lc_term_in(&terms.at[2], LC_WORDS_OTHERS));
    CHECK_EQ(terms.at[3].lists, 0);
    CHECK(lc_terms_have_in(terms, LC_WORDS_OTHERS) && !lc_terms_have_in(terms, LC_WORDS_PAST));
    CHECK(!lc_term_is(terms, 4, "it's"));
    talk_close(&f);
}

TEST(talk_term, quotes_and_code_spans_end_with_their_line)
{
    talk_fixture f;
    lc_terms terms;

    talk_open(&f);
    terms = talk_terms(&f, "He \"said so\" and `ran it` twice");
    for (size_t i = 0; i < terms.count; i++) {
        CHECK_EQ(terms.at[i].is_quoted, i == 1 || i == 2);
        CHECK_EQ(terms.at[i].is_code, i == 4 || i == 5);
    }
    terms = talk_terms(&f, "a \xE2\x80\x9Cquoted word\xE2\x80\x9D here");
    CHECK(!terms.at[0].is_quoted && terms.at[1].is_quoted && terms.at[2].is_quoted &&
          !terms.at[3].is_quoted);
    terms = talk_terms(&f, "five \" or ` alone\nnext line");
    CHECK(terms.at[1].is_quoted && terms.at[2].is_quoted && terms.at[2].is_code);
    CHECK(!terms.at[3].is_quoted && !terms.at[3].is_code);
    talk_close(&f);
}

TEST(talk_term, code_fences_are_not_read)
{
    talk_fixture f;

    talk_open(&f);
    check_kinds(&f, "before ```c\nbudget = 5;\n``` tail", "sw");
    check_kinds(&f, "open ```c\nbudget = 5;", "w");
    check_kinds(&f, "```", "");
    check_kinds(&f, "``````", "");
    check_kinds(&f, "```x``` budget ```y``` city", "ww");
    talk_close(&f);
}

TEST(talk_term, no_more_than_the_first_bytes_are_read)
{
    enum { BYTES = LC_TERMS_BYTES_MAX + 1000 };
    talk_fixture f;
    char *text = test_bytes(BYTES);
    lc_terms terms;

    talk_open(&f);
    memset(text, 'a', BYTES);
    for (size_t i = 4; i < BYTES; i += 5)
        text[i] = ' ';
    terms = talk_terms(&f, text);
    CHECK_EQ(terms.count, (LC_TERMS_BYTES_MAX + 4) / 5);
    CHECK_EQ(terms.text.len, BYTES);
    CHECK_LE(terms.at[terms.count - 1].start + terms.at[terms.count - 1].bytes, LC_TERMS_BYTES_MAX);
    memset(text, 'a', BYTES); /* One word of all of it. */
    CHECK_EQ(talk_terms(&f, text).count, 1);
    talk_close(&f);
}

TEST(talk_term, broken_utf8_is_read_byte_by_byte)
{
    static const char *const texts[] = {
        "caf\xC3",      "\xE2",          "\xE2\x80",      "\xF0\x9F", "\xC3\x28 budget",
        "\xFF\xFE\xFD", "\xE2\x82",      "\xC2\xA3",      "\xEF\xB8", "it\xE2\x80\x99",
        "it\xE2\x80",   "$\xE2\x82\xAC", "\xED\xA0\x80 x"};
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lc_terms terms = talk_terms(&f, texts[i]);

        for (size_t t = 0; t < terms.count; t++)
            CHECK_LE(terms.at[t].start + terms.at[t].bytes, strlen(texts[i]));
    }
    CHECK(lc_terms_have_sense(talk_terms(&f, "\xC3\x28 budget \xFF"),
                              talk_terms(&f, "budget").at[0].sense));
    talk_close(&f);
}

TEST(talk_term, invisible_and_right_to_left_characters_make_no_terms)
{
    talk_fixture f;

    talk_open(&f);
    /* U+200B zero-width space, U+202E right-to-left override, U+2066 isolate, U+2069. */
    check_kinds(&f, "\xE2\x80\x8B\xE2\x80\xAE\xE2\x81\xA6\xE2\x81\xA9", "");
    check_kinds(&f, "budget\xE2\x80\x8B \xE2\x80\xAE$50\xE2\x80\xAC", "w$");
    check_kinds(&f, "⚠️ TICKET-9999 — naïve café", "Nww");
    check_kinds(&f, "\xD7\xAA\xD7\xA7\xD7\xA6\xD7\x99\xD7\x91 5", "w0"); /* Hebrew: a word. */
    talk_close(&f);
}

TEST(talk_term, the_words_of_a_key_are_split)
{
    static const char *const keys[] = {"office_floor", "officeFloor",  "OfficeFloor",
                                       "office-floor", "office.floor", "office/floor",
                                       "office:floor", "office floor"};
    talk_fixture f;
    lc_terms words, long_key;
    char *key = test_bytes(1000);

    talk_open(&f);
    words = talk_terms(&f, "office floor");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        lc_terms terms = talk_key(&f, keys[i]);

        if (terms.count != 2 || terms.at[0].sense != words.at[0].sense ||
            terms.at[1].sense != words.at[1].sense)
            test_fail(__FILE__, __LINE__, "%s", keys[i]);
    }
    CHECK_EQ(talk_key(&f, "APIKey").count, 1); /* Where an abbreviation ends is not known. */
    CHECK_EQ(talk_key(&f, "").count, 0);
    memset(key, 'A', 1000);
    for (size_t i = 1; i < 1000; i += 2)
        key[i] = 'a';
    long_key = talk_key(&f, key);
    CHECK_LE(long_key.text.len, 512);
    talk_close(&f);
}

TEST(talk_term, any_bytes_can_be_read)
{
    test_rng rng = test_random(3);
    talk_fixture f;

    talk_open(&f);
    for (int round = 0; round < 2000; round++) {
        char bytes[64];
        size_t len = test_rng_below(&rng, sizeof bytes);
        lc_terms terms;
        loci_error err;

        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)test_rng_below(&rng, round % 2 == 0 ? 256 : 128);
        CHECK_OK(
            lc_terms_read(lc_talk_lexicon(f.talk), &f.arena, (loci_str){bytes, len}, &terms, &err),
            err);
        for (size_t i = 0; i < terms.count; i++) {
            CHECK(terms.at[i].bytes > 0);
            CHECK_LE(terms.at[i].start + terms.at[i].bytes, len);
            CHECK(i == 0 || terms.at[i].start >= terms.at[i - 1].start + terms.at[i - 1].bytes);
        }
        lc_arena_clear(&f.arena);
    }
    talk_close(&f);
}

/* A text much longer than the part that is read, and many that are read completely: reading stays
 * linear, so both are quick. */
TEST(talk_term, long_texts_are_read_quickly)
{
    enum { LONG_BYTES = 1024 * 1024, BYTES = 20 * 1024, TEXTS = 200 };
    static const char sentence[] = "The marquee budget is now $5,000, and \"we\" moved to `x` ``` ";
    talk_fixture f;
    char *text = test_bytes(LONG_BYTES);
    lc_statements statements;

    talk_open(&f);
    for (size_t i = 0; i < LONG_BYTES; i++)
        text[i] = sentence[i % (sizeof sentence - 1)];
    talk_statements(&f, text, &statements);
    text[BYTES] = '\0';
    for (size_t i = 0; i < TEXTS; i++) {
        talk_statements(&f, text, &statements);
        lc_arena_clear(&f.arena);
    }
    memset(text, '`', BYTES);
    CHECK_EQ(talk_terms(&f, text).count, 0);
    memset(text, '@', BYTES);
    CHECK_EQ(talk_terms(&f, text).count, 0);
    memset(text, 'a', BYTES);
    CHECK_EQ(talk_terms(&f, text).count, 1);
    for (size_t i = 0; i < BYTES; i++)
        text[i] = "a."[i % 2]; /* Each place could begin an address. */
    CHECK_LT(0, talk_terms(&f, text).count);
    talk_close(&f);
}

static loci_status read_with_faults(void *ctx)
{
    static const char text[] = "The marquee budget is now $5,000, and we moved to Bergen.";
    static lc_lexicon lexicon;
    lc_heap heap;
    lc_arena arena;
    lc_terms terms;
    loci_error err;
    loci_status status;

    (void)ctx;
    lc_lexicon_init(&lexicon);
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
    status = lc_terms_read(&lexicon, &arena, loci_str_of(text), &terms, &err);
    if (status == LOCI_OK)
        status = lc_terms_read_key(&lexicon, &arena, LC_STR("marquee_budget"), &terms, &err);
    lc_arena_clear(&arena);
    return status;
}

TEST(talk_term, running_out_of_memory_is_an_error_and_leaks_nothing)
{
    test_oom_sweep(read_with_faults, NULL);
}
