/* batch.h - many calls in progress: what those that wait and those that do not have in common. Only
 * ops/ includes this. */
#ifndef LC_OPS_BATCH_H
#define LC_OPS_BATCH_H

#include "ops/call.h"
#include "ops/many.h"

/* Zeroed storage is one that lc_batch_clear() may be given. */
typedef struct lc_batch {
    lc_queued_write queued; /* First: the writer gives it back. */
    lc_caller caller;
    loci_principal principal; /* A copy, when it outlives the caller's. */
    const loci_request *requests;
    size_t count;
    loci_str user_id;
    lc_request request;  /* Of the whole batch; without an id there is none. */
    lc_arena arena;      /* Of the whole batch; cleared before each run. */
    lc_buf answers_text; /* The JSON array. */
    bool enqueued_job;
    loci_answer *out;
    loci_done_fn *done; /* Of one that nobody waits for. */
    void *done_ctx;
} lc_batch;

/* Takes the calls and who makes them; both stay borrowed. */
loci_status lc_batch_init(lc_batch *b, loci_engine *engine, const lc_many *many,
                          const loci_call_options *options, loci_error *err);
/* Finds what can be known before the transaction, and makes queued.write. */
loci_status lc_batch_prepare(lc_batch *b, loci_error *err);
/* What has to happen after the commit. */
void lc_batch_committed(const lc_batch *b);
void lc_batch_clear(lc_batch *b);

#endif /* LC_OPS_BATCH_H */
