/* statement.c - one pass over a sentence, from the left: the opening words (fillers, corrections),
 * then one of the forms of statement.h.
 *
 * A form is a function that takes a position and returns whether the sentence continues this way.
 * It marks the terms that it used (subject, verb, value); how the sentence is meant is read from
 * the others, since "plan" may be a subject and "was" a part of "was moved to".
 */
#include "talk/statement.h"

#include <string.h>

#include "base/str.h"

#define SUBJECT_TERMS_MAX 5
#define VALUE_TERMS_MAX 10
#define LEADS_MAX 8
#define SKIPPED_MAX 6 /* Terms between "per" or "as of" and their comma. */

/* A clause being read. */
typedef struct parse {
    lc_terms s;
    lc_statement *out;
    size_t verb, verb_end; /* The terms of the verb. */
    size_t value_end;      /* Behind the value. */
    size_t start;          /* Behind the opening words. */
} parse;

/* Fails behind the end of the sentence. */
static bool in(const parse *p, size_t at, lc_list list)
{
    return at < p->s.count && lc_term_in(&p->s.at[at], list);
}

static bool is(const parse *p, size_t at, const char *word)
{
    return lc_term_is(p->s, at, word);
}

static char after(const parse *p, size_t at)
{
    return at < p->s.count ? p->s.at[at].after : 0;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Words in front of a value that are not part of it: "is going to be", "is on Friday". */
static size_t skip_leads(parse *p, size_t at)
{
    for (size_t left = LEADS_MAX; left > 0 && at + 1 < p->s.count && after(p, at) == 0; left--) {
        if (in(p, at, LC_WORDS_NOW))
            p->out->is_news = true;
        else if (is(p, at, "actually"))
            p->out->is_correction = true;
        else if (!in(p, at, LC_WORDS_SMALL) && !(is(p, at, "going") && is(p, at + 1, "to")) &&
                 !is(p, at, "be") && !is(p, at, "just") && !is(p, at, "still"))
            break;
        at++;
    }
    return at;
}

/* "June 9, 2026" continues behind its comma. */
static bool ends_at_comma(const parse *p, size_t at)
{
    return !(lc_term_is_amount(&p->s.at[at]) && at + 1 < p->s.count &&
             p->s.at[at + 1].kind == LC_TERM_NUMBER && p->s.at[at + 1].bytes == 4);
}

/* Takes the value at `at`; false when there is none, or when something behind it says that it is so
 * only for something, or more or less. */
static bool take_value(parse *p, size_t at)
{
    size_t first, end;

    at = skip_leads(p, at);
    first = end = at;
    while (end < p->s.count && end - first < VALUE_TERMS_MAX) {
        const lc_term *term = &p->s.at[end];

        if (in(p, end, LC_WORDS_QUALIFIERS))
            return false;
        if (end > first && (in(p, end, LC_WORDS_TRAILERS) || in(p, end, LC_WORDS_JOINTS)))
            break;
        if (!lc_term_is_content(term) && !in(p, end, LC_WORDS_SMALL) &&
            !in(p, end, LC_WORDS_RELATIVE))
            return false;
        end++;
        if (term->after == ',' ? ends_at_comma(p, end - 1) : term->after != 0)
            break;
    }
    if (end == p->s.count || p->s.at[end - 1].after != 0 || in(p, end, LC_WORDS_TRAILERS) ||
        in(p, end, LC_WORDS_JOINTS))
        p->value_end = end;
    else
        return false; /* Longer than a value is. */
    for (size_t i = end; i < p->s.count && p->s.at[i - 1].after == 0; i++)
        if (in(p, i, LC_WORDS_QUALIFIERS))
            return false;
        else if (in(p, i, LC_WORDS_NOW) || in(p, i, LC_WORDS_SINCE) ||
                 (is(p, i, "these") && is(p, i + 1, "days")))
            p->out->is_news = true;
    while (end > first && !lc_term_is_content(&p->s.at[end - 1]))
        end--;
    p->out->value = lc_terms_part(p->s, first, end - first);
    return end > first && lc_terms_content(p->out->value) > 0;
}

/* ---- Subjects -------------------------------------------------------------------------------- */

/* Takes the noun phrase at `at`: an article, then content words, and "of" between them. Returns
 * where it ends, or `at` when there is none. */
static size_t take_subject(parse *p, size_t at)
{
    size_t first = at, end;

    if (in(p, first, LC_WORDS_DETERMINERS)) {
        p->out->is_own = in(p, first, LC_WORDS_OWN);
        p->out->is_mine = is(p, first, "my");
        first++;
    }
    while (in(p, first, LC_WORDS_NOW) && !in(p, first, LC_WORDS_STOP)) { /* "our new lead" */
        p->out->is_news = true;
        first++;
    }
    for (end = first; end < p->s.count && end - first < SUBJECT_TERMS_MAX; end++) {
        bool is_link = end > first && end + 1 < p->s.count &&
                       (is(p, end, "of") || (is(p, end, "the") && is(p, end - 1, "of")));

        if (!is_link &&
            (!lc_term_is_content(&p->s.at[end]) || in(p, end, LC_WORDS_COPULAS) ||
             (end > first && in(p, end, LC_WORDS_SINCE)) || in(p, end, LC_WORDS_CHANGED)))
            break;
        if (end > first && in(p, end, LC_WORDS_PARTICLES) && is(p, end + 1, "to"))
            break; /* "push the deadline back to" */
        if (after(p, end) != 0) {
            end++;
            break;
        }
    }
    p->out->subject = lc_terms_part(p->s, first, end - first);
    return end > first ? end : at;
}

/* Does the phrase end in "'s", which may be "is"? */
static bool has_short_is(const parse *p, size_t end)
{
    const lc_term *last = &p->s.at[end - 1];

    return last->bytes > 2 && p->s.text.ptr[last->start + last->bytes - 1] == 's' &&
           (p->s.text.ptr[last->start + last->bytes - 2] == '\'' ||
            p->s.text.ptr[last->start + last->bytes - 2] == '\x99');
}

/* Behind a verb of changing: a particle ("back", "up") or "from Oslo", then "to". Returns the place
 * behind "to", or 0: "the editor cut my letter to ..." is about the letter. */
static size_t skip_to(const parse *p, size_t at)
{
    bool is_from = false;

    for (size_t i = at; i < p->s.count && i < at + SKIPPED_MAX; i++) {
        if (is(p, i, "to"))
            return i + 1;
        is_from |= is(p, i, "from");
        if (after(p, i) != 0 ||
            (!is_from && lc_term_is_content(&p->s.at[i]) && !in(p, i, LC_WORDS_PARTICLES)) ||
            (!is_from && in(p, i, LC_WORDS_DETERMINERS) && !in(p, i, LC_WORDS_PRONOUNS)))
            break;
    }
    return 0;
}

/* ---- Forms ----------------------------------------------------------------------------------- */

/* "... is now VALUE", "... has been moved to VALUE", "...: VALUE", from the verb on. */
static bool take_verb_and_value(parse *p, size_t at)
{
    size_t verb = at, to;

    p->verb = at;
    if (in(p, at, LC_WORDS_COPULAS) && !is(p, at + 1, "being") &&
        (!in(p, at + 1, LC_WORDS_CHANGED) ||
         (in(p, at + 1, LC_WORDS_STATES) && skip_to(p, at + 2) == 0))) {
        p->verb_end = at + 1;
        return take_value(p, at + 1);
    }
    if (is(p, at, "will") && is(p, at + 1, "be")) {
        p->verb_end = at + 2;
        return take_value(p, at + 2);
    }
    while (in(p, verb, LC_WORDS_AUXILIARIES) && verb < at + 4)
        verb++;
    if (!in(p, verb, LC_WORDS_CHANGED))
        return false;
    to = after(p, verb) == 0 ? skip_to(p, verb + 1) : 0;
    p->verb_end = to;
    p->out->is_news = true;
    return to > 0 && take_value(p, to);
}

static bool is_subject_form(parse *p, size_t at)
{
    size_t end = take_subject(p, at);

    if (end == at)
        return false;
    p->out->form = LC_STATES_SUBJECT;
    if (after(p, end - 1) == ':' || after(p, end - 1) == '=') {
        p->verb = p->verb_end = end;
        return take_value(p, end);
    }
    if (after(p, end - 1) != 0)
        return false;
    if (has_short_is(p, end) && in(p, end, LC_WORDS_NOW)) {
        p->verb = p->verb_end = end;
        return take_value(p, end);
    }
    return take_verb_and_value(p, end);
}

/* "Jonas is our new team lead": a name, then what it is. */
static bool is_name_form(parse *p, size_t at)
{
    size_t end = at, subject;

    while (end < p->s.count && end < at + 3 && lc_term_has_capital(p->s, end) &&
           lc_term_is_content(&p->s.at[end]) && after(p, end) == 0)
        end++;
    if (end == at || !in(p, end, LC_WORDS_COPULAS) || after(p, end) != 0)
        return false;
    p->verb = end;
    p->verb_end = end + 1;
    if (in(p, end + 1, LC_WORDS_NOW)) {
        p->out->is_news = true;
        p->verb_end++;
    }
    if (!in(p, p->verb_end, LC_WORDS_DETERMINERS))
        return false;
    subject = take_subject(p, p->verb_end);
    if (subject == p->verb_end)
        return false;
    if (subject < p->s.count && after(p, subject - 1) == 0 && !in(p, subject, LC_WORDS_TRAILERS) &&
        !in(p, subject, LC_WORDS_JOINTS))
        return false;
    p->out->form = LC_STATES_SUBJECT;
    p->out->value = lc_terms_part(p->s, at, end - at);
    p->value_end = subject;
    return true;
}

/* "it's now VALUE", "that is VALUE": only with a word that says it is new or a correction. */
static bool is_back_form(parse *p, size_t at)
{
    bool has_is = is(p, at, "it's") || is(p, at, "that's");

    if (!in(p, at, LC_WORDS_PRONOUNS))
        return false;
    p->out->form = LC_STATES_BACK;
    p->verb = at;
    if (has_is || is(p, at, "it'll")) {
        p->verb_end = at + 1;
        return take_value(p, at + 1) && (p->out->is_news || p->out->is_correction);
    }
    return take_verb_and_value(p, at + 1) && (p->out->is_news || p->out->is_correction);
}

/* From a verb of changing on: "move the deadline to VALUE", "make it VALUE", "switched to VALUE".
 */
static bool is_change_form(parse *p, size_t verb)
{
    size_t end, to;

    p->verb = verb;
    p->out->is_news = true;
    if (is(p, verb, "make") && in(p, verb + 1, LC_WORDS_PRONOUNS)) {
        p->out->form = LC_STATES_BACK;
        p->verb_end = verb + 2;
        return take_value(p, verb + 2);
    }
    if (in(p, verb + 1, LC_WORDS_PRONOUNS) || is(p, verb + 1, "to")) {
        to = skip_to(p, verb + 1);
        p->out->form = LC_STATES_BACK;
        p->verb_end = to;
        return to > 0 && take_value(p, to);
    }
    end = take_subject(p, verb + 1);
    to = end > verb + 1 && after(p, end - 1) == 0 ? skip_to(p, end) : 0;
    p->out->form = LC_STATES_SUBJECT;
    p->verb_end = verb + 1;
    return to > 0 && take_value(p, to);
}

/* Do the words of the phrase follow at `at`? Returns the place behind them, or 0. */
static size_t match_phrase(const parse *p, size_t at, loci_str phrase)
{
    while (phrase.len > 0) {
        loci_str word = lc_str_split(phrase, ' ', &phrase);

        if (at >= p->s.count || p->s.at[at].word != lc_word_key(word))
            return 0;
        at++;
    }
    return at;
}

/* Behind "I" or "we": one of the implications of the lexicon. */
static bool is_implied_form(parse *p, size_t at)
{
    for (size_t i = 0; i < lc_implication_count; i++) {
        loci_str rest = loci_str_of(lc_implications[i].words);

        while (rest.len > 0) {
            size_t end = match_phrase(p, at, lc_str_split(rest, '|', &rest));

            if (end == 0)
                continue;
            p->out->form = LC_STATES_IMPLIED;
            p->out->implication = &lc_implications[i];
            p->out->is_own = true;
            p->verb = at;
            p->verb_end = end;
            return take_value(p, end);
        }
    }
    return false;
}

/* Behind "we": "use VALUE for SUBJECT". */
static bool is_use_form(parse *p, size_t at)
{
    size_t end = at + 1;

    if (!is(p, at, "use") && !is(p, at, "using"))
        return false;
    while (end < p->s.count && end < at + 4 && lc_term_is_content(&p->s.at[end]) &&
           after(p, end) == 0)
        end++;
    if (end == at + 1 || !is(p, end, "for"))
        return false;
    p->value_end = take_subject(p, end + 1);
    if (p->value_end == end + 1 || (p->value_end < p->s.count && after(p, p->value_end - 1) == 0)) {
        p->out->subject = (lc_terms){{0}}; /* The sentence may have another form. */
        return false;
    }
    p->out->value = lc_terms_part(p->s, at + 1, end - at - 1);
    p->verb = at;
    p->verb_end = at + 1;
    p->out->form = LC_STATES_USE;
    p->out->is_own = true;
    return true;
}

/* Behind "let's", "we'll" or "we've": "go with VALUE", "settled on VALUE", "finalized the price at
 * VALUE". A purpose ("for SUBJECT") may follow; the statement points back anyway. "We take the bus"
 * is not a decision, and "let's go to Rome" does not choose one of several options. */
static bool is_decision_form(parse *p, size_t speaker, size_t verb)
{
    size_t at = verb + 1, end;
    bool is_past = in(p, verb, LC_WORDS_DECIDED);

    if (!is_past && (!in(p, verb, LC_WORDS_DECIDING) || is(p, speaker, "we") || is(p, at, "to")))
        return false;
    p->out->is_news = true;
    p->out->form = LC_STATES_BACK;
    p->verb = verb;
    while (is(p, at, "with") || is(p, at, "on") || is(p, at, "ahead") || is(p, at, "for"))
        at++;
    if (is_past && in(p, at, LC_WORDS_DETERMINERS)) {
        end = take_subject(p, at);
        if (end == at || !is(p, end, "at"))
            return false;
        p->out->form = LC_STATES_SUBJECT;
        at = end + 1;
    }
    p->verb_end = at;
    for (end = at; end < p->s.count && !is(p, end, "for"); end++)
        if (after(p, end) != 0) {
            end++;
            break;
        }
    p->s.count = end; /* "for the contract" is not a condition. */
    return take_value(p, at);
}

/* "We've moved the deadline to VALUE", "I moved to VALUE", "I meant VALUE". */
static bool is_speaker_form(parse *p, size_t at)
{
    bool is_i = is(p, at, "i") || is(p, at, "i'm");
    size_t verb = at + 1;

    if (!in(p, at, LC_WORDS_SPEAKERS))
        return false;
    while (in(p, verb, LC_WORDS_NOW) || is(p, verb, "just") || is(p, verb, "have") ||
           is(p, verb, "recently") || is(p, verb, "also") || is(p, verb, "already")) {
        p->out->is_news |= in(p, verb, LC_WORDS_NOW);
        verb++;
    }
    if (is(p, verb, "meant") || is(p, verb, "mean")) {
        p->out->form = LC_STATES_BACK;
        p->out->is_correction = true;
        p->verb = verb;
        p->verb_end = verb + 1;
        return take_value(p, verb + 1);
    }
    if (is_use_form(p, verb))
        return true;
    if (is_implied_form(p, verb) || is_implied_form(p, at + 1)) {
        p->out->is_mine = is_i || is(p, at, "i've") || is(p, at, "i'll");
        return true;
    }
    if (!is_i && is_decision_form(p, at, is(p, verb, "be") ? verb + 1 : verb))
        return true;
    if (!in(p, verb, LC_WORDS_CHANGED) && !in(p, verb, LC_WORDS_CHANGING) &&
        !(is(p, at, "let's") && in(p, verb, LC_WORDS_CHANGE)))
        return false;
    if (!is_change_form(p, verb))
        return false;
    p->verb = at; /* "They" is not some other owner here. */
    return true;
}

/* After a correction, only a value: "no wait, June 9". */
static bool is_bare_form(parse *p, size_t at)
{
    p->out->form = LC_STATES_BACK;
    p->verb = p->verb_end = at;
    return p->out->is_correction && take_value(p, at) && p->value_end == p->s.count &&
           lc_terms_content(p->out->value) <= 3;
}

/* ---- Opening words --------------------------------------------------------------------------- */

/* The place behind the comma or colon that ends an opening at `at`, or `at`. */
static size_t skip_opening(const parse *p, size_t at)
{
    for (size_t i = at; i < p->s.count && i < at + SKIPPED_MAX; i++)
        if (after(p, i) == ',' || after(p, i) == ':')
            return i + 1;
    return at;
}

static size_t skip_one_lead(parse *p, size_t at)
{
    char mark = after(p, at);

    if (is(p, at, "as") && is(p, at + 1, "of")) {
        size_t end = skip_opening(p, at + 2);

        p->out->is_news = true;
        while (end == at + 2 && end < p->s.count && p->s.at[end].kind >= LC_TERM_NUMBER)
            at = ++end - 2; /* "As of Monday the budget is ...": no comma. */
        return end;
    }
    if (is(p, at, "from") && is(p, at + 1, "now") && is(p, at + 2, "on")) {
        p->out->is_news = true;
        return at + 3;
    }
    if (is(p, at, "per") || (is(p, at, "according") && is(p, at + 1, "to"))) {
        size_t end = skip_opening(p, at + 1);

        p->out->leans_on_rank = end > at + 1;
        return end > at + 1 ? end : at;
    }
    if (is(p, at, "scratch") && in(p, at + 1, LC_WORDS_PRONOUNS)) {
        p->out->is_correction = true;
        return at + 2;
    }
    if (is(p, at, "remember") && (is(p, at + 1, "that") || mark == ':')) {
        p->out->form = LC_STATES_REMEMBER;
        return is(p, at + 1, "that") ? at + 2 : at + 1;
    }
    if (in(p, at, LC_WORDS_CORRECTING) &&
        (mark != 0 || is(p, at, "actually") || in(p, at + 1, LC_WORDS_CORRECTING))) {
        p->out->is_correction = true;
        return at + 1;
    }
    if (in(p, at, LC_WORDS_NEWS) && (mark == ':' || mark == ',' || mark == '-')) {
        p->out->is_news = true;
        return at + 1;
    }
    return in(p, at, LC_WORDS_FILLERS) ? at + 1 : at;
}

static size_t skip_front(parse *p)
{
    size_t at = 0;

    for (size_t left = LEADS_MAX; left > 0 && at < p->s.count; left--) {
        size_t next = skip_one_lead(p, at);

        if (next == at)
            break;
        at = next;
    }
    return at;
}

/* ---- How it is meant ------------------------------------------------------------------------- */

static bool is_inside(const lc_term *term, lc_terms part)
{
    return part.count > 0 && term >= part.at && term < part.at + part.count;
}

/* Is it stated, plainly, as how it is? Terms of the statement itself say nothing about that. */
static bool is_plain(const parse *p)
{
    for (size_t at = 0; at < p->s.count; at++) {
        const lc_term *term = &p->s.at[at];
        bool is_part = is_inside(term, p->out->subject) || is_inside(term, p->out->value) ||
                       (at >= p->verb && at < p->verb_end);

        if (is_part || at < p->start)
            continue;
        if (lc_term_in(term, LC_WORDS_SUPPOSING) || lc_term_in(term, LC_WORDS_REPORTING))
            return false;
        if (at < p->value_end &&
            (lc_term_in(term, LC_WORDS_WISHING) ||
             (lc_term_in(term, LC_WORDS_PAST) && !lc_term_in(term, LC_WORDS_PARTICLES)) ||
             lc_term_in(term, LC_WORDS_DENYING) || lc_term_in(term, LC_WORDS_OTHERS)))
            return false;
    }
    return !lc_terms_have_in(p->out->value, LC_WORDS_SUPPOSING) &&
           !lc_terms_have_in(p->out->value, LC_WORDS_DENYING);
}

/* Is the sentence, as a whole, a statement at all? */
static bool is_stating(lc_terms sentence)
{
    if (sentence.count > LC_STATEMENT_WORDS_MAX)
        return false;
    for (size_t at = 0; at < sentence.count; at++)
        if (sentence.at[at].after == '?' || sentence.at[at].is_quoted || sentence.at[at].is_code)
            return false;
    return true;
}

/* Reads one clause of a sentence; false when it states nothing. */
static bool read_clause(lc_terms sentence, lc_terms clause, lc_statement *out)
{
    static bool (*const forms[])(parse *, size_t) = {is_back_form, is_speaker_form, is_name_form,
                                                     is_subject_form, is_bare_form};
    bool remembers;
    lc_statement front = {.sentence = sentence};
    parse p = {.s = clause, .out = &front};
    size_t at = skip_front(&p);

    if (at >= clause.count)
        return false;
    p.start = at;
    remembers = front.form == LC_STATES_REMEMBER;
    if (in(&p, at, LC_WORDS_CHANGE) || in(&p, at, LC_WORDS_CHANGED)) {
        *out = front;
        p.out = out;
        if (is_change_form(&p, at) && is_plain(&p))
            return true;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        *out = front;
        p = (parse){.s = clause, .out = out, .start = at};
        if (forms[i](&p, at) && is_plain(&p)) {
            if (remembers && out->form == LC_STATES_SUBJECT)
                out->form = LC_STATES_REMEMBER;
            return true;
        }
    }
    return false;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static bool ends_sentence(const lc_term *term)
{
    return term->after == '.' || term->after == '?' || term->after == '!' || term->after == ';';
}

void lc_statements_read(lc_terms text, lc_statements *out)
{
    out->count = 0;
    for (size_t first = 0, end; first < text.count; first = end) {
        lc_terms sentence;
        lc_statement statement;

        for (end = first + 1; end < text.count && !ends_sentence(&text.at[end - 1]);)
            end++;
        sentence = lc_terms_part(text, first, end - first);
        for (size_t at = 0, count; at < sentence.count && is_stating(sentence); at += count) {
            lc_terms clause = lc_clause_at(sentence, at);

            count = clause.count;
            if (!read_clause(sentence, clause, &statement))
                continue;
            if (out->count == LC_STATEMENTS_MAX)
                memmove(out->items, out->items + 1, --out->count * sizeof *out->items);
            out->items[out->count++] = statement;
        }
    }
}

lc_terms lc_clause_at(lc_terms text, size_t first)
{
    size_t end = first;

    while (end < text.count) {
        const lc_term *term = &text.at[end++];

        if (ends_sentence(term))
            break;
        if (term->after == ',' && end < text.count && lc_term_in(&text.at[end], LC_WORDS_CLAUSES))
            break;
    }
    return lc_terms_part(text, first, end - first);
}
