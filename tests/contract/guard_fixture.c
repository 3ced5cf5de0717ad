#include "contract/guard_fixture.h"

#include "base/str.h"

#define STEP_PERCENT 7

static int read_machine(void *ctx, int64_t *used, int64_t *limit)
{
    guard_machine *m = ctx;

    *used = atomic_load(&m->used);
    *limit = GUARD_LIMIT;
    return 0;
}

static int64_t machine_now(void *ctx)
{
    guard_machine *m = ctx;

    return atomic_load(&m->now_us);
}

loci_engine *guard_open(guard_machine *machine, const guard_parts *parts)
{
    loci_guard_options guard = LOCI_GUARD_OPTIONS_INIT;
    loci_open_options options = test_open_options(test_store(test_tmpdir(), "store.db"));
    loci_engine *engine = NULL;
    loci_error err;

    guard.flags = LOCI_GUARD_INLINE;
    guard.reading = read_machine;
    guard.clock = machine_now;
    guard.reading_ctx = guard.clock_ctx = machine;
    options.flags = (options.flags & ~LOCI_OPEN_INLINE) | parts->flags;
    options.settings = parts->settings;
    CHECK_OK(lc_engine_open(&options,
                            &(lc_engine_parts){.rooms = parts->rooms,
                                               .job_kinds = parts->job_kinds,
                                               .guard = &guard},
                            &engine, &err),
             err);
    return engine;
}

loci_guard *guard_of(loci_engine *engine)
{
    loci_guard *guard = NULL;
    loci_error err;

    CHECK_OK(lc_engine_memory_guard(engine, &guard, &err), err);
    return guard;
}

void guard_set_usage(guard_machine *machine, loci_engine *engine, int percent)
{
    atomic_store(&machine->used, GUARD_LIMIT / 100 * percent);
    atomic_fetch_add(&machine->now_us, 200000);
    (void)loci_guard_tick(guard_of(engine));
}

void guard_raise(guard_machine *machine, loci_engine *engine, int percent)
{
    int now = (int)(atomic_load(&machine->used) / (GUARD_LIMIT / 100));

    for (now += STEP_PERCENT; now < percent; now += STEP_PERCENT)
        guard_set_usage(machine, engine, now);
    guard_set_usage(machine, engine, percent);
}

loci_str guard_status(loci_engine *engine)
{
    char *status = loci_guard_status(guard_of(engine));
    loci_str copy = loci_str_of(test_format("%s", status));

    loci_text_free(status);
    return copy;
}
