/* propose_fact.c - which known fact a clause gives a new value.
 *
 * First the fact that the clause names, points at or contrasts, then the one that it can only be
 * about: counted again, fallen through, stated plainly or in the same frame. */
#include "base/str.h"
#include "talk/proposing.h"

#define VALUE_WORDS_MAX 4 /* A text with more content words is a sentence, not a value. */

/* ---- Words and values ------------------------------------------------------------------------ */

bool lc_value_is_in(lc_terms message, lc_terms value)
{
    for (size_t i = 0; i < value.count; i++) {
        /* "this" tells values apart in "this week". */
        bool is_part = lc_term_is_content(value.at[i].kind) ||
                       (i + 1 < value.count && value.at[i + 1].is_time_unit);

        if (is_part && !lc_terms_have(message, value.at[i].sense))
            return false;
    }
    return value.count > 0;
}

/* Content words of `from` that the clause has, except those of the value itself. */
static size_t words_named(lc_terms from, lc_terms clause, lc_terms value)
{
    size_t count = 0;

    for (size_t i = 0; i < from.count; i++) {
        const lc_term *term = &from.at[i];

        count += (term->kind == LC_TERM_WORD || term->kind == LC_TERM_NAME) &&
                 !lc_term_in(term, LC_WORDS_KEY_GENERIC) && !lc_terms_have(value, term->sense) &&
                 lc_terms_have(clause, term->sense) &&
                 !lc_terms_have(lc_terms_part(from, 0, i), term->sense);
    }
    return count;
}

/* What a value looks like: its kinds, and whether it has a plain number. */
static uint32_t value_shape(lc_terms value)
{
    uint32_t shape = lc_value_kinds(value);

    for (size_t i = 0; i < value.count; i++)
        if (value.at[i].kind == LC_TERM_NUMBER && value.text.ptr[value.at[i].start] != '#')
            shape |= LC_SHAPE_NUMBER;
    return shape;
}

bool lc_value_looks_alike(lc_terms a, lc_terms b)
{
    uint32_t shape_a = value_shape(a), shape_b = value_shape(b);

    return (shape_a & shape_b) != 0 || (shape_a | shape_b) == 0;
}

static bool value_has_amount(lc_terms value)
{
    for (size_t i = 0; i < value.count; i++)
        if (lc_term_is_amount(value.at[i].kind))
            return true;
    return false;
}

/* Is the value a sum, a share or a number and not much more? */
static bool is_amount(lc_terms value)
{
    size_t content = lc_terms_content(value);

    return content > 0 && content <= 2 && lc_term_is_amount(value.at[0].kind) &&
           value.at[0].kind <= LC_TERM_NUMBER;
}

/* Can the new value stand where the old one stood? */
static bool value_fits(lc_terms old, lc_terms value)
{
    uint32_t old_kinds = lc_value_kinds(old), new_kinds = lc_value_kinds(value);

    if (lc_value_is_in(old, value) || (is_amount(old) && !value_has_amount(value)))
        return false;
    return old_kinds == 0 || new_kinds == 0 || (old_kinds & new_kinds) != 0;
}

/* Where the part of the clause begins that has the value: behind "so", "and" or "but". */
static const lc_term *value_segment(lc_terms clause, lc_terms value)
{
    const lc_term *term = value.at;

    for (; term > clause.at; term--) {
        if ((term - 1)->after == ';' || lc_term_in(term, LC_WORDS_SEGMENT_JOINTS))
            break;
    }
    return term;
}

bool lc_key_is_named(lc_terms key, lc_terms words)
{
    size_t topics = 0;

    for (size_t i = 0; i < key.count; i++) {
        if (!lc_term_is_content(key.at[i].kind) || lc_term_in(&key.at[i], LC_WORDS_KEY_GENERIC) ||
            lc_term_in(&key.at[i], LC_WORDS_KEY_KINDS))
            continue;
        topics++;
        if (!lc_terms_have(words, key.at[i].sense))
            return false;
    }
    return topics > 0;
}

