/* events.c - `loci events [-f]`: prints the events of a user. With and without -f the events come
 * from a subscription, so both print the same: on a terminal one line that fits its width, else
 * everything. */
#include "cli/command.h"

#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/events_remote.h"
#include "cli/link.h"
#include "cli/opening.h"
#include "cli/operation.h"
#include "cli/render.h"

#define POLL_MS 1000   /* Upper bound of a wait; events and signals end it at once. */
#define TAIL_EVENTS 20 /* Events shown without --after. */

static void append_members(lc_buf *out, const lc_json *object)
{
    if (object == NULL || lc_json_kind_of(object) != LC_JSON_OBJECT)
        return;
    for (const lc_json *member = lc_json_first(object); member != NULL;
         member = lc_json_next(member)) {
        if (lc_json_kind_of(member) == LC_JSON_NULL)
            continue;
        lc_text_append_visible(out, lc_json_name(member));
        lc_buf_append_byte(out, '=');
        lc_render_cell(out, member);
        lc_buf_append_byte(out, ' ');
    }
}

static loci_str member_text(const lc_json *event, const char *name)
{
    const lc_json *member = lc_json_member(event, loci_str_of(name));

    return member != NULL && lc_json_kind_of(member) == LC_JSON_STRING ? lc_json_str(member)
                                                                       : LC_STR("");
}

/* ---- For people ------------------------------------------------------------------------------ */

#define SEQ_COLUMNS 5
#define AGE_COLUMNS 13        /* "10 months ago" */
#define TYPE_COLUMNS 15       /* Most types; a longer one moves its line. */
#define AGE_SCREEN_MIN 60     /* On a narrower screen there is no room for the age. */
#define SUMMARY_COLUMNS_MIN 8 /* Of any screen. */

static bool is_plain(const lc_json *value)
{
    lc_json_kind kind = lc_json_kind_of(value);

    return kind != LC_JSON_NULL && kind != LC_JSON_ARRAY && kind != LC_JSON_OBJECT;
}

/* The ids among the refs. */
static void append_ids(lc_buf *out, const lc_json *refs)
{
    if (refs == NULL || lc_json_kind_of(refs) != LC_JSON_OBJECT)
        return;
    for (const lc_json *member = lc_json_first(refs); member != NULL;
         member = lc_json_next(member)) {
        if (lc_json_kind_of(member) == LC_JSON_OBJECT)
            continue; /* The client and the session. */
        lc_buf_append(out, out->len > 0 ? LC_STR(" ") : LC_STR(""));
        lc_render_cell(out, member);
    }
}

/* Describes the event in a few words: the payloads of all rooms use the same names for the same
 * things.
 */
static void append_summary(lc_buf *out, const lc_json *event)
{
    const lc_json *payload = lc_json_member(event, LC_STR("payload"));
    bool has_payload = payload != NULL && lc_json_kind_of(payload) == LC_JSON_OBJECT;
    const lc_json *value = has_payload ? lc_json_member(payload, LC_STR("value")) : NULL;
    loci_str key = has_payload ? member_text(payload, "key") : LC_STR("");
    loci_str text = has_payload ? member_text(payload, "text") : LC_STR("");
    loci_str role = has_payload ? member_text(payload, "role") : LC_STR("");
    loci_str path = has_payload ? member_text(payload, "path") : LC_STR("");

    if (key.len > 0) {
        lc_text_append_visible(out, key);
        if (value != NULL) {
            lc_buf_append(out, LC_STR(" = "));
            lc_render_cell(out, value);
        }
    } else if (text.len > 0) {
        lc_text_append_visible(out, role);
        lc_buf_append(out, role.len > 0 ? LC_STR(": ") : LC_STR(""));
        lc_text_append_visible(out, text);
    } else if (path.len > 0) {
        lc_text_append_visible(out, member_text(payload, "operation"));
        lc_buf_append_byte(out, ' ');
        lc_text_append_visible(out, path);
    } else {
        for (const lc_json *member = has_payload ? lc_json_first(payload) : NULL; member != NULL;
             member = lc_json_next(member)) {
            if (!is_plain(member))
                continue;
            lc_buf_append(out, out->len > 0 ? LC_STR(" ") : LC_STR(""));
            lc_text_append_visible(out, lc_json_name(member));
            lc_buf_append_byte(out, '=');
            lc_render_cell(out, member);
        }
    }
    if (out->len == 0)
        append_ids(out, lc_json_member(event, LC_STR("refs")));
}

