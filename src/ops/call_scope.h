/* call_scope.h - the session, the scope and the rights of a call: the meaning of its session_id,
 * persona and tenant, and the rights of its caller to state and see facts (its token's ceilings,
 * its session's identity and its own arguments combined). This is here because fact/ and session/
 * do not know each other. Also the parameters that several operations share.
 */
#ifndef LC_OPS_CALL_SCOPE_H
#define LC_OPS_CALL_SCOPE_H

#include "base/limits.h"
#include "fact/fact.h"
#include "ops/op.h"
#include "session/session.h"

/* ---- Session --------------------------------------------------------------------------------- */

/* A JSON value that becomes part of an event, which has room for a little more than the value. */
#define LC_VALUE_BYTES_MAX (LC_EVENT_BYTES_MAX - 8192)

/* Which session the call means; for operations with LC_OP_SESSION. */
lc_session_ref lc_call_session_ref(const lc_call *call);
/* For reads: the session when there is one and it is open, else `*found` is false. An unknown
 * ses_… is LOCI_ENOTFOUND. */
loci_status lc_call_find_session(lc_call *call, lc_tx *tx, lc_session *out, bool *found,
                                 loci_error *err);
/* For writes: decides which one it will be, without writing; lc_session_begin() follows. */
loci_status lc_call_choose_session(lc_call *call, lc_tx *tx, lc_session_use *out, loci_error *err);

/* A message of which a statement was derived: a rewind of its session before it takes the statement
 * back, too. */
#define LC_SOURCE_PARAM(T, m)                                                                      \
    LC_NAME_PARAM("message_id", T, m, 0,                                                           \
                  "Id of the message it was derived from; a rewind to before that message takes "  \
                  "it back")
/* Says so in all events that the call appends from now on; none = nothing. LOCI_ENOTFOUND if the
 * caller sees no such message. */
loci_status lc_call_set_source(lc_call *call, lc_tx *tx, loci_str message_id, loci_error *err);

/* After `count` user messages of the call's persona were appended to the session: enqueues the
 * summaries that they make due. */
loci_status lc_call_note_turns(lc_call *call, lc_tx *tx, const lc_session *session, int64_t count,
                               loci_error *err);

/* ---- Scope and rights ------------------------------------------------------------------------ */

/* Arguments `scope` and `scope_id`. */
typedef struct lc_scope_args {
    loci_str scope;
    loci_str scope_id;
} lc_scope_args;

/* Arguments `authority` and `trust`: the rank and the origin that the caller claims for its
 * statement. */
typedef struct lc_claim_args {
    loci_str authority;
    loci_str trust;
} lc_claim_args;

/* Each fills the struct above at `m` of the input struct `T`. */
#define LC_SCOPE_PARAMS(T, m)                                                                      \
    {LC_ARG_STR("scope", T, m.scope), .choices = "global|task|hypothetical|draft|session",         \
     .help = "Scope of the fact; a fact of a scope hides the global one there"},                   \
        LC_NAME_PARAM("scope_id", T, m.scope_id, 0,                                                \
                      "Task, hypothesis or draft (scope session: default the call's session)")
#define LC_SCOPE_RULE                                                                              \
    {                                                                                              \
        LC_RULE_NEEDS, "scope_id|scope"                                                            \
    }
#define LC_CLAIM_PARAMS(T, m)                                                                      \
    LC_NAME_PARAM("authority", T, m.authority, 0,                                                  \
                  "Claimed authority: policy, executive, admin, manager, employee, intern, guest," \
                  " or a title; limited by the token and the session's identity"),                 \
    {                                                                                              \
        LC_ARG_STR("trust", T, m.trust), .choices = "user|system|tool|web|model",                  \
                                         .help = "Origin of the statement; tool, web and model "   \
                                                 "can only claim"                                  \
    }

/* The part that does not depend on the session: made before the transaction. */
typedef struct lc_fact_caller {
    loci_str titles;          /* The setting authority.titles. */
    lc_authority ceiling;     /* Of the token; rank 0 = none. */
    lc_authority argument;    /* rank 0 = not given. */
    loci_str trust;           /* After the token's cap. */
    loci_str trust_max;       /* The token's cap; none = none. */
    loci_str permissions_max; /* Of the token; none = any. */
} lc_fact_caller;

/* `claim` NULL = the caller claims nothing. */
loci_status lc_fact_caller_init(lc_fact_caller *out, lc_call *call, const lc_claim_args *claim,
                                loci_error *err);
/* Whether `identity` limits this caller and gives it permissions: only that of a caller with the
 * same or higher ceilings does. Otherwise any caller could lower the session of one above it. */
bool lc_fact_caller_is_bound(const lc_fact_caller *caller, const lc_identity *identity);
/* With the session's identity; `identity` may be that of no session, all none. */
lc_authority lc_fact_caller_authority(const lc_fact_caller *caller, const lc_identity *identity);
/* The right to read does not depend on a caller's claims about itself. */
lc_fact_access lc_fact_caller_access(const lc_fact_caller *caller, const lc_identity *identity);

/* The view of a read: its session, if one is open, and the facts that may be seen in it. `scope`
 * NULL = the operation has no such parameters. */
loci_status lc_fact_read_view(lc_call *call, lc_tx *tx, const lc_scope_args *scope,
                              lc_fact_view *out, loci_error *err);
/* Sets the scope of `out`; a session's scope gets the id of `session` (NULL = not known yet). */
loci_status lc_fact_set_scope(const lc_scope_args *args, const lc_session *session,
                              lc_fact_view *out, loci_error *err);

#endif /* LC_OPS_CALL_SCOPE_H */
