/* embed_reply.h - what /v1/embeddings answers, read with suspicion.
 *
 * Nothing of it is trusted: how many vectors there are, to which text each belongs, how long it is,
 * whether its numbers are any. Pure, and fuzzed.
 */
#ifndef LC_MODEL_EMBED_REPLY_H
#define LC_MODEL_EMBED_REPLY_H

#include "base/arena.h"

typedef struct lc_embed_expected {
    size_t count; /* Texts that were sent. */
    size_t dimensions;
} lc_embed_expected;

/* Reads `reply` into `out`, `count` vectors of length 1 in the order of the texts, which `index`
 * says. `*out_tokens` gets what was used, 0 when the reply does not say. LOCI_EUNAVAILABLE: not the
 * answer of a provider. LOCI_EUNSUPPORTED: one with vectors of another length. On failure `out`
 * means nothing. What is taken from `scratch` stays there. */
loci_status lc_embed_reply_read(lc_arena *scratch, loci_str reply,
                                const lc_embed_expected *expected, float *out, int64_t *out_tokens,
                                loci_error *err);

/* Ceiling of the bytes of such a reply. */
size_t lc_embed_reply_bytes_max(const lc_embed_expected *expected);

#endif /* LC_MODEL_EMBED_REPLY_H */
