/* operation.h - runs one operation for a command: opens the store or asks a daemon (link.h), shows
 * progress, stops on Ctrl-C and prints the answer, as text or with --json unchanged. */
#ifndef LC_CLI_OPERATION_H
#define LC_CLI_OPERATION_H

#include "base/json.h"
#include "cli/cli.h"
#include "cli/link.h"

typedef struct lc_operation {
    const char *name;
    loci_str args;    /* A JSON object. */
    bool needs_store; /* A missing store is an error and is not created. */
    bool is_plain;    /* Return only the answer: no progress, no lines. */
    bool reads_files; /* An error in the arguments may be an error in a file. */
    bool in_project;  /* Without a persona, act for the project of the current directory. */
} lc_operation;

/* Returns the exit code. */
int lc_operation_run(lc_cli *cli, const lc_operation *operation);
/* The same on an open link; appends the answer. */
loci_status lc_operation_call(lc_cli *cli, lc_link *link, const lc_operation *operation,
                              lc_buf *out, loci_error *err);

/* Appends `args` with the user of --user and `persona_id` (NULL = none) added, if the operation
 * takes them and they are not given. Text that is not an object is appended unchanged: the engine
 * reports the error. */
void lc_operation_add_who(lc_cli *cli, const lc_operation *operation, const char *persona_id,
                          lc_buf *out);

#endif /* LC_CLI_OPERATION_H */
