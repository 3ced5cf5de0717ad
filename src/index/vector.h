/* vector.h - a set of vectors in memory, and the ones nearest to a query.
 *
 * Vectors of one dimension, usually of length 1 so that a score is a cosine, are added under rising
 * document numbers and kept as one byte per dimension. A search takes three steps, of which the
 * first is only for large sets:
 *
 *   sign bits   1/8 of the bytes; keeps the `keep` nearest by the number of differing signs
 *   codes       lc_vectors_search(): the best candidates, scores off by less than a hundredth
 *   floats      lc_hits_rerank(): the caller has the exact vectors, in any place; the set
 *               does no I/O. 50 candidates are enough for the exact best 10.
 *
 * Memory is taken in regions of LC_VECTOR_REGION_BYTES (a small set has one smaller region), from
 * the heap, as LOCI_MEM_INDEX. A deleted vector costs its bytes until all of its region are
 * deleted; index/corpus.h rebuilds sets that have become sparse.
 *
 * One thread at a time changes a set; any number may search it while none does.
 */
#ifndef LC_INDEX_VECTOR_H
#define LC_INDEX_VECTOR_H

#include "index/bitmap.h"
#include "index/hit.h"
#include "index/vector_kernel.h"

/* Rows in one piece of memory: codes, sign bits, scales, ids, and a bit for each row that is dead.
 * Its size is that of its capacity, at most LC_VECTOR_REGION_BYTES. */
#define LC_VECTOR_REGION_BYTES (1024u * 1024)

typedef struct lc_vector_region {
    void *memory; /* The allocation; the arrays below are inside it. */
    int8_t *codes;
    uint64_t *bits;
    float *scales;
    uint32_t *ids; /* Rising. */
    uint64_t *dead;
    size_t stride;
    uint32_t capacity;
    uint32_t count; /* Rows, dead ones too. */
    uint32_t live;
} lc_vector_region;

/* The most rows of `stride` that fit into LC_VECTOR_REGION_BYTES. */
uint32_t lc_vector_region_capacity_max(size_t stride);
size_t lc_vector_region_bytes(const lc_vector_region *region);
static inline bool lc_vector_region_is_dead(const lc_vector_region *region, uint32_t row)
{
    return (region->dead[row / 64] >> (row % 64) & 1) != 0;
}

typedef struct lc_vectors {
    lc_heap *heap;
    const lc_vector_kernels *kernels;
    lc_vector_region *regions; /* All but the last are full, or were. */
    size_t region_count;
    size_t region_places;
    size_t stride;
    uint32_t dimension;
    uint32_t rows_per_region;
    uint32_t next_id; /* The lowest number that may be added. */
    uint32_t live;    /* Vectors that can be found, */
    uint32_t dead;    /* and those whose memory is still held. */
} lc_vectors;

/* `dimension` is 1 to LC_VECTOR_STRIDE_MAX. `level` is one that this CPU has: LC_VECTOR_BEST, or
 * another to test or measure it. Takes no memory. */
void lc_vectors_init(lc_vectors *set, lc_heap *heap, uint32_t dimension, lc_vector_level level);
/* Gives all memory back; the set is empty and can be used again. */
void lc_vectors_clear(lc_vectors *set);

/* Adds `vector` as `id`, which is higher than all that were ever added since the set was empty:
 * anything else is a bug. LOCI_EINVAL when a value is not a number, LOCI_ELIMIT for an id of
 * LC_INDEX_IDS_MAX or more. On failure nothing changed. */
loci_status lc_vectors_add(lc_vectors *set, uint32_t id, const float *vector, loci_error *err);
/* The same with codes that were made before (base/codes.h), of the set's dimension. */
typedef struct lc_vector_code {
    const int8_t *codes;
    float scale;
} lc_vector_code;
loci_status lc_vectors_add_code(lc_vectors *set, uint32_t id, lc_vector_code code, loci_error *err);

/* For vectors that come in another order than that of their ids: reserve a row for each id in
 * rising order, fill the rows in any order, and truncate behind the last one that is wanted. A row
 * that was not filled is not found. Filling an id without such a row does nothing. */
loci_status lc_vectors_reserve(lc_vectors *set, uint32_t id, loci_error *err);
void lc_vectors_fill(lc_vectors *set, uint32_t id, lc_vector_code code);
/* Removes all rows from `id` on; they may be added again. */
void lc_vectors_truncate(lc_vectors *set, uint32_t id);
bool lc_vectors_has(const lc_vectors *set, uint32_t id);

/* False when `id` is not there. Cannot fail otherwise. */
bool lc_vectors_delete(lc_vectors *set, uint32_t id);
/* Bytes held from the heap. */
size_t lc_vectors_bytes(const lc_vectors *set);

/* Parameters of a search. */
typedef struct lc_vector_search {
    const float *query;      /* Of the set's dimension; all values are numbers. */
    size_t limit;            /* Hits wanted. */
    const lc_bitmap *filter; /* Only these ids; NULL = all. */
    /* Sets with more live vectors than this are first filtered by their sign bits; the
     * `prefilter_keep` nearest are then scored by codes. Zero: LC_VECTOR_PREFILTER_ABOVE, and for
     * `keep` the result of lc_vector_prefilter_keep(). UINT32_MAX as `above`: never. */
    uint32_t prefilter_above;
    uint32_t prefilter_keep;
} lc_vector_search;

/* Below this a scan of all codes reads about as many bytes as the sign bits and the kept codes. */
#define LC_VECTOR_PREFILTER_ABOVE 16384u

/* How many of `live` vectors go on to the second step: 1 in 32, at least 4000. Signs distinguish
 * vectors with any structure (recall: bench/README.md). They do not distinguish random vectors,
 * among which no result is meaningful. */
uint32_t lc_vector_prefilter_keep(uint32_t live);

/* Writes the best hits, at most `limit`, best first, with scores made from the codes, to `out`.
 * LOCI_ERESOURCE only with a prefilter, whose scratch memory is LOCI_MEM_REQUESTS. */
loci_status lc_vectors_search(const lc_vectors *set, const lc_vector_search *search, lc_hit *out,
                              size_t *out_count, loci_error *err);

/* The exact vector of `id`, valid until the next call, or NULL when it is gone. */
typedef const float *lc_vector_exact_fn(void *ctx, uint32_t id);

typedef struct lc_rerank {
    const float *query;
    uint32_t dimension;
    size_t limit; /* Hits wanted of those given. */
} lc_rerank;

/* Scores `count` hits again by exact products, drops those that are gone, puts the best first and
 * returns how many are left, at most `limit`. bench/vectors measures it; facts do without, because
 * fusion uses ranks and not scores. */
size_t lc_hits_rerank(lc_hit *hits, size_t count, const lc_rerank *rerank,
                      lc_vector_exact_fn *exact, void *ctx);

/* lc_vector_exact_fn for vectors in memory, that of id n at `values + n * dimension`, with an
 * lc_vector_matrix as ctx. Tests and bench/vectors measure recall with it. */
typedef struct lc_vector_matrix {
    const float *values;
    uint32_t dimension;
    uint32_t rows;
} lc_vector_matrix;
const float *lc_vector_matrix_get(void *matrix, uint32_t id);

#endif /* LC_INDEX_VECTOR_H */
