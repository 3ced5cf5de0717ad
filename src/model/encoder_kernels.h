/* encoder_kernels.h - the inner loops of the encoder.
 *
 * One table per kind of processor. The scalar one is plain C: it is the reference for the others
 * and runs everywhere. Weights and activations are 16-bit integers with one unit per row and
 * column: half the memory of f32 and twice the products per instruction. Units are chosen so that
 * no sum exceeds 32 bits, so products are exact and equal in all tables; rounding loses a
 * ten-thousandth of the largest number of a row.
 */
#ifndef LC_MODEL_ENCODER_KERNELS_H
#define LC_MODEL_ENCODER_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Columns stored together: a matrix is a row of panels, each as deep as the matrix. */
#define LC_PANEL_COLUMNS 16
/* The largest integer of a rounded row; tools/data/encoder.mjs fits the weights to it. */
#define LC_ACTIVATION_MAX 4095

typedef struct lc_matrix {
    const float *panels; /* A panel: depth times 16 numbers. */
    size_t depth;        /* Rows. */
    size_t columns;      /* A multiple of 16. */
} lc_matrix;

/* y = x M. */
typedef struct lc_multiply {
    const lc_matrix *matrix;
    const float *x; /* rows x matrix->depth */
    float *y;       /* rows x matrix->columns */
    size_t rows;
    size_t x_stride;
    size_t y_stride;
} lc_multiply;

typedef struct lc_weights {
    const int16_t *panels; /* A panel: depth / 2 times 16 pairs of two rows in one column. */
    const float *units;    /* One per column. */
    const float *bias;     /* One per column. */
    size_t depth;          /* Even. */
    size_t columns;
} lc_weights;

typedef enum lc_apply_mode {
    LC_APPLY_SET,  /* y = x W + bias */
    LC_APPLY_ADD,  /* y += x W + bias */
    LC_APPLY_RELU, /* y = max(x W + bias, 0) */
} lc_apply_mode;

/* Rows have no gaps between them. */
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
    /* Rounds `x` to integers and returns their unit. `count` is a multiple of 16. */
    float (*round)(const float *x, int16_t *out, size_t count);
    /* Softmax of the first `count` numbers; the rest of their last panel becomes 0. */
    void (*softmax)(float *row, size_t count);
    /* `y` = `x` with mean 0 and variance 1. `count` is a multiple of 16. */
    void (*standardise)(const float *x, float *y, size_t count);
} lc_encoder_kernels;

extern const lc_encoder_kernels lc_encoder_kernels_scalar;
/* The fastest table for this processor. */
const lc_encoder_kernels *lc_encoder_kernels_best(void);

/* Added to the variance, so that it is never 0. */
#define LC_STANDARDISE_EPSILON 1e-6f

#endif /* LC_MODEL_ENCODER_KERNELS_H */
