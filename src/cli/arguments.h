/* arguments.h - what was typed, sorted into words and options.
 *
 * Options are declared as data, because help, completion and the man page are made from the same
 * rows. One may be written --like-this or --like_this, with its value behind '=' or as the next
 * argument, and stand anywhere behind its command; "--" ends them. "-" alone and negative numbers
 * are words.
 */
#ifndef LC_CLI_ARGUMENTS_H
#define LC_CLI_ARGUMENTS_H

#include "base/arena.h"

#include <stdbool.h>

typedef struct lc_option {
    const char *name;    /* "user-id", without the dashes. NULL ends a list. */
    char letter;         /* 'f' for -f, or 0. */
    const char *value;   /* What its value is called in help, "FILE"; NULL = a flag. */
    const char *choices; /* "a|b" or NULL. */
    const char *help;    /* One line, no full stop. */
    bool is_negatable;   /* A flag that also has its --no- form. */
} lc_option;

typedef struct lc_given {
    const lc_option *option;
    const char *value; /* NULL for a flag. */
    bool is_negated;   /* --no-flag */
} lc_given;

typedef struct lc_arguments {
    const char **words; /* In order; borrowed from argv. */
    size_t word_count;
    lc_given *given; /* In order; a repeated option is there twice. */
    size_t given_count;
    size_t used_count; /* Arguments read: fewer than there are when it stopped at a word. */
} lc_arguments;

/* What to sort, and by which options: `own` before `global`. Either may be NULL. */
typedef struct lc_argument_line {
    char *const *items;
    size_t count;
    const lc_option *own;
    const lc_option *global;
    bool stops_at_word; /* Options only: the first word is left alone. */
} lc_argument_line;

/* LOCI_EINVAL naming the option that is unknown, and the nearest one, or lacks its value. */
loci_status lc_arguments_parse(lc_arena *arena, const lc_argument_line *line, lc_arguments *out,
                               loci_error *err);

/* Whether the flag was given, and not negated after that. */
bool lc_arguments_has(const lc_arguments *arguments, const char *option);
/* The value given last, or NULL. */
const char *lc_arguments_value(const lc_arguments *arguments, const char *option);

/* Equal, with '-' and '_' taken for the same. */
bool lc_arguments_name_is(loci_str typed, const char *name);

#endif /* LC_CLI_ARGUMENTS_H */
