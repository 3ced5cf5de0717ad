/* help_operation.c - everything the table says about one operation, in the words of the command
 * line. */
#include "cli/help.h"

#include "base/str.h"
#include "cli/noun_verb.h"
#include "cli/parameters.h"
#include "ops/check.h"

void lc_help_noun(lc_cli *cli, loci_str noun)
{
    lc_help_list *list = lc_help_list_new(cli);
    lc_buf left;

    lc_buf_init(&left, cli->heap, LOCI_MEM_REQUESTS, 4096);
    lc_cli_print(cli, "Usage: loci %.*s VERB [ARGUMENT…] [--parameter VALUE…]\n\n",
                 LC_STR_ARG(noun));
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);

        if (!lc_str_eq(lc_noun_of(op), noun))
            continue;
        lc_buf_reset(&left);
        lc_buf_append(&left, lc_noun_of(op));
        lc_buf_append_byte(&left, ' ');
        lc_buf_append(&left, lc_verb_of(op));
        lc_help_list_add(list, lc_buf_str(&left), loci_str_of(op->help));
    }
    lc_help_list_write(list);
    lc_cli_print(cli, "\n`loci help %.*s VERB` explains one.\n", LC_STR_ARG(noun));
    lc_buf_clear(&left);
}

/* What a kind of value is, its option says already; ranges and choices it does not. */
static void describe(const lc_param *param, lc_buf *out)
{
    char takes[LC_DESCRIPTION_BYTES];
    bool is_narrow = param->kind == LC_PARAM_INT || param->kind == LC_PARAM_REAL ||
                     param->kind == LC_PARAM_TIME || param->choices != NULL;
    const char *separator = " (";

    lc_buf_append(out, loci_str_of(param->help));
    if (is_narrow) {
        lc_param_describe(param, takes);
        lc_buf_append_format(out, "%s%s", separator, takes);
        separator = "; ";
    }
    if (param->default_text != NULL) {
        lc_buf_append_format(out, "%sdefault %s", separator, param->default_text);
        separator = "; ";
    }
    if ((param->flags & LC_PARAM_REQUIRED) != 0 && (param->flags & LC_PARAM_POSITIONAL) == 0) {
        lc_buf_append_format(out, "%srequired", separator);
        separator = "; ";
    }
    if (strcmp(separator, "; ") == 0)
        lc_buf_append_byte(out, ')');
}

static void append_option(const lc_option *option, lc_buf *out)
{
    lc_buf_append_format(out, "--%s", option->name);
    if (option->value != NULL)
        lc_buf_append_format(out, " %s", option->value);
}

/* Either those that have a place (`positional`) or those that have only a name. */
static void write_params(lc_cli *cli, const lc_op *op, bool positional)
{
    lc_help_list *list = lc_help_list_new(cli);
    const lc_option *options = lc_parameters_options(cli, op);
    const lc_param *param;
    bool any = false;
    lc_buf left;
    lc_buf right;

    lc_buf_init(&left, cli->heap, LOCI_MEM_REQUESTS, 4096);
    lc_buf_init(&right, cli->heap, LOCI_MEM_REQUESTS, 4096);
    for (size_t i = 0; options != NULL && (param = lc_op_param(op, i)) != NULL; i++) {
        if (((param->flags & LC_PARAM_POSITIONAL) != 0) != positional)
            continue;
        if (!any)
            lc_help_heading(cli, positional ? "Arguments" : "Options");
        any = true;
        lc_buf_reset(&left);
        lc_buf_reset(&right);
        if (positional)
            lc_parameters_word(param, &left);
        else
            append_option(&options[i], &left);
        describe(param, &right);
        lc_help_list_add(list, lc_buf_str(&left), lc_buf_str(&right));
    }
    lc_help_list_write(list);
    lc_buf_clear(&left);
    lc_buf_clear(&right);
}

static void write_results(lc_cli *cli, const lc_op *op)
{
    lc_help_list *list = lc_help_list_new(cli);

    if (op->results == NULL || op->results->name == NULL)
        return;
    lc_help_heading(cli, "Answer");
    for (const lc_result *result = op->results; result->name != NULL; result++)
        lc_help_list_add(list, loci_str_of(result->name), loci_str_of(result->help));
    lc_help_list_write(list);
}

