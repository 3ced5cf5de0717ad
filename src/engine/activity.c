/* activity.c - Invariant: samples[(count - 1) % LC_ACTIVITY_SAMPLES] is the newest sample.
 *
 * Only the guard's thread adds; any thread reads.
 */
#include "engine/activity.h"

#include <pthread.h>

#include "base/error.h"

struct lc_activity {
    lc_heap *heap;
    pthread_mutex_t lock;
    bool is_begun;
    int64_t last_ms; /* When the newest sample was due. */
    uint64_t count;  /* Samples added. */
    lc_activity_sample samples[LC_ACTIVITY_SAMPLES];
};

loci_status lc_activity_new(lc_heap *heap, lc_activity **out, loci_error *err)
{
    lc_activity *activity = lc_heap_zalloc(heap, sizeof *activity, LOCI_MEM_ENGINE);

    if (activity == NULL)
        return lc_fail_memory(err);
    activity->heap = heap;
    (void)pthread_mutex_init(&activity->lock, NULL); /* Cannot fail without attributes. */
    *out = activity;
    return LOCI_OK;
}

void lc_activity_free(lc_activity *activity)
{
    if (activity == NULL)
        return;
    (void)pthread_mutex_destroy(&activity->lock);
    lc_heap_free(activity->heap, activity, sizeof *activity, LOCI_MEM_ENGINE);
}

bool lc_activity_is_due(lc_activity *activity, int64_t now_ms)
{
    bool is_due;

    (void)pthread_mutex_lock(&activity->lock);
    is_due = !activity->is_begun || now_ms - activity->last_ms >= LC_ACTIVITY_EVERY_MS;
    if (is_due) {
        activity->is_begun = true;
        activity->last_ms = now_ms;
    }
    (void)pthread_mutex_unlock(&activity->lock);
    return is_due;
}

void lc_activity_add(lc_activity *activity, const lc_activity_sample *sample)
{
    (void)pthread_mutex_lock(&activity->lock);
    activity->samples[activity->count++ % LC_ACTIVITY_SAMPLES] = *sample;
    (void)pthread_mutex_unlock(&activity->lock);
}

size_t lc_activity_read(lc_activity *activity, int64_t after_us, lc_activity_sample *out)
{
    size_t found = 0;
    uint64_t first;

    (void)pthread_mutex_lock(&activity->lock);
    first = activity->count > LC_ACTIVITY_SAMPLES ? activity->count - LC_ACTIVITY_SAMPLES : 0;
    for (uint64_t i = first; i < activity->count; i++) {
        const lc_activity_sample *sample = &activity->samples[i % LC_ACTIVITY_SAMPLES];

        if (sample->at_us > after_us)
            out[found++] = *sample;
    }
    (void)pthread_mutex_unlock(&activity->lock);
    return found;
}
