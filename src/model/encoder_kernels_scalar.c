/* encoder_kernels_scalar.c - the reference: what every other table has to compute. */
#include "model/encoder_kernels.h"

#include <math.h>

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
