/* histogram.h - durations counted in buckets, for metrics.
 *
 * Zeroed storage is an empty histogram. Adding takes no lock, cannot fail and costs two relaxed
 * atomic additions, so any thread may do it on a hot path. The buckets are those of every histogram
 * of loci: one set of bounds keeps dashboards and alerts simple.
 */
#ifndef LC_BASE_HISTOGRAM_H
#define LC_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define LC_HISTOGRAM_BUCKETS 15

/* Upper bounds in µs, inclusive: from an in-memory call to the longest useful deadline. */
extern const int64_t lc_histogram_ends_us[LC_HISTOGRAM_BUCKETS];

typedef struct lc_histogram {
    _Atomic int64_t counts[LC_HISTOGRAM_BUCKETS + 1]; /* Not cumulative; the last: all above. */
    _Atomic int64_t sum_us;
} lc_histogram;

/* A duration below 0 is counted as 0. */
void lc_histogram_add(lc_histogram *histogram, int64_t took_us);

#endif /* LC_BASE_HISTOGRAM_H */
