/* learn.c - see learn.h.
 *
 * There are three passes. Message: reading stops where a text to work on begins. Line: lines that
 * are quoted, from a log or spoken by another person are skipped. Sentence: it is cut into clauses,
 * and each clause is compared with the forms; the first form that matches is used.
 */
#include "talk/learn.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "talk/learn_rule.h"

#define WORDS_MAX 32
#define WORD_BYTES_MAX 24
#define NAME_WORDS_MAX 4
#define SOME_WORDS_MAX 3
#define THING_WORDS_MAX 8
#define TASK_WORDS_MAX 12
#define JOINED_WORDS_MAX 3 /* "My wife and I ..." */
#define TAG_WORDS_MAX 2    /* "..., right?" */

static const char selves[] = "i|i'm|im|i've|ive|i'll|my|our|we|we're|we've|we'll";

/* ---- Words ----------------------------------------------------------------------------------- */

typedef struct word {
    char bytes[WORD_BYTES_MAX];
    loci_str lower; /* Apostrophes are straight. */
    size_t term;    /* Of the clause. "I'm" is two words of one term. */
    bool is_capital;
} word;

typedef struct clause {
    lc_terms sentence, terms;
    word words[WORDS_MAX];
    size_t count;
    bool is_whole;           /* It is all of its sentence. */
    bool greets;             /* A greeting was said right before it. */
    bool remembers;          /* "Remember that ..." is in front of it. */
    bool is_cut;             /* "which ..." or "who ..." was behind it. */
    bool has_if;             /* Something in it limits when it is so. */
    bool is_past, is_denied; /* It has such a word. */
    /* Of the form that fits. */
    size_t name, name_count; /* Words. */
    size_t rest;             /* Where REST, SOME or THING begins. */
} clause;

static bool is_one_of(loci_str text, const char *list)
{
    return text.len > 0 && lc_str_is_choice(text, list);
}

static loci_str spell(lc_terms terms, size_t at, char out[WORD_BYTES_MAX])
{
    loci_str raw = {terms.text.ptr + terms.at[at].start, terms.at[at].bytes};
    size_t len = 0;

    for (size_t i = 0; i < raw.len && len < WORD_BYTES_MAX; i++) {
        if (raw.len - i >= 3 && memcmp(raw.ptr + i, "\xE2\x80\x99", 3) == 0) {
            out[len++] = '\'';
            i += 2;
        } else {
            out[len++] = raw.ptr[i] >= 'A' && raw.ptr[i] <= 'Z' ? (char)(raw.ptr[i] + ('a' - 'A'))
                                                                : raw.ptr[i];
        }
    }
    return (loci_str){out, len};
}

static bool term_is_one_of(lc_terms terms, size_t at, const char *list)
{
    char bytes[WORD_BYTES_MAX];

    return at < terms.count && is_one_of(spell(terms, at, bytes), list);
}

static bool has_one_of(lc_terms terms, const char *list)
{
    for (size_t at = 0; at < terms.count; at++)
        if (term_is_one_of(terms, at, list))
            return true;
    return false;
}

static void add_word(clause *c, loci_str lower, size_t term, bool is_capital)
{
    word *to = &c->words[c->count++];

    memcpy(to->bytes, lower.ptr, lower.len);
    to->lower = (loci_str){to->bytes, lower.len};
    to->term = term;
    to->is_capital = is_capital;
}

/* False if the clause is too long to be one. */
static bool read_words(clause *c)
{
    static const struct {
        const char *from, *first, *second;
    } contractions[] = {{"i'm", "i", "am"},      {"im", "i", "am"},      {"i've", "i", "have"},
                        {"ive", "i", "have"},    {"i'll", "i", "will"},  {"we're", "we", "are"},
                        {"we've", "we", "have"}, {"we'll", "we", "will"}};

    c->count = 0;
    for (size_t at = 0; at < c->terms.count; at++) {
        char bytes[WORD_BYTES_MAX];
        loci_str lower = spell(c->terms, at, bytes);
        size_t i = 0, kinds = sizeof contractions / sizeof *contractions;

        if (c->count + 2 > WORDS_MAX)
            return false;
        while (i < kinds && !lc_str_is(lower, contractions[i].from))
            i++;
        if (i < kinds) {
            add_word(c, loci_str_of(contractions[i].first), at, false);
            add_word(c, loci_str_of(contractions[i].second), at, false);
        } else {
            add_word(c, lower, at, lc_term_has_capital(c->terms, at));
        }
    }
    /* "Tom and I are ...": the clause began before it. */
    return c->count >= 2 &&
           !(lc_str_is(c->words[0].lower, "i") && is_one_of(c->words[1].lower, "are|is|were"));
}

/* ---- Matching -------------------------------------------------------------------------------- */

