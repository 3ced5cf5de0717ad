/* grown.h - which logs have grown between two snapshots.
 *
 * A place says which commits a snapshot sees. Given the place of an earlier snapshot, a later one
 * lists each user whose log has grown since, with the range of the new events. The cost depends on
 * the number of new events only, not on the number of users or on the size of the log. It is exact
 * although commits of PostgreSQL overtake each other: an event is in exactly one list of a reader
 * that uses the place of each list for the next.
 *
 * A place means nothing in another store, nor after a restore or a division of the log
 * (store/partition.h): the reader compares lc_grown_mark(). It is text, made and understood by the
 * driver (lc_grown_sql).
 */
#ifndef LC_STORE_GROWN_H
#define LC_STORE_GROWN_H

#include "base/buf.h"
#include "store/db.h"

/* Of a driver. */
typedef struct lc_grown_sql {
    lc_sql place; /* No parameter; one row with one text. */
    lc_sql users; /* A place and a limit; tenant_id, user_id, first and last new seq. */
} lc_grown_sql;

typedef struct lc_grown {
    loci_str tenant_id; /* Both are borrowed for the call. */
    loci_str user_id;
    int64_t first_seq, last_seq; /* The new events. */
} lc_grown;

typedef loci_status lc_grown_visit(void *ctx, const lc_grown *grown, loci_error *err);

/* A number: places of snapshots in which it was another one are invalid. */
loci_status lc_grown_mark(lc_tx *tx, int64_t *out, loci_error *err);
/* In a write: makes all places invalid. */
loci_status lc_grown_renew_mark(lc_tx *tx, loci_error *err);
/* Replaces the content of `out` by the place of the transaction's snapshot. */
loci_status lc_grown_place(lc_tx *tx, lc_buf *out, loci_error *err);
/* The users whose logs have grown since `place`, at most `limit` of them, in no order. */
loci_status lc_grown_each(lc_tx *tx, loci_str place, int64_t limit, lc_grown_visit *visit,
                          void *ctx, loci_error *err);

#endif /* LC_STORE_GROWN_H */
