/* number.c - reading. A number is taken apart into digits x 10^exponent, digits an integer, and
 * that is rounded to a double once.
 *
 * With at most 19 digits and an exponent within +-27 the value is computed exactly: 5^27 is
 * the last power of 5 that fits 64 bits, so the product, or the quotient with its remainder, fits
 * 128 and is rounded once. All numbers people write are of this kind. Smaller ones need a single
 * floating operation, as both operands are exact doubles. The rest goes to strtod_l() in the C
 * locale, after cutting the text to 770 digits: 767 decide any double, one more digit says whether
 * non-zero digits followed.
 *
 * Eisel-Lemire would be faster at the far exponents, for a table of 10 kB.
 */
#include "base/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define SLOW_DIGITS_MAX 770
#define EXPONENT_MAX 100000                       /* Far beyond any double, with any digits. */
#define DIGITS_FULL UINT64_C(1000000000000000000) /* From 10^18 on, one more digit may not fit. */

_Static_assert(DBL_MANT_DIG == 53, "IEEE 754 binary64");
_Static_assert(sizeof(size_t) == 8, "128-bit arithmetic needs a 64-bit target");

__extension__ typedef unsigned __int128 wide;

/* digits x 10^exponent */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

uint64_t lc_number_power_of_5(int exponent)
{
    static const uint64_t powers[LC_NUMBER_POWER_MAX + 1] = {
        UINT64_C(1),
        UINT64_C(5),
        UINT64_C(25),
        UINT64_C(125),
        UINT64_C(625),
        UINT64_C(3125),
        UINT64_C(15625),
        UINT64_C(78125),
        UINT64_C(390625),
        UINT64_C(1953125),
        UINT64_C(9765625),
        UINT64_C(48828125),
        UINT64_C(244140625),
        UINT64_C(1220703125),
        UINT64_C(6103515625),
        UINT64_C(30517578125),
        UINT64_C(152587890625),
        UINT64_C(762939453125),
        UINT64_C(3814697265625),
        UINT64_C(19073486328125),
        UINT64_C(95367431640625),
        UINT64_C(476837158203125),
        UINT64_C(2384185791015625),
        UINT64_C(11920928955078125),
        UINT64_C(59604644775390625),
        UINT64_C(298023223876953125),
        UINT64_C(1490116119384765625),
        UINT64_C(7450580596923828125),
    };

    LC_ASSERT(exponent >= 0 && exponent <= LC_NUMBER_POWER_MAX);
    return powers[exponent];
}

/* value x 2^exponent, plus a little when `has_rest`, to the nearest double, ties to even. The
 * result must be a normal double and `value` at least 2^63. */
static double round_to_double(wide value, int exponent, bool has_rest)
{
    uint64_t high = (uint64_t)(value >> 64);
    int length = high != 0 ? 128 - __builtin_clzll(high) : 64;
    int dropped = length - DBL_MANT_DIG;
    uint64_t mantissa = (uint64_t)(value >> dropped);
    wide rest = value & (((wide)1 << dropped) - 1);
    wide half = (wide)1 << (dropped - 1);
    uint64_t bits;
    double result;

    if (rest > half || (rest == half && (has_rest || (mantissa & 1) != 0)))
        mantissa++;
    /* The mantissa's leading bit is added into the exponent: so a carry to 2^53 comes out right. */
    bits = ((uint64_t)(exponent + dropped + 1023 + 51) << 52) + mantissa;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* The value of `number` when 128 bits suffice to find it; false otherwise. */
static bool compose_exactly(decimal number, double *out)
{
    static const double powers_of_10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int shift, exponent = number.exponent;
    uint64_t divisor;
    wide dividend;

    if (number.digits == 0) {
        *out = 0.0;
        return true;
    }
    if (exponent < -LC_NUMBER_POWER_MAX || exponent > LC_NUMBER_POWER_MAX)
        return false;
#if FLT_EVAL_METHOD == 0
    if (number.digits <= UINT64_C(1) << DBL_MANT_DIG && exponent >= -22 && exponent <= 22) {
        *out = exponent < 0 ? (double)number.digits / powers_of_10[-exponent]
                            : (double)number.digits * powers_of_10[exponent];
        return true;
    }
#endif
    shift = __builtin_clzll(number.digits);
    if (exponent >= 0) {
        wide product = (wide)(number.digits << shift) * lc_number_power_of_5(exponent);

        *out = round_to_double(product, exponent - shift, false);
        return true;
    }
    divisor = lc_number_power_of_5(-exponent);
    dividend = (wide)(number.digits << shift) << 64;
    *out = round_to_double(dividend / divisor, exponent - shift - 64, dividend % divisor != 0);
    return true;
}

/* strtod() in the C locale, independent of the host's locale. In glibc and musl newlocale()
 * returns a constant here. */
static double compose_by_library(const char *text)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value;

    LC_ASSERT(plain != (locale_t)0);
    value = strtod_l(text, NULL, plain);
    freelocale(plain);
    return value;
}

double lc_number_compose(uint64_t digits, int exponent)
{
    char text[48];
    double value;

    if (compose_exactly((decimal){digits, exponent}, &value))
        return value;
    (void)snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits,
                   exponent); /* At most 20 + 1 + 11 bytes. */
    return compose_by_library(text);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* A number's text taken apart. */
typedef struct parts {
    const char *begin;
    loci_str digits; /* Before and after the point, the point included. */
    int64_t exponent;
    size_t bytes; /* Of the whole; where it stopped when it is no number. */
    bool is_valid;
    bool is_negative;
    bool is_real;
    bool is_cut; /* More significant digits than fit. */
    decimal value;
} parts;

