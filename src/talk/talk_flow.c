/* talk_flow.c - what the course of a conversation makes void.
 *
 * Spans first: what lies between the words that open and close an aside or an exploration. Only
 * people open and close; what the assistant says in between belongs to it. A span begins with the
 * clause that opens it and ends with the clause that closes it. The question at the end closes an
 * aside that is still open, but then only what has nothing to do with the question is void. An
 * exploration that nobody closed voids the message that opened it and no more. A span that goes on
 * for long lapses: then it was none, and nothing of it is void.
 *
 * Then each turn of a person, which may correct earlier ones, bring news or a new plan.
 *
 * Last the assistant: it may repeat what people said, and it may make things up. A clause of it
 * that has an amount or a name which nobody said and no fact has is a claim, until a person takes
 * it up; what a person objects to right away is void.
 */
#include "talk/judging.h"

#define STRAY_MAX 4 /* Messages of people that strayed from a subject before it is named again. */
#define EARLIER 3   /* Messages of people that tell what the subject was. */
#define SPAN_MAX 10 /* Messages of people in a span; what is longer is no interruption. */

/* ---- Spans: asides and explorations ---------------------------------------------------------- */

/* A clause of a message. */
typedef struct place {
    size_t unit, clause;
} place;

typedef struct span {
    bool is_open;
    place first;
    size_t length; /* Messages of people since it opened. */
} span;

static void void_clauses(lc_unit *unit, size_t first, size_t end, lc_verdict verdict)
{
    for (size_t c = first; c < end && c < unit->clause_count; c++)
        if (unit->clauses[c].verdict == LC_VERDICT_HOLDS)
            unit->clauses[c].verdict = verdict;
}

/* Everything from `first` up to `end`. */
static void void_span(lc_judging *j, place first, place end, lc_verdict verdict)
{
    for (size_t i = first.unit; i <= end.unit; i++) {
        lc_unit *unit = &j->units[i];
        size_t from = i == first.unit ? first.clause : 0;
        size_t to = i == end.unit ? end.clause : unit->clause_count;

        if (unit->said->kind == LC_SAID_MESSAGE)
            void_clauses(unit, from, to, verdict);
    }
}

/* Is the query about what was said in the span, more than about the rest? */
static bool is_asked_about(const lc_judging *j, size_t first, size_t last)
{
    size_t inside = 0, outside = 0;

    for (size_t i = 0; i < j->input->count; i++) {
        size_t shared;

        if (!lc_unit_is_person(&j->units[i]))
            continue;
        shared = lc_subject_shared(j->query, j->units[i].terms);
        if (i >= first && i <= last)
            inside = shared > inside ? shared : inside;
        else
            outside = shared > outside ? shared : outside;
    }
    return inside > outside;
}

/* The last clause of the unit with one of these cues, or LC_SAID_NONE. */
static size_t last_with(const lc_unit *unit, uint32_t cues)
{
    for (size_t c = unit->clause_count; c-- > 0;)
        if ((unit->clauses[c].cues.bits & cues) != 0)
            return c;
    return LC_SAID_NONE;
}

static size_t first_with(const lc_unit *unit, uint32_t cues)
{
    for (size_t c = 0; c < unit->clause_count; c++)
        if ((unit->clauses[c].cues.bits & cues) != 0)
            return c;
    return LC_SAID_NONE;
}

/* Has the message nothing to do with what people talked about just before? */
static bool changes_subject(const lc_judging *j, size_t index)
{
    size_t left = EARLIER;

    for (size_t i = index; i-- > 0 && left > 0;) {
        if (!lc_unit_is_person(&j->units[i]))
            continue;
        if (lc_subject_is_near(j->units[i].terms, j->units[index].terms))
            return false;
        left--;
    }
    return left < EARLIER;
}

/* Where the message opens an aside, or LC_SAID_NONE. "Wait, ..." and the like may as well begin a
 * correction, so they open one only together with another subject. */
static size_t opens_aside(const lc_judging *j, size_t index)
{
    const lc_unit *unit = &j->units[index];
    size_t clause = first_with(unit, LC_CUE_ASIDE_OPEN);

    if (clause != LC_SAID_NONE)
        return clause;
    clause = first_with(unit, LC_CUE_ASIDE_HINT);
    if (clause == LC_SAID_NONE || lc_unit_has(unit, LC_CUE_CORRECT | LC_CUE_UPDATE) ||
        !changes_subject(j, index))
        return LC_SAID_NONE;
    return clause;
}

/* The end of a span whose last clause is `clause`: behind it, or before it when it goes on: "Back
 * to baking: also one lemon." */
