#include "text/slug.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "lib/test.h"

static lc_heap heap;

static loci_str slug_of(loci_str name)
{
    lc_buf out;
    loci_error err;
    char *kept;
    size_t bytes;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, SIZE_MAX);
    CHECK_OK(lc_slug_append(name, &out, &err), err);
    bytes = out.len;
    kept = test_bytes(bytes);
    if (bytes > 0)
        memcpy(kept, out.ptr, bytes);
    lc_buf_clear(&out);
    return (loci_str){kept, bytes};
}

static loci_str slug(const char *name)
{
    return slug_of(loci_str_of(name));
}

/* `name` must become `label`, an underscore and eight hexadecimal digits. */
static void check_hashed(const char *name, const char *label)
{
    loci_str got = slug(name), digits;
    size_t bytes = strlen(label);

    CHECK_EQ(got.len, bytes + (bytes > 0 ? 1 : 0) + 8);
    CHECK_STR_EQ(((loci_str){got.ptr, bytes}), label);
    CHECK(bytes == 0 || got.ptr[bytes] == '_');
    digits = (loci_str){got.ptr + got.len - 8, 8};
    for (size_t i = 0; i < 8; i++)
        CHECK(memchr("0123456789abcdef", digits.ptr[i], 16) != NULL);
}

TEST(slug, spellings_of_one_name_have_one_slug)
{
    CHECK_STR_EQ(slug("New York"), "new_york");
    CHECK_STR_EQ(slug("new-york"), "new_york");
    CHECK_STR_EQ(slug("  NEW \t YORK\n"), "new_york");
    CHECK_STR_EQ(slug("new_york"), "new_york");
    CHECK_STR_EQ(slug("New\u00a0York"), "new_york");   /* No-break space. */
    CHECK_STR_EQ(slug("New\u2011York"), "new_york");   /* No-break hyphen. */
    CHECK_STR_EQ(slug("New \u2013 York"), "new_york"); /* Dash. */
    CHECK_STR_EQ(slug("Jean-Luc  Picard"), "jean_luc_picard");
    CHECK_STR_EQ(slug("M\u00fcller"), "m\u00fcller");
    CHECK_STR_EQ(slug("Mu\u0308ller"), "m\u00fcller");
    CHECK_STR_EQ(slug("STRASSE"), slug("Stra\u00dfe"));
    CHECK_STR_EQ(slug("\u6771\u4eac \u30bf\u30ef\u30fc"), "\u6771\u4eac_\u30bf\u30ef\u30fc");
    CHECK_STR_EQ(slug("\uff29\uff22\uff2d"), "ibm");
    CHECK_STR_EQ(slug("R2D2"), "r2d2");
    CHECK_STR_EQ(slug("co\u00adoperate"), "cooperate");
}

/* The reason for the hash: three languages, not one. */
TEST(slug, names_that_differ_in_punctuation_stay_apart)
{
    CHECK_STR_EQ(slug("C"), "c");
    check_hashed("C++", "c");
    check_hashed("C#", "c");
    CHECK(!lc_str_eq(slug("C++"), slug("C#")));
    CHECK_STR_EQ(slug("C++"), slug("c++"));
    check_hashed("O'Neil", "oneil");
    CHECK(!lc_str_eq(slug("O'Neil"), slug("ONeil")));
    check_hashed("AT&T", "att");
    check_hashed("node.js", "nodejs");
    check_hashed("a@b.c", "abc");
    check_hashed("+++", "");
    check_hashed("\U0001f355", "");
    check_hashed("C-", "c"); /* Grades. */
    check_hashed("-5", "5");
    CHECK(!lc_str_eq(slug("C-"), slug("C")));
}

/* Slugs are stored: this test fails when a version of loci would look for others. */
TEST(slug, hashes_never_change)
{
    CHECK_STR_EQ(slug("C++"), "c_7a793731");
    CHECK_STR_EQ(slug("\U0001f355"), "10b701bc");
}

TEST(slug, nothing_has_none)
{
    CHECK_STR_EQ(slug(""), "");
    CHECK_STR_EQ(slug(" \t "), "");
    CHECK_STR_EQ(slug("__"), "");
}

TEST(slug, long_names_are_cut_and_stay_apart)
{
    for (int bytes = LC_SLUG_BYTES_MAX - 1; bytes <= LC_SLUG_BYTES_MAX + 1; bytes++) {
        const char *name = test_format("%0*d", bytes, 7);

        if (bytes <= LC_SLUG_BYTES_MAX)
            CHECK_STR_EQ(slug(name), name);
        else
            CHECK_EQ(slug(name).len, LC_SLUG_BYTES_MAX);
    }
    CHECK(!lc_str_eq(slug(test_format("%0*d", 200, 1)), slug(test_format("%0*d", 200, 2))));
    /* Three bytes a character: the cut falls between two. */
    CHECK(lc_utf8_is_valid(slug("\u6771\u4eac\u6771\u4eac\u6771\u4eac\u6771\u4eac\u6771\u4eac"
                                "\u6771\u4eac\u6771\u4eac\u6771\u4eac\u6771\u4eac\u6771\u4eac"
                                "\u6771\u4eac\u6771\u4eac\u6771\u4eac\u6771\u4eac\u6771\u4eac"
                                "\u6771\u4eac\u6771\u4eac\u6771\u4eac")));
}

TEST(slug, slug_is_its_own_slug)
{
    static const uint32_t some[] = {'a',    'B',     '7',  ' ',    '-',    '_',    '.',
                                    '+',    '#',     '\'', 0xdf,   0x301,  0x345,  0x1112,
                                    0x1161, 0x11ab,  0x2d, 0x2013, 0x3042, 0x6771, 0xfdfa,
                                    0xad,   0x1f355, 0xb4, 0xe9};
    test_rng rng = test_random(6);
    uint64_t rounds = test_count(5000, 200000);
    char name[60 * 4];

    for (uint64_t round = 0; round < rounds; round++) {
        size_t bytes = 0, count = test_rng_below(&rng, round % 10 == 0 ? 60 : 8);
        loci_str once;

        for (size_t i = 0; i < count; i++)
            bytes += lc_utf8_encode(some[test_rng_below(&rng, sizeof some / sizeof some[0])],
                                    name + bytes);
        once = slug_of((loci_str){name, bytes});
        CHECK(lc_utf8_is_valid(once));
        CHECK_LE(once.len, LC_SLUG_BYTES_MAX);
        CHECK_STR_EQ(slug_of(once), once);
    }
}

TEST(slug, invalid_utf8_is_refused)
{
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, SIZE_MAX);
    CHECK_STATUS(LOCI_EINVAL, lc_slug_append(LC_STR("a\xff"), &out, NULL));
    CHECK_EQ(out.len, 0);
    lc_buf_clear(&out);
}

static loci_status make_both(void *ctx)
{
    lc_buf out;
    loci_status status;

    lc_buf_init(&out, ctx, LOCI_MEM_REQUESTS, SIZE_MAX);
    status = lc_slug_append(LC_STR("New York"), &out, NULL);
    if (status == LOCI_OK)
        status = lc_slug_append(LC_STR("Caf\u00e9!"), &out, NULL);
    lc_buf_clear(&out);
    return status;
}

TEST(slug, every_allocation_may_fail)
{
    lc_heap_init(&heap, test_heap());
    test_oom_sweep(make_both, &heap);
}
