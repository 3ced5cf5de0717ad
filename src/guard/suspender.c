/* suspender.c - States and moves:
 *
 *     RUNNING -> PAUSING      pause: critical, and nothing else is being paused
 *     PAUSING -> PAUSED       ack
 *     PAUSING -> CANCELLED    no ack in 5 s
 *     PAUSED  -> RUNNING      resume
 *     PAUSING -> RUNNING      resume of all, when the guard ends
 *
 * Invariant: at most one pipeline is PAUSING. The list may change during a callback, so each step
 * ends after its callback.
 */
#include "guard/suspender.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

static size_t find(const lc_suspender *suspender, loci_str name)
{
    size_t at = 0;

    while (at < suspender->count && !lc_str_is(name, suspender->pipelines[at]->name))
        at++;
    return at;
}

bool lc_suspender_has(const lc_suspender *suspender, loci_str name)
{
    return find(suspender, name) < suspender->count;
}

static bool grow(lc_suspender *suspender)
{
    size_t capacity = suspender->capacity == 0 ? 16 : 2 * suspender->capacity;
    lc_pipeline **list = lc_heap_resize(suspender->heap, suspender->pipelines,
                                        suspender->capacity * sizeof *list, capacity * sizeof *list,
                                        LOCI_MEM_ENGINE);

    if (list == NULL)
        return false;
    suspender->pipelines = list;
    suspender->capacity = capacity;
    return true;
}

loci_status lc_suspender_add(lc_suspender *suspender, const loci_pipeline *pipeline,
                             loci_error *err)
{
    loci_str name = loci_str_of(pipeline->name);
    lc_pipeline *entry;

    if (suspender->count == LC_GUARD_PIPELINES_MAX)
        return lc_fail(err, LOCI_ELIMIT,
                       "pipeline %s: %d pipelines are registered, the maximum; remove those that "
                       "ended",
                       pipeline->name, LC_GUARD_PIPELINES_MAX);
    if (suspender->count == suspender->capacity && !grow(suspender))
        return lc_fail_memory(err);
    entry = lc_heap_zalloc(suspender->heap, sizeof *entry, LOCI_MEM_ENGINE);
    if (entry == NULL)
        return lc_fail_memory(err);
    entry->host = *pipeline;
    memcpy(entry->name, name.ptr, name.len);
    entry->host.name = entry->name;
    suspender->pipelines[suspender->count++] = entry;
    return LOCI_OK;
}

static void free_pipeline(lc_suspender *suspender, lc_pipeline *pipeline)
{
    lc_heap_free(suspender->heap, pipeline, sizeof *pipeline, LOCI_MEM_ENGINE);
}

bool lc_suspender_remove(lc_suspender *suspender, loci_str name)
{
    size_t at = find(suspender, name);
    lc_pipeline *pipeline;

    if (at == suspender->count)
        return false;
    pipeline = suspender->pipelines[at];
    suspender->count--;
    memmove(&suspender->pipelines[at], &suspender->pipelines[at + 1],
            (suspender->count - at) * sizeof(lc_pipeline *));
    if (lc_gate_await(suspender->gate, pipeline))
        free_pipeline(suspender, pipeline);
    else
        pipeline->is_removed = true;
    return true;
}

void lc_suspender_clear(lc_suspender *suspender)
{
    for (size_t i = 0; i < suspender->count; i++)
        free_pipeline(suspender, suspender->pipelines[i]);
    if (suspender->pipelines != NULL)
        lc_heap_free(suspender->heap, suspender->pipelines,
                     suspender->capacity * sizeof(lc_pipeline *), LOCI_MEM_ENGINE);
    suspender->pipelines = NULL;
    suspender->count = suspender->capacity = 0;
}

void lc_suspender_refresh(lc_suspender *suspender, int64_t now_ms)
{
    if (suspender->has_refreshed && now_ms >= suspender->refreshed_ms &&
        now_ms - suspender->refreshed_ms < LC_SUSPENDER_EFFECT_MS)
        return;
    suspender->has_refreshed = true;
    suspender->refreshed_ms = now_ms;
    suspender->counted_bytes = 0;
    for (size_t i = 0; i < suspender->count; i++) {
        lc_pipeline *pipeline = suspender->pipelines[i];
        int64_t bytes;

        if (pipeline->host.bytes == NULL)
            continue;
        lc_gate_out(suspender->gate, pipeline);
        bytes = pipeline->host.bytes(pipeline->host.ctx);
        lc_gate_back(suspender->gate);
        if (pipeline->is_removed) {
            free_pipeline(suspender, pipeline);
            continue; /* The next has its place now, and is asked at the next refresh. */
        }
        if (bytes < 0 || bytes > LC_GUARD_BYTES_MAX)
            bytes = bytes < 0 ? 0 : LC_GUARD_BYTES_MAX;
        pipeline->bytes = bytes;
        if ((pipeline->host.flags & LOCI_GUARD_CHARGED) == 0)
            suspender->counted_bytes += bytes;
    }
}

/* ---- Moves ----------------------------------------------------------------------------------- */

