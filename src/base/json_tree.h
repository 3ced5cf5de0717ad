/* json_tree.h - shared between the files that implement json.h; no other file includes it: the
 * layout of a value, the scan for bytes that need an escape in a string, and the order of members.
 *
 * A document is one array of values in pre-order, 24 bytes each: a container is followed by its
 * first member, which is followed by that one's members, and so on. `span` skips all of them, so
 * that no value needs a pointer to the next; a bit marks the last of a container.
 */
#ifndef LC_BASE_JSON_TREE_H
#define LC_BASE_JSON_TREE_H

#include "base/json.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct lc_json {
    union {
        bool boolean;
        int64_t integer;
        double real;
        const char *text;
        struct {
            uint32_t count; /* Of elements or members. */
            uint32_t span;  /* Of values, this one included. */
        } container;
    } as;
    const char *name; /* Not terminated; NULL when not a member of an object. */
    uint32_t name_bytes;
    uint32_t text_bytes : 24; /* Of a string. */
    uint32_t kind : 7;
    uint32_t is_last : 1; /* In its container; set for the document itself too. */
};

_Static_assert(sizeof(struct lc_json) == 24, "the speed of parsing is the speed of writing these");
_Static_assert(LC_JSON_BYTES_MAX <= 1u << 24, "a string's length fits text_bytes");

static inline bool lc_json_is_container(const lc_json *value)
{
    return value->kind == LC_JSON_ARRAY || value->kind == LC_JSON_OBJECT;
}

/* Writes a scalar, or opens a container. */
void lc_jw_put_parsed(lc_json_writer *w, const lc_json *value);

/* A member and the first 8 bytes of its name as a big-endian number, zeros behind a shorter one:
 * most comparisons end in a register. */
typedef struct lc_json_entry {
    uint64_t prefix;
    const lc_json *member;
} lc_json_entry;

/* The members of `object` sorted by name, in `scratch`; NULL when out of memory. Never quadratic.
 */
lc_json_entry *lc_json_sort_members(lc_arena *scratch, const lc_json *object);
/* Both members have the same name. */
bool lc_json_is_same_name(const lc_json *a, const lc_json *b);

/* The first byte that is a quote, a backslash, below 0x20 or above 0x7F; `end` when there is none.
 */
static inline const char *lc_json_scan(const char *at, const char *end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(0x20);

    for (; end - at >= 16; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        /* Compared as signed, bytes above 0x7F are below a space too. */
        __m128i hits = _mm_or_si128(
            _mm_cmplt_epi8(block, space),
            _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
        int mask = _mm_movemask_epi8(hits);

        if (mask != 0)
            return at + __builtin_ctz((unsigned)mask);
    }
#endif
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)(*at - 0x20) < 0x60)
        at++;
    return at;
}

#endif /* LC_BASE_JSON_TREE_H */
