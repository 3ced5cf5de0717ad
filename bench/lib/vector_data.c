/* vector_data.c - Normal numbers are sums of four uniform ones: near enough, and quick. */
#include "lib/vector_data.h"

#include <math.h>
#include <string.h>

#define SPREAD 0.35F /* Around a centre, whose own coordinates have a spread of 1. */
#define NOISE 0.5F   /* In each dimension; the projection gives each about 5. */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static float next_normal(uint64_t *state)
{
    uint64_t bits = next_random(state);
    int32_t sum = (int32_t)(bits & 0xffff) + (int32_t)(bits >> 16 & 0xffff) +
                  (int32_t)(bits >> 32 & 0xffff) + (int32_t)(bits >> 48) - 2 * 0xffff;

    return (float)sum * (1.7320508F / 0x10000);
}

static void fill_normal(uint64_t *state, float *out, uint32_t count, float spread)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = spread * next_normal(state);
}

void vector_data_init(vector_data *data, bool is_clustered)
{
    uint64_t state = 20;

    data->is_clustered = is_clustered;
    fill_normal(&state, data->basis[0], VECTOR_LATENT * VECTOR_DIMENSION, 1);
    fill_normal(&state, data->centres[0], VECTOR_CENTRES * VECTOR_LATENT, 1);
}

static void project(const vector_data *data, uint64_t *state, float *out)
{
    const float *centre = data->centres[next_random(state) % VECTOR_CENTRES];

    for (uint32_t i = 0; i < VECTOR_LATENT; i++) {
        float weight = centre[i] + SPREAD * next_normal(state);

        for (uint32_t j = 0; j < VECTOR_DIMENSION; j++)
            out[j] += weight * data->basis[i][j];
    }
}

void vector_data_make(const vector_data *data, uint32_t number, float out[VECTOR_DIMENSION])
{
    uint64_t state = (uint64_t)number << 20;
    float squares = 0;

    fill_normal(&state, out, VECTOR_DIMENSION, data->is_clustered ? NOISE : 1);
    if (data->is_clustered)
        project(data, &state, out);
    for (uint32_t j = 0; j < VECTOR_DIMENSION; j++)
        squares += out[j] * out[j];
    for (uint32_t j = 0; j < VECTOR_DIMENSION; j++)
        out[j] /= sqrtf(squares);
}
