/* cli.c - output goes through write(2), not stdio: batch must know that an answer has left the
 * process before it reads the next line, and failed writes must be detected. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/opening.h"
#include "cli/remote.h"
#include "cli/render.h"

/* ---- Options and output ---------------------------------------------------------------------- */

static const lc_option global_options[] = {
    {.name = "store",
     .value = "STORE",
     .help = "Store: a file or postgresql://… (LOCI_STORE; default: loci/loci.db in the data "
             "directory)"},
    {.name = "create", .help = "Create the store that --store or LOCI_STORE names (see init)"},
    {.name = "url",
     .value = "URL",
     .help = "Daemon to ask instead of a store: http://127.0.0.1:7077, https://… or unix:PATH "
             "(LOCI_URL)"},
    {.name = "token-file",
     .value = "FILE",
     .help = "With a URL: file with the token to send (or LOCI_TOKEN)"},
    {.name = "tenant", .value = "NAME", .help = "Tenant to act for (LOCI_TENANT)"},
    {.name = "user", .value = "NAME", .help = "User to act for (LOCI_USER; default: default)"},
    {.name = "persona",
     .value = "NAME",
     .help = "Persona to act for, \"\" for none (LOCI_PERSONA; default: the project, see where)"},
    {.name = "json", .help = "Print the answer as one line of JSON"},
    {.name = "output",
     .letter = 'o',
     .value = "FORMAT",
     .help = "Format of the answer: table (default), json, csv or tsv"},
    {.name = "columns",
     .value = "NAME,...",
     .help = "Columns of a list, in this order (see Answer in the help of the command)"},
    {.name = "ids", .help = "Print only ids, one per line"},
    {.name = "config", .value = "FILE", .help = "Read settings from this JSON file (LOCI_CONFIG)"},
    {.name = "set", .value = "NAME=VALUE", .help = "Override a setting; may be repeated"},
    {.name = "quiet", .letter = 'q', .help = "Print answers and errors only"},
    {.name = "verbose",
     .letter = 'v',
     .help = "Print all members of answers, exact times, and progress"},
    {.name = "no-color", .help = "Disable colours (NO_COLOR)"},
    {.name = "help", .letter = 'h', .help = "Show help for the command"},
    {.name = "version", .help = "Print the version"},
    {0},
};

/* Where the value of each global option goes; --set, which is a list, has its own code. */
static const size_t global_targets[] = {
    offsetof(lc_globals, store),      offsetof(lc_globals, creates),
    offsetof(lc_globals, url),        offsetof(lc_globals, token_file),
    offsetof(lc_globals, tenant),     offsetof(lc_globals, user),
    offsetof(lc_globals, persona),    offsetof(lc_globals, wants_json),
    offsetof(lc_globals, output),     offsetof(lc_globals, columns),
    offsetof(lc_globals, wants_ids),  offsetof(lc_globals, config_file),
    offsetof(lc_globals, sets),       offsetof(lc_globals, is_quiet),
    offsetof(lc_globals, is_verbose), offsetof(lc_globals, no_color),
    offsetof(lc_globals, wants_help), offsetof(lc_globals, wants_version),
};

#define GLOBAL_COUNT (sizeof global_targets / sizeof global_targets[0])

_Static_assert(sizeof global_options / sizeof global_options[0] == GLOBAL_COUNT + 1,
               "one target per global option, in order");

const lc_option *lc_cli_global_options(void)
{
    return global_options;
}

/* -o json is --json. */
static loci_status take_output(lc_globals *globals, loci_error *err)
{
    loci_str output = loci_str_of(globals->output);

    if (output.ptr == NULL || lc_str_is_choice(output, "table|csv|tsv"))
        return LOCI_OK;
    if (!lc_str_is(output, "json"))
        return lc_fail(err, LOCI_EINVAL, "-o takes table, json, csv or tsv, not %s",
                       globals->output);
    globals->wants_json = true;
    globals->output = NULL;
    return LOCI_OK;
}

