/* codes.h - vectors of floats as one byte per dimension and a scale per vector.
 *
 * The scale is the largest absolute value / 127, so that a flat vector loses no more than a spiky
 * one and products of different vectors can be compared: a . b is about
 * dot(codes of a, codes of b) * scale of a * scale of b. Codes go from -127 to 127: symmetric, so
 * that the negative of a vector has the negative codes. The store and the index in memory use the
 * same codes, so a vector is converted once.
 */
#ifndef LC_BASE_CODES_H
#define LC_BASE_CODES_H

#include <stddef.h>
#include <stdint.h>

#define LC_CODE_MAX 127

/* Writes `dimension` codes and returns the scale: 0, with all codes 0, for a vector of zeros or of
 * values too small to divide by. All values are finite. */
float lc_codes_of(const float *vector, size_t dimension, int8_t *out_codes);

#endif /* LC_BASE_CODES_H */
