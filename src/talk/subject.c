/* subject.c - sets of senses, compared. Clauses have a dozen terms, so the plain double loop wins.
 */
#include "talk/subject.h"

#include "base/str.h"

/* "the 20th", and no "20th floor". */
static bool is_day(lc_terms terms, size_t at)
{
    const lc_term *term = &terms.at[at];
    const char *end = terms.text.ptr + term->start + term->bytes;
    bool is_last = at + 1 == terms.count || term->after != 0 || !lc_term_is_content(term[1].kind) ||
                   lc_term_is_amount(term[1].kind);

    return is_last && term->bytes > 2 && lc_term_is(terms, at - 1, "the") &&
           (memcmp(end - 2, "th", 2) == 0 || memcmp(end - 2, "st", 2) == 0 ||
            memcmp(end - 2, "nd", 2) == 0 || memcmp(end - 2, "rd", 2) == 0);
}

/* A number is a length of time when a unit follows it, money before a currency, a time of day in
 * "ten past eleven". */
static uint32_t kind_of_number(lc_terms terms, size_t at)
{
    const lc_term *term = &terms.at[at];
    /* "may" alone is a verb and no date. */
    bool is_may = at > 0 && lc_term_is(terms, at - 1, "may") && lc_term_has_capital(terms, at - 1);

    if (is_may || (at > 0 && (lc_term_in(term - 1, LC_WORDS_CLOCK) || is_day(terms, at))))
        return LC_VALUE_WHEN;
    if (at + 1 == terms.count)
        return 0;
    if (term[1].is_time_unit || lc_term_in(&terms.at[at + 1], LC_WORDS_CLOCK))
        return LC_VALUE_WHEN;
    return lc_term_in(&terms.at[at + 1], LC_WORDS_CURRENCIES) ? LC_VALUE_MONEY : 0;
}

/* A unit is a time behind "next". */
static uint32_t kind_of(lc_terms terms, size_t at)
{
    const lc_term *term = &terms.at[at];

    if (term->kind == LC_TERM_NUMBER)
        return kind_of_number(terms, at);
    if (term->is_time_unit)
        return at > 0 && lc_term_in(&terms.at[at - 1], LC_WORDS_RELATIVE) ? LC_VALUE_WHEN : 0;
    return term->value;
}

uint32_t lc_value_kinds(lc_terms terms)
{
    uint32_t kinds = 0;

    for (size_t i = 0; i < terms.count; i++)
        kinds |= kind_of(terms, i);
    return kinds;
}

bool lc_terms_have(lc_terms terms, uint64_t sense)
{
    for (size_t i = 0; i < terms.count; i++)
        if (terms.at[i].sense == sense)
            return true;
    return false;
}

bool lc_terms_state(lc_terms said, lc_terms value)
{
    size_t content = 0;

    for (size_t i = 0; i < value.count; i++) {
        if (!lc_term_is_content(value.at[i].kind))
            continue;
        content++;
        if (!lc_terms_have(said, value.at[i].sense))
            return false;
    }
    return content > 0;
}

static bool is_noun(const lc_term *term)
{
    return term->kind == LC_TERM_WORD || term->kind == LC_TERM_NAME;
}

/* Whether the term at `at` has its sense for the first time. */
static bool is_first(lc_terms terms, size_t at)
{
    return terms.at[at].repeats == 0 || terms.at[at].repeats > at;
}

static size_t topics(lc_terms terms)
{
    size_t count = 0;

    for (size_t i = 0; i < terms.count; i++)
        count += lc_term_is_topic(&terms.at[i]) && is_first(terms, i);
    return count;
}

typedef bool term_fn(const lc_term *term);

static bool is_content(const lc_term *term)
{
    return lc_term_is_content(term->kind);
}

static bool is_number(const lc_term *term)
{
    return term->kind == LC_TERM_NUMBER;
}

/* How many such terms of `a` does `b` have too? */
static size_t shared(lc_terms a, lc_terms b, term_fn *is_such)
{
    size_t count = 0;

    for (size_t i = 0; i < a.count; i++)
        count += is_such(&a.at[i]) && is_first(a, i) && lc_terms_have(b, a.at[i].sense);
    return count;
}

size_t lc_subject_shared(lc_terms a, lc_terms b)
{
    return shared(a, b, is_content);
}

bool lc_subject_is_same(lc_terms a, lc_terms b)
{
    size_t same = shared(a, b, lc_term_is_topic), topics_a, topics_b, fewer;

    if (same == 0)
        return false;
    topics_a = topics(a);
    topics_b = topics(b);
    fewer = topics_a < topics_b ? topics_a : topics_b;
    return same >= 2 || shared(a, b, is_number) > 0 || same * 5 >= fewer * 2;
}

