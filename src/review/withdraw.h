/* withdraw.h - taking back proposals that were read in messages which a rewind withdraws
 * (recall/rewind.h). */
#ifndef LC_REVIEW_WITHDRAW_H
#define LC_REVIEW_WITHDRAW_H

#include "recall/rewind.h"
#include "review/review.h"

extern const lc_event_type lc_review_withdrawn_event;

typedef struct lc_review_withdrawal lc_review_withdrawal;
/* Decides and adds to the items of `r`; writes nothing. */
loci_status lc_review_decide_withdraw(lc_rewind *r, lc_review_withdrawal **out, loci_error *err);
/* Appends the events. */
loci_status lc_review_commit_withdraw(lc_tx *tx, const lc_review_withdrawal *withdrawal,
                                      loci_error *err);

#endif /* LC_REVIEW_WITHDRAW_H */
