/* fact_decide.c - decides the effect of a write.
 *
 * The steps, each taken only if the one before it has not decided:
 *   0. facts that the writer may not see are treated as absent (fact_rights.c)
 *   1. the facts in `supersedes` and `depends_on` are looked up; all errors are found here
 *   2. the slot: its valid facts, or how the last one ended (taken over by another slot: conflict)
 *   3. the same value again, without `supersedes`: repeated
 *   4. too little authority or trust to end one of the facts: claimed
 *   5. older than the head, of equal rank and trust, without `supersedes`: late
 *   6. the fact is valid; facts it supersedes end, and facts derived from those need a review
 * Nothing here writes. Reads are bounded by the ceilings in fact.h.
 */
#include "fact/fact_row.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

/* One decision in progress. */
typedef struct deciding {
    lc_tx *tx;
    const lc_fact_input *input;
    lc_arena *arena;
    lc_fact_slot slot;
    lc_fact_writer writer;
    lc_fact_node *heads;   /* Facts of the slot that the writer sees. */
    lc_fact_node *above;   /* Facts that the writer is not cleared for. */
    lc_fact_node *below;   /* Facts beside one that the writer sees. */
    size_t row_count;      /* Of all three. */
    lc_fact last;          /* If the slot is empty: its last fact, or no id. */
    lc_fact hidden_last;   /* The same, if the writer may not see it. */
    const lc_fact *before; /* The version before the new one, or NULL. */
    lc_fact_node *targets; /* Facts that `supersedes` names, each once. */
    lc_fact_node **targets_end;
    lc_fact_plan *plan;
} deciding;

/* ---- Facts that the write names -------------------------------------------------------------- */

static loci_status add_target(deciding *d, const lc_fact *fact, loci_error *err)
{
    for (const lc_fact_node *each = d->targets; each != NULL; each = each->next) {
        if (lc_str_eq(each->fact.id, fact->id))
            return LOCI_OK;
    }
    return lc_fact_list_add(&d->targets_end, fact, d->arena, err);
}

/* The head of the slot that an id belonged to, or where that slot went. */
static loci_status fail_past(deciding *d, const lc_fact *past, loci_error *err)
{
    lc_fact_slot slot = lc_fact_slot_of(past);
    lc_fact_node *heads;
    lc_fact end = {0};
    loci_status status = lc_fact_load_slot(d->tx, &slot, d->arena, &heads, err);

    if (status == LOCI_OK && heads == NULL)
        status = lc_fact_find_end(d->tx, past, &d->writer.access, d->arena, &end, err);
    if (status != LOCI_OK)
        return status;
    return lc_fact_fail_head(
        err, past->id, heads != NULL ? lc_fact_first_readable(heads, &d->writer.access) : &end,
        &d->writer.access);
}

static loci_status resolve_id(deciding *d, loci_str id, loci_error *err)
{
    lc_fact fact;
    lc_fact_slot slot;
    loci_status status = lc_fact_find_id(d->tx, d->slot.persona_id, id, d->arena, &fact, err);

    if (status != LOCI_OK)
        return status;
    if (fact.id.ptr == NULL || !lc_fact_is_cleared(&fact, &d->writer.access))
        return lc_fact_fail_absent(err, id);
    slot = lc_fact_slot_of(&fact);
    if (!lc_str_eq(slot.scope, d->slot.scope) || !lc_str_eq(slot.scope_id, d->slot.scope_id) ||
        !lc_str_eq(slot.persona_id, d->slot.persona_id))
        return lc_fail(
            err, LOCI_ENOTFOUND,
            "there is no fact \"%.*s\" in this scope; only facts of the same scope are superseded",
            LC_STR_ARG(id));
    if (fact.standing != LC_FACT_VALID)
        return fail_past(d, &fact, err);
    return add_target(d, &fact, err);
}

/* The facts of a list that the writer sees, in a list of their own. */
static lc_fact_node *keep_readable(const deciding *d, lc_fact_node *list)
{
    lc_fact_node **link = &list;

    while (*link != NULL) {
        if (lc_fact_may_read(&(*link)->fact, &d->writer.access))
            link = &(*link)->next;
        else
            *link = (*link)->next;
    }
    return list;
}

