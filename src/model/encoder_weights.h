/* encoder_weights.h - the data file of the sentence encoder: what lies where.
 *
 * The body begins with a table of uint32: pieces, nodes of the trie, sections, then where each
 * section begins (from the start of the body), at a multiple of 64. Sections are in the order in
 * which encoder_weights.c takes them. Numbers are f32 but for the scores (f64) and the trie
 * (uint32). A matrix is its bias, then its panels (encoder_kernels.h). tools/data/encoder.mjs
 * writes it, and folds into the weights all that does not depend on the text.
 */
#ifndef LC_MODEL_ENCODER_WEIGHTS_H
#define LC_MODEL_ENCODER_WEIGHTS_H

#include "base/data_file.h"
#include "model/encoder_kernels.h"
#include "model/sentencepiece.h"

#define LC_ENCODER_VERSION 1
#define LC_ENCODER_LAYERS 2
#define LC_ENCODER_TOKENS_MAX 128 /* What is behind them is not read. */
#define LC_ENCODER_EMBEDDING 256  /* Numbers of a token. */
#define LC_ENCODER_WIDTH 512      /* Numbers of a token after the first layer, and of the answer. */
#define LC_ENCODER_INNER 1536     /* Between the two matrices of a feed-forward part. */

typedef struct lc_encoder_layer {
    size_t width;  /* Of queries, keys and values, all heads together. */
    lc_matrix qkv; /* width -> 3 width; the queries come scaled. */
    lc_matrix out; /* width -> 512 */
    lc_matrix up;  /* 512 -> 1536 */
    lc_matrix down;
} lc_encoder_layer;

/* Views into the file. */
typedef struct lc_encoder_weights {
    lc_sentencepiece vocabulary;
    const float *embeddings; /* piece_count x 256, doubled. */
    const float *positions;  /* 128 x 256 */
    lc_matrix widen;         /* 256 -> 512, for what goes around the first attention. */
    lc_encoder_layer layers[LC_ENCODER_LAYERS];
    lc_matrix final; /* 512 -> 512 */
} lc_encoder_weights;

/* Finds every part of `body` and checks that it is inside. LOCI_ECORRUPT when one is not. */
loci_status lc_encoder_weights_find(const lc_data_file *file, lc_encoder_weights *out,
                                    loci_error *err);

#endif /* LC_MODEL_ENCODER_WEIGHTS_H */
