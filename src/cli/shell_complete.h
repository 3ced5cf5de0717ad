/* shell_complete.h - what can follow in a line of `loci shell`: commands, nouns, verbs, options and
 * values from the tables, and keys of facts from the store. */
#ifndef LC_CLI_SHELL_COMPLETE_H
#define LC_CLI_SHELL_COMPLETE_H

#include "cli/cli.h"
#include "cli/line_edit.h"

/* Completes the last word of `before`. Keys are offered only if the store is open already
 * (cli->kept): a key press must not open it. */
void lc_shell_complete(lc_cli *cli, loci_str before, lc_completions *out);

#endif /* LC_CLI_SHELL_COMPLETE_H */
