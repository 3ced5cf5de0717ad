/* vector.h - the vectors of texts: kept, because making them costs time or money, and never the
 * truth, because they can be made again.
 *
 * A row is found by whose text it is, the hash of the text and the generation of the embedder
 * (model/embedder.h) that made it. So the same text is embedded once, a text that changes is
 * another one, and vectors of two generations cannot be mixed up: who asks for one never sees the
 * other. What belongs to one user is never found for another, even when the texts are the same.
 */
#ifndef LC_STORE_VECTOR_H
#define LC_STORE_VECTOR_H

#include "base/hash.h"
#include "store/db.h"

extern const lc_table lc_vectors_table;

/* Whose vectors, and which. */
typedef struct lc_vector_set {
    loci_str tenant_id;
    loci_str user_id;
    loci_str generation;
    size_t dimensions;
} lc_vector_set;

typedef struct lc_vector {
    lc_hash128 content;
    float *numbers; /* `dimensions` of them. */
    bool found;     /* Out of lc_vector_find(). */
} lc_vector;

/* How a text is found. */
lc_hash128 lc_vector_content(loci_str text);

/* Sets or replaces. */
loci_status lc_vector_put(lc_tx *tx, const lc_vector_set *set, const lc_vector *vectors,
                          size_t count, loci_error *err);
/* Looks each up by its content: sets `found`, and fills its `numbers` unless they are NULL. A row
 * of another length than the set's is LOCI_ECORRUPT. */
loci_status lc_vector_find(lc_tx *tx, const lc_vector_set *set, lc_vector *vectors, size_t count,
                           loci_error *err);
/* How many there are of the set, and of the user whatever their generation. */
loci_status lc_vector_count(lc_tx *tx, const lc_vector_set *set, int64_t *out, int64_t *out_all,
                            loci_error *err);

/* Deletes up to `limit` vectors of the user, all generations or all but the set's; how many in
 * `out`. The generation of `set` is none for the first. */
loci_status lc_vector_delete(lc_tx *tx, const lc_vector_set *set, int64_t limit, int64_t *out,
                             loci_error *err);

#endif /* LC_STORE_VECTOR_H */
