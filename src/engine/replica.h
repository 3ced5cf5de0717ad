/* replica.h - reads on streaming replicas of a PostgreSQL server.
 *
 * A read may run on a replica if the replica has everything that this process must show:
 *
 *   - its own writes: a user to whom this process has written since the last poll of the primary is
 *     read on the primary;
 *   - every commit that the last poll saw: the poll also reads the commit numbers of all writers
 *     (lc_db_driver.commit_numbers). In its own snapshot on the replica, a read compares them with
 *     those that the snapshot sees.
 *
 * Polls are younger than LC_WATCH_STALE_US_MAX, so that is how old an answer can be, as with one
 * from memory; without such a poll no replica is used. A replica that is behind, does not answer,
 * was promoted or holds another store rests for a moment, and the read runs on the primary, which
 * always has at least half of the time until its deadline.
 *
 * Numbers are compared per writer, not as a sum: commits become visible on the primary in another
 * order than in its log, so equal sums can mean different commits.
 *
 * Any thread. Functions accept NULL: no replicas.
 */
#ifndef LC_ENGINE_REPLICA_H
#define LC_ENGINE_REPLICA_H

#include "engine/engine.h"

extern const lc_setting lc_setting_store_replicas;

typedef struct lc_readers lc_readers;
typedef struct lc_replicas lc_replicas;

/* As the setting store.replicas says; `*out` stays NULL if it names none. Connections are opened
 * when they are first needed. */
loci_status lc_replicas_new(loci_engine *engine, lc_replicas **out, loci_error *err);
void lc_replicas_free(lc_replicas *replicas);

/* Reports a commit of this process, before its callers are answered and before lc_watch_wrote(). */
void lc_replicas_wrote(lc_replicas *replicas, const lc_write *first);
void lc_replicas_wrote_all(lc_replicas *replicas);
/* Reads the commit numbers of the primary. For the thread that watches the store, after each poll
 * for changes and before it reports them: a version that caches see must not be newer than the
 * numbers. */
void lc_replicas_poll(lc_replicas *replicas, lc_db *primary);

/* One read on a replica. The caller's storage. */
typedef struct lc_replica_read {
    lc_replicas *replicas;
    struct lc_replica *replica;
    lc_readers *readers; /* Of the replica: the connection comes from here and goes back there. */
    bool is_checked;     /* The snapshot has everything that the read must see, */
    bool is_behind;      /* or it lacks commits. */
} lc_replica_read;

/* Finds a replica for the read; false: the primary. */
bool lc_replicas_choose(lc_replicas *replicas, const lc_read *read, lc_replica_read *out);
/* The first call in the snapshot. Anything but LOCI_OK: the body must not run. */
loci_status lc_replica_check(lc_replica_read *on, lc_tx *tx, loci_error *err);
/* After the read. False: its result is not the store's; run the read on the primary. */
bool lc_replica_accept(lc_replica_read *on, loci_status status);

typedef struct lc_replica_counters {
    int64_t reads;     /* Answered by a replica. */
    int64_t fallbacks; /* Begun on a replica and answered by the primary. */
} lc_replica_counters;
lc_replica_counters lc_replicas_get_counters(lc_replicas *replicas);

#endif /* LC_ENGINE_REPLICA_H */
