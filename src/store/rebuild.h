/* rebuild.h - rebuilds the projections from the log, beside the old ones, while the store is in
 * use.
 *
 *     begin ---> replay … replay ---> caught up ---> swap
 *       |          slices, each a commit   |           one commit: the rest of the log, then the
 *       |                                  |           shadows take the tables' names
 *       new shadow tables `x__new`         may be compared with the old tables
 *
 * The swap only renames, so it takes the same time whatever the tables hold; the old ones are
 * discarded afterwards, in slices too (store/discard.h). A rebuild that finds some left discards
 * them first.
 *
 * `rebuild_heads` stores how far each user was replayed, `meta.rebuild` which rebuild is running:
 * so an interrupted rebuild continues where it was, and several processes may share one.
 */
#ifndef LC_STORE_REBUILD_H
#define LC_STORE_REBUILD_H

#include "store/upkeep.h"

typedef enum lc_rebuild_phase {
    LC_REBUILD_REPLAYING,
    LC_REBUILD_CAUGHT_UP, /* The shadows had all of the log when the slice committed. */
    LC_REBUILD_DONE       /* They are the projections now. */
} lc_rebuild_phase;

/* One process's part in a rebuild. None of it has to survive a crash. */
typedef struct lc_rebuild {
    lc_user_walk walk; /* The user being replayed; earlier users wait for the next round. */
    lc_buf upcast;
    int64_t generation;      /* The one being built; 0 before the first slice. */
    bool may_swap;           /* Set by the caller: the slice that has caught up ends the rebuild. */
    int64_t slice_us;        /* Set by the caller: how long a slice may take; 0 = a default. */
    lc_rebuild_phase phase;  /* After a slice that was committed. */
    int64_t events_done;     /* Replayed so far, and */
    int64_t events_total;    /* all that there are, as the last slice saw it. */
    int64_t events_analyzed; /* events_done when statistics were collected last. */
} lc_rebuild;

void lc_rebuild_init(lc_rebuild *rebuild, lc_heap *heap);
void lc_rebuild_clear(lc_rebuild *rebuild);

/* One slice: a lc_tx_body whose ctx is the lc_rebuild, for a write of the store itself. A log with
 * a hole or with an event that does not apply is LOCI_ECORRUPT, naming user and event. */
loci_status lc_rebuild_slice(lc_tx *tx, void *ctx, loci_error *err);

/* Between two slices, on a connection outside any transaction: updates the statistics of the query
 * planner about the shadows if they have grown much. */
bool lc_rebuild_wants_statistics(const lc_rebuild *rebuild, const lc_db_driver *driver);
loci_status lc_rebuild_collect_statistics(lc_rebuild *rebuild, lc_db *db, loci_error *err);

/* A complete rebuild, slice by slice, on a connection without a queue: at open, if the shape has
 * changed. The old tables are discarded, too. */
loci_status lc_rebuild_run(lc_db *db, lc_progress *progress, void *ctx, loci_error *err);

/* How the shadows differ from the tables that they will replace. */
typedef struct lc_rebuild_report {
    bool was_compared;     /* False: the old tables have another shape. */
    int64_t users_skipped; /* Could not be compared: they were written to all the time. */
    int64_t differences;
    lc_buf tables; /* The ones that differ, "facts, claims". */
} lc_rebuild_report;

/* Runs one more slice, without swapping; implemented by the owner of the write path. */
typedef loci_status lc_rebuild_catch_up(void *ctx, loci_error *err);

/* Compares the projections with their shadows, user by user, on snapshots of upkeep->db. */
loci_status lc_rebuild_compare(const lc_upkeep *upkeep, lc_rebuild_catch_up *catch_up,
                               void *catch_up_ctx, lc_rebuild_report *out, loci_error *err);

#endif /* LC_STORE_REBUILD_H */
