/* upkeep.h - what work on a whole store has in common: verify, rebuild, export, import.
 *
 * It runs on a connection of its own, takes long, tells how far it is and can be stopped between
 * two steps. It never holds a snapshot or the write lock for longer than one step.
 */
#ifndef LC_STORE_UPKEEP_H
#define LC_STORE_UPKEEP_H

#include "store/dump.h"

/* `total` 0 = not known. Any status but LOCI_OK ends the work with that status. */
typedef loci_status lc_upkeep_progress(void *ctx, const char *what, int64_t done, int64_t total,
                                       loci_error *err);

typedef struct lc_upkeep {
    lc_db *db;
    const lc_dump_plan *plan;     /* Of db's catalogue; export and import need none. */
    lc_upkeep_progress *progress; /* NULL = nobody listens. */
    void *ctx;
} lc_upkeep;

/* One step: bodies of reads and slices of writes stop after this many events or this long. */
#define LC_UPKEEP_EVENTS 1000
#define LC_UPKEEP_BYTES ((size_t)8 << 20)
#define LC_UPKEEP_STEP_US 200000

/* How long a step of upkeep waits for the write lock. */
#define LC_UPKEEP_WAIT_MS 60000

#define LC_USER_LABEL_BYTES 84
/* "tenant/user" for messages, each cut to 40 bytes. */
void lc_user_label(char out[LC_USER_LABEL_BYTES], loci_str tenant_id, loci_str user_id);

/* Whether a status speaks of the data at hand rather than of the world: a verify notes the former
 * as a problem and goes on, but cannot go on after the latter. */
bool lc_status_is_about_data(loci_status status);

/* How many users have a head, and the sum of their events. */
loci_status lc_upkeep_count(lc_db *db, int64_t *out_users, int64_t *out_events, loci_error *err);

loci_status lc_upkeep_report(const lc_upkeep *upkeep, const char *what, int64_t done, int64_t total,
                             loci_error *err);

#endif /* LC_STORE_UPKEEP_H */
