/* opening.h - the engine as the command line opens it: which store, whose settings, where logs go.
 */
#ifndef LC_CLI_OPENING_H
#define LC_CLI_OPENING_H

#include "cli/cli.h"

typedef struct lc_opening {
    unsigned flags; /* LOCI_OPEN_... */
    uint64_t seed;
    loci_clock_fn *clock; /* NULL = the system's. */
    void *clock_ctx;
    bool is_silent; /* Warnings stay unsaid unless --verbose: standard error is for programs. */
} lc_opening;

/* Opens the store that the options mean. A missing one is created unless LOCI_OPEN_EXISTING, and
 * then LOCI_ENOTFOUND says how to make it. */
loci_status lc_opening_run(lc_cli *cli, const lc_opening *opening, loci_engine **out,
                           loci_error *err);

#endif /* LC_CLI_OPENING_H */
