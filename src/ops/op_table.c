/* op_table.c - every operation of loci, in the order of the reference. A new operation is an entry
 * in the file of its group; a new group is a line here and one among the declarations. */
#include "ops/op.h"

#include "base/str.h"

/* Each defined in its own file; ends with NULL. */
extern const lc_op *const lc_ops_fact[];
extern const lc_op *const lc_ops_context[];
extern const lc_op *const lc_ops_session[];
extern const lc_op *const lc_ops_working[];
extern const lc_op *const lc_ops_environment[];
extern const lc_op *const lc_ops_model[];
extern const lc_op *const lc_ops_event[];
extern const lc_op *const lc_ops_job[];
extern const lc_op *const lc_ops_config[];
extern const lc_op *const lc_ops_token[];
extern const lc_op *const lc_ops_store[];
extern const lc_op *const lc_ops_meta[];

static const lc_op *const *const groups[] = {
    lc_ops_fact,  lc_ops_context, lc_ops_session, lc_ops_working, lc_ops_environment, lc_ops_model,
    lc_ops_event, lc_ops_job,     lc_ops_config,  lc_ops_token,   lc_ops_store,       lc_ops_meta,
};

#define GROUP_COUNT (sizeof groups / sizeof groups[0])

size_t lc_op_count(void)
{
    size_t count = 0;

    for (size_t group = 0; group < GROUP_COUNT; group++) {
        for (const lc_op *const *op = groups[group]; *op != NULL; op++)
            count++;
    }
    return count;
}

const lc_op *lc_op_at(size_t index)
{
    for (size_t group = 0; group < GROUP_COUNT; group++) {
        for (const lc_op *const *op = groups[group]; *op != NULL; op++) {
            if (index == 0)
                return *op;
            index--;
        }
    }
    return NULL;
}

/* One after the other: a hundred names are compared in well under a microsecond. */
const lc_op *lc_op_find(loci_str name)
{
    for (size_t group = 0; group < GROUP_COUNT; group++) {
        for (const lc_op *const *op = groups[group]; *op != NULL; op++) {
            if (lc_str_is(name, (*op)->name))
                return *op;
        }
    }
    return NULL;
}
