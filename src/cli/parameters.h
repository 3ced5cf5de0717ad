/* parameters.h - parameters of an operation as options and words of the command line.
 *
 * The parameter user_id is the option --user-id; positional parameters may also be given as words,
 * in order. The value "-" is read from stdin, "@FILE" from a file; "@@" begins a text that starts
 * with
 * '@'. */
#ifndef LC_CLI_PARAMETERS_H
#define LC_CLI_PARAMETERS_H

#include "cli/cli.h"
#include "ops/op.h"

/* One row per parameter, in the order of lc_op_param(), ended by a NULL name; in cli->arena. NULL
 * if out of memory. */
lc_option *lc_parameters_options(lc_cli *cli, const lc_op *op);

/* Appends the arguments of the call as a JSON object. LOCI_EINVAL is wrong usage; other statuses
 * mean that a file cannot be read. */
loci_status lc_parameters_write(lc_cli *cli, const lc_op *op, const lc_arguments *arguments,
                                lc_buf *out, loci_error *err);

/* Appends "fact write KEY VALUE [--option …]". */
void lc_parameters_usage(const lc_op *op, lc_buf *out);
/* "KEY" for a parameter called key. */
void lc_parameters_word(const lc_param *param, lc_buf *out);

#endif /* LC_CLI_PARAMETERS_H */
