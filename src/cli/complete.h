/* complete.h - completion scripts made from the tables, one per shell. Appended to cli->out. */
#ifndef LC_CLI_COMPLETE_H
#define LC_CLI_COMPLETE_H

#include "cli/command.h"
#include "ops/op.h"

void lc_complete_bash(lc_cli *cli);
void lc_complete_zsh(lc_cli *cli);

/* ---- What both shells need --------------------------------------------------------------------
 */

/* The operation that a short form stands for when `verb` follows it, or NULL. */
const lc_op *lc_complete_operation(const lc_command *command, loci_str verb);
/* Whether the operation at `index` is the first of its noun. */
bool lc_complete_is_first(size_t index);
/* "a|b" as "a b". */
void lc_complete_append_choices(lc_buf *out, const char *choices);
/* "--store|--user": the options whose value is the next word, as a pattern of `case`. */
void lc_complete_append_valued(lc_buf *out);

#endif /* LC_CLI_COMPLETE_H */
