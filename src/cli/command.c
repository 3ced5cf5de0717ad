/* command.c - the table of commands, and running operations as commands.
 *
 *     loci backup FILE           a row of the table that is short for an operation (store.backup)
 *     loci jobs get ID           a row that is short for a noun (job)
 *     loci fact write city Oslo  noun and verb of an operation (fact.write)
 *     loci fact.write …          the operation's own name
 */
#include "cli/command.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/answer.h"
#include "cli/help.h"
#include "cli/input.h"
#include "cli/operation.h"
#include "cli/parameters.h"
#include "ops/check.h"

/* ---- The table ------------------------------------------------------------------------------- */

/* Commands of one group are neighbours: help prints them in this order. */
#define START "Getting started"
#define MEMORY "Remember and recall"
#define LOOK "Inspect"
#define PROGRAMS "For programs"
#define UPKEEP "Maintenance"
#define SHELL "Shell and documentation"

static const lc_option batch_options[] = {
    {.name = "atomic", .help = "Run all lines in one transaction: all of them succeed, or none"},
    {.name = "keep-going", .help = "Run the lines behind a failed one, too (the default)"},
    {.name = "seed",
     .value = "N",
     .help = "Seed of all random values except secrets; with `at` on the first line, runs are "
             "reproducible"},
    {0},
};

static const lc_option events_options[] = {
    {.name = "follow", .letter = 'f', .help = "Wait for new events and print them as they happen"},
    {.name = "after", .value = "SEQ", .help = "Only events after this seq (0: all events)"},
    {.name = "type", .value = "TYPE,...", .help = "Only events of these types"},
    {.name = "session", .value = "ID", .help = "Only events of this session (id or external_id)"},
    {.name = "all-users", .help = "With -f: new events of all users"},
    {0},
};

static const lc_option frames_options[] = {
    {.name = "all", .letter = 'a', .help = "Also frames that have ended"},
    {.name = "watch", .letter = 'w', .help = "Draw again whenever a frame changes"},
    {0},
};

static const lc_option map_options[] = {
    {.name = "watch", .letter = 'w', .help = "Draw again whenever the window changes"},
    {0},
};

static const lc_option serve_options[] = {
    {.name = "listen",
     .value = "ADDR:PORT",
     .help = "Address to listen on (LOCI_LISTEN; default 127.0.0.1:7077); port 0: any free port"},
    {.name = "socket",
     .value = "PATH",
     .help = "Path of the Unix socket (LOCI_SOCKET; default: in your runtime directory)"},
    {.name = "no-socket", .help = "Do not open a Unix socket"},
    {.name = "core-dumps", .help = "Allow core dumps and debuggers, which can read tokens"},
    {.name = "host",
     .value = "NAME",
     .help = "Additional host name that clients use; may be repeated"},
    {.name = "token-file",
     .value = "PATH",
     .help = "Create an administrator token and write it to this file, unless the file exists"},
    {0},
};

static const lc_option mcp_options[] = {
    {.name = "scope", .value = "SCOPE", .help = "Scope of the entry: user (default) or project"},
    {.name = "name", .value = "NAME", .help = "Name of the entry (default: loci)"},
    {.name = "hooks", .help = "claude-code: also add hooks, for memory without tool calls"},
    {.name = "http",
     .value = "URL",
     .help = "Write the URL of a daemon, such as http://127.0.0.1:7077/mcp, instead of a command"},
    {.name = "token-variable",
     .value = "NAME",
     .help = "With --http: environment variable that has the token"},
    {.name = "print", .help = "Only print the text to add by hand"},
    {.name = "dry-run", .help = "Show the change and write nothing"},
    {.name = "yes", .letter = 'y', .help = "Write the change without a question"},
    {0},
};

static const lc_option migrate_options[] = {
    {.name = "from", .value = "STORE", .help = "Source: a file or postgresql://…; must exist"},
    {.name = "to",
     .value = "STORE",
     .help = "Destination: a file or postgresql://…; created if missing"},
    {0},
};

static const lc_option reference_options[] = {
    {.name = "markdown", .help = "Print docs/reference.md"},
    {.name = "states", .help = "Print the states of resources, as in docs/window.md"},
    {.name = "man", .help = "Print the man page, loci(1)"},
    {.name = "openapi", .help = "Print the OpenAPI document of the HTTP API"},
    {0},
};

