/* recover.h - the words of `loci recover`; `loci restore` is in the same file. */
#ifndef LC_CLI_RECOVER_H
#define LC_CLI_RECOVER_H

#include "base/json.h"
#include "cli/cli.h"

/* Prints the answer of store.recover and what to do next; returns the exit code. */
int lc_recover_print(lc_cli *cli, const lc_json *answer);

#endif /* LC_CLI_RECOVER_H */
