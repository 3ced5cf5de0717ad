/* source.c - reading what a context is made from. */
#include "context/source.h"

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "context/show.h"

#define FIRST_ROOM 64

/* An array in an arena that doubles; the old one is left behind. */
typedef struct list {
    lc_arena *arena;
    void *items;
    size_t count, room, each_bytes;
} list;

static void *list_add(list *l)
{
    if (l->count == l->room) {
        size_t room = l->room == 0 ? FIRST_ROOM : 2 * l->room;
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

/* Texts of a row move into the arena; false when out of memory. */
static bool keep(lc_arena *arena, loci_str *text)
{
    if (text->ptr == NULL)
        return true;
    *text = lc_arena_copy(arena, *text);
    return text->ptr != NULL;
}

static loci_status add_fact(void *ctx, const lc_fact *fact, loci_error *err)
{
    list *l = ctx;
    lc_source_fact *to = list_add(l);

    if (to == NULL)
        return lc_fail_memory(err);
    to->fact = *fact;
    if (fact->standing == LC_FACT_IS_CLAIM)
        to->fact.superseded_by = fact->contests; /* That holds in its place. */
    if (!keep(l->arena, &to->fact.id) || !keep(l->arena, &to->fact.key) ||
        !keep(l->arena, &to->fact.value) || !keep(l->arena, &to->fact.source) ||
        !keep(l->arena, &to->fact.memory_type) || !keep(l->arena, &to->fact.scope) ||
        !keep(l->arena, &to->fact.superseded_by) || !keep(l->arena, &to->fact.authority.name))
        return lc_fail_memory(err);
    return LOCI_OK;
}

static loci_status add_signal(void *ctx, const lc_signal *signal, loci_error *err)
{
    list *l = ctx;
    lc_source_signal *to = l->items;

    /* A persona's own comes first and hides everybody's of its key. */
    if (l->count > 0 && lc_str_eq(to[l->count - 1].signal.key, signal->key))
        return LOCI_OK;
    to = list_add(l);
    if (to == NULL)
        return lc_fail_memory(err);
    to->signal = *signal;
    return keep(l->arena, &to->signal.key) && keep(l->arena, &to->signal.value) &&
                   keep(l->arena, &to->signal.former)
               ? LOCI_OK
               : lc_fail_memory(err);
}

static loci_status add_item(void *ctx, const lc_working_item *item, loci_error *err)
{
    list *l = ctx;
    lc_source_item *to = list_add(l);

    if (to == NULL)
        return lc_fail_memory(err);
    to->item = *item;
    return keep(l->arena, &to->item.key) && keep(l->arena, &to->item.value) ? LOCI_OK
                                                                            : lc_fail_memory(err);
}

static loci_status add_message(void *ctx, const lc_message *message, loci_error *err)
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

static void reverse_messages(lc_message *messages, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        lc_message first = messages[i];

        messages[i] = messages[count - 1 - i];
        messages[count - 1 - i] = first;
    }
}

loci_status lc_source_read_messages(lc_tx *tx, const lc_message_page *page, lc_arena *arena,
                                    lc_source *out, loci_error *err)
{
    list l = {.arena = arena, .each_bytes = sizeof(lc_message)};
    loci_status status = lc_session_each_last_message(tx, page, add_message, &l, err);

    out->messages = l.items;
    out->message_count = l.count;
    if (status == LOCI_OK)
        reverse_messages(out->messages, out->message_count);
    return status;
}

static loci_status show_signal(lc_arena *arena, lc_source_signal *signal, loci_error *err)
{
    const lc_json *former, *item;
    loci_status status = lc_show_value(arena, signal->signal.value, &signal->text, err);

    if (status == LOCI_OK)
        status = lc_json_parse(arena, signal->signal.former, 0, &former, err);
    if (status != LOCI_OK)
        return status;
    for (item = lc_json_first(former);
         item != NULL && signal->former_count < LC_SIGNAL_FORMER_MAX && status == LOCI_OK;
         item = lc_json_next(item))
        status = lc_show_json(arena, item, &signal->former[signal->former_count++], err);
    return status;
}

/* Walks do not allow queries or long work inside, so values become text afterwards. */
static loci_status show_all(lc_source *source, lc_arena *arena, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < source->ended_count && status == LOCI_OK; i++)
        status = lc_show_value(arena, source->ended[i].fact.value, &source->ended[i].text, err);
    for (size_t i = 0; i < source->signal_count && status == LOCI_OK; i++)
        status = show_signal(arena, &source->signals[i], err);
    for (size_t i = 0; i < source->item_count && status == LOCI_OK; i++)
        status = lc_show_value(arena, source->items[i].item.value, &source->items[i].text, err);
    return status;
}

static loci_status read_facts(lc_tx *tx, const lc_source_input *input, lc_arena *arena,
                              lc_source *out, loci_error *err)
{
    list ended = {.arena = arena, .each_bytes = sizeof(lc_source_fact)};
    lc_fact_recent recent = {
        .persona_id = input->view.persona_id,
        /* What ended before anything that may repeat it was said does not matter. */
        .after_seq = out->message_count > 0 ? out->messages[0].seq - 1 : INT64_MAX,
        .limit = LC_SOURCE_ENDED_MAX,
        .has_claims = true,
    };
    lc_fact_request request = {
        .view = input->view,
        .query = input->query,
        .limit = LC_SOURCE_FACTS_MAX,
        .counter = input->counter,
        .encoding = input->encoding,
    };
    loci_status status = input->chooser.choose(input->chooser.ctx, tx, &request, arena,
                                               &out->chosen, err);

    if (status == LOCI_OK)
        status = lc_fact_each_ended(tx, &recent, add_fact, &ended, err);
    out->ended = ended.items;
    out->ended_count = ended.count;
    return status;
}

loci_status lc_source_read(lc_tx *tx, const lc_source_input *input, lc_arena *arena, lc_source *out,
                           loci_error *err)
{
    list signals = {.arena = arena, .each_bytes = sizeof(lc_source_signal)};
    list items = {.arena = arena, .each_bytes = sizeof(lc_source_item)};
    lc_message_page page = {.session_id = input->session_id,
                            .persona_id = input->view.persona_id,
                            .limit = LC_SOURCE_MESSAGES_MAX};
    loci_status status;

    memset(out, 0, sizeof *out);
    status = lc_source_read_messages(tx, &page, arena, out, err);
    if (status == LOCI_OK)
        status = read_facts(tx, input, arena, out, err);
    if (status == LOCI_OK)
        status = lc_environment_each(tx, input->view.persona_id, add_signal, &signals, err);
    if (status == LOCI_OK && input->working_id.len > 0)
        status = lc_working_each(tx, input->working_id, add_item, &items, err);
    out->signals = signals.items;
    out->signal_count = signals.count;
    out->items = items.items;
    out->item_count = items.count;
    return status == LOCI_OK ? show_all(out, arena, err) : status;
}

bool lc_message_is_model(const lc_message *message)
{
    return lc_str_is(message->role, "assistant") || lc_str_is(message->role, "tool");
}
