/* top.c - `loci top [--once]`: draws the memory of a daemon, again every second until Ctrl-C. */
#include "cli/command.h"

#include "base/error.h"
#include "cli/guard_draw.h"
#include "cli/link.h"
#include "cli/live_view.h"

#define EVERY_MS 1000

static const lc_operation status_operation = {
    .name = "guard.status", .args = {"{}", 2}, .needs_store = true};

static loci_status draw(void *ctx, lc_link *link, const lc_terminal *terminal, lc_buf *out,
                        loci_error *err)
{
    const lc_json *status = NULL;
    loci_status result;

    (void)ctx;
    if (link->remote == NULL)
        return lc_fail(err, LOCI_EUNSUPPORTED,
                       "top shows the memory of a daemon: name it with --url or LOCI_URL");
    result = lc_live_view_ask(link, &status_operation, &status, err);
    if (result == LOCI_OK)
        lc_guard_draw(terminal, status, out);
    return result;
}

int lc_command_top(lc_cli *cli, const lc_arguments *arguments)
{
    static const lc_live_view view = {.draw = draw, .every_ms = EVERY_MS};

    if (cli->globals.wants_json)
        return lc_operation_run(cli, &status_operation);
    return lc_live_view_run(cli, &view, !lc_arguments_has(arguments, "once"));
}
