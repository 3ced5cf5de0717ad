#include "index/vector_kernel.h"

#include <math.h>
#include <string.h>

#include "lib/test.h"

#define ROWS 9 /* Two groups of four and a rest. */

typedef struct input {
    lc_vector_query query;
    _Alignas(64) int8_t codes[ROWS * 1024];
    uint64_t bits[ROWS * 16];
    lc_vector_rows rows;
} input;

typedef int8_t code_fn(test_rng *rng);

static int8_t any_code(test_rng *rng)
{
    return (int8_t)test_rng_between(rng, -127, 127);
}

static int8_t extreme_code(test_rng *rng)
{
    return test_rng_chance(rng, 50) ? 127 : -127;
}

static int8_t highest_code(test_rng *rng)
{
    (void)rng;
    return 127;
}

static int8_t lowest_code(test_rng *rng)
{
    (void)rng;
    return -127;
}

static void fill(input *in, test_rng *rng, uint32_t dimension, code_fn *of_query, code_fn *of_rows)
{
    size_t stride = lc_vector_stride(dimension), words = stride / 64;

    memset(in, 0, sizeof *in);
    in->rows = (lc_vector_rows){.codes = in->codes,
                                .bits = in->bits,
                                .stride = stride,
                                .count = (size_t)test_rng_between(rng, 0, ROWS)};
    for (uint32_t j = 0; j < dimension; j++) {
        in->query.codes[j] = of_query(rng);
        in->query.sum += in->query.codes[j];
        in->query.bits[j / 64] |= (uint64_t)(in->query.codes[j] > 0) << (j % 64);
        for (size_t i = 0; i < in->rows.count; i++) {
            int8_t code = of_rows(rng);

            in->codes[i * stride + j] = code;
            in->bits[i * words + j / 64] |= (uint64_t)(code > 0) << (j % 64);
        }
    }
}

static void check_against_scalar(const lc_vector_kernels *kernels, const input *in)
{
    int32_t dots[ROWS + 1], right_dots[ROWS + 1];
    uint32_t distances[ROWS + 1], right_distances[ROWS + 1];

    memset(dots, 0x5a, sizeof dots);
    memset(distances, 0x5a, sizeof distances);
    memcpy(right_dots, dots, sizeof dots);
    memcpy(right_distances, distances, sizeof distances);
    kernels->dots(&in->query, in->rows, dots);
    lc_vector_dots_scalar(&in->query, in->rows, right_dots);
    CHECK_BYTES(dots, sizeof dots, right_dots, sizeof dots);
    kernels->distances(&in->query, in->rows, distances);
    lc_vector_distances_scalar(&in->query, in->rows, right_distances);
    CHECK_BYTES(distances, sizeof distances, right_distances, sizeof distances);
}

/* A CPU must not decide what an agent remembers. */
TEST(vector_kernel, all_levels_equal_the_scalar_one_in_every_dimension)
{
    static const struct {
        code_fn *query, *rows;
    } kinds[] = {{any_code, any_code},         {extreme_code, extreme_code},
                 {highest_code, highest_code}, {highest_code, lowest_code},
                 {lowest_code, lowest_code},   {lowest_code, any_code}};
    test_rng rng = test_random(1);
    static input in;

    for (uint32_t dimension = 1; dimension <= 1024; dimension++) {
        for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
            fill(&in, &rng, dimension, kinds[kind].query, kinds[kind].rows);
            for (lc_vector_level level = 0; level < LC_VECTOR_LEVELS; level++) {
                const lc_vector_kernels *kernels = lc_vector_kernels_get(level);

                if (kernels != NULL)
                    check_against_scalar(kernels, &in);
            }
        }
    }
}

