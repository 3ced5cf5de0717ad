/* listing.h - walking the table of operations for documents: nouns in the order of the table, each
 * with all of its operations, and what an operation's route is made of. */
#ifndef LC_SERVER_LISTING_H
#define LC_SERVER_LISTING_H

#include "ops/op.h"

/* "fact" of "fact.write". */
loci_str lc_listing_noun(const lc_op *op);
/* No operation before this one has the same noun. */
bool lc_listing_is_first_of_noun(size_t index);
/* Splits "GET /v1/facts/{key}"; false when the operation has no route of its own. */
bool lc_listing_route(const lc_op *op, loci_str *out_method, loci_str *out_path);
/* No operation before this one has the same path. */
bool lc_listing_is_first_of_path(size_t index);
/* Whether `path` holds "{name}". */
bool lc_listing_is_in_path(loci_str path, const char *name);
/* Whether requests of this method carry their parameters in a body. */
bool lc_listing_has_body(loci_str method);

#endif /* LC_SERVER_LISTING_H */
