/* frames.c - `loci frames [--all] [--watch]`: draws the frames of a user as trees.
 *
 * The drawing is made from one answer of frame.list, with at most LIMIT frames. */
#include "cli/command.h"

#include "base/str.h"
#include "cli/frame_draw.h"
#include "cli/live_view.h"
#include "cli/operation.h"

#define LIMIT "500" /* More are not for people. */

static lc_operation list_of(bool of_all)
{
    return (lc_operation){.name = "frame.list",
                          .args = of_all ? LC_STR("{\"status\":\"any\",\"limit\":" LIMIT "}")
                                         : LC_STR("{\"limit\":" LIMIT "}"),
                          .needs_store = true,
                          .in_project = true};
}

static loci_status draw(void *ctx, lc_link *link, const lc_terminal *terminal, lc_buf *out,
                        loci_error *err)
{
    const bool *of_all = ctx;
    const lc_operation operation = list_of(*of_all);
    const lc_json *list = NULL;
    loci_status status = lc_live_view_ask(link, &operation, &list, err);

    if (status == LOCI_OK)
        status = lc_frame_draw(
            &(lc_frame_drawing){terminal, link->cli->arena, lc_cli_now_us(link->cli), out}, list,
            err);
    return status;
}

int lc_command_frames(lc_cli *cli, const lc_arguments *arguments)
{
    bool of_all = lc_arguments_has(arguments, "all");
    bool watches = lc_arguments_has(arguments, "watch");
    const lc_operation operation = list_of(of_all);
    const lc_live_view view = {.draw = draw, .ctx = &of_all, .events = "frame", .every_ms = 60000};

    if (cli->globals.wants_json && watches)
        return lc_cli_usage(cli, "--watch draws for people; for programs, follow the events with "
                                 "`loci events -f --json` and call frame.list");
    if (cli->globals.wants_json)
        return lc_operation_run(cli, &operation);
    return lc_live_view_run(cli, &view, watches);
}
