/* talk_text.h - whether a text stands in another one, whatever their line breaks and indents. */
#ifndef LC_BENCH_LIB_TALK_TEXT_H
#define LC_BENCH_LIB_TALK_TEXT_H

#include "base/arena.h"
#include "loci.h"

#define TALK_ABSENT ((size_t)-1)

/* The text without whitespace at its ends, every run of it inside being one space. */
loci_str talk_normalise(lc_arena *arena, loci_str text);
/* The byte at which `part` begins; both are normalised. An empty part is absent. */
size_t talk_find(loci_str text, loci_str part);

#endif /* LC_BENCH_LIB_TALK_TEXT_H */
