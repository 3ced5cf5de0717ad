/* talk_rank.c - when two people say different things: the higher rank holds, and of one person the
 * later word. Titles come from the texts themselves (attribution.h); they say what a statement
 * leans on and give nobody a right. */
#include "base/str.h"
#include "talk/judging.h"

/* Clauses that state nothing contradict nothing. */
#define NO_STATEMENT                                                                               \
    (LC_CUE_QUESTION | LC_CUE_REQUEST | LC_CUE_META | LC_CUE_TENTATIVE | LC_CUE_PAST)

/* Is `other` worth more than `unit`? By their titles; where both are facts, by the authority that
 * they were written with when that differs. */
static bool is_higher(const lc_unit *unit, const lc_unit *other)
{
    bool both_facts = unit->said->kind == LC_SAID_FACT && other->said->kind == LC_SAID_FACT;

    if (both_facts && unit->said->rank != other->said->rank)
        return other->said->rank > unit->said->rank;
    return unit->attribution.rank >= 0 && other->attribution.rank > unit->attribution.rank;
}

/* Of two facts that name who said them and contradict each other, the higher rank holds; the same
 * person's later word replaces the earlier one. */
void lc_judging_outrank_fact(lc_judging *j, size_t index)
{
    lc_unit *unit = &j->units[index];

    for (size_t i = 0; i < j->input->count; i++) {
        const lc_unit *other = &j->units[i];
        bool is_later = i > index && lc_str_eq(other->attribution.who, unit->attribution.who);

        if (i == index || other->said->kind != LC_SAID_FACT || other->attribution.who.len == 0 ||
            other->verdict != LC_VERDICT_HOLDS || (!is_higher(unit, other) && !is_later))
            continue;
        if (!lc_subject_contradicts(unit->terms, other->terms) &&
            (is_later || !lc_subject_orders_clash(unit->terms, other->terms)))
            continue;
        unit->verdict = is_later ? LC_VERDICT_REPLACED : LC_VERDICT_OUTRANKED;
        lc_judging_bury(j, unit->terms, other->terms, true);
        return;
    }
}

/* What leads up to the first amount, from the last comma on: of "I'm away, the start is June 9" it
 * is "the start is". */
static lc_terms lead_up(lc_terms terms)
{
    size_t amount = 0, start;

    while (amount < terms.count && !lc_term_is_amount(terms.at[amount].kind))
        amount++;
    for (start = amount; start > 0; start--)
        if (start < amount && strchr(",;:-", terms.at[start - 1].after) != NULL &&
            terms.at[start - 1].after != 0)
            break;
    return lc_terms_part(terms, start, amount - start);
}

/* What is wished for is not yet so, what happened once is not how it is. */
static bool is_not_now(lc_terms terms)
{
    return lc_terms_have_in(lead_up(terms), LC_WORDS_NOT_NOW);
}

/* "I arrive on Monday" is about who says it. */
static bool is_about_speaker(lc_terms terms)
{
    return lc_terms_have_in(lead_up(terms), LC_WORDS_SPEAKER) &&
           !lc_terms_have_in(lead_up(terms), LC_WORDS_TELLING);
}

/* "I'll bring 3 tents." and "Then only 2 tents.": another number of it, and no word of anything
 * else in front. */
static bool is_recount(lc_terms older, lc_terms newer)
{
    lc_terms lead = lead_up(newer);

    for (size_t i = 0; i < lead.count; i++)
        if (lc_term_is_content(lead.at[i].kind))
            return false;
    return lc_subject_counts_differ(older, newer);
}

/* Is what the clause states stated otherwise by one of the other's clauses? */
static bool is_contradicted(const lc_unit_clause *clause, const lc_unit *other, bool is_same_person)
{
    if ((clause->cues.bits & NO_STATEMENT) != 0 || is_not_now(clause->terms) ||
        (!is_same_person && is_about_speaker(clause->terms)))
        return false;
    for (size_t c = 0; c < other->clause_count; c++) {
        const lc_unit_clause *said = &other->clauses[c];

        if ((said->cues.bits & NO_STATEMENT) == 0 && !is_not_now(said->terms) &&
            (is_same_person || !is_about_speaker(said->terms)) &&
            (lc_subject_rivals(clause->terms, said->terms) ||
             (is_same_person && is_recount(clause->terms, said->terms)) ||
             (!is_same_person && lc_subject_orders_clash(clause->terms, said->terms))))
            return true;
    }
    return false;
}

/* "The room is smaller, so the fee comes down to ...", "Permit denied. We go to the beach.": how it
 * turned out, not how it should be. */
static bool is_outcome(const lc_unit *unit, const lc_unit_clause *clause)
{
    return lc_unit_has(unit, LC_CUE_TROUBLE | LC_CUE_CANCEL) ||
           ((clause->cues.bits & LC_CUE_CONCLUDE) != 0 && (clause->cues.bits & LC_CUE_UPDATE) != 0);
}

/* The same for what people say, clause by clause and with a closer look: a talk touches a subject
 * more than once without contradicting itself. */
void lc_judging_outrank_message(lc_judging *j, size_t index)
{
    lc_unit *unit = &j->units[index];

    for (size_t i = 0; i < j->input->count; i++) {
        const lc_unit *other = &j->units[i];
        bool is_later = i > index && lc_str_eq(other->attribution.who, unit->attribution.who);

        if (i == index || other->attribution.who.len == 0 || other->verdict != LC_VERDICT_HOLDS ||
            !lc_unit_is_person(other) || (!is_higher(unit, other) && !is_later))
            continue;
        for (size_t c = 0; c < unit->clause_count; c++) {
            lc_unit_clause *clause = &unit->clauses[c];

            /* A new plan is the planner's to make, and what came of something is news. */
            if (clause->verdict != LC_VERDICT_HOLDS || (clause->cues.bits & LC_CUE_REPLAN) != 0 ||
                (index > i && is_outcome(unit, clause)) ||
                !is_contradicted(clause, other, is_later))
                continue;
            clause->verdict = is_later ? LC_VERDICT_REPLACED : LC_VERDICT_OUTRANKED;
            if (!is_later)
                lc_judging_bury(j, clause->terms, other->terms, false);
        }
    }
}
