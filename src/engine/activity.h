/* activity.h - samples of the work of an engine in the last hour, for curves that begin before
 * their reader asks: a ring.
 *
 * The guard's tick offers a sample five times per second; one every 5 s is taken, and replaces the
 * oldest one when the ring is full. Counters are those since open, so the difference of two samples
 * is what happened between them. An inline engine, and one whose guard is off, has no samples.
 */
#ifndef LC_ENGINE_ACTIVITY_H
#define LC_ENGINE_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "loci.h"

#define LC_ACTIVITY_EVERY_MS 5000
#define LC_ACTIVITY_SAMPLES 720 /* One hour. */

typedef struct lc_activity_sample {
    int64_t at_us;      /* Since the Unix epoch. */
    int64_t used_bytes; /* Memory of the process, as the guard measured it. */
    int64_t reads, recalls, writes;
} lc_activity_sample;

typedef struct lc_activity lc_activity;

loci_status lc_activity_new(lc_heap *heap, lc_activity **out, loci_error *err);
void lc_activity_free(lc_activity *activity); /* NULL is fine. */
/* Whether the next sample is due at `now_ms`, a monotonic time; if so, that time is noted. */
bool lc_activity_is_due(lc_activity *activity, int64_t now_ms);
void lc_activity_add(lc_activity *activity, const lc_activity_sample *sample);
/* Copies the samples after `after_us`, the oldest first, into `out`, which has room for
 * LC_ACTIVITY_SAMPLES; returns their number. */
size_t lc_activity_read(lc_activity *activity, int64_t after_us, lc_activity_sample *out);

#endif /* LC_ENGINE_ACTIVITY_H */
