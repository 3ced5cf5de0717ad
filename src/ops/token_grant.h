/* token_grant.h - nobody hands out, or gets to see, more than it has itself. */
#ifndef LC_OPS_TOKEN_GRANT_H
#define LC_OPS_TOKEN_GRANT_H

#include "ops/op.h"
#include "store/token.h"

/* Both from most to least. */
#define LC_AUTHORITY_CHOICES "policy|executive|admin|manager|employee|intern|guest"
#define LC_TRUST_CHOICES "user|system|tool|web|model"

/* Whether the caller may know that the token exists: it is of its tenant and, when the caller is
 * narrowed to a user or persona, of that one. */
bool lc_token_is_visible(const lc_call *call, const lc_token *token);
/* LOCI_EFORBIDDEN when the token's ceilings are above the caller's: whose secret somebody gets must
 * not be able to do more than that somebody. No ceiling is above all. */
loci_status lc_token_check_grant(const lc_call *call, const lc_token *token, loci_error *err);

#endif /* LC_OPS_TOKEN_GRANT_H */
