/* propose.c - finding the fact that a sentence gives another value. */
#include "talk/propose.h"

#include "base/error.h"
#include "talk/judging.h"

/* What is asked, supposed or past gives nothing a value. */
#define NOT_MEANT                                                                                  \
    (LC_CUE_QUESTION | LC_CUE_REQUEST | LC_CUE_TENTATIVE | LC_CUE_PAST | LC_CUE_EXPLORE_OPEN)

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
    bool is_news = (cues & (LC_CUE_CORRECT | LC_CUE_UPDATE)) != 0 ||
                   lc_unit_has(&p->message, LC_CUE_CORRECT);

    if (c->age == LC_SAID_NONE || c->age >= RECENT)
        return false;
    if (c->age == 0 && p->message.attribution.rank >= 0 && (cues & LC_CUE_DECIDE) != 0)
        return true;
    if (c->is_tentative && (is_news || (cues & LC_CUE_DECIDE) != 0))
        return true;
    return is_news && lc_unit_has(&p->message, LC_CUE_REFERS) && has_same_shape(c->value, value);
}

/* Can the new value stand where the old one stood? */
static bool is_rival(const candidate *c, lc_terms clause, lc_terms value)
{
    uint32_t old_kinds = lc_value_kinds(c->value), new_kinds = lc_value_kinds(value);

    if (has_all(clause, c->value) || has_all(c->value, value))
        return false;
    return old_kinds == 0 || new_kinds == 0 || (old_kinds & new_kinds) != 0;
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

/* "Noah's": whose, and no contraction, which is a function word. */
static bool is_owner(lc_terms terms, const lc_term *term)
{
    const char *end = terms.text.ptr + term->start + term->bytes;

    return (term->kind == LC_TERM_WORD || term->kind == LC_TERM_NAME) && term->bytes > 2 &&
           end[-1] == 's' && (end[-2] == '\'' || end[-2] == '\x99');
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
        if (!is_known && !names_all(c->key, clause))
            return true;
    }
    return false;
}

/* The fact that the clause names best, or LC_SAID_NONE. */
static size_t best_named(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t best = LC_SAID_NONE, best_score = 0;

    for (size_t i = 0; i < p->input->known_count; i++) {
        const candidate *c = &p->candidates[i];
        size_t points = is_open(p, i, clause, value) && !is_of_another(p, c, clause->terms)
                            ? 2 * score(p, c, clause->terms)
                            : 0;

        if (points > 0 && has_same_shape(c->value, value))
            points++;
        if (points > best_score) {
            best = i;
            best_score = points;
        }
    }
    return best;
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
                                        "costs", "totals", "adds",   "remains"};

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
                                        "could", "usually", "every", "typical"};

    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (has_word(words, other[i]))
            return true;
    return false;
}

/* "80 kg now.": another number of what was counted lately. */
static size_t recounted(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    if (!has_word(clause->terms, "now") && !has_word(clause->terms, "so") &&
        !has_word(clause->terms, "makes") && !has_word(clause->terms, "leaves") &&
        (clause->cues.bits & LC_CUE_UPDATE) == 0)
        return LC_SAID_NONE;
    for (size_t i = 0; i < p->input->known_count; i++)
        if (is_open(p, i, clause, value) && p->candidates[i].age < RECENT &&
            lc_subject_counts_differ(p->candidates[i].value, value))
            return i;
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

/* "The marquee budget is 7,200 pounds.": said plainly, of exactly what the key names, with another
 * amount of the same kind. */
static size_t restated(const proposing *p, const lc_unit_clause *clause, lc_terms value)
{
    size_t front = (size_t)(value.at - clause->terms.at), start = front;
    lc_terms words;

    /* "New quote: the rent is ...": what stands before a colon only leads up to it. */
    while (start > 0 && (start == front || clause->terms.at[start - 1].after != ':'))
        start--;
    words = lc_terms_part(clause->terms, start, front - start);

    for (size_t i = 0; i < p->input->known_count && !is_other(clause->terms); i++) {
        const candidate *c = &p->candidates[i];

        if (is_open(p, i, clause, value) && (shape_of(c->value) & shape_of(value)) != 0 &&
            names_all(c->key, words) && is_only_about(p, c, words))
            return i;
    }
    return LC_SAID_NONE;
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
    if (p->message.attribution.rank >= 0)
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
                     lc_unit_has(&p->message, LC_CUE_CORRECT | LC_CUE_UPDATE));
    size_t index = LC_SAID_NONE;

    if (is_meant)
        index = best_named(p, clause, value);
    if (is_meant && index == LC_SAID_NONE)
        index = last_pointed_at(p, clause, value);
    if (index == LC_SAID_NONE)
        index = dropped(p, clause, value);
    if (index == LC_SAID_NONE)
        index = recounted(p, clause, value);
    return index != LC_SAID_NONE ? index : restated(p, clause, value);
}

