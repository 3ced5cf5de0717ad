/* propose.c - finding the fact that a sentence gives another value. */
#include "talk/propose.h"

#include "base/error.h"
#include "talk/judging.h"

/* What is asked, supposed or past gives nothing a value. */
#define NOT_MEANT                                                                                  \
    (LC_CUE_QUESTION | LC_CUE_REQUEST | LC_CUE_TENTATIVE | LC_CUE_PAST | LC_CUE_EXPLORE_OPEN |      \
     LC_CUE_DENY)

#define EXPLORING_MAX 10 /* Turns of people until an exploration that nobody closed lapses. */
#define RECENT 4         /* Turns of people that "that" and "it" reach back. */
#define SHAPE_NUMBER (1u << 31) /* A value with a plain number, next to the kinds of values. */

/* One known fact, read, with the messages that stated it. */
typedef struct candidate {
    lc_terms key, value;
    bool is_tentative;
    bool is_utterance; /* Word for word what somebody said: a log, not the value of a slot. */
    size_t age;        /* How many things people said after they stated it; LC_SAID_NONE = never. */
    size_t *stated_in; /* Indexes of messages. */
    size_t stated_count;
} candidate;

typedef struct proposing {
    const lc_talk *talk;
    lc_arena *arena;
    const lc_propose_input *input;
    candidate *candidates;
    lc_unit *before;
    lc_unit message;
    size_t exploring; /* For so many turns ideas are played with: nothing that is said is meant. */
} proposing;

