/* cue.c - finding turns of phrase in a clause.
 *
 * The table is compiled once: every pattern becomes a row of elements, and a hash of first words
 * leads from a term to the patterns that may begin with it. Reading a clause is then one look-up a
 * term, and a match only where the first word is already right.
 */
#include "talk/cue.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/str.h"

#define PATTERNS_MAX 700
#define ELEMENTS_MAX 4000
#define WORDS_MAX 4500
#define FIRSTS_MAX 3600
#define SLOTS 4096 /* Of the look-up; a power of two. */
#define ANY_SHORT 3
#define ANY_LONG 8
#define VALUE_TERMS_MAX 8    /* Of a value that something follows. */
#define CONTRAST_TERMS_MAX 4 /* Of "Bergen" in "Bergen, not Oslo". */
#define FILLERS_MAX 4

/* Cues of what comes to an end. */
#define ENDS (LC_CUE_CANCEL | LC_CUE_TROUBLE)

typedef struct element {
    uint16_t first_word, words; /* Hashes in lc_cues.words: of senses if `is_sense`. */
    uint8_t any_max;            /* Of a wildcard; 0 = words. */
    bool is_optional, is_sense, is_marked, is_value, is_former;
} element;

typedef struct pattern {
    lc_cue cue;
    loci_str implies;
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

static uint64_t sense_of(const lc_lexicon *lexicon, loci_str word)
{
    lc_term term = {0};

    lc_term_set_sense(lexicon, word, false, false, &term);
    return term.sense;
}

static bool take_suffix(loci_str *text, char suffix)
{
    if (text->len < 2 || text->ptr[text->len - 1] != suffix)
        return false;
    text->len--;
    return true;
}

static void compile_element(lc_cues *cues, const lc_lexicon *lexicon, loci_str text)
{
    element *e = &cues->elements[cues->element_count++];

    LC_ASSERT(cues->element_count < ELEMENTS_MAX);
    *e = (element){.first_word = (uint16_t)cues->word_count};
    if (lc_str_is(text, "<v>") || lc_str_is(text, "<o>")) {
        e->is_value = text.ptr[1] == 'v';
        e->is_former = !e->is_value;
    } else if (lc_str_is(text, "*") || lc_str_is(text, "...")) {
        e->any_max = text.len == 1 ? ANY_SHORT : ANY_LONG;
    } else {
        e->is_optional = take_suffix(&text, '?');
        e->is_marked = take_suffix(&text, ':');
        /* One word with ~ makes the whole group be compared by sense. */
        e->is_sense = memchr(text.ptr, '~', text.len) != NULL;
        while (text.len > 0) {
            loci_str word = lc_str_split(text, '|', &text);

            (void)take_suffix(&word, '~');
            LC_ASSERT(cues->word_count < WORDS_MAX);
            cues->words[cues->word_count++] = e->is_sense ? sense_of(lexicon, word)
                                                          : lc_word_key(word);
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
            add_first(cues, cues->words[e->first_word + w], pattern_index, at);
        if (!e->is_optional)
            break;
    }
}

/* The words behind "=>", which are cut off; none without. */
static loci_str cut_implied(loci_str *text)
{
    const char *arrow = strstr(text->ptr, " => ");
    loci_str words;

    if (arrow == NULL)
        return LC_STR_NONE;
    words = loci_str_of(arrow + 4);
    text->len = (size_t)(arrow - text->ptr);
    return words;
}

static void compile_pattern(lc_cues *cues, const lc_lexicon *lexicon, const lc_cue_row *row)
{
    loci_str text = loci_str_of(row->pattern);
    pattern *p = &cues->patterns[cues->pattern_count];

    LC_ASSERT(cues->pattern_count < PATTERNS_MAX);
    *p = (pattern){.cue = row->cue,
                   .implies = cut_implied(&text),
                   .first_element = (uint16_t)cues->element_count};
    if (text.ptr[0] == '^') {
        p->is_anchored = true;
        text = (loci_str){text.ptr + 1, text.len - 1};
    }
    while (text.len > 0) {
        loci_str word = lc_str_split(text, ' ', &text);

        if (lc_str_is(word, "$"))
            p->ends_clause = true;
        else if (word.len > 0)
            compile_element(cues, lexicon, word);
    }
    p->elements = (uint16_t)(cues->element_count - p->first_element);
    index_pattern(cues, cues->pattern_count++);
}

loci_status lc_cues_new(lc_heap *heap, const lc_lexicon *lexicon, lc_cues **out, loci_error *err)
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
        compile_pattern(cues, lexicon, &rows[i]);
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
        if (cues->words[e->first_word + w] == have)
            return true;
    return false;
}

typedef struct match {
    const lc_cues *cues;
    const pattern *pattern;
    lc_terms clause;
    size_t turn;     /* Of the clause: see turn_of(). */
    lc_terms value;  /* What <v> stands for; empty when there is none. */
    lc_terms former; /* What <o> stands for. */
} match;

static bool matches(match *m, size_t element_index, size_t at);

/* A value: the shortest that what follows leaves, or the rest of the clause. */
static bool matches_value(match *m, size_t element_index, size_t at)
{
    bool is_last = element_index + 1 == (size_t)m->pattern->first_element + m->pattern->elements;
    size_t left = m->clause.count - at;
    size_t most = left < VALUE_TERMS_MAX || is_last ? left : VALUE_TERMS_MAX;

    for (size_t count = is_last ? left : 1; count > 0 && count <= most; count++) {
        if (!matches(m, element_index + 1, at + count))
            continue;
        if (m->cues->elements[element_index].is_value)
            m->value = lc_terms_part(m->clause, at, count);
        else
            m->former = lc_terms_part(m->clause, at, count);
        return true;
    }
    return false;
}

/* Do the elements from `element_index` on fit the terms from `at` on? As deep as a pattern is long.
 */
static bool matches(match *m, size_t element_index, size_t at)
{
    const element *e = &m->cues->elements[element_index];

    if (element_index == (size_t)m->pattern->first_element + m->pattern->elements)
        return !m->pattern->ends_clause || at == m->clause.count;
    if (e->is_value || e->is_former)
        return matches_value(m, element_index, at);
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

/* How many words that say nothing stand at the front: "Oh, and ...". */
static size_t fillers(lc_terms clause)
{
    size_t count = 0;

    while (count < clause.count && count < FILLERS_MAX &&
           lc_term_in(&clause.at[count], LC_WORDS_FILLERS))
        count++;
    return count;
}

/* How many words at `at` say that what follows is not meant: "..., not Oslo", "instead of Oslo". */
static size_t contrast_at(lc_terms terms, size_t at)
{
    static const struct {
        const char *first, *second;
        bool needs_mark; /* A comma or a dash in front. */
    } contrasts[] = {{"instead", "of", false},
                     {"rather", "than", false},
                     {"and", "not", false},
                     {"not", NULL, true},
                     {"no", "longer", true}};

    for (size_t i = 0; i < sizeof contrasts / sizeof *contrasts && at > 0; i++) {
        size_t count = contrasts[i].second != NULL ? 2 : 1;

        if (at + count >= terms.count ||
            (contrasts[i].needs_mark && !is_mark(terms.at[at - 1].after)))
            continue;
        if (lc_term_is(terms, at, contrasts[i].first) &&
            (count == 1 || lc_term_is(terms, at + 1, contrasts[i].second)))
            return count;
    }
    return 0;
}

/* "Friday", "the 16th" */
static bool is_amount_at(lc_terms value, size_t at)
{
    at += at + 1 < value.count && lc_term_is(value, at, "the");
    return lc_term_is_amount(value.at[at].kind);
}

/* "last night", "this week": when it came to be, not what it is. */
static bool is_when(lc_terms value, size_t at)
{
    return at + 1 < value.count && lc_term_in(&value.at[at], LC_WORDS_LAST_THIS) &&
           (value.at[at + 1].is_time_unit || lc_term_in(&value.at[at + 1], LC_WORDS_DAY_TIMES));
}

/* The value without what trails behind it: "GlobalTech for the contract" is GlobalTech. */
static lc_terms trim_value(lc_terms value)
{
    size_t first = 0, count = 0;

    if (value.count == 0)
        return value;
    while (first + 1 < value.count && (lc_term_in(&value.at[first], LC_WORDS_VALUE_LEADS) ||
                                       (is_amount_at(value, first + 1) &&
                                        lc_term_in(&value.at[first], LC_WORDS_AMOUNT_LEADS))))
        first++;
    while (first + count < value.count) {
        const lc_term *term = &value.at[first + count];
        bool is_for_the = lc_term_is(value, first + count, "for") &&
                          first + count + 1 < value.count &&
                          lc_term_in(&value.at[first + count + 1], LC_WORDS_ARTICLES);

        if (count > 0 &&
            (is_for_the || contrast_at(value, first + count) > 0 || is_when(value, first + count) ||
             lc_term_in(&value.at[first + count], LC_WORDS_VALUE_ENDS)))
            break;
        count++;
        if (term->after == ';' || term->after == '(' ||
            (is_mark(term->after) && first + count < value.count &&
             lc_term_in(&value.at[first + count], LC_WORDS_NEXT_CLAUSE)))
            break;
    }
    while (count > 1 && lc_term_in(&value.at[first + count - 1], LC_WORDS_VALUE_TAILS))
        count--;
    return lc_terms_part(value, first, count);
}

/* Where the clause turns to what follows from its first part: "..., so ...", "..., but ...". */
static size_t turn_of(lc_terms clause)
{
    for (size_t at = clause.count; at-- > 1;)
        if (clause.at[at - 1].after == ';' ||
            (is_mark(clause.at[at - 1].after) && lc_term_in(&clause.at[at], LC_WORDS_TURNS)))
            return at;
    return 0;
}

/* Behind the turn comes before what stands in front of it, then the first line of the table. */
static bool is_better(const lc_cue_set *set, const match *m, size_t order)
{
    const lc_term *turn = m->clause.at + m->turn;
    bool is_behind, was_behind;

    if ((set->bits & LC_CUE_VALUE) == 0)
        return true;
    is_behind = m->value.at >= turn;
    was_behind = set->value.at >= turn;
    return is_behind != was_behind ? is_behind : order < set->value_order;
}

static void found(lc_cue_set *set, const match *m)
{
    lc_cue cue = m->pattern->cue;

    if ((cue == LC_CUE_VALUE || cue == LC_CUE_REVERT) && m->value.count > 0) {
        size_t order = (size_t)(m->pattern - m->cues->patterns);

        if (is_better(set, m, order)) {
            set->value = trim_value(m->value);
            set->value_order = order;
            set->former = trim_value(m->former);
            set->implies = m->pattern->implies;
        }
        set->bits |= LC_CUE_VALUE;
    }
    set->bits |= (uint32_t)cue;
}

/* From the first amount at or behind `from` on, cut like a value. In "from today" the day says
 * when, not what. */
static lc_terms amount_from(lc_terms clause, size_t from)
{
    for (size_t at = from; at < clause.count; at++) {
        /* "Requirement 2: ...", "two more teams": a number of the list, and one that comes on top.
         */
        bool is_no_value = clause.at[at].kind == LC_TERM_NUMBER &&
                           (clause.at[at].after == ':' ||
                            (at + 1 < clause.count &&
                             lc_term_in(&clause.at[at + 1], LC_WORDS_MORE_OR_LESS)));

        if (lc_term_is_amount(clause.at[at].kind) && !is_no_value &&
            (at == 0 || clause.at[at].kind != LC_TERM_DATE ||
             !lc_term_in(&clause.at[at - 1], LC_WORDS_SINCE)))
            return trim_value(lc_terms_part(clause, at, clause.count - at));
    }
    return lc_terms_part(clause, 0, 0);
}

/* "Bergen, not Oslo": what is not meant, and what is when no pattern found it. */
static void find_contrast(lc_cue_set *set, lc_terms clause, size_t start)
{
    for (size_t at = start + 1; at < clause.count && set->former.count == 0; at++) {
        size_t words = contrast_at(clause, at);

        if (words == 0)
            continue;
        set->former = trim_value(lc_terms_part(clause, at + words, clause.count - at - words));
        if ((set->bits & LC_CUE_VALUE) == 0 && at - start <= CONTRAST_TERMS_MAX)
            set->value = trim_value(lc_terms_part(clause, start, at - start));
    }
}

/* "Burgundy it is.", "Monday then.": a value and hardly anything else. */
static void find_bare(lc_cue_set *set, lc_terms clause, size_t start)
{
    size_t end = clause.count;
    bool has_then = end > 0 && lc_term_is(clause, end - 1, "then");
    bool has_it_is;

    end -= has_then;
    has_it_is = end >= start + 3 && lc_term_is(clause, end - 2, "it") &&
                lc_term_is(clause, end - 1, "is");
    if (has_it_is)
        end -= 2;
    if ((!has_it_is && (!has_then || (set->bits & LC_CUE_VALUE) != 0)) || end <= start ||
        end - start > CONTRAST_TERMS_MAX || clause.at[end - 1].kind == LC_TERM_STOP)
        return;
    set->value = trim_value(lc_terms_part(clause, start, end - start));
    set->value_order = 0;
    set->bits |= LC_CUE_VALUE | LC_CUE_DECIDE | LC_CUE_REFERS;
}

/* "New title: Last Stop.": what is new stands behind the colon. */
static void find_titled(lc_cue_set *set, lc_terms clause, size_t start)
{
    if (start >= clause.count || !lc_term_in(&clause.at[start], LC_WORDS_NEW))
        return;
    for (size_t at = start + 1; at + 1 < clause.count && at < start + CONTRAST_TERMS_MAX; at++) {
        if (clause.at[at].after != ':')
            continue;
        set->value = trim_value(lc_terms_part(clause, at + 1, clause.count - at - 1));
        set->value_order = 0;
        set->bits |= LC_CUE_VALUE | LC_CUE_UPDATE;
        return;
    }
}

/* "22 is the new maximum.": what is new stands in front. */
static void find_new(lc_cue_set *set, lc_terms clause, size_t start)
{
    for (size_t at = start + 1; at + 3 < clause.count && at <= start + CONTRAST_TERMS_MAX; at++) {
        if (!lc_term_is(clause, at, "is") || !lc_term_in(&clause.at[at + 1], LC_WORDS_DEFINITE) ||
            !lc_term_is(clause, at + 2, "new"))
            continue;
        set->value = lc_terms_part(clause, start, at - start);
        set->value_order = 0;
        set->bits |= LC_CUE_VALUE | LC_CUE_UPDATE;
        return;
    }
}

/* "Ravi's taking over the migration.": who does it from here on. */
static void find_successor(lc_cue_set *set, lc_terms clause, size_t start)
{
    size_t count = 0;

    while (start + count < clause.count && (clause.at[start + count].kind == LC_TERM_NAME ||
                                            (count == 0 && clause.at[start].kind == LC_TERM_WORD &&
                                             lc_term_has_capital(clause, start))))
        count++;
    for (size_t at = start + count; count > 0 && at + 1 < clause.count && at < start + count + 3;
         at++)
        if (lc_term_in(&clause.at[at], LC_WORDS_COVER) ||
            (lc_term_in(&clause.at[at], LC_WORDS_TAKE) &&
             lc_term_in(&clause.at[at + 1], LC_WORDS_OVER))) {
            set->value = lc_terms_part(clause, start, count);
            set->value_order = 0;
            set->bits |= LC_CUE_VALUE | LC_CUE_UPDATE;
            return;
        }
}

lc_cue_set lc_cues_find(const lc_cues *cues, lc_terms clause)
{
    size_t start = fillers(clause), turn = turn_of(clause);
    lc_cue_set set = {.amount = amount_from(clause, turn)};

    if (set.amount.count == 0)
        set.amount = amount_from(clause, 0);
    for (size_t at = 0; at < clause.count; at++) {
        uint64_t keys[2] = {clause.at[at].word, clause.at[at].sense};

        for (size_t k = 0; k < 2; k++) {
            for (size_t i = cues->slots[keys[k] & (SLOTS - 1)]; i < FIRSTS_MAX;
                 i = cues->firsts[i].next) {
                const beginning *first = &cues->firsts[i];
                match m = {.cues = cues,
                           .pattern = &cues->patterns[first->pattern],
                           .clause = clause,
                           .turn = turn};

                if (first->word != keys[k] || (m.pattern->is_anchored && at != 0 && at != start))
                    continue;
                if (!matches(&m, first->element, at))
                    continue;
                if (m.pattern->cue == LC_CUE_WRONG && (set.bits & LC_CUE_WRONG) == 0)
                    set.wrong_at = at;
                if ((m.pattern->cue == LC_CUE_CANCEL && (set.bits & LC_CUE_CANCEL) == 0) ||
                    (m.pattern->cue == LC_CUE_TROUBLE && (set.bits & ENDS) == 0))
                    set.cancel_at = at;
                found(&set, &m);
            }
        }
    }
    if (turn > 0 && lc_term_is(clause, turn, "so"))
        set.bits |= LC_CUE_CONCLUDE;
    /* "The 25th is a holiday, so it is on the 24th." */
    if (turn > 0 && (set.bits & LC_CUE_VALUE) != 0 && set.value.at < clause.at + turn &&
        set.amount.at >= clause.at + turn)
        set.bits &= ~(uint32_t)LC_CUE_VALUE;
    find_contrast(&set, clause, start);
    find_bare(&set, clause, start);
    find_successor(&set, clause, start);
    find_titled(&set, clause, start);
    find_new(&set, clause, start);
    if (clause.count > 0 && clause.at[clause.count - 1].after == '?')
        set.bits |= LC_CUE_QUESTION;
    return set;
}
