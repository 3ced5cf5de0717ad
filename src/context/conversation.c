/* conversation.c - collects messages as candidates of a context.
 *
 * Messages are found by relevance, however old they are: by words and meaning, with the messages
 * beside each hit (session/message_corpus.h). The newest ones are candidates too, because a
 * question may be about the last messages. The score of a message is
 *
 *     (relevance + RECENCY * half ** (age / 14 days)) * (0.8 if a model said it)
 *
 * so that the newer of two similar messages is shown, and a person's words before a model's, which
 * are longer and more often repeat than state. A message with a score below a floor is irrelevant
 * to the query; the newest few are exempt. Messages are shown oldest first, each line with its date
 * and speaker. A message that would take more than half of the budget is cut to the part that
 * the query is about.
 *
 * Messages may repeat values that facts have lost, so these are read here, too.
 */
#include "context/candidate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/time.h"
#include "pack/show.h"
#include "session/message_corpus.h"

#define HITS_MIN 50
#define TOKENS_PER_HIT 24 /* Fewer than a line has, so that the hits can fill the budget. */
#define NEWEST 4          /* Exempt from the floor. */
#define ENDED_MAX 100
#define ENDED_NAMED 20 /* Where there are no messages that could repeat them. */
/* A message has nothing to do with the query if its score is below this, or below this share of
 * the best. On conversations with questions (bench/talk) this keeps 99 of 100 answers and leaves
 * out nearly half of the messages. */
#define FLOOR 0.06F
#define FLOOR_SHARE 0.25F
#define RELEVANT_HITS 100 /* Of which those of one session may be left out. */
#define RECENCY 0.04
#define HALF_LIFE_US (14 * INT64_C(86400000000))
#define MODEL_SHARE 0.8
#define BYTES_PER_TOKEN 2 /* Of half the budget, at four bytes per token. */
#define EXCERPT_BYTES_MIN 400
#define BLOCKS 512                 /* Steps in which the best part of a long text is looked for. */
#define LONG_BYTES_MAX 262144      /* Of a long text, in which that part is looked for. */
#define BUDGET_WITHOUT_CUTS 100000 /* Tokens: with this budget, messages are shown uncut. */

bool lc_message_is_model(const lc_message *message)
{
    return lc_str_is(message->role, "assistant") || lc_str_is(message->role, "tool");
}

/* ---- The newest messages --------------------------------------------------------------------- */

typedef struct reading {
    lc_arena *arena;
    lc_message_list *out;
} reading;

static loci_status keep_message(void *ctx, const lc_message *message, loci_error *err)
{
    reading *r = ctx;
    lc_message *to = &r->out->items[r->out->count++];

    *to = *message;
    return lc_row_keep(&lc_message_row, r->arena, to) ? LOCI_OK : lc_fail_memory(err);
}

loci_status lc_context_read_messages(lc_tx *tx, const lc_message_page *page, lc_arena *arena,
                                     lc_message_list *out, loci_error *err)
{
    reading r = {arena, out};

    *out = (lc_message_list){
        .items = lc_arena_zalloc_array(arena, (size_t)page->limit + 1, sizeof *out->items)};
    if (out->items == NULL)
        return lc_fail_memory(err);
    return lc_session_each_last_message(tx, page, keep_message, &r, err);
}

/* ---- Long texts ------------------------------------------------------------------------------ */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* Does a word that begins with the term begin at `at`? Terms are stems in lower case. */
static bool begins_term(loci_str text, size_t at, loci_str term)
{
    if ((at > 0 && is_letter(text.ptr[at - 1])) || term.len > text.len - at)
        return false;
    for (size_t i = 0; i < term.len; i++) {
        char c = text.ptr[at + i];

        if ((c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c) != term.ptr[i])
            return false;
    }
    return true;
}

/* Where the part of `bytes` begins that has the most words of the query; of several such parts in a
 * row the middle one. */
