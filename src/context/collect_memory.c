/* collect_memory.c - the sections of a context that come from memories: the foundation, the cards
 * of entities, the memories that bear on the query, and open todos.
 *
 * A memory is one line, whatever its text has: a line end in it could look like another section. It
 * is shown once: one of the foundation is on no card, and none of both is repeated among the
 * memories.
 */
#include "context/candidate.h"

#include "base/error.h"
#include "base/time.h"
#include "memory/memory_recall.h"
#include "memory/todo.h"

#define MEMORIES_MAX 20
#define TODOS_MAX 20
#define DATE_BYTES 10 /* 2026-11-15 */

/* The text as one line, in the arena. */
static loci_status flatten(lc_arena *arena, loci_str text, loci_str *out, loci_error *err)
{
    *out = lc_arena_copy(arena, lc_str_trim(text));
    if (out->ptr == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < out->len; i++)
        if ((unsigned char)out->ptr[i] < 0x20 || out->ptr[i] == 0x7F)
            ((char *)out->ptr)[i] = ' ';
    return LOCI_OK;
}

/* " (2026-11-15)" */
static loci_str date_of(lc_arena *arena, const char *lead, int64_t us)
{
    char time[LC_TIME_BYTES_MAX];

    (void)lc_time_format(us, time);
    return lc_context_join(arena, (loci_str[]){loci_str_of(lead), {time, DATE_BYTES}, LC_STR(")")},
                           3);
}

static loci_status add_line(lc_context *context, lc_section section, loci_str id, loci_str text,
                            lc_candidate **out, loci_error *err)
{
    lc_candidate *to = lc_context_add(context, section);

    if (to == NULL)
        return lc_fail_memory(err);
    to->kind = LC_SAID_NOTE;
    to->item.id = lc_arena_copy(context->arena, id);
    *out = to;
    return to->item.id.ptr != NULL ? flatten(context->arena, text, &to->text, err)
                                   : lc_fail_memory(err);
}

