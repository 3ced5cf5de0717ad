/* request.h - answers kept so that a call can be repeated safely.
 *
 * A caller that did not hear the answer sends the call again with the same request_id and gets the
 * answer that was stored in the transaction of the first. The same id with other arguments is a
 * conflict.
 */
#ifndef LC_STORE_REQUEST_H
#define LC_STORE_REQUEST_H

#include "base/arena.h"
#include "base/hash.h"
#include "store/db.h"

typedef struct lc_request {
    loci_str request_id;
    lc_hash128 args_hash; /* Of the operation and its arguments in canonical form. */
    int64_t keep_us;      /* Older answers count as forgotten. */
} lc_request;

/* The stored answer of the current user's request, copied into `arena`; `*found` false when it is
 * new. */
loci_status lc_request_find(lc_tx *tx, const lc_request *request, lc_arena *arena, loci_str *out,
                            bool *found, loci_error *err);
/* Keeps `answer` (JSON) as the answer of the current user's request. */
loci_status lc_request_store(lc_tx *tx, const lc_request *request, loci_str answer,
                             loci_error *err);

#endif /* LC_STORE_REQUEST_H */
