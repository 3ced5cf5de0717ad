/* encoder.h - the built-in sentence encoder: computes a vector of a text's meaning, offline.
 *
 * The model is Universal Sentence Encoder lite: English, the first 128 tokens of a text, 512
 * numbers of length 1, so that the dot product of two vectors is their cosine. The weights are a
 * data file that is read into memory. An open encoder is never changed: any thread may use it.
 */
#ifndef LC_MODEL_ENCODER_H
#define LC_MODEL_ENCODER_H

#include "base/data_file.h"
#include "base/env.h"
#include "model/encoder_kernels.h"
#include "model/sentencepiece.h"

#define LC_ENCODER_DIMENSIONS 512
#define LC_ENCODER_FILE "use_lite_en.loci" /* For lc_data_file_find(). */

typedef struct lc_encoder lc_encoder;

extern const lc_data_kind lc_encoder_kind;

/* Reads the data file at `path` into memory: 14 MB. LOCI_ENOTFOUND if it is missing, LOCI_ECORRUPT
 * if it is damaged. */
loci_status lc_encoder_open(lc_env *env, const char *path, lc_encoder **out, loci_error *err);
void lc_encoder_close(lc_encoder *encoder); /* NULL is fine. */
const lc_data_file *lc_encoder_file(const lc_encoder *encoder);

/* Embeds `count` texts, valid UTF-8 and possibly empty, as unit vectors of 512 numbers each into
 * `out`. Many together are cheaper than one by one for short texts: reading the weights takes most
 * of the time, and is done once per 128 tokens. */
loci_status lc_encoder_embed_many(lc_encoder *encoder, const loci_str *texts, size_t count,
                                  float *out, loci_error *err);

/* For tests and benchmarks, which compare both kernels: "avx2" or "scalar", and before the first
 * use, choose the kernels in plain C. */
const char *lc_encoder_kernel_name(const lc_encoder *encoder);
void lc_encoder_use_scalar(lc_encoder *encoder);

/* ---- The data file ---------------------------------------------------------------------------
 *
 * The body begins with a table of uint32: number of pieces, of nodes of the trie, of sections, then
 * the offset of each section from the start of the body, a multiple of 64. Sections are in the
 * order of take_all() in encoder.c. Weights are the bias and the units of the columns as f32, then
 * panels of int16 (encoder_kernels.h); embeddings are units as f32, then rows of int16. Positions
 * are f32, scores f64, the trie uint32. tools/data/encoder.mjs writes it and folds everything that
 * does not depend on the text into the weights. */

#define LC_ENCODER_VERSION 1
#define LC_ENCODER_LAYERS 2
#define LC_ENCODER_TOKENS_MAX 128 /* The rest of a text is ignored. */
#define LC_ENCODER_EMBEDDING 256  /* Numbers per token. */
#define LC_ENCODER_WIDTH 512      /* Numbers per token after the first layer, and of the result. */
#define LC_ENCODER_INNER 1536     /* Between the two matrices of a feed-forward block. */

typedef struct lc_encoder_layer {
    size_t width;   /* Of queries, keys and values, all heads together. */
    lc_weights qkv; /* width -> 3 width; queries are scaled. */
    lc_weights out; /* width -> 512 */
    lc_weights up;  /* 512 -> 1536 */
    lc_weights down;
} lc_encoder_layer;

/* Views into the file. */
typedef struct lc_encoder_weights {
    lc_sentencepiece vocabulary;
    const float *embedding_units; /* One per piece. */
    const int16_t *embeddings;    /* piece_count x 256, doubled. */
    const float *positions;       /* 128 x 256 */
    lc_weights widen;             /* 256 -> 512, for the residual of the first attention. */
    lc_encoder_layer layers[LC_ENCODER_LAYERS];
    lc_weights final; /* 512 -> 512 */
} lc_encoder_weights;

/* Finds all sections of `file`. LOCI_ECORRUPT if one is outside of it. */
loci_status lc_encoder_weights_find(const lc_data_file *file, lc_encoder_weights *out,
                                    loci_error *err);

#endif /* LC_MODEL_ENCODER_H */
