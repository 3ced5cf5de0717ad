/* encoder_kernels.c - the reference in plain C, and the same for AVX2. */
#include "model/encoder_kernels.h"

#include <math.h>

/* ---- Plain C: the reference ------------------------------------------------------------------ */

static float finish(const lc_apply *a, size_t row, size_t column, int32_t sum)
{
    float result = (float)sum * (a->x_units[row] * a->weights->units[column]);
    float before = a->y[row * a->weights->columns + column];

    result += a->weights->bias[column];
    if (a->mode == LC_APPLY_ADD)
        result += before;
    return a->mode == LC_APPLY_RELU && result < 0 ? 0 : result;
}

static void apply_panel(const lc_apply *a, size_t row, size_t first)
{
    const lc_weights *weights = a->weights;
    const int16_t *panel = weights->panels + first * weights->depth;
    const int16_t *x = a->x + row * weights->depth;
    uint32_t sums[LC_PANEL_COLUMNS] = {0}; /* Unsigned: a damaged file may make them wrap. */

    for (size_t k = 0; k < weights->depth; k += 2, panel += 2 * LC_PANEL_COLUMNS)
        for (size_t i = 0; i < LC_PANEL_COLUMNS; i++)
            sums[i] += (uint32_t)(x[k] * panel[2 * i] + x[k + 1] * panel[2 * i + 1]);
    for (size_t i = 0; i < LC_PANEL_COLUMNS; i++)
        a->y[row * weights->columns + first + i] = finish(a, row, first + i, (int32_t)sums[i]);
}

static void apply(const lc_apply *a)
{
    for (size_t first = 0; first < a->weights->columns; first += LC_PANEL_COLUMNS)
        for (size_t row = 0; row < a->rows; row++)
            apply_panel(a, row, first);
}

static void multiply_panel(const lc_multiply *m, size_t row, size_t first)
{
    const float *panel = m->matrix->panels + first * m->matrix->depth;
    const float *x = m->x + row * m->x_stride;
    float sums[LC_PANEL_COLUMNS] = {0};

    for (size_t k = 0; k < m->matrix->depth; k++)
        for (size_t i = 0; i < LC_PANEL_COLUMNS; i++)
            sums[i] += x[k] * panel[k * LC_PANEL_COLUMNS + i];
    for (size_t i = 0; i < LC_PANEL_COLUMNS; i++)
        m->y[row * m->y_stride + first + i] = sums[i];
}

static void multiply(const lc_multiply *m)
{
    for (size_t first = 0; first < m->matrix->columns; first += LC_PANEL_COLUMNS)
        for (size_t row = 0; row < m->rows; row++)
            multiply_panel(m, row, first);
}

static float round_row(const float *x, int16_t *out, size_t count)
{
    float max = 0, factor;

    for (size_t i = 0; i < count; i++)
        max = fabsf(x[i]) > max ? fabsf(x[i]) : max;
    factor = max > 0 ? LC_ACTIVATION_MAX / max : 0;
    for (size_t i = 0; i < count; i++)
        out[i] = (int16_t)lrintf(x[i] * factor);
    return max / LC_ACTIVATION_MAX;
}

static void softmax(float *row, size_t count)
{
    float max = row[0], sum = 0;

    for (size_t i = 1; i < count; i++)
        max = row[i] > max ? row[i] : max;
    for (size_t i = 0; i < count; i++) {
        row[i] = expf(row[i] - max);
        sum += row[i];
    }
    for (size_t i = 0; i < count; i++)
        row[i] /= sum;
    for (size_t i = count; i % LC_PANEL_COLUMNS != 0; i++)
        row[i] = 0;
}

