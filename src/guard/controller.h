/* controller.h - the seven layers together: one tick from a reading to actions.
 *
 * The controller is level-triggered: each tick judges the level and does what the level and the
 * bytes still to be freed ask for, whatever was done before. Nothing happens on a change of level
 * but the signal that reports it, so no action can be missed and none can stay in effect after its
 * reason is gone.
 *
 *     level      actions, each level in addition to those before
 *     normal     admission grows; paused pipelines resume, one per tick
 *     elevated   admission at most 2 x cores; purge; caches shrink until need <= 0
 *     high       bulk work rejected; >= 25 % of cache bytes at once; evict_caches at most once a
 *                second and compact_contexts at most once a minute
 *     critical   only work that frees memory; >= 50 % at once; pipelines paused one at a time
 *
 * need = used - exit(level), without bytes that were evicted less than a second ago and are still
 * visible. A tick depends on the reading, the time and the state alone; callbacks of the host are
 * the only way out. One thread at a time calls lc_controller_tick().
 */
#ifndef LC_GUARD_CONTROLLER_H
#define LC_GUARD_CONTROLLER_H

#include "guard/admission.h"
#include "guard/compactor.h"
#include "guard/evictor.h"
#include "guard/gate.h"
#include "guard/monitor.h"
#include "guard/suspender.h"
#include "guard/usage.h"

typedef struct lc_controller {
    lc_heap *heap;
    lc_gate gate;
    lc_usage *usage;
    lc_monitor monitor;
    lc_ladder ladder;
    lc_ladder_rules rules;
    lc_admission admission;
    lc_evictor evictor;
    lc_compactor compactor;
    lc_suspender suspender;
    void (*purge)(void *ctx);
    void *purge_ctx;
    lc_sample sample;          /* Of the last tick, */
    int64_t tracked_bytes;     /* charged, reported, and sizes of caches and pipelines, */
    int64_t need_bytes;        /* and what was to be freed. */
    int64_t hidden_bytes;      /* Evicted, but still visible in the reading, */
    int64_t hidden_from_bytes; /* in addition to these untracked bytes, */
    int64_t hidden_ms;         /* since. */
    int64_t purged_ms, signalled_ms, shrunk_ms; /* Actions that happen at most once a second. */
    bool has_purged, has_signalled, has_shrunk;
} lc_controller;

/* `clock` is monotonic, in µs, and only measures slices of eviction. */
typedef struct lc_controller_options {
    int64_t limit_bytes;
    uint32_t in_flight_max, queue_max;
    loci_signal_fn *signal;
    void *signal_ctx;
    loci_clock_fn *clock;
    void *clock_ctx;
    void (*purge)(void *ctx);
    void *purge_ctx;
} lc_controller_options;

loci_status lc_controller_init(lc_controller *controller, lc_heap *heap,
                               const lc_controller_options *options, loci_error *err);
void lc_controller_clear(lc_controller *controller);

/* One tick; `reading` is NULL when it failed. `out_granted`, which may be NULL, becomes the number
 * of tickets with another outcome. Returns the milliseconds until the next tick. */
int64_t lc_controller_tick(lc_controller *controller, const lc_reading *reading, int64_t now_ms,
                           uint32_t *out_granted);

#endif /* LC_GUARD_CONTROLLER_H */
