/* term.h - a text as terms: words by their stems, amounts by what they are worth.
 *
 * Two terms mean the same when their senses are equal: "meetings" and "meeting", "$50k" and
 * "$50,000", "Jan" and "January". Everything above compares senses and never spells. Terms point
 * into the text they were read from.
 */
#ifndef LC_TALK_TERM_H
#define LC_TALK_TERM_H

#include "base/arena.h"

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

typedef struct lc_term {
    lc_term_kind kind;
    uint32_t value;        /* Kinds of values, lc_value_kind; a number alone has none. */
    bool is_time_unit;     /* Day, week ... */
    uint32_t start, bytes; /* Where in the text. */
    uint64_t word;         /* Of the lower-case spelling. */
    uint64_t sense;
    char after; /* The mark that follows: one of : , - . ? ! ; ( ) or 0. */
} lc_term;

typedef struct lc_terms {
    loci_str text;
    const lc_term *at;
    size_t count;
} lc_terms;

/* The terms of `text`, in order. Text that is not UTF-8 is read byte by byte, never refused. */
loci_status lc_terms_read(lc_arena *arena, loci_str text, lc_terms *out, loci_error *err);

/* The terms from `first` on, `count` of them. */
lc_terms lc_terms_part(lc_terms terms, size_t first, size_t count);
/* The text that they cover, marks between them included. */
loci_str lc_terms_text(lc_terms terms);

/* A time of day as minutes, for "11:30", "2pm" and "2:15pm"; -1 for one in words. */
int lc_term_minutes(lc_terms terms, size_t at);

/* What a lower-case word hashes to, as `word` has it. */
uint64_t lc_term_word(loci_str lower);

static inline bool lc_term_is_amount(lc_term_kind kind)
{
    return kind >= LC_TERM_MONEY;
}

/* Says something: everything but a function word. */
static inline bool lc_term_is_content(lc_term_kind kind)
{
    return kind != LC_TERM_STOP;
}

#endif /* LC_TALK_TERM_H */