/* "auth" for "authentication": one begins with the other, four letters at least. */
static bool abbreviates(lc_terms a, const lc_term *x, lc_terms b, const lc_term *y)
{
    size_t bytes = x->bytes < y->bytes ? x->bytes : y->bytes;

    if (bytes < 4)
        return false;
    for (size_t i = 0; i < bytes; i++)
        if ((a.text.ptr[x->start + i] | 0x20) != (b.text.ptr[y->start + i] | 0x20))
            return false;
    return true;
}

bool lc_subject_is_near(lc_terms a, lc_terms b)
{
    for (size_t i = 0; i < a.count; i++) {
        for (size_t j = 0; j < b.count; j++) {
            if (!lc_term_is_topic(&a.at[i]) || !lc_term_is_topic(&b.at[j]))
                continue;
            if (a.at[i].sense == b.at[j].sense || abbreviates(a, &a.at[i], b, &b.at[j]))
                return true;
        }
    }
    return false;
}

/* With a capital or a digit inside: what is only a capital at the front may be any word. */
static bool is_marked_name(lc_terms terms, const lc_term *term)
{
    bool has_upper = false;

    if (term->kind != LC_TERM_NAME)
        return false;
    for (size_t i = 1; i < term->bytes; i++) {
        char c = terms.text.ptr[term->start + i];

        has_upper |= (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }
    return has_upper;
}

bool lc_subject_shares_name(lc_terms a, lc_terms b)
{
    for (size_t i = 0; i < a.count; i++)
        if (is_marked_name(a, &a.at[i]) && lc_terms_have(b, a.at[i].sense))
            return true;
    return false;
}

static bool has_other_content(lc_terms a, lc_terms b)
{
    for (size_t i = 0; i < a.count; i++)
        if (lc_term_is_content(a.at[i].kind) && !lc_terms_have(b, a.at[i].sense))
            return true;
    return false;
}

/* What a number counts: "40" of "40 oak chairs" counts oak, "500" of "500 per trip" trips. NULL
 * when nothing follows. */
static const lc_term *counted(lc_terms terms, size_t at)
{
    size_t next = at + 1;

    if (terms.at[at].kind != LC_TERM_NUMBER || terms.at[at].after != 0)
        return NULL;
    if (next < terms.count && lc_term_in(&terms.at[next], LC_WORDS_PER))
        next++;
    return next < terms.count && is_noun(&terms.at[next]) ? &terms.at[next] : NULL;
}

/* What a number is one of: "C 17", "platform 4"; not when the text begins with it, as "phase 2". */
static const lc_term *labelled(lc_terms terms, size_t at)
{
    const lc_term *label = at > 0 ? &terms.at[at - 1] : NULL;

    if (label == NULL || terms.at[at].kind != LC_TERM_NUMBER || !lc_term_is_topic(label) ||
        topics(lc_terms_part(terms, 0, at)) < 2)
        return NULL;
    return label;
}

/* The topic that a plain number is said of; NULL when there is none. */
static const lc_term *said_of(lc_terms terms, size_t at)
{
    if (terms.at[at].kind != LC_TERM_NUMBER)
        return NULL;
    while (at > 0) {
        at--;
        if (lc_term_is_amount(terms.at[at].kind))
            return NULL;
        if (lc_term_is_topic(&terms.at[at]))
            return &terms.at[at];
    }
    return NULL;
}

/* How often: of "four times a day" and "two meals a day" the day. */
static uint64_t rate_of(lc_terms terms, size_t at)
{
    if (terms.at[at].kind != LC_TERM_NUMBER)
        return 0;
    for (size_t i = at + 1; i + 1 < terms.count && i < at + 3; i++)
        if (lc_term_in(&terms.at[i], LC_WORDS_EACH) && terms.at[i + 1].is_time_unit)
            return terms.at[i + 1].sense;
    return 0;
}

/* Another number of the same thing. */
bool lc_subject_counts_differ(lc_terms a, lc_terms b)
{
    for (size_t i = 0; i < a.count; i++) {
        const lc_term *of_a, *thing, *label;

        if (a.at[i].kind != LC_TERM_NUMBER || lc_terms_have(b, a.at[i].sense))
            continue;
        of_a = said_of(a, i);
        thing = counted(a, i);
        label = labelled(a, i);
        for (size_t j = 0; j < b.count; j++) {
            const lc_term *of_b, *other, *other_label;

            if (b.at[j].kind != LC_TERM_NUMBER)
                continue;
            of_b = said_of(b, j);
            other = counted(b, j);
            other_label = labelled(b, j);
            if (thing != NULL && other != NULL && thing->sense == other->sense)
                return true;
            if (label != NULL && other_label != NULL && label->sense == other_label->sense)
                return true;
            /* "We refund 200", "the refund is 120"; but "bed 3" and "bed 7" are two beds. */
            if (thing == NULL && other == NULL && of_a != NULL && of_b != NULL &&
                of_a->sense == of_b->sense && (of_a + 1 != &a.at[i] || of_b + 1 != &b.at[j]))
                return true;
            if (rate_of(a, i) != 0 && rate_of(a, i) == rate_of(b, j))
                return true;
        }
    }
    return false;
}

bool lc_subject_contradicts(lc_terms a, lc_terms b)
{
    if (shared(a, b, lc_term_is_topic) == 0)
        return false;
    return ((lc_value_kinds(a) & lc_value_kinds(b)) != 0 && has_other_content(a, b)) ||
           lc_subject_counts_differ(a, b);
}

static const lc_term *first_topic(lc_terms terms)
{
    for (size_t i = 0; i < terms.count; i++)
        if (lc_term_is_topic(&terms.at[i]))
            return &terms.at[i];
    return NULL;
}

/* Does `a` name somebody or something in front of its first amount that `b` does not have? */
static bool names_other(lc_terms a, lc_terms b)
{
    for (size_t i = 0; i < a.count && !lc_term_is_amount(a.at[i].kind); i++)
        if (a.at[i].kind == LC_TERM_NAME && !lc_terms_have(b, a.at[i].sense))
            return true;
    return false;
}

/* Is the topic the only one in front of the first amount? */
static bool is_led_up_by(lc_terms terms, const lc_term *topic)
{
    size_t amount = 0, states = 0;
    lc_terms lead;

    while (amount < terms.count && !lc_term_is_amount(terms.at[amount].kind))
        amount++;
    lead = lc_terms_part(terms, 0, amount);
    /* "Objections close on ...": a state is no topic. */
    for (size_t i = 0; i < lead.count; i++)
        states += lc_term_is_topic(&lead.at[i]) && lead.at[i].value == LC_VALUE_STATUS;
    return topics(lead) == 1 + states && lc_terms_have(lead, topic->sense);
}

bool lc_subject_rivals(lc_terms a, lc_terms b)
{
    const lc_term *first_a = first_topic(a), *first_b = first_topic(b);
    size_t same = shared(a, b, lc_term_is_topic), topics_a = topics(a), topics_b = topics(b);

    if (same == 0 || !lc_subject_contradicts(a, b) || (names_other(a, b) && names_other(b, a)))
        return false;
    /* "Flour costs ..." and "Sugar costs ..." begin with what the other does not speak of. */
    if (!lc_terms_have(b, first_a->sense) && !lc_terms_have(a, first_b->sense))
        return false;
    return same >= 2 || same == topics_a || same == topics_b || first_a->sense == first_b->sense ||
           (is_led_up_by(a, first_a) && lc_terms_have(b, first_a->sense)) ||
           (is_led_up_by(b, first_b) && lc_terms_have(a, first_b->sense));
}

/* ---- Orders ---------------------------------------------------------------------------------- */

/* Is the term at `at` a name in front of a word, in a place that something is put: "in the
 * Frankfurt region"? What the text begins with is what it is about. */
static bool is_place(lc_terms terms, size_t at)
{
    return at >= 2 && at + 1 < terms.count && terms.at[at].kind == LC_TERM_NAME &&
           terms.at[at].after == 0 && lc_term_is_topic(&terms.at[at + 1]) &&
           terms.at[at - 1].kind == LC_TERM_STOP && topics(lc_terms_part(terms, 0, at)) > 0;
}

static bool places_differ(lc_terms a, lc_terms b)
{
    for (size_t i = 0; i < a.count; i++) {
        if (!is_place(a, i) || lc_terms_have(b, a.at[i].sense))
            continue;
        for (size_t k = 0; k < b.count; k++)
            if (is_place(b, k) && a.at[i + 1].sense == b.at[k + 1].sense &&
                !lc_terms_have(a, b.at[k].sense))
                return true;
    }
    return false;
}

/* Do both begin with the same words and then say different things: "Exams are held on campus",
 * "Exams are held online"? */
static bool parts_ways(lc_terms a, lc_terms b)
{
    size_t i = 0, k = 0, same = 0;

    for (;;) {
        while (i < a.count && !lc_term_is_content(a.at[i].kind))
            i++;
        while (k < b.count && !lc_term_is_content(b.at[k].kind))
            k++;
        if (i == a.count || k == b.count)
            return false;
        if (a.at[i].sense != b.at[k].sense)
            return same >= 2;
        same++;
        i++;
        k++;
    }
}

bool lc_subject_orders_clash(lc_terms a, lc_terms b)
{
    const lc_term *first_a = first_topic(a), *first_b = first_topic(b);
    bool both_rule = lc_terms_have_in(a, LC_WORDS_RULES) && lc_terms_have_in(b, LC_WORDS_RULES);
    size_t same = shared(a, b, lc_term_is_topic);

    if (same == 0)
        return false;
    if ((same >= 2 || both_rule) &&
        lc_terms_have_in(a, LC_WORDS_NO) != lc_terms_have_in(b, LC_WORDS_NO))
        return true;
    if ((same >= 3 && places_differ(a, b)) || parts_ways(a, b))
        return true;
    return first_a->sense == first_b->sense && both_rule;
}

/* ---- Dead values ----------------------------------------------------------------------------- */

/* The terms of the value, one after another, somewhere in `said`. */
static bool is_phrase_of(lc_terms value, lc_terms said)
{
    if (value.count == 0)
        return false;
    for (size_t at = 0; at + value.count <= said.count; at++) {
        size_t same = 0;

        while (same < value.count && value.at[same].word == said.at[at + same].word)
            same++;
        if (same == value.count)
            return true;
    }
    return false;
}

static uint64_t bit_of(uint64_t sense)
{
    return UINT64_C(1) << (sense >> 58);
}

uint64_t lc_sense_bits(lc_terms terms)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < terms.count; i++)
        bits |= bit_of(terms.at[i].sense);
    return bits;
}

