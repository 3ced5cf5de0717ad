/* submit.c - loci_submit(): a call without a waiting thread.
 *
 * Arguments are copied, parsed and checked before it returns. Writes then wait in the writer's
 * queue, other operations in the pool's; the thread that runs a call also calls back. That thread
 * owns the storage of the call and frees it right after. A call with a listener runs in a thread of
 * its own, because the listener may wait.
 */
#include "ops/call.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "engine/pool.h"
#include "ops/surface.h"

typedef struct submitted {
    lc_queued_write queued; /* First: the writer gives it back. */
    lc_task task;
    lc_run run;
    lc_caller caller;
    loci_principal principal; /* A copy, when there is one. */
    const char *operation;    /* These two only until it is queued. */
    loci_str args;
    lc_heap *heap;
    loci_sink_fn *sink; /* Or NULL. */
    loci_done_fn *done;
    void *done_ctx; /* Also of `sink`. */
    bool may_finish_now;
} submitted;

static void finish(submitted *s, loci_status status, const loci_error *err)
{
    loci_answer *answer = NULL;

    if (status == LOCI_OK) {
        answer = s->run.out;
        s->run.out = NULL;
    }
    s->done(s->done_ctx, status, answer, status == LOCI_OK ? NULL : err);
    lc_run_end(&s->run);
    lc_heap_free(s->heap, s, sizeof *s, LOCI_MEM_REQUESTS);
}

static loci_status take_note(void *ctx, loci_error *err)
{
    (void)err;
    lc_run_committed(ctx);
    return LOCI_OK;
}

static void finish_write(lc_queued_write *queued)
{
    submitted *s = (submitted *)queued;

    /* Errors are ignored: the call is committed. */
    if (queued->write.status == LOCI_OK)
        (void)lc_engine_guard(s->caller.engine, take_note, &s->run, NULL);
    finish(s, queued->write.status, &queued->write.error);
}

static loci_status wait_for_run(void *ctx, loci_error *err)
{
    return lc_run_wait(ctx, err);
}

static void run_task(void *ctx)
{
    submitted *s = ctx;
    loci_error err;

    finish(s, lc_engine_guard(s->run.call.engine, wait_for_run, &s->run, &err), &err);
}

/* A copy of `*text`, if there is one. */
static bool keep_text(lc_arena *arena, const char **text)
{
    if (*text == NULL)
        return true;
    *text = lc_arena_copy(arena, loci_str_of(*text)).ptr;
    return *text != NULL;
}

bool lc_caller_keep(lc_caller *caller, lc_arena *arena, loci_principal *out)
{
    const char *request_id = caller->request_id.ptr;
    const char *client = caller->client.ptr;
    bool is_kept = keep_text(arena, &request_id) && keep_text(arena, &client);

    caller->request_id = loci_str_of(request_id);
    caller->client = loci_str_of(client);
    if (caller->principal == NULL)
        return is_kept;
    /* One built with an older header ends before the newer members. */
    memcpy(out, caller->principal, offsetof(loci_principal, permissions));
    out->permissions = lc_principal_permissions(caller->principal);
    out->token = lc_principal_token(caller->principal);
    out->size = sizeof *out;
    caller->principal = out;
    return is_kept && keep_text(arena, &out->tenant) && keep_text(arena, &out->user) &&
           keep_text(arena, &out->persona) && keep_text(arena, &out->authority) &&
           keep_text(arena, &out->trust) && keep_text(arena, &out->permissions) &&
           keep_text(arena, &out->token);
}

/* Arguments of the caller are borrowed only until loci_submit() returns: the run keeps a copy. */
static loci_status begin(void *ctx, loci_error *err)
{
    submitted *s = ctx;
    loci_str copy;

    lc_run_init(&s->run, s->caller.engine);
    copy = lc_arena_copy(&s->run.arena, s->args);
    if (copy.ptr == NULL || !lc_caller_keep(&s->caller, &s->run.arena, &s->principal))
        return lc_fail_memory(err);
    return lc_run_begin(&s->run, &s->caller, s->operation, copy, err);
}

/* ---- At once --------------------------------------------------------------------------------- */

typedef struct attempt {
    submitted *s;
    bool is_answered;
} attempt;

static loci_status peek(void *ctx, loci_error *err)
{
    attempt *a = ctx;

    (void)err;
    a->is_answered = lc_run_peek(&a->s->run);
    return LOCI_OK;
}

