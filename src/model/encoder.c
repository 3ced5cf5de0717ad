/* encoder.c - the graph of Universal Sentence Encoder lite.
 *
 *   x0 = 2 embedding + position                   256 numbers per token
 *   x  = x0 widened + attention(norm(x0))         512, from here on
 *   x += down(relu(up(norm(x))))
 *   x += attention(norm(x))
 *   x += down(relu(up(norm(x))))
 *   answer = tanh(final(mean of x)), normalised to length 1
 *
 * Scale and shift of the norms and the factor of the queries are part of the weights. The last
 * `down` is linear and only the mean of its results is needed, so the mean goes through it instead
 * of each token: this saves a sixth of the total work.
 *
 * Attention is two products per head: keys are laid out as a matrix of tokens, values as a matrix
 * of their numbers, and the same kernel multiplies both.
 *
 * Several texts are processed together, one after the other without padding: reading the weights is
 * most of the work for a short text, and it is done once per batch. Only attention distinguishes
 * the texts.
 */
#include "model/encoder.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* ---- The data file ---------------------------------------------------------------------------
 *
 * The offsets are checked here; the engine checks the digest. A file that was made wrong gives
 * wrong vectors, but never a read outside of it: indices are checked where they are used. */

const lc_data_kind lc_encoder_kind = {"encoder", LC_ENCODER_VERSION};

#define SECTION_ALIGN 64

/* Reads the sections in order; errors are sticky. */
typedef struct reader {
    const lc_data_file *file;
    const uint32_t *table; /* Pieces, nodes, sections, offsets. */
    uint32_t next;
    bool is_bad;
} reader;

#define SECTION_COUNT 14
#define TABLE_FIXED 3

static const void *take(reader *r, size_t bytes)
{
    uint32_t offset = r->table[TABLE_FIXED + r->next++];

    if (offset % SECTION_ALIGN != 0 || offset > r->file->body_bytes ||
        bytes > r->file->body_bytes - offset) {
        r->is_bad = true;
        return NULL;
    }
    return r->file->body + offset;
}

static lc_weights take_weights(reader *r, size_t depth, size_t columns)
{
    const float *bias = take(r, 2 * columns * sizeof(float) + depth * columns * sizeof(int16_t));

    if (bias == NULL)
        return (lc_weights){0};
    return (lc_weights){
        .panels = (const int16_t *)(const void *)(bias + 2 * columns),
        .units = bias + columns,
        .bias = bias,
        .depth = depth,
        .columns = columns,
    };
}

/* Units of all pieces, then their rows. */
static void take_embeddings(reader *r, lc_encoder_weights *out)
{
    size_t pieces = out->vocabulary.piece_count;

    out->embedding_units = take(r,
                                pieces * (sizeof(float) + LC_ENCODER_EMBEDDING * sizeof(int16_t)));
    if (out->embedding_units != NULL)
        out->embeddings = (const int16_t *)(const void *)(out->embedding_units + pieces);
}

static lc_encoder_layer take_layer(reader *r, size_t width)
{
    lc_encoder_layer layer = {.width = width};

    layer.qkv = take_weights(r, width, 3 * width);
    layer.out = take_weights(r, width, LC_ENCODER_WIDTH);
    layer.up = take_weights(r, LC_ENCODER_WIDTH, LC_ENCODER_INNER);
    layer.down = take_weights(r, LC_ENCODER_INNER, LC_ENCODER_WIDTH);
    return layer;
}

