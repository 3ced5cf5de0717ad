/* talk.c - judging messages: marks first, then clauses that repeat a lost value.
 *
 * Lost values are few (the facts that ended last), so each clause is compared with all of them; a
 * 64-bit Bloom filter avoids nearly every full comparison.
 */
#include "talk/talk.h"

#include <string.h>

#include "base/error.h"
#include "talk/block.h"
#include "talk/statement.h"
#include "talk/value.h"

#define TAKEN_BACK_EVENTS 12 /* Events after which nothing is taken back: some four turns. */
#define FORMER_TERMS_MAX 4
#define OTHERS_MAX 2          /* Words beside the former value that say no more than the new one. */
#define BLOCK_MESSAGES_MAX 12 /* Of a stretch that is set apart, its ends included. */
#define BLOCK_WEIGHT 0.25F
#define RETRACTIONS_MAX 64

struct lc_talk {
    lc_heap *heap;
    lc_ranking *ranking;
    lc_lexicon lexicon;
};

loci_status lc_talk_new(lc_heap *heap, lc_ranking *ranking, lc_talk **out, loci_error *err)
{
    lc_talk *talk = lc_heap_zalloc(heap, sizeof *talk, LOCI_MEM_REQUESTS);

    if (talk == NULL)
        return lc_fail_memory(err);
    talk->heap = heap;
    talk->ranking = ranking;
    lc_lexicon_init(&talk->lexicon);
    *out = talk;
    return LOCI_OK;
}

void lc_talk_free(lc_talk *talk)
{
    if (talk != NULL)
        lc_heap_free(talk->heap, talk, sizeof *talk, LOCI_MEM_REQUESTS);
}

const lc_lexicon *lc_talk_lexicon(const lc_talk *talk)
{
    return &talk->lexicon;
}

/* A message that names a value as one that is not so. */
typedef struct retraction {
    size_t by;
    lc_terms clause; /* That says it, */
    lc_terms former; /* and the value, a part of it. */
} retraction;

typedef struct judging {
    const lc_lexicon *lexicon;
    lc_arena *arena;
    const lc_talk_input *input;
    const lc_said *said;
    size_t count;
    lc_judged *judged; /* By thing said. */
    lc_terms *terms;   /* By thing said, once read. */
    lc_lost_value *lost;
    size_t lost_count;
    retraction *retractions;
    size_t retraction_count;
} judging;

/* ---- Lost values ----------------------------------------------------------------------------- */

static loci_status read(judging *j, size_t index, loci_error *err)
{
    if (j->terms[index].at != NULL)
        return LOCI_OK;
    return lc_terms_read(j->lexicon, j->arena, j->said[index].text, &j->terms[index], err);
}

/* A value that some fact still has is not lost. */
static bool is_current(const judging *j, loci_str text)
{
    for (size_t i = 0; i < j->count; i++)
        if (j->said[i].kind == LC_SAID_FACT && j->judged[i].verdict == LC_VERDICT_HOLDS &&
            lc_str_eq(lc_str_trim(j->said[i].text), lc_str_trim(text)))
            return true;
    return false;
}

/* Is the text all of some message, but for a name in front? */
static bool is_message(const judging *j, loci_str text)
{
    text = lc_str_trim(text);
    for (size_t i = 0; i < j->count; i++) {
        loci_str said = lc_str_trim(j->said[i].text);

        if (j->said[i].kind == LC_SAID_MESSAGE && said.len >= text.len && 2 * text.len > said.len &&
            memcmp(said.ptr + said.len - text.len, text.ptr, text.len) == 0)
            return true;
    }
    return false;
}

/* Facts that are messages word for word are a log of messages: the next entry of a log does not
 * make the one before it untrue. */
static bool is_log(const judging *j, const lc_said *former)
{
    return former->kind == LC_SAID_FORMER && former->successor != LC_SAID_NONE &&
           j->said[former->successor].kind == LC_SAID_FACT && is_message(j, former->text) &&
           is_message(j, j->said[former->successor].text);
}