static loci_status resolve_key(deciding *d, loci_str key, loci_error *err)
{
    lc_fact_slot slot = d->slot;
    lc_fact_node *heads;
    lc_fact last;
    loci_status status;

    if (lc_str_eq(key, d->slot.key))
        return lc_fail(err, LOCI_EINVAL, "supersedes: names the write's own key; leave it out");
    slot.key = key;
    status = lc_fact_load_slot(d->tx, &slot, d->arena, &heads, err);
    if (status != LOCI_OK)
        return status;
    heads = keep_readable(d, heads);
    if (heads != NULL && heads->next != NULL)
        return lc_fail(err, LOCI_EINVAL, "supersedes: %.*s holds several facts; name one by its id",
                       LC_STR_ARG(key));
    if (heads != NULL)
        return add_target(d, &heads->fact, err);
    status = lc_fact_find_last(d->tx, &slot, false, d->arena, &last, err);
    if (status != LOCI_OK)
        return status;
    if (last.id.ptr == NULL || last.standing != LC_FACT_IS_SUPERSEDED ||
        !lc_fact_may_read(&last, &d->writer.access))
        return lc_fact_fail_absent(err, key);
    return fail_past(d, &last, err);
}

static loci_status resolve_targets(deciding *d, loci_error *err)
{
    loci_status status = LOCI_OK;

    d->targets_end = &d->targets;
    for (size_t i = 0; status == LOCI_OK && i < d->input->supersedes.count; i++) {
        loci_str name = d->input->supersedes.items[i];

        status = lc_id_is(name, "fact") ? resolve_id(d, name, err) : resolve_key(d, name, err);
    }
    return status;
}

/* The valid fact that `name` leads to now, allowed to be read. */
static loci_status find_basis(deciding *d, loci_str name, lc_fact *out, loci_error *err)
{
    const lc_fact_view *view = &d->input->view;
    const lc_fact *head;
    lc_fact_node *heads;
    lc_fact_slot slot;
    loci_status status;

    if (!lc_id_is(name, "fact")) {
        status = lc_fact_find_head(d->tx, view, name, d->arena, out, err);
    } else {
        status = lc_fact_find_id(d->tx, d->slot.persona_id, name, d->arena, out, err);
        if (status == LOCI_OK && out->id.ptr != NULL && out->standing != LC_FACT_VALID) {
            slot = lc_fact_slot_of(out);
            status = lc_fact_load_slot(d->tx, &slot, d->arena, &heads, err);
            head = status == LOCI_OK ? lc_fact_first_readable(heads, &view->access) : NULL;
            *out = head != NULL && lc_fact_may_read(out, &view->access) ? *head : (lc_fact){0};
        }
    }
    if (status == LOCI_OK && (out->id.ptr == NULL || !lc_fact_may_read(out, &view->access)))
        status = lc_fail(err, LOCI_ENOTFOUND, "depends_on: there is no fact \"%.*s\"",
                         LC_STR_ARG(name));
    return status;
}

static loci_status resolve_depends(deciding *d, loci_error *err)
{
    size_t named = d->input->depends_on.count;
    loci_str *ids = lc_arena_zalloc_array(d->arena, named + 1, sizeof *ids);
    size_t count = 0;

    if (ids == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < named; i++) {
        loci_str name = d->input->depends_on.items[i];
        bool is_new = true;
        lc_fact basis;
        loci_status status;

        if (lc_str_eq(name, d->slot.key))
            return lc_fail(err, LOCI_EINVAL, "depends_on: a fact cannot depend on its own key");
        status = find_basis(d, name, &basis, err);
        if (status != LOCI_OK)
            return status;
        for (size_t k = 0; k < count; k++)
            is_new = is_new && !lc_str_eq(ids[k], basis.id);
        if (is_new)
            ids[count++] = basis.id;
    }
    d->plan->written.depends_on = (lc_str_list){ids, count};
    return LOCI_OK;
}

/* ---- The slot -------------------------------------------------------------------------------- */