/* How many words in capitals begin at `at`. */
static size_t name_words(const clause *c, size_t at)
{
    size_t count = 0;

    while (at + count < c->count && count < NAME_WORDS_MAX && c->words[at + count].is_capital) {
        const lc_term *term = &c->terms.at[c->words[at + count].term];

        if (term->kind == LC_TERM_STOP || term->kind == LC_TERM_DATE || lc_term_is_amount(term) ||
            is_one_of(c->words[at + count].lower, "ok|okay|yes|no|hi|hello|hey|please|thanks|sorry|"
                                                  "great|god|also|who|well|today|everything|lol"))
            break;
        if (term->bytes == 1 && count == 0)
            break;
        count++;
        if (term->after != 0 && !(strchr(",.", term->after) != NULL && at + count < c->count))
            break;
    }
    return count;
}

/* Whether a person may like this for long: a few words, none of which points to this talk. */
static bool is_lasting(const clause *c, size_t at)
{
    static const char no_verbs[] = "think|say|believe|know|see|imagine|point|hear|bother|admit|be|"
                                   "have|get|make|call|ask|tell|break|interrupt|disappoint|do|use|"
                                   "take|give";

    if (at >= c->count || c->count - at > THING_WORDS_MAX)
        return false;
    if (lc_str_is(c->words[at].lower, "to")) {
        if (at + 1 >= c->count || is_one_of(c->words[at + 1].lower, no_verbs))
            return false;
        at++;
    }
    if (!lc_term_is_content(&c->terms.at[c->words[at].term]))
        return false;
    for (size_t i = at; i < c->count; i++)
        if (is_one_of(c->words[i].lower, lc_learn_fleeting) ||
            (c->words[i].lower.len == 1 && c->words[i].is_capital))
            return false;
    return true;
}

/* The words up to the verb name something by itself. */
static bool is_lasting_part(const clause *c, size_t at, size_t words_max)
{
    for (size_t i = at; i < c->count && i < at + words_max; i++) {
        if (is_one_of(c->words[i].lower, "is|are"))
            return i > at;
        if (!lc_term_is_content(&c->terms.at[c->words[i].term]) ||
            is_one_of(c->words[i].lower, lc_learn_fleeting))
            return false;
    }
    return false;
}

static bool matches(clause *c, size_t at, loci_str form);

/* A token that takes between `least` and `most` words, as few as the rest of the form allows. */
static bool matches_some(clause *c, size_t at, size_t most, loci_str rest)
{
    for (size_t n = 1; n <= most && at + n <= c->count; n++)
        if (matches(c, at + n, rest)) {
            c->rest = at;
            return true;
        }
    return false;
}

static bool matches_name(clause *c, size_t at, loci_str rest)
{
    for (size_t n = name_words(c, at); n > 0; n--)
        if (matches(c, at + n, rest)) {
            c->name = at;
            c->name_count = n;
            return true;
        }
    return false;
}

static bool word_fits(const clause *c, size_t at, loci_str token)
{
    const char *list;

    if (at >= c->count)
        return false;
    if (token.ptr[0] == '@') {
        list = lc_learn_list((loci_str){token.ptr + 1, token.len - 1});
        return list != NULL && is_one_of(c->words[at].lower, list);
    }
    for (loci_str left = token; left.ptr != NULL;)
        if (lc_str_eq(lc_str_split(left, '|', &left), c->words[at].lower))
            return true;
    return false;
}

/* Whether the form, of which this is the rest, fits the clause from word `at` on. The depth is that
 * of the form, which is ours. */
static bool matches(clause *c, size_t at, loci_str form)
{
    loci_str rest, token;
    bool is_optional;

    if (form.len == 0)
        return true;
    token = lc_str_split(form, ' ', &rest);
    is_optional = token.ptr[0] == '?';
    if (is_optional)
        token = (loci_str){token.ptr + 1, token.len - 1};
    if (lc_str_is(token, "."))
        return (at == c->count || lc_str_is(c->words[at].lower, "and")) && matches(c, at, rest);
    if (lc_str_is(token, "END")) /* "I have a dog problem" is not about a dog. */
        return at >= c->count || !lc_term_is_content(&c->terms.at[c->words[at].term]) ||
               is_one_of(c->words[at].lower, lc_learn_tails);
    if (lc_str_is(token, "REST")) {
        if (at >= c->count || !matches(c, c->count, rest))
            return false;
        c->rest = at;
        return true;
    }
    if (lc_str_is(token, "THING")) {
        c->rest = at;
        return is_lasting(c, at) && matches(c, c->count, rest);
    }
    if (lc_str_is(token, "NAME")   ? matches_name(c, at, rest)
        : lc_str_is(token, "SOME") ? matches_some(c, at, SOME_WORDS_MAX, rest)
                                   : word_fits(c, at, token) && matches(c, at + 1, rest))
        return true;
    return is_optional && matches(c, at, rest);
}

/* ---- Habits ---------------------------------------------------------------------------------- */

