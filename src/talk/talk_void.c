/* talk_void.c - what one statement makes void in another without saying so.
 *
 * When two people say different things, the higher rank holds, and of one person the later word.
 * Titles come from the texts themselves (attribution.h); they say what a statement leans on and
 * give nobody a right. A later clause voids an earlier one that states the thing with another
 * amount, a thing that was called off or went wrong, a task that went to somebody else, and what
 * was concluded from something that no longer holds. All of it compares what stands in front of an
 * amount or a verb; nothing here knows a subject.
 */
#include "base/str.h"
#include "talk/judging.h"

/* States nothing that could replace or be replaced. */
#define NO_STATEMENT                                                                               \
    (LC_CUE_QUESTION | LC_CUE_REQUEST | LC_CUE_META | LC_CUE_TENTATIVE | LC_CUE_PAST)

#define NEWS (LC_CUE_NOW | LC_CUE_UPDATE | LC_CUE_CORRECT)

static bool is_statement(const lc_unit *unit, const lc_unit_clause *clause)
{
    return unit->verdict == LC_VERDICT_HOLDS && clause->verdict == LC_VERDICT_HOLDS &&
           !clause->is_aside && (clause->cues.bits & NO_STATEMENT) == 0;
}

static bool is_same_person(const lc_unit *a, const lc_unit *b)
{
    return lc_str_eq(a->attribution.who, b->attribution.who);
}

/* ---- Ranks ----------------------------------------------------------------------------------- */

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

/* Is what the clause states stated otherwise by one of the other's clauses? "I'll bring 3 tents."
 * and "Then only 2 tents.": another number of it, and no word of anything else in front. */
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
             (is_same_person && lc_terms_content(lead_up(said->terms)) == 0 &&
              lc_subject_counts_differ(clause->terms, said->terms)) ||
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

/* ---- Later clauses --------------------------------------------------------------------------- */

/* Where the part of the clause begins that the term at `at` belongs to. */
static size_t part_start(lc_terms clause, size_t at)
{
    for (; at > 0; at--) {
        if (clause.at[at - 1].after != 0 && strchr(",;:-", clause.at[at - 1].after) != NULL)
            return at;
        if (lc_term_in(&clause.at[at - 1], LC_WORDS_PART_JOINTS))
            return at;
    }
    return 0;
}

static void replace(lc_judging *j, lc_unit_clause *old, const lc_unit *news)
{
    old->verdict = LC_VERDICT_REPLACED;
    old->void_since = j->now;
    lc_judging_bury(j, old->terms, news->terms, false);
}

/* Does every older clause that `fits` fall? The state of one comparison. */
typedef struct search {
    const lc_unit *unit;          /* Who speaks ... */
    const lc_unit_clause *clause; /* ... and says what. */
    lc_terms part;                /* Of the clause: what is looked for in the older ones ... */
    uint64_t topic_bits;          /* ... and, if they must have all of it, bits of its topics. */
} search;

typedef bool fit_fn(const search *s, const lc_unit *unit, const lc_unit_clause *older);

static fit_fn is_called_off, is_given_up;

static void replace_older(lc_judging *j, size_t index, const search *s, fit_fn *fits)
{
    for (size_t i = 0; i < index; i++) {
        lc_unit *unit = &j->units[i];

        /* A higher rank is not corrected; but what came to nothing did so for all. */
        if (!lc_unit_is_person(unit) || (fits != is_called_off && fits != is_given_up &&
                                         unit->attribution.rank > s->unit->attribution.rank))
            continue;
        for (size_t c = 0; c < unit->clause_count; c++)
            if ((s->topic_bits & ~unit->clauses[c].bits) == 0 &&
                is_statement(unit, &unit->clauses[c]) && fits(s, unit, &unit->clauses[c]))
                replace(j, &unit->clauses[c], s->unit);
    }
}

/* ---- Stated again ---------------------------------------------------------------------------- */

/* What leads up to the amount at `at`, from the amount before it or the start of its part on. */
static lc_terms lead_of(lc_terms clause, size_t at)
{
    size_t start = part_start(clause, at);

    for (size_t i = at; i > start; i--)
        if (lc_term_is_amount(clause.at[i - 1].kind))
            start = i;
    return lc_terms_part(clause, start, at - start);
}

