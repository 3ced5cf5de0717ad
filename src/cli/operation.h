/* operation.h - runs one operation the way people want it: opens the store, shows progress, lets
 * Ctrl-C stop it, prints the answer in words or with --json as it is, and says what went wrong. */
#ifndef LC_CLI_OPERATION_H
#define LC_CLI_OPERATION_H

#include "base/json.h"
#include "cli/cli.h"

typedef struct lc_operation {
    const char *name;
    loci_str args;    /* A JSON object. */
    bool needs_store; /* A missing store is an error, not created. */
    bool is_plain;    /* No progress and no lines: just the answer. */
} lc_operation;

/* Returns the exit code. */
int lc_operation_run(lc_cli *cli, const lc_operation *operation);
/* The same on an engine that is open; the answer is the caller's to free. */
loci_status lc_operation_call(lc_cli *cli, loci_engine *engine, const lc_operation *operation,
                              loci_answer **out, loci_error *err);
/* Prints an answer; one that follows its lines goes to standard error. */
void lc_operation_print(lc_cli *cli, const lc_operation *operation, loci_str answer);

/* Appends `args` with the user of --user in it, where the operation takes one and none is given.
 * Text that is not an object is appended as it is: the engine says what is wrong with it. */
void lc_operation_add_user(lc_cli *cli, const char *name, loci_str args, lc_buf *out);

#endif /* LC_CLI_OPERATION_H */
