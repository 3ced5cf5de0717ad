/* embedding.c - see embedding.h. */
#include "store/embedding.h"

#include "base/assert.h"
#include "base/str.h"
#include "store/vector.h"

#define FIND_MAX 64

loci_status lc_embedding_find(void *ctx, const lc_hash128 *contents, size_t count, float *out,
                              bool *found, loci_error *err)
{
    lc_tx *tx = ctx;
    lc_vector_set set = {.tenant_id = tx->tenant_id,
                         .user_id = tx->user_id,
                         .generation = loci_str_of(tx->embedding->generation),
                         .dimensions = tx->embedding->dimensions};
    lc_vector vectors[FIND_MAX];
    loci_status status;

    LC_ASSERT(count <= FIND_MAX);
    for (size_t i = 0; i < count; i++)
        vectors[i] = (lc_vector){.content = contents[i], .numbers = out + i * set.dimensions};
    status = lc_vector_find(tx, &set, vectors, count, err);
    for (size_t i = 0; i < count && status == LOCI_OK; i++)
        found[i] = vectors[i].found;
    return status;
}

loci_status lc_embedding_make(void *ctx, const loci_str *texts, size_t count, float *out,
                              loci_error *err)
{
    lc_tx *tx = ctx;

    return tx->embedding->embed(tx->embedding->ctx, tx, texts, count, out, err);
}
