/* test_alloc_sweep.c - memory runs out: every allocation of ours fails once in turn, then for good.
 */
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

static const sweep once = {
    .what = "allocation", .arm = fail_once, .disarm = test_heap_disarm, .is_fair = is_fair};
static const sweep for_good = {.what = "allocations from",
                               .arm = fail_from,
                               .disarm = test_heap_disarm,
                               .is_fair = is_fair,
                               .dense_until = 12};

TEST(alloc_sweep, every_operation_survives_every_failed_allocation)
{
    sweep_operations(&once);
}

TEST(alloc_sweep, every_operation_survives_without_memory)
{
    sweep_operations(&for_good);
}

TEST(alloc_sweep, batches_are_all_or_nothing)
{
    sweep_batches(&once);
    sweep_batches(&for_good);
}

TEST(alloc_sweep, opening_fails_cleanly)
{
    sweep_opening(&once);
    sweep_opening(&for_good);
}
