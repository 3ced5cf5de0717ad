/* when.c - see when.h. One pass: each term may begin a date, and the first that does is taken. */
#include "talk/when.h"

#include "base/str.h"

#define SECOND_US INT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define HOUR_US (60 * MINUTE_US)
#define DAY_US (24 * HOUR_US)
#define WORD_BYTES_MAX 24

/* ---- Calendar -------------------------------------------------------------------------------- */

/* Days since 1970 of a date of the Gregorian calendar, and back. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

typedef struct date {
    int64_t year, month, day;
} date;

static date date_of(int64_t days)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100), m = (5 * of_year + 2) / 153;
    int64_t month = m < 10 ? m + 3 : m - 9;

    return (date){year + era * 400 + (month <= 2), month, of_year - (153 * m + 2) / 5 + 1};
}

static int64_t floor_day(int64_t us)
{
    return us >= 0 ? us / DAY_US : (us - DAY_US + 1) / DAY_US;
}

/* Monday is 0. */
static int64_t weekday_of(int64_t days)
{
    return ((days + 3) % 7 + 7) % 7;
}

static bool is_day_of(int64_t year, int64_t month, int64_t day)
{
    date back = date_of(days_of(year, month, day));

    return day > 0 && back.month == month && back.day == day;
}

/* ---- Words ----------------------------------------------------------------------------------- */

typedef struct reading {
    lc_terms t;
    const lc_moment *said;
    int64_t today; /* Local, in days. */
    lc_when *out;
    int64_t days; /* Of the date found. */
    size_t end;   /* Behind it. */
} reading;

static bool is(const reading *r, size_t at, const char *word)
{
    return lc_term_is(r->t, at, word);
}

static loci_str lower_of(const reading *r, size_t at, char out[WORD_BYTES_MAX])
{
    size_t len = 0;

    if (at >= r->t.count)
        return LC_STR("");
    for (; len < r->t.at[at].bytes && len < WORD_BYTES_MAX; len++) {
        char c = r->t.text.ptr[r->t.at[at].start + len];

        out[len] = c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
    }
    return (loci_str){out, len};
}

/* The place of the word in "a|b|c", whole or by its first three letters; -1 = it is not there. */
static int place_in(const reading *r, size_t at, const char *list)
{
    char bytes[WORD_BYTES_MAX];
    loci_str word = lower_of(r, at, bytes), rest = loci_str_of(list);

    for (int i = 0; rest.ptr != NULL; i++) {
        loci_str each = lc_str_split(rest, '|', &rest);

        if (lc_str_eq(word, each) ||
            (word.len >= 3 && word.len <= 5 && word.len < each.len && lc_str_starts(each, word)))
            return i;
    }
    return -1;
}

static int weekday_at(const reading *r, size_t at)
{
    return at < r->t.count && r->t.at[at].kind == LC_TERM_DATE
               ? place_in(r, at, "monday|tuesday|wednesday|thursday|friday|saturday|sunday")
               : -1;
}

static int month_at(const reading *r, size_t at)
{
    return at < r->t.count && r->t.at[at].kind == LC_TERM_DATE
               ? place_in(r, at,
                          "january|february|march|april|may|june|july|august|september|october|"
                          "november|december")
               : -1;
}

/* A small number, in digits with an ordinal's ending or none, or as a word; 0 = none. */
static int64_t number_at(const reading *r, size_t at)
{
    static const char words[] = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve";
    char bytes[WORD_BYTES_MAX];
    loci_str word = lower_of(r, at, bytes);
    int64_t number = 0;
    size_t i = 0;

    for (; i < word.len && i < 4 && word.ptr[i] >= '0' && word.ptr[i] <= '9'; i++)
        number = 10 * number + (word.ptr[i] - '0');
    if (i > 0)
        return lc_str_is_choice((loci_str){word.ptr + i, word.len - i}, "|st|nd|rd|th") ||
                       i == word.len
                   ? number
                   : 0;
    if (lc_str_is(word, "a") || lc_str_is(word, "an"))
        return 1;
    for (loci_str rest = loci_str_of(words); rest.ptr != NULL;) {
        number++;
        if (lc_str_eq(lc_str_split(rest, '|', &rest), word))
            return number;
    }
    return 0;
}

/* Is the term a number with an ordinal's ending: "20th"? */
static bool is_ordinal(const reading *r, size_t at)
{
    char bytes[WORD_BYTES_MAX];
    loci_str word = lower_of(r, at, bytes);

    return word.len > 2 && word.ptr[0] >= '1' && word.ptr[0] <= '9' && number_at(r, at) > 0 &&
           word.ptr[word.len - 1] > '9';
}

/* ---- Days ------------------------------------------------------------------------------------ */

static bool take(reading *r, int64_t days, size_t end)
{
    r->days = days;
    r->end = end;
    return true;
}

