/* encoder.c - opening the encoder, and filling its batches. */
#include "model/encoder.h"

#include "base/error.h"
#include "model/encoder_forward.h"

_Static_assert(LC_ENCODER_DIMENSIONS == LC_ENCODER_WIDTH, "the answer is as wide as the layers");

struct lc_encoder {
    lc_env *env;
    lc_data_file file;
    lc_encoder_weights weights;
    const lc_encoder_kernels *kernels;
};

loci_status lc_encoder_open(lc_env *env, const char *path, lc_encoder **out, loci_error *err)
{
    lc_encoder *encoder = lc_heap_zalloc(&env->heap, sizeof *encoder, LOCI_MEM_ENGINE);
    loci_status status;

    if (encoder == NULL)
        return lc_fail_memory(err);
    encoder->env = env;
    encoder->kernels = lc_encoder_kernels_best();
    status = lc_data_file_open(path, "encoder", LC_ENCODER_VERSION, &encoder->file, err);
    if (status == LOCI_OK)
        status = lc_encoder_weights_find(&encoder->file, &encoder->weights, err);
    if (status != LOCI_OK) {
        lc_encoder_close(encoder);
        return status;
    }
    *out = encoder;
    return LOCI_OK;
}

void lc_encoder_close(lc_encoder *encoder)
{
    if (encoder == NULL)
        return;
    lc_data_file_close(&encoder->file);
    lc_heap_free(&encoder->env->heap, encoder, sizeof *encoder, LOCI_MEM_ENGINE);
}

/* The tokens of `text` into `out`, at most 128. */
static loci_status tokenise(const lc_encoder *encoder, lc_arena *arena, loci_str text,
                            uint32_t out[LC_ENCODER_TOKENS_MAX], uint32_t *out_count,
                            loci_error *err)
{
    const lc_sentencepiece *vocabulary = &encoder->weights.vocabulary;
    loci_str prepared;
    lc_pieces pieces;
    loci_status status = lc_sentencepiece_prepare(arena, text, &prepared, err);

    if (status == LOCI_OK)
        status = lc_sentencepiece_split(vocabulary, arena, prepared, &pieces, err);
    if (status == LOCI_OK)
        *out_count = (uint32_t)lc_sentencepiece_ids(&pieces, out, LC_ENCODER_TOKENS_MAX);
    return status;
}

/* One after the other, so that a batch takes what fits and the text that did not is not split
 * again: its tokens wait in `next`. */
typedef struct text_queue {
    const lc_encoder *encoder;
    const loci_str *texts;
    size_t count;
    size_t taken; /* Texts that are in a batch. */
    bool has_next;
    uint32_t next_count;
    uint32_t next[LC_ENCODER_TOKENS_MAX];
} text_queue;

static loci_status fill_batch(text_queue *queue, lc_arena *arena, lc_encoder_batch *batch,
                              loci_error *err)
{
    batch->text_count = batch->token_count = 0;
    while (queue->taken < queue->count && batch->text_count < LC_ENCODER_BATCH_TEXTS) {
        lc_arena_mark mark = lc_arena_get_mark(arena);

        if (!queue->has_next) {
            loci_status status = tokenise(queue->encoder, arena, queue->texts[queue->taken],
                                          queue->next, &queue->next_count, err);
            if (status != LOCI_OK)
                return status;
            lc_arena_rewind(arena, mark);
            queue->has_next = true;
        }
        if (batch->token_count + queue->next_count > LC_ENCODER_BATCH_TOKENS)
            break;
        for (uint32_t i = 0; i < queue->next_count; i++)
            batch->tokens[batch->token_count++] = queue->next[i];
        batch->text_tokens[batch->text_count++] = queue->next_count;
        queue->has_next = false;
        queue->taken++;
    }
    return LOCI_OK;
}

loci_status lc_encoder_embed_many(lc_encoder *encoder, const loci_str *texts, size_t count,
                                  float *out, loci_error *err)
{
    text_queue queue = {.encoder = encoder, .texts = texts, .count = count};
    lc_encoder_batch batch;
    loci_status status = LOCI_OK;
    lc_arena arena;

    lc_arena_init(&arena, &encoder->env->heap, LOCI_MEM_REQUESTS);
    while (queue.taken < count && status == LOCI_OK) {
        lc_arena_mark mark = lc_arena_get_mark(&arena);
        float *to = out + queue.taken * LC_ENCODER_DIMENSIONS;

        status = fill_batch(&queue, &arena, &batch, err);
        if (status == LOCI_OK)
            status = lc_encoder_forward(&encoder->weights, encoder->kernels, &batch, &arena, to,
                                        err);
        lc_arena_rewind(&arena, mark);
    }
    lc_arena_clear(&arena);
    return status;
}

loci_status lc_encoder_embed(lc_encoder *encoder, loci_str text, float out[LC_ENCODER_DIMENSIONS],
                             loci_error *err)
{
    return lc_encoder_embed_many(encoder, &text, 1, out, err);
}

const char *lc_encoder_kernel_name(const lc_encoder *encoder)
{
    return encoder->kernels->name;
}

void lc_encoder_use_scalar(lc_encoder *encoder)
{
    encoder->kernels = &lc_encoder_kernels_scalar;
}