static bool is_weekdays(loci_str lower)
{
    return lower.len > 6 && lower.ptr[lower.len - 1] == 's' &&
           is_one_of((loci_str){lower.ptr, lower.len - 1},
                     "monday|tuesday|wednesday|thursday|friday|saturday|sunday|weekend|weekday|"
                     "morning|evening|afternoon");
}

/* "every day", "on Mondays", "twice a week". */
static bool is_often(const clause *c, bool has_adverb)
{
    for (size_t i = 0; i < c->count; i++) {
        loci_str lower = c->words[i].lower;
        loci_str next = i + 1 < c->count ? c->words[i + 1].lower : LC_STR("");
        loci_str third = i + 2 < c->count ? c->words[i + 2].lower : LC_STR("");

        if (lc_str_is(lower, "every") && is_one_of(next, lc_learn_frequent))
            return true;
        if (is_weekdays(lower) && i > 0 && is_one_of(c->words[i - 1].lower, "on|and|in"))
            return true;
        if (is_one_of(lower, "times|once|twice") && is_one_of(next, "a|per|each|every") &&
            is_one_of(third, "day|week|month|year|night"))
            return true;
        if (is_one_of(lower, "daily|nightly|weekly") && i + 1 == c->count && i > 2)
            return true;
        if (has_adverb &&
            (c->terms.at[c->words[i].term].kind == LC_TERM_TIME ||
             (lc_str_is(lower, "at") && next.len > 0 && next.ptr[0] >= '0' && next.ptr[0] <= '9')))
            return true;
    }
    return false;
}

/* "I have become ..." reports an event, not a habit. */
static bool is_participle(const clause *c)
{
    loci_str next = c->rest + 1 < c->count ? c->words[c->rest + 1].lower : LC_STR("");

    return lc_str_is(c->words[c->rest].lower, "have") &&
           (is_one_of(next, "become|been|gone|seen|got|done|had|made|taken|to|come|found|given") ||
            (next.len > 4 && next.ptr[next.len - 1] == 'd' && next.ptr[next.len - 2] == 'e'));
}

static bool is_habit(const clause *c)
{
    loci_str verb = c->words[c->rest].lower;
    bool has_adverb = c->rest > 0 && is_one_of(c->words[c->rest - 1].lower,
                                               "usually|normally|typically|always|mostly|often");

    if (c->has_if || is_participle(c) || is_one_of(verb, lc_learn_no_habit) ||
        (lc_str_is(c->words[0].lower, "on") && c->rest < 2))
        return false;
    for (size_t i = 0; i < c->count; i++)
        if (is_one_of(c->words[i].lower, lc_learn_trouble) ||
            is_one_of(c->words[i].lower, "you|him|her|them|it|this|that|it's|your|she|he|they|"
                                         "here|there|myself|me"))
            return false;
    return is_often(c, has_adverb);
}

/* ---- Statements ------------------------------------------------------------------------------ */

/* Text in the making; a text that does not fit any more is dropped by the caller. */
typedef struct line {
    char *bytes;
    size_t len, room;
} line;

static void put(line *to, loci_str text)
{
    if (to->len + text.len + 1 > to->room)
        text.len = 0;
    if (text.len > 0)
        memcpy(to->bytes + to->len, text.ptr, text.len);
    to->len += text.len;
}

static void put_word(line *to, loci_str text)
{
    if (to->len > 0)
        put(to, LC_STR(" "));
    put(to, text);
}

static loci_str raw_words(const clause *c, size_t first, size_t end)
{
    size_t term = c->words[first].term;

    return lc_terms_text(lc_terms_part(c->terms, term, c->words[end - 1].term + 1 - term));
}

/* Writes the verb of "I ..." in the third person: "have" becomes "has". */
static void put_verb(line *to, loci_str verb)
{
    static const struct {
        const char *from, *to;
    } irregular[] = {{"am", "is"},        {"have", "has"},    {"don't", "doesn't"},
                     {"dont", "doesn't"}, {"can't", "can't"}, {"was", "was"},
                     {"grew", "grew"},    {"can", "can"},     {"will", "will"}};
    char last = verb.ptr[verb.len - 1], before = verb.len > 1 ? verb.ptr[verb.len - 2] : ' ';

    for (size_t i = 0; i < sizeof irregular / sizeof *irregular; i++)
        if (lc_str_is(verb, irregular[i].from)) {
            put_word(to, loci_str_of(irregular[i].to));
            return;
        }
    if (last == 'd' && before == 'e' && verb.len > 5) { /* "studied" */
        put_word(to, verb);
        return;
    }
    if (last == 'y' && strchr("aeiou", before) == NULL) {
        put_word(to, (loci_str){verb.ptr, verb.len - 1});
        put(to, LC_STR("ies"));
        return;
    }
    put_word(to, verb);
    put(to, strchr("sxzo", last) != NULL || (last == 'h' && strchr("sc", before) != NULL)
                ? LC_STR("es")
                : LC_STR("s"));
}

