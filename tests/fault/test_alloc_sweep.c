/* test_alloc_sweep.c - memory runs out: allocations of ours fail once in turn, then for
 * good. */
#include "sweep.h"

static void fail_once(uint64_t nth)
{
    test_heap_fail_nth(nth);
}

static void fail_from(uint64_t nth)
{
    test_heap_fail_from(nth);
}

static bool is_fair(loci_status status)
{
    return status == LOCI_ERESOURCE;
}

/* All of them with the full counts; otherwise the first ones of each call, then a sample. */
static sweep once(void)
{
    return (sweep){.what = "allocation",
                   .arm = fail_once,
                   .disarm = test_heap_disarm,
                   .is_fair = is_fair,
                   .dense_until = test_count(60, 0)};
}

static const sweep for_good = {.what = "allocations from",
                               .arm = fail_from,
                               .disarm = test_heap_disarm,
                               .is_fair = is_fair,
                               .dense_until = 12};

TEST(alloc_sweep, every_operation_survives_every_failed_allocation)
{
    sweep s = once();

    sweep_operations(&s);
}

TEST(alloc_sweep, every_operation_survives_without_memory)
{
    sweep_operations(&for_good);
}

TEST(alloc_sweep, batches_are_all_or_nothing)
{
    sweep s = once();

    sweep_batches(&s);
    sweep_batches(&for_good);
}

TEST(alloc_sweep, opening_fails_cleanly)
{
    sweep s = once();

    sweep_opening(&s);
    sweep_opening(&for_good);
}
