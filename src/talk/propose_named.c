/* propose_named.c - the fact that a clause names, points at, contrasts or speaks of without naming
 * it. */
#include "base/str.h"
#include "talk/proposing.h"

/* Twice what the key names, once what the messages that stated it name. */
size_t lc_propose_score(const lc_proposing *p, const lc_candidate *c, lc_terms clause)
{
    size_t best = 0;
    static const lc_terms nothing = {0};

    for (size_t i = 0; i < c->stated_count; i++) {
        size_t words = lc_words_named(p->before[c->stated_in[i]].terms, clause, c->value);

        best = words > best ? words : best;
    }
    return 4 * lc_words_named(c->key, clause, nothing) + 2 * best;
}

/* "Correction from the head: 18:30." */
static bool is_behind_colon(lc_terms clause, lc_terms value)
{
    return value.at > clause.at && value.at[-1].after == ':';
}

/* A sentence, not the value of a slot. */
static bool has_many_words(lc_terms value)
{
    size_t content = 0;

    for (size_t i = 0; i < value.count; i++)
        content += lc_term_is_content(value.at[i].kind);
    return content > 4;
}

/* The message points at what was said lately: "that", a draft made final, a decision from above. */
static bool points_at(const lc_proposing *p, const lc_candidate *c, const lc_unit_clause *clause,
                      lc_terms value)
{
    uint32_t cues = clause->cues.bits;
    bool is_news = (cues & (LC_CUE_CORRECT | LC_CUE_UPDATE | LC_CUE_CONCLUDE)) != 0 ||
                   ((cues & LC_CUE_DECIDE) != 0 && (cues & LC_CUE_REFERS) != 0) ||
                   lc_unit_has(&p->message, LC_CUE_CORRECT);

    if (c->age == LC_SAID_NONE || c->age >= LC_PROPOSE_RECENT)
        return false;
    if (c->age == 0 && p->message.attribution.has_title && (cues & LC_CUE_DECIDE) != 0)
        return !has_many_words(c->value);
    if (c->is_tentative && (is_news || (cues & LC_CUE_DECIDE) != 0))
        return true;
    return is_news &&
           (lc_unit_has(&p->message, LC_CUE_REFERS) || is_behind_colon(clause->terms, value)) &&
           lc_value_looks_alike(c->value, value);
}

/* The old value may be named in an earlier part of the clause: "the 25th is a holiday, so ..." */
bool lc_propose_is_rival(const lc_candidate *c, lc_terms clause, lc_terms value)
{
    const lc_term *start = lc_value_segment(clause, value);
    lc_terms part = {clause.text, start, (size_t)(clause.at + clause.count - start)};

    return !lc_value_is_in(part, c->value) && lc_value_fits(c->value, value);
}

bool lc_propose_is_open(const lc_proposing *p, size_t index, const lc_unit_clause *clause,
                        lc_terms value)
{
    /* What is marked for some readers is not changed in passing. */
    return !p->input->known[index].is_former &&
           !lc_str_starts(p->candidates[index].value.text, LC_STR("[")) &&
           !p->candidates[index].is_utterance &&
           lc_propose_is_rival(&p->candidates[index], clause->terms, value);
}

/* "Noah's": whose. "Steel's gone up" is no owner: what follows a verb is no thing. */
static bool is_owner(lc_terms terms, const lc_term *term)
{
    const char *end = terms.text.ptr + term->start + term->bytes, *next;

    if ((term->kind != LC_TERM_WORD && term->kind != LC_TERM_NAME) || term->bytes <= 2 ||
        end[-1] != 's' || (end[-2] != '\'' && end[-2] != '\x99'))
        return false;
    if (term + 1 == terms.at + terms.count || !lc_term_is_content(term[1].kind))
        return false;
    next = terms.text.ptr + term[1].start + term[1].bytes;
    return term[1].bytes < 5 || (memcmp(next - 3, "ing", 3) != 0 && memcmp(next - 2, "ed", 2) != 0);
}

/* Does the clause speak of something of somebody that the fact has nothing to do with? */
static bool is_of_another(const lc_proposing *p, const lc_candidate *c, lc_terms clause)
{
    for (size_t i = 0; i < clause.count; i++) {
        const lc_term *term = &clause.at[i];
        bool is_known = !is_owner(clause, term) || lc_terms_have(c->key, term->sense) ||
                        lc_terms_have(c->value, term->sense);

        for (size_t s = 0; s < c->stated_count && !is_known; s++)
            is_known = lc_terms_have(p->before[c->stated_in[s]].terms, term->sense);
        /* "My neighbour's city" is not ours, though it is a city. */
        if (!is_known &&
            (!lc_key_is_named(c->key, clause) || (i > 0 && lc_word_is_possessive(term - 1))))
            return true;
    }
    return false;
}

