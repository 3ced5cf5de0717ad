#include "model/encoder_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/data_file.h"
#include "base/str.h"
#include "lib/test.h"
#include "model/encoder.h"

#define DEPTH 48
#define COLUMNS 32
#define ROWS_MAX 13 /* More than two tiles. */

static float random_float(test_rng *rng)
{
    return (float)test_rng_between(rng, -100000, 100000) / 25000;
}

static void fill_floats(test_rng *rng, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = random_float(rng);
}

static void fill_integers(test_rng *rng, int16_t *out, size_t count, int64_t max)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (int16_t)test_rng_between(rng, -max, max);
}

static void check_near(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(a[i] - b[i]) <= 1e-5f * (1 + fabsf(b[i]))))
            test_fail(__FILE__, __LINE__, "number %zu: %.9g and %.9g", i, (double)a[i],
                      (double)b[i]);
}

/* Every number of rows, so every size of a tile; sums of integers leave no room for "nearly". */
TEST(encoder_kernels, weights_are_applied_as_in_plain_c)
{
    int16_t panels[DEPTH * COLUMNS], x[ROWS_MAX * DEPTH];
    float units[COLUMNS], bias[COLUMNS], x_units[ROWS_MAX];
    float plain[ROWS_MAX * COLUMNS], fast[ROWS_MAX * COLUMNS];
    lc_weights weights = {panels, units, bias, DEPTH, COLUMNS};
    test_rng rng = test_random(3);

    fill_integers(&rng, panels, DEPTH * COLUMNS, 10000);
    fill_integers(&rng, x, ROWS_MAX * DEPTH, LC_ACTIVATION_MAX);
    fill_floats(&rng, bias, COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++)
        units[i] = 1e-4f * (float)(i + 1);
    for (size_t i = 0; i < ROWS_MAX; i++)
        x_units[i] = 1e-3f * (float)(i + 1);
    for (size_t rows = 0; rows <= ROWS_MAX; rows++) {
        for (lc_apply_mode mode = LC_APPLY_SET; mode <= LC_APPLY_RELU; mode++) {
            lc_apply apply = {&weights, x, x_units, plain, rows, mode};

            fill_floats(&rng, plain, ROWS_MAX * COLUMNS);
            memcpy(fast, plain, sizeof fast);
            lc_encoder_kernels_scalar.apply(&apply);
            apply.y = fast;
            lc_encoder_kernels_best()->apply(&apply);
            check_near(fast, plain, ROWS_MAX * COLUMNS);
        }
    }
}

TEST(encoder_kernels, floats_are_multiplied_as_in_plain_c)
{
    enum { WIDE = 40 }; /* Rows lie further apart than they are long. */
    float panels[DEPTH * COLUMNS], x[ROWS_MAX * (DEPTH + 3)];
    float plain[ROWS_MAX * WIDE] = {0}, fast[ROWS_MAX * WIDE] = {0};
    lc_matrix matrix = {panels, DEPTH, COLUMNS};
    test_rng rng = test_random(4);

    fill_floats(&rng, panels, DEPTH * COLUMNS);
    fill_floats(&rng, x, ROWS_MAX * (DEPTH + 3));
    for (size_t rows = 0; rows <= ROWS_MAX; rows++) {
        lc_multiply multiply = {&matrix, x, plain, rows, DEPTH + 3, WIDE};

        lc_encoder_kernels_scalar.multiply(&multiply);
        multiply.y = fast;
        lc_encoder_kernels_best()->multiply(&multiply);
        for (size_t i = 0; i < ROWS_MAX * WIDE; i++)
            CHECK(fabsf(plain[i] - fast[i]) < 1e-3f);
    }
}

TEST(encoder_kernels, rows_are_rounded_as_in_plain_c)
{
    const lc_encoder_kernels *best = lc_encoder_kernels_best();
    int16_t plain[DEPTH], fast[DEPTH];
    float x[DEPTH] = {0};
    test_rng rng = test_random(5);

    CHECK(lc_encoder_kernels_scalar.round(x, plain, DEPTH) == 0);
    for (int round = 0; round < 100; round++) {
        float unit;

        CHECK(best->round(x, fast, DEPTH) == lc_encoder_kernels_scalar.round(x, plain, DEPTH));
        CHECK_BYTES(fast, sizeof fast, plain, sizeof plain);
        unit = best->round(x, fast, DEPTH);
        for (size_t i = 0; i < DEPTH; i++) {
            CHECK_LE(abs(fast[i]), LC_ACTIVATION_MAX);
            CHECK(fabsf((float)fast[i] * unit - x[i]) <= unit * 0.501f);
        }
        fill_floats(&rng, x, DEPTH);
    }
}

TEST(encoder_kernels, rows_are_normalised_as_in_plain_c)
{
    const lc_encoder_kernels *best = lc_encoder_kernels_best();
    test_rng rng = test_random(6);

    for (size_t count = 1; count <= DEPTH; count++) {
        float plain[DEPTH], fast[DEPTH], sum = 0;

        fill_floats(&rng, plain, DEPTH);
        plain[count / 2] = -400; /* So far below the others that its weight is 0. */
        memcpy(fast, plain, sizeof fast);
        lc_encoder_kernels_scalar.softmax(plain, count);
        best->softmax(fast, count);
        check_near(fast, plain, (count + 15) / 16 * 16);
        for (size_t i = 0; i < count; i++)
            sum += fast[i];
        CHECK(fabsf(sum - 1) < 1e-5f);
    }
    for (size_t count = 16; count <= DEPTH; count += 16) {
        float x[DEPTH], plain[DEPTH], fast[DEPTH];

        fill_floats(&rng, x, DEPTH);
        lc_encoder_kernels_scalar.standardise(x, plain, count);
        best->standardise(x, fast, count);
        check_near(fast, plain, count);
    }
}

/* ---- The promise of the file ------------------------------------------------------------------
 */

static void check_sums_fit(const lc_weights *weights)
{
    for (size_t column = 0; column < weights->columns; column++) {
        const int16_t *panel = weights->panels +
                               column / LC_PANEL_COLUMNS * LC_PANEL_COLUMNS * weights->depth;
        int64_t sum = 0;

        for (size_t k = 0; k < weights->depth; k++) {
            size_t pair = k / 2 * LC_PANEL_COLUMNS + column % LC_PANEL_COLUMNS;

            sum += abs(panel[2 * pair + k % 2]);
        }
        CHECK_LE(sum * LC_ACTIVATION_MAX, INT32_MAX);
        CHECK_LT(0, sum);
    }
}

/* A sum that wrapped would be an undetected wrong vector. */
TEST(encoder_kernels, no_sum_can_leave_32_bits)
{
    char path[LC_DATA_PATH_BYTES];
    lc_data_file file = {0};
    lc_encoder_weights weights;
    loci_error err;

    CHECK_OK(lc_data_file_find(LC_STR(""), LC_ENCODER_FILE, path, &err), err);
    CHECK_OK(lc_data_file_open(&lc_encoder_kind, path, &file, &err), err);
    CHECK_OK(lc_encoder_weights_find(&file, &weights, &err), err);
    check_sums_fit(&weights.widen);
    check_sums_fit(&weights.final);
    for (size_t i = 0; i < LC_ENCODER_LAYERS; i++) {
        check_sums_fit(&weights.layers[i].qkv);
        check_sums_fit(&weights.layers[i].out);
        check_sums_fit(&weights.layers[i].up);
        check_sums_fit(&weights.layers[i].down);
    }
    lc_data_file_close(&file);
}
