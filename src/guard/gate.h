/* gate.h - the lock of a guard, and the way out of it to the host's callbacks.
 *
 * No callback runs under the lock: a host thread may hold its own lock while it calls the guard,
 * and the callback may want that lock. So the controller leaves the lock for each callback and
 * marks the cache or pipeline it is about as busy; removing a busy one waits until the callback is
 * over. At most one callback of caches and pipelines runs at a time.
 *
 * Signals are sent the same way and written down: the last ones are the guard's decisions.
 */
#ifndef LC_GUARD_GATE_H
#define LC_GUARD_GATE_H

#include "base/limits.h"
#include "loci.h"

#include <pthread.h>
#include <stdbool.h>

#define LC_GATE_DECISIONS 16

typedef struct lc_decision {
    int64_t at_ms;
    const char *what; /* Name of the signal, or "evicted". */
    loci_level level;
    char name[LC_GUARD_NAME_BYTES_MAX + 1]; /* "" = none. */
    int64_t bytes;
} lc_decision;

typedef struct lc_gate {
    pthread_mutex_t lock;
    pthread_cond_t idle; /* `busy` became NULL. */
    const void *busy;    /* Cache or pipeline whose callback runs, */
    pthread_t caller;    /* in this thread. */
    loci_signal_fn *signal;
    void *signal_ctx;
    loci_level level; /* Written into signals. */
    int64_t now_ms;   /* Of the tick. */
    uint64_t decision_count;
    lc_decision decisions[LC_GATE_DECISIONS]; /* The newest is at (count - 1) % 16. */
} lc_gate;

void lc_gate_init(lc_gate *gate, loci_signal_fn *signal, void *signal_ctx);
void lc_gate_clear(lc_gate *gate);
void lc_gate_enter(lc_gate *gate);
void lc_gate_leave(lc_gate *gate);

/* Leaves the lock for a callback of `member`, and takes it again. */
void lc_gate_out(lc_gate *gate, const void *member);
void lc_gate_back(lc_gate *gate);
/* Waits until no callback of `member`, which is not listed any more, runs. False: it runs in this
 * very thread, and its caller must free the member. */
bool lc_gate_await(lc_gate *gate, const void *member);

/* Writes a decision down. `name` may be NULL. */
void lc_gate_note(lc_gate *gate, const char *what, const char *name, int64_t bytes);
/* The same, and sends it to the host; `member` as above, or NULL. */
void lc_gate_signal(lc_gate *gate, const void *member, loci_signal_kind kind, const char *name,
                    int64_t bytes);
const char *lc_signal_name(loci_signal_kind kind);
const char *lc_level_name(loci_level level);

#endif /* LC_GUARD_GATE_H */
