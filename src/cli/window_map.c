/* window_map.c - `loci map [--watch]`: draws the window of a user and persona.
 *
 * The drawing is made from two answers: window.map of level 2, which names the important resources
 * and counts the others, and window.parse of its text. So a window of any size is drawn in two
 * calls. */
#include "cli/command.h"

#include "base/json.h"
#include "base/str.h"
#include "cli/drawing.h"
#include "cli/live_view.h"
#include "cli/operation.h"
#include "cli/window_draw.h"

static loci_status draw(void *ctx, lc_link *link, const lc_terminal *terminal, lc_buf *out,
                        loci_error *err)
{
    lc_operation operation = {
        .name = "window.map", .args = LC_STR("{\"level\":\"2\"}"), .in_project = true};
    const lc_json *map = NULL, *parsed = NULL;
    lc_json_writer w;
    lc_buf args;
    loci_status status = lc_live_view_ask(link, &operation, &map, err);

    (void)ctx; /* There is nothing to choose. */
    lc_buf_init(&args, link->cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    if (status == LOCI_OK) {
        lc_jw_init(&w, &args);
        lc_jw_object(&w);
        lc_jw_member_str(&w, "text", lc_member_str(map, "text"));
        lc_jw_end(&w);
        status = lc_buf_status(&args, err);
    }
    if (status == LOCI_OK) {
        operation.name = "window.parse";
        operation.args = lc_buf_str(&args);
        status = lc_live_view_ask(link, &operation, &parsed, err);
    }
    if (status == LOCI_OK)
        lc_window_draw(terminal, map, parsed, out);
    lc_buf_clear(&args);
    return status;
}

int lc_command_map(lc_cli *cli, const lc_arguments *arguments)
{
    const lc_live_view view = {.draw = draw, .events = "window|resource"};
    bool watches = lc_arguments_has(arguments, "watch");

    if (cli->globals.wants_json && watches)
        return lc_cli_usage(cli, "--watch draws for people; for programs, follow the events with "
                                 "`loci events -f --json` and call window.map");
    if (cli->globals.wants_json)
        return lc_operation_run(cli, &(lc_operation){.name = "window.map",
                                                     .args = LC_STR("{}"),
                                                     .needs_store = true,
                                                     .in_project = true});
    return lc_live_view_run(cli, &view, watches);
}