static size_t best_part(const lc_corpus_terms *terms, loci_str text, size_t bytes)
{
    size_t block_bytes = text.len / BLOCKS + 1, window = bytes / block_bytes + 1;
    size_t first = 0, last = 0, best_count = 0, count = 0;
    uint16_t counts[BLOCKS] = {0};

    for (size_t at = 0; at < text.len; at++)
        for (size_t t = 0; is_letter(text.ptr[at]) && t < terms->count; t++)
            counts[at / block_bytes] += begins_term(text, at, terms->items[t].text);
    for (size_t block = 0; block < BLOCKS; block++) {
        count += counts[block];
        if (block >= window)
            count -= counts[block - window];
        if (count > best_count) {
            best_count = count;
            first = block;
            last = block;
        } else if (count == best_count && last + 1 == block) {
            last = block;
        }
    }
    first = (first + last) / 2 + 1; /* Behind the part. */
    return (first > window ? first - window : 0) * block_bytes;
}

/* A text of at most about `bytes`: the part that the query is about, between dots. */
static loci_str cut(lc_arena *arena, const lc_corpus_terms *terms, loci_str text, size_t bytes)
{
    loci_str dots = LC_STR("… "), end_dots = LC_STR(" …"), none = LC_STR("");
    loci_str head = {text.ptr, text.len < LONG_BYTES_MAX ? text.len : LONG_BYTES_MAX};
    size_t start = best_part(terms, head, bytes);
    size_t end = start + bytes < text.len ? start + bytes : text.len;

    while (start > 0 && start < end && text.ptr[start - 1] != ' ' && text.ptr[start - 1] != '\n')
        start++;
    while (end < text.len && end > start && text.ptr[end] != ' ' && text.ptr[end] != '\n')
        end--;
    /* Without spaces (another script, one long word): at a whole character. */
    while (start < end && ((unsigned char)text.ptr[start] & 0xC0) == 0x80)
        start++;
    while (end < text.len && end > start && ((unsigned char)text.ptr[end] & 0xC0) == 0x80)
        end--;
    return lc_context_join(arena,
                           (loci_str[]){start > 0 ? dots : none,
                                        {text.ptr + start, end - start},
                                        end < text.len ? end_dots : none},
                           3);
}

/* ---- Candidates ------------------------------------------------------------------------------ */

loci_str lc_context_date(lc_arena *arena, int64_t at_us)
{
    char text[LC_TIME_BYTES_MAX];
    size_t bytes = lc_time_format(at_us, text);

    return lc_arena_copy(arena, (loci_str){text, bytes < 10 ? bytes : 10});
}

/* "2026-01-06 Lena: " */
static loci_str lead_of(lc_arena *arena, const lc_message *message)
{
    loci_str who = message->speaker.len > 0 ? message->speaker : message->role;
    char *name = lc_arena_alloc(arena, who.len + 1);
    loci_str date = lc_context_date(arena, message->observed_at);

    if (name == NULL || date.ptr == NULL)
        return LC_STR_NONE;
    for (size_t i = 0; i < who.len; i++) /* A name cannot pass for the end of one. */
        name[i] = who.ptr[i] == ':' ? ' ' : who.ptr[i];
    return lc_context_join(arena, (loci_str[]){date, LC_STR(" "), {name, who.len}, LC_STR(": ")},
                           4);
}