static void append_padded(lc_cli *cli, lc_style style, loci_str text, size_t width)
{
    size_t columns = lc_text_columns(text);

    lc_terminal_append(&cli->out_terminal, &cli->out, style, text);
    lc_cli_print(cli, "%*s", columns < width ? (int)(width - columns) : 0, "");
}

/* "    7  3 min ago      fact.written     city = Oslo": one line, whatever it says. */
static void print_line(lc_cli *cli, const lc_json *event, bool with_user)
{
    const lc_json *seq = lc_json_find(event, "seq", LC_JSON_INT);
    loci_str type = member_text(event, "type");
    size_t columns = cli->out_terminal.columns;
    size_t used = SEQ_COLUMNS + 2 + (type.len > TYPE_COLUMNS ? type.len : TYPE_COLUMNS) + 2;
    lc_buf age, summary;
    int64_t us;

    lc_buf_init(&age, cli->heap, LOCI_MEM_REQUESTS, 256);
    lc_buf_init(&summary, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    if (with_user) {
        lc_text_append_visible(&summary, member_text(event, "user_id"));
        lc_buf_append(&summary, LC_STR(": "));
    }
    append_summary(&summary, event);
    lc_cli_print(cli, "%*lld  ", SEQ_COLUMNS, seq != NULL ? (long long)lc_json_int(seq) : 0);
    if (columns >= AGE_SCREEN_MIN && lc_time_parse(member_text(event, "recorded_at"), &us)) {
        lc_render_age(&age, lc_cli_now_us(cli) - us);
        append_padded(cli, LC_STYLE_FAINT, lc_buf_str(&age), AGE_COLUMNS);
        lc_cli_print(cli, "  ");
        used += AGE_COLUMNS + 2;
    }
    append_padded(cli, LC_STYLE_NAME, type, TYPE_COLUMNS);
    lc_cli_print(cli, "  ");
    columns = columns > used + SUMMARY_COLUMNS_MIN ? columns - used : SUMMARY_COLUMNS_MIN;
    if (lc_text_columns(lc_buf_str(&summary)) > columns) {
        lc_buf_truncate(&summary, lc_text_cut(lc_buf_str(&summary), columns - 1));
        lc_buf_append(&summary, LC_STR("…"));
    }
    lc_buf_append(&cli->out, lc_buf_str(&summary));
    lc_buf_append_byte(&cli->out, '\n');
    lc_buf_clear(&summary);
    lc_buf_clear(&age);
}

/* ---- Everything ------------------------------------------------------------------------------ */

/* In a pipe and with --verbose: seq, time, type and all members of payload and refs, with one tab
 * between the four. */
static void print_all(lc_cli *cli, const lc_json *event, bool with_user)
{
    const lc_json *seq = lc_json_find(event, "seq", LC_JSON_INT);

    lc_cli_print(cli, "%lld\t", seq != NULL ? (long long)lc_json_int(seq) : 0);
    lc_terminal_append(&cli->out_terminal, &cli->out, LC_STYLE_FAINT,
                       member_text(event, "recorded_at"));
    lc_cli_print(cli, "\t");
    lc_terminal_append(&cli->out_terminal, &cli->out, LC_STYLE_NAME, member_text(event, "type"));
    lc_cli_print(cli, "\t");
    if (with_user) {
        lc_buf_append(&cli->out, LC_STR("user="));
        lc_text_append_visible(&cli->out, member_text(event, "user_id"));
        lc_buf_append_byte(&cli->out, ' ');
    }
    append_members(&cli->out, lc_json_member(event, LC_STR("payload")));
    append_members(&cli->out, lc_json_member(event, LC_STR("refs")));
    while (cli->out.len > 0 && cli->out.ptr[cli->out.len - 1] == ' ')
        lc_buf_truncate(&cli->out, cli->out.len - 1);
    lc_buf_append_byte(&cli->out, '\n');
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
        if (cli->out_terminal.is_terminal && !cli->globals.is_verbose)
            print_line(cli, event, with_user);
        else
            print_all(cli, event, with_user);
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

typedef struct remote_view {
    lc_cli *cli;
    bool with_user;
} remote_view;

static bool show_remote(void *ctx, loci_str event)
{
    const remote_view *view = ctx;

    return show_event(view->cli, event, view->with_user);
}

/* Shows the events of the subscription. */
static loci_status run_in_store(lc_link *link, const loci_subscribe_options *options,
                                bool is_following, loci_error *err)
{
    bool with_user = (options->flags & LOCI_SUBSCRIBE_ALL_USERS) != 0;
    loci_subscription *subscription = NULL;
    bool is_open = true;
    loci_status status = loci_subscribe(link->engine, options, &subscription, err);

    if (status == LOCI_OK && is_following)
        status = follow(link->cli, subscription, with_user, err);
    else if (status == LOCI_OK)
        status = drain(link->cli, subscription, with_user, &is_open, err);
    if (subscription != NULL)
        loci_subscription_close(subscription);
    return status;
}

static int run(lc_cli *cli, const lc_arguments *arguments, loci_subscribe_options *options)
{
    bool is_following = lc_arguments_has(arguments, "follow");
    lc_link_options opening = {.opening = {.flags = LOCI_OPEN_EXISTING,
                                           .is_silent = cli->globals.wants_json,
                                           .is_for_people = true}};
    remote_view view = {cli, lc_arguments_has(arguments, "all-users")};
    lc_link link = {.cli = cli};
    lc_remote_events events = {.link = &link,
                               .user = cli->globals.user,
                               .types = options->types,
                               .session = options->session_id,
                               .of_all = view.with_user,
                               .show = show_remote,
                               .ctx = &view};
    int64_t last_seq = 0;
    loci_error err;
    loci_status status = lc_link_open(&link, cli, &opening, &err);

    if (!is_following && options->session_id != NULL && options->after_seq < 0)
        options->after_seq = 0; /* The whole session. */
    if (status == LOCI_OK && !is_following && options->after_seq < 0) {
        if (lc_remote_events_head(&events, &last_seq, &err) != LOCI_OK && link.remote != NULL)
            status = err.status;
        options->after_seq = last_seq > TAIL_EVENTS ? last_seq - TAIL_EVENTS : 0;
        if (options->after_seq > 0)
            lc_cli_note(cli, "Showing the last %d events; --after 0 shows all.", TAIL_EVENTS);
    }
    events.after_seq = options->after_seq;
    if (status == LOCI_OK && link.remote == NULL)
        status = run_in_store(&link, options, is_following, &err);
    else if (status == LOCI_OK)
        status = is_following ? lc_remote_events_follow(&events, &err)
                              : lc_remote_events_list(&events, &err);
    lc_link_close(&link);
    return status == LOCI_OK ? LC_EXIT_OK : lc_cli_report(cli, &err);
}

int lc_command_events(lc_cli *cli, const lc_arguments *arguments)
{
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;
    const char *after = lc_arguments_value(arguments, "after");

    options.user_id = cli->globals.user;
    options.types = lc_arguments_value(arguments, "type");
    options.session_id = lc_arguments_value(arguments, "session");
    if (after != NULL &&
        (!lc_str_to_i64(loci_str_of(after), &options.after_seq) || options.after_seq < 0))
        return lc_cli_usage(cli, "--after must be a seq of 0 or more, not %s", after);
    if (lc_arguments_has(arguments, "all-users")) {
        if (!lc_arguments_has(arguments, "follow") || after != NULL || options.session_id != NULL)
            return lc_cli_usage(cli,
                                "--all-users needs -f and excludes --after and --session: each "
                                "user has its own seqs and sessions");
        options.flags |= LOCI_SUBSCRIBE_ALL_USERS;
        options.user_id = NULL;
    }
    return run(cli, arguments, &options);
}
