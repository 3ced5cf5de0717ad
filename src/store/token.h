/* token.h - bearer tokens as rows: each lets its bearer act for a tenant, with certain scopes,
 * until a certain time.
 *
 * This module only reads and writes rows; ops/ decides what a token allows. A token is not
 * knowledge: it has no events and is in no export. All times are of the system's clock, because an
 * injected clock must not make an expired token valid again.
 */
#ifndef LC_STORE_TOKEN_H
#define LC_STORE_TOKEN_H

#include "base/limits.h"
#include "store/row.h"

#include <stddef.h>

/* ---- The text of a token --------------------------------------------------------------------- */

/* The text of a token, which a caller sends to authenticate itself.
 *
 *     loci_01K9Z5W8G0000000005W0BSTYX_q83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4k6Ll2
 *          26 digits of its id         43 of base64url: 256 bits from the kernel   4 that check it
 *
 * The first part finds the row, the second is compared, hashed, in constant time. The third is 24
 * bits of a hash of the rest: a text that is cut off, mistyped or made up is refused without a
 * look-up. There is one spelling of each token: everything else is not a token. The hash is
 * BLAKE2b-256 without salt or stretching, which are for secrets that can be guessed. */

#define LC_TOKEN_SECRET_BYTES 32
#define LC_TOKEN_HASH_BYTES 32
#define LC_TOKEN_CHECK_LEN 4
#define LC_TOKEN_LEN (5 + LC_ID_DIGITS + 1 + 43 + LC_TOKEN_CHECK_LEN)

typedef struct lc_token_hash {
    unsigned char bytes[LC_TOKEN_HASH_BYTES];
} lc_token_hash;

/* A new token: the only time that its text is visible. */
typedef struct lc_token_text {
    lc_id id; /* tok_… */
    lc_token_hash secret_hash;
    char text[LC_TOKEN_LEN + 1]; /* Terminated. To be wiped, see lc_token_wipe(). */
} lc_token_text;

/* A new token; time and randomness are the system's, never injected. False when the kernel has no
 * randomness to give. */
bool lc_token_text_make(lc_token_text *out);
/* Writes the check letters behind the rest of a token; any text then looks like one that was made.
 */
void lc_token_text_seal(char text[LC_TOKEN_LEN + 1]);
/* The id and the hash of the secret in `text`; false if it is not a token. */
bool lc_token_text_parse(loci_str text, lc_id *out_id, lc_token_hash *out_hash);
/* Whether a token begins anywhere in `text`: for finding them where they must not be. */
bool lc_token_text_is_in(loci_str text);

/* Key of a token in a cache; reveals nothing about the token without the secret key. */
#define LC_TOKEN_PRINT_BYTES 16
typedef struct lc_token_print {
    unsigned char bytes[LC_TOKEN_PRINT_BYTES];
} lc_token_print;

/* In constant time. */
bool lc_token_hash_is_equal(const lc_token_hash *a, const lc_token_hash *b);
/* SipHash-2-4 of 128 bits with a secret key: an attacker cannot construct a collision, and it is
 * ten times as fast as BLAKE2b. */
void lc_token_print_make(const lc_token_print *key, loci_str text, lc_token_print *out);
bool lc_token_print_is_equal(const lc_token_print *a, const lc_token_print *b);
/* Overwrites a secret so that the compiler cannot leave it out. */
void lc_token_wipe(void *secret, size_t bytes);

/* ---- Rows ------------------------------------------------------------------------------------ */

extern const lc_table lc_tokens_table;

#define LC_SCOPE_READ 1u
#define LC_SCOPE_WRITE 2u
#define LC_SCOPE_ADMIN 4u
#define LC_SCOPE_METRICS 8u /* The figures of the whole store, and nothing else. */

#define LC_TOKEN_NAME_BYTES_MAX 128
#define LC_TOKEN_CEILING_BYTES_MAX 31
#define LC_TOKEN_PERMISSIONS_BYTES_MAX 1023 /* Of the JSON array. */
#define LC_TOKEN_NO_TIME INT64_MAX          /* It never expires; it was not revoked. */

/* A plain value: nothing to free. A text that is "" is absent. */
typedef struct lc_token {
    lc_id id;
    char tenant_id[LC_ID_BYTES_MAX + 1];
    char name[LC_TOKEN_NAME_BYTES_MAX + 1]; /* For people; need not be unique. */
    lc_token_hash secret_hash;
    unsigned scopes;                      /* LC_SCOPE_... */
    char user_id[LC_ID_BYTES_MAX + 1];    /* It may act for this user only, */
    char persona_id[LC_ID_BYTES_MAX + 1]; /* and for this persona. */
    char authority_max[LC_TOKEN_CEILING_BYTES_MAX + 1];
    char trust_max[LC_TOKEN_CEILING_BYTES_MAX + 1];
    int64_t created_at;
    int64_t expires_at; /* First moment at which it is no longer valid, or NO_TIME. */
    int64_t revoked_at; /* Or NO_TIME. */
    lc_id replaced_by;
    /* Permissions that an identity may claim: a JSON array of strings. "" = any, or none if the
     * token has a ceiling. */
    char permissions[LC_TOKEN_PERMISSIONS_BYTES_MAX + 1];
    lc_id parent_id; /* The token of the caller that made it: revoked together with it. */
} lc_token;

/* A token with the members that answers compute. */
typedef struct lc_token_shown {
    lc_token token;
    loci_str status;
    loci_str scope_names;      /* JSON array. */
    loci_str permission_names; /* JSON array; none = any. */
} lc_token_shown;

extern const lc_row_type lc_token_row; /* lc_token; in answers lc_token_shown */

/* Neither revoked nor expired. */
bool lc_token_is_good(const lc_token *token, int64_t system_us);

loci_status lc_token_insert(lc_tx *tx, const lc_token *token, loci_error *err);
/* By its id alone, whatever its tenant. */
loci_status lc_token_find(lc_tx *tx, loci_str id, lc_token *out, bool *found, loci_error *err);
/* Writes the columns that may change: expires_at, revoked_at and replaced_by. */
loci_status lc_token_update(lc_tx *tx, const lc_token *token, loci_error *err);

/* Revokes every token that `id` made, and recursively those that they made; not `id` itself. */
loci_status lc_token_revoke_children(lc_tx *tx, loci_str id, int64_t revoked_at, loci_error *err);
/* Sets another parent for the tokens that `id` made. */
loci_status lc_token_adopt(lc_tx *tx, loci_str id, loci_str parent_id, loci_error *err);

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
/* Deletes tokens of the tenant that ended before `ended_us`. */
loci_status lc_token_purge(lc_tx *tx, loci_str tenant_id, int64_t ended_us, loci_error *err);
/* Whether the store has a valid token of any tenant. */
loci_status lc_token_any(lc_tx *tx, int64_t system_us, bool *out, loci_error *err);

/* ---- Digests --------------------------------------------------------------------------------- */

/* SHA-256, for checking that a file is unchanged. */

#define LC_SHA256_BYTES 32

void lc_sha256(const void *data, size_t bytes, unsigned char out[LC_SHA256_BYTES]);

#endif /* LC_STORE_TOKEN_H */