/* "I thawed it on Monday" tells what happened once. */
static bool is_event(lc_terms lead)
{
    if (lc_terms_have_in(lead, LC_WORDS_EVENTS))
        return true;
    for (size_t i = 0; i < lead.count; i++) {
        const char *end = lead.text.ptr + lead.at[i].start + lead.at[i].bytes;

        if (lead.at[i].kind == LC_TERM_WORD && lead.at[i].bytes > 4 && end[-1] == 'd' &&
            end[-2] == 'e' &&
            (i == 0 || lead.at[i - 1].kind != LC_TERM_STOP ||
             lc_terms_have_in(lc_terms_part(lead, i - 1, 1), LC_WORDS_SPEAKER)))
            return true;
    }
    return false;
}

static bool covers(lc_terms all, lc_terms some)
{
    for (size_t i = 0; i < some.count; i++)
        if (lc_term_is_topic(&some.at[i]) && !lc_terms_have(all, some.at[i].sense))
            return false;
    return true;
}

static size_t topic_count(lc_terms terms)
{
    size_t count = 0;

    for (size_t i = 0; i < terms.count; i++)
        count += lc_term_is_topic(&terms.at[i]);
    return count;
}

static uint64_t topic_bits(lc_terms terms)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < terms.count; i++)
        if (lc_term_is_topic(&terms.at[i]))
            bits |= lc_sense_bits(lc_terms_part(terms, i, 1));
    return bits;
}

/* What a number counts, or 0. */
static uint64_t unit_of(lc_terms clause, size_t at)
{
    return at + 1 < clause.count && clause.at[at].after == 0 &&
                   lc_term_is_content(clause.at[at + 1].kind)
               ? clause.at[at + 1].sense
               : 0;
}

/* Do the same words lead up to another amount of the same kind at `at`? */
static bool restates(const search *s, const lc_unit *unit, lc_terms older, size_t at)
{
    const lc_term *old = &older.at[at], *amount = s->part.at + s->part.count;
    lc_terms before, now = s->clause->terms;
    /* "Bed 3": the number says which one, not how many. */
    bool is_label = old->kind == LC_TERM_NUMBER && at > 0 && lc_term_is_topic(old - 1) &&
                    old[-1].after == 0;

    if (old->kind != amount->kind || is_label || lc_terms_have(now, old->sense) ||
        lc_terms_have(older, amount->sense))
        return false;
    before = lead_of(older, at);
    if (topic_count(before) == 0 || is_event(before))
        return false;
    /* News may say less of what it is about. */
    if (!covers(before, s->part) ||
        (!covers(s->part, before) && (s->clause->cues.bits & NEWS) == 0))
        return false;
    if (!is_same_person(s->unit, unit) &&
        (lc_terms_have_in(before, LC_WORDS_SPEAKER) || lc_terms_have_in(s->part, LC_WORDS_SPEAKER)))
        return false;
    return old->kind != LC_TERM_NUMBER ||
           unit_of(older, at) == unit_of(now, (size_t)(amount - now.at));
}

/* "Lunch for 14." and "... so lunch for 16". */
static bool is_restated(const search *s, const lc_unit *unit, const lc_unit_clause *older)
{
    for (size_t at = 0; older->cues.amount.count > 0 && at < older->terms.count; at++)
        if (lc_term_is_amount(older->terms.at[at].kind) && restates(s, unit, older->terms, at))
            return true;
    return false;
}

static void follow_restatement(lc_judging *j, size_t index, const lc_unit_clause *clause)
{
    for (size_t at = 0; at < clause->terms.count; at++) {
        search s = {.unit = &j->units[index], .clause = clause};

        if (!lc_term_is_amount(clause->terms.at[at].kind))
            continue;
        s.part = lead_of(clause->terms, at);
        s.topic_bits = topic_bits(s.part);
        if (topic_count(s.part) > 0 && !lc_terms_have_in(s.part, LC_WORDS_ADDITIONS))
            replace_older(j, index, &s, is_restated);
    }
}

/* ---- Called off ------------------------------------------------------------------------------ */

/* Everything that was called off is in the older clause. */
static bool is_called_off(const search *s, const lc_unit *unit, const lc_unit_clause *older)
{
    (void)unit;
    return lc_terms_state(older->terms, s->part) &&
           (older->cues.bits & (LC_CUE_CANCEL | LC_CUE_TROUBLE)) == 0;
}

