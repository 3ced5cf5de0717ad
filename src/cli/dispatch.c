/* dispatch.c - finds the command of a line of words, runs it and returns its exit code.
 *
 *     loci [global options] COMMAND [words and options]
 *     loci [global options] NOUN VERB [words and options]
 */
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/remote.h"

static int check_words(lc_cli *cli, const lc_command *command, const lc_arguments *arguments)
{
    loci_str rest = loci_str_of(command->words); /* "list|get|set" */
    bool is_allowed = rest.ptr == NULL || arguments->word_count == 0;

    if (arguments->word_count > command->words_max)
        return lc_cli_usage(cli, "unexpected \"%s\": loci %s %s",
                            arguments->words[command->words_max], command->name, command->usage);
    while (!is_allowed && rest.ptr != NULL)
        is_allowed = lc_str_is(lc_str_split(rest, '|', &rest), arguments->words[0]);
    if (!is_allowed)
        return lc_cli_usage(cli, "%s does not accept \"%s\": loci %s %s", command->name,
                            arguments->words[0], command->name, command->usage);
    return LC_EXIT_OK;
}

static int run_parsed(lc_cli *cli, const lc_command *command, char *const *items, size_t count)
{
    lc_argument_line line = {.items = items, .count = count, .own = command->options};
    lc_arguments arguments;
    loci_error err;
    loci_status status;
    int code;

    cli->help_name = command->name;
    cli->has_json_errors = cli->has_json_errors || command->has_json_errors;
    line.global = lc_cli_global_options();
    status = lc_arguments_parse(cli->arena, &line, &arguments, &err);
    if (status == LOCI_OK)
        status = lc_cli_take_globals(cli, &arguments, &err);
    if (status != LOCI_OK)
        return lc_cli_report_usage(cli, &err);
    if (cli->globals.wants_help) {
        lc_help_command(cli, command);
        return LC_EXIT_OK;
    }
    if (cli->globals.output != NULL || cli->globals.columns != NULL || cli->globals.wants_ids)
        return lc_cli_usage(cli, "-o, --columns and --ids are for operations; %s prints text%s",
                            command->name, " or, with --json, JSON");
    code = check_words(cli, command, &arguments);
    if (code == LC_EXIT_OK && command->needs_store_itself &&
        lc_remote_refuse(cli, command->name, &err) != LOCI_OK)
        code = lc_cli_report_usage(cli, &err);
    return code != LC_EXIT_OK ? code : command->run(cli, &arguments);
}

static int run_command(lc_cli *cli, const lc_command *command, char *const *items, size_t count)
{
    int code = run_parsed(cli, command, items, count);

    return command->never_fails && isatty(STDIN_FILENO) == 0 ? LC_EXIT_OK : code;
}

/* Whether errors of the parser itself are JSON. A text that happens to be "--json" only changes the
 * format of an error. */
static bool wants_json_errors(char *const *items, size_t count)
{
    for (size_t i = 0; i < count && strcmp(items[i], "--") != 0; i++) {
        if (strcmp(items[i], "--json") == 0 || strcmp(items[i], "-ojson") == 0 ||
            strcmp(items[i], "--output=json") == 0)
            return true;
        if (i > 0 && strcmp(items[i], "json") == 0 &&
            (strcmp(items[i - 1], "-o") == 0 || strcmp(items[i - 1], "--output") == 0))
            return true;
    }
    return false;
}

int lc_command_dispatch(lc_cli *cli, char *const *items, size_t count)
{
    lc_argument_line line = {.items = items, .count = count, .stops_at_word = true};
    const lc_command *command;
    lc_arguments arguments;
    loci_error err;
    loci_str word;

    cli->has_json_errors = wants_json_errors(items, count);
    line.global = lc_cli_global_options();
    if (lc_arguments_parse(cli->arena, &line, &arguments, &err) != LOCI_OK ||
        lc_cli_take_globals(cli, &arguments, &err) != LOCI_OK ||
        lc_cli_take_environment(cli, &err) != LOCI_OK)
        return lc_cli_report_usage(cli, &err);
    items += arguments.used_count;
    count -= arguments.used_count;

    if (cli->globals.wants_version) {
        lc_cli_print(cli, cli->globals.wants_json ? "{\"version\":\"%s\"}\n" : "loci %s\n",
                     loci_version());
        return LC_EXIT_OK;
    }
    if (count == 0 && cli->globals.wants_help) {
        lc_help_overview(cli);
        return LC_EXIT_OK;
    }
    if (count == 0)
        return lc_welcome(cli);
    word = loci_str_of(items[0]);
    command = lc_command_find(word);
    if (command != NULL && command->run == NULL)
        return lc_command_run_short(cli, command, items + 1, count - 1);
    if (command != NULL)
        return run_command(cli, command, items + 1, count - 1);
    if (lc_noun_verb_is_known(word))
        return lc_noun_verb_run(cli, items, count);
    return lc_help_fail_unknown(cli, word);
}
