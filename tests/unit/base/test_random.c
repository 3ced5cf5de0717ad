#include "base/random.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/test.h"

/* `loci batch --seed` promises the same bytes: the sequence of a seed may never change. */
TEST(random, sequence_of_a_seed_is_fixed)
{
    static const uint64_t expected[] = {0x599ED017FB08FC85u, 0x2C73F08458540FA5u,
                                        0x883EBCE5A3F27C77u};
    lc_random random;

    lc_random_init(&random, 1234567);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        CHECK_EQ(lc_random_next(&random), expected[i]);
}

TEST(random, seeds_differ)
{
    lc_random a, b;

    lc_random_init(&a, 1);
    lc_random_init(&b, 2);
    CHECK_NE(lc_random_next(&a), lc_random_next(&b));
}

TEST(random, between_includes_both_ends_and_nothing_else)
{
    lc_random random;
    bool seen[7] = {false};

    lc_random_init(&random, 5);
    for (int i = 0; i < 1000; i++) {
        int64_t number = lc_random_between(&random, -3, 3);

        CHECK_LE(-3, number);
        CHECK_LE(number, 3);
        seen[number + 3] = true;
    }
    for (int i = 0; i < 7; i++)
        CHECK(seen[i]);
    CHECK_EQ(lc_random_between(&random, 9, 9), 9);
}

TEST(random, between_works_on_the_widest_ranges)
{
    lc_random random;
    bool has_negative = false, has_positive = false;

    lc_random_init(&random, 5);
    for (int i = 0; i < 200; i++) {
        int64_t number = lc_random_between(&random, INT64_MIN, INT64_MAX);

        has_negative = has_negative || number < 0;
        has_positive = has_positive || number > 0;
        CHECK_LE(lc_random_between(&random, INT64_MIN, -2), -2);
        CHECK_LE(INT64_MAX - 1, lc_random_between(&random, INT64_MAX - 1, INT64_MAX));
    }
    CHECK(has_negative);
    CHECK(has_positive);
}

#define DRAWS 2000

typedef struct drawer {
    lc_random *random;
    uint64_t numbers[DRAWS];
} drawer;

static void *draw(void *ctx)
{
    drawer *d = ctx;

    for (int i = 0; i < DRAWS; i++)
        d->numbers[i] = lc_random_next(d->random);
    return NULL;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* Two threads that draw the same number would make the same jitter, for ever. */
TEST(random, threads_never_draw_the_same_number)
{
    drawer *drawers = (drawer *)(void *)test_bytes(2 * sizeof *drawers);
    uint64_t all[2 * DRAWS];
    pthread_t threads[2];
    lc_random random;

    lc_random_init(&random, 9);
    for (int i = 0; i < 2; i++) {
        drawers[i].random = &random;
        CHECK_EQ(pthread_create(&threads[i], NULL, draw, &drawers[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    memcpy(all, drawers[0].numbers, sizeof drawers[0].numbers);
    memcpy(all + DRAWS, drawers[1].numbers, sizeof drawers[1].numbers);
    qsort(all, 2 * DRAWS, sizeof all[0], compare_numbers);
    for (int i = 1; i < 2 * DRAWS; i++)
        CHECK_LT(all[i - 1], all[i]);
}

TEST(random, secrets_fill_everything_and_differ)
{
    unsigned char a[300] = {0}, b[300] = {0};
    size_t zeros = 0;

    CHECK(lc_random_secret(a, sizeof a));
    CHECK(lc_random_secret(b, sizeof b));
    CHECK(memcmp(a, b, sizeof a) != 0);
    for (size_t i = 0; i < sizeof a; i++)
        zeros += a[i] == 0;
    CHECK_LT(zeros, 30);
    CHECK(lc_random_secret(a, 0));
}

/* A test's seed must never make a token guessable. */
TEST(random, secrets_do_not_come_from_the_seed)
{
    lc_random random;
    uint64_t first, second;

    lc_random_init(&random, 1);
    CHECK(lc_random_secret(&first, sizeof first));
    lc_random_init(&random, 1);
    CHECK(lc_random_secret(&second, sizeof second));
    CHECK_NE(first, second);
}