/* The same, and it is not what the older clause is about but what it says of it: "we shoot at the
 * quarry" falls with the quarry, "the quarry is private" does not. */
static bool is_given_up(const search *s, const lc_unit *unit, const lc_unit_clause *older)
{
    size_t first = 0;

    while (first < older->terms.count && !lc_term_is_topic(&older->terms.at[first]))
        first++;
    return is_called_off(s, unit, older) && first < older->terms.count &&
           !lc_terms_have(s->part, older->terms.at[first].sense);
}

/* Does the message go on with what is done in its place? */
static bool goes_on(const lc_unit *unit, const lc_unit_clause *clause)
{
    for (const lc_unit_clause *next = clause; next < unit->clauses + unit->clause_count; next++) {
        if ((next->cues.bits & NO_STATEMENT) != 0)
            continue;
        if (lc_terms_have_in(next->terms, LC_WORDS_GOING_ON) &&
            (next->cues.bits & (LC_CUE_VALUE | LC_CUE_CORRECT)) != 0)
            return true;
    }
    return false;
}

/* What is said to end in front of the term at `at`: without who says so. */
static lc_terms ending(lc_terms clause, size_t at)
{
    size_t start = part_start(clause, at);

    for (size_t i = start; i < at; i++)
        if (lc_term_in(&clause.at[i], LC_WORDS_SAYING))
            start = i + 1;
    return lc_terms_part(clause, start, at - start);
}

/* The first run of names in the clause: of "Dr Amari's train is stuck" Dr Amari. */
static lc_terms names_of(lc_terms clause)
{
    size_t first = 0, count = 0;

    while (first < clause.count && clause.at[first].kind != LC_TERM_NAME)
        first++;
    while (first + count < clause.count && clause.at[first + count].kind == LC_TERM_NAME)
        count++;
    return lc_terms_part(clause, first, count);
}

static void follow_end(lc_judging *j, size_t index, const lc_unit_clause *clause)
{
    lc_unit *unit = &j->units[index];
    search s = {unit, clause, ending(clause->terms, clause->cues.cancel_at), 0};

    if ((clause->cues.bits & LC_CUE_CANCEL) != 0) {
        replace_older(j, index, &s, is_called_off);
    } else if (goes_on(unit, clause)) {
        replace_older(j, index, &s, is_given_up);
        s.part = names_of(clause->terms);
        if (s.part.count > 0 && lc_terms_have_word(unit->terms, "instead"))
            replace_older(j, index, &s, is_given_up);
    }
}

/* ---- Somebody else does it ------------------------------------------------------------------- */

/* What the speaker was going to do, all of it, is now said of another. */
static bool is_handed_over(const search *s, const lc_unit *unit, const lc_unit_clause *older)
{
    return is_same_person(s->unit, unit) && lc_terms_have_in(older->terms, LC_WORDS_SPEAKER) &&
           !lc_terms_have_in(s->clause->terms, LC_WORDS_SPEAKER) && topic_count(older->terms) > 0 &&
           topic_count(older->terms) <= 3 && covers(s->clause->terms, older->terms);
}

/* The last thing that the same person was going to do: "I'm ordering pizza instead." */
static void follow_instead(lc_judging *j, size_t index, const lc_unit_clause *clause)
{
    const lc_unit *unit = &j->units[index];
    bool is_instead = lc_terms_have_word(clause->terms, "instead") &&
                      clause->cues.former.count == 0 &&
                      lc_terms_have_in(clause->terms, LC_WORDS_SPEAKER);
    /* "No fish to be had. It'll be lentils." */
    bool is_forced = lc_unit_has(unit, LC_CUE_TROUBLE) && (clause->cues.bits & LC_CUE_VALUE) != 0 &&
                     (lc_term_is(clause->terms, 0, "it'll") ||
                      lc_term_is(clause->terms, 0, "it's"));

    if ((!is_instead && !is_forced) || unit->attribution.who.len == 0)
        return;
    for (size_t i = index; i-- > 0;) {
        lc_unit *old = &j->units[i];

        for (size_t c = old->clause_count; lc_unit_is_person(old) && c-- > 0;) {
            if (!is_same_person(unit, old) || !is_statement(old, &old->clauses[c]) ||
                !lc_terms_have_in(old->clauses[c].terms, LC_WORDS_SPEAKER))
                continue;
            replace(j, &old->clauses[c], unit);
            return;
        }
    }
}

