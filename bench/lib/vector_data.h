/* vector_data.h - vectors of length 1 that look like embeddings, or like nothing.
 *
 * Clustered ones are what encoders give: points around 2,000 centres in a space of 24 dimensions,
 * seen through a random projection, with a little noise in every dimension. Random ones have no
 * structure at all, the worst that an index can meet. The nth vector is always the same, so that a
 * large set need not be kept.
 */
#ifndef LC_BENCH_LIB_VECTOR_DATA_H
#define LC_BENCH_LIB_VECTOR_DATA_H

#include <stdbool.h>
#include <stdint.h>

#define VECTOR_DIMENSION 512u
#define VECTOR_LATENT 24u
#define VECTOR_CENTRES 2000u

typedef struct vector_data {
    bool is_clustered;
    float basis[VECTOR_LATENT][VECTOR_DIMENSION];
    float centres[VECTOR_CENTRES][VECTOR_LATENT];
} vector_data;

void vector_data_init(vector_data *data, bool is_clustered);
void vector_data_make(const vector_data *data, uint32_t number, float out[VECTOR_DIMENSION]);

/* Numbers from here on are for queries: no set holds them. */
#define VECTOR_QUERY_FIRST 0x80000000u

#endif /* LC_BENCH_LIB_VECTOR_DATA_H */
