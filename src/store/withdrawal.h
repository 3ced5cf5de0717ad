/* withdrawal.h - events that a rewind has taken back.
 *
 * The events stay in the log as they were; their rows are gone. This projection names them: an
 * index drops the texts of withdrawn messages by it, a second rewind passes over them, and
 * forgetting finds the payloads that are to be erased although no row leads to them any more.
 */
#ifndef LC_STORE_WITHDRAWAL_H
#define LC_STORE_WITHDRAWAL_H

#include "store/event.h"

extern const lc_table lc_withdrawals_table;

/* One event that was taken back. */
typedef struct lc_withdrawal {
    int64_t seq;
    loci_str kind;       /* message, fact, memory, entity, todo, proposal or summary. */
    loci_str id;         /* Of the row that the event wrote or changed. */
    loci_str session_id; /* Of the session that was rewound. */
} lc_withdrawal;

/* For `apply`: notes that `event` has taken back another one. The same twice is once. */
loci_status lc_withdrawal_note(lc_tx *tx, const lc_event *event, const lc_withdrawal *withdrawal,
                               loci_error *err);

typedef loci_status lc_withdrawal_visit(void *ctx, const lc_withdrawal *withdrawal,
                                        loci_error *err);
/* Which of the current user's. */
typedef struct lc_withdrawal_filter {
    loci_str session_id; /* None = of all sessions. */
    loci_str kind;       /* None = of all kinds. */
    int64_t after_seq;   /* Only events behind it. */
} lc_withdrawal_filter;
/* In the order of seq; `withdrawal` is borrowed for the call. Non-OK stops. */
loci_status lc_withdrawal_each(lc_tx *tx, const lc_withdrawal_filter *filter,
                               lc_withdrawal_visit *visit, void *ctx, loci_error *err);

#endif /* LC_STORE_WITHDRAWAL_H */
