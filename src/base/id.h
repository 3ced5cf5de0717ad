/* id.h - ids of objects: a prefix for the kind, and 128 bits as 26 letters of Crockford's base 32.
 *
 *     fact_01K9Z5W8G0000000005W0BSTYX3
 *          48 bit ms | 40 bit seq | 8 bit ordinal | 32 bit mark of (store, tenant, user)
 *
 * Nothing in it is random: the head row makes seq unique within a user, the ordinal within a call,
 * the mark across users. So a replay gives the same ids, and two processes cannot collide. Sorted
 * within a user as long as the clock does not go back; order is by seq, never by id. */
#ifndef LC_BASE_ID_H
#define LC_BASE_ID_H

#include "loci.h"

#include <stdbool.h>

#define LC_ID_DIGITS 26
#define LC_ID_TEXT_BYTES 40 /* Prefix of up to 12, '_', digits, NUL. */
#define LC_ID_SEQ_MAX ((INT64_C(1) << 40) - 1)

typedef struct lc_id {
    char text[LC_ID_TEXT_BYTES]; /* Terminated; "" is no id. */
} lc_id;

typedef struct lc_id_parts {
    int64_t ms;       /* Since 1970; outside 48 bits it is clamped. */
    int64_t seq;      /* 0 .. LC_ID_SEQ_MAX */
    unsigned ordinal; /* 0 .. 255 */
    uint32_t mark;
} lc_id_parts;

lc_id lc_id_make(const char *prefix, const lc_id_parts *parts);
/* Whether `text` is an id of that kind, exactly as lc_id_make writes it. */
bool lc_id_is(loci_str text, const char *prefix);
bool lc_id_parse(loci_str text, const char *prefix, lc_id_parts *out);

static inline loci_str lc_id_str(const lc_id *id)
{
    return loci_str_of(id->text);
}

#endif /* LC_BASE_ID_H */
