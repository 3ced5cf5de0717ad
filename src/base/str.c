/* str.c - small functions on text. Nothing here allocates. */
#include "base/str.h"

#define DISTANCE_LEN_MAX 64 /* Of names of parameters and commands; longer ones never match. */

loci_str loci_str_of(const char *text)
{
    return (loci_str){text, text == NULL ? 0 : strlen(text)};
}

int lc_str_compare(loci_str a, loci_str b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter == 0 ? 0 : memcmp(a.ptr, b.ptr, shorter);

    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

bool lc_str_starts(loci_str text, loci_str prefix)
{
    return text.len >= prefix.len &&
           (prefix.len == 0 || memcmp(text.ptr, prefix.ptr, prefix.len) == 0);
}

loci_str lc_str_split(loci_str text, char separator, loci_str *rest)
{
    const char *at = text.len == 0 ? NULL : memchr(text.ptr, separator, text.len);
    size_t head;

    if (at == NULL) {
        *rest = LC_STR_NONE;
        return text;
    }
    head = (size_t)(at - text.ptr);
    *rest = (loci_str){at + 1, text.len - head - 1};
    return (loci_str){text.ptr, head};
}

bool lc_str_is_choice(loci_str text, const char *choices)
{
    loci_str rest = loci_str_of(choices);

    while (rest.ptr != NULL) {
        if (lc_str_eq(lc_str_split(rest, '|', &rest), text))
            return true;
    }
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

loci_str lc_str_trim(loci_str text)
{
    while (text.len > 0 && is_space(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

bool lc_str_to_i64(loci_str text, int64_t *out)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = negative ? 1 : 0;
    int64_t value = 0;

    if (at == text.len)
        return false;
    for (; at < text.len; at++) {
        int digit = text.ptr[at] - '0';

        if (digit < 0 || digit > 9)
            return false;
        /* Downwards, because INT64_MIN has no positive twin. */
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            return false;
    }
    if (!negative && __builtin_sub_overflow((int64_t)0, value, &value))
        return false;
    *out = value;
    return true;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t lc_str_distance(loci_str a, loci_str b, size_t max)
{
    size_t rows[3][DISTANCE_LEN_MAX + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];

    if (a.len > DISTANCE_LEN_MAX || b.len > DISTANCE_LEN_MAX)
        return max + 1;
    for (size_t j = 0; j <= b.len; j++)
        above[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *spare = before;

        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t replace = above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);

            row[j] = least(replace, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        before = above;
        above = row;
        row = spare;
    }
    return least(above[b.len], max + 1);
}
