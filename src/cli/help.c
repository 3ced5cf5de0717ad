/* help.c - `loci`, `loci init`, `loci help` and --help. */
#include "cli/help.h"

#include <sys/stat.h>

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/opening.h"
#include "cli/parameters.h"
#include "cli/remote.h"
#include "ops/check.h"

/* ---- Layout ---------------------------------------------------------------------------------- */

#define ROWS_MAX 256
#define LEFT_COLUMNS_MAX 26 /* Or a third of the screen; a longer left text gets its own line. */
#define WIDTH_DEFAULT 100
#define WIDTH_MAX 100 /* Longer lines are hard to read. */

typedef struct help_list {
    lc_cli *cli;
    size_t count;
    loci_str left[ROWS_MAX];
    loci_str right[ROWS_MAX];
} help_list;

static help_list *list_new(lc_cli *cli)
{
    help_list *list = lc_arena_zalloc_array(cli->arena, 1, sizeof *list);

    if (list != NULL)
        list->cli = cli;
    return list;
}

static void list_add(help_list *list, loci_str left, loci_str right)
{
    if (list == NULL || list->count == ROWS_MAX)
        return;
    list->left[list->count] = lc_arena_copy(list->cli->arena, left);
    list->right[list->count] = lc_arena_copy(list->cli->arena, right);
    if (list->left[list->count].ptr != NULL && list->right[list->count].ptr != NULL)
        list->count++;
}

static void append_spaces(lc_buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lc_buf_append_byte(out, ' ');
}

static void write_row(const help_list *list, size_t row, size_t left_columns, size_t width)
{
    lc_cli *cli = list->cli;
    size_t columns = lc_text_columns(list->left[row]);

    lc_buf_append(&cli->out, LC_STR("  "));
    lc_terminal_append(&cli->out_terminal, &cli->out, LC_STYLE_NAME, list->left[row]);
    if (columns > left_columns) {
        lc_buf_append_byte(&cli->out, '\n');
        append_spaces(&cli->out, left_columns + 4);
    } else {
        append_spaces(&cli->out, left_columns - columns + 2);
    }
    lc_text_append_wrapped(&cli->out, list->right[row], left_columns + 4, width);
}

static size_t width_of(const lc_cli *cli)
{
    size_t columns = cli->out_terminal.columns;

    return columns == 0 ? WIDTH_DEFAULT : columns > WIDTH_MAX ? WIDTH_MAX : columns;
}

static void list_write(help_list *list)
{
    size_t left_columns = 0, left_max, width;

    if (list == NULL)
        return;
    width = width_of(list->cli);
    left_max = width / 3 < LEFT_COLUMNS_MAX ? width / 3 : LEFT_COLUMNS_MAX;
    for (size_t i = 0; i < list->count; i++) {
        size_t columns = lc_text_columns(list->left[i]);

        if (columns > left_columns && columns <= left_max)
            left_columns = columns;
    }
    for (size_t i = 0; i < list->count; i++)
        write_row(list, i, left_columns, width);
}

static void write_heading(lc_cli *cli, const char *text)
{
    lc_buf_append_byte(&cli->out, '\n');
    lc_cli_print_styled(cli, LC_STYLE_HEADING, text);
    lc_buf_append_byte(&cli->out, '\n');
}

void lc_help_append_option(const lc_option *option, lc_buf *out)
{
    if (option->letter != 0)
        lc_buf_append_format(out, "-%c, ", option->letter);
    lc_buf_append_format(out, "--%s", option->name);
    if (option->value != NULL)
        lc_buf_append_format(out, " %s", option->value);
}

static void write_options(lc_cli *cli, const lc_option *options)
{
    help_list *list = list_new(cli);
    lc_buf left;

    lc_buf_init(&left, cli->heap, LOCI_MEM_REQUESTS, 4096);
    for (; options->name != NULL; options++) {
        lc_buf_reset(&left);
        lc_help_append_option(options, &left);
        list_add(list, lc_buf_str(&left), loci_str_of(options->help));
    }
    list_write(list);
    lc_buf_clear(&left);
}

