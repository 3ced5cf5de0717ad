/* vector.h - the vectors of texts. They are stored because making them costs time or money, but
 * they are operational data: they can be made again from the texts.
 *
 * A row is found by the user, the hash of the text and the generation of the embedder
 * (model/embedder.h) that made it. So the same text is embedded once, a changed text is another
 * one, and vectors of two generations are never mixed. Vectors of one user are never found for
 * another, even if the texts are the same.
 */
#ifndef LC_STORE_VECTOR_H
#define LC_STORE_VECTOR_H

#include "base/hash.h"
#include "store/db.h"

/* How a read makes vectors. The engine sets lc_tx.embedding when the operation searches by meaning;
 * without it texts are found by words alone. */
struct lc_embedding {
    const char *generation; /* Of the embedder in use (model/embedder.h). */
    size_t dimensions;
    /* Makes the vectors of `count` texts, one behind the other. */
    loci_status (*embed)(void *ctx, lc_tx *tx, const loci_str *texts, size_t count, float *out,
                         loci_error *err);
    void *ctx;
    /* Vectors come from callers: a text without one is never embedded, and is found by words. */
    bool is_given;
    bool wants_job; /* Out: many texts of the user have no vector in the store. */
};

/* Begins the generation of vectors that callers give; the name of their model follows. */
#define LC_GIVEN_GENERATION "given:"

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

/* Deletes up to `limit` vectors of the user: all of them if the generation of `set` is none, else
 * those of other generations, except given ones, which nobody could make again. How many in `out`.
 */
loci_status lc_vector_delete(lc_tx *tx, const lc_vector_set *set, int64_t limit, int64_t *out,
                             loci_error *err);

/* Deletes the vectors of this text, of all generations; how many in `out`. */
loci_status lc_vector_forget(lc_tx *tx, lc_hash128 content, int64_t *out, loci_error *err);

/* Kind of the job that makes the missing vectors of all sources (recall/recall.h). */
#define LC_EMBED_JOB "model.reembed"
/* Adds the job for the current user of `tx` unless it is queued already; for the store itself: for
 * all users. */
loci_status lc_embed_enqueue(lc_tx *tx, lc_id *out, loci_error *err);
/* Adds a job that makes the vectors of the newest texts alone: those behind the last page of texts
 * that all have one. It does nothing where texts are not searched by meaning. */
loci_status lc_embed_enqueue_newest(lc_tx *tx, loci_error *err);
/* The same as lc_embed_enqueue(), unless a job of the newest texts is at work: two jobs would make
 * the same vectors. */
loci_status lc_embed_enqueue_unless_newest(lc_tx *tx, loci_error *err);
#define LC_EMBED_NEWEST_ARGS "{\"newest\":true}"

#endif /* LC_STORE_VECTOR_H */
