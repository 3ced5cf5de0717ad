/* talk_flow.c - what a turn of the conversation does to the turns before it: corrections, news and
 * new plans.
 *
 * Only what people say counts: an answer of the assistant corrects nothing. Asides and explorations
 * are followed in talk_span.c.
 */
#include "talk/judging.h"

static void void_unit(lc_unit *unit, lc_verdict verdict)
{
    if (unit->verdict == LC_VERDICT_HOLDS)
        unit->verdict = verdict;
}

/* "Update: ..." is news: what was said before on the same subject is not. */
static void announce(lc_judging *j, size_t index)
{
    lc_unit *news = &j->units[index];

    for (size_t i = 0; i < index; i++) {
        lc_unit *old = &j->units[i];

        if (!lc_unit_is_person(old) || old->verdict != LC_VERDICT_HOLDS ||
            !lc_subject_is_same(old->terms, news->terms))
            continue;
        void_unit(old, LC_VERDICT_REPLACED);
        lc_judging_bury(j, old->terms, news->terms, false);
    }
}

static bool starts_with_term(loci_str who, lc_terms name, size_t at)
{
    const lc_term *term = &name.at[at];

    if (who.len < term->bytes)
        return false;
    for (size_t i = 0; i < term->bytes; i++)
        if ((who.ptr[i] | 0x20) != (name.text.ptr[term->start + i] | 0x20))
            return false;
    return true;
}

static bool has_capital(lc_terms terms, size_t at)
{
    char first = terms.text.ptr[terms.at[at].start];

    return first >= 'A' && first <= 'Z';
}

/* "L1 was wrong": what L1 said before is void. */
static void declare_wrong(lc_judging *j, size_t index, const lc_unit_clause *clause)
{
    size_t name = clause->cues.wrong_at;

    while (name > 0 && !has_capital(clause->terms, name - 1))
        name--;
    if (name == 0)
        return;
    for (size_t i = 0; i < index; i++) {
        lc_unit *old = &j->units[i];

        if (lc_unit_is_person(old) && old->attribution.who.len > 0 &&
            starts_with_term(old->attribution.who, clause->terms, name - 1))
            void_unit(old, LC_VERDICT_REPLACED);
    }
}

/* "Overruled. ...": what somebody of lower rank said last on the subject is void. */
static void overrule(lc_judging *j, size_t index)
{
    const lc_unit *unit = &j->units[index];

    for (size_t i = index; i-- > 0;) {
        lc_unit *old = &j->units[i];

        if (!lc_unit_is_person(old) || old->attribution.rank >= unit->attribution.rank ||
            old->verdict != LC_VERDICT_HOLDS || !lc_subject_is_same(old->terms, unit->terms))
            continue;
        void_unit(old, LC_VERDICT_OUTRANKED);
        lc_judging_bury(j, old->terms, unit->terms, false);
        return;
    }
}

/* "Correction: ..." takes back the last thing the same person said. */
static void correct_self(lc_judging *j, size_t index)
{
    loci_str who = j->units[index].attribution.who;

    for (size_t i = index; who.len > 0 && i-- > 0;) {
        if (lc_unit_is_person(&j->units[i]) && lc_str_eq(j->units[i].attribution.who, who)) {
            void_unit(&j->units[i], LC_VERDICT_REPLACED);
            return;
        }
    }
}

/* Does a statement bind itself to the date: "by Friday", "for Friday"? */
static bool binds_to(lc_terms terms, uint64_t date)
{
    for (size_t i = 1; i < terms.count; i++) {
        if (terms.at[i].sense != date)
            continue;
        if (lc_term_in(&terms.at[i - 1], LC_WORDS_BINDING))
            return true;
    }
    return false;
}

/* The date is no longer the plan's: what was promised for it is void. */
static void drop_date(lc_judging *j, size_t index, uint64_t date)
{
    for (size_t i = 0; i < index; i++)
        if (lc_unit_is_person(&j->units[i]) && binds_to(j->units[i].terms, date))
            void_unit(&j->units[i], LC_VERDICT_REPLACED);
}