/* A slot that another slot took over stays closed as long as the fact in that slot is valid. */
static loci_status check_open(deciding *d, loci_error *err)
{
    lc_fact end;
    loci_status status = lc_fact_find_end(d->tx, &d->last, &d->writer.access, d->arena, &end, err);

    if (status != LOCI_OK || end.id.ptr == NULL)
        return status;
    for (const lc_fact_node *each = d->targets; each != NULL; each = each->next) {
        if (lc_str_eq(each->fact.id, end.id))
            return lc_fail(err, LOCI_EINVAL,
                           "supersedes: a circle; %.*s took the place of this key's fact",
                           LC_STR_ARG(end.id));
    }
    return lc_fact_fail_head(err, d->last.id, &end, &d->writer.access);
}

static void sort_rows(deciding *d, lc_fact_node *rows)
{
    lc_fact_node **heads = &d->heads, **above = &d->above, **below = &d->below;

    for (; rows != NULL; rows = rows->next, d->row_count++) {
        lc_fact_node ***end = &heads;

        if (!lc_fact_is_cleared(&rows->fact, &d->writer.access))
            end = &above;
        else if (!lc_fact_may_read(&rows->fact, &d->writer.access))
            end = &below;
        **end = rows;
        *end = &rows->next;
    }
    *heads = *above = *below = NULL;
}

/* Finds the last fact of an empty slot that the writer may see. Facts beside hidden ones are looked
 * up only if the writer writes such a fact. */
static loci_status find_last(deciding *d, loci_error *err)
{
    loci_status status = lc_fact_find_last(d->tx, &d->slot, false, d->arena, &d->last, err);

    if (status == LOCI_OK && d->last.id.ptr != NULL &&
        !lc_fact_may_read(&d->last, &d->writer.access)) {
        d->hidden_last = d->last;
        d->last = (lc_fact){0};
    }
    if (status != LOCI_OK || (d->above == NULL && d->hidden_last.id.ptr == NULL))
        return status;
    status = lc_fact_find_last(d->tx, &d->slot, true, d->arena, &d->last, err);
    if (status == LOCI_OK && !lc_fact_may_read(&d->last, &d->writer.access))
        d->last = (lc_fact){0};
    return status;
}

static loci_status look_at_slot(deciding *d, loci_error *err)
{
    lc_fact_node *rows;
    loci_status status = lc_fact_load_slot(d->tx, &d->slot, d->arena, &rows, err);

    if (status != LOCI_OK)
        return status;
    sort_rows(d, rows);
    if (d->heads != NULL) {
        d->before = &d->heads->fact;
        return LOCI_OK;
    }
    status = find_last(d, err);
    if (status != LOCI_OK || d->last.id.ptr == NULL)
        return status;
    d->before = &d->last;
    return d->last.standing == LC_FACT_IS_SUPERSEDED ? check_open(d, err) : LOCI_OK;
}

/* ---- The new version ------------------------------------------------------------------------- */

static loci_str given_or(loci_str given, loci_str before)
{
    if (given.ptr == NULL)
        return before;
    return given.len > 0 ? given : LC_STR_NONE;
}

/* Restrictions stay with the slot unless a write says otherwise: a new value must not show what the
 * old one hid. */
static void inherit(const deciding *d, lc_fact *fact)
{
    static const lc_fact nothing;
    const lc_fact_input *input = d->input;
    const lc_fact *before = d->before != NULL ? d->before : &nothing;

    fact->is_multi = d->before != NULL ? before->is_multi : input->is_multi;
    fact->is_constraint = input->has_constraint ? input->is_constraint : before->is_constraint;
    fact->constraint_type = given_or(input->constraint_type, before->constraint_type);
    if (!fact->is_constraint)
        fact->constraint_type = LC_STR_NONE;
    fact->required_permission = given_or(input->required_permission, before->required_permission);
    fact->min_read = input->min_read.rank > 0 ? input->min_read : before->min_read;
    fact->min_write = input->min_write.rank > 0 ? input->min_write : before->min_write;
    if (input->min_write.rank > input->authority.rank)
        fact->min_write = input->authority;
    if (fact->is_constraint && fact->min_write.rank == 0)
        fact->min_write = (lc_authority){LC_STR("manager"), LC_RANK_MANAGER};
}

