/* command.h - the commands of the program that are not operations, as one table.
 *
 * Dispatch, help, completion and the man page are made from it. A word that is no command is the
 * noun of an operation (noun_verb.h). */
#ifndef LC_CLI_COMMAND_H
#define LC_CLI_COMMAND_H

#include "cli/cli.h"
#include "ops/op.h"

typedef struct lc_command {
    const char *name;
    const char *usage;        /* What follows the name: "OP [JSON|-]"; "" = nothing. */
    const char *help;         /* One line, no full stop. */
    const char *details;      /* Paragraphs, or NULL. */
    const lc_option *options; /* Its own; NULL = none. */
    const char *examples;     /* Lines, or NULL. */
    const char *group;        /* Heading in the list of commands. */
    const char *words;        /* What its first word may be, "list|get|set"; NULL = free. */
    size_t words_max;         /* More words are wrong usage. */
    bool has_json_errors;     /* Errors are for programs, also without --json. */
    const char *operation;    /* A short form of this operation, options and all; or NULL. */
    const char *noun;         /* A short form of this noun, its verb `list` unless said; or NULL. */
    int (*run)(lc_cli *cli, const lc_arguments *arguments); /* NULL for short forms. */
} lc_command;

/* Ends with a NULL name. */
const lc_command *lc_command_table(void);
const lc_command *lc_command_find(loci_str name);

/* Runs a short form with what follows its name. */
int lc_command_run_short(lc_cli *cli, const lc_command *command, char *const *items, size_t count);

/* Each in its own file. */
int lc_command_batch(lc_cli *cli, const lc_arguments *arguments);
int lc_command_call(lc_cli *cli, const lc_arguments *arguments);
int lc_command_completion(lc_cli *cli, const lc_arguments *arguments);
int lc_command_doctor(lc_cli *cli, const lc_arguments *arguments);
int lc_command_events(lc_cli *cli, const lc_arguments *arguments);
int lc_command_help(lc_cli *cli, const lc_arguments *arguments);
int lc_command_init(lc_cli *cli, const lc_arguments *arguments);
int lc_command_reference(lc_cli *cli, const lc_arguments *arguments);
int lc_command_migrate(lc_cli *cli, const lc_arguments *arguments);
int lc_command_serve(lc_cli *cli, const lc_arguments *arguments);

/* ---- Operations as commands ------------------------------------------------------------------ */

/* operations as commands: `loci fact write city Oslo` is fact.write. */

/* Whether some operation has this noun, or is called that. */
bool lc_noun_verb_is_known(loci_str word);
/* Runs what `items` say; the first is known. Returns the exit code. */
int lc_noun_verb_run(lc_cli *cli, char *const *items, size_t count);
/* Runs `op` with the words and options that follow it. */
int lc_noun_verb_run_operation(lc_cli *cli, const lc_op *op, char *const *items, size_t count);

/* The operation "noun.verb", or NULL. */
const lc_op *lc_noun_verb_find(loci_str noun, loci_str verb);
/* Its parts. */
loci_str lc_noun_of(const lc_op *op);
loci_str lc_verb_of(const lc_op *op);

#endif /* LC_CLI_COMMAND_H */