/* A copy: the row of a walk is gone after it. */
static loci_status set_trust(lc_context *context, const lc_memory *memory, lc_candidate *to,
                             loci_error *err)
{
    to->trust = lc_arena_copy(context->arena, memory->trust);
    return to->trust.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* ---- Foundation ------------------------------------------------------------------------------ */

static loci_status add_pinned(void *ctx, const lc_memory *memory, loci_error *err)
{
    lc_candidate *to;
    loci_status status = add_line(ctx, LC_SECTION_FOUNDATION, memory->id, memory->text, &to, err);

    return status == LOCI_OK ? set_trust(ctx, memory, to, err) : status;
}

loci_status lc_context_collect_foundation(lc_context *context, loci_error *err)
{
    return lc_memory_each_pinned(context->tx, context->input->view.persona_id, add_pinned, context,
                                 err);
}

/* ---- Cards and memories ---------------------------------------------------------------------- */

/* Where a memory of the shadow judge came from (context/judge.h). It is judged as its message is: a
 * clause with a value that a fact has lost is not shown. */
static loci_status set_source(lc_context *context, const lc_memory *memory, lc_candidate *to,
                              loci_error *err)
{
    const lc_json *metadata, *said, *id, *quote;
    loci_str text; /* A copy: what is parsed points into it, and a walk's row is gone after it. */
    loci_status status;

    if (!lc_str_is(memory->source, "shadow_extraction"))
        return LOCI_OK;
    to->is_judged = true;
    to->kind = LC_SAID_SUMMARY;
    to->seq = memory->seq;
    if (memory->metadata.len == 0)
        return LOCI_OK;
    text = lc_arena_copy(context->arena, memory->metadata);
    if (text.ptr == NULL)
        return lc_fail_memory(err);
    status = lc_json_parse(context->arena, text, 0, &metadata, err);
    if (status != LOCI_OK)
        return status;
    id = lc_json_find(metadata, "message_id", LC_JSON_STRING);
    said = lc_json_find(metadata, "said", LC_JSON_OBJECT);
    quote = said != NULL ? lc_json_find(said, "quote", LC_JSON_STRING) : NULL;
    if (id != NULL && quote != NULL) {
        to->source_id = lc_json_str(id);
        to->quote = lc_json_str(quote);
    }
    return LOCI_OK;
}

static loci_status add_memory(lc_context *context, const lc_memory_hit *hit, loci_error *err)
{
    lc_candidate *to;
    loci_status status = add_line(context, LC_SECTION_MEMORIES, hit->memory.id, hit->memory.text,
                                  &to, err);

    if (status == LOCI_OK)
        status = set_trust(context, &hit->memory, to, err);
    if (status == LOCI_OK)
        status = set_source(context, &hit->memory, to, err);
    if (status != LOCI_OK)
        return status;
    to->tail = date_of(context->arena, " (", hit->memory.observed_at);
    to->score = (float)hit->score;
    to->parts = hit->fused;
    return to->tail.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status add_newest(void *ctx, const lc_memory *memory, loci_error *err)
{
    /* In the order of the walk: the position decides, not a score. */
    return memory->pinned ? LOCI_OK : add_memory(ctx, &(lc_memory_hit){.memory = *memory}, err);
}

/* Without a query there is nothing to search for: the newest are shown. */
static loci_status collect_newest(lc_context *context, loci_error *err)
{
    lc_memory_page page = {.persona_id = context->input->view.persona_id,
                           .status = LC_STR("active"),
                           .before_seq = INT64_MAX,
                           .limit = MEMORIES_MAX};

    return lc_memory_each(context->tx, &page, add_newest, context, err);
}

/* Leaves out hits that the query is not about. */
static void drop_irrelevant(const lc_context *context, lc_memory_hits *hits)
{
    size_t kept = 0;

    for (size_t i = 0; i < hits->count; i++)
        if (lc_context_is_relevant(context, &hits->items[i].fused,
                                   lc_context_is_short(hits->items[i].memory.text)))
            hits->items[kept++] = hits->items[i];
    hits->count = kept;
}

/* Cards, too: they come from the same search. */
loci_status lc_context_collect_memories(lc_context *context, loci_error *err)
{
    const lc_context_input *input = context->input;
    lc_memory_query query = {.terms = input->terms,
                             .vector = input->vector,
                             .persona_id = input->view.persona_id,
                             .from_us = INT64_MIN,
                             .to_us = INT64_MAX,
                             .as_of_us = INT64_MAX};
    lc_memory_cards *cards = lc_arena_zalloc_array(context->arena, 1, sizeof *cards);
    lc_memory_hits hits = {0};
    loci_status status = cards != NULL
                             ? lc_memory_recall(context->tx, &query, context->arena, &hits, err)
                             : lc_fail_memory(err);

    if (status != LOCI_OK)
        return status;
    context->is_complete &= hits.is_complete;
    if (input->relevant_only)
        drop_irrelevant(context, &hits);
    else if (lc_str_trim(input->query).len == 0)
        return collect_newest(context, err);
    hits.count = hits.count < MEMORIES_MAX ? hits.count : MEMORIES_MAX;
    cards->is_each_once = true;
    cards->without_pinned = lc_context_wants(context, LC_SECTION_FOUNDATION);
    status = lc_memory_make_cards(context->tx, query.persona_id, &hits, context->arena, cards, err);
    for (size_t i = 0; status == LOCI_OK && i < cards->count; i++) {
        lc_candidate *to;

        status = add_line(context, LC_SECTION_CARDS, cards->items[i].ids[0], cards->items[i].text,
                          &to, err);
    }
    for (size_t i = 0; status == LOCI_OK && i < hits.count; i++) {
        const lc_memory *memory = &hits.items[i].memory;

        /* One that the judge made must be about the query: its message is searched for, too. */
        if (lc_str_is(memory->source, "shadow_extraction") &&
            !lc_context_is_relevant(context, &hits.items[i].fused, false))
            continue;
        if (!memory->pinned && !lc_memory_is_on_card(cards, memory->id))
            status = add_memory(context, &hits.items[i], err);
    }
    return status;
}

/* ---- Todos ----------------------------------------------------------------------------------- */

static loci_status add_todo(void *ctx, const lc_todo *todo, loci_error *err)
{
    lc_context *context = ctx;
    lc_candidate *to;
    loci_status status = add_line(context, LC_SECTION_TODOS, todo->id, todo->text, &to, err);

    if (status == LOCI_OK && todo->message_id.len > 0) {
        to->source_id = lc_arena_copy(context->arena, todo->message_id);
        to->quote = lc_arena_copy(context->arena, todo->quote);
        if (to->source_id.ptr == NULL || to->quote.ptr == NULL)
            return lc_fail_memory(err);
    }
    if (status != LOCI_OK || todo->due_at == 0)
        return status;
    to->tail = date_of(context->arena, " (due ", todo->due_at);
    return to->tail.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

loci_status lc_context_collect_todos(lc_context *context, loci_error *err)
{
    lc_todo_page page = {.persona_id = context->input->view.persona_id,
                         .status = LC_STR("open"),
                         .before_seq = INT64_MAX,
                         .limit = TODOS_MAX};

    return lc_todo_each(context->tx, &page, add_todo, context, err);
}
