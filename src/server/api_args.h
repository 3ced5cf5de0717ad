/* api_args.h - arguments from a path, a query and a body, as the one JSON object that a call takes.
 *
 * Texts are converted to the parameter's kind ("10" is a number for an integer and a string for a
 * string); a text that cannot be converted stays a string, so that the operation's own check
 * explains it in the words that every surface has.
 */
#ifndef LC_SERVER_API_ARGS_H
#define LC_SERVER_API_ARGS_H

#include "server/route.h"

#define LC_QUERY_PARAMS_MAX 64

typedef struct lc_api_given {
    const lc_op *op;
    const lc_path_param *path; /* Decoded. */
    size_t path_count;
    const lc_path_param *query; /* Decoded, in order, repeated ones too. */
    size_t query_count;
    loci_str body; /* A JSON object, or empty. */
} lc_api_given;

/* The arguments in `*out`, which borrows from `given` or lives in `arena`. LOCI_EINVAL when one is
 * given twice and differs, or the body is not an object. */
loci_status lc_api_args(lc_arena *arena, const lc_api_given *given, loci_str *out, loci_error *err);

#endif /* LC_SERVER_API_ARGS_H */
