/* learn.h - what a person says about themselves in a message, to be remembered.
 *
 *     "I'm allergic to nuts, can you suggest a dessert?"     Is allergic to nuts
 *     "John is my cofounder"                                 John is my cofounder
 *     "I have to call the bank tomorrow"                     a todo with a date
 *
 * A message is read clause by clause; a clause that has one of the forms in learn_rules.c becomes a
 * lesson. A wrong memory is worse than a missing one, so a clause is skipped if it asks, supposes,
 * denies, reports, quotes, jokes or is about the past, if it is code or a pasted text, and if the
 * message asks to work on a text ("translate: I live in Rome"). A lesson's confidence comes from
 * its form; a lesson below LC_LEARN_CONFIDENCE_MIN is only proposed for review. Some clauses have
 * no form of their own ("I live in ..."): they are returned with `asks`, and the caller keeps them
 * only if memory/understood.h names an attribute.
 *
 * Reading is linear in the text and needs no transaction.
 */
#ifndef LC_TALK_LEARN_H
#define LC_TALK_LEARN_H

#include "talk/when.h"

#define LC_LESSONS_MAX 5 /* Of one message. */
#define LC_LEARN_CONFIDENCE_MIN 0.75

typedef enum lc_lesson_kind { LC_LESSON_MEMORY, LC_LESSON_TODO } lc_lesson_kind;

typedef struct lc_lesson {
    lc_lesson_kind kind;
    loci_str text;         /* A statement of its own, in the arena: "Lives in Austin". */
    loci_str quote;        /* The sentence it came from, unchanged. */
    loci_str person;       /* The person that it names: "Mia"; none = worked out. */
    const char *type;      /* profile, people or project; NULL = worked out. */
    const char *fact_type; /* fact, preference, relationship, habit; NULL = worked out. */
    int importance;        /* 0 to 3 */
    double confidence;
    bool asks;          /* Keep it only if it has a known attribute, */
    loci_str attribute; /* which the caller then knows; none = worked out again. */
    lc_terms when;      /* The clause, if it may name a date. */
} lc_lesson;

typedef struct lc_lessons {
    lc_lesson items[LC_LESSONS_MAX];
    size_t count;
} lc_lessons;

/* The lessons of a text, in its order; of more than LC_LESSONS_MAX the first. */
loci_status lc_lessons_read(lc_arena *arena, lc_terms text, lc_lessons *out, loci_error *err);

/* Whether nothing in the text can be a lesson: neither "I", "my" and the like, nor "remind". */
bool lc_lessons_are_none(lc_terms text);

#endif /* LC_TALK_LEARN_H */
