/* build.c - from the candidates to the answer: judge, pack, manifest.
 *
 * Two orders of the same list are used. Judging needs everything in the order it was said. Choosing
 * goes by the turns of the sections, and inside a section by score and order; the manifest lists
 * what is in and what is not in that order, too.
 */
#include "context/build.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "context/candidate.h"
#include "context/format.h"
#include "store/user_kind.h"

#define EXCLUDED_MAX 50 /* The best losers are named; all are counted. */

static const char *const reasons[LC_CONTEXT_REASONS] = {
    "superseded",   "retracted", "restricted", "scope",      "expired",
    "needs_review", "claim",     "duplicate",  "irrelevant", "budget"};

void lc_context_count(lc_context *context, const char *reason, int64_t count)
{
    size_t i = 0;

    while (i < LC_CONTEXT_REASONS && strcmp(reasons[i], reason) != 0)
        i++;
    LC_ASSERT(i < LC_CONTEXT_REASONS);
    context->counts[i] += count;
}

unsigned lc_context_section_bit(loci_str name)
{
    for (size_t i = 0; i < LC_SECTION_COUNT; i++)
        if (lc_str_is(name, lc_context_sections[i].pack.name))
            return 1u << i;
    return 0;
}

unsigned lc_context_brief_mask(void)
{
    unsigned mask = 0;

    for (size_t i = 0; i < LC_SECTION_COUNT; i++)
        if (lc_str_is_choice(loci_str_of(lc_context_sections[i].pack.name), LC_BRIEF_SECTION_NAMES))
            mask |= 1u << i;
    return mask;
}

/* Sections whose candidates are searched for. All others are there whatever the query is. */
#define SEARCHED                                                                                   \
    (1u << LC_SECTION_FACTS | 1u << LC_SECTION_CARDS | 1u << LC_SECTION_MEMORIES |                 \
     1u << LC_SECTION_CONVERSATION)

bool lc_context_wants(const lc_context *context, lc_section section)
{
    unsigned wanted = context->input->section_mask;

    if (context->input->relevant_only)
        wanted &= SEARCHED;
    return (wanted >> section & 1) != 0;
}

/* relevant_only: floors that a text must reach. One that shares a word with the query needs less
 * than one that only resembles it: the cosine of texts that have nothing to do with each other is
 * up to 0.55 with the built-in encoder. Phrases such as "ok, go on" resemble each other more than
 * that and say nothing, so of a short query or a short text only words count. */
#define WORD_FLOOR 0.25
#define MEANING_FLOOR 0.38 /* A cosine of 0.57. */
#define SHORT_TERMS 2
#define SHORT_WORDS 4

bool lc_context_is_short(loci_str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len && count < SHORT_WORDS; i++)
        count += text.ptr[i] != ' ' && (i == 0 || text.ptr[i - 1] == ' ');
    return count < SHORT_WORDS;
}

bool lc_context_is_relevant(const lc_context *context, const lc_fused *score, bool is_short)
{
    if (score->has_bm25) /* Without a cosine there is no scale: in a small store all words are rare.
                          */
        return score->score >= WORD_FLOOR || !score->has_cosine;
    return score->score >= MEANING_FLOOR && context->input->terms.count >= SHORT_TERMS && !is_short;
}

/* A section that is not wanted may be read together with one that is, and some of its candidates
 * help to judge those of others. */
static void drop_unwanted(lc_context *context, size_t first)
{
    size_t kept = first;

    for (size_t i = first; i < context->count; i++) {
        const lc_candidate *candidate = &context->candidates[i];

        if (candidate->is_evidence ||
            lc_context_wants(context, (lc_section)candidate->item.section))
            context->candidates[kept++] = *candidate;
    }
    context->count = kept;
}

static bool is_needed(const lc_context *context, size_t section)
{
    switch (section) {
    case LC_SECTION_FACTS:
        return lc_context_wants(context, LC_SECTION_FACTS) ||
               lc_context_wants(context, LC_SECTION_CONSTRAINTS);
    case LC_SECTION_MEMORIES:
        return lc_context_wants(context, LC_SECTION_MEMORIES) ||
               lc_context_wants(context, LC_SECTION_CARDS);
    default:
        return lc_context_wants(context, (lc_section)section);
    }
}

