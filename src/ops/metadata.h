/* metadata.h - the argument `metadata`: a JSON object of the caller's own that is kept as given,
 * and asked for by equality in lists.
 */
#ifndef LC_OPS_METADATA_H
#define LC_OPS_METADATA_H

#include "base/limits.h"
#include "ops/op.h"

#define LC_METADATA_PARAM(T, m)                                                                    \
    {                                                                                              \
        LC_ARG_OBJECT("metadata", T, m), .flags = LC_PARAM_SAID,                                   \
                                         .help = "JSON object of your own, at most 16 KB"          \
    }
/* The text of a metadata argument in the arena, members in the order given; NULL = none was given.
 */
loci_status lc_call_keep_metadata(lc_call *call, const lc_json *json, loci_str *out,
                                  loci_error *err);

/* Whether `metadata`, the text of an object or none, has all members of `wanted` with equal values
 * (NULL = any). */
loci_status lc_metadata_matches(lc_heap *heap, loci_str metadata, const lc_json *wanted, bool *out,
                                loci_error *err);

#endif /* LC_OPS_METADATA_H */
