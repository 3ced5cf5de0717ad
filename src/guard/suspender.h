/* suspender.h - layer 7 of the guard: pauses pipelines and resumes them.
 *
 * Under critical pressure pipelines are paused one at a time, the lowest priority first, of equal
 * ones the largest. A pipeline is paused when it has acknowledged; one that has not after 5 s is
 * cancelled. After each the suspender waits 200 ms for the effect. At the level normal paused ones
 * are resumed, the highest priority first, one per tick; at elevated one per 3 s, so that a process
 * whose ordinary usage is just above normal does not keep its work paused for ever.
 */
#ifndef LC_GUARD_SUSPENDER_H
#define LC_GUARD_SUSPENDER_H

#include "base/heap.h"
#include "guard/gate.h"

#define LC_SUSPENDER_ACK_MS 5000
#define LC_SUSPENDER_EFFECT_MS 200
#define LC_SUSPENDER_RESUME_MS 3000

typedef enum lc_pipeline_state {
    LC_PIPELINE_RUNNING,
    LC_PIPELINE_PAUSING, /* Asked; has not acknowledged. */
    LC_PIPELINE_PAUSED,
    LC_PIPELINE_CANCELLED /* Until it is removed. */
} lc_pipeline_state;

/* A registered pipeline. */
typedef struct lc_pipeline {
    loci_pipeline host;
    char name[LC_GUARD_NAME_BYTES_MAX + 1];
    lc_pipeline_state state;
    int64_t asked_ms; /* When it was asked to pause. */
    int64_t bytes;    /* When last asked. */
    bool is_removed;  /* By its own callback. */
} lc_pipeline;

typedef struct lc_suspender {
    lc_heap *heap;
    lc_gate *gate;
    lc_pipeline **pipelines; /* In the order of arrival, which decides between equals. */
    size_t count, capacity;
    int64_t counted_bytes; /* Sizes of those that are not charged, at the last refresh, */
    bool has_refreshed;
    int64_t refreshed_ms; /* which was then. */
    bool has_acted;
    int64_t acted_ms; /* Last pause or cancellation, */
    bool has_resumed;
    int64_t resumed_ms; /* and last resumption. */
} lc_suspender;

/* All functions are called inside the gate. */
loci_status lc_suspender_add(lc_suspender *suspender, const loci_pipeline *pipeline,
                             loci_error *err);
/* False: no such pipeline. Waits for a running callback. */
bool lc_suspender_remove(lc_suspender *suspender, loci_str name);
bool lc_suspender_has(const lc_suspender *suspender, loci_str name);
void lc_suspender_clear(lc_suspender *suspender);

/* Asks all pipelines for their sizes, every 200 ms: there may be a thousand. */
void lc_suspender_refresh(lc_suspender *suspender, int64_t now_ms);
loci_status lc_suspender_ack(lc_suspender *suspender, loci_str name, int64_t now_ms,
                             loci_error *err);
/* One step at `level`, with `need_bytes` still to be freed. */
void lc_suspender_tick(lc_suspender *suspender, loci_level level, int64_t need_bytes,
                       int64_t now_ms);
/* Resumes all that are paused or were asked to pause: the guard ends. */
void lc_suspender_resume_all(lc_suspender *suspender);
size_t lc_suspender_count(const lc_suspender *suspender, lc_pipeline_state state);
const char *lc_pipeline_state_name(lc_pipeline_state state);

#endif /* LC_GUARD_SUSPENDER_H */
