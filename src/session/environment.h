/* environment.h - what connectors say about the world around a user: one value a key, the newest
 * signal counts. `current_time` is a key like any other; without it the domain clock tells. */
#ifndef LC_SESSION_ENVIRONMENT_H
#define LC_SESSION_ENVIRONMENT_H

#include "base/arena.h"
#include "store/event.h"

extern const lc_table lc_environment_table;
extern const lc_event_type lc_environment_event;

typedef struct lc_signal {
    loci_str key;
    loci_str value;      /* Canonical JSON. */
    loci_str persona_id; /* "" = everybody's. */
    int64_t observed_at; /* LOCI_AT_CLOCK = now, for a new one. */
    int64_t recorded_at;
    loci_str former; /* Of one that was read: an array of what it was before, the last first. */
} lc_signal;

#define LC_SIGNAL_FORMER_MAX 4 /* Former values that are kept. */

/* `*is_late`: a newer signal of the key is there, nothing was written. */
loci_status lc_environment_set(lc_tx *tx, const lc_signal *signal, bool *is_late, loci_error *err);
/* The persona's own, else everybody's. Without one, LOCI_ENOTFOUND; `current_time`, `current_date`
 * (UTC) are then the domain clock's. Text lives in `arena`. */
loci_status lc_environment_load(lc_tx *tx, loci_str persona_id, loci_str key, lc_arena *arena,
                                lc_signal *out, loci_error *err);

typedef loci_status lc_signal_visit(void *ctx, const lc_signal *signal, loci_error *err);
/* Every signal that the persona sees, by key; its own comes before everybody's of the same key. */
loci_status lc_environment_each(lc_tx *tx, loci_str persona_id, lc_signal_visit *visit, void *ctx,
                                loci_error *err);

#endif /* LC_SESSION_ENVIRONMENT_H */
