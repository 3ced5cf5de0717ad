/* attribution.h - whose words these are, when a text says so itself.
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

/* A mark in brackets at the front: "[RESTRICTED: ...] text". False when there is none. */
bool lc_mark_read(loci_str text, loci_str *out_mark, loci_str *out_rest);

#endif /* LC_TALK_ATTRIBUTION_H */
