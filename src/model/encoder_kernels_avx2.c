/* encoder_kernels_avx2.c - the kernels for x86 processors with AVX2 and FMA, chosen at run time.
 *
 * Multiplying keeps a tile of 6 rows by 16 columns in 12 of the 16 registers: a step takes two
 * loads of the panel and a broadcast for each row, and gives 12 multiply-adds, enough to keep both
 * units busy. A panel (32 to 96 KB) stays in the cache while all rows pass over it, so the weights
 * are read from memory once a call; meanwhile the next panel is fetched, each tile its share. Rows
 * that are left over are spread, so that 7 are 4 and 3, not 6 and 1.
 */
#include "model/encoder_kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define INLINE TARGET __attribute__((always_inline)) static inline
/* Loops over the rows of a tile must vanish: registers have no index. */
#define UNROLL _Pragma("GCC unroll 6")
#define TILE_ROWS 6

typedef struct tile {
    const lc_multiply *m;
    size_t row;
    size_t first;       /* Column. */
    const float *ahead; /* What this tile fetches of the next panel: so many rows, a line each. */
    size_t ahead_rows;
} tile;

/* Adds the bias and what the mode asks for, and stores one half of a row. */
INLINE void finish(const tile *t, float *y, size_t column, __m256 sum)
{
    const float *bias = t->m->matrix->bias;

    if (bias != NULL)
        sum = _mm256_add_ps(sum, _mm256_loadu_ps(bias + column));
    if (t->m->mode == LC_MULTIPLY_ADD)
        sum = _mm256_add_ps(sum, _mm256_loadu_ps(y + column));
    if (t->m->mode == LC_MULTIPLY_RELU)
        sum = _mm256_max_ps(sum, _mm256_setzero_ps());
    _mm256_storeu_ps(y + column, sum);
}

/* `rows` is a constant wherever this is called. */
INLINE void multiply_tile(const tile *t, int rows)
{
    const lc_multiply *m = t->m;
    const float *panel = m->matrix->panels + t->first * m->matrix->depth;
    const float *x[TILE_ROWS];
    __m256 low[TILE_ROWS], high[TILE_ROWS];

    UNROLL for (int r = 0; r < rows; r++)
    {
        x[r] = m->x + (t->row + (size_t)r) * m->x_stride;
        low[r] = high[r] = _mm256_setzero_ps();
    }
    for (size_t k = 0; k < m->matrix->depth; k++) {
        __m256 left = _mm256_loadu_ps(panel + k * LC_PANEL_COLUMNS);
        __m256 right = _mm256_loadu_ps(panel + k * LC_PANEL_COLUMNS + 8);

        if (k < t->ahead_rows)
            _mm_prefetch((const char *)(t->ahead + k * LC_PANEL_COLUMNS), _MM_HINT_T1);
        UNROLL for (int r = 0; r < rows; r++)
        {
            __m256 factor = _mm256_broadcast_ss(x[r] + k);

            low[r] = _mm256_fmadd_ps(left, factor, low[r]);
            high[r] = _mm256_fmadd_ps(right, factor, high[r]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        float *y = m->y + (t->row + (size_t)r) * m->y_stride;

        finish(t, y, t->first, low[r]);
        finish(t, y, t->first + 8, high[r]);
    }
}

/* `rows` is 1 to 6. */
INLINE void multiply_rows(const tile *t, size_t rows)
{
    switch (rows) {
    case 6:
        multiply_tile(t, 6);
        break;
    case 5:
        multiply_tile(t, 5);
        break;
    case 4:
        multiply_tile(t, 4);
        break;
    case 3:
        multiply_tile(t, 3);
        break;
    case 2:
        multiply_tile(t, 2);
        break;
    default:
        multiply_tile(t, 1);
        break;
    }
}

TARGET static void multiply(const lc_multiply *m)
{
    const lc_matrix *matrix = m->matrix;
    size_t tiles = (m->rows + TILE_ROWS - 1) / TILE_ROWS;

    for (size_t first = 0; first < matrix->columns && tiles > 0; first += LC_PANEL_COLUMNS) {
        tile t = {.m = m, .first = first, .ahead = matrix->panels};

        if (first + LC_PANEL_COLUMNS < matrix->columns) {
            t.ahead = matrix->panels + (first + LC_PANEL_COLUMNS) * matrix->depth;
            t.ahead_rows = (matrix->depth + tiles - 1) / tiles;
        }
        for (size_t left = tiles; left > 0; left--) {
            size_t rows = (m->rows - t.row + left - 1) / left;

            multiply_rows(&t, rows);
            t.row += rows;
            t.ahead += t.ahead_rows * LC_PANEL_COLUMNS;
        }
    }
}

INLINE float add_up(__m256 v)
{
    __m128 sum = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
    return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}

INLINE float highest(__m256 v)
{
    __m128 max = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    max = _mm_max_ps(max, _mm_movehl_ps(max, max));
    return _mm_cvtss_f32(_mm_max_ss(max, _mm_movehdup_ps(max)));
}

/* e^x for x <= 0: 2^n times the series of e^r, with r at most half of ln 2. What is below -87 would
 * not be a normal number any more and is as good as 0. */
INLINE __m256 exponential(__m256 x)
{
    __m256 clipped = _mm256_max_ps(x, _mm256_set1_ps(-87));
    __m256 n = _mm256_round_ps(_mm256_mul_ps(clipped, _mm256_set1_ps(1.44269504f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    /* ln 2 in two parts, the first of few bits: n times it is exact. */
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), clipped);
    __m256 sum = _mm256_set1_ps(1.0f / 720);

    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1.0f / 120));
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1.0f / 24));
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1.0f / 6));
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(0.5f));
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1));
    sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(1));
    /* n goes into the exponent. */
    return _mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_castps_si256(sum), _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23)));
}

