/* counter.c - see counter.h. */
#include "ops/counter.h"

#include "base/error.h"
#include "engine/engine.h"
#include "engine/tokenizers.h"

loci_status lc_call_open_counter(lc_call *call, loci_str encoding, bool estimate,
                                 lc_call_counter *out, loci_error *err)
{
    lc_encoding found = LC_ENCODING_O200K_BASE;
    loci_status status = LOCI_OK;

    *out = (lc_call_counter){.call = call};
    (void)lc_encoding_find(encoding, &found); /* One of the choices. */
    if (estimate) {
        lc_tokenizer *estimator = lc_arena_alloc(call->arena, sizeof *estimator);

        if (estimator == NULL)
            return lc_fail_memory(err);
        lc_tokenizer_init(estimator, call->arena->heap, found);
        out->tokenizer = estimator;
    } else {
        status = lc_tokenizers_get(lc_engine_tokenizers(call->engine), found, &out->tokenizer, err);
    }
    if (status == LOCI_OK)
        out->is_estimated = !lc_tokenizer_is_exact(out->tokenizer);
    out->encoding = 2 * (int)found + out->is_estimated;
    return status;
}

static int64_t count_tokens(void *ctx, loci_str text)
{
    lc_call_counter *c = ctx;
    lc_text_tokens count = {0};
    loci_status status = c->failure;

    if (status == LOCI_OK) /* Counting many long lines takes longest. */
        status = lc_call_pause_point(c->call, &c->err);
    if (status == LOCI_OK)
        status = lc_tokenizer_count(c->tokenizer, text, &count, &c->err);
    c->failure = status;
    c->is_estimated |= count.is_estimated;
    return count.tokens;
}

lc_counter lc_call_counter_of(lc_call_counter *counter)
{
    return (lc_counter){count_tokens, counter};
}

loci_status lc_call_counter_status(const lc_call_counter *counter, loci_error *err)
{
    if (counter->failure != LOCI_OK)
        *err = counter->err;
    return counter->failure;
}
