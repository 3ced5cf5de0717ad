/* test_controller.c - scripted traces and the faults of the first design, one by one; then random
 * ones against the promises: never stuck shut, never a herd, converges. */
#include "guard_fixture.h"

#include "base/str.h"
#include "lib/random.h"
#include "lib/test.h"

static loci_admitted admits(world *w, loci_work work)
{
    loci_ticket ticket = world_ask(w, work, 0, 0);

    if (ticket.id != 0)
        CHECK(lc_admission_done(&w->controller.admission, ticket.id));
    return ticket.outcome;
}

/* ---- Traces ---------------------------------------------------------------------------------- */

TEST(guard_trace, a_ramp_meets_all_levels_and_their_actions)
{
    world w;

    world_open(&w);
    CHECK_EQ(world_at(&w, 499, 200), LOCI_LEVEL_NORMAL);
    CHECK_EQ(w.purges, 0);
    CHECK_EQ(world_at(&w, 500, 200), LOCI_LEVEL_ELEVATED);
    CHECK_EQ(w.purges, 1);
    CHECK_EQ(admits(&w, LOCI_WORK_BULK), LOCI_ADMITTED);
    CHECK_EQ(w.signals[LOCI_SIGNAL_COMPACT_CONTEXTS], 0);
    CHECK_EQ(world_at(&w, 600, 200), LOCI_LEVEL_ELEVATED);
    CHECK_EQ(world_at(&w, 700, 200), LOCI_LEVEL_HIGH);
    CHECK_EQ(admits(&w, LOCI_WORK_BULK), LOCI_REJECTED);
    CHECK_EQ(admits(&w, LOCI_WORK_NORMAL), LOCI_ADMITTED);
    CHECK_EQ(w.signals[LOCI_SIGNAL_COMPACT_CONTEXTS], 1);
    CHECK_EQ(w.signals[LOCI_SIGNAL_EVICT_CACHES], 1);
    CHECK_EQ(w.signals[LOCI_SIGNAL_PAUSE_PIPELINE], 0);
    CHECK_EQ(world_at(&w, 760, 200), LOCI_LEVEL_HIGH);
    CHECK_EQ(world_at(&w, 805, 200), LOCI_LEVEL_CRITICAL); /* One tick ahead: 850. */
    CHECK_EQ(admits(&w, LOCI_WORK_NORMAL), LOCI_REJECTED);
    CHECK_EQ(admits(&w, LOCI_WORK_FREES), LOCI_ADMITTED);
    CHECK_EQ(w.signals[LOCI_SIGNAL_PAUSE_PIPELINE], 1);
    CHECK_EQ(w.signals[LOCI_SIGNAL_PRESSURE_CHANGED], 3);
    world_close(&w);
}

/* The first design went up one level per 3 s: critical after 6 s, 10 GB later. */
TEST(guard_trace, a_step_is_critical_in_the_first_tick)
{
    world w;

    world_open(&w);
    CHECK_EQ(world_at(&w, 300, 200), LOCI_LEVEL_NORMAL);
    CHECK_EQ(world_at(&w, 950, 200), LOCI_LEVEL_CRITICAL);
    CHECK_EQ(w.interval_ms, LC_MONITOR_TICK_MS_MIN);
    /* And straight down after one hold: 3 s below the exit, not one level per 3 s. */
    CHECK_EQ(world_at(&w, 100, 3000), LOCI_LEVEL_CRITICAL);
    CHECK_EQ(world_run(&w, 200), LOCI_LEVEL_NORMAL);
    world_close(&w);
}

TEST(guard_trace, a_saw_around_a_threshold_does_not_flap)
{
    world w;

    world_open(&w);
    for (int i = 0; i < 300; i++)
        (void)world_at(&w, i % 2 == 0 ? 450 : 550, 200);
    CHECK_EQ(w.signals[LOCI_SIGNAL_PRESSURE_CHANGED], 1);
    CHECK_EQ(w.controller.gate.level, LOCI_LEVEL_ELEVATED);
    world_close(&w);
}