loci_status lc_cli_take_globals(lc_cli *cli, const lc_arguments *arguments, loci_error *err)
{
    lc_globals *globals = &cli->globals;

    for (size_t i = 0; i < arguments->given_count; i++) {
        const lc_given *given = &arguments->given[i];
        size_t which = 0;

        /* Compared by address: a parameter of an operation may have the name of a global option. */
        while (which < GLOBAL_COUNT && given->option != &global_options[which])
            which++;
        if (which == GLOBAL_COUNT)
            continue;
        if (global_targets[which] == offsetof(lc_globals, sets)) {
            if (globals->set_count == LC_CLI_SETS_MAX)
                return lc_fail(err, LOCI_ELIMIT, "--set may be given at most %d times",
                               LC_CLI_SETS_MAX);
            globals->sets[globals->set_count++] = given->value;
        } else if (given->option->value != NULL) {
            *(const char **)(void *)((char *)globals + global_targets[which]) = given->value;
        } else {
            *(bool *)((char *)globals + global_targets[which]) = true;
        }
    }
    cli->out_terminal = lc_terminal_of(STDOUT_FILENO, cli->globals.no_color);
    cli->err_terminal = lc_terminal_of(STDERR_FILENO, cli->globals.no_color);
    if (take_output(globals, err) != LOCI_OK)
        return LOCI_EINVAL;
    cli->has_json_errors = cli->has_json_errors || cli->globals.wants_json;
    if (globals->url != NULL && globals->store != NULL)
        return lc_fail(err, LOCI_EINVAL,
                       "--url and --store exclude each other: a daemon has its own store");
    if (globals->token_file != NULL && globals->url == NULL && lc_cli_variable("LOCI_URL") == NULL)
        return lc_fail(err, LOCI_EINVAL, "--token-file needs --url or LOCI_URL");
    return LOCI_OK;
}

const char *lc_cli_variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *lc_cli_persona(const lc_cli *cli)
{
    const char *given = cli->globals.persona;

    return given != NULL && given[0] != '\0' ? given : NULL;
}

loci_status lc_cli_take_environment(lc_cli *cli, loci_error *err)
{
    lc_globals *globals = &cli->globals;
    const char *client = lc_cli_variable("LOCI_CLIENT");
    const char *now = lc_cli_variable("LOCI_NOW");

    if (globals->tenant == NULL)
        globals->tenant = lc_cli_variable("LOCI_TENANT");
    if (globals->user == NULL)
        globals->user = lc_cli_variable("LOCI_USER");
    if (globals->persona == NULL)
        globals->persona = lc_cli_variable("LOCI_PERSONA");
    if (globals->config_file == NULL)
        globals->config_file = lc_cli_variable("LOCI_CONFIG");
    if (client == NULL)
        (void)snprintf(cli->client, sizeof cli->client, "loci-cli/%s", loci_version());
    else /* One that is too long for this is too long for loci, which says so. */
        (void)snprintf(cli->client, sizeof cli->client, "%s", client);
    cli->fixed_now_us = LC_CLI_CLOCK;
    if (now != NULL && !lc_time_parse(loci_str_of(now), &cli->fixed_now_us))
        return lc_fail(err, LOCI_EINVAL, "LOCI_NOW must be a time such as 2026-01-31T12:00:00Z");
    return LOCI_OK;
}

int64_t lc_cli_now_us(const lc_cli *cli)
{
    return cli->fixed_now_us != LC_CLI_CLOCK ? cli->fixed_now_us : lc_clock_system_us(NULL);
}

bool lc_cli_write(int descriptor, loci_str text)
{
    while (text.len > 0) {
        ssize_t written = write(descriptor, text.ptr, text.len);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text.ptr += written;
        text.len -= (size_t)written;
    }
    return true;
}

bool lc_cli_flush(lc_cli *cli)
{
    bool is_whole = cli->out.failure == LOCI_OK;

    if (!cli->write_failed && (!is_whole || !lc_cli_write(STDOUT_FILENO, lc_buf_str(&cli->out)))) {
        cli->write_failed = true;
        cli->write_errno = is_whole ? errno : ENOMEM;
    }
    lc_buf_reset(&cli->out);
    return !cli->write_failed;
}

void lc_cli_print(lc_cli *cli, const char *format, ...)
{
    va_list args;
    char *room;
    int len;

    va_start(args, format);
    len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    room = len > 0 ? lc_buf_reserve(&cli->out, (size_t)len + 1) : NULL;
    if (room == NULL)
        return;
    va_start(args, format);
    (void)vsnprintf(room, (size_t)len + 1, format, args); /* Measured above. */
    va_end(args);
    lc_buf_grew(&cli->out, (size_t)len);
}

void lc_cli_print_styled(lc_cli *cli, lc_style style, const char *text)
{
    lc_terminal_append(&cli->out_terminal, &cli->out, style, loci_str_of(text));
}

/* Whether wrapping would cut a word, such as a cursor that is to be copied. */
static bool has_long_word(loci_str text, size_t columns)
{
    while (text.len > 0) {
        loci_str word = lc_str_split(text, ' ', &text);

        if (columns > 0 && lc_text_columns(word) > columns)
            return true;
    }
    return false;
}

