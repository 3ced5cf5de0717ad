/* monitor.c - Invariant: samples[(count - 1) % 30] is the newest sample.
 *
 * A spike is measured in thousandths of the limit, not of the sample before: a program that goes
 * from 10 to 12 MB of 1 GB has not spiked. After a failed reading the last limit remains, and the
 * fall of usage to the charged bytes is no evidence for anything but itself: the ladder's hold
 * keeps the level for 3 s, then the charged bytes alone decide. A stale measurement would keep the
 * guard at its level for ever.
 */
#include "guard/monitor.h"

#include <stddef.h>

#define FILL_BYTES_PER_MS (2000000) /* The fastest allocating thread measured: 2 GB/s. */

static const lc_sample *newest(const lc_monitor *monitor)
{
    return monitor->count == 0 ? NULL
                               : &monitor->samples[(monitor->count - 1) % LC_MONITOR_SAMPLES];
}

static void set_limit(lc_monitor *monitor, const lc_reading *reading, int64_t now_ms)
{
    int64_t limit = reading->limit_bytes > 0 ? reading->limit_bytes : 0;
    const char *from = reading->limit_from;

    if (monitor->setting_bytes > 0 && (limit == 0 || monitor->setting_bytes <= limit)) {
        limit = monitor->setting_bytes;
        from = "setting";
    }
    if (limit == 0 && monitor->limit_bytes > 0)
        return; /* The file of the limit cannot be read any more: the last one remains. */
    if (monitor->limit_bytes == 0 || limit <= monitor->limit_bytes) {
        monitor->limit_bytes = limit;
        monitor->limit_from = from;
        monitor->higher_bytes = 0;
        return;
    }
    if (monitor->higher_bytes == 0 || now_ms < monitor->higher_since_ms) {
        monitor->higher_bytes = limit;
        monitor->higher_since_ms = now_ms;
    } else if (limit < monitor->higher_bytes)
        monitor->higher_bytes = limit;
    if (now_ms - monitor->higher_since_ms >= LC_MONITOR_LIMIT_RISE_MS) {
        monitor->limit_bytes = monitor->higher_bytes;
        monitor->limit_from = from;
        monitor->higher_bytes = 0;
    }
}

lc_sample lc_monitor_take(lc_monitor *monitor, const lc_reading *reading, int64_t charged_bytes,
                          const lc_ladder_rules *rules, int64_t now_ms)
{
    const lc_sample *before = newest(monitor);
    lc_sample sample = {.at_ms = now_ms, .used_bytes = charged_bytes};
    int64_t rise, projected;

    if (reading != NULL) {
        set_limit(monitor, reading, now_ms);
        sample.is_measured = true;
        sample.is_stalled = reading->is_stalled;
        if (reading->used_bytes > charged_bytes) {
            sample.used_bytes = reading->used_bytes;
            sample.untracked_bytes = reading->used_bytes - charged_bytes;
        }
    } else {
        monitor->failed_count++;
        if (monitor->limit_bytes == 0)
            monitor->limit_bytes = monitor->setting_bytes;
    }
    sample.limit_bytes = monitor->limit_bytes;
    sample.judged_bytes = sample.used_bytes;
    /* The step from charged bytes back to measured ones is no growth. */
    rise = before != NULL && before->is_measured == sample.is_measured
               ? sample.used_bytes - before->used_bytes
               : 0;
    if (rise > 0 && sample.limit_bytes > 0) {
        projected = sample.used_bytes + rise;
        if (lc_ladder_usage((uint64_t)projected, (uint64_t)sample.limit_bytes) >=
                rules->enter[LC_LADDER_STEPS - 1] ||
            lc_ladder_usage((uint64_t)rise, (uint64_t)sample.limit_bytes) >= LC_MONITOR_SPIKE) {
            sample.is_spike = true;
            sample.judged_bytes = projected;
        }
    }
    monitor->samples[monitor->count++ % LC_MONITOR_SAMPLES] = sample;
    return sample;
}

int64_t lc_monitor_interval_ms(const lc_sample *sample)
{
    int64_t room = sample->limit_bytes - sample->used_bytes, ms;

    if (sample->limit_bytes == 0)
        return LC_MONITOR_TICK_MS_MAX;
    if (sample->is_spike || room < 0)
        return LC_MONITOR_TICK_MS_MIN;
    ms = room / 4 / FILL_BYTES_PER_MS;
    if (ms < LC_MONITOR_TICK_MS_MIN)
        return LC_MONITOR_TICK_MS_MIN;
    return ms < LC_MONITOR_TICK_MS_MAX ? ms : LC_MONITOR_TICK_MS_MAX;
}

int64_t lc_monitor_trend(const lc_monitor *monitor)
{
    uint64_t count = monitor->count < LC_MONITOR_SAMPLES ? monitor->count : LC_MONITOR_SAMPLES;
    const lc_sample *last = newest(monitor);
    double time_mean = 0, used_mean = 0, product = 0, square = 0;

    if (count < 3)
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        time_mean += (double)(monitor->samples[i].at_ms - last->at_ms) / (double)count;
        used_mean += (double)monitor->samples[i].used_bytes / (double)count;
    }
    for (uint64_t i = 0; i < count; i++) {
        double t = (double)(monitor->samples[i].at_ms - last->at_ms) - time_mean;

        product += t * ((double)monitor->samples[i].used_bytes - used_mean);
        square += t * t;
    }
    if (square <= 0)
        return 0;
    product = product / square * 1000;
    return product > -9e18 && product < 9e18 ? (int64_t)product : 0;
}
