/* op_resource.h - what the operations on resources share. Only op_resource*.c include it. */
#ifndef LC_OPS_OP_RESOURCE_H
#define LC_OPS_OP_RESOURCE_H

#include "base/limits.h"
#include "ops/op.h"
#include "ops/window_call.h"

#define LC_OBJECT_SCHEME "loci:"

/* The parameter that names the resource, kept in `m` of the input struct `T`. */
#define LC_RESOURCE_PARAM(T, m)                                                                    \
    {                                                                                              \
        LC_ARG_STR("id", T, m), .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID,    \
                                .min = 1, .max = LC_RESOURCE_NAME_BYTES_MAX + 8,                   \
                                .help = "Id (res_...) or URI of the resource"                      \
    }

/* As lc_call_commit_resource() writes it; the second one with warnings. */
extern const lc_record lc_resource_changed_record, lc_resource_said_record;

/* A write to one resource, on its way. */
typedef struct lc_resource_change {
    lc_window_use use;
    lc_resource resource;
} lc_resource_change;

loci_status lc_call_load_resource(lc_call *call, lc_tx *tx, loci_str id, lc_resource_change *out,
                                  loci_error *err);
/* Answers the resource, its content unless that is NULL, and the pressure of the window. */
loci_status lc_call_put_resource(lc_call *call, lc_tx *tx, const lc_resource_change *change,
                                 loci_str content, loci_error *err);
/* Commits `change` as done by the agent, and answers it. */
loci_status lc_call_commit_resource(lc_call *call, lc_tx *tx, lc_resource_change *change,
                                    const char *move, loci_error *err);

/* op_resource_page.c */
extern const lc_op lc_op_resource_page_in, lc_op_resource_load, lc_op_resource_page_out,
    lc_op_resource_recover;

#endif /* LC_OPS_OP_RESOURCE_H */