TARGET static void softmax(float *row, size_t count)
{
    size_t padded = (count + LC_PANEL_COLUMNS - 1) / LC_PANEL_COLUMNS * LC_PANEL_COLUMNS;
    __m256 max = _mm256_set1_ps(row[0]), sum = _mm256_setzero_ps(), scale;

    for (size_t i = count; i < padded; i++)
        row[i] = row[0];
    for (size_t i = 0; i < padded; i += 8)
        max = _mm256_max_ps(max, _mm256_loadu_ps(row + i));
    max = _mm256_set1_ps(highest(max));
    for (size_t i = 0; i < padded; i += 8)
        _mm256_storeu_ps(row + i, exponential(_mm256_sub_ps(_mm256_loadu_ps(row + i), max)));
    for (size_t i = count; i < padded; i++)
        row[i] = 0;
    for (size_t i = 0; i < padded; i += 8)
        sum = _mm256_add_ps(sum, _mm256_loadu_ps(row + i));
    scale = _mm256_set1_ps(1 / add_up(sum));
    for (size_t i = 0; i < padded; i += 8)
        _mm256_storeu_ps(row + i, _mm256_mul_ps(_mm256_loadu_ps(row + i), scale));
}

TARGET static void standardise(const float *x, float *y, size_t count)
{
    __m256 sum = _mm256_setzero_ps(), squares = _mm256_setzero_ps(), mean, factor, variance;

    for (size_t i = 0; i < count; i += 8)
        sum = _mm256_add_ps(sum, _mm256_loadu_ps(x + i));
    mean = _mm256_set1_ps(add_up(sum) / (float)count);
    for (size_t i = 0; i < count; i += 8) {
        __m256 off = _mm256_sub_ps(_mm256_loadu_ps(x + i), mean);

        squares = _mm256_fmadd_ps(off, off, squares);
    }
    variance = _mm256_set1_ps(add_up(squares) / (float)count + LC_STANDARDISE_EPSILON);
    factor = _mm256_div_ps(_mm256_set1_ps(1), _mm256_sqrt_ps(variance));
    for (size_t i = 0; i < count; i += 8)
        _mm256_storeu_ps(y + i, _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + i), mean), factor));
}

static const lc_encoder_kernels kernels_avx2 = {"avx2", multiply, softmax, standardise};

const lc_encoder_kernels *lc_encoder_kernels_best(void)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &kernels_avx2;
    return &lc_encoder_kernels_scalar;
}

#else

const lc_encoder_kernels *lc_encoder_kernels_best(void)
{
    return &lc_encoder_kernels_scalar;
}

#endif
