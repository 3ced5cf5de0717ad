/* test_admission.c - the queue: order, bounds, deadlines, and places that are taken back. */
#include "guard/admission.h"

#include "lib/heap.h"
#include "lib/test.h"

static lc_heap heap;

static void init(lc_admission *a, uint32_t in_flight_max, uint32_t queue_max)
{
    loci_error err;

    lc_heap_init(&heap, test_heap());
    CHECK_OK(lc_admission_init(a, &heap, in_flight_max, queue_max, &err), err);
    a->window = a->window_small = 1;
}

static loci_ticket ask(lc_admission *a, int32_t priority, int64_t deadline_ms, int64_t now_ms)
{
    loci_admission request = LOCI_ADMISSION_INIT;

    request.priority = priority;
    request.deadline_ms = deadline_ms;
    return lc_admission_ask(a, &request, now_ms);
}

static loci_admitted look(lc_admission *a, uint64_t id, int64_t now_ms)
{
    loci_ticket ticket = {0};

    CHECK(lc_admission_look(a, id, now_ms, &ticket));
    return ticket.outcome;
}

TEST(guard_admission, priority_then_age)
{
    lc_admission a;
    loci_ticket first, low, high, high_later;

    init(&a, 1, 10);
    first = ask(&a, 0, 100, 0);
    low = ask(&a, 0, 1000, 0);
    high = ask(&a, 5, 1000, 0);
    high_later = ask(&a, 5, 1000, 0);
    CHECK_EQ(first.outcome, LOCI_ADMITTED);
    CHECK_EQ(low.outcome, LOCI_QUEUED);
    CHECK(lc_admission_done(&a, first.id));
    CHECK_EQ(look(&a, high.id, 1), LOCI_ADMITTED);
    CHECK_EQ(look(&a, high_later.id, 1), LOCI_QUEUED);
    CHECK(lc_admission_done(&a, high.id));
    CHECK(lc_admission_done(&a, high_later.id));
    CHECK_EQ(look(&a, low.id, 1), LOCI_ADMITTED);
    CHECK(lc_admission_done(&a, low.id));
    CHECK_EQ(a.in_flight, 0);
    lc_admission_clear(&a);
}

/* The first design's queue had no bound, no deadline and no way out. */
TEST(guard_admission, the_queue_is_bounded_and_expires)
{
    lc_admission a;
    loci_ticket running, waiting, second, third;

    init(&a, 1, 2);
    running = ask(&a, 0, 0, 0);
    CHECK_EQ(ask(&a, 0, 0, 0).outcome, LOCI_REJECTED); /* It does not want to wait. */
    waiting = ask(&a, 0, 500, 0);
    second = ask(&a, 0, 9000, 0);
    third = ask(&a, 0, 9000, 0);
    CHECK_EQ(third.outcome, LOCI_REJECTED);
    CHECK_LT(0, third.retry_after_ms);
    CHECK_EQ(third.id, 0);
    third = ask(&a, 1, 9000, 0); /* Higher priority takes the place of the last. */
    CHECK_EQ(third.outcome, LOCI_QUEUED);
    CHECK_EQ(look(&a, second.id, 0), LOCI_REJECTED);
    CHECK_EQ(look(&a, waiting.id, 499), LOCI_QUEUED);
    CHECK_EQ(look(&a, waiting.id, 500), LOCI_REJECTED);
    CHECK(!lc_admission_done(&a, waiting.id)); /* Gone. */
    CHECK(lc_admission_done(&a, third.id));    /* Gives up. */
    CHECK_EQ(a.queue_count, 0);
    CHECK(lc_admission_done(&a, running.id));
    CHECK(!lc_admission_done(&a, running.id));
    CHECK(!lc_admission_done(&a, 0));
    CHECK(!lc_admission_done(&a, UINT64_MAX));
    lc_admission_clear(&a);
}

/* An owner that queues and never returns must not keep a place in flight. */
TEST(guard_admission, work_that_nobody_claims_is_taken_back)
{
    lc_admission a;
    loci_ticket running, lost;

    init(&a, 1, 2);
    running = ask(&a, 0, 0, 0);
    lost = ask(&a, 0, 500, 0);
    CHECK(lc_admission_done(&a, running.id));
    CHECK_EQ(a.in_flight, 1);
    (void)lc_admission_tick(&a, LOCI_LEVEL_NORMAL, 60499);
    CHECK_EQ(a.in_flight, 1);
    (void)lc_admission_tick(&a, LOCI_LEVEL_NORMAL, 60500);
    CHECK_EQ(a.in_flight, 0);
    CHECK(!lc_admission_done(&a, lost.id));
    /* Claimed work stays as long as it takes. */
    running = ask(&a, 0, 0, 60500);
    (void)lc_admission_tick(&a, LOCI_LEVEL_NORMAL, 90000000);
    CHECK_EQ(a.in_flight, 1);
    CHECK(lc_admission_done(&a, running.id));
    lc_admission_clear(&a);
}

TEST(guard_admission, work_that_frees_memory_is_always_admitted)
{
    loci_admission frees = LOCI_ADMISSION_INIT;
    lc_admission a;

    frees.work = LOCI_WORK_FREES;
    init(&a, 1, 1);
    (void)lc_admission_tick(&a, LOCI_LEVEL_CRITICAL, 0);
    CHECK_EQ(ask(&a, 100, 1000, 0).outcome, LOCI_REJECTED);
    for (int i = 0; i < 1000; i++) /* More than there are slots. */
        CHECK_EQ(lc_admission_ask(&a, &frees, 0).outcome, LOCI_ADMITTED);
    CHECK_EQ(a.in_flight, 0);
    lc_admission_clear(&a);
}

/* A thousand callers that are refused at once must not return at once. */
TEST(guard_admission, retries_are_spread)
{
    lc_admission a;
    int64_t least = INT64_MAX, most = 0;

    init(&a, 1, 1);
    (void)lc_admission_tick(&a, LOCI_LEVEL_CRITICAL, 0);
    for (int i = 0; i < 1000; i++) {
        int64_t after = ask(&a, 0, 1000, 0).retry_after_ms;

        least = after < least ? after : least;
        most = after > most ? after : most;
    }
    CHECK_LE(1000, least);
    CHECK_LE(least + 900, most);
    CHECK_LE(most, 2000);
    lc_admission_clear(&a);
}

static loci_status init_only(void *ctx)
{
    lc_admission a;
    loci_status status;

    (void)ctx;
    lc_heap_init(&heap, test_heap());
    status = lc_admission_init(&a, &heap, 10, 10, NULL);
    if (status == LOCI_OK)
        lc_admission_clear(&a);
    return status;
}

TEST(guard_admission, starts_or_says_that_memory_is_gone)
{
    test_oom_sweep(init_only, NULL);
}
