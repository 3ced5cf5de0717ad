/* talk_model.c - what the assistant says is no evidence.
 *
 * It may repeat what people said, and it may make things up. A clause of it that has an amount or a
 * name which nobody said and no fact has is a claim, until a person takes it up; what a person
 * objects to right away is void.
 */
#include "talk/judging.h"

/* Somebody else has it: a person, a fact, a signal. */
static bool is_backed(const lc_judging *j, uint64_t sense)
{
    for (size_t i = 0; i < j->input->count; i++) {
        const lc_unit *unit = &j->units[i];

        if (unit->said->is_model || unit->said->kind == LC_SAID_NOTE)
            continue;
        if (lc_terms_have(unit->terms, sense))
            return true;
    }
    return lc_terms_have(j->query, sense);
}

static bool is_made_up(const lc_judging *j, lc_terms clause)
{
    for (size_t i = 0; i < clause.count; i++)
        if ((lc_term_is_amount(clause.at[i].kind) || clause.at[i].kind == LC_TERM_NAME) &&
            !is_backed(j, clause.at[i].sense))
            return true;
    return false;
}

/* "Ten miles, not a half.": does the answer say no to something of the clause? */
static bool is_corrected(const lc_unit *answer, lc_terms clause)
{
    for (size_t c = 0; answer != NULL && c < answer->clause_count; c++) {
        lc_terms former = answer->clauses[c].cues.former;

        if (former.count > 0 && lc_terms_state(clause, former))
            return true;
    }
    return false;
}

/* The first thing that a person said after it, or NULL. */
static const lc_unit *answer_to(const lc_judging *j, size_t index)
{
    for (size_t i = index + 1; i < j->input->count; i++)
        if (lc_unit_is_person(&j->units[i]))
            return &j->units[i];
    return NULL;
}

void lc_judging_model(lc_judging *j)
{
    for (size_t i = 0; i < j->input->count; i++) {
        lc_unit *unit = &j->units[i];
        const lc_unit *answer;
        bool is_refused, is_taken_up;

        if (unit->said->kind != LC_SAID_MESSAGE || !unit->said->is_model)
            continue;
        answer = answer_to(j, i);
        is_refused = answer != NULL && lc_unit_has(answer, LC_CUE_REFUSE);
        is_taken_up = answer != NULL && !is_refused && lc_unit_has(answer, LC_CUE_ACCEPT);
        for (size_t c = 0; c < unit->clause_count; c++)
            if (unit->clauses[c].verdict == LC_VERDICT_HOLDS &&
                (is_refused || is_corrected(answer, unit->clauses[c].terms) ||
                 (!is_taken_up && is_made_up(j, unit->clauses[c].terms))))
                unit->clauses[c].verdict = LC_VERDICT_OUTRANKED;
    }
}