/* A day of a month: of the year given, else the next to come. */
static bool take_day_of(reading *r, int month, int64_t day, size_t end)
{
    int64_t year = end < r->t.count && r->t.at[end].kind == LC_TERM_NUMBER &&
                           r->t.at[end].bytes == 4
                       ? number_at(r, end)
                       : 0;
    date now = date_of(r->today);

    if (year >= 1900 && year < 2200)
        return is_day_of(year, month + 1, day) && take(r, days_of(year, month + 1, day), end + 1);
    year = now.year;
    if (is_day_of(year, month + 1, day) && days_of(year, month + 1, day) < r->today)
        year++;
    return is_day_of(year, month + 1, day) && take(r, days_of(year, month + 1, day), end);
}

static bool read_month(reading *r, size_t at)
{
    int month = month_at(r, at);
    int64_t day;

    if (month >= 0) { /* "June 3", "by June" */
        day = number_at(r, at + 1);
        if (day >= 1 && day <= 31 && r->t.at[at].after == 0)
            return take_day_of(r, month, day, at + 2);
        return at > 0 && (is(r, at - 1, "by") || is(r, at - 1, "before") || is(r, at - 1, "in")) &&
               take_day_of(r, month, 1, at + 1);
    }
    day = number_at(r, at); /* "3 June", "3rd of June", "the 20th" */
    if (day < 1 || day > 31 || r->t.at[at].kind != LC_TERM_NUMBER)
        return false;
    if (month_at(r, at + 1) >= 0 && r->t.at[at].after == 0)
        return take_day_of(r, month_at(r, at + 1), day, at + 2);
    if (is(r, at + 1, "of") && month_at(r, at + 2) >= 0)
        return take_day_of(r, month_at(r, at + 2), day, at + 3);
    if (at > 0 && is(r, at - 1, "the") && is_ordinal(r, at)) {
        date now = date_of(r->today);
        int64_t months = 12 * now.year + now.month - 1 + (day < now.day);

        return is_day_of(months / 12, months % 12 + 1, day) &&
               take(r, days_of(months / 12, months % 12 + 1, day), at + 1);
    }
    return false;
}

static bool read_weekday(reading *r, size_t at)
{
    int weekday = weekday_at(r, at);
    int64_t monday = r->today - weekday_of(r->today), days;
    char bytes[WORD_BYTES_MAX];
    loci_str word = lower_of(r, at, bytes);

    if (weekday < 0 || (word.len > 6 && word.ptr[word.len - 1] == 's'))
        return false; /* "Mondays" are a habit. */
    if (at > 0 && is(r, at - 1, "last"))
        return false;
    days = monday + weekday;
    if (at > 0 && is(r, at - 1, "next"))
        return take(r, days + 7, at + 1);
    return take(r, days > r->today ? days : days + 7, at + 1);
}

/* The first day of the month that is `months` after this one. */
static int64_t month_start(const reading *r, int64_t months)
{
    date now = date_of(r->today);
    int64_t all = 12 * now.year + now.month - 1 + months;

    return days_of(all / 12, all % 12 + 1, 1);
}

/* "next week", "end of the month", "this weekend". */
static bool read_period(reading *r, size_t at)
{
    int64_t monday = r->today - weekday_of(r->today);
    size_t of = is(r, at + 2, "the") || is(r, at + 2, "this") ? at + 3 : at + 2;

    if (is(r, at, "next") && is(r, at + 1, "week"))
        return take(r, monday + 7, at + 2);
    if (is(r, at, "next") && is(r, at + 1, "month"))
        return take(r, month_start(r, 1), at + 2);
    if (is(r, at, "next") && is(r, at + 1, "year"))
        return take(r, days_of(date_of(r->today).year + 1, 1, 1), at + 2);
    if (is(r, at, "this") && is(r, at + 1, "weekend"))
        return take(r, monday + 5 > r->today ? monday + 5 : r->today, at + 2);
    if (!is(r, at, "end") || !is(r, at + 1, "of"))
        return false;
    if (is(r, of, "month"))
        return take(r, month_start(r, 1) - 1, of + 1);
    if (is(r, of, "week"))
        return take(r, monday + 4 > r->today ? monday + 4 : monday + 6, of + 1);
    if (is(r, of, "year"))
        return take(r, days_of(date_of(r->today).year, 12, 31), of + 1);
    return false;
}

/* "in two weeks". */
static bool read_span(reading *r, size_t at)
{
    int64_t number = is(r, at, "in") ? number_at(r, at + 1) : 0;

    if (number < 1 || number > 1000)
        return false;
    if (is(r, at + 2, "day") || is(r, at + 2, "days"))
        return take(r, r->today + number, at + 3);
    if (is(r, at + 2, "week") || is(r, at + 2, "weeks"))
        return take(r, r->today + 7 * number, at + 3);
    if (is(r, at + 2, "month") || is(r, at + 2, "months")) {
        int64_t start = month_start(r, number), next = month_start(r, number + 1);
        int64_t day = start + date_of(r->today).day - 1;

        return take(r, day < next ? day : next - 1, at + 3);
    }
    return false;
}

