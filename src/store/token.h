/* token.h - bearer tokens as rows: who may act for a tenant, how far, and until when.
 *
 * Rows in, rows out; what a token allows is judged in ops/. A token is not knowledge: it has no
 * events and is in no export. All times are of the system's clock, because an injected one must not
 * be able to bring an expired token back.
 */
#ifndef LC_STORE_TOKEN_H
#define LC_STORE_TOKEN_H

#include "base/limits.h"
#include "store/db.h"
#include "store/token_text.h"

#define LC_SCOPE_READ 1u
#define LC_SCOPE_WRITE 2u
#define LC_SCOPE_ADMIN 4u

#define LC_TOKEN_NAME_BYTES_MAX 128
#define LC_TOKEN_CEILING_BYTES_MAX 31
#define LC_TOKEN_NO_TIME INT64_MAX /* It never expires; it was not revoked. */

/* A plain value: nothing to free. A text that is "" is absent. */
typedef struct lc_token {
    lc_id id;
    char tenant_id[LC_ID_BYTES_MAX + 1];
    char name[LC_TOKEN_NAME_BYTES_MAX + 1]; /* For people; need not be unique. */
    lc_token_hash secret_hash;
    unsigned scopes;                      /* LC_SCOPE_... */
    char user_id[LC_ID_BYTES_MAX + 1];    /* May act for this user only, */
    char persona_id[LC_ID_BYTES_MAX + 1]; /* and for this persona. */
    char authority_max[LC_TOKEN_CEILING_BYTES_MAX + 1];
    char trust_max[LC_TOKEN_CEILING_BYTES_MAX + 1];
    int64_t created_at;
    int64_t expires_at; /* The first moment at which it is no longer good, or NO_TIME. */
    int64_t revoked_at; /* Or NO_TIME. */
    lc_id replaced_by;
} lc_token;

/* Neither revoked nor expired. */
bool lc_token_is_good(const lc_token *token, int64_t system_us);

loci_status lc_token_insert(lc_tx *tx, const lc_token *token, loci_error *err);
/* By its id alone, whatever its tenant. */
loci_status lc_token_find(lc_tx *tx, loci_str id, lc_token *out, bool *found, loci_error *err);
/* Writes what may change: expires_at, revoked_at and replaced_by. */
loci_status lc_token_update(lc_tx *tx, const lc_token *token, loci_error *err);

/* Which tokens of a tenant. */
typedef struct lc_token_range {
    loci_str tenant_id;
    loci_str user_id;    /* Only those narrowed to it; none = all. */
    loci_str persona_id; /* The same. */
    loci_str before;     /* Only ids below this one; none = all. */
    int64_t limit;
} lc_token_range;
/* Newest first; `token` is borrowed for the call. Non-OK stops. */
typedef loci_status lc_token_visit(void *ctx, const lc_token *token, loci_error *err);
loci_status lc_token_each(lc_tx *tx, const lc_token_range *range, lc_token_visit *visit, void *ctx,
                          loci_error *err);

/* How many of the tenant's tokens have not ended before `ended_us`. */
loci_status lc_token_count(lc_tx *tx, loci_str tenant_id, int64_t ended_us, int64_t *out,
                           loci_error *err);
/* Removes the others. */
loci_status lc_token_purge(lc_tx *tx, loci_str tenant_id, int64_t ended_us, loci_error *err);
/* Whether the store holds any good token, of any tenant. */
loci_status lc_token_any(lc_tx *tx, int64_t system_us, bool *out, loci_error *err);

#endif /* LC_STORE_TOKEN_H */
