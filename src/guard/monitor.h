/* monitor.h - layer 2 of the guard: from readings to samples.
 *
 * A sample says how much is used of which limit, what the next tick may bring, and when to look
 * again. The monitor is a plain value without a clock, a lock or files: readings come from
 * guard/probe.h, from the host, or from a test, so any course of events can be played.
 *
 *     used   the larger of charged bytes and the bytes the process was measured to use; only the
 *            charged ones when the reading failed
 *     limit  the smaller of the setting and the limit of the reading; falls at once, rises when the
 *            higher limit has lasted 10 s
 *     spike  usage projected one tick ahead reaches critical, or usage rose by 15 % of the limit in
 *            one tick; such a tick is judged at the projection, and the next follows after 10 ms
 */
#ifndef LC_GUARD_MONITOR_H
#define LC_GUARD_MONITOR_H

#include "pressure/ladder.h"

#define LC_MONITOR_SAMPLES 30
#define LC_MONITOR_TICK_MS_MIN 10
#define LC_MONITOR_TICK_MS_MAX 200
#define LC_MONITOR_SPIKE 150           /* Per mille of the limit in one tick. */
#define LC_MONITOR_LIMIT_RISE_MS 10000 /* A higher limit must last so long. */

/* One measurement from outside. */
typedef struct lc_reading {
    int64_t used_bytes;     /* Anonymous memory, shared memory and swap of the process. */
    int64_t limit_bytes;    /* 0 = none found. */
    const char *limit_from; /* Which limit it is, a constant; NULL = not known. */
    bool is_stalled;        /* The system reports that tasks wait for memory. */
} lc_reading;

typedef struct lc_sample {
    int64_t at_ms;
    int64_t used_bytes;
    int64_t judged_bytes;    /* The projection in a spike, else `used_bytes`. */
    int64_t limit_bytes;     /* 0 = not known: nothing is judged. */
    int64_t untracked_bytes; /* Measured, but not charged. */
    bool is_spike;
    bool is_measured; /* The reading succeeded. */
    bool is_stalled;
} lc_sample;

/* `{.setting_bytes = n}` is a monitor without samples; 0 = no setting. */
typedef struct lc_monitor {
    int64_t setting_bytes;
    int64_t limit_bytes;
    const char *limit_from;
    int64_t higher_since_ms; /* A higher limit was seen first, */
    int64_t higher_bytes;    /* and the lowest since; 0 = none. */
    uint64_t failed_count;   /* Readings that failed. */
    uint64_t count;          /* Samples taken. */
    lc_sample samples[LC_MONITOR_SAMPLES];
} lc_monitor;

/* Takes a sample. `reading` is NULL when it failed. */
lc_sample lc_monitor_take(lc_monitor *monitor, const lc_reading *reading, int64_t charged_bytes,
                          const lc_ladder_rules *rules, int64_t now_ms);
/* Milliseconds until the next sample: the time in which 2 GB/s would use a quarter of the room. */
int64_t lc_monitor_interval_ms(const lc_sample *sample);
/* The course of used bytes per second, by least squares over the samples of the last ring; 0 with
 * fewer than three. For display. */
int64_t lc_monitor_trend(const lc_monitor *monitor);

#endif /* LC_GUARD_MONITOR_H */
