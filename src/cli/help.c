#include "cli/help.h"

#include "base/str.h"
#include "cli/noun_verb.h"
#include "ops/check.h"

/* ---- Commands ---------------------------------------------------------------------------------
 */

static void write_group(lc_cli *cli, const char *group)
{
    lc_help_list *list = lc_help_list_new(cli);

    lc_help_heading(cli, group);
    for (const lc_command *command = lc_command_table(); command->name != NULL; command++) {
        if (strcmp(command->group, group) == 0)
            lc_help_list_add(list, loci_str_of(command->name), loci_str_of(command->help));
    }
    lc_help_list_write(list);
}

static void write_groups(lc_cli *cli)
{
    const char *last = NULL;

    /* Commands of one group stand together in the table. */
    for (const lc_command *command = lc_command_table(); command->name != NULL; command++) {
        if (last == NULL || strcmp(last, command->group) != 0)
            write_group(cli, command->group);
        last = command->group;
    }
}

/* A row a noun, with its verbs. */
static void write_nouns(lc_cli *cli)
{
    lc_help_list *list = lc_help_list_new(cli);
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
        lc_help_list_add(list, noun, lc_buf_str(&verbs));
    }
    lc_help_list_write(list);
    lc_buf_clear(&verbs);
}

void lc_help_overview(lc_cli *cli)
{
    lc_cli_print_styled(cli, LC_STYLE_HEADING, "loci");
    lc_cli_print(cli, " %s, the state engine for AI agents\n\n", loci_version());
    lc_cli_print(cli, "Usage: loci COMMAND [ARGUMENT…] [--option…]\n"
                      "       loci NOUN VERB [ARGUMENT…] [--parameter VALUE…]\n");
    write_groups(cli);
    lc_help_heading(cli, "Operations, as NOUN VERB (`loci help fact write` explains one)");
    write_nouns(cli);
    lc_help_heading(cli, "Options of every command");
    lc_help_options(cli, lc_cli_global_options());
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

void lc_help_command(lc_cli *cli, const lc_command *command)
{
    const lc_op *op = lc_op_find(loci_str_of(command->operation));

    lc_cli_print(cli, "Usage: ");
    lc_cli_print_styled(cli, LC_STYLE_HEADING, "loci ");
    lc_cli_print_styled(cli, LC_STYLE_HEADING, command->name);
    lc_cli_print(cli, "%s%s\n\n%s.\n", command->usage[0] != '\0' ? " " : "", command->usage,
                 command->help);
    if (command->details != NULL)
        lc_cli_print(cli, "\n%s\n", command->details);
    if (command->options != NULL) {
        lc_help_heading(cli, "Options");
        lc_help_options(cli, command->options);
    }
    if (op != NULL)
        lc_help_parameters(cli, op);
    if (command->examples != NULL) {
        lc_help_heading(cli, "Examples");
        write_indented(cli, command->examples);
    }
    lc_buf_append(&cli->out, LC_STR("\nOptions that every command has: `loci help`.\n"));
}

/* ---- loci help [WORD…] ------------------------------------------------------------------------
 */

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
        return lc_cli_usage(cli, "%.*s has no \"%.*s\"", LC_STR_ARG(first), LC_STR_ARG(second));
    lc_help_noun(cli, first);
    return LC_EXIT_OK;
}
