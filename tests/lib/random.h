/* random.h - reproducible random numbers, for tests that try many inputs.
 *
 * A failing test prints the seed it took last; LOCI_TEST_SEED=n runs with that one instead.
 */
#ifndef TEST_LIB_RANDOM_H
#define TEST_LIB_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct test_rng {
    uint64_t state; /* splitmix64: any value is a good one. */
} test_rng;

/* A generator from `seed`, or from LOCI_TEST_SEED where that is set. */
test_rng test_random(uint64_t seed);

uint64_t test_rng_next(test_rng *rng);
/* From 0 to `bound` - 1; `bound` is not 0. */
uint64_t test_rng_below(test_rng *rng, uint64_t bound);
/* From `low` to `high`, both included. */
int64_t test_rng_between(test_rng *rng, int64_t low, int64_t high);
/* True `percent` times in a hundred. */
bool test_rng_chance(test_rng *rng, unsigned percent);
void test_rng_fill(test_rng *rng, void *out, size_t bytes);

/* For the runner: the seed taken last in this test, if any. */
void test_random_reset(void);
bool test_random_was_used(uint64_t *out_seed);

#endif /* TEST_LIB_RANDOM_H */
