/* build.c - from the sources to the packer.
 *
 * Everything that could be said is first judged together (talk.h): a message that repeats a
 * superseded value, an older signal, a statement somebody outranked. What holds becomes items in
 * the order of choosing: mandatory ones, facts by relevance, signals, notes, messages newest first.
 */
#include "context/build.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "context/manifest.h"

#define FACT_SHARE_PERMILLE 700
#define MINUTE_US INT64_C(60000000) /* Nobody asks for more, and caches of prompts like less. */

static const lc_pack_section sections[LC_SECTION_COUNT] = {
    [LC_SECTION_IDENTITY] = {"identity", NULL, NULL, 1000},
    [LC_SECTION_CONSTRAINTS] = {"constraints", "Rules that apply:", LC_FACT_BULLET, 1000},
    [LC_SECTION_FACTS] = {"facts", "What is known:", LC_FACT_BULLET, FACT_SHARE_PERMILLE},
    [LC_SECTION_CONVERSATION] = {"conversation", "What was said:", "- ", 1000},
    [LC_SECTION_WORKING] = {"working", "Notes of this session:", "- ", 1000},
    [LC_SECTION_ENVIRONMENT] = {"environment", "Right now:", "- ", 1000},
};

typedef struct building {
    lc_tx *tx;
    const lc_context_input *input;
    lc_arena *arena;
    lc_source source;
    lc_said *said;
    size_t said_count;
    size_t *fact_said, *signal_said, *note_said, *message_said; /* Where each is in `said`. */
    const lc_judged *judged;
    lc_pack_item *items;
    size_t item_count;
    lc_manifest manifest;
} building;

/* ---- Judging --------------------------------------------------------------------------------- */

/* A thing said, and when. */
typedef struct moment {
    int64_t seq;
    int order; /* Of equal seqs. */
    lc_said said;
    size_t *place; /* Where its index in `said` goes. */
    size_t ended;  /* Of a former fact: its index, else LC_SAID_NONE. */
    size_t signal; /* Of what a signal was before: its index, else LC_SAID_NONE. */
} moment;

