/* shell.c - `loci shell`: runs one line after the other with the store or the connection kept open.
 *
 * Each line is run like a command line of its own, with a copy of the shell's global options and an
 * arena of its own; only lc_cli.kept (link.h) outlives it. While a command runs, the terminal is as
 * any program finds it: Ctrl-C is a signal that cancels the call. While a line is edited it is a
 * key. Without a terminal, stdin is the script, so commands get an empty stdin instead. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/input.h"
#include "cli/line_edit.h"
#include "cli/link.h"
#include "cli/shell_complete.h"
#include "cli/shell_history.h"
#include "cli/shell_words.h"

#define PROMPT "loci> "

typedef struct shell {
    lc_cli *cli;
    lc_link link; /* Opened by the first command that needs it. */
    bool is_over; /* exit */
} shell;

/* ---- One line -------------------------------------------------------------------------------- */

/* The program as the command of one line sees it. */
static lc_cli cli_of_line(shell *s, lc_arena *arena)
{
    lc_cli one = *s->cli;

    one.arena = arena;
    one.has_json_errors = one.globals.wants_json;
    one.has_printed_lines = false;
    one.write_failed = false;
    one.help_name = NULL;
    one.kept = &s->link;
    one.kept_globals = s->cli->globals;
    lc_buf_init(&one.out, s->cli->heap, LOCI_MEM_REQUESTS, LC_CLI_OUT_BYTES_MAX);
    return one;
}

static int run_words(shell *s, lc_cli *one, const lc_shell_words *words)
{
    bool has_name = words->count > 0 && strcmp(words->items[0], "loci") == 0;
    char *const *items = words->items + (has_name ? 1 : 0);
    size_t count = words->count - (has_name ? 1 : 0);

    if (count > 0 && (strcmp(items[0], "exit") == 0 || strcmp(items[0], "quit") == 0)) {
        s->is_over = true;
        return LC_EXIT_OK;
    }
    if (count > 0 && strcmp(items[0], "shell") == 0)
        return lc_cli_usage(one, "this is the shell already; `exit` leaves it");
    return lc_command_dispatch(one, items, count);
}

/* Returns the exit code of the command. */
static int run_line(shell *s, loci_str line)
{
    lc_shell_words words = {0};
    lc_arena arena;
    loci_error err;
    lc_cli one;
    int code;

    lc_arena_init(&arena, s->cli->heap, LOCI_MEM_ENGINE);
    one = cli_of_line(s, &arena);
    if (lc_shell_words_split(&arena, line, &words, &err) != LOCI_OK)
        code = lc_cli_report_usage(&one, &err);
    else
        code = words.count > 0 ? run_words(s, &one, &words) : LC_EXIT_OK;
    code = lc_cli_finish(&one, code);
    s->cli->write_failed = s->cli->write_failed || one.write_failed;
    lc_buf_clear(&one.out);
    lc_arena_clear(&arena);
    return code;
}

/* ---- A script -------------------------------------------------------------------------------- */

/* Moves stdin away, so that a command that reads it does not eat the script. */
static int take_stdin(void)
{
    int script = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (script >= 0 && empty >= 0)
        (void)dup2(empty, STDIN_FILENO); /* Both descriptors are valid. */
    if (empty >= 0)
        (void)close(empty);
    return script;
}

static int run_script(shell *s, bool stops_on_error)
{
    int script = take_stdin();
    int code = LC_EXIT_OK;
    lc_line_reader lines;
    lc_line_result result;
    loci_error err;
    loci_str line;

    lc_line_reader_init(&lines, s->cli->heap, script, LC_LINE_BYTES_MAX);
    while (!s->is_over && !s->cli->write_failed) {
        result = lc_line_reader_next(&lines, &line);
        if (result == LC_LINE_END)
            break;
        if (result == LC_LINE_READ && lc_str_starts(lc_str_trim(line), LC_STR("#")))
            continue;
        if (result == LC_LINE_READ && run_line(s, line) == LC_EXIT_OK)
            continue;
        code = LC_EXIT_FAILED;
        if (result == LC_LINE_INTERRUPTED || lc_interrupt_is_set()) {
            code = LC_EXIT_INTERRUPTED;
            break;
        }
        if (result == LC_LINE_TOO_LONG)
            (void)lc_cli_usage(s->cli, "a line is longer than the maximum of %u bytes",
                               LC_LINE_BYTES_MAX); /* The script goes on. */
        if (result == LC_LINE_FAILED) {
            (void)lc_fail(&err, LOCI_EUNAVAILABLE, "cannot read stdin: %s", strerror(errno));
            code = lc_cli_report(s->cli, &err);
        }
        if (stops_on_error || result == LC_LINE_FAILED)
            break;
    }
    lc_line_reader_clear(&lines);
    if (script >= 0)
        (void)close(script); /* It was only read. */
    return s->cli->write_failed ? LC_EXIT_FAILED : code;
}

