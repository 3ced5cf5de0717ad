/* talk.c - judging what was said.
 *
 * Four passes over the things said, oldest first: read them into clauses; collect the values that
 * are dead (replaced facts, withdrawn and outranked statements, older signals); follow the flow of
 * the messages, where a turn may void earlier ones (talk_flow.c); then judge each clause by its own
 * words and by the dead values. A verdict is never taken back, so the passes do not depend on each
 * other's order beyond this.
 */
#include "talk/talk.h"

#include "base/error.h"
#include "base/hash.h"
#include "talk/judging.h"
#include "talk/reading.h"

struct lc_talk {
    lc_heap *heap;
    lc_cues *cues;
    lc_ranking *ranking;
    lc_lexicon lexicon;
};

loci_status lc_talk_new(lc_heap *heap, lc_ranking *ranking, lc_talk **out, loci_error *err)
{
    lc_talk *talk = lc_heap_zalloc(heap, sizeof *talk, LOCI_MEM_REQUESTS);
    loci_status status;

    if (talk == NULL)
        return lc_fail_memory(err);
    talk->heap = heap;
    talk->ranking = ranking;
    lc_lexicon_init(&talk->lexicon);
    status = lc_cues_new(heap, &talk->lexicon, &talk->cues, err);
    if (status != LOCI_OK) {
        lc_talk_free(talk);
        return status;
    }
    *out = talk;
    return LOCI_OK;
}

void lc_talk_free(lc_talk *talk)
{
    if (talk == NULL)
        return;
    lc_cues_free(talk->cues);
    lc_heap_free(talk->heap, talk, sizeof *talk, LOCI_MEM_REQUESTS);
}