static loci_status add_message(lc_context *context, const lc_message *message,
                               const lc_fused *relevance, loci_error *err)
{
    const lc_context_input *input = context->input;
    lc_candidate *to = lc_context_add(context, LC_SECTION_CONVERSATION);
    int64_t age = context->tx->now_us - message->observed_at;
    size_t room = input->budget < LONG_BYTES_MAX / BYTES_PER_TOKEN
                      ? (size_t)input->budget * BYTES_PER_TOKEN
                      : LONG_BYTES_MAX;
    double recency = pow(0.5, age > 0 ? (double)age / (double)HALF_LIFE_US : 0);

    if (to == NULL)
        return lc_fail_memory(err);
    to->item.id = message->id;
    to->item.place = message->seq; /* Chosen from the best, shown from the oldest. */
    to->text = message->text;
    if (room < EXCERPT_BYTES_MIN)
        room = EXCERPT_BYTES_MIN;
    if (message->text.len > room && input->budget < BUDGET_WITHOUT_CUTS)
        to->text = cut(context->arena, &input->terms, message->text, room);
    to->lead = lead_of(context->arena, message);
    to->is_judged = true;
    to->kind = LC_SAID_MESSAGE;
    to->seq = message->seq;
    to->at_us = message->observed_at;
    to->speaker = message->speaker.len > 0 ? message->speaker : message->role;
    to->is_model = lc_message_is_model(message);
    to->trust = lc_str_is(message->role, "tool") ? LC_STR("tool") : LC_STR_NONE;
    to->parts = *relevance;
    to->score = (float)((relevance->score + RECENCY * recency) *
                        (lc_message_is_model(message) ? MODEL_SHARE : 1));
    to->order = -message->seq; /* Of equal scores the newest. */
    return to->text.ptr != NULL && to->lead.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

/* Leaves out hits that the query is not about, and those of a session that the model has. */
static void drop_hits(const lc_context *context, lc_message_hits *hits)
{
    const lc_context_input *input = context->input;
    size_t kept = 0;

    for (size_t i = 0; i < hits->count; i++) {
        const lc_message_hit *hit = &hits->items[i];

        if ((input->relevant_only &&
             (lc_context_is_short(hit->message.text) || /* "Great, thanks!" */
              !lc_context_is_relevant(context, &hit->score, false))) ||
            (input->without_session.len > 0 &&
             (lc_str_eq(hit->external_id, input->without_session) ||
              lc_str_eq(hit->message.session_id, input->without_session))))
            continue;
        hits->items[kept++] = *hit;
    }
    hits->count = kept;
}

/* The same for the newest messages. */
static loci_status drop_newest(lc_context *context, lc_message_list *newest, loci_error *err)
{
    loci_str name = context->input->without_session;
    size_t kept = 0;
    loci_status status = LOCI_OK;

    for (size_t i = 0; name.len > 0 && i < newest->count && status == LOCI_OK; i++) {
        bool is_named = false;

        status = lc_session_is_named(context->tx, newest->items[i].session_id, name, &is_named,
                                     err);
        if (!is_named)
            newest->items[kept++] = newest->items[i];
    }
    if (name.len > 0)
        newest->count = kept;
    return status;
}

/* Adds the hits, then the newest messages that are not among them. */
static loci_status add_messages(lc_context *context, const lc_message_hits *hits,
                                const lc_message_list *newest, loci_error *err)
{
    int64_t exempt_seq = newest->count > 0 ? newest->items[newest->count - 1].seq : INT64_MAX;
    size_t first = context->count;
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < hits->count && status == LOCI_OK; i++)
        status = add_message(context, &hits->items[i].message, &hits->items[i].score, err);
    for (size_t i = 0; i < newest->count && status == LOCI_OK; i++) {
        bool is_hit = false;

        for (size_t h = first; h < context->count && !is_hit; h++)
            is_hit = context->candidates[h].seq == newest->items[i].seq;
        if (!is_hit)
            status = add_message(context, &newest->items[i], &(lc_fused){0}, err);
    }
    for (size_t i = first; i < context->count; i++)
        context->candidates[i].is_exempt = context->candidates[i].seq >= exempt_seq;
    return status;
}

void lc_context_drop_irrelevant(lc_context *context)
{
    float best = 0;

    for (size_t i = 0; i < context->count; i++)
        if (context->candidates[i].kind == LC_SAID_MESSAGE && context->candidates[i].is_judged &&
            context->candidates[i].score > best)
            best = context->candidates[i].score;
    for (size_t i = 0; i < context->count; i++) {
        lc_candidate *said = &context->candidates[i];

        if (said->kind != LC_SAID_MESSAGE || !said->is_judged || said->judged == NULL)
            continue;
        if ((said->score < FLOOR || said->score < FLOOR_SHARE * best) &&
            !(said->is_exempt && said->judged->weight == 1))
            said->excluded = "irrelevant";
    }
}

