/* guard_fixture.h - engines whose guard sees the memory and the clock of a test.
 *
 *     guard_machine m = {.used = GUARD_LIMIT / 100 * 40};
 *     loci_engine *engine = guard_open(&m, &(guard_parts){0});
 *     guard_set_usage(&m, engine, 55);      elevated
 *
 * The guard has no thread: it acts in guard_set_usage(). Usage that rises by 15 % of the limit or
 * more in one step is a spike, which is judged one step ahead.
 */
#ifndef TEST_CONTRACT_GUARD_FIXTURE_H
#define TEST_CONTRACT_GUARD_FIXTURE_H

#include "lib/calls.h"

#include <stdatomic.h>

#include "engine/engine.h"

#define GUARD_LIMIT INT64_C(1000000000)

typedef struct guard_machine {
    _Atomic int64_t used; /* Bytes of the process. */
    _Atomic int64_t now_us;
} guard_machine;

typedef struct guard_parts {
    uint32_t flags;                      /* LOCI_OPEN_INLINE or none. */
    const char *settings;                /* Or NULL. */
    const lc_room *const *rooms;         /* As in lc_engine_parts. */
    const lc_job_kind *const *job_kinds; /* The same. */
} guard_parts;

/* On a new store. */
loci_engine *guard_open(guard_machine *machine, const guard_parts *parts);
loci_guard *guard_of(loci_engine *engine);
/* Sets usage to `percent` of the limit and lets the guard act, 200 ms after its last time. */
void guard_set_usage(guard_machine *machine, loci_engine *engine, int percent);
/* Raises usage to `percent` in steps that are no spikes. */
void guard_raise(guard_machine *machine, loci_engine *engine, int percent);
/* loci_guard_status(); lives until the test ends. */
loci_str guard_status(loci_engine *engine);

#endif /* TEST_CONTRACT_GUARD_FIXTURE_H */
