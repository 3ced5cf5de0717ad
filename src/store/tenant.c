/* tenant.c - the mark is a row of `meta`: "tenant_closed:" and the tenant, with the value 1. */
#include "store/tenant.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/schema.h"

#define NAME_BYTES (sizeof "tenant_closed:" + LC_ID_BYTES_MAX)

static void write_name(loci_str tenant_id, char out[NAME_BYTES])
{
    (void)snprintf(out, NAME_BYTES, "tenant_closed:%.*s", LC_STR_ARG(tenant_id));
}

loci_status lc_tenant_is_open(lc_tx *tx, bool *out, loci_error *err)
{
    char name[NAME_BYTES];
    int64_t is_closed = 0;
    loci_status status;

    *out = true;
    if (!tx->db->checks_tenants || tx->is_open_tenant)
        return LOCI_OK;
    write_name(tx->tenant_id, name);
    status = lc_meta_get_i64(tx, name, 0, &is_closed, err);
    *out = is_closed == 0;
    tx->is_open_tenant = status == LOCI_OK && *out;
    return status;
}

loci_status lc_tenant_check_open(lc_tx *tx, loci_error *err)
{
    bool is_open;
    loci_status status = lc_tenant_is_open(tx, &is_open, err);

    if (status == LOCI_OK && !is_open)
        status = lc_fail(err, LOCI_EUNAVAILABLE,
                         "tenant %.*s is being moved to another database; try again later",
                         LC_STR_ARG(tx->tenant_id));
    return status;
}

loci_status lc_tenant_set_closed(lc_tx *tx, loci_str tenant_id, bool is_closed, loci_error *err)
{
    char name[NAME_BYTES];
    loci_status status = lc_tx_lock_log(tx, err);

    write_name(tenant_id, name);
    return status == LOCI_OK ? lc_meta_set_i64(tx, name, is_closed, err) : status;
}
