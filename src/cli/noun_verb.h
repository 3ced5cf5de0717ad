/* noun_verb.h - operations as commands: `loci fact write city Oslo` is fact.write. */
#ifndef LC_CLI_NOUN_VERB_H
#define LC_CLI_NOUN_VERB_H

#include "cli/cli.h"
#include "ops/op.h"

/* Whether some operation has this noun, or is called that. */
bool lc_noun_verb_is_known(loci_str word);
/* Runs what `items` say; the first is known. Returns the exit code. */
int lc_noun_verb_run(lc_cli *cli, char *const *items, size_t count);
/* Runs `op` with the words and options that follow it. */
int lc_noun_verb_run_operation(lc_cli *cli, const lc_op *op, char *const *items, size_t count);

/* The operation "noun.verb", or NULL. */
const lc_op *lc_noun_verb_find(loci_str noun, loci_str verb);
/* Its parts. */
loci_str lc_noun_of(const lc_op *op);
loci_str lc_verb_of(const lc_op *op);

#endif /* LC_CLI_NOUN_VERB_H */