static bool is_plain(loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr(" \t\n'\"\\$`*?[]{}()<>|&;#~!", text.ptr[i]) != NULL)
            return false;
    }
    return text.len > 0;
}

static void append_quoted(lc_buf *out, loci_str text)
{
    if (is_plain(text)) {
        lc_buf_append(out, text);
        return;
    }
    lc_buf_append_byte(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'')
            lc_buf_append(out, LC_STR("'\\''"));
        else
            lc_buf_append_byte(out, text.ptr[i]);
    }
    lc_buf_append_byte(out, '\'');
}

/* A value of the example as it is typed. */
static void append_typed(lc_cli *cli, lc_buf *out, const lc_json *value)
{
    lc_json_writer w;
    lc_buf json;

    if (lc_json_kind_of(value) == LC_JSON_STRING) {
        append_quoted(out, lc_json_str(value));
        return;
    }
    lc_buf_init(&json, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    lc_jw_init(&w, &json);
    lc_jw_value(&w, value);
    append_quoted(out, lc_buf_str(&json));
    lc_buf_clear(&json);
}

/* The example's arguments as words and options: words first, in the order of the table. */
static void append_command(lc_cli *cli, const lc_op *op, const lc_json *example)
{
    const lc_option *options = lc_parameters_options(cli, op);
    const lc_param *param;

    lc_cli_print(cli, "  loci %.*s %.*s", LC_STR_ARG(lc_noun_of(op)), LC_STR_ARG(lc_verb_of(op)));
    for (int pass = 0; options != NULL && pass < 2; pass++) {
        for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
            const lc_json *value = lc_json_member(example, loci_str_of(param->name));
            bool is_word = (param->flags & LC_PARAM_POSITIONAL) != 0;

            if (value == NULL || is_word != (pass == 0))
                continue;
            lc_buf_append_byte(&cli->out, ' ');
            if (param->kind == LC_PARAM_BOOL && !is_word) {
                lc_cli_print(cli,
                             lc_json_kind_of(value) == LC_JSON_BOOL && lc_json_bool(value)
                                 ? "--%s"
                                 : "--no-%s",
                             options[i].name);
                continue;
            }
            if (!is_word)
                lc_cli_print(cli, "--%s ", options[i].name);
            append_typed(cli, &cli->out, value);
        }
    }
    lc_buf_append_byte(&cli->out, '\n');
}

static void write_example(lc_cli *cli, const lc_op *op)
{
    const lc_json *example;

    lc_help_heading(cli, "Example");
    if (op->example == NULL ||
        lc_json_parse(cli->arena, loci_str_of(op->example), 0, &example, NULL) != LOCI_OK) {
        lc_cli_print(cli, "  loci %.*s %.*s\n  loci call %s\n", LC_STR_ARG(lc_noun_of(op)),
                     LC_STR_ARG(lc_verb_of(op)), op->name);
        return;
    }
    append_command(cli, op, example);
    lc_cli_print(cli, "  loci call %s ", op->name);
    append_quoted(&cli->out, loci_str_of(op->example));
    lc_buf_append_byte(&cli->out, '\n');
}

void lc_help_parameters(lc_cli *cli, const lc_op *op)
{
    write_params(cli, op, true);
    write_params(cli, op, false);
    write_results(cli, op);
}

void lc_help_operation(lc_cli *cli, const lc_op *op)
{
    lc_buf usage;

    lc_buf_init(&usage, cli->heap, LOCI_MEM_REQUESTS, 4096);
    lc_buf_append(&usage, LC_STR("loci "));
    lc_parameters_usage(op, &usage);
    lc_cli_print(cli, "Usage: ");
    lc_terminal_append(&cli->out_terminal, &cli->out, LC_STYLE_HEADING, lc_buf_str(&usage));
    lc_buf_clear(&usage);
    lc_cli_print(cli, "\n\n%s.", op->help);
    if ((op->flags & LC_OP_ADMIN) != 0)
        lc_cli_print(cli, " About the whole store: for administrators.");
    if ((op->flags & LC_OP_TENANT_ADMIN) != 0)
        lc_cli_print(cli, " About the whole tenant: for its administrators.");
    lc_buf_append_byte(&cli->out, '\n');
    lc_help_parameters(cli, op);
    write_example(cli, op);
}
