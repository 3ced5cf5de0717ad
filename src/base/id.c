/* id.c - Invariant: lc_id_parse returns the parts that lc_id_make was given. */
#include "base/id.h"

#include <string.h>

#include "base/assert.h"

#define MS_MAX ((INT64_C(1) << 48) - 1)

static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

_Static_assert(sizeof digits == 33, "32 digits");

lc_id lc_id_make(const char *prefix, const lc_id_parts *parts)
{
    size_t prefix_len = strlen(prefix);
    uint64_t ms = parts->ms < 0 ? 0 : parts->ms > MS_MAX ? (uint64_t)MS_MAX : (uint64_t)parts->ms;
    unsigned __int128 bits;
    lc_id id = {{0}};
    char *out = id.text + prefix_len + 1;

    LC_ASSERT(prefix_len + 1 + LC_ID_DIGITS < LC_ID_TEXT_BYTES);
    LC_ASSERT(parts->seq >= 0 && parts->seq <= LC_ID_SEQ_MAX);
    LC_ASSERT(parts->ordinal <= 255);

    bits = (unsigned __int128)ms << 80 | (unsigned __int128)(uint64_t)parts->seq << 40 |
           (unsigned __int128)parts->ordinal << 32 | parts->mark;
    memcpy(id.text, prefix, prefix_len);
    id.text[prefix_len] = '_';
    for (int i = LC_ID_DIGITS - 1; i >= 0; i--) {
        out[i] = digits[(unsigned)bits & 31];
        bits >>= 5;
    }
    return id;
}

bool lc_id_parse(loci_str text, const char *prefix, lc_id_parts *out)
{
    size_t prefix_len = strlen(prefix);
    unsigned __int128 bits = 0;

    if (text.len != prefix_len + 1 + LC_ID_DIGITS || memcmp(text.ptr, prefix, prefix_len) != 0 ||
        text.ptr[prefix_len] != '_')
        return false;
    for (size_t i = prefix_len + 1; i < text.len; i++) {
        const char *digit = text.ptr[i] == '\0' ? NULL : strchr(digits, text.ptr[i]);

        if (digit == NULL)
            return false;
        bits = bits << 5 | (unsigned)(digit - digits);
    }
    if (text.ptr[prefix_len + 1] > '7') /* 26 digits hold 130 bits; the first two must be 0. */
        return false;
    *out = (lc_id_parts){
        .ms = (int64_t)(uint64_t)(bits >> 80),
        .seq = (int64_t)((uint64_t)(bits >> 40) & (uint64_t)LC_ID_SEQ_MAX),
        .ordinal = (unsigned)(bits >> 32) & 255,
        .mark = (uint32_t)bits,
    };
    return true;
}

bool lc_id_is(loci_str text, const char *prefix)
{
    lc_id_parts parts;

    return lc_id_parse(text, prefix, &parts);
}
