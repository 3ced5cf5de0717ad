/* readers.h - a few read connections shared by many threads.
 *
 * Opened when first needed, up to the setting store.readers; a thread that finds none free waits.
 * Because SQLite in WAL mode lets readers and the writer pass each other, reads never wait for a
 * commit. */
#ifndef LC_ENGINE_READERS_H
#define LC_ENGINE_READERS_H

#include "engine/engine.h"

typedef struct lc_readers lc_readers;

loci_status lc_readers_new(loci_engine *engine, int count_max, lc_readers **out, loci_error *err);
void lc_readers_free(lc_readers *readers); /* NULL is fine. */

/* A connection for this thread alone, until it is given back. LOCI_EDEADLINE when none came free.
 */
loci_status lc_readers_take(lc_readers *readers, int64_t deadline_us, lc_db **out, loci_error *err);
void lc_readers_give_back(lc_readers *readers, lc_db *db);
/* The same for a connection that cannot be trusted any more: it is closed. */
void lc_readers_drop(lc_readers *readers, lc_db *db);
/* The store behind the connections was replaced: those in use are closed when given back. */
void lc_readers_renew(lc_readers *readers);

#endif /* LC_ENGINE_READERS_H */
