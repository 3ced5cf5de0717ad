/* live_view.c - see live_view.h.
 *
 * Events only say that something has changed: the view is drawn again from new answers when all
 * events that have arrived are read, so a burst of them costs one drawing. Once per second the size
 * of the terminal is checked. The place in the log is known before the first drawing, so no change
 * is missed in between. */
#include "cli/live_view.h"

#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "cli/events_remote.h"

#define POLL_MS 1000

typedef struct watching {
    lc_cli *cli;
    lc_link *link;
    const lc_live_view *view;
    loci_error *err;
    loci_status status; /* Of the last drawing. */
    size_t drawn_count;
    int64_t drawn_us; /* Monotonic. */
    bool has_changed; /* Since the last drawing. */
} watching;

loci_status lc_live_view_ask(lc_link *link, const lc_operation *operation, const lc_json **out,
                             loci_error *err)
{
    lc_cli *cli = link->cli;
    lc_buf answer;
    loci_str kept = LC_STR_NONE;
    loci_status status;

    lc_buf_init(&answer, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    status = lc_operation_call(cli, link, operation, &answer, err);
    if (status == LOCI_OK)
        status = lc_buf_status(&answer, err);
    if (status == LOCI_OK) {
        kept = lc_arena_copy(cli->arena, lc_buf_str(&answer));
        status = kept.ptr != NULL ? lc_json_parse(cli->arena, kept, LC_JSON_ALLOW_NUL, out, err)
                                  : lc_fail_memory(err);
    }
    lc_buf_clear(&answer);
    return status;
}

static loci_status draw(const lc_live_view *view, lc_link *link, lc_buf *out, loci_error *err)
{
    lc_cli *cli = link->cli;
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    loci_status status = view->draw(view->ctx, link, &cli->out_terminal, out, err);

    if (status == LOCI_OK)
        status = lc_buf_status(out, err);
    lc_arena_rewind(cli->arena, mark);
    return status;
}

/* ---- --watch --------------------------------------------------------------------------------- */

static void append_screen(lc_cli *cli, loci_str drawing)
{
    const lc_terminal *terminal = &cli->out_terminal;
    size_t row = 1;

    lc_buf_append(&cli->out, LC_STR("\033[H"));
    while (drawing.len > 0 && (terminal->rows == 0 || row < terminal->rows)) {
        lc_buf_append(&cli->out, lc_str_split(drawing, '\n', &drawing));
        lc_buf_append(&cli->out, LC_STR("\033[K\r\n"));
        row++;
    }
    lc_buf_append(&cli->out, LC_STR("\033[J"));
    if (drawing.len > 0)
        lc_terminal_append(terminal, &cli->out, LC_STYLE_FAINT,
                           LC_STR("… enlarge the terminal to see the rest"));
}

/* Draws again. False to end: it failed, or stdout was closed. */
static bool redraw(watching *w)
{
    lc_cli *cli = w->cli;
    lc_buf drawing;

    cli->out_terminal = lc_terminal_of(STDOUT_FILENO, cli->globals.no_color);
    w->has_changed = false;
    w->drawn_us = lc_clock_monotonic_us();
    lc_buf_init(&drawing, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    w->status = draw(w->view, w->link, &drawing, w->err);
    if (w->status == LOCI_OK && cli->out_terminal.is_terminal) {
        append_screen(cli, lc_buf_str(&drawing));
    } else if (w->status == LOCI_OK) {
        lc_buf_append(&cli->out, w->drawn_count > 0 ? LC_STR("\n") : LC_STR(""));
        lc_buf_append(&cli->out, lc_buf_str(&drawing));
    }
    w->drawn_count++;
    lc_buf_clear(&drawing);
    return w->status == LOCI_OK && lc_cli_flush(cli);
}

/* Draws again if events, the size of the terminal or the time make it necessary; false to end. */
static bool refresh(void *ctx)
{
    watching *w = ctx;
    const lc_terminal *drawn = &w->cli->out_terminal;
    lc_terminal now = lc_terminal_of(STDOUT_FILENO, w->cli->globals.no_color);
    bool is_due = w->has_changed || now.columns != drawn->columns || now.rows != drawn->rows;

    if (w->view->every_ms > 0 && (now.is_terminal || w->view->events == NULL))
        is_due = is_due || lc_clock_monotonic_us() - w->drawn_us >= w->view->every_ms * 1000;
    return !is_due || lc_interrupt_is_set() || redraw(w);
}

static bool note_event(void *ctx, loci_str event)
{
    watching *w = ctx;
    lc_arena_mark mark = lc_arena_get_mark(w->cli->arena);
    const lc_json *document = NULL, *type = NULL;
    loci_str rest;

    if (lc_json_parse(w->cli->arena, event, LC_JSON_ALLOW_NUL, &document, NULL) == LOCI_OK)
        type = lc_json_find(document, "type", LC_JSON_STRING);
    if (type != NULL)
        w->has_changed = w->has_changed ||
                         lc_str_is_choice(lc_str_split(lc_json_str(type), '.', &rest),
                                          w->view->events);
    lc_arena_rewind(w->cli->arena, mark);
    return true;
}

/* Takes all events that are available. */
static loci_status drain(watching *w, loci_subscription *subscription)
{
    for (;;) {
        loci_answer *answer = NULL;
        int lagged = 0;
        loci_status status = loci_subscription_next(subscription, &answer, &lagged, w->err);

        if (status != LOCI_OK)
            return status;
        w->has_changed = w->has_changed || lagged != 0;
        if (answer == NULL)
            return LOCI_OK;
        (void)note_event(w, loci_answer_json(answer)); /* Never ends it. */
        loci_answer_free(answer);
    }
}

static loci_status follow_store(watching *w)
{
    loci_subscribe_options options = LOCI_SUBSCRIBE_OPTIONS_INIT;
    loci_subscription *subscription = NULL;
    bool is_open = true;
    loci_status status;

    options.user_id = w->cli->globals.user;
    status = loci_subscribe(w->link->engine, &options, &subscription, w->err);
    is_open = status == LOCI_OK && redraw(w);
    while (status == LOCI_OK && is_open && !lc_interrupt_is_set()) {
        struct pollfd waiting = {.fd = loci_subscription_fd(subscription), .events = POLLIN};

        (void)poll(&waiting, 1, POLL_MS); /* drain() checks in any case. */
        status = drain(w, subscription);
        if (status == LOCI_OK)
            is_open = refresh(w);
    }
    if (subscription != NULL)
        loci_subscription_close(subscription);
    return status;
}

static loci_status follow_daemon(watching *w)
{
    lc_remote_events events = {.link = w->link,
                               .user = w->cli->globals.user,
                               .show = note_event,
                               .rest = refresh,
                               .ctx = w};
    loci_status status = lc_remote_events_head(&events, &events.after_seq, w->err);

    if (status != LOCI_OK || !redraw(w))
        return status;
    return lc_remote_events_follow(&events, w->err);
}

/* Without events only time passes. */
static loci_status follow_time(watching *w)
{
    bool is_open = redraw(w);

    while (is_open && !lc_interrupt_is_set()) {
        (void)poll(NULL, 0, (int)(w->view->every_ms < POLL_MS ? w->view->every_ms : POLL_MS));
        is_open = refresh(w);
    }
    return LOCI_OK;
}

static loci_status watch(watching *w)
{
    bool is_terminal = w->cli->out_terminal.is_terminal;
    loci_status status;

    if (is_terminal) /* The alternate screen, without a cursor. */
        lc_buf_append(&w->cli->out, LC_STR("\033[?1049h\033[?25l"));
    status = w->view->events == NULL   ? follow_time(w)
             : w->link->remote == NULL ? follow_store(w)
                                       : follow_daemon(w);
    if (status == LOCI_OK)
        status = w->status;
    if (is_terminal) {
        lc_buf_append(&w->cli->out, LC_STR("\033[?25h\033[?1049l"));
        (void)lc_cli_flush(w->cli); /* An error message must not go to the alternate screen. */
    }
    return status;
}

int lc_live_view_run(lc_cli *cli, const lc_live_view *view, bool watches)
{
    lc_link_options options = {
        .opening = {.flags = LOCI_OPEN_EXISTING | (watches ? 0 : LOCI_OPEN_INLINE),
                    .is_for_people = true}};
    lc_link link = {.cli = cli};
    loci_error err;
    watching w = {.cli = cli, .link = &link, .view = view, .err = &err};
    loci_status status = lc_link_open(&link, cli, &options, &err);

    if (status == LOCI_OK)
        status = watches ? watch(&w) : draw(view, &link, &cli->out, &err);
    lc_link_close(&link);
    return status == LOCI_OK ? LC_EXIT_OK : lc_cli_report(cli, &err);
}
