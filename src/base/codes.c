/* codes.c - see codes.h. */
#include "base/codes.h"

#include <float.h>
#include <math.h>
#include <string.h>

float lc_codes_of(const float *vector, size_t dimension, int8_t *out_codes)
{
    float largest = 0, scale;

    for (size_t j = 0; j < dimension; j++)
        largest = fabsf(vector[j]) > largest ? fabsf(vector[j]) : largest;
    scale = largest / LC_CODE_MAX;
    if (scale < FLT_MIN) {
        memset(out_codes, 0, dimension);
        return 0;
    }
    for (size_t j = 0; j < dimension; j++) {
        /* At most 127.00002, so rounding cannot reach 128. */
        float code = vector[j] / scale;

        out_codes[j] = (int8_t)(code + copysignf(0.5F, code)); /* Without a branch. */
    }
    return scale;
}
