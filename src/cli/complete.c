#include "cli/complete.h"

#include "base/str.h"
#include "cli/noun_verb.h"

const lc_op *lc_complete_operation(const lc_command *command, loci_str verb)
{
    if (command->operation != NULL)
        return lc_op_find(loci_str_of(command->operation));
    if (command->noun != NULL)
        return lc_noun_verb_find(loci_str_of(command->noun), verb);
    return NULL;
}

bool lc_complete_is_first(size_t index)
{
    return index == 0 || !lc_str_eq(lc_noun_of(lc_op_at(index)), lc_noun_of(lc_op_at(index - 1)));
}

void lc_complete_append_choices(lc_buf *out, const char *choices)
{
    loci_str rest = loci_str_of(choices);
    bool is_first = true;

    while (rest.ptr != NULL) {
        lc_buf_append(out, is_first ? LC_STR("") : LC_STR(" "));
        lc_buf_append(out, lc_str_split(rest, '|', &rest));
        is_first = false;
    }
}

void lc_complete_append_valued(lc_buf *out)
{
    bool is_first = true;

    for (const lc_option *option = lc_cli_global_options(); option->name != NULL; option++) {
        if (option->value == NULL)
            continue;
        lc_buf_append_format(out, "%s--%s", is_first ? "" : "|", option->name);
        is_first = false;
    }
}

int lc_command_completion(lc_cli *cli, const lc_arguments *arguments)
{
    if (arguments->word_count == 0)
        return lc_cli_usage(cli, "completion needs the name of your shell: bash or zsh");
    if (strcmp(arguments->words[0], "bash") == 0)
        lc_complete_bash(cli);
    else
        lc_complete_zsh(cli);
    return LC_EXIT_OK;
}