/* The oracle itself, by other means: in 64 bits, and bit by bit. */
TEST(vector_kernel, scalar_one_does_what_it_says)
{
    test_rng rng = test_random(2);
    static input in;

    for (uint32_t dimension = 1; dimension <= 1024; dimension += 61) {
        int32_t dots[ROWS];
        uint32_t distances[ROWS];

        fill(&in, &rng, dimension, extreme_code, any_code);
        lc_vector_dots_scalar(&in.query, in.rows, dots);
        lc_vector_distances_scalar(&in.query, in.rows, distances);
        for (size_t i = 0; i < in.rows.count; i++) {
            int64_t dot = 0;
            uint32_t distance = 0;

            for (uint32_t j = 0; j < dimension; j++) {
                int8_t code = in.codes[i * in.rows.stride + j];

                dot += (int64_t)code * in.query.codes[j];
                distance += (code > 0) != (in.query.codes[j] > 0);
            }
            CHECK_EQ(dots[i], dot);
            CHECK_EQ(distances[i], distance);
        }
    }
}

TEST(vector_kernel, best_level_is_the_highest_that_can_run)
{
    const lc_vector_kernels *best = lc_vector_kernels_get(LC_VECTOR_BEST);

    CHECK(lc_vector_kernels_get(LC_VECTOR_SCALAR) != NULL);
    for (lc_vector_level level = 0; level < LC_VECTOR_LEVELS; level++) {
        const lc_vector_kernels *kernels = lc_vector_kernels_get(level);

        if (kernels != NULL) {
            CHECK_EQ(kernels->level, level);
            CHECK_LE(level, best->level);
        }
    }
    CHECK(lc_vector_kernels_get(best->level) == best);
}

/* ---- Codes ----------------------------------------------------------------------------------- */

/* The largest value must become 127, never 128 (which is -128), however the division rounds. */
TEST(vector_kernel, codes_stay_in_range_and_near_the_values)
{
    test_rng rng = test_random(3);

    for (uint64_t round = 0; round < test_count(2000, 50000); round++) {
        float values[70], scale, largest = 0;
        int8_t codes[128], negative[128];
        uint32_t dimension = (uint32_t)test_rng_between(&rng, 1, 70);
        int exponent = (int)test_rng_between(&rng, -115, 120);

        for (uint32_t j = 0; j < dimension; j++) {
            values[j] = ldexpf((float)test_rng_between(&rng, -1000000, 1000000) / 1e6F, exponent);
            largest = fmaxf(largest, fabsf(values[j]));
        }
        memset(codes, 1, sizeof codes);
        scale = lc_vector_quantise(values, dimension, codes);
        for (uint32_t j = 0; j < dimension; j++) {
            CHECK_LE(-127, codes[j]);
            CHECK(fabsf((float)codes[j] * scale - values[j]) <= scale * 0.5001F);
            values[j] = -values[j];
        }
        for (size_t j = dimension; j < lc_vector_stride(dimension); j++)
            CHECK_EQ(codes[j], 0);
        CHECK(largest == 0 || fabsf(scale * 127 - largest) <= largest * 1e-6F);
        CHECK(lc_vector_quantise(values, dimension, negative) == scale);
        for (uint32_t j = 0; j < dimension; j++)
            CHECK_EQ(negative[j], -codes[j]);
    }
}

TEST(vector_kernel, zeros_and_dust_have_no_codes)
{
    float zeros[3] = {0, -0.0F, 0}, dust[3] = {1e-44F, -1e-40F, 0};
    int8_t codes[64];

    CHECK(lc_vector_quantise(zeros, 3, codes) == 0);
    CHECK(lc_vector_quantise(dust, 3, codes) == 0);
    for (size_t j = 0; j < 64; j++)
        CHECK_EQ(codes[j], 0);
}

TEST(vector_kernel, exact_product_is_that_of_doubles)
{
    test_rng rng = test_random(5);

    for (uint32_t dimension = 1; dimension <= 70; dimension++) {
        float a[70], b[70];
        double sum = 0;

        for (uint32_t j = 0; j < dimension; j++) {
            a[j] = (float)test_rng_between(&rng, -4096, 4096);
            b[j] = (float)test_rng_between(&rng, -4096, 4096);
            sum += (double)a[j] * (double)b[j]; /* Integers: exact in any order. */
        }
        CHECK(lc_vector_dot(a, b, dimension) == sum);
    }
}
