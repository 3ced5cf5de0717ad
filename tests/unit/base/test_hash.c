#include "base/hash.h"

#include <string.h>

#include "base/str.h"
#include "lib/test.h"

static const char *hex(lc_hash128 hash)
{
    char text[LC_HASH_TEXT_BYTES];

    lc_hash128_format(hash, text);
    return test_format("%s", text);
}

/* They are in ids, in request rows and in meta: a library that computes others breaks every store.
 */
TEST(hash, values_never_change)
{
    CHECK_EQ(lc_hash64(LC_STR("")), 0x2D06800538D394C2u);
    CHECK_EQ(lc_hash64(LC_STR_NONE), 0x2D06800538D394C2u);
    CHECK_EQ(lc_hash64(LC_STR("a")), 0xE6C632B61E964E1Fu);
    CHECK_EQ(lc_hash64(LC_STR("loci")), 0xD3D31A15FC66B9D6u);
    CHECK_STR_EQ(hex(lc_hash128_of(LC_STR(""))), "99aa06d3014798d86001c324468d497f");
    CHECK_STR_EQ(hex(lc_hash128_of(LC_STR("a"))), "a96faf705af16834e6c632b61e964e1f");
    CHECK_STR_EQ(hex(lc_hash128_of(LC_STR("loci"))), "311410e6cfbb935e556fa6ed291db4be");
}

/* XXH3 goes other ways for 1-3, 4-8, 9-16, 17-128, 129-240 and more bytes. */
TEST(hash, values_of_every_length_class_never_change)
{
    static const struct {
        size_t bytes;
        uint64_t hash;
        const char *hash128;
    } cases[] = {
        {3, 0x15F7093B173D005Cu, "46f66cb93538156515f7093b173d005c"},
        {8, 0xDEC6A9A43575982Eu, "803c675a846cc6c256bb836ceb6d4baa"},
        {16, 0x7E484C18D74895D0u, "650fe308c566747df853dd94614dfa07"},
        {128, 0xF92B70EAA21A6288u, "b4f87b99d2db8a511e04fad9f0cacb4d"},
        {240, 0xCCC7375172C41F03u, "de57aab31e77a2ff93e173833f75ab66"},
        {241, 0x0B3B630948CE4A00u, "92b991a7192f3f080b3b630948ce4a00"},
        {5000, 0x559FFF92C2B7F8EEu, "3bf60aa89c7feeaa559fff92c2b7f8ee"},
    };
    char *bytes = test_bytes(5000);

    for (size_t i = 0; i < 5000; i++)
        bytes[i] = (char)(i * 31 + 7);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_EQ(lc_hash64((loci_str){bytes, cases[i].bytes}), cases[i].hash);
        CHECK_STR_EQ(hex(lc_hash128_of((loci_str){bytes, cases[i].bytes})), cases[i].hash128);
    }
}

TEST(hash, chains_never_change)
{
    lc_hash128 chain = {0, 0};

    chain = lc_hash128_chain(chain, LC_STR("first"));
    CHECK_STR_EQ(hex(chain), "1a2202cd15fb1733ca43e78b12716f64");
    chain = lc_hash128_chain(chain, LC_STR(""));
    CHECK_STR_EQ(hex(chain), "82babe76887c8b11ece8bfb2e900ccb4");
}

/* Two rows ("ab", "c") and ("a", "bc") are not the same stream. */
TEST(hash, chain_sees_where_a_piece_ends)
{
    lc_hash128 zero = {0, 0};
    lc_hash128 a = lc_hash128_chain(lc_hash128_chain(zero, LC_STR("ab")), LC_STR("c"));
    lc_hash128 b = lc_hash128_chain(lc_hash128_chain(zero, LC_STR("a")), LC_STR("bc"));
    lc_hash128 c = lc_hash128_chain(lc_hash128_chain(zero, LC_STR("c")), LC_STR("ab"));

    CHECK(!lc_hash128_eq(a, b));
    CHECK(!lc_hash128_eq(a, c));
    CHECK(!lc_hash128_eq(lc_hash128_chain(zero, LC_STR("")), zero));
    CHECK(lc_hash128_eq(a, a));
}

TEST(hash, text_keeps_leading_zeros)
{
    CHECK_STR_EQ(hex((lc_hash128){0, 0}), "00000000000000000000000000000000");
    CHECK_STR_EQ(hex((lc_hash128){.high = 1, .low = UINT64_MAX}),
                 "0000000000000001ffffffffffffffff");
}

TEST(hash, halves_are_both_compared)
{
    CHECK(!lc_hash128_eq((lc_hash128){1, 2}, (lc_hash128){1, 3}));
    CHECK(!lc_hash128_eq((lc_hash128){1, 2}, (lc_hash128){0, 2}));
    CHECK(lc_hash128_eq((lc_hash128){1, 2}, (lc_hash128){1, 2}));
}