/* Work leaks into the caches' share: they shrink as it grows, until nothing is left to give. */
TEST(guard_trace, a_leak_is_answered_by_the_caches_first)
{
    world w;

    world_open(&w);
    w.caches[2].bytes = 300 * MB;
    for (int64_t leak = 0; leak <= 500; leak += 2) {
        (void)world_at(&w, leak, 200);
        CHECK_LT(world_used(&w), 503 * MB); /* Never above the first threshold and one step. */
    }
    CHECK_EQ(w.caches[2].bytes, 0);
    CHECK_EQ(w.signals[LOCI_SIGNAL_PAUSE_PIPELINE], 0);
    CHECK_EQ(world_at(&w, 900, 200), LOCI_LEVEL_CRITICAL);
    world_close(&w);
}

TEST(guard_trace, a_spike_is_judged_one_tick_ahead)
{
    world w;

    world_open(&w);
    (void)world_at(&w, 300, 400);
    CHECK_EQ(world_at(&w, 460, 200), LOCI_LEVEL_ELEVATED); /* 620 is one tick ahead. */
    CHECK_EQ(w.interval_ms, LC_MONITOR_TICK_MS_MIN);
    CHECK_EQ(world_at(&w, 660, 200), LOCI_LEVEL_CRITICAL);
    world_close(&w);
}

TEST(guard_trace, a_limit_lowered_at_run_time_counts_at_once)
{
    world w;

    world_open(&w);
    CHECK_EQ(world_at(&w, 400, 1000), LOCI_LEVEL_NORMAL);
    w.limit_bytes = 450 * MB;
    CHECK_EQ(world_run(&w, 200), LOCI_LEVEL_CRITICAL);
    /* Raised again: believed after 10 s, and then left after a hold. */
    w.limit_bytes = LIMIT_MB * MB;
    CHECK_EQ(world_at(&w, 340, 10000), LOCI_LEVEL_CRITICAL);
    CHECK_EQ(world_run(&w, 3600), LOCI_LEVEL_NORMAL);
    world_close(&w);
}

TEST(guard_trace, a_failed_reading_leaves_the_charges)
{
    world w;

    world_open(&w);
    CHECK_EQ(world_at(&w, 300, 1000), LOCI_LEVEL_NORMAL);
    w.is_failing = true;
    CHECK_EQ(world_run(&w, 5000), LOCI_LEVEL_NORMAL);
    CHECK_STATUS(LOCI_OK,
                 lc_usage_charge(w.controller.usage, LOCI_MEM_INDEX, LOCI_WORK_NORMAL, 860 * MB));
    CHECK_EQ(world_run(&w, 200), LOCI_LEVEL_CRITICAL);
    CHECK_STATUS(LOCI_OK, lc_usage_uncharge(w.controller.usage, LOCI_MEM_INDEX, 860 * MB));
    CHECK_EQ(world_run(&w, 3200), LOCI_LEVEL_NORMAL);
    CHECK_EQ(admits(&w, LOCI_WORK_NORMAL), LOCI_ADMITTED);
    world_close(&w);
}

/* A neighbour in the cgroup takes room: the limit of the reading falls (guard/probe.h). */
TEST(guard_trace, a_neighbour_that_grows_makes_caches_shrink)
{
    world w;

    world_open(&w);
    w.caches[1].bytes = 250 * MB;
    (void)world_at(&w, 100, 1000);
    for (int64_t neighbour = 0; neighbour <= 500; neighbour += 10) {
        w.limit_bytes = (LIMIT_MB - neighbour) * MB;
        (void)world_run(&w, 200);
    }
    CHECK_EQ(w.limit_bytes, 500 * MB);
    CHECK_LT(world_used(&w), 250 * MB);
    CHECK_LE(100 * MB, world_used(&w));
    CHECK_EQ(w.signals[LOCI_SIGNAL_PAUSE_PIPELINE], 0);
    world_close(&w);
}

TEST(guard_trace, a_stalled_system_makes_caches_shrink_slowly)
{
    world w;

    world_open(&w);
    w.caches[0].bytes = 200 * MB;
    w.is_stalled = true;
    CHECK_EQ(world_run(&w, 200), LOCI_LEVEL_ELEVATED);
    (void)world_run(&w, 2800);
    CHECK_EQ(w.caches[0].bytes, 165 * MB); /* Three times 6 %, in regions of 1 MB. */
    CHECK_EQ(admits(&w, LOCI_WORK_BULK), LOCI_ADMITTED);
    w.is_stalled = false;
    CHECK_EQ(world_run(&w, 3200), LOCI_LEVEL_NORMAL);
    world_close(&w);
}

