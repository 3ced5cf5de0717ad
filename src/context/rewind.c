/* rewind.c - see rewind.h. Everything is decided before the first write. */
#include "context/rewind.h"

#include "fact/fact.h"
#include "memory/withdraw.h"
#include "review/withdraw.h"

loci_status lc_context_rewind(const lc_rewind_to *to, lc_rewind *r, int64_t *out_seq,
                              loci_error *err)
{
    lc_fact_withdrawal *facts = NULL;
    lc_memory_withdrawal *memories = NULL;
    lc_review_withdrawal *proposals = NULL;
    loci_status status = lc_session_decide_rewind(&to->session, to->message_id, r, err);

    *out_seq = 0;
    if (status == LOCI_OK)
        status = lc_rewind_collect(r, err);
    if (status == LOCI_OK)
        status = lc_session_list_rewind(r, err);
    if (status == LOCI_OK)
        status = lc_fact_decide_withdraw(r, &facts, err);
    if (status == LOCI_OK)
        status = lc_memory_decide_withdraw(r, &memories, err);
    if (status == LOCI_OK)
        status = lc_review_decide_withdraw(r, &proposals, err);
    if (status != LOCI_OK || to->is_dry_run || r->item_count == 0)
        return status;
    status = lc_fact_commit_withdraw(r->tx, facts, err);
    if (status == LOCI_OK)
        status = lc_memory_commit_withdraw(r->tx, memories, err);
    if (status == LOCI_OK)
        status = lc_review_commit_withdraw(r->tx, proposals, err);
    return status == LOCI_OK ? lc_session_commit_rewind(r, out_seq, err) : status;
}
