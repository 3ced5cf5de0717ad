/* opening.h - the engine as the command line opens it: which store, whose settings, where logs go.
 */
#ifndef LC_CLI_OPENING_H
#define LC_CLI_OPENING_H

#include "cli/cli.h"
#include "server/log_queue.h"

typedef struct lc_opening {
    unsigned flags; /* LOCI_OPEN_... */
    uint64_t seed;
    loci_clock_fn *clock; /* NULL = the system's. */
    void *clock_ctx;
    lc_log_queue *log_queue; /* Where records go; NULL = to standard error, at once. */
    bool logs_all;           /* Records are wanted, not only warnings: a daemon's. */
    bool ends_on_fault;      /* A bug found ends the process: somebody starts it again. */
    bool is_silent; /* Warnings stay unsaid unless --verbose: standard error is for programs. */
} lc_opening;

/* Opens the store that the options mean. A missing one is created unless LOCI_OPEN_EXISTING, and
 * then LOCI_ENOTFOUND says how to make it. */
loci_status lc_opening_run(lc_cli *cli, const lc_opening *opening, loci_engine **out,
                           loci_error *err);

/* Writes one record as a line of JSON to the lc_log_queue `ctx`, or to standard error when that is
 * NULL; a loci_log_fn. */
void lc_opening_log(void *ctx, loci_log_level level, const char *event, loci_str fields);
/* The same of warnings and errors only. */
void lc_opening_log_warnings(void *ctx, loci_log_level level, const char *event, loci_str fields);
/* The record that stands for those that a log queue lost; a lc_log_lost_line. */
size_t lc_opening_lost_line(int64_t count, char *out, size_t bytes_max);

#endif /* LC_CLI_OPENING_H */