static bool is_digit(const char *at, const char *end)
{
    return at < end && (unsigned char)(*at - '0') <= 9;
}

static const char *stop_at(parts *out, const char *at)
{
    out->bytes = (size_t)(at - out->begin);
    return NULL;
}

/* Takes the digits at `at` into `out->value`, as many as fit. */
static const char *take_digits(parts *out, const char *at, const char *end, bool is_fraction)
{
    for (; is_digit(at, end); at++) {
        if (out->value.digits < DIGITS_FULL) {
            out->value.digits = out->value.digits * 10 + (uint64_t)(*at - '0');
            out->value.exponent -= is_fraction;
        } else {
            out->is_cut = true;
        }
    }
    return at;
}

/* "e-12"; `at` is behind the letter. NULL when there are no digits. */
static const char *take_exponent(parts *out, const char *at, const char *end)
{
    bool is_negative = at < end && *at == '-';
    int64_t exponent = 0;

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (!is_digit(at, end))
        return stop_at(out, at);
    for (; is_digit(at, end); at++) {
        if (exponent < INT64_C(1000000000000)) /* The digits before may outweigh a small one. */
            exponent = exponent * 10 + (*at - '0');
    }
    out->exponent = is_negative ? -exponent : exponent;
    return at;
}

/* Returns the end of the digits and the fraction; NULL if it is not a number, with the position in
 * out->bytes. */
static const char *take_mantissa(parts *out, const char *at, const char *end)
{
    const char *first = at;

    if (is_digit(at, end))
        at = *at == '0' ? at + 1 : take_digits(out, at, end, false);
    if (at == first || is_digit(at, end)) /* None, or one behind a leading zero. */
        return stop_at(out, at);
    if (at < end && *at == '.') {
        out->is_real = true;
        at++;
        if (!is_digit(at, end))
            return stop_at(out, at);
        at = take_digits(out, at, end, true);
    }
    out->digits = (loci_str){first, (size_t)(at - first)};
    return at;
}

static parts take_apart(loci_str text)
{
    parts out = {.begin = text.ptr, .is_negative = text.len > 0 && text.ptr[0] == '-'};
    const char *end, *at;

    if (text.len == 0)
        return out;
    end = text.ptr + text.len;
    at = take_mantissa(&out, text.ptr + out.is_negative, end);
    if (at != NULL && at < end && (*at == 'e' || *at == 'E')) {
        out.is_real = true;
        at = take_exponent(&out, at + 1, end);
    }
    if (at == NULL)
        return out;
    (void)stop_at(&out, at);
    out.is_valid = true;
    return out;
}

/* Any number of digits: the significant ones, then a mark for those cut off, then the exponent. */
static double compose_slowly(const parts *number)
{
    char text[SLOW_DIGITS_MAX + 32];
    size_t count = 0;
    int64_t exponent = number->exponent;
    bool is_fraction = false, has_rest = false;

    for (size_t i = 0; i < number->digits.len; i++) {
        char c = number->digits.ptr[i];

        if (c == '.') {
            is_fraction = true;
            continue;
        }
        if (count == SLOW_DIGITS_MAX) {
            has_rest = has_rest || c != '0';
            exponent += !is_fraction;
            continue;
        }
        exponent -= is_fraction;
        if (c != '0' || count > 0)
            text[count++] = c;
    }
    if (count == 0)
        return 0.0;
    if (has_rest) {
        text[count++] = '1';
        exponent--;
    }
    if (exponent > EXPONENT_MAX)
        exponent = EXPONENT_MAX;
    if (exponent < -EXPONENT_MAX)
        exponent = -EXPONENT_MAX;
    (void)snprintf(text + count, sizeof text - count, "e%d", (int)exponent); /* At most 9 bytes. */
    return compose_by_library(text);
}

static double value_of(const parts *number)
{
    decimal value = number->value;
    double result;

    if (number->is_cut || number->exponent > EXPONENT_MAX || number->exponent < -EXPONENT_MAX ||
        value.exponent < -EXPONENT_MAX) {
        result = compose_slowly(number);
    } else {
        result = lc_number_compose(value.digits, value.exponent + (int)number->exponent);
    }
    if (result == 0)
        return 0.0; /* Zero has no sign. */
    return number->is_negative ? -result : result;
}

lc_number lc_number_read(loci_str text)
{
    parts number = take_apart(text);
    uint64_t limit = (uint64_t)INT64_MAX + number.is_negative;

    if (!number.is_valid)
        return (lc_number){.kind = LC_NUMBER_NONE, .bytes = number.bytes};
    if (number.is_real)
        return (lc_number){
            .kind = LC_NUMBER_REAL, .bytes = number.bytes, .real = value_of(&number)};
    if (number.is_cut || number.value.digits > limit)
        return (lc_number){
            .kind = LC_NUMBER_BIG_INT, .bytes = number.bytes, .real = value_of(&number)};
    return (lc_number){
        .kind = LC_NUMBER_INT,
        .bytes = number.bytes,
        .integer = number.is_negative ? (int64_t)(0 - number.value.digits)
                                      : (int64_t)number.value.digits,
    };
}

bool lc_number_parse_f64(loci_str json_number_text, double *out)
{
    lc_number number = lc_number_read(json_number_text);

    if (number.kind == LC_NUMBER_NONE || number.bytes != json_number_text.len)
        return false;
    if (number.kind == LC_NUMBER_INT) {
        *out = (double)number.integer;
        return true;
    }
    if (isinf(number.real))
        return false;
    *out = number.real;
    return true;
}
