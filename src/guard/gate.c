/* gate.c - Invariant: `busy` is not NULL only while the controller is outside the lock. */
#include "guard/gate.h"

#include <stdio.h>

#include "pressure/ladder.h"

void lc_gate_init(lc_gate *gate, loci_signal_fn *signal, void *signal_ctx)
{
    *gate = (lc_gate){.signal = signal, .signal_ctx = signal_ctx};
    (void)pthread_mutex_init(&gate->lock, NULL); /* Cannot fail on Linux, as the next. */
    (void)pthread_cond_init(&gate->idle, NULL);
}

void lc_gate_clear(lc_gate *gate)
{
    (void)pthread_cond_destroy(&gate->idle);
    (void)pthread_mutex_destroy(&gate->lock);
}

void lc_gate_enter(lc_gate *gate)
{
    (void)pthread_mutex_lock(&gate->lock);
}

void lc_gate_leave(lc_gate *gate)
{
    (void)pthread_mutex_unlock(&gate->lock);
}

void lc_gate_out(lc_gate *gate, const void *member)
{
    gate->busy = member;
    gate->caller = pthread_self();
    lc_gate_leave(gate);
}

void lc_gate_back(lc_gate *gate)
{
    lc_gate_enter(gate);
    gate->busy = NULL;
    (void)pthread_cond_broadcast(&gate->idle);
}

bool lc_gate_await(lc_gate *gate, const void *member)
{
    if (gate->busy == member && pthread_equal(gate->caller, pthread_self()))
        return false;
    while (gate->busy == member)
        (void)pthread_cond_wait(&gate->idle, &gate->lock);
    return true;
}

void lc_gate_note(lc_gate *gate, const char *what, const char *name, int64_t bytes)
{
    lc_decision *decision = &gate->decisions[gate->decision_count++ % LC_GATE_DECISIONS];

    *decision = (lc_decision){
        .at_ms = gate->now_ms, .what = what, .level = gate->level, .bytes = bytes};
    (void)snprintf(decision->name, sizeof decision->name, "%s", name != NULL ? name : "");
}

void lc_gate_signal(lc_gate *gate, const void *member, loci_signal_kind kind, const char *name,
                    int64_t bytes)
{
    loci_signal signal = {.kind = kind, .level = gate->level, .name = name, .bytes = bytes};

    lc_gate_note(gate, lc_signal_name(kind), name, bytes);
    if (gate->signal == NULL)
        return;
    lc_gate_out(gate, member);
    gate->signal(gate->signal_ctx, &signal);
    lc_gate_back(gate);
}

const char *lc_signal_name(loci_signal_kind kind)
{
    static const char *const names[] = {
        [LOCI_SIGNAL_PRESSURE_CHANGED] = "memory_pressure_changed",
        [LOCI_SIGNAL_EVICT_CACHES] = "evict_caches",
        [LOCI_SIGNAL_COMPACT_CONTEXTS] = "compact_contexts",
        [LOCI_SIGNAL_PAUSE_PIPELINE] = "pause_pipeline",
        [LOCI_SIGNAL_RESUME_PIPELINE] = "resume_pipeline",
        [LOCI_SIGNAL_CANCEL_PIPELINE] = "cancel_pipeline",
    };

    return names[kind];
}

const char *lc_level_name(loci_level level)
{
    return lc_ladder_guard.names[level];
}
