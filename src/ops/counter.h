/* counter.h - counts tokens for a packer, in the encoding that a call names.
 *
 * A packer's counter has no way to fail, so the first failure is kept: after packing,
 * lc_call_counter_status() returns it. A counter that was opened before the transaction is copied
 * for each run of the body.
 */
#ifndef LC_OPS_COUNTER_H
#define LC_OPS_COUNTER_H

#include "context/build.h"
#include "ops/op.h"

typedef struct lc_call_counter {
    const lc_call *call;
    const lc_tokenizer *tokenizer;
    int encoding; /* Unlike for exact and estimated counts. */
    bool is_estimated;
    loci_status failure;
    loci_error err;
} lc_call_counter;

/* `encoding` is one of LC_ENCODING_CHOICES; `estimate`: loads no data of the encoding. Before the
 * transaction. */
loci_status lc_call_open_counter(lc_call *call, loci_str encoding, bool estimate,
                                 lc_call_counter *out, loci_error *err);
/* The counter for a packer; `counter` must outlive it. */
lc_counter lc_call_counter_of(lc_call_counter *counter);
loci_status lc_call_counter_status(const lc_call_counter *counter, loci_error *err);

#endif /* LC_OPS_COUNTER_H */