static bool has_first_person(const clause *c, size_t from)
{
    for (size_t i = from; i < c->count; i++)
        if (is_one_of(c->words[i].lower, "my|me|our|us|i|we|mine|myself|ourselves|you|your"))
            return true;
    return false;
}

/* "I usually wake up at 6" -> "Usually wakes up at 6"; "I really love tea" -> "Loves tea": in
 * front, "Really" would be read as a name. */
static void put_third_person(line *to, const clause *c)
{
    static const char adverbs[] = "generally|still|currently|now|usually|normally|typically|always|"
                                  "often|mostly|only|recently|finally";
    static const char stresses[] = "really|truly|absolutely|also|actually|personally|just|much|"
                                   "strongly|severely";
    size_t verb = 1;

    for (; verb + 1 < c->count; verb++) {
        if (is_one_of(c->words[verb].lower, adverbs))
            put_word(to, c->words[verb].lower);
        else if (!is_one_of(c->words[verb].lower, stresses))
            break;
    }
    if (lc_str_is(c->words[verb].lower, "am") && verb + 1 < c->count &&
        c->words[verb + 1].lower.len > 5 &&
        memcmp(c->words[verb + 1].lower.ptr + c->words[verb + 1].lower.len - 3, "ing", 3) == 0)
        verb++; /* "Working on ..." */
    else
        put_verb(to, c->words[verb++].lower);
    if (verb < c->count)
        put_word(to, raw_words(c, verb, c->count));
}

static void put_statement(line *to, const clause *c, const lc_learn_rule *rule)
{
    size_t end = c->count;

    if (rule->says != NULL && rule->says[0] != '\0') {
        loci_str after, before = lc_str_split(loci_str_of(rule->says), '$', &after);

        put(to, before);
        put(to, raw_words(c, c->name, c->name + c->name_count));
    } else if ((rule->flags & LC_LEARN_TASK) != 0 && (rule->flags & LC_LEARN_SAID) == 0) {
        put(to, raw_words(c, c->rest, end));
    } else if ((rule->flags & LC_LEARN_SAID) != 0 || !lc_str_is(c->words[0].lower, "i") ||
               has_first_person(c, 1)) {
        put(to, raw_words(c, 0, end));
    } else {
        put_third_person(to, c);
    }
    if (to->len > 0 && to->bytes[0] >= 'a' && to->bytes[0] <= 'z')
        to->bytes[0] = (char)(to->bytes[0] - ('a' - 'A'));
}

/* ---- Lessons --------------------------------------------------------------------------------- */

/* A message being read. */
typedef struct learner {
    lc_arena *arena;
    lc_lessons *out;
    loci_error *err;
} learner;

/* Whether a todo says something when it is read later. */
static bool is_task(const clause *c, const lc_learn_rule *rule, double *confidence)
{
    const word *verb = &c->words[c->rest];

    if (rule->says != NULL || (rule->flags & LC_LEARN_SAID) != 0)
        return true;
    if (c->count - c->rest < 2 || c->count - c->rest > TASK_WORDS_MAX || verb->is_capital ||
        c->is_cut || is_one_of(verb->lower, lc_learn_idle) ||
        (c->terms.at[verb->term].kind == LC_TERM_STOP && !lc_str_is(verb->lower, "go")))
        return false;
    for (size_t i = c->rest; i < c->count; i++)
        if (is_one_of(c->words[i].lower, "it|this|that|them|those|these|you|him"))
            *confidence -= 0.2;
    return *confidence > 0.5;
}

/* "today", "this week" */
static bool is_for_now(lc_terms terms)
{
    for (size_t at = 0; at < terms.count; at++)
        if (term_is_one_of(terms, at, lc_learn_moments) ||
            (term_is_one_of(terms, at, "this|right|rn") &&
             term_is_one_of(terms, at + 1,
                            "week|month|morning|evening|weekend|time|now|year|summer|"
                            "winter|spring|minute|second|semester|afternoon")))
            return true;
    return false;
}

/* Whether a clause of this form is meant as the form says. */
static bool is_meant(const clause *c, const lc_learn_rule *rule, double *confidence)
{
    lc_when when;
    const lc_moment any = {0, 0};
    unsigned flags = rule->flags;

    if ((c->is_past && (flags & LC_LEARN_PAST) == 0 && !c->remembers) ||
        (c->is_denied && (flags & LC_LEARN_DENIAL) == 0))
        return false;
    if ((flags & LC_LEARN_DATED) != 0 && !lc_when_find(c->terms, &any, &when))
        return false;
    if (((flags & LC_LEARN_ALONE) != 0 && !c->is_whole) ||
        ((flags & LC_LEARN_GREETED) != 0 && !c->greets))
        return false;
    if ((flags & LC_LEARN_OFTEN) != 0 && !is_habit(c))
        return false;
    if ((flags & (LC_LEARN_TASK | LC_LEARN_OFTEN | LC_LEARN_DATED)) == 0 && !c->remembers &&
        (c->has_if || is_for_now(c->terms)))
        return false;
    /* "... are my favorite food": the subject is a thing, not "those". */
    if (strncmp(rule->form, "SOME", 4) == 0 && !is_lasting_part(c, 0, 3))
        return false;
    if ((flags & LC_LEARN_ASKS) != 0 &&
        has_one_of(c->terms, "why|what|how|where|that|which|it|this|because|not|going"))
        return false; /* No attribute has such a value: do not even ask. */
    return (flags & LC_LEARN_TASK) == 0 || is_task(c, rule, confidence);
}

