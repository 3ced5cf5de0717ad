/* token_auth.h - from the text of a token to who is calling.
 *
 * For the daemon, once a request: cheap enough for its event loop (a token seen within the last
 * second is not looked up again). What `admin` means is decided here: a token with that scope
 * manages its own tenant; it may also run the operations on the whole store when its tenant is the
 * one the engine was opened with and nothing narrows or caps it.
 */
#ifndef LC_OPS_TOKEN_AUTH_H
#define LC_OPS_TOKEN_AUTH_H

#include "ops/op.h"
#include "store/token.h"

/* Who a token speaks for. Texts live in the arena it was made in. */
typedef struct lc_token_identity {
    loci_principal principal;
    unsigned scopes;      /* LC_SCOPE_... */
    const char *token_id; /* tok_… */
} lc_token_identity;

/* LOCI_EAUTH, in the same words whatever is wrong: not a token, unknown, another secret, expired or
 * revoked. Another status means that nobody knows: the store could not be asked. Any thread. */
loci_status lc_token_authenticate(loci_engine *engine, loci_str bearer, lc_arena *arena,
                                  lc_token_identity *out, loci_error *err);
/* The failure above, also for requests that show no token at all. */
loci_status lc_token_refuse(loci_error *err);

/* Whether the store holds a token that is good now, whatever its tenant; false when it cannot be
 * asked. */
bool lc_token_exists_any(loci_engine *engine);

/* The scopes that a caller needs for `op`. */
unsigned lc_op_scopes(const lc_op *op);

#endif /* LC_OPS_TOKEN_AUTH_H */
