/* number_format.c - writing. 15 digits are tried, then 16, then 17, and the first that reads back
 * the same is taken. A decimal of up to 15 digits survives a double, so a success at 15, its zeros
 * stripped, is the shortest; 17 always succeed. Next to a power of 2 the doubles below are closer
 * than those above, so the nearest 16 digits may fail where the next ones up succeed. Subnormals
 * hold fewer digits and are tried from 1 up.
 *
 * The digits are exact: while the power of ten stays within 10^+-27, scaling is a product or
 * quotient of at most 128 bits. Beyond, printf() finds them. Ryu would be faster there, for tables
 * of 10 kB.
 */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

#define DIGITS_SAFE 15 /* Survive a double. */
#define DIGITS_MAX 17  /* Always identify a double. */
#define DIGITS_SAFE_F32 6
#define DIGITS_MAX_F32 9
#define POINT_MIN -6 /* 0.000001 is the least written without an exponent, */
#define POINT_MAX 16 /* and 1e+16 the first with one: integers to 2^53 have none. */

__extension__ typedef unsigned __int128 wide;

/* digits x 10^exponent */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

/* mantissa x 2^exponent, not zero and not subnormal. */
typedef struct binary {
    uint64_t mantissa;
    int exponent;
} binary;

static binary take_apart(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return (binary){
        .mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52,
        .exponent = (int)(bits >> 52 & 0x7FF) - 1075,
    };
}

static uint64_t divide_rounded(wide dividend, wide divisor)
{
    wide quotient = dividend / divisor;
    wide rest = dividend % divisor;

    return (uint64_t)quotient + (rest >= divisor - rest);
}

/* value x 10^power to the nearest integer, which must be below 2^64. */
static uint64_t scale(binary value, int power)
{
    int exponent = value.exponent + power;
    wide product;

    if (power < 0) {
        uint64_t divisor = lc_number_power_of_5(-power);

        return exponent >= 0 ? divide_rounded((wide)value.mantissa << exponent, divisor)
                             : divide_rounded(value.mantissa, (wide)divisor << -exponent);
    }
    product = (wide)value.mantissa * lc_number_power_of_5(power);
    if (exponent >= 0)
        return (uint64_t)(product << exponent);
    return (uint64_t)((product + ((wide)1 << (-exponent - 1))) >> -exponent);
}

static uint64_t power_of_10(int exponent)
{
    return lc_number_power_of_5(exponent) << exponent;
}

/* The nearest decimal of `count` digits by printf(), whose decimal point depends on the locale. */
static decimal digits_by_library(double value, int count)
{
    char text[64];
    decimal out = {0};
    const char *at = text;

    (void)snprintf(text, sizeof text, "%.*e", count - 1, value); /* At most 17 + 8 bytes. */
    for (; *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9')
            out.digits = out.digits * 10 + (uint64_t)(*at - '0');
    }
    for (const char *digit = at + 2; *digit != '\0'; digit++)
        out.exponent = out.exponent * 10 + (*digit - '0');
    if (at[1] == '-')
        out.exponent = -out.exponent;
    out.exponent -= count - 1;
    return out;
}

/* The nearest decimal of `count` digits. */
static decimal digits_of(double value, int count)
{
    binary parts = take_apart(value);
    /* 78913 / 2^18 is a little below log10(2), so this is the exponent of ten or one less. */
    int power = count - 1 - (((parts.exponent + 52) * 78913) >> 18);
    decimal out;

    /* One less for the second try below; then all intermediate results fit 128 bits. */
    if (power > LC_NUMBER_POWER_MAX || power - 1 < -LC_NUMBER_POWER_MAX)
        return digits_by_library(value, count);
    out = (decimal){scale(parts, power), -power};
    if (out.digits >= power_of_10(count))
        out = (decimal){scale(parts, power - 1), 1 - power};
    return out;
}

static bool reads_back(decimal number, double value)
{
    return lc_number_compose(number.digits, number.exponent) == value;
}

/* A reader that parses a float as a double rounds twice. The result is the same as with one
 * rounding unless the double is halfway between two floats, so such a text is not used. */
static bool reads_back_f32(decimal number, float value)
{
    double read = lc_number_compose(number.digits, number.exponent);
    double below = ((double)nextafterf(value, 0) + (double)value) / 2;
    double above = ((double)nextafterf(value, INFINITY) + (double)value) / 2;

    return (float)read == value && read != below && read != above;
}

