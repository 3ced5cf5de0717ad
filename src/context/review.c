/* review.c - see review.h. */
#include "context/review.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "context/candidate.h"
#include "context/judge.h"
#include "memory/memory.h"
#include "memory/todo.h"
#include "pack/show.h"
#include "review/review.h"

#define MERGE_GAP '~'

const char *lc_review_kind_name(lc_review_kind kind)
{
    static const char *const names[LC_REVIEW_KIND_COUNT] = {"proposal", "fact_claim", "fact_review",
                                                            "memory_claim", "merge"};

    return names[kind];
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

static loci_status make_verdict(lc_arena *arena, lc_review_kind kind, const loci_str parts[3],
                                lc_verdict_on *out, loci_error *err)
{
    out->kind = lc_review_kind_name(kind);
    out->content = lc_review_hash(arena, parts, 3);
    return out->content.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* Whether there is a verdict: dismissals are stored by content, acceptances by id. */
static loci_status is_judged(lc_tx *tx, const lc_verdict_on *by_content, bool *out, loci_error *err)
{
    lc_verdict_on by_id = *by_content;
    loci_status status = lc_review_is_judged(tx, by_content, out, err);

    by_id.content = by_content->target;
    return status == LOCI_OK && !*out ? lc_review_is_judged(tx, &by_id, out, err) : status;
}

static loci_status verdict_on_claim(lc_arena *arena, const lc_fact *fact, lc_verdict_on *out,
                                    loci_error *err)
{
    *out = (lc_verdict_on){.persona_id = fact->persona_id, .target = fact->id};
    return make_verdict(arena, LC_REVIEW_FACT_CLAIM,
                        (loci_str[]){fact->key, fact->value, fact->scope_id}, out, err);
}

static loci_status verdict_on_memory(lc_arena *arena, const lc_memory *memory, lc_verdict_on *out,
                                     loci_error *err)
{
    *out = (lc_verdict_on){.persona_id = memory->persona_id, .target = memory->id};
    return make_verdict(arena, LC_REVIEW_MEMORY_CLAIM,
                        (loci_str[]){memory->memory_key, memory->statement, LC_STR("")}, out, err);
}

static loci_status verdict_on_pair(lc_arena *arena, const lc_entity *a, const lc_entity *b,
                                   lc_verdict_on *out, loci_error *err)
{
    *out = (lc_verdict_on){.persona_id = a->persona_id, .target = a->id};
    return make_verdict(arena, LC_REVIEW_MERGE, (loci_str[]){a->ref, b->ref, LC_STR("")}, out, err);
}

loci_status lc_review_merge_is_judged(lc_tx *tx, const lc_entity_pair *pair, lc_arena *arena,
                                      bool *out, loci_error *err)
{
    lc_verdict_on verdict;
    loci_status status = verdict_on_pair(arena, pair->entity, pair->into, &verdict, err);

    return status == LOCI_OK ? lc_review_is_judged(tx, &verdict, out, err) : status;
}

/* ---- Listing --------------------------------------------------------------------------------- */

typedef struct listing {
    lc_tx *tx;
    const lc_review_query *query;
    lc_arena *arena;
    lc_review_item_visit *visit;
    void *ctx;
    int64_t left;
    int64_t after; /* In the current kind. */
    lc_fact *doubts;
    size_t doubt_count;
} listing;

static loci_status put(listing *l, const lc_review_item *item, loci_error *err)
{
    if (l->left == 0)
        return LOCI_OK;
    l->left--;
    return l->visit(l->ctx, item, err);
}

static loci_status put_proposal(void *ctx, const lc_review_proposal *proposal, loci_error *err)
{
    listing *l = ctx;
    lc_review_proposal kept = *proposal;
    lc_review_item item = {.kind = LC_REVIEW_PROPOSAL,
                           .position = proposal->seq,
                           .at_us = proposal->observed_at,
                           .confidence = proposal->confidence};

    if (!lc_row_keep(&lc_review_proposal_row, l->arena, &kept))
        return lc_fail_memory(err);
    item.id = kept.id;
    item.about = kept.person.len > 0 ? kept.person : LC_STR("user");
    item.proposed = kept.text;
    item.quote = kept.quote;
    item.reason = lc_str_is(kept.trust, "user") || lc_str_is(kept.trust, "system")
                      ? "the judge is not sure enough"
                      : "the source is not trusted";
    item.text = lc_context_join(
        l->arena,
        (loci_str[]){lc_str_is(kept.kind, "todo") ? LC_STR("Todo: ") : LC_STR("Remember: "),
                     kept.text},
        2);
    return item.text.ptr != NULL ? put(l, &item, err) : lc_fail_memory(err);
}

static loci_status show_fact(listing *l, const lc_fact *fact, lc_review_item *item, loci_error *err)
{
    loci_status status = lc_show_value(l->arena, fact->value, &item->proposed, err);

    item->id = fact->id;
    item->position = fact->seq;
    item->about = fact->key;
    item->source = fact->source;
    item->authority = fact->authority.name;
    item->trust = fact->trust;
    item->at_us = fact->observed_at;
    item->confidence = NAN;
    return status;
}

static loci_status put_claim(void *ctx, const lc_fact *fact, loci_error *err)
{
    listing *l = ctx;
    lc_fact kept = *fact, head = {0};
    lc_review_item item = {.kind = LC_REVIEW_FACT_CLAIM,
                           .reason = "authority or trust of the speaker is too low"};
    lc_verdict_on verdict;
    lc_fact_view view = l->query->view;
    bool is_done = false;
    loci_status status;

    if (l->left == 0)
        return LOCI_OK;
    if (!lc_fact_keep(l->arena, &kept))
        return lc_fail_memory(err);
    status = verdict_on_claim(l->arena, &kept, &verdict, err);
    if (status == LOCI_OK)
        status = is_judged(l->tx, &verdict, &is_done, err);
    if (status != LOCI_OK || is_done)
        return status;
    status = show_fact(l, &kept, &item, err);
    view.scope = kept.scope;
    view.scope_id = kept.scope_id;
    if (status == LOCI_OK)
        status = lc_fact_find_head(l->tx, &view, kept.key, l->arena, &head, err);
    if (status == LOCI_OK && head.id.len > 0 && lc_fact_may_read(&head, &view.access))
        status = lc_show_value(l->arena, head.value, &item.current, err);
    if (status != LOCI_OK)
        return status;
    item.text = lc_context_join(l->arena, (loci_str[]){kept.key, LC_STR(": "), item.proposed}, 3);
    return item.text.ptr != NULL ? put(l, &item, err) : lc_fail_memory(err);
}

static int compare_facts(const void *a, const void *b)
{
    const lc_fact *x = a, *y = b;

    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static loci_status keep_doubt(void *ctx, const lc_fact *fact, loci_error *err)
{
    listing *l = ctx;
    lc_fact *to = &l->doubts[l->doubt_count];

    if (fact->seq <= l->after || l->doubt_count == LC_FACT_REVIEW_MAX ||
        (fact->persona_id.len > 0 && !lc_str_eq(fact->persona_id, l->query->view.persona_id)) ||
        !lc_fact_may_read(fact, &l->query->view.access))
        return LOCI_OK;
    *to = *fact;
    l->doubt_count++;
    return lc_fact_keep(l->arena, to) ? LOCI_OK : lc_fail_memory(err);
}

static loci_status list_doubts(listing *l, loci_error *err)
{
    loci_status status;

    l->doubts = lc_arena_zalloc_array(l->arena, LC_FACT_REVIEW_MAX, sizeof *l->doubts);
    if (l->doubts == NULL)
        return lc_fail_memory(err);
    status = lc_fact_each_in_doubt(l->tx, keep_doubt, l, err);
    qsort(l->doubts, l->doubt_count, sizeof *l->doubts, compare_facts);
    for (size_t i = 0; i < l->doubt_count && l->left > 0 && status == LOCI_OK; i++) {
        lc_review_item item = {.kind = LC_REVIEW_FACT_DOUBT,
                               .reason = "a fact that it depends on ended"};

        status = show_fact(l, &l->doubts[i], &item, err);
        item.current = item.proposed;
        item.text = lc_context_join(
            l->arena,
            (loci_str[]){l->doubts[i].key, LC_STR(" is still "), item.proposed, LC_STR("?")}, 4);
        if (status == LOCI_OK)
            status = item.text.ptr != NULL ? put(l, &item, err) : lc_fail_memory(err);
    }
    return status;
}

static loci_status put_memory(void *ctx, const lc_memory *memory, loci_error *err)
{
    listing *l = ctx;
    lc_memory kept = *memory, contested;
    lc_review_item item = {.kind = LC_REVIEW_MEMORY_CLAIM,
                           .position = memory->seq,
                           .reason = "it contradicts a memory that it may not replace",
                           .at_us = memory->observed_at,
                           .confidence = memory->confidence};
    lc_verdict_on verdict;
    bool is_done = false;
    loci_status status;

    if (l->left == 0)
        return LOCI_OK;
    if (!lc_row_keep(&lc_memory_row, l->arena, &kept))
        return lc_fail_memory(err);
    status = verdict_on_memory(l->arena, &kept, &verdict, err);
    if (status == LOCI_OK)
        status = is_judged(l->tx, &verdict, &is_done, err);
    if (status != LOCI_OK || is_done)
        return status;
    item.id = kept.id;
    item.about = kept.entity_label.len > 0 ? kept.entity_label : LC_STR("user");
    item.text = item.proposed = kept.text;
    status = lc_memory_load(l->tx, l->query->view.persona_id, kept.contests, l->arena, &contested,
                            err);
    if (status == LOCI_OK)
        item.current = contested.text;
    else if (status != LOCI_ENOTFOUND) /* It may be forgotten. */
        return status;
    return put(l, &item, err);
}

static loci_status put_pair(void *ctx, const lc_entity_pair *pair, loci_error *err)
{
    listing *l = ctx;
    lc_review_item item = {.kind = LC_REVIEW_MERGE,
                           .position = pair->number,
                           .about = pair->into->ref,
                           .proposed = pair->into->ref,
                           .current = pair->entity->ref,
                           .reason = "the names are nearly the same",
                           .at_us = pair->entity->created_at,
                           .confidence = NAN};
    char gap = MERGE_GAP;
    bool is_done = false;
    loci_status status;

    if (l->left == 0 || pair->number <= l->after)
        return LOCI_OK;
    status = lc_review_merge_is_judged(l->tx, pair, l->arena, &is_done, err);
    if (status != LOCI_OK || is_done)
        return status;
    item.id = lc_context_join(l->arena, (loci_str[]){pair->entity->id, {&gap, 1}, pair->into->id},
                              3);
    item.text = lc_context_join(l->arena,
                                (loci_str[]){pair->entity->ref, LC_STR(" and "), pair->into->ref,
                                             LC_STR(" may be the same")},
                                4);
    return item.id.ptr != NULL && item.text.ptr != NULL ? put(l, &item, err) : lc_fail_memory(err);
}

/* Things that were settled are skipped, so more are read than are wanted. */
#define SKIPPED_MAX 1000

static loci_status list_kind(listing *l, lc_review_kind kind, loci_error *err)
{
    loci_str persona_id = l->query->view.persona_id;

    switch (kind) {
    case LC_REVIEW_PROPOSAL:
        return lc_review_each(l->tx, &(lc_review_page){persona_id, l->after, l->left}, put_proposal,
                              l, err);
    case LC_REVIEW_FACT_CLAIM:
        return lc_fact_each_claim(
            l->tx, &l->query->view,
            &(lc_fact_history){.after_seq = l->after, .limit = l->left + SKIPPED_MAX}, put_claim, l,
            err);
    case LC_REVIEW_FACT_DOUBT:
        return list_doubts(l, err);
    case LC_REVIEW_MEMORY_CLAIM:
        return lc_memory_each(l->tx,
                              &(lc_memory_page){.persona_id = persona_id,
                                                .status = LC_STR("claimed"),
                                                .before_seq = l->after > 0 ? l->after : INT64_MAX,
                                                .limit = l->left + SKIPPED_MAX},
                              put_memory, l, err);
    default:
        return lc_entity_each_near(l->tx, persona_id, l->arena, put_pair, l, err);
    }
}

loci_status lc_review_each_item(lc_tx *tx, const lc_review_query *query, lc_arena *arena,
                                lc_review_item_visit *visit, void *ctx, loci_error *err)
{
    listing l = {
        .tx = tx, .query = query, .arena = arena, .visit = visit, .ctx = ctx, .left = query->limit};
    loci_status status = LOCI_OK;

    for (int kind = (int)query->first; kind < LC_REVIEW_KIND_COUNT && status == LOCI_OK; kind++) {
        if (query->kind >= 0 && kind != query->kind)
            continue;
        l.after = kind == (int)query->first ? query->after : 0;
        if (l.left > 0)
            status = list_kind(&l, (lc_review_kind)kind, err);
    }
    return status;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

typedef struct deciding {
    lc_tx *tx;
    const lc_review_decision *d;
    lc_arena *arena;
    lc_review_result *out;
} deciding;

static const char *outcome_of(lc_review_action action)
{
    return action == LC_REVIEW_ACCEPT    ? "accepted"
           : action == LC_REVIEW_CORRECT ? "corrected"
                                         : "dismissed";
}

static loci_status check_trusted(const deciding *c, loci_error *err)
{
    if (lc_str_is(c->d->trust, "user") || lc_str_is(c->d->trust, "system"))
        return LOCI_OK;
    return lc_fail(err, LOCI_EFORBIDDEN,
                   "%.*s: a review needs the trust of a user; this caller is capped to \"%.*s\"",
                   LC_STR_ARG(c->d->id), LC_STR_ARG(c->d->trust));
}

/* Records that a thing of another room is settled: by its id if it was accepted, by its content if
 * it was dismissed. */
static loci_status settle(const deciding *c, lc_verdict_on verdict, loci_error *err)
{
    verdict.verdict = c->d->action == LC_REVIEW_DISMISS ? "dismissed" : "accepted";
    if (c->d->action != LC_REVIEW_DISMISS)
        verdict.content = verdict.target;
    return lc_review_judge(c->tx, &verdict, err);
}

static loci_status accept_memory(deciding *c, const lc_review_proposal *p, loci_error *err)
{
    lc_memory_input input = {.text = c->d->action == LC_REVIEW_CORRECT ? c->d->text : p->text,
                             .type = p->type,
                             .fact_type = p->fact_type,
                             .source = LC_STR("shadow_extraction"),
                             .trust = c->d->trust,
                             .importance = p->importance,
                             .confidence = 1, /* A person said so. */
                             .observed_at = p->observed_at,
                             .persona_id = p->persona_id};
    lc_lesson_source source = {
        .message_id = p->message_id, .session_id = p->session_id, .quote = p->quote};
    lc_memory_plan *plan = NULL;
    lc_memory_result result;
    loci_status status = lc_judge_metadata(c->arena, &source, &input.metadata, err);

    if (status == LOCI_OK && p->person.len > 0) {
        input.entity_label = p->person;
        status = lc_judge_person(c->arena, p->person, &input.entity_refs, err);
    }
    if (status == LOCI_OK)
        status = lc_memory_decide(c->tx, &input, c->arena, &plan, err);
    if (status == LOCI_OK)
        status = lc_memory_commit(c->tx, plan, &result, err);
    if (status == LOCI_OK)
        c->out->result_id = result.memory.id;
    return status;
}

static loci_status accept_todo(deciding *c, const lc_review_proposal *p, loci_error *err)
{
    lc_todo todo = {.text = c->d->action == LC_REVIEW_CORRECT ? c->d->text : p->text,
                    .kind = LC_STR("commitment"),
                    .status = LC_STR("open"),
                    .due_at = p->due_at,
                    .entity_refs = LC_STR("[]"),
                    .persona_id = p->persona_id,
                    .message_id = p->message_id,
                    .session_id = p->session_id,
                    .quote = p->quote};
    lc_id id;
    loci_status status = lc_todo_add(c->tx, &todo, &id, err);

    if (status == LOCI_OK) {
        c->out->result_id = lc_arena_copy(c->arena, lc_id_str(&id));
        if (c->out->result_id.ptr == NULL)
            status = lc_fail_memory(err);
    }
    return status;
}

static loci_status decide_proposal(deciding *c, loci_error *err)
{
    lc_review_proposal p;
    loci_status status = lc_review_load(c->tx, c->d->view.persona_id, c->d->id, c->arena, &p, err);

    c->out->kind = LC_REVIEW_PROPOSAL;
    if (status == LOCI_OK && !lc_str_is(p.status, "open"))
        status = lc_fail(err, LOCI_ECONFLICT, "proposal %.*s was %.*s before", LC_STR_ARG(p.id),
                         LC_STR_ARG(p.status));
    if (status == LOCI_OK && c->d->action != LC_REVIEW_DISMISS)
        status = lc_str_is(p.kind, "todo") ? accept_todo(c, &p, err) : accept_memory(c, &p, err);
    return status == LOCI_OK
               ? lc_review_close(c->tx, &p,
                                 c->d->action == LC_REVIEW_DISMISS ? "dismissed" : "accepted",
                                 c->out->result_id, err)
               : status;
}

/* Writes the value as the caller's own statement; it must become the fact. */
static loci_status write_fact(deciding *c, const lc_fact *fact, loci_str value, loci_error *err)
{
    lc_fact_input input = {.key = fact->key,
                           .value = value,
                           .source = fact->source,
                           .memory_type = fact->memory_type,
                           .view = c->d->view,
                           .authority = c->d->authority,
                           .trust = c->d->trust,
                           .observed_at = LOCI_AT_CLOCK,
                           .valid_until = LC_FACT_NO_TIME};
    lc_fact_plan *plan;
    lc_fact_result result;
    loci_status status;

    input.view.scope = fact->scope;
    input.view.scope_id = fact->scope_id;
    input.view.persona_id = fact->persona_id;
    status = lc_fact_decide(c->tx, &input, c->arena, &plan, err);
    if (status == LOCI_OK && lc_fact_plan_outcome(plan) == LC_FACT_CLAIMED)
        status = lc_fail(err, LOCI_EFORBIDDEN,
                         "fact %.*s: accepting it needs the authority to write it; this caller has "
                         "\"%.*s\"",
                         LC_STR_ARG(fact->key), LC_STR_ARG(c->d->authority.name));
    if (status == LOCI_OK)
        status = lc_fact_commit(c->tx, plan, c->arena, &result, err);
    if (status == LOCI_OK) {
        c->out->result_id = lc_arena_copy(c->arena, lc_id_str(&result.id));
        if (c->out->result_id.ptr == NULL)
            status = lc_fail_memory(err);
    }
    return status;
}

static loci_status decide_claim(deciding *c, const lc_fact *fact, loci_error *err)
{
    lc_verdict_on verdict;
    loci_status status = verdict_on_claim(c->arena, fact, &verdict, err);

    c->out->kind = LC_REVIEW_FACT_CLAIM;
    if (status == LOCI_OK && c->d->action != LC_REVIEW_DISMISS)
        status = write_fact(c, fact, c->d->action == LC_REVIEW_CORRECT ? c->d->value : fact->value,
                            err);
    else if (status == LOCI_OK)
        status = check_trusted(c, err);
    return status == LOCI_OK ? settle(c, verdict, err) : status;
}

static loci_status decide_doubt(deciding *c, const lc_fact *fact, loci_error *err)
{
    lc_fact_target target = {.id = fact->id,
                             .view = c->d->view,
                             .authority = c->d->authority,
                             .trust = c->d->trust,
                             .reason = c->d->reason};
    lc_fact_ending *ending;
    lc_fact_change change;
    loci_status status;

    c->out->kind = LC_REVIEW_FACT_DOUBT;
    if (c->d->action == LC_REVIEW_CORRECT)
        return write_fact(c, fact, c->d->value, err);
    status = lc_fact_decide_retract(c->tx, &target, c->arena, &ending, err);
    if (status == LOCI_OK)
        status = c->d->action == LC_REVIEW_ACCEPT
                     ? lc_fact_commit_confirm(c->tx, ending, &change, err)
                     : lc_fact_commit_retract(c->tx, ending, &change, err);
    return status;
}

static loci_status decide_fact(deciding *c, loci_error *err)
{
    lc_fact fact;
    loci_status status = lc_fact_load(c->tx, c->d->view.persona_id, c->d->id, c->arena, &fact, err);

    if (status == LOCI_OK && !lc_fact_may_review(&fact, &c->d->view.access))
        status = LOCI_ENOTFOUND;
    if (status == LOCI_OK && fact.standing == LC_FACT_IS_CLAIM)
        return decide_claim(c, &fact, err);
    if (status == LOCI_OK && fact.standing == LC_FACT_VALID && fact.needs_review)
        return decide_doubt(c, &fact, err);
    return status == LOCI_OK || status == LOCI_ENOTFOUND
               ? lc_fail(err, LOCI_ENOTFOUND, "%.*s: no claim and no fact that needs review",
                         LC_STR_ARG(c->d->id))
               : status;
}

static loci_status decide_memory(deciding *c, loci_error *err)
{
    lc_memory claim, contested, result = {0};
    lc_verdict_on verdict;
    lc_memory_restatement what = {.old = &contested, .trust = c->d->trust};
    loci_status status = lc_memory_load(c->tx, c->d->view.persona_id, c->d->id, c->arena, &claim,
                                        err);

    c->out->kind = LC_REVIEW_MEMORY_CLAIM;
    if (status == LOCI_OK && claim.status != LC_MEMORY_CLAIMED)
        status = lc_fail(err, LOCI_ENOTFOUND, "%.*s is no claim", LC_STR_ARG(c->d->id));
    if (status == LOCI_OK)
        status = check_trusted(c, err);
    if (status == LOCI_OK)
        status = verdict_on_memory(c->arena, &claim, &verdict, err);
    if (status == LOCI_OK && c->d->action != LC_REVIEW_DISMISS) {
        what.text = c->d->action == LC_REVIEW_CORRECT ? c->d->text : claim.text;
        status = lc_memory_load(c->tx, c->d->view.persona_id, claim.contests, c->arena, &contested,
                                err);
        if (status == LOCI_OK && contested.status != LC_MEMORY_ACTIVE)
            status = lc_fail(err, LOCI_ECONFLICT,
                             "%.*s contradicts %.*s, which is not active any more; dismiss it, or "
                             "store it with memory.store",
                             LC_STR_ARG(claim.id), LC_STR_ARG(contested.id));
        if (status == LOCI_OK)
            status = lc_memory_restate(c->tx, &what, c->arena, &result, err);
        c->out->result_id = result.id;
    }
    if (status == LOCI_OK) {
        claim.status = LC_MEMORY_ARCHIVED;
        status = lc_memory_change(c->tx, &claim, err);
    }
    return status == LOCI_OK ? settle(c, verdict, err) : status;
}

static loci_status decide_merge(deciding *c, loci_error *err)
{
    loci_str second, first = lc_str_split(c->d->id, MERGE_GAP, &second);
    lc_entity entity, into;
    lc_verdict_on verdict;
    loci_status status = lc_entity_load(c->tx, c->d->view.persona_id, first, c->arena, &entity,
                                        err);

    c->out->kind = LC_REVIEW_MERGE;
    if (status == LOCI_OK)
        status = lc_entity_load(c->tx, c->d->view.persona_id, second, c->arena, &into, err);
    if (status == LOCI_OK)
        status = check_trusted(c, err);
    if (status == LOCI_OK && c->d->action == LC_REVIEW_CORRECT)
        status = lc_fail(err, LOCI_EINVAL,
                         "%.*s: a merge is accepted or dismissed; entity.merge takes other refs",
                         LC_STR_ARG(c->d->id));
    if (status == LOCI_OK && lc_str_eq(entity.id, into.id))
        status = lc_fail(err, LOCI_ENOTFOUND, "%.*s: the two were merged before",
                         LC_STR_ARG(c->d->id));
    if (status != LOCI_OK)
        return status;
    if (c->d->action == LC_REVIEW_ACCEPT) {
        c->out->result_id = into.id;
        return lc_entity_merge(c->tx, &entity, &into, err);
    }
    status = verdict_on_pair(c->arena, &entity, &into, &verdict, err);
    return status == LOCI_OK ? settle(c, verdict, err) : status;
}

loci_status lc_review_decide(lc_tx *tx, const lc_review_decision *decision, lc_arena *arena,
                             lc_review_result *out, loci_error *err)
{
    deciding c = {tx, decision, arena, out};
    loci_str id = decision->id;

    *out = (lc_review_result){.outcome = outcome_of(decision->action)};
    if (lc_id_is(id, "prop")) {
        loci_status status = check_trusted(&c, err);

        return status == LOCI_OK ? decide_proposal(&c, err) : status;
    }
    if (lc_id_is(id, "fact"))
        return decide_fact(&c, err);
    if (lc_id_is(id, "mem"))
        return decide_memory(&c, err);
    if (memchr(id.ptr, MERGE_GAP, id.len) != NULL)
        return decide_merge(&c, err);
    return lc_fail(err, LOCI_ENOTFOUND,
                   "%.*s: nothing with this id waits for review; review.list shows what does",
                   LC_STR_ARG(id));
}
