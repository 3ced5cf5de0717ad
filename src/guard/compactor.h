/* compactor.h - layer 6 of the guard: asks holders of contexts to compact them.
 *
 * Contexts belong to agents, often in other processes, and compacting one costs a model call and
 * memory before it frees any. So it is a request, sent at most once a minute, only while pressure
 * is high and usage does not fall: at the level high to the largest reported holders of LLM
 * buffers, at critical, or when no holder is known, to all.
 */
#ifndef LC_GUARD_COMPACTOR_H
#define LC_GUARD_COMPACTOR_H

#include "guard/gate.h"
#include "guard/usage.h"

#define LC_COMPACTOR_PAUSE_MS 60000
#define LC_COMPACTOR_HOLDERS 3

typedef struct lc_compactor {
    bool has_sent;
    int64_t sent_ms;
} lc_compactor;

/* Sends signals if it is time. Called inside the gate. */
void lc_compactor_tick(lc_compactor *compactor, lc_gate *gate, lc_usage *usage, int64_t need_bytes,
                       bool is_falling);

#endif /* LC_GUARD_COMPACTOR_H */
