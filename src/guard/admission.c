/* admission.c - A table of slots and a sorted list of those that wait.
 *
 *     FREE -> ADMITTED -> FREE                   admitted at once, done
 *     FREE -> WAITING -> ADMITTED -> FREE        queued
 *             WAITING -> GONE -> FREE            deadline passed, or displaced by higher priority
 *
 * No owner can keep a place for ever by not asking. GONE is kept for a minute so that its owner can
 * learn of it. Work admitted from the queue whose owner has not looked by its deadline and a minute
 * more is taken back. A ticket id has the slot in its low 16 bits and a sequence number above, so
 * a ticket of an earlier user of the slot is not found.
 *
 * Invariants: queue[] has exactly the WAITING slots; in_flight is the number of ADMITTED ones that
 * do not free memory; no slot is WAITING while the window has room, unless the level is critical.
 */
#include "guard/admission.h"

#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"
#include "guard/monitor.h"

#define FREEING_MAX 64 /* Slots for work that frees memory; more of it gets no ticket. */
#define KEEP_MS 60000  /* How long an outcome waits for its owner. */
#define DEADLINE_MS_MAX 86400000

typedef enum slot_state { FREE, WAITING, ADMITTED, GONE } slot_state;

struct lc_admission_slot {
    uint64_t id;
    slot_state state;
    loci_work work;
    int32_t priority;
    bool is_claimed;  /* The owner knows that it is admitted. */
    int64_t until_ms; /* Deadline, or end of the time for which the slot is kept. */
};

_Static_assert(LC_GUARD_IN_FLIGHT_MAX + LC_GUARD_QUEUE_MAX + FREEING_MAX < UINT16_MAX,
               "a slot fits into 16 bits");

loci_status lc_admission_init(lc_admission *admission, lc_heap *heap, uint32_t in_flight_max,
                              uint32_t queue_max, loci_error *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t small = cores > 0 && cores < 1024 ? 2 * (uint32_t)cores : 2;

    LC_ASSERT(in_flight_max >= 1 && in_flight_max <= LC_GUARD_IN_FLIGHT_MAX);
    LC_ASSERT(queue_max >= 1 && queue_max <= LC_GUARD_QUEUE_MAX);
    if (small > in_flight_max)
        small = in_flight_max;
    *admission = (lc_admission){.heap = heap,
                                .slot_count = in_flight_max + queue_max + FREEING_MAX,
                                .queue_max = queue_max,
                                .window = small,
                                .window_max = in_flight_max,
                                .window_small = small};
    admission->slots = lc_heap_zalloc(heap, admission->slot_count * sizeof *admission->slots,
                                      LOCI_MEM_ENGINE);
    admission->queue = lc_heap_zalloc(heap, queue_max * sizeof *admission->queue, LOCI_MEM_ENGINE);
    if (admission->slots != NULL && admission->queue != NULL)
        return LOCI_OK;
    lc_admission_clear(admission);
    return lc_fail_memory(err);
}

void lc_admission_clear(lc_admission *admission)
{
    if (admission->heap == NULL)
        return;
    lc_heap_free(admission->heap, admission->slots,
                 admission->slot_count * sizeof *admission->slots, LOCI_MEM_ENGINE);
    lc_heap_free(admission->heap, admission->queue, admission->queue_max * sizeof *admission->queue,
                 LOCI_MEM_ENGINE);
    *admission = (lc_admission){0};
}

/* ---- Slots ----------------------------------------------------------------------------------- */

/* The last sequence number's slot is tried first, so slots are used in turn. NULL: all taken. */
static lc_admission_slot *take_slot(lc_admission *admission)
{
    for (uint32_t i = 0; i < admission->slot_count; i++) {
        uint32_t at = (uint32_t)((admission->sequence + i) % admission->slot_count);

        if (admission->slots[at].state == FREE) {
            admission->slots[at].id = ++admission->sequence << 16 | at;
            return &admission->slots[at];
        }
    }
    return NULL;
}

static lc_admission_slot *find_slot(lc_admission *admission, uint64_t id)
{
    uint64_t at = id & 0xffff;
    lc_admission_slot *slot = at < admission->slot_count ? &admission->slots[at] : NULL;

    return slot != NULL && slot->state != FREE && slot->id == id ? slot : NULL;
}

static void put_into_queue(lc_admission *admission, const lc_admission_slot *slot)
{
    uint32_t at = admission->queue_count++;

    /* Sequence numbers grow, so the new one is behind all of its priority. */
    for (; at > 0 && admission->slots[admission->queue[at - 1]].priority < slot->priority; at--)
        admission->queue[at] = admission->queue[at - 1];
    admission->queue[at] = (uint16_t)(slot->id & 0xffff);
}

static void take_from_queue(lc_admission *admission, uint32_t at)
{
    admission->queue_count--;
    memmove(&admission->queue[at], &admission->queue[at + 1],
            (admission->queue_count - at) * sizeof *admission->queue);
}

static void drop(lc_admission *admission, uint32_t at, int64_t now_ms)
{
    lc_admission_slot *slot = &admission->slots[admission->queue[at]];

    take_from_queue(admission, at);
    slot->state = GONE;
    slot->until_ms = now_ms + KEEP_MS;
    admission->expired_count++;
}

/* Admits from the queue while the window has room. Returns how many. */
static uint32_t admit_waiting(lc_admission *admission)
{
    uint32_t count = 0;

    while (admission->queue_count > 0 && admission->in_flight < admission->window) {
        lc_admission_slot *slot = &admission->slots[admission->queue[0]];

        take_from_queue(admission, 0);
        slot->state = ADMITTED;
        slot->is_claimed = false;
        slot->until_ms += KEEP_MS;
        admission->in_flight++;
        admission->admitted_count++;
        count++;
    }
    return count;
}

