/* many.h - loci_call_many() for surfaces that must not wait. */
#ifndef LC_OPS_MANY_H
#define LC_OPS_MANY_H

#include "loci.h"

typedef struct lc_many {
    const loci_request *requests;
    size_t count;
} lc_many;

/* loci_call_many() without waiting: looks at all calls, queues them as one write and returns. What
 * is given is copied. `done` gets the JSON array, or an error whose data has `index`; a status
 * other than LOCI_OK means that it will not be called. `options->cancel` must outlive the calls. */
loci_status lc_many_submit(loci_engine *engine, const lc_many *many,
                           const loci_call_options *options, loci_done_fn *done, void *ctx,
                           loci_error *err);

/* Adds `index`, which call it was, to the data of a failure. Returns `status`. */
loci_status lc_many_blame(loci_status status, size_t index, loci_error *err);

#endif /* LC_OPS_MANY_H */
