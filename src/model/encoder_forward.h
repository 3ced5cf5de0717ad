/* encoder_forward.h - from tokens to vectors: the transformer itself.
 *
 * Several texts go through it together, one behind the other without padding: the weights, which
 * are most of the work for a short text, are then read once for all of them. Only attention looks
 * at the bounds between texts.
 */
#ifndef LC_MODEL_ENCODER_FORWARD_H
#define LC_MODEL_ENCODER_FORWARD_H

#include "model/encoder_weights.h"

#define LC_ENCODER_BATCH_TEXTS 128
#define LC_ENCODER_BATCH_TOKENS LC_ENCODER_TOKENS_MAX /* At least one text always fits. */

typedef struct lc_encoder_batch {
    size_t text_count;
    size_t token_count;
    uint32_t text_tokens[LC_ENCODER_BATCH_TEXTS]; /* How many each text has; 0 is fine. */
    uint32_t tokens[LC_ENCODER_BATCH_TOKENS];     /* Of all texts, each below piece_count. */
} lc_encoder_batch;

/* Writes one unit vector a text, 512 numbers each. `arena` is for the work. */
loci_status lc_encoder_forward(const lc_encoder_weights *weights, const lc_encoder_kernels *kernels,
                               const lc_encoder_batch *batch, lc_arena *arena, float *out,
                               loci_error *err);

#endif /* LC_MODEL_ENCODER_FORWARD_H */
