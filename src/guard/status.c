/* status.c - the state of a guard as JSON, for loci_guard_status() and the operation guard.status.
 *
 * The values are copied inside the gate into a buffer of the text itself, so the status is of one
 * moment. It is written without the guard's allocator: its reader frees it without the guard.
 */
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "guard/host.h"

#define LARGEST 10

static void put_usage(lc_json_writer *w, lc_controller *c)
{
    const lc_sample *sample = &c->sample;

    lc_jw_member_text(w, "level", c->rules.names[c->gate.level]);
    lc_jw_member_int(w, "used_bytes", sample->used_bytes);
    if (sample->limit_bytes > 0) {
        lc_jw_member_int(w, "limit_bytes", sample->limit_bytes);
        lc_jw_member_text(w, "limit_from", c->monitor.limit_from);
        lc_jw_member_real(w, "usage", (double)sample->used_bytes / (double)sample->limit_bytes);
    } else {
        lc_jw_member_null(w, "limit_bytes");
        lc_jw_member_null(w, "limit_from");
        lc_jw_member_null(w, "usage");
    }
    lc_jw_member_int(w, "need_bytes", c->need_bytes);
    lc_jw_member_int(w, "tracked_bytes", c->tracked_bytes);
    lc_jw_member_int(w, "untracked_bytes", sample->untracked_bytes);
    lc_jw_member_int(w, "trend_bytes_per_s", lc_monitor_trend(&c->monitor));
    lc_jw_member_bool(w, "measured", sample->is_measured);
    lc_jw_member_bool(w, "spike", sample->is_spike);
    lc_jw_member_bool(w, "stalled", sample->is_stalled);
    lc_jw_member_int(w, "ticks", (int64_t)c->monitor.count);
    lc_jw_member_int(w, "failed_readings", (int64_t)c->monitor.failed_count);
    lc_jw_member_int(w, "refused_charges", (int64_t)lc_usage_refused(c->usage));
}

/* Used bytes of the last samples, the oldest first. */
static void put_history(lc_json_writer *w, const lc_monitor *monitor)
{
    uint64_t first = monitor->count > LC_MONITOR_SAMPLES ? monitor->count - LC_MONITOR_SAMPLES : 0;

    lc_jw_name(w, "history_bytes");
    lc_jw_array(w);
    for (uint64_t i = first; i < monitor->count; i++)
        lc_jw_int(w, monitor->samples[i % LC_MONITOR_SAMPLES].used_bytes);
    lc_jw_end(w);
}

static void put_components(lc_json_writer *w, lc_controller *c)
{
    int64_t sums[LOCI_MEM_CATEGORIES];
    lc_usage_row rows[LARGEST];
    size_t count = lc_usage_largest(c->usage, LOCI_MEM_CATEGORIES, rows, LARGEST);

    lc_usage_by_category(c->usage, sums);
    sums[LOCI_MEM_CACHES] += c->evictor.counted_bytes;
    sums[LOCI_MEM_PIPELINES] += c->suspender.counted_bytes;
    lc_jw_name(w, "categories");
    lc_jw_object(w);
    for (int i = 0; i < LOCI_MEM_CATEGORIES; i++)
        lc_jw_member_int(w, lc_category_name((loci_category)i), sums[i]);
    lc_jw_end(w);
    lc_jw_name(w, "largest");
    lc_jw_array(w);
    for (size_t i = 0; i < count; i++) {
        lc_jw_object(w);
        lc_jw_member_text(w, "name", rows[i].name);
        lc_jw_member_text(w, "category", lc_category_name(rows[i].category));
        lc_jw_member_int(w, "bytes", rows[i].bytes);
        lc_jw_end(w);
    }
    lc_jw_end(w);
}

