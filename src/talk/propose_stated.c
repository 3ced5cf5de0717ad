/* propose_stated.c - the fact that a clause states again, without a cue or with a weak one: counted
 * again, fallen through, said plainly, said in the same frame. */
#include "base/str.h"
#include "talk/proposing.h"

/* "92 guests" for the 80 of guest_count. */
static bool counts_what_key_names(const lc_candidate *c, lc_terms value)
{
    return c->value.count == 1 && c->value.at[0].kind == LC_TERM_NUMBER && value.count >= 2 &&
           value.at[0].kind == LC_TERM_NUMBER && value.at[0].sense != c->value.at[0].sense &&
           lc_term_is_content(value.at[1].kind) && lc_terms_have(c->key, value.at[1].sense);
}

/* Do the words right in front of the value speak of something unknown: "the patient next to him
 * gets"? One word may be what was done: "counted again". */
static bool is_about_another(const lc_proposing *p, const lc_candidate *c, lc_terms front)
{
    size_t unknown = 0;

    for (size_t i = front.count; i-- > 0;) {
        if (front.at[i].after != 0)
            break;
        unknown += lc_term_is_content(front.at[i].kind) && !lc_propose_is_known(p, c, &front.at[i]);
    }
    return unknown > 1;
}

/* "80 kg now.": another number of what was counted lately. */
size_t lc_propose_recounted(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    lc_terms front = lc_terms_part(clause->terms, 0, (size_t)(value.at - clause->terms.at));

    if (!lc_terms_have_in(clause->terms, LC_WORDS_RECOUNT) &&
        (clause->cues.bits & LC_CUE_UPDATE) == 0)
        return LC_SAID_NONE;
    for (size_t i = 0; i < p->input->known_count; i++) {
        const lc_candidate *c = &p->candidates[i];

        if (lc_propose_is_open(p, i, clause, value) && c->age < LC_PROPOSE_RECENT &&
            !is_about_another(p, c, front) &&
            (lc_subject_counts_differ(c->value, value) || counts_what_key_names(c, value)))
            return i;
    }
    return LC_SAID_NONE;
}

/* "Ravello fell through. We're doing Matera.": the fact whose value an earlier clause of the
 * message drops. */
size_t lc_propose_dropped(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    for (const lc_unit_clause *before = p->message.clauses; before < clause; before++) {
        if ((before->cues.bits & LC_CUE_DROP) == 0 || (before->cues.bits & LC_CUES_NOT_MEANT) != 0)
            continue;
        for (size_t i = 0; i < p->input->known_count; i++)
            if (lc_propose_is_open(p, i, clause, value) &&
                lc_value_is_in(before->terms, p->candidates[i].value) &&
                lc_value_looks_alike(p->candidates[i].value, value))
                return i;
    }
    return LC_SAID_NONE;
}

/* Does the message name the value of the fact in front of `end`, or what tells it apart? */
static bool is_named_before(const lc_proposing *p, const lc_candidate *c, const lc_term *end)
{
    size_t own = 0, said = 0;

    for (size_t i = 0; i < c->value.count; i++) {
        const lc_term *term = &c->value.at[i];
        lc_terms front = {p->message.terms.text, p->message.terms.at,
                          (size_t)(end - p->message.terms.at)};

        if (!lc_term_is_content(term->kind) || lc_terms_have(c->key, term->sense))
            continue;
        own++;
        said += lc_terms_have(front, term->sense);
    }
    return said > 0 && said * 2 >= own;
}

/* "Marketing hated the teal. Burgundy it is.": the fact whose value came to nothing, in a message
 * that goes on to say what is had in its place. */
