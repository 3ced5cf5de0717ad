/* encoder_forward.c - the graph of Universal Sentence Encoder lite.
 *
 *   x0 = 2 embedding + position                   256 numbers a token
 *   x  = x0 widened + attention(norm(x0))         512, from here on
 *   x += down(relu(up(norm(x))))
 *   x += attention(norm(x))
 *   x += down(relu(up(norm(x))))
 *   answer = tanh(final(mean of x)), brought to length 1
 *
 * Norms have no scale and no shift, queries no factor: they are in the weights. The last `down` is
 * linear and its results are only averaged, so the average goes through it instead of every token:
 * a sixth of all the work.
 *
 * Attention is two products a head as well: keys are laid out as a matrix of tokens, values as one
 * of their numbers, and the same kernel multiplies.
 */
#include "model/encoder_forward.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define HEADS 4
#define HEAD_MAX (LC_ENCODER_WIDTH / HEADS)

typedef struct forward {
    const lc_encoder_weights *weights;
    const lc_encoder_kernels *kernels;
    const lc_encoder_batch *batch;
    float *narrow; /* tokens x 256: the input. */
    float *x;      /* tokens x 512 */
    float *part;   /* tokens x 512: x standardised, or what attention gives. */
    float *wide;   /* tokens x 1536: queries, keys and values, or the inside of feed-forward. */
    float *keys;   /* One head of one text, as panels. */
    float *values;
    float *scores;  /* tokens x tokens of one text, rows padded to whole panels. */
    float *mean;    /* texts x 512 */
    float *mean_up; /* texts x 1536 */
} forward;

static size_t to_panels(size_t count)
{
    return (count + LC_PANEL_COLUMNS - 1) / LC_PANEL_COLUMNS * LC_PANEL_COLUMNS;
}

static size_t longest_text(const lc_encoder_batch *batch)
{
    size_t longest = 0;

    for (size_t i = 0; i < batch->text_count; i++)
        longest = batch->text_tokens[i] > longest ? batch->text_tokens[i] : longest;
    return longest;
}

static bool take_memory(forward *f, lc_arena *arena)
{
    size_t tokens = f->batch->token_count, texts = f->batch->text_count;
    size_t longest = longest_text(f->batch);
    const struct {
        float **place;
        size_t count;
    } parts[] = {
        {&f->narrow, tokens * LC_ENCODER_EMBEDDING}, {&f->x, tokens * LC_ENCODER_WIDTH},
        {&f->part, tokens * LC_ENCODER_WIDTH},       {&f->wide, tokens * LC_ENCODER_INNER},
        {&f->keys, to_panels(longest) * HEAD_MAX},   {&f->values, longest * HEAD_MAX},
        {&f->scores, longest * to_panels(longest)},  {&f->mean, texts * LC_ENCODER_WIDTH},
        {&f->mean_up, texts * LC_ENCODER_INNER},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].place = lc_arena_alloc(arena, parts[i].count * sizeof(float));
        if (*parts[i].place == NULL)
            return false;
    }
    return true;
}

/* All tokens through a matrix, from rows to rows without gaps. */
static void pass(const forward *f, const lc_matrix *matrix, const float *x, float *y,
                 lc_multiply_mode mode)
{
    f->kernels->multiply(&(lc_multiply){
        .matrix = matrix,
        .x = x,
        .y = y,
        .rows = f->batch->token_count,
        .x_stride = matrix->depth,
        .y_stride = matrix->columns,
        .mode = mode,
    });
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
            const float *from = f->weights->embeddings + (size_t)*token * LC_ENCODER_EMBEDDING;

            for (size_t k = 0; k < LC_ENCODER_EMBEDDING; k++)
                *to++ = from[k] + *position++;
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

/* Keys as a matrix whose columns are tokens; columns behind the last are 0. */
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

/* From `part` (standardised) through queries, keys and values to `part` (what was seen). */
static void attend(const forward *f, const lc_encoder_layer *layer)
{
    head h = {.layer_width = layer->width};

    pass(f, &layer->qkv, f->part, f->wide, LC_MULTIPLY_SET);
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
    pass(f, &f->weights->widen, f->narrow, f->x, LC_MULTIPLY_SET);
    pass(f, &first->out, f->part, f->x, LC_MULTIPLY_ADD);
    standardise(f, f->x, LC_ENCODER_WIDTH);
    pass(f, &first->up, f->part, f->wide, LC_MULTIPLY_RELU);
    pass(f, &first->down, f->wide, f->x, LC_MULTIPLY_ADD);

    standardise(f, f->x, LC_ENCODER_WIDTH);
    attend(f, second);
    pass(f, &second->out, f->part, f->x, LC_MULTIPLY_ADD);
    standardise(f, f->x, LC_ENCODER_WIDTH);
    pass(f, &second->up, f->part, f->wide, LC_MULTIPLY_RELU);
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
    lc_multiply m = {.rows = f->batch->text_count, .y_stride = LC_ENCODER_WIDTH};

    average_texts(f);
    m.matrix = &f->weights->layers[LC_ENCODER_LAYERS - 1].down;
    m.x = f->mean_up;
    m.x_stride = LC_ENCODER_INNER;
    m.y = f->mean;
    m.mode = LC_MULTIPLY_ADD;
    f->kernels->multiply(&m);
    /* The mean of no tokens is 0, without a bias. */
    for (size_t text = 0; text < f->batch->text_count; text++)
        if (f->batch->text_tokens[text] == 0)
            memset(f->mean + text * LC_ENCODER_WIDTH, 0, LC_ENCODER_WIDTH * sizeof *f->mean);

    m.matrix = &f->weights->final;
    m.x = f->mean;
    m.x_stride = LC_ENCODER_WIDTH;
    m.y = out;
    m.mode = LC_MULTIPLY_SET;
    f->kernels->multiply(&m);
    for (size_t text = 0; text < f->batch->text_count; text++)
        bring_to_length_one(out + text * LC_ENCODER_WIDTH);
}

loci_status lc_encoder_forward(const lc_encoder_weights *weights, const lc_encoder_kernels *kernels,
                               const lc_encoder_batch *batch, lc_arena *arena, float *out,
                               loci_error *err)
{
    forward f = {.weights = weights, .kernels = kernels, .batch = batch};

    if (!take_memory(&f, arena))
        return lc_fail_memory(err);
    look_up(&f);
    run_layers(&f);
    finish(&f, out);
    return LOCI_OK;
}