TEST(guard_trace, without_a_limit_nothing_is_judged)
{
    world w;

    world_open(&w);
    w.limit_bytes = 0;
    w.caches[0].bytes = 100 * MB;
    CHECK_EQ(world_at(&w, 100000, 5000), LOCI_LEVEL_NORMAL);
    CHECK_EQ(w.caches[0].bytes, 100 * MB);
    CHECK_STATUS(LOCI_OK,
                 lc_usage_charge(w.controller.usage, LOCI_MEM_WAL, LOCI_WORK_BULK, 1000000 * MB));
    world_close(&w);
}

/* ---- Faults of the first design -------------------------------------------------------------- */

/* There, a spike within the cooldown stopped admission and paused a pipeline outside the state
 * machine, and nothing ever started them again. */
TEST(guard_fault, a_spike_within_the_hold_does_not_shut_admission_for_ever)
{
    world w;

    world_open(&w);
    (void)world_at(&w, 900, 400);
    (void)world_at(&w, 300, 3600);
    CHECK_EQ(w.controller.gate.level, LOCI_LEVEL_NORMAL);
    (void)world_at(&w, 820, 200);
    CHECK_EQ(admits(&w, LOCI_WORK_NORMAL), LOCI_REJECTED);
    (void)world_at(&w, 300, 4000);
    CHECK_EQ(admits(&w, LOCI_WORK_NORMAL), LOCI_ADMITTED);
    (void)world_run(&w, 1000);
    CHECK_EQ(lc_suspender_count(&w.controller.suspender, LC_PIPELINE_RUNNING), PIPELINES);
    world_close(&w);
}

/* There, one touch of 51 % and 36 % from then on meant elevated and no admission for ever. */
TEST(guard_fault, elevated_admits_and_caches_give_way)
{
    world w;

    world_open(&w);
    w.caches[2].bytes = 400 * MB;
    (void)world_at(&w, 110, 200);
    (void)world_at(&w, 20, 200);
    for (int i = 0; i < 1000; i++) {
        (void)world_run(&w, 200);
        CHECK_EQ(admits(&w, LOCI_WORK_NORMAL), LOCI_ADMITTED);
    }
    CHECK_EQ(w.controller.gate.level, LOCI_LEVEL_NORMAL);
    CHECK_LT(world_used(&w), 350 * MB);
    /* The same without a cache that could give way: capped, but open. */
    w.caches[2].bytes = 0;
    for (int64_t mb = 340; mb <= 510; mb += 10)
        (void)world_at(&w, mb, 200);
    CHECK_EQ(w.controller.gate.level, LOCI_LEVEL_ELEVATED);
    for (int i = 0; i < 1000; i++) {
        (void)world_at(&w, 360, 200);
        CHECK_EQ(admits(&w, LOCI_WORK_NORMAL), LOCI_ADMITTED);
    }
    world_close(&w);
}

/* There, 100 samples at 95 % evicted twice and paused one pipeline of three. */
TEST(guard_fault, critical_goes_on_until_the_need_is_met)
{
    world w;

    world_open(&w);
    for (int i = 0; i < PIPELINES; i++)
        w.pipelines[i].bytes = 80 * MB;
    w.caches[0].bytes = 100 * MB;
    (void)world_at(&w, 530, 20000); /* 950 in all; at critical the target is below 700. */
    CHECK_EQ(w.caches[0].bytes, 0);
    CHECK_EQ(w.pipelines[0].paused, 1); /* Lowest first, each once. */
    CHECK_EQ(w.pipelines[1].paused, 1);
    CHECK_EQ(w.pipelines[2].paused, 0);
    CHECK_EQ(w.pipelines[3].paused, 0);
    CHECK_LT(world_used(&w), 700 * MB);
    world_close(&w);
}

/* There, a fall from critical to normal ran the actions of the levels between: an eviction and a
 * round of model calls when nothing was wrong. */