/* ---- A terminal ------------------------------------------------------------------------------ */

typedef struct console {
    shell *shell;
    lc_history history;
} console;

static void complete(void *ctx, loci_str before, lc_completions *out)
{
    console *c = ctx;
    lc_cli one = cli_of_line(c->shell, out->arena);

    one.globals.is_quiet = true; /* Nothing may be printed into the line. */
    lc_shell_complete(&one, before, out);
    lc_buf_clear(&one.out);
}

static loci_str recall(void *ctx, size_t index)
{
    const console *c = ctx;

    return lc_history_at(&c->history, index);
}

static void greet(const shell *s)
{
    const char *url = lc_remote_url(s->cli);
    lc_store_path path;

    if (url != NULL)
        lc_cli_note(s->cli, "loci %s, daemon %s. Tab completes, `help` helps, `exit` leaves.",
                    loci_version(), url);
    else if (lc_store_path_find(s->cli, &path, NULL) == LOCI_OK)
        lc_cli_note(s->cli, "loci %s, store %s. Tab completes, `help` helps, `exit` leaves.",
                    loci_version(), path.label);
}

/* A terminal that cannot move its cursor: its own line editing must do. */
static lc_edit_result read_plainly(lc_line_reader *lines, lc_buf *line)
{
    loci_str text;

    (void)lc_cli_write(STDOUT_FILENO, LC_STR(PROMPT)); /* Without one it works as well. */
    switch (lc_line_reader_next(lines, &text)) {
    case LC_LINE_READ:
        lc_buf_append(line, text);
        return LC_EDIT_LINE;
    case LC_LINE_INTERRUPTED:
    case LC_LINE_TOO_LONG:
        lc_interrupt_clear();
        return LC_EDIT_CANCELLED;
    default:
        return LC_EDIT_END;
    }
}

static int run_console(shell *s, console *c)
{
    const char *kind = lc_cli_variable("TERM");
    bool is_plain = kind == NULL || strcmp(kind, "dumb") == 0;
    lc_line_edit edit = {.heap = s->cli->heap,
                         .in = STDIN_FILENO,
                         .out = STDOUT_FILENO,
                         .prompt = s->cli->out_terminal.has_color ? "\033[1m" PROMPT "\033[0m"
                                                                  : PROMPT,
                         .prompt_columns = sizeof PROMPT - 1,
                         .complete = complete,
                         .recall = recall,
                         .ctx = c};
    lc_line_reader lines;
    lc_buf line;

    lc_line_reader_init(&lines, s->cli->heap, STDIN_FILENO, LC_LINE_BYTES_MAX);
    lc_buf_init(&line, s->cli->heap, LOCI_MEM_REQUESTS, LC_LINE_BYTES_MAX);
    while (!s->is_over && !s->cli->write_failed) {
        lc_edit_result result;

        lc_buf_reset(&line);
        result = is_plain ? read_plainly(&lines, &line) : lc_line_edit_read(&edit, &line);
        if (result == LC_EDIT_CANCELLED)
            continue;
        if (result != LC_EDIT_LINE)
            break;
        lc_history_add(&c->history, lc_buf_str(&line));
        (void)run_line(s, lc_buf_str(&line)); /* Each command has said what failed. */
        lc_interrupt_clear();
    }
    lc_buf_clear(&line);
    lc_line_reader_clear(&lines);
    return LC_EXIT_OK;
}

int lc_command_shell(lc_cli *cli, const lc_arguments *arguments)
{
    shell s = {.cli = cli, .link = {.cli = cli}};
    bool is_terminal = isatty(STDIN_FILENO) == 1 && cli->out_terminal.is_terminal;
    console *c;
    int code;

    if (!is_terminal) {
        code = run_script(&s, lc_arguments_has(arguments, "stop-on-error"));
        lc_link_close(&s.link);
        return code;
    }
    c = lc_arena_zalloc_array(cli->arena, 1, sizeof *c);
    if (c == NULL)
        return lc_cli_report_memory(cli);
    c->shell = &s;
    lc_history_open(&c->history, cli->heap);
    greet(&s);
    code = run_console(&s, c);
    lc_history_clear(&c->history);
    lc_link_close(&s.link);
    return code;
}
