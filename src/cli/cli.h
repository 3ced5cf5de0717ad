/* cli.h - one run of the program: what was asked for everywhere, and where its output goes.
 *
 * Commands append to `out` and leave; main() writes it. What must appear earlier (an answer of
 * batch, an event) is written by lc_cli_flush(). A command returns what the process exits with: 0,
 * 1 when it failed, 2 when it was not understood.
 */
#ifndef LC_CLI_CLI_H
#define LC_CLI_CLI_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "cli/arguments.h"
#include "cli/terminal.h"

#define LC_EXIT_OK 0
#define LC_EXIT_FAILED 1
#define LC_EXIT_USAGE 2
#define LC_EXIT_INTERRUPTED 130 /* As shells do: 128 + SIGINT. */

#define LC_CLI_SETS_MAX 64 /* --set, repeated. */

/* Options that every command has. */
typedef struct lc_globals {
    const char *store; /* As given; NULL = see store_path.h. */
    const char *tenant;
    const char *user;
    const char *config_file;
    const char *sets[LC_CLI_SETS_MAX]; /* "name=value" */
    size_t set_count;
    bool wants_json;
    bool wants_help;
    bool wants_version;
    bool is_quiet;
    bool is_verbose;
    bool no_color;
} lc_globals;

typedef struct lc_cli {
    lc_heap *heap;
    lc_arena *arena; /* Lives as long as the run. */
    lc_globals globals;
    lc_terminal out_terminal;
    lc_terminal err_terminal;
    lc_buf out;             /* Waits for lc_cli_flush(). */
    bool write_failed;      /* Nobody takes our output any more. */
    bool has_json_errors;   /* call, batch and --json: errors are for programs. */
    bool has_printed_lines; /* The last answer was lines, which are on standard output already. */
    const char *help_name;  /* What `loci help` should be asked about after wrong usage, or NULL. */
} lc_cli;

/* Rows of --store, --tenant, … */
const lc_option *lc_cli_global_options(void);
/* Takes over those of `arguments` that are global, and looks at the terminals in their light.
 * LOCI_ELIMIT when there are too many --set. */
loci_status lc_cli_take_globals(lc_cli *cli, const lc_arguments *arguments, loci_error *err);
/* What the environment says where no option did: LOCI_TENANT, LOCI_USER, LOCI_CONFIG. */
void lc_cli_take_environment(lc_cli *cli);

/* Writes and empties `out`. False once standard output does not take any more. */
bool lc_cli_flush(lc_cli *cli);
/* Writes all of `text`; false when the descriptor does not take it. */
bool lc_cli_write(int descriptor, loci_str text);

/* Appends formatted text to `out`. */
void lc_cli_print(lc_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lc_cli_print_styled(lc_cli *cli, lc_style style, const char *text);
/* A line to standard error; nothing with --quiet. */
void lc_cli_note(lc_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says to standard error why it failed, as JSON or in words, and returns the exit code. */
int lc_cli_report(lc_cli *cli, const loci_error *err);
/* The same for wrong usage, with where help is; returns LC_EXIT_USAGE. */
int lc_cli_report_usage(lc_cli *cli, const loci_error *err);
/* lc_fail() and lc_cli_report_usage() in one. */
int lc_cli_usage(lc_cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends {"error":{"code":…,"message":…,…data}}. */
void lc_cli_append_error(lc_cli *cli, lc_buf *out, const loci_error *err);

/* ---- Signals --------------------------------------------------------------------------------- */

/* Ctrl-C: the first asks the work to stop, the second ends the process. */

/* From now on SIGINT and SIGTERM set the flag; SIGPIPE is a failed write. */
void lc_interrupt_install(void);
/* Becomes non-zero; what loci_call_options.cancel wants. */
const volatile int *lc_interrupt_flag(void);
bool lc_interrupt_is_set(void);
/* A descriptor that becomes readable with the flag, for who waits for several things; -1 when there
 * can be none. Not to be read or closed. */
int lc_interrupt_fd(void);

#endif /* LC_CLI_CLI_H */
