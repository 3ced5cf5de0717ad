/* vector_kernel.h - the inner loops of the vector scan, one table per kind of CPU, and how floats
 * become the codes that they work on.
 *
 * A row is `stride` bytes: the codes of one vector, from -127 to 127, zeros behind its last
 * dimension. Because the stride is a multiple of LC_VECTOR_STRIDE_UNIT, no loop has a tail. All
 * tables give the same integers for the same rows, bit for bit; the scalar one is the reference.
 * -128 is not a code: with it the AVX2 loop would saturate.
 */
#ifndef LC_INDEX_VECTOR_KERNEL_H
#define LC_INDEX_VECTOR_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LC_VECTOR_STRIDE_UNIT 64u  /* One cache line, one AVX-512 register. */
#define LC_VECTOR_STRIDE_MAX 4096u /* Sums of products stay far from 2^31. */

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
    float scale;                              /* The value of a code of 1. */
    int32_t sum;                              /* Of the codes: VNNI's correction. */
} lc_vector_query;

/* Adjacent rows. */
typedef struct lc_vector_rows {
    const int8_t *codes;  /* Aligned to LC_VECTOR_STRIDE_UNIT. */
    const uint64_t *bits; /* stride / 64 words per row. */
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

/* ---- Floats to codes (base/codes.h) ---------------------------------------------------------- */

/* Bytes of a row for vectors of `dimension`. */
size_t lc_vector_stride(uint32_t dimension);

/* Whether every value is a number. */
bool lc_vector_is_finite(const float *vector, uint32_t dimension);

/* Writes a whole row, zeros behind the last dimension included, and returns its scale. */
float lc_vector_quantise(const float *vector, uint32_t dimension, int8_t *out_codes);
/* Writes stride / 64 words: bit j is set when code j is above zero. */
void lc_vector_signs(const int8_t *codes, uint32_t dimension, uint64_t *out_bits);
void lc_vector_query_init(lc_vector_query *query, const float *vector, uint32_t dimension);

/* The product in double, summed in an order that does not depend on the CPU. */
double lc_vector_dot(const float *a, const float *b, uint32_t dimension);

#endif /* LC_INDEX_VECTOR_KERNEL_H */
