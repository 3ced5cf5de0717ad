/* writer.h - group commit: queued writes share transactions and their fsyncs.
 *
 * lc_engine_write() and lc_engine_submit() queue a write. A caller that finds no leader becomes the
 * leader: it commits the queued writes as one group, wakes the callers it answered and, once its
 * own write is answered, hands the lead over. So a lone caller pays no context switch, and many
 * callers share their fsyncs. When several writes are queued, a thread of the writer's own leads.
 * Inline engines have no threads: their callers hand the lead to each other.
 */
#ifndef LC_ENGINE_WRITER_H
#define LC_ENGINE_WRITER_H

#include "engine/engine.h"

typedef struct lc_writer lc_writer;

/* Takes over `db`, the connection of all writes. */
loci_status lc_writer_new(loci_engine *engine, lc_db *db, lc_writer **out, loci_error *err);
/* Commits the submitted writes and ends the thread: no `done` is called after it returns. Only
 * callers that wait may write from then on. NULL is fine. */
void lc_writer_stop(lc_writer *writer);
/* Stops and closes the connection. NULL is fine. */
void lc_writer_free(lc_writer *writer);

/* The store was replaced: the next group opens a new connection first. */
void lc_writer_renew(lc_writer *writer);

typedef struct lc_writer_counters {
    int64_t writes;
    int64_t commits;
    int64_t queue_length;
} lc_writer_counters;
lc_writer_counters lc_writer_get_counters(lc_writer *writer);

#endif /* LC_ENGINE_WRITER_H */