/* Moves a pipeline and informs its owner by a signal and its callback. */
static void move(lc_suspender *suspender, lc_pipeline *pipeline, lc_pipeline_state to)
{
    static const loci_signal_kind kinds[] = {
        [LC_PIPELINE_RUNNING] = LOCI_SIGNAL_RESUME_PIPELINE,
        [LC_PIPELINE_PAUSING] = LOCI_SIGNAL_PAUSE_PIPELINE,
        [LC_PIPELINE_CANCELLED] = LOCI_SIGNAL_CANCEL_PIPELINE,
    };
    void (*callback)(void *ctx) = to == LC_PIPELINE_RUNNING   ? pipeline->host.resume
                                  : to == LC_PIPELINE_PAUSING ? pipeline->host.pause
                                                              : pipeline->host.cancel;

    LC_ASSERT(to != LC_PIPELINE_PAUSED);
    pipeline->state = to;
    lc_gate_signal(suspender->gate, pipeline, kinds[to], pipeline->name, pipeline->bytes);
    if (!pipeline->is_removed && callback != NULL) {
        lc_gate_out(suspender->gate, pipeline);
        callback(pipeline->host.ctx);
        lc_gate_back(suspender->gate);
    }
    if (pipeline->is_removed)
        free_pipeline(suspender, pipeline);
}

loci_status lc_suspender_ack(lc_suspender *suspender, loci_str name, int64_t now_ms,
                             loci_error *err)
{
    size_t at = find(suspender, name);
    lc_pipeline *pipeline;

    if (at == suspender->count)
        return lc_fail(err, LOCI_ENOTFOUND, "pipeline %.*s: not registered", LC_STR_ARG(name));
    pipeline = suspender->pipelines[at];
    if (pipeline->state == LC_PIPELINE_CANCELLED)
        return lc_fail(err, LOCI_ECONFLICT,
                       "pipeline %s: did not acknowledge its pause within %d ms and was cancelled; "
                       "remove it",
                       pipeline->name, LC_SUSPENDER_ACK_MS);
    if (pipeline->state != LC_PIPELINE_PAUSING)
        return lc_fail(err, LOCI_ECONFLICT, "pipeline %s: was not asked to pause, it is %s",
                       pipeline->name, lc_pipeline_state_name(pipeline->state));
    pipeline->state = LC_PIPELINE_PAUSED;
    suspender->acted_ms = now_ms; /* Its memory is freed from now on. */
    return LOCI_OK;
}

/* The next to be paused, or NULL. */
static lc_pipeline *next_victim(const lc_suspender *suspender)
{
    lc_pipeline *best = NULL;

    for (size_t i = 0; i < suspender->count; i++) {
        lc_pipeline *at = suspender->pipelines[i];

        if (at->state == LC_PIPELINE_RUNNING &&
            (best == NULL || at->host.priority < best->host.priority ||
             (at->host.priority == best->host.priority && at->bytes > best->bytes)))
            best = at;
    }
    return best;
}

static lc_pipeline *next_resumed(const lc_suspender *suspender)
{
    lc_pipeline *best = NULL;

    for (size_t i = 0; i < suspender->count; i++) {
        lc_pipeline *at = suspender->pipelines[i];

        if (at->state == LC_PIPELINE_PAUSED &&
            (best == NULL || at->host.priority > best->host.priority))
            best = at;
    }
    return best;
}

static lc_pipeline *find_pausing(const lc_suspender *suspender)
{
    for (size_t i = 0; i < suspender->count; i++) {
        if (suspender->pipelines[i]->state == LC_PIPELINE_PAUSING)
            return suspender->pipelines[i];
    }
    return NULL;
}

static void relieve(lc_suspender *suspender, int64_t now_ms)
{
    bool is_waiting = suspender->has_acted && now_ms >= suspender->acted_ms &&
                      now_ms - suspender->acted_ms < LC_SUSPENDER_EFFECT_MS;
    lc_pipeline *victim = is_waiting ? NULL : next_victim(suspender);

    if (victim == NULL)
        return;
    victim->asked_ms = now_ms;
    suspender->has_acted = true;
    suspender->acted_ms = now_ms;
    move(suspender, victim, LC_PIPELINE_PAUSING);
}

static void resume(lc_suspender *suspender, int64_t pause_ms, int64_t now_ms)
{
    lc_pipeline *next = next_resumed(suspender);

    if (next == NULL || (suspender->has_resumed && now_ms >= suspender->resumed_ms &&
                         now_ms - suspender->resumed_ms < pause_ms))
        return;
    suspender->has_resumed = true;
    suspender->resumed_ms = now_ms;
    move(suspender, next, LC_PIPELINE_RUNNING);
}

void lc_suspender_tick(lc_suspender *suspender, loci_level level, int64_t need_bytes,
                       int64_t now_ms)
{
    lc_pipeline *pausing = find_pausing(suspender);

    if (pausing != NULL) {
        /* A clock that goes back starts the time again, and cannot make it endless. */
        if (now_ms < pausing->asked_ms)
            pausing->asked_ms = now_ms;
        if (now_ms - pausing->asked_ms < LC_SUSPENDER_ACK_MS)
            return;
        suspender->acted_ms = now_ms;
        move(suspender, pausing, LC_PIPELINE_CANCELLED);
    } else if (level == LOCI_LEVEL_CRITICAL && need_bytes > 0)
        relieve(suspender, now_ms);
    else if (level == LOCI_LEVEL_NORMAL)
        resume(suspender, 0, now_ms);
    else if (level == LOCI_LEVEL_ELEVATED)
        resume(suspender, LC_SUSPENDER_RESUME_MS, now_ms);
}

void lc_suspender_resume_all(lc_suspender *suspender)
{
    lc_pipeline *next = find_pausing(suspender);

    if (next != NULL)
        move(suspender, next, LC_PIPELINE_RUNNING);
    while ((next = next_resumed(suspender)) != NULL)
        move(suspender, next, LC_PIPELINE_RUNNING);
}

size_t lc_suspender_count(const lc_suspender *suspender, lc_pipeline_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < suspender->count; i++)
        count += suspender->pipelines[i]->state == state;
    return count;
}

const char *lc_pipeline_state_name(lc_pipeline_state state)
{
    static const char *const names[] = {"running", "pausing", "paused", "cancelled"};

    return names[state];
}
