/* cue.c - finding turns of phrase in a clause.
 *
 * The table is compiled once: every pattern becomes a row of elements, and a hash of first words
 * leads from a term to the patterns that may begin with it. Reading a clause is then one look-up a
 * term, and a match only where the first word is already right.
 */
#include "talk/cue.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"
#include "talk/term_sense.h"

#define PATTERNS_MAX 500
#define ELEMENTS_MAX 3000
#define WORDS_MAX 6000
#define FIRSTS_MAX 2400
#define SLOTS 4096 /* Of the look-up; a power of two. */
#define ANY_SHORT 3
#define ANY_LONG 8
#define FILLERS_MAX 4

typedef struct element {
    uint16_t first_word, words;
    uint8_t any_max; /* Of a wildcard; 0 = words. */
    bool is_optional, is_sense, is_marked, is_value;
} element;

typedef struct pattern {
    lc_cue cue;
    uint16_t first_element, elements;
    bool is_anchored, ends_clause;
} pattern;

/* One way to begin a pattern: at its `element`, which is the first or follows optional ones. */
typedef struct beginning {
    uint64_t word;
    uint16_t pattern, element;
    uint16_t next; /* With the same slot; FIRSTS_MAX = none. */
} beginning;

struct lc_cues {
    lc_heap *heap;
    size_t pattern_count, element_count, word_count, first_count;
    pattern patterns[PATTERNS_MAX];
    element elements[ELEMENTS_MAX];
    uint64_t words[WORDS_MAX];
    beginning firsts[FIRSTS_MAX];
    uint16_t slots[SLOTS];
};

/* ---- Compiling ------------------------------------------------------------------------------- */

static uint64_t sense_of(loci_str word)
{
    lc_term term = {0};

    lc_term_set_sense(word, false, false, &term);
    return term.sense;
}

static bool take_suffix(loci_str *text, char suffix)
{
    if (text->len < 2 || text->ptr[text->len - 1] != suffix)
        return false;
    text->len--;
    return true;
}

static void compile_element(lc_cues *cues, loci_str text)
{
    element *e = &cues->elements[cues->element_count++];

    LC_ASSERT(cues->element_count < ELEMENTS_MAX);
    *e = (element){.first_word = (uint16_t)cues->word_count};
    if (lc_str_is(text, "<v>")) {
        e->is_value = true;
    } else if (lc_str_is(text, "*") || lc_str_is(text, "...")) {
        e->any_max = text.len == 1 ? ANY_SHORT : ANY_LONG;
    } else {
        e->is_optional = take_suffix(&text, '?');
        e->is_marked = take_suffix(&text, ':');
        while (text.len > 0) {
            loci_str word = lc_str_split(text, '|', &text);

            /* One word with ~ makes the whole group be compared by sense. */
            e->is_sense |= take_suffix(&word, '~');
            LC_ASSERT(cues->word_count < WORDS_MAX);
            cues->words[cues->word_count++] = lc_term_word(word);
            cues->words[cues->word_count++] = sense_of(word);
            e->words++;
        }
    }
}

static void add_first(lc_cues *cues, uint64_t word, size_t pattern_index, size_t element_index)
{
    size_t slot = word & (SLOTS - 1);
    beginning *first = &cues->firsts[cues->first_count];

    LC_ASSERT(cues->first_count < FIRSTS_MAX - 1);
    *first = (beginning){.word = word,
                         .pattern = (uint16_t)pattern_index,
                         .element = (uint16_t)element_index,
                         .next = cues->slots[slot]};
    cues->slots[slot] = (uint16_t)cues->first_count++;
}

/* Every word that the pattern can begin with. */
static void index_pattern(lc_cues *cues, size_t pattern_index)
{
    const pattern *p = &cues->patterns[pattern_index];

    for (size_t i = 0; i < p->elements; i++) {
        size_t at = p->first_element + i;
        const element *e = &cues->elements[at];

        LC_ASSERT(e->words > 0); /* A pattern does not begin with a wildcard. */
        for (size_t w = 0; w < e->words; w++)
            add_first(cues, cues->words[e->first_word + 2 * w + (e->is_sense ? 1 : 0)],
                      pattern_index, at);
        if (!e->is_optional)
            break;
    }
}

