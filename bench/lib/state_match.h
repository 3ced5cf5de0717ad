/* state_match.h - whether a phrase is in a text, judged as StateBench contexts are scored.
 *
 * A phrase is found at word boundaries, in any case; "a|b" means either. A `$` before or a `%`
 * behind a number belongs to it. Texts and phrases are lowered once and then compared as bytes.
 */
#ifndef LC_BENCH_LIB_STATE_MATCH_H
#define LC_BENCH_LIB_STATE_MATCH_H

#include "base/arena.h"
#include "loci.h"

#include <stdbool.h>

/* Lives in the arena. */
loci_str state_lower(lc_arena *arena, loci_str text);
/* Both are lowered. */
bool state_is_found(loci_str text, loci_str phrase);
/* A lowered phrase that says something: no ordinary word ("budget"), not only punctuation, and at
 * least three characters or a digit. */
bool state_is_meaningful(loci_str phrase);

#endif /* LC_BENCH_LIB_STATE_MATCH_H */