/* The current value in the chain behind a former value: values are replaced again and again. */
static size_t current_successor(const judging *j, size_t index)
{
    size_t steps = j->count;

    while (index != LC_SAID_NONE && j->said[index].kind == LC_SAID_FORMER && steps-- > 0)
        index = j->said[index].successor;
    return index != LC_SAID_NONE && j->said[index].kind != LC_SAID_FORMER ? index : LC_SAID_NONE;
}

static loci_status lose(judging *j, size_t index, loci_error *err)
{
    const lc_said *said = &j->said[index];
    size_t next = current_successor(j, index);
    lc_terms key = {{0}}, successor = {{0}};
    loci_status status = read(j, index, err);

    if (status == LOCI_OK && said->key.len > 0)
        status = lc_terms_read_key(j->lexicon, j->arena, said->key, &key, err);
    /* A successor that was withdrawn itself proves nothing. */
    if (status == LOCI_OK && next != LC_SAID_NONE && j->judged[next].verdict == LC_VERDICT_HOLDS) {
        status = read(j, next, err);
        successor = j->terms[next];
    }
    if (status == LOCI_OK)
        j->lost[j->lost_count++] = lc_lost_value_of(key, j->terms[index], successor);
    return status;
}

/* Are two signals about one thing: do they share two words, with a name among them, or two fifths
 * of the shorter one? */
static bool is_same_subject(lc_terms a, lc_terms b)
{
    size_t shared = 0, names = 0, of_a = lc_terms_content(a), of_b = lc_terms_content(b);

    for (size_t i = 0; i < a.count; i++) {
        bool is_shared = lc_term_is_content(&a.at[i]) && lc_terms_have_sense(b, a.at[i].sense);

        shared += is_shared;
        names += is_shared && a.at[i].kind == LC_TERM_NAME;
    }
    return shared >= 2 && (names > 0 || shared * 5 >= 2 * (of_a < of_b ? of_a : of_b));
}

/* Finds the later signal that takes the place of the one at `index`. */
static loci_status replace_signal(judging *j, size_t index, loci_error *err)
{
    loci_status status = read(j, index, err);

    for (size_t i = index + 1; i < j->count && status == LOCI_OK; i++) {
        if (j->said[i].kind != LC_SAID_SIGNAL)
            continue;
        status = read(j, i, err);
        if (status != LOCI_OK || !is_same_subject(j->terms[index], j->terms[i]))
            continue;
        j->judged[index].verdict = LC_VERDICT_REPLACED;
        j->lost[j->lost_count++] = lc_lost_value_of((lc_terms){{0}}, j->terms[index], j->terms[i]);
        break;
    }
    return status;
}

static loci_status collect_lost(judging *j, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < j->count && status == LOCI_OK; i++) {
        const lc_said *said = &j->said[i];
        bool is_lost = said->kind == LC_SAID_FORMER ||
                       (said->kind == LC_SAID_FACT && j->judged[i].verdict == LC_VERDICT_REPLACED);

        if (is_lost && !is_current(j, said->text) && !is_log(j, said))
            status = lose(j, i, err);
        if (said->kind == LC_SAID_SIGNAL && status == LOCI_OK &&
            j->judged[i].verdict == LC_VERDICT_HOLDS)
            status = replace_signal(j, i, err);
    }
    return status;
}

/* ---- Taken back ------------------------------------------------------------------------------ */

/* Is the word at `at` between two values, the second of which is denied? "Anna did not go to Oslo"
 * and "let's instead meet on Friday" name one value only. */
static bool is_replacing(lc_terms clause, size_t at)
{
    if (!lc_term_in(&clause.at[at], LC_WORDS_REPLACING))
        return false;
    if (lc_term_is(clause, at, "not"))
        return at == 0 || lc_term_is_content(&clause.at[at - 1]) ||
               lc_term_is(clause, at - 1, "and") || lc_term_is(clause, at - 1, "but");
    if (lc_term_is(clause, at, "instead"))
        return lc_term_is(clause, at + 1, "of");
    return !lc_term_is(clause, at, "rather") || lc_term_is(clause, at + 1, "than");
}