static void compile_pattern(lc_cues *cues, const lc_cue_row *row)
{
    loci_str text = loci_str_of(row->pattern);
    pattern *p = &cues->patterns[cues->pattern_count];

    LC_ASSERT(cues->pattern_count < PATTERNS_MAX);
    *p = (pattern){.cue = row->cue, .first_element = (uint16_t)cues->element_count};
    if (text.ptr[0] == '^') {
        p->is_anchored = true;
        text = (loci_str){text.ptr + 1, text.len - 1};
    }
    while (text.len > 0) {
        loci_str word = lc_str_split(text, ' ', &text);

        if (lc_str_is(word, "$"))
            p->ends_clause = true;
        else if (word.len > 0)
            compile_element(cues, word);
    }
    p->elements = (uint16_t)(cues->element_count - p->first_element);
    index_pattern(cues, cues->pattern_count++);
}

loci_status lc_cues_new(lc_heap *heap, lc_cues **out, loci_error *err)
{
    lc_cues *cues = lc_heap_zalloc(heap, sizeof *cues, LOCI_MEM_REQUESTS);
    size_t count;
    const lc_cue_row *rows = lc_cue_table(&count);

    if (cues == NULL)
        return lc_fail_memory(err);
    cues->heap = heap;
    for (size_t i = 0; i < SLOTS; i++)
        cues->slots[i] = FIRSTS_MAX;
    for (size_t i = 0; i < count; i++)
        compile_pattern(cues, &rows[i]);
    *out = cues;
    return LOCI_OK;
}

void lc_cues_free(lc_cues *cues)
{
    if (cues != NULL)
        lc_heap_free(cues->heap, cues, sizeof *cues, LOCI_MEM_REQUESTS);
}

/* ---- Matching -------------------------------------------------------------------------------- */

static bool is_mark(char after)
{
    return after == ':' || after == ',' || after == '-';
}

static bool fits(const lc_cues *cues, const element *e, const lc_term *term)
{
    uint64_t have = e->is_sense ? term->sense : term->word;

    if (e->is_marked && !is_mark(term->after))
        return false;
    for (size_t w = 0; w < e->words; w++)
        if (cues->words[e->first_word + 2 * w + (e->is_sense ? 1 : 0)] == have)
            return true;
    return false;
}

typedef struct match {
    const lc_cues *cues;
    const pattern *pattern;
    lc_terms clause;
    size_t value_at; /* Where <v> begins; the clause's count when there is none. */
    size_t end;      /* Behind the last term that was matched. */
} match;

/* Do the elements from `element_index` on fit the terms from `at` on? As deep as a pattern is long.
 */
static bool matches(match *m, size_t element_index, size_t at)
{
    const element *e = &m->cues->elements[element_index];

    if (element_index == (size_t)m->pattern->first_element + m->pattern->elements) {
        m->end = at;
        return !m->pattern->ends_clause || at == m->clause.count;
    }
    if (e->is_value) {
        m->value_at = at;
        m->end = m->clause.count;
        return at < m->clause.count;
    }
    if (e->any_max > 0) {
        for (size_t skip = 0; skip <= e->any_max && at + skip <= m->clause.count; skip++)
            if (matches(m, element_index + 1, at + skip))
                return true;
        return false;
    }
    if (at < m->clause.count && fits(m->cues, e, &m->clause.at[at]) &&
        matches(m, element_index + 1, at + 1))
        return true;
    return e->is_optional && matches(m, element_index + 1, at);
}

/* ---- Reading a clause ------------------------------------------------------------------------ */

static bool is_one_of(uint64_t word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (word == lc_term_word(loci_str_of(words[i])))
            return true;
    return false;
}

/* How many words that say nothing stand at the front: "Oh, and ...". */
static size_t fillers(lc_terms clause)
{
    static const char *const words[] = {
        "oh",   "ok",    "okay",  "well", "so",   "and",  "but",     "hey",    "yes",  "yeah",
        "fine", "great", "right", "also", "btw",  "then", "alright", "anyway", "ugh",  "ah",
        "hmm",  "um",    "uh",    "oops", "argh", "good", "now",     "ha",     "sorry"};
    size_t count = 0;

    while (count < clause.count && count < FILLERS_MAX &&
           is_one_of(clause.at[count].word, words, sizeof words / sizeof *words))
        count++;
    return count;
}