static void standardise(const float *x, float *y, size_t count)
{
    float sum = 0, squares = 0, mean, factor;

    for (size_t i = 0; i < count; i++)
        sum += x[i];
    mean = sum / (float)count;
    for (size_t i = 0; i < count; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    factor = 1 / sqrtf(squares / (float)count + LC_STANDARDISE_EPSILON);
    for (size_t i = 0; i < count; i++)
        y[i] = (x[i] - mean) * factor;
}

const lc_encoder_kernels lc_encoder_kernels_scalar = {"scalar",  apply,   multiply,
                                                      round_row, softmax, standardise};

/* ---- AVX2 and FMA, chosen at run time --------------------------------------------------------
 *
 * The product with weights keeps a tile of 5 rows by 16 columns in 10 of the 16 registers: a step
 * takes two loads of the panel and one broadcast of two numbers per row, and gives 10 times 16
 * products. A panel (16 to 48 KB) stays in the cache while all rows pass over it, so the weights
 * are read from memory once per call; each tile prefetches its share of the next panel. Remaining
 * rows are spread evenly: 6 rows are 3 and 3, not 5 and 1. The product of floats, which only
 * attention needs, works the same way. */

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define INLINE TARGET __attribute__((always_inline)) static inline
/* Loops over the rows of a tile must be unrolled: registers have no index. */
#define UNROLL _Pragma("GCC unroll 5")
#define TILE_ROWS 5
/* Keeps the sum in a register: gcc 12 would spill it to the stack in every step. */
#define KEEP(sum) __asm__("" : "+x"(sum))

/* Calls `what(t, n)` with n, 1 to 5, as a constant. */
#define WITH_CONSTANT_ROWS(what, t, n)                                                             \
    switch (n) {                                                                                   \
    case 5:                                                                                        \
        what(t, 5);                                                                                \
        break;                                                                                     \
    case 4:                                                                                        \
        what(t, 4);                                                                                \
        break;                                                                                     \
    case 3:                                                                                        \
        what(t, 3);                                                                                \
        break;                                                                                     \
    case 2:                                                                                        \
        what(t, 2);                                                                                \
        break;                                                                                     \
    default:                                                                                       \
        what(t, 1);                                                                                \
        break;                                                                                     \
    }

static size_t tiles_of(size_t rows)
{
    return (rows + TILE_ROWS - 1) / TILE_ROWS;
}

/* Number of `rows` for the first of `tiles`. */
static size_t next_rows(size_t rows, size_t tiles)
{
    return (rows + tiles - 1) / tiles;
}

/* Products with weights. */

#define PAIR_STEP ((size_t)2 * LC_PANEL_COLUMNS) /* Weights of two rows in a panel: one line. */

typedef struct apply_tile {
    const lc_apply *a;
    size_t row;
    size_t first;         /* Column. */
    const int16_t *ahead; /* Share of the next panel to prefetch, in steps. */
    size_t ahead_steps;
} apply_tile;

/* Eight columns of a row: converts to floats, adds the bias, applies the mode. */
INLINE void store_sums(const apply_tile *t, size_t row, size_t column, __m256i sums)
{
    const lc_apply *a = t->a;
    float *y = a->y + row * a->weights->columns + column;
    __m256 unit = _mm256_mul_ps(_mm256_broadcast_ss(a->x_units + row),
                                _mm256_loadu_ps(a->weights->units + column));
    __m256 result = _mm256_mul_ps(_mm256_cvtepi32_ps(sums), unit);

    result = _mm256_add_ps(result, _mm256_loadu_ps(a->weights->bias + column));
    if (a->mode == LC_APPLY_ADD)
        result = _mm256_add_ps(result, _mm256_loadu_ps(y));
    if (a->mode == LC_APPLY_RELU)
        result = _mm256_max_ps(result, _mm256_setzero_ps());
    _mm256_storeu_ps(y, result);
}

INLINE __m256i load_integers(const int16_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

INLINE __m256i load_pair(const int16_t *at)
{
    return _mm256_castps_si256(_mm256_broadcast_ss((const float *)(const void *)at));
}

/* `rows` is a constant wherever this is called. */
INLINE void apply_rows(const apply_tile *t, int rows)
{
    const lc_weights *weights = t->a->weights;
    const int16_t *panel = weights->panels + t->first * weights->depth;
    const int16_t *x[TILE_ROWS];
    __m256i low[TILE_ROWS], high[TILE_ROWS];

    UNROLL for (int r = 0; r < rows; r++)
    {
        x[r] = t->a->x + (t->row + (size_t)r) * weights->depth;
        low[r] = high[r] = _mm256_setzero_si256();
    }
    for (size_t step = 0; step < weights->depth / 2; step++) {
        __m256i left = load_integers(panel + step * PAIR_STEP);
        __m256i right = load_integers(panel + step * PAIR_STEP + 16);

        if (step < t->ahead_steps)
            _mm_prefetch((const char *)(t->ahead + step * PAIR_STEP), _MM_HINT_T1);
        UNROLL for (int r = 0; r < rows; r++)
        {
            __m256i pair = load_pair(x[r] + 2 * step);

            low[r] = _mm256_add_epi32(low[r], _mm256_madd_epi16(left, pair));
            high[r] = _mm256_add_epi32(high[r], _mm256_madd_epi16(right, pair));
            KEEP(low[r]);
            KEEP(high[r]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        store_sums(t, t->row + (size_t)r, t->first, low[r]);
        store_sums(t, t->row + (size_t)r, t->first + 8, high[r]);
    }
}

TARGET static void apply_avx2(const lc_apply *a)
{
    const lc_weights *weights = a->weights;
    size_t tiles = tiles_of(a->rows), steps = weights->depth / 2;

    for (size_t first = 0; first < weights->columns && tiles > 0; first += LC_PANEL_COLUMNS) {
        apply_tile t = {.a = a, .first = first, .ahead = weights->panels};

        if (first + LC_PANEL_COLUMNS < weights->columns) {
            t.ahead = weights->panels + (first + LC_PANEL_COLUMNS) * weights->depth;
            t.ahead_steps = (steps + tiles - 1) / tiles;
        }
        for (size_t left = tiles; left > 0; left--) {
            size_t rows = next_rows(a->rows - t.row, left);

            WITH_CONSTANT_ROWS(apply_rows, &t, rows)
            t.row += rows;
            t.ahead += t.ahead_steps * PAIR_STEP;
        }
    }
}

/* Products of floats. */

typedef struct multiply_tile {
    const lc_multiply *m;
    size_t row;
    size_t first; /* Column. */
} multiply_tile;

/* `rows` is a constant wherever this is called. */
INLINE void multiply_rows(const multiply_tile *t, int rows)
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

        UNROLL for (int r = 0; r < rows; r++)
        {
            __m256 factor = _mm256_broadcast_ss(x[r] + k);

            low[r] = _mm256_fmadd_ps(left, factor, low[r]);
            high[r] = _mm256_fmadd_ps(right, factor, high[r]);
        }
    }
    UNROLL for (int r = 0; r < rows; r++)
    {
        float *y = m->y + (t->row + (size_t)r) * m->y_stride + t->first;

        _mm256_storeu_ps(y, low[r]);
        _mm256_storeu_ps(y + 8, high[r]);
    }
}

TARGET static void multiply_avx2(const lc_multiply *m)
{
    for (size_t first = 0; first < m->matrix->columns; first += LC_PANEL_COLUMNS) {
        multiply_tile t = {.m = m, .first = first};

        for (size_t left = tiles_of(m->rows); left > 0; left--) {
            size_t rows = next_rows(m->rows - t.row, left);

            WITH_CONSTANT_ROWS(multiply_rows, &t, rows)
            t.row += rows;
        }
    }
}

/* Rows. */

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

TARGET static float round_row_avx2(const float *x, int16_t *out, size_t count)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 largest = _mm256_setzero_ps(), factor;
    float max;

    for (size_t i = 0; i < count; i += 8)
        largest = _mm256_max_ps(largest, _mm256_andnot_ps(sign, _mm256_loadu_ps(x + i)));
    max = highest(largest);
    factor = _mm256_set1_ps(max > 0 ? LC_ACTIVATION_MAX / max : 0);
    for (size_t i = 0; i < count; i += 16) {
        __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i), factor));
        __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i + 8), factor));
        /* Packing works on halves; the permutation puts their quarters in order. */
        __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);

        _mm256_storeu_si256((__m256i *)(void *)(out + i), both);
    }
    return max / LC_ACTIVATION_MAX;
}

/* e^x for x <= 0: 2^n times the series of e^r, with r at most half of ln 2. Below -87 the result
 * would be subnormal, and 0 is exact enough. */
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

TARGET static void softmax_avx2(float *row, size_t count)
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

TARGET static void standardise_avx2(const float *x, float *y, size_t count)
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

static const lc_encoder_kernels kernels_avx2 = {"avx2",         apply_avx2,   multiply_avx2,
                                                round_row_avx2, softmax_avx2, standardise_avx2};

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
