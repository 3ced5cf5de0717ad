/* lexicon.h - the word lists of the rules that read plain English, as data.
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
    /* Subjects of a text. */
    LC_WORDS_STOP,          /* Function words: say nothing about the subject. */
    LC_WORDS_DATES,         /* Months, days of the week, and days relative to now. */
    LC_WORDS_STATES,        /* The state of a thing: approved, cancelled. */
    LC_WORDS_UNITS,         /* Behind a number: what it counts or measures. */
    LC_WORDS_RELATIVE,      /* In front of a unit of time: a date. */
    LC_WORDS_CURRENCIES,    /* Behind a number: money. */
    LC_WORDS_ATTRIBUTES,    /* Things of which a person has one: name, email, deadline. */
    LC_WORDS_STATUS,        /* Words of keys whose value is a state. */
    LC_WORDS_ABBREVIATIONS, /* The point behind them ends no sentence. */
    /* How a sentence is meant. */
    LC_WORDS_SUPPOSING, /* Anywhere: supposed, not stated. */
    LC_WORDS_WISHING,   /* Wanted, not so. */
    LC_WORDS_PAST,      /* How it was. */
    LC_WORDS_DENYING,   /* Not so. */
    LC_WORDS_REPORTING, /* The words or thoughts of another person. */
    LC_WORDS_OTHERS,    /* Owners other than the speaker. */
    /* The parts of a statement. */
    LC_WORDS_FILLERS,     /* At the front: say nothing. */
    LC_WORDS_CORRECTING,  /* At the front: takes something back. */
    LC_WORDS_NEWS,        /* At the front, with a colon or comma: what follows is new. */
    LC_WORDS_NOW,         /* How it is by now. */
    LC_WORDS_OWN,         /* In front of the speaker's own things. */
    LC_WORDS_DETERMINERS, /* In front of a noun. */
    LC_WORDS_COPULAS,     /* "is": between a subject and its value. */
    LC_WORDS_AUXILIARIES, /* Between a subject and LC_WORDS_CHANGED. */
    LC_WORDS_CHANGE,      /* Imperatives that give something another value. */
    LC_WORDS_CHANGED,     /* Past forms of these. */
    LC_WORDS_CHANGING,    /* Progressive forms of these. */
    LC_WORDS_DECIDING,    /* Behind "we" or "let's": one of several is taken, */
    LC_WORDS_DECIDED,     /* or was taken. */
    LC_WORDS_PARTICLES,   /* Behind these: "moved back to". */
    LC_WORDS_PRONOUNS,    /* Point back at what was said. */
    LC_WORDS_SPEAKERS,    /* The speakers themselves: I, we. */
    LC_WORDS_TRAILERS,    /* Behind a value, and not part of it. */
    LC_WORDS_QUALIFIERS,  /* Behind a value: it is about something else, or conditional. */
    LC_WORDS_JOINTS,      /* Behind a value: another clause begins. */
    LC_WORDS_SINCE,       /* Behind a value: it is so from then on. */
    LC_WORDS_CLAUSES,     /* Behind a comma: another clause begins. */
    LC_WORDS_NEUTRAL,     /* Words of a subject that leave it what it is: "phone number". */
    LC_WORDS_SMALL,       /* Inside a value: "of", "the". */
    LC_WORDS_REPLACING,   /* In front of the value that is not so: "not", "instead of". */
    /* Words that mark lines for a summary (talk/digest.h). */
    LC_WORDS_PENDING,  /* Still to be done, or not yet decided. */
    LC_WORDS_KIN,      /* Relations to the speaker: brother, boss. */
    LC_WORDS_GLAD,     /* The speaker is content. */
    LC_WORDS_TROUBLED, /* The speaker is not content. */
    LC_WORDS_LEARNING, /* Only a text with one of these, or a speaker, has lessons. */
    /* Of talk/learn.h. */
    LC_WORDS_MATERIAL,  /* The rest of the message is a text to work on, or a role. */
    LC_WORDS_COMPOSING, /* The rest of the sentence is about a text to write. */
    LC_WORDS_JOKING,    /* The sentence is not meant seriously. */
    LC_WORDS_HEDGING,   /* The speaker is not sure. */
    LC_WORDS_CUTTING,   /* A clause ends in front of these. */
    LC_WORDS_JOINING,   /* The same, if a speaker or a question follows. */
    LC_WORDS_LIMITING,  /* The statement is true only sometimes. */
    LC_WORDS_REFUSING,  /* As LC_WORDS_DENYING, in the spelling of chats. */
    LC_WORDS_TELLING,   /* Verbs of the forms that begin with "I". */
    LC_LISTS_COUNT
} lc_list;

_Static_assert(LC_LISTS_COUNT <= 64, "the lists of a word are bits of a uint64_t");

/* A statement of the speaker about itself that implies a key: "I moved to <value>" is about a city.
 */
typedef struct lc_implication {
    const char *words; /* Behind "I" or "we"; '|' between alternatives, spaces between words. */
    const char *keys;  /* '|' between them. */
} lc_implication;
extern const lc_implication lc_implications[];
extern const size_t lc_implication_count;

/* Phrases that open and close a stretch of a conversation (talk/block.h), with '|' between them. */
extern const char lc_phrases_aside_open[], lc_phrases_aside_close[], lc_phrases_play_open[],
    lc_phrases_play_close[];

/* Lists for text that is not read into terms: words and phrases in lower case with '|' between
 * them. See talk/mark.c. */
extern const char lc_phrases_below[];     /* In front of a title: one who ranks below it. */
extern const char lc_phrases_outsiders[]; /* People without a rank, as they begin. */
/* How marks in brackets begin; a mark's word may go on ("invalid" fits INVALIDATED). */
extern const char lc_marks_withdrawn[], lc_marks_restricted[], lc_marks_excluded[],
    lc_marks_organization[], lc_marks_supposed[], lc_marks_scope[];

/* The known properties of a word. */
typedef struct lc_lexeme {
    uint64_t key;    /* 0 = a free place. */
    uint64_t lists;  /* Bit n: it is in the lc_list n. */
    uint32_t number; /* Of a number word; 0 = none. */
} lc_lexeme;

#define LC_LEXICON_PLACES 4096 /* A power of two, about twice the number of words. */

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