static void take_all(reader *r, lc_encoder_weights *out)
{
    lc_sentencepiece *vocabulary = &out->vocabulary;

    vocabulary->piece_count = r->table[0];
    vocabulary->node_count = r->table[1];
    vocabulary->nodes = take(r, (size_t)vocabulary->node_count * sizeof *vocabulary->nodes);
    vocabulary->scores = take(r, (size_t)vocabulary->piece_count * sizeof(double));
    take_embeddings(r, out);
    out->positions = take(r, LC_ENCODER_TOKENS_MAX * LC_ENCODER_EMBEDDING * sizeof *out->positions);
    out->widen = take_weights(r, LC_ENCODER_EMBEDDING, LC_ENCODER_WIDTH);
    out->layers[0] = take_layer(r, LC_ENCODER_EMBEDDING);
    out->layers[1] = take_layer(r, LC_ENCODER_WIDTH);
    out->final = take_weights(r, LC_ENCODER_WIDTH, LC_ENCODER_WIDTH);
}

loci_status lc_encoder_weights_find(const lc_data_file *file, lc_encoder_weights *out,
                                    loci_error *err)
{
    reader r = {.file = file, .table = (const uint32_t *)(const void *)file->body};
    size_t table_bytes = (TABLE_FIXED + SECTION_COUNT) * sizeof *r.table;

    memset(out, 0, sizeof *out);
    r.is_bad = file->body_bytes < table_bytes || r.table[2] != SECTION_COUNT || r.table[0] == 0;
    if (!r.is_bad)
        take_all(&r, out);
    if (r.is_bad)
        return lc_fail(err, LOCI_ECORRUPT, "the encoder file is damaged; run script/setup");
    return LOCI_OK;
}

/* ---- From tokens to vectors ------------------------------------------------------------------ */

#define BATCH_TEXTS 128
#define BATCH_TOKENS LC_ENCODER_TOKENS_MAX /* At least one text fits. */

typedef struct encoder_batch {
    size_t text_count;
    size_t token_count;
    uint32_t text_tokens[BATCH_TEXTS]; /* Tokens of each text; may be 0. */
    uint32_t tokens[BATCH_TOKENS];     /* Of all texts; less than piece_count. */
} encoder_batch;

#define HEADS 4
#define HEAD_MAX (LC_ENCODER_WIDTH / HEADS)

typedef struct forward {
    const lc_encoder_weights *weights;
    const lc_encoder_kernels *kernels;
    const encoder_batch *batch;
    float *narrow;    /* tokens x 256: the input. */
    float *x;         /* tokens x 512 */
    float *part;      /* tokens x 512: x standardised, or the result of attention. */
    float *wide;      /* tokens x 1536: queries, keys and values, or the inside of feed-forward. */
    int16_t *rounded; /* Input of a product with weights. */
    float *units;     /* Of its rows. */
    float *keys;      /* One head of one text, as panels. */
    float *values;
    float *scores;  /* tokens x tokens of one text, rows padded to whole panels. */
    float *mean;    /* texts x 512 */
    float *mean_up; /* texts x 1536 */
} forward;

static size_t to_panels(size_t count)
{
    return (count + LC_PANEL_COLUMNS - 1) / LC_PANEL_COLUMNS * LC_PANEL_COLUMNS;
}

static size_t longest_text(const encoder_batch *batch)
{
    size_t longest = 0;

    for (size_t i = 0; i < batch->text_count; i++)
        longest = batch->text_tokens[i] > longest ? batch->text_tokens[i] : longest;
    return longest;
}

static bool take_memory(forward *f, lc_arena *arena)
{
    size_t token_count = f->batch->token_count, text_count = f->batch->text_count;
    size_t most = token_count > text_count ? token_count : text_count;
    size_t longest = longest_text(f->batch);
    const struct {
        float **place;
        size_t count;
    } parts[] = {
        {&f->narrow, token_count * LC_ENCODER_EMBEDDING},
        {&f->x, token_count * LC_ENCODER_WIDTH},
        {&f->part, token_count * LC_ENCODER_WIDTH},
        {&f->wide, token_count * LC_ENCODER_INNER},
        {&f->keys, to_panels(longest) * HEAD_MAX},
        {&f->values, longest * HEAD_MAX},
        {&f->scores, longest * to_panels(longest)},
        {&f->mean, text_count * LC_ENCODER_WIDTH},
        {&f->mean_up, text_count * LC_ENCODER_INNER},
        {&f->units, most},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].place = lc_arena_alloc(arena, parts[i].count * sizeof(float));
        if (*parts[i].place == NULL)
            return false;
    }
    f->rounded = lc_arena_alloc(arena, most * LC_ENCODER_INNER * sizeof *f->rounded);
    return f->rounded != NULL;
}

