/* vector_kernel.h - the inner loops of the vector scan, one table of them for each kind of CPU.
 *
 * A row is `stride` bytes: the codes of one vector, from -127 to 127, zeros behind its last
 * dimension. Because the stride is a multiple of LC_VECTOR_STRIDE_UNIT, no loop has a tail. All
 * tables give the same integers for the same rows, bit for bit; the scalar one says what is right.
 * -128 is not a code: with it the AVX2 loop would saturate.
 */
#ifndef LC_INDEX_VECTOR_KERNEL_H
#define LC_INDEX_VECTOR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define LC_VECTOR_STRIDE_UNIT 64u  /* One cache line, one AVX-512 register. */
#define LC_VECTOR_STRIDE_MAX 4096u /* Sums of products stay far from 2^31. */
#define LC_VECTOR_CODE_MAX 127

/* Rising with speed. */
typedef enum lc_vector_level {
    LC_VECTOR_SCALAR = 0,
    LC_VECTOR_AVX2,
    LC_VECTOR_AVX512, /* With VNNI; popcounts of a CPU without VPOPCNTDQ are those of AVX2. */
    LC_VECTOR_LEVELS,
    LC_VECTOR_BEST = LC_VECTOR_LEVELS /* The fastest that this CPU has. */
} lc_vector_level;

/* A query, prepared once for all rows. */
typedef struct lc_vector_query {
    _Alignas(64) int8_t codes[LC_VECTOR_STRIDE_MAX];
    uint64_t bits[LC_VECTOR_STRIDE_MAX / 64]; /* Bit j is set when dimension j is above zero. */
    float scale;                              /* What a code of 1 stands for. */
    int32_t sum;                              /* Of the codes: VNNI's correction. */
} lc_vector_query;

/* Rows that lie one behind the other. */
typedef struct lc_vector_rows {
    const int8_t *codes;  /* Aligned to LC_VECTOR_STRIDE_UNIT. */
    const uint64_t *bits; /* stride / 64 words a row. */
    size_t stride;
    size_t count;
} lc_vector_rows;

typedef struct lc_vector_kernels {
    lc_vector_level level;
    const char *name; /* "avx2" */
    /* out[i] = the sum of the products of row i's codes with the query's. */
    void (*dots)(const lc_vector_query *query, lc_vector_rows rows, int32_t *out);
    /* out[i] = how many bits of row i differ from the query's. */
    void (*distances)(const lc_vector_query *query, lc_vector_rows rows, uint32_t *out);
} lc_vector_kernels;

/* The table for `level`, or NULL when this CPU cannot run it. LC_VECTOR_BEST is never NULL. */
const lc_vector_kernels *lc_vector_kernels_get(lc_vector_level level);

/* The loops themselves; only the scalar ones run anywhere. */
void lc_vector_dots_scalar(const lc_vector_query *query, lc_vector_rows rows, int32_t *out);
void lc_vector_distances_scalar(const lc_vector_query *query, lc_vector_rows rows, uint32_t *out);
#if defined(__x86_64__)
void lc_vector_dots_avx2(const lc_vector_query *query, lc_vector_rows rows, int32_t *out);
void lc_vector_distances_avx2(const lc_vector_query *query, lc_vector_rows rows, uint32_t *out);
void lc_vector_dots_avx512(const lc_vector_query *query, lc_vector_rows rows, int32_t *out);
void lc_vector_distances_avx512(const lc_vector_query *query, lc_vector_rows rows, uint32_t *out);
#endif

#endif /* LC_INDEX_VECTOR_KERNEL_H */
