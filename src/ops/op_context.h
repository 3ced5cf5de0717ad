/* op_context.h - the operations on kept contexts (op_context_kept.c, op_context_usage.c), for the
 * table in op_context.c. */
#ifndef LC_OPS_OP_CONTEXT_H
#define LC_OPS_OP_CONTEXT_H

#include "ops/op.h"

#define LC_EXAMPLE_CONTEXT_ID "ctx_00000000000000000000000000"

extern const lc_op lc_context_explain, lc_context_check, lc_context_diff, lc_context_delta;
extern const lc_op lc_context_usage, lc_context_models;

#endif /* LC_OPS_OP_CONTEXT_H */
