/* events.c - `loci events [-f]`: prints the events of a user. With and without -f the events come
 * from a subscription, so both print the same. */
#include "cli/command.h"

#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/opening.h"
#include "cli/operation.h"
#include "cli/render.h"

#define POLL_MS 1000 /* Upper bound of a wait; events and signals end it at once. */
#define TYPE_COLUMNS 20
#define TAIL_EVENTS 20 /* Events shown without --after. */

static void append_members(lc_buf *out, const lc_json *object)
{
    if (object == NULL || lc_json_kind_of(object) != LC_JSON_OBJECT)
        return;
    for (const lc_json *member = lc_json_first(object); member != NULL;
         member = lc_json_next(member)) {
        if (lc_json_kind_of(member) == LC_JSON_NULL)
            continue;
        lc_buf_append_byte(out, ' ');
        lc_text_append_visible(out, lc_json_name(member));
        lc_buf_append_byte(out, '=');
        lc_render_cell(out, member);
    }
}

static loci_str member_text(const lc_json *event, const char *name)
{
    const lc_json *member = lc_json_member(event, loci_str_of(name));

    return member != NULL && lc_json_kind_of(member) == LC_JSON_STRING ? lc_json_str(member)
                                                                       : LC_STR("");
}

/* "     7  2026-01-31T12:00:00Z  fact.written          key=city value=Oslo" */
static void print_event(lc_cli *cli, const lc_json *event, bool with_user)
{
    const lc_json *seq = lc_json_member(event, LC_STR("seq"));
    size_t width = cli->out_terminal.columns;
    loci_str type = member_text(event, "type");
    lc_buf rest;

    lc_cli_print(cli, "%6lld  ",
                 seq != NULL && lc_json_kind_of(seq) == LC_JSON_INT ? (long long)lc_json_int(seq)
                                                                    : 0);
    lc_terminal_append(&cli->out_terminal, &cli->out, LC_STYLE_FAINT,
                       member_text(event, "recorded_at"));
    lc_cli_print(cli, "  ");
    lc_terminal_append(&cli->out_terminal, &cli->out, LC_STYLE_NAME, type);
    lc_cli_print(cli, "%*s", type.len < TYPE_COLUMNS ? (int)(TYPE_COLUMNS - type.len) : 1, "");

    lc_buf_init(&rest, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    if (with_user) {
        lc_buf_append(&rest, LC_STR(" user="));
        lc_text_append_visible(&rest, member_text(event, "user_id"));
    }
    append_members(&rest, lc_json_member(event, LC_STR("payload")));
    append_members(&rest, lc_json_member(event, LC_STR("refs")));
    /* One line per event on a terminal. 56: seq, time, type and gaps. */
    if (width > 56 && lc_text_columns(lc_buf_str(&rest)) > width - 56) {
        lc_buf_truncate(&rest, lc_text_cut(lc_buf_str(&rest), width - 57));
        lc_buf_append(&rest, LC_STR("…"));
    }
    lc_buf_append(&cli->out, lc_buf_str(&rest));
    lc_buf_append_byte(&cli->out, '\n');
    lc_buf_clear(&rest);
}

static bool show_event(lc_cli *cli, loci_str text, bool with_user)
{
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    const lc_json *event;

    if (cli->globals.wants_json ||
        lc_json_parse(cli->arena, text, LC_JSON_ALLOW_NUL, &event, NULL) != LOCI_OK ||
        lc_json_kind_of(event) != LC_JSON_OBJECT) {
        lc_buf_append(&cli->out, text);
        lc_buf_append_byte(&cli->out, '\n');
    } else {
        print_event(cli, event, with_user);
    }
    lc_arena_rewind(cli->arena, mark);
    return lc_cli_flush(cli);
}

/* Prints all available events. `*out_is_open` gets false if stdout was closed. */
static loci_status drain(lc_cli *cli, loci_subscription *subscription, bool with_user,
                         bool *out_is_open, loci_error *err)
{
    for (;;) {
        loci_answer *answer = NULL;
        int lagged = 0;
        loci_status status = loci_subscription_next(subscription, &answer, &lagged, err);

        if (status != LOCI_OK)
            return status;
        if (lagged)
            lc_cli_note(cli, "loci: some events were skipped here: they arrived too fast");
        if (answer == NULL)
            return LOCI_OK;
        *out_is_open = show_event(cli, loci_answer_json(answer), with_user);
        loci_answer_free(answer);
        if (!*out_is_open || lc_interrupt_is_set())
            return LOCI_OK;
    }
}

static loci_status follow(lc_cli *cli, loci_subscription *subscription, bool with_user,
                          loci_error *err)
{
    struct pollfd waiting = {.fd = loci_subscription_fd(subscription), .events = POLLIN};
    bool is_open = true;

    while (!lc_interrupt_is_set()) {
        loci_status status = drain(cli, subscription, with_user, &is_open, err);

        if (status != LOCI_OK || !is_open)
            return status;
        if (!lc_interrupt_is_set())
            (void)poll(&waiting, 1, POLL_MS); /* drain() checks in any case. */
    }
    return LOCI_OK;
}

/* The last seq of the user, or 0. */
static int64_t find_last_seq(lc_cli *cli, loci_engine *engine)
{
    lc_operation operation = {.name = "event.list", .args = LC_STR("{\"limit\":1}")};
    loci_answer *answer = NULL;
    const lc_json *json;
    const lc_json *last;
    int64_t seq = 0;

    if (lc_operation_call(cli, engine, &operation, &answer, NULL) != LOCI_OK)
        return 0;
    if (lc_json_parse(cli->arena, loci_answer_json(answer), LC_JSON_ALLOW_NUL, &json, NULL) ==
            LOCI_OK &&
        lc_json_kind_of(json) == LC_JSON_OBJECT) {
        last = lc_json_member(json, LC_STR("head_seq"));
        if (last != NULL && lc_json_kind_of(last) == LC_JSON_INT)
            seq = lc_json_int(last);
    }
    loci_answer_free(answer);
    return seq;
}

static int run(lc_cli *cli, const lc_arguments *arguments, loci_subscribe_options *options)
{
    bool is_following = lc_arguments_has(arguments, "follow");
    bool with_user = lc_arguments_has(arguments, "all-users");
    lc_opening opening = {.flags = LOCI_OPEN_EXISTING, .is_silent = cli->globals.wants_json};
    loci_engine *engine = NULL;
    loci_subscription *subscription = NULL;
    bool is_open = true;
    loci_error err;
    loci_status status;

    status = lc_opening_run(cli, &opening, &engine, &err);
    if (status == LOCI_OK && !is_following && lc_arguments_value(arguments, "after") == NULL) {
        int64_t last_seq = find_last_seq(cli, engine);

        options->after_seq = last_seq > TAIL_EVENTS ? last_seq - TAIL_EVENTS : 0;
        if (options->after_seq > 0)
            lc_cli_note(cli, "Showing the last %d events; --after 0 shows all.", TAIL_EVENTS);
    }
    if (status == LOCI_OK)
        status = loci_subscribe(engine, options, &subscription, &err);
    if (status == LOCI_OK && is_following)
        status = follow(cli, subscription, with_user, &err);
    else if (status == LOCI_OK)
        status = drain(cli, subscription, with_user, &is_open, &err);
    if (subscription != NULL)
        loci_subscription_close(subscription);
    loci_close(engine);
    return status == LOCI_OK ? LC_EXIT_OK : lc_cli_report(cli, &err);
}

int lc_command_events(lc_cli *cli, const lc_arguments *arguments)
{
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;
    const char *after = lc_arguments_value(arguments, "after");

    options.user_id = cli->globals.user;
    options.types = lc_arguments_value(arguments, "type");
    if (after != NULL &&
        (!lc_str_to_i64(loci_str_of(after), &options.after_seq) || options.after_seq < 0))
        return lc_cli_usage(cli, "--after must be a seq of 0 or more, not %s", after);
    if (lc_arguments_has(arguments, "all-users")) {
        if (!lc_arguments_has(arguments, "follow") || after != NULL)
            return lc_cli_usage(
                cli, "--all-users needs -f and excludes --after: each user has its own seqs");
        options.flags |= LOCI_SUBSCRIBE_ALL_USERS;
        options.user_id = NULL;
    }
    return run(cli, arguments, &options);
}
