/* op_fact.h - the operations on facts that op_fact_write.c has. Only those two include this. */
#ifndef LC_OPS_OP_FACT_H
#define LC_OPS_OP_FACT_H

#include "ops/op.h"

extern const lc_op lc_op_fact_write;
extern const lc_op lc_op_fact_retract;
extern const lc_op lc_op_fact_review;

#endif /* LC_OPS_OP_FACT_H */
