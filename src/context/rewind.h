/* rewind.h - taking back what was said after a message, and what came of it, in all rooms.
 *
 * People edit what they said and ask for another answer. A rewind withdraws the messages behind the
 * one that stays, in its session, and with them the facts, memories, todos and proposals that
 * were derived from them alone; what those had replaced is back. The log keeps all of it.
 */
#ifndef LC_CONTEXT_REWIND_H
#define LC_CONTEXT_REWIND_H

#include "recall/rewind.h"
#include "session/session.h"

typedef struct lc_rewind_to {
    lc_session_ref session; /* session_id none = that of the message. */
    loci_str message_id;    /* The last message that stays. */
    bool is_dry_run;
} lc_rewind_to;

/* Decides, lists what it does in `r` and, unless it is a dry run, writes. A rewind that has nothing
 * to withdraw writes nothing; `*out_seq` is then 0. */
loci_status lc_context_rewind(const lc_rewind_to *to, lc_rewind *r, int64_t *out_seq,
                              loci_error *err);

#endif /* LC_CONTEXT_REWIND_H */