static void end_work(lc_admission *admission, lc_admission_slot *slot)
{
    slot->state = FREE;
    if (slot->work != LOCI_WORK_FREES)
        admission->in_flight--;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Longer under higher pressure, and spread so that refused callers do not return together. */
static loci_ticket reject(lc_admission *admission)
{
    static const int64_t base_ms[] = {100, 250, 500, 1000};
    int64_t base = base_ms[admission->level];

    admission->rejected_count++;
    return (loci_ticket){
        .outcome = LOCI_REJECTED,
        .retry_after_ms = base +
                          (int64_t)(admission->rejected_count * 2654435761u % 1024) * base / 1024};
}

static bool is_refused(const lc_admission *admission, loci_work work)
{
    return admission->level == LOCI_LEVEL_CRITICAL ||
           (admission->level == LOCI_LEVEL_HIGH && work == LOCI_WORK_BULK);
}

loci_ticket lc_admission_ask(lc_admission *admission, const loci_admission *request, int64_t now_ms)
{
    lc_admission_slot *slot;
    bool is_admitted = request->work == LOCI_WORK_FREES;
    uint32_t last = admission->queue_count - 1; /* Only used when the queue is full. */

    if (!is_admitted && is_refused(admission, request->work))
        return reject(admission);
    if (!is_admitted && admission->queue_count == 0 && admission->in_flight < admission->window)
        is_admitted = true;
    if (!is_admitted && request->deadline_ms <= 0)
        return reject(admission);
    if (!is_admitted && admission->queue_count == admission->queue_max) {
        if (admission->slots[admission->queue[last]].priority >= request->priority)
            return reject(admission);
        drop(admission, last, now_ms);
    }
    slot = take_slot(admission);
    if (slot == NULL) {
        if (request->work != LOCI_WORK_FREES)
            return reject(admission);
        admission->admitted_count++;
        return (loci_ticket){.outcome = LOCI_ADMITTED};
    }
    slot->work = request->work;
    slot->priority = request->priority;
    slot->state = is_admitted ? ADMITTED : WAITING;
    slot->is_claimed = is_admitted;
    if (is_admitted) {
        admission->in_flight += request->work != LOCI_WORK_FREES;
        admission->admitted_count++;
        return (loci_ticket){.outcome = LOCI_ADMITTED, .id = slot->id};
    }
    slot->until_ms = now_ms + (request->deadline_ms < DEADLINE_MS_MAX ? request->deadline_ms
                                                                      : DEADLINE_MS_MAX);
    put_into_queue(admission, slot);
    admission->queued_count++;
    return (loci_ticket){.outcome = LOCI_QUEUED, .id = slot->id};
}

bool lc_admission_look(lc_admission *admission, uint64_t id, int64_t now_ms, loci_ticket *out)
{
    lc_admission_slot *slot = find_slot(admission, id);

    if (slot == NULL)
        return false;
    for (uint32_t i = 0; slot->state == WAITING && slot->until_ms <= now_ms; i++) {
        if (&admission->slots[admission->queue[i]] == slot)
            drop(admission, i, now_ms);
    }
    *out = (loci_ticket){.outcome = LOCI_QUEUED, .id = id};
    if (slot->state == ADMITTED) {
        slot->is_claimed = true;
        out->outcome = LOCI_ADMITTED;
    } else if (slot->state == GONE) {
        slot->state = FREE;
        *out = reject(admission);
    }
    return true;
}

bool lc_admission_done(lc_admission *admission, uint64_t id)
{
    lc_admission_slot *slot = find_slot(admission, id);

    if (slot == NULL)
        return false;
    if (slot->state == ADMITTED)
        end_work(admission, slot);
    for (uint32_t i = 0; slot->state == WAITING; i++) {
        if (&admission->slots[admission->queue[i]] == slot) {
            take_from_queue(admission, i);
            slot->state = FREE;
        }
    }
    slot->state = FREE;
    (void)admit_waiting(admission); /* Those that wait are woken by the caller in any case. */
    return true;
}

uint32_t lc_admission_tick(lc_admission *admission, loci_level level, int64_t now_ms)
{
    uint32_t top = level == LOCI_LEVEL_NORMAL ? admission->window_max : admission->window_small;
    uint32_t changed = 0;

    for (uint32_t i = admission->queue_count; i > 0; i--) {
        if (admission->slots[admission->queue[i - 1]].until_ms <= now_ms) {
            drop(admission, i - 1, now_ms);
            changed++;
        }
    }
    for (uint32_t i = 0; i < admission->slot_count; i++) {
        lc_admission_slot *slot = &admission->slots[i];

        if (slot->state == GONE && slot->until_ms <= now_ms)
            slot->state = FREE;
        else if (slot->state == ADMITTED && !slot->is_claimed && slot->until_ms <= now_ms)
            end_work(admission, slot);
    }
    admission->level = level;
    if (level == LOCI_LEVEL_CRITICAL)
        admission->window = 0;
    else if (admission->window > top)
        admission->window = top;
    else if (admission->window < top &&
             (!admission->has_stepped || now_ms < admission->stepped_ms ||
              now_ms - admission->stepped_ms >= LC_MONITOR_TICK_MS_MAX)) {
        admission->window = admission->window == 0 ? 1 : 2 * admission->window;
        if (admission->window > top)
            admission->window = top;
        admission->stepped_ms = now_ms;
        admission->has_stepped = true;
    }
    return changed + admit_waiting(admission);
}