/* ---- Operations ------------------------------------------------------------------------------ */

void lc_help_noun(lc_cli *cli, loci_str noun)
{
    help_list *list = list_new(cli);
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
        list_add(list, lc_buf_str(&left), loci_str_of(op->help));
    }
    list_write(list);
    lc_cli_print(cli, "\nSee `loci help %.*s VERB` for details.\n", LC_STR_ARG(noun));
    lc_buf_clear(&left);
}

/* Help, range or choices, default. The kind of value is shown by the option itself. */
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

/* Either positional parameters or options. */
static void write_params(lc_cli *cli, const lc_op *op, bool positional)
{
    help_list *list = list_new(cli);
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
            write_heading(cli, positional ? "Arguments" : "Options");
        any = true;
        lc_buf_reset(&left);
        lc_buf_reset(&right);
        if (positional)
            lc_parameters_word(param, &left);
        else
            lc_help_append_option(&options[i], &left);
        describe(param, &right);
        list_add(list, lc_buf_str(&left), lc_buf_str(&right));
    }
    list_write(list);
    lc_buf_clear(&left);
    lc_buf_clear(&right);
}

static void append_quoted(lc_buf *out, loci_str text)
{
    bool needs_quotes = text.len == 0;

    for (size_t i = 0; i < text.len; i++)
        needs_quotes |= strchr(" \t\n'\"\\$`*?[]{}()<>|&;#~!", text.ptr[i]) != NULL;
    if (!needs_quotes) {
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

/* A value of the example as typed in a shell. */
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

/* The example as a command line: words first, then options. */
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

    write_heading(cli, "Example");
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

static void write_parameters(lc_cli *cli, const lc_op *op)
{
    help_list *list = list_new(cli);
    lc_result members[LC_RECORD_MEMBERS_MAX];
    size_t count = lc_op_results(op, members);

    write_params(cli, op, true);
    write_params(cli, op, false);
    write_heading(cli, "Answer");
    for (size_t i = 0; i < count; i++)
        list_add(list, loci_str_of(members[i].name), loci_str_of(members[i].help));
    list_write(list);
}

void lc_help_operation(lc_cli *cli, const lc_op *op)
{
    lc_buf usage, text;

    lc_buf_init(&usage, cli->heap, LOCI_MEM_REQUESTS, 4096);
    lc_buf_append(&usage, LC_STR("loci "));
    lc_parameters_usage(op, &usage);
    lc_cli_print(cli, "Usage: ");
    lc_terminal_append(&cli->out_terminal, &cli->out, LC_STYLE_HEADING, lc_buf_str(&usage));
    lc_buf_clear(&usage);
    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, 4096);
    lc_buf_append_format(&text, "%s.", op->help);
    if ((op->flags & LC_OP_ADMIN) != 0)
        lc_buf_append(&text, LC_STR(" Administrators only: it affects the whole store."));
    if ((op->flags & LC_OP_TENANT_ADMIN) != 0)
        lc_buf_append(&text, LC_STR(" Administrators of the tenant only."));
    lc_cli_print(cli, "\n\n");
    lc_text_append_wrapped(&cli->out, lc_buf_str(&text), 0, width_of(cli));
    lc_buf_clear(&text);
    write_parameters(cli, op);
    write_example(cli, op);
}

/* ---- Commands -------------------------------------------------------------------------------- */

static void write_groups(lc_cli *cli)
{
    const lc_command *command = lc_command_table();

    while (command->name != NULL) { /* Commands of one group are neighbours in the table. */
        const char *group = command->group;
        help_list *list = list_new(cli);

        write_heading(cli, group);
        for (; command->name != NULL && strcmp(command->group, group) == 0; command++)
            list_add(list, loci_str_of(command->name), loci_str_of(command->help));
        list_write(list);
    }
}

/* One row per noun, with its verbs. */
static void write_nouns(lc_cli *cli)
{
    help_list *list = list_new(cli);
    lc_buf verbs;

    lc_buf_init(&verbs, cli->heap, LOCI_MEM_REQUESTS, 4096);
    for (size_t i = 0; i < lc_op_count(); i++) {
        loci_str noun = lc_noun_of(lc_op_at(i));

        if (i > 0 && lc_str_eq(noun, lc_noun_of(lc_op_at(i - 1))))
            continue;
        lc_buf_reset(&verbs);
        for (size_t j = i; j < lc_op_count() && lc_str_eq(noun, lc_noun_of(lc_op_at(j))); j++) {
            lc_buf_append(&verbs, j == i ? LC_STR("") : LC_STR(", "));
            lc_buf_append(&verbs, lc_verb_of(lc_op_at(j)));
        }
        list_add(list, noun, lc_buf_str(&verbs));
    }
    list_write(list);
    lc_buf_clear(&verbs);
}

void lc_help_overview(lc_cli *cli)
{
    lc_cli_print_styled(cli, LC_STYLE_HEADING, "loci");
    lc_cli_print(cli, " %s, the state engine for AI agents\n\n", loci_version());
    lc_cli_print(cli, "Usage: loci COMMAND [ARGUMENT…] [--option…]\n"
                      "       loci NOUN VERB [ARGUMENT…] [--parameter VALUE…]\n");
    write_groups(cli);
    write_heading(cli, "Operations: loci NOUN VERB (see `loci help fact write`)");
    write_nouns(cli);
    write_heading(cli, "Options of every command");
    write_options(cli, lc_cli_global_options());
}

static void write_indented(lc_cli *cli, const char *lines)
{
    loci_str rest = loci_str_of(lines);

    while (rest.ptr != NULL && rest.len > 0) {
        loci_str line = lc_str_split(rest, '\n', &rest);

        lc_buf_append(&cli->out, line.len > 0 ? LC_STR("  ") : LC_STR(""));
        lc_buf_append(&cli->out, line);
        lc_buf_append_byte(&cli->out, '\n');
    }
}

/* Lines of the table of commands are as long as those of its source; here they fill the screen. */
static void write_paragraph(lc_cli *cli, const char *lines, const char *end)
{
    loci_str rest = loci_str_of(lines);
    lc_buf text;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, 8192);
    while (rest.ptr != NULL) {
        lc_buf_append(&text, lc_str_split(rest, '\n', &rest));
        lc_buf_append(&text, rest.ptr != NULL ? LC_STR(" ") : loci_str_of(end));
    }
    lc_text_append_wrapped(&cli->out, lc_buf_str(&text), 0, width_of(cli));
    lc_buf_clear(&text);
}