/* ---- Another in its place -------------------------------------------------------------------- */

/* A name in the place of something used: "in MATLAB", "with Jenkins". */
static bool has_other_name(lc_terms older, lc_terms news)
{
    for (size_t i = 1; i < older.count; i++)
        if (older.at[i].kind == LC_TERM_NAME && !lc_terms_have(news, older.at[i].sense) &&
            lc_term_in(&older.at[i - 1], LC_WORDS_USES))
            return true;
    return false;
}

/* "I've gone over to Julia for the cleaning." and "I'm doing the cleaning in MATLAB." */
static bool is_switched(const search *s, const lc_unit *unit, const lc_unit_clause *older)
{
    lc_terms value = s->clause->cues.value;
    size_t shared = 0;

    for (size_t i = 0; i < s->clause->terms.count; i++) {
        const lc_term *term = &s->clause->terms.at[i];

        shared += lc_term_is_topic(term) && !lc_terms_have(value, term->sense) &&
                  lc_terms_have(older->terms, term->sense);
    }
    return is_same_person(s->unit, unit) && shared > 0 &&
           has_other_name(older->terms, s->clause->terms);
}

void lc_judging_void(lc_judging *j, size_t index)
{
    lc_unit *unit = &j->units[index];

    for (size_t c = 0; c < unit->clause_count; c++) {
        const lc_unit_clause *clause = &unit->clauses[c];
        search s = {unit, clause, clause->terms, 0};

        if (!is_statement(unit, clause))
            continue;
        follow_restatement(j, index, clause);
        if ((clause->cues.bits & (LC_CUE_CANCEL | LC_CUE_TROUBLE)) != 0)
            follow_end(j, index, clause);
        if (unit->attribution.who.len > 0)
            replace_older(j, index, &s, is_handed_over);
        follow_instead(j, index, clause);
        if ((clause->cues.bits & LC_CUE_VALUE) != 0 && (clause->cues.bits & NEWS) != 0 &&
            clause->cues.value.at[0].kind == LC_TERM_NAME)
            replace_older(j, index, &s, is_switched);
    }
}

/* ---- Conclusions ----------------------------------------------------------------------------- */

/* The clause of a person right before the one at `index`, `clause`; NULL without one. */
static const lc_unit_clause *clause_before(const lc_judging *j, size_t index, size_t clause,
                                           const lc_unit **out_unit)
{
    *out_unit = &j->units[index];
    if (clause > 0)
        return &j->units[index].clauses[clause - 1];
    while (index-- > 0) {
        const lc_unit *unit = &j->units[index];

        if (lc_unit_is_person(unit) && unit->clause_count > 0) {
            *out_unit = unit;
            return &unit->clauses[unit->clause_count - 1];
        }
    }
    return NULL;
}

void lc_judging_conclusions(lc_judging *j)
{
    for (size_t i = 0; i < j->input->count; i++) {
        lc_unit *unit = &j->units[i];

        for (size_t c = 0; lc_unit_is_person(unit) && c < unit->clause_count; c++) {
            lc_unit_clause *clause = &unit->clauses[c];
            const lc_unit *from;
            const lc_unit_clause *before;

            /* "So ...", "That means ...": it follows from something and corrects nothing. */
            if (clause->verdict != LC_VERDICT_HOLDS || (clause->cues.bits & LC_CUE_CONCLUDE) == 0 ||
                (clause->cues.bits & (LC_CUE_CORRECT | LC_CUE_UPDATE)) != 0)
                continue;
            before = clause_before(j, i, c, &from);
            /* What was concluded after the change is news itself. */
            if (before == NULL ||
                (from->verdict != LC_VERDICT_REPLACED && before->verdict != LC_VERDICT_REPLACED) ||
                before->void_since <= i || lc_terms_state(clause->terms, before->void_by) ||
                (from->attribution.who.len > 0 && unit->attribution.who.len > 0 &&
                 !is_same_person(from, unit)))
                continue;
            clause->verdict = LC_VERDICT_REPLACED;
            clause->premise = before;
        }
    }
}
