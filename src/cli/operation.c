/* operation.c - calls with progress, and `loci call`.
 *
 * The progress bar is drawn on stderr if that is a terminal; otherwise --verbose prints a line
 * every few seconds. Lines of an operation ({"line":…}) go to stdout. */
#include "cli/operation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/link.h"
#include "cli/opening.h"
#include "cli/project.h"
#include "ops/surface.h"

typedef struct progress_view {
    lc_cli *cli;
    lc_buf lines;       /* Not written yet. */
    int64_t line_count; /* Lines received. */
    bool lines_failed;  /* Writing failed: the operation is cancelled. */
    int64_t drawn_us;   /* Last time it was shown, monotonic; in the future before the first. */
    bool is_drawn;      /* The bar is on the terminal. */
} progress_view;

/* ---- Progress -------------------------------------------------------------------------------- */

#define BAR_CELLS 30
#define FIRST_AFTER_US 200000
#define DRAW_EVERY_US 100000  /* More often would flicker. */
#define TELL_EVERY_US 3000000 /* In a log file. */
#define WRITE_BYTES 65536u    /* Lines are written in pieces of this size. */

static bool write_lines(progress_view *view)
{
    bool is_whole = view->lines.failure == LOCI_OK;

    if (!view->lines_failed &&
        (!is_whole || !lc_cli_write(STDOUT_FILENO, lc_buf_str(&view->lines)))) {
        view->lines_failed = true;
        view->cli->write_failed = true; /* main() reports it. */
        view->cli->write_errno = is_whole ? errno : ENOMEM;
    }
    lc_buf_reset(&view->lines);
    return !view->lines_failed;
}

static void draw(progress_view *view, loci_str what, int64_t done, int64_t total)
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

static void show(progress_view *view, const lc_json *progress)
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

static bool take_line(progress_view *view, loci_str chunk)
{
    loci_str line;

    if (!lc_chunk_line(chunk, &line))
        return false;
    lc_buf_append(&view->lines, line);
    lc_buf_append_byte(&view->lines, '\n');
    view->line_count++;
    if (view->lines.len >= WRITE_BYTES)
        (void)write_lines(view); /* Kept in lines_failed. */
    return true;
}

