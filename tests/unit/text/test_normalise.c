#include "text/normalise.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "lib/test.h"

typedef loci_status normalise_fn(loci_str text, lc_buf *out, loci_error *err);

static lc_heap heap;

/* The result of `fn` for `text`, kept for the test. */
static loci_str apply(normalise_fn *fn, loci_str text)
{
    lc_buf out;
    loci_error err;
    char *kept;
    size_t bytes;

    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, SIZE_MAX);
    CHECK_OK(fn(text, &out, &err), err);
    bytes = out.len;
    kept = test_bytes(bytes);
    if (bytes > 0)
        memcpy(kept, out.ptr, bytes);
    lc_buf_clear(&out);
    return (loci_str){kept, bytes};
}

static loci_str nfkc(const char *text)
{
    lc_heap_init(&heap, test_heap());
    return apply(lc_text_nfkc, loci_str_of(text));
}

static loci_str nfc(const char *text)
{
    lc_heap_init(&heap, test_heap());
    return apply(lc_text_nfc, loci_str_of(text));
}

static loci_str fold(const char *text)
{
    lc_heap_init(&heap, test_heap());
    return apply(lc_text_fold, loci_str_of(text));
}

TEST(normalise, nfkc_gives_one_spelling_and_keeps_case)
{
    CHECK_STR_EQ(nfkc(""), "");
    CHECK_STR_EQ(nfkc("Plain ASCII, with \t and \x01."), "Plain ASCII, with \t and \x01.");
    CHECK_STR_EQ(nfkc("Cafe\u0301"), "Caf\u00e9");
    CHECK_STR_EQ(nfkc("\uff26\uff55\uff4c\uff4c"), "Full");
    CHECK_STR_EQ(nfkc("\ufb01ne"), "fine");
    CHECK_STR_EQ(nfkc("x\u00b2"), "x2");
    CHECK_STR_EQ(nfkc("\u2126"), "\u03a9");
    CHECK_STR_EQ(nfkc("\uff76\uff9e"), "\u30ac");              /* Half-width ga. */
    CHECK_STR_EQ(nfkc("\u1112\u1161\u11ab"), "\ud55c");        /* Han from its jamo. */
    CHECK_STR_EQ(nfkc("a\u0323\u0307"), "\u1ea1\u0307");       /* Marks in their order, */
    CHECK_STR_EQ(nfkc("a\u0307\u0323"), "\u1ea1\u0307");       /* whichever was typed first. */
    CHECK_STR_EQ(nfkc("\U0001d400\U0001f355"), "A\U0001f355"); /* Mathematical A, pizza. */
}

/* Two spellings of one name are one path; names that only look alike are not. */
TEST(normalise, nfc_composes_and_keeps_all_else)
{
    CHECK_STR_EQ(nfc(""), "");
    CHECK_STR_EQ(nfc("Cafe\u0301"), "Caf\u00e9");
    CHECK_STR_EQ(nfc("a\u0307\u0323"), "\u1ea1\u0307");
    CHECK_STR_EQ(nfc("\uff26\ufb01x\u00b2"), "\uff26\ufb01x\u00b2");
    CHECK_STR_EQ(nfc("\uff0f\u2025"), "\uff0f\u2025"); /* No slash and no dots are made. */
}

TEST(normalise, fold_makes_equal_what_differs_in_case_alone)
{
    CHECK_STR_EQ(fold("HELLO World 42"), "hello world 42");
    CHECK_STR_EQ(fold("STRASSE"), fold("Stra\u00dfe"));
    CHECK_STR_EQ(fold("\u039f\u0394\u03a3"), "\u03bf\u03b4\u03c3");
    CHECK_STR_EQ(fold("\u03a3\u03c3\u03c2"),
                 "\u03c3\u03c3\u03c3"); /* The final sigma is one too. */
    CHECK_STR_EQ(fold("\u00c9COLE"), "\u00e9cole");
    CHECK_STR_EQ(fold("\u0416\u0423\u041a"), "\u0436\u0443\u043a");
    CHECK_STR_EQ(fold("\uff21"), "a");
    CHECK_STR_EQ(fold("\u210c"), "h");
    CHECK_STR_EQ(fold("\u01c5"), "d\u017e"); /* Title case digraph. */
    CHECK_STR_EQ(fold("\u0130"), "i\u0307");
    CHECK_STR_EQ(fold("co\u00adoperate\u200b"), "cooperate"); /* Soft hyphen, zero width space. */
}

