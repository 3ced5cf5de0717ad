/* time.c - The calendar is the proleptic Gregorian one. Days are counted in years that begin in
 * March: the leap day is then the last of its year, and the days before a month are a linear
 * formula ((153 m + 2) / 5, for m = 0 in March). 400 years have 146,097 days; 719,468 days are
 * between 0000-03-01 and 1970-01-01. Both directions are exact for all years, so no table and no
 * loop is needed.
 */
#include "base/time.h"

#include <string.h>

#include "base/assert.h"

#define SECONDS_PER_DAY 86400
#define US_PER_SECOND INT64_C(1000000)
#define DAYS_PER_ERA 146097
#define DAYS_BEFORE_1970 719468
#define SECONDS_MIN INT64_C(-62135596800) /* 0001-01-01T00:00:00Z */
#define SECONDS_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

typedef struct date {
    int year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
} date;

typedef struct cursor {
    const char *at;
    const char *end;
} cursor;

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days since 1970-01-01. */
static int64_t days_of(date when)
{
    int year = when.month > 2 ? when.year
                              : when.year - 1; /* That begins in March; never negative. */
    int month = when.month > 2 ? when.month - 3 : when.month + 9;
    int era = year / 400;
    int year_of_era = year % 400;
    int day_of_year = (153 * month + 2) / 5 + when.day - 1;
    int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return (int64_t)era * DAYS_PER_ERA + day_of_era - DAYS_BEFORE_1970;
}

static date date_of(int64_t days)
{
    int64_t since_zero = days + DAYS_BEFORE_1970; /* Positive from year 1 on. */
    int era = (int)(since_zero / DAYS_PER_ERA);
    int day_of_era = (int)(since_zero % DAYS_PER_ERA);
    int year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) /
                      365;
    int day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int month = (5 * day_of_year + 2) / 153;

    return (date){
        .year = era * 400 + year_of_era + (month >= 10),
        .month = month < 10 ? month + 3 : month - 9,
        .day = day_of_year - (153 * month + 2) / 5 + 1,
    };
}

/* Reads exactly `digits` digits whose value is in min..max. */
static bool read_number(cursor *text, int digits, int min, int max, int *out)
{
    int value = 0;

    if (text->end - text->at < digits)
        return false;
    for (int i = 0; i < digits; i++) {
        char c = *text->at++;

        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (c - '0');
    }
    *out = value;
    return value >= min && value <= max;
}

static bool read_byte(cursor *text, char byte)
{
    if (text->at == text->end || *text->at != byte)
        return false;
    text->at++;
    return true;
}

static bool read_date(cursor *text, int64_t *out_days)
{
    date when;

    if (!read_number(text, 4, 1, 9999, &when.year) || !read_byte(text, '-') ||
        !read_number(text, 2, 1, 12, &when.month) || !read_byte(text, '-') ||
        !read_number(text, 2, 1, days_in_month(when.year, when.month), &when.day))
        return false;
    *out_days = days_of(when);
    return true;
}

/* An optional fraction of a second, in µs. */
static bool read_fraction(cursor *text, int64_t *out_us)
{
    int64_t us = 0;
    int digits = 0;

    *out_us = 0;
    if (!read_byte(text, '.'))
        return true;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++, digits++) {
        if (digits < 6)
            us = us * 10 + (*text->at - '0');
    }
    for (int i = digits; i < 6; i++)
        us *= 10;
    *out_us = us;
    return digits >= 1 && digits <= 9;
}

/* Z or an offset, in seconds to add to UTC. */
static bool read_zone(cursor *text, int *out_seconds)
{
    int hours, minutes;
    bool is_west;

    *out_seconds = 0;
    if (read_byte(text, 'Z') || read_byte(text, 'z'))
        return true;
    is_west = read_byte(text, '-');
    if (!is_west && !read_byte(text, '+'))
        return false;
    if (!read_number(text, 2, 0, 23, &hours) || !read_byte(text, ':') ||
        !read_number(text, 2, 0, 59, &minutes))
        return false;
    *out_seconds = (hours * 60 + minutes) * (is_west ? -60 : 60);
    return true;
}

bool lc_time_parse(loci_str rfc3339, int64_t *out_us)
{
    cursor text = {rfc3339.ptr, rfc3339.len > 0 ? rfc3339.ptr + rfc3339.len : rfc3339.ptr};
    int64_t days, seconds, us;
    int hour, minute, second, offset_seconds;

    if (!read_date(&text, &days))
        return false;
    if (!read_byte(&text, 'T') && !read_byte(&text, 't') && !read_byte(&text, ' '))
        return false;
    if (!read_number(&text, 2, 0, 23, &hour) || !read_byte(&text, ':') ||
        !read_number(&text, 2, 0, 59, &minute) || !read_byte(&text, ':') ||
        !read_number(&text, 2, 0, 60, &second))
        return false;
    if (!read_fraction(&text, &us) || !read_zone(&text, &offset_seconds) || text.at != text.end)
        return false;

    seconds = days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - offset_seconds;
    if (second == 60 && seconds % SECONDS_PER_DAY != 0)
        return false; /* Leap seconds end a day of UTC, so the second after begins one. */
    if (seconds < SECONDS_MIN || seconds > SECONDS_MAX)
        return false;
    *out_us = seconds * US_PER_SECOND + us;
    return true;
}

static char *put_2(char *at, int value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";

    memcpy(at, pairs + 2 * (size_t)value, 2);
    return at + 2;
}

static char *put_date(char *at, date when)
{
    at = put_2(at, when.year / 100);
    at = put_2(at, when.year % 100);
    *at++ = '-';
    at = put_2(at, when.month);
    *at++ = '-';
    return put_2(at, when.day);
}

static char *put_clock(char *at, int second_of_day)
{
    at = put_2(at, second_of_day / 3600);
    *at++ = ':';
    at = put_2(at, second_of_day / 60 % 60);
    *at++ = ':';
    return put_2(at, second_of_day % 60);
}

static char *put_fraction(char *at, int us)
{
    if (us == 0)
        return at;
    *at++ = '.';
    at = put_2(at, us / 10000);
    if (us % 1000 == 0) {
        *at++ = (char)('0' + us / 1000 % 10);
        return at;
    }
    at = put_2(at, us / 100 % 100);
    return put_2(at, us % 100);
}

/* Rounds down also below zero, where C's division rounds up. */
static int64_t divide_down(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

size_t lc_time_format(int64_t us, char out[LC_TIME_BYTES_MAX])
{
    int64_t seconds, days;
    char *at = out;

    if (us < LC_TIME_MIN_US)
        us = LC_TIME_MIN_US;
    if (us > LC_TIME_MAX_US)
        us = LC_TIME_MAX_US;
    seconds = divide_down(us, US_PER_SECOND);
    days = divide_down(seconds, SECONDS_PER_DAY);

    at = put_date(at, date_of(days));
    *at++ = 'T';
    at = put_clock(at, (int)(seconds - days * SECONDS_PER_DAY));
    at = put_fraction(at, (int)(us - seconds * US_PER_SECOND));
    *at++ = 'Z';
    LC_ASSERT(at - out <= LC_TIME_BYTES_MAX);
    return (size_t)(at - out);
}
