/* vector_scalar.c - the loops as they are meant: what every other table must equal. */
#include "index/vector_kernel.h"

void lc_vector_dots_scalar(const lc_vector_query *query, lc_vector_rows rows, int32_t *out)
{
    for (size_t i = 0; i < rows.count; i++) {
        const int8_t *row = rows.codes + i * rows.stride;
        int32_t sum = 0;

        for (size_t j = 0; j < rows.stride; j++)
            sum += (int32_t)row[j] * query->codes[j];
        out[i] = sum;
    }
}

void lc_vector_distances_scalar(const lc_vector_query *query, lc_vector_rows rows, uint32_t *out)
{
    size_t words = rows.stride / 64;

    for (size_t i = 0; i < rows.count; i++) {
        const uint64_t *row = rows.bits + i * words;
        uint32_t sum = 0;

        for (size_t j = 0; j < words; j++)
            sum += (uint32_t)__builtin_popcountll(row[j] ^ query->bits[j]);
        out[i] = sum;
    }
}
