/* op_frame.h - what the operations on frames share. Only op_frame*.c include it. */
#ifndef LC_OPS_OP_FRAME_H
#define LC_OPS_OP_FRAME_H

#include "base/limits.h"
#include "frame/frame.h"
#include "ops/op.h"

#define LC_FRAME_EXAMPLE "frm_00000000000000000000000000"

extern const lc_record lc_frame_record; /* As lc_call_put_frame() writes it. */
extern const lc_record lc_frame_budget_record;
extern const lc_record lc_frame_handle_record;

#define LC_FRAME_OUTCOME_RESULTS                                                                   \
    {"outcome", LC_PARAM_STRING, "over_budget if the frame has used more than its budget",         \
     .choices = "ok|over_budget"},                                                                 \
    {                                                                                              \
        "over", LC_PARAM_INT, "Tokens used above the budget"                                       \
    }

/* The parameter that names the frame of an operation on its parts. */
#define LC_FRAME_PARAM(T, m)                                                                       \
    {                                                                                              \
        LC_ARG_STR("frame_id", T, m),                                                              \
            .flags = LC_PARAM_REQUIRED | LC_PARAM_POSITIONAL | LC_PARAM_ID, .alias = "id",         \
            .min = 1, .max = LC_ID_BYTES_MAX, .help = "Id of the frame, frm_…"                   \
    }

/* The parameters of a scope, filled into `scope` (const lc_json *) and `flat` (lc_frame_scope) of
 * the input struct `T`, and their rules. */
#define LC_FRAME_SCOPE_PARAMS(T, scope_m, flat_m)                                                  \
    {LC_ARG_OBJECT("scope", T, scope_m),                                                           \
     .help = "Scope {actor_id, session_id?, thread_id?}, instead of the next three"},              \
        LC_NAME_PARAM("actor_id", T, flat_m.actor_id, 0, "Agent that works on it"),                \
        LC_NAME_PARAM("session_id", T, flat_m.session_id, 0,                                       \
                      "Session in which it is done: an id or a name of your own"),                 \
        LC_NAME_PARAM("thread_id", T, flat_m.thread_id, 0, "Thread of work inside the session")
extern const lc_param_rule lc_frame_scope_rules[];
/* Moves the members of `scope`, which may be NULL, to `out`. */
loci_status lc_frame_scope_read(const lc_json *scope, lc_frame_scope *out, loci_error *err);

/* The members of a frame, budget included, into the open object. */
void lc_call_put_frame(lc_call *call, const lc_frame *frame);
/* `budget`, the tokens of a frame, into the open object. */
void lc_call_put_budget(lc_call *call, const lc_ledger *ledger);
/* outcome and over. */
void lc_call_put_outcome(lc_call *call, const lc_ledger *ledger);
/* The content of a text argument: counted, hashed and compressed, before the transaction. NULL if
 * there is no text. */
loci_status lc_call_make_content(lc_call *call, loci_str text, lc_content **out, loci_error *err);

#endif /* LC_OPS_OP_FRAME_H */