/* ---- Lost values ----------------------------------------------------------------------------- */

typedef struct ended_list {
    lc_arena *arena;
    const lc_fact_access *access;
    lc_fact *items;
    size_t count;
} ended_list;

static loci_status keep_ended(void *ctx, const lc_fact *fact, loci_error *err)
{
    ended_list *l = ctx;

    if (!lc_fact_may_read(fact, l->access))
        return LOCI_OK;
    l->items[l->count] = *fact;
    return lc_fact_keep(l->arena, &l->items[l->count++]) ? LOCI_OK : lc_fail_memory(err);
}

/* The facts that ended last: messages may repeat their values, and the manifest names them. */
loci_status lc_context_add_ended(lc_context *context, bool is_all, loci_error *err)
{
    ended_list l = {.arena = context->arena,
                    .access = &context->input->view.access,
                    .items = lc_arena_alloc(context->arena, ENDED_MAX * sizeof(lc_fact))};
    lc_fact_recent recent = {.persona_id = context->input->view.persona_id,
                             .after_seq = -1,
                             .limit = is_all ? ENDED_MAX : ENDED_NAMED};
    /* Those that are counted are named: collect_facts() does it for both sections. */
    bool is_named = lc_context_wants(context, LC_SECTION_FACTS) ||
                    lc_context_wants(context, LC_SECTION_CONSTRAINTS);
    loci_status status = l.items != NULL
                             ? lc_fact_each_ended(context->tx, &recent, keep_ended, &l, err)
                             : lc_fail_memory(err);

    for (size_t i = 0; i < l.count && status == LOCI_OK; i++) {
        lc_candidate *to = lc_context_add(context, LC_SECTION_FACTS);

        if (to == NULL)
            return lc_fail_memory(err);
        to->item.id = l.items[i].id;
        to->is_judged = to->is_evidence = true;
        if (is_named)
            to->left_out = l.items[i].standing == LC_FACT_IS_RETRACTED ? "retracted" : "superseded";
        to->kind = LC_SAID_FORMER;
        to->key = l.items[i].key;
        to->seq = l.items[i].seq;
        to->successor_id = l.items[i].superseded_by;
        status = lc_show_value(context->arena, l.items[i].value, &to->text, err);
    }
    return status;
}

loci_status lc_context_collect_conversation(lc_context *context, loci_error *err)
{
    const lc_context_input *input = context->input;
    int64_t wanted = input->relevant_only ? RELEVANT_HITS : input->budget / TOKENS_PER_HIT;
    lc_message_query query = {.terms = input->terms,
                              .vector = input->vector,
                              .persona_id = input->view.persona_id,
                              .session = input->conversation_id,
                              .from_us = INT64_MIN,
                              .to_us = INT64_MAX,
                              .limit = wanted < HITS_MIN              ? HITS_MIN
                                       : wanted > LC_MESSAGE_HITS_MAX ? LC_MESSAGE_HITS_MAX
                                                                      : (size_t)wanted,
                              .with_neighbours = true};
    lc_message_page page = {.session_id = input->conversation_id,
                            .persona_id = input->view.persona_id,
                            .limit = NEWEST};
    lc_message_hits hits = {0};
    lc_message_list newest = {0};
    loci_status status = lc_message_search(context->tx, &query, context->arena, &hits, err);

    context->is_complete &= hits.is_complete;
    drop_hits(context, &hits);
    if (status == LOCI_OK && !input->relevant_only)
        status = lc_context_read_messages(context->tx, &page, context->arena, &newest, err);
    if (status == LOCI_OK)
        status = drop_newest(context, &newest, err);
    if (status == LOCI_OK)
        status = add_messages(context, &hits, &newest, err);
    if (status == LOCI_OK && hits.total > hits.count)
        lc_context_count(context, "irrelevant", (int64_t)(hits.total - hits.count));
    return status;
}
