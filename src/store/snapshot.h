/* snapshot.h - the beginning of a user's log, replaced by the rows that it had made.
 *
 *     events      1 2 3 … S-1 S S+1 … head            before
 *     snapshot    -1 0          S+1 … head            after: base_seq is S, here with two parts
 *
 * A snapshot has all projection rows of a user as they were after event S, in parts, which are
 * events of the type store.snapshot with the seqs … -1, 0. They come before all other events, and
 * their `apply` inserts the rows, the first one after it has removed those that are there. So
 * replaying a log from its first row gives the same projections as before, and no room needs code
 * for it. Readers that begin behind seq 0 do not see the parts.
 *
 * Some rows refer by seq to the text in an event (lc_event_type.is_kept): those events stay in the
 * log, between the parts and S + 1. A replay begins with the parts and goes on behind S.
 *
 * A row has the names of its columns, so that a later version can read it: a column that it lacks
 * gets its default, a column or table that is gone is left out.
 */
#ifndef LC_STORE_SNAPSHOT_H
#define LC_STORE_SNAPSHOT_H

#include "store/event.h"

extern const lc_event_type lc_snapshot_event;

/* The rows of a user as the texts of parts. Zeroed storage after init. */
typedef struct lc_snapshot {
    lc_arena arena;
    lc_buf part;     /* The one being written, */
    lc_buf row;      /* and its next row. */
    loci_str *parts; /* In the arena. */
    size_t count, room;
    int64_t bytes; /* Of all parts. */
} lc_snapshot;

void lc_snapshot_init(lc_snapshot *snapshot, lc_heap *heap);
void lc_snapshot_clear(lc_snapshot *snapshot);
/* Reads all projection rows of (tenant_id, user_id) in `tx`, of this store or of a scratch. */
loci_status lc_snapshot_take(lc_snapshot *snapshot, lc_tx *tx, loci_str tenant_id, loci_str user_id,
                             loci_error *err);
/* Makes it the snapshot of the current user of a write, in place of the events until `seq`, the
 * last of which was recorded at `recorded_at`. The events stay until lc_snapshot_trim(). */
loci_status lc_snapshot_put(const lc_snapshot *snapshot, lc_tx *tx, int64_t seq,
                            int64_t recorded_at, loci_error *err);
/* Deletes events that a snapshot of the current user replaced, at most those of `limit` seqs.
 * `*out_any`: there may be more. */
loci_status lc_snapshot_trim(lc_tx *tx, int64_t limit, bool *out_any, loci_error *err);
/* The first event that a snapshot of the current user replaced and that is still there; 0 = none.
 */
loci_status lc_snapshot_find_replaced(lc_tx *tx, int64_t *out, loci_error *err);
/* If the current user of the write has a snapshot, replaces all of the log with the rows of now:
 * something was forgotten, and a snapshot cannot tell which of its rows named it. The last event,
 * which says that, stays for those who follow the log until the next snapshot. */
loci_status lc_snapshot_fold(lc_tx *tx, loci_error *err);

/* The seq that the user's snapshot replaced events until; 0 = the log is whole. */
loci_status lc_snapshot_base(lc_tx *tx, loci_str tenant_id, loci_str user_id, int64_t *out,
                             loci_error *err);
/* Before the first part. */
#define LC_SNAPSHOT_BEGIN INT64_MIN
/* Visits the parts behind the one with the seq `after` in order; none if the log is whole. */
loci_status lc_snapshot_each(lc_tx *tx, const lc_event_range *user, int64_t after,
                             lc_event_visit *visit, void *ctx, loci_error *err);
/* The seq that a part says it replaced events until; 0 if it says none. */
int64_t lc_snapshot_base_of(const lc_event *part);
/* The number of parts that it says there are; 0 likewise. */
int64_t lc_snapshot_count_of(const lc_event *part);
bool lc_snapshot_is_first(const lc_event *part);
/* The refs of the part with this seq. */
#define LC_SNAPSHOT_REFS_BYTES 96
loci_str lc_snapshot_refs(char out[LC_SNAPSHOT_REFS_BYTES], int64_t base, int64_t seq,
                          int64_t count);

/* `refusal` if the current user's events until `seq` were replaced by a snapshot; says from when
 * on there are events. `what` cannot be done, such as "the messages cannot be taken back". */
loci_status lc_snapshot_refuse(lc_tx *tx, int64_t seq, loci_status refusal, const char *what,
                               loci_error *err);

#endif /* LC_STORE_SNAPSHOT_H */
