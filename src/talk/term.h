/* term.h - a text as terms: words by their stems, amounts by their value.
 *
 * Two terms mean the same when their senses are equal: "meetings" and "meeting", "$50k" and
 * "$50,000", "Jan" and "January". Code above this layer compares senses, never spellings. Terms
 * point into the text they were read from.
 *
 * Reading is linear and bounded: the first LC_TERMS_BYTES_MAX bytes of a text, without code fences.
 * Text of other languages gives words without meaning to the rules; bytes that are not UTF-8 are
 * read one by one and never refused.
 */
#ifndef LC_TALK_TERM_H
#define LC_TALK_TERM_H

#include "base/arena.h"
#include "talk/lexicon.h"

#include <stdbool.h>
#include <stdint.h>

#define LC_TERMS_BYTES_MAX 16384

typedef enum lc_term_kind {
    LC_TERM_STOP, /* A function word: says nothing about the subject of the text. */
    LC_TERM_WORD,
    LC_TERM_NAME, /* Written like a name: GlobalTech, API, Q4, a@b.org, Denver inside a sentence. */
    LC_TERM_MONEY,
    LC_TERM_PERCENT,
    LC_TERM_NUMBER,
    LC_TERM_DATE, /* A month, a day of the week, today, 2025-06-30. */
    LC_TERM_TIME  /* 2pm, 11:00 */
} lc_term_kind;

typedef struct lc_term {
    uint8_t kind;          /* lc_term_kind */
    char after;            /* The mark that follows: one of : , - . ? ! ; ( ) = or 0. */
    bool is_quoted;        /* Inside double quotes. */
    bool is_code;          /* Inside backquotes. */
    uint32_t start, bytes; /* Where in the text. */
    uint64_t word;         /* lc_word_key() of the lower-case spelling. */
    uint64_t sense;        /* lc_sense_key(). */
    uint64_t lists;        /* Bit n: the word is in the lc_list n. */
} lc_term;

typedef struct lc_terms {
    loci_str text;
    const lc_term *at;
    size_t count;
} lc_terms;

/* The terms of `text`, in order, in the arena. */
loci_status lc_terms_read(const lc_lexicon *lexicon, lc_arena *arena, loci_str text, lc_terms *out,
                          loci_error *err);
/* The terms of a key: "office_floor" and "officeFloor" are two words. */
loci_status lc_terms_read_key(const lc_lexicon *lexicon, lc_arena *arena, loci_str key,
                              lc_terms *out, loci_error *err);

/* The terms from `first` on, `count` of them. */
lc_terms lc_terms_part(lc_terms terms, size_t first, size_t count);
/* The text that they cover, marks between them included. */
loci_str lc_terms_text(lc_terms terms);

static inline bool lc_term_in(const lc_term *term, lc_list list)
{
    return (term->lists >> list & 1) != 0;
}
bool lc_terms_have_in(lc_terms terms, lc_list list);
bool lc_terms_have_sense(lc_terms terms, uint64_t sense);
/* Is the term at `at` this lower-case word? False behind the end. */
bool lc_term_is(lc_terms terms, size_t at, const char *lower);
/* Is the first letter of the term an ASCII capital? */
bool lc_term_has_capital(lc_terms terms, size_t at);

static inline bool lc_term_is_amount(const lc_term *term)
{
    return term->kind >= LC_TERM_MONEY;
}

/* Says something: everything but a function word. */
static inline bool lc_term_is_content(const lc_term *term)
{
    return term->kind != LC_TERM_STOP;
}
size_t lc_terms_content(lc_terms terms); /* How many are. */

/* A Bloom filter of senses: texts that share no bit share no sense. */
static inline uint64_t lc_sense_bit(uint64_t sense)
{
    return UINT64_C(1) << (sense >> 58);
}
uint64_t lc_sense_bits(lc_terms terms); /* Of the content. */

#endif /* LC_TALK_TERM_H */
