/* many.c - loci_call_many(): up to 100 calls of one user in one transaction.
 *
 * Arguments may refer to earlier answers, so each call is parsed and checked inside the
 * transaction, right before it runs; checks that need no answers (all calls have the same user,
 * none must run alone) come first. A call that fails makes the whole body fail, and the store rolls
 * back the other calls. A batch that only reads runs on one snapshot instead, and its answer is
 * never stored: reading again gives the same.
 */
#include "ops/surface.h"

#include <stdio.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "engine/pool.h"
#include "ops/call.h"

/* Zeroed storage is one that clear() may be given. */
typedef struct batch {
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
    bool writes;  /* Any of them does: else all run on one snapshot, beside the writer. */
    lc_task task; /* Of lc_many_submit(), for a batch that only reads. */
    loci_answer *out;
    loci_done_fn *done; /* Of lc_many_submit(). */
    void *done_ctx;
} batch;

loci_status lc_many_blame(loci_status status, size_t index, loci_error *err)
{
    char data[LOCI_ERROR_DATA_BYTES + 32];
    int len;

    if (status == LOCI_OK || err == NULL)
        return status;
    if (err->data[0] == '{' && err->data[1] != '}')
        len = snprintf(data, sizeof data, "{\"index\":%zu,%s", index, err->data + 1);
    else
        len = snprintf(data, sizeof data, "{\"index\":%zu}", index);
    if (len >= LOCI_ERROR_DATA_BYTES) /* The particulars no longer fit; the index matters more. */
        len = snprintf(data, sizeof data, "{\"index\":%zu}", index);
    lc_error_set_data(err, (loci_str){data, (size_t)len});
    return status;
}

/* Finds the user of a call, as far as possible without running the calls before it. */
static loci_status read_user(const batch *b, const lc_json *args, loci_str *out, loci_error *err)
{
    const lc_json *user = NULL;

    *out = b->caller.principal != NULL ? loci_str_of(b->caller.principal->user) : LC_STR_NONE;
    if (out->len == 0)
        *out = LC_STR("default");
    if (lc_json_kind_of(args) == LC_JSON_OBJECT)
        user = lc_json_member(args, LC_STR("user_id"));
    if (user == NULL || lc_json_kind_of(user) != LC_JSON_STRING)
        return LOCI_OK; /* Absent, or wrong: the check will say so. */
    *out = lc_json_str(user);
    if (out->len > 0 && out->ptr[0] == '$')
        return lc_fail(err, LOCI_EINVAL, "user_id: a batch cannot take it from an answer");
    return LOCI_OK;
}

static loci_status fail_other_user(loci_error *err)
{
    return lc_fail(err, LOCI_EINVAL,
                   "a batch is of one user: this call is of another than the first");
}

static loci_status check_user(batch *b, const lc_json *args, loci_error *err)
{
    loci_str user_id;
    loci_status status = read_user(b, args, &user_id, err);

    if (status != LOCI_OK)
        return status;
    if (b->user_id.ptr == NULL) {
        b->user_id = lc_arena_copy(&b->arena, user_id);
        return b->user_id.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
    }
    if (!lc_str_eq(b->user_id, user_id))
        return fail_other_user(err);
    return LOCI_OK;
}

/* Hashes the batch, for its request_id: every operation and its arguments, in normalized spelling.
 */
