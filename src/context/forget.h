/* forget.h - forgetting what belongs to more than one room.
 *
 * A session has its messages, facts that are true in it alone (scope session), and frames that name
 * it, by its id or by the caller's name for it. All of them go. Facts
 * that were stated in it for good stay: they are knowledge of their own, with versions and
 * dependents, and fact.forget forgets them. The rows that the shadow judge derived from a
 * message (memories, todos, proposals) quote it, and are forgotten with it, also if another message
 * mentioned the same since. Forgetting a memory also forgets the proposals with the same text.
 */
#ifndef LC_CONTEXT_FORGET_H
#define LC_CONTEXT_FORGET_H

#include "fact/fact.h"
#include "memory/memory.h"
#include "recall/forget.h"
#include "session/session.h"

typedef struct lc_session_forget {
    lc_session_ref session;
    lc_fact_target facts; /* The caller's rights; the function below sets key, id and scope. */
    bool is_dry_run;
} lc_session_forget;

/* Decides and, unless it is a dry run, appends the events; lc_forget_finish() follows. */
loci_status lc_context_forget_session(const lc_session_forget *what, lc_forgetting *f,
                                      loci_error *err);

/* One message that the persona sees; LOCI_ENOTFOUND. */
typedef struct lc_message_forget {
    loci_str persona_id, id;
    bool is_dry_run;
} lc_message_forget;
loci_status lc_context_forget_message(const lc_message_forget *what, lc_forgetting *f,
                                      loci_error *err);

typedef struct lc_memories_forget {
    lc_memory_target target;
    bool is_dry_run;
} lc_memories_forget;
loci_status lc_context_forget_memories(const lc_memories_forget *what, lc_forgetting *f,
                                       loci_error *err);

#endif /* LC_CONTEXT_FORGET_H */