/* The value without what trails behind it: "GlobalTech for the contract" is GlobalTech. */
static lc_terms trim_value(lc_terms value)
{
    static const char *const ends[] = {"instead", "please", "then",   "though",
                                       "because", "since",  "due",    "so",
                                       "if",      "but",    "unless", "effective"};
    static const char *const leads[] = {"the", "a", "an", "now", "about", "actually"};
    static const char *const tails[] = {"now", "today", "onwards"};
    uint64_t word_for = lc_term_word(LC_STR("for")), word_the = lc_term_word(LC_STR("the"));
    size_t first = 0, count = 0;

    while (first + 1 < value.count &&
           is_one_of(value.at[first].word, leads, sizeof leads / sizeof *leads))
        first++;
    while (first + count < value.count) {
        const lc_term *term = &value.at[first + count];
        bool is_for_the = term->word == word_for && first + count + 1 < value.count &&
                          term[1].word == word_the;

        if (count > 0 && (is_for_the || is_one_of(term->word, ends, sizeof ends / sizeof *ends)))
            break;
        count++;
        if (term->after == ';' || term->after == '(')
            break;
    }
    while (count > 1 &&
           is_one_of(value.at[first + count - 1].word, tails, sizeof tails / sizeof *tails))
        count--;
    return lc_terms_part(value, first, count);
}

static void found(lc_cue_set *set, const match *m)
{
    lc_cue cue = m->pattern->cue;

    if ((cue == LC_CUE_VALUE || cue == LC_CUE_REVERT) && m->value_at < m->clause.count) {
        lc_terms rest = lc_terms_part(m->clause, m->value_at, m->clause.count - m->value_at);

        size_t order = (size_t)(m->pattern - m->cues->patterns);

        /* The first line of the table that fits has the value. */
        if ((set->bits & LC_CUE_VALUE) == 0 || order < set->value_order) {
            set->value = trim_value(rest);
            set->value_order = order;
        }
        set->bits |= LC_CUE_VALUE;
    }
    set->bits |= (uint32_t)cue;
}

/* From the first amount on, cut like a value. In "from today" the day says when, not what. */
static lc_terms amount_of(lc_terms clause)
{
    static const char *const since[] = {"from", "of", "since", "effective", "until"};

    for (size_t at = 0; at < clause.count; at++)
        if (lc_term_is_amount(clause.at[at].kind) &&
            (at == 0 || clause.at[at].kind != LC_TERM_DATE ||
             !is_one_of(clause.at[at - 1].word, since, sizeof since / sizeof *since)))
            return trim_value(lc_terms_part(clause, at, clause.count - at));
    return lc_terms_part(clause, 0, 0);
}

lc_cue_set lc_cues_find(const lc_cues *cues, lc_terms clause)
{
    lc_cue_set set = {.amount = amount_of(clause)};
    size_t start = fillers(clause);

    for (size_t at = 0; at < clause.count; at++) {
        uint64_t keys[2] = {clause.at[at].word, clause.at[at].sense};

        for (size_t k = 0; k < 2; k++) {
            for (size_t i = cues->slots[keys[k] & (SLOTS - 1)]; i < FIRSTS_MAX;
                 i = cues->firsts[i].next) {
                const beginning *first = &cues->firsts[i];
                match m = {.cues = cues,
                           .pattern = &cues->patterns[first->pattern],
                           .clause = clause,
                           .value_at = clause.count};

                if (first->word != keys[k] || (m.pattern->is_anchored && at != 0 && at != start))
                    continue;
                if (!matches(&m, first->element, at))
                    continue;
                if (m.pattern->cue == LC_CUE_WRONG && (set.bits & LC_CUE_WRONG) == 0)
                    set.wrong_at = at;
                found(&set, &m);
            }
        }
    }
    if (clause.count > 0 && clause.at[clause.count - 1].after == '?')
        set.bits |= LC_CUE_QUESTION;
    return set;
}