static loci_status add_lesson(learner *l, const clause *c, const lc_learn_rule *rule,
                              double confidence)
{
    lc_lesson *to = &l->out->items[l->out->count];
    line text = {.room = lc_terms_text(c->terms).len + 32};

    text.bytes = lc_arena_alloc(l->arena, text.room);
    if (text.bytes == NULL)
        return lc_fail_memory(l->err);
    put_statement(&text, c, rule);
    *to = (lc_lesson){
        .kind = (rule->flags & LC_LEARN_TASK) != 0 ? LC_LESSON_TODO : LC_LESSON_MEMORY,
        .text = {text.bytes, text.len},
        .quote = lc_terms_text(c->sentence),
        .type = rule->type,
        .fact_type = rule->fact_type,
        .importance = rule->importance,
        .confidence = confidence,
        .asks = (rule->flags & LC_LEARN_ASKS) != 0,
        .when = c->terms,
    };
    if (strstr(rule->form, "@relative NAME") != NULL && c->words[1].is_capital)
        return LOCI_OK; /* "My Uncle Antoine" is a title. */
    if (strncmp(rule->form, "NAME", 4) == 0 || strstr(rule->form, "@relative NAME") != NULL)
        to->person = raw_words(c, c->name, c->name + c->name_count);
    l->out->count++;
    return LOCI_OK;
}

/* Whether any form can fit: most sentences with "I" have a verb that no form has. */
static bool may_fit(const clause *c)
{
    if (!is_one_of(c->words[0].lower, "i|we"))
        return true;
    for (size_t i = 0; i < c->terms.count; i++)
        if (lc_term_in(&c->terms.at[i], LC_WORDS_TELLING))
            return true;
    return is_one_of(c->words[1].lower, "am|are|have|will"); /* "I'm" is one term. */
}

/* Whether the first word of the form may be that of the clause. */
static bool begins_like(const clause *c, const char *form)
{
    char first = c->words[0].lower.ptr[0];

    if (form[0] >= 'A' && form[0] <= 'Z')
        return true;
    for (bool is_start = true; *form != ' ' && *form != '\0'; form++) {
        if (is_start && (*form == first || *form == '?'))
            return true;
        is_start = *form == '|';
    }
    return false;
}

static loci_status learn_clause(learner *l, clause *c)
{
    static const lc_learn_rule remembered = {"", 0.9, LC_LEARN_SAID, NULL, NULL, NULL, 2};
    const lc_learn_rule *rule = NULL;
    double confidence = 0;

    if (l->out->count == LC_LESSONS_MAX || !read_words(c))
        return LOCI_OK;
    for (size_t i = 0; may_fit(c) && i < lc_learn_rule_count && rule == NULL; i++) {
        confidence = lc_learn_rules[i].confidence;
        if (begins_like(c, lc_learn_rules[i].form) &&
            matches(c, 0, loci_str_of(lc_learn_rules[i].form)) &&
            is_meant(c, &lc_learn_rules[i], &confidence))
            rule = &lc_learn_rules[i];
    }
    /* The speaker asked to remember it, whatever it is. */
    if (c->remembers && !c->is_denied && (rule == NULL || (rule->flags & LC_LEARN_ASKS) != 0) &&
        c->count >= 3 && is_one_of(c->words[0].lower, "i|my|our|we")) {
        rule = &remembered;
        confidence = rule->confidence;
    }
    return rule != NULL ? add_lesson(l, c, rule, confidence) : LOCI_OK;
}

/* ---- Clauses --------------------------------------------------------------------------------- */

/* Does a list go on behind the comma at `at`: short parts, and "and" in front of the last? */
static bool is_list(lc_terms s, size_t at)
{
    size_t words = 0;

    for (size_t i = at + 1; i < s.count; i++) {
        if (lc_term_is(s, i, "and"))
            return i + 1 < s.count && i > at + 1 && lc_term_is_content(&s.at[i + 1]);
        if (!lc_term_is_content(&s.at[i]) || ++words > 2)
            return false;
        if (s.at[i].after == ',')
            words = 0;
        else if (s.at[i].after != 0)
            return false;
    }
    return false;
}

/* Is only the last part of a list behind the comma at `at`: "..., and sunflowers"? */
static bool is_last_part(lc_terms s, size_t at)
{
    size_t end = at + 2;

    while (end < s.count && end < at + 5 && lc_term_is_content(&s.at[end]) && s.at[end].after == 0)
        end++;
    return lc_term_is(s, at + 1, "and") && end < s.count && lc_term_is_content(&s.at[end]) &&
           end + 1 == s.count;
}