/* Do all of its words begin with a capital or a digit? */
static bool value_is_proper(lc_terms value)
{
    size_t count = 0;

    for (size_t i = 0; i < value.count; i++) {
        char first = value.text.ptr[value.at[i].start];

        if (!lc_term_is_content(value.at[i].kind))
            continue;
        count++;
        if (first >= 'a' && first <= 'z')
            return false;
    }
    return count > 0;
}

static bool value_begins_proper(lc_terms value)
{
    size_t first = 0;

    while (first + 1 < value.count && !lc_term_is_content(value.at[first].kind))
        first++;
    return value_is_proper(lc_terms_part(value, first, 1));
}

/* The same, or behind a comma. */
static const lc_term *value_part(lc_terms clause, lc_terms value)
{
    const lc_term *term = value.at, *start = value_segment(clause, value);

    while (term > start && ((term - 1)->after == 0 || strchr(",-", (term - 1)->after) == NULL))
        term--;
    return term;
}

/* ---- What is named or pointed at ------------------------------------------------------------- */

/* Twice what the key names, once what the messages that stated it name. */
static size_t score(const lc_proposing *p, const lc_candidate *c, lc_terms clause)
{
    size_t best = 0;
    static const lc_terms nothing = {0};

    for (size_t i = 0; i < c->stated_count; i++) {
        size_t words = words_named(p->before[c->stated_in[i]].terms, clause, c->value);

        best = words > best ? words : best;
    }
    return 4 * words_named(c->key, clause, nothing) + 2 * best;
}

/* The message points at what was said lately: "that", a draft made final, a decision from above. */
static bool points_at(const lc_proposing *p, const lc_candidate *c, const lc_unit_clause *clause,
                      lc_terms value)
{
    uint32_t cues = clause->cues.bits;
    /* "Correction from the head: 18:30." */
    bool is_behind_colon = value.at > clause->terms.at && value.at[-1].after == ':';
    bool is_news = (cues & (LC_CUE_CORRECT | LC_CUE_UPDATE | LC_CUE_CONCLUDE)) != 0 ||
                   ((cues & LC_CUE_DECIDE) != 0 && (cues & LC_CUE_REFERS) != 0) ||
                   lc_unit_has(&p->message, LC_CUE_CORRECT);

    if (c->age == LC_SAID_NONE || c->age >= LC_PROPOSE_RECENT)
        return false;
    if (c->age == 0 && p->message.attribution.has_title && (cues & LC_CUE_DECIDE) != 0)
        return lc_terms_content(c->value) <= VALUE_WORDS_MAX;
    if (c->is_tentative && (is_news || (cues & LC_CUE_DECIDE) != 0))
        return true;
    return is_news && (lc_unit_has(&p->message, LC_CUE_REFERS) || is_behind_colon) &&
           lc_value_looks_alike(c->value, value);
}

/* The old value may be named in an earlier part of the clause: "the 25th is a holiday, so ..." */
static bool is_rival(const lc_candidate *c, lc_terms clause, lc_terms value)
{
    const lc_term *start = value_segment(clause, value);
    lc_terms part = {clause.text, start, (size_t)(clause.at + clause.count - start)};

    return !lc_value_is_in(part, c->value) && value_fits(c->value, value);
}

static bool is_open(const lc_proposing *p, size_t index, const lc_unit_clause *clause,
                    lc_terms value)
{
    /* What is marked for some readers is not changed in passing. */
    return !p->input->known[index].is_former &&
           !lc_str_starts(p->candidates[index].value.text, LC_STR("[")) &&
           !p->candidates[index].is_utterance &&
           is_rival(&p->candidates[index], clause->terms, value);
}

