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
#include "talk/judging.h"
#include "talk/mark.h"

struct lc_talk {
    lc_heap *heap;
    lc_cues *cues;
    lc_ranking ranking;
};

loci_status lc_talk_new(lc_heap *heap, lc_ranking ranking, lc_talk **out, loci_error *err)
{
    lc_talk *talk = lc_heap_zalloc(heap, sizeof *talk, LOCI_MEM_REQUESTS);
    loci_status status;

    if (talk == NULL)
        return lc_fail_memory(err);
    talk->heap = heap;
    talk->ranking = ranking;
    status = lc_cues_new(heap, &talk->cues, err);
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
    unit->clauses[unit->clause_count++] = (lc_unit_clause){
        .terms = terms, .cues = lc_cues_find(cues, terms), .is_aside = is_aside};
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
    status = lc_terms_read(arena, out->attribution.words, &out->terms, err);
    return status == LOCI_OK ? read_clauses(talk, arena, out, err) : status;
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
        status = lc_unit_read(j->talk, j->arena, said->text, unit, err);
        if (status != LOCI_OK)
            return status;
    }
    j->dead = lc_arena_zalloc_array(j->arena, 2 * j->input->count + 1, sizeof *j->dead);
    return j->dead != NULL ? lc_terms_read(j->arena, j->input->query, &j->query, err)
                           : lc_fail_memory(err);
}

void lc_judging_bury(lc_judging *j, lc_terms value, lc_terms successor, bool is_rejected)
{
    if (j->dead_count < 2 * j->input->count + 1)
        j->dead[j->dead_count++] = (lc_dead){
            .value = value, .successor = successor, .is_rejected = is_rejected};
}

/* ---- What is dead ---------------------------------------------------------------------------- */

static bool is_for_reader(const lc_judging *j, loci_str audience)
{
    int needed = lc_rank_in(audience, j->talk->ranking);

    if (j->input->reader_organization.len > 0 &&
        lc_mark_is_name(audience, j->input->reader_organization))
        return true;
    return needed >= 0 && j->input->reader_rank >= needed;
}

/* Does the query name what the mark says: the draft, the sandbox? */
static loci_status is_named(lc_judging *j, loci_str names, bool *out, loci_error *err)
{
    lc_terms terms;
    loci_status status = lc_terms_read(j->arena, names, &terms, err);

    if (status == LOCI_OK)
        *out = lc_subject_shared(terms, j->query) > 0;
    return status;
}

static loci_status judge_mark(lc_judging *j, lc_unit *unit, loci_error *err)
{
    lc_mark mark = lc_mark_of(unit->said->text);
    bool is_open = true;
    loci_status status = LOCI_OK;

    switch (mark.kind) {
    case LC_MARK_NONE:
        break;
    case LC_MARK_WITHDRAWN:
        unit->verdict = LC_VERDICT_REPLACED;
        unit->is_withdrawn = true;
        break;
    case LC_MARK_RESTRICTED:
        if (!is_for_reader(j, mark.names))
            unit->verdict = LC_VERDICT_RESTRICTED;
        break;
    case LC_MARK_ORGANIZATION:
        if (j->input->reader_organization.len > 0 &&
            !lc_mark_is_name(mark.names, j->input->reader_organization))
            unit->verdict = LC_VERDICT_RESTRICTED;
        break;
    case LC_MARK_SUPPOSED:
        status = is_named(j, mark.names, &is_open, err);
        if (!is_open)
            unit->verdict = LC_VERDICT_SUPPOSES;
        break;
    case LC_MARK_SCOPE:
        if (!lc_str_eq(mark.names, j->input->scope))
            unit->verdict = LC_VERDICT_SUPPOSES;
        break;
    }
    return status;
}

static bool is_verbatim(const lc_unit *a, const lc_unit *b)
{
    return lc_str_eq(lc_str_trim(a->attribution.words), lc_str_trim(b->attribution.words));
}

/* The message that has exactly these words, or NULL. */
static lc_unit *message_of(lc_judging *j, const lc_unit *unit)
{
    for (size_t i = 0; i < j->input->count; i++)
        if (j->units[i].said->kind == LC_SAID_MESSAGE && is_verbatim(&j->units[i], unit))
            return &j->units[i];
    return NULL;
}

