/* subject.c - sets of senses, compared. Clauses have a dozen terms, so the plain double loop wins.
 */
#include "talk/subject.h"

#include "base/str.h"

static bool is_one_of(const lc_term *term, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (term->word == lc_term_word(loci_str_of(words[i])))
            return true;
    return false;
}

#define IS_ONE_OF(term, words) is_one_of(term, words, sizeof(words) / sizeof *(words))

/* The month, which is no date by itself because of the verb. */
static bool is_may(lc_terms terms, size_t at)
{
    return terms.at[at].word == lc_term_word(LC_STR("may")) &&
           terms.text.ptr[terms.at[at].start] == 'M';
}

/* A number is a length of time when a unit follows it, money before a currency, a time of day in
 * "ten past eleven". */
static uint32_t kind_of_number(lc_terms terms, size_t at)
{
    static const char *const currencies[] = {"dollar", "dollars", "euro", "euros", "pound",
                                             "pounds", "pence",   "cent", "cents", "francs",
                                             "yen",    "usd",     "eur",  "gbp",   "bucks"};
    static const char *const clock[] = {"past", "o'clock", "sharp"};
    const lc_term *term = &terms.at[at];

    if (at > 0 && (IS_ONE_OF(term - 1, clock) || is_may(terms, at - 1)))
        return LC_VALUE_WHEN;
    if (at + 1 == terms.count)
        return 0;
    if (term[1].is_time_unit || IS_ONE_OF(term + 1, clock))
        return LC_VALUE_WHEN;
    return IS_ONE_OF(term + 1, currencies) ? LC_VALUE_MONEY : 0;
}

