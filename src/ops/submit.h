/* submit.h - loci_submit() for an event loop. */
#ifndef LC_OPS_SUBMIT_H
#define LC_OPS_SUBMIT_H

#include "ops/op.h"

/* As loci_submit(), but `done` may be called before it returns, in this thread: for a read of a few
 * rows. Waking a thread and being woken by it costs more than such a read, which is therefore tried
 * at once, bounded in the store's own steps; one that turns out to be longer goes to the pool. */
loci_status lc_submit_or_finish(loci_engine *engine, const char *operation, loci_str args,
                                const loci_call_options *options, loci_done_fn *done, void *ctx,
                                loci_error *err);

/* Whether an event loop may call it, waiting: it is over in microseconds. */
bool lc_op_is_lookup(const lc_op *op, const loci_engine *engine);

#endif /* LC_OPS_SUBMIT_H */