void lc_help_command(lc_cli *cli, const lc_command *command)
{
    const lc_op *op = lc_op_find(loci_str_of(command->operation));

    lc_cli_print(cli, "Usage: ");
    lc_cli_print_styled(cli, LC_STYLE_HEADING, "loci ");
    lc_cli_print_styled(cli, LC_STYLE_HEADING, command->name);
    lc_cli_print(cli, "%s%s\n\n", command->usage[0] != '\0' ? " " : "", command->usage);
    write_paragraph(cli, command->help, ".");
    if (command->details != NULL) {
        lc_buf_append_byte(&cli->out, '\n');
        write_paragraph(cli, command->details, "");
    }
    if (command->options != NULL) {
        write_heading(cli, "Options");
        write_options(cli, command->options);
    }
    if (op != NULL)
        write_parameters(cli, op);
    if (command->examples != NULL) {
        write_heading(cli, "Examples");
        write_indented(cli, command->examples);
    }
    lc_buf_append(&cli->out, LC_STR("\nSee `loci help` for the options of every command.\n"));
}

int lc_help_fail_unknown(lc_cli *cli, loci_str word)
{
    lc_nearest nearest = lc_nearest_to(word);

    for (const lc_command *command = lc_command_table(); command->name != NULL; command++)
        lc_nearest_offer(&nearest, loci_str_of(command->name));
    for (size_t i = 0; i < lc_op_count(); i++) {
        lc_nearest_offer(&nearest, lc_noun_of(lc_op_at(i)));
        lc_nearest_offer(&nearest, loci_str_of(lc_op_at(i)->name));
    }
    if (nearest.best.ptr != NULL)
        return lc_cli_usage(cli, "there is no command \"%.*s\"; did you mean `loci %.*s`?",
                            LC_STR_ARG(word), LC_STR_ARG(nearest.best));
    return lc_cli_usage(cli, "there is no command \"%.*s\"", LC_STR_ARG(word));
}

