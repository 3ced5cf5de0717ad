/* collect.c - the sections of a context, and the candidates that each of them has.
 *
 * What is read is bounded by limits, whatever the user has. Rows are only lent during a walk, and a
 * walk allows no queries, so rows are copied into the arena first and become candidates afterwards.
 */
#include "context/candidate.h"

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/time.h"
#include "pack/show.h"
#include "session/environment.h"
#include "session/working.h"

#define MESSAGES_MAX 200
#define ENDED_MAX 200
#define FACTS_MAX 150 /* Beside constraints. */
#define LIST_ROOM 64
/* More would not help anybody, and would make a provider's cache of the prompt useless. */
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
    to->is_judged = true;
    to->kind = LC_SAID_FACT;
    to->seq = fact->seq;
    to->rank = fact->authority.rank;
    to->score = from->score;
    to->order = -fact->seq; /* Of equal scores the newest. */
    return fact->needs_review && to->tail.ptr == NULL ? lc_fail_memory(err) : LOCI_OK;
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
    for (size_t i = 0; i < chosen->count && status == LOCI_OK; i++)
        status = add_fact(context, &chosen->facts[i], err);
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

/* ---- Conversation ---------------------------------------------------------------------------- */

bool lc_message_is_model(const lc_message *message)
{
    return lc_str_is(message->role, "assistant") || lc_str_is(message->role, "tool");
}

static loci_status keep_message(void *ctx, const lc_message *message, loci_error *err)
{
    list *l = ctx;
    lc_message *to = list_add(l);

    if (to == NULL)
        return lc_fail_memory(err);
    *to = *message;
    return keep(l->arena, &to->id) && keep(l->arena, &to->text) && keep(l->arena, &to->role) &&
                   keep(l->arena, &to->speaker)
               ? LOCI_OK
               : lc_fail_memory(err);
}

loci_status lc_context_read_messages(lc_tx *tx, const lc_message_page *page, lc_arena *arena,
                                     lc_message_list *out, loci_error *err)
{
    list l = {.arena = arena, .each_bytes = sizeof(lc_message)};
    loci_status status = lc_session_each_last_message(tx, page, keep_message, &l, err);

    *out = (lc_message_list){l.items, l.count};
    return status;
}

static loci_status add_message(lc_context *context, const lc_message *message, loci_error *err)
{
    loci_str who = message->speaker.len > 0 ? message->speaker : message->role;
    lc_candidate *to = lc_context_add(context, LC_SECTION_CONVERSATION);

    if (to == NULL)
        return lc_fail_memory(err);
    to->item.id = message->id;
    to->item.place = message->seq; /* Chosen from the newest, shown from the oldest. */
    to->text = message->text;
    to->is_judged = true;
    to->kind = LC_SAID_MESSAGE;
    to->seq = message->seq;
    to->is_model = lc_message_is_model(message);
    if (lc_str_is(who, "user"))
        return LOCI_OK;
    to->lead = lc_context_join(context->arena, (loci_str[]){who, LC_STR(": ")}, 2);
    return to->lead.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status keep_ended(void *ctx, const lc_fact *fact, loci_error *err)
{
    list *l = ctx;
    lc_fact *to = list_add(l);

    if (to == NULL)
        return lc_fail_memory(err);
    *to = (lc_fact){.id = fact->id,
                    .value = fact->value,
                    .seq = fact->seq,
                    /* A claim is answered by the fact that it contests. */
                    .superseded_by = fact->standing == LC_FACT_IS_CLAIM ? fact->contests
                                                                        : fact->superseded_by};
    return keep(l->arena, &to->id) && keep(l->arena, &to->value) &&
                   keep(l->arena, &to->superseded_by)
               ? LOCI_OK
               : lc_fail_memory(err);
}

/* Facts that ended since the oldest of the messages: these may repeat them. */
static loci_status add_ended(lc_context *context, int64_t after_seq, loci_error *err)
{
    list ended = {.arena = context->arena, .each_bytes = sizeof(lc_fact)};
    lc_fact_recent recent = {.persona_id = context->input->view.persona_id,
                             .after_seq = after_seq,
                             .limit = ENDED_MAX,
                             .has_claims = true};
    loci_status status = lc_fact_each_ended(context->tx, &recent, keep_ended, &ended, err);

    for (size_t i = 0; i < ended.count && status == LOCI_OK; i++) {
        const lc_fact *fact = (const lc_fact *)ended.items + i;
        lc_candidate *to = lc_context_add(context, LC_SECTION_FACTS);

        if (to == NULL)
            return lc_fail_memory(err);
        to->item.id = fact->id;
        to->is_judged = to->is_evidence = true;
        to->kind = LC_SAID_FORMER;
        to->seq = fact->seq;
        to->successor_id = fact->superseded_by;
        status = lc_show_value(context->arena, fact->value, &to->text, err);
    }
    return status;
}

static loci_status collect_conversation(lc_context *context, loci_error *err)
{
    lc_message_page page = {.session_id = context->input->conversation_id,
                            .persona_id = context->input->view.persona_id,
                            .limit = MESSAGES_MAX};
    lc_message_list messages;
    loci_status status = lc_context_read_messages(context->tx, &page, context->arena, &messages,
                                                  err);

    for (size_t i = 0; i < messages.count && status == LOCI_OK; i++)
        status = add_message(context, &messages.items[i], err);
    if (status == LOCI_OK && messages.count > 0)
        status = add_ended(context, messages.items[messages.count - 1].seq - 1, err);
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
    to->is_judged = to->is_whole = true;
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

    /* A persona's own comes first and hides everybody's of its key. */
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
    /* Signals have no seq. They only replace each other, so where they stand does not matter. */
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
    [LC_SECTION_CONVERSATION] = {{"conversation", "What was said:", "- ", 1000},
                                 5,
                                 collect_conversation},
    [LC_SECTION_WORKING] = {{"working", "Notes of this session:", "- ", 1000}, 4, collect_working},
    [LC_SECTION_ENVIRONMENT] = {{"environment", "Right now:", "- ", 1000}, 3, collect_environment},
};
