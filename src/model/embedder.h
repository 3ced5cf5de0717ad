/* embedder.h - what turns texts into vectors, and what its vectors may be compared with.
 *
 * Three kinds: the encoder that comes with loci (no network), somebody else's model behind
 * /v1/embeddings, and hashed words where there is neither, which knows letters and no meaning.
 *
 * A vector only means something beside vectors of the same maker. So each embedder has a
 * generation, "kind:model:dimensions[:digest]", which is kept with everything it makes; two vectors
 * of different generations are never compared (lc_generation_check), and a change of embedder means
 * that everything is embedded anew (engine/job_reembed.h).
 */
#ifndef LC_MODEL_EMBEDDER_H
#define LC_MODEL_EMBEDDER_H

#include "model/provider.h"

typedef struct lc_encoder lc_encoder;

typedef enum lc_embedder_kind {
    LC_EMBEDDER_BUILTIN,
    LC_EMBEDDER_LEXICAL,
    LC_EMBEDDER_PROVIDER
} lc_embedder_kind;

#define LC_MODEL_NAME_BYTES_MAX 200
#define LC_EMBED_DIMENSIONS_MAX 8192
#define LC_GENERATION_BYTES 320

/* A plain value; what it points to is its maker's. */
typedef struct lc_embedder {
    lc_embedder_kind kind;
    const char *model; /* Its name, for people. */
    size_t dimensions;
    char generation[LC_GENERATION_BYTES];
    lc_encoder *encoder;  /* BUILTIN. Any number of threads. */
    lc_provider provider; /* PROVIDER. */
} lc_embedder;

/* "builtin" "lexical" "provider" */
const char *lc_embedder_kind_name(lc_embedder_kind kind);

/* Fills `generation` from the other members; `digest` of the model's data, or "". */
void lc_embedder_set_generation(lc_embedder *embedder, const char *digest);

/* LOCI_ECONFLICT unless vectors of `a` may be compared with those of `b`. */
loci_status lc_generation_check(loci_str a, loci_str b, loci_error *err);

/* Embeds a batch whose dimensions are the embedder's: vectors of length 1, in order. `line` is for
 * a provider; the others ask it only whether to go on. LOCI_EINVAL: a text is empty. */
loci_status lc_embedder_embed(const lc_embedder *embedder, const lc_provider_line *line,
                              lc_embed_batch *batch, lc_arena *scratch, loci_error *err);

#endif /* LC_MODEL_EMBEDDER_H */
