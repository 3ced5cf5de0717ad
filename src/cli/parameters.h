/* parameters.h - the parameters of an operation as options and words of the command line.
 *
 * user_id is --user-id; parameters marked positional may also be given as words, in order. A value
 * that is "-" is read from standard input, one that begins with '@' from the file named behind it;
 * "@@" stands for a text that begins with '@'. */
#ifndef LC_CLI_PARAMETERS_H
#define LC_CLI_PARAMETERS_H

#include "cli/cli.h"
#include "ops/op.h"

/* A row for every parameter, in the order of lc_op_param(); ends with a NULL name. In the arena of
 * the run; NULL when out of memory. */
lc_option *lc_parameters_options(lc_cli *cli, const lc_op *op);

/* Appends the arguments of the call as a JSON object. LOCI_EINVAL is wrong usage; other statuses
 * mean that a file could not be read. */
loci_status lc_parameters_write(lc_cli *cli, const lc_op *op, const lc_arguments *arguments,
                                lc_buf *out, loci_error *err);

/* Appends "fact write KEY VALUE [--option …]": what is typed behind "loci". */
void lc_parameters_usage(const lc_op *op, lc_buf *out);
/* "KEY" for a parameter called key. */
void lc_parameters_word(const lc_param *param, lc_buf *out);

#endif /* LC_CLI_PARAMETERS_H */