static int progress_take(void *ctx, loci_str chunk)
{
    progress_view *view = ctx;
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

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Work on the whole store takes as long as it takes; there is Ctrl-C. One day, in ms. */
#define LONG_TIMEOUT_MS (INT64_C(24) * 60 * 60 * 1000)

/* Whether operations of one persona are meant, not of the whole user. */
static bool takes_persona(const lc_op *op)
{
    return (op->flags & LC_OP_USER) != 0 && (op->flags & LC_OP_WHOLE_USER) == 0;
}

void lc_operation_add_who(lc_cli *cli, const lc_operation *operation, const char *persona_id,
                          lc_buf *out)
{
    const lc_op *op = lc_op_find(loci_str_of(operation->name));
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    loci_str args = operation->args;
    const lc_json *json = NULL;
    lc_json_writer w;
    bool adds_user, adds_persona;

    if ((cli->globals.user == NULL && persona_id == NULL) || op == NULL ||
        (op->flags & LC_OP_USER) == 0 ||
        lc_json_parse(cli->arena, args.len > 0 ? args : LC_STR("{}"), 0, &json, NULL) != LOCI_OK ||
        lc_json_kind_of(json) != LC_JSON_OBJECT) {
        lc_buf_append(out, args);
        lc_arena_rewind(cli->arena, mark);
        return;
    }
    adds_user = cli->globals.user != NULL && lc_json_member(json, LC_STR("user_id")) == NULL;
    adds_persona = persona_id != NULL && takes_persona(op) &&
                   lc_json_member(json, LC_STR("persona_id")) == NULL;
    lc_jw_init(&w, out);
    lc_jw_object(&w);
    for (const lc_json *member = lc_json_first(json); member != NULL;
         member = lc_json_next(member)) {
        lc_jw_name_str(&w, lc_json_name(member));
        lc_jw_value(&w, member);
    }
    if (adds_user)
        lc_jw_member_text(&w, "user_id", cli->globals.user);
    if (adds_persona)
        lc_jw_member_text(&w, "persona_id", persona_id);
    lc_jw_end(&w);
    lc_arena_rewind(cli->arena, mark);
}

/* The persona that an operation without one is for; `*out` NULL = none. */
static loci_status choose_persona(lc_cli *cli, const lc_operation *operation, const char **out,
                                  loci_error *err)
{
    const lc_op *op = lc_op_find(loci_str_of(operation->name));
    lc_whose whose = {0};
    loci_status status = LOCI_OK;

    *out = lc_cli_persona(cli);
    if (!operation->in_project || cli->globals.persona != NULL || op == NULL || !takes_persona(op))
        return LOCI_OK;
    status = lc_whose_find(cli, NULL, &whose, err);
    *out = whose.persona_id;
    /* People see where it goes; programs read stderr for errors. */
    if (status == LOCI_OK && *out != NULL && (op->flags & LC_OP_MUTATES) != 0 &&
        cli->err_terminal.is_terminal && !cli->globals.wants_json)
        lc_cli_note(cli, "for %s (%s); --persona \"\" for yourself", *out, whose.origin);
    return status;
}

static bool has_own_timeout(const lc_cli *cli)
{
    for (size_t i = 0; i < cli->globals.set_count; i++) {
        if (lc_str_starts(loci_str_of(cli->globals.sets[i]), LC_STR("call.timeout_ms=")))
            return true;
    }
    return false;
}

/* Lines of a daemon's answer, as they are. */
static int take_lines(void *ctx, loci_str text)
{
    progress_view *view = ctx;

    view->line_count++;
    lc_buf_append(&view->lines, text);
    return !write_lines(view) || lc_interrupt_is_set();
}

/* A call with progress. */
static loci_status call_stream(lc_cli *cli, lc_link *link, const loci_request *request, lc_buf *out,
                               loci_error *err)
{
    /* Short operations show no bar. */
    progress_view view = {.cli = cli, .drawn_us = lc_clock_monotonic_us() + FIRST_AFTER_US};
    lc_link_terms terms = {.timeout_ms = has_own_timeout(cli) ? 0 : LONG_TIMEOUT_MS,
                           .sink = progress_take,
                           .sink_ctx = &view,
                           .lines = take_lines,
                           .lines_ctx = &view};
    loci_status status;

    lc_buf_init(&view.lines, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    status = lc_link_call(link, request, &terms, out, err);
    if (view.is_drawn)
        (void)lc_cli_write(STDERR_FILENO, LC_STR("\r\033[K")); /* Decoration. */
    cli->has_printed_lines = view.line_count > 0;
    if (!write_lines(&view) && status == LOCI_OK)
        status = lc_fail(err, LOCI_ERESOURCE, "cannot write to stdout");
    lc_buf_clear(&view.lines);
    return status;
}

loci_status lc_operation_call(lc_cli *cli, lc_link *link, const lc_operation *operation,
                              lc_buf *out, loci_error *err)
{
    const lc_op *op = lc_op_find(loci_str_of(operation->name));
    bool is_long = op != NULL && (op->flags & LC_OP_STREAMS) != 0;
    loci_request request = {.operation = operation->name, .at_us = LOCI_AT_CLOCK};
    lc_link_terms terms = {.timeout_ms = is_long && !has_own_timeout(cli) ? LONG_TIMEOUT_MS : 0};
    const char *persona_id = NULL;
    loci_status status;
    lc_buf args;

    lc_buf_init(&args, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    status = choose_persona(cli, operation, &persona_id, err);
    if (status == LOCI_OK)
        lc_operation_add_who(cli, operation, persona_id, &args);
    request.args = lc_buf_str(&args);
    cli->has_printed_lines = false;
    if (status == LOCI_OK)
        status = lc_buf_status(&args, err);
    if (status == LOCI_OK && is_long && !operation->is_plain)
        status = call_stream(cli, link, &request, out, err);
    else if (status == LOCI_OK)
        status = lc_link_call(link, &request, &terms, out, err);
    lc_buf_clear(&args);
    return status;
}

/* An operation that needs no store gets an empty one, in a directory of its own, if the store does
 * not exist, or in any case if it works on files alone: opening a damaged store may fail or write
 * to it. The engine cannot run without: settings and the clock come from there. */
typedef struct scratch_store {
    char directory[LC_TEMPORARY_BYTES]; /* "" = none was made. */
    char path[LC_TEMPORARY_BYTES + 16];
} scratch_store;

static loci_status make_scratch(lc_cli *cli, const lc_op *op, scratch_store *scratch,
                                loci_error *err)
{
    lc_store_path store;
    loci_error why;
    loci_status status;

    if (lc_remote_url(cli) != NULL)
        return LOCI_OK;
    if ((op->flags & LC_OP_FILES) == 0 && lc_store_path_find(cli, &store, &why) == LOCI_OK &&
        lc_store_path_exists(&store))
        return LOCI_OK;
    status = lc_temporary_directory("store", scratch->directory, err);
    if (status != LOCI_OK)
        return status;
    (void)snprintf(scratch->path, sizeof scratch->path, "%s/loci.db", scratch->directory);
    cli->globals.store = scratch->path;
    return LOCI_OK;
}

static void remove_scratch(const scratch_store *scratch)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[sizeof scratch->path + 8];

    if (scratch->directory[0] == '\0')
        return;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        (void)snprintf(path, sizeof path, "%s%s", scratch->path, ends[i]);
        (void)unlink(path); /* The last two are gone when the store is closed. */
    }
    (void)rmdir(scratch->directory); /* A leftover does no harm. */
}

/* Whether the person typed arguments that the operation refuses, which is as wrong as an option
 * that does not exist. Arguments of `call` are data of a program. */
static bool is_wrong_usage(const lc_operation *operation, const loci_error *err)
{
    return err->status == LOCI_EINVAL && !operation->is_plain &&
           (!operation->reads_files || strstr(err->data, "\"parameter\":") != NULL);
}

static bool names_file(const lc_operation *operation)
{
    static const char path[] = "\"path\":";

    return lc_str_starts(loci_str_of(operation->name), LC_STR("store.")) &&
           operation->args.len > 0 &&
           memmem(operation->args.ptr, operation->args.len, path, sizeof path - 1) != NULL;
}

/* Prints a note where a person could misunderstand the answer of a daemon: which store it is about,
 * and on which machine a file is. */
static void note_remote(lc_cli *cli, const lc_operation *operation)
{
    bool is_read = cli->globals.wants_json || operation->is_plain; /* By a program. */

    if (!is_read && strcmp(operation->name, "store.status") == 0)
        lc_cli_note(cli, "daemon %s (%s)", lc_remote_url(cli), lc_remote_origin(cli));
    else if (!is_read && names_file(operation))
        lc_cli_note(cli, "The file is in store.transfer_dir of the daemon at %s.",
                    lc_remote_url(cli));
}

int lc_operation_run(lc_cli *cli, const lc_operation *operation)
{
    const lc_op *op = lc_op_find(loci_str_of(operation->name));
    bool is_long = op != NULL && (op->flags & LC_OP_STREAMS) != 0 && !operation->is_plain;
    /* A long operation may be a job: worker threads run it while this one shows its progress. */
    lc_link_options options = {.opening = {.flags = is_long ? 0 : LOCI_OPEN_INLINE}};
    scratch_store scratch = {.directory = ""};
    lc_link link = {.cli = cli};
    lc_buf answer;
    loci_error err;
    loci_status status = LOCI_OK;
    int code = LC_EXIT_OK;

    if (op != NULL && (op->flags & LC_OP_NO_STORE) != 0)
        status = make_scratch(cli, op, &scratch, &err);
    if (operation->needs_store && scratch.directory[0] == '\0')
        options.opening.flags |= LOCI_OPEN_EXISTING;
    options.opening.is_silent = cli->globals.wants_json || operation->is_plain;
    options.opening.is_for_people = !operation->is_plain && scratch.directory[0] == '\0';
    options.opening.creates_named = scratch.directory[0] != '\0';
    options.opening.notes_creation = !options.opening.creates_named;
    lc_buf_init(&answer, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    if (status == LOCI_OK)
        status = lc_link_open(&link, cli, &options, &err);
    if (status == LOCI_OK)
        status = lc_operation_call(cli, &link, operation, &answer, &err);
    if (status == LOCI_OK && link.remote != NULL)
        note_remote(cli, operation);
    else if (status == LOCI_OK && op != NULL && (op->flags & LC_OP_PROCESS) != 0 &&
             !operation->is_plain && !cli->globals.wants_json)
        lc_cli_note(cli, "This command changed itself only, and ends now; name a daemon with --url "
                         "or LOCI_URL.");
    if (status == LOCI_OK)
        code = lc_answer_print(cli, operation, lc_buf_str(&answer));
    else if (cli->write_failed)
        code = LC_EXIT_FAILED; /* main() says why. */
    else if (link.engine != NULL && is_wrong_usage(operation, &err))
        code = lc_cli_report_usage(cli, &err);
    else
        code = lc_cli_report(cli, &err);
    if (status == LOCI_ECANCELLED && lc_interrupt_is_set() && !operation->is_plain)
        code = LC_EXIT_INTERRUPTED;

    lc_buf_clear(&answer);
    lc_link_close(&link);
    remove_scratch(&scratch);
    return code;
}

/* ---- loci call ------------------------------------------------------------------------------- */

int lc_command_call(lc_cli *cli, const lc_arguments *arguments)
{
    const lc_op *op;
    loci_error err;
    lc_buf args;
    int code;

    if (arguments->word_count == 0)
        return lc_cli_usage(
            cli, "the operation is missing: loci call fact.current '{\"key\":\"city\"}'");

    lc_buf_init(&args, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    if (arguments->word_count > 1 && strcmp(arguments->words[1], "-") == 0) {
        if (lc_input_read(STDIN_FILENO, "stdin", &args, &err) != LOCI_OK) {
            code = lc_cli_report(cli, &err);
            lc_buf_clear(&args);
            return code;
        }
    } else if (arguments->word_count > 1) {
        lc_buf_append(&args, loci_str_of(arguments->words[1]));
    }
    op = lc_op_find(loci_str_of(arguments->words[0]));
    code = lc_operation_run(
        cli, &(lc_operation){.name = arguments->words[0],
                             .args = lc_buf_str(&args),
                             .needs_store = op == NULL || (op->flags & LC_OP_MUTATES) == 0,
                             .is_plain = true});
    lc_buf_clear(&args);
    return code;
}
