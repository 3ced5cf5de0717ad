/* help.h - help texts, made from the tables and appended to cli->out. */
#ifndef LC_CLI_HELP_H
#define LC_CLI_HELP_H

#include "cli/cli.h"
#include "cli/command.h"
#include "ops/op.h"

void lc_help_overview(lc_cli *cli);
void lc_help_command(lc_cli *cli, const lc_command *command);
/* The operations of one noun. */
void lc_help_noun(lc_cli *cli, loci_str noun);
void lc_help_operation(lc_cli *cli, const lc_op *op);

/* Reports an unknown command, with the most similar one; returns the exit code. */
int lc_help_fail_unknown(lc_cli *cli, loci_str word);

/* `loci` without arguments. */
int lc_welcome(lc_cli *cli);

/* "-f, --follow" or "--after SEQ", as lists of options show it. */
void lc_help_append_option(const lc_option *option, lc_buf *out);

#endif /* LC_CLI_HELP_H */
