/* many_submit.c - many calls that nobody waits for. Their storage belongs to whoever will call
 * back, and is freed right after. */
#include "ops/many.h"

#include "base/error.h"
#include "ops/batch.h"

static void free_batch(lc_batch *b)
{
    lc_heap *heap = &lc_engine_env(b->caller.engine)->heap;

    lc_batch_clear(b);
    lc_heap_free(heap, b, sizeof *b, LOCI_MEM_REQUESTS);
}

static loci_status take_note(void *ctx, loci_error *err)
{
    (void)err;
    lc_batch_committed(ctx);
    return LOCI_OK;
}

static void finish(lc_queued_write *queued)
{
    lc_batch *b = (lc_batch *)queued;
    loci_status status = queued->write.status;
    loci_answer *answer = NULL;

    if (status == LOCI_OK) {
        /* The calls stand whatever comes of this: they are committed. */
        (void)lc_engine_guard(b->caller.engine, take_note, b, NULL);
        answer = b->out;
        b->out = NULL;
    }
    b->done(b->done_ctx, status, answer, status == LOCI_OK ? NULL : &queued->write.error);
    free_batch(b);
}

/* What the caller gives is borrowed for the call to lc_many_submit() only. */
static loci_status keep(lc_batch *b, loci_error *err)
{
    loci_request *requests = lc_arena_zalloc_array(&b->arena, b->count, sizeof *requests);

    if (requests == NULL || !lc_caller_keep(&b->caller, &b->arena, &b->principal))
        return lc_fail_memory(err);
    for (size_t i = 0; i < b->count; i++) {
        requests[i] = b->requests[i];
        requests[i].operation = lc_arena_copy(&b->arena, loci_str_of(requests[i].operation)).ptr;
        requests[i].args = lc_arena_copy(&b->arena, requests[i].args);
        if (requests[i].operation == NULL || requests[i].args.ptr == NULL)
            return lc_fail_memory(err);
    }
    b->requests = requests;
    return LOCI_OK;
}

static loci_status begin(void *ctx, loci_error *err)
{
    lc_batch *b = ctx;
    loci_status status = keep(b, err);

    return status == LOCI_OK ? lc_batch_prepare(b, err) : status;
}

loci_status lc_many_submit(loci_engine *engine, const lc_many *many,
                           const loci_call_options *options, loci_done_fn *done, void *ctx,
                           loci_error *err)
{
    lc_batch *b = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *b, LOCI_MEM_REQUESTS);
    loci_status status;

    if (b == NULL)
        return lc_fail_memory(err);
    b->done = done;
    b->done_ctx = ctx;
    b->caller.engine = engine; /* For free_batch(), also when there is no caller. */
    status = lc_batch_init(b, engine, many, options, err);
    if (status == LOCI_OK)
        status = lc_engine_guard(engine, begin, b, err);
    if (status != LOCI_OK) {
        free_batch(b);
        return status;
    }
    b->queued.done = finish;
    lc_engine_submit(engine, &b->queued);
    return LOCI_OK;
}