TEST(guard_fault, falling_evicts_and_compacts_nothing)
{
    world w;
    uint64_t asked;

    world_open(&w);
    (void)world_at(&w, 900, 1000);
    CHECK_EQ(w.signals[LOCI_SIGNAL_COMPACT_CONTEXTS], 1);
    w.base_bytes = 40 * MB;
    w.caches[1].bytes = 60 * MB;
    asked = w.caches[1].asked;
    w.now_ms += 120000; /* Long enough for another round. */
    CHECK_EQ(world_run(&w, 10000), LOCI_LEVEL_NORMAL);
    CHECK_EQ(w.caches[1].asked, asked);
    CHECK_EQ(w.signals[LOCI_SIGNAL_COMPACT_CONTEXTS], 1);
    world_close(&w);
}

TEST(guard_fault, compaction_is_asked_for_once_a_minute)
{
    world w;

    world_open(&w);
    (void)world_at(&w, 750, 59800);
    CHECK_EQ(w.signals[LOCI_SIGNAL_COMPACT_CONTEXTS], 1);
    (void)world_run(&w, 600);
    CHECK_EQ(w.signals[LOCI_SIGNAL_COMPACT_CONTEXTS], 2);
    world_close(&w);
}

/* There, leaving pressure started the whole queue and all pipelines at once: 100,000 in 0.3 ms. */
TEST(guard_fault, recovery_is_a_ramp)
{
    world w;
    uint32_t before = 0;
    uint64_t tickets[1000];

    world_open(&w);
    (void)world_at(&w, 600, 200);
    for (int i = 0; i < 1000; i++) {
        loci_ticket ticket = world_ask(&w, LOCI_WORK_NORMAL, 0, 100000);

        CHECK_EQ(ticket.outcome, i < 4 ? LOCI_ADMITTED : LOCI_QUEUED);
        tickets[i] = ticket.id;
    }
    for (int i = 0; i < 4; i++)
        w.pipelines[i].bytes = 1;
    (void)world_at(&w, 950, 2000);
    CHECK_EQ(lc_suspender_count(&w.controller.suspender, LC_PIPELINE_PAUSED), PIPELINES);
    for (int i = 0; i < 4; i++)
        CHECK(lc_admission_done(&w.controller.admission, tickets[i]));
    CHECK_EQ(w.controller.admission.in_flight, 0); /* Critical: the queue waits. */
    w.base_bytes = 100 * MB;
    for (int i = 0; i < 100; i++) {
        unsigned resumed = 0, resumed_before = 0;

        for (int k = 0; k < PIPELINES; k++)
            resumed_before += w.pipelines[k].resumed;
        (void)world_run(&w, 200);
        for (int k = 0; k < PIPELINES; k++)
            resumed += w.pipelines[k].resumed;
        CHECK_LE(resumed, resumed_before + 1);
        CHECK_LE(w.controller.admission.in_flight, before == 0 ? 1 : 2 * before);
        before = w.controller.admission.in_flight;
    }
    CHECK_EQ(before, 64); /* The limit, not the queue. */
    CHECK_EQ(w.pipelines[3].resumed, 1);
    world_close(&w);
}

/* There, 25 % of three entries was rounded to 0, and 0 bytes were freed. */
TEST(guard_fault, eviction_is_by_bytes)
{
    world w;

    world_open(&w);
    w.caches[0].bytes = 600 * MB;
    w.caches[0].regions_bytes = 200 * MB;
    CHECK_EQ(world_run(&w, 200), LOCI_LEVEL_ELEVATED);
    CHECK_EQ(w.caches[0].bytes, 200 * MB);
    world_close(&w);
}

/* Evicted bytes that are not visible yet must not be evicted again, tick after tick. */
TEST(guard_fault, one_need_is_evicted_once)
{
    world w;

    world_open(&w);
    w.caches[2].bytes = 400 * MB;
    w.base_bytes = 120 * MB;
    (void)world_tick(&w);
    CHECK_EQ(w.caches[2].bytes, 229 * MB); /* 520 - 350, and below. */
    for (int i = 0; i < 50; i++) {
        w.base_bytes = 520 * MB - w.caches[2].bytes; /* Nothing has fallen yet. */
        w.now_ms += 10;
        (void)world_tick(&w);
    }
    CHECK_EQ(w.caches[2].bytes, 229 * MB);
    w.now_ms += 1000; /* Now it is known that nothing was gained. */
    (void)world_tick(&w);
    CHECK_LT(w.caches[2].bytes, 229 * MB);
    world_close(&w);
}

