/* admission.h - layer 4 of the guard: which work may start now.
 *
 * Work asks and gets one of three answers: admitted, queued with a ticket and a deadline, rejected
 * with a time to try again. At most `window` pieces of work are in flight; the queue is bounded and
 * ordered by priority, then age.
 *
 *     level      window                          rejected at once
 *     normal     doubles per step up to its max  -
 *     elevated   doubles up to 2 x cores         -
 *     high       the same                        bulk
 *     critical   closed; opens again with 1      all but work that frees memory
 *
 * A step is a tick, at least 200 ms after the step before: a window that doubled with every short
 * tick would admit a herd. Work that frees memory is always admitted and does not fill the window.
 * No lock and no clock of its own.
 */
#ifndef LC_GUARD_ADMISSION_H
#define LC_GUARD_ADMISSION_H

#include "base/heap.h"
#include "base/limits.h"

#include <stdbool.h>

typedef struct lc_admission_slot lc_admission_slot;

typedef struct lc_admission {
    lc_heap *heap;
    lc_admission_slot *slots;
    uint32_t slot_count;
    uint16_t *queue; /* Slots that wait, the next to be admitted first. */
    uint32_t queue_count, queue_max;
    uint32_t in_flight; /* Admitted and not done; without work that frees memory. */
    uint32_t window, window_max;
    uint32_t window_small; /* Under pressure. */
    int64_t stepped_ms;
    bool has_stepped;
    loci_level level;
    uint64_t sequence; /* Of tickets. */
    uint64_t admitted_count, queued_count, rejected_count, expired_count;
} lc_admission;

/* Limits are at least 1 and at most those of limits.h. */
loci_status lc_admission_init(lc_admission *admission, lc_heap *heap, uint32_t in_flight_max,
                              uint32_t queue_max, loci_error *err);
void lc_admission_clear(lc_admission *admission);

loci_ticket lc_admission_ask(lc_admission *admission, const loci_admission *request,
                             int64_t now_ms);
/* The outcome of a ticket now. False: no such ticket. A ticket that is REJECTED is gone. */
bool lc_admission_look(lc_admission *admission, uint64_t id, int64_t now_ms, loci_ticket *out);
/* Ends admitted work or leaves the queue, and admits the next in the queue. False: no such. */
bool lc_admission_done(lc_admission *admission, uint64_t id);
/* Drops expired tickets, moves the window, admits from the queue. Returns how many tickets have
 * another outcome now. */
uint32_t lc_admission_tick(lc_admission *admission, loci_level level, int64_t now_ms);

#endif /* LC_GUARD_ADMISSION_H */
