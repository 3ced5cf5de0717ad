/* vector_avx512.c - 64 codes per instruction, with VNNI.
 *
 * vpdpbusd multiplies unsigned by signed bytes and adds four products into 32 bits at once. Codes
 * of rows become unsigned by adding 128, which is flipping their highest bit; that adds 128 * q to
 * every product, 128 times the sum of the query's codes in all. That correction is the same for
 * every row, so nothing is stored for it, and all kinds of CPU read the same bytes.
 */
#include "index/vector_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define TARGET_POPCOUNT __attribute__((target("avx512f,avx512bw,avx512vpopcntdq")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define AHEAD_BYTES 4096

INLINE __m512i add_products(__m512i sum, __m512i query, const int8_t *row)
{
    __m512i codes = _mm512_load_si512((const void *)row);

    return _mm512_dpbusd_epi32(sum, _mm512_xor_si512(codes, _mm512_set1_epi8(-128)), query);
}

TARGET static void dot_four(const int8_t *query, const int8_t *row, size_t stride, int32_t *out)
{
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;

    for (size_t j = 0; j < stride; j += 64) {
        __m512i codes = _mm512_load_si512((const void *)(query + j));
        const char *ahead = (const char *)row + 4 * j + AHEAD_BYTES;

        _mm_prefetch(ahead, _MM_HINT_T0);
        _mm_prefetch(ahead + 64, _MM_HINT_T0);
        _mm_prefetch(ahead + 128, _MM_HINT_T0);
        _mm_prefetch(ahead + 192, _MM_HINT_T0);
        a = add_products(a, codes, row + j);
        b = add_products(b, codes, row + stride + j);
        c = add_products(c, codes, row + 2 * stride + j);
        d = add_products(d, codes, row + 3 * stride + j);
    }
    out[0] = _mm512_reduce_add_epi32(a);
    out[1] = _mm512_reduce_add_epi32(b);
    out[2] = _mm512_reduce_add_epi32(c);
    out[3] = _mm512_reduce_add_epi32(d);
}

TARGET static int32_t dot_one(const int8_t *query, const int8_t *row, size_t stride)
{
    __m512i sum = _mm512_setzero_si512();

    for (size_t j = 0; j < stride; j += 64)
        sum = add_products(sum, _mm512_load_si512((const void *)(query + j)), row + j);
    return _mm512_reduce_add_epi32(sum);
}

TARGET void lc_vector_dots_avx512(const lc_vector_query *query, lc_vector_rows rows, int32_t *out)
{
    int32_t correction = 128 * query->sum;
    size_t i = 0;

    for (; i + 4 <= rows.count; i += 4)
        dot_four(query->codes, rows.codes + i * rows.stride, rows.stride, out + i);
    for (; i < rows.count; i++)
        out[i] = dot_one(query->codes, rows.codes + i * rows.stride, rows.stride);
    for (i = 0; i < rows.count; i++)
        out[i] -= correction;
}

TARGET_POPCOUNT void lc_vector_distances_avx512(const lc_vector_query *query, lc_vector_rows rows,
                                                uint32_t *out)
{
    size_t words = rows.stride / 64;

    for (size_t i = 0; i < rows.count; i++) {
        const uint64_t *row = rows.bits + i * words;
        __m512i sum = _mm512_setzero_si512();

        _mm_prefetch((const char *)row + AHEAD_BYTES, _MM_HINT_T0);
        for (size_t j = 0; j < words; j += 8) {
            __mmask8 used = (__mmask8)(words - j >= 8 ? 0xff : (1u << (words - j)) - 1);
            __m512i bits = _mm512_xor_si512(_mm512_maskz_loadu_epi64(used, row + j),
                                            _mm512_maskz_loadu_epi64(used, query->bits + j));

            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(bits));
        }
        out[i] = (uint32_t)_mm512_reduce_add_epi64(sum);
    }
}

#endif
