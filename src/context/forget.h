/* forget.h - forgetting what belongs to more than one room.
 *
 * A session has its messages, and facts that are true in it alone (scope session). Both go. Facts
 * that were stated in it for good stay: they are knowledge of their own, with versions and
 * dependents, and fact.forget forgets them.
 */
#ifndef LC_CONTEXT_FORGET_H
#define LC_CONTEXT_FORGET_H

#include "fact/fact.h"
#include "recall/forget.h"
#include "session/session.h"

typedef struct lc_session_forget {
    lc_session_ref session;
    lc_fact_target facts; /* Whose rights count; key, id and scope are set here. */
    bool is_dry_run;
} lc_session_forget;

loci_status lc_context_forget_session(const lc_session_forget *what, lc_forgetting *f,
                                      loci_error *err);

#endif /* LC_CONTEXT_FORGET_H */