void lc_cli_note(lc_cli *cli, const char *format, ...)
{
    char text[1024];
    lc_buf lines;
    va_list args;
    int len;

    if (cli->globals.is_quiet)
        return;
    va_start(args, format);
    len = vsnprintf(text, sizeof text - 1, format, args);
    va_end(args);
    if (len < 0)
        return;
    len = (size_t)len < sizeof text - 1 ? len : (int)sizeof text - 2;
    lc_buf_init(&lines, cli->heap, LOCI_MEM_REQUESTS, 2 * sizeof text);
    if (has_long_word((loci_str){text, (size_t)len}, cli->err_terminal.columns)) {
        lc_buf_append(&lines, (loci_str){text, (size_t)len});
        lc_buf_append_byte(&lines, '\n');
    } else {
        lc_render_words(&(lc_render_target){.terminal = &cli->err_terminal, .out = &lines},
                        LC_STYLE_PLAIN, (loci_str){text, (size_t)len}, 0);
    }
    /* Best effort: there is nowhere to report a failure of stderr. */
    (void)lc_cli_write(STDERR_FILENO, lc_buf_str(&lines));
    lc_buf_clear(&lines);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

void lc_cli_append_error(lc_cli *cli, lc_buf *out, const loci_error *err)
{
    lc_arena_mark mark = lc_arena_get_mark(cli->arena);
    lc_json_writer w;

    lc_jw_init(&w, out);
    lc_jw_put_error(&w, cli->arena, err);
    lc_arena_rewind(cli->arena, mark);
}

/* The store is on the machine of a daemon. */
static const char *remote_hint_of(const loci_error *err)
{
    switch (err->status) {
    case LOCI_ERESOURCE:
    case LOCI_ECORRUPT:
        return "Run `loci doctor` on the machine of the daemon.";
    case LOCI_EDEADLINE:
        return "A daemon gives a call up after 30 s; run longer work on its machine.";
    case LOCI_EUNAVAILABLE:
        return "Start the daemon with `loci serve`, or see `loci doctor` with the same URL.";
    case LOCI_EINTERNAL:
        return "This is a bug in loci. Please report it, with the message above.";
    default:
        return NULL;
    }
}

/* Verify lists its problems; those of derived tables are solved by making these again. */
const char *lc_cli_damage_advice(lc_cli *cli, const loci_error *err)
{
    lc_store_path store;

    if (lc_store_path_find(cli, &store, NULL) == LOCI_OK && !store.is_file)
        return "Run `loci rebuild` to make all derived tables again. If problems remain, restore a "
               "dump of the database (pg_restore), or import an export into a new store.";
    if (strstr(err->data, "\"problems\"") != NULL && strstr(err->data, "\"pages: ") == NULL)
        return "Run `loci rebuild` to make all derived tables again. If problems remain, restore a "
               "backup: `loci restore BACKUP`.";
    return "If you have a backup, run `loci restore BACKUP`: it moves the damaged file aside. If "
           "not, `loci recover FILE` saves what can be read.";
}

static const char *hint_of(lc_cli *cli, const loci_error *err)
{
    switch (err->status) {
    case LOCI_ERESOURCE:
        return "No data was lost. Run `loci doctor` to see the free disk space.";
    case LOCI_ECORRUPT:
        return lc_cli_damage_advice(cli, err);
    case LOCI_ECANCELLED:
        return "The store is consistent. Run the command again to resume or restart it.";
    case LOCI_EINTERNAL:
        return "This is a bug in loci. Please report it, with the message above.";
    case LOCI_EDEADLINE:
        return "Increase the timeout with `--set call.timeout_ms=60000`.";
    default:
        return NULL;
    }
}

/* The message begins with it. */
static bool is_only_parameter(const lc_json *data)
{
    return lc_json_count(data) == 1 && lc_str_is(lc_json_name(lc_json_first(data)), "parameter");
}

static void append_words(lc_cli *cli, lc_buf *out, const loci_error *err)
{
    const lc_render_target target = {
        .arena = cli->arena, .terminal = &cli->err_terminal, .out = out, .indent = 2};
    const lc_json *data;
    lc_buf message;

    lc_buf_init(&message, cli->heap, LOCI_MEM_REQUESTS, 64u * 1024);
    lc_text_append_visible(&message, loci_str_of(err->message));
    lc_terminal_append(&cli->err_terminal, out, LC_STYLE_BAD, LC_STR("loci: "));
    lc_render_words(&target, LC_STYLE_PLAIN, lc_buf_str(&message), sizeof "loci: " - 1);
    lc_buf_clear(&message);
    if (err->data[0] != '\0' &&
        lc_json_parse(cli->arena, loci_str_of(err->data), LC_JSON_ALLOW_NUL, &data, NULL) ==
            LOCI_OK &&
        lc_json_count(data) > 0 && !is_only_parameter(data))
        lc_render(&target, data);
}

static void say(lc_cli *cli, const loci_error *err, const char *hint)
{
    lc_buf text;

    lc_buf_init(&text, cli->heap, LOCI_MEM_REQUESTS, 64u * 1024);
    if (cli->has_json_errors) {
        lc_cli_append_error(cli, &text, err);
        lc_buf_append_byte(&text, '\n');
    } else {
        append_words(cli, &text, err);
        if (hint != NULL && !cli->globals.is_quiet) {
            lc_buf_append(&text, LC_STR("  "));
            lc_render_words(&(lc_render_target){.terminal = &cli->err_terminal, .out = &text},
                            LC_STYLE_FAINT, loci_str_of(hint), 2);
        }
    }
    /* Answers first, where both streams go to one terminal. */
    (void)lc_cli_flush(cli);
    /* Best effort: there is nowhere to report a failure of stderr. */
    (void)lc_cli_write(STDERR_FILENO, lc_buf_str(&text));
    lc_buf_clear(&text);
}

int lc_cli_finish(lc_cli *cli, int code)
{
    loci_error err;

    if (lc_cli_flush(cli))
        return code;
    if (cli->write_errno != EPIPE) {
        (void)lc_fail(&err, LOCI_ERESOURCE, "cannot write to stdout: %s",
                      strerror(cli->write_errno));
        say(cli, &err, NULL);
    }
    return code == LC_EXIT_OK ? LC_EXIT_FAILED : code;
}

int lc_cli_report(lc_cli *cli, const loci_error *err)
{
    say(cli, err, lc_remote_url(cli) != NULL ? remote_hint_of(err) : hint_of(cli, err));
    return loci_status_exit_code(err->status);
}

int lc_cli_report_memory(lc_cli *cli)
{
    loci_error err;

    (void)lc_fail_memory(&err); /* Fills err. */
    return lc_cli_report(cli, &err);
}

int lc_cli_report_usage(lc_cli *cli, const loci_error *err)
{
    char hint[128];

    if (cli->help_name != NULL)
        (void)snprintf(hint, sizeof hint, "See `loci help %s`.", cli->help_name);
    else
        (void)snprintf(hint, sizeof hint, "See `loci help` for the list of commands.");
    say(cli, err, hint);
    return LC_EXIT_USAGE;
}

int lc_cli_usage(lc_cli *cli, const char *format, ...)
{
    loci_error err = {0};
    char text[LOCI_ERROR_MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)lc_fail(&err, LOCI_EINVAL, "%s", text);
    return lc_cli_report_usage(cli, &err);
}

/* ---- Signals --------------------------------------------------------------------------------- */

/* Mutable globals, as only this file and hook_state.c have: a signal handler has no other way to
 * report. They are
 * read and written atomically, because a signal may arrive on any thread. */
static volatile int interrupted;
static volatile int wake_fd = -1;

static int get(const volatile int *flag)
{
    return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

static void on_signal(int signal_number)
{
    static const uint64_t one = 1;
    int error_before = errno;

    if (__atomic_exchange_n(&interrupted, 1, __ATOMIC_SEQ_CST) != 0)
        _exit(128 + signal_number);
    if (get(&wake_fd) >= 0 && write(get(&wake_fd), &one, sizeof one) < 0)
        errno = error_before; /* The counter is full: it is readable already. */
    errno = error_before;
}

void lc_interrupt_install(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigemptyset(&action.sa_mask);
    /* Without SA_RESTART: a read that waits for the next line must be interrupted. These calls
     * cannot fail: the signals exist and the handler is valid. */
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
}

const volatile int *lc_interrupt_flag(void)
{
    return &interrupted;
}

int lc_interrupt_fd(void)
{
    if (get(&wake_fd) < 0)
        __atomic_store_n(&wake_fd, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), __ATOMIC_SEQ_CST);
    if (get(&wake_fd) >= 0 && get(&interrupted) != 0) {
        static const uint64_t one = 1;

        /* The signal may have arrived before the descriptor was opened. */
        (void)!write(get(&wake_fd), &one, sizeof one);
    }
    return get(&wake_fd);
}

bool lc_interrupt_is_set(void)
{
    return get(&interrupted) != 0;
}

void lc_interrupt_clear(void)
{
    uint64_t count;

    __atomic_store_n(&interrupted, 0, __ATOMIC_SEQ_CST);
    if (get(&wake_fd) >= 0)
        (void)!read(get(&wake_fd), &count, sizeof count); /* Fails if it was not readable. */
}