int lc_command_help(lc_cli *cli, const lc_arguments *arguments)
{
    loci_str first = loci_str_of(arguments->word_count > 0 ? arguments->words[0] : NULL);
    loci_str second = loci_str_of(arguments->word_count > 1 ? arguments->words[1] : NULL);
    const lc_command *command;
    const lc_op *op;

    cli->help_name = NULL;
    if (arguments->word_count == 0) {
        lc_help_overview(cli);
        return LC_EXIT_OK;
    }
    op = second.ptr != NULL ? lc_noun_verb_find(first, second) : lc_op_find(first);
    if (op != NULL) {
        lc_help_operation(cli, op);
        return LC_EXIT_OK;
    }
    command = lc_command_find(first);
    if (command != NULL) {
        lc_help_command(cli, command);
        return LC_EXIT_OK;
    }
    if (!lc_noun_verb_is_known(first))
        return lc_help_fail_unknown(cli, first);
    if (second.ptr != NULL)
        return lc_cli_usage(cli, "%.*s has no verb \"%.*s\"", LC_STR_ARG(first),
                            LC_STR_ARG(second));
    lc_help_noun(cli, first);
    return LC_EXIT_OK;
}

/* ---- loci and loci init ---------------------------------------------------------------------- */

static void suggest(lc_cli *cli, const char *const *rows)
{
    help_list *list = list_new(cli);

    for (; rows[0] != NULL; rows += 2)
        list_add(list, loci_str_of(rows[0]), loci_str_of(rows[1]));
    list_write(list);
}

static void suggest_first_steps(lc_cli *cli)
{
    static const char *const rows[] = {
        "loci fact write city Oslo",
        "Store a fact",
        "loci fact current city",
        "Show its current value",
        "loci fact history city",
        "Show earlier values and why they changed",
        "loci status",
        "Show the size and state of the store",
        "loci help",
        "List all commands",
        NULL,
    };

    write_heading(cli, "Next steps");
    suggest(cli, rows);
}

static void welcome_newcomer(lc_cli *cli, const lc_store_path *path)
{
    static const char *const rows[] = {
        "loci init",
        "Create your store",
        "loci fact write city Oslo",
        "Or start at once: the first write creates the store",
        "loci help",
        "List all commands",
        NULL,
    };

    lc_cli_print(cli, "It stores the knowledge of an agent, with source and time, in one file.\n"
                      "History is kept, and no data leaves your machine.\n");
    write_heading(cli, "There is no store yet. Start with");
    suggest(cli, rows);
    lc_cli_print(
        cli, "\nThe store will be at %s\n(choose another place with --store FILE or LOCI_STORE)\n",
        path->text);
}