static loci_status hash_request(batch *b, const lc_op *op, const lc_json *args, lc_arena *scratch,
                                loci_error *err)
{
    lc_hash128 hash = lc_hash128_chain(b->request.args_hash, loci_str_of(op->name));
    lc_buf text;
    loci_status status;

    lc_buf_init(&text, b->arena.heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    status = lc_json_canonical(scratch, args, &text, err);
    b->request.args_hash = lc_hash128_chain(hash, lc_buf_str(&text));
    lc_buf_clear(&text);
    return status;
}

static loci_status look_ahead(batch *b, size_t index, lc_arena *scratch, loci_error *err)
{
    loci_str text = lc_str_trim(b->requests[index].args);
    const lc_json *args;
    const lc_op *op;
    loci_status status = lc_op_load(loci_str_of(b->requests[index].operation), &op, err);

    if (status != LOCI_OK)
        return status;
    if ((op->flags & LC_OP_ALONE) != 0)
        return lc_fail(err, LOCI_EINVAL, "%s cannot be part of a batch; call it alone", op->name);
    if ((op->flags & LC_OP_SECRET) != 0 && b->request.request_id.ptr != NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "%s answers a secret, which is never stored: it cannot be part of a batch "
                       "with a request_id",
                       op->name);
    b->writes |= op->cost == LC_COST_WRITE || (op->flags & LC_OP_MUTATES) != 0;
    status = lc_json_parse(scratch, text.len > 0 ? text : LC_STR("{}"), 0, &args, err);
    if (status == LOCI_OK) {
        lc_call call = {.op = op};

        /* Now, because a repeat is answered without running the call. */
        lc_call_set_caller(&call, &b->caller);
        status = lc_op_check_rights(&call, args, err);
    }
    if (status == LOCI_OK && (op->flags & LC_OP_USER) != 0)
        status = check_user(b, args, err);
    if (status == LOCI_OK && b->request.request_id.ptr != NULL)
        status = hash_request(b, op, args, scratch, err);
    return status;
}

static loci_status look_ahead_at_all(batch *b, loci_error *err)
{
    lc_arena scratch;
    loci_status status = lc_request_init(&b->request, &b->caller, b->caller.request_id, &b->arena,
                                         err);

    lc_arena_init(&scratch, b->arena.heap, LOCI_MEM_REQUESTS);
    for (size_t i = 0; status == LOCI_OK && i < b->count; i++) {
        status = lc_many_blame(look_ahead(b, i, &scratch, err), i, err);
        lc_arena_clear(&scratch);
    }
    return status;
}

/* Runs one call and keeps its answer in the batch's arena. */
static loci_status run_one(batch *b, lc_tx *tx, loci_str *answers, size_t index, loci_error *err)
{
    const loci_request *request = &b->requests[index];
    lc_caller caller = b->caller;
    lc_run run = {.call.is_batched = true};
    loci_str args;
    loci_status status = LOCI_OK;

    if (request->at_us != LOCI_AT_CLOCK)
        status = lc_caller_set_time(&caller, request->at_us, err);
    caller.request_id = LC_STR_NONE; /* The options' one is of the batch, see run_all. */
    tx->now_us = caller.now_us;
    if (status == LOCI_OK)
        status = lc_refs_resolve(&b->arena, request->args, answers, index, &args, err);
    if (status == LOCI_OK)
        status = lc_run_begin(&run, &caller, request->operation, args, err);
    /* The transaction is of the user that was checked, whatever the references led to. */
    if (status == LOCI_OK && (run.call.op->flags & LC_OP_USER) != 0 &&
        !lc_str_eq(run.call.user_id, b->user_id))
        status = fail_other_user(err);
    if (status == LOCI_OK)
        status = lc_run_in_tx(tx, &run, err);
    if (status == LOCI_OK) {
        answers[index] = lc_arena_copy(&b->arena, lc_buf_str(&run.answer));
        if (answers[index].ptr == NULL)
            status = lc_fail_memory(err);
    }
    lc_run_end(&run);
    return status;
}

static loci_status make_answer(batch *b, const loci_str *answers, loci_error *err)
{
    lc_json_writer out;
    loci_status status;

    lc_buf_reset(&b->answers_text);
    lc_jw_init(&out, &b->answers_text);
    lc_jw_array(&out);
    for (size_t i = 0; i < b->count; i++)
        lc_jw_raw(&out, answers[i]);
    lc_jw_end(&out);
    status = lc_buf_status(&b->answers_text, err);
    return status;
}

static loci_status run_calls(batch *b, lc_tx *tx, loci_error *err)
{
    loci_str *answers = lc_arena_zalloc_array(&b->arena, b->count, sizeof *answers);
    loci_status status = LOCI_OK;

    if (answers == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; status == LOCI_OK && i < b->count; i++)
        status = lc_many_blame(run_one(b, tx, answers, i, err), i, err);
    if (status == LOCI_OK)
        status = make_answer(b, answers, err);
    return status;
}

static loci_status run_all(lc_tx *tx, void *ctx, loci_error *err)
{
    batch *b = ctx;
    lc_arena_mark mark = lc_arena_get_mark(&b->arena);
    bool has_request = b->writes && b->request.request_id.ptr != NULL;
    bool was_answered = false;
    loci_str stored;
    loci_status status = LOCI_OK;

    lc_buf_reset(&b->answers_text);
    if (has_request)
        status = lc_request_find(tx, &b->request, &b->arena, &stored, &was_answered, err);
    if (status == LOCI_OK && was_answered)
        lc_buf_append(&b->answers_text, stored);
    else if (status == LOCI_OK)
        status = run_calls(b, tx, err);
    b->enqueued_job = tx->enqueued_job;
    if (status == LOCI_OK)
        status = lc_buf_status(&b->answers_text, err);
    if (status == LOCI_OK && has_request && !was_answered)
        status = lc_request_store(tx, &b->request, lc_buf_str(&b->answers_text), err);
    if (status == LOCI_OK) {
        loci_answer_free(b->out);
        b->out = lc_answer_new(b->arena.heap, lc_buf_str(&b->answers_text));
        if (b->out == NULL)
            status = lc_fail_memory(err);
        else
            b->out->is_replayed = was_answered;
    }
    lc_arena_rewind(&b->arena, mark);
    return status;
}

/* Each hook runs once, however many calls of the batch have it. */
static void after_commit(const batch *b)
{
    void (*seen[LC_CALLS_PER_BATCH_MAX])(loci_engine *);
    size_t count = 0;

    for (size_t i = 0; i < b->count; i++) {
        const lc_op *op = lc_op_find(loci_str_of(b->requests[i].operation));
        size_t at = 0;

        while (at < count && seen[at] != op->committed)
            at++;
        if (op->committed == NULL || at < count)
            continue;
        seen[count++] = op->committed;
        op->committed(b->caller.engine);
    }
    if (b->enqueued_job)
        lc_start_jobs(b->caller.engine, b->caller.deadline_us);
}

static loci_status batch_prepare(batch *b, loci_error *err)
{
    loci_status status = look_ahead_at_all(b, err);

    if (status != LOCI_OK)
        return status;
    b->queued.write = (lc_write){
        .tenant_id = lc_engine_tenant_of(b->caller.engine, b->caller.principal),
        .user_id = b->user_id.ptr != NULL ? b->user_id : LC_STR(""),
        .now_us = b->caller.now_us,
        .deadline_us = b->caller.deadline_us,
        .body = run_all,
        .ctx = b,
    };
    for (size_t i = 0; i < b->count; i++)
        b->queued.write.bytes += b->requests[i].args.len;
    return LOCI_OK;
}

static loci_status read_batch(void *ctx, loci_error *err)
{
    batch *b = ctx;
    bool is_of_user = b->user_id.ptr != NULL;

    return lc_engine_read(
        b->caller.engine,
        &(lc_read){.tenant_id = is_of_user ? b->queued.write.tenant_id : LC_STR_NONE,
                   .user_id = b->queued.write.user_id,
                   .deadline_us = b->caller.deadline_us,
                   .body = run_all,
                   .ctx = b,
                   .is_call = true},
        err);
}

static loci_status run_batch(void *ctx, loci_error *err)
{
    batch *b = ctx;
    loci_status status = batch_prepare(b, err);

    if (status != LOCI_OK)
        return status;
    if (!b->writes)
        return read_batch(b, err);
    status = lc_engine_write(b->caller.engine, &b->queued.write);
    if (status != LOCI_OK && err != NULL)
        *err = b->queued.write.error;
    if (status == LOCI_OK)
        after_commit(b);
    return status;
}

static loci_status batch_init(batch *b, loci_engine *engine, const lc_many *many,
                              const loci_call_options *options, loci_error *err)
{
    lc_heap *heap = &lc_engine_env(engine)->heap;
    loci_status status = lc_caller_init(&b->caller, engine, options, err);

    if (status != LOCI_OK)
        return status;
    if (many->count == 0)
        return lc_fail(err, LOCI_EINVAL, "a batch needs at least one call");
    if (many->count > LC_CALLS_PER_BATCH_MAX)
        return lc_fail(err, LOCI_ELIMIT, "a batch of %zu calls; at most %d are allowed",
                       many->count, LC_CALLS_PER_BATCH_MAX);
    b->requests = many->requests;
    b->count = many->count;
    lc_arena_init(&b->arena, heap, LOCI_MEM_REQUESTS);
    lc_buf_init(&b->answers_text, heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    return LOCI_OK;
}

static void batch_clear(batch *b)
{
    loci_answer_free(b->out);
    lc_buf_clear(&b->answers_text);
    lc_arena_clear(&b->arena);
}

loci_status loci_call_many(loci_engine *engine, const loci_request *requests, size_t count,
                           const loci_call_options *options, loci_answer **out, loci_error *err)
{
    lc_many many = {.requests = requests, .count = count};
    batch b = {.count = 0};
    loci_status status = lc_call_route(&engine, NULL, options, err);

    if (status != LOCI_OK)
        return status;
    status = batch_init(&b, engine, &many, options, err);

    if (status == LOCI_OK)
        status = lc_engine_guard(engine, run_batch, &b, err);
    if (status == LOCI_OK && out != NULL) {
        *out = b.out;
        b.out = NULL;
    }
    batch_clear(&b);
    return status;
}

/* ---- Without waiting ------------------------------------------------------------------------- */

/* The storage of a submitted batch belongs to its completion, which frees it. */
static void free_batch(batch *b)
{
    lc_heap *heap = &lc_engine_env(b->caller.engine)->heap;

    batch_clear(b);
    lc_heap_free(heap, b, sizeof *b, LOCI_MEM_REQUESTS);
}

static loci_status take_note(void *ctx, loci_error *err)
{
    (void)err;
    after_commit(ctx);
    return LOCI_OK;
}

static void finish(batch *b, loci_status status, const loci_error *err)
{
    loci_answer *answer = NULL;

    if (status == LOCI_OK) {
        answer = b->out;
        b->out = NULL;
    }
    b->done(b->done_ctx, status, answer, status == LOCI_OK ? NULL : err);
    free_batch(b);
}

static void finish_write(lc_queued_write *queued)
{
    batch *b = (batch *)queued;

    /* Errors are ignored: the calls are committed. */
    if (queued->write.status == LOCI_OK)
        (void)lc_engine_guard(b->caller.engine, take_note, b, NULL);
    finish(b, queued->write.status, &queued->write.error);
}

static void run_read(void *ctx)
{
    batch *b = ctx;
    loci_error err;

    finish(b, lc_engine_guard(b->caller.engine, read_batch, b, &err), &err);
}

/* Arguments of the caller are borrowed only until lc_many_submit() returns. */
static loci_status keep(batch *b, loci_error *err)
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
    batch *b = ctx;
    loci_status status = keep(b, err);

    return status == LOCI_OK ? batch_prepare(b, err) : status;
}

loci_status lc_many_submit(loci_engine *engine, const lc_many *many,
                           const loci_call_options *options, loci_done_fn *done, void *ctx,
                           loci_error *err)
{
    loci_status status = lc_call_route(&engine, NULL, options, err);
    batch *b;

    if (status != LOCI_OK)
        return status;
    b = lc_heap_zalloc(&lc_engine_env(engine)->heap, sizeof *b, LOCI_MEM_REQUESTS);
    if (b == NULL)
        return lc_fail_memory(err);
    b->done = done;
    b->done_ctx = ctx;
    b->caller.engine = engine; /* For free_batch(), also when there is no caller. */
    status = batch_init(b, engine, many, options, err);
    if (status == LOCI_OK)
        status = lc_engine_guard(engine, begin, b, err);
    if (status == LOCI_OK && !b->writes && !lc_engine_is_inline(engine)) {
        b->task = (lc_task){.run = run_read,
                            .ctx = b,
                            .group = lc_hash64(lc_engine_tenant_of(engine, b->caller.principal))};
        status = lc_engine_queue_task(engine, &b->task, err);
    } else if (status == LOCI_OK && !b->writes) {
        run_read(b);
    } else if (status == LOCI_OK) {
        b->queued.done = finish_write;
        status = lc_engine_submit(engine, &b->queued, err);
    }
    if (status != LOCI_OK)
        free_batch(b);
    return status;
}