/* Messages, and texts made from them, may repeat a value that a fact has lost. */
static bool has_repetitions(const lc_context *context)
{
    for (size_t i = 0; i < context->count; i++) {
        const lc_candidate *of = &context->candidates[i];

        if (of->is_judged && (of->kind == LC_SAID_MESSAGE || of->kind == LC_SAID_SUMMARY))
            return true;
    }
    return false;
}

static loci_status collect(lc_context *context, loci_error *err)
{
    loci_status status = LOCI_OK;
    bool is_all;

    for (size_t i = 0; i < LC_SECTION_COUNT && status == LOCI_OK; i++) {
        size_t first = context->count;

        if (lc_context_sections[i].collect == NULL || !is_needed(context, i))
            continue;
        status = lc_context_sections[i].collect(context, err);
        drop_unwanted(context, first);
    }
    is_all = has_repetitions(context);
    if (status == LOCI_OK && (is_all || lc_context_wants(context, LC_SECTION_CONVERSATION) ||
                              lc_context_wants(context, LC_SECTION_SUMMARIES)))
        status = lc_context_add_ended(context, is_all, err);
    return status;
}

/* ---- Judging --------------------------------------------------------------------------------- */

static int compare_said(const void *a, const void *b)
{
    const lc_candidate *x = *(lc_candidate *const *)a, *y = *(lc_candidate *const *)b;

    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return x < y ? -1 : x > y; /* As collected. */
}

/* Everything that is judged, oldest first. */
typedef struct judging {
    lc_candidate **order;
    size_t count;
    lc_said *said;     /* In that order. */
    size_t *places;    /* By candidate: where it is in that order. */
    lc_map by_fact_id; /* To an entry of `places`. */
} judging;

static loci_status init_judging(lc_context *context, judging *j, loci_error *err)
{
    size_t room = context->count + 1;

    j->order = lc_arena_zalloc_array(context->arena, room, sizeof(lc_candidate *));
    j->said = lc_arena_zalloc_array(context->arena, room, sizeof *j->said);
    j->places = lc_arena_zalloc_array(context->arena, room, sizeof *j->places);
    if (j->order == NULL || j->said == NULL || j->places == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < context->count; i++)
        if (context->candidates[i].is_judged)
            j->order[j->count++] = &context->candidates[i];
    qsort(j->order, j->count, sizeof(lc_candidate *), compare_said);
    for (size_t i = 0; i < j->count; i++)
        j->places[j->order[i] - context->candidates] = i;
    return LOCI_OK;
}

/* By id: facts that were chosen, and those that ended. */
static loci_status index_facts(lc_context *context, judging *j, loci_error *err)
{
    for (size_t i = 0; i < j->count; i++) {
        const lc_candidate *of = j->order[i];

        if (of->kind != LC_SAID_FACT && (of->kind != LC_SAID_FORMER || of->item.id.len == 0))
            continue;
        if (!lc_map_put(&j->by_fact_id, of->item.id, &j->places[of - context->candidates]))
            return lc_fail_memory(err);
    }
    return LOCI_OK;
}

static size_t find_successor(const judging *j, const lc_candidate *of)
{
    const size_t *place;

    if (of->successor != LC_SAID_NONE)
        return j->places[of->successor];
    place = of->successor_id.len > 0 ? lc_map_find(&j->by_fact_id, of->successor_id) : NULL;
    return place != NULL ? *place : LC_SAID_NONE;
}

/* A fact that a later message is about is shown with its date, and the message whatever its rank:
 * the reader sees both, and which is newer. */
