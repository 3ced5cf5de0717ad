/* encoder_kernels.h - the loops in which an encoder spends its time.
 *
 * One table a kind of processor. The scalar one is plain C: it says what the others have to compute
 * and runs everywhere. Weights and what is multiplied with them are 16-bit integers, each row and
 * each column with a unit of its own: half the memory of f32 and twice the products at a time.
 * Units are such that no sum leaves 32 bits, so products are exact and the same in every table;
 * what is lost is rounding, a ten-thousandth of the largest number of a row.
 */
#ifndef LC_MODEL_ENCODER_KERNELS_H
#define LC_MODEL_ENCODER_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Columns that lie together: a matrix is a row of panels, each as deep as the matrix. */
#define LC_PANEL_COLUMNS 16
/* The largest integer a row is rounded to; tools/data/encoder.mjs fits the weights to it. */
#define LC_ACTIVATION_MAX 4095

typedef struct lc_matrix {
    const float *panels; /* A panel: depth times 16 numbers. */
    size_t depth;        /* Rows: what it takes. */
    size_t columns;      /* What it gives; a multiple of 16. */
} lc_matrix;

/* y = x M. Rows of x and y are so far apart. */
typedef struct lc_multiply {
    const lc_matrix *matrix;
    const float *x; /* rows x matrix->depth */
    float *y;       /* rows x matrix->columns */
    size_t rows;
    size_t x_stride;
    size_t y_stride;
} lc_multiply;

typedef struct lc_weights {
    const int16_t *panels; /* A panel: depth / 2 times 16 pairs, of the same column in two rows. */
    const float *units;    /* One a column. */
    const float *bias;     /* One a column. */
    size_t depth;          /* Even. */
    size_t columns;
} lc_weights;

typedef enum lc_apply_mode {
    LC_APPLY_SET,  /* y = x W + bias */
    LC_APPLY_ADD,  /* y += x W + bias */
    LC_APPLY_RELU, /* y = max(x W + bias, 0) */
} lc_apply_mode;

/* Rows without gaps. */
typedef struct lc_apply {
    const lc_weights *weights;
    const int16_t *x; /* rows x weights->depth, at most LC_ACTIVATION_MAX either way. */
    const float *x_units;
    float *y; /* rows x weights->columns */
    size_t rows;
    lc_apply_mode mode;
} lc_apply;

typedef struct lc_encoder_kernels {
    const char *name;
    void (*apply)(const lc_apply *a);
    void (*multiply)(const lc_multiply *m);
    /* Rounds `x` to integers of a unit, which is returned. `count` is a multiple of 16. */
    float (*round)(const float *x, int16_t *out, size_t count);
    /* Makes the first `count` numbers positive with sum 1, as exp() of them; the rest of the panel
     * they end in becomes 0. */
    void (*softmax)(float *row, size_t count);
    /* `y` = `x` with mean 0 and variance 1. `count` is a multiple of 16. */
    void (*standardise)(const float *x, float *y, size_t count);
} lc_encoder_kernels;

extern const lc_encoder_kernels lc_encoder_kernels_scalar;
/* The fastest that this processor runs. */
const lc_encoder_kernels *lc_encoder_kernels_best(void);

/* What the variance is raised by, so that nothing is divided by 0. */
#define LC_STANDARDISE_EPSILON 1e-6f

#endif /* LC_MODEL_ENCODER_KERNELS_H */
