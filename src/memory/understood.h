/* understood.h - reads a short English statement: its subject, its attribute and its value.
 *
 * Two statements replace each other only if both are about the same single-valued attribute of the
 * same subject: "Lives in Austin", then "Lives in Denver". A wrong replacement loses something
 * true, a missed one leaves a duplicate; so an attribute is named only if the whole text is one
 * plain clause of a known form, with a value of the expected kind. Questions, suppositions,
 * denials, the past, quotations, lists and texts of several sentences never have one. The forms are
 * the tables in understood.c; docs/memories.md lists them.
 *
 * The type, the entities and the kind of fact are defaults for callers that pass none.
 */
#ifndef LC_MEMORY_UNDERSTOOD_H
#define LC_MEMORY_UNDERSTOOD_H

#include "base/arena.h"

#include <stdbool.h>

#define LC_MEMORY_TYPES "profile|people|project"
#define LC_FACT_TYPES "fact|preference|relationship|friction|habit"
#define LC_SELF_REF "user:self"

typedef struct lc_understood {
    const char *type;      /* Of LC_MEMORY_TYPES. */
    const char *fact_type; /* Of LC_FACT_TYPES. */
    loci_str ref;          /* Of its subject: LC_SELF_REF, or "person:john". */
    loci_str label;        /* The subject as it was written; none for LC_SELF_REF. */
    loci_str attribute;    /* "home", "favorite_color"; none = not known. */
    loci_str value;        /* With an attribute: its words, folded, one space between. */
} lc_understood;

/* Everything is in the arena. */
loci_status lc_understood_read(lc_arena *arena, loci_str text, lc_understood *out, loci_error *err);

/* The text as it is compared: folded, one space between words, without full stops at its end. */
loci_status lc_memory_normalise(lc_arena *arena, loci_str text, loci_str *out, loci_error *err);

/* Whether all words of `part` are in `whole`, in order and without a gap. */
bool lc_value_has(loci_str whole, loci_str part);

#endif /* LC_MEMORY_UNDERSTOOD_H */
