/* encoder_kernels_scalar.c - the reference: what every other table has to compute. */
#include "model/encoder_kernels.h"

#include <math.h>

static void multiply_panel(const lc_multiply *m, size_t row, size_t first)
{
    const float *panel = m->matrix->panels + first * m->matrix->depth;
    const float *x = m->x + row * m->x_stride;
    float *y = m->y + row * m->y_stride + first;
    float sums[LC_PANEL_COLUMNS] = {0};

    for (size_t k = 0; k < m->matrix->depth; k++)
        for (size_t i = 0; i < LC_PANEL_COLUMNS; i++)
            sums[i] += x[k] * panel[k * LC_PANEL_COLUMNS + i];
    for (size_t i = 0; i < LC_PANEL_COLUMNS; i++) {
        float sum = sums[i] + (m->matrix->bias != NULL ? m->matrix->bias[first + i] : 0);

        if (m->mode == LC_MULTIPLY_ADD)
            sum += y[i];
        y[i] = m->mode == LC_MULTIPLY_RELU && sum < 0 ? 0 : sum;
    }
}

static void multiply(const lc_multiply *m)
{
    for (size_t first = 0; first < m->matrix->columns; first += LC_PANEL_COLUMNS)
        for (size_t row = 0; row < m->rows; row++)
            multiply_panel(m, row, first);
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

const lc_encoder_kernels lc_encoder_kernels_scalar = {"scalar", multiply, softmax, standardise};
