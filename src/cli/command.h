/* command.h - the table of commands, and operations as commands.
 *
 * Dispatch, help, completion scripts and the man page are made from the table. A first word that is
 * not in it is the noun of an operation: `loci fact write city Oslo` runs fact.write.
 */
#ifndef LC_CLI_COMMAND_H
#define LC_CLI_COMMAND_H

#include "cli/cli.h"
#include "ops/op.h"

typedef struct lc_command {
    const char *name;
    const char *usage;        /* Arguments, for help: "OP [JSON|-]"; "" = none. */
    const char *help;         /* One line, no full stop. */
    const char *details;      /* Paragraphs, or NULL. */
    const lc_option *options; /* Its own; NULL = none. */
    const char *examples;     /* Lines, or NULL. */
    const char *group;        /* Heading in the list of commands. */
    const char *words;        /* Allowed first words, "list|get|set"; NULL = any. */
    size_t words_max;         /* Maximum number of words. */
    bool has_json_errors;     /* Errors are JSON even without --json. */
    bool never_fails;         /* Exits with 0 even after wrong usage, unless stdin is a terminal. */
    bool needs_store_itself;  /* Refused with --url. */
    const char *operation;    /* This command is short for this operation; or NULL. */
    const char
        *noun; /* Short for this noun; default: `operation` if given, else its list. Or NULL. */
    int (*run)(lc_cli *cli, const lc_arguments *arguments); /* NULL for short forms. */
} lc_command;

/* Ends with a NULL name. */
const lc_command *lc_command_table(void);
const lc_command *lc_command_find(loci_str name);

/* Runs "[global options] COMMAND …" or "[global options] NOUN VERB …"; returns the exit code. */
int lc_command_dispatch(lc_cli *cli, char *const *items, size_t count);
/* Runs a command that is short for an operation or a noun. `items` follow its name. */
int lc_command_run_short(lc_cli *cli, const lc_command *command, char *const *items, size_t count);

/* The commands. */
int lc_command_batch(lc_cli *cli, const lc_arguments *arguments);
int lc_command_chat_log(lc_cli *cli, const lc_arguments *arguments);
int lc_command_call(lc_cli *cli, const lc_arguments *arguments);
int lc_command_completion(lc_cli *cli, const lc_arguments *arguments);
int lc_command_doctor(lc_cli *cli, const lc_arguments *arguments);
int lc_command_events(lc_cli *cli, const lc_arguments *arguments);
int lc_command_frames(lc_cli *cli, const lc_arguments *arguments);
int lc_command_help(lc_cli *cli, const lc_arguments *arguments);
int lc_command_hook(lc_cli *cli, const lc_arguments *arguments);
int lc_command_init(lc_cli *cli, const lc_arguments *arguments);
int lc_command_reference(lc_cli *cli, const lc_arguments *arguments);
int lc_command_map(lc_cli *cli, const lc_arguments *arguments);
int lc_command_mcp(lc_cli *cli, const lc_arguments *arguments);
int lc_command_migrate(lc_cli *cli, const lc_arguments *arguments);
int lc_command_restore(lc_cli *cli, const lc_arguments *arguments);
int lc_command_serve(lc_cli *cli, const lc_arguments *arguments);
int lc_command_shell(lc_cli *cli, const lc_arguments *arguments);
int lc_command_top(lc_cli *cli, const lc_arguments *arguments);
int lc_command_where(lc_cli *cli, const lc_arguments *arguments);

/* ---- Operations as commands ------------------------------------------------------------------ */

/* Whether `word` is a noun or the name of an operation. */
bool lc_noun_verb_is_known(loci_str word);
/* Runs "NOUN VERB …"; the noun must be known. Returns the exit code. */
int lc_noun_verb_run(lc_cli *cli, char *const *items, size_t count);

/* The operation "noun.verb", or NULL. */
const lc_op *lc_noun_verb_find(loci_str noun, loci_str verb);
/* Its parts. */
loci_str lc_noun_of(const lc_op *op);
loci_str lc_verb_of(const lc_op *op);

#endif /* LC_CLI_COMMAND_H */
