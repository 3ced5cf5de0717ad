/* tenant.h - tenants that a store no longer takes events of, because they move to another one.
 *
 * Daemons learn of a change of store.routes at different times, and one that was stopped learns of
 * it last. So a move begins with a mark in the store that the tenant leaves. In connections of
 * engines with routes (lc_db.checks_tenants) each write of the tenant reads the mark before its
 * first event. The mark is set while no other transaction holds a head, so every event is either
 * committed before it, and in an export that begins later, or refused. An import ignores it.
 */
#ifndef LC_STORE_TENANT_H
#define LC_STORE_TENANT_H

#include "store/db.h"

/* Whether the store takes events of the tenant of the transaction. */
loci_status lc_tenant_is_open(lc_tx *tx, bool *out, loci_error *err);
/* LOCI_EUNAVAILABLE if it does not. */
loci_status lc_tenant_check_open(lc_tx *tx, loci_error *err);
/* In a write: closes or opens a tenant. */
loci_status lc_tenant_set_closed(lc_tx *tx, loci_str tenant_id, bool is_closed, loci_error *err);

#endif /* LC_STORE_TENANT_H */