/* Is this known of the fact: from its key, its value or the messages that stated it? */
static bool is_known(const lc_proposing *p, const lc_candidate *c, const lc_term *term)
{
    bool found = lc_terms_have(c->key, term->sense) || lc_terms_have(c->value, term->sense);

    for (size_t s = 0; s < c->stated_count && !found; s++)
        found = lc_terms_have(p->before[c->stated_in[s]].terms, term->sense);
    return found;
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

        /* "My neighbour's city" is not ours, though it is a city. */
        if (is_owner(clause, term) && !is_known(p, c, term) &&
            (!lc_key_is_named(c->key, clause) ||
             (i > 0 && lc_term_in(term - 1, LC_WORDS_POSSESSIVES))))
            return true;
    }
    return false;
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
            !is_within(clause->cues.former, term) && !lc_term_in(term, LC_WORDS_CHANGES) &&
            !is_known(p, c, term))
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
            !lc_term_is_content(before->kind) || lc_term_in(before, LC_WORDS_NEUTRAL) ||
            is_known(p, c, before))
            continue;
        for (size_t k = 1; k < c->key.count; k++)
            if (c->key.at[k].sense == word->sense && lc_term_is_content(c->key.at[k - 1].kind) &&
                !lc_term_in(&c->key.at[k - 1], LC_WORDS_KEY_GENERIC) &&
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
                 !lc_term_in(&key.at[i], LC_WORDS_KEY_GENERIC) &&
                 !lc_term_in(&key.at[i], LC_WORDS_KEY_KINDS) &&
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
        value_is_proper(c->value) && !value_begins_proper(value) && !value_has_amount(value))
        return false;
    /* Who is named in the key may have more than one word for the thing. */
    if (head != NULL && is_modifier(c->key, head))
        return false;
    if (head != NULL && !lc_term_in(head, LC_WORDS_KEY_GENERIC) &&
        !lc_term_in(head, LC_WORDS_KEY_KINDS) && !is_known(p, c, head) &&
        !names_somebody_of(front, c->key))
        return false;
    return !is_sibling(p, c, front) && !is_of_another(p, c, clause->terms);
}

/* The fact that the clause names best, or LC_SAID_NONE: also when that one has the value already,
 * for then the clause is not about another. */
static size_t by_name(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t best = LC_SAID_NONE, best_score = 0;

    for (size_t i = 0; i < p->input->known_count; i++) {
        const lc_candidate *c = &p->candidates[i];
        bool is_current = !p->input->known[i].is_former && !c->is_utterance;
        size_t points = is_current && is_about(p, c, clause, value) ? 2 * score(p, c, clause->terms)
                                                                    : 0;

        if (points > 0 && lc_value_looks_alike(c->value, value))
            points++;
        if (points > best_score &&
            (is_rival(c, clause->terms, value) || lc_value_is_in(c->value, value))) {
            best = i;
            best_score = points;
        }
    }
    return best != LC_SAID_NONE && is_open(p, best, clause, value) ? best : LC_SAID_NONE;
}

/* The fact that was stated last among those the clause can point at, or LC_SAID_NONE. */
static size_t by_pointer(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t best = LC_SAID_NONE;

    for (size_t i = 0; i < p->input->known_count; i++) {
        const lc_candidate *c = &p->candidates[i];

        if (is_open(p, i, clause, value) && points_at(p, c, clause, value) &&
            (best == LC_SAID_NONE || c->age < p->candidates[best].age))
            best = i;
    }
    return best;
}

/* Is everything that the words in front of the value are about known of this fact? */
static bool is_only_about(const lc_proposing *p, const lc_candidate *c, lc_terms words)
{
    for (size_t i = 0; i < words.count; i++) {
        const lc_term *term = &words.at[i];

        if (lc_term_is_content(term->kind) && term->kind != LC_TERM_DATE &&
            !lc_term_in(term, LC_WORDS_COPULAS) && !is_known(p, c, term))
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
        size_t points = 1 + score(p, c, clause->terms);
        bool is_whole = lc_value_is_in(former, c->value) && lc_value_is_in(c->value, former);

        if (p->input->known[i].is_former || c->is_utterance || !value_fits(c->value, value) ||
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
        if (clause->cues.implies.len == 0 || !is_open(p, i, clause, value) ||
            !is_implied_key(p->candidates[i].key, clause->cues.implies) ||
            !lc_value_looks_alike(p->candidates[i].value, value))
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}

/* ---- What is stated -------------------------------------------------------------------------- */

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
        unknown += lc_term_is_content(front.at[i].kind) && !is_known(p, c, &front.at[i]);
    }
    return unknown > 1;
}