/* "Bergen, not Oslo", "Bergen instead of Oslo": the terms behind such words, up to the next mark.
 */
static lc_terms named_former(lc_terms clause)
{
    for (size_t at = 0; at + 1 < clause.count; at++) {
        size_t first = at + 1, end;

        if (!is_replacing(clause, at))
            continue;
        first += lc_term_is(clause, first, "of") || lc_term_is(clause, first, "than");
        for (end = first; end < clause.count && end < first + FORMER_TERMS_MAX; end++)
            if (clause.at[end].after != 0) {
                end++;
                break;
            }
        return lc_terms_part(clause, first, end - first);
    }
    return (lc_terms){{0}};
}

/* Finds the messages that name a value as one that is not so, together with another. */
static loci_status collect_retractions(judging *j, loci_error *err)
{
    j->retractions = lc_arena_zalloc_array(j->arena, RETRACTIONS_MAX, sizeof *j->retractions);
    if (j->retractions == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < j->count; i++)
        for (size_t at = 0; j->said[i].kind == LC_SAID_MESSAGE && at < j->terms[i].count &&
                            j->retraction_count < RETRACTIONS_MAX;) {
            lc_terms clause = lc_clause_at(j->terms[i], at);
            lc_terms former = named_former(clause);
            lc_value_kind kind = lc_value_kind_of(former);

            if (kind != LC_VALUE_NONE && kind != LC_VALUE_WORDS && kind != LC_VALUE_STATE &&
                lc_terms_content(clause) > lc_terms_content(former))
                j->retractions[j->retraction_count++] = (retraction){i, clause, former};
            at += clause.count;
        }
    return LOCI_OK;
}

/* Is a retraction about the clause: has it the value, and shares another word with it? "Bergen, not
 * Oslo" has only the values, and is about the message before it. */
static bool is_retracted(const retraction *r, lc_terms clause)
{
    size_t others = 0;
    bool is_shared = false;

    for (size_t t = 0; t < r->former.count; t++)
        if (lc_term_is_content(&r->former.at[t]) &&
            !lc_terms_have_sense(clause, r->former.at[t].sense))
            return false;
    for (size_t t = 0; t < r->clause.count; t++) {
        const lc_term *term = &r->clause.at[t];

        if (!lc_term_is_content(term) || lc_terms_have_sense(r->former, term->sense) ||
            lc_term_in(term, LC_WORDS_FILLERS) || lc_term_in(term, LC_WORDS_CORRECTING) ||
            lc_term_in(term, LC_WORDS_REPLACING))
            continue;
        others++;
        is_shared |= lc_terms_have_sense(clause, term->sense);
    }
    return is_shared || others <= OTHERS_MAX;
}

static bool has_all(lc_terms text, lc_terms key)
{
    size_t content = 0;

    for (size_t i = 0; i < key.count; i++) {
        content += lc_term_is_content(&key.at[i]);
        if (lc_term_is_content(&key.at[i]) && !lc_terms_have_sense(text, key.at[i].sense))
            return false;
    }
    return content > 0;
}

/* Does the same speaker take the clause back within the next turns? A summary has no speaker and
 * may join several turns: any retraction is about it, unless the clause is that retraction. */