/* Is this known of the fact: from its key, its value or the messages that stated it? */
bool lc_propose_is_known(const lc_proposing *p, const lc_candidate *c, const lc_term *term)
{
    bool is_known = lc_terms_have(c->key, term->sense) || lc_terms_have(c->value, term->sense);

    for (size_t s = 0; s < c->stated_count && !is_known; s++)
        is_known = lc_terms_have(p->before[c->stated_in[s]].terms, term->sense);
    return is_known;
}

static bool is_within(lc_terms part, const lc_term *term)
{
    return part.count > 0 && term >= part.at && term < part.at + part.count;
}

/* Does a clause that says what takes the place of what speak of nothing that is unknown of the
 * fact, and of nobody else? */
static bool is_only_about_change(const lc_proposing *p, const lc_candidate *c,
                                 const lc_unit_clause *clause, lc_terms value)
{
    if (lc_terms_have_in(clause->terms, LC_WORDS_THIRD_PERSONS))
        return false;
    for (size_t i = 0; i < clause->terms.count; i++) {
        const lc_term *term = &clause->terms.at[i];

        if (lc_term_is_content(term->kind) && !is_within(value, term) &&
            !is_within(clause->cues.former, term) && !lc_word_is_change(term) &&
            !lc_propose_is_known(p, c, term))
            return false;
    }
    return true;
}

/* What is said to be or get the value: of "The project room is now closed" the room. NULL when no
 * noun stands right in front of the verb. */
static const lc_term *head_before(lc_terms clause, lc_terms value)
{
    const lc_term *term = value.at;
    bool is_verb = false;

    while (term > clause.at + 1 && !is_verb && (term - 1)->after == 0) {
        term--;
        is_verb = lc_term_in(term, LC_WORDS_STATE_VERBS);
    }
    return is_verb && (term - 1)->after == 0 && lc_term_is_content((term - 1)->kind) ? term - 1
                                                                                     : NULL;
}

static bool names_somebody_of(lc_terms words, lc_terms key)
{
    for (size_t i = 0; i < words.count; i++)
        if (words.at[i].kind == LC_TERM_NAME && lc_terms_have(key, words.at[i].sense))
            return true;
    return false;
}

/* "The bottom field" is not the top field: what both have stands behind another word. */
static bool is_sibling(const lc_proposing *p, const lc_candidate *c, lc_terms front)
{
    for (size_t i = 1; i < front.count; i++) {
        const lc_term *word = &front.at[i], *before = word - 1;

        if (!lc_term_is_content(word->kind) || before->after != 0 ||
            !lc_term_is_content(before->kind) || lc_word_is_neutral(before) ||
            lc_propose_is_known(p, c, before))
            continue;
        for (size_t k = 1; k < c->key.count; k++)
            if (c->key.at[k].sense == word->sense && lc_term_is_content(c->key.at[k - 1].kind) &&
                !lc_key_is_generic(&c->key.at[k - 1]) &&
                !lc_terms_have(front, c->key.at[k - 1].sense))
                return true;
    }
    return false;
}

/* Is it in the key, but not what the key is about: the class of class_pet? */
static bool is_modifier(lc_terms key, const lc_term *head)
{
    bool is_before = false;

    for (size_t i = 0; i < key.count; i++) {
        if (key.at[i].sense == head->sense)
            is_before = true;
        else if (is_before && lc_term_is_content(key.at[i].kind) &&
                 !lc_key_is_generic(&key.at[i]) && !lc_key_is_kind(&key.at[i]) &&
                 !lc_term_in(&key.at[i], LC_WORDS_ATTRIBUTES))
            return true;
    }
    return false;
}

/* Is the clause about this fact, not about a thing or a person that it only mentions? */
static bool is_about(const lc_proposing *p, const lc_candidate *c, const lc_unit_clause *clause,
                     lc_terms value)
{
    const lc_term *head = head_before(clause->terms, value);
    lc_terms front = lc_terms_part(clause->terms, 0, (size_t)(value.at - clause->terms.at));

    if (lc_terms_have_in(front, LC_WORDS_OTHERS))
        return false;
    /* A name gives way to a name, unless it is corrected. */
    if ((clause->cues.bits & (LC_CUE_CORRECT | LC_CUE_CONCLUDE)) == 0 &&
        lc_value_is_proper(c->value) && !lc_value_begins_proper(value) &&
        !lc_value_has_amount(value))
        return false;
    /* Who is named in the key may have more than one word for the thing. */
    if (head != NULL && is_modifier(c->key, head))
        return false;
    if (head != NULL && !lc_key_is_generic(head) && !lc_key_is_kind(head) &&
        !lc_propose_is_known(p, c, head) && !names_somebody_of(front, c->key))
        return false;
    return !is_sibling(p, c, front) && !is_of_another(p, c, clause->terms);
}

/* The fact that the clause names best, or LC_SAID_NONE: also when that one has the value already,
 * for then the clause is not about another. */
