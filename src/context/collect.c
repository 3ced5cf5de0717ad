/* collect.c - the sections of a context, and the candidates that each of them has.
 *
 * Limits bound the number of rows that are read, however many the user has. Rows are only lent
 * during a walk, and a walk allows no queries, so rows are copied into the arena first and become
 * candidates afterwards.
 */
#include "context/candidate.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/time.h"
#include "pack/show.h"
#include "session/environment.h"
#include "session/working.h"

#define FACTS_MAX 150      /* Beside constraints. */
#define IRRELEVANT_PART 10 /* Part of the budget for facts that the query is not about. */
/* A fact has nothing to do with the query if its score is below this, or below this share of the
 * best. A key and a value are short texts: those that answer a question have a cosine from 0.33 on,
 * others up to 0.3. */
#define FACT_FLOOR 0.13F
#define FACT_FLOOR_SHARE 0.5F
#define LIST_ROOM 64
/* A finer time would help no reader, and would make a provider's cache of the prompt useless. */
#define MINUTE_US INT64_C(60000000)

/* ---- Helpers --------------------------------------------------------------------------------- */

/* An array in an arena that doubles; the old one is left behind. */
typedef struct list {
    lc_arena *arena;
    void *items;
    size_t count, room, each_bytes;
} list;

static void *list_add(list *l)
{
    if (l->count == l->room) {
        size_t room = l->room == 0 ? LIST_ROOM : 2 * l->room;
        void *items = lc_arena_zalloc_array(l->arena, room, l->each_bytes);

        if (items == NULL)
            return NULL;
        if (l->count > 0)
            memcpy(items, l->items, l->count * l->each_bytes);
        l->items = items;
        l->room = room;
    }
    return (char *)l->items + l->each_bytes * l->count++;
}

lc_candidate *lc_context_add(lc_context *context, lc_section section)
{
    list l = {.arena = context->arena,
              .items = context->candidates,
              .count = context->count,
              .room = context->room,
              .each_bytes = sizeof(lc_candidate)};
    lc_candidate *candidate = list_add(&l);

    if (candidate == NULL)
        return NULL;
    context->candidates = l.items;
    context->count = l.count;
    context->room = l.room;
    *candidate = (lc_candidate){
        .item = {.section = section}, .order = (int64_t)l.count, .successor = LC_SAID_NONE};
    return candidate;
}

loci_str lc_context_join(lc_arena *arena, const loci_str *parts, size_t count)
{
    size_t bytes = 0;
    char *text;

    for (size_t i = 0; i < count; i++)
        bytes += parts[i].len;
    text = lc_arena_alloc(arena, bytes + 1);
    if (text == NULL)
        return LC_STR_NONE;
    bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(text + bytes, parts[i].ptr, parts[i].len);
        bytes += parts[i].len;
    }
    text[bytes] = '\0';
    return (loci_str){text, bytes};
}

/* Moves a text of a row into the arena; false when out of memory. */
static bool keep(lc_arena *arena, loci_str *text)
{
    if (text->ptr == NULL)
        return true;
    *text = lc_arena_copy(arena, *text);
    return text->ptr != NULL;
}

/* ---- Identity -------------------------------------------------------------------------------- */

