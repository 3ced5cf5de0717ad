/* route.h - tenants whose data is in another database than the main store.
 *
 * The main store has the tokens and the settings. `store.databases` names further databases, and
 * `store.routes` says which tenants are in which; all other tenants are in the main store. There is
 * one engine per database, with its own connections, caches, jobs and threads, so a database that
 * is slow or down affects its tenants only. These engines share the settings, the models and the
 * guard of memory of the main engine, which opens and closes them. A database that cannot be opened
 * is tried again every second; meanwhile calls for its tenants are LOCI_EUNAVAILABLE.
 *
 * Calls choose their engine once, by tenant and operation (lc_call_route() in ops/call.h). Below
 * that an engine knows nothing of others.
 *
 * A route changes while daemons run, and each learns of it at its own time. The fence is in the
 * database that the tenant leaves: store/tenant.h.
 */
#ifndef LC_ENGINE_ROUTE_H
#define LC_ENGINE_ROUTE_H

#include "engine/engine.h"

extern const lc_setting lc_setting_store_databases;
extern const lc_setting lc_setting_store_routes;

typedef struct lc_routes lc_routes;

/* As the settings of the main engine say; `*out` stays NULL if store.databases names none. Waits a
 * few seconds for the first attempt to open each database. */
loci_status lc_routes_new(loci_engine *main, lc_routes **out, loci_error *err);
/* Closes the engines of the databases. No call is running. NULL is fine. */
void lc_routes_free(lc_routes *routes);

/* Reads store.routes again, and passes changed settings on to the engines. */
void lc_routes_settings_changed(lc_routes *routes);

/* Further databases in the order of the setting; false behind the last one. `engine` is NULL while
 * it is not open. */
typedef struct lc_routed_database {
    const char *name;
    const char *store; /* Without a password. */
    loci_engine *engine;
} lc_routed_database;
bool lc_engine_database_at(loci_engine *main, size_t index, lc_routed_database *out);

#endif /* LC_ENGINE_ROUTE_H */
