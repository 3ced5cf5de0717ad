/* slug.h - names of entities as labels: "John Doe" of type person is person:john_doe.
 *
 * A slug is NFKC, case-folded, with one underscore for spaces and hyphens and without punctuation.
 * Commas, full stops, apostrophes, quotes and brackets are dropped silently; if anything else is
 * dropped (C, C++, C#), a short hash of the name is appended, so that two names share a slug only
 * when they read the same. A slug of a slug is the slug itself.
 */
#ifndef LC_MEMORY_SLUG_H
#define LC_MEMORY_SLUG_H

#include "base/arena.h"

#define LC_SLUG_BYTES_MAX 96 /* A longer name is cut and gets the hash. */
#define LC_REF_TYPE_BYTES_MAX 32

/* The slug of `name`, in the arena. LOCI_EINVAL if the name is empty or not valid UTF-8. */
loci_status lc_slug_make(lc_arena *arena, loci_str name, loci_str *out, loci_error *err);
/* "type:slug" from "type:any name", in the arena. LOCI_EINVAL unless the type is one lower-case
 * word. */
loci_status lc_ref_make(lc_arena *arena, loci_str ref, loci_str *out, loci_error *err);
/* "person" of "person:john_doe". */
loci_str lc_ref_type(loci_str ref);

#endif /* LC_MEMORY_SLUG_H */
