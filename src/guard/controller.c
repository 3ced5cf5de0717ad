/* controller.c - Invariant: between ticks the state is the same as if the last tick had been the
 * first at its level; only the ladder, the ramp of admission and the rates of signals remember.
 *
 * Evicted memory is not visible at once: the kernel counts pages per CPU, and a cache may free in
 * the background. Without a discount the next tick, 10 ms later, would evict the same bytes again,
 * and a burst of ticks would empty all caches. Bytes that a cache has given up but the system still
 * shows appear as growth of the untracked bytes. That growth, at most the evicted bytes, is
 * subtracted from the need for a second. The fall of usage would be a worse measure: in a storm new
 * allocations hide it, and the guard would wait while memory runs out.
 */
#include "guard/controller.h"

#define SECOND_MS 1000
#define STALL_SHARE 60 /* Of cache bytes, per mille and second, while the system is stalled. */

loci_status lc_controller_init(lc_controller *controller, lc_heap *heap,
                               const lc_controller_options *options, loci_error *err)
{
    loci_status status;

    *controller = (lc_controller){.heap = heap,
                                  .monitor = {.setting_bytes = options->limit_bytes},
                                  .rules = lc_ladder_guard,
                                  .purge = options->purge,
                                  .purge_ctx = options->purge_ctx};
    status = lc_usage_new(heap, &controller->usage, err);
    if (status != LOCI_OK)
        return status;
    status = lc_admission_init(&controller->admission, heap, options->in_flight_max,
                               options->queue_max, err);
    if (status != LOCI_OK) {
        lc_usage_free(controller->usage);
        return status;
    }
    lc_gate_init(&controller->gate, options->signal, options->signal_ctx);
    controller->evictor = (lc_evictor){.heap = heap,
                                       .gate = &controller->gate,
                                       .clock = options->clock,
                                       .clock_ctx = options->clock_ctx};
    controller->suspender = (lc_suspender){.heap = heap, .gate = &controller->gate};
    return LOCI_OK;
}

void lc_controller_clear(lc_controller *controller)
{
    lc_suspender_clear(&controller->suspender);
    lc_evictor_clear(&controller->evictor);
    lc_admission_clear(&controller->admission);
    lc_gate_clear(&controller->gate);
    lc_usage_free(controller->usage);
}

/* True once per second; `*last_ms` and `*has` remember when. */
static bool is_due(bool *has, int64_t *last_ms, int64_t now_ms)
{
    if (*has && now_ms >= *last_ms && now_ms - *last_ms < SECOND_MS)
        return false;
    *has = true;
    *last_ms = now_ms;
    return true;
}

/* Takes a sample and judges it. */
static void judge(lc_controller *c, const lc_reading *reading, int64_t now_ms)
{
    int64_t hidden;
    uint32_t usage;

    lc_evictor_refresh(&c->evictor);
    lc_suspender_refresh(&c->suspender, now_ms);
    c->tracked_bytes = lc_usage_total(c->usage, LOCI_MEM_CATEGORIES) + c->evictor.counted_bytes +
                       c->suspender.counted_bytes;
    c->sample = lc_monitor_take(&c->monitor, reading, c->tracked_bytes, &c->rules, now_ms);
    hidden = c->sample.untracked_bytes - c->hidden_from_bytes;
    if (hidden < c->hidden_bytes)
        c->hidden_bytes = hidden > 0 ? hidden : 0;
    if (now_ms < c->hidden_ms || now_ms - c->hidden_ms >= SECOND_MS)
        c->hidden_bytes = 0;

    usage = c->sample.limit_bytes == 0 ? 0
                                       : lc_ladder_usage((uint64_t)c->sample.judged_bytes,
                                                         (uint64_t)c->sample.limit_bytes);
    /* The system says that tasks wait for memory: shrink, but do not refuse work for it. */
    if (c->sample.is_stalled && usage < c->rules.enter[0])
        usage = c->rules.enter[0];
    c->gate.level = (loci_level)lc_ladder_judge(&c->ladder, &c->rules, usage, now_ms);
    c->need_bytes = c->sample.limit_bytes == 0
                        ? 0
                        : (int64_t)lc_ladder_excess(&c->rules, c->ladder.level,
                                                    (uint64_t)c->sample.judged_bytes,
                                                    (uint64_t)c->sample.limit_bytes);
    c->need_bytes = c->need_bytes > c->hidden_bytes ? c->need_bytes - c->hidden_bytes : 0;
}

