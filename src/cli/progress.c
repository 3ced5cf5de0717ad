#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/interrupt.h"

#define BAR_CELLS 30
#define FIRST_AFTER_US 200000
#define DRAW_EVERY_US 100000  /* Faster is flicker. */
#define TELL_EVERY_US 3000000 /* In a log, where it stays. */
#define WRITE_BYTES 65536u    /* Lines are written in pieces of this size. */

void lc_progress_init(lc_progress_view *view, lc_cli *cli)
{
    *view = (lc_progress_view){.cli = cli};
    /* What is done at once needs no bar. */
    view->drawn_us = lc_clock_monotonic_us() + FIRST_AFTER_US;
    lc_buf_init(&view->lines, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
}

static bool write_lines(lc_progress_view *view)
{
    if (view->lines.failure != LOCI_OK || !lc_cli_write(STDOUT_FILENO, lc_buf_str(&view->lines)))
        view->lines_failed = true;
    lc_buf_reset(&view->lines);
    return !view->lines_failed;
}

static void draw(lc_progress_view *view, loci_str what, int64_t done, int64_t total)
{
    lc_buf line;
    int64_t cells = total > 0 ? done * BAR_CELLS / total : 0;

    lc_buf_init(&line, view->cli->heap, LOCI_MEM_REQUESTS, 4096);
    lc_buf_append(&line, LC_STR("\r\033[K"));
    lc_text_append_visible(&line, what);
    if (total > 0) {
        lc_buf_append(&line, LC_STR("  "));
        for (int64_t i = 0; i < BAR_CELLS; i++)
            lc_terminal_append(&view->cli->err_terminal, &line,
                               i < cells ? LC_STYLE_GOOD : LC_STYLE_FAINT,
                               i < cells ? LC_STR("━") : LC_STR("─"));
        lc_buf_append_format(&line, "  %d%%  %lld/%lld", (int)(done * 100 / total), (long long)done,
                             (long long)total);
    } else {
        lc_buf_append_format(&line, "  %lld", (long long)done);
    }
    (void)lc_cli_write(STDERR_FILENO, lc_buf_str(&line)); /* Decoration. */
    lc_buf_clear(&line);
    view->is_drawn = true;
}

static void show(lc_progress_view *view, const lc_json *progress)
{
    const lc_json *what = lc_json_member(progress, LC_STR("what"));
    const lc_json *done = lc_json_member(progress, LC_STR("done"));
    const lc_json *total = lc_json_member(progress, LC_STR("total"));
    int64_t now_us = lc_clock_monotonic_us();
    bool is_terminal = view->cli->err_terminal.is_terminal;
    int64_t every_us = is_terminal ? DRAW_EVERY_US : TELL_EVERY_US;
    loci_str name = what != NULL && lc_json_kind_of(what) == LC_JSON_STRING ? lc_json_str(what)
                                                                            : LC_STR("working");
    int64_t done_count = done != NULL && lc_json_kind_of(done) == LC_JSON_INT ? lc_json_int(done)
                                                                              : 0;
    int64_t total_count = total != NULL && lc_json_kind_of(total) == LC_JSON_INT
                              ? lc_json_int(total)
                              : 0;

    if (view->cli->globals.is_quiet || (!is_terminal && !view->cli->globals.is_verbose))
        return;
    if (now_us - view->drawn_us < every_us)
        return;
    if (done_count < 0 || done_count > INT64_MAX / 100)
        return;
    view->drawn_us = now_us;
    if (done_count > total_count)
        total_count = 0;
    if (is_terminal)
        draw(view, name, done_count, total_count);
    else
        lc_cli_note(view->cli, "%.*s %lld/%lld", LC_STR_ARG(name), (long long)done_count,
                    (long long)total_count);
}

/* {"line":…} holds the line as it shall be written: it is not parsed again. */
static bool take_line(lc_progress_view *view, loci_str chunk)
{
    static const char head[] = "{\"line\":";
    size_t head_len = sizeof head - 1;

    if (!lc_str_starts(chunk, (loci_str){head, head_len}) || chunk.len < head_len + 2)
        return false;
    lc_buf_append(&view->lines, (loci_str){chunk.ptr + head_len, chunk.len - head_len - 1});
    lc_buf_append_byte(&view->lines, '\n');
    view->line_count++;
    if (view->lines.len >= WRITE_BYTES)
        (void)write_lines(view); /* Kept in lines_failed. */
    return true;
}

int lc_progress_take(void *ctx, loci_str chunk)
{
    lc_progress_view *view = ctx;
    lc_arena_mark mark = lc_arena_get_mark(view->cli->arena);
    const lc_json *json;
    const lc_json *progress;

    if (take_line(view, chunk))
        return view->lines_failed || lc_interrupt_is_set();
    if (lc_json_parse(view->cli->arena, chunk, LC_JSON_ALLOW_NUL, &json, NULL) == LOCI_OK &&
        lc_json_kind_of(json) == LC_JSON_OBJECT) {
        progress = lc_json_member(json, LC_STR("progress"));
        if (progress != NULL && lc_json_kind_of(progress) == LC_JSON_OBJECT)
            show(view, progress);
    }
    lc_arena_rewind(view->cli->arena, mark);
    return lc_interrupt_is_set();
}

bool lc_progress_end(lc_progress_view *view)
{
    bool is_written = write_lines(view);

    if (view->is_drawn)
        (void)lc_cli_write(STDERR_FILENO, LC_STR("\r\033[K")); /* Decoration. */
    view->is_drawn = false;
    lc_buf_clear(&view->lines);
    view->cli->has_printed_lines = view->line_count > 0;
    return is_written;
}
