/* term.h - a text as terms: words by their stems, amounts by what they are worth.
 *
 * Two terms mean the same when their senses are equal: "meetings" and "meeting", "$50k" and
 * "$50,000", "Jan" and "January". Everything above compares senses and never spells. Terms point
 * into the text they were read from.
 */
#ifndef LC_TALK_TERM_H
#define LC_TALK_TERM_H

#include "base/arena.h"
#include "talk/lexicon.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum lc_term_kind {
    LC_TERM_STOP, /* A function word: says nothing about what the text is about. */
    LC_TERM_WORD,
    LC_TERM_NAME, /* Written like a name: GlobalTech, API, Q4, Denver inside a sentence. */
    LC_TERM_MONEY,
    LC_TERM_PERCENT,
    LC_TERM_NUMBER,
    LC_TERM_DATE, /* A month, a day of the week, today, tomorrow. */
    LC_TERM_TIME  /* 2pm, 11:00 */
} lc_term_kind;

/* What kinds of values there are; two of one kind can contradict each other. */
typedef enum lc_value_kind {
    LC_VALUE_MONEY = 1 << 0,
    LC_VALUE_PERCENT = 1 << 1,
    LC_VALUE_WHEN = 1 << 2,   /* A date, a time, a length of time. */
    LC_VALUE_STATUS = 1 << 3, /* Approved, cancelled, delayed ... */
    LC_VALUE_CHOICE = 1 << 4  /* Use this; that instead. */
} lc_value_kind;

/* Small, since many are kept (talk/reading.h). */
typedef struct lc_term {
    uint8_t kind;          /* lc_term_kind */
    uint8_t value;         /* Kinds of values, lc_value_kind; a number alone has none. */
    bool is_time_unit : 1; /* Day, week ... */
    bool is_measure : 1;   /* Euro, kilo ...: says what a number is, not what a text is about. */
    char after;            /* The mark that follows: one of : , - . ? ! ; ( ) or 0. */
    uint32_t start, bytes; /* Where in the text. */
    uint32_t repeats;      /* How many terms back its sense was before; 0 = it is the first. */
    uint64_t word;         /* lc_word_key() of the lower-case spelling. */
    uint64_t sense;        /* lc_sense_key(). */
    uint64_t lists;        /* Bit n: the word is in the lc_list n. */
} lc_term;

typedef struct lc_terms {
    loci_str text;
    const lc_term *at;
    size_t count;
} lc_terms;

/* The terms of `text`, in order. Text that is not UTF-8 is read byte by byte, never refused. */
loci_status lc_terms_read(const lc_lexicon *lexicon, lc_arena *arena, loci_str text, lc_terms *out,
                          loci_error *err);
/* Fills `kind`, `value`, `word`, `sense` and `lists` of `out` from one spelling. */
void lc_term_set_sense(const lc_lexicon *lexicon, loci_str spelled, bool is_amount, bool is_name,
                       lc_term *out);

/* The terms from `first` on, `count` of them. */
lc_terms lc_terms_part(lc_terms terms, size_t first, size_t count);
/* The text that they cover, marks between them included. */
loci_str lc_terms_text(lc_terms terms);

/* Is the first letter of the term at `at` an ASCII capital? */
bool lc_term_has_capital(lc_terms terms, size_t at);
/* Does `text` begin with `start`, but for ASCII case? False for two empty texts. */
bool lc_text_begins(loci_str text, loci_str start);

/* A time of day as minutes, for "11:30", "2pm" and "2:15pm"; -1 for one in words. */
int lc_term_minutes(lc_terms terms, size_t at);

static inline bool lc_term_in(const lc_term *term, lc_list list)
{
    return (term->lists >> list & 1) != 0;
}
/* Is one of the terms in the list? */
bool lc_terms_have_in(lc_terms terms, lc_list list);

/* Is the term at `at` this lower-case word? */
bool lc_term_is(lc_terms terms, size_t at, const char *lower);
/* Is one of the terms this lower-case word? */
bool lc_terms_have_word(lc_terms terms, const char *lower);

static inline bool lc_term_is_amount(lc_term_kind kind)
{
    return kind >= LC_TERM_MONEY;
}

/* Says something: everything but a function word. */
static inline bool lc_term_is_content(lc_term_kind kind)
{
    return kind != LC_TERM_STOP;
}
size_t lc_terms_content(lc_terms terms); /* How many are. */

/* What a text can be about: a word or a name, no unit. */
static inline bool lc_term_is_topic(const lc_term *term)
{
    return (term->kind == LC_TERM_WORD || term->kind == LC_TERM_NAME) && !term->is_measure;
}

#endif /* LC_TALK_TERM_H */
