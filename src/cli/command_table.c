/* command_table.c - every command that is not an operation. Those of one group stand together. */
#include "cli/command.h"

#include "base/str.h"

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
