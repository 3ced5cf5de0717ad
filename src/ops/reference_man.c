/* reference_man.c - the man page loci(1), in the man macros that groff and mandoc both take.
 *
 * In roff a line that begins with a dot or a quote is a command, a backslash begins an escape, and
 * hyphens and quotes become typographic ones that no shell takes; so all text from the tables goes
 * through add_text().
 */
#include "ops/reference.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/settings.h"
#include "ops/check.h"

static void add(lc_buf *out, const char *roff)
{
    lc_buf_append(out, loci_str_of(roff));
}

static void add_text(lc_buf *out, const char *text)
{
    if (*text == '.')
        add(out, "\\&");
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\\')
            add(out, "\\e");
        else if (*at == '-')
            add(out, "\\-");
        else if (*at == '\'')
            add(out, "\\(aq");
        else
            lc_buf_append_byte(out, *at);
    }
}

static void add_bold(lc_buf *out, const char *text)
{
    add(out, "\\fB");
    add_text(out, text);
    add(out, "\\fR");
}

/* A paragraph with a hanging title: what it is, then its help as a sentence. */
static void add_entry(lc_buf *out, const char *title, const char *help)
{
    add(out, ".TP\n");
    add_bold(out, title);
    add(out, "\n");
    add_text(out, help);
    add(out, ".\n");
}

static void add_options(lc_buf *out, const lc_reference_option *options)
{
    for (; options != NULL && options->usage != NULL; options++)
        add_entry(out, options->usage, options->help);
}

static void add_head(lc_buf *out)
{
    lc_buf_append_format(out, ".TH LOCI 1 \"\" \"loci %d.%d.%d\" \"User Commands\"\n",
                         LOCI_VERSION_MAJOR, LOCI_VERSION_MINOR, LOCI_VERSION_PATCH);
    add(out, ".SH NAME\nloci \\- the state engine for AI agents\n"
             ".SH SYNOPSIS\n.B loci\n.I COMMAND\n[\\fIARGUMENT\\fR ...] [\\fIOPTION\\fR ...]\n"
             ".SH DESCRIPTION\n"
             "loci keeps the knowledge of an agent, the content of its context window and its "
             "current work, in a store that is one file.\n"
             "Everything it does is an operation with a name and one JSON object of arguments; "
             "\\fBloci call\\fR runs any of them, the other commands are shorter ways to the same "
             "ones.\n");
}

static void add_commands(lc_buf *out, const lc_reference_command *command)
{
    add(out, ".SH COMMANDS\n");
    for (; command->name != NULL; command++) {
        add(out, ".TP\n\\fBloci\\fR ");
        add_bold(out, command->usage);
        add(out, "\n");
        add_text(out, command->help);
        add(out, ".\n");
        if (command->options != NULL && command->options->usage != NULL) {
            add(out, ".RS\n");
            add_options(out, command->options);
            add(out, ".RE\n");
        }
    }
}

static void add_operations(lc_buf *out)
{
    const lc_op *op;

    add(out, ".SH OPERATIONS\n"
             "Their parameters and answers are shown by \\fBloci call op.get\\fR "
             "\\(aq{\"name\":\"op.list\"}\\(aq.\n");
    for (size_t i = 0; (op = lc_op_at(i)) != NULL; i++)
        add_entry(out, op->name, op->help);
}

static void add_settings(lc_buf *out)
{
    lc_setting_list list = lc_setting_list_own();

    add(out, ".SH SETTINGS\nDefaults are in parentheses. A setting is also a variable of the "
             "environment: call.timeout_ms is LOCI_CALL_TIMEOUT_MS.\n");
    for (size_t i = 0; i < list.count; i++) {
        add(out, ".TP\n");
        add_bold(out, list.items[i]->name);
        if (list.items[i]->default_text != NULL) {
            add(out, " (");
            add_text(out, list.items[i]->default_text);
            add(out, ")");
        }
        add(out, "\n");
        add_text(out, list.items[i]->help);
        add(out, ".\n");
    }
}

static void add_output(lc_buf *out)
{
    add(out,
        ".SH OUTPUT\n"
        "On a terminal, lists are tables or paragraphs that fit its width, times are ages, and "
        "a change is one sentence. If a table is too wide, columns with ids are omitted "
        "first, then the last columns; the last line names them. \\fB-v\\fR prints all "
        "members and exact times.\n.PP\n"
        "In a pipe, tables have one tab between columns, no padding, a line with the names "
        "first, all default columns and exact times; tabs and line ends in values are "
        "\\et and \\en. The cursor of the next page goes to standard error.\n.PP\n"
        "\\fB-o csv\\fR prints rows as in RFC 4180, \\fB-o tsv\\fR with one tab between "
        "fields and \\et, \\en, \\er and \\e\\e in values; both have all columns of the "
        "record, or those of \\fB--columns\\fR. Lists and objects are JSON, null is an empty "
        "field. A record is one row.\n");
}

static void add_errors(lc_buf *out)
{
    const lc_status_row *rows = lc_status_rows();

    add(out, ".SH EXIT STATUS\n.TP\n.B 0\nIt worked.\n.TP\n.B 1\nIt failed; standard error has "
             "{\"error\":{\"code\", \"message\"}}, and nothing was changed.\n"
             ".TP\n.B 2\nThe command was written wrongly: an unknown command or option, or an "
             "argument that the operation refuses. \\fBcall\\fR and \\fBbatch\\fR get their "
             "arguments from programs and exit with 1 for the latter.\n.SH ERRORS\n");
    for (size_t i = LOCI_OK + 1; i <= LOCI_EINTERNAL; i++) {
        add(out, ".TP\n");
        add_bold(out, rows[i].name);
        lc_buf_append_format(out, " (HTTP %d)\n", rows[i].http);
        add_text(out, rows[i].help);
        add(out, "\n");
    }
}

static void add_examples(lc_buf *out)
{
    add(out, ".SH EXAMPLES\n.EX\n"
             "export LOCI_STORE=agent.db\n"
             "loci call fact.write \\(aq{\"key\":\"city\",\"value\":\"Oslo\"}\\(aq\n"
             "loci call fact.current \\(aq{\"key\":\"city\"}\\(aq\n"
             ".EE\n");
}

void lc_reference_man(lc_buf *out, const lc_reference_cli *cli)
{
    add_head(out);
    add_commands(out, cli->commands);
    if (cli->options != NULL && cli->options->usage != NULL) {
        add(out, ".SH OPTIONS\n");
        add_options(out, cli->options);
    }
    if (cli->environment != NULL && cli->environment->usage != NULL) {
        add(out, ".SH ENVIRONMENT\n");
        add_options(out, cli->environment);
    }
    add_operations(out);
    add_settings(out);
    add_output(out);
    add_errors(out);
    add_examples(out);
}