static bool is_taken_back(const judging *j, size_t index, lc_terms clause)
{
    const lc_said *said = &j->said[index];

    for (size_t i = 0; i < j->retraction_count; i++) {
        const retraction *r = &j->retractions[i];
        const lc_said *by = &j->said[r->by];
        bool may_be = said->kind == LC_SAID_SUMMARY
                          ? !has_all(clause, r->clause)
                          : r->by > index && by->seq - said->seq <= TAKEN_BACK_EVENTS &&
                                lc_str_eq(by->speaker, said->speaker);

        if (may_be && is_retracted(r, clause))
            return true;
    }
    return false;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static bool is_lost(const judging *j, lc_terms clause, bool is_echo)
{
    uint64_t bits = lc_sense_bits(clause);

    for (size_t i = 0; i < j->lost_count; i++)
        if (lc_lost_value_is_stated(&j->lost[i], clause, bits, is_echo))
            return true;
    return false;
}

/* Where code begins in the text from `from` on, or `to` when there is none before it. */
static size_t find_code(loci_str text, size_t from, size_t to)
{
    for (size_t at = from; at + 3 <= to; at++)
        if (memcmp(text.ptr + at, "```", 3) == 0)
            return at;
    return to;
}

/* Where the text of a clause begins: signs in front of its first word belong to it. */
static size_t clause_start(lc_terms text, size_t first)
{
    size_t start = text.at[first].start;
    size_t before = first > 0 ? text.at[first - 1].start + text.at[first - 1].bytes : 0;

    if (first == 0 && find_code(text.text, 0, start) == start)
        return 0;
    while (start > before && text.text.ptr[start - 1] != ' ' && text.text.ptr[start - 1] != '\n')
        start--;
    return start;
}

/* Where the text of the clause in front of term `next` ends: before the next clause, before code,
 * and before the part that was not read. */
static size_t clause_end(lc_terms text, size_t next)
{
    const lc_term *last = &text.at[next - 1];
    size_t read = text.text.len < LC_TERMS_BYTES_MAX ? text.text.len : LC_TERMS_BYTES_MAX;

    return find_code(text.text, last->start + last->bytes,
                     next < text.count ? clause_start(text, next) : read);
}

/* Leaves out the clauses that do not hold; what was not read is kept. */
static loci_status judge_message(judging *j, size_t index, loci_error *err)
{
    lc_terms text = j->terms[index];
    lc_judged *judged = &j->judged[index];
    size_t bytes = 0;
    char *kept = NULL;

    for (size_t first = 0, next; first < text.count; first = next) {
        lc_terms clause = lc_clause_at(text, first);
        size_t start = clause_start(text, first), end;

        next = first + clause.count;
        end = next < text.count ? clause_start(text, next) : text.text.len;
        if (is_lost(j, clause, j->said[index].is_model) || is_taken_back(j, index, clause)) {
            if (kept == NULL) {
                kept = lc_arena_alloc(j->arena, text.text.len + 1);
                if (kept == NULL)
                    return lc_fail_memory(err);
                memcpy(kept, text.text.ptr, start);
                bytes = start;
            }
            start = clause_end(text, next);
        }
        if (kept != NULL) {
            memcpy(kept + bytes, text.text.ptr + start, end - start);
            bytes += end - start;
        }
    }
    if (kept == NULL)
        return LOCI_OK;
    judged->text = lc_str_trim((loci_str){kept, bytes});
    if (judged->text.len == 0)
        judged->verdict = LC_VERDICT_REPLACED;
    return LOCI_OK;
}

static loci_status pause_point(const judging *j, loci_error *err)
{
    return j->input->pause != NULL ? j->input->pause(j->input->pause_ctx, err) : LOCI_OK;
}

/* Is it a message or a summary that its mark allows? */
static bool is_read(const judging *j, size_t index)
{
    return (j->said[index].kind == LC_SAID_MESSAGE || j->said[index].kind == LC_SAID_SUMMARY) &&
           j->judged[index].verdict == LC_VERDICT_HOLDS;
}

static loci_status judge_messages(judging *j, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < j->count && status == LOCI_OK; i++)
        if (is_read(j, i)) {
            status = pause_point(j, err);
            if (status == LOCI_OK)
                status = read(j, i, err);
        }
    if (status == LOCI_OK)
        status = collect_retractions(j, err);
    for (size_t i = 0; i < j->count && status == LOCI_OK; i++)
        if (is_read(j, i)) {
            status = pause_point(j, err);
            if (status == LOCI_OK)
                status = judge_message(j, i, err);
        }
    return status;
}

/* ---- Stretches set apart --------------------------------------------------------------------- */