bool lc_dead_init(lc_dead *dead, lc_arena *arena, lc_terms value, lc_terms successor,
                  bool is_rejected)
{
    lc_dead_sense *senses = lc_arena_zalloc_array(arena, value.count + 1, sizeof *senses);

    *dead = (lc_dead){.value = value,
                      .successor = successor,
                      .is_rejected = is_rejected,
                      .is_phrase_of_successor = is_phrase_of(value, successor),
                      .senses = senses};
    if (senses == NULL)
        return false;
    for (size_t i = 0; i < value.count; i++) {
        lc_dead_sense sense;

        if (!lc_term_is_content(value.at[i].kind) || !is_first(value, i))
            continue;
        sense.sense = value.at[i].sense;
        sense.is_own = !lc_terms_have(successor, sense.sense);
        sense.is_own_amount = sense.is_own && lc_term_is_amount(value.at[i].kind);
        sense.is_own_name = sense.is_own && is_marked_name(value, &value.at[i]);
        senses[dead->count++] = sense;
        dead->own += sense.is_own;
        dead->amounts += sense.is_own_amount;
        dead->names += sense.is_own_name;
        dead->own_bits |= sense.is_own ? bit_of(sense.sense) : 0;
    }
    dead->is_shortened = dead->amounts == 0 && dead->names == 0 && lc_terms_state(value, successor);
    return true;
}

