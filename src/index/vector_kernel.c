/* vector_kernel.c - chooses the loops by what the CPU says of itself. The compiler's own table of
 * features is read once by the C runtime, so asking again costs a load. */
#include "index/vector_kernel.h"

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
