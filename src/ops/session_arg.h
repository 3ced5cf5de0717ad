/* session_arg.h - the session of a call: what its session_id, persona and tenant mean. */
#ifndef LC_OPS_SESSION_ARG_H
#define LC_OPS_SESSION_ARG_H

#include "base/limits.h"
#include "ops/op.h"
#include "session/session.h"

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

/* Begins the session for what will append an event, or not. What changed nothing in a session that
 * nobody named opens none. */
loci_status lc_call_begin_session(lc_tx *tx, lc_session_use *use, bool has_event, loci_error *err);

#endif /* LC_OPS_SESSION_ARG_H */
