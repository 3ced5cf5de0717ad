/* Readings: with them a judgement is the same as without, they are bounded, and what was used last
 * stays. */
#include "unit/talk/talk_fixture.h"

#include <stdio.h>

#include "base/str.h"
#include "talk/reading.h"

static lc_readings *open_readings(talk_fixture *f)
{
    lc_readings *readings = NULL;
    loci_error err;

    talk_open(f);
    CHECK_OK(lc_readings_new(&f->heap, &readings, &err), err);
    return readings;
}

static void close_readings(talk_fixture *f, lc_readings *readings)
{
    lc_readings_free(readings);
    talk_close(f);
    CHECK_EQ(lc_heap_live_bytes(&f->heap, LOCI_MEM_CACHES), 0);
}

/* ---- The same judgement ---------------------------------------------------------------------- */

/* The words that make a difference, put together at random. */
static size_t write_any(test_rng *rng, char *out)
{
    static const char *const parts[] = {
        "no wait, ",   "(about 12) ", "[VP]: ",       "Per the CEO, ", "the budget ",
        "is $50k",     ". ",          "? ",           "Update: ",      "Mike (manager): ",
        "go back to ", "next week ",  "ten dollars ", "team of 12 ",   "GlobalTech ",
        "[DRAFT] ",    "12 chairs ",  "May 9 ",       "was wrong. ",   "instead "};
    size_t len = 0;

    while (len < 60) {
        const char *part = parts[test_rng_below(rng, sizeof parts / sizeof *parts)];

        memcpy(out + len, part, strlen(part));
        len += strlen(part);
    }
    return len;
}

static void check_same(const lc_judged *a, const lc_judged *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(a[i].verdict, b[i].verdict);
        CHECK_STR_EQ(a[i].lead, b[i].lead);
        CHECK_EQ(a[i].count, b[i].count);
        for (size_t c = 0; c < a[i].count; c++) {
            CHECK_EQ(a[i].clauses[c].verdict, b[i].clauses[c].verdict);
            CHECK_STR_EQ(a[i].clauses[c].text, b[i].clauses[c].text);
        }
    }
}

/* Few texts, so that most are found. */
TEST(reading, a_judgement_is_the_same_with_and_without)
{
    static char texts[20][100];
    size_t lens[20];
    test_rng rng = test_random(7);
    talk_fixture f;
    lc_readings *readings = open_readings(&f);

    for (size_t i = 0; i < 20; i++)
        lens[i] = write_any(&rng, texts[i]);
    for (int round = 0; round < 300; round++) {
        lc_said said[8];
        lc_talk_input input = {
            .said = said, .count = 8, .query = LC_STR("What is the budget?"), .reader_rank = -1};
        const lc_judged *with, *without;
        loci_error err;

        for (size_t i = 0; i < 8; i++) {
            size_t text = test_rng_below(&rng, 20);

            said[i] = (lc_said){.kind = (lc_said_kind)test_rng_below(&rng, 5),
                                .text = {texts[text], lens[text]},
                                .successor = test_rng_below(&rng, 8)};
        }
        CHECK_OK(lc_talk_judge(f.talk, &f.arena, &input, &without, &err), err);
        input.readings = readings;
        CHECK_OK(lc_talk_judge(f.talk, &f.arena, &input, &with, &err), err);
        check_same(with, without, 8);
        lc_arena_clear(&f.arena);
        lc_readings_trim(readings);
    }
    close_readings(&f, readings);
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static void read_text(talk_fixture *f, lc_readings *readings, const char *text)
{
    lc_unit unit = {0};
    loci_error err;

    CHECK_OK(lc_readings_read(readings, f->talk, &f->arena, loci_str_of(text), &unit, &err), err);
    CHECK_EQ(unit.clause_count, 1);
    CHECK_STR_EQ(lc_terms_text(unit.clauses[0].terms), text);
    lc_arena_clear(&f->arena);
}

TEST(reading, memory_is_bounded_and_what_is_used_stays)
{
    talk_fixture f;
    lc_readings *readings = open_readings(&f);
    size_t most = 0, before;

    for (int i = 0; i < 40000; i++) {
        char text[100];

        snprintf(text, sizeof text, "shelf %d has a box with the number %d in it", i, 7 * i);
        read_text(&f, readings, text);
        read_text(&f, readings, "this one is asked for each time");
        lc_readings_trim(readings);
        most = lc_readings_bytes(readings) > most ? lc_readings_bytes(readings) : most;
    }
    CHECK_LT(LC_READINGS_BYTES_MAX / 4, most);
    CHECK_LT(most, 2 * LC_READINGS_BYTES_MAX);
    /* Asked for each time, it is not read again: nothing is added for it. */
    before = lc_readings_bytes(readings);
    read_text(&f, readings, "this one is asked for each time");
    CHECK_EQ(lc_readings_bytes(readings), before);
    read_text(&f, readings, "this one was never asked for");
    CHECK_LT(before, lc_readings_bytes(readings));
    close_readings(&f, readings);
}

TEST(reading, a_long_text_is_not_kept)
{
    static char text[LC_READING_TEXT_BYTES_MAX + 2];
    talk_fixture f;
    lc_readings *readings = open_readings(&f);
    size_t before = lc_readings_bytes(readings);

    memset(text, 'a', sizeof text - 1);
    read_text(&f, readings, text);
    CHECK_EQ(lc_readings_bytes(readings), before);
    text[LC_READING_TEXT_BYTES_MAX] = '\0';
    read_text(&f, readings, text);
    CHECK_LT(before, lc_readings_bytes(readings));
    close_readings(&f, readings);
}
