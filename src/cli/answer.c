/* answer.c - chooses the format of an answer. The members to show are declared with the operation
 * (lc_look). */
#include "cli/answer.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "cli/recover.h"
#include "cli/render.h"
#include "cli/rows.h"

static bool is_for_programs(const char *output)
{
    return output != NULL && (strcmp(output, "csv") == 0 || strcmp(output, "tsv") == 0);
}

loci_status lc_answer_check(lc_cli *cli, const lc_op *op, loci_error *err)
{
    lc_globals *globals = &cli->globals;

    if (globals->wants_ids && (globals->output != NULL || globals->columns != NULL))
        return lc_fail(err, LOCI_EINVAL, "--ids excludes -o and --columns: it prints ids alone");
    if (globals->wants_ids && globals->wants_json)
        return lc_fail(err, LOCI_EINVAL, "give one of --ids and --json, not both");
    if (globals->wants_ids && lc_rows_id(op) == NULL)
        return lc_fail(err, LOCI_EINVAL, "%s answers no ids", op->name);
    if (globals->columns != NULL && globals->wants_json)
        return lc_fail(err, LOCI_EINVAL, "--columns is for tables, CSV and TSV, not for JSON");
    if (globals->columns == NULL)
        return LOCI_OK;
    if (op->look.columns == NULL && !is_for_programs(globals->output))
        return lc_fail(err, LOCI_EINVAL, "%s answers no list: add -o csv or -o tsv", op->name);
    return lc_rows_check_columns(cli->arena, op, globals->columns, &globals->columns, err);
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
        loci_str ending = lc_json_str(lc_json_member(answer, LC_STR("status")));

        (void)lc_fail(&err, LOCI_ENOTFOUND,
                      "%.*s has no valid fact: the last one %s%.*s at %.*s%s%.*s; "
                      "`loci fact history` shows it",
                      LC_STR_ARG(lc_json_str(lc_json_member(answer, LC_STR("key")))),
                      lc_str_is(ending, "expired") ? "" : "was ", LC_STR_ARG(ending),
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

/* A page has an end that is easily overlooked. */
static void note_next_page(lc_cli *cli, const lc_json *answer)
{
    const lc_json *cursor = lc_json_kind_of(answer) == LC_JSON_OBJECT
                                ? lc_json_find(answer, "next_cursor", LC_JSON_STRING)
                                : NULL;

    if (cursor == NULL)
        return;
    (void)lc_cli_flush(cli); /* The note follows the page. A failure is kept for main(). */
    lc_cli_note(cli, "more: --cursor %.*s", LC_STR_ARG(lc_json_str(cursor)));
}

/* Warnings of searches are for the person; results on stdout stay what a program expects. */
static void note_warnings(lc_cli *cli, const lc_json *answer)
{
    const lc_json *warnings = lc_json_kind_of(answer) == LC_JSON_OBJECT
                                  ? lc_json_find(answer, "warnings", LC_JSON_ARRAY)
                                  : NULL;

    for (const lc_json *at = warnings != NULL ? lc_json_first(warnings) : NULL; at != NULL;
         at = lc_json_next(at)) {
        if (lc_json_kind_of(at) != LC_JSON_STRING)
            continue; /* Redacted secrets, which the answer shows. */
        (void)lc_cli_flush(cli);
        lc_cli_note(cli, "note: %.*s", LC_STR_ARG(lc_json_str(at)));
    }
}

static void append_for_people(lc_cli *cli, const lc_operation *operation, const lc_op *op,
                              const lc_json *answer, lc_buf *out)
{
    const lc_terminal *terminal = cli->has_printed_lines ? &cli->err_terminal : &cli->out_terminal;
    lc_render_target target = {.arena = cli->arena,
                               .terminal = terminal,
                               .out = out,
                               .now_us = lc_cli_now_us(cli),
                               .columns = cli->globals.columns,
                               .is_table = cli->globals.output != NULL,
                               .is_full = cli->globals.is_verbose};

    if (op != NULL) {
        target.record = op->answer;
        target.look = &op->look;
    }
    if (lc_json_parse(cli->arena, operation->args, LC_JSON_ALLOW_NUL, &target.args, NULL) !=
        LOCI_OK)
        target.args = NULL;
    lc_render(&target, answer);
}

static void append_answer(lc_cli *cli, const lc_operation *operation, const lc_json *answer,
                          lc_buf *out)
{
    const lc_op *op = lc_op_find(loci_str_of(operation->name));
    const char *output = cli->globals.output;

    if (op != NULL && cli->globals.wants_ids)
        lc_rows_append(out, op, LC_ROWS_IDS, lc_rows_id(op), answer);
    else if (op != NULL && is_for_programs(output))
        lc_rows_append(out, op, strcmp(output, "csv") == 0 ? LC_ROWS_CSV : LC_ROWS_TSV,
                       cli->globals.columns, answer);
    else
        append_for_people(cli, operation, op, answer, out);
}

static bool is_current_value(const lc_cli *cli, const lc_operation *operation)
{
    return strcmp(operation->name, "fact.current") == 0 && !cli->globals.is_verbose &&
           !cli->globals.wants_ids && cli->globals.output == NULL;
}

int lc_answer_print(lc_cli *cli, const lc_operation *operation, loci_str answer)
{
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    const lc_json *json = NULL;
    int code = LC_EXIT_OK;
    lc_buf summary;

    if (cli->has_printed_lines && answer.len == 0) /* Those of a daemon are all of its answer. */
        return LC_EXIT_OK;
    lc_buf_init(&summary, cli->heap, LOCI_MEM_REQUESTS, cli->out.bytes_max);
    if (cli->globals.wants_json || operation->is_plain ||
        lc_json_parse(cli->arena, answer, LC_JSON_ALLOW_NUL, &json, NULL) != LOCI_OK) {
        lc_buf_append(&summary, answer);
        lc_buf_append_byte(&summary, '\n');
    } else if (is_current_value(cli, operation)) {
        code = print_current(cli, json);
    } else if (strcmp(operation->name, "store.recover") == 0 && !cli->globals.is_verbose) {
        code = lc_recover_print(cli, json);
    } else {
        append_answer(cli, operation, json, &summary);
    }
    if (!cli->has_printed_lines)
        lc_buf_append(&cli->out, lc_buf_str(&summary));
    else if (!cli->globals.is_quiet) /* Best effort: the lines are written already. */
        (void)lc_cli_write(STDERR_FILENO, lc_buf_str(&summary));
    if (cli->out.failure == LOCI_OK)
        cli->out.failure = summary.failure;
    if (json != NULL) {
        note_next_page(cli, json);
        note_warnings(cli, json);
    }
    lc_buf_clear(&summary);
    lc_arena_rewind(cli->arena, mark);
    return code;
}