/* The only amount in a value that counts or costs, or LC_SAID_NONE. */
static size_t only_amount(lc_terms value)
{
    size_t found = LC_SAID_NONE;

    for (size_t i = 0; i < value.count; i++) {
        if (!lc_term_is_amount(value.at[i].kind))
            continue;
        if (found != LC_SAID_NONE || value.at[i].kind > LC_TERM_NUMBER)
            return LC_SAID_NONE;
        found = i;
    }
    return found;
}

/* Is the new value no more than another amount for the old one, as 55, or 55 chairs, for 40 chairs?
 */
static bool is_bare(lc_terms value, lc_terms old, size_t at)
{
    if (value.at[0].kind != old.at[at].kind)
        return false;
    return value.count == 1 ||
           (value.count == 2 && at + 1 < old.count && value.at[1].sense == old.at[at + 1].sense);
}

/* The value as it is kept: a bare amount takes the place of the amount in the old value, so that
 * "make it 55" leaves the chairs. */
static loci_status merge(const proposing *p, const candidate *c, lc_terms value, loci_str *out,
                         loci_error *err)
{
    size_t at = only_amount(c->value);
    loci_str old = c->value.text, amount = lc_terms_text(lc_terms_part(value, 0, 1));
    size_t start, end;
    char *text;

    *out = lc_terms_text(value);
    if (at == LC_SAID_NONE || !is_bare(value, c->value, at))
        return LOCI_OK;
    start = c->value.at[at].start;
    end = start + c->value.at[at].bytes;
    text = lc_arena_alloc(p->arena, old.len + amount.len + 1);
    if (text == NULL)
        return lc_fail_memory(err);
    memcpy(text, old.ptr, start);
    memcpy(text + start, amount.ptr, amount.len);
    memcpy(text + start + amount.len, old.ptr + end, old.len - end);
    *out = (loci_str){text, old.len - (end - start) + amount.len};
    return LOCI_OK;
}

static loci_status propose(const proposing *p, const lc_unit_clause *clause, lc_proposal *out,
                           size_t *count, loci_error *err)
{
    uint32_t cues = clause->cues.bits;
    lc_terms value = (cues & LC_CUE_VALUE) != 0 ? clause->cues.value : clause->cues.amount;
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
    index = find_known(p, clause, value);
    if (index == LC_SAID_NONE ||
        ((cues & LC_CUE_VALUE) == 0 && !has_same_shape(p->candidates[index].value, value)))
        return LOCI_OK;
    out[*count] = (lc_proposal){.known = index, .rule = rule_of(p, cues)};
    return merge(p, &p->candidates[index], value, &out[(*count)++].value, err);
}

loci_status lc_talk_propose(const lc_talk *talk, lc_arena *arena, const lc_propose_input *input,
                            lc_proposal out[LC_PROPOSALS_MAX], size_t *out_count, loci_error *err)
{
    proposing p = {.talk = talk, .arena = arena, .input = input};
    loci_status status = read_all(&p, err);
    size_t count = 0;

    if (status != LOCI_OK)
        return status;
    if (p.exploring > 0 || lc_unit_has(&p.message, LC_CUE_EXPLORE_OPEN))
        p.message.clause_count = 0;
    for (size_t i = 0; i < p.message.clause_count && count < LC_PROPOSALS_MAX && status == LOCI_OK;
         i++)
        status = propose(&p, &p.message.clauses[i], out, &count, err);
    *out_count = count;
    return status;
}
