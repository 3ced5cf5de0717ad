/* help.h - help for everything, from the tables. Appended to cli->out. */
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
/* Its parameters and its answer only. */
void lc_help_parameters(lc_cli *cli, const lc_op *op);

/* Two aligned columns: what to type, and what it does. `left` is copied. */
typedef struct lc_help_list lc_help_list;
lc_help_list *lc_help_list_new(lc_cli *cli);
void lc_help_list_add(lc_help_list *list, loci_str left, loci_str right);
/* Appends the list, indented, long texts broken at words. */
void lc_help_list_write(lc_help_list *list);

void lc_help_heading(lc_cli *cli, const char *text);
/* Rows for options that have a help text. */
void lc_help_options(lc_cli *cli, const lc_option *options);
/* "a TEXT; one of x, y": appended for an option that has choices. */
void lc_help_append_choices(lc_buf *out, const char *choices);

/* "did you mean …" for a word that is neither command nor noun; the usage error. */
int lc_help_fail_unknown(lc_cli *cli, loci_str word);

/* ---- loci alone ------------------------------------------------------------------------------ */

/* `loci` alone: what it is, and what to do next. */

int lc_welcome(lc_cli *cli);

#endif /* LC_CLI_HELP_H */
