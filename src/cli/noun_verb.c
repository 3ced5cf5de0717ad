#include "cli/noun_verb.h"

#include "base/error.h"
#include "base/str.h"
#include "cli/help.h"
#include "cli/operation.h"
#include "cli/parameters.h"
#include "ops/check.h"

loci_str lc_noun_of(const lc_op *op)
{
    loci_str verb;

    return lc_str_split(loci_str_of(op->name), '.', &verb);
}

loci_str lc_verb_of(const lc_op *op)
{
    loci_str verb;

    (void)lc_str_split(loci_str_of(op->name), '.', &verb); /* The noun is not asked for. */
    return verb;
}

const lc_op *lc_noun_verb_find(loci_str noun, loci_str verb)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        loci_str own = lc_verb_of(op);

        /* A verb of two words is typed with a dash. */
        if (lc_str_eq(lc_noun_of(op), noun) && own.ptr != NULL &&
            lc_arguments_name_is(verb, own.ptr))
            return op;
    }
    return NULL;
}

bool lc_noun_verb_is_known(loci_str word)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        if (lc_str_eq(lc_noun_of(lc_op_at(i)), word) || lc_str_is(word, lc_op_at(i)->name))
            return true;
    }
    return false;
}

static int fail_verb(lc_cli *cli, loci_str noun, loci_str verb)
{
    lc_nearest nearest = lc_nearest_to(verb);

    for (size_t i = 0; i < lc_op_count(); i++) {
        if (lc_str_eq(lc_noun_of(lc_op_at(i)), noun))
            lc_nearest_offer(&nearest, lc_verb_of(lc_op_at(i)));
    }
    if (nearest.best.ptr != NULL)
        return lc_cli_usage(cli, "%.*s has no \"%.*s\"; did you mean `loci %.*s %.*s`?",
                            LC_STR_ARG(noun), LC_STR_ARG(verb), LC_STR_ARG(noun),
                            LC_STR_ARG(nearest.best));
    return lc_cli_usage(cli, "%.*s has no \"%.*s\"", LC_STR_ARG(noun), LC_STR_ARG(verb));
}

static int run_parsed(lc_cli *cli, const lc_op *op, const lc_arguments *arguments)
{
    lc_operation operation = {.name = op->name};
    loci_error err;
    loci_status status;
    lc_buf args;
    int code;

    lc_buf_init(&args, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    status = lc_parameters_write(cli, op, arguments, &args, &err);
    if (status == LOCI_OK) {
        operation.args = lc_buf_str(&args);
        /* Who only looks should hear that there is nothing, not make it. */
        operation.needs_store = (op->flags & LC_OP_MUTATES) == 0;
        code = lc_operation_run(cli, &operation);
    } else {
        code = status == LOCI_EINVAL ? lc_cli_report_usage(cli, &err) : lc_cli_report(cli, &err);
    }
    lc_buf_clear(&args);
    return code;
}

int lc_noun_verb_run_operation(lc_cli *cli, const lc_op *op, char *const *items, size_t count)
{
    lc_argument_line line = {.items = items, .count = count};
    lc_arguments arguments;
    loci_error err;
    loci_status status;

    cli->help_name = op->name;
    line.own = lc_parameters_options(cli, op);
    line.global = lc_cli_global_options();
    status = line.own != NULL ? lc_arguments_parse(cli->arena, &line, &arguments, &err)
                              : lc_fail_memory(&err);
    if (status == LOCI_OK)
        status = lc_cli_take_globals(cli, &arguments, &err);
    if (status != LOCI_OK)
        return lc_cli_report_usage(cli, &err);
    if (cli->globals.wants_help) {
        lc_help_operation(cli, op);
        return LC_EXIT_OK;
    }
    return run_parsed(cli, op, &arguments);
}

int lc_noun_verb_run(lc_cli *cli, char *const *items, size_t count)
{
    loci_str noun = loci_str_of(items[0]);
    const lc_op *op = lc_op_find(noun);
    lc_argument_line line = {.stops_at_word = true};
    lc_arguments arguments;
    loci_error err;

    if (op != NULL)
        return lc_noun_verb_run_operation(cli, op, items + 1, count - 1);

    /* Global options may stand between noun and verb. */
    cli->help_name = items[0];
    line.items = items + 1;
    line.count = count - 1;
    line.global = lc_cli_global_options();
    if (lc_arguments_parse(cli->arena, &line, &arguments, &err) != LOCI_OK ||
        lc_cli_take_globals(cli, &arguments, &err) != LOCI_OK)
        return lc_cli_report_usage(cli, &err);
    if (arguments.used_count == line.count && cli->globals.wants_json && !cli->globals.wants_help)
        return lc_cli_usage(cli, "%s needs a verb", items[0]);
    if (arguments.used_count == line.count) {
        lc_help_noun(cli, noun);
        return cli->globals.wants_help ? LC_EXIT_OK : LC_EXIT_USAGE;
    }
    items = line.items + arguments.used_count;
    op = lc_noun_verb_find(noun, loci_str_of(items[0]));
    if (op == NULL)
        return fail_verb(cli, noun, loci_str_of(items[0]));
    return lc_noun_verb_run_operation(cli, op, items + 1, line.count - arguments.used_count - 1);
}
