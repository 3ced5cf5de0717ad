/* vector_quantise.h - floats to codes, and the exact product that a re-rank uses.
 *
 * Each vector has its own scale, its largest absolute value / 127, so that a flat vector loses no
 * more than a spiky one and products of different vectors can be compared: a . b is about
 * dot(codes of a, codes of b) * scale of a * scale of b. Codes go from -127 to 127: symmetric, so
 * that the negative of a vector has the negative codes.
 */
#ifndef LC_INDEX_VECTOR_QUANTISE_H
#define LC_INDEX_VECTOR_QUANTISE_H

#include "index/vector_kernel.h"

#include <stdbool.h>

/* Bytes of a row for vectors of `dimension`. */
size_t lc_vector_stride(uint32_t dimension);

/* Whether every value is a number. */
bool lc_vector_is_finite(const float *vector, uint32_t dimension);

/* Writes a whole row, zeros behind the last dimension included, and answers its scale: 0, with all
 * codes 0, for a vector of zeros or of values too small to divide by. */
float lc_vector_quantise(const float *vector, uint32_t dimension, int8_t *out_codes);
/* Writes stride / 64 words: bit j is set when dimension j is above zero. */
void lc_vector_signs(const float *vector, uint32_t dimension, uint64_t *out_bits);
void lc_vector_query_init(lc_vector_query *query, const float *vector, uint32_t dimension);

/* The product in double, summed in an order that does not depend on the CPU. */
double lc_vector_dot(const float *a, const float *b, uint32_t dimension);

#endif /* LC_INDEX_VECTOR_QUANTISE_H */
