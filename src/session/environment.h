/* environment.h - signals from connectors about the world around a user: one value per key, that of
 * the newest signal. `current_time` is a key like any other; without a signal it is the time of the
 * domain clock. */
#ifndef LC_SESSION_ENVIRONMENT_H
#define LC_SESSION_ENVIRONMENT_H

#include "base/arena.h"
#include "store/row.h"

extern const lc_table lc_environment_table;
extern const lc_event_type lc_environment_event;
extern const lc_row_type lc_signal_row; /* lc_signal */

typedef struct lc_signal {
    loci_str key;
    loci_str value;      /* Canonical JSON. */
    loci_str persona_id; /* "" = shared by all personas. */
    int64_t observed_at; /* LOCI_AT_CLOCK = recorded_at, for a new one. */
    int64_t recorded_at;
    loci_str former; /* Set by reads: JSON array of former values, the latest first. */
} lc_signal;

#define LC_SIGNAL_FORMER_MAX 4 /* Former values that are kept. */

/* `*is_late`: the key has a newer signal, so nothing was written. */
loci_status lc_environment_set(lc_tx *tx, const lc_signal *signal, bool *is_late, loci_error *err);
/* The persona's own signal, else the one shared by all. Without one, LOCI_ENOTFOUND, except that
 * `current_time` and `current_date` (UTC) come from the domain clock. Text lives in `arena`. */
loci_status lc_environment_load(lc_tx *tx, loci_str persona_id, loci_str key, lc_arena *arena,
                                lc_signal *out, loci_error *err);

typedef loci_status lc_signal_visit(void *ctx, const lc_signal *signal, loci_error *err);
/* All signals that the persona sees, by key; its own signal comes before the shared one. */
loci_status lc_environment_each(lc_tx *tx, loci_str persona_id, lc_signal_visit *visit, void *ctx,
                                loci_error *err);

#endif /* LC_SESSION_ENVIRONMENT_H */
