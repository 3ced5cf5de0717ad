#include "cli/command.h"

#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/help.h"
#include "cli/input.h"
#include "cli/operation.h"
#include "cli/parameters.h"
#include "ops/check.h"

/* ---- The table ------------------------------------------------------------------------------- */

/* every command that is not an operation. Those of one group stand together. */

#define START "Start here"
#define PROGRAMS "For programs"
#define LOOK "Look"
#define UPKEEP "Upkeep"
#define SHELL "Shell and documents"

static const lc_option batch_options[] = {
    {.name = "atomic", .help = "All lines are one transaction: all of them happen, or none"},
    {.name = "seed",
     .value = "N",
     .help = "Fix everything random but secrets; with `at` on the first line runs repeat exactly"},
    {0},
};

static const lc_option events_options[] = {
    {.name = "follow", .letter = 'f', .help = "Wait for new events and print them as they happen"},
    {.name = "after", .value = "SEQ", .help = "Only events after this seq; 0 = from the first"},
    {.name = "type", .value = "TYPE,...", .help = "Only events of these types"},
    {.name = "all-users", .help = "With -f: events of every user, from now on"},
    {0},
};

static const lc_option serve_options[] = {
    {.name = "listen",
     .value = "ADDR:PORT",
     .help = "Where to listen (LOCI_LISTEN; default 127.0.0.1:7077); port 0 takes a free one"},
    {.name = "socket",
     .value = "PATH",
     .help = "A Unix socket beside it (LOCI_SOCKET; default: in your runtime directory)"},
    {.name = "no-socket", .help = "No Unix socket"},
    {.name = "host",
     .value = "NAME",
     .help = "A name by which clients reach it, beside the address; may be repeated"},
    {.name = "token-file",
     .value = "PATH",
     .help = "Make a token for administrators and keep it there, unless the file exists"},
    {0},
};

static const lc_option migrate_options[] = {
    {.name = "from", .value = "STORE", .help = "A file or postgresql://…, which must exist"},
    {.name = "to", .value = "STORE", .help = "The same; made when it is missing"},
    {0},
};

static const lc_option reference_options[] = {
    {.name = "markdown", .help = "docs/reference.md"},
    {.name = "man", .help = "The man page, loci(1)"},
    {.name = "openapi", .help = "The HTTP API as an OpenAPI document"},
    {0},
};

static const lc_option doctor_options[] = {
    {.name = "url",
     .value = "URL",
     .help = "Check a running daemon instead: http://127.0.0.1:7077 or unix:PATH"},
    {.name = "token-file", .value = "PATH", .help = "With --url: the token to call it with"},
    {0},
};