static decimal strip_zeros(decimal number)
{
    while (number.digits % 10 == 0) {
        number.digits /= 10;
        number.exponent++;
    }
    return number;
}

/* As below; a float that is subnormal is an ordinary double. */
static decimal shortest_of_f32(float value)
{
    bool is_subnormal = fpclassify(value) == FP_SUBNORMAL;
    decimal out = {0};

    for (int count = is_subnormal ? 1 : DIGITS_SAFE_F32; count <= DIGITS_MAX_F32; count++) {
        out = digits_of((double)value, count);
        if (reads_back_f32(out, value))
            break;
        out.digits++;
        if (count < DIGITS_MAX_F32 && reads_back_f32(out, value))
            break;
    }
    return strip_zeros(out);
}

static decimal shortest_of(double value)
{
    bool is_subnormal = fpclassify(value) == FP_SUBNORMAL;
    decimal out = {0};

    for (int count = is_subnormal ? 1 : DIGITS_SAFE; count <= DIGITS_MAX; count++) {
        out = is_subnormal ? digits_by_library(value, count) : digits_of(value, count);
        if (reads_back(out, value))
            break;
        out.digits++;
        if (count < DIGITS_MAX && reads_back(out, value))
            break;
    }
    return strip_zeros(out);
}

/* Writes the decimal digits of `value`; returns how many. */
static int put_digits(uint64_t value, char *out)
{
    char text[20];
    int count = 0;

    do {
        text[sizeof text - ++count] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    memcpy(out, text + sizeof text - count, (size_t)count);
    return count;
}

/* 12.5, 1200.0 or 0.00125; `point` is the position of the decimal point in the digits. */
static char *put_plain(char *at, const char *digits, int count, int point)
{
    int whole = point < 0 ? 0 : point < count ? point : count;

    memcpy(at, digits, (size_t)whole);
    at += whole;
    for (int i = whole; i < point || i == 0; i++)
        *at++ = '0';
    *at++ = '.';
    for (int i = point; i < 0; i++)
        *at++ = '0';
    if (whole == count) {
        *at++ = '0';
        return at;
    }
    memcpy(at, digits + whole, (size_t)(count - whole));
    return at + (count - whole);
}

/* 1e+300 or 1.25e-9 */
static char *put_scientific(char *at, const char *digits, int count, int exponent)
{
    *at++ = digits[0];
    if (count > 1) {
        *at++ = '.';
        memcpy(at, digits + 1, (size_t)(count - 1));
        at += count - 1;
    }
    *at++ = 'e';
    *at++ = exponent < 0 ? '-' : '+';
    return at + put_digits((uint64_t)(exponent < 0 ? -exponent : exponent), at);
}

/* A positive number, its digits found. */
static char *put_decimal(char *at, decimal number)
{
    char digits[20];
    int count = put_digits(number.digits, digits);
    int exponent = number.exponent + count - 1;

    if (exponent >= POINT_MIN && exponent < POINT_MAX)
        return put_plain(at, digits, count, exponent + 1);
    return put_scientific(at, digits, count, exponent);
}

static size_t put_zero(char out[LC_NUMBER_BYTES_MAX])
{
    memcpy(out, "0.0", 3);
    return 3;
}

size_t lc_number_format_f64(double value, char out[LC_NUMBER_BYTES_MAX])
{
    char *at = out;

    LC_ASSERT(isfinite(value));
    if (value == 0)
        return put_zero(out);
    if (value < 0)
        *at++ = '-';
    at = put_decimal(at, shortest_of(fabs(value)));
    LC_ASSERT(at - out <= LC_NUMBER_BYTES_MAX);
    return (size_t)(at - out);
}

size_t lc_number_format_f32(float value, char out[LC_NUMBER_BYTES_MAX])
{
    char *at = out;

    LC_ASSERT(isfinite(value));
    if (value == 0)
        return put_zero(out);
    if (value < 0)
        *at++ = '-';
    at = put_decimal(at, shortest_of_f32(fabsf(value)));
    LC_ASSERT(at - out <= LC_NUMBER_BYTES_MAX);
    return (size_t)(at - out);
}

size_t lc_number_format_i64(int64_t value, char out[LC_NUMBER_BYTES_MAX])
{
    bool is_negative = value < 0;
    uint64_t magnitude = is_negative ? 0 - (uint64_t)value : (uint64_t)value;

    if (is_negative)
        out[0] = '-';
    return (size_t)is_negative + (size_t)put_digits(magnitude, out + is_negative);
}