/* Takes rank from the messages between a cue that opens and the one that closes. */
static void weigh_blocks(judging *j)
{
    size_t opened[2] = {LC_SAID_NONE, LC_SAID_NONE}, messages[2] = {0}; /* Asides, playing. */

    for (size_t i = 0; i < j->count; i++) {
        lc_block_cue cue;

        if (j->said[i].kind != LC_SAID_MESSAGE || j->terms[i].at == NULL)
            continue;
        cue = lc_block_cue_of(j->terms[i]);
        for (int kind = 0; kind < 2; kind++) {
            bool opens = cue == (kind == 0 ? LC_BLOCK_OPENS_ASIDE : LC_BLOCK_OPENS_PLAY);
            bool closes = cue == (kind == 0 ? LC_BLOCK_CLOSES_ASIDE : LC_BLOCK_CLOSES_PLAY);

            messages[kind]++;
            if (closes && opened[kind] != LC_SAID_NONE && messages[kind] <= BLOCK_MESSAGES_MAX)
                for (size_t k = opened[kind]; k < i; k++)
                    j->judged[k].weight = BLOCK_WEIGHT;
            if (opens || closes) {
                opened[kind] = opens ? i : LC_SAID_NONE;
                messages[kind] = 1;
            }
        }
    }
}

/* ---- Facts and later talk -------------------------------------------------------------------- */

/* Finds, for each fact with a key, the last message after it that names the key and does not just
 * repeat the value. */
static loci_status find_later(judging *j, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t f = 0; f < j->count && status == LOCI_OK; f++) {
        lc_terms key;

        if (j->said[f].kind != LC_SAID_FACT || j->said[f].key.len == 0 ||
            j->judged[f].verdict != LC_VERDICT_HOLDS)
            continue;
        status = lc_terms_read_key(j->lexicon, j->arena, j->said[f].key, &key, err);
        if (status == LOCI_OK)
            status = read(j, f, err);
        for (size_t i = j->count; i-- > f + 1 && status == LOCI_OK;)
            if (j->said[i].kind == LC_SAID_MESSAGE && j->judged[i].verdict == LC_VERDICT_HOLDS &&
                has_all(j->terms[i], key) && !has_all(j->terms[i], j->terms[f])) {
                j->judged[f].later = i;
                break;
            }
    }
    return status;
}

static lc_verdict verdict_of(lc_mark_verdict mark)
{
    switch (mark) {
    case LC_MARK_WITHDRAWN:
        return LC_VERDICT_REPLACED;
    case LC_MARK_RESTRICTED:
        return LC_VERDICT_RESTRICTED;
    case LC_MARK_SUPPOSED:
        return LC_VERDICT_SUPPOSED;
    default:
        return LC_VERDICT_HOLDS;
    }
}

loci_status lc_talk_judge(const lc_talk *talk, lc_arena *arena, const lc_talk_input *input,
                          const lc_judged **out, loci_error *err)
{
    const lc_said *said = input->said;
    size_t count = input->count;
    judging j = {.lexicon = &talk->lexicon,
                 .arena = arena,
                 .input = input,
                 .said = said,
                 .count = count,
                 .judged = lc_arena_zalloc_array(arena, count + 1, sizeof *j.judged),
                 .terms = lc_arena_zalloc_array(arena, count + 1, sizeof *j.terms),
                 .lost = lc_arena_zalloc_array(arena, count + 1, sizeof *j.lost)};
    loci_status status = LOCI_OK;

    if (j.judged == NULL || j.terms == NULL || j.lost == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        j.judged[i] = (lc_judged){
            .verdict = said[i].kind == LC_SAID_FORMER
                           ? LC_VERDICT_REPLACED
                           : verdict_of(lc_mark_judge(said[i].text, &input->reader, talk->ranking)),
            .text = said[i].text,
            .later = LC_SAID_NONE,
            .weight = 1};
    status = collect_lost(&j, err);
    if (status == LOCI_OK)
        status = judge_messages(&j, err);
    if (status == LOCI_OK)
        status = find_later(&j, err);
    if (status == LOCI_OK)
        weigh_blocks(&j);
    *out = j.judged;
    return status;
}
