/* encoder_kernels.h - the three loops in which an encoder spends its time.
 *
 * One table a kind of processor. The scalar one is plain C: it says what the others have to compute
 * and runs everywhere.
 */
#ifndef LC_MODEL_ENCODER_KERNELS_H
#define LC_MODEL_ENCODER_KERNELS_H

#include <stddef.h>

/* Columns that lie together. A matrix of `depth` rows is a row of panels; a panel is `depth` times
 * 16 numbers. */
#define LC_PANEL_COLUMNS 16

typedef struct lc_matrix {
    const float *panels;
    const float *bias; /* One number a column, or NULL. */
    size_t depth;      /* Rows: what it takes. */
    size_t columns;    /* What it gives; a multiple of 16. */
} lc_matrix;

typedef enum lc_multiply_mode {
    LC_MULTIPLY_SET,  /* y = x M + bias */
    LC_MULTIPLY_ADD,  /* y += x M + bias */
    LC_MULTIPLY_RELU, /* y = max(x M + bias, 0) */
} lc_multiply_mode;

/* Rows of numbers, `stride` apart. */
typedef struct lc_multiply {
    const lc_matrix *matrix;
    const float *x; /* rows x matrix->depth */
    float *y;       /* rows x matrix->columns */
    size_t rows;
    size_t x_stride;
    size_t y_stride;
    lc_multiply_mode mode;
} lc_multiply;

typedef struct lc_encoder_kernels {
    const char *name;
    void (*multiply)(const lc_multiply *m);
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
