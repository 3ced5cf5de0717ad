/* live_view.h - a drawing of the state of a user or process, printed once or drawn again whenever
 * events change it (--watch) or time passes, from the store or through a daemon alike.
 *
 * On a terminal --watch uses the alternate screen, which leaves the lines above the command as they
 * were; else it prints one drawing after the other. It ends with Ctrl-C.
 */
#ifndef LC_CLI_LIVE_VIEW_H
#define LC_CLI_LIVE_VIEW_H

#include "base/json.h"
#include "cli/operation.h"

typedef struct lc_live_view {
    /* Appends the drawing as it is now. Its memory in cli->arena is freed afterwards. */
    loci_status (*draw)(void *ctx, lc_link *link, const lc_terminal *terminal, lc_buf *out,
                        loci_error *err);
    void *ctx;
    /* Events that change it: "window|resource" for window.* and resource.*; NULL = none. */
    const char *events;
    int64_t
        every_ms; /* Also drawn again after this time; with events on a terminal only. 0 = no. */
} lc_live_view;

/* Draws it, with `watches` until Ctrl-C; returns the exit code. */
int lc_live_view_run(lc_cli *cli, const lc_live_view *view, bool watches);

/* For `draw`: runs a read and parses its answer into the arena. */
loci_status lc_live_view_ask(lc_link *link, const lc_operation *operation, const lc_json **out,
                             loci_error *err);

#endif /* LC_CLI_LIVE_VIEW_H */
