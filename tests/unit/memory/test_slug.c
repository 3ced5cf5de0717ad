#include "memory/slug.h"

#include "lib/test.h"

#include <string.h>

#include "base/str.h"
#include "memory/understood.h"

static lc_heap heap;
static lc_arena arena;

static void begin(void)
{
    lc_heap_init(&heap, test_heap());
    lc_arena_init(&arena, &heap, LOCI_MEM_REQUESTS);
}

static loci_str slug(const char *name)
{
    loci_str out = LC_STR("-");
    loci_error err;

    CHECK_OK(lc_slug_make(&arena, loci_str_of(name), &out, &err), err);
    return out;
}

/* Two names share a slug only when they read the same. */
TEST(slug, names_become_labels)
{
    begin();
    CHECK_STR_EQ(slug("John Doe"), "john_doe");
    CHECK_STR_EQ(slug("  jean-luc  Picard "), "jean_luc_picard");
    CHECK_STR_EQ(slug("Austin, Texas"), "austin_texas");
    CHECK_STR_EQ(slug("O'Neil"), "oneil");
    CHECK_STR_EQ(slug("Ｊｏｈｎ"), "john");
    CHECK_STR_EQ(slug("STRASSE"), slug("Straße"));
    CHECK_STR_EQ(slug("東京"), "東京");
    CHECK_STR_EQ(slug("C"), "c");
    CHECK(lc_str_starts(slug("C++"), LC_STR("c_")));
    CHECK(!lc_str_eq(slug("C++"), slug("C#")));
    CHECK_EQ(slug("!!!").len, 6);
    lc_arena_clear(&arena);
}

/* A slug that is given as a name is the same entity. */
TEST(slug, a_slug_of_a_slug_is_itself)
{
    static const char *const names[] = {"John Doe", "C++", "!!!", "東京 tower", "a_b"};
    char *longest = test_bytes(500);

    begin();
    memset(longest, 'x', 400);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_STR_EQ(slug(slug(names[i]).ptr), slug(names[i]));
    CHECK_LE(slug(longest).len, LC_SLUG_BYTES_MAX);
    CHECK_STR_EQ(slug(slug(longest).ptr), slug(longest));
    memcpy(longest + 200, "y", 1);
    CHECK(!lc_str_eq(slug(longest), slug(slug("xxx").ptr)));
    lc_arena_clear(&arena);
}

TEST(slug, refs_have_a_type)
{
    loci_str ref;
    loci_error err;

    begin();
    CHECK_OK(lc_ref_make(&arena, LC_STR("person:John Doe"), &ref, &err), err);
    CHECK_STR_EQ(ref, "person:john_doe");
    CHECK_STR_EQ(lc_ref_type(ref), "person");
    CHECK_STATUS(LOCI_EINVAL, lc_ref_make(&arena, LC_STR("john"), &ref, &err));
    CHECK_STATUS(LOCI_EINVAL, lc_ref_make(&arena, LC_STR("person: "), &ref, &err));
    CHECK_STATUS(LOCI_EINVAL, lc_ref_make(&arena, LC_STR("Person:x"), &ref, &err));
    lc_arena_clear(&arena);
}

TEST(statement, values_contain_each_other_by_words)
{
    CHECK(lc_value_has(LC_STR("austin texas"), LC_STR("austin")));
    CHECK(lc_value_has(LC_STR("austin texas"), LC_STR("texas")));
    CHECK(!lc_value_has(LC_STR("austin texas"), LC_STR("aust")));
    CHECK(!lc_value_has(LC_STR("austin"), LC_STR("austin texas")));
}

/* Reading never fails on odd texts, and allocates from the arena. */
TEST(statement, odd_texts_have_no_attribute)
{
    static const char *const texts[] = {"?",
                                        "...",
                                        "I'm",
                                        "my",
                                        "my is",
                                        "the is",
                                        "'s is x",
                                        "is",
                                        "lives in",
                                        "I am",
                                        "John's",
                                        "prefers",
                                        ",,, ,",
                                        "the deadline for is June 3",
                                        "\xF0\x9F\x98\x80",
                                        "has two"};

    begin();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lc_understood out;
        loci_error err;

        CHECK_OK(lc_understood_read(&arena, loci_str_of(texts[i]), &out, &err), err);
        CHECK_EQ(out.attribute.len, 0);
    }
    lc_arena_clear(&arena);
}
