/* forget.c - see forget.h. Everything is decided before the first write. */
#include "context/forget.h"

#include "base/error.h"
#include "base/str.h"

loci_status lc_context_forget_session(const lc_session_forget *what, lc_forgetting *f,
                                      loci_error *err)
{
    lc_tx *tx = f->tx;
    lc_session_oblivions sessions;
    lc_fact_oblivion **facts = NULL;
    loci_status status = lc_session_decide_forget(tx, &what->session, f, &sessions, err);

    if (status != LOCI_OK)
        return status;
    facts = lc_arena_zalloc_array(f->arena, sessions.count, sizeof(lc_fact_oblivion *));
    if (facts == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; status == LOCI_OK && i < sessions.count; i++) {
        lc_fact_target target = what->facts;

        target.key = target.id = LC_STR_NONE;
        target.view.scope = LC_STR("session");
        target.view.scope_id = sessions.items[i].session.id;
        status = lc_fact_decide_forget(tx, &target, f, &facts[i], err);
    }
    if (status != LOCI_OK || what->is_dry_run)
        return status;
    for (size_t i = 0; status == LOCI_OK && i < sessions.count; i++)
        status = lc_fact_commit_forget(tx, facts[i], err);
    if (status == LOCI_OK)
        status = lc_session_commit_forget(tx, what->session.persona_id, &sessions, err);
    return status == LOCI_OK ? lc_forget_finish(f, err) : status;
}
