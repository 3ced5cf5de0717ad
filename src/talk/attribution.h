/* attribution.h - whose words these are, and for whom, when a text says so itself.
 *
 * "[VP] ...", "[Mike (CFO)]: ...", "Victor (VP Engineering): ..." and "Per the CEO, ..." carry a
 * name or a title in front. It says what a statement leans on, never what its writer may do: the
 * rights of a call come from its token and its identity. */
#ifndef LC_TALK_ATTRIBUTION_H
#define LC_TALK_ATTRIBUTION_H

#include "base/str.h"

#include <stdbool.h>

/* The weight of a title; negative for an unknown one. */
typedef int lc_ranking(loci_str title);

typedef struct lc_attribution {
    loci_str who;   /* As written, or none. */
    int rank;       /* The highest title in it; -1 without one. */
    bool has_title; /* One that is known; a role that is not has the rank of most. */
    loci_str words; /* The text without it. */
} lc_attribution;

lc_attribution lc_attribution_of(loci_str text, lc_ranking *ranking);

/* The highest rank of any word or pair of words in `text`, or -1. */
int lc_rank_in(loci_str text, lc_ranking *ranking);

/* ---- Marks -----------------------------------------------------------------------------------
 * Marks in brackets at the front of a text say how far it goes: withdrawn, for some readers, only
 * supposed, of one scope. "[INVALID] ...", "[RESTRICTED to VP+] ...", "[STAFF ONLY] ...",
 * "[TENANT: Acme] ...", "[SANDBOX] ...", "[SCOPE: draft] ...". An unknown mark says nothing. */

typedef enum lc_mark_kind {
    LC_MARK_NONE,
    LC_MARK_WITHDRAWN,
    LC_MARK_RESTRICTED,   /* `names` is who it is for. */
    LC_MARK_EXCLUDED,     /* `names` is who it is not for. */
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
/* Is the name among the words of `audience`? */
bool lc_mark_has_name(loci_str audience, loci_str name);
/* Is it for people who have no rank here: patients, clients, guests? */
bool lc_mark_is_outsider(loci_str audience);

#endif /* LC_TALK_ATTRIBUTION_H */