/* Whether the comma behind `at` is part of a place or date: "Austin, Texas", "June 3, 2026". */
static bool is_joined(lc_terms s, size_t at)
{
    const lc_term *next = &s.at[at + 1];

    if (lc_term_is_amount(&s.at[at]) && next->kind == LC_TERM_NUMBER && next->bytes == 4)
        return true;
    return lc_term_has_capital(s, at) && next->kind == LC_TERM_NAME &&
           lc_term_has_capital(s, at + 1) && !term_is_one_of(s, at + 1, selves) &&
           (at + 2 >= s.count || next->after != 0);
}

/* The mark behind a term that divides: a hyphen inside a number, "555-0134", does not. */
static char mark_behind(lc_terms s, size_t at)
{
    size_t end = s.at[at].start + s.at[at].bytes;

    return s.at[at].after == '-' && at + 1 < s.count && s.at[at + 1].start == end + 1
               ? 0
               : s.at[at].after;
}

/* Where the clause that begins at `first` ends; `*next` gets where to read on. */
static size_t end_clause(lc_terms s, size_t first, size_t *next)
{
    bool in_list = false;

    for (size_t at = first; at < s.count; at++) {
        char mark = mark_behind(s, at);
        bool is_and = lc_term_in(&s.at[at], LC_WORDS_JOINING);

        if (at > first &&
            ((lc_term_in(&s.at[at], LC_WORDS_CUTTING) && !lc_term_has_capital(s, at)) ||
             (is_and && (term_is_one_of(s, at + 1, selves) ||
                         term_is_one_of(s, at + 1, lc_learn_questions))))) {
            *next = at + 1;
            return at;
        }
        if (at + 1 < s.count && mark == ',' && (is_joined(s, at) || is_list(s, at))) {
            in_list = true;
            continue;
        }
        if (in_list && at + 1 < s.count && mark == ',' && is_last_part(s, at))
            continue;
        if (mark != 0 && !(mark == '.' && at + 1 < s.count)) {
            *next = at + 1;
            return at + 1;
        }
    }
    *next = s.count;
    return s.count;
}

/* Skips the introductory words of a clause: "anyway", "remember that". */
static size_t skip_front(clause *c, lc_terms s, size_t at, size_t end)
{
    static const char fronts[] =
        "honestly|anyway|anyways|actually|basically|yep|context|background|"
        "also|btw|well|fyi|and|but|so|because|ps|reminder|yes|yeah|oh|ok|"
        "okay|hmm|um|just|however|still|plus|since|as|please|sure|right|hi|hello|hey|"
        "there";

    while (at < end) {
        if (term_is_one_of(s, at, "don't|dont") && lc_term_is(s, at + 1, "forget") &&
            !lc_term_is(s, at + 2, "to")) {
            at += 2;
            at += lc_term_is(s, at, "that");
            continue;
        }
        if (lc_term_is(s, at, "remember") || lc_term_is(s, at, "note")) {
            size_t to = at + 1;

            to += lc_term_is(s, to, "that");
            if (to > at + 1 || s.at[at].after == ':') {
                c->remembers = lc_term_is(s, at, "remember");
                at = to;
                continue;
            }
        }
        c->greets |= term_is_one_of(s, at, "hi|hello|hey");
        if (!term_is_one_of(s, at, fronts) || at + 1 >= end)
            break;
        at++;
    }
    return at;
}

/* How the clause is meant, from its words. False = nothing can be learned from it. */
static bool judge_clause(clause *c, size_t from, size_t end)
{
    lc_terms s = c->sentence;

    c->is_past = c->is_denied = c->has_if = false;
    for (size_t at = from; at < end; at++) {
        const lc_term *term = &s.at[at];

        if (lc_term_in(term, LC_WORDS_SUPPOSING) && !lc_term_is(s, at, "usually") &&
            !lc_term_is(s, at, "sometimes"))
            return false;
        if (lc_term_in(term, LC_WORDS_REPORTING))
            return false;
        c->is_denied |= lc_term_in(term, LC_WORDS_DENYING) || lc_term_in(term, LC_WORDS_REFUSING);
        c->is_past |= lc_term_in(term, LC_WORDS_PAST) && !lc_term_is(s, at, "before") &&
                      !lc_term_is(s, at, "back") && !lc_term_is(s, at, "last") &&
                      !(lc_term_is(s, at, "once") && term_is_one_of(s, at + 1, "a|per|every"));
        c->has_if |= lc_term_in(term, LC_WORDS_LIMITING);
    }
    return true;
}

