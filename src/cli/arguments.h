/* arguments.h - parses a command line into words and options.
 *
 * Options are declared as data, because help, completion and the man page are made from the same
 * rows. An option may be written --like-this or --like_this, with its value after '=' or as the
 * next argument, anywhere after its command; "--" ends the options. "-" alone and negative numbers
 * are words.
 */
#ifndef LC_CLI_ARGUMENTS_H
#define LC_CLI_ARGUMENTS_H

#include "base/arena.h"

#include <stdbool.h>

typedef struct lc_option {
    const char *name;  /* "user-id", without the dashes. NULL ends a list. */
    char letter;       /* 'f' for -f, or 0. */
    const char *value; /* Name of its value in help, "FILE"; NULL = a flag. */
    const char *help;  /* One line, no full stop. */
    bool is_negatable; /* A flag that also has a --no- form. */
} lc_option;

typedef struct lc_given {
    const lc_option *option;
    const char *value; /* NULL for a flag. */
    bool is_negated;   /* --no-flag */
} lc_given;

typedef struct lc_arguments {
    const char **words; /* In order; borrowed from argv. */
    size_t word_count;
    lc_given *given; /* In order; a repeated option is repeated here. */
    size_t given_count;
    size_t used_count; /* Arguments read: fewer than given if parsing stopped at a word. */
} lc_arguments;

/* Input of the parser. `own` options take precedence over `global` ones; either may be NULL. */
typedef struct lc_argument_line {
    char *const *items;
    size_t count;
    const lc_option *own;
    const lc_option *global;
    bool stops_at_word; /* Parse options only, up to the first word. */
} lc_argument_line;

/* LOCI_EINVAL for an unknown option (the message names the nearest one) or a missing value. */
loci_status lc_arguments_parse(lc_arena *arena, const lc_argument_line *line, lc_arguments *out,
                               loci_error *err);

/* Whether the flag was given and not negated later. */
bool lc_arguments_has(const lc_arguments *arguments, const char *option);
/* The last value given, or NULL. */
const char *lc_arguments_value(const lc_arguments *arguments, const char *option);

/* Whether the names are equal, with '-' and '_' equivalent. */
bool lc_arguments_name_is(loci_str typed, const char *name);

#endif /* LC_CLI_ARGUMENTS_H */
