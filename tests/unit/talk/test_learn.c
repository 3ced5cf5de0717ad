/* Lessons: the statements that are made from clauses, and memory running out. */
#include "talk/learn.h"

#include "base/str.h"
#include "lib/heap.h"
#include "unit/talk/talk_fixture.h"

typedef struct taught {
    const char *text;
    const char *lessons; /* Joined with " | ". */
} taught;

static const char *read(talk_fixture *f, const char *text)
{
    const char *out = "";
    lc_lessons lessons;

    CHECK_EQ(lc_lessons_read(&f->arena, talk_terms(f, text), &lessons, NULL), LOCI_OK);
    for (size_t i = 0; i < lessons.count; i++)
        if (!lessons.items[i].asks) /* Whether those are kept is decided elsewhere. */
            out = test_format("%s%s%.*s", out, i > 0 ? " | " : "",
                              LC_STR_ARG(lessons.items[i].text));
    return out;
}

static void check_each(const taught *cases, size_t count)
{
    talk_fixture f;

    talk_open(&f);
    for (size_t i = 0; i < count; i++)
        CHECK_STR_EQ(read(&f, cases[i].text), cases[i].lessons);
    talk_close(&f);
}

TEST(learn, statements_are_readable_by_themselves)
{
    static const taught cases[] = {
        {"I live in Austin, Texas.", "Lives in Austin, Texas"},
        {"I'm allergic to nuts, can you suggest a dessert?", "Is allergic to nuts"},
        {"I usually wake up at 6.", "Usually wakes up at 6"},
        {"I study biology at Leiden University", "Studies biology at Leiden University"},
        {"I teach maths", "Teaches maths"},
        {"I have asthma", "Has asthma"},
        {"I moved to Lisbon last month", "Lives in Lisbon"},
        {"I'm working on a dashboard redesign", "Working on a dashboard redesign"},
        {"John is my cofounder; he handles backend", "John is my cofounder"},
        {"my daughter Mia is 6 years old", "My daughter Mia is 6 years old"},
        {"We live in a village near Graz", "We live in a village near Graz"},
        {"I love jazz, blues and soul", "Loves jazz, blues and soul"},
        {"I\xE2\x80\x99m lactose intolerant", "Is lactose intolerant"},
        {"Hi, I'm Ana. I hate crowds.", "Name is Ana | Hates crowds"},
        {"Remind me to water the plants.", "Water the plants"},
    };

    check_each(cases, sizeof cases / sizeof *cases);
}

TEST(learn, what_is_not_stated_is_no_lesson)
{
    static const taught cases[] = {
        {"Do I live in Austin?", ""},
        {"I live in Austin, right?", ""},
        {"If I live in Austin, do I pay that tax?", ""},
        {"I don't live in Austin", ""},
        {"I used to live in Austin", ""},
        {"She said \"I live in Austin\"", ""},
        {"> I live in Austin", ""},
        {"Translate: I live in Austin", ""},
        {"Bob: I live in Austin", ""},
        {"`I live in Austin`", ""},
        {"I hate mushrooms lol", ""},
        {"I hate mushrooms \xF0\x9F\x98\x82", ""},
        {"I hate it when it rains", ""},
        {"I have a dog problem", ""},
        {"My wife and I live in Rome", ""},
        {"", ""},
    };

    check_each(cases, sizeof cases / sizeof *cases);
}

TEST(learn, at_most_five_of_a_message)
{
    talk_fixture f;
    lc_lessons lessons;

    talk_open(&f);
    CHECK_EQ(lc_lessons_read(&f.arena,
                             talk_terms(&f, "I love jazz. I love tea. I love cats. I love dogs. I "
                                            "love rain. I love snow. I love tacos."),
                             &lessons, NULL),
             LOCI_OK);
    CHECK_EQ(lessons.count, LC_LESSONS_MAX);
    CHECK_STR_EQ(lessons.items[4].quote, "I love rain");
    talk_close(&f);
}
