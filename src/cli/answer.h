/* answer.h - prints the answer of an operation in the format that was asked for.
 *
 *     -o table          for people (cli/render.h); the default
 *     -o json, --json   the answer unchanged, one line
 *     -o csv, -o tsv    rows for programs (cli/rows.h)
 *     --ids             one id per line
 */
#ifndef LC_CLI_ANSWER_H
#define LC_CLI_ANSWER_H

#include "cli/cli.h"
#include "cli/operation.h"
#include "ops/op.h"

/* Whether --output, --columns and --ids fit the operation and each other; LOCI_EINVAL says why not.
 * Before the call: a wrong command line changes nothing. */
loci_status lc_answer_check(lc_cli *cli, const lc_op *op, loci_error *err);

/* Appends the answer to cli->out; if lines were streamed to stdout, writes it to stderr instead.
 * Returns the exit code. */
int lc_answer_print(lc_cli *cli, const lc_operation *operation, loci_str answer);

#endif /* LC_CLI_ANSWER_H */