/* A unit is a time behind "next". */
static uint32_t kind_of(lc_terms terms, size_t at)
{
    static const char *const relative[] = {"next", "this", "last", "coming", "following"};
    const lc_term *term = &terms.at[at];

    if (term->kind == LC_TERM_NUMBER)
        return kind_of_number(terms, at);
    if (term->is_time_unit)
        return at > 0 && IS_ONE_OF(term - 1, relative) ? LC_VALUE_WHEN : 0;
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

static bool is_topic(const lc_term *term)
{
    return term->kind == LC_TERM_WORD || term->kind == LC_TERM_NAME;
}

/* Whether the term at `at` has its sense for the first time. */
static bool is_first(lc_terms terms, size_t at)
{
    return !lc_terms_have(lc_terms_part(terms, 0, at), terms.at[at].sense);
}

static size_t topics(lc_terms terms)
{
    size_t count = 0;

    for (size_t i = 0; i < terms.count; i++)
        count += is_topic(&terms.at[i]) && is_first(terms, i);
    return count;
}

/* Topics of `a` that `b` has too. */
static size_t shared_topics(lc_terms a, lc_terms b)
{
    size_t count = 0;

    for (size_t i = 0; i < a.count; i++)
        count += is_topic(&a.at[i]) && is_first(a, i) && lc_terms_have(b, a.at[i].sense);
    return count;
}

size_t lc_subject_shared(lc_terms a, lc_terms b)
{
    size_t count = 0;

    for (size_t i = 0; i < a.count; i++)
        count += lc_term_is_content(a.at[i].kind) && is_first(a, i) &&
                 lc_terms_have(b, a.at[i].sense);
    return count;
}

static bool shares_number(lc_terms a, lc_terms b)
{
    for (size_t i = 0; i < a.count; i++)
        if (a.at[i].kind == LC_TERM_NUMBER && lc_terms_have(b, a.at[i].sense))
            return true;
    return false;
}

bool lc_subject_is_same(lc_terms a, lc_terms b)
{
    size_t shared = shared_topics(a, b);
    size_t topics_a = topics(a), topics_b = topics(b);
    size_t fewer = topics_a < topics_b ? topics_a : topics_b;

    if (shared == 0)
        return false;
    return shared >= 2 || shares_number(a, b) || shared * 5 >= fewer * 2;
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
            if (!is_topic(&a.at[i]) || !is_topic(&b.at[j]))
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
    static const char *const each[] = {"a", "an", "per"};
    size_t next = at + 1;

    if (terms.at[at].kind != LC_TERM_NUMBER || terms.at[at].after != 0)
        return NULL;
    if (next < terms.count && IS_ONE_OF(&terms.at[next], each))
        next++;
    return next < terms.count && is_topic(&terms.at[next]) ? &terms.at[next] : NULL;
}

/* What a number is one of: "C 17", "platform 4"; not when the text begins with it, as "phase 2". */
static const lc_term *labelled(lc_terms terms, size_t at)
{
    const lc_term *label = at > 0 ? &terms.at[at - 1] : NULL;

    if (label == NULL || terms.at[at].kind != LC_TERM_NUMBER || !is_topic(label) ||
        topics(lc_terms_part(terms, 0, at)) < 2)
        return NULL;
    return label;
}

/* Another number of the same thing. */
bool lc_subject_counts_differ(lc_terms a, lc_terms b)
{
    for (size_t i = 0; i < a.count; i++) {
        const lc_term *thing = counted(a, i), *label = labelled(a, i);

        if (lc_terms_have(b, a.at[i].sense))
            continue;
        for (size_t j = 0; j < b.count; j++) {
            const lc_term *other = counted(b, j), *other_label = labelled(b, j);

            if (thing != NULL && other != NULL && thing->sense == other->sense)
                return true;
            if (label != NULL && other_label != NULL && label->sense == other_label->sense)
                return true;
        }
    }
    return false;
}

bool lc_subject_contradicts(lc_terms a, lc_terms b)
{
    if (shared_topics(a, b) == 0)
        return false;
    return ((lc_value_kinds(a) & lc_value_kinds(b)) != 0 && has_other_content(a, b)) ||
           lc_subject_counts_differ(a, b);
}

static const lc_term *first_topic(lc_terms terms)
{
    for (size_t i = 0; i < terms.count; i++)
        if (is_topic(&terms.at[i]))
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

bool lc_subject_rivals(lc_terms a, lc_terms b)
{
    const lc_term *first_a = first_topic(a), *first_b = first_topic(b);
    size_t shared = shared_topics(a, b), topics_a = topics(a), topics_b = topics(b);

    if (shared == 0 || !lc_subject_contradicts(a, b) || (names_other(a, b) && names_other(b, a)))
        return false;
    /* "Flour costs ..." and "Sugar costs ..." begin with what the other does not speak of. */
    if (!lc_terms_have(b, first_a->sense) && !lc_terms_have(a, first_b->sense))
        return false;
    return shared >= 2 || shared == topics_a || shared == topics_b ||
           first_a->sense == first_b->sense;
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

typedef struct overlap {
    size_t content, content_said; /* Of the dead value; how many of them are in `said`. */
    size_t own, own_said;         /* Those that its successor does not have. */
    size_t amounts, amounts_said; /* Amounts among its own. */
    size_t names, names_said;     /* Marked names among its own. */
} overlap;

static overlap overlap_of(const lc_dead *dead, lc_terms said)
{
    overlap o = {0};

    for (size_t i = 0; i < dead->value.count; i++) {
        const lc_term *term = &dead->value.at[i];
        bool is_said = lc_terms_have(said, term->sense);

        if (!lc_term_is_content(term->kind) || !is_first(dead->value, i))
            continue;
        o.content++;
        o.content_said += is_said;
        if (lc_terms_have(dead->successor, term->sense))
            continue;
        o.own++;
        o.own_said += is_said;
        if (lc_term_is_amount(term->kind)) {
            o.amounts++;
            o.amounts_said += is_said;
        }
        if (is_marked_name(dead->value, term)) {
            o.names++;
            o.names_said += is_said;
        }
    }
    return o;
}

bool lc_dead_is_stated(const lc_dead *dead, lc_terms said)
{
    overlap o;

    if (is_phrase_of(dead->value, said) && !is_phrase_of(dead->value, dead->successor))
        return true;
    o = overlap_of(dead, said);
    if (o.own_said == 0)
        return false;
    if (dead->is_rejected && o.names > 0 && o.names_said == o.names)
        return true;
    if (o.amounts > 0 && o.amounts_said == o.amounts &&
        o.content_said >= (o.content < 2 ? o.content : 2))
        return true;
    if (o.amounts == 0 && o.own_said * 5 >= o.own * 3)
        return true;
    return o.content_said * 4 >= o.content * 3;
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