/* Rows to multiply with weights: one per token, or one per text. */
typedef struct row_list {
    const float *x;
    float *y;
    size_t count;
} row_list;

/* Rows have no gaps between them. */
static void apply(const forward *f, const lc_weights *weights, row_list of, lc_apply_mode mode)
{
    for (size_t i = 0; i < of.count; i++)
        f->units[i] = f->kernels->round(of.x + i * weights->depth, f->rounded + i * weights->depth,
                                        weights->depth);
    f->kernels->apply(&(lc_apply){
        .weights = weights,
        .x = f->rounded,
        .x_units = f->units,
        .y = of.y,
        .rows = of.count,
        .mode = mode,
    });
}

static row_list tokens(const forward *f, const float *x, float *y)
{
    return (row_list){x, y, f->batch->token_count};
}

static row_list texts(const forward *f, const float *x, float *y)
{
    return (row_list){x, y, f->batch->text_count};
}

static void standardise(const forward *f, const float *x, size_t width)
{
    for (size_t i = 0; i < f->batch->token_count; i++)
        f->kernels->standardise(x + i * width, f->part + i * width, width);
}

static void look_up(const forward *f)
{
    const uint32_t *token = f->batch->tokens;
    float *to = f->narrow;

    for (size_t text = 0; text < f->batch->text_count; text++) {
        const float *position = f->weights->positions;

        for (uint32_t i = 0; i < f->batch->text_tokens[text]; i++, token++) {
            const int16_t *from = f->weights->embeddings + (size_t)*token * LC_ENCODER_EMBEDDING;
            float unit = f->weights->embedding_units[*token];

            for (size_t k = 0; k < LC_ENCODER_EMBEDDING; k++)
                *to++ = (float)from[k] * unit + *position++;
        }
    }
}

/* One head of one text; its rows begin at `first`. */
typedef struct head {
    size_t first;
    size_t tokens;
    size_t layer_width;
    size_t number;
} head;

/* Keys as a matrix whose columns are tokens, padded with zeros. */
static void lay_out_keys(const forward *f, const float *keys, size_t width, size_t tokens)
{
    size_t stride = 3 * HEADS * width;
    float *to = f->keys;

    for (size_t panel = 0; panel < tokens; panel += LC_PANEL_COLUMNS)
        for (size_t k = 0; k < width; k++)
            for (size_t token = panel; token < panel + LC_PANEL_COLUMNS; token++)
                *to++ = token < tokens ? keys[token * stride + k] : 0;
}

/* Values as a matrix whose rows are tokens. */
static void lay_out_values(const forward *f, const float *values, size_t width, size_t tokens)
{
    size_t stride = 3 * HEADS * width;
    float *to = f->values;

    for (size_t panel = 0; panel < width; panel += LC_PANEL_COLUMNS)
        for (size_t token = 0; token < tokens; token++, to += LC_PANEL_COLUMNS)
            memcpy(to, values + token * stride + panel, LC_PANEL_COLUMNS * sizeof *to);
}

