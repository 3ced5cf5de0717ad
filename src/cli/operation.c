/* operation.c - calls with progress and readable answers, and `loci call`.
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
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/opening.h"
#include "cli/project.h"
#include "cli/render.h"
#include "ops/op.h"

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
    if (view->lines.failure != LOCI_OK || !lc_cli_write(STDOUT_FILENO, lc_buf_str(&view->lines)))
        view->lines_failed = true;
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

/* {"line":…} contains the line exactly as it is written: it is not parsed. */
static bool take_line(progress_view *view, loci_str chunk)
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

/* A call with progress. */
static loci_status call_stream(lc_cli *cli, loci_engine *engine, const loci_request *request,
                               loci_answer **out, loci_error *err)
{
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    /* Short operations show no bar. */
    progress_view view = {.cli = cli, .drawn_us = lc_clock_monotonic_us() + FIRST_AFTER_US};
    loci_status status;

    lc_buf_init(&view.lines, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    options.cancel = lc_interrupt_flag();
    options.client = cli->client;
    options.timeout_ms = has_own_timeout(cli) ? 0 : LONG_TIMEOUT_MS;
    status = loci_call_stream(engine, request->operation, request->args, &options, progress_take,
                              &view, out, err);
    if (view.is_drawn)
        (void)lc_cli_write(STDERR_FILENO, LC_STR("\r\033[K")); /* Decoration. */
    cli->has_printed_lines = view.line_count > 0;
    if (!write_lines(&view) && status == LOCI_OK) {
        loci_answer_free(*out);
        *out = NULL;
        status = lc_fail(err, LOCI_ERESOURCE, "cannot write to stdout");
    }
    lc_buf_clear(&view.lines);
    return status;
}

loci_status lc_operation_call(lc_cli *cli, loci_engine *engine, const lc_operation *operation,
                              loci_answer **out, loci_error *err)
{
    const lc_op *op = lc_op_find(loci_str_of(operation->name));
    bool is_long = op != NULL && (op->flags & LC_OP_STREAMS) != 0;
    loci_call_options options = LOCI_CALL_OPTIONS_INIT;
    loci_request request = {.operation = operation->name};
    const char *persona_id = NULL;
    loci_status status;
    lc_buf args;

    lc_buf_init(&args, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    status = choose_persona(cli, operation, &persona_id, err);
    if (status == LOCI_OK)
        lc_operation_add_who(cli, operation, persona_id, &args);
    request.args = lc_buf_str(&args);
    options.cancel = lc_interrupt_flag();
    options.client = cli->client;
    options.timeout_ms = is_long && !has_own_timeout(cli) ? LONG_TIMEOUT_MS : 0;
    cli->has_printed_lines = false;
    if (status == LOCI_OK)
        status = lc_buf_status(&args, err);
    if (status == LOCI_OK && is_long && !operation->is_plain)
        status = call_stream(cli, engine, &request, out, err);
    else if (status == LOCI_OK)
        status = loci_call(engine, request.operation, request.args, &options, out, err);
    lc_buf_clear(&args);
    return status;
}

/* The lines of a text, with everything that controls a terminal escaped. */
static void append_lines(lc_buf *out, loci_str text)
{
    while (text.ptr != NULL) {
        lc_text_append_visible(out, lc_str_split(text, '\n', &text));
        if (text.ptr != NULL)
            lc_buf_append_byte(out, '\n');
    }
}

/* fact.current: the value alone, so that a script can use it. Without a valid fact a sentence says
 * why, and the exit code is that of a failure. */
static int print_current(lc_cli *cli, const lc_json *answer)
{
    const lc_json *value = lc_json_member(answer, LC_STR("value"));
    const lc_json *ended_at = lc_json_member(answer, LC_STR("ended_at"));
    const lc_json *by = lc_json_member(answer, LC_STR("superseded_by"));
    loci_error err;

    if (value == NULL) {
        (void)lc_fail(&err, LOCI_ENOTFOUND,
                      "%.*s has no valid fact: the last one was %.*s at %.*s%s%.*s; "
                      "`loci fact history` shows it",
                      LC_STR_ARG(lc_json_str(lc_json_member(answer, LC_STR("key")))),
                      LC_STR_ARG(lc_json_str(lc_json_member(answer, LC_STR("status")))),
                      LC_STR_ARG(lc_json_str(ended_at)), by != NULL ? " by " : "",
                      LC_STR_ARG(by != NULL ? lc_json_str(by) : LC_STR("")));
        return lc_cli_report(cli, &err);
    }
    if (lc_json_kind_of(value) == LC_JSON_STRING && !cli->out_terminal.is_terminal)
        lc_buf_append(&cli->out, lc_json_str(value)); /* A program gets every byte. */
    else if (lc_json_kind_of(value) == LC_JSON_STRING)
        append_lines(&cli->out, lc_json_str(value));
    else
        lc_render_json(&cli->out, value);
    lc_buf_append_byte(&cli->out, '\n');
    return LC_EXIT_OK;
}

/* Columns and sections to show, for answers that have many. */
typedef struct lc_view {
    const char *name;
    const char *columns;
    const char *hidden;
    const char *bars;
    const char *ages;
    bool is_of_texts; /* See lc_render_target. */
    const char *text;
    /* Prints the answer, unless --verbose or --json is given; returns the exit code. */
    int (*print)(lc_cli *cli, const lc_json *answer);
} lc_view;

#define FILES "file file_ids" /* For programs: the text says what a person asks. */

static const lc_view *view_of(const char *name)
{
    static const lc_view views[] = {
        {"config.list", "name value origin help", NULL},
        {"event.list", "seq recorded_at type payload", NULL},
        {"fact.current", NULL, NULL, .print = print_current},
        {"fact.history", "key value status authority observed_at ended_at id", NULL},
        {"fact.list", "key value status authority scope observed_at id", NULL},
        {"job.list", "id kind status attempts progress error created_at", NULL},
        {"entity.list", "ref label memories aliases created_at", NULL, NULL, "created_at"},
        {"file.create", .text = "text", .hidden = FILES},
        {"file.delete", .text = "text", .hidden = FILES},
        {"file.get", .text = "content"},
        {"file.history", "version operation path size at id", NULL, NULL, "at"},
        {"file.insert", .text = "text", .hidden = FILES},
        {"file.list", "path size version updated_at id", NULL, NULL, "updated_at"},
        {"file.rename", .text = "text", .hidden = FILES},
        {"file.str_replace", .text = "text", .hidden = FILES},
        {"file.view", .text = "text", .hidden = FILES},
        {"memory.cards", "text", NULL, NULL, NULL, true},
        {"memory.forget", "kind text id", NULL},
        {"memory.foundation", "text observed_at id", NULL, NULL, "observed_at", true},
        {"memory.history", "text status observed_at id", NULL, NULL, "observed_at", true},
        {"memory.list", "text type importance status observed_at id", NULL, NULL, "observed_at",
         true},
        {"memory.recall", "score text reason observed_at id parts", "complete", "score",
         "observed_at", true},
        {"memory.store", NULL, "results"},
        {"op.list", "name help", NULL},
        {"session.search", NULL, "complete"},
        /* Figures of this short-lived process are of no interest. */
        {"store.status", NULL, "counters memory"},
        {"todo.list", "text kind due_at id", NULL, NULL, "due_at"},
        {"token.list", "id name status scopes user_id authority created_at expires_at", NULL},
        {NULL, NULL, NULL},
    };
    const lc_view *view = views;

    while (view->name != NULL && strcmp(view->name, name) != 0)
        view++;
    return view;
}

static void append_answer(lc_cli *cli, const lc_operation *operation, loci_str answer, lc_buf *out)
{
    const lc_terminal *terminal = cli->has_printed_lines ? &cli->err_terminal : &cli->out_terminal;
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    const lc_json *json;

    if (cli->globals.wants_json || operation->is_plain ||
        lc_json_parse(cli->arena, answer, LC_JSON_ALLOW_NUL, &json, NULL) != LOCI_OK) {
        lc_buf_append(out, answer);
        lc_buf_append_byte(out, '\n');
    } else {
        lc_render(&(lc_render_target){.arena = cli->arena,
                                      .terminal = terminal,
                                      .out = out,
                                      .columns = view_of(operation->name)->columns,
                                      .hidden = view_of(operation->name)->hidden,
                                      .bars = view_of(operation->name)->bars,
                                      .ages = view_of(operation->name)->ages,
                                      .is_of_texts = view_of(operation->name)->is_of_texts,
                                      .text = view_of(operation->name)->text,
                                      .now_us = lc_clock_system_us(NULL)},
                  json);
    }
    lc_arena_rewind(cli->arena, mark);
}

/* To stderr if lines were streamed to stdout. Returns the exit code. */
static int print_answer(lc_cli *cli, const lc_operation *operation, loci_str answer)
{
    const lc_view *view = view_of(operation->name);
    bool is_raw = cli->globals.wants_json || operation->is_plain;
    const lc_json *json;
    lc_buf summary;

    if (view->print != NULL && !is_raw && !cli->globals.is_verbose &&
        lc_json_parse(cli->arena, answer, LC_JSON_ALLOW_NUL, &json, NULL) == LOCI_OK)
        return view->print(cli, json);
    if (!cli->has_printed_lines) {
        append_answer(cli, operation, answer, &cli->out);
        return LC_EXIT_OK;
    }
    if (cli->globals.is_quiet)
        return LC_EXIT_OK;
    lc_buf_init(&summary, cli->heap, LOCI_MEM_REQUESTS, LC_ANSWER_BYTES_MAX);
    append_answer(cli, operation, answer, &summary);
    (void)lc_cli_write(STDERR_FILENO,
                       lc_buf_str(&summary)); /* Best effort: the lines are written already. */
    lc_buf_clear(&summary);
    return LC_EXIT_OK;
}

/* An operation that needs no store gets an empty one, in a directory of its own, if the store does
 * not exist. The engine cannot run without: settings and the clock come from there. */
typedef struct scratch_store {
    char directory[64]; /* "" = none was made. */
    char path[96];
} scratch_store;

static void make_scratch(lc_cli *cli, scratch_store *scratch)
{
    lc_store_path store;
    loci_error err;

    scratch->directory[0] = '\0';
    if (lc_store_path_find(cli, &store, &err) == LOCI_OK && lc_store_path_exists(&store))
        return;
    (void)snprintf(scratch->directory, sizeof scratch->directory, "/tmp/loci-XXXXXX");
    if (mkdtemp(scratch->directory) == NULL) {
        scratch->directory[0] = '\0';
        return;
    }
    (void)snprintf(scratch->path, sizeof scratch->path, "%s/loci.db", scratch->directory);
    cli->globals.store = scratch->path;
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
    (void)rmdir(scratch->directory); /* A leftover in /tmp does no harm. */
}

int lc_operation_run(lc_cli *cli, const lc_operation *operation)
{
    const lc_op *op = lc_op_find(loci_str_of(operation->name));
    bool is_long = op != NULL && (op->flags & LC_OP_STREAMS) != 0 && !operation->is_plain;
    /* A long operation may be a job: worker threads run it while this one shows its progress. */
    lc_opening opening = {.flags = is_long ? 0 : LOCI_OPEN_INLINE};
    scratch_store scratch = {.directory = ""};
    loci_engine *engine = NULL;
    loci_answer *answer = NULL;
    loci_error err;
    loci_status status;
    int code = LC_EXIT_OK;

    if (op != NULL && (op->flags & LC_OP_NO_STORE) != 0)
        make_scratch(cli, &scratch);
    if (operation->needs_store && scratch.directory[0] == '\0')
        opening.flags |= LOCI_OPEN_EXISTING;
    opening.is_silent = cli->globals.wants_json || operation->is_plain;
    status = lc_opening_run(cli, &opening, &engine, &err);
    if (status == LOCI_OK)
        status = lc_operation_call(cli, engine, operation, &answer, &err);
    if (status == LOCI_OK)
        code = print_answer(cli, operation, loci_answer_json(answer));
    else
        code = lc_cli_report(cli, &err);
    if (status == LOCI_ECANCELLED && lc_interrupt_is_set() && !operation->is_plain)
        code = LC_EXIT_INTERRUPTED;

    loci_answer_free(answer);
    loci_close(engine);
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
