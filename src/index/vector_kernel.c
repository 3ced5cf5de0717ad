/* vector_kernel.c - chooses the loops by the features of the CPU. The C runtime reads the features
 * once into the compiler's table, so checking them again costs one load. */
#include "index/vector_kernel.h"

#include <math.h>
#include <string.h>

#include "base/codes.h"

#define LANES 8 /* Sums side by side in lc_vector_dot(): they do not wait for each other. */

/* ---- The scalar loops, which say what every other table must equal --------------------------- */

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

/* ---- Tables ---------------------------------------------------------------------------------- */

static const lc_vector_kernels scalar = {
    .level = LC_VECTOR_SCALAR,
    .name = "scalar",
    .dots = lc_vector_dots_scalar,
    .distances = lc_vector_distances_scalar,
};

#if defined(__x86_64__)

static const lc_vector_kernels avx2 = {
    .level = LC_VECTOR_AVX2,
    .name = "avx2",
    .dots = lc_vector_dots_avx2,
    .distances = lc_vector_distances_avx2,
};

static const lc_vector_kernels avx512 = {
    .level = LC_VECTOR_AVX512,
    .name = "avx512",
    .dots = lc_vector_dots_avx512,
    .distances = lc_vector_distances_avx512,
};

static const lc_vector_kernels avx512_without_popcount = {
    .level = LC_VECTOR_AVX512,
    .name = "avx512",
    .dots = lc_vector_dots_avx512,
    .distances = lc_vector_distances_avx2,
};

static const lc_vector_kernels *find_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") ? &avx2 : NULL;
}

static const lc_vector_kernels *find_avx512(void)
{
    if (find_avx2() == NULL || !__builtin_cpu_supports("avx512f") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vnni"))
        return NULL;
    return __builtin_cpu_supports("avx512vpopcntdq") ? &avx512 : &avx512_without_popcount;
}

#else

static const lc_vector_kernels *find_avx2(void)
{
    return NULL;
}

static const lc_vector_kernels *find_avx512(void)
{
    return NULL;
}

#endif

const lc_vector_kernels *lc_vector_kernels_get(lc_vector_level level)
{
    const lc_vector_kernels *found = NULL;

    switch (level) {
    case LC_VECTOR_SCALAR:
        return &scalar;
    case LC_VECTOR_AVX2:
        return find_avx2();
    case LC_VECTOR_AVX512:
        return find_avx512();
    case LC_VECTOR_BEST:
        break;
    }
    found = find_avx512();
    if (found == NULL)
        found = find_avx2();
    return found != NULL ? found : &scalar;
}

/* ---- Floats to codes: to the nearest code, halves away from zero ----------------------------- */

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
    memset(out_codes + dimension, 0, lc_vector_stride(dimension) - dimension);
    return lc_codes_of(vector, dimension, out_codes);
}

void lc_vector_signs(const int8_t *codes, uint32_t dimension, uint64_t *out_bits)
{
    memset(out_bits, 0, lc_vector_stride(dimension) / 8);
    for (uint32_t j = 0; j < dimension; j++)
        out_bits[j / 64] |= (uint64_t)(codes[j] > 0) << (j % 64);
}

void lc_vector_query_init(lc_vector_query *query, const float *vector, uint32_t dimension)
{
    query->scale = lc_vector_quantise(vector, dimension, query->codes);
    lc_vector_signs(query->codes, dimension, query->bits);
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
