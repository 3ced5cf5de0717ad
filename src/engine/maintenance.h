/* maintenance.h - work on the store that no write should wait for: checkpoints of SQLite's WAL,
 * statistics of new tables on PostgreSQL.
 *
 * The driver knows when it is due: after a commit it sets lc_db.wants_maintenance. The writer then
 * wakes a thread, which runs lc_db_driver.maintain on a connection of its own. The thread is
 * started when it is first needed, and its connection is closed when nothing was due for a while.
 * Without a thread (inline engines, or the system has none to give) the connection that commits
 * does the work itself (lc_db.is_maintained).
 */
#ifndef LC_ENGINE_MAINTENANCE_H
#define LC_ENGINE_MAINTENANCE_H

#include "engine/engine.h"

typedef struct lc_maintenance lc_maintenance;

loci_status lc_maintenance_new(loci_engine *engine, lc_maintenance **out, loci_error *err);
/* Ends the thread and closes its connection. NULL is fine. */
void lc_maintenance_free(lc_maintenance *maintenance);

/* There is something to do. Does not block. False: there is no thread that could. */
bool lc_maintenance_wake(lc_maintenance *maintenance);
/* The store was replaced: the thread opens a new connection first. */
void lc_maintenance_renew(lc_maintenance *maintenance);

#endif /* LC_ENGINE_MAINTENANCE_H */
