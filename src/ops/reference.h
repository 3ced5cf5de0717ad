/* reference.h - the table of operations as documents: docs/reference.md and the man page loci(1).
 *
 * Both are written from the tables of operations, settings and statuses, so they cannot differ from
 * the program; a test compares docs/reference.md with the output of this module. Only the command
 * line knows the commands of the program; it passes them in. Failures stay in the buffer
 * (lc_buf_status()). The same tables give the same bytes: no date, no path.
 */
#ifndef LC_OPS_REFERENCE_H
#define LC_OPS_REFERENCE_H

#include "base/buf.h"

/* An option or a variable of the environment. */
typedef struct lc_reference_option {
    const char *usage; /* "--store STORE" or "LOCI_STORE". */
    const char *help;  /* One line, no full stop. */
} lc_reference_option;

/* A command of the program. */
typedef struct lc_reference_command {
    const char *name;                   /* "call" */
    const char *usage;                  /* Text behind "loci": "call OP [JSON|-]". */
    const char *help;                   /* One line, no full stop. */
    const lc_reference_option *options; /* Its own ones; ends with a NULL usage. NULL = none. */
} lc_reference_command;

/* The command line, as the man page shows it. */
typedef struct lc_reference_cli {
    const lc_reference_command *commands;   /* Ends with a NULL name. */
    const lc_reference_option *options;     /* Options of every command; ends with a NULL usage. */
    const lc_reference_option *environment; /* Ends with a NULL usage. NULL = none. */
} lc_reference_cli;

/* Appends docs/reference.md: operations by noun, error codes, settings. */
void lc_reference_markdown(lc_buf *out);

/* Appends the states of resources, as docs/window.md shows them. */
void lc_reference_states(lc_buf *out);

/* Appends loci.1: commands, options, environment, operations in one line each, settings, errors. */
void lc_reference_man(lc_buf *out, const lc_reference_cli *cli);

#endif /* LC_OPS_REFERENCE_H */