static void attend_head(const forward *f, const head *h)
{
    size_t width = h->layer_width / HEADS, padded = to_panels(h->tokens);
    const float *queries = f->wide + h->first * 3 * h->layer_width + h->number * width;
    lc_matrix keys = {.panels = f->keys, .depth = width, .columns = padded};
    lc_matrix values = {.panels = f->values, .depth = h->tokens, .columns = width};

    lay_out_keys(f, queries + h->layer_width, width, h->tokens);
    lay_out_values(f, queries + 2 * h->layer_width, width, h->tokens);
    f->kernels->multiply(&(lc_multiply){
        .matrix = &keys,
        .x = queries,
        .y = f->scores,
        .rows = h->tokens,
        .x_stride = 3 * h->layer_width,
        .y_stride = padded,
    });
    for (size_t i = 0; i < h->tokens; i++)
        f->kernels->softmax(f->scores + i * padded, h->tokens);
    f->kernels->multiply(&(lc_multiply){
        .matrix = &values,
        .x = f->scores,
        .y = f->part + h->first * h->layer_width + h->number * width,
        .rows = h->tokens,
        .x_stride = padded,
        .y_stride = h->layer_width,
    });
}

/* Replaces `part` (standardised) by the result of attention. */
static void attend(const forward *f, const lc_encoder_layer *layer)
{
    head h = {.layer_width = layer->width};

    apply(f, &layer->qkv, tokens(f, f->part, f->wide), LC_APPLY_SET);
    for (size_t text = 0; text < f->batch->text_count; text++) {
        h.tokens = f->batch->text_tokens[text];
        for (h.number = 0; h.number < HEADS && h.tokens > 0; h.number++)
            attend_head(f, &h);
        h.first += h.tokens;
    }
}

static void run_layers(const forward *f)
{
    const lc_encoder_layer *first = &f->weights->layers[0], *second = &f->weights->layers[1];

    standardise(f, f->narrow, LC_ENCODER_EMBEDDING);
    attend(f, first);
    apply(f, &f->weights->widen, tokens(f, f->narrow, f->x), LC_APPLY_SET);
    apply(f, &first->out, tokens(f, f->part, f->x), LC_APPLY_ADD);
    standardise(f, f->x, LC_ENCODER_WIDTH);
    apply(f, &first->up, tokens(f, f->part, f->wide), LC_APPLY_RELU);
    apply(f, &first->down, tokens(f, f->wide, f->x), LC_APPLY_ADD);

    standardise(f, f->x, LC_ENCODER_WIDTH);
    attend(f, second);
    apply(f, &second->out, tokens(f, f->part, f->x), LC_APPLY_ADD);
    standardise(f, f->x, LC_ENCODER_WIDTH);
    apply(f, &second->up, tokens(f, f->part, f->wide), LC_APPLY_RELU);
}

static void average(const float *rows, size_t count, size_t width, float *out)
{
    memset(out, 0, width * sizeof *out);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < width; k++)
            out[k] += rows[i * width + k];
    for (size_t k = 0; k < width && count > 0; k++)
        out[k] /= (float)count;
}

static void average_texts(const forward *f)
{
    size_t first = 0;

    for (size_t text = 0; text < f->batch->text_count; text++) {
        size_t tokens = f->batch->text_tokens[text];

        average(f->x + first * LC_ENCODER_WIDTH, tokens, LC_ENCODER_WIDTH,
                f->mean + text * LC_ENCODER_WIDTH);
        average(f->wide + first * LC_ENCODER_INNER, tokens, LC_ENCODER_INNER,
                f->mean_up + text * LC_ENCODER_INNER);
        first += tokens;
    }
}

static void bring_to_length_one(float *vector)
{
    float squares = 0, factor;

    for (size_t k = 0; k < LC_ENCODER_WIDTH; k++) {
        vector[k] = tanhf(vector[k]);
        squares += vector[k] * vector[k];
    }
    factor = 1 / sqrtf(squares > 1e-12f ? squares : 1e-12f);
    for (size_t k = 0; k < LC_ENCODER_WIDTH; k++)
        vector[k] *= factor;
}

static void finish(const forward *f, float *out)
{
    const lc_weights *down = &f->weights->layers[LC_ENCODER_LAYERS - 1].down;

    average_texts(f);
    apply(f, down, texts(f, f->mean_up, f->mean), LC_APPLY_ADD);
    /* The mean of no tokens is 0, without a bias. */
    for (size_t text = 0; text < f->batch->text_count; text++)
        if (f->batch->text_tokens[text] == 0)
            memset(f->mean + text * LC_ENCODER_WIDTH, 0, LC_ENCODER_WIDTH * sizeof *f->mean);
    apply(f, &f->weights->final, texts(f, f->mean, out), LC_APPLY_SET);
    for (size_t text = 0; text < f->batch->text_count; text++)
        bring_to_length_one(out + text * LC_ENCODER_WIDTH);
}