static int welcome_to_daemon(lc_cli *cli)
{
    const char *url = lc_remote_url(cli);
    lc_json_writer w;

    if (cli->globals.wants_json) {
        lc_jw_init(&w, &cli->out);
        lc_jw_object(&w);
        lc_jw_member_text(&w, "version", loci_version());
        lc_jw_member_text(&w, "daemon", url);
        lc_jw_end(&w);
        lc_buf_append_byte(&cli->out, '\n');
        return LC_EXIT_OK;
    }
    lc_cli_print_styled(cli, LC_STYLE_HEADING, "loci");
    lc_cli_print(cli, " %s, the state engine for AI agents\n\nYour daemon: %s (%s)\n",
                 loci_version(), url, lc_remote_origin(cli));
    suggest_first_steps(cli);
    return LC_EXIT_OK;
}

int lc_welcome(lc_cli *cli)
{
    lc_store_path path;
    lc_json_writer w;
    struct stat info;
    loci_error err;
    bool exists;

    if (lc_remote_url(cli) != NULL)
        return welcome_to_daemon(cli);
    if (lc_store_path_find(cli, &path, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);
    exists = lc_store_path_exists(&path);
    if (cli->globals.wants_json) {
        lc_jw_init(&w, &cli->out);
        lc_jw_object(&w);
        lc_jw_member_text(&w, "version", loci_version());
        lc_jw_member_text(&w, "store", path.text);
        lc_jw_member_bool(&w, "exists", exists);
        lc_jw_end(&w);
        lc_buf_append_byte(&cli->out, '\n');
        return LC_EXIT_OK;
    }
    lc_cli_print_styled(cli, LC_STYLE_HEADING, "loci");
    lc_cli_print(cli, " %s, the state engine for AI agents\n\n", loci_version());
    if (!exists) {
        welcome_newcomer(cli, &path);
        return LC_EXIT_OK;
    }
    lc_cli_print(cli, "Your store: %s", path.label);
    if (stat(path.text, &info) == 0 && info.st_size >= 1024 * 1024)
        lc_cli_print(cli, ", %.1f MB", (double)info.st_size / (1024 * 1024));
    else if (stat(path.text, &info) == 0)
        lc_cli_print(cli, ", %lld kB", (long long)(info.st_size + 1023) / 1024);
    lc_buf_append_byte(&cli->out, '\n');
    suggest_first_steps(cli);
    return LC_EXIT_OK;
}

/* Only opening it shows whether a database server has the store. */
static bool has_store(lc_cli *cli)
{
    lc_opening opening = {.flags = LOCI_OPEN_INLINE | LOCI_OPEN_EXISTING, .is_silent = true};
    loci_engine *engine = NULL;
    bool found = lc_opening_run(cli, &opening, &engine, NULL) == LOCI_OK;

    loci_close(engine);
    return found;
}

int lc_command_init(lc_cli *cli, const lc_arguments *arguments)
{
    lc_opening opening = {.flags = LOCI_OPEN_INLINE, .creates_named = true};
    loci_engine *engine = NULL;
    lc_store_path path;
    loci_error err;
    bool existed;
    lc_json_writer w;

    (void)arguments; /* init has no options of its own. */
    if (lc_store_path_find(cli, &path, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);
    existed = path.is_file ? lc_store_path_exists(&path) : has_store(cli);
    if (lc_opening_run(cli, &opening, &engine, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);
    loci_close(engine);

    if (cli->globals.wants_json) {
        lc_jw_init(&w, &cli->out);
        lc_jw_object(&w);
        lc_jw_member_text(&w, "store", path.label);
        lc_jw_member_bool(&w, "created", !existed);
        lc_jw_end(&w);
        lc_buf_append_byte(&cli->out, '\n');
        return LC_EXIT_OK;
    }
    if (cli->globals.is_quiet)
        return LC_EXIT_OK;
    lc_cli_print_styled(cli, LC_STYLE_GOOD, "✓");
    lc_cli_print(cli,
                 existed ? " The store at %s exists already; nothing was changed\n"
                         : " Created the store %s\n",
                 path.label);
    suggest_first_steps(cli);
    return LC_EXIT_OK;
}
