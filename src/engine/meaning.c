/* meaning.c - see meaning.h. A job is asked for inside a read, so a task of the pool adds it. */
#include "engine/meaning.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "engine/job_reembed.h"
#include "engine/pool.h"
#include "store/embed_source.h"

#define ENQUEUE_US 10000000

static loci_status embed_texts(const lc_meaning *meaning, loci_str tenant_id, const loci_str *texts,
                               size_t count, float *out, loci_error *err)
{
    lc_arena arena;
    loci_str *cut;
    loci_status status;

    lc_arena_init(&arena, &lc_engine_env(meaning->engine)->heap, LOCI_MEM_REQUESTS);
    cut = lc_arena_zalloc_array(&arena, count, sizeof *cut);
    status = cut != NULL ? LOCI_OK : lc_fail_memory(err);
    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        cut[i] = lc_reembed_cut(texts[i]);
    if (status == LOCI_OK) {
        lc_model_use use = {.tenant_id = tenant_id, .arena = &arena, .deadline_us = INT64_MAX};
        lc_embed_batch batch = {
            .texts = cut, .count = count, .dimensions = meaning->embedder.dimensions, .out = out};

        status = lc_models_embed(lc_engine_models(meaning->engine), &use, &meaning->embedder,
                                 &batch, err);
    }
    lc_arena_clear(&arena);
    return status;
}

static loci_status embed(void *ctx, lc_tx *tx, const loci_str *texts, size_t count, float *out,
                         loci_error *err)
{
    return embed_texts(ctx, tx->tenant_id, texts, count, out, err);
}

loci_status lc_meaning_find(lc_meaning *out, loci_engine *engine, loci_str tenant_id,
                            loci_str query, lc_arena *arena, loci_error *err)
{
    float *vector;
    loci_status status;

    *out = (lc_meaning){.engine = engine};
    if (lc_str_trim(query).len == 0)
        return LOCI_OK;
    status = lc_models_find_embedder(lc_engine_models(engine), arena, &out->embedder, err);
    if (status == LOCI_ERESOURCE)
        return status;
    if (status != LOCI_OK || out->embedder.kind != LC_EMBEDDER_BUILTIN)
        return LOCI_OK; /* model.status says what is missing. */
    vector = lc_arena_zalloc_array(arena, out->embedder.dimensions, sizeof *vector);
    if (vector == NULL)
        return lc_fail_memory(err);
    status = embed_texts(out, tenant_id, &query, 1, vector, err);
    if (status != LOCI_OK)
        return status;
    out->vector = vector;
    out->embedding = (lc_embedding){.generation = out->embedder.generation,
                                    .dimensions = out->embedder.dimensions,
                                    .embed = embed,
                                    .ctx = out};
    return LOCI_OK;
}

/* ---- The job --------------------------------------------------------------------------------- */

typedef struct wanted {
    lc_task task;
    loci_engine *engine;
    size_t bytes;
    loci_str tenant_id, user_id; /* Behind it. */
} wanted;

static loci_status enqueue(lc_tx *tx, void *ctx, loci_error *err)
{
    lc_id id;

    (void)ctx;
    return lc_embed_enqueue(tx, &id, err);
}

static loci_status add_job(void *ctx, loci_error *err)
{
    wanted *w = ctx;
    lc_write write = {.tenant_id = w->tenant_id,
                      .user_id = w->user_id,
                      .now_us = lc_env_now_us(lc_engine_env(w->engine)),
                      .deadline_us = lc_clock_monotonic_us() + ENQUEUE_US,
                      .body = enqueue,
                      .ctx = w};
    loci_status status = lc_engine_write(w->engine, &write);

    (void)err;
    if (status == LOCI_OK)
        lc_engine_wake_workers(w->engine);
    return status;
}

static void run_wanted(void *ctx)
{
    wanted *w = ctx;

    /* What fails here is wanted again by a later context. */
    (void)lc_engine_guard(w->engine, add_job, w, NULL);
    lc_heap_free(&lc_engine_env(w->engine)->heap, w, w->bytes, LOCI_MEM_REQUESTS);
}

void lc_meaning_queue_job(lc_meaning *meaning, const lc_tx *tx)
{
    loci_str tenant_id = tx->tenant_id, user_id = tx->user_id;
    lc_heap *heap = &lc_engine_env(meaning->engine)->heap;
    size_t bytes = sizeof(wanted) + tenant_id.len + user_id.len;
    wanted *w = !meaning->embedding.wants_job || lc_engine_is_inline(meaning->engine)
                    ? NULL
                    : lc_heap_zalloc(heap, bytes, LOCI_MEM_REQUESTS);

    meaning->embedding.wants_job = false;
    if (w == NULL)
        return;
    *w = (wanted){.task = {.run = run_wanted, .ctx = w},
                  .engine = meaning->engine,
                  .bytes = bytes,
                  .tenant_id = {(char *)(w + 1), tenant_id.len},
                  .user_id = {(char *)(w + 1) + tenant_id.len, user_id.len}};
    memcpy(w + 1, tenant_id.ptr, tenant_id.len);
    memcpy((char *)(w + 1) + tenant_id.len, user_id.ptr, user_id.len);
    if (lc_engine_queue_task(meaning->engine, &w->task, NULL) != LOCI_OK)
        lc_heap_free(heap, w, bytes, LOCI_MEM_REQUESTS);
}