size_t lc_propose_displaced(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    bool is_dropped = false;
    size_t found = LC_SAID_NONE;

    for (const lc_unit_clause *c = p->message.clauses; c <= clause; c++)
        is_dropped |= (c->cues.bits & (LC_CUE_DROP | LC_CUE_TROUBLE)) != 0 &&
                      (c->cues.bits & LC_CUES_NOT_MEANT) == 0;
    for (size_t i = 0; i < p->input->known_count && is_dropped; i++) {
        const lc_candidate *c = &p->candidates[i];

        if (p->input->known[i].is_former || c->is_utterance || c->age == LC_SAID_NONE ||
            !lc_value_fits(c->value, value) || !lc_value_looks_alike(c->value, value) ||
            (lc_value_is_proper(c->value) && !lc_value_begins_proper(value)) ||
            !is_named_before(p, c, lc_value_part(clause->terms, value)))
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}

/* "The marquee budget is 7,200 pounds.": said plainly, of exactly what the key names, with another
 * amount of the same kind. */
size_t lc_propose_restated(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t front = (size_t)(value.at - clause->terms.at), start = front;
    lc_terms words, last;

    /* "New quote: the rent is ...", "..., so the rent is ...": what stands before only leads up. */
    start = (size_t)(lc_value_segment(clause->terms, value) - clause->terms.at);
    for (size_t at = start + 1; at < front; at++)
        if (clause->terms.at[at - 1].after == ':')
            start = at;
    words = lc_terms_part(clause->terms, start, front - start);
    start = (size_t)(lc_value_part(clause->terms, value) - clause->terms.at);
    last = lc_terms_part(clause->terms, start, front - start);

    for (size_t i = 0; i < p->input->known_count && !lc_words_are_other(clause->terms); i++) {
        const lc_candidate *c = &p->candidates[i];

        if (lc_propose_is_open(p, i, clause, value) &&
            ((lc_value_shape(c->value) & lc_value_shape(value)) != 0 ||
             (lc_value_is_proper(c->value) && lc_value_is_proper(value))) &&
            ((lc_key_is_named(c->key, words) && lc_propose_is_only_about(p, c, words)) ||
             (lc_key_is_named(c->key, last) && lc_propose_is_only_about(p, c, last))))
            return i;
    }
    return LC_SAID_NONE;
}

/* "The hearing starts at 10:30.": a part of the key is enough for what was stated lately, when only
 * one fact can be meant. */
size_t lc_propose_restated_lately(const lc_proposing *p, const lc_unit_clause *clause,
                                  lc_terms value)
{
    lc_terms words = lc_terms_part(clause->terms, 0, (size_t)(value.at - clause->terms.at));
    static const lc_terms nothing = {0};
    size_t found = LC_SAID_NONE;

    for (size_t i = 0; i < p->input->known_count && !lc_words_are_other(clause->terms); i++) {
        const lc_candidate *c = &p->candidates[i];

        if (!lc_propose_is_open(p, i, clause, value) || c->age >= LC_PROPOSE_RECENT ||
            (lc_value_shape(c->value) & lc_value_shape(value)) == 0 ||
            lc_words_named(c->key, words, nothing) == 0 || !lc_propose_is_only_about(p, c, words))
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}

/* The last content word in front of the value, in terms that have it; NULL without one. */
static const lc_term *word_before(lc_terms terms, lc_terms value)
{
    const lc_term *first = NULL;

    /* Where the value begins: its first content word that the terms have. */
    for (size_t v = 0; v < value.count && first == NULL; v++)
        for (size_t i = 0; i < terms.count && lc_term_is_content(value.at[v].kind); i++)
            if (terms.at[i].sense == value.at[v].sense) {
                first = &terms.at[i];
                break;
            }
    while (first != NULL && first > terms.at) {
        first--;
        if (first->after != 0)
            return NULL;
        if (lc_term_is_content(first->kind))
            return first;
    }
    return NULL;
}

/* "The race starts at the town hall." and "We'll start from the stadium.": the same word leads to
 * another value, said of us. */
size_t lc_propose_reframed(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    const lc_term *lead = word_before(clause->terms, value);
    bool is_ours = lc_terms_have_in(clause->terms, LC_WORDS_WE);
    size_t found = LC_SAID_NONE;

    for (size_t i = 0; i < p->input->known_count && is_ours && lead != NULL; i++) {
        const lc_candidate *c = &p->candidates[i];
        bool is_same = false;

        if (!lc_propose_is_open(p, i, clause, value) || c->age >= LC_PROPOSE_RECENT ||
            lc_words_are_other(clause->terms) ||
            (lc_value_shape(c->value) | lc_value_shape(value)) != 0)
            continue;
        for (size_t s = 0; s < c->stated_count && !is_same; s++) {
            const lc_term *before = word_before(p->before[c->stated_in[s]].terms, c->value);

            is_same = before != NULL && before->sense == lead->sense;
        }
        if (!is_same)
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}

/* Content words of `front` that are not known of the fact and no mere verbs. */
static size_t unknown_words(const lc_proposing *p, const lc_candidate *c, lc_terms front)
{
    size_t count = 0;

    for (size_t i = 0; i < front.count; i++) {
        const lc_term *term = &front.at[i];

        count += lc_term_is_content(term->kind) && term->kind != LC_TERM_DATE &&
                 !lc_word_is_copula(term) && !lc_word_is_change(term) && !lc_key_is_generic(term) &&
                 !lc_propose_is_known(p, c, term);
    }
    return count;
}

/* "New target is ...": new, and a word for what has a value. */
static bool is_new_value(lc_terms front)
{
    for (size_t i = 0; i + 1 < front.count; i++)
        if (lc_term_is(front, i, "new") && lc_term_in(&front.at[i + 1], LC_WORDS_VALUE_NOUNS))
            return true;
    return false;
}

/* Does the clause point back: "it's ...", "the new target is ...", "he'll come ..." where the
 * message says who? */
static bool points_back(const lc_proposing *p, const lc_candidate *c, const lc_unit_clause *clause,
                        lc_terms front)
{
    size_t unknown = unknown_words(p, c, front);

    if (unknown > 0)
        return unknown == 1 && is_new_value(front);
    if (lc_terms_have_in(front, LC_WORDS_IT_IS))
        return true;
    return (lc_terms_have_word(front, "it") && (clause->cues.bits & LC_CUE_UPDATE) != 0) ||
           lc_propose_score(p, c, p->message.terms) > 0;
}

/* "It's Thursday.", "It says 18:25." */
static bool tells_time(lc_terms front, lc_terms value)
{
    bool is_time = value.at[0].kind == LC_TERM_DATE || value.at[0].kind == LC_TERM_TIME;

    return lc_terms_have_in(front, LC_WORDS_SHOWS) ||
           (is_time && front.count <= 2 &&
            (lc_terms_have_word(front, "it's") || lc_terms_have_word(front, "it")));
}

/* "QA found two blockers. New target is June 17.": another amount of the form of the one fact that
 * was stated lately and looks like it, in a clause that points back and speaks of nothing else. */
size_t lc_propose_recalled(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t start = (size_t)(lc_value_segment(clause->terms, value) - clause->terms.at), found;
    lc_terms front = lc_terms_part(clause->terms, start,
                                   (size_t)(value.at - clause->terms.at) - start);

    if (!lc_term_is_amount(value.at[0].kind) || lc_words_are_other(clause->terms) ||
        tells_time(front, value))
        return LC_SAID_NONE;
    if (lc_terms_have_in(clause->terms, LC_WORDS_ALSO))
        return LC_SAID_NONE;
    found = LC_SAID_NONE;
    for (size_t i = 0; i < p->input->known_count; i++) {
        const lc_candidate *c = &p->candidates[i];

        if (p->input->known[i].is_former || c->is_utterance || c->age >= LC_PROPOSE_RECENT ||
            (lc_value_kinds(c->value) & lc_value_kinds(value)) == 0)
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found != LC_SAID_NONE && lc_propose_is_open(p, found, clause, value) &&
                   points_back(p, &p->candidates[found], clause, front)
               ? found
               : LC_SAID_NONE;
}
