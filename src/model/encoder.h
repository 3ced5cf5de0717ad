/* encoder.h - the built-in sentence encoder: text in, a vector of its meaning out, offline.
 *
 * Universal Sentence Encoder lite: English, the first 128 tokens of a text, 512 numbers of length 1
 * together, so that the dot product of two is their cosine. The weights are a data file that is
 * mapped (encoder_weights.h); its pages belong to the kernel's cache and are shared by processes.
 * An open encoder is never changed: any thread may use it, each call with memory of its own.
 */
#ifndef LC_MODEL_ENCODER_H
#define LC_MODEL_ENCODER_H

#include "base/env.h"

#define LC_ENCODER_DIMENSIONS 512
#define LC_ENCODER_FILE "use_lite_en.loci" /* As lc_data_file_find() wants it. */

typedef struct lc_encoder lc_encoder;

/* Opens the data file at `path`. Cheap: nothing is read but its first page. LOCI_ENOTFOUND when it
 * is not there, LOCI_ECORRUPT when it is not what it should be. */
loci_status lc_encoder_open(lc_env *env, const char *path, lc_encoder **out, loci_error *err);
void lc_encoder_close(lc_encoder *encoder); /* NULL is fine. */

/* One text, valid UTF-8, as a unit vector. The empty text has one too. */
loci_status lc_encoder_embed(lc_encoder *encoder, loci_str text, float out[LC_ENCODER_DIMENSIONS],
                             loci_error *err);
/* The same for `count` texts, 512 numbers each into `out`. For short texts cheaper than one by one:
 * what takes long is reading the weights, and it is done once for all that fit 128 tokens. */
loci_status lc_encoder_embed_many(lc_encoder *encoder, const loci_str *texts, size_t count,
                                  float *out, loci_error *err);

/* "avx2" or "scalar". */
const char *lc_encoder_kernel_name(const lc_encoder *encoder);
/* For tests and benchmarks, before the first use: plain C from now on. */
void lc_encoder_use_scalar(lc_encoder *encoder);

#endif /* LC_MODEL_ENCODER_H */