/* A new plan replaces the dates of the old one. */
static void replan(lc_judging *j, size_t index)
{
    lc_unit *plan = &j->units[index];

    if ((lc_value_kinds(plan->terms) & LC_VALUE_WHEN) == 0)
        return;
    for (size_t i = 0; i < index; i++) {
        lc_unit *old = &j->units[i];

        if (!lc_unit_is_person(old) || (lc_value_kinds(old->terms) & LC_VALUE_WHEN) == 0 ||
            !lc_subject_is_near(old->terms, plan->terms))
            continue;
        void_unit(old, LC_VERDICT_REPLACED);
        for (size_t t = 0; t < old->terms.count; t++)
            if (old->terms.at[t].kind == LC_TERM_DATE &&
                !lc_terms_have(plan->terms, old->terms.at[t].sense))
                drop_date(j, index, old->terms.at[t].sense);
    }
}

/* A clause that corrects: what contradicts it on the same subject is void; when it only points
 * ("change that to Thursday"), the last clause with a value of that kind. */
static void correct_clauses(lc_judging *j, size_t index, const lc_unit_clause *clause)
{
    uint32_t kinds = lc_value_kinds(clause->terms) &
                     (LC_VALUE_MONEY | LC_VALUE_PERCENT | LC_VALUE_WHEN | LC_VALUE_STATUS);
    loci_str who = j->units[index].attribution.who;
    bool found = false, has_amount = clause->cues.amount.count > 0;

    for (size_t i = index; (kinds != 0 || has_amount) && i-- > 0;) {
        lc_unit *old = &j->units[i];
        bool is_same_person = who.len > 0 && lc_str_eq(old->attribution.who, who);

        for (size_t c = 0; lc_unit_is_person(old) && c < old->clause_count; c++) {
            lc_unit_clause *before = &old->clauses[c];

            if ((is_same_person || lc_subject_is_same(before->terms, clause->terms)) &&
                lc_subject_contradicts(before->terms, clause->terms)) {
                before->verdict = LC_VERDICT_REPLACED;
                before->void_since = index;
                lc_judging_bury(j, before->terms, clause->terms, false);
                found = true;
            }
        }
    }
    if (found || (clause->cues.bits & LC_CUE_REFERS) == 0 || kinds == 0)
        return;
    for (size_t i = index; i-- > 0;) {
        lc_unit *old = &j->units[i];

        for (size_t c = old->clause_count; lc_unit_is_person(old) && c-- > 0;) {
            if ((lc_value_kinds(old->clauses[c].terms) & kinds) == 0)
                continue;
            old->clauses[c].verdict = LC_VERDICT_REPLACED;
            old->clauses[c].void_since = index;
            lc_judging_bury(j, old->clauses[c].terms, clause->terms, false);
            return;
        }
    }
}

/* "Monday then.": settles what was spoken of. */
static bool is_bare(uint32_t cues)
{
    return (cues & LC_CUE_DECIDE) != 0 && (cues & LC_CUE_REFERS) != 0;
}

static void follow_clauses(lc_judging *j, size_t index)
{
    lc_unit *unit = &j->units[index];

    for (size_t c = 0; c < unit->clause_count; c++) {
        const lc_unit_clause *clause = &unit->clauses[c];
        uint32_t cues = clause->cues.bits;

        if ((cues & (LC_CUE_QUESTION | LC_CUE_TENTATIVE | LC_CUE_REQUEST)) != 0 ||
            clause->verdict == LC_VERDICT_OUTRANKED)
            continue;
        if ((cues & LC_CUE_WRONG) != 0)
            declare_wrong(j, index, clause);
        if ((cues & LC_CUE_REPLAN) != 0)
            replan(j, index);
        if (((cues & (LC_CUE_CORRECT | LC_CUE_UPDATE)) != 0 || is_bare(cues)) &&
            (cues & LC_CUE_PAST) == 0)
            correct_clauses(j, index, clause);
    }
}

void lc_judging_flow(lc_judging *j)
{
    lc_judging_spans(j);
    for (size_t i = 0; i < j->input->count; i++) {
        const lc_unit *unit = &j->units[i];

        j->now = i;
        if (!lc_unit_is_person(unit))
            continue;
        if (lc_unit_has(unit, LC_CUE_ANNOUNCE)) {
            announce(j, i);
            correct_self(j, i);
        }
        if (unit->attribution.rank >= 0 && lc_unit_has(unit, LC_CUE_OVERRULE))
            overrule(j, i);
        follow_clauses(j, i);
        lc_judging_void(j, i);
    }
}
