/* op_table.c - every operation of loci, in the order of the reference. A new operation is an entry
 * in the file of its group; a new group is one line here. */
#include "ops/op.h"

#include "base/str.h"

/* In the order of the reference. Each list, such as lc_ops_fact, is in its own file and ends with
 * NULL. */
#define LC_OP_GROUPS(X)                                                                            \
    X(fact)                                                                                        \
    X(memory)                                                                                      \
    X(recall)                                                                                      \
    X(entity)                                                                                      \
    X(todo)                                                                                        \
    X(review)                                                                                      \
    X(file)                                                                                        \
    X(context)                                                                                     \
    X(session)                                                                                     \
    X(summary)                                                                                     \
    X(working)                                                                                     \
    X(environment)                                                                                 \
    X(window)                                                                                      \
    X(resource)                                                                                    \
    X(frame)                                                                                       \
    X(model)                                                                                       \
    X(user)                                                                                        \
    X(event)                                                                                       \
    X(job)                                                                                         \
    X(guard)                                                                                       \
    X(pipeline)                                                                                    \
    X(signal)                                                                                      \
    X(config)                                                                                      \
    X(token)                                                                                       \
    X(tenant)                                                                                      \
    X(store)                                                                                       \
    X(compact)                                                                                     \
    X(partition)                                                                                   \
    X(activity)                                                                                    \
    X(meta)

#define DECLARE(group) extern const lc_op *const lc_ops_##group[];
LC_OP_GROUPS(DECLARE)

#define NAME(group) lc_ops_##group,
static const lc_op *const *const groups[] = {LC_OP_GROUPS(NAME)};

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

const lc_op *lc_op_next(lc_op_cursor *at)
{
    while (at->group < GROUP_COUNT && groups[at->group][at->index] == NULL)
        *at = (lc_op_cursor){.group = at->group + 1};
    return at->group < GROUP_COUNT ? groups[at->group][at->index++] : NULL;
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
