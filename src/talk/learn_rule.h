/* learn_rule.h - the forms of sentences that lessons are learned from, as data.
 *
 * A form is matched against a clause from its first word:
 *
 *     love|enjoy      one of these words; "I'm" is "i am", "I've" is "i have"
 *     ?really|also    one of these words, or nothing
 *     @pet            one of the words of a list in learn_rules.c
 *     NAME            one to four words in capitals
 *     THING           what a person may like for long: up to the end of the clause
 *     SOME            one to three words
 *     REST            one word or more, up to the end of the clause
 *     END             the end of a noun: no other noun follows
 *     .               the end of the clause
 *
 * Without a "." at its end a form leaves open what follows it.
 */
#ifndef LC_TALK_LEARN_RULE_H
#define LC_TALK_LEARN_RULE_H

#include "talk/learn.h"

/* lc_learn_rule.flags */
#define LC_LEARN_PAST 1u      /* The form itself speaks of the past: "was born in". */
#define LC_LEARN_DATED 2u     /* Needs a date that can be resolved. */
#define LC_LEARN_ALONE 4u     /* The clause must be the whole sentence. */
#define LC_LEARN_SAID 8u      /* In the person's own words. */
#define LC_LEARN_TASK 16u     /* A todo: its text is what REST matched. */
#define LC_LEARN_DENIAL 32u   /* The form itself denies: "can't stand". */
#define LC_LEARN_OFTEN 64u    /* Needs "every day", "on Mondays", "twice a week" or the like. */
#define LC_LEARN_LIST 128u    /* Goes on behind commas: "jazz, blues and soul". */
#define LC_LEARN_ASKS 256u    /* See lc_lesson.asks. */
#define LC_LEARN_GREETED 512u /* Only behind a greeting: "Hi, I'm Ana". */

typedef struct lc_learn_rule {
    const char *form;
    double confidence;
    unsigned flags;
    const char *type, *fact_type; /* NULL = worked out. */
    const char *says; /* The statement, "$" = what NAME matched; NULL = made from the clause. */
    int importance;
} lc_learn_rule;

extern const lc_learn_rule lc_learn_rules[];
extern const size_t lc_learn_rule_count;

/* The words "a|b|c" of a list; NULL = there is none of that name. */
const char *lc_learn_list(loci_str name);

/* Words that end the reading of a message or sentence, see learn.c. */
extern const char lc_learn_labels[], lc_learn_trouble[], lc_learn_moments[], lc_learn_fleeting[],
    lc_learn_questions[], lc_learn_frequent[], lc_learn_idle[], lc_learn_no_habit[],
    lc_learn_tails[], lc_learn_turns[];

#endif /* LC_TALK_LEARN_RULE_H */
