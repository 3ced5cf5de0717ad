/* embedding.h - the vectors of texts as a read needs them: looked up in the store, or made.
 *
 * The engine sets lc_tx.embedding when the read's operation searches by meaning; without it texts
 * are found by words alone. Both functions take the transaction as `void *` so that they serve as
 * callbacks of an index, which knows nothing of the store (index/corpus.h).
 */
#ifndef LC_STORE_EMBEDDING_H
#define LC_STORE_EMBEDDING_H

#include "base/hash.h"
#include "store/db.h"

typedef struct lc_embedding {
    const char *generation; /* Of the embedder in use (model/embedder.h). */
    size_t dimensions;
    /* Makes the vectors of `count` texts, one behind the other. */
    loci_status (*embed)(void *ctx, lc_tx *tx, const loci_str *texts, size_t count, float *out,
                         loci_error *err);
    void *ctx;
    bool wants_job; /* Out: many texts of the user have no vector in the store. */
} lc_embedding;

/* Looks up vectors of the transaction's user by the hash of their text (lc_vector_content). */
loci_status lc_embedding_find(void *tx, const lc_hash128 *contents, size_t count, float *out,
                              bool *found, loci_error *err);
/* Makes vectors with the embedder in use. */
loci_status lc_embedding_make(void *tx, const loci_str *texts, size_t count, float *out,
                              loci_error *err);

#endif /* LC_STORE_EMBEDDING_H */
