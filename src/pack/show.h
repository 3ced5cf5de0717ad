/* show.h - stored JSON values as plain text, for lines of a context. */
#ifndef LC_PACK_SHOW_H
#define LC_PACK_SHOW_H

#include "base/json.h"

/* A JSON value as plain text in the arena: a string without quotes, a list with commas, null as
 * "none", an object as "name: value; ...". */
loci_status lc_show_value(lc_arena *arena, loci_str json, loci_str *out, loci_error *err);
/* The same for one that is parsed. */
loci_status lc_show_json(lc_arena *arena, const lc_json *value, loci_str *out, loci_error *err);

#endif /* LC_PACK_SHOW_H */