/* Writes one unit vector per text, 512 numbers each. `arena` is scratch memory. */
static loci_status compute_vectors(const lc_encoder_weights *weights,
                                   const lc_encoder_kernels *kernels, const encoder_batch *batch,
                                   lc_arena *arena, float *out, loci_error *err)
{
    forward f = {.weights = weights, .kernels = kernels, .batch = batch};

    if (!take_memory(&f, arena))
        return lc_fail_memory(err);
    look_up(&f);
    run_layers(&f);
    finish(&f, out);
    return LOCI_OK;
}

/* ---- Batches --------------------------------------------------------------------------------- */

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
    status = lc_data_file_open(&lc_encoder_kind, path, &encoder->file, err);
    if (status == LOCI_OK)
        status = lc_encoder_weights_find(&encoder->file, &encoder->weights, err);
    if (status != LOCI_OK) {
        lc_encoder_close(encoder);
        return status;
    }
    *out = encoder;
    return LOCI_OK;
}

const lc_data_file *lc_encoder_file(const lc_encoder *encoder)
{
    return &encoder->file;
}

void lc_encoder_close(lc_encoder *encoder)
{
    if (encoder == NULL)
        return;
    lc_data_file_close(&encoder->file);
    lc_heap_free(&encoder->env->heap, encoder, sizeof *encoder, LOCI_MEM_ENGINE);
}

/* Writes the first 128 tokens of `text` to `out`. */
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

/* Texts that are not in a batch yet. The tokens of a text that did not fit into the last batch are
 * kept in `next`, so that it is not tokenised again. */
typedef struct text_queue {
    const lc_encoder *encoder;
    const loci_str *texts;
    size_t count;
    size_t taken; /* Texts that are in a batch. */
    bool has_next;
    uint32_t next_count;
    uint32_t next[LC_ENCODER_TOKENS_MAX];
} text_queue;

static loci_status fill_batch(text_queue *queue, lc_arena *arena, encoder_batch *batch,
                              loci_error *err)
{
    batch->text_count = batch->token_count = 0;
    while (queue->taken < queue->count && batch->text_count < BATCH_TEXTS) {
        lc_arena_mark mark = lc_arena_get_mark(arena);

        if (!queue->has_next) {
            loci_status status = tokenise(queue->encoder, arena, queue->texts[queue->taken],
                                          queue->next, &queue->next_count, err);
            if (status != LOCI_OK)
                return status;
            lc_arena_rewind(arena, mark);
            queue->has_next = true;
        }
        if (batch->token_count + queue->next_count > BATCH_TOKENS)
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
    encoder_batch batch;
    loci_status status = LOCI_OK;
    lc_arena arena;

    lc_arena_init(&arena, &encoder->env->heap, LOCI_MEM_REQUESTS);
    while (queue.taken < count && status == LOCI_OK) {
        lc_arena_mark mark = lc_arena_get_mark(&arena);
        float *to = out + queue.taken * LC_ENCODER_DIMENSIONS;

        status = fill_batch(&queue, &arena, &batch, err);
        if (status == LOCI_OK)
            status = compute_vectors(&encoder->weights, encoder->kernels, &batch, &arena, to, err);
        lc_arena_rewind(&arena, mark);
    }
    lc_arena_clear(&arena);
    return status;
}

const char *lc_encoder_kernel_name(const lc_encoder *encoder)
{
    return encoder->kernels->name;
}

void lc_encoder_use_scalar(lc_encoder *encoder)
{
    encoder->kernels = &lc_encoder_kernels_scalar;
}