const lc_lexicon *lc_talk_lexicon(const lc_talk *talk)
{
    return &talk->lexicon;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool ends_clause(lc_terms terms, size_t at)
{
    const lc_term *term = &terms.at[at];
    size_t gap = term->start + term->bytes;

    if (at + 1 == terms.count)
        return true;
    if (term->after != '.' && term->after != '?' && term->after != '!')
        return false;
    /* A mark inside a word (v1.2, Next.js) is followed by no space; "3." by the next item. */
    for (; gap < terms.at[at + 1].start; gap++)
        if (terms.text.ptr[gap] == ' ' || terms.text.ptr[gap] == '\n')
            return true;
    return false;
}

/* Where an aside in parentheses begins that ends with the clause; the clause's end without one. */
static size_t aside_start(lc_terms clause)
{
    if (clause.count < 3 || clause.at[clause.count - 1].after != ')')
        return clause.count;
    for (size_t i = 1; i < clause.count; i++)
        if (clause.at[i - 1].after == '(')
            return i;
    return clause.count;
}

static void add_clause(lc_unit *unit, const lc_cues *cues, lc_terms terms, bool is_aside)
{
    unit->clauses[unit->clause_count++] = (lc_unit_clause){.terms = terms,
                                                           .cues = lc_cues_find(cues, terms),
                                                           .bits = lc_sense_bits(terms),
                                                           .is_aside = is_aside};
}

static loci_status read_clauses(const lc_talk *talk, lc_arena *arena, lc_unit *unit,
                                loci_error *err)
{
    size_t first = 0;

    unit->clauses = lc_arena_zalloc_array(arena, unit->terms.count + 1, sizeof *unit->clauses);
    if (unit->clauses == NULL)
        return lc_fail_memory(err);
    for (size_t at = 0; at < unit->terms.count; at++) {
        lc_terms clause = lc_terms_part(unit->terms, first, at + 1 - first);
        size_t aside;

        if (!ends_clause(unit->terms, at))
            continue;
        aside = aside_start(clause);
        add_clause(unit, talk->cues, lc_terms_part(clause, 0, aside), false);
        if (aside < clause.count)
            add_clause(unit, talk->cues, lc_terms_part(clause, aside, clause.count - aside), true);
        first = at + 1;
    }
    return LOCI_OK;
}

loci_status lc_unit_read(const lc_talk *talk, lc_arena *arena, loci_str text, lc_unit *out,
                         loci_error *err)
{
    loci_status status;

    out->attribution = lc_attribution_of(text, talk->ranking);
    out->words_hash = lc_hash64(lc_str_trim(out->attribution.words));
    status = lc_terms_read(&talk->lexicon, arena, out->attribution.words, &out->terms, err);
    return status == LOCI_OK ? read_clauses(talk, arena, out, err) : status;
}

/* Of equal words the earlier unit is found first. False when out of memory. */
static bool index_words(lc_judging *j)
{
    size_t room = 1;

    while (room < 2 * j->input->count + 1)
        room *= 2;
    j->places = lc_arena_alloc(j->arena, room * sizeof *j->places);
    if (j->places == NULL)
        return false;
    memset(j->places, 0xFF, room * sizeof *j->places);
    j->place_mask = room - 1;
    for (size_t i = 0; i < j->input->count; i++) {
        lc_said_kind kind = j->units[i].said->kind;
        size_t place = j->units[i].words_hash & j->place_mask;

        if (kind != LC_SAID_MESSAGE && kind != LC_SAID_FACT)
            continue;
        while (j->places[place] != UINT32_MAX)
            place = (place + 1) & j->place_mask;
        j->places[place] = (uint32_t)i;
    }
    return true;
}

static loci_status read_units(lc_judging *j, loci_error *err)
{
    j->units = lc_arena_zalloc_array(j->arena, j->input->count + 1, sizeof *j->units);
    if (j->units == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < j->input->count; i++) {
        lc_unit *unit = &j->units[i];
        const lc_said *said = &j->input->said[i];
        loci_status status;

        unit->said = said;
        status = lc_readings_read(j->input->readings, j->talk, j->arena, said->text, unit, err);
        if (status != LOCI_OK)
            return status;
    }
    j->dead = lc_arena_zalloc_array(j->arena, 2 * j->input->count + 1, sizeof *j->dead);
    if (j->dead == NULL || !index_words(j))
        return lc_fail_memory(err);
    return lc_terms_read(&j->talk->lexicon, j->arena, j->input->query, &j->query, err);
}

void lc_judging_bury(lc_judging *j, lc_terms value, lc_terms successor, bool is_rejected)
{
    if (j->dead_count == 2 * j->input->count + 1 || j->is_out_of_memory)
        return;
    j->is_out_of_memory = !lc_dead_init(&j->dead[j->dead_count], j->arena, value, successor,
                                        is_rejected);
    j->dead[j->dead_count].since = j->now;
    j->dead_count += !j->is_out_of_memory;
}

/* ---- What is dead ---------------------------------------------------------------------------- */

/* Does it name somebody: "Brandreth team only"? What is no title and has only its first letter in
 * capitals; the first word may be any. */
static bool names_somebody(loci_str audience, lc_ranking *ranking)
{
    for (size_t at = 1; at + 1 < audience.len; at++) {
        size_t end = at;

        if (audience.ptr[at - 1] != ' ' || audience.ptr[at] < 'A' || audience.ptr[at] > 'Z' ||
            audience.ptr[at + 1] < 'a')
            continue;
        while (end < audience.len && audience.ptr[end] != ' ' && audience.ptr[end] != ',')
            end++;
        if (lc_rank_in((loci_str){audience.ptr + at, end - at}, ranking) < 0)
            return true;
    }
    return false;
}

/* Whom a text is for: an organisation, one that it names, the bearers of a title, or everybody from
 * a rank on. Outsiders have a title and no rank: a manager is not more than a patient. */
static loci_status is_for_reader(const lc_judging *j, loci_str audience, bool *out, loci_error *err)
{
    int needed = lc_rank_in(audience, j->talk->ranking);
    lc_terms names, title;
    loci_status status = lc_terms_read(&j->talk->lexicon, j->arena, audience, &names, err);

    if (status == LOCI_OK)
        status = lc_terms_read(&j->talk->lexicon, j->arena, j->input->reader_title, &title, err);
    if (status != LOCI_OK)
        return status;
    if (j->input->reader_organization.len > 0 &&
        (lc_mark_is_name(audience, j->input->reader_organization) ||
         lc_mark_has_name(audience, j->input->reader_organization)))
        *out = true;
    else if (names_somebody(audience, j->talk->ranking))
        *out = false;
    else if (needed < 0 || lc_mark_is_outsider(audience))
        *out = title.count > 0 && names.count > 0 &&
               lc_terms_have(names, title.at[title.count - 1].sense);
    else
        *out = j->input->reader_rank >= needed;
    return LOCI_OK;
}

static loci_status judge_mark(lc_judging *j, lc_unit *unit, loci_error *err)
{
    lc_mark mark = lc_mark_of(unit->said->text);
    bool is_open = true;
    lc_terms names;
    loci_status status = LOCI_OK;

    /* "Between us: ...": what somebody else says in confidence is for those of their rank. */
    if (lc_unit_is_person(unit) && unit->attribution.who.len > 0 &&
        lc_unit_has(unit, LC_CUE_PRIVATE) &&
        (j->input->reader_rank < 0 || j->input->reader_rank < unit->attribution.rank))
        unit->verdict = LC_VERDICT_RESTRICTED;
    switch (mark.kind) {
    case LC_MARK_NONE:
        break;
    case LC_MARK_WITHDRAWN:
        unit->verdict = LC_VERDICT_REPLACED;
        unit->is_withdrawn = true;
        break;
    case LC_MARK_RESTRICTED:
        status = is_for_reader(j, mark.names, &is_open, err);
        if (!is_open)
            unit->verdict = LC_VERDICT_RESTRICTED;
        break;
    case LC_MARK_EXCLUDED:
        /* Whoever is of a higher rank than those it names may read it. */
        if (j->input->reader_rank <= lc_rank_in(mark.names, j->talk->ranking))
            unit->verdict = LC_VERDICT_RESTRICTED;
        break;
    case LC_MARK_ORGANIZATION:
        if (j->input->reader_organization.len > 0 &&
            !lc_mark_is_name(mark.names, j->input->reader_organization))
            unit->verdict = LC_VERDICT_RESTRICTED;
        break;
    case LC_MARK_SUPPOSED: /* Kept when the query names it: the draft, the sandbox. */
        status = lc_terms_read(&j->talk->lexicon, j->arena, mark.names, &names, err);
        if (status == LOCI_OK && lc_subject_shared(names, j->query) == 0)
            unit->verdict = LC_VERDICT_SUPPOSES;
        break;
    case LC_MARK_SCOPE:
        if (!lc_str_eq(mark.names, j->input->scope))
            unit->verdict = LC_VERDICT_SUPPOSES;
        break;
    }
    return status;
}

/* The first of the kind that has exactly these words, or NULL. */
static lc_unit *find_words(const lc_judging *j, const lc_unit *unit, lc_said_kind kind)
{
    for (size_t at = unit->words_hash & j->place_mask; j->places[at] != UINT32_MAX;
         at = (at + 1) & j->place_mask) {
        lc_unit *other = &j->units[j->places[at]];

        if (other->said->kind == kind && other->words_hash == unit->words_hash &&
            lc_str_eq(lc_str_trim(other->attribution.words), lc_str_trim(unit->attribution.words)))
            return other;
    }
    return NULL;
}

/* The unit's terms without an aside in parentheses at its end. */
static lc_terms main_terms(const lc_unit *unit)
{
    size_t count = unit->terms.count;

    if (unit->clause_count > 0 && unit->clauses[unit->clause_count - 1].is_aside)
        count -= unit->clauses[unit->clause_count - 1].terms.count;
    return lc_terms_part(unit->terms, 0, count);
}

/* The time in that aside, "(11:30 reading)", as minutes of the day; -1 without one. */
static int reading_time(const lc_unit *unit)
{
    lc_terms aside = lc_terms_part(unit->terms, main_terms(unit).count,
                                   unit->terms.count - main_terms(unit).count);

    for (size_t i = 0; i < aside.count; i++)
        if (aside.at[i].kind == LC_TERM_TIME)
            return lc_term_minutes(aside, i);
    return -1;
}

/* A replaced fact is dead. When both it and its successor are whole messages, only if they really
 * contradict each other: such facts are a log of what was said, not values of a slot. */
static void bury_former(lc_judging *j, const lc_unit *former)
{
    const lc_unit *successor = former->said->successor != LC_SAID_NONE
                                   ? &j->units[former->said->successor]
                                   : NULL;
    lc_terms after = {0};
    int time = successor != NULL ? reading_time(successor) : -1;
    /* Does what was replaced say itself that it is the newer one? Readings can arrive late. */
    bool is_newer = time >= 0 && reading_time(former) > time;

    if (find_words(j, former, LC_SAID_FACT) != NULL || is_newer)
        return;
    if (successor != NULL) {
        if (find_words(j, former, LC_SAID_MESSAGE) != NULL &&
            find_words(j, successor, LC_SAID_MESSAGE) != NULL &&
            !lc_unit_contradicts(former, successor))
            return;
        if (!successor->is_withdrawn)
            after = successor->terms;
        j->now = former->said->successor;
    }
    lc_judging_bury(j, main_terms(former), after, false);
}

bool lc_unit_has(const lc_unit *unit, uint32_t cues)
{
    for (size_t i = 0; i < unit->clause_count; i++)
        if ((unit->clauses[i].cues.bits & cues) != 0)
            return true;
    return false;
}

bool lc_unit_contradicts(const lc_unit *older, const lc_unit *newer)
{
    if (lc_unit_has(newer, LC_CUE_HOLD) && lc_subject_shares_name(older->terms, newer->terms))
        return true;
    return lc_subject_contradicts(older->terms, newer->terms);
}

/* A signal is about now: a later one on the same subject takes its place. */
static void replace_signal(lc_judging *j, lc_unit *unit, size_t index)
{
    for (size_t i = index + 1; i < j->input->count; i++) {
        const lc_unit *other = &j->units[i];

        if (other->said->kind != LC_SAID_SIGNAL || !lc_subject_is_same(unit->terms, other->terms))
            continue;
        unit->verdict = LC_VERDICT_REPLACED;
        lc_judging_bury(j, unit->terms, other->terms, false);
        return;
    }
}

static void collect_dead(lc_judging *j)
{
    for (size_t i = 0; i < j->input->count; i++) {
        lc_unit *unit = &j->units[i];

        j->now = i;
        if (unit->said->kind == LC_SAID_FORMER) {
            bury_former(j, unit);
            unit->verdict = LC_VERDICT_REPLACED;
        } else if (unit->verdict != LC_VERDICT_HOLDS) {
            continue;
        } else if (unit->said->kind == LC_SAID_FACT && unit->attribution.who.len > 0) {
            lc_judging_outrank_fact(j, i);
        } else if (lc_unit_is_person(unit) && unit->attribution.who.len > 0) {
            lc_judging_outrank_message(j, i);
        } else if (unit->said->kind == LC_SAID_SIGNAL) {
            replace_signal(j, unit, i);
        }
    }
}

/* ---- Clauses --------------------------------------------------------------------------------- */

/* Has the clause to do with the question or with a fact? */
static bool has_part(const lc_judging *j, lc_terms clause)
{
    if (lc_subject_is_near(j->query, clause))
        return true;
    for (size_t i = 0; i < j->input->count; i++)
        if (j->units[i].said->kind == LC_SAID_FACT && lc_subject_is_near(j->units[i].terms, clause))
            return true;
    return false;
}

static lc_verdict verdict_by_words(const lc_judging *j, const lc_unit *unit,
                                   const lc_unit_clause *clause)
{
    uint32_t cues = clause->cues.bits;

    if ((cues & (LC_CUE_QUESTION | LC_CUE_REQUEST)) != 0)
        return LC_VERDICT_ASKS;
    if ((cues & LC_CUE_META) != 0)
        return LC_VERDICT_META;
    if ((cues & LC_CUE_STORY) != 0 && !has_part(j, clause->terms))
        return LC_VERDICT_ASIDE;
    if ((cues & LC_CUE_PAST) != 0 && !lc_subject_shares_name(j->query, unit->terms))
        return LC_VERDICT_WAS;
    return (cues & LC_CUE_TENTATIVE) != 0 ? LC_VERDICT_SUPPOSES : LC_VERDICT_HOLDS;
}

static lc_verdict verdict_by_dead(const lc_judging *j, lc_unit_clause *clause)
{
    for (size_t i = 0; i < j->dead_count; i++) {
        if (clause->is_aside ? lc_dead_shares_amount(&j->dead[i], clause->terms)
                             : lc_dead_is_stated(&j->dead[i], clause->terms, clause->bits)) {
            clause->void_since = j->dead[i].since;
            clause->void_by = j->dead[i].successor;
            return LC_VERDICT_REPLACED;
        }
    }
    return LC_VERDICT_HOLDS;
}

static void judge_message(lc_judging *j, lc_unit *unit)
{
    for (size_t i = 0; i < unit->clause_count; i++) {
        lc_unit_clause *clause = &unit->clauses[i];

        if (unit->verdict != LC_VERDICT_HOLDS)
            clause->verdict = unit->verdict;
        if (clause->verdict == LC_VERDICT_HOLDS)
            clause->verdict = verdict_by_words(j, unit, clause);
        if (clause->verdict == LC_VERDICT_HOLDS)
            clause->verdict = verdict_by_dead(j, clause);
    }
}

/* Is all of the value in one of the two, and some of it in the first? */
static bool is_stated_by(lc_terms value, lc_terms clause, lc_terms premise)
{
    size_t said = 0;

    for (size_t i = 0; i < value.count; i++) {
        bool is_said = lc_terms_have(clause, value.at[i].sense);

        if (!lc_term_is_content(value.at[i].kind))
            continue;
        if (!is_said && !lc_terms_have(premise, value.at[i].sense))
            return false;
        said += is_said;
    }
    return said > 0;
}

/* Does a person state the fact: as a conclusion from something that no longer holds, or as
 * something that does hold? */
static bool is_stated(const lc_judging *j, const lc_unit *fact, bool is_conclusion)
{
    for (size_t i = 0; i < j->input->count; i++) {
        const lc_unit *unit = &j->units[i];

        for (size_t c = 0; lc_unit_is_person(unit) && c < unit->clause_count; c++) {
            const lc_unit_clause *clause = &unit->clauses[c];

            if (is_conclusion
                    ? clause->premise != NULL &&
                          is_stated_by(fact->terms, clause->terms, clause->premise->terms)
                    : clause->verdict == LC_VERDICT_HOLDS && unit->verdict == LC_VERDICT_HOLDS &&
                          lc_terms_state(clause->terms, fact->terms))
                return true;
        }
    }
    return false;
}

/* A fact holds as a whole. Only an aside that repeats a dead amount is left out, and a fact that is
 * a message word for word goes the way of that message. */
static void judge_fact(lc_judging *j, lc_unit *unit)
{
    const lc_unit *message = find_words(j, unit, LC_SAID_MESSAGE);

    if (message != NULL && message->verdict == LC_VERDICT_REPLACED)
        unit->verdict = message->verdict;
    if (is_stated(j, unit, true) && !is_stated(j, unit, false))
        unit->verdict = LC_VERDICT_REPLACED;
    for (size_t i = 0; i < unit->clause_count; i++) {
        lc_unit_clause *clause = &unit->clauses[i];

        if (clause->is_aside)
            clause->verdict = verdict_by_dead(j, clause);
        else if (message != NULL && message->clauses[i].verdict == LC_VERDICT_WAS)
            clause->verdict = LC_VERDICT_WAS;
    }
}

/* ---- The answer ------------------------------------------------------------------------------ */

/* The text of a clause, up to where the next one begins. */
static loci_str clause_text(const lc_unit *unit, size_t index)
{
    loci_str words = unit->terms.text;
    size_t start = index == 0 ? 0 : unit->clauses[index].terms.at[0].start;
    size_t end = index + 1 < unit->clause_count ? unit->clauses[index + 1].terms.at[0].start
                                                : words.len;

    /* Brackets and signs in front of a clause belong to it. */
    while (start > 0 && words.ptr[start - 1] != ' ' && words.ptr[start - 1] != '\n')
        start--;
    while (index + 1 < unit->clause_count && end > start && words.ptr[end - 1] != ' ' &&
           words.ptr[end - 1] != '\n')
        end--;
    return lc_str_trim((loci_str){words.ptr + start, end - start});
}

static loci_status write_judged(lc_judging *j, const lc_judged **out, loci_error *err)
{
    lc_judged *judged = lc_arena_zalloc_array(j->arena, j->input->count + 1, sizeof *judged);

    if (judged == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < j->input->count; i++) {
        const lc_unit *unit = &j->units[i];
        lc_clause *clauses = lc_arena_zalloc_array(j->arena, unit->clause_count + 1,
                                                   sizeof *clauses);

        if (clauses == NULL)
            return lc_fail_memory(err);
        for (size_t c = 0; c < unit->clause_count; c++)
            clauses[c] = (lc_clause){clause_text(unit, c), unit->clauses[c].verdict};
        judged[i] = (lc_judged){
            .verdict = unit->verdict, .clauses = clauses, .count = unit->clause_count};
        /* What stands in front of the words. */
        if (unit->attribution.who.len > 0 && unit->attribution.words.len > 0)
            judged[i].lead = lc_str_trim(
                (loci_str){unit->said->text.ptr,
                           (size_t)(unit->attribution.words.ptr - unit->said->text.ptr)});
    }
    *out = judged;
    return LOCI_OK;
}

loci_status lc_talk_judge(const lc_talk *talk, lc_arena *arena, const lc_talk_input *input,
                          const lc_judged **out_judged, loci_error *err)
{
    lc_judging j = {.talk = talk, .arena = arena, .input = input};
    loci_status status = read_units(&j, err);

    for (size_t i = 0; i < input->count && status == LOCI_OK; i++)
        status = judge_mark(&j, &j.units[i], err);
    if (status != LOCI_OK)
        return status;
    collect_dead(&j);
    lc_judging_flow(&j);
    lc_judging_model(&j);
    for (size_t i = 0; i < input->count; i++)
        if (input->said[i].kind == LC_SAID_MESSAGE)
            judge_message(&j, &j.units[i]);
    lc_judging_conclusions(&j);
    for (size_t i = 0; i < input->count; i++)
        if (input->said[i].kind == LC_SAID_FACT)
            judge_fact(&j, &j.units[i]);
    return j.is_out_of_memory ? lc_fail_memory(err) : write_judged(&j, out_judged, err);
}

loci_status lc_judged_text(lc_arena *arena, const lc_judged *judged, loci_str whole, loci_str *out,
                           loci_error *err)
{
    size_t held = 0, bytes = 0;
    char *text;

    for (size_t i = 0; i < judged->count; i++) {
        held += judged->clauses[i].verdict == LC_VERDICT_HOLDS;
        bytes += judged->clauses[i].text.len + 1;
    }
    if (held == judged->count) {
        *out = whole;
        return LOCI_OK;
    }
    text = lc_arena_alloc(arena, judged->lead.len + bytes + 1);
    if (text == NULL)
        return lc_fail_memory(err);
    bytes = held > 0 ? judged->lead.len : 0;
    if (bytes > 0)
        memcpy(text, judged->lead.ptr, bytes);
    for (size_t i = 0; i < judged->count; i++) {
        loci_str clause = judged->clauses[i].text;

        if (judged->clauses[i].verdict != LC_VERDICT_HOLDS || clause.len == 0)
            continue;
        if (bytes > 0)
            text[bytes++] = ' ';
        memcpy(text + bytes, clause.ptr, clause.len);
        bytes += clause.len;
    }
    text[bytes] = '\0';
    *out = (loci_str){text, bytes};
    return LOCI_OK;
}