/* But a cache that refills as fast as it evicts is evicted from in every tick: a discount by the
 * fall of usage would wait a second for a fall that the refill hides. */
TEST(guard_fault, a_storm_is_answered_in_every_tick)
{
    world w;

    world_open(&w);
    for (int i = 0; i < 100; i++) {
        w.caches[2].bytes = 520 * MB;
        w.now_ms += 10;
        (void)world_tick(&w);
        CHECK_LT(w.caches[2].bytes, 350 * MB);
    }
    world_close(&w);
}

/* A cache that says that it freed memory and did not must not satisfy the need. */
TEST(guard_fault, only_freed_bytes_are_believed)
{
    world w;

    world_open(&w);
    w.caches[2].bytes = 300 * MB;
    w.caches[2].is_stuck = true;
    w.pipelines[0].bytes = 250 * MB;
    (void)world_at(&w, 400, 1000);
    CHECK_LT(0, w.caches[2].asked);
    CHECK_EQ(w.pipelines[0].paused, 1);
    world_close(&w);
}

/* A pipeline that does not acknowledge is cancelled after 5 s, and no thread waits for it. */
TEST(guard_fault, a_silent_pipeline_is_cancelled)
{
    world w;
    loci_error err;

    world_open(&w);
    w.pipelines[0].is_silent = true;
    w.pipelines[0].bytes = w.pipelines[1].bytes = 100 * MB;
    (void)world_at(&w, 700, 200);
    CHECK_EQ(w.pipelines[0].paused, 1);
    CHECK_EQ(lc_suspender_count(&w.controller.suspender, LC_PIPELINE_PAUSED), 0);
    (void)world_run(&w, 4800);
    CHECK_EQ(w.pipelines[0].cancelled, 0);
    CHECK_EQ(w.pipelines[1].paused, 0); /* One at a time. */
    (void)world_run(&w, 200);
    CHECK_EQ(w.pipelines[0].cancelled, 1);
    CHECK_EQ(w.signals[LOCI_SIGNAL_CANCEL_PIPELINE], 1);
    CHECK_STATUS(LOCI_ECONFLICT,
                 lc_suspender_ack(&w.controller.suspender, LC_STR("p0"), w.now_ms, &err));
    CHECK_CONTAINS(err.message, "cancelled");
    (void)world_run(&w, 1000);
    CHECK_EQ(w.pipelines[1].paused, 1);
    world_close(&w);
}

/* A process whose ordinary usage is above the exit of elevated must not keep its work paused. */
TEST(guard_fault, paused_work_resumes_at_elevated)
{
    world w;

    world_open(&w);
    (void)world_at(&w, 900, 3000);
    CHECK_EQ(lc_suspender_count(&w.controller.suspender, LC_PIPELINE_PAUSED), PIPELINES);
    (void)world_at(&w, 400, 3200);
    CHECK_EQ(w.controller.gate.level, LOCI_LEVEL_ELEVATED);
    (void)world_run(&w, 12000);
    CHECK_EQ(lc_suspender_count(&w.controller.suspender, LC_PIPELINE_PAUSED), 0);
    world_close(&w);
}

/* ---- Random ---------------------------------------------------------------------------------- */

/* Ordinary weather: stays, drifts, jumps, lowered limits, failed readings, growing caches, work
 * that comes and goes, clocks that stand still. */
static void shake(world *w, test_rng *rng)
{
    switch (test_rng_below(rng, 10)) {
    case 0:
        w->base_bytes = test_rng_between(rng, 0, 1100) * MB;
        break;
    case 1:
        w->limit_bytes = test_rng_chance(rng, 30) ? test_rng_between(rng, 1, 2000) * MB
                                                  : LIMIT_MB * MB;
        break;
    case 2:
        w->caches[test_rng_below(rng, CACHES)].bytes = test_rng_between(rng, 0, 300) * MB;
        break;
    case 3:
        w->is_failing = test_rng_chance(rng, 20);
        break;
    case 4:
        w->caches[test_rng_below(rng, CACHES)].is_stuck = test_rng_chance(rng, 20);
        break;
    case 5:
        w->pipelines[test_rng_below(rng, PIPELINES)].bytes = test_rng_between(rng, 0, 200) * MB;
        break;
    default:
        w->base_bytes += test_rng_between(rng, -20, 20) * MB;
        break;
    }
    if (w->base_bytes < 0)
        w->base_bytes = 0;
    w->now_ms += test_rng_chance(rng, 90) ? w->interval_ms : test_rng_between(rng, 0, 4000);
    w->clock_us += test_rng_between(rng, 0, 300);
}

