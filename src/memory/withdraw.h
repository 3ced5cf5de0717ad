/* withdraw.h - taking back memories, entities and todos that were derived from messages which a
 * rewind withdraws (recall/rewind.h). */
#ifndef LC_MEMORY_WITHDRAW_H
#define LC_MEMORY_WITHDRAW_H

#include "recall/rewind.h"
#include "store/row.h"

extern const lc_event_type lc_memory_withdrawn_event;

typedef struct lc_memory_withdrawal lc_memory_withdrawal;
/* Decides and adds to the items of `r`; writes nothing. */
loci_status lc_memory_decide_withdraw(lc_rewind *r, lc_memory_withdrawal **out, loci_error *err);
/* Appends the events. */
loci_status lc_memory_commit_withdraw(lc_tx *tx, lc_memory_withdrawal *withdrawal, loci_error *err);

/* A change of a row that is recorded as its whole state. */
typedef struct lc_state_change {
    const lc_event_type *type;
    const lc_sql *state; /* Reads the state: $1 tenant, $2 user, $3 seq. */
    int64_t seq;         /* Of the row. */
    const void *row;     /* As it is to be. */
} lc_state_change;
/* Appends the event. If it is derived from a message, it also has the state before it, so that a
 * rewind can take the change back. */
loci_status lc_state_change_append(lc_tx *tx, const lc_state_change *change, int64_t *out_seq,
                                   loci_error *err);

#endif /* LC_MEMORY_WITHDRAW_H */
