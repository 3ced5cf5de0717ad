/* propose.c - finding the fact that a sentence gives another value.
 *
 * The message is read once, then each clause that means what it says is tried: first what it names
 * outright, then what it can only be about (propose_fact.c). */
#include "base/error.h"
#include "base/str.h"
#include "talk/proposing.h"

#define EXPLORING_MAX 10 /* Turns of people until an exploration that nobody closed lapses. */

const char *lc_rule_name(lc_rule rule)
{
    static const char *const names[] = {"explicit", "implicit", "authority", "temporal"};

    return names[rule];
}

/* Does the message have most of the value? */
static bool states(lc_terms message, lc_terms value)
{
    size_t content = 0, said = 0;

    for (size_t i = 0; i < value.count; i++) {
        if (!lc_term_is_content(value.at[i].kind))
            continue;
        content++;
        said += lc_terms_have(message, value.at[i].sense);
    }
    return content > 0 && said * 5 >= content * 3;
}

static loci_status read_candidate(lc_proposing *p, size_t index, loci_error *err)
{
    const lc_propose_input *input = p->input;
    lc_candidate *c = &p->candidates[index];
    loci_str words = lc_arena_copy(p->arena, input->known[index].key);
    loci_status status;

    if (words.ptr == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < words.len; i++) /* "order_quantity" as words. */
        if (strchr("_.-/:", words.ptr[i]) != NULL)
            ((char *)(uintptr_t)words.ptr)[i] = ' ';
    status = lc_terms_read(lc_talk_lexicon(p->talk), p->arena, words, &c->key, err);
    if (status == LOCI_OK)
        status = lc_terms_read(lc_talk_lexicon(p->talk), p->arena, input->known[index].value,
                               &c->value, err);
    if (status != LOCI_OK)
        return status;
    c->is_tentative = lc_terms_have_in(c->value, LC_WORDS_TENTATIVE);
    c->age = LC_SAID_NONE;
    c->stated_in = lc_arena_zalloc_array(p->arena, input->before_count + 1, sizeof *c->stated_in);
    if (c->stated_in == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < input->before_count; i++) {
        const lc_unit *unit = &p->before[i];
        bool is_person = !input->before[i].is_model;

        c->age += c->age != LC_SAID_NONE && is_person;
        if (!states(unit->terms, c->value))
            continue;
        c->is_utterance |= lc_str_eq(unit->terms.text, c->value.text);
        c->stated_in[c->stated_count++] = i;
        if (is_person) {
            c->age = 0;
            c->is_tentative |= lc_terms_have_in(unit->terms, LC_WORDS_TENTATIVE);
        }
    }
    return LOCI_OK;
}

static loci_status read_all(lc_proposing *p, loci_error *err)
{
    const lc_propose_input *input = p->input;
    loci_status status = lc_unit_read(p->talk, p->arena, input->message, &p->message, err);

    p->candidates = lc_arena_zalloc_array(p->arena, input->known_count + 1, sizeof *p->candidates);
    p->before = lc_arena_zalloc_array(p->arena, input->before_count + 1, sizeof *p->before);
    if (p->candidates == NULL || p->before == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < input->before_count && status == LOCI_OK; i++) {
        lc_unit *unit = &p->before[i];

        status = lc_unit_read(p->talk, p->arena, input->before[i].text, unit, err);
        if (input->before[i].is_model)
            continue;
        if (p->exploring > 0)
            p->exploring--;
        if (lc_unit_has(unit, LC_CUE_EXPLORE_OPEN))
            p->exploring = EXPLORING_MAX;
        if (lc_unit_has(unit, LC_CUE_EXPLORE_CLOSE))
            p->exploring = 0;
    }
    for (size_t i = 0; i < input->known_count && status == LOCI_OK; i++)
        status = read_candidate(p, i, err);
    return status;
}

/* Has the value all of these amounts, and are there any? */
static bool has_amounts(lc_terms value, lc_terms amounts)
{
    size_t count = 0;

    for (size_t i = 0; i < amounts.count; i++) {
        if (!lc_term_is_amount(amounts.at[i].kind))
            continue;
        count++;
        if (!lc_terms_have(value, amounts.at[i].sense))
            return false;
    }
    return count > 0;
}