static const lc_option hook_options[] = {
    {.name = "format",
     .value = "json|text",
     .help = "Output: JSON as Claude Code reads it (default), or the text alone"},
    {.name = "timeout-ms",
     .value = "N",
     .help = "Time limit; then it exits and prints nothing (LOCI_HOOK_TIMEOUT_MS; default: 2000, "
             "10000 for transcripts)"},
    {0},
};

static const lc_option shell_options[] = {
    {.name = "stop-on-error",
     .letter = 'e',
     .help = "Not on a terminal: stop at the first command that fails"},
    {0},
};

static const lc_option restore_options[] = {
    {.name = "yes", .letter = 'y', .help = "Replace a store that has events without a question"},
    {0},
};

static const lc_option top_options[] = {
    {.name = "once", .help = "Print it once"},
    {0},
};

static const lc_option where_options[] = {
    {.name = "project",
     .value = "DIR",
     .help = "Directory to look at (default: the current directory)"},
    {0},
};

static const lc_command table[] = {
    {.name = "init",
     .usage = "",
     .help = "Create a store and suggest next steps",
     .details =
         "Without --store, the store is created in your data directory. An existing store is left\n"
         "unchanged.\n\n"
         "Other commands create a missing store, too, but none that only reads. The first write\n"
         "creates the default store. A store that --store or LOCI_STORE names is created by init,\n"
         "by batch and with --create; other writes, serve and mcp create it as well if a program\n"
         "runs them. On a terminal they refuse: the name may be mistyped.",
     .examples = "loci init\nloci init --store ./agent.db",
     .group = START,
     .needs_store_itself = true,
     .run = lc_command_init},
    {.name = "doctor",
     .usage = "[--url URL [--token-file FILE]]",
     .help = "Check the store, the disk, the clock and the settings",
     .details =
         "Prints one line per check and, if a check fails, what to do about it. Exits with 1 if\n"
         "any check fails. With --url or LOCI_URL, checks that daemon instead.",
     .examples = "loci doctor\nloci doctor --json\n"
                 "loci doctor --url http://127.0.0.1:7077 --token-file admin.token",
     .group = START,
     .run = lc_command_doctor},
    {.name = "where",
     .usage = "[--project DIR]",
     .help = "Show which store, user and persona commands use, and why",
     .details =
         "In a git repository the persona is the project: named after the remote (origin first),\n"
         "or after the path if there is none; all worktrees and clones share it. Facts, memories\n"
         "and todos written there belong to the project, what has no persona is seen everywhere.\n"
         "--persona NAME or LOCI_PERSONA chooses another persona, --persona \"\" yourself;\n"
         "LOCI_PROJECT=off disables projects. `call`, `batch` and HTTP never use them.",
     .options = where_options,
     .examples = "loci where\nloci where --project ~/src/app --json",
     .group = START,
     .run = lc_command_where},
    {.name = "help",
     .usage = "[COMMAND | NOUN [VERB]]",
     .help = "Show help for a command or an operation",
     .examples = "loci help batch\nloci help fact\nloci help fact write",
     .group = START,
     .words_max = 2,
     .run = lc_command_help},
    {.name = "remember",
     .usage = "TEXT [--pinned] [--importance N]",
     .help = "Remember a statement",
     .details = "A statement about the same attribute replaces the older one, which stays in the\n"
                "history; `outcome` says what happened.",
     .examples = "loci remember \"Lives in Austin\"\nloci remember \"My name is Alex\" --pinned\n"
                 "loci remember \"Prefers short answers\" --persona-id coach",
     .group = MEMORY,
     .operation = "memory.store"},
    {.name = "recall",
     .usage = "QUERY [--limit N] [--explain]",
     .help = "Find memories by words and by meaning",
     .examples = "loci recall \"where does the user live?\"\nloci recall John --types people",
     .group = MEMORY,
     .operation = "memory.recall"},
    {.name = "observe",
     .usage = "TEXT [--speaker NAME]",
     .help = "Store a message and the changes of facts that it states",
     .examples = "loci observe \"The deadline is June 3 now\"\n"
                 "loci observe \"I'll book the room.\" --speaker assistant",
     .group = MEMORY,
     .operation = "fact.observe"},
    {.name = "context",
     .usage = "QUESTION [--budget N]",
     .help = "Print what a model should know to answer a question",
     .details = "--json also shows why each item is in or out.",
     .examples =
         "loci context \"Where should we eat?\"\nloci context \"Plan my week\" --budget 500",
     .group = MEMORY,
     .operation = "context.build",
     .noun = "context"},
    {.name = "pin",
     .usage = "ID",
     .help = "Make a memory part of every context",
     .examples = "loci pin mem_01…",
     .group = MEMORY,
     .operation = "memory.pin"},
    {.name = "forget",
     .usage = "ID | --entity REF [--dry-run] [--wait]",
     .help = "Forget a memory, or everything about an entity, for good",
     .details = "Memories that say the same are removed, too. --dry-run lists them and removes\n"
                "none; --wait returns when no byte of them is left in the files.",
     .examples = "loci forget mem_01…\nloci forget --entity person:john_doe --dry-run",
     .group = MEMORY,
     .operation = "memory.forget"},
    {.name = "todo",
     .usage = "[list | add TEXT | update ID | done ID | forget ID]",
     .help = "List and change todos",
     .examples = "loci todo\nloci todo add \"Send the report\" --due-at 2026-12-01T09:00:00Z\n"
                 "loci todo done todo_01…",
     .group = MEMORY,
     .words = "list|add|update|done|forget",
     .noun = "todo"},
    {.name = "entity",
     .usage = "[list | get REF | suggestions | alias | merge | split]",
     .help = "List the people, places and projects in memories, and join spellings",
     .examples = "loci entity\nloci entity get person:john\nloci entity suggestions",
     .group = MEMORY,
     .words = "list|get|suggestions|alias|merge|split",
     .noun = "entity"},
    {.name = "review",
     .usage = "[list | accept ID | correct ID VALUE | dismiss ID]",
     .help = "List and decide what waits for review: proposals, claims, merges",
     .details =
         "Proposals are what loci read in a message and is not sure of. Accepting or correcting\n"
         "stores it; what is dismissed is not proposed again.",
     .examples = "loci review\nloci review accept prop_01…\n"
                 "loci review correct prop_01… \"Lives in Leeds\"",
     .group = MEMORY,
     .words = "list|accept|correct|dismiss",
     .noun = "review"},
    {.name = "status",
     .usage = "",
     .help = "Show the size and state of the store",
     .group = LOOK,
     .operation = "store.status"},
    {.name = "events",
     .usage = "[-f] [--after SEQ] [--session ID] [--type TYPE,...]",
     .help = "Print the events of a user, or follow them",
     .details =
         "Prints the events of --user (default: the user \"default\"). With -f, events written by\n"
         "other processes appear too; stop with Ctrl-C.",
     .options = events_options,
     .examples = "loci events --after 100\nloci events -f --user ada\n"
                 "loci events -f --session chat-42 --type session.message\n"
                 "loci events -f --json | jq .type",
     .group = LOOK,
     .run = lc_command_events},
    {.name = "map",
     .usage = "[--watch]",
     .help = "Draw the window of an agent: its resources and how full it is",
     .details =
         "✓ loaded, ◆ loaded with an attention above 1, ● paged out with a summary, ○ not loaded,\n"
         "✗ unreadable. With --watch the drawing follows changes by any process until Ctrl-C.\n"
         "`loci window map` prints the text for a model instead.",
     .options = map_options,
     .examples = "loci map\nloci map --watch",
     .group = LOOK,
     .run = lc_command_map},
    {.name = "frames",
     .usage = "[--all] [--watch]",
     .help = "Draw the frames of agents as trees: goals, status and budgets",
     .details =
         "● active, ◐ waiting, ○ suspended, ✓ completed, ✗ failed, — cancelled. With --watch the\n"
         "drawing follows changes by any process until Ctrl-C. `loci frame list` prints a table\n"
         "with the ids, which the other operations on frames take.",
     .options = frames_options,
     .examples = "loci frames\nloci frames --all\nloci frames --watch",
     .group = LOOK,
     .run = lc_command_frames},
    {.name = "top",
     .usage = "[--once]",
     .help = "Watch the memory of a daemon: pressure, caches, pipelines, agents",
     .details = "Needs a daemon (--url or LOCI_URL) and a token for administrators of the store.\n"
                "Draws again every second until Ctrl-C. --json prints the answer of guard.status.",
     .options = top_options,
     .examples = "loci top --url http://127.0.0.1:7077 --token-file admin.token\n"
                 "loci top --once",
     .group = LOOK,
     .run = lc_command_top},
    {.name = "sessions",
     .usage = "[list | get | messages | search TEXT | close]",
     .help = "List and search conversations",
     .examples = "loci sessions\nloci sessions search \"where do I live\"\n"
                 "loci sessions messages --session-id chat-42",
     .group = LOOK,
     .words = "list|get|messages|search|close",
     .noun = "session"},
    {.name = "jobs",
     .usage = "[list | get ID | cancel ID]",
     .help = "List and cancel background jobs",
     .examples = "loci jobs\nloci jobs list --status failed\nloci jobs cancel job_01…",
     .group = LOOK,
     .words = "list|get|cancel",
     .noun = "job"},
    {.name = "config",
     .usage = "[list | get NAME | set NAME VALUE | unset NAME]",
     .help = "List and change settings",
     .details = "Precedence, lowest first: default, --config FILE, value stored by `config set`,\n"
                "environment (LOCI_CALL_TIMEOUT_MS for call.timeout_ms), --set NAME=VALUE.",
     .examples = "loci config\nloci config get call.timeout_ms\n"
                 "loci config set call.timeout_ms 5000\nloci config unset call.timeout_ms",
     .group = LOOK,
     .words = "list|get|set|unset",
     .noun = "config"},
    {.name = "call",
     .usage = "OP [JSON|-]",
     .help = "Run one operation with JSON arguments",
     .details =
         "Prints one JSON object and exits with 0. On an error, prints\n"
         "{\"error\":{\"code\":…,\"message\":…}} to stderr and exits with 1, or with 2 if the\n"
         "command line is wrong. `-` reads the arguments from stdin.",
     .examples = "loci call fact.write '{\"key\":\"city\",\"value\":\"Oslo\"}'\n"
                 "echo '{\"key\":\"city\"}' | loci call fact.current -",
     .group = PROGRAMS,
     .words_max = 2,
     .has_json_errors = true,
     .run = lc_command_call},
    {.name = "batch",
     .usage = "[--atomic] [--seed N]",
     .help = "Read one call per line from stdin, write one answer per line",
     .details =
         "A call is {\"op\":…, \"args\":{…}, \"at\":\"RFC 3339\"?}, its answer {\"ok\":…} or\n"
         "{\"error\":…}. Each answer is durable and written before the next line is read. `at`\n"
         "sets the clock for this line and all following lines. A failed line does not stop the\n"
         "batch; the exit code is 1 then. The first call creates a missing store if it writes.",
     .options = batch_options,
     .examples = "loci batch < calls.jsonl\nloci batch --atomic --store ./agent.db < calls.jsonl",
     .group = PROGRAMS,
     .has_json_errors = true,
     .run = lc_command_batch},
    {.name = "mcp",
     .usage = "[install|uninstall|doctor|clients [CLIENT]] [--persona ID]",
     .help = "Serve the Model Context Protocol on stdin and stdout, or set up a client",
     .details =
         "Reads one JSON-RPC message per line, in protocol version 2026-07-28 or any version\n"
         "from 2024-11-05 to 2025-11-25. Uses the daemon of the store if one is running, else\n"
         "opens the store. Agents start it; a daemon offers the same over HTTP at /mcp.\n\n"
         "`install` adds it to the configuration file of a client: it shows the change, asks,\n"
         "and keeps a backup; all other bytes of the file stay as they are. `uninstall` undoes\n"
         "that. `doctor` starts the server as the client would and checks it. `clients` lists\n"
         "the state of each client: claude-code, claude-desktop, cursor, vscode, codex, gemini,\n"
         "zed. --store, --user and --persona become arguments of the entry.",
     .options = mcp_options,
     .examples = "loci mcp install claude-code --hooks\nloci mcp install cursor --scope project\n"
                 "loci mcp doctor\nloci mcp uninstall claude-code\n"
                 "loci mcp --store ./agent.db --user ada",
     .group = PROGRAMS,
     .words = "install|uninstall|doctor|clients",
     .words_max = 2,
     .run = lc_command_mcp},
    {.name = "hook",
     .usage = "[EVENT]",
     .help = "Answer a hook of Claude Code: memory without asking",
     .details =
         "Reads the hook's JSON from stdin. EVENT is session-start (prints a brief), user-prompt\n"
         "(prints what is known about the prompt, or nothing), pre-compact, stop, subagent-stop\n"
         "or session-end (stores new messages of the transcript, each once); Claude Code's\n"
         "own names work, too. Default: hook_event_name of the input. The persona is the project\n"
         "of the input's directory (see where). A hook never fails its host: on any trouble it\n"
         "prints nothing, exits with 0 and writes a line to loci/hook.log in your state directory\n"
         "(XDG_STATE_HOME or ~/.local/state). Budgets are the settings hook.*.",
     .options = hook_options,
     .examples = "loci hook user-prompt < input.json\n"
                 "echo '{\"prompt\":\"Which database?\"}' | loci hook user-prompt --format text",
     .group = PROGRAMS,
     .words_max = 1,
     .never_fails = true,
     .run = lc_command_hook},
    {.name = "serve",
     .usage = "[--listen ADDR:PORT] [--token-file PATH]",
     .help = "Run the daemon: HTTP API, event streams and metrics",
     .details =
         "Listens on the loopback address by default. Clients over TCP need a token (loci token\n"
         "create); your own programs need none on the Unix socket. On SIGTERM or Ctrl-C the\n"
         "daemon finishes accepted requests and exits; a second signal stops it at once. Log\n"
         "records go to stderr, on a terminal only with --verbose.",
     .options = serve_options,
     .examples = "loci serve --token-file admin.token\n"
                 "loci serve --listen 0.0.0.0:7077 --host loci.example.com\n"
                 "curl -H \"Authorization: Bearer $(cat admin.token)\" 127.0.0.1:7077/v1/facts",
     .group = PROGRAMS,
     .needs_store_itself = true,
     .run = lc_command_serve},
    {.name = "backup",
     .usage = "PATH [--force]",
     .help = "Copy the store to a file, also while it is in use",
     .examples = "loci backup ~/loci-backup.db",
     .group = UPKEEP,
     .operation = "store.backup"},
    {.name = "restore",
     .usage = "PATH [--yes]",
     .help = "Replace the content of the store with a backup",
     .details =
         "PATH is a file made by backup or recover; it is checked first. A store with events is\n"
         "replaced after a question, or without one if you pass --yes. A store that cannot be\n"
         "read is not overwritten: its files are renamed to NAME.damaged, and the backup takes\n"
         "their place.",
     .options = restore_options,
     .examples = "loci restore ~/loci-backup.db\nloci restore agent.db.recovered --store agent.db",
     .group = UPKEEP,
     .words_max = 1,
     .needs_store_itself = true,
     .run = lc_command_restore},
    {.name = "recover",
     .usage = "FILE [NEW] [--force]",
     .help = "Make a new store from the readable part of a damaged one",
     .details =
         "For a damaged SQLite file without a backup; FILE is only read. The events that can be\n"
         "read go into the store NEW (default: FILE.recovered), with event.lost in the place of\n"
         "each lost one; everything else is made from the events again. Settings are kept;\n"
         "tokens, jobs, stored answers and vectors are not. Then `loci restore NEW` puts the new\n"
         "store in the place of the damaged one. End all programs that use FILE first.",
     .examples = "loci recover ./agent.db\nloci restore ./agent.db.recovered --store ./agent.db",
     .group = UPKEEP,
     .operation = "store.recover"},
    {.name = "export",
     .usage = "[PATH|-] [--force]",
     .help = "Write all events and settings as JSON lines",
     .details = "Without PATH, or with `-`, the lines go to stdout.",
     .examples = "loci export loci.jsonl\nloci export - | gzip > loci.jsonl.gz",
     .group = UPKEEP,
     .operation = "store.export"},
    {.name = "import",
     .usage = "PATH|- [--format FORMAT]",
     .help = "Import memories of other programs, or a file written by export",
     .details =
         "Notes in Markdown, JSON lines, exports of mem0, Zep and Letta and the file of the MCP\n"
         "server memory become memories (memory.import); a file that is imported twice changes\n"
         "nothing. A file written by `loci export` is restored (store.import); after an\n"
         "interruption, run it again to resume. `-` reads stdin.",
     .examples = "loci import notes.md\nloci import mem0.json\nloci import agent.af\n"
                 "loci import loci.jsonl --store ./new.db",
     .group = UPKEEP,
     .operation = "store.import"},
    {.name = "chat-log",
     .usage = "FILE...",
     .help = "Import conversations from transcripts as sessions",
     .details =
         "Reads JSON lines {role, text, at, speaker, session, id}, Markdown with role headings\n"
         "(## User, **User:** or User:), conversations.json of ChatGPT or Claude, and sessions of\n"
         "Claude Code (.jsonl). Each conversation becomes a session with its id, or the name of\n"
         "the file, as external_id. A broken file is reported with the line or conversation and\n"
         "stores nothing; the other files are imported. A message that was imported before is\n"
         "not stored again: after an interruption, or when a file has grown, run it again.",
     .examples = "loci chat-log conversations.json\nloci chat-log *.md --persona coach\n"
                 "loci chat-log chat.jsonl --url http://127.0.0.1:7077 --token-file admin.token",
     .group = UPKEEP,
     .words_max = 10000,
     .run = lc_command_chat_log},
    {.name = "migrate",
     .usage = "--from STORE --to STORE",
     .help = "Copy a store into another one: a file or a PostgreSQL database",
     .details =
         "The destination is verified and compared with the source, which is not changed. After\n"
         "an interruption, run it again to resume. Tokens, jobs and idempotency records are\n"
         "not copied.",
     .options = migrate_options,
     .examples = "loci migrate --from loci.db --to postgresql://loci@db.example.com/loci",
     .group = UPKEEP,
     .needs_store_itself = true,
     .run = lc_command_migrate},
    {.name = "verify",
     .usage = "",
     .help = "Check that the event log and all tables derived from it agree",
     .group = UPKEEP,
     .operation = "store.verify"},
    {.name = "rebuild",
     .usage = "",
     .help = "Rebuild all derived tables from the event log",
     .group = UPKEEP,
     .operation = "store.rebuild"},
    {.name = "shell",
     .usage = "[-e]",
     .help = "Read commands from a prompt, or from stdin, without typing loci",
     .details =
         "Keeps the store or the connection open, so commands are quick. On a terminal: arrows\n"
         "and Emacs keys edit, Tab completes commands, options, values and keys, Up finds earlier\n"
         "lines. Ctrl-C cancels the line or the running command, Ctrl-D or `exit` leaves. Quotes\n"
         "and backslashes work as in a POSIX shell; nothing else is expanded. Earlier lines are\n"
         "in loci/shell_history in your state directory; lines with secrets, or that begin with\n"
         "a space, are not.\n\n"
         "If stdin is not a terminal, each line is a command; empty lines and lines that begin\n"
         "with # are skipped. The exit code is 1 if any command failed.",
     .options = shell_options,
     .examples = "loci shell\nloci shell --url http://127.0.0.1:7077\n"
                 "loci shell -e < commands.txt",
     .group = SHELL,
     .run = lc_command_shell},
    {.name = "completion",
     .usage = "bash|zsh|fish",
     .help = "Print a completion script for your shell",
     .details = "bash: add  source <(loci completion bash)  to ~/.bashrc\n"
                "zsh:  add  source <(loci completion zsh)   to ~/.zshrc, after compinit\n"
                "fish: loci completion fish > ~/.config/fish/completions/loci.fish",
     .group = SHELL,
     .words = "bash|zsh|fish",
     .words_max = 1,
     .run = lc_command_completion},
    {.name = "reference",
     .usage = "--markdown | --man | --openapi | --states",
     .help = "Print the reference documentation",
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

    (void)lc_str_split(loci_str_of(op->name), '.', &verb); /* Only the verb is needed. */
    return verb;
}

const lc_op *lc_noun_verb_find(loci_str noun, loci_str verb)
{
    for (size_t i = 0; i < lc_op_count(); i++) {
        const lc_op *op = lc_op_at(i);
        loci_str own = lc_verb_of(op);

        /* "set_status" may be typed as "set-status". */
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
        return lc_cli_usage(cli, "%.*s has no verb \"%.*s\"; did you mean `loci %.*s %.*s`?",
                            LC_STR_ARG(noun), LC_STR_ARG(verb), LC_STR_ARG(noun),
                            LC_STR_ARG(nearest.best));
    return lc_cli_usage(cli, "%.*s has no verb \"%.*s\"", LC_STR_ARG(noun), LC_STR_ARG(verb));
}

static bool is_file(const char *value)
{
    return value != NULL &&
           (strcmp(value, "-") == 0 || (value[0] == '@' && value[1] != '@' && value[1] != '\0'));
}

/* Whether an argument is the content of a file, or the operation reads a file itself. */
static bool reads_files(const lc_op *op, const lc_arguments *arguments)
{
    bool found = (op->flags & LC_OP_STREAMS) != 0;

    for (size_t i = 0; i < arguments->word_count; i++)
        found = found || is_file(arguments->words[i]);
    for (size_t i = 0; i < arguments->given_count; i++)
        found = found || is_file(arguments->given[i].value);
    return found;
}

static int run_parsed(lc_cli *cli, const lc_op *op, const lc_arguments *arguments)
{
    lc_operation operation = {
        .name = op->name, .reads_files = reads_files(op, arguments), .in_project = true};
    loci_error err;
    loci_status status;
    lc_buf args;
    int code;

    lc_buf_init(&args, cli->heap, LOCI_MEM_REQUESTS, LC_JSON_BYTES_MAX);
    status = lc_answer_check(cli, op, &err);
    if (status == LOCI_OK)
        status = lc_parameters_write(cli, op, arguments, &args, &err);
    if (status == LOCI_OK) {
        operation.args = lc_buf_str(&args);
        /* A read of a missing store is an error; only writes create it. */
        operation.needs_store = (op->flags & LC_OP_MUTATES) == 0;
        code = lc_operation_run(cli, &operation);
    } else {
        code = status == LOCI_EINVAL ? lc_cli_report_usage(cli, &err) : lc_cli_report(cli, &err);
    }
    lc_buf_clear(&args);
    return code;
}

/* Runs `op` with the words and options in `items`. */
static int run_op(lc_cli *cli, const lc_op *op, char *const *items, size_t count)
{
    loci_str topic = lc_arena_copy(cli->arena, loci_str_of(op->name)); /* "fact write" */
    char *dot = topic.ptr != NULL ? strchr((char *)topic.ptr, '.') : NULL;
    lc_argument_line line = {.items = items, .count = count};
    lc_arguments arguments;
    loci_error err;
    loci_status status;

    if (dot != NULL)
        *dot = ' ';
    cli->help_name = topic.ptr;
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
        return run_op(cli, op, items + 1, count - 1);

    /* Global options may be between noun and verb. */
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
    return run_op(cli, op, items + 1, line.count - arguments.used_count - 1);
}

/* ---- Short forms ----------------------------------------------------------------------------- */

static int run_named(lc_cli *cli, const char *name, char *const *items, size_t count)
{
    const lc_op *op;
    loci_error err;

    if (lc_op_load(loci_str_of(name), &op, &err) != LOCI_OK)
        return lc_cli_report(cli, &err);
    return run_op(cli, op, items, count);
}

/* `config unset NAME` is `config set NAME null`: null is not a valid value of any setting. */
static int run_unset(lc_cli *cli, char *const *items, size_t count)
{
    char **all = lc_arena_zalloc_array(cli->arena, count + 1, sizeof *all);
    loci_str null_word = lc_arena_copy(cli->arena, LC_STR("null"));

    if (all == NULL || null_word.ptr == NULL)
        return lc_cli_report_memory(cli);
    if (count == 0)
        return lc_cli_usage(cli, "the name of the setting is missing: loci config unset NAME");
    memcpy(all, items, count * sizeof *all);
    all[count] = (char *)null_word.ptr; /* Ours; argv is not const. */
    return run_named(cli, "config.set", all, count + 1);
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
        return lc_cli_usage(cli, "%s has no verb \"%.*s\": loci %s %s", command->name,
                            LC_STR_ARG(word), command->name, command->usage);
    return run_op(cli, op, has_verb ? items + 1 : items, has_verb ? count - 1 : count);
}

/* Show help for the name that was typed, not for the operation that it is short for. */
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

/* `export -` is an export without a path: the lines go to stdout. */
static int run_export(lc_cli *cli, char **items, size_t count)
{
    size_t dash = find_dash(items, count);

    if (dash < count)
        memmove(items + dash, items + dash + 1, (--count - dash) * sizeof *items);
    return run_named(cli, "store.export", items, count);
}

/* Whether the file can be read and was not written by `export`: then it has memories. */
static bool is_foreign_file(const char *path)
{
    static const char beginning[] = "{\"loci\":\"export\"";
    char found[sizeof beginning] = "";
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = descriptor >= 0 ? read(descriptor, found, sizeof beginning - 1) : 0;

    if (descriptor >= 0)
        (void)close(descriptor); /* It was only read. */
    return bytes > 0 && memcmp(found, beginning, sizeof beginning - 1) != 0;
}

/* Whether the value of this option is the next item. */
static bool takes_next(const lc_option *options, const char *item)
{
    for (; options != NULL && options->name != NULL; options++) {
        if (options->value != NULL && strncmp(item, "--", 2) == 0 &&
            lc_arguments_name_is(loci_str_of(item + 2), options->name))
            return true;
    }
    return false;
}

/* The first word, `count` = none. The value of an option, such as that of --store, is no word. */
static size_t find_word(lc_cli *cli, char *const *items, size_t count)
{
    const lc_op *op = lc_op_find(LC_STR("memory.import"));
    const lc_option *own = op != NULL ? lc_parameters_options(cli, op) : NULL;
    size_t at = 0;

    while (at < count && items[at][0] == '-')
        at += takes_next(lc_cli_global_options(), items[at]) || takes_next(own, items[at]) ? 2 : 1;
    return at < count ? at : count;
}

/* A file of `export` goes to store.import, any other one to memory.import. */
static int run_import_file(lc_cli *cli, char **items, size_t count)
{
    size_t word = find_word(cli, items, count);
    char *named;

    if (word == count || !is_foreign_file(items[word]))
        return run_named(cli, "store.import", items, count);
    named = lc_arena_alloc(cli->arena, strlen(items[word]) + 2);
    if (named == NULL)
        return lc_cli_report_memory(cli);
    named[0] = '@';
    memcpy(named + 1, items[word], strlen(items[word]) + 1);
    items[word] = named;
    return run_named(cli, "memory.import", items, count);
}

static int run_import(lc_cli *cli, char **items, size_t count)
{
    size_t dash = find_dash(items, count);
    char *path;
    loci_error err;
    int code;

    if (dash == count)
        return run_import_file(cli, items, count);
    if (lc_input_spool(cli, &items[dash], &err) != LOCI_OK) {
        code = lc_cli_report(cli, &err);
        return err.status == LOCI_ECANCELLED ? LC_EXIT_INTERRUPTED : code;
    }
    path = items[dash];
    code = run_import_file(cli, items, count);
    (void)unlink(path); /* Best effort: it is in the directory for temporary files. */
    return code;
}

/* Whether a command that is short for an operation and for its noun is followed by a verb. */
static bool names_verb(const lc_command *command, char *const *items, size_t count)
{
    return command->noun != NULL && count > 0 &&
           lc_noun_verb_find(loci_str_of(command->noun), loci_str_of(items[0])) != NULL;
}

int lc_command_run_short(lc_cli *cli, const lc_command *command, char *const *items, size_t count)
{
    char **all;

    cli->help_name = command->name;
    if (cli->globals.wants_help || asks_for_help(command, items, count)) {
        lc_help_command(cli, command);
        return LC_EXIT_OK;
    }
    all = lc_arena_zalloc_array(cli->arena, count + 1, sizeof *all);
    if (all == NULL)
        return lc_cli_report_memory(cli);
    if (count > 0)
        memcpy(all, items, count * sizeof *all);
    if (strcmp(command->name, "export") == 0)
        return run_export(cli, all, count);
    if (strcmp(command->name, "import") == 0)
        return run_import(cli, all, count);
    if (strcmp(command->name, "backup") == 0 && find_dash(all, count) < count)
        return lc_cli_usage(cli, "a backup is a database and needs a regular file; `loci export -` "
                                 "writes the store to stdout");
    if (command->operation != NULL && !names_verb(command, items, count))
        return run_named(cli, command->operation, items, count);
    return run_noun(cli, command, items, count);
}