static bool read_iso(reading *r, size_t at)
{
    const char *text = r->t.text.ptr + r->t.at[at].start;
    int64_t year = 0, month = 0, day = 0;

    if (r->t.at[at].kind != LC_TERM_DATE || r->t.at[at].bytes != 10 || text[4] != '-')
        return false;
    return lc_str_to_i64((loci_str){text, 4}, &year) &&
           lc_str_to_i64((loci_str){text + 5, 2}, &month) &&
           lc_str_to_i64((loci_str){text + 8, 2}, &day) && month >= 1 && month <= 12 &&
           is_day_of(year, month, day) && take(r, days_of(year, month, day), at + 1);
}

static bool read_day(reading *r, size_t at)
{
    if (is(r, at, "today") || is(r, at, "tonight"))
        return take(r, r->today, at + 1);
    if (is(r, at, "tomorrow"))
        return take(r, r->today + 1, at + 1);
    return read_span(r, at) || read_period(r, at) || read_weekday(r, at) || read_iso(r, at) ||
           read_month(r, at);
}

/* ---- Times of day ---------------------------------------------------------------------------- */

/* Minutes of the day of "5", "5pm", "17:30", "noon"; -1 = none. */
static int64_t minutes_at(const reading *r, size_t at)
{
    char bytes[WORD_BYTES_MAX];
    loci_str word = lower_of(r, at, bytes);
    int64_t hour = 0, minute = 0;
    size_t i = 0;
    bool is_pm, is_am, has_minutes = false;

    if (lc_str_is(word, "noon"))
        return 12 * 60;
    if (lc_str_is(word, "midnight"))
        return 0;
    for (; i < word.len && i < 2 && word.ptr[i] >= '0' && word.ptr[i] <= '9'; i++)
        hour = 10 * hour + (word.ptr[i] - '0');
    if (i == 0)
        return -1;
    if (i + 2 < word.len && (word.ptr[i] == ':' || word.ptr[i] == '.')) {
        has_minutes = true;
        minute = 10 * (word.ptr[i + 1] - '0') + (word.ptr[i + 2] - '0');
        i += 3;
    }
    word = (loci_str){word.ptr + i, word.len - i};
    is_pm = lc_str_is(word, "pm") || (word.len == 0 && is(r, at + 1, "pm"));
    is_am = lc_str_is(word, "am") || (word.len == 0 && is(r, at + 1, "am"));
    if (hour > 24 || minute < 0 || minute > 59 || (word.len > 0 && !is_pm && !is_am))
        return -1;
    if ((is_pm && hour < 12) || (!is_am && !has_minutes && hour >= 1 && hour <= 7))
        hour += 12;
    if (is_am && hour == 12)
        hour = 0;
    return hour < 24 ? 60 * hour + minute : -1;
}

/* The time at or behind `at`: "at 5", "5pm". Returns the place behind it, or `at`. */
static size_t read_time(const reading *r, size_t at, int64_t *minutes)
{
    size_t from = is(r, at, "at") ? at + 1 : at;
    bool is_sure = from > at || (at < r->t.count && r->t.at[at].kind == LC_TERM_TIME);

    *minutes = is_sure ? minutes_at(r, from) : -1;
    if (*minutes < 0)
        return at;
    return from + 1 + (is(r, from + 1, "pm") || is(r, from + 1, "am"));
}

bool lc_when_find(lc_terms terms, const lc_moment *said, lc_when *out)
{
    reading r = {
        .t = terms, .said = said, .today = floor_day(said->at_us + said->offset_us), .out = out};
    int64_t minutes = -1;
    size_t first;

    for (size_t at = 0; at < terms.count; at++) {
        if (!read_day(&r, at))
            continue;
        first = at;
        out->has_time = false;
        r.end = read_time(&r, r.end, &minutes);
        for (size_t back = 2; minutes < 0 && back >= 1; back--) /* "at 5 tomorrow" */
            if (at >= back && read_time(&r, at - back, &minutes) == at)
                first = at - back;
        while (first > 0 && (is(&r, first - 1, "the") || is(&r, first - 1, "next") ||
                             is(&r, first - 1, "this") || is(&r, first - 1, "coming")))
            first--;
        if (first > 0 && (is(&r, first - 1, "on") || is(&r, first - 1, "by") ||
                          is(&r, first - 1, "before") || is(&r, first - 1, "until")))
            first--;
        out->first = first;
        out->count = r.end - first;
        out->has_time = minutes >= 0;
        out->at_us = r.days * DAY_US;
        if (out->has_time)
            out->at_us += minutes * MINUTE_US - said->offset_us;
        return true;
    }
    return false;
}
