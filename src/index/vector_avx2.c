/* vector_avx2.c - 32 codes per instruction.
 *
 * vpmaddubsw multiplies unsigned by signed bytes and adds neighbours into 16 bits. So the absolute
 * values of the query are used and its signs applied to the row: q * v = |q| * (v with q's sign).
 * Two products are at most 2 * 127 * 127 = 32258, which fits. Four rows go together: the query is
 * loaded once for them, and their sums do not wait for each other. The next rows are prefetched:
 * the CPU's own prefetching stops at each page, and a scan is bound by memory.
 */
#include "index/vector_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define AHEAD_BYTES 4096

INLINE __m256i load(const int8_t *codes)
{
    return _mm256_load_si256((const __m256i *)(const void *)codes);
}

/* Adds the products of 32 codes, in eight sums, to `sum`. */
INLINE __m256i add_products(__m256i sum, __m256i query, __m256i absolute, const int8_t *row)
{
    __m256i pairs = _mm256_maddubs_epi16(absolute, _mm256_sign_epi8(load(row), query));

    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

/* The four sums of eight lanes each, as four numbers. */
INLINE __m128i add_lanes(__m256i a, __m256i b, __m256i c, __m256i d)
{
    __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));

    return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

TARGET static void dot_four(const int8_t *query, const int8_t *row, size_t stride, int32_t *out)
{
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;

    for (size_t j = 0; j < stride; j += 32) {
        __m256i codes = load(query + j), absolute = _mm256_abs_epi8(codes);

        _mm_prefetch((const char *)row + 4 * j + AHEAD_BYTES, _MM_HINT_T0);
        _mm_prefetch((const char *)row + 4 * j + AHEAD_BYTES + 64, _MM_HINT_T0);
        a = add_products(a, codes, absolute, row + j);
        b = add_products(b, codes, absolute, row + stride + j);
        c = add_products(c, codes, absolute, row + 2 * stride + j);
        d = add_products(d, codes, absolute, row + 3 * stride + j);
    }
    _mm_storeu_si128((__m128i *)(void *)out, add_lanes(a, b, c, d));
}

TARGET static int32_t dot_one(const int8_t *query, const int8_t *row, size_t stride)
{
    __m256i even = _mm256_setzero_si256(), odd = even;

    for (size_t j = 0; j < stride; j += 64) {
        __m256i first = load(query + j), second = load(query + j + 32);

        even = add_products(even, first, _mm256_abs_epi8(first), row + j);
        odd = add_products(odd, second, _mm256_abs_epi8(second), row + j + 32);
    }
    even = _mm256_add_epi32(even, odd);
    return _mm_cvtsi128_si32(add_lanes(even, even, even, even));
}

TARGET void lc_vector_dots_avx2(const lc_vector_query *query, lc_vector_rows rows, int32_t *out)
{
    size_t i = 0;

    for (; i + 4 <= rows.count; i += 4)
        dot_four(query->codes, rows.codes + i * rows.stride, rows.stride, out + i);
    for (; i < rows.count; i++)
        out[i] = dot_one(query->codes, rows.codes + i * rows.stride, rows.stride);
}

/* One popcnt per word: a row is a few words, and four of them fit into a cycle or two; counting
 * nibbles in vectors, which pays for long rows, was not faster. */
TARGET void lc_vector_distances_avx2(const lc_vector_query *query, lc_vector_rows rows,
                                     uint32_t *out)
{
    size_t words = rows.stride / 64;

    for (size_t i = 0; i < rows.count; i++) {
        const uint64_t *row = rows.bits + i * words;
        uint64_t sum = 0;

        _mm_prefetch((const char *)row + AHEAD_BYTES, _MM_HINT_T0);
        for (size_t j = 0; j < words; j++)
            sum += (uint64_t)_mm_popcnt_u64(row[j] ^ query->bits[j]);
        out[i] = (uint32_t)sum;
    }
}

#endif
