/* random.c - splitmix64 (Steele, Lea and Flood 2014): one word of state and no bad seed. */
#include "lib/random.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed_taken;
static bool was_taken;

test_rng test_random(uint64_t seed)
{
    const char *override = getenv("LOCI_TEST_SEED");

    if (override != NULL && override[0] != '\0')
        seed = strtoull(override, NULL, 0);
    seed_taken = seed;
    was_taken = true;
    return (test_rng){.state = seed};
}

uint64_t test_rng_next(test_rng *rng)
{
    uint64_t z = rng->state += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t test_rng_below(test_rng *rng, uint64_t bound)
{
    /* The bias of a remainder is below 2^-32 for every bound a test asks for. */
    return test_rng_next(rng) % bound;
}

int64_t test_rng_between(test_rng *rng, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t offset = span == 0 ? test_rng_next(rng) : test_rng_below(rng, span);

    return (int64_t)((uint64_t)low + offset);
}

bool test_rng_chance(test_rng *rng, unsigned percent)
{
    return test_rng_below(rng, 100) < percent;
}

void test_rng_fill(test_rng *rng, void *out, size_t bytes)
{
    unsigned char *at = out;

    while (bytes > 0) {
        uint64_t word = test_rng_next(rng);
        size_t step = bytes < sizeof word ? bytes : sizeof word;

        memcpy(at, &word, step);
        at += step;
        bytes -= step;
    }
}

void test_random_reset(void)
{
    was_taken = false;
}

bool test_random_was_used(uint64_t *out_seed)
{
    *out_seed = seed_taken;
    return was_taken;
}