typedef struct offered {
    uint64_t tickets[64];
    size_t count;
} offered;

static void offer(world *w, test_rng *rng, offered *work)
{
    lc_admission *a = &w->controller.admission;
    loci_ticket ticket;

    if (work->count > 0 && test_rng_chance(rng, 50)) {
        size_t at = (size_t)test_rng_below(rng, work->count);

        if (lc_admission_look(a, work->tickets[at], w->now_ms, &ticket) &&
            ticket.outcome == LOCI_QUEUED)
            return;
        (void)lc_admission_done(a, work->tickets[at]); /* It may have expired. */
        work->tickets[at] = work->tickets[--work->count];
    } else if (work->count < 64) {
        ticket = world_ask(w, (loci_work)test_rng_below(rng, LC_WORK_KINDS),
                           (int32_t)test_rng_below(rng, 4), test_rng_between(rng, 0, 3000));
        if (ticket.outcome == LOCI_REJECTED)
            CHECK_LT(0, ticket.retry_after_ms);
        else
            work->tickets[work->count++] = ticket.id;
    }
}

static void check_promises(const world *w, uint32_t window_before, unsigned pausing_max)
{
    const lc_admission *a = &w->controller.admission;

    CHECK_LE(a->window, window_before == 0 ? 1 : 2 * window_before < 4 ? 4 : 2 * window_before);
    CHECK_LE(a->window, a->window_max);
    CHECK(a->window > 0 || a->level == LOCI_LEVEL_CRITICAL);
    if (a->level != LOCI_LEVEL_NORMAL)
        CHECK_LE(a->window, a->window_small);
    CHECK(a->queue_count == 0 || a->in_flight >= a->window);
    CHECK_LE(lc_suspender_count(&w->controller.suspender, LC_PIPELINE_PAUSING), pausing_max);
    CHECK_LE(LC_MONITOR_TICK_MS_MIN, w->interval_ms);
    CHECK_LE(w->interval_ms, LC_MONITOR_TICK_MS_MAX);
}

/* After the weather: quiet at `mb`. Within the hold of the limit and the ladder, and some ticks,
 * the level, admission and all pipelines are back. */
static void calm_down(world *w, int64_t mb)
{
    w->limit_bytes = LIMIT_MB * MB;
    w->is_failing = false;
    w->base_bytes = mb * MB;
    for (int i = 0; i < CACHES; i++)
        w->caches[i] = (fake_cache){.regions_bytes = MB};
    for (int i = 0; i < PIPELINES; i++)
        w->pipelines[i].bytes = 0;
    (void)world_run(w, 2 * LC_MONITOR_LIMIT_RISE_MS + 3000 + 4000);
    CHECK_EQ(w->controller.gate.level, LOCI_LEVEL_NORMAL);
    CHECK_EQ(w->controller.admission.window, w->controller.admission.window_max);
    CHECK_EQ(lc_suspender_count(&w->controller.suspender, LC_PIPELINE_RUNNING), PIPELINES);
    CHECK_EQ(admits(w, LOCI_WORK_NORMAL), LOCI_ADMITTED);
}

TEST(guard_random, a_million_ticks_keep_the_promises)
{
    uint64_t rounds = test_count(200, 2000);
    test_rng rng = test_random(19);
    world w;

    test_timeout(300);
    for (uint64_t round = 0; round < rounds; round++) {
        offered work = {.count = 0};

        world_open(&w);
        w.interval_ms = 200;
        for (int i = 0; i < 500; i++) {
            uint32_t window = w.controller.admission.window;

            shake(&w, &rng);
            (void)world_tick(&w);
            check_promises(&w, window, 1);
            offer(&w, &rng, &work);
        }
        while (work.count > 0)
            (void)lc_admission_done(&w.controller.admission, work.tickets[--work.count]);
        calm_down(&w, test_rng_between(&rng, 0, 340));
        world_close(&w);
    }
}
