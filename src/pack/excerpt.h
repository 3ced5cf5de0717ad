/* excerpt.h - shorter forms of a text for a pack, and texts of several lines as one block.
 *
 * Prose can lose white space and its end; code, JSON, tables and everything else whose spaces or
 * signs have a meaning is verbatim: a reader gets it whole or not at all. Whether a text is prose
 * is guessed from its signs and its indentation; if in doubt, it is verbatim. All functions are
 * pure: the same text gives the same bytes.
 */
#ifndef LC_PACK_EXCERPT_H
#define LC_PACK_EXCERPT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/* Whether the text must not be shortened. */
bool lc_excerpt_is_verbatim(loci_str text);

/* The text in the arena without white space that says nothing: at the ends of lines, more than one
 * space or empty line in a row. `ptr` is NULL when out of memory. */
loci_str lc_excerpt_trim(lc_arena *arena, loci_str text);

/* At most the first `bytes_max` bytes, up to the end of a sentence or line if there is one in the
 * second half, else of a word; and " …" if something is missing. In the arena; `ptr` is NULL when
 * out of memory. */
loci_str lc_excerpt_cut(lc_arena *arena, loci_str text, size_t bytes_max);

/* Appends "lead: text", or the text alone if the lead is empty. Each line break in either of them
 * is followed by two spaces, so that no line can be taken for one of the pack's own. A text of
 * several lines begins on a line of its own, if there is a lead. */
void lc_excerpt_append(lc_buf *out, const char *bullet, loci_str lead, loci_str text);

#endif /* LC_PACK_EXCERPT_H */
