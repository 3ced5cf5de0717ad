/* guard.c - what the guard costs: a charge with its uncharge beside one atomic add, alone and with
 * 8 threads; one tick; and the CPU time of an idle guard.
 *
 * Charges are of 1 KB, as a request would make them, through loci.h. The atomic is one counter that
 * all threads add to and subtract from: the least that any exact common account costs, without a
 * limit. Both take turns, round by round; figures are medians of CPU time per pair, because other
 * programs on the machine lengthen wall time. The tick includes
 * the readings of this machine with 8 caches and 64 pipelines, and is stated as a share of a core
 * at the usual interval of 200 ms and at the shortest of 10 ms.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/rounds.h"
#include "loci.h"

#define THREADS_MAX 8

static loci_guard *guard;
static _Alignas(64) _Atomic int64_t counter;
static long pairs;

static void *charge(void *ctx)
{
    (void)ctx;
    for (long i = 0; i < pairs; i++) {
        if (loci_guard_charge(guard, LOCI_MEM_REQUESTS, LOCI_WORK_NORMAL, 1024) != LOCI_OK ||
            loci_guard_uncharge(guard, LOCI_MEM_REQUESTS, 1024) != LOCI_OK)
            bench_die("a charge was refused");
    }
    return NULL;
}

static void *add(void *ctx)
{
    (void)ctx;
    for (long i = 0; i < pairs; i++) {
        atomic_fetch_add_explicit(&counter, 1024, memory_order_relaxed);
        atomic_fetch_sub_explicit(&counter, 1024, memory_order_relaxed);
    }
    return NULL;
}

/* Nanoseconds of CPU time per pair. */
static double run(void *(*body)(void *), int threads)
{
    pthread_t ids[THREADS_MAX];
    double begin = bench_cpu_us();

    for (int i = 0; i < threads; i++) {
        if (pthread_create(&ids[i], NULL, body, NULL) != 0)
            bench_die("no thread");
    }
    for (int i = 0; i < threads; i++)
        (void)pthread_join(ids[i], NULL);
    return (bench_cpu_us() - begin) * 1e3 / (double)pairs / threads;
}

static void measure_charges(int threads, int rounds)
{
    double ours[BENCH_ROUNDS_MAX], atomic[BENCH_ROUNDS_MAX], ours_ns, atomic_ns;

    for (int i = 0; i < rounds; i++) {
        ours[i] = run(charge, threads);
        atomic[i] = run(add, threads);
    }
    ours_ns = bench_permille(ours, rounds, 500);
    atomic_ns = bench_permille(atomic, rounds, 500);
    printf("{\"bench\":\"guard\",\"case\":\"charge/%d\",\"loci_ns\":%.2f,\"atomic_ns\":%.2f,"
           "\"ratio\":%.2f}\n",
           threads, ours_ns, atomic_ns, ours_ns / atomic_ns);
}

static int64_t no_bytes(void *ctx)
{
    (void)ctx;
    return 0;
}

static int64_t no_evict(void *ctx, int64_t bytes, int64_t budget_us)
{
    (void)ctx;
    (void)bytes;
    (void)budget_us;
    return 0;
}

static void add_members(void)
{
    loci_cache cache = LOCI_CACHE_INIT;
    loci_pipeline pipeline = LOCI_PIPELINE_INIT;
    char name[32];

    cache.name = pipeline.name = name;
    cache.bytes = pipeline.bytes = no_bytes;
    cache.evict = no_evict;
    for (int i = 0; i < 72; i++) {
        (void)snprintf(name, sizeof name, "member%d", i);
        if ((i < 8 ? loci_guard_add_cache(guard, &cache, NULL)
                   : loci_guard_add_pipeline(guard, &pipeline, NULL)) != LOCI_OK)
            bench_die("not registered");
    }
}

static void measure_tick(long count)
{
    double begin, us;

    begin = bench_cpu_us();
    for (long i = 0; i < count; i++)
        (void)loci_guard_tick(guard);
    us = (bench_cpu_us() - begin) / (double)count;
    printf("{\"bench\":\"guard\",\"case\":\"tick\",\"us\":%.2f,\"cpu_percent_200ms\":%.4f,"
           "\"cpu_percent_10ms\":%.3f}\n",
           us, us / 200e3 * 100, us / 10e3 * 100);
}

/* The thread with everything around a tick: timers, context switches, readings once a second. */
static void measure_idle(double wall_s)
{
    double cpu = bench_cpu_us();
    const struct timespec span = {.tv_sec = (time_t)wall_s};

    (void)nanosleep(&span, NULL);
    cpu = bench_cpu_us() - cpu;
    printf("{\"bench\":\"guard\",\"case\":\"idle\",\"cpu_percent\":%.4f}\n",
           cpu / 1e6 / wall_s * 100);
}

static void open_guard(uint32_t flags)
{
    loci_guard_options options = LOCI_GUARD_OPTIONS_INIT;
    loci_error err;

    options.flags = flags;
    if (loci_guard_open(&options, &guard, &err) != LOCI_OK)
        bench_die(err.message);
    add_members();
}

int main(void)
{
    int small = getenv("BENCH_SMALL") != NULL, rounds = bench_rounds(9);

    pairs = small ? 100000 : 5000000;
    open_guard(LOCI_GUARD_INLINE);
    measure_charges(1, rounds);
    pairs /= THREADS_MAX;
    measure_charges(THREADS_MAX, rounds);
    measure_tick(small ? 100 : 20000);
    loci_guard_close(guard);
    open_guard(0);
    measure_idle(small ? 1 : 10);
    loci_guard_close(guard);
    return 0;
}
