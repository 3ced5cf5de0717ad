/* str.h - text with a length. Never assumed to be terminated; bytes compare as unsigned. */
#ifndef LC_BASE_STR_H
#define LC_BASE_STR_H

#include "loci.h"

#include <stdbool.h>
#include <string.h>

#define LC_STR_NONE ((loci_str){NULL, 0})
/* A literal's text, length known at compile time. */
#define LC_STR(literal) ((loci_str){"" literal, sizeof(literal) - 1})
/* For printf: "%.*s", LC_STR_ARG(s). At most 1000 bytes are printed. */
#define LC_STR_ARG(s) ((s).len > 1000 ? 1000 : (int)(s).len), ((s).ptr != NULL ? (s).ptr : "")

/* Several texts, borrowed. */
typedef struct lc_str_list {
    const loci_str *items;
    size_t count;
} lc_str_list;

static inline bool lc_str_eq(loci_str a, loci_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool lc_str_is(loci_str a, const char *text)
{
    /* Mostly called in searches, where the first byte usually differs. */
    if (a.len > 0 && a.ptr[0] != text[0])
        return false;
    return lc_str_eq(a, (loci_str){text, strlen(text)});
}

/* <0, 0, >0 in byte order, a prefix first. */
int lc_str_compare(loci_str a, loci_str b);
bool lc_str_starts(loci_str text, loci_str prefix);
/* The part before the first `separator`; `rest` becomes the part after it, or none. */
loci_str lc_str_split(loci_str text, char separator, loci_str *rest);
/* Whether the text is one of the choices, "a|b|c". */
bool lc_str_is_choice(loci_str text, const char *choices);
loci_str lc_str_trim(loci_str text);
/* Reads a whole decimal int64; false for anything else, overflow included. */
bool lc_str_to_i64(loci_str text, int64_t *out);
/* How near two words are: number of edits (insert, delete, replace, swap), at most `max` + 1. */
size_t lc_str_distance(loci_str a, loci_str b, size_t max);

#endif /* LC_BASE_STR_H */
