/* short_form.c - commands that are operations under a shorter name: `loci backup FILE` is
 * `loci store backup FILE`, `loci jobs` is `loci job list`. */
#include "cli/command.h"

#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/help.h"
#include "cli/noun_verb.h"
#include "cli/transfer.h"

static int run_operation(lc_cli *cli, const char *name, char *const *items, size_t count)
{
    const lc_op *op;
    loci_error err;

    if (lc_op_load(loci_str_of(name), &op, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);
    return lc_noun_verb_run_operation(cli, op, items, count);
}

/* `config unset NAME` is `config set NAME null`: settings are never null, so null can mean none. */
static int run_unset(lc_cli *cli, char *const *items, size_t count)
{
    char **all = lc_arena_zalloc_array(cli->arena, count + 1, sizeof *all);
    loci_str null_word = lc_arena_copy(cli->arena, LC_STR("null"));
    loci_error err;

    if (all == NULL || null_word.ptr == NULL) {
        (void)lc_fail_memory(&err);
        return lc_cli_report(cli, &err);
    }
    if (count == 0)
        return lc_cli_usage(cli, "unset needs the name of a setting: loci config unset NAME");
    memcpy(all, items, count * sizeof *all);
    all[count] = (char *)null_word.ptr; /* Ours; argv is not const. */
    return run_operation(cli, "config.set", all, count + 1);
}

static int run_noun(lc_cli *cli, const lc_command *command, char *const *items, size_t count)
{
    loci_str word = loci_str_of(count > 0 ? items[0] : NULL);
    bool has_verb = count > 0 && items[0][0] != '-';
    const lc_op *op;

    if (has_verb && strcmp(command->noun, "config") == 0 && lc_str_is(word, "unset"))
        return run_unset(cli, items + 1, count - 1);
    op = lc_noun_verb_find(loci_str_of(command->noun), has_verb ? word : LC_STR("list"));
    if (op == NULL)
        return lc_cli_usage(cli, "%s has no \"%.*s\": loci %s %s", command->name, LC_STR_ARG(word),
                            command->name, command->usage);
    return lc_noun_verb_run_operation(cli, op, has_verb ? items + 1 : items,
                                      has_verb ? count - 1 : count);
}

/* Help is about the name that was typed, not about what it is short for. */
static bool asks_for_help(const lc_command *command, char *const *items, size_t count)
{
    for (size_t i = 0; i < count && strcmp(items[i], "--") != 0; i++) {
        if (command->noun != NULL && items[i][0] != '-')
            return false; /* `loci jobs get --help` asks about job.get. */
        if (strcmp(items[i], "--help") == 0 || strcmp(items[i], "-h") == 0)
            return true;
    }
    return false;
}

static size_t find_dash(char *const *items, size_t count)
{
    size_t at = 0;

    while (at < count && strcmp(items[at], "-") != 0)
        at++;
    return at;
}

/* `export -` is an export without a file: its lines go to standard output. */
static int run_export(lc_cli *cli, char **items, size_t count)
{
    size_t dash = find_dash(items, count);

    if (dash < count)
        memmove(items + dash, items + dash + 1, (--count - dash) * sizeof *items);
    return run_operation(cli, "store.export", items, count);
}

static int run_import(lc_cli *cli, char **items, size_t count)
{
    size_t dash = find_dash(items, count);
    loci_error err;
    int code;

    if (dash == count)
        return run_operation(cli, "store.import", items, count);
    if (lc_transfer_spool(cli, &items[dash], &err) != LOCI_OK)
        return lc_cli_report(cli, &err);
    code = run_operation(cli, "store.import", items, count);
    (void)unlink(items[dash]); /* Best effort: it is in a directory for such files. */
    return code;
}

int lc_command_run_short(lc_cli *cli, const lc_command *command, char *const *items, size_t count)
{
    loci_error err;
    char **all;

    cli->help_name = command->name;
    if (cli->globals.wants_help || asks_for_help(command, items, count)) {
        lc_help_command(cli, command);
        return LC_EXIT_OK;
    }
    all = lc_arena_zalloc_array(cli->arena, count + 1, sizeof *all);
    if (all == NULL) {
        (void)lc_fail_memory(&err);
        return lc_cli_report(cli, &err);
    }
    if (count > 0)
        memcpy(all, items, count * sizeof *all);
    if (strcmp(command->name, "export") == 0)
        return run_export(cli, all, count);
    if (strcmp(command->name, "import") == 0)
        return run_import(cli, all, count);
    if (command->operation != NULL)
        return run_operation(cli, command->operation, items, count);
    return run_noun(cli, command, items, count);
}