/* Hides the new fact from the readers of facts that its writer does not see, unless those facts are
 * hidden from its own readers, and from the readers that the version before it was hidden from.
 * Facts of a slot that holds several do not exclude each other. */
static loci_status write_beside(const deciding *d, lc_fact *fact, loci_error *err)
{
    loci_status status = LOCI_OK;

    if (d->heads != NULL && fact->is_multi)
        return LOCI_OK;
    if (d->before != NULL)
        fact->hidden_from = d->before->hidden_from;
    for (const lc_fact_node *each = d->above; status == LOCI_OK && each != NULL;
         each = each->next) {
        if (!lc_fact_is_hidden_from(&each->fact, fact))
            status = lc_fact_hide(fact, &each->fact, d->arena, err);
    }
    if (status == LOCI_OK && d->hidden_last.id.ptr != NULL &&
        !lc_fact_is_cleared(&d->hidden_last, &d->writer.access))
        status = lc_fact_hide(fact, &d->hidden_last, d->arena, err);
    return status;
}

/* A write without observed_at was observed when it is recorded, not at the time of this machine's
 * clock: with a slow clock, it would be older than the fact it should replace. */
static loci_status draft(deciding *d, loci_error *err)
{
    const lc_fact_input *input = d->input;
    lc_fact *fact = &d->plan->written.fact;
    int64_t observed_at = input->observed_at;

    if (observed_at == LOCI_AT_CLOCK) {
        loci_status status = lc_tx_recorded_at(d->tx, &observed_at, err);

        if (status != LOCI_OK)
            return status;
    }
    *fact = (lc_fact){
        .key = d->slot.key,
        .value = input->value,
        .source = input->source,
        .authority = input->authority,
        .trust = input->trust,
        .scope = d->slot.scope,
        .scope_id = d->slot.scope_id,
        .persona_id = d->slot.persona_id,
        .observed_at = observed_at,
        .valid_until = input->valid_until,
        .ended_at = LC_FACT_NO_TIME,
    };
    inherit(d, fact);
    fact->memory_type = input->memory_type.len > 0
                            ? input->memory_type
                            : lc_fact_memory_type(input->source, fact->is_constraint);
    return write_beside(d, fact, err);
}

/* ---- Outcomes -------------------------------------------------------------------------------- */

static const lc_sql last_claim_sql = {
    "select {row} from fact_past where tenant_id = $1 and user_id = $2 and standing = 'claim'"
    " order by seq desc limit 1",
    "tt", "", &lc_fact_row};

static bool is_same_claim(const lc_fact *a, const lc_fact *b)
{
    return lc_str_eq(a->key, b->key) && lc_str_eq(a->value, b->value) &&
           lc_str_eq(a->scope, b->scope) && lc_str_eq(a->scope_id, b->scope_id) &&
           lc_str_eq(a->persona_id, b->persona_id) && lc_str_eq(a->source, b->source) &&
           lc_str_eq(a->trust, b->trust) && lc_str_eq(a->authority.name, b->authority.name) &&
           lc_str_eq(a->contests, b->contests) && lc_str_eq(a->hidden_from, b->hidden_from) &&
           a->min_read.rank == b->min_read.rank &&
           lc_str_eq(a->required_permission, b->required_permission);
}

/* A claim that is the user's last one, said again, is that one. */
static loci_status claim(deciding *d, const lc_fact *contested, loci_error *err)
{
    lc_fact_plan *plan = d->plan;
    lc_fact *fact = &plan->written.fact;
    loci_status status = lc_fact_find_row(
        d->tx,
        &(lc_fact_query){&last_claim_sql, (lc_arg[]){LC_T(d->tx->tenant_id), LC_T(d->tx->user_id)},
                         1},
        d->arena, &plan->same, err);

    plan->outcome = LC_FACT_CLAIMED;
    fact->standing = LC_FACT_IS_CLAIM;
    if (contested != NULL)
        fact->contests = contested->id;
    plan->written.depends_on = (lc_str_list){0};
    plan->is_written = plan->same.id.ptr == NULL || !is_same_claim(&plan->same, fact);
    return status;
}

