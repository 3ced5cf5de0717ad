#include "index/hit.h"

#include <stdlib.h>

#include "lib/test.h"

static int compare_hits(const void *a, const void *b)
{
    const lc_hit *left = a, *right = b;

    return lc_hit_is_better(*right, *left) - lc_hit_is_better(*left, *right);
}

static void check_same(const lc_hit *a, const lc_hit *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(a[i].id, b[i].id);
        CHECK(a[i].score == b[i].score);
    }
}

/* Whatever the order and however many scores are equal, the same ones are kept. */
TEST(hit, best_equal_those_of_a_full_sort)
{
    test_rng rng = test_random(4);

    for (uint64_t round = 0; round < test_count(300, 5000); round++) {
        lc_hit all[60], kept[70];
        size_t count = (size_t)test_rng_below(&rng, 61);
        lc_best best = {.hits = kept, .limit = (size_t)test_rng_below(&rng, 70)};
        size_t expected = count < best.limit ? count : best.limit;

        for (size_t i = 0; i < count; i++) {
            all[i] = (lc_hit){.id = (uint32_t)(i * 7919 % 1009),
                              .score = (float)test_rng_between(&rng, -4, 4)};
            lc_best_offer(&best, all[i]);
        }
        qsort(all, count, sizeof all[0], compare_hits);
        CHECK_EQ(best.count, expected);
        lc_hits_sort(kept, best.count);
        check_same(kept, all, expected);
    }
}

/* Scans skip what is not above the floor before they ask anything else. */
TEST(hit, floor_is_the_worst_score_kept_once_full)
{
    lc_hit hits[2];
    lc_best best = {.hits = hits, .limit = 2}, none = {.hits = hits, .limit = 0};

    CHECK(lc_best_floor(&best) == -INFINITY);
    lc_best_offer(&best, (lc_hit){.id = 1, .score = 5});
    CHECK(lc_best_floor(&best) == -INFINITY);
    lc_best_offer(&best, (lc_hit){.id = 2, .score = 3});
    CHECK(lc_best_floor(&best) == 3);
    lc_best_offer(&best, (lc_hit){.id = 3, .score = 4});
    CHECK(lc_best_floor(&best) == 4);
    CHECK(lc_best_floor(&none) == INFINITY);
}
