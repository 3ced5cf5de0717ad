/* embedder.h - computes vectors of texts.
 *
 * Three kinds: the built-in encoder (no network), a provider behind /v1/embeddings, and lexical
 * vectors as the fallback, which compare spelling, not meaning.
 *
 * Vectors of different embedders cannot be compared. Each embedder has a generation,
 * "kind:model:dimensions[:digest]", which is stored with its vectors; vectors of different
 * generations are never compared (lc_generation_check), and a change of the embedder requires
 * embedding everything again (engine/meaning.h).
 */
#ifndef LC_MODEL_EMBEDDER_H
#define LC_MODEL_EMBEDDER_H

#include "loci.h"
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

/* A value; the creator owns what it points to. */
typedef struct lc_embedder {
    lc_embedder_kind kind;
    const char *model; /* For display. */
    size_t dimensions;
    char generation[LC_GENERATION_BYTES];
    lc_encoder *encoder;  /* BUILTIN. Any number of threads. */
    lc_provider provider; /* PROVIDER. */
} lc_embedder;

/* "builtin" "lexical" "provider" */
const char *lc_embedder_kind_name(lc_embedder_kind kind);

/* Fills `generation` from the other members; `digest` is that of the model data, or "". */
void lc_embedder_set_generation(lc_embedder *embedder, const char *digest);

/* LOCI_ECONFLICT unless vectors of the generations `a` and `b` can be compared. */
loci_status lc_generation_check(loci_str a, loci_str b, loci_error *err);

/* Embeds a batch with the dimensions of the embedder: vectors of length 1, in order. The built-in
 * kinds use only the `pause` of `line`. LOCI_EINVAL: a text is empty. */
loci_status lc_embedder_embed(const lc_embedder *embedder, const lc_provider_line *line,
                              lc_embed_batch *batch, lc_arena *scratch, loci_error *err);

/* ---- Lexical vectors -------------------------------------------------------------------------
 *
 * Words and their parts are hashed into 512 numbers. Two texts are similar if they share words or
 * stems; synonyms are not recognised, so results found this way must be marked as lexical only.
 * Needs no data and no memory, and gives the same vectors on every machine. */

#define LC_LEXICAL_DIMENSIONS 512

/* Writes a unit vector. A text without letters and digits gets the first axis. */
void lc_lexical_embed(loci_str text, float out[LC_LEXICAL_DIMENSIONS]);

#endif /* LC_MODEL_EMBEDDER_H */
