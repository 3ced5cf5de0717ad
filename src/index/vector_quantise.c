/* vector_quantise.c - Rounds to the nearest code, halves away from zero. */
#include "index/vector_quantise.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define LANES 8 /* Sums side by side in lc_vector_dot(): they do not wait for each other. */

size_t lc_vector_stride(uint32_t dimension)
{
    return ((size_t)dimension + LC_VECTOR_STRIDE_UNIT - 1) / LC_VECTOR_STRIDE_UNIT *
           LC_VECTOR_STRIDE_UNIT;
}

bool lc_vector_is_finite(const float *vector, uint32_t dimension)
{
    for (uint32_t j = 0; j < dimension; j++) {
        if (!isfinite(vector[j]))
            return false;
    }
    return true;
}

float lc_vector_quantise(const float *vector, uint32_t dimension, int8_t *out_codes)
{
    float largest = 0, scale;

    for (uint32_t j = 0; j < dimension; j++)
        largest = fabsf(vector[j]) > largest ? fabsf(vector[j]) : largest;
    memset(out_codes, 0, lc_vector_stride(dimension));
    scale = largest / LC_VECTOR_CODE_MAX;
    if (scale < FLT_MIN)
        return 0;

    for (uint32_t j = 0; j < dimension; j++) {
        /* At most 127.00002, so rounding cannot reach 128. */
        float code = vector[j] / scale;

        out_codes[j] = (int8_t)(code + copysignf(0.5F, code)); /* Signs cannot be foretold. */
    }
    return scale;
}

void lc_vector_signs(const float *vector, uint32_t dimension, uint64_t *out_bits)
{
    memset(out_bits, 0, lc_vector_stride(dimension) / 8);
    for (uint32_t j = 0; j < dimension; j++)
        out_bits[j / 64] |= (uint64_t)(vector[j] > 0) << (j % 64);
}

void lc_vector_query_init(lc_vector_query *query, const float *vector, uint32_t dimension)
{
    query->scale = lc_vector_quantise(vector, dimension, query->codes);
    lc_vector_signs(vector, dimension, query->bits);
    query->sum = 0;
    for (uint32_t j = 0; j < dimension; j++)
        query->sum += query->codes[j];
}

double lc_vector_dot(const float *a, const float *b, uint32_t dimension)
{
    double sums[LANES] = {0};
    uint32_t j = 0;

    for (; j + LANES <= dimension; j += LANES) {
        for (uint32_t lane = 0; lane < LANES; lane++)
            sums[lane] += (double)a[j + lane] * (double)b[j + lane];
    }
    for (; j < dimension; j++)
        sums[j % LANES] += (double)a[j] * (double)b[j];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
           ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}