size_t lc_propose_by_name(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t best = LC_SAID_NONE, best_score = 0;

    for (size_t i = 0; i < p->input->known_count; i++) {
        const lc_candidate *c = &p->candidates[i];
        bool is_current = !p->input->known[i].is_former && !c->is_utterance;
        size_t points = is_current && is_about(p, c, clause, value)
                            ? 2 * lc_propose_score(p, c, clause->terms)
                            : 0;

        if (points > 0 && lc_value_looks_alike(c->value, value))
            points++;
        if (points > best_score &&
            (lc_propose_is_rival(c, clause->terms, value) || lc_value_is_in(c->value, value))) {
            best = i;
            best_score = points;
        }
    }
    return best != LC_SAID_NONE && lc_propose_is_open(p, best, clause, value) ? best : LC_SAID_NONE;
}

/* The fact that was stated last among those the clause can point at, or LC_SAID_NONE. */
size_t lc_propose_by_pointer(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t best = LC_SAID_NONE;

    for (size_t i = 0; i < p->input->known_count; i++) {
        const lc_candidate *c = &p->candidates[i];

        if (lc_propose_is_open(p, i, clause, value) && points_at(p, c, clause, value) &&
            (best == LC_SAID_NONE || c->age < p->candidates[best].age))
            best = i;
    }
    return best;
}

/* Is everything that the words in front of the value are about known of this fact: from its key,
 * its value or the messages that stated it? */
bool lc_propose_is_only_about(const lc_proposing *p, const lc_candidate *c, lc_terms words)
{
    for (size_t i = 0; i < words.count; i++) {
        const lc_term *term = &words.at[i];
        bool is_known = !lc_term_is_content(term->kind) || term->kind == LC_TERM_DATE ||
                        lc_word_is_copula(term) || lc_terms_have(c->key, term->sense) ||
                        lc_terms_have(c->value, term->sense);

        for (size_t s = 0; s < c->stated_count && !is_known; s++)
            is_known = lc_terms_have(p->before[c->stated_in[s]].terms, term->sense);
        if (!is_known)
            return false;
    }
    return true;
}

/* "The city changed from Oslo to Bergen", "Bergen, not Oslo": the one fact that has the value which
 * is named as the former one, when the clause is about it and nothing else. */
size_t lc_propose_by_contrast(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    lc_terms former = clause->cues.former;
    size_t found = LC_SAID_NONE, best = 0;

    for (size_t i = 0; i < p->input->known_count && former.count > 0; i++) {
        const lc_candidate *c = &p->candidates[i];
        size_t points = 1 + lc_propose_score(p, c, clause->terms);
        bool is_whole = lc_value_is_same(former, c->value);

        if (p->input->known[i].is_former || c->is_utterance || !lc_value_fits(c->value, value) ||
            !(is_whole || (points > 1 && lc_value_is_in(c->value, former))) ||
            !is_only_about_change(p, c, clause, value))
            continue;
        if (points == best)
            found = LC_SAID_NONE; /* Two facts have it, and neither is named. */
        if (points > best) {
            best = points;
            found = i;
        }
    }
    return found;
}

/* Is every topic of the key one of these words, or one that says nothing? */
static bool is_implied_key(lc_terms key, loci_str words)
{
    bool found = false;

    for (size_t i = 0; i < key.count; i++) {
        loci_str rest = words;
        bool is_word = false;

        while (rest.len > 0 && !is_word)
            is_word = key.at[i].word == lc_word_key(lc_str_split(rest, ' ', &rest));
        found |= is_word;
        if (!is_word && !lc_term_in(&key.at[i], LC_WORDS_PLAIN_KEY))
            return false;
    }
    return found;
}

/* A value that says no more than a name or a number: "456 Oak Ave", "Bergen". Its terms, without
 * what says when; none when it is anything else. */
lc_terms lc_propose_plain_value(lc_terms value)
{
    size_t count = 0;
    bool ends = false;

    while (count < value.count && !ends &&
           (value.at[count].kind == LC_TERM_NAME || lc_term_is_amount(value.at[count].kind)) &&
           value.at[count].kind != LC_TERM_DATE)
        ends = value.at[count++].after != 0;
    ends |= count == value.count || lc_term_in(&value.at[count], LC_WORDS_WHENS);
    return lc_terms_part(value, 0, ends ? count : 0);
}

/* "I moved to 456 Oak Ave.": the fact that the words speak of without naming it. */
size_t lc_propose_by_implication(const lc_proposing *p, const lc_unit_clause *clause,
                                 lc_terms value)
{
    size_t found = LC_SAID_NONE;

    for (size_t i = 0; i < p->input->known_count && value.count > 0; i++) {
        if (clause->cues.implies.len == 0 || !lc_propose_is_open(p, i, clause, value) ||
            !is_implied_key(p->candidates[i].key, clause->cues.implies) ||
            !lc_value_looks_alike(p->candidates[i].value, value))
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}
