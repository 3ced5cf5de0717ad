/* writer.h - the queue of writes and the role of running it.
 *
 * The writer is a role, not a thread. Whoever queues a write and finds the role free takes it, runs
 * what is queued as one commit, wakes everybody it answered and, once its own write is answered,
 * hands the role on: to a thread that keeps it until the queue is empty, or to the one that is
 * still waiting. So a lone caller pays no switch between threads, and many callers share their
 * fsyncs. Writes that nobody waits for (lc_writer_submit) are run by whoever has the role, and by
 * that thread when nobody has it. An inline engine has no threads: there callers hand the role to
 * each other.
 */
#ifndef LC_ENGINE_WRITER_H
#define LC_ENGINE_WRITER_H

#include "engine/engine.h"

typedef struct lc_writer lc_writer;

/* Takes over `db`, the connection all writes go through. */
loci_status lc_writer_new(loci_engine *engine, lc_db *db, lc_writer **out, loci_error *err);
/* Runs what was submitted and ends the thread, so that nobody is called back any more; from then on
 * only callers that wait may write. NULL is fine. */
void lc_writer_stop(lc_writer *writer);
/* Stops and closes the connection. NULL is fine. */
void lc_writer_free(lc_writer *writer);

/* Waits until `write` is answered; its status. */
loci_status lc_writer_run(lc_writer *writer, lc_write *write);
void lc_writer_submit(lc_writer *writer, lc_queued_write *queued);

/* The store was replaced: the connection is opened anew before the next write. */
void lc_writer_renew(lc_writer *writer);

typedef struct lc_writer_counters {
    int64_t writes;
    int64_t commits;
    int64_t queue_length;
} lc_writer_counters;
lc_writer_counters lc_writer_get_counters(lc_writer *writer);

#endif /* LC_ENGINE_WRITER_H */