static const lc_fact *find_same(const deciding *d)
{
    for (const lc_fact_node *each = d->heads; each != NULL; each = each->next) {
        if (lc_str_eq(each->fact.value, d->input->value) &&
            !lc_fact_is_expired(&each->fact, d->tx->now_us))
            return &each->fact;
    }
    return NULL;
}

/* The first fact that would end and may not be ended by this writer; `*is_refused` may also be set
 * without one: the slot itself asks for more. */
static const lc_fact *find_refusal(const deciding *d, bool *is_refused)
{
    const lc_fact *fact = &d->plan->written.fact;
    bool adds = fact->is_multi;

    *is_refused = true;
    for (const lc_fact_node *each = d->targets; each != NULL; each = each->next) {
        if (!lc_fact_may_end(&d->writer, &each->fact))
            return &each->fact;
    }
    if (d->heads != NULL && !adds && !lc_fact_may_end(&d->writer, &d->heads->fact))
        return &d->heads->fact;
    if (d->before != NULL && d->writer.authority.rank < d->before->min_write.rank)
        return d->heads != NULL ? &d->heads->fact : NULL;
    if (fact->is_constraint &&
        (d->writer.authority.rank < LC_RANK_MANAGER || !lc_trust_is_trusted(d->writer.trust)))
        return d->heads != NULL ? &d->heads->fact : NULL;
    *is_refused = false;
    return NULL;
}

static bool is_late(const deciding *d)
{
    const lc_fact *fact = &d->plan->written.fact;
    const lc_fact *head = d->heads != NULL ? &d->heads->fact : NULL;

    return head != NULL && !fact->is_multi && d->input->supersedes.count == 0 &&
           fact->observed_at < head->observed_at && fact->authority.rank == head->authority.rank &&
           lc_trust_is_trusted(fact->trust) == lc_trust_is_trusted(head->trust);
}

/* In a scope of its own a fact hides the global one and ends nothing. A supposition may hide any
 * fact. A fact of a task or session must have the rights and the trust that a write to the global
 * slot needs, and does not hide facts that its writer does not see.
 */
static loci_status shadow(deciding *d, loci_error *err)
{
    lc_fact_view outer = {.persona_id = d->slot.persona_id, .access = d->writer.access};
    lc_fact_writer writer = d->writer;
    bool is_real = lc_str_is(d->slot.scope, "task") || lc_str_is(d->slot.scope, "session");
    lc_fact hidden;
    loci_status status = lc_fact_find_head(d->tx, &outer, d->slot.key, d->arena, &hidden, err);

    if (status != LOCI_OK || hidden.id.ptr == NULL)
        return status;
    if (!lc_fact_may_read(&hidden, &d->writer.access))
        return is_real ? lc_fact_hide(&d->plan->written.fact, &hidden, d->arena, err) : LOCI_OK;
    writer.authority.rank = hidden.authority.rank; /* Rank alone does not forbid hiding. */
    if (is_real &&
        (d->writer.authority.rank < hidden.min_write.rank || !lc_fact_may_end(&writer, &hidden)))
        return claim(d, &hidden, err);
    d->plan->outcome = LC_FACT_SHADOWED;
    return is_real ? lc_fact_hide_like(&d->plan->written.fact, &hidden, d->arena, err) : LOCI_OK;
}