/* "80 kg now.": another number of what was counted lately. */
static size_t recounted(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    lc_terms front = lc_terms_part(clause->terms, 0, (size_t)(value.at - clause->terms.at));

    if (!lc_terms_have_in(clause->terms, LC_WORDS_RECOUNT) &&
        (clause->cues.bits & LC_CUE_UPDATE) == 0)
        return LC_SAID_NONE;
    for (size_t i = 0; i < p->input->known_count; i++) {
        const lc_candidate *c = &p->candidates[i];

        if (is_open(p, i, clause, value) && c->age < LC_PROPOSE_RECENT &&
            !is_about_another(p, c, front) &&
            (lc_subject_counts_differ(c->value, value) || counts_what_key_names(c, value)))
            return i;
    }
    return LC_SAID_NONE;
}

/* "Ravello fell through. We're doing Matera.": the fact whose value an earlier clause of the
 * message drops. */
static size_t dropped(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    for (const lc_unit_clause *before = p->message.clauses; before < clause; before++) {
        if ((before->cues.bits & LC_CUE_DROP) == 0 || (before->cues.bits & LC_CUES_NOT_MEANT) != 0)
            continue;
        for (size_t i = 0; i < p->input->known_count; i++)
            if (is_open(p, i, clause, value) &&
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
static size_t displaced(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    bool is_dropped = false;
    size_t found = LC_SAID_NONE;

    for (const lc_unit_clause *c = p->message.clauses; c <= clause; c++)
        is_dropped |= (c->cues.bits & (LC_CUE_DROP | LC_CUE_TROUBLE)) != 0 &&
                      (c->cues.bits & LC_CUES_NOT_MEANT) == 0;
    for (size_t i = 0; i < p->input->known_count && is_dropped; i++) {
        const lc_candidate *c = &p->candidates[i];

        if (p->input->known[i].is_former || c->is_utterance || c->age == LC_SAID_NONE ||
            !value_fits(c->value, value) || !lc_value_looks_alike(c->value, value) ||
            (value_is_proper(c->value) && !value_begins_proper(value)) ||
            !is_named_before(p, c, value_part(clause->terms, value)))
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}

/* "The marquee budget is 7,200 pounds.": said plainly, of exactly what the key names, with another
 * amount of the same kind. */
static size_t restated(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t front = (size_t)(value.at - clause->terms.at), start = front;
    lc_terms words, last;

    /* "New quote: the rent is ...", "..., so the rent is ...": what stands before only leads up. */
    start = (size_t)(value_segment(clause->terms, value) - clause->terms.at);
    for (size_t at = start + 1; at < front; at++)
        if (clause->terms.at[at - 1].after == ':')
            start = at;
    words = lc_terms_part(clause->terms, start, front - start);
    start = (size_t)(value_part(clause->terms, value) - clause->terms.at);
    last = lc_terms_part(clause->terms, start, front - start);

    for (size_t i = 0;
         i < p->input->known_count && !lc_terms_have_in(clause->terms, LC_WORDS_NOT_OURS); i++) {
        const lc_candidate *c = &p->candidates[i];

        if (is_open(p, i, clause, value) &&
            ((value_shape(c->value) & value_shape(value)) != 0 ||
             (value_is_proper(c->value) && value_is_proper(value))) &&
            ((lc_key_is_named(c->key, words) && is_only_about(p, c, words)) ||
             (lc_key_is_named(c->key, last) && is_only_about(p, c, last))))
            return i;
    }
    return LC_SAID_NONE;
}

/* "The hearing starts at 10:30.": a part of the key is enough for what was stated lately, when only
 * one fact can be meant. */
static size_t restated_lately(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    lc_terms words = lc_terms_part(clause->terms, 0, (size_t)(value.at - clause->terms.at));
    static const lc_terms nothing = {0};
    size_t found = LC_SAID_NONE;

    for (size_t i = 0;
         i < p->input->known_count && !lc_terms_have_in(clause->terms, LC_WORDS_NOT_OURS); i++) {
        const lc_candidate *c = &p->candidates[i];

        if (!is_open(p, i, clause, value) || c->age >= LC_PROPOSE_RECENT ||
            (value_shape(c->value) & value_shape(value)) == 0 ||
            words_named(c->key, words, nothing) == 0 || !is_only_about(p, c, words))
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
static size_t reframed(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    const lc_term *lead = word_before(clause->terms, value);
    bool is_ours = lc_terms_have_in(clause->terms, LC_WORDS_WE);
    size_t found = LC_SAID_NONE;

    for (size_t i = 0; i < p->input->known_count && is_ours && lead != NULL; i++) {
        const lc_candidate *c = &p->candidates[i];
        bool is_same = false;

        if (!is_open(p, i, clause, value) || c->age >= LC_PROPOSE_RECENT ||
            lc_terms_have_in(clause->terms, LC_WORDS_NOT_OURS) ||
            (value_shape(c->value) | value_shape(value)) != 0)
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
                 !lc_term_in(term, LC_WORDS_COPULAS) && !lc_term_in(term, LC_WORDS_CHANGES) &&
                 !lc_term_in(term, LC_WORDS_KEY_GENERIC) && !is_known(p, c, term);
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
           score(p, c, p->message.terms) > 0;
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
static size_t recalled(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t start = (size_t)(value_segment(clause->terms, value) - clause->terms.at), found;
    lc_terms front = lc_terms_part(clause->terms, start,
                                   (size_t)(value.at - clause->terms.at) - start);

    if (!lc_term_is_amount(value.at[0].kind) ||
        lc_terms_have_in(clause->terms, LC_WORDS_NOT_OURS) || tells_time(front, value))
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
    return found != LC_SAID_NONE && is_open(p, found, clause, value) &&
                   points_back(p, &p->candidates[found], clause, front)
               ? found
               : LC_SAID_NONE;
}

/* Which fact the clause gives `value`, or LC_SAID_NONE. */
size_t lc_propose_find(const lc_proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    uint32_t cues = clause->cues.bits;
    bool is_meant = (cues & (LC_CUE_CORRECT | LC_CUE_UPDATE | LC_CUE_DECIDE)) != 0 ||
                    ((cues & LC_CUE_VALUE) != 0 &&
                     ((cues & LC_CUE_CONCLUDE) != 0 ||
                      lc_unit_has(&p->message, LC_CUE_CORRECT | LC_CUE_UPDATE)));
    size_t index = lc_propose_by_contrast(p, clause, value);

    if (is_meant && index == LC_SAID_NONE)
        index = by_name(p, clause, value);
    /* A title alone is weak: then all of the key must be named. */
    if (index == LC_SAID_NONE && (cues & LC_CUE_VALUE) != 0 && p->message.attribution.has_title) {
        index = by_name(p, clause, value);
        if (index != LC_SAID_NONE && !lc_key_is_named(p->candidates[index].key, clause->terms))
            index = LC_SAID_NONE;
    }
    if (is_meant && index == LC_SAID_NONE)
        index = by_pointer(p, clause, value);
    if (index == LC_SAID_NONE)
        index = dropped(p, clause, value);
    if (index == LC_SAID_NONE && (cues & LC_CUE_VALUE) != 0)
        index = displaced(p, clause, value);
    if (index == LC_SAID_NONE)
        index = recounted(p, clause, value);
    if (index == LC_SAID_NONE)
        index = restated(p, clause, value);
    if (index == LC_SAID_NONE)
        index = restated_lately(p, clause, value);
    if (index == LC_SAID_NONE && (cues & LC_CUE_VALUE) != 0)
        index = reframed(p, clause, value);
    return index != LC_SAID_NONE ? index : recalled(p, clause, value);
}
