/* number.h - numbers as JSON text, exact both ways and independent of the locale.
 *
 * An integer is an int64 and stays exact; everything written with a fraction or an exponent is a
 * double, read correctly rounded and written as the shortest text that reads back the same. A
 * double keeps a mark of being one (3.0, 1e+300), so that kinds survive a round trip. Zero has no
 * sign.
 */
#ifndef LC_BASE_NUMBER_H
#define LC_BASE_NUMBER_H

#include "loci.h"

#include <stdbool.h>

#define LC_NUMBER_BYTES_MAX 32

typedef enum lc_number_kind {
    LC_NUMBER_NONE, /* Not a JSON number. */
    LC_NUMBER_INT,
    LC_NUMBER_REAL,
    LC_NUMBER_BIG_INT, /* An integer outside int64. */
} lc_number_kind;

typedef struct lc_number {
    lc_number_kind kind;
    size_t bytes;    /* Of its text; for LC_NUMBER_NONE where the text stops being a number. */
    int64_t integer; /* Of LC_NUMBER_INT. */
    double real;     /* Of LC_NUMBER_REAL and LC_NUMBER_BIG_INT; infinite when too large. */
} lc_number;

/* Reads the JSON number at the beginning of `text`; the rest is ignored. */
lc_number lc_number_read(loci_str text);

/* Reads a whole JSON number, integers too. False, writing nothing, if it is not a number or
 * overflows. */
bool lc_number_parse_f64(loci_str json_number_text, double *out);

/* 10^exponent times `digits`, correctly rounded; infinite when too large. */
double lc_number_compose(uint64_t digits, int exponent);

#define LC_NUMBER_POWER_MAX 27 /* 5^27 < 2^64 < 5^28 */
/* 5^exponent for 0 <= exponent <= LC_NUMBER_POWER_MAX. */
uint64_t lc_number_power_of_5(int exponent);

/* All return the bytes written; not terminated. The reals are finite. The last writes the shortest
 * text that a reader of doubles, and one of floats, turns back into `value`. */
size_t lc_number_format_i64(int64_t value, char out[LC_NUMBER_BYTES_MAX]);
size_t lc_number_format_f64(double value, char out[LC_NUMBER_BYTES_MAX]);
size_t lc_number_format_f32(float value, char out[LC_NUMBER_BYTES_MAX]);

#endif /* LC_BASE_NUMBER_H */
