/* review_withdraw.c - proposals that a rewind takes back (recall/rewind.h).
 *
 * The row of a proposal that was read in a withdrawn message is deleted, even if a person has
 * decided on it: without the message loci would not have made the proposal. A memory or todo that
 * a person accepted stays: accepting it is the person's own statement, and its events name no
 * message as their source. The event lists the ids of the proposals; the seq is a part of each id.
 */
#include "review/withdraw.h"

#include "base/error.h"
#include "base/str.h"
#include "store/withdrawal.h"

#define IDS_MAX 10000 /* Ids per event; the rest goes into further events. */

struct lc_review_withdrawal {
    const lc_rewind *r;
    loci_str *ids;
    size_t count;
};

static const lc_sql load_sql = {
    "select {row} from proposals where tenant_id = $1 and user_id = $2 and seq = $3", "tti", "",
    &lc_review_proposal_row};

loci_status lc_review_decide_withdraw(lc_rewind *r, lc_review_withdrawal **out, loci_error *err)
{
    lc_review_withdrawal *w = lc_arena_zalloc_array(r->arena, 1, sizeof *w);
    loci_status status = LOCI_OK;

    *out = w;
    if (w == NULL)
        return lc_fail_memory(err);
    w->r = r;
    w->ids = lc_arena_zalloc_array(r->arena, r->event_count + 1, sizeof *w->ids);
    if (w->ids == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < r->event_count && status == LOCI_OK; i++) {
        const lc_rewind_event *event = &r->events[i];
        const lc_arg which[] = {LC_T(r->tx->tenant_id), LC_T(r->tx->user_id), LC_I(event->seq)};
        lc_review_proposal proposal;
        bool found = false;

        if (event->type != &lc_review_proposed_event)
            continue;
        status = lc_row_find(r->tx, &(lc_query){&load_sql, which}, r->arena, &proposal, &found,
                             err);
        if (status != LOCI_OK || !found) /* It was forgotten. */
            continue;
        w->ids[w->count++] = event->id;
        status = lc_rewind_add(
            r, &(lc_rewind_item){"proposal", "withdrawn", proposal.id, proposal.text}, err);
    }
    return status;
}

loci_status lc_review_commit_withdraw(lc_tx *tx, const lc_review_withdrawal *w, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < w->count && status == LOCI_OK;) {
        lc_event_draft draft;

        lc_event_draft_begin(&draft, tx);
        lc_jw_member_str(&draft.refs, "session_id", w->r->session_id);
        lc_jw_name(&draft.refs, "ids");
        lc_jw_array(&draft.refs);
        for (size_t end = i + IDS_MAX; i < w->count && i < end; i++)
            lc_jw_str(&draft.refs, w->ids[i]);
        lc_jw_end(&draft.refs);
        status = lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_review_withdrawn_event},
                                       NULL, err);
    }
    return status;
}

/* ---- Applying -------------------------------------------------------------------------------- */

static const lc_sql delete_sql = {
    "delete from proposals where tenant_id = $1 and user_id = $2 and seq = $3", "tti", NULL};

static loci_status take_back(lc_tx *tx, const lc_event *event, const lc_json *refs, loci_error *err)
{
    const lc_json *ids = lc_json_find(refs, "ids", LC_JSON_ARRAY);
    loci_status status = ids != NULL ? LOCI_OK : lc_event_fail(event, err);

    for (const lc_json *id = ids != NULL ? lc_json_first(ids) : NULL;
         id != NULL && status == LOCI_OK; id = lc_json_next(id)) {
        lc_withdrawal withdrawal = {.kind = LC_STR("proposal"),
                                    .session_id = lc_event_str(refs, "session_id")};
        lc_id_parts parts;

        if (lc_json_kind_of(id) != LC_JSON_STRING || !lc_id_parse(lc_json_str(id), "prop", &parts))
            return lc_event_fail(event, err);
        withdrawal.id = lc_json_str(id);
        withdrawal.seq = parts.seq;
        status = lc_tx_exec(
            tx, &delete_sql,
            (lc_arg[]){LC_T(event->tenant_id), LC_T(event->user_id), LC_I(parts.seq)}, err);
        if (status == LOCI_OK)
            status = lc_withdrawal_note(tx, event, &withdrawal, err);
    }
    return status;
}

static loci_status apply_withdrawn(lc_tx *tx, const lc_event *event, loci_error *err)
{
    lc_arena *arena = &tx->db->scratch;
    lc_arena_mark mark = lc_arena_get_mark(arena);
    lc_event_json json;
    loci_status status = lc_event_parse(event, arena, &json, err);

    if (status == LOCI_OK)
        status = take_back(tx, event, json.refs, err);
    lc_arena_rewind(arena, mark);
    return status;
}

const lc_event_type lc_review_withdrawn_event = {
    .name = "review.withdrawn", .version = 1, .apply = apply_withdrawn};