static loci_status learn_sentence(learner *l, lc_terms s, bool greets)
{
    bool asks = s.count > 0 && s.at[s.count - 1].after == '?';
    loci_status status = LOCI_OK;

    for (size_t first = 0, next = 0; first < s.count && status == LOCI_OK; first = next) {
        size_t end = end_clause(s, first, &next), from;
        clause c = {.sentence = s};

        if (lc_terms_have_in(lc_terms_part(s, first, end - first), LC_WORDS_COMPOSING))
            break; /* The rest of the sentence is about a text to write. */
        if (term_is_one_of(s, first, "if|suppose|imagine|unless|whether|say"))
            break;
        if (next > end && lc_term_is(s, end, "and") && lc_term_is(s, next, "i") &&
            end - first <= JOINED_WORDS_MAX && !term_is_one_of(s, first, "i|i'm|im|we|we're|i've"))
            break; /* "My wife and I ..." */
        c.is_cut = end < s.count && next > end && term_is_one_of(s, end, "which|who|whereas");
        if (next == end && next < s.count && term_is_one_of(s, next, lc_learn_turns))
            continue;
        if (asks && (next >= s.count || s.count - end <= TAG_WORDS_MAX))
            break;
        from = skip_front(&c, s, first, end);
        if (end > from && (s.at[end - 1].after == ':' || s.at[end - 1].after == '=') &&
            !has_one_of(lc_terms_part(s, first, end - first), lc_learn_labels))
            break;
        if (end == from + 1 && term_is_one_of(s, from, "hi|hello|hey|there")) {
            greets = true;
            continue;
        }
        if (end <= from || !judge_clause(&c, from, end))
            continue;
        c.greets |= greets;
        greets = false;
        c.is_whole = first == 0 && end == s.count;
        if (end > from + 2 && lc_term_is(s, end - 1, "too"))
            end--; /* "I love tea, too" */
        c.terms = lc_terms_part(s, from, end - from);
        status = learn_clause(l, &c);
    }
    return status;
}

/* ---- Relations ------------------------------------------------------------------------------- */

/* A verb with two objects: in "I read my son Harry Potter" the name is not the son's. */
static const char givers[] =
    "ask|asked|bring|brought|buy|bought|call|called|cook|cooked|find|found|gave|get|give|gives|"
    "giving|got|lend|lent|made|make|name|named|offer|offered|order|ordered|owe|pay|play|read|"
    "reading|remind|send|sent|show|showed|showing|sing|sold|taught|teach|teaching|tell|told|"
    "wish|wished|write|feed|fed|getting|buying|making|bringing|watch|watched";

/* Beside LC_WORDS_KIN. */
static const char others[] =
    "cat|client|dog|horse|kitten|partner|puppy|spouse|stepdaughter|stepson";

/* The words of a name without the "'s" of "my sister Anna's flat". */
static loci_str plain_name(loci_str name)
{
    if (name.len > 2 && memcmp(name.ptr + name.len - 2, "'s", 2) == 0)
        name.len -= 2;
    else if (name.len > 4 && memcmp(name.ptr + name.len - 4, "\xE2\x80\x99s", 4) == 0)
        name.len -= 4;
    return name;
}

static bool is_known_person(const lc_lessons *lessons, loci_str name)
{
    for (size_t i = 0; i < lessons->count; i++)
        if (lc_str_eq(lessons->items[i].person, name))
            return true;
    return false;
}