static place end_at(const lc_judging *j, size_t unit, size_t clause)
{
    lc_terms terms = j->units[unit].clauses[clause].terms;
    bool goes_on = false;

    for (size_t i = 0; i + 1 < terms.count; i++)
        goes_on |= terms.at[i].after == ':' || terms.at[i].after == '-';
    return (place){unit, clause + !goes_on};
}

/* Did people speak of what these terms are about, from unit `first` up to `end`? */
static bool was_spoken_of(const lc_judging *j, lc_terms terms, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (lc_unit_is_person(&j->units[i]) && lc_subject_is_near(j->units[i].terms, terms))
            return true;
    return false;
}

/* Does the message come back to what people spoke of before the aside and what is asked, without a
 * word for it? */
static bool comes_back(const lc_judging *j, size_t index, const span *aside)
{
    size_t first = aside->first.unit;
    lc_terms terms = j->units[index].terms;

    return index > first && changes_subject(j, first) && lc_subject_is_near(j->query, terms) &&
           was_spoken_of(j, terms, 0, first) && !was_spoken_of(j, terms, first, index);
}

/* "Anyway, back to the tractor." closes what nobody opened: the messages since the last that was
 * about it, if they were few and about something else. */
static void close_unopened(lc_judging *j, size_t index, size_t clause)
{
    lc_terms subject = j->units[index].clauses[clause].terms;
    size_t last = index, people = 0;

    while (last > 0 && people <= STRAY_MAX) {
        last--;
        if (!lc_unit_is_person(&j->units[last]))
            continue;
        if (lc_subject_is_near(j->units[last].terms, subject))
            break;
        people++;
    }
    if (people == 0 || people > STRAY_MAX || !lc_unit_is_person(&j->units[last]) ||
        !lc_subject_is_near(j->units[last].terms, subject))
        return;
    for (size_t i = last + 1; i < index; i++)
        if (lc_unit_is_person(&j->units[i]) && was_spoken_of(j, j->units[i].terms, 0, last + 1))
            return;
    if (!is_asked_about(j, last + 1, index - 1))
        void_span(j, (place){last + 1, 0}, (place){index, 0}, LC_VERDICT_ASIDE);
}

static void follow_aside(lc_judging *j, size_t index, span *aside)
{
    size_t close = last_with(&j->units[index], LC_CUE_ASIDE_CLOSE), open;

    if (aside->is_open && close == LC_SAID_NONE && comes_back(j, index, aside)) {
        if (!is_asked_about(j, aside->first.unit, index - 1))
            void_span(j, aside->first, (place){index, 0}, LC_VERDICT_ASIDE);
        aside->is_open = false;
    }
    if (!aside->is_open && close != LC_SAID_NONE)
        close_unopened(j, index, close);

    if (aside->is_open && close != LC_SAID_NONE) {
        if (!is_asked_about(j, aside->first.unit, index))
            void_span(j, aside->first, end_at(j, index, close), LC_VERDICT_ASIDE);
        aside->is_open = false;
        return;
    }
    open = opens_aside(j, index);
    if (!aside->is_open && open != LC_SAID_NONE)
        *aside = (span){true, {index, open}, 0};
}

/* What ends here began with the first of the suppositions just before, if there were any. */
static span supposed_before(const lc_judging *j, size_t index)
{
    span found = {0};
    size_t people = 0;

    for (size_t i = index; i-- > 0 && people < STRAY_MAX;) {
        if (!lc_unit_is_person(&j->units[i]))
            continue;
        people++;
        if (first_with(&j->units[i], LC_CUE_TENTATIVE) == LC_SAID_NONE)
            continue;
        found = (span){true, {i, first_with(&j->units[i], LC_CUE_TENTATIVE)}, 0};
    }
    return found;
}

static void follow_exploration(lc_judging *j, size_t index, span *exploration)
{
    const lc_unit *unit = &j->units[index];
    const lc_unit_clause *last = unit->clause_count > 0 ? &unit->clauses[unit->clause_count - 1]
                                                        : NULL;
    size_t close = last_with(unit, LC_CUE_EXPLORE_CLOSE);
    size_t open = first_with(unit, LC_CUE_EXPLORE_OPEN);

    /* "Hypothetically, to see what it does:" is about what follows. */
    if (open == LC_SAID_NONE && last != NULL && (last->cues.bits & LC_CUE_TENTATIVE) != 0 &&
        last->terms.at[last->terms.count - 1].after == ':')
        open = unit->clause_count - 1;

    if (!exploration->is_open && close != LC_SAID_NONE)
        *exploration = supposed_before(j, index);
    if (exploration->is_open && close != LC_SAID_NONE) {
        void_span(j, exploration->first, end_at(j, index, close), LC_VERDICT_SUPPOSES);
        exploration->is_open = false;
    } else if (!exploration->is_open && open != LC_SAID_NONE) {
        *exploration = (span){true, {index, open}, 0};
    }
}

