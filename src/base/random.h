/* random.h - two kinds of randomness that must not be mixed up.
 *
 * lc_random is repeatable: from a seed, for jitter and store ids, not for secrets. lc_random_secret
 * comes from the kernel and is never seeded, so a test cannot make a token guessable. */
#ifndef LC_BASE_RANDOM_H
#define LC_BASE_RANDOM_H

#include "loci.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct lc_random {
    _Atomic uint64_t state; /* Shared between threads without a lock. */
} lc_random;

void lc_random_init(lc_random *random, uint64_t seed);
uint64_t lc_random_next(lc_random *random);
/* Uniform in [low, high]. */
int64_t lc_random_between(lc_random *random, int64_t low, int64_t high);

/* Fills `out` from the kernel; false if the kernel cannot provide any. */
bool lc_random_secret(void *out, size_t bytes);

#endif /* LC_BASE_RANDOM_H */
