/* env.h - the environment of an engine: its memory, clock, random numbers and log.
 *
 * One per engine, made at open and constant afterwards; everything below engine/ gets it through
 * the handle it works on. With the same clock and seed a run repeats itself byte for byte. */
#ifndef LC_BASE_ENV_H
#define LC_BASE_ENV_H

#include "base/heap.h"
#include "base/log.h"
#include "base/random.h"

typedef struct lc_env {
    lc_heap heap;
    lc_log log;
    lc_random random;
    loci_clock_fn *clock; /* Domain time. */
    void *clock_ctx;
} lc_env;

static inline int64_t lc_env_now_us(const lc_env *env)
{
    return env->clock(env->clock_ctx);
}

#endif /* LC_BASE_ENV_H */
