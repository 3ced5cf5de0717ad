/* cli.c - global options and writing. Output goes through write(2), not stdio: batch must know that
 * an answer has left the process before it waits for the next line, and a failed write must be
 * noticed. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

/* The order is that of the rows. */
typedef enum lc_global {
    GLOBAL_STORE,
    GLOBAL_TENANT,
    GLOBAL_USER,
    GLOBAL_JSON,
    GLOBAL_CONFIG,
    GLOBAL_SET,
    GLOBAL_QUIET,
    GLOBAL_VERBOSE,
    GLOBAL_NO_COLOR,
    GLOBAL_HELP,
    GLOBAL_VERSION,
    GLOBAL_COUNT
} lc_global;

static const lc_option global_options[] = {
    {.name = "store",
     .value = "STORE",
     .help = "The store: a file (default: LOCI_STORE, else loci/loci.db in the data directory)"},
    {.name = "tenant", .value = "NAME", .help = "Act for this tenant (LOCI_TENANT)"},
    {.name = "user", .value = "NAME", .help = "Act for this user (LOCI_USER)"},
    {.name = "json", .help = "Print the answer as JSON, on one line"},
    {.name = "config", .value = "FILE", .help = "Read settings from this JSON file (LOCI_CONFIG)"},
    {.name = "set", .value = "NAME=VALUE", .help = "Override a setting; may be repeated"},
    {.name = "quiet", .letter = 'q', .help = "Print answers and errors only"},
    {.name = "verbose", .letter = 'v', .help = "Write log records to standard error"},
    {.name = "no-color", .help = "No colours (also: NO_COLOR)"},
    {.name = "help", .letter = 'h', .help = "Show help for the command"},
    {.name = "version", .help = "Print the version"},
    {0},
};

_Static_assert(sizeof global_options / sizeof global_options[0] == GLOBAL_COUNT + 1,
               "one row a global option, in order");

const lc_option *lc_cli_global_options(void)
{
    return global_options;
}

static loci_status take_global(lc_globals *globals, lc_global which, const char *value,
                               loci_error *err)
{
    switch (which) {
    case GLOBAL_STORE:
        globals->store = value;
        break;
    case GLOBAL_TENANT:
        globals->tenant = value;
        break;
    case GLOBAL_USER:
        globals->user = value;
        break;
    case GLOBAL_JSON:
        globals->wants_json = true;
        break;
    case GLOBAL_CONFIG:
        globals->config_file = value;
        break;
    case GLOBAL_SET:
        if (globals->set_count == LC_CLI_SETS_MAX)
            return lc_fail(err, LOCI_ELIMIT, "--set may be given at most %d times",
                           LC_CLI_SETS_MAX);
        globals->sets[globals->set_count++] = value;
        break;
    case GLOBAL_QUIET:
        globals->is_quiet = true;
        break;
    case GLOBAL_VERBOSE:
        globals->is_verbose = true;
        break;
    case GLOBAL_NO_COLOR:
        globals->no_color = true;
        break;
    case GLOBAL_HELP:
        globals->wants_help = true;
        break;
    case GLOBAL_VERSION:
        globals->wants_version = true;
        break;
    case GLOBAL_COUNT:
        break;
    }
    return LOCI_OK;
}

loci_status lc_cli_take_globals(lc_cli *cli, const lc_arguments *arguments, loci_error *err)
{
    for (size_t i = 0; i < arguments->given_count; i++) {
        const lc_given *given = &arguments->given[i];

        /* An operation's own parameter may have the name of a global option; it is another row. */
        for (int which = 0; which < GLOBAL_COUNT; which++) {
            loci_status status = LOCI_OK;

            if (given->option == &global_options[which])
                status = take_global(&cli->globals, (lc_global)which, given->value, err);
            if (status != LOCI_OK)
                return status;
        }
    }
    cli->out_terminal = lc_terminal_of(STDOUT_FILENO, cli->globals.no_color);
    cli->err_terminal = lc_terminal_of(STDERR_FILENO, cli->globals.no_color);
    cli->has_json_errors = cli->has_json_errors || cli->globals.wants_json;
    return LOCI_OK;
}

/* An empty variable is one that is not there. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

void lc_cli_take_environment(lc_cli *cli)
{
    lc_globals *globals = &cli->globals;

    if (globals->tenant == NULL)
        globals->tenant = variable("LOCI_TENANT");
    if (globals->user == NULL)
        globals->user = variable("LOCI_USER");
    if (globals->config_file == NULL)
        globals->config_file = variable("LOCI_CONFIG");
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
    if (cli->out.failure != LOCI_OK || !lc_cli_write(STDOUT_FILENO, lc_buf_str(&cli->out)))
        cli->write_failed = true;
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

void lc_cli_note(lc_cli *cli, const char *format, ...)
{
    char text[1024];
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
    text[len] = '\n';
    /* Nowhere is left to complain to when standard error is gone. */
    (void)lc_cli_write(STDERR_FILENO, (loci_str){text, (size_t)len + 1});
}
