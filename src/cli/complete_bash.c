/* complete_bash.c - the script first finds the command (and verb) among the words before the
 * cursor, then fills `list` from two tables: what may follow, and what an option's value may be. It
 * works without bash-completion being installed. */
#include "cli/complete.h"

#include "base/str.h"
#include "cli/noun_verb.h"
#include "ops/setting_view.h"

static void append_text(lc_cli *cli, const char *text)
{
    lc_buf_append(&cli->out, loci_str_of(text));
}

static void append_options(lc_cli *cli, const lc_option *options)
{
    for (; options != NULL && options->name != NULL; options++)
        lc_cli_print(cli, "--%s ", options->name);
}

static void append_params(lc_cli *cli, const lc_op *op)
{
    const lc_param *param;

    for (size_t i = 0; (param = lc_op_param(op, i)) != NULL; i++) {
        append_text(cli, "--");
        for (const char *byte = param->name; *byte != '\0'; byte++)
            lc_buf_append_byte(&cli->out, *byte == '_' ? '-' : *byte);
        lc_buf_append_byte(&cli->out, ' ');
    }
}

static void append_settings(lc_cli *cli, const char *end)
{
    for (size_t i = 0; i < lc_setting_view_count(); i++)
        lc_cli_print(cli, "%s%s ", lc_setting_view_at(i).name, end);
}

static void append_names(lc_cli *cli)
{
    for (const lc_command *command = lc_command_table(); command->name != NULL; command++)
        lc_cli_print(cli, "%s ", command->name);
    for (size_t i = 0; i < lc_op_count(); i++) {
        if (lc_complete_is_first(i) && lc_command_find(lc_noun_of(lc_op_at(i))) == NULL)
            lc_cli_print(cli, "%.*s ", LC_STR_ARG(lc_noun_of(lc_op_at(i))));
    }
}

/* Lines "'fact write') list='…';;" of the table of what may follow. */
static void append_rows(lc_cli *cli)
{
    append_text(cli, "        ' ') list='");
    append_names(cli);
    append_text(cli, "';;\n");
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);

        if (lc_complete_is_first(i)) {
            lc_cli_print(cli, "        '%.*s ') list='", LC_STR_ARG(lc_noun_of(op)));
            for (size_t j = i; j < lc_op_count() && (j == i || !lc_complete_is_first(j)); j++)
                lc_cli_print(cli, "%.*s ", LC_STR_ARG(lc_verb_of(lc_op_at(j))));
            append_text(cli, lc_str_is(lc_noun_of(op), "config") ? "unset ';;\n" : "';;\n");
        }
        lc_cli_print(cli, "        '%.*s %.*s') list='", LC_STR_ARG(lc_noun_of(op)),
                     LC_STR_ARG(lc_verb_of(op)));
        append_params(cli, op);
        append_text(cli, "';;\n");
    }
}

/* Commands that share a noun's name (config) are in append_rows() already. */
static void append_command_rows(lc_cli *cli)
{
    for (const lc_command *command = lc_command_table(); command->name != NULL; command++) {
        const lc_op *op = lc_complete_operation(command, LC_STR("list"));

        if (command->noun != NULL && strcmp(command->noun, command->name) == 0)
            continue;
        lc_cli_print(cli, "        '%s '*) list='", command->name);
        if (command->words != NULL)
            lc_complete_append_choices(&cli->out, command->words);
        lc_buf_append_byte(&cli->out, ' ');
        append_options(cli, command->options);
        if (op != NULL)
            append_params(cli, op);
        if (strcmp(command->name, "help") == 0)
            append_names(cli);
        for (size_t i = 0; strcmp(command->name, "call") == 0 && i < lc_op_count(); i++)
            lc_cli_print(cli, "%s ", lc_op_at(i)->name);
        append_text(cli, "';;\n");
    }
}

/* Lines "'job list --status') list='queued …';;" of the table of values. */
static void append_choices(lc_cli *cli)
{
    const lc_param *param;

    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);

        for (size_t j = 0; (param = lc_op_param(op, j)) != NULL; j++) {
            if (param->choices == NULL)
                continue;
            lc_cli_print(cli, "        '%.*s %.*s --", LC_STR_ARG(lc_noun_of(op)),
                         LC_STR_ARG(lc_verb_of(op)));
            for (const char *byte = param->name; *byte != '\0'; byte++)
                lc_buf_append_byte(&cli->out, *byte == '_' ? '-' : *byte);
            append_text(cli, "') list='");
            lc_complete_append_choices(&cli->out, param->choices);
            append_text(cli, "'; only=1;;\n");
        }
    }
    append_text(cli, "        'config '[gsu]*et' '*) list='");
    append_settings(cli, "");
    append_text(cli, "';;\n        *' --set') list='");
    append_settings(cli, "=");
    append_text(cli, "'; only=1;;\n");
}

void lc_complete_bash(lc_cli *cli)
{
    append_text(cli, "# Completion of loci for bash, made by `loci completion bash`.\n"
                     "_loci()\n{\n"
                     "    local word=${COMP_WORDS[COMP_CWORD]} first= second= list= only= i\n"
                     "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                     "        case ${COMP_WORDS[i]} in\n        ");
    lc_complete_append_valued(&cli->out);
    append_text(cli, ") ((i++)) ;;\n"
                     "        -*) ;;\n"
                     "        *)\n"
                     "            if [[ -z $first ]]; then first=${COMP_WORDS[i]}\n"
                     "            elif [[ -z $second ]]; then second=${COMP_WORDS[i]}; fi ;;\n"
                     "        esac\n"
                     "    done\n"
                     "    case \"$first $second\" in\n");
    append_rows(cli);
    append_command_rows(cli);
    append_text(cli, "    esac\n"
                     "    case \"$first $second ${COMP_WORDS[COMP_CWORD - 1]}\" in\n");
    append_choices(cli);
    append_text(cli, "    esac\n    [[ $only ]] || list+=' ");
    append_options(cli, lc_cli_global_options());
    append_text(cli, "'\n"
                     "    # Options are offered when a dash was typed: names come first.\n"
                     "    if [[ $word != -* && ! $only ]]; then\n"
                     "        local item words=\n"
                     "        for item in $list; do [[ $item == -* ]] || words+=\" $item\"; done\n"
                     "        list=$words\n"
                     "    fi\n"
                     "    COMPREPLY=($(compgen -W \"$list\" -- \"$word\"))\n"
                     "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
                     "    return 0\n"
                     "}\n"
                     "complete -o default -F _loci loci\n");
}