/* "Back to card-based UI": a value that was there before, in the slot that replaced it. */
static size_t reverted(const lc_proposing *p, const lc_unit_clause *clause)
{
    for (size_t i = p->input->known_count; i-- > 0;) {
        const lc_known *known = &p->input->known[i];

        if (!known->is_former || known->successor >= p->input->known_count ||
            p->input->known[known->successor].is_former)
            continue;
        if (lc_value_is_in(clause->cues.value, p->candidates[i].value) ||
            (lc_key_is_named(p->candidates[i].key, clause->terms) &&
             has_amounts(p->candidates[i].value, clause->cues.amount)))
            return i;
    }
    return LC_SAID_NONE;
}

static lc_rule rule_of(const lc_proposing *p, uint32_t cues)
{
    if (p->message.attribution.has_title)
        return LC_RULE_AUTHORITY;
    if ((cues & LC_CUE_CORRECT) != 0)
        return LC_RULE_EXPLICIT;
    return (cues & LC_CUE_UPDATE) != 0 ? LC_RULE_TEMPORAL : LC_RULE_IMPLICIT;
}

/* The only amount of this kind in a value, or LC_SAID_NONE. */
static size_t only_amount(lc_terms value, lc_term_kind kind)
{
    size_t found = LC_SAID_NONE;

    for (size_t i = 0; i < value.count; i++) {
        if (value.at[i].kind != kind)
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}

/* Is the new value no more than another amount for the old one, as 55, or 55 chairs, for 40 chairs?
 */
static bool is_bare(lc_terms value, lc_terms old, size_t at)
{
    /* Another day may have another hour. */
    if (!lc_term_is_amount(value.at[0].kind) || value.at[0].kind == LC_TERM_DATE)
        return false;
    return value.count == 1 ||
           (value.count == 2 && at + 1 < old.count && value.at[1].sense == old.at[at + 1].sense);
}

/* The terms of `part`, one after another, in the value: their index, or LC_SAID_NONE. */
static size_t place_of(lc_terms part, lc_terms value)
{
    for (size_t at = 0; part.count > 0 && at + part.count <= value.count; at++) {
        size_t same = 0;

        while (same < part.count && part.at[same].sense == value.at[at + same].sense)
            same++;
        if (same == part.count)
            return at;
    }
    return LC_SAID_NONE;
}

/* The old value with `text` in the place of those of its terms that are `gone`. */
static loci_status splice(const lc_proposing *p, lc_terms old, lc_terms gone, loci_str text,
                          loci_str *out, loci_error *err)
{
    size_t start = gone.at[0].start;
    size_t end = start + lc_terms_text(gone).len;
    char *whole = lc_arena_alloc(p->arena, old.text.len + text.len + 1);

    if (whole == NULL)
        return lc_fail_memory(err);
    memcpy(whole, old.text.ptr, start);
    memcpy(whole + start, text.ptr, text.len);
    memcpy(whole + start + text.len, old.text.ptr + end, old.text.len - end);
    *out = (loci_str){whole, old.text.len - (end - start) + text.len};
    return LOCI_OK;
}

/* "Ravi's" is Ravi. */
static loci_str without_owner(loci_str text)
{
    if (text.len > 2 && text.ptr[text.len - 1] == 's' && text.ptr[text.len - 2] == '\'')
        text.len -= 2;
    else if (text.len > 4 && text.ptr[text.len - 1] == 's' &&
             memcmp(text.ptr + text.len - 4, "\xE2\x80\x99", 3) == 0)
        text.len -= 4;
    return text;
}

/* The value as it is kept: a bare amount takes the place of the amount in the old value, so that
 * "make it 55" leaves the chairs; so does what is named with the part that it replaces. */
static loci_status merge(const lc_proposing *p, const lc_candidate *c, const lc_unit_clause *clause,
                         lc_terms value, loci_str *out, loci_error *err)
{
    size_t at = only_amount(c->value, value.at[0].kind),
           part = place_of(clause->cues.former, c->value);

    *out = without_owner(lc_terms_text(value));
    if (part != LC_SAID_NONE)
        return splice(p, c->value, lc_terms_part(c->value, part, clause->cues.former.count), *out,
                      out, err);
    if (at == LC_SAID_NONE || !is_bare(value, c->value, at))
        return LOCI_OK;
    return splice(p, c->value, lc_terms_part(c->value, at, 1),
                  lc_terms_text(lc_terms_part(value, 0, 1)), out, err);
}

/* "meeting on Friday" is Friday where the key says that it is the meeting. */
static lc_terms without_subject(const lc_candidate *c, lc_terms value)
{
    for (size_t i = 0; i + 1 < value.count; i++) {
        if (i > 0 && lc_term_in(&value.at[i], LC_WORDS_VALUE_JOINTS))
            return lc_terms_part(value, i + 1, value.count - i - 1);
        if (lc_term_is_content(value.at[i].kind) && !lc_terms_have(c->key, value.at[i].sense))
            break;
    }
    return value;
}

/* Is the value part of what somebody is quoted with? The mark that opens the quotation may have
 * been cut off at the front of the message. */
static bool is_quoted(lc_terms clause, lc_terms value)
{
    size_t end = clause.at[clause.count - 1].start + clause.at[clause.count - 1].bytes;
    size_t before = 0, after = 0, words = 0;

    for (size_t i = clause.at[0].start; i < end; i++) {
        bool is_mark = clause.text.ptr[i] == '"';

        before += is_mark && i < value.at[0].start;
        after += is_mark && i >= value.at[0].start;
        words += before % 2 != 0 && i < value.at[0].start && clause.text.ptr[i] == ' ';
    }
    return (before + after) % 2 != 0 || (before % 2 != 0 && words > 1);
}

static loci_status propose(const lc_proposing *p, const lc_unit_clause *clause, lc_proposal *out,
                           size_t *count, loci_error *err)
{
    uint32_t cues = clause->cues.bits;
    bool is_contrast = (cues & LC_CUE_VALUE) == 0 && clause->cues.former.count > 0;
    lc_terms value = (cues & LC_CUE_VALUE) != 0 || is_contrast ? clause->cues.value
                                                               : clause->cues.amount;
    size_t index;

    if ((cues & LC_CUES_NOT_MEANT) != 0 || value.count == 0)
        return LOCI_OK;
    if ((cues & LC_CUE_REVERT) != 0) {
        index = reverted(p, clause);
        if (index != LC_SAID_NONE) {
            out[(*count)++] = (lc_proposal){p->input->known[index].successor,
                                            p->input->known[index].value, rule_of(p, cues)};
            return LOCI_OK;
        }
    }
    index = lc_propose_by_implication(p, clause, lc_propose_plain_value(value));
    if (index != LC_SAID_NONE)
        value = lc_propose_plain_value(value);
    else
        index = is_contrast ? lc_propose_by_contrast(p, clause, value)
                            : lc_propose_find(p, clause, value);
    if (index == LC_SAID_NONE || is_quoted(clause->terms, value) ||
        ((cues & LC_CUE_VALUE) == 0 && !is_contrast &&
         !lc_value_looks_alike(p->candidates[index].value, value)))
        return LOCI_OK;
    value = without_subject(&p->candidates[index], value);
    if (lc_terms_state(p->candidates[index].key, value))
        return LOCI_OK; /* It says what the fact is about, and no more. */
    out[*count] = (lc_proposal){.known = index, .rule = rule_of(p, cues)};
    return merge(p, &p->candidates[index], clause, value, &out[(*count)++].value, err);
}

loci_status lc_talk_propose(const lc_talk *talk, lc_arena *arena, const lc_propose_input *input,
                            lc_proposal out[LC_PROPOSALS_MAX], size_t *out_count, loci_error *err)
{
    lc_proposing p = {.talk = talk, .arena = arena, .input = input};
    loci_status status = read_all(&p, err);
    size_t count = 0;

    if (status != LOCI_OK)
        return status;
    /* What is played with, and what somebody else says in confidence, is no news. */
    if (p.exploring > 0 || lc_unit_has(&p.message, LC_CUE_EXPLORE_OPEN) ||
        (p.message.attribution.who.len > 0 && lc_unit_has(&p.message, LC_CUE_PRIVATE)))
        p.message.clause_count = 0;
    for (size_t i = 0; i < p.message.clause_count && count < LC_PROPOSALS_MAX && status == LOCI_OK;
         i++)
        status = propose(&p, &p.message.clauses[i], out, &count, err);
    *out_count = count;
    return status;
}
