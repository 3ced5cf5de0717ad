/* Dates in plain English, resolved against the time at which they were said. */
#include "talk/when.h"

#include "base/str.h"
#include "base/time.h"
#include "base/zone.h"
#include "unit/talk/talk_fixture.h"

typedef struct dated {
    const char *text;
    const char *words; /* NULL = no date. */
    const char *date;  /* Without a time of day: 00:00 UTC. */
} dated;

/* Said on Wednesday, 11 March 2026, at 23:30 UTC. */
static void check_each(const dated *cases, size_t count, const char *zone)
{
    talk_fixture f;
    lc_moment said = {0, 0};

    talk_open(&f);
    CHECK(lc_time_parse(LC_STR("2026-03-11T23:30:00Z"), &said.at_us));
    CHECK(lc_zone_offset(loci_str_of(zone), said.at_us, &said.offset_us));
    for (size_t i = 0; i < count; i++) {
        lc_terms terms = talk_terms(&f, cases[i].text);
        char time[LC_TIME_BYTES_MAX];
        lc_when when = {0};
        bool found = lc_when_find(terms, &said, &when);

        if (found != (cases[i].words != NULL))
            test_fail(__FILE__, __LINE__, "%s: %s", cases[i].text, found ? "a date" : "no date");
        if (!found)
            continue;
        CHECK_STR_EQ(lc_terms_text(lc_terms_part(terms, when.first, when.count)), cases[i].words);
        CHECK_STR_EQ(((loci_str){time, lc_time_format(when.at_us, time)}), cases[i].date);
    }
    talk_close(&f);
}

TEST(when, words_become_days)
{
    static const dated cases[] = {
        {"call me today", "today", "2026-03-11T00:00:00Z"},
        {"send it tomorrow", "tomorrow", "2026-03-12T00:00:00Z"},
        {"by Friday please", "by Friday", "2026-03-13T00:00:00Z"},
        {"on Wednesday", "on Wednesday", "2026-03-18T00:00:00Z"},
        {"next Friday at noon", "next Friday at noon", "2026-03-20T12:00:00Z"},
        {"on Sunday", "on Sunday", "2026-03-15T00:00:00Z"},
        {"in two weeks", "in two weeks", "2026-03-25T00:00:00Z"},
        {"in a month", "in a month", "2026-04-11T00:00:00Z"},
        {"next week", "next week", "2026-03-16T00:00:00Z"},
        {"next month", "next month", "2026-04-01T00:00:00Z"},
        {"by the end of the month", "by the end of the month", "2026-03-31T00:00:00Z"},
        {"this weekend", "this weekend", "2026-03-14T00:00:00Z"},
        {"on June 3", "on June 3", "2026-06-03T00:00:00Z"},
        {"on 3 June 2027", "on 3 June 2027", "2027-06-03T00:00:00Z"},
        {"the 3rd of February", "the 3rd of February", "2027-02-03T00:00:00Z"},
        {"on the 20th", "on the 20th", "2026-03-20T00:00:00Z"},
        {"on the 2nd", "on the 2nd", "2026-04-02T00:00:00Z"},
        {"before June", "before June", "2026-06-01T00:00:00Z"},
        {"on 2026-12-24", "on 2026-12-24", "2026-12-24T00:00:00Z"},
        {"tomorrow at 5", "tomorrow at 5", "2026-03-12T17:00:00Z"},
        {"tomorrow at 9:15", "tomorrow at 9:15", "2026-03-12T09:15:00Z"},
        {"Tuesday at 3pm", "Tuesday at 3pm", "2026-03-17T15:00:00Z"},
        {"at 7 tomorrow", "at 7 tomorrow", "2026-03-12T19:00:00Z"},
        {"on Mondays", NULL, NULL},
        {"last Friday", NULL, NULL},
        {"in five", NULL, NULL},
        {"the second one", NULL, NULL},
        {"on February 30", NULL, NULL},
        {"version 3 of it", NULL, NULL},
    };

    check_each(cases, sizeof cases / sizeof *cases, "UTC");
}

/* It is Thursday already in Berlin; a day stays a day, a time of day is a moment. */
TEST(when, days_are_those_of_the_time_zone)
{
    static const dated cases[] = {
        {"tomorrow", "tomorrow", "2026-03-13T00:00:00Z"},
        {"tomorrow at 5", "tomorrow at 5", "2026-03-13T16:00:00Z"},
    };

    check_each(cases, sizeof cases / sizeof *cases, "+01:00");
}

TEST(when, zones_are_offsets_or_names)
{
    int64_t offset = 0, summer = 0, winter = 0;

    CHECK(lc_time_parse(LC_STR("2026-07-01T00:00:00Z"), &summer));
    CHECK(lc_time_parse(LC_STR("2026-01-01T00:00:00Z"), &winter));
    CHECK(lc_zone_offset(LC_STR("UTC+2"), summer, &offset));
    CHECK_EQ(offset, INT64_C(7200000000));
    CHECK(lc_zone_offset(LC_STR("-05:30"), summer, &offset));
    CHECK_EQ(offset, INT64_C(-19800000000));
    CHECK(!lc_zone_offset(LC_STR("../../etc/passwd"), summer, &offset));
    CHECK(!lc_zone_offset(LC_STR("Nowhere/Land"), summer, &offset));
    CHECK(!lc_zone_offset(LC_STR("+99"), summer, &offset));
    CHECK(!lc_zone_offset(LC_STR(""), summer, &offset));
    if (lc_zone_offset(LC_STR("Europe/Berlin"), summer, &offset)) { /* With zone files. */
        CHECK_EQ(offset, INT64_C(7200000000));
        CHECK(lc_zone_offset(LC_STR("Europe/Berlin"), winter, &offset));
        CHECK_EQ(offset, INT64_C(3600000000));
    }
}
