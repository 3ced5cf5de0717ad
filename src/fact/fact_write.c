/* fact_write.c - appends the events of decided writes. */
#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "fact/fact_row.h"

const char *lc_fact_outcome_name(lc_fact_outcome outcome)
{
    static const char *const names[] = {"created", "superseded", "repeated",
                                        "late",    "claimed",    "shadowed"};

    return names[outcome];
}

/* Ids out of the store are ours; a longer one is damage. */
static loci_status copy_id(lc_id *to, loci_str id, loci_error *err)
{
    if (id.len >= sizeof to->text)
        return lc_fail(err, LOCI_ECORRUPT, "a fact's id is too long");
    if (id.len > 0)
        memcpy(to->text, id.ptr, id.len);
    to->text[id.len] = '\0';
    return LOCI_OK;
}

loci_status lc_fact_ended_init(lc_fact_ended *ended, size_t max, lc_arena *arena, loci_error *err)
{
    loci_str *room = lc_arena_alloc(arena, 3 * max * sizeof *room);

    if (room == NULL)
        return lc_fail_memory(err);
    *ended = (lc_fact_ended){.ids = room, .unlink = room + max, .roots = room + 2 * max};
    return LOCI_OK;
}

void lc_fact_ended_add(lc_fact_ended *ended, const lc_fact *fact)
{
    ended->ids[ended->count++] = fact->id;
    if (fact->depends_on.len > 0)
        ended->unlink[ended->unlink_count++] = fact->id;
    if (fact->has_derived)
        ended->roots[ended->root_count++] = fact->id;
}

lc_fact_outcome lc_fact_plan_outcome(const lc_fact_plan *plan)
{
    return plan->outcome;
}

bool lc_fact_plan_writes(const lc_fact_plan *plan)
{
    return plan->is_written;
}

bool lc_fact_ending_needs_review(const lc_fact_ending *ending)
{
    return ending->fact.needs_review;
}

loci_status lc_fact_commit(lc_tx *tx, lc_fact_plan *plan, lc_arena *arena, lc_fact_result *out,
                           loci_error *err)
{
    lc_fact_written *written = &plan->written;
    lc_event_draft draft;
    loci_status status;

    *out = (lc_fact_result){.outcome = plan->outcome, .review_count = plan->review_count};
    status = copy_id(&out->contests, written->fact.contests, err);
    if (status != LOCI_OK)
        return status;
    if (!plan->is_written) {
        out->seq = plan->same.seq;
        return copy_id(&out->id, plan->same.id, err);
    }
    status = copy_id(&out->superseded, plan->first, err);
    if (status == LOCI_OK)
        status = lc_tx_make_id(tx, "fact", &out->id, err);
    if (status == LOCI_OK)
        status = lc_fact_written_complete(written, arena, err);
    if (status != LOCI_OK)
        return status;
    written->fact.id = lc_id_str(&out->id);
    lc_event_draft_begin(&draft, tx);
    lc_fact_written_encode(written, &draft);
    return lc_event_draft_append(&draft, tx,
                                 &(lc_append){.type = &lc_fact_written_event, .decoded = written},
                                 &out->seq, err);
}

/* ---- Taking back, and confirming ------------------------------------------------------------- */

static loci_status find_one(lc_tx *tx, const lc_fact_target *target, lc_arena *arena,
                            lc_fact_node **out, loci_error *err)
{
    lc_fact_node **end = out;
    lc_fact_node *heads;
    lc_fact_slot slot;
    lc_fact fact;
    loci_status status = lc_fact_find_id(tx, target->view.persona_id, target->id, arena, &fact,
                                         err);

    if (status != LOCI_OK)
        return status;
    if (fact.id.ptr == NULL || !lc_fact_is_cleared(&fact, &target->view.access))
        return lc_fact_fail_absent(err, target->id);
    if (fact.standing == LC_FACT_VALID)
        return lc_fact_list_add(&end, &fact, arena, err);
    slot = lc_fact_slot_of(&fact);
    status = lc_fact_load_slot(tx, &slot, arena, &heads, err);
    if (status != LOCI_OK)
        return status;
    return lc_fact_fail_head(err, target->id, lc_fact_first_readable(heads, &target->view.access),
                             &target->view.access);
}

