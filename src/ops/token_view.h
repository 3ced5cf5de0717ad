/* token_view.h - tokens as answers show them: never the hash, and the secret once. */
#ifndef LC_OPS_TOKEN_VIEW_H
#define LC_OPS_TOKEN_VIEW_H

#include "ops/op.h"
#include "store/token.h"

#define LC_SCOPE_CHOICES "read|write|admin"
/* LC_SCOPE_... that the name stands for; `admin` includes the others. 0 = no such name. */
unsigned lc_scope_find(loci_str name);

/* The members of a token, into an object that is open. */
void lc_token_write_members(lc_json_writer *w, const lc_token *token);

/* Writes the answer of an operation that made `token`, with its `text`, and the one without the
 * text that is kept for a repeat of the request. `replaced` is what it takes the place of, or NULL.
 */
loci_status lc_token_answer_made(lc_call *call, const lc_token *token, const char *text,
                                 const lc_token *replaced, loci_error *err);

#endif /* LC_OPS_TOKEN_VIEW_H */