typedef struct overlap { /* How many of the dead value's are said. */
    size_t content, own, amounts, names;
} overlap;

static overlap overlap_of(const lc_dead *dead, lc_terms said, uint64_t bits)
{
    overlap o = {0};

    for (size_t i = 0; i < dead->count; i++) {
        const lc_dead_sense *sense = &dead->senses[i];

        if ((bits & bit_of(sense->sense)) == 0 || !lc_terms_have(said, sense->sense))
            continue;
        o.content++;
        o.own += sense->is_own;
        o.amounts += sense->is_own_amount;
        o.names += sense->is_own_name;
    }
    return o;
}

bool lc_dead_is_stated(const lc_dead *dead, lc_terms said, uint64_t bits)
{
    bool is_phrase = !dead->is_phrase_of_successor && is_phrase_of(dead->value, said);
    overlap o;

    if ((dead->own_bits & bits) == 0)
        return is_phrase;
    o = overlap_of(dead, said, bits);
    if (o.own == 0)
        return is_phrase;
    if (dead->is_shortened && lc_terms_state(said, dead->successor))
        return false;
    if (is_phrase || (dead->is_rejected && dead->names > 0 && o.names == dead->names))
        return true;
    if (dead->amounts > 0 && o.amounts == dead->amounts &&
        o.content >= (dead->count < 2 ? dead->count : 2))
        return true;
    if (dead->amounts == 0 && o.own * 5 >= dead->own * 3)
        return true;
    /* "Light rain" for "Light rain until noon": all but the amount. */
    if (o.amounts == 0 && o.own >= 2 && o.own == dead->own - dead->amounts)
        return true;
    return o.content * 4 >= dead->count * 3;
}

bool lc_dead_shares_amount(const lc_dead *dead, lc_terms said)
{
    for (size_t i = 0; i < dead->value.count; i++) {
        const lc_term *term = &dead->value.at[i];

        if (lc_term_is_amount(term->kind) && !lc_terms_have(dead->successor, term->sense) &&
            lc_terms_have(said, term->sense))
            return true;
    }
    return false;
}