/* Greek iota below: a mark that folds to a letter, and must not keep other marks from meeting. */
TEST(normalise, canonically_equal_texts_fold_to_equal_ones)
{
    CHECK_STR_EQ(fold("\u03b1\u0345\u0301"), fold("\u1fb4"));
    CHECK_STR_EQ(fold("\u03b1\u0301\u0345"), fold("\u1fb4"));
}

TEST(normalise, one_character_may_become_eighteen)
{
    char text[3 * 40 + 1] = "";

    for (int i = 0; i < 40; i++)
        memcpy(text + 3 * i, "\ufdfa", 4);
    CHECK_EQ(lc_utf8_count(nfkc(text)), 40 * 18);
}

TEST(normalise, invalid_utf8_is_refused)
{
    static const char *const bad[] = {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80", "ok \xf5\x80"};
    lc_buf out;
    loci_error err;

    lc_heap_init(&heap, test_heap());
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, SIZE_MAX);
        CHECK_STATUS(LOCI_EINVAL, lc_text_nfkc(loci_str_of(bad[i]), &out, &err));
        CHECK_STATUS(LOCI_EINVAL, lc_text_fold(loci_str_of(bad[i]), &out, &err));
        lc_buf_clear(&out);
    }
}

TEST(normalise, buffer_that_is_full_says_so)
{
    lc_buf out;

    lc_heap_init(&heap, test_heap());
    lc_buf_init(&out, &heap, LOCI_MEM_REQUESTS, 3);
    CHECK_STATUS(LOCI_ELIMIT, lc_text_fold(LC_STR("four"), &out, NULL));
    lc_buf_reset(&out);
    CHECK_STATUS(LOCI_ELIMIT, lc_text_fold(LC_STR("\u00c9t\u00e9"), &out, NULL));
    lc_buf_reset(&out);
    CHECK_OK(lc_text_fold(LC_STR("\u00c9t"), &out, NULL), (loci_error *)NULL);
    lc_buf_clear(&out);
}

/* ---- Properties ------------------------------------------------------------------------------ */

static void check_idempotent(normalise_fn *fn, loci_str text)
{
    loci_str once = apply(fn, text);

    CHECK(lc_utf8_is_valid(once));
    CHECK_STR_EQ(apply(fn, once), once);
}

TEST(normalise, every_character_twice_is_once)
{
    uint64_t step = test_count(7, 1);

    lc_heap_init(&heap, test_heap());
    for (uint32_t c = 0; c <= 0x10FFFF; c += (uint32_t)step) {
        char text[4];

        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        check_idempotent(lc_text_fold, (loci_str){text, lc_utf8_encode(c, text)});
        check_idempotent(lc_text_nfkc, (loci_str){text, lc_utf8_encode(c, text)});
    }
}

/* From ranges where characters combine. */
static uint32_t random_character(test_rng *rng)
{
    static const struct {
        uint32_t first, count;
    } ranges[] = {{0x20, 0x5f},    {0xa0, 0x160},   {0x300, 0x70},   {0x340, 8},     {0x370, 0x90},
                  {0x1100, 0x100}, {0x1e00, 0x200}, {0x2000, 0x70},  {0x3040, 0xc0}, {0xac00, 0x80},
                  {0xfb00, 0x50},  {0xff00, 0xe0},  {0x1d400, 0x80}, {0x10400, 0x50}};
    size_t range = test_rng_below(rng, sizeof ranges / sizeof ranges[0]);

    return ranges[range].first + (uint32_t)test_rng_below(rng, ranges[range].count);
}

TEST(normalise, random_texts_twice_are_once)
{
    test_rng rng = test_random(5);
    uint64_t rounds = test_count(3000, 100000);
    char text[20 * 4];

    lc_heap_init(&heap, test_heap());
    for (uint64_t round = 0; round < rounds; round++) {
        size_t bytes = 0, count = test_rng_below(&rng, 20);

        for (size_t i = 0; i < count; i++)
            bytes += lc_utf8_encode(random_character(&rng), text + bytes);
        check_idempotent(lc_text_nfkc, (loci_str){text, bytes});
        check_idempotent(lc_text_fold, (loci_str){text, bytes});
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static loci_status fold_both(void *ctx)
{
    lc_buf out;
    loci_status status;

    lc_buf_init(&out, ctx, LOCI_MEM_REQUESTS, SIZE_MAX);
    status = lc_text_fold(LC_STR("Plain"), &out, NULL);
    if (status == LOCI_OK)
        status = lc_text_fold(LC_STR("\u00c9COLE \ufdfa\ufdfa"), &out, NULL);
    lc_buf_clear(&out);
    return status;
}

TEST(normalise, every_allocation_may_fail)
{
    lc_heap_init(&heap, test_heap());
    test_oom_sweep(fold_both, &heap);
}
