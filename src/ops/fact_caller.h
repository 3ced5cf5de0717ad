/* fact_caller.h - what a caller may say and see about facts: its token's ceilings, its session's
 * identity and its own arguments, put together. Here because fact/ and session/ do not know each
 * other. */
#ifndef LC_OPS_FACT_CALLER_H
#define LC_OPS_FACT_CALLER_H

#include "fact/fact.h"
#include "ops/op.h"
#include "session/session.h"

/* What does not depend on the session: made before the transaction. */
typedef struct lc_fact_caller {
    loci_str titles;       /* The setting authority.titles. */
    lc_authority ceiling;  /* Of the token; rank 0 = none. */
    lc_authority argument; /* rank 0 = not given. */
    loci_str trust;        /* After the token's cap. */
} lc_fact_caller;

/* `authority` and `trust` are what the caller says of itself; none = nothing. */
loci_status lc_fact_caller_init(lc_fact_caller *out, lc_call *call, loci_str authority,
                                loci_str trust, loci_error *err);
/* With the session's identity; `identity` may be that of no session, all none. */
lc_authority lc_fact_caller_authority(const lc_fact_caller *caller, const lc_identity *identity);
/* What may be read does not depend on what a caller says of itself. */
lc_fact_access lc_fact_caller_access(const lc_fact_caller *caller, const lc_identity *identity);

/* The view of a read: its session, if one is open, and what may be seen in it. The call takes
 * `scope` and `scope_id` when `has_scope`. */
loci_status lc_fact_read_view(lc_call *call, lc_tx *tx, bool has_scope, lc_fact_view *out,
                              loci_error *err);
/* scope and scope_id of the call, brought together with its session. */
loci_status lc_fact_scope_of(lc_call *call, const lc_session *session, lc_fact_view *out,
                             loci_error *err);

#endif /* LC_OPS_FACT_CALLER_H */