static loci_status find_all(lc_tx *tx, const lc_fact_target *target, lc_arena *arena,
                            lc_fact_node **out, loci_error *err)
{
    const lc_fact_view *view = &target->view;
    lc_fact_slot slot = {.scope = view->scope.len > 0 ? view->scope : LC_STR("global"),
                         .scope_id = lc_fact_or_empty(view->scope_id),
                         .key = target->key,
                         .persona_id = lc_fact_or_empty(view->persona_id)};
    lc_fact_node **link = out;
    loci_status status = lc_fact_load_slot(tx, &slot, arena, out, err);

    while (status == LOCI_OK && *link != NULL) {
        if (lc_fact_may_read(&(*link)->fact, &view->access))
            link = &(*link)->next;
        else
            *link = (*link)->next;
    }
    if (status == LOCI_OK && *out == NULL)
        status = lc_fail(err, LOCI_ENOTFOUND, "no valid fact %.*s", LC_STR_ARG(target->key));
    return status;
}

loci_status lc_fact_check_rights(lc_tx *tx, const lc_fact_target *target, const lc_fact *fact,
                                 loci_error *err)
{
    const lc_fact_writer writer = {target->authority, target->trust, target->view.access,
                                   tx->now_us};

    if (lc_fact_may_end(&writer, fact))
        return LOCI_OK;
    return lc_fail(err, LOCI_EFORBIDDEN,
                   "fact %.*s was said with the authority \"%.*s\"; \"%.*s\" (trust %.*s) is not"
                   " enough",
                   LC_STR_ARG(fact->id), LC_STR_ARG(fact->authority.name),
                   LC_STR_ARG(target->authority.name), LC_STR_ARG(target->trust));
}

loci_status lc_fact_decide_retract(lc_tx *tx, const lc_fact_target *target, lc_arena *arena,
                                   lc_fact_ending **out, loci_error *err)
{
    lc_fact_ending *ending = lc_arena_zalloc_array(arena, 1, sizeof *ending);
    lc_fact_node *facts = NULL;
    lc_fact_ended ended = {0};
    lc_fact_doubts doubts;
    bool is_restricted = false;
    size_t count = 0;
    loci_status status;

    if (ending == NULL)
        return lc_fail_memory(err);
    status = target->key.ptr != NULL ? find_all(tx, target, arena, &facts, err)
                                     : find_one(tx, target, arena, &facts, err);
    for (const lc_fact_node *each = facts; status == LOCI_OK && each != NULL; each = each->next) {
        status = lc_fact_check_rights(tx, target, &each->fact, err);
        count++;
    }
    if (status == LOCI_OK)
        status = lc_fact_ended_init(&ended, count, arena, err);
    if (status != LOCI_OK)
        return status;
    for (const lc_fact_node *each = facts; each != NULL; each = each->next)
        lc_fact_ended_add(&ended, &each->fact);
    for (const lc_fact_node *each = facts; each != NULL; each = each->next)
        is_restricted |= lc_fact_is_labelled(&each->fact);
    ending->fact = facts->fact;
    ending->retracted = (lc_fact_retracted){.ids = {ended.ids, ended.count},
                                            .unlink = {ended.unlink, ended.unlink_count},
                                            .reason = target->reason,
                                            .is_restricted = is_restricted};
    *out = ending;
    status = lc_fact_load_dependents(tx, (lc_str_list){ended.roots, ended.root_count},
                                     &target->view, arena, &doubts, err);
    ending->retracted.review = doubts.ids;
    ending->review_count = doubts.seen_count;
    return status;
}

loci_status lc_fact_commit_retract(lc_tx *tx, const lc_fact_ending *ending, lc_fact_change *out,
                                   loci_error *err)
{
    lc_event_draft draft;
    loci_status status;

    *out = (lc_fact_change){.count = ending->retracted.ids.count,
                            .review_count = ending->review_count};
    status = copy_id(&out->id, ending->fact.id, err);
    if (status != LOCI_OK)
        return status;
    lc_event_draft_begin(&draft, tx);
    lc_fact_retracted_encode(&ending->retracted, &draft);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_fact_retracted_event},
                                 &out->seq, err);
}

loci_status lc_fact_commit_confirm(lc_tx *tx, const lc_fact_ending *ending, lc_fact_change *out,
                                   loci_error *err)
{
    lc_event_draft draft;
    loci_status status;

    *out = (lc_fact_change){.seq = ending->fact.seq};
    status = copy_id(&out->id, ending->fact.id, err);
    if (status != LOCI_OK || !ending->fact.needs_review)
        return status;
    out->count = 1;
    lc_event_draft_begin(&draft, tx);
    lc_jw_member_str(&draft.refs, "id", ending->fact.id);
    return lc_event_draft_append(&draft, tx, &(lc_append){.type = &lc_fact_reviewed_event},
                                 &out->seq, err);
}