/* The query comes back to the main subject while the aside is open. It lasts until somebody spoke
 * of the main subject again. */
static void end_aside(lc_judging *j, place first)
{
    const lc_unit *opener = &j->units[first.unit];

    if (!was_spoken_of(j, j->query, 0, first.unit) || !changes_subject(j, first.unit) ||
        (lc_unit_has(opener, LC_CUE_CORRECT | LC_CUE_UPDATE) &&
         !lc_unit_has(opener, LC_CUE_ASIDE_OPEN)))
        return;
    for (size_t i = first.unit; i < j->input->count; i++) {
        lc_unit *unit = &j->units[i];

        if (i > first.unit && lc_unit_is_person(unit) &&
            was_spoken_of(j, unit->terms, 0, first.unit))
            return;
        if (unit->said->kind == LC_SAID_MESSAGE && lc_subject_shared(j->query, unit->terms) == 0)
            void_clauses(unit, i == first.unit ? first.clause : 0, unit->clause_count,
                         LC_VERDICT_ASIDE);
    }
}

static void follow_spans(lc_judging *j)
{
    span aside = {0}, exploration = {0};

    for (size_t i = 0; i < j->input->count; i++) {
        if (!lc_unit_is_person(&j->units[i]))
            continue;
        exploration.is_open = exploration.is_open && ++exploration.length <= SPAN_MAX;
        aside.is_open = aside.is_open && ++aside.length <= SPAN_MAX;
        follow_exploration(j, i, &exploration);
        follow_aside(j, i, &aside);
    }
    if (aside.is_open)
        end_aside(j, aside.first);
    if (exploration.is_open && !is_asked_about(j, exploration.first.unit, exploration.first.unit))
        void_clauses(&j->units[exploration.first.unit], exploration.first.clause,
                     j->units[exploration.first.unit].clause_count, LC_VERDICT_SUPPOSES);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

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

/* "L1 was wrong": what L1 said before is void. */
static void declare_wrong(lc_judging *j, size_t index, const lc_unit_clause *clause)
{
    size_t name = clause->cues.wrong_at;
    loci_str spelled;

    while (name > 0 && !lc_term_has_capital(clause->terms, name - 1))
        name--;
    if (name == 0)
        return;
    spelled = lc_terms_text(lc_terms_part(clause->terms, name - 1, 1));
    for (size_t i = 0; i < index; i++) {
        lc_unit *old = &j->units[i];

        if (lc_unit_is_person(old) && lc_text_begins(old->attribution.who, spelled))
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

/* The date is no longer the plan's: what was promised for it ("by Friday", "for Friday") is void.
 */
static void drop_date(lc_judging *j, size_t index, uint64_t date)
{
    for (size_t i = 0; i < index; i++) {
        lc_terms terms = j->units[i].terms;

        for (size_t t = 1; lc_unit_is_person(&j->units[i]) && t < terms.count; t++)
            if (terms.at[t].sense == date && lc_term_in(&terms.at[t - 1], LC_WORDS_BINDING))
                void_unit(&j->units[i], LC_VERDICT_REPLACED);
    }
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
        /* "Monday then." settles what was spoken of. */
        if (((cues & (LC_CUE_CORRECT | LC_CUE_UPDATE)) != 0 ||
             ((cues & LC_CUE_DECIDE) != 0 && (cues & LC_CUE_REFERS) != 0)) &&
            (cues & LC_CUE_PAST) == 0)
            correct_clauses(j, index, clause);
    }
}

void lc_judging_flow(lc_judging *j)
{
    follow_spans(j);
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

/* ---- The assistant --------------------------------------------------------------------------- */

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

void lc_judging_model(lc_judging *j)
{
    for (size_t i = 0; i < j->input->count; i++) {
        lc_unit *unit = &j->units[i];
        const lc_unit *answer = NULL; /* The first thing that a person said after it. */
        bool is_refused, is_taken_up;

        if (unit->said->kind != LC_SAID_MESSAGE || !unit->said->is_model)
            continue;
        for (size_t k = i + 1; k < j->input->count && answer == NULL; k++)
            if (lc_unit_is_person(&j->units[k]))
                answer = &j->units[k];
        is_refused = answer != NULL && lc_unit_has(answer, LC_CUE_REFUSE);
        is_taken_up = answer != NULL && !is_refused && lc_unit_has(answer, LC_CUE_ACCEPT);
        for (size_t c = 0; c < unit->clause_count; c++)
            if (unit->clauses[c].verdict == LC_VERDICT_HOLDS &&
                (is_refused || is_corrected(answer, unit->clauses[c].terms) ||
                 (!is_taken_up && is_made_up(j, unit->clauses[c].terms))))
                unit->clauses[c].verdict = LC_VERDICT_OUTRANKED;
    }
}
