/* lexicon.h - the word lists of the rules, as data; the turns of phrase are in cue_table.c.
 *
 * Each list has a name and one meaning, and rules refer to it by name. Reading a text looks every
 * word up once and stores the lists that have it as bits of its term (talk/term.h), so a rule only
 * tests a bit. Nothing here may be about a subject: no names, no products.
 */
#ifndef LC_TALK_LEXICON_H
#define LC_TALK_LEXICON_H

#include "loci.h"

#include <stdint.h>

typedef enum lc_list {
    LC_WORDS_STOP,           /* Function words: say nothing about the subject. */
    LC_WORDS_DATES,          /* Months, days of the week, and days relative to now. */
    LC_WORDS_FILLERS,        /* Say nothing at the front of a clause. */
    LC_WORDS_LAST_THIS,      /* In front of a time: when it happened, not what it is. */
    LC_WORDS_DAY_TIMES,      /* Times behind LC_WORDS_LAST_THIS. */
    LC_WORDS_VALUE_ENDS,     /* End a value. */
    LC_WORDS_VALUE_LEADS,    /* In front of a value and not part of it. */
    LC_WORDS_ARTICLES,       /* Behind "for": what the value is for. */
    LC_WORDS_AMOUNT_LEADS,   /* In front of an amount and not part of the value. */
    LC_WORDS_NEXT_CLAUSE,    /* Behind a comma: the value is over. */
    LC_WORDS_VALUE_TAILS,    /* At the end of a value and not part of it. */
    LC_WORDS_TURNS,          /* Behind a comma: what follows from the first part. */
    LC_WORDS_MORE_OR_LESS,   /* Behind a number: a difference, not a value. */
    LC_WORDS_SINCE,          /* In front of a day: when it starts or ends, not the value. */
    LC_WORDS_NEW,            /* In front of a noun and a colon: a new value follows. */
    LC_WORDS_DEFINITE,       /* Articles and owners in "... is the new maximum". */
    LC_WORDS_TAKE,           /* Verbs of a successor, with LC_WORDS_OVER behind them. */
    LC_WORDS_COVER,          /* Verbs of a successor that need nothing behind them. */
    LC_WORDS_OVER,           /* Behind LC_WORDS_TAKE. */
    LC_WORDS_TENTATIVE,      /* A value that is not final. */
    LC_WORDS_VALUE_JOINTS,   /* Between a subject and its value. */
    LC_WORDS_THIRD_PERSONS,  /* Somebody or something else, in a clause about a change. */
    LC_WORDS_STATE_VERBS,    /* Verbs between what has a value and the value. */
    LC_WORDS_ATTRIBUTES,     /* Words of keys that name a property of the word before them. */
    LC_WORDS_OTHERS,         /* In front of a value: it belongs to something else. */
    LC_WORDS_PLAIN_KEY,      /* Words of keys that do not say whose value it is. */
    LC_WORDS_WHENS,          /* Behind a plain value: when it became so. */
    LC_WORDS_WE,             /* Said of the speakers: a plan of theirs. */
    LC_WORDS_VALUE_NOUNS,    /* Nouns for something that has a value: "new target is ...". */
    LC_WORDS_IT_IS,          /* Point back to the subject. */
    LC_WORDS_ALSO,           /* Add a value to those known. */
    LC_WORDS_KEY_GENERIC,    /* Words of keys that name no subject. */
    LC_WORDS_SEGMENT_JOINTS, /* Begin the part of a clause that has the value. */
    LC_WORDS_KEY_KINDS,      /* Words of keys that name the kind of value. */
    LC_WORDS_POSSESSIVES,    /* In front of an owner. */
    LC_WORDS_CHANGES,        /* Lead from one value to another; no subject. */
    LC_WORDS_NEUTRAL,        /* Adjectives that leave a thing what it is. */
    LC_WORDS_COPULAS,        /* Verbs that say no more than "is". */
    LC_WORDS_NOT_OURS,       /* The past, denials, and what belongs to somebody else. */
    LC_WORDS_CURRENCIES,     /* Behind a number: money. */
    LC_WORDS_CLOCK,          /* Beside a number: a time of day. */
    LC_WORDS_RELATIVE,       /* In front of a unit of time: a date. */
    LC_WORDS_PER,            /* Behind a number: what it counts follows. */
    LC_WORDS_EACH,           /* Between a number and a unit of time: a rate. */
    LC_WORDS_NO,             /* Say no. */
    LC_WORDS_RULES,          /* Say what is allowed or required. */
    LC_WORDS_BINDING,        /* In front of a date: something is promised for it. */
    LC_WORDS_NOT_NOW,        /* Wished for, or happened once: not how it is. */
    LC_WORDS_SPEAKER,        /* The speaker. */
    LC_WORDS_TELLING,        /* The speaker reports what somebody else decided. */
    LC_WORDS_PART_JOINTS,    /* Begin another part of a clause. */
    LC_WORDS_EVENTS,         /* Irregular past tenses: what happened once. */
    LC_WORDS_ADDITIONS,      /* In front of an amount: it comes on top. */
    LC_WORDS_GOING_ON,       /* The message says what is done instead. */
    LC_WORDS_SAYING,         /* Behind the person who says it. */
    LC_WORDS_USES,           /* In front of the name of what is used. */
    LC_WORDS_RECOUNT,        /* Something was counted again. */
    LC_WORDS_SHOWS,          /* A clock or a display says it. */
    LC_WORDS_COUNT,          /* The lists above have whole words, those below stems. */
    LC_STEMS_STATUS = LC_WORDS_COUNT, /* The state of a thing. */
    LC_STEMS_CHOICE,                  /* One of several is taken. */
    LC_STEMS_TIME_UNITS,              /* Units of time. */
    LC_STEMS_MEASURES, /* Other units: say what a number is, not what a text is about. */
    LC_LISTS_COUNT
} lc_list;