static loci_status collect_identity(lc_context *context, loci_error *err)
{
    const lc_identity *who = context->input->identity;
    loci_str comma = LC_STR(", "), none = LC_STR("");
    loci_str parts[] = {LC_STR("The user is "),
                        who->user_name,
                        who->authority.len > 0 ? comma : none,
                        who->authority,
                        who->department.len > 0 ? comma : none,
                        who->department,
                        who->organization.len > 0 ? comma : none,
                        who->organization,
                        LC_STR(".")};
    lc_candidate *candidate;

    if (who->user_name.len == 0)
        return LOCI_OK;
    candidate = lc_context_add(context, LC_SECTION_IDENTITY);
    if (candidate == NULL)
        return lc_fail_memory(err);
    candidate->item.is_mandatory = true;
    candidate->text = lc_context_join(context->arena, parts, sizeof parts / sizeof *parts);
    return candidate->text.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* ---- Facts and constraints ------------------------------------------------------------------- */

static loci_status add_fact(lc_context *context, const lc_chosen_fact *from, loci_error *err)
{
    const lc_fact *fact = &from->fact;
    lc_candidate *to = lc_context_add(context, fact->is_constraint ? LC_SECTION_CONSTRAINTS
                                                                   : LC_SECTION_FACTS);
    loci_str lead, tail;
    loci_status status = to != NULL ? lc_fact_line_parts(context->arena, fact, &lead, &tail, err)
                                    : lc_fail_memory(err);

    if (status != LOCI_OK)
        return status;
    to->item.id = fact->id;
    to->item.is_mandatory = fact->is_constraint;
    to->item.known_tokens = fact->needs_review ? 0 : from->line_tokens;
    to->lead = lead;
    to->text = from->text;
    to->tail = tail;
    if (fact->needs_review)
        to->tail = lc_context_join(context->arena, (loci_str[]){tail, LC_STR(" (unverified)")}, 2);
    to->trust = fact->trust;
    to->is_judged = true;
    to->kind = LC_SAID_FACT;
    to->seq = fact->seq;
    to->at_us = fact->observed_at;
    to->key = from->score > 0 ? fact->key : LC_STR_NONE;
    to->score = from->score;
    to->parts = from->fused;
    to->order = -fact->seq; /* Of equal scores the newest. */
    return fact->needs_review && to->tail.ptr == NULL ? lc_fail_memory(err) : LOCI_OK;
}

static int compare_newest(const void *a, const void *b)
{
    const lc_candidate *x = *(lc_candidate *const *)a, *y = *(lc_candidate *const *)b;

    return x->seq > y->seq ? -1 : x->seq < y->seq;
}

/* Facts that have nothing to do with the query are left out, but for the newest, which come last.
 */
static loci_status drop_irrelevant(lc_context *context, loci_error *err)
{
    int64_t left = context->input->budget / IRRELEVANT_PART;
    lc_candidate **facts = lc_arena_alloc(context->arena, (context->count + 1) * sizeof *facts);
    size_t count = 0;
    float best = 0;

    if (facts == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < context->count; i++)
        if (context->candidates[i].item.section == LC_SECTION_FACTS) {
            facts[count++] = &context->candidates[i];
            best = context->candidates[i].score > best ? context->candidates[i].score : best;
        }
    qsort(facts, count, sizeof *facts, compare_newest);
    for (size_t i = 0; i < count; i++) {
        if (facts[i]->score >= FACT_FLOOR && facts[i]->score >= FACT_FLOOR_SHARE * best)
            continue;
        left -= facts[i]->item.known_tokens;
        facts[i]->is_last = true;
        facts[i]->key = LC_STR_NONE; /* No message is looked for that speaks of it. */
        if (left < 0)
            facts[i]->excluded = "irrelevant";
    }
    return LOCI_OK;
}

static loci_status collect_facts(lc_context *context, loci_error *err)
{
    const lc_context_input *input = context->input;
    lc_fact_request request = {.view = input->view,
                               .terms = input->terms,
                               .vector = input->vector,
                               .limit = FACTS_MAX,
                               .counter = input->counter,
                               .encoding = input->encoding};
    lc_fact_choice *chosen = lc_arena_alloc(context->arena, sizeof *chosen);
    loci_status status = chosen != NULL
                             ? lc_fact_choose(context->tx, &request, context->arena, chosen, err)
                             : lc_fail_memory(err);

    if (status != LOCI_OK)
        return status;
    context->is_complete &= chosen->is_complete;
    for (size_t i = 0; i < chosen->count && status == LOCI_OK; i++) {
        if (!input->relevant_only ||
            lc_context_is_relevant(context, &chosen->facts[i].fused, false))
            status = add_fact(context, &chosen->facts[i], err);
        else
            lc_context_count(context, "irrelevant", 1);
    }
    if (chosen->has_meaning && !input->relevant_only && status == LOCI_OK)
        status = drop_irrelevant(context, err);
    for (size_t i = 0; i < chosen->left_out_count && status == LOCI_OK; i++) {
        lc_candidate *to = lc_context_add(context, LC_SECTION_FACTS);

        if (to == NULL)
            return lc_fail_memory(err);
        to->item.id = chosen->left_out[i].id;
        to->left_out = chosen->left_out[i].reason;
    }
    lc_context_count(context, "expired", chosen->expired);
    lc_context_count(context, "restricted", chosen->restricted);
    lc_context_count(context, "scope", chosen->scoped);
    lc_context_count(context, "irrelevant", chosen->irrelevant);
    lc_context_count(context, "superseded", chosen->past.superseded);
    lc_context_count(context, "retracted", chosen->past.retracted);
    lc_context_count(context, "claim", chosen->past.claims);
    return status;
}

/* ---- Working set ----------------------------------------------------------------------------- */

/* "key: value" of a note or a signal, shown as it is. */
static loci_status add_keyed(lc_context *context, lc_section section, loci_str key, loci_str value,
                             loci_error *err)
{
    lc_candidate *to = lc_context_add(context, section);

    if (to == NULL)
        return lc_fail_memory(err);
    to->item.id = key;
    to->is_judged = true;
    to->kind = section == LC_SECTION_WORKING ? LC_SAID_NOTE : LC_SAID_SIGNAL;
    to->lead = lc_context_join(context->arena, (loci_str[]){key, LC_STR(": ")}, 2);
    if (to->lead.ptr == NULL)
        return lc_fail_memory(err);
    return lc_show_value(context->arena, value, &to->text, err);
}

static loci_status keep_item(void *ctx, const lc_working_item *item, loci_error *err)
{
    list *l = ctx;
    lc_working_item *to = list_add(l);

    if (to == NULL)
        return lc_fail_memory(err);
    *to = *item;
    return keep(l->arena, &to->key) && keep(l->arena, &to->value) ? LOCI_OK : lc_fail_memory(err);
}

static loci_status collect_working(lc_context *context, loci_error *err)
{
    list items = {.arena = context->arena, .each_bytes = sizeof(lc_working_item)};
    loci_status status = LOCI_OK;

    if (context->input->working_id.len > 0)
        status = lc_working_each(context->tx, context->input->working_id, keep_item, &items, err);
    for (size_t i = 0; i < items.count && status == LOCI_OK; i++) {
        const lc_working_item *item = (const lc_working_item *)items.items + i;

        status = add_keyed(context, LC_SECTION_WORKING, item->key, item->value, err);
    }
    return status;
}

/* ---- Environment ----------------------------------------------------------------------------- */

static loci_status keep_signal(void *ctx, const lc_signal *signal, loci_error *err)
{
    list *l = ctx;
    lc_signal *to = l->items;

    /* A persona's own signal comes first and hides the shared signal of the same key. */
    if (l->count > 0 && lc_str_eq(to[l->count - 1].key, signal->key))
        return LOCI_OK;
    to = list_add(l);
    if (to == NULL)
        return lc_fail_memory(err);
    *to = *signal;
    return keep(l->arena, &to->key) && keep(l->arena, &to->value) && keep(l->arena, &to->former)
               ? LOCI_OK
               : lc_fail_memory(err);
}

/* The signal's own value, and the last ones before it, which messages may repeat. */
static loci_status add_signal(lc_context *context, const lc_signal *signal, loci_error *err)
{
    const lc_json *former = NULL;
    loci_status status = lc_json_parse(context->arena, signal->former, 0, &former, err);
    size_t index = context->count;

    if (status == LOCI_OK)
        status = add_keyed(context, LC_SECTION_ENVIRONMENT, signal->key, signal->value, err);
    if (status != LOCI_OK)
        return status;
    /* Signals have no seq. They only replace each other, so their order among the candidates does
     * not matter. */
    context->candidates[index].seq = signal->recorded_at;
    /* The current time has a line of its own. */
    if (lc_str_is(signal->key, "current_time"))
        context->candidates[index].is_evidence = true;
    for (const lc_json *item = lc_json_first(former);
         item != NULL && context->count - index <= LC_SIGNAL_FORMER_MAX && status == LOCI_OK;
         item = lc_json_next(item)) {
        lc_candidate *to = lc_context_add(context, LC_SECTION_ENVIRONMENT);

        if (to == NULL)
            return lc_fail_memory(err);
        to->is_judged = to->is_evidence = true;
        to->key = signal->key;
        to->kind = LC_SAID_FORMER;
        to->seq = signal->recorded_at;
        to->successor = index;
        status = lc_show_json(context->arena, item, &to->text, err);
    }
    return status;
}

static loci_status add_time(lc_context *context, const list *signals, loci_error *err)
{
    char clock[LC_TIME_BYTES_MAX];
    loci_str now = {clock, lc_time_format(context->tx->now_us / MINUTE_US * MINUTE_US, clock)};
    lc_candidate *to = lc_context_add(context, LC_SECTION_ENVIRONMENT);
    loci_status status = to != NULL ? LOCI_OK : lc_fail_memory(err);

    for (size_t i = 0; i < signals->count && status == LOCI_OK; i++) {
        const lc_signal *signal = (const lc_signal *)signals->items + i;

        if (lc_str_is(signal->key, "current_time"))
            status = lc_show_value(context->arena, signal->value, &now, err);
    }
    if (status != LOCI_OK)
        return status;
    to->item.is_mandatory = true;
    to->text = lc_context_join(context->arena, (loci_str[]){LC_STR("Current time: "), now}, 2);
    return to->text.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status collect_environment(lc_context *context, loci_error *err)
{
    list signals = {.arena = context->arena, .each_bytes = sizeof(lc_signal)};
    loci_status status = lc_environment_each(context->tx, context->input->view.persona_id,
                                             keep_signal, &signals, err);

    if (status == LOCI_OK)
        status = add_time(context, &signals, err);
    for (size_t i = 0; i < signals.count && status == LOCI_OK; i++)
        status = add_signal(context, (const lc_signal *)signals.items + i, err);
    return status;
}

const lc_context_section lc_context_sections[LC_SECTION_COUNT] = {
    [LC_SECTION_IDENTITY] = {{"identity", NULL, NULL, 1000}, 0, collect_identity},
    [LC_SECTION_CONSTRAINTS] = {{"constraints", "Rules that apply:", LC_FACT_BULLET, 1000},
                                1,
                                NULL}, /* With the facts. */
    [LC_SECTION_FOUNDATION] = {{"foundation", "Always remember:", "- ", 200},
                               1,
                               lc_context_collect_foundation},
    [LC_SECTION_FACTS] = {{"facts", "What is known:", LC_FACT_BULLET, 700}, 2, collect_facts},
    [LC_SECTION_CARDS] = {{"cards", "Who and what:", "", 200}, 3, NULL}, /* With the memories. */
    [LC_SECTION_MEMORIES] = {{"memories", "What is remembered:", "- ", 300},
                             3,
                             lc_context_collect_memories},
    [LC_SECTION_TODOS] = {{"todos", "Open todos:", "- ", 100}, 4, lc_context_collect_todos},
    /* After the messages, which are nearer to the query than a summary of them. */
    [LC_SECTION_SUMMARIES] = {{"summaries", "In short:", "- ", 300},
                              6,
                              lc_context_collect_summaries},
    [LC_SECTION_CONVERSATION] = {{"conversation", "What was said:", "- ", 1000},
                                 5,
                                 lc_context_collect_conversation},
    [LC_SECTION_FRAME] = {{"frame", NULL, NULL, 500}, 1, lc_context_collect_frame},
    [LC_SECTION_MAP] = {{"map", "In the window:", "", 250}, 4, lc_context_collect_map},
    [LC_SECTION_WORKING] = {{"working", "Notes of this session:", "- ", 1000}, 4, collect_working},
    [LC_SECTION_ENVIRONMENT] = {{"environment", "Right now:", "- ", 1000}, 3, collect_environment},
};