/* Charges may fill the limit but for memory that is used without being charged. A twentieth is
 * kept for work that frees memory; bulk work stops where the level high begins. */
static void set_caps(lc_controller *c)
{
    int64_t caps[LC_WORK_KINDS] = {INT64_MAX, INT64_MAX, INT64_MAX}, charged, room;

    if (c->sample.limit_bytes > 0) {
        charged = lc_usage_total(c->usage, LOCI_MEM_CATEGORIES);
        /* Reported bytes and sizes of caches count as used, but are not charged. */
        room = c->sample.limit_bytes -
               (c->sample.used_bytes > charged ? c->sample.used_bytes - charged : 0);
        caps[LOCI_WORK_FREES] = room;
        caps[LOCI_WORK_NORMAL] = room - c->sample.limit_bytes / 20;
        caps[LOCI_WORK_BULK] = room - c->sample.limit_bytes / 1000 *
                                          (1000 - (int64_t)c->rules.enter[LC_PRESSURE_HIGH - 1]);
    }
    lc_usage_set_caps(c->usage, caps);
}

/* Returns whether the slice was cut. */
static bool shrink_caches(lc_controller *c, int64_t now_ms)
{
    int64_t want = c->need_bytes, share = 0;
    lc_evicted evicted;

    if (c->need_bytes > 0)
        share = c->gate.level == LOCI_LEVEL_CRITICAL ? 500
                : c->gate.level == LOCI_LEVEL_HIGH   ? 250
                                                     : 0;
    else if (c->sample.is_stalled && is_due(&c->has_shrunk, &c->shrunk_ms, now_ms))
        share = STALL_SHARE;
    if (want < c->evictor.bytes / 1000 * share)
        want = c->evictor.bytes / 1000 * share;
    if (want <= 0)
        return false;
    evicted = lc_evictor_run(&c->evictor, want);
    if (evicted.freed_bytes > 0) {
        if (c->hidden_bytes == 0) {
            c->hidden_from_bytes = c->sample.untracked_bytes;
            c->hidden_ms = now_ms;
        }
        c->hidden_bytes += evicted.freed_bytes;
        c->need_bytes = c->need_bytes > evicted.freed_bytes ? c->need_bytes - evicted.freed_bytes
                                                            : 0;
    }
    return evicted.is_cut;
}

/* Returns whether work is left for which the next tick should come soon. */
static bool act(lc_controller *c, bool is_falling, int64_t now_ms)
{
    bool is_cut = false;

    if (c->gate.level > LOCI_LEVEL_NORMAL) {
        is_cut = shrink_caches(c, now_ms);
        /* After the last slice: a purge in the middle would leave the rest for a second. */
        if (c->purge != NULL && !is_cut && is_due(&c->has_purged, &c->purged_ms, now_ms)) {
            lc_gate_out(&c->gate, NULL);
            c->purge(c->purge_ctx);
            lc_gate_back(&c->gate);
        }
    }
    if (c->gate.level >= LOCI_LEVEL_HIGH && c->need_bytes > 0 &&
        is_due(&c->has_signalled, &c->signalled_ms, now_ms))
        lc_gate_signal(&c->gate, NULL, LOCI_SIGNAL_EVICT_CACHES, NULL, c->need_bytes);
    lc_compactor_tick(&c->compactor, &c->gate, c->usage, c->need_bytes, is_falling);
    lc_suspender_tick(&c->suspender, c->gate.level, c->need_bytes, now_ms);
    return is_cut;
}

int64_t lc_controller_tick(lc_controller *controller, const lc_reading *reading, int64_t now_ms,
                           uint32_t *out_granted)
{
    int64_t before = controller->sample.used_bytes, interval_ms;
    loci_level level_before = controller->gate.level;
    uint32_t granted;

    lc_gate_enter(&controller->gate);
    controller->gate.now_ms = now_ms;
    judge(controller, reading, now_ms);
    set_caps(controller);
    granted = lc_admission_tick(&controller->admission, controller->gate.level, now_ms);
    if (controller->gate.level != level_before)
        lc_gate_signal(&controller->gate, NULL, LOCI_SIGNAL_PRESSURE_CHANGED, NULL,
                       controller->need_bytes);
    interval_ms = lc_monitor_interval_ms(&controller->sample);
    if (act(controller, controller->sample.used_bytes < before, now_ms))
        interval_ms = LC_MONITOR_TICK_MS_MIN;
    lc_gate_leave(&controller->gate);
    if (out_granted != NULL)
        *out_granted = granted;
    return interval_ms;
}