/* Makes the new fact valid and lists the facts that end with it. */
static loci_status stand(deciding *d, loci_error *err)
{
    lc_fact_plan *plan = d->plan;
    lc_fact_written *written = &plan->written;
    bool takes_over = d->heads != NULL && !written->fact.is_multi;
    size_t others = 0;
    lc_fact_doubts doubts;
    lc_fact_ended ended;
    loci_status status;

    status = lc_fact_ended_init(&ended, d->input->supersedes.count + 1 + d->row_count, d->arena,
                                err);
    if (status != LOCI_OK)
        return status;
    if (takes_over) {
        written->replaces = d->heads->fact.id;
        written->replaced = &d->heads->fact;
        lc_fact_ended_add(&ended, &d->heads->fact);
    }
    for (const lc_fact_node *each = d->targets; each != NULL; each = each->next) {
        if (takes_over && lc_str_eq(each->fact.id, written->replaces))
            continue;
        lc_fact_ended_add(&ended, &each->fact);
        others++;
    }
    if (ended.count > 0) {
        plan->outcome = LC_FACT_SUPERSEDED;
        plan->first = ended.ids[0];
    }
    for (const lc_fact_node *each = d->below; each != NULL; each = each->next) {
        if (written->fact.is_multi || lc_fact_is_hidden_from(&each->fact, &written->fact))
            continue;
        lc_fact_ended_add(&ended, &each->fact);
        others++;
    }
    written->supersedes = (lc_str_list){ended.ids + (takes_over ? 1 : 0), others};
    written->unlink = (lc_str_list){ended.unlink, ended.unlink_count};
    status = lc_fact_check_dependents(d->tx, written->depends_on,
                                      (lc_str_list){ended.ids, ended.count}, d->arena, err);
    if (status != LOCI_OK)
        return status;
    status = lc_fact_load_dependents(d->tx, (lc_str_list){ended.roots, ended.root_count},
                                     &d->input->view, d->arena, &doubts, err);
    written->review = doubts.ids;
    plan->review_count = doubts.seen_count;
    return status;
}

static loci_status check_room(const deciding *d, loci_error *err)
{
    if (d->plan->written.fact.is_multi && d->row_count >= LC_FACT_MULTI_MAX &&
        d->input->supersedes.count == 0)
        return lc_fail(err, LOCI_ELIMIT, "%.*s holds %d facts; a key holds no more",
                       LC_STR_ARG(d->slot.key), LC_FACT_MULTI_MAX);
    return LOCI_OK;
}

static loci_status judge(deciding *d, loci_error *err)
{
    lc_fact_plan *plan = d->plan;
    bool is_explicit = d->input->supersedes.count > 0;
    const lc_fact *same = is_explicit ? NULL : find_same(d);
    const lc_fact *contested;
    bool is_refused;
    loci_status status;

    if (same != NULL) {
        plan->outcome = LC_FACT_REPEATED;
        plan->same = *same;
        plan->is_written = false;
        return LOCI_OK;
    }
    contested = find_refusal(d, &is_refused);
    if (!is_refused && d->input->yields && d->heads != NULL) {
        contested = &d->heads->fact;
        is_refused = true;
    }
    if (is_refused)
        return claim(d, contested, err);
    if (is_late(d)) {
        plan->outcome = LC_FACT_LATE;
        plan->written.fact.standing = LC_FACT_IS_LATE;
        plan->written.fact.superseded_by = d->heads->fact.id;
        return LOCI_OK;
    }
    status = check_room(d, err);
    if (status == LOCI_OK && d->heads == NULL && !lc_str_is(d->slot.scope, "global"))
        status = shadow(d, err);
    if (status != LOCI_OK || plan->outcome == LC_FACT_CLAIMED)
        return status;
    return stand(d, err);
}

loci_status lc_fact_decide(lc_tx *tx, const lc_fact_input *input, lc_arena *arena,
                           lc_fact_plan **out, loci_error *err)
{
    const lc_fact_view *view = &input->view;
    deciding d = {
        .tx = tx,
        .input = input,
        .arena = arena,
        .slot = {.scope = view->scope.len > 0 ? view->scope : LC_STR("global"),
                 .scope_id = lc_fact_or_empty(view->scope_id),
                 .key = input->key,
                 .persona_id = lc_fact_or_empty(view->persona_id)},
        .writer = {input->authority, input->trust, view->access, tx->now_us},
        .plan = lc_arena_zalloc_array(arena, 1, sizeof **out),
    };
    loci_status status;

    if (d.plan == NULL)
        return lc_fail_memory(err);
    d.plan->is_written = true;
    d.plan->outcome = LC_FACT_CREATED;
    status = resolve_targets(&d, err);
    if (status == LOCI_OK && input->depends_on.count > 0)
        status = resolve_depends(&d, err);
    if (status == LOCI_OK)
        status = look_at_slot(&d, err);
    if (status == LOCI_OK)
        status = draft(&d, err);
    if (status != LOCI_OK)
        return status;
    status = judge(&d, err);
    *out = d.plan;
    return status;
}
