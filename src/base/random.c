/* random.c - SplitMix64: the state is a counter, so an atomic add makes it safe between threads and
 * every draw is a mix of one counter value. */
#include "base/random.h"

#include <errno.h>
#include <sys/random.h>

#include "base/assert.h"

#define GOLDEN 0x9E3779B97F4A7C15u

void lc_random_init(lc_random *random, uint64_t seed)
{
    atomic_init(&random->state, seed);
}

uint64_t lc_random_next(lc_random *random)
{
    uint64_t z = atomic_fetch_add_explicit(&random->state, GOLDEN, memory_order_relaxed) + GOLDEN;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

int64_t lc_random_between(lc_random *random, int64_t low, int64_t high)
{
    uint64_t span;

    LC_ASSERT(low <= high);
    span = (uint64_t)high - (uint64_t)low + 1;
    if (span == 0)
        return (int64_t)lc_random_next(random);
    /* The bias of the remainder is below 2^-32 for any span we use: jitter, not cryptography. */
    return (int64_t)((uint64_t)low + lc_random_next(random) % span);
}

bool lc_random_secret(void *out, size_t bytes)
{
    char *at = out;

    while (bytes > 0) {
        ssize_t got = getrandom(at, bytes, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}