/* Whether its answer was in memory: then it is finished. */
static bool was_peeked(submitted *s)
{
    attempt a = {.s = s};

    if (!s->may_finish_now || lc_engine_guard(s->caller.engine, peek, &a, NULL) != LOCI_OK ||
        !a.is_answered)
        return false;
    finish(s, LOCI_OK, NULL);
    return true;
}

/* ---- Later ----------------------------------------------------------------------------------- */

static loci_status queue(submitted *s, loci_error *err)
{
    const lc_op *op = s->run.call.op;
    loci_engine *engine = s->run.call.engine;

    /* A call that computes before it writes, or waits for the job it started, needs a thread. */
    if (op->cost == LC_COST_WRITE && (op->flags & LC_OP_ALONE) == 0 && op->wait == NULL &&
        op->compute == NULL) {
        s->queued.write = lc_run_write(&s->run);
        s->queued.done = finish_write;
        return lc_engine_submit(engine, &s->queued, err);
    }
    if (lc_engine_is_inline(engine)) {
        run_task(s);
        return LOCI_OK;
    }
    if (was_peeked(s))
        return LOCI_OK;
    s->task = (lc_task){.run = run_task,
                        .ctx = s,
                        .is_short = op->cost == LC_COST_POINT && !lc_engine_is_far(engine),
                        .waits_for_caller = s->sink != NULL,
                        .group = lc_hash64(lc_engine_tenant_of(engine, s->caller.principal))};
    return lc_engine_queue_task(engine, &s->task, err);
}

static loci_status submit(const submitted *what, const loci_call_options *options, loci_error *err)
{
    loci_engine *engine = what->caller.engine;
    loci_status status = lc_call_route(&engine, what->operation, options, err);
    lc_heap *heap = &lc_engine_env(engine)->heap;
    submitted *s;

    if (status != LOCI_OK)
        return status;
    s = lc_heap_alloc(heap, sizeof *s, LOCI_MEM_REQUESTS);
    if (s == NULL)
        return lc_fail_memory(err);
    *s = *what;
    s->heap = heap;
    status = lc_caller_init(&s->caller, engine, options, err);
    s->caller.sink = s->sink;
    s->caller.sink_ctx = s->done_ctx;
    if (status == LOCI_OK)
        status = lc_engine_guard(engine, begin, s, err);
    if (status == LOCI_OK)
        status = queue(s, err);
    if (status != LOCI_OK) {
        lc_run_end(&s->run);
        lc_heap_free(heap, s, sizeof *s, LOCI_MEM_REQUESTS);
    }
    return status;
}

loci_status loci_submit(loci_engine *engine, const char *operation, loci_str args,
                        const loci_call_options *options, loci_done_fn *done, void *ctx,
                        loci_error *err)
{
    submitted s = {.caller = {.engine = engine},
                   .operation = operation,
                   .args = args,
                   .done = done,
                   .done_ctx = ctx};

    return submit(&s, options, err);
}

loci_status lc_submit_or_finish(loci_engine *engine, const char *operation, loci_str args,
                                const loci_call_options *options, loci_done_fn *done, void *ctx,
                                loci_error *err)
{
    submitted s = {.caller = {.engine = engine},
                   .operation = operation,
                   .args = args,
                   .done = done,
                   .done_ctx = ctx,
                   .may_finish_now = true};

    return submit(&s, options, err);
}

loci_status lc_submit_stream(loci_engine *engine, const lc_streamed_call *call,
                             const loci_call_options *options, loci_error *err)
{
    submitted s = {.caller = {.engine = engine},
                   .operation = call->operation,
                   .args = call->args,
                   .sink = call->sink,
                   .done = call->done,
                   .done_ctx = call->ctx};

    return submit(&s, options, err);
}

bool lc_chunk_line(loci_str chunk, loci_str *out)
{
    static const loci_str head = LC_STR("{\"line\":");

    if (!lc_str_starts(chunk, head) || chunk.len < head.len + 2)
        return false;
    *out = (loci_str){chunk.ptr + head.len, chunk.len - head.len - 1};
    return true;
}

bool lc_answer_is_replayed(const loci_answer *answer)
{
    return answer->is_replayed;
}

void lc_submit_on_drained(loci_engine *engine, void (*drained)(void *ctx), void *ctx)
{
    lc_engine_on_drained(engine, drained, ctx);
}
