#include "base/id.h"

#include <string.h>

#include "base/assert.h"
#include "base/str.h"
#include "lib/test.h"

#define MS_MAX ((INT64_C(1) << 48) - 1)

static bool same(const lc_id_parts *a, const lc_id_parts *b)
{
    return a->ms == b->ms && a->seq == b->seq && a->ordinal == b->ordinal && a->mark == b->mark;
}

/* Ids are stored and given to callers: the same parts must make the same text for ever. */
TEST(id, text_of_known_parts)
{
    lc_id zero = lc_id_make("fact", &(lc_id_parts){.ms = 0});
    lc_id some = lc_id_make(
        "mem", &(lc_id_parts){.ms = 1763242560000, .seq = 41, .ordinal = 2, .mark = 0xDEADBEEF});
    lc_id most = lc_id_make(
        "ses",
        &(lc_id_parts){.ms = MS_MAX, .seq = LC_ID_SEQ_MAX, .ordinal = 255, .mark = UINT32_MAX});

    CHECK_STR_EQ(zero.text, "fact_00000000000000000000000000");
    CHECK_STR_EQ(some.text, "mem_01KA4Q4JG0000000190BFAVFQF");
    CHECK_STR_EQ(most.text, "ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    CHECK_STR_EQ(lc_id_str(&some), some.text);
}

TEST(id, what_was_made_is_read_back)
{
    test_rng rng = test_random(3);

    for (int i = 0; i < 2000; i++) {
        lc_id_parts parts = {.ms = test_rng_between(&rng, 0, MS_MAX),
                             .seq = test_rng_between(&rng, 0, LC_ID_SEQ_MAX),
                             .ordinal = (unsigned)test_rng_below(&rng, 256),
                             .mark = (uint32_t)test_rng_next(&rng)};
        lc_id_parts read = {0};
        lc_id id = lc_id_make("frm", &parts);

        CHECK(lc_id_is(lc_id_str(&id), "frm"));
        CHECK(lc_id_parse(lc_id_str(&id), "frm", &read));
        CHECK(same(&parts, &read));
    }
}

/* Within a user seq only grows, so ids sort as their events as long as the clock does not go back.
 */
TEST(id, order_is_that_of_time_then_seq_then_ordinal)
{
    const lc_id_parts sorted[] = {
        {.ms = 5, .seq = 9, .ordinal = 9, .mark = UINT32_MAX},
        {.ms = 6, .seq = 0},
        {.ms = 6, .seq = 1, .ordinal = 255, .mark = 7},
        {.ms = 6, .seq = 2},
        {.ms = 6, .seq = 2, .ordinal = 1},
    };

    for (size_t i = 1; i < sizeof sorted / sizeof sorted[0]; i++) {
        lc_id before = lc_id_make("x", &sorted[i - 1]);
        lc_id after = lc_id_make("x", &sorted[i]);

        CHECK_LT(strcmp(before.text, after.text), 0);
    }
}

/* An injected clock may say anything; an id made then must still be one, and not look like another
 * year. */
TEST(id, moment_outside_48_bits_is_the_nearest_inside)
{
    static const struct {
        int64_t ms, kept;
    } cases[] = {{-1, 0},
                 {INT64_MIN, 0},
                 {MS_MAX, MS_MAX},
                 {MS_MAX + 1, MS_MAX},
                 {MS_MAX + 1000, MS_MAX},
                 {INT64_MAX, MS_MAX}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lc_id id = lc_id_make("x", &(lc_id_parts){.ms = cases[i].ms, .seq = 1});
        lc_id_parts read;

        CHECK(lc_id_parse(lc_id_str(&id), "x", &read));
        CHECK_EQ(read.ms, cases[i].kept);
        CHECK_EQ(read.seq, 1);
    }
}

TEST(id, only_the_exact_text_is_an_id)
{
    static const char *const others[] = {
        "",
        "fact_",
        "fact_0000000000000000000000000",
        "fact_000000000000000000000000000",
        "fact-00000000000000000000000000",
        "fakt_00000000000000000000000000",
        "Fact_00000000000000000000000000",
        "mem_00000000000000000000000000",
        "fact_0000000000000000000000000a",
        "fact_0000000000000000000000000I",
        "fact_0000000000000000000000000L",
        "fact_0000000000000000000000000O",
        "fact_0000000000000000000000000U",
        "fact_0000000000000000000000000 ",
        "fact_80000000000000000000000000",
        "fact_Z0000000000000000000000000",
    };
    char nul[] = "fact_00000000000000000000000000";
    lc_id_parts parts = {.seq = 77};

    CHECK(lc_id_is(loci_str_of(nul), "fact"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        CHECK(!lc_id_is(loci_str_of(others[i]), "fact"));
        CHECK(!lc_id_parse(loci_str_of(others[i]), "fact", &parts));
        CHECK_EQ(parts.seq, 77);
    }
    nul[10] = '\0';
    CHECK(!lc_id_is((loci_str){nul, sizeof nul - 1}, "fact"));
    CHECK(!lc_id_is(LC_STR_NONE, "fact"));
}

TEST(id, longest_prefix_fits)
{
    lc_id id = lc_id_make("abcdefghijkl", &(lc_id_parts){.seq = 1});

    CHECK_EQ(strlen(id.text), LC_ID_TEXT_BYTES - 1);
    CHECK(lc_id_is(lc_id_str(&id), "abcdefghijkl"));
}
