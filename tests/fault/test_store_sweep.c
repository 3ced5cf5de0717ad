/* test_store_sweep.c - the database fails: every call of its driver once in turn, in each of the
 * ways a driver can: locked, full, gone. */
#include "lib/faulty_store.h"
#include "sweep.h"

static void fail_locked(uint64_t nth)
{
    test_store_fail_nth(nth, LOCI_EDEADLINE);
}

static void fail_full(uint64_t nth)
{
    test_store_fail_nth(nth, LOCI_ERESOURCE);
}

static void fail_gone(uint64_t nth)
{
    test_store_fail_nth(nth, LOCI_EUNAVAILABLE);
}

static bool is_locked(loci_status status)
{
    return status == LOCI_EDEADLINE;
}

static bool is_full(loci_status status)
{
    return status == LOCI_ERESOURCE;
}

static bool is_gone(loci_status status)
{
    return status == LOCI_EUNAVAILABLE;
}

static sweep locked(void)
{
    return (sweep){.what = "store call (locked)",
                   .arm = fail_locked,
                   .disarm = test_store_disarm,
                   .is_fair = is_locked,
                   .driver = test_faulty_driver(),
                   .dense_until = 20};
}

static sweep full(void)
{
    return (sweep){.what = "store call (full)",
                   .arm = fail_full,
                   .disarm = test_store_disarm,
                   .is_fair = is_full,
                   .driver = test_faulty_driver(),
                   .dense_until = 8};
}

static sweep gone(void)
{
    return (sweep){.what = "store call (gone)",
                   .arm = fail_gone,
                   .disarm = test_store_disarm,
                   .is_fair = is_gone,
                   .driver = test_faulty_driver(),
                   .dense_until = 8};
}

TEST(store_sweep, every_operation_survives_every_failed_store_call)
{
    sweep a = locked(), b = full(), c = gone();

    sweep_operations(&a);
    sweep_operations(&b);
    sweep_operations(&c);
}

TEST(store_sweep, batches_are_all_or_nothing)
{
    sweep a = locked(), b = full(), c = gone();

    sweep_batches(&a);
    sweep_batches(&b);
    sweep_batches(&c);
}

TEST(store_sweep, opening_fails_cleanly)
{
    sweep a = locked(), b = full(), c = gone();

    sweep_opening(&a);
    sweep_opening(&b);
    sweep_opening(&c);
}
