/* progress.h - what an operation says on its way: a bar for people, lines for files.
 *
 * The bar is drawn on standard error when that is a terminal; otherwise --verbose gets a plain line
 * every few seconds. Lines ({"line":…}) go to standard output.
 */
#ifndef LC_CLI_PROGRESS_H
#define LC_CLI_PROGRESS_H

#include "cli/cli.h"

typedef struct lc_progress_view {
    lc_cli *cli;
    lc_buf lines;       /* Waiting to be written. */
    int64_t line_count; /* Lines received. */
    bool lines_failed;  /* They could not be written: the operation is given up. */
    int64_t drawn_us; /* When it was shown last, monotonic; in the future while it is too early. */
    bool is_drawn;    /* A bar stands on the terminal. */
} lc_progress_view;

void lc_progress_init(lc_progress_view *view, lc_cli *cli);
/* A loci_sink_fn; `ctx` is the view. Gives up after Ctrl-C. */
int lc_progress_take(void *ctx, loci_str chunk);
/* Takes the bar away and writes what is left. False when a line could not be written. */
bool lc_progress_end(lc_progress_view *view);

#endif /* LC_CLI_PROGRESS_H */
