/* histogram.c - Count and sum are not read as one: a reader that wants a consistent count adds up
 * the buckets it has read. */
#include "base/histogram.h"

#include <stddef.h>

const int64_t lc_histogram_ends_us[LC_HISTOGRAM_BUCKETS] = {
    250,    500,    1000,   2500,    5000,    10000,   25000,   50000,
    100000, 250000, 500000, 1000000, 2500000, 5000000, 10000000};

void lc_histogram_add(lc_histogram *histogram, int64_t took_us)
{
    size_t bucket = 0;

    if (took_us < 0)
        took_us = 0;
    while (bucket < LC_HISTOGRAM_BUCKETS && took_us > lc_histogram_ends_us[bucket])
        bucket++;
    atomic_fetch_add_explicit(&histogram->counts[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->sum_us, took_us, memory_order_relaxed);
}