const char *lc_rule_name(lc_rule rule)
{
    static const char *const names[] = {"explicit", "implicit", "authority", "temporal"};

    return names[rule];
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* "order_quantity" as words. */
static loci_status read_key(lc_arena *arena, loci_str key, lc_terms *out, loci_error *err)
{
    loci_str words = lc_arena_copy(arena, key);

    if (words.ptr == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < words.len; i++)
        if (strchr("_.-/:", words.ptr[i]) != NULL)
            ((char *)(uintptr_t)words.ptr)[i] = ' ';
    return lc_terms_read(arena, words, out, err);
}

/* Does the message have most of the value? */
static bool states(lc_terms message, lc_terms value)
{
    size_t content = 0, said = 0;

    for (size_t i = 0; i < value.count; i++) {
        if (!lc_term_is_content(value.at[i].kind))
            continue;
        content++;
        said += lc_terms_have(message, value.at[i].sense);
    }
    return content > 0 && said * 5 >= content * 3;
}

/* A word that tells values apart; "this" does in "this week". */
static bool counts(lc_terms value, size_t at)
{
    return lc_term_is_content(value.at[at].kind) ||
           (at + 1 < value.count && value.at[at + 1].is_time_unit);
}

static bool has_all(lc_terms message, lc_terms value)
{
    for (size_t i = 0; i < value.count; i++)
        if (counts(value, i) && !lc_terms_have(message, value.at[i].sense))
            return false;
    return value.count > 0;
}

static bool has_word(lc_terms terms, const char *word)
{
    uint64_t hash = lc_term_word(loci_str_of(word));

    for (size_t i = 0; i < terms.count; i++)
        if (terms.at[i].word == hash)
            return true;
    return false;
}

static bool is_tentative(lc_terms value)
{
    static const char *const words[] = {"tentative",   "tentatively", "draft",  "proposed",
                                        "provisional", "preliminary", "planned"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(value, words[i]))
            return true;
    return false;
}

static loci_status read_candidate(proposing *p, size_t index, loci_error *err)
{
    const lc_propose_input *input = p->input;
    candidate *c = &p->candidates[index];
    loci_status status = read_key(p->arena, input->known[index].key, &c->key, err);

    if (status == LOCI_OK)
        status = lc_terms_read(p->arena, input->known[index].value, &c->value, err);
    if (status != LOCI_OK)
        return status;
    c->is_tentative = is_tentative(c->value);
    c->age = LC_SAID_NONE;
    c->stated_in = lc_arena_zalloc_array(p->arena, input->before_count + 1, sizeof *c->stated_in);
    if (c->stated_in == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < input->before_count; i++) {
        const lc_unit *unit = &p->before[i];
        bool is_person = !input->before[i].is_model;

        c->age += c->age != LC_SAID_NONE && is_person;
        if (!states(unit->terms, c->value))
            continue;
        c->is_utterance |= lc_str_eq(unit->terms.text, c->value.text);
        c->stated_in[c->stated_count++] = i;
        if (is_person) {
            c->age = 0;
            c->is_tentative |= is_tentative(unit->terms);
        }
    }
    return LOCI_OK;
}

static loci_status read_all(proposing *p, loci_error *err)
{
    const lc_propose_input *input = p->input;
    loci_status status = lc_unit_read(p->talk, p->arena, input->message, &p->message, err);

    p->candidates = lc_arena_zalloc_array(p->arena, input->known_count + 1, sizeof *p->candidates);
    p->before = lc_arena_zalloc_array(p->arena, input->before_count + 1, sizeof *p->before);
    if (p->candidates == NULL || p->before == NULL)
        return lc_fail_memory(err);
    for (size_t i = 0; i < input->before_count && status == LOCI_OK; i++) {
        lc_unit *unit = &p->before[i];

        status = lc_unit_read(p->talk, p->arena, input->before[i].text, unit, err);
        if (input->before[i].is_model)
            continue;
        if (p->exploring > 0)
            p->exploring--;
        if (lc_unit_has(unit, LC_CUE_EXPLORE_OPEN))
            p->exploring = EXPLORING_MAX;
        if (lc_unit_has(unit, LC_CUE_EXPLORE_CLOSE))
            p->exploring = 0;
    }
    for (size_t i = 0; i < input->known_count && status == LOCI_OK; i++)
        status = read_candidate(p, i, err);
    return status;
}

/* ---- Which fact ------------------------------------------------------------------------------ */

/* Words of keys that are no subject. */
static bool is_generic(const lc_term *term)
{
    static const char *const words[] = {"status",   "decision",   "choice",   "fact",   "value",
                                        "current",  "item",       "note",     "info",   "detail",
                                        "approach", "preference", "selected", "stated", "new"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (term->word == lc_term_word(loci_str_of(words[i])))
            return true;
    return false;
}

/* Content words of `from` that the clause has, except those of the value itself. */
static size_t named(lc_terms from, lc_terms clause, lc_terms value)
{
    size_t count = 0;

    for (size_t i = 0; i < from.count; i++) {
        const lc_term *term = &from.at[i];

        count += (term->kind == LC_TERM_WORD || term->kind == LC_TERM_NAME) && !is_generic(term) &&
                 !lc_terms_have(value, term->sense) && lc_terms_have(clause, term->sense) &&
                 !lc_terms_have(lc_terms_part(from, 0, i), term->sense);
    }
    return count;
}

/* Twice what the key names, once what the messages that stated it name. */
static size_t score(const proposing *p, const candidate *c, lc_terms clause)
{
    size_t best = 0;
    static const lc_terms nothing = {0};

    for (size_t i = 0; i < c->stated_count; i++) {
        size_t words = named(p->before[c->stated_in[i]].terms, clause, c->value);

        best = words > best ? words : best;
    }
    return 4 * named(c->key, clause, nothing) + 2 * best;
}

/* What a value looks like: its kinds, and whether it has a plain number. */
static uint32_t shape_of(lc_terms value)
{
    uint32_t shape = lc_value_kinds(value);

    for (size_t i = 0; i < value.count; i++)
        if (value.at[i].kind == LC_TERM_NUMBER && value.text.ptr[value.at[i].start] != '#')
            shape |= SHAPE_NUMBER;
    return shape;
}

static bool has_same_shape(lc_terms a, lc_terms b)
{
    uint32_t shape_a = shape_of(a), shape_b = shape_of(b);

    return (shape_a & shape_b) != 0 || (shape_a | shape_b) == 0;
}

/* The message points at what was said lately: "that", a draft made final, a decision from above. */
static bool points_at(const proposing *p, const candidate *c, const lc_unit_clause *clause,
                      lc_terms value)
{
    uint32_t cues = clause->cues.bits;
    bool is_news = (cues & (LC_CUE_CORRECT | LC_CUE_UPDATE | LC_CUE_CONCLUDE)) != 0 ||
                   ((cues & LC_CUE_DECIDE) != 0 && (cues & LC_CUE_REFERS) != 0) ||
                   lc_unit_has(&p->message, LC_CUE_CORRECT);

    if (c->age == LC_SAID_NONE || c->age >= RECENT)
        return false;
    if (c->age == 0 && p->message.attribution.has_title && (cues & LC_CUE_DECIDE) != 0)
        return true;
    if (c->is_tentative && (is_news || (cues & LC_CUE_DECIDE) != 0))
        return true;
    return is_news && lc_unit_has(&p->message, LC_CUE_REFERS) && has_same_shape(c->value, value);
}

static bool has_amount(lc_terms value)
{
    for (size_t i = 0; i < value.count; i++)
        if (lc_term_is_amount(value.at[i].kind))
            return true;
    return false;
}

/* Is the value a sum, a share or a number and not much more? */
static bool is_amount(lc_terms value)
{
    size_t content = 0;

    for (size_t i = 0; i < value.count; i++)
        content += lc_term_is_content(value.at[i].kind);
    return content > 0 && content <= 2 && lc_term_is_amount(value.at[0].kind) &&
           value.at[0].kind <= LC_TERM_NUMBER;
}

/* Can the new value stand where the old one stood? */
static bool is_fit(lc_terms old, lc_terms value)
{
    uint32_t old_kinds = lc_value_kinds(old), new_kinds = lc_value_kinds(value);

    if (has_all(old, value) || (is_amount(old) && !has_amount(value)))
        return false;
    return old_kinds == 0 || new_kinds == 0 || (old_kinds & new_kinds) != 0;
}

/* Where the part of the clause begins that has the value: behind "so", "and" or "but". */
static const lc_term *segment_of(lc_terms clause, lc_terms value)
{
    static const char *const joints[] = {"so", "and", "but"};
    const lc_term *term = value.at;

    for (; term > clause.at; term--) {
        if ((term - 1)->after == ';')
            return term;
        for (size_t i = 0; i < sizeof joints / sizeof *joints; i++)
            if (term->word == lc_term_word(loci_str_of(joints[i])))
                return term;
    }
    return term;
}

/* The old value may be named in an earlier part of the clause: "the 25th is a holiday, so ..." */
static bool is_rival(const candidate *c, lc_terms clause, lc_terms value)
{
    const lc_term *start = segment_of(clause, value);
    lc_terms part = {clause.text, start, (size_t)(clause.at + clause.count - start)};

    return !has_all(part, c->value) && is_fit(c->value, value);
}

static bool is_open(const proposing *p, size_t index, const lc_unit_clause *clause, lc_terms value)
{
    return !p->input->known[index].is_former && !p->candidates[index].is_utterance &&
           is_rival(&p->candidates[index], clause->terms, value);
}

/* Words of keys that only say what kind of value it is, which the value shows by itself. */
static bool is_kind_word(const lc_term *term)
{
    static const char *const words[] = {"day",    "date",   "time",     "count", "number",
                                        "amount", "total",  "quantity", "size",  "length",
                                        "name",   "height", "weight",   "start", "due"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (term->word == lc_term_word(loci_str_of(words[i])))
            return true;
    return false;
}

static bool names_all(lc_terms key, lc_terms words)
{
    size_t topics = 0;

    for (size_t i = 0; i < key.count; i++) {
        if (!lc_term_is_content(key.at[i].kind) || is_generic(&key.at[i]) ||
            is_kind_word(&key.at[i]))
            continue;
        topics++;
        if (!lc_terms_have(words, key.at[i].sense))
            return false;
    }
    return topics > 0;
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

static bool is_possessive(const lc_term *term)
{
    static const char *const words[] = {"my", "his", "her", "their", "your", "a", "another"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (term->word == lc_term_word(loci_str_of(words[i])))
            return true;
    return false;
}

/* Does the clause speak of something of somebody that the fact has nothing to do with? */
static bool is_of_another(const proposing *p, const candidate *c, lc_terms clause)
{
    for (size_t i = 0; i < clause.count; i++) {
        const lc_term *term = &clause.at[i];
        bool is_known = !is_owner(clause, term) || lc_terms_have(c->key, term->sense) ||
                        lc_terms_have(c->value, term->sense);

        for (size_t s = 0; s < c->stated_count && !is_known; s++)
            is_known = lc_terms_have(p->before[c->stated_in[s]].terms, term->sense);
        /* "My neighbour's city" is not ours, though it is a city. */
        if (!is_known && (!names_all(c->key, clause) || (i > 0 && is_possessive(term - 1))))
            return true;
    }
    return false;
}

/* Is this known of the fact: from its key, its value or the messages that stated it? */
static bool is_known_of(const proposing *p, const candidate *c, const lc_term *term)
{
    bool is_known = lc_terms_have(c->key, term->sense) || lc_terms_have(c->value, term->sense);

    for (size_t s = 0; s < c->stated_count && !is_known; s++)
        is_known = lc_terms_have(p->before[c->stated_in[s]].terms, term->sense);
    return is_known;
}

/* Words that lead from one value to another and are no subject. */
static bool is_change_word(const lc_term *term)
{
    static const char *const words[] = {
        "actually",  "amended",   "back",     "become",   "brought",   "bump",     "bumped",
        "change",    "changed",   "chose",    "correction", "currently", "cut",    "decided",
        "decreased", "down",      "dropped",  "extend",   "extended",  "fell",     "finally",
        "forward",   "increase",  "increased", "instead", "lower",     "lowered",  "meant",
        "move",      "moved",     "moving",   "official", "officially", "picked",  "postponed",
        "push",      "pushed",    "raise",    "raised",   "rather",    "reduce",   "reduced",
        "relocated", "replace",   "replaced", "rescheduled", "revised", "rose",    "said",
        "selected",  "set",       "settled",  "shift",    "shifted",   "slipped",  "sorry",
        "swap",      "swapped",   "switch",   "switched", "update",    "updated",  "use",
        "using",     "went"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (term->word == lc_term_word(loci_str_of(words[i])))
            return true;
    return false;
}

static bool is_within(lc_terms part, const lc_term *term)
{
    return part.count > 0 && term >= part.at && term < part.at + part.count;
}

/* Does a clause that says what takes the place of what speak of nothing that is unknown of the
 * fact, and of nobody else? */
static bool is_only_about_change(const proposing *p, const candidate *c,
                                 const lc_unit_clause *clause, lc_terms value)
{
    static const char *const others[] = {"he", "she", "they", "his", "her", "their", "other"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (has_word(clause->terms, others[i]))
            return false;
    for (size_t i = 0; i < clause->terms.count; i++) {
        const lc_term *term = &clause->terms.at[i];

        if (lc_term_is_content(term->kind) && !is_within(value, term) &&
            !is_within(clause->cues.former, term) && !is_change_word(term) &&
            !is_known_of(p, c, term))
            return false;
    }
    return true;
}

/* What is said to be or get the value: of "The project room is now closed" the room. NULL when no
 * noun stands right in front of the verb. */
static const lc_term *head_before(lc_terms clause, lc_terms value)
{
    static const char *const verbs[] = {"is", "are", "will", "has", "have"};
    const lc_term *term = value.at;
    bool is_verb = false;

    while (term > clause.at + 1 && !is_verb && (term - 1)->after == 0) {
        term--;
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
            is_verb |= term->word == lc_term_word(loci_str_of(verbs[i]));
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

/* Adjectives that leave a thing what it is. */
static bool is_neutral(const lc_term *term)
{
    static const char *const words[] = {"final",   "real",   "official", "correct", "actual",
                                        "updated", "latest", "total",    "whole",   "revised",
                                        "planned", "right",  "usual",    "exact",   "full"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (term->word == lc_term_word(loci_str_of(words[i])))
            return true;
    return is_generic(term);
}

/* "The bottom field" is not the top field: what both have stands behind another word. */
static bool is_sibling(const proposing *p, const candidate *c, lc_terms front)
{
    for (size_t i = 1; i < front.count; i++) {
        const lc_term *word = &front.at[i], *before = word - 1;

        if (!lc_term_is_content(word->kind) || before->after != 0 ||
            !lc_term_is_content(before->kind) || is_neutral(before) || is_known_of(p, c, before))
            continue;
        for (size_t k = 1; k < c->key.count; k++)
            if (c->key.at[k].sense == word->sense && lc_term_is_content(c->key.at[k - 1].kind) &&
                !is_generic(&c->key.at[k - 1]) &&
                !lc_terms_have(front, c->key.at[k - 1].sense))
                return true;
    }
    return false;
}

/* Do all of its words begin with a capital or a digit? */
static bool is_proper(lc_terms value)
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

static bool begins_proper(lc_terms value)
{
    size_t first = 0;

    while (first + 1 < value.count && !lc_term_is_content(value.at[first].kind))
        first++;
    return is_proper(lc_terms_part(value, first, 1));
}

/* Is the clause about this fact, not about a thing or a person that it only mentions? */
static bool is_about(const proposing *p, const candidate *c, const lc_unit_clause *clause,
                     lc_terms value)
{
    static const char *const others[] = {"their", "other", "another"};
    const lc_term *head = head_before(clause->terms, value);
    lc_terms front = lc_terms_part(clause->terms, 0, (size_t)(value.at - clause->terms.at));

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (has_word(front, others[i]))
            return false;
    /* A name gives way to a name, unless it is corrected. */
    if ((clause->cues.bits & (LC_CUE_CORRECT | LC_CUE_CONCLUDE)) == 0 && is_proper(c->value) &&
        !begins_proper(value) && !has_amount(value))
        return false;
    /* Who is named in the key may have more than one word for the thing. */
    if (head != NULL && !is_generic(head) && !is_kind_word(head) && !is_known_of(p, c, head) &&
        !names_somebody_of(front, c->key))
        return false;
    return !is_sibling(p, c, front) && !is_of_another(p, c, clause->terms);
}

/* The fact that the clause names best, or LC_SAID_NONE: also when that one has the value already,
 * for then the clause is not about another. */
static size_t best_named(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t best = LC_SAID_NONE, best_score = 0;

    for (size_t i = 0; i < p->input->known_count; i++) {
        const candidate *c = &p->candidates[i];
        bool is_current = !p->input->known[i].is_former && !c->is_utterance;
        size_t points = is_current && is_about(p, c, clause, value) ? 2 * score(p, c, clause->terms)
                                                                    : 0;

        if (points > 0 && has_same_shape(c->value, value))
            points++;
        if (points > best_score &&
            (is_rival(c, clause->terms, value) || has_all(c->value, value))) {
            best = i;
            best_score = points;
        }
    }
    return best != LC_SAID_NONE && is_open(p, best, clause, value) ? best : LC_SAID_NONE;
}

/* The fact that was stated last among those the clause can point at, or LC_SAID_NONE. */
static size_t last_pointed_at(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t best = LC_SAID_NONE;

    for (size_t i = 0; i < p->input->known_count; i++) {
        const candidate *c = &p->candidates[i];

        if (is_open(p, i, clause, value) && points_at(p, c, clause, value) &&
            (best == LC_SAID_NONE || c->age < p->candidates[best].age))
            best = i;
    }
    return best;
}

/* Verbs that say no more than "is". */
static bool is_copula(const lc_term *term)
{
    static const char *const words[] = {"comes", "come",   "stands", "amounts",
                                        "costs", "totals", "adds",   "remains",
                                        "takes", "place",  "held",   "happens",
                                        "starts", "begins", "ends",  "falls",
                                        "earlier", "later", "goes",  "runs",
                                        "sooner", "day",    "weighs", "serves",
                                        "opens",  "closes", "leaves", "arrives"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (term->word == lc_term_word(loci_str_of(words[i])))
            return true;
    return false;
}

/* Is everything that the words in front of the value are about known of this fact: from its key,
 * its value or the messages that stated it? */
static bool is_only_about(const proposing *p, const candidate *c, lc_terms words)
{
    for (size_t i = 0; i < words.count; i++) {
        const lc_term *term = &words.at[i];
        bool is_known = !lc_term_is_content(term->kind) || term->kind == LC_TERM_DATE ||
                        is_copula(term) || lc_terms_have(c->key, term->sense) ||
                        lc_terms_have(c->value, term->sense);

        for (size_t s = 0; s < c->stated_count && !is_known; s++)
            is_known = lc_terms_have(p->before[c->stated_in[s]].terms, term->sense);
        if (!is_known)
            return false;
    }
    return true;
}

/* What was, what is not, and what is somebody else's. */
static bool is_other(lc_terms words)
{
    static const char *const other[] = {"was",   "were",    "had",   "not",    "isn't", "aren't",
                                        "never", "their",   "his",   "her",    "your",  "would",
                                        "could", "usually", "every", "typical", "other",
                                        "another", "if"};

    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (has_word(words, other[i]))
            return true;
    return false;
}

/* "92 guests" for the 80 of guest_count. */
static bool counts_what_key_names(const candidate *c, lc_terms value)
{
    return c->value.count == 1 && c->value.at[0].kind == LC_TERM_NUMBER && value.count >= 2 &&
           value.at[0].kind == LC_TERM_NUMBER && value.at[0].sense != c->value.at[0].sense &&
           lc_term_is_content(value.at[1].kind) && lc_terms_have(c->key, value.at[1].sense);
}

/* Do the words right in front of the value speak of something unknown: "the patient next to him
 * gets"? One word may be what was done: "counted again". */
static bool is_about_another(const proposing *p, const candidate *c, lc_terms front)
{
    size_t unknown = 0;

    for (size_t i = front.count; i-- > 0;) {
        if (front.at[i].after != 0)
            break;
        unknown += lc_term_is_content(front.at[i].kind) && !is_known_of(p, c, &front.at[i]);
    }
    return unknown > 1;
}

/* "80 kg now.": another number of what was counted lately. */
static size_t recounted(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    lc_terms front = lc_terms_part(clause->terms, 0, (size_t)(value.at - clause->terms.at));

    if (!has_word(clause->terms, "now") && !has_word(clause->terms, "so") &&
        !has_word(clause->terms, "makes") && !has_word(clause->terms, "leaves") &&
        !has_word(clause->terms, "again") &&
        (clause->cues.bits & LC_CUE_UPDATE) == 0)
        return LC_SAID_NONE;
    for (size_t i = 0; i < p->input->known_count; i++) {
        const candidate *c = &p->candidates[i];

        if (is_open(p, i, clause, value) && c->age < RECENT && !is_about_another(p, c, front) &&
            (lc_subject_counts_differ(c->value, value) || counts_what_key_names(c, value)))
            return i;
    }
    return LC_SAID_NONE;
}

/* "Ravello fell through. We're doing Matera.": the fact whose value an earlier clause of the
 * message drops. */
static size_t dropped(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    for (const lc_unit_clause *before = p->message.clauses; before < clause; before++) {
        if ((before->cues.bits & LC_CUE_DROP) == 0 || (before->cues.bits & NOT_MEANT) != 0)
            continue;
        for (size_t i = 0; i < p->input->known_count; i++)
            if (is_open(p, i, clause, value) && has_all(before->terms, p->candidates[i].value) &&
                has_same_shape(p->candidates[i].value, value))
                return i;
    }
    return LC_SAID_NONE;
}

/* Does the message name the value of the fact in front of `end`, or what tells it apart? */
static bool is_named_before(const proposing *p, const candidate *c, const lc_term *end)
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

/* The same, or behind a comma. */
static const lc_term *comma_of(lc_terms clause, lc_terms value)
{
    const lc_term *term = value.at, *start = segment_of(clause, value);

    while (term > start && ((term - 1)->after == 0 || strchr(",-", (term - 1)->after) == NULL))
        term--;
    return term;
}

/* "Marketing hated the teal. Burgundy it is.": the fact whose value came to nothing, in a message
 * that goes on to say what is had in its place. */
static size_t displaced(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    bool is_dropped = false;
    size_t found = LC_SAID_NONE;

    for (const lc_unit_clause *c = p->message.clauses; c <= clause; c++)
        is_dropped |= (c->cues.bits & (LC_CUE_DROP | LC_CUE_TROUBLE)) != 0 &&
                      (c->cues.bits & NOT_MEANT) == 0;
    for (size_t i = 0; i < p->input->known_count && is_dropped; i++) {
        const candidate *c = &p->candidates[i];

        if (p->input->known[i].is_former || c->is_utterance || c->age == LC_SAID_NONE ||
            !is_fit(c->value, value) || !has_same_shape(c->value, value) ||
            !is_named_before(p, c, comma_of(clause->terms, value)))
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}

/* "The marquee budget is 7,200 pounds.": said plainly, of exactly what the key names, with another
 * amount of the same kind. */
static size_t restated(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t front = (size_t)(value.at - clause->terms.at), start = front;
    lc_terms words, last;

    /* "New quote: the rent is ...", "..., so the rent is ...": what stands before only leads up. */
    start = (size_t)(segment_of(clause->terms, value) - clause->terms.at);
    for (size_t at = start + 1; at < front; at++)
        if (clause->terms.at[at - 1].after == ':')
            start = at;
    words = lc_terms_part(clause->terms, start, front - start);
    start = (size_t)(comma_of(clause->terms, value) - clause->terms.at);
    last = lc_terms_part(clause->terms, start, front - start);

    for (size_t i = 0; i < p->input->known_count && !is_other(clause->terms); i++) {
        const candidate *c = &p->candidates[i];

        if (is_open(p, i, clause, value) &&
            ((shape_of(c->value) & shape_of(value)) != 0 ||
             (is_proper(c->value) && is_proper(value))) &&
            ((names_all(c->key, words) && is_only_about(p, c, words)) ||
             (names_all(c->key, last) && is_only_about(p, c, last))))
            return i;
    }
    return LC_SAID_NONE;
}

/* "The hearing starts at 10:30.": a part of the key is enough for what was stated lately, when only
 * one fact can be meant. */
static size_t restated_lately(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    lc_terms words = lc_terms_part(clause->terms, 0, (size_t)(value.at - clause->terms.at));
    static const lc_terms nothing = {0};
    size_t found = LC_SAID_NONE;

    for (size_t i = 0; i < p->input->known_count && !is_other(clause->terms); i++) {
        const candidate *c = &p->candidates[i];

        if (!is_open(p, i, clause, value) || c->age >= RECENT ||
            (shape_of(c->value) & shape_of(value)) == 0 || named(c->key, words, nothing) == 0 ||
            !is_only_about(p, c, words))
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
static size_t reframed(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    static const char *const we[] = {"we", "we'll", "we're", "let's", "please"};
    const lc_term *lead = word_before(clause->terms, value);
    bool is_ours = false;
    size_t found = LC_SAID_NONE;

    for (size_t i = 0; i < sizeof we / sizeof *we; i++)
        is_ours |= has_word(clause->terms, we[i]);
    for (size_t i = 0; i < p->input->known_count && is_ours && lead != NULL; i++) {
        const candidate *c = &p->candidates[i];
        bool is_same = false;

        if (!is_open(p, i, clause, value) || c->age >= RECENT || is_other(clause->terms) ||
            (shape_of(c->value) | shape_of(value)) != 0)
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
static size_t unknown_words(const proposing *p, const candidate *c, lc_terms front)
{
    size_t count = 0;

    for (size_t i = 0; i < front.count; i++) {
        const lc_term *term = &front.at[i];

        count += lc_term_is_content(term->kind) && term->kind != LC_TERM_DATE &&
                 !is_copula(term) && !is_change_word(term) && !is_generic(term) &&
                 !is_known_of(p, c, term);
    }
    return count;
}

/* "New target is ...": new, and a word for what has a value. */
static bool is_new_value(lc_terms front)
{
    static const char *const values[] = {"target", "date",   "deadline", "time",  "price",
                                         "total",  "figure", "number",   "plan",  "slot",
                                         "quote",  "amount", "estimate", "value", "offer",
                                         "rate",   "limit",  "schedule", "count", "goal"};

    for (size_t i = 0; i + 1 < front.count; i++)
        for (size_t w = 0; w < sizeof values / sizeof *values; w++)
            if (front.at[i].word == lc_term_word(LC_STR("new")) &&
                front.at[i + 1].word == lc_term_word(loci_str_of(values[w])))
                return true;
    return false;
}

/* Does the clause point back: "it's ...", "the new target is ...", "he'll come ..." where the message
 * says who? */
static bool points_back(const proposing *p, const candidate *c, const lc_unit_clause *clause,
                        lc_terms front)
{
    static const char *const subjects[] = {"it's", "it'll", "that's"};
    size_t unknown = unknown_words(p, c, front);

    if (unknown > 0)
        return unknown == 1 && is_new_value(front);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (has_word(front, subjects[i]))
            return true;
    return (has_word(front, "it") && (clause->cues.bits & LC_CUE_UPDATE) != 0) ||
           score(p, c, p->message.terms) > 0;
}

/* "It's Thursday.", "It says 18:25." */
static bool tells_time(lc_terms front, lc_terms value)
{
    bool is_time = value.at[0].kind == LC_TERM_DATE || value.at[0].kind == LC_TERM_TIME;

    return has_word(front, "says") || has_word(front, "reads") ||
           (is_time && front.count <= 2 && (has_word(front, "it's") || has_word(front, "it")));
}

/* "QA found two blockers. New target is June 17.": another amount of the form of the one fact that
 * was stated lately and looks like it, in a clause that points back and speaks of nothing else. */
static size_t recalled(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    static const char *const more[] = {"also", "another", "too", "extra", "more", "or"};
    size_t start = (size_t)(segment_of(clause->terms, value) - clause->terms.at), found;
    lc_terms front = lc_terms_part(clause->terms, start,
                                   (size_t)(value.at - clause->terms.at) - start);

    if (!lc_term_is_amount(value.at[0].kind) || is_other(clause->terms) || tells_time(front, value))
        return LC_SAID_NONE;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (has_word(clause->terms, more[i]))
            return LC_SAID_NONE;
    found = LC_SAID_NONE;
    for (size_t i = 0; i < p->input->known_count; i++) {
        const candidate *c = &p->candidates[i];

        if (p->input->known[i].is_former || c->is_utterance || c->age >= RECENT ||
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

static bool has_same_content(lc_terms a, lc_terms b)
{
    return has_all(a, b) && has_all(b, a);
}

/* "The city changed from Oslo to Bergen", "Bergen, not Oslo": the one fact that has the value which
 * is named as the former one, when the clause is about it and nothing else. */
static size_t contrasted(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    lc_terms former = clause->cues.former;
    size_t found = LC_SAID_NONE, best = 0;

    for (size_t i = 0; i < p->input->known_count && former.count > 0; i++) {
        const candidate *c = &p->candidates[i];
        size_t points = 1 + score(p, c, clause->terms);
        bool is_whole = has_same_content(former, c->value);

        if (p->input->known[i].is_former || c->is_utterance || !is_fit(c->value, value) ||
            !(is_whole || (points > 1 && has_all(c->value, former))) ||
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
    static const char *const plain[] = {"home", "user", "my", "own", "current", "main",
                                        "full", "first", "customer", "personal", "primary"};
    bool found = false;

    for (size_t i = 0; i < key.count; i++) {
        loci_str rest = words;
        bool is_word = false;

        while (rest.len > 0 && !is_word)
            is_word = key.at[i].word == lc_term_word(lc_str_split(rest, ' ', &rest));
        found |= is_word;
        for (size_t w = 0; w < sizeof plain / sizeof *plain && !is_word; w++)
            is_word = key.at[i].word == lc_term_word(loci_str_of(plain[w]));
        if (!is_word)
            return false;
    }
    return found;
}

/* A value that says no more than a name or a number: "456 Oak Ave", "Bergen". Its terms, without
 * what says when; none when it is anything else. */
static lc_terms plain_value(lc_terms value)
{
    static const char *const whens[] = {"now",   "last", "this", "today", "yesterday", "in",
                                        "since", "from", "on",   "a",     "recently",  "and"};
    size_t count = 0;

    bool ends = false;

    while (count < value.count && !ends &&
           (value.at[count].kind == LC_TERM_NAME || lc_term_is_amount(value.at[count].kind)) &&
           value.at[count].kind != LC_TERM_DATE)
        ends = value.at[count++].after != 0;
    ends |= count == value.count;
    for (size_t w = 0; w < sizeof whens / sizeof *whens && !ends; w++)
        ends = value.at[count].word == lc_term_word(loci_str_of(whens[w]));
    return lc_terms_part(value, 0, ends ? count : 0);
}

/* "I moved to 456 Oak Ave.": the fact that the words speak of without naming it. */
static size_t implied(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t found = LC_SAID_NONE;

    for (size_t i = 0; i < p->input->known_count && value.count > 0; i++) {
        if (clause->cues.implies.len == 0 || !is_open(p, i, clause, value) ||
            !is_implied_key(p->candidates[i].key, clause->cues.implies) ||
            !has_same_shape(p->candidates[i].value, value))
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}

/* Has the value all of these amounts, and are there any? */
static bool has_amounts(lc_terms value, lc_terms amounts)
{
    size_t count = 0;

    for (size_t i = 0; i < amounts.count; i++) {
        if (!lc_term_is_amount(amounts.at[i].kind))
            continue;
        count++;
        if (!lc_terms_have(value, amounts.at[i].sense))
            return false;
    }
    return count > 0;
}

/* "Back to card-based UI": a value that was there before, in the slot that replaced it. */
static size_t reverted(const proposing *p, const lc_unit_clause *clause)
{
    for (size_t i = p->input->known_count; i-- > 0;) {
        const lc_known *known = &p->input->known[i];

        if (!known->is_former || known->successor >= p->input->known_count ||
            p->input->known[known->successor].is_former)
            continue;
        if (has_all(clause->cues.value, p->candidates[i].value) ||
            (names_all(p->candidates[i].key, clause->terms) &&
             has_amounts(p->candidates[i].value, clause->cues.amount)))
            return i;
    }
    return LC_SAID_NONE;
}

static lc_rule rule_of(const proposing *p, uint32_t cues)
{
    if (p->message.attribution.has_title)
        return LC_RULE_AUTHORITY;
    if ((cues & LC_CUE_CORRECT) != 0)
        return LC_RULE_EXPLICIT;
    return (cues & LC_CUE_UPDATE) != 0 ? LC_RULE_TEMPORAL : LC_RULE_IMPLICIT;
}

/* Which fact the clause gives `value`, or LC_SAID_NONE. */
static size_t find_known(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    uint32_t cues = clause->cues.bits;
    bool is_meant = (cues & (LC_CUE_CORRECT | LC_CUE_UPDATE | LC_CUE_DECIDE)) != 0 ||
                    ((cues & LC_CUE_VALUE) != 0 &&
                     ((cues & LC_CUE_CONCLUDE) != 0 ||
                      lc_unit_has(&p->message, LC_CUE_CORRECT | LC_CUE_UPDATE)));
    size_t index = contrasted(p, clause, value);

    if (is_meant && index == LC_SAID_NONE)
        index = best_named(p, clause, value);
    /* A title alone is weak: then all of the key must be named. */
    if (index == LC_SAID_NONE && (cues & LC_CUE_VALUE) != 0 && p->message.attribution.has_title) {
        index = best_named(p, clause, value);
        if (index != LC_SAID_NONE && !names_all(p->candidates[index].key, clause->terms))
            index = LC_SAID_NONE;
    }
    if (is_meant && index == LC_SAID_NONE)
        index = last_pointed_at(p, clause, value);
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

/* The only amount of this kind in a value, or LC_SAID_NONE. */
static size_t only_amount(lc_terms value, lc_term_kind kind)
{
    size_t found = LC_SAID_NONE;

    for (size_t i = 0; i < value.count; i++) {
        if (value.at[i].kind != kind)
            continue;
        if (found != LC_SAID_NONE)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}

/* Is the new value no more than another amount for the old one, as 55, or 55 chairs, for 40 chairs?
 */
static bool is_bare(lc_terms value, lc_terms old, size_t at)
{
    /* Another day may have another hour. */
    if (!lc_term_is_amount(value.at[0].kind) || value.at[0].kind == LC_TERM_DATE)
        return false;
    return value.count == 1 ||
           (value.count == 2 && at + 1 < old.count && value.at[1].sense == old.at[at + 1].sense);
}

/* The terms of `part`, one after another, in the value: their index, or LC_SAID_NONE. */
static size_t place_of(lc_terms part, lc_terms value)
{
    for (size_t at = 0; part.count > 0 && at + part.count <= value.count; at++) {
        size_t same = 0;

        while (same < part.count && part.at[same].sense == value.at[at + same].sense)
            same++;
        if (same == part.count)
            return at;
    }
    return LC_SAID_NONE;
}

/* The old value with `text` in the place of those of its terms that are `gone`. */
static loci_status splice(const proposing *p, lc_terms old, lc_terms gone, loci_str text,
                          loci_str *out, loci_error *err)
{
    size_t start = gone.at[0].start;
    size_t end = start + lc_terms_text(gone).len;
    char *whole = lc_arena_alloc(p->arena, old.text.len + text.len + 1);

    if (whole == NULL)
        return lc_fail_memory(err);
    memcpy(whole, old.text.ptr, start);
    memcpy(whole + start, text.ptr, text.len);
    memcpy(whole + start + text.len, old.text.ptr + end, old.text.len - end);
    *out = (loci_str){whole, old.text.len - (end - start) + text.len};
    return LOCI_OK;
}

/* "Ravi's" is Ravi. */
static loci_str without_owner(loci_str text)
{
    if (text.len > 2 && text.ptr[text.len - 1] == 's' && text.ptr[text.len - 2] == '\'')
        text.len -= 2;
    else if (text.len > 4 && text.ptr[text.len - 1] == 's' &&
             memcmp(text.ptr + text.len - 4, "\xE2\x80\x99", 3) == 0)
        text.len -= 4;
    return text;
}

/* The value as it is kept: a bare amount takes the place of the amount in the old value, so that
 * "make it 55" leaves the chairs; so does what is named with the part that it replaces. */
static loci_status merge(const proposing *p, const candidate *c, const lc_unit_clause *clause,
                         lc_terms value, loci_str *out, loci_error *err)
{
    size_t at = only_amount(c->value, value.at[0].kind), part = place_of(clause->cues.former, c->value);

    *out = without_owner(lc_terms_text(value));
    if (part != LC_SAID_NONE)
        return splice(p, c->value, lc_terms_part(c->value, part, clause->cues.former.count), *out,
                      out, err);
    if (at == LC_SAID_NONE || !is_bare(value, c->value, at))
        return LOCI_OK;
    return splice(p, c->value, lc_terms_part(c->value, at, 1),
                  lc_terms_text(lc_terms_part(value, 0, 1)), out, err);
}

/* "meeting on Friday" is Friday where the key says that it is the meeting. */
static lc_terms without_subject(const candidate *c, lc_terms value)
{
    static const char *const joints[] = {"on", "at", "to", "in", "for", "with", "is"};

    for (size_t i = 0; i + 1 < value.count; i++) {
        for (size_t w = 0; w < sizeof joints / sizeof *joints && i > 0; w++)
            if (value.at[i].word == lc_term_word(loci_str_of(joints[w])))
                return lc_terms_part(value, i + 1, value.count - i - 1);
        if (lc_term_is_content(value.at[i].kind) && !lc_terms_have(c->key, value.at[i].sense))
            break;
    }
    return value;
}

/* Is the value part of what somebody is quoted with? The mark that opens the quotation may have been
 * cut off at the front of the message. */
static bool is_quoted(lc_terms clause, lc_terms value)
{
    size_t end = clause.at[clause.count - 1].start + clause.at[clause.count - 1].bytes;
    size_t before = 0, after = 0, words = 0;

    for (size_t i = clause.at[0].start; i < end; i++) {
        bool is_mark = clause.text.ptr[i] == '"';

        before += is_mark && i < value.at[0].start;
        after += is_mark && i >= value.at[0].start;
        words += before % 2 != 0 && i < value.at[0].start && clause.text.ptr[i] == ' ';
    }
    return (before + after) % 2 != 0 || (before % 2 != 0 && words > 1);
}

static loci_status propose(const proposing *p, const lc_unit_clause *clause, lc_proposal *out,
                           size_t *count, loci_error *err)
{
    uint32_t cues = clause->cues.bits;
    bool is_contrast = (cues & LC_CUE_VALUE) == 0 && clause->cues.former.count > 0;
    lc_terms value = (cues & LC_CUE_VALUE) != 0 || is_contrast ? clause->cues.value
                                                               : clause->cues.amount;
    size_t index;

    if ((cues & NOT_MEANT) != 0 || value.count == 0)
        return LOCI_OK;
    if ((cues & LC_CUE_REVERT) != 0) {
        index = reverted(p, clause);
        if (index != LC_SAID_NONE) {
            out[(*count)++] = (lc_proposal){p->input->known[index].successor,
                                            p->input->known[index].value, rule_of(p, cues)};
            return LOCI_OK;
        }
    }
    index = implied(p, clause, plain_value(value));
    if (index != LC_SAID_NONE)
        value = plain_value(value);
    else
        index = is_contrast ? contrasted(p, clause, value) : find_known(p, clause, value);
    if (index == LC_SAID_NONE || is_quoted(clause->terms, value) ||
        ((cues & LC_CUE_VALUE) == 0 && !is_contrast && !has_same_shape(p->candidates[index].value, value)))
        return LOCI_OK;
    value = without_subject(&p->candidates[index], value);
    if (lc_terms_state(p->candidates[index].key, value))
        return LOCI_OK; /* It says what the fact is about, and no more. */
    out[*count] = (lc_proposal){.known = index, .rule = rule_of(p, cues)};
    return merge(p, &p->candidates[index], clause, value, &out[(*count)++].value, err);
}

loci_status lc_talk_propose(const lc_talk *talk, lc_arena *arena, const lc_propose_input *input,
                            lc_proposal out[LC_PROPOSALS_MAX], size_t *out_count, loci_error *err)
{
    proposing p = {.talk = talk, .arena = arena, .input = input};
    loci_status status = read_all(&p, err);
    size_t count = 0;

    if (status != LOCI_OK)
        return status;
    /* What is played with, and what somebody else says in confidence, is no news. */
    if (p.exploring > 0 || lc_unit_has(&p.message, LC_CUE_EXPLORE_OPEN) ||
        (p.message.attribution.who.len > 0 && lc_unit_has(&p.message, LC_CUE_PRIVATE)))
        p.message.clause_count = 0;
    for (size_t i = 0; i < p.message.clause_count && count < LC_PROPOSALS_MAX && status == LOCI_OK;
         i++)
        status = propose(&p, &p.message.clauses[i], out, &count, err);
    *out_count = count;
    return status;
}
