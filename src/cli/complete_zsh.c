/* complete_zsh.c - the same two tables as for bash, with descriptions beside the words. The script
 * may be sourced, or put as _loci into a directory of fpath. */
#include "cli/complete.h"

#include <stdio.h>

#include "base/str.h"
#include "cli/noun_verb.h"
#include "ops/setting_view.h"

static void append_text(lc_cli *cli, const char *text)
{
    lc_buf_append(&cli->out, loci_str_of(text));
}

/* 'word:description', with what zsh would read as its own syntax escaped. */
static void append_item(lc_cli *cli, loci_str word, const char *help)
{
    lc_buf_append_byte(&cli->out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == ':')
            lc_buf_append_byte(&cli->out, '\\');
        lc_buf_append_byte(&cli->out, word.ptr[i]);
    }
    lc_buf_append_byte(&cli->out, ':');
    for (const char *byte = help != NULL ? help : ""; *byte != '\0'; byte++) {
        if (*byte == '\'')
            append_text(cli, "'\\''");
        else
            lc_buf_append_byte(&cli->out, *byte);
    }
    append_text(cli, "' ");
}

static void append_options(lc_cli *cli, const lc_option *options)
{
    char name[128];

    for (; options != NULL && options->name != NULL; options++) {
        (void)snprintf(name, sizeof name, "--%s", options->name);
        append_item(cli, loci_str_of(name), options->help);
    }
}

static void append_params(lc_cli *cli, const lc_op *op)
{
    const lc_param *param;
    char name[128];

    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
        (void)snprintf(name, sizeof name, "--%s", param->name);
        for (char *byte = name; *byte != '\0'; byte++)
            *byte = *byte == '_' ? '-' : *byte;
        append_item(cli, loci_str_of(name), param->help);
    }
}

static void append_settings(lc_cli *cli, const char *end)
{
    char name[128];

    for (size_t i = 0; i < lc_setting_view_count(); i++) {
        (void)snprintf(name, sizeof name, "%s%s", lc_setting_view_at(i).name, end);
        append_item(cli, loci_str_of(name), lc_setting_view_at(i).help);
    }
}

static void append_names(lc_cli *cli)
{
    for (const lc_command *command = lc_command_table(); command->name != NULL; command++)
        append_item(cli, loci_str_of(command->name), command->help);
    for (size_t i = 0; i < lc_op_count(); i++) {
        if (lc_complete_is_first(i) && lc_command_find(lc_noun_of(lc_op_at(i))) == NULL)
            append_item(cli, lc_noun_of(lc_op_at(i)), "Operations");
    }
}

static void append_rows(lc_cli *cli)
{
    append_text(cli, "    ' ') list=(");
    append_names(cli);
    append_text(cli, ") ;;\n");
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);

        if (lc_complete_is_first(i)) {
            lc_cli_print(cli, "    '%.*s ') list=(", LC_STR_ARG(lc_noun_of(op)));
            for (size_t j = i; j < lc_op_count() && (j == i || !lc_complete_is_first(j)); j++)
                append_item(cli, lc_verb_of(lc_op_at(j)), lc_op_at(j)->help);
            if (lc_str_is(lc_noun_of(op), "config"))
                append_item(cli, LC_STR("unset"), "Remove a stored setting");
            append_text(cli, ") ;;\n");
        }
        lc_cli_print(cli, "    '%.*s %.*s') list=(", LC_STR_ARG(lc_noun_of(op)),
                     LC_STR_ARG(lc_verb_of(op)));
        append_params(cli, op);
        append_text(cli, ") ;;\n");
    }
}

static void append_command_rows(lc_cli *cli)
{
    for (const lc_command *command = lc_command_table(); command->name != NULL; command++) {
        const lc_op *op = lc_complete_operation(command, LC_STR("list"));
        loci_str rest = loci_str_of(command->words);

        if (command->noun != NULL && strcmp(command->noun, command->name) == 0)
            continue;
        lc_cli_print(cli, "    '%s '*) list=(", command->name);
        while (rest.ptr != NULL)
            append_item(cli, lc_str_split(rest, '|', &rest), "");
        append_options(cli, command->options);
        if (op != NULL)
            append_params(cli, op);
        if (strcmp(command->name, "help") == 0)
            append_names(cli);
        for (size_t i = 0; strcmp(command->name, "call") == 0 && i < lc_op_count(); i++)
            append_item(cli, loci_str_of(lc_op_at(i)->name), lc_op_at(i)->help);
        append_text(cli, ") ;;\n");
    }
}

static void append_choices(lc_cli *cli)
{
    const lc_param *param;

    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);

        for (size_t j = 0; (param = lc_op_param(op, j)) != NULL; j++) {
            if (param->choices == NULL)
                continue;
            lc_cli_print(cli, "    '%.*s %.*s --", LC_STR_ARG(lc_noun_of(op)),
                         LC_STR_ARG(lc_verb_of(op)));
            for (const char *byte = param->name; *byte != '\0'; byte++)
                lc_buf_append_byte(&cli->out, *byte == '_' ? '-' : *byte);
            append_text(cli, "') list=(");
            lc_complete_append_choices(&cli->out, param->choices);
            append_text(cli, ") only=1 ;;\n");
        }
    }
    append_text(cli, "    'config '[gsu]*et' '*) list=(");
    append_settings(cli, "");
    append_text(cli, ") ;;\n    *' --set') list=(");
    append_settings(cli, "=");
    append_text(cli, ") only=1 ;;\n");
}

void lc_complete_zsh(lc_cli *cli)
{
    append_text(cli, "#compdef loci\n"
                     "# Completion of loci for zsh, made by `loci completion zsh`.\n"
                     "_loci()\n{\n"
                     "  local first= second= only= i\n"
                     "  local -a list\n"
                     "  for ((i = 2; i < CURRENT; i++)); do\n"
                     "    case ${words[i]} in\n"
                     "    (");
    lc_complete_append_valued(&cli->out);
    append_text(cli, ") ((i++)) ;;\n"
                     "    (-*) ;;\n"
                     "    (*)\n"
                     "      if [[ -z $first ]]; then first=${words[i]}\n"
                     "      elif [[ -z $second ]]; then second=${words[i]}; fi ;;\n"
                     "    esac\n"
                     "  done\n"
                     "  case \"$first $second\" in\n");
    append_rows(cli);
    append_command_rows(cli);
    append_text(cli, "  esac\n"
                     "  case \"$first $second ${words[CURRENT - 1]}\" in\n");
    append_choices(cli);
    append_text(cli, "  esac\n"
                     "  [[ -n $only ]] || list+=(");
    append_options(cli, lc_cli_global_options());
    append_text(
        cli, ")\n"
             "  [[ -n $only || ${words[CURRENT]} == -* ]] || list=(${list:#--*})\n"
             "  _describe loci list || _files\n"
             "}\n"
             "if [[ ${funcstack[1]} == _loci ]]; then _loci \"$@\"; else compdef _loci loci; fi\n");
}