static const lc_command table[] = {
    {.name = "init",
     .usage = "",
     .help = "Make a store and say what to do next",
     .details = "Without --store it is made in your data directory. Doing it twice is harmless.",
     .examples = "loci init\nloci init --store ./agent.db",
     .group = START,
     .run = lc_command_init},
    {.name = "doctor",
     .usage = "[--url URL [--token-file PATH]]",
     .help = "Check the store, the disk, the clock and the settings",
     .details = "Every line says what was looked at and, when something is wrong, what to do.\n"
                "Exits with 1 when anything is wrong.",
     .options = doctor_options,
     .examples = "loci doctor\nloci doctor --json\n"
                 "loci doctor --url http://127.0.0.1:7077 --token-file admin.token",
     .group = START,
     .run = lc_command_doctor},
    {.name = "help",
     .usage = "[COMMAND | NOUN [VERB]]",
     .help = "Explain a command or an operation",
     .examples = "loci help batch\nloci help fact\nloci help fact write",
     .group = START,
     .words_max = 2,
     .run = lc_command_help},
    {.name = "status",
     .usage = "",
     .help = "Show what the store holds",
     .group = LOOK,
     .operation = "store.status"},
    {.name = "events",
     .usage = "[-f] [--after SEQ] [--type TYPE,...]",
     .help = "Show a user's events, or follow them",
     .details =
         "Events are those of --user, the user called default without it. Following sees what\n"
         "other processes write, too. Ctrl-C ends it.",
     .options = events_options,
     .examples = "loci events --after 100\nloci events -f --user ada\n"
                 "loci events -f --json | jq .type",
     .group = LOOK,
     .run = lc_command_events},
    {.name = "jobs",
     .usage = "[list | get ID | cancel ID]",
     .help = "Show and cancel background work",
     .examples = "loci jobs\nloci jobs list --status failed\nloci jobs cancel job_01…",
     .group = LOOK,
     .words = "list|get|cancel",
     .noun = "job"},
    {.name = "config",
     .usage = "[list | get NAME | set NAME VALUE | unset NAME]",
     .help = "Show and change settings",
     .details = "Who wins: default, then --config FILE, then what `config set` stored, then the\n"
                "environment (LOCI_CALL_TIMEOUT_MS for call.timeout_ms), then --set NAME=VALUE.",
     .examples = "loci config\nloci config get call.timeout_ms\n"
                 "loci config set call.timeout_ms 5000\nloci config unset call.timeout_ms",
     .group = LOOK,
     .words = "list|get|set|unset",
     .noun = "config"},
    {.name = "call",
     .usage = "OP [JSON|-]",
     .help = "Run one operation with JSON arguments",
     .details =
         "Prints one JSON object and exits with 0. On an error prints\n"
         "{\"error\":{\"code\":…,\"message\":…}} to standard error and exits with 1, or with 2\n"
         "when the command was not understood. `-` reads the arguments from standard input.",
     .examples = "loci call fact.write '{\"key\":\"city\",\"value\":\"Oslo\"}'\n"
                 "echo '{\"key\":\"city\"}' | loci call fact.current -",
     .group = PROGRAMS,
     .words_max = 2,
     .has_json_errors = true,
     .run = lc_command_call},
    {.name = "batch",
     .usage = "[--atomic] [--seed N]",
     .help = "Run a call a line from standard input, an answer a line",
     .details =
         "A line is {\"op\":…, \"args\":{…}, \"at\":\"RFC 3339\"?}; its answer {\"ok\":…} or\n"
         "{\"error\":…}. Answers are durable and written before the next line is awaited.\n"
         "`at` sets the clock from that line on. Errors do not end it.",
     .options = batch_options,
     .examples = "loci batch < calls.jsonl\nloci batch --atomic --store ./agent.db < calls.jsonl",
     .group = PROGRAMS,
     .has_json_errors = true,
     .run = lc_command_batch},
    {.name = "serve",
     .usage = "[--listen ADDR:PORT] [--token-file PATH]",
     .help = "Run the daemon: HTTP, events and metrics on the store",
     .details =
         "Listens on this machine only unless --listen says otherwise, and then wants a token:\n"
         "loci token create. Your own programs need none on the Unix socket. SIGTERM and Ctrl-C\n"
         "let accepted requests end; a second one ends it at once. Records of requests go to\n"
         "standard error, on a terminal only with --verbose.",
     .options = serve_options,
     .examples = "loci serve --token-file admin.token\n"
                 "loci serve --listen 0.0.0.0:7077 --host loci.example.com\n"
                 "curl -H \"Authorization: Bearer $(cat admin.token)\" 127.0.0.1:7077/v1/facts",
     .group = PROGRAMS,
     .run = lc_command_serve},
    {.name = "backup",
     .usage = "PATH [--force]",
     .help = "Copy the store to a file while it is in use",
     .examples = "loci backup ~/loci-backup.db",
     .group = UPKEEP,
     .operation = "store.backup"},
    {.name = "restore",
     .usage = "PATH",
     .help = "Replace the store's content by that of a backup",
     .examples = "loci restore ~/loci-backup.db",
     .group = UPKEEP,
     .operation = "store.restore"},
    {.name = "export",
     .usage = "[PATH|-] [--force]",
     .help = "Write everything as lines of JSON",
     .details = "Without PATH, or with `-`, the lines go to standard output.",
     .examples = "loci export loci.jsonl\nloci export - | gzip > loci.jsonl.gz",
     .group = UPKEEP,
     .operation = "store.export"},
    {.name = "import",
     .usage = "PATH|-",
     .help = "Read what export wrote",
     .details = "`-` reads standard input. Doing it again after an interruption does the rest.",
     .examples = "loci import loci.jsonl --store ./new.db",
     .group = UPKEEP,
     .operation = "store.import"},
    {.name = "migrate",
     .usage = "--from STORE --to STORE",
     .help = "Move everything into another store, a file or a PostgreSQL server",
     .details = "The new store is verified and compared with the old one, which is left as it is. "
                "Doing it again does the rest. Tokens, jobs and stored answers stay behind.",
     .options = migrate_options,
     .examples = "loci migrate --from loci.db --to postgresql://loci@db.example.com/loci",
     .group = UPKEEP,
     .run = lc_command_migrate},
    {.name = "verify",
     .usage = "",
     .help = "Check that the log and everything made from it agree",
     .group = UPKEEP,
     .operation = "store.verify"},
    {.name = "rebuild",
     .usage = "",
     .help = "Make everything again from the log",
     .group = UPKEEP,
     .operation = "store.rebuild"},
    {.name = "completion",
     .usage = "bash|zsh",
     .help = "Print a completion script for your shell",
     .details = "bash: put  source <(loci completion bash)  into ~/.bashrc\n"
                "zsh:  put  source <(loci completion zsh)   into ~/.zshrc, after compinit",
     .group = SHELL,
     .words = "bash|zsh",
     .words_max = 1,
     .run = lc_command_completion},
    {.name = "reference",
     .usage = "--markdown | --man | --openapi",
     .help = "Print the reference of all operations",
     .options = reference_options,
     .examples = "loci reference --man | man -l -",
     .group = SHELL,
     .run = lc_command_reference},
    {0},
};

const lc_command *lc_command_table(void)
{
    return table;
}

const lc_command *lc_command_find(loci_str name)
{
    for (const lc_command *command = table; command->name != NULL; command++) {
        if (lc_str_is(name, command->name))
            return command;
    }
    return NULL;
}

/* ---- Operations as commands ------------------------------------------------------------------ */

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

/* ---- Short forms ----------------------------------------------------------------------------- */

/* commands that are operations under a shorter name: `loci backup FILE` is
 * `loci store backup FILE`, `loci jobs` is `loci job list`. */

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
