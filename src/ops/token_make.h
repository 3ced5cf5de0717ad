/* token_make.h - a token on its way into the store, made before the transaction: whoever repeats
 * the body repeats the same token. */
#ifndef LC_OPS_TOKEN_MAKE_H
#define LC_OPS_TOKEN_MAKE_H

#include "ops/op.h"
#include "store/token.h"

typedef struct lc_token_making {
    lc_token token;
    lc_token_text made; /* Its text, until the answer is written. */
} lc_token_making;

/* A new secret, for a token that nothing is known of yet; it is call->input too. */
loci_status lc_token_begin(lc_call *call, lc_token_making **out, loci_error *err);
/* Gives `token` the id and secret that were made; it begins now. */
void lc_token_set_secret(lc_token *token, const lc_token_text *made);

/* The prepare of token.create: a token as the arguments want it, which must not be more than the
 * caller has. What is not given is the caller's own. */
loci_status lc_token_from_args(lc_call *call, loci_error *err);

#endif /* LC_OPS_TOKEN_MAKE_H */