static loci_status show_beside(lc_context *context, lc_candidate *fact, lc_candidate *message,
                               loci_error *err)
{
    loci_str since = lc_context_date(context->arena, fact->at_us);
    loci_str later = lc_context_date(context->arena, message->at_us);

    if (since.ptr == NULL || later.ptr == NULL)
        return lc_fail_memory(err);
    fact->tail = lc_context_join(context->arena,
                                 (loci_str[]){fact->tail, LC_STR(" (as of "), since,
                                              LC_STR("; see also what was said on "), later,
                                              LC_STR(")")},
                                 6);
    fact->item.known_tokens = 0;
    message->is_exempt = true;
    return fact->tail.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static loci_status judge(lc_context *context, loci_error *err)
{
    const lc_context_input *input = context->input;
    lc_talk_input talk = {.reader = {.rank = input->reader_rank,
                                     .title = input->identity->authority,
                                     .organization = input->identity->organization,
                                     .scope = input->view.scope_id,
                                     .query = input->query}};
    judging j = {0};
    const lc_judged *judged = NULL;
    loci_status status = init_judging(context, &j, err);

    lc_map_init(&j.by_fact_id, context->arena->heap, LOCI_MEM_REQUESTS);
    if (status == LOCI_OK)
        status = index_facts(context, &j, err);
    for (size_t i = 0; i < j.count && status == LOCI_OK; i++) {
        const lc_candidate *of = j.order[i];

        j.said[i] = (lc_said){.kind = of->kind,
                              .key = of->key,
                              .text = of->text,
                              .speaker = of->speaker,
                              .is_model = of->is_model,
                              .seq = of->seq,
                              .successor = find_successor(&j, of)};
    }
    lc_map_clear(&j.by_fact_id);
    talk.said = j.said;
    talk.count = j.count;
    talk.pause = input->pause;
    talk.pause_ctx = input->pause_ctx;
    if (status == LOCI_OK)
        status = lc_talk_judge(input->talk, context->arena, &talk, &judged, err);
    for (size_t i = 0; i < j.count && status == LOCI_OK; i++) {
        j.order[i]->judged = &judged[i];
        if (j.order[i]->kind == LC_SAID_MESSAGE)
            j.order[i]->score *= judged[i].weight;
    }
    for (size_t i = 0; i < j.count && status == LOCI_OK; i++)
        if (judged[i].later != LC_SAID_NONE)
            status = show_beside(context, j.order[i], j.order[judged[i].later], err);
    return status;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static const char *reason_of(lc_verdict verdict)
{
    switch (verdict) {
    case LC_VERDICT_REPLACED:
        return "superseded";
    case LC_VERDICT_RESTRICTED:
        return "restricted";
    default:
        return "scope";
    }
}

/* Sets the line of a candidate, or the reason why there is none. `texts` has the texts of facts and
 * of messages chosen before: a message that repeats one is left out. */
static loci_status show(lc_context *context, lc_candidate *candidate, lc_map *texts,
                        loci_error *err)
{
    const lc_judged *judged = candidate->judged;
    loci_str text = judged != NULL ? judged->text : candidate->text, trimmed = lc_str_trim(text);

    if (judged != NULL && judged->verdict != LC_VERDICT_HOLDS)
        candidate->excluded = reason_of(judged->verdict);
    if (candidate->excluded != NULL)
        return LOCI_OK;
    if (candidate->kind == LC_SAID_MESSAGE && lc_map_find(texts, trimmed) != NULL) {
        candidate->excluded = "duplicate";
        return LOCI_OK;
    }
    if (judged != NULL && candidate->kind != LC_SAID_SUMMARY && trimmed.len > 0 &&
        !lc_map_put(texts, trimmed, context))
        return lc_fail_memory(err);
    if (text.ptr != candidate->text.ptr)
        candidate->item.known_tokens = 0;
    if (context->input->format != LC_CONTEXT_TEXT) {
        loci_status status = lc_format_label(context->arena, candidate, err);

        if (status != LOCI_OK)
            return status;
    }
    candidate->item.text = text;
    if (candidate->lead.len + candidate->tail.len > 0)
        candidate->item.text = lc_context_join(
            context->arena, (loci_str[]){candidate->lead, text, candidate->tail}, 3);
    return candidate->item.text.ptr != NULL ? LOCI_OK : lc_fail_memory(err);
}

static int compare_choice(const void *a, const void *b)
{
    const lc_candidate *x = *(lc_candidate *const *)a, *y = *(lc_candidate *const *)b;
    int x_turn = lc_context_sections[x->item.section].turn;
    int y_turn = lc_context_sections[y->item.section].turn;

    if (x->is_last != y->is_last)
        return x->is_last ? 1 : -1;
    if (x_turn != y_turn)
        return x_turn - y_turn;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* All that could be shown, in the order of choosing, and the packer's part of it. */
typedef struct choice {
    lc_candidate **order;
    size_t count;
    lc_pack_item **items;
    size_t item_count;
} choice;

static loci_status choose(lc_context *context, choice *out, loci_error *err)
{
    lc_map texts;
    loci_status status = LOCI_OK;

    out->order = lc_arena_zalloc_array(context->arena, context->count + 1, sizeof(lc_candidate *));
    out->items = lc_arena_zalloc_array(context->arena, context->count + 1, sizeof(lc_pack_item *));
    if (out->order == NULL || out->items == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < context->count; i++)
        if (!context->candidates[i].is_evidence)
            out->order[out->count++] = &context->candidates[i];
    qsort(out->order, out->count, sizeof(lc_candidate *), compare_choice);
    lc_map_init(&texts, context->arena->heap, LOCI_MEM_REQUESTS);
    for (size_t i = 0; i < out->count && status == LOCI_OK; i++) {
        lc_candidate *candidate = out->order[i];

        if (candidate->left_out != NULL)
            continue;
        status = show(context, candidate, &texts, err);
        if (status == LOCI_OK && candidate->excluded == NULL) {
            out->items[out->item_count++] = &candidate->item;
            if (candidate->item.place == 0)
                candidate->item.place = (int64_t)out->item_count;
        }
    }
    lc_map_clear(&texts);
    return status;
}

/* ---- Duplicates ------------------------------------------------------------------------------ */

static const lc_candidate *find_message(const lc_context *context, loci_str id)
{
    for (size_t i = 0; i < context->count; i++) {
        const lc_candidate *at = &context->candidates[i];

        if (at->kind == LC_SAID_MESSAGE && lc_str_eq(at->item.id, id))
            return at;
    }
    return NULL;
}

/* The message that the candidate was read in, if it can be shown with the sentence. */
static const lc_candidate *find_source(const lc_context *context, const lc_candidate *of)
{
    const lc_candidate *at = find_message(context, of->source_id);

    if (at != NULL && at->excluded == NULL && at->judged != NULL &&
        at->judged->verdict == LC_VERDICT_HOLDS &&
        memmem(at->judged->text.ptr, at->judged->text.len, of->quote.ptr, of->quote.len) != NULL)
        return at;
    return NULL;
}

static bool is_irrelevant(const lc_candidate *of)
{
    return of->excluded != NULL && strcmp(of->excluded, "irrelevant") == 0;
}

/* Are all messages of a summary shown by themselves, except those that must not be shown, or are
 * not about the query: would the summary bring nothing but them? Before packing: can they be? */
static bool has_sources(const lc_context *context, const lc_candidate *of, bool is_packed)
{
    for (size_t i = 0; i < of->source_count; i++) {
        const lc_candidate *at = find_message(context, of->sources[i]);

        if (at == NULL || at->judged == NULL)
            return false;
        if (at->judged->verdict != LC_VERDICT_HOLDS || is_irrelevant(at))
            continue;
        if (at->excluded != NULL || (is_packed && !at->item.is_included))
            return false;
    }
    return of->source_count > 0;
}

/* Leaves out each candidate that was derived from a message if the message itself can be shown. */
static void drop_repeats(lc_context *context)
{
    for (size_t i = 0; i < context->count; i++) {
        lc_candidate *of = &context->candidates[i];

        if (of->excluded == NULL && ((of->source_id.len > 0 && find_source(context, of) != NULL) ||
                                     has_sources(context, of, false)))
            of->excluded = "duplicate";
    }
}

/* After packing: brings back what was left out for a message that did not fit. True if something
 * was. */
static bool restore_repeats(lc_context *context)
{
    bool is_any = false;

    for (size_t i = 0; i < context->count; i++) {
        lc_candidate *of = &context->candidates[i];
        bool is_repeat = of->excluded != NULL &&
                         (of->judged == NULL || of->judged->verdict == LC_VERDICT_HOLDS);
        bool is_summary = is_repeat && of->source_count > 0;
        const lc_candidate *source = is_repeat && of->source_id.len > 0 ? find_source(context, of)
                                                                        : NULL;

        if (is_summary ? has_sources(context, of, true)
                       : source == NULL || source->item.is_included)
            continue;
        of->excluded = NULL;
        is_any = true;
    }
    return is_any;
}

/* ---- The answer ------------------------------------------------------------------------------ */

/* Why the candidate is not in the text; NULL = it is. */
static const char *exclusion_of(const lc_candidate *of)
{
    if (of->left_out != NULL)
        return of->left_out;
    if (of->excluded != NULL)
        return of->excluded;
    return of->item.is_included ? NULL : "budget";
}

/* Why the candidate is in the text. */
static const char *why_of(const lc_context *context, const lc_candidate *of)
{
    bool has_query = context->input->terms.count > 0;

    switch (of->item.section) {
    case LC_SECTION_CONSTRAINTS:
        return "rule";
    case LC_SECTION_FOUNDATION:
        return "pinned";
    case LC_SECTION_TODOS:
        return "open";
    case LC_SECTION_MAP:
        return "window";
    case LC_SECTION_WORKING:
        return "session";
    case LC_SECTION_ENVIRONMENT:
        return "environment";
    default:
        return has_query && !of->is_last && (of->score > 0 && !of->is_exempt) ? "relevant"
                                                                              : "recent";
    }
}

static void add_line(const lc_context *context, const lc_candidate *of, lc_context_lines *lines)
{
    const char *reason = exclusion_of(of);

    if (of->item.id.len == 0)
        return;
    lines->items[lines->count++] = (lc_context_line){
        .id = of->item.id,
        .section = lc_context_sections[of->item.section].pack.name,
        .why = reason == NULL ? why_of(context, of) : NULL,
        .reason = reason,
        .tokens = of->item.tokens,
        .score = of->score,
        .words = of->parts.lexical,
        .meaning = of->parts.vector};
}

/* The manifest: all included lines, then the excluded ones that the answer names. */
static loci_status list_lines(const lc_context *context, const choice *chosen, loci_error *err)
{
    lc_context_lines *lines = context->input->lines;
    size_t included;

    lines->count = 0; /* The call may be run once more, with vectors that were missing. */
    lines->items = lc_arena_zalloc_array(context->arena, chosen->count + 1, sizeof *lines->items);
    if (lines->items == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < chosen->count; i++)
        if (exclusion_of(chosen->order[i]) == NULL)
            add_line(context, chosen->order[i], lines);
    included = lines->count;
    for (size_t i = 0; i < chosen->count && lines->count < included + EXCLUDED_MAX; i++)
        if (exclusion_of(chosen->order[i]) != NULL)
            add_line(context, chosen->order[i], lines);
    return LOCI_OK;
}

static void put_rounded(lc_json_writer *out, const char *name, double part)
{
    lc_jw_member_real(out, name, round(part * 10000) / 10000); /* Enough to compare two items. */
}

/* The score of a candidate that was searched for, and its parts. */
static void put_score(const lc_candidate *of, lc_json_writer *out)
{
    if (of->score <= 0)
        return;
    put_rounded(out, "score", of->score);
    put_rounded(out, "words", of->parts.lexical);
    put_rounded(out, "meaning", of->parts.vector);
}

static void put_included(const lc_context *context, const choice *chosen, lc_json_writer *out)
{
    _Static_assert(offsetof(lc_candidate, item) == 0, "an item of the packer is a candidate");

    lc_jw_name(out, "included");
    lc_jw_array(out);
    for (size_t i = 0; i < chosen->item_count; i++) {
        const lc_pack_item *item = chosen->items[i];
        const lc_candidate *of = (const lc_candidate *)item;

        if (!item->is_included || item->id.len == 0)
            continue;
        lc_jw_object(out);
        lc_jw_member_str(out, "id", item->id);
        lc_jw_member_text(out, "section", lc_context_sections[item->section].pack.name);
        lc_jw_member_int(out, "tokens", item->tokens);
        if (context->input->is_explained) {
            lc_jw_member_text(out, "why", why_of(context, of));
            put_score(of, out);
        }
        lc_jw_end(out);
    }
    lc_jw_end(out);
}

static void put_exclusion(const lc_context *context, const lc_candidate *of, int64_t *left,
                          lc_json_writer *out)
{
    if (of->item.id.len == 0 || (*left)-- <= 0)
        return;
    lc_jw_object(out);
    lc_jw_member_str(out, "id", of->item.id);
    lc_jw_member_text(out, "reason", exclusion_of(of));
    if (context->input->is_explained)
        put_score(of, out);
    lc_jw_end(out);
}

/* Counts what was not chosen, and names the best of it: what lost its place first, then what the
 * sections left out and counted themselves, then facts that ended. */
static void put_excluded(lc_context *context, const choice *chosen, lc_json_writer *out)
{
    int64_t left = EXCLUDED_MAX;

    lc_jw_name(out, "excluded");
    lc_jw_array(out);
    for (size_t i = 0; i < chosen->count; i++) {
        const char *reason = exclusion_of(chosen->order[i]);

        if (reason == NULL || chosen->order[i]->left_out != NULL)
            continue;
        lc_context_count(context, reason, 1);
        put_exclusion(context, chosen->order[i], &left, out);
    }
    for (size_t i = 0; i < chosen->count; i++)
        if (chosen->order[i]->left_out != NULL)
            put_exclusion(context, chosen->order[i], &left, out);
    for (size_t i = 0; i < context->count; i++)
        if (context->candidates[i].is_evidence && context->candidates[i].left_out != NULL)
            put_exclusion(context, &context->candidates[i], &left, out);
    lc_jw_end(out);
    lc_jw_name(out, "excluded_counts");
    lc_jw_object(out);
    for (size_t i = 0; i < LC_CONTEXT_REASONS; i++)
        if (context->counts[i] > 0)
            lc_jw_member_int(out, reasons[i], context->counts[i]);
    lc_jw_end(out);
}

int64_t lc_context_budget(int64_t asked, double tokens_ratio)
{
    int64_t budget = tokens_ratio > 1 ? (int64_t)((double)asked / tokens_ratio) : asked;

    return budget > 0 ? budget : 1;
}

static int64_t in_model_tokens(const lc_context_input *input, int64_t counted)
{
    return (int64_t)ceil((double)counted * input->tokens_ratio);
}

/* The error of the packer, in tokens of the model. */
static void restate_needed(const lc_context_input *input, int64_t counted, loci_error *err)
{
    char data[64];
    int64_t needed = in_model_tokens(input, counted) + 1; /* Dividing it again rounds down. */

    (void)lc_fail(
        err, LOCI_EBUDGET,
        "a budget of %lld tokens of the model is too small: what must be in it needs %lld",
        (long long)input->asked_budget, (long long)needed);
    (void)snprintf(data, sizeof data, "{\"needed\":%lld}", (long long)needed);
    lc_error_set_data(err, loci_str_of(data));
}

static void put_tokens(const lc_pack *pack, const lc_context_input *input, lc_json_writer *out)
{
    lc_jw_name(out, "tokens");
    lc_jw_object(out);
    for (size_t i = 0; i < pack->section_count; i++)
        if (pack->section_tokens[i] > 0)
            lc_jw_member_int(out, pack->sections[i].name, pack->section_tokens[i]);
    lc_jw_member_int(out, "total", pack->tokens);
    lc_jw_end(out);
    lc_jw_member_int(out, "budget", input->asked_budget);
    if (input->tokens_ratio > 0)
        lc_jw_member_int(out, "model_tokens", in_model_tokens(input, pack->tokens));
    lc_jw_member_bool(out, "estimated", input->is_estimated);
    lc_jw_member_text(out, "pressure", input->pressure);
}

static void put_warnings(const lc_context *context, lc_json_writer *out)
{
    lc_jw_name(out, "warnings");
    lc_jw_array(out);
    if (context->input->is_estimated)
        lc_jw_text(out, context->input->is_estimate_wanted
                            ? "tokens are estimated"
                            : "tokens are estimated: the data of the encoding is not installed");
    if (!context->is_complete)
        lc_jw_text(out, "an index is still being built: facts or messages may be missing");
    if (context->input->warning.ptr != NULL)
        lc_jw_str(out, context->input->warning);
    if (context->input->pressure_warning.ptr != NULL)
        lc_jw_str(out, context->input->pressure_warning);
    lc_jw_end(out);
}

static loci_status pack_and_answer(lc_context *context, choice *chosen, lc_json_writer *out,
                                   loci_error *err)
{
    lc_pack_section sections[LC_SECTION_COUNT];
    int64_t section_tokens[LC_SECTION_COUNT] = {0};
    lc_pack pack = {.sections = sections,
                    .section_count = LC_SECTION_COUNT,
                    .items = chosen->items,
                    .item_count = chosen->item_count,
                    .budget = context->input->budget,
                    .counter = context->input->counter,
                    .style = lc_format_style(context->input->format),
                    .is_fenced = context->input->format != LC_CONTEXT_TEXT,
                    .fenced_from = LC_FORMAT_FENCED_FROM,
                    .section_tokens = section_tokens};
    lc_buf text;
    loci_status status;

    for (size_t i = 0; i < LC_SECTION_COUNT; i++)
        sections[i] = lc_context_sections[i].pack;
    lc_buf_init(&text, context->arena->heap, LOCI_MEM_REQUESTS, LC_CONTEXT_BYTES_MAX);
    status = lc_pack_run(&pack, &text, err);
    if (status == LOCI_EBUDGET && context->input->tokens_ratio > 1)
        restate_needed(context->input, pack.tokens, err);
    if (status == LOCI_OK && restore_repeats(context)) {
        *chosen = (choice){0};
        status = choose(context, chosen, err);
        pack.items = chosen->items;
        pack.item_count = chosen->item_count;
        memset(section_tokens, 0, sizeof section_tokens);
        lc_buf_reset(&text);
        if (status == LOCI_OK)
            status = lc_pack_run(&pack, &text, err);
    }
    if (status == LOCI_OK) {
        lc_jw_member_str(out, "text", lc_buf_str(&text));
        if (context->input->format == LC_CONTEXT_MESSAGES)
            lc_format_put_request(context->input, lc_buf_str(&text), pack.prefix_bytes, out);
        put_included(context, chosen, out);
        put_excluded(context, chosen, out);
        put_tokens(&pack, context->input, out);
        put_warnings(context, out);
    }
    if (status == LOCI_OK && context->input->lines != NULL) {
        context->input->lines->tokens = pack.tokens;
        status = list_lines(context, chosen, err);
    }
    lc_buf_clear(&text);
    return status;
}

static loci_status build(lc_context *context, lc_json_writer *out, loci_error *err)
{
    choice chosen = {0};
    loci_status status = collect(context, err);

    if (status == LOCI_OK)
        status = judge(context, err);
    if (status == LOCI_OK) {
        lc_context_drop_irrelevant(context);
        drop_repeats(context);
        status = choose(context, &chosen, err);
    }
    return status == LOCI_OK ? pack_and_answer(context, &chosen, out, err) : status;
}

loci_status lc_context_build(lc_tx *tx, const lc_context_input *input, lc_json_writer *out,
                             loci_error *err)
{
    lc_context context = {.tx = tx, .input = input, .arena = input->arena, .is_complete = true};
    loci_status status = build(&context, out, err);

    /* The critical handles of a frame that fit in its part of the budget are shown as they are, and
     * then what is mandatory may be too long as a whole. */
    if (status != LOCI_EBUDGET || input->frame_id.ptr == NULL)
        return status;
    context = (lc_context){.tx = tx,
                           .input = input,
                           .arena = input->arena,
                           .is_complete = true,
                           .is_frame_trimmed = true};
    return build(&context, out, err);
}
