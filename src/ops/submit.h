/* submit.h - loci_submit() for an event loop. */
#ifndef LC_OPS_SUBMIT_H
#define LC_OPS_SUBMIT_H

#include "ops/op.h"

/* As loci_submit(), but `done` may be called before it returns, in this thread, when the answer is
 * in memory (lc_op.peek): handing that to another thread would take longer than the answer. */
loci_status lc_submit_or_finish(loci_engine *engine, const char *operation, loci_str args,
                                const loci_call_options *options, loci_done_fn *done, void *ctx,
                                loci_error *err);

/* Sets the hook that is called once after each group of answers (lc_engine_on_drained). */
void lc_submit_on_drained(loci_engine *engine, void (*drained)(void *ctx), void *ctx);

#endif /* LC_OPS_SUBMIT_H */
