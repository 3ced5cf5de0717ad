/* check.h - helpers shared by checking arguments, listing operations and documenting them: the
 * complete list of an operation's parameters, words for the values of a parameter, and suggestions
 * for near misses.
 */
#ifndef LC_OPS_CHECK_H
#define LC_OPS_CHECK_H

#include "ops/op.h"

/* Writes the results of lc_op_param() for 0, 1, … and returns their number. */
size_t lc_op_params(const lc_op *op, const lc_param *out[LC_PARAMS_MAX]);
/* The parameter called `name`, or with this alias, and its place among them; or NULL. */
const lc_param *lc_op_find_param(const lc_op *op, loci_str name, size_t *out_index);
/* Whether `param` is in the operation's own list, not an implied one. */
bool lc_op_owns(const lc_op *op, const lc_param *param);

/* Which of `min` and `max` limit a parameter. */
typedef struct lc_bounds {
    bool has_min, has_max;
    int64_t min, max;
} lc_bounds;
/* Both 0: no limit. A `max` below `min`, or INT64_MAX, is no upper limit. */
lc_bounds lc_param_bounds(const lc_param *param);

#define LC_DESCRIPTION_BYTES 400
/* Describes the values of `param`, such as "a string of 1 to 512 bytes"; terminated, cut when too
 * long.
 */
void lc_param_describe(const lc_param *param, char out[LC_DESCRIPTION_BYTES]);

/* ---- Arguments from text --------------------------------------------------------------------- */

/* Writes `text`, from a command line or a URL, as the JSON value that a parameter of this kind
 * takes: "10" is a number for an integer and a string for a string. For LC_PARAM_JSON a number is
 * one only in its shortest form; 3.10 is a text. Any other text is written unchanged, for the check
 * to refuse, and false is returned. */
bool lc_arg_write_text(lc_arena *arena, lc_json_writer *w, lc_param_kind kind, loci_str text);
/* The elements of a list, "a,b" or a JSON array, into the array that is open. */
void lc_arg_write_items(lc_arena *arena, lc_json_writer *w, loci_str text);

/* ---- Did you mean …? ------------------------------------------------------------------------- */

#define LC_QUOTE_BYTES_MAX 40 /* Bytes of a caller's value in a message. */

/* The candidate nearest to a word, among those near enough to be meant. */
typedef struct lc_nearest {
    loci_str word;
    loci_str best; /* None = no candidate was near. */
    size_t distance;
} lc_nearest;

lc_nearest lc_nearest_to(loci_str word);
void lc_nearest_offer(lc_nearest *nearest, loci_str candidate);

#endif /* LC_OPS_CHECK_H */
