/* mark.h - marks in brackets at the front of a text that say how far it goes: withdrawn, for
 * some readers, only supposed, of one scope.
 *
 * "[INVALID] ...", "[RESTRICTED to VP+] ...", "[STAFF ONLY] ...", "[TENANT: Acme] ...",
 * "[SANDBOX] ...", "[SCOPE: draft] ...". A mark that is not known says nothing. */
#ifndef LC_TALK_MARK_H
#define LC_TALK_MARK_H

#include "talk/attribution.h"

typedef enum lc_mark_kind {
    LC_MARK_NONE,
    LC_MARK_WITHDRAWN,
    LC_MARK_RESTRICTED,   /* `names` is who it is for. */
    LC_MARK_ORGANIZATION, /* `names` is whose it is. */
    LC_MARK_SUPPOSED,     /* `names` is what it is: a draft, a sandbox. */
    LC_MARK_SCOPE         /* `names` is the scope. */
} lc_mark_kind;

typedef struct lc_mark {
    lc_mark_kind kind;
    loci_str names; /* A part of the mark. */
} lc_mark;

lc_mark lc_mark_of(loci_str text);

/* Equal but for case, spaces and signs: "Acme Corp" and "ACME-Corp". */
bool lc_mark_is_name(loci_str a, loci_str b);

#endif /* LC_TALK_MARK_H */
