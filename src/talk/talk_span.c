/* talk_span.c - asides and explorations: what lies between the words that open and close them.
 *
 * Only people open and close; what the assistant says in between belongs to it. A span begins with
 * the clause that opens it and ends with the clause that closes it. The question at the end closes
 * an aside that is still open, but then only what has nothing to do with the question is void. An
 * exploration that nobody closed voids the message that opened it and no more. A span that goes on
 * for long lapses: then it was none, and nothing of it is void.
 */
#include "talk/judging.h"

#define EARLIER 3 /* Messages of people that tell what the subject was. */
#define SPAN_MAX                                                                                   \
    10 /* Messages of people that a span can hold; what is longer is no interruption. */

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

/* "Back to baking: also one lemon." goes on after it closed. */
static bool goes_on(const lc_unit_clause *clause)
{
    for (size_t i = 0; i + 1 < clause->terms.count; i++)
        if (clause->terms.at[i].after == ':' || clause->terms.at[i].after == '-')
            return true;
    return false;
}

/* The end of a span whose last clause is `clause`: behind it, or before it when it goes on. */
static place end_at(const lc_judging *j, size_t unit, size_t clause)
{
    return (place){unit, clause + !goes_on(&j->units[unit].clauses[clause])};
}

static void follow_aside(lc_judging *j, size_t index, span *aside)
{
    size_t close = last_with(&j->units[index], LC_CUE_ASIDE_CLOSE), open;

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

static void follow_exploration(lc_judging *j, size_t index, span *exploration)
{
    size_t close = last_with(&j->units[index], LC_CUE_EXPLORE_CLOSE);
    size_t open = first_with(&j->units[index], LC_CUE_EXPLORE_OPEN);

    if (exploration->is_open && close != LC_SAID_NONE) {
        void_span(j, exploration->first, end_at(j, index, close), LC_VERDICT_SUPPOSES);
        exploration->is_open = false;
    } else if (!exploration->is_open && open != LC_SAID_NONE) {
        *exploration = (span){true, {index, open}, 0};
    }
}

/* Did people speak of what these terms are about before the unit `end`? */
static bool was_spoken_of(const lc_judging *j, lc_terms terms, size_t end)
{
    for (size_t i = 0; i < end; i++)
        if (lc_unit_is_person(&j->units[i]) && lc_subject_is_near(j->units[i].terms, terms))
            return true;
    return false;
}

/* The query comes back to the main subject while the aside is open. It lasts until somebody spoke
 * of the main subject again. */
static void end_aside(lc_judging *j, place first)
{
    if (!was_spoken_of(j, j->query, first.unit) || !changes_subject(j, first.unit) ||
        lc_unit_has(&j->units[first.unit], LC_CUE_CORRECT | LC_CUE_UPDATE))
        return;
    for (size_t i = first.unit; i < j->input->count; i++) {
        lc_unit *unit = &j->units[i];

        if (i > first.unit && lc_unit_is_person(unit) && was_spoken_of(j, unit->terms, first.unit))
            return;
        if (unit->said->kind == LC_SAID_MESSAGE && lc_subject_shared(j->query, unit->terms) == 0)
            void_clauses(unit, i == first.unit ? first.clause : 0, unit->clause_count,
                         LC_VERDICT_ASIDE);
    }
}

static void age(span *s)
{
    if (s->is_open && ++s->length > SPAN_MAX)
        s->is_open = false;
}

void lc_judging_spans(lc_judging *j)
{
    span aside = {0}, exploration = {0};

    for (size_t i = 0; i < j->input->count; i++) {
        if (!lc_unit_is_person(&j->units[i]))
            continue;
        age(&exploration);
        age(&aside);
        follow_exploration(j, i, &exploration);
        follow_aside(j, i, &aside);
    }
    if (aside.is_open)
        end_aside(j, aside.first);
    if (exploration.is_open && !is_asked_about(j, exploration.first.unit, exploration.first.unit))
        void_clauses(&j->units[exploration.first.unit], exploration.first.clause,
                     j->units[exploration.first.unit].clause_count, LC_VERDICT_SUPPOSES);
}