static int compare_moments(const void *a, const void *b)
{
    const moment *x = a, *y = b;

    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static moment *add_moment(moment *moments, size_t *count, int64_t seq, lc_said_kind kind)
{
    moment *m = &moments[*count];

    *m = (moment){.seq = seq, .order = (int)*count, .ended = LC_SAID_NONE, .signal = LC_SAID_NONE};
    m->said.kind = kind;
    m->said.successor = LC_SAID_NONE;
    ++*count;
    return m;
}

/* Signals have no seq. They only ever replace each other, so where they stand does not matter. */
static void list_signals(building *b, moment *moments, size_t *count)
{
    for (size_t i = 0; i < b->source.signal_count; i++) {
        const lc_source_signal *signal = &b->source.signals[i];
        moment *m = add_moment(moments, count, signal->signal.recorded_at, LC_SAID_SIGNAL);

        m->said.text = signal->text;
        m->place = &b->signal_said[i];
        for (size_t f = 0; f < signal->former_count; f++) {
            m = add_moment(moments, count, signal->signal.recorded_at, LC_SAID_FORMER);
            m->said.text = signal->former[f];
            m->signal = i;
        }
    }
}

static size_t list_moments(building *b, moment *moments)
{
    const lc_source *source = &b->source;
    size_t count = 0;

    for (size_t i = 0; i < source->chosen.count; i++) {
        moment *m = add_moment(moments, &count, source->chosen.facts[i].fact.seq, LC_SAID_FACT);

        m->said.text = source->chosen.facts[i].text;
        m->said.rank = source->chosen.facts[i].fact.authority.rank;
        m->place = &b->fact_said[i];
    }
    for (size_t i = 0; i < source->ended_count; i++) {
        moment *m = add_moment(moments, &count, source->ended[i].fact.seq, LC_SAID_FORMER);

        m->said.text = source->ended[i].text;
        m->ended = i;
    }
    for (size_t i = 0; i < source->message_count; i++) {
        moment *m = add_moment(moments, &count, source->messages[i].seq, LC_SAID_MESSAGE);

        m->said.text = source->messages[i].text;
        m->said.is_model = lc_message_is_model(&source->messages[i]);
        m->place = &b->message_said[i];
    }
    list_signals(b, moments, &count);
    for (size_t i = 0; i < source->item_count; i++) {
        moment *m = add_moment(moments, &count, 0, LC_SAID_NOTE);

        m->said.text = source->items[i].text;
        m->place = &b->note_said[i];
    }
    return count;
}

/* Which of the things said is the fact with this id. */
static size_t find_said(const building *b, const moment *moments, loci_str id)
{
    for (size_t i = 0; i < b->source.chosen.count; i++)
        if (lc_str_eq(b->source.chosen.facts[i].fact.id, id))
            return b->fact_said[i];
    for (size_t i = 0; i < b->said_count; i++)
        if (moments[i].ended != LC_SAID_NONE &&
            lc_str_eq(b->source.ended[moments[i].ended].fact.id, id))
            return i;
    return LC_SAID_NONE;
}

static loci_status judge(building *b, loci_error *err)
{
    const lc_source *source = &b->source;
    size_t room = source->chosen.count + source->ended_count + source->message_count +
                  source->signal_count * (1 + LC_SIGNAL_FORMER_MAX) + source->item_count + 1;
    moment *moments = lc_arena_zalloc_array(b->arena, room, sizeof *moments);

    b->said = lc_arena_zalloc_array(b->arena, room, sizeof *b->said);
    b->fact_said = lc_arena_zalloc_array(b->arena, room, sizeof *b->fact_said);
    b->signal_said = lc_arena_zalloc_array(b->arena, room, sizeof *b->signal_said);
    b->note_said = lc_arena_zalloc_array(b->arena, room, sizeof *b->note_said);
    b->message_said = lc_arena_zalloc_array(b->arena, room, sizeof *b->message_said);
    if (moments == NULL || b->said == NULL || b->fact_said == NULL || b->signal_said == NULL ||
        b->note_said == NULL || b->message_said == NULL)
        return lc_fail_memory(err);
    b->said_count = list_moments(b, moments);
    qsort(moments, b->said_count, sizeof *moments, compare_moments);
    for (size_t i = 0; i < b->said_count; i++)
        if (moments[i].place != NULL)
            *moments[i].place = i;
    for (size_t i = 0; i < b->said_count; i++) {
        b->said[i] = moments[i].said;
        if (moments[i].ended != LC_SAID_NONE)
            b->said[i].successor = find_said(b, moments,
                                             source->ended[moments[i].ended].fact.superseded_by);
        if (moments[i].signal != LC_SAID_NONE)
            b->said[i].successor = b->signal_said[moments[i].signal];
    }
    return lc_talk_judge(b->input->talk, b->arena,
                         &(lc_talk_input){.said = b->said,
                                          .count = b->said_count,
                                          .query = b->input->query,
                                          .reader_rank = b->input->reader_rank,
                                          .reader_organization = b->input->identity->organization,
                                          .scope = b->input->source.view.scope_id},
                         &b->judged, err);
}

static const char *reason_of(lc_verdict verdict)
{
    switch (verdict) {
    case LC_VERDICT_WAS:
    case LC_VERDICT_REPLACED:
        return "superseded";
    case LC_VERDICT_OUTRANKED:
        return "claim";
    case LC_VERDICT_RESTRICTED:
        return "restricted";
    case LC_VERDICT_SUPPOSES:
        return "scope";
    default:
        return "irrelevant";
    }
}

/* ---- Items ----------------------------------------------------------------------------------- */

static lc_pack_item *add_item(building *b, lc_section section, loci_str id, loci_str text)
{
    lc_pack_item *item = &b->items[b->item_count++];

    *item = (lc_pack_item){
        .id = id, .text = text, .section = section, .place = (int64_t)b->item_count};
    return item;
}

/* Formats into the arena; `ptr` is NULL when out of memory. */
static loci_str join(lc_arena *arena, const loci_str *parts, size_t count)
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

static loci_status add_identity(building *b, loci_error *err)
{
    const lc_identity *who = b->input->identity;
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
    loci_str text;

    if (who->user_name.len == 0)
        return LOCI_OK;
    text = join(b->arena, parts, sizeof parts / sizeof *parts);
    if (text.ptr == NULL)
        return lc_fail_memory(err);
    add_item(b, LC_SECTION_IDENTITY, LC_STR_NONE, text)->is_mandatory = true;
    return LOCI_OK;
}

static loci_status add_time(building *b, loci_error *err)
{
    char clock[LC_TIME_BYTES_MAX];
    loci_str now = {clock, lc_time_format(b->tx->now_us / MINUTE_US * MINUTE_US, clock)};
    loci_str text;

    for (size_t i = 0; i < b->source.signal_count; i++)
        if (lc_str_is(b->source.signals[i].signal.key, "current_time"))
            now = b->source.signals[i].text;
    text = join(b->arena, (loci_str[]){LC_STR("Current time: "), now}, 2);
    if (text.ptr == NULL)
        return lc_fail_memory(err);
    add_item(b, LC_SECTION_ENVIRONMENT, LC_STR_NONE, text)->is_mandatory = true;
    return LOCI_OK;
}

/* The line of a fact, with a mark when it is in doubt. `*is_plain`: as it was counted. */
static loci_status fact_line(building *b, size_t index, loci_str *out, bool *is_plain,
                             loci_error *err)
{
    const lc_source_fact *fact = &b->source.chosen.facts[index];
    loci_str text = {0};
    loci_status status = lc_judged_text(b->arena, &b->judged[b->fact_said[index]], fact->text,
                                        &text, err);

    if (status == LOCI_OK)
        status = lc_fact_line(b->arena, &fact->fact, text, out, err);
    *is_plain = text.ptr == fact->text.ptr && !fact->fact.needs_review;
    if (status != LOCI_OK || !fact->fact.needs_review)
        return status;
    *out = join(b->arena, (loci_str[]){*out, LC_STR(" (unverified)")}, 2);
    return out->ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

typedef struct ranked {
    size_t index;
    int64_t seq;
    float score;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->seq > y->seq ? -1 : x->seq < y->seq;
}

static loci_status rank_facts(building *b, ranked **out, loci_error *err)
{
    size_t count = b->source.chosen.count;
    ranked *order = lc_arena_zalloc_array(b->arena, count + 1, sizeof *order);

    if (order == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        order[i] = (ranked){i, b->source.chosen.facts[i].fact.seq, b->source.chosen.facts[i].score};
    qsort(order, count, sizeof *order, compare_ranked);
    *out = order;
    return LOCI_OK;
}

static loci_status add_facts(building *b, bool constraints, const ranked *order, loci_error *err)
{
    for (size_t i = 0; i < b->source.chosen.count; i++) {
        const lc_source_fact *fact = &b->source.chosen.facts[order[i].index];
        const lc_judged *judged = &b->judged[b->fact_said[order[i].index]];
        lc_pack_item *item;
        bool is_plain;
        loci_str line;
        loci_status status;

        if (fact->fact.is_constraint != constraints)
            continue;
        if (judged->verdict != LC_VERDICT_HOLDS) {
            lc_manifest_exclude(&b->manifest, fact->fact.id, reason_of(judged->verdict));
            continue;
        }
        status = fact_line(b, order[i].index, &line, &is_plain, err);
        if (status != LOCI_OK)
            return status;
        item = add_item(b, constraints ? LC_SECTION_CONSTRAINTS : LC_SECTION_FACTS, fact->fact.id,
                        line);
        item->is_mandatory = constraints;
        item->known_tokens = is_plain ? fact->line_tokens : 0;
    }
    return LOCI_OK;
}

/* ---- Signals, notes, messages ---------------------------------------------------------------- */

static loci_status add_signals(building *b, loci_error *err)
{
    for (size_t i = 0; i < b->source.signal_count; i++) {
        const lc_source_signal *signal = &b->source.signals[i];
        loci_str line;

        if (lc_str_is(signal->signal.key, "current_time"))
            continue;
        if (b->judged[b->signal_said[i]].verdict != LC_VERDICT_HOLDS) {
            lc_manifest_exclude(&b->manifest, signal->signal.key, "superseded");
            continue;
        }
        line = join(b->arena, (loci_str[]){signal->signal.key, LC_STR(": "), signal->text}, 3);
        if (line.ptr == NULL)
            return lc_fail_memory(err);
        add_item(b, LC_SECTION_ENVIRONMENT, signal->signal.key, line);
    }
    return LOCI_OK;
}

static loci_status add_notes(building *b, loci_error *err)
{
    for (size_t i = 0; i < b->source.item_count; i++) {
        const lc_source_item *item = &b->source.items[i];
        loci_str line;

        if (b->judged[b->note_said[i]].verdict != LC_VERDICT_HOLDS) {
            lc_manifest_exclude(&b->manifest, item->item.key,
                                reason_of(b->judged[b->note_said[i]].verdict));
            continue;
        }
        line = join(b->arena, (loci_str[]){item->item.key, LC_STR(": "), item->text}, 3);
        if (line.ptr == NULL)
            return lc_fail_memory(err);
        add_item(b, LC_SECTION_WORKING, item->item.key, line);
    }
    return LOCI_OK;
}

/* Why none of a message is in: the reason of its first clause that does not hold. */
static const char *reason_of_message(const lc_judged *judged)
{
    if (judged->verdict != LC_VERDICT_HOLDS)
        return reason_of(judged->verdict);
    for (size_t i = 0; i < judged->count; i++)
        if (judged->clauses[i].verdict != LC_VERDICT_HOLDS)
            return reason_of(judged->clauses[i].verdict);
    return "irrelevant";
}

static bool is_repeated(const building *b, size_t index)
{
    loci_str text = lc_str_trim(b->source.messages[index].text);

    for (size_t i = index + 1; i < b->source.message_count; i++)
        if (lc_str_eq(lc_str_trim(b->source.messages[i].text), text))
            return true;
    for (size_t i = 0; i < b->source.chosen.count; i++)
        if (b->judged[b->fact_said[i]].verdict == LC_VERDICT_HOLDS &&
            lc_str_eq(lc_str_trim(b->source.chosen.facts[i].text), text))
            return true;
    return false;
}

static loci_status add_message(building *b, size_t index, loci_error *err)
{
    const lc_message *message = &b->source.messages[index];
    const lc_judged *judged = &b->judged[b->message_said[index]];
    loci_str text = {0}, who = message->speaker.len > 0 ? message->speaker : message->role;
    loci_status status = LOCI_OK;

    if (judged->verdict == LC_VERDICT_HOLDS)
        status = lc_judged_text(b->arena, judged, message->text, &text, err);
    if (status != LOCI_OK)
        return status;
    if (text.len == 0 || is_repeated(b, index)) {
        lc_manifest_exclude(&b->manifest, message->id,
                            text.len == 0 ? reason_of_message(judged) : "duplicate");
        return LOCI_OK;
    }
    if (!lc_str_is(who, "user"))
        text = join(b->arena, (loci_str[]){who, LC_STR(": "), text}, 3);
    if (text.ptr == NULL)
        return lc_fail_memory(err);
    add_item(b, LC_SECTION_CONVERSATION, message->id, text)->place = message->seq;
    return LOCI_OK;
}

/* Chosen from the newest, shown from the oldest. */
static loci_status add_messages(building *b, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = b->source.message_count; i-- > 0 && status == LOCI_OK;)
        status = add_message(b, i, err);
    return status;
}

static loci_status add_items(building *b, loci_error *err)
{
    const lc_source *source = &b->source;
    ranked *order = NULL;
    loci_status status;

    b->items = lc_arena_zalloc_array(b->arena,
                                     source->chosen.count + source->signal_count +
                                         source->item_count + source->message_count + 2,
                                     sizeof *b->items);
    if (b->items == NULL)
        return lc_fail_memory(err);
    status = rank_facts(b, &order, err);
    if (status == LOCI_OK)
        status = add_identity(b, err);
    if (status == LOCI_OK)
        status = add_facts(b, true, order, err);
    if (status == LOCI_OK)
        status = add_time(b, err);
    if (status == LOCI_OK)
        status = add_facts(b, false, order, err);
    if (status == LOCI_OK)
        status = add_signals(b, err);
    if (status == LOCI_OK)
        status = add_notes(b, err);
    return status == LOCI_OK ? add_messages(b, err) : status;
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void explain(building *b)
{
    const lc_fact_choice *chosen = &b->source.chosen;

    for (size_t i = 0; i < b->item_count; i++)
        if (!b->items[i].is_included)
            lc_manifest_exclude(&b->manifest, b->items[i].id, "budget");
    for (size_t i = 0; i < chosen->left_out_count; i++)
        lc_manifest_name(&b->manifest, chosen->left_out[i].id, chosen->left_out[i].reason);
    lc_manifest_count(&b->manifest, "expired", chosen->expired);
    lc_manifest_count(&b->manifest, "restricted", chosen->restricted);
    lc_manifest_count(&b->manifest, "scope", chosen->scoped);
    lc_manifest_count(&b->manifest, "irrelevant", chosen->irrelevant);
    lc_manifest_count(&b->manifest, "superseded", chosen->past.superseded);
    lc_manifest_count(&b->manifest, "retracted", chosen->past.retracted);
    lc_manifest_count(&b->manifest, "claim", chosen->past.claims);
}

loci_status lc_context_build(lc_tx *tx, const lc_context_input *input, lc_json_writer *out,
                             loci_error *err)
{
    building b = {.tx = tx, .input = input, .arena = input->arena};
    int64_t section_tokens[LC_SECTION_COUNT] = {0};
    lc_pack pack;
    lc_buf text;
    loci_status status = lc_source_read(tx, &input->source, input->arena, &b.source, err);

    lc_buf_init(&text, input->arena->heap, LOCI_MEM_REQUESTS, LC_CONTEXT_BYTES_MAX);
    lc_manifest_init(&b.manifest, input->arena);
    if (status == LOCI_OK)
        status = judge(&b, err);
    if (status == LOCI_OK)
        status = add_items(&b, err);
    if (status == LOCI_OK) {
        pack = (lc_pack){.sections = sections,
                         .section_count = LC_SECTION_COUNT,
                         .items = b.items,
                         .item_count = b.item_count,
                         .budget = input->budget,
                         .counter = input->counter,
                         .section_tokens = section_tokens};
        status = lc_pack_run(&pack, &text, err);
    }
    if (status == LOCI_OK) {
        explain(&b);
        lc_manifest_put(&b.manifest, &pack, lc_buf_str(&text), input->is_estimated, out);
    }
    lc_buf_clear(&text);
    return status;
}
