/* submit.h - loci_submit() for an event loop. */
#ifndef LC_OPS_SUBMIT_H
#define LC_OPS_SUBMIT_H

#include "ops/op.h"

/* As loci_submit(), but `done` may be called before it returns, in this thread, when the answer is
 * in memory (lc_op.peek): handing that to another thread would take longer than the answer. */
loci_status lc_submit_or_finish(loci_engine *engine, const char *operation, loci_str args,
                                const loci_call_options *options, loci_done_fn *done, void *ctx,
                                loci_error *err);

#endif /* LC_OPS_SUBMIT_H */