static void put_members(lc_json_writer *w, const lc_controller *c)
{
    lc_jw_name(w, "caches");
    lc_jw_array(w);
    for (size_t i = 0; i < c->evictor.count; i++) {
        const lc_cache *cache = c->evictor.caches[i];

        lc_jw_object(w);
        lc_jw_member_text(w, "name", cache->name);
        lc_jw_member_int(w, "bytes", cache->bytes);
        lc_jw_member_int(w, "min_bytes", cache->host.min_bytes);
        lc_jw_member_int(w, "freed_bytes", cache->freed_bytes);
        lc_jw_member_int(w, "evictions", (int64_t)cache->eviction_count);
        lc_jw_end(w);
    }
    lc_jw_end(w);
    lc_jw_name(w, "pipelines");
    lc_jw_array(w);
    for (size_t i = 0; i < c->suspender.count; i++) {
        const lc_pipeline *pipeline = c->suspender.pipelines[i];

        lc_jw_object(w);
        lc_jw_member_text(w, "name", pipeline->name);
        lc_jw_member_text(w, "state", lc_pipeline_state_name(pipeline->state));
        lc_jw_member_int(w, "priority", pipeline->host.priority);
        lc_jw_member_int(w, "bytes", pipeline->bytes);
        lc_jw_end(w);
    }
    lc_jw_end(w);
}

static void put_admission(lc_json_writer *w, const lc_admission *a)
{
    lc_jw_name(w, "admission");
    lc_jw_object(w);
    lc_jw_member_int(w, "in_flight", a->in_flight);
    lc_jw_member_int(w, "window", a->window);
    lc_jw_member_int(w, "window_max", a->window_max);
    lc_jw_member_int(w, "queued", a->queue_count);
    lc_jw_member_int(w, "admitted_total", (int64_t)a->admitted_count);
    lc_jw_member_int(w, "queued_total", (int64_t)a->queued_count);
    lc_jw_member_int(w, "rejected_total", (int64_t)a->rejected_count);
    lc_jw_member_int(w, "expired_total", (int64_t)a->expired_count);
    lc_jw_end(w);
}

static void put_decisions(lc_json_writer *w, const lc_controller *c)
{
    uint64_t end = c->gate.decision_count;
    uint64_t first = end > LC_GATE_DECISIONS ? end - LC_GATE_DECISIONS : 0;

    lc_jw_name(w, "decisions");
    lc_jw_array(w);
    for (uint64_t i = first; i < end; i++) {
        const lc_decision *decision = &c->gate.decisions[i % LC_GATE_DECISIONS];

        lc_jw_object(w);
        lc_jw_member_int(w, "ms_ago", c->gate.now_ms - decision->at_ms);
        lc_jw_member_text(w, "what", decision->what);
        lc_jw_member_text(w, "level", c->rules.names[decision->level]);
        if (decision->name[0] != '\0')
            lc_jw_member_text(w, "name", decision->name);
        else
            lc_jw_member_null(w, "name");
        lc_jw_member_int(w, "bytes", decision->bytes);
        lc_jw_end(w);
    }
    lc_jw_end(w);
}

void lc_guard_put_status(loci_guard *guard, lc_json_writer *w)
{
    lc_controller *c = &guard->controller;

    lc_gate_enter(&c->gate);
    put_usage(w, c);
    put_history(w, &c->monitor);
    put_components(w, c);
    put_members(w, c);
    put_admission(w, &c->admission);
    put_decisions(w, c);
    lc_gate_leave(&c->gate);
}

char *loci_guard_status(loci_guard *guard)
{
    char *copy = NULL;
    lc_json_writer w;
    lc_heap heap;
    lc_buf text;

    lc_heap_init(&heap, (loci_allocator){0});
    lc_buf_init(&text, &heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &text);
    lc_jw_object(&w);
    lc_guard_put_status(guard, &w);
    lc_jw_end(&w);
    if (lc_buf_status(&text, NULL) == LOCI_OK)
        copy = lc_heap_alloc(&heap, text.len + 1, LOCI_MEM_REQUESTS);
    if (copy != NULL) {
        memcpy(copy, text.ptr, text.len);
        copy[text.len] = '\0';
    }
    lc_buf_clear(&text);
    return copy;
}
