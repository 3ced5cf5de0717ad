/* vector.h - the vectors of texts. They are stored because making them costs time or money, but
 * they are operational data: they can be made again from the texts.
 *
 * A vector is stored as one byte per dimension and a scale (base/codes.h), which is what a search
 * compares. The rows of one user and one generation are one range of the primary key, so that an
 * index loads them by a scan: lc_vector_scan().
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
    /* Writes the vectors of `count` texts to `out`, one after the other. */
    loci_status (*embed)(void *ctx, lc_tx *tx, const loci_str *texts, size_t count, float *out,
                         loci_error *err);
    void *ctx;
    /* Vectors come from callers: a text without one is never embedded, and is found by words. */
    bool is_given;
    bool wants_job; /* Out: many texts of the user have no vector in the store. */
};

/* Prefix of the generation of vectors that callers supply; the name of their model follows. */
#define LC_GIVEN_GENERATION "given:"

extern const lc_table lc_vectors_table;

/* All vectors of one user and one generation. */
typedef struct lc_vector_set {
    loci_str tenant_id;
    loci_str user_id;
    loci_str generation;
    size_t dimensions;
} lc_vector_set;

typedef struct lc_vector {
    lc_hash128 content;
    const float *numbers; /* To put: `dimensions` of them. */
    int8_t *codes;        /* Found: room for `dimensions` codes, or NULL = not wanted. */
    float scale;          /* Found. */
    bool found;
} lc_vector;

/* The hash of a text, by which its vectors are found. */
lc_hash128 lc_vector_content(loci_str text);

/* Sets or replaces. */
loci_status lc_vector_put(lc_tx *tx, const lc_vector_set *set, const lc_vector *vectors,
                          size_t count, loci_error *err);
/* Looks up each vector by its content: sets `found`, the scale and the codes. A row of another
 * length than the set's is LOCI_ECORRUPT. */
loci_status lc_vector_find(lc_tx *tx, const lc_vector_set *set, lc_vector *vectors, size_t count,
                           loci_error *err);
/* Visits at most `limit` vectors of the set behind `after`, in the order of their contents (zero =
 * from the first). The codes of `visit` are borrowed for the call. `*out_count`: how many. */
typedef void lc_vector_visit(void *ctx, const lc_vector *vector);
typedef struct lc_vector_page {
    lc_hash128 after;
    size_t limit;
    lc_vector_visit *visit;
    void *ctx;
} lc_vector_page;
loci_status lc_vector_scan(lc_tx *tx, const lc_vector_set *set, const lc_vector_page *page,
                           size_t *out_count, loci_error *err);
/* Number of vectors of a user. */
typedef struct lc_vector_counts {
    int64_t all;
    int64_t current; /* Of the generation of the set. */
    int64_t stale;   /* Made by another embedder; given ones are not, they have their own model. */
} lc_vector_counts;
loci_status lc_vector_count(lc_tx *tx, const lc_vector_set *set, lc_vector_counts *out,
                            loci_error *err);

/* A generation of stale vectors of the user, in `arena`, or none. A few look-ups, so that each
 * search can afford it. */
loci_status lc_vector_find_stale(lc_tx *tx, const lc_vector_set *set, lc_arena *arena,
                                 loci_str *out, loci_error *err);

/* The generations in the store, each with the number of users whose vectors (the first of each
 * user, given ones left out) are of it. At most LC_VECTOR_GENERATIONS_MAX, the largest first. */
#define LC_VECTOR_GENERATIONS_MAX 16
typedef struct lc_vector_generation {
    loci_str name; /* In the arena. */
    int64_t users;
} lc_vector_generation;
loci_status lc_vector_generations(lc_tx *tx, lc_arena *arena,
                                  lc_vector_generation out[LC_VECTOR_GENERATIONS_MAX],
                                  size_t *out_count, loci_error *err);

/* Deletes up to `limit` vectors of the user: all of them if `set` has no generation, else those of
 * other generations, except vectors that callers supplied, which loci cannot compute again. Their
 * number in `out`. */
loci_status lc_vector_delete(lc_tx *tx, const lc_vector_set *set, int64_t limit, int64_t *out,
                             loci_error *err);

/* Deletes the vectors of this text, of all generations; how many in `out`. */
loci_status lc_vector_forget(lc_tx *tx, lc_hash128 content, int64_t *out, loci_error *err);

/* For the migration of stores that had four bytes per dimension: stores all vectors again as codes.
 * The table has the key of such a store. */
loci_status lc_vector_shorten(lc_tx *tx, loci_error *err);

/* Kind of the job that makes the missing vectors of all sources (recall/recall.h). */
#define LC_EMBED_JOB "model.reembed"
/* Texts are found by their words meanwhile, so other jobs go first; a few new texts go before all
 * texts of a user. */
#define LC_EMBED_PRIORITY (-20)
#define LC_EMBED_NEWEST_PRIORITY (-10)
/* Adds the job for the current user of `tx` unless it is queued already; if `tx` is of the store
 * itself, for all users. */
loci_status lc_embed_enqueue(lc_tx *tx, lc_id *out, loci_error *err);
/* Adds a job that makes the vectors of the newest texts only: those after the last page of texts
 * that all have a vector. The job does nothing if texts are not searched by meaning. */
loci_status lc_embed_enqueue_newest(lc_tx *tx, loci_error *err);
/* The same as lc_embed_enqueue(), unless a job for the newest texts is queued or running: two jobs
 * would make the same vectors. */
loci_status lc_embed_enqueue_unless_newest(lc_tx *tx, loci_error *err);
#define LC_EMBED_NEWEST_ARGS "{\"newest\":true}"

#endif /* LC_STORE_VECTOR_H */
