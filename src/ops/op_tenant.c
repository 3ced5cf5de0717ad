/* op_tenant.c - tenant.close, tenant.open: the fence of a move to another database
 * (store/tenant.h, docs/scale.md). */
#include "base/error.h"
#include "base/str.h"
#include "ops/op.h"
#include "store/tenant.h"

typedef struct tenant_input {
    loci_str tenant;
} tenant_input;

static const lc_param tenant_params[] = {
    LC_NAME_PARAM("tenant", tenant_input, tenant, LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL,
                  "Tenant whose data moves"),
    {.name = NULL},
};

static const lc_record tenant_answer = {
    .members =
        (const lc_result[]){
            {"tenant", LC_PARAM_STRING, "Tenant"},
            {"closed", LC_PARAM_BOOL, "Whether this store refuses its events"},
            {NULL},
        },
};

static loci_status set_closed(lc_call *call, lc_tx *tx, bool is_closed, loci_error *err)
{
    const tenant_input *in = call->input;
    loci_status status = lc_tenant_set_closed(tx, in->tenant, is_closed, err);

    lc_jw_object(&call->out);
    lc_jw_member_str(&call->out, "tenant", in->tenant);
    lc_jw_member_bool(&call->out, "closed", is_closed);
    lc_jw_end(&call->out);
    return status;
}

static loci_status run_close(lc_call *call, lc_tx *tx, loci_error *err)
{
    return set_closed(call, tx, true, err);
}

static loci_status run_open(lc_call *call, lc_tx *tx, loci_error *err)
{
    return set_closed(call, tx, false, err);
}

static const lc_op op_close = {
    .name = "tenant.close",
    .help = "Refuse events of a tenant in this store, before its data moves to another one",
    .params = tenant_params,
    .input_bytes = sizeof(tenant_input),
    .answer = &tenant_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_ADMIN | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/tenants/{tenant}/close",
    .look = {.sentence = "tenant {tenant} is closed in this store"},
    .example = "{\"tenant\":\"acme\"}",
    .run = run_close,
};

static const lc_op op_open = {
    .name = "tenant.open",
    .help = "Accept events of a tenant in this store again",
    .params = tenant_params,
    .input_bytes = sizeof(tenant_input),
    .answer = &tenant_answer,
    .cost = LC_COST_WRITE,
    .flags = LC_OP_ADMIN | LC_OP_MUTATES | LC_OP_IDEMPOTENT,
    .http = "POST /v1/tenants/{tenant}/open",
    .look = {.sentence = "tenant {tenant} is open in this store"},
    .example = "{\"tenant\":\"acme\"}",
    .run = run_open,
};

extern const lc_op *const lc_ops_tenant[];
const lc_op *const lc_ops_tenant[] = {&op_close, &op_open, NULL};