/* "... my sister Anna ..." states who Anna is, also in a question, a denial or the past. */
static loci_status learn_relations(learner *l, lc_terms s)
{
    clause c = {.sentence = s, .terms = s};

    if (!has_one_of(s, "my|our") || lc_terms_have_in(s, LC_WORDS_COMPOSING) || !read_words(&c))
        return LOCI_OK;
    for (size_t at = 0; at + 2 < c.count && l->out->count < LC_LESSONS_MAX; at++) {
        const lc_term *role = &s.at[c.words[at + 1].term];
        size_t names = name_words(&c, at + 2);
        lc_lesson *to = &l->out->items[l->out->count];
        line text = {.room = lc_terms_text(s).len + 8};
        loci_str name;

        if (!is_one_of(c.words[at].lower, "my|our") || c.words[at + 1].is_capital ||
            !(lc_term_in(role, LC_WORDS_KIN) || is_one_of(c.words[at + 1].lower, others)) ||
            role->after != 0 || names == 0 || names > 2 ||
            (at > 0 && is_one_of(c.words[at - 1].lower, givers)))
            continue;
        name = plain_name(raw_words(&c, at + 2, at + 2 + names));
        if (is_known_person(l->out, name))
            continue;
        text.bytes = lc_arena_alloc(l->arena, text.room);
        if (text.bytes == NULL)
            return lc_fail_memory(l->err);
        put(&text, name);
        put(&text, LC_STR(" is "));
        put(&text, c.words[at].lower);
        put_word(&text, c.words[at + 1].lower);
        *to = (lc_lesson){.kind = LC_LESSON_MEMORY,
                          .text = {text.bytes, text.len},
                          .quote = lc_terms_text(s),
                          .person = name,
                          .type = "people",
                          .fact_type = "relationship",
                          .importance = 2,
                          /* At the end it may be the person spoken to: "... my son Tom" */
                          .confidence = at + 2 + names < c.count ? 0.85 : 0.7};
        l->out->count++;
    }
    return LOCI_OK;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static size_t line_start(loci_str text, size_t at)
{
    while (at > 0 && text.ptr[at - 1] != '\n')
        at--;
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t'))
        at++;
    return at;
}

/* Quoted mail, logs, tables, actions of a role, comments of a program. */
static bool is_line_of_others(loci_str text, size_t start)
{
    char first = text.ptr[line_start(text, start)];

    return strchr(">|*[#$/<{}@%;", first) != NULL;
}

/* Whether the line begins with a capitalized word and a colon: another person speaks. */
static bool is_spoken_line(lc_terms text, size_t first)
{
    size_t at = first;

    while (at > 0 && line_start(text.text, text.at[at - 1].start) ==
                         line_start(text.text, text.at[first].start))
        at--;
    for (size_t i = at; i < first + 3 && i < text.count && i < at + 3; i++)
        if (text.at[i].after == ':' || text.at[i].after == '=')
            return !has_one_of(lc_terms_part(text, at, i + 1 - at), lc_learn_labels) &&
                   !term_is_one_of(text, i, "is|are");
    return false;
}

/* Does a sentence end at term `at`? The point of an initial, "Ursula K. Le Guin", ends none. */
static bool ends_sentence(lc_terms text, size_t at)
{
    const lc_term *term = &text.at[at];

    if (term->after == '.' && term->bytes == 1 && lc_term_has_capital(text, at) &&
        !lc_term_is(text, at, "i") && at + 1 < text.count && lc_term_has_capital(text, at + 1) &&
        text.at[at + 1].start == term->start + 3)
        return false;
    if (term->after == ')') { /* "... (in Leeds). I ..." */
        size_t end = term->start + term->bytes;

        return end + 1 < text.text.len && text.text.ptr[end] == ')' &&
               strchr(".!?", text.text.ptr[end + 1]) != NULL && text.text.ptr[end + 1] != '\0';
    }
    return term->after == '.' || term->after == '?' || term->after == '!' || term->after == ';';
}

/* Is it said in earnest, in the speaker's own words? */
static bool is_earnest(lc_terms s)
{
    static const char *const laughs[] = {"\xF0\x9F\x98\x82", "\xF0\x9F\xA4\xA3",
                                         "\xF0\x9F\x98\x86", "\xF0\x9F\x98\x9C",
                                         "\xF0\x9F\xA4\xAA", "\xF0\x9F\x99\x83"};
    const lc_term *last = &s.at[s.count - 1];
    size_t end = last->start + last->bytes, start = s.at[0].start;
    loci_str with = {s.text.ptr + start, (end + 8 < s.text.len ? end + 8 : s.text.len) - start};

    if (term_is_one_of(s, 0, "yeah|oh|sure|yea|yes|ah") &&
        term_is_one_of(s, 1, "right|great|sure|and|totally|wow"))
        return false; /* "Yeah right, I'm a genius." */
    for (size_t at = 0; at < s.count; at++)
        if (s.at[at].is_quoted || s.at[at].is_code)
            return false;
    for (size_t i = 0; i < sizeof laughs / sizeof *laughs; i++)
        if (memmem(with.ptr, with.len, laughs[i], strlen(laughs[i])) != NULL)
            return false;
    return !lc_terms_have_in(s, LC_WORDS_JOKING) && !lc_terms_have_in(s, LC_WORDS_HEDGING);
}

bool lc_lessons_are_none(lc_terms text)
{
    for (size_t at = 0; at < text.count; at++)
        if (lc_term_in(&text.at[at], LC_WORDS_SPEAKERS) ||
            lc_term_in(&text.at[at], LC_WORDS_LEARNING))
            return false;
    return true;
}

loci_status lc_lessons_read(lc_arena *arena, lc_terms text, lc_lessons *out, loci_error *err)
{
    learner l = {arena, out, err};
    loci_status status = LOCI_OK;
    bool greets = false;

    out->count = 0;
    if (lc_lessons_are_none(text))
        return LOCI_OK;
    for (size_t first = 0, end; first < text.count && status == LOCI_OK; first = end) {
        lc_terms s;

        for (end = first + 1; end < text.count && !ends_sentence(text, end - 1);)
            end++;
        s = lc_terms_part(text, first, end - first);
        if (lc_terms_have_in(s, LC_WORDS_MATERIAL))
            break;
        if (is_line_of_others(text.text, text.at[first].start) || is_spoken_line(text, first) ||
            !is_earnest(s))
            continue;
        status = learn_sentence(&l, s, greets);
        if (status == LOCI_OK)
            status = learn_relations(&l, s);
        greets = s.count <= 3 && term_is_one_of(s, 0, "hi|hello|hey");
    }
    return status;
}