_Static_assert(LC_LISTS_COUNT <= 64, "the lists of a word are bits of a uint64_t");

/* Lists for text that is not read into terms: words and phrases in lower case with '|' between
 * them. See talk/attribution.c. */
extern const char lc_phrases_below[];     /* In front of a title: one who ranks below it. */
extern const char lc_phrases_per[];       /* In front of the title a statement leans on. */
extern const char lc_phrases_articles[];  /* In front of a title that says something. */
extern const char lc_phrases_says[];      /* Between a title and what it says. */
extern const char lc_phrases_outsiders[]; /* People without a rank, as they begin. */
/* How marks in brackets begin; a mark's word may go on ("invalid" fits INVALIDATED). */
extern const char lc_marks_withdrawn[], lc_marks_restricted[], lc_marks_excluded[],
    lc_marks_organization[], lc_marks_supposed[], lc_marks_scope[];
extern const char lc_abbreviations[]; /* As written: the point behind them ends no sentence. */

/* What is known of a word or a stem. */
typedef struct lc_lexeme {
    uint64_t key;    /* 0 = a free place. */
    uint64_t lists;  /* Bit n: it is in the lc_list n. */
    uint32_t number; /* Of a number word; 0 = none. */
} lc_lexeme;

#define LC_LEXICON_PLACES 2048 /* A power of two, about twice the number of words. */

/* Immutable after lc_lexicon_init(): any number of threads may look words up. */
typedef struct lc_lexicon {
    lc_lexeme places[LC_LEXICON_PLACES];
} lc_lexicon;

void lc_lexicon_init(lc_lexicon *lexicon);

/* The key of a word as spelled, in lower case. */
uint64_t lc_word_key(loci_str lower);
/* The key of a meaning: `class` keeps apart what has the same form ('w' a stem, '$' money ...). */
uint64_t lc_sense_key(char class, loci_str form);
/* For an unknown key all members are 0. */
lc_lexeme lc_lexicon_find(const lc_lexicon *lexicon, uint64_t key);

#endif /* LC_TALK_LEXICON_H */