static bool is_still_a_fact(const lc_judging *j, const lc_unit *former)
{
    for (size_t i = 0; i < j->input->count; i++)
        if (j->units[i].said->kind == LC_SAID_FACT && is_verbatim(&j->units[i], former))
            return true;
    return false;
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

/* Does what was replaced say itself that it is the newer one? Readings can arrive late. */
static bool is_newer_reading(const lc_unit *former, const lc_unit *successor)
{
    int before = reading_time(former), after = reading_time(successor);

    return after >= 0 && before > after;
}

/* A replaced fact is dead. When both it and its successor are whole messages, only if they really
 * contradict each other: such facts are a log of what was said, not values of a slot. */
static void bury_former(lc_judging *j, const lc_unit *former)
{
    const lc_unit *successor = former->said->successor != LC_SAID_NONE
                                   ? &j->units[former->said->successor]
                                   : NULL;
    lc_terms after = {0};

    if (is_still_a_fact(j, former) || (successor != NULL && is_newer_reading(former, successor)))
        return;
    if (successor != NULL) {
        if (message_of(j, former) != NULL && message_of(j, successor) != NULL &&
            !lc_unit_contradicts(former, successor))
            return;
        if (!successor->is_withdrawn)
            after = successor->terms;
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

static loci_status judge_marks(lc_judging *j, loci_error *err)
{
    loci_status status = LOCI_OK;

    for (size_t i = 0; i < j->input->count && status == LOCI_OK; i++)
        status = judge_mark(j, &j->units[i], err);
    return status;
}

static void collect_dead(lc_judging *j)
{
    for (size_t i = 0; i < j->input->count; i++) {
        lc_unit *unit = &j->units[i];

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

static lc_verdict verdict_by_words(const lc_judging *j, const lc_unit *unit,
                                   const lc_unit_clause *clause)
{
    uint32_t cues = clause->cues.bits;

    if ((cues & (LC_CUE_QUESTION | LC_CUE_REQUEST)) != 0)
        return LC_VERDICT_ASKS;
    if ((cues & LC_CUE_META) != 0)
        return LC_VERDICT_META;
    if ((cues & LC_CUE_PAST) != 0 && !lc_subject_shares_name(j->query, unit->terms))
        return LC_VERDICT_WAS;
    return (cues & LC_CUE_TENTATIVE) != 0 ? LC_VERDICT_SUPPOSES : LC_VERDICT_HOLDS;
}

static lc_verdict verdict_by_dead(const lc_judging *j, const lc_unit_clause *clause)
{
    for (size_t i = 0; i < j->dead_count; i++) {
        if (clause->is_aside ? lc_dead_shares_amount(&j->dead[i], clause->terms)
                             : lc_dead_is_stated(&j->dead[i], clause->terms))
            return LC_VERDICT_REPLACED;
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

/* A fact holds as a whole. Only an aside that repeats a dead amount is left out, and a fact that is
 * a message word for word goes the way of that message. */
static void judge_fact(lc_judging *j, lc_unit *unit)
{
    const lc_unit *message = message_of(j, unit);

    if (message != NULL && message->verdict == LC_VERDICT_REPLACED)
        unit->verdict = message->verdict;
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

/* What stands in front of the words. */
static loci_str lead_of(const lc_unit *unit)
{
    loci_str text = unit->said->text;
    size_t bytes = unit->attribution.words.len > 0
                       ? (size_t)(unit->attribution.words.ptr - text.ptr)
                       : 0;

    return lc_str_trim((loci_str){text.ptr, unit->attribution.who.len > 0 ? bytes : 0});
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
        judged[i] = (lc_judged){unit->verdict, lead_of(unit), clauses, unit->clause_count};
    }
    *out = judged;
    return LOCI_OK;
}

loci_status lc_talk_judge(const lc_talk *talk, lc_arena *arena, const lc_talk_input *input,
                          const lc_judged **out_judged, loci_error *err)
{
    lc_judging j = {.talk = talk, .arena = arena, .input = input};
    loci_status status = read_units(&j, err);

    if (status == LOCI_OK)
        status = judge_marks(&j, err);
    if (status != LOCI_OK)
        return status;
    collect_dead(&j);
    lc_judging_flow(&j);
    for (size_t i = 0; i < input->count; i++)
        if (input->said[i].kind == LC_SAID_MESSAGE)
            judge_message(&j, &j.units[i]);
    for (size_t i = 0; i < input->count; i++)
        if (input->said[i].kind == LC_SAID_FACT)
            judge_fact(&j, &j.units[i]);
    return write_judged(&j, out_judged, err);
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
