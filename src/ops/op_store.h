/* op_store.h - what the operations on a whole store share. Only op_store*.c include this. */
#ifndef LC_OPS_OP_STORE_H
#define LC_OPS_OP_STORE_H

#include "ops/op.h"
#include "store/upkeep.h"

/* One of them at work. */
typedef struct lc_store_work {
    lc_call *call;
    lc_dump_plan plan; /* Outlives the connection, as it must. */
    loci_status (*run)(struct lc_store_work *work, const lc_upkeep *upkeep, loci_error *err);
    int64_t told_us; /* When the listener heard of it last. */
    char *path;      /* The argument `path`, terminated; NULL = none was given. */
} lc_store_work;

/* Input of the operations on files; verify and migrate take no arguments. */
typedef struct lc_store_input {
    loci_str path;
    bool force;
} lc_store_input;

/* Runs `run` on a connection of its own and reports its progress ten times per second. */
loci_status lc_store_work_run(lc_call *call,
                              loci_status (*run)(lc_store_work *work, const lc_upkeep *upkeep,
                                                 loci_error *err),
                              loci_error *err);

extern const lc_op lc_op_store_rebuild;
extern const lc_op lc_op_store_backup;
extern const lc_op lc_op_store_restore;
extern const lc_op lc_op_store_export;
extern const lc_op lc_op_store_import;

#endif /* LC_OPS_OP_STORE_H */
